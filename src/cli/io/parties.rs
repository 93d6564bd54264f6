//! The requests and offers of a run, and what they are called in its output.

use classad::ad::{Ad, Name};
use classad::eval::Context;
use classad::matching::gang::Gang;
use classad::matching::{Match as Pairing, Notice, Party};
use classad::protocol::{RESOURCE_COUNT, miscounted, resource_count};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::input::Identified;
use crate::cli::session::Session;

/// Requests and offers.
pub struct Parties {
    pub requests: Vec<Identified>,
    pub offers: Vec<Identified>,
}

/// What is known of requests as a whole.
pub struct Overview {
    /// How many of them nothing tells apart, because they were read as one.
    pub distinct: usize,
    /// Whether one asks for the same thing several times.
    pub counts: bool,
}

impl Parties {
    pub fn new([requests, offers]: [Vec<Identified>; 2]) -> Self {
        Parties { requests, offers }
    }

    /// The ads alone.
    pub fn ads(&self) -> [Vec<Ad>; 2] {
        [&self.requests, &self.offers].map(|ads| ads.iter().map(|ad| ad.ad.clone()).collect())
    }

    /// Looks at the requests; that some of them have ports is told.
    pub fn overview(&self, session: &Session) -> Overview {
        let [ports, count] = ["Ports", RESOURCE_COUNT].map(Name::new);
        let mut distinct: FxHashMap<usize, (&Ad, usize)> = FxHashMap::default();
        for run in runs(&self.requests) {
            distinct.entry(run[0].ad.identity()).or_insert((&run[0].ad, 0)).1 += run.len();
        }
        let with_ports: usize =
            distinct.values().filter(|(ad, _)| ad.get(&ports).is_some()).map(|(_, requests)| requests).sum();
        if with_ports > 0 {
            session.note(&format!("{with_ports} requests have Ports, which only gangmatch fills"));
        }
        let context = session.context();
        warn_of_counts(session, &self.requests);
        let is_counted = |ad: &Ad| ad.get(&count).is_some() && resource_count(ad, &context).is_some();
        Overview { distinct: distinct.len(), counts: distinct.values().any(|(ad, _)| is_counted(ad)) }
    }

    /// What a request is called; one of several has its number.
    pub fn request(&self, request: usize, unit: Option<usize>) -> String {
        let id = self.requests[request].id();
        unit.map_or_else(|| id.to_owned(), |unit| format!("{id}#{unit}"))
    }

    /// What an offer is called; what remained of one has the number of the part.
    pub fn offer(&self, offer: usize, part: usize) -> String {
        let id = self.offers[offer].id();
        if part == 1 { id.to_owned() } else { format!("{id}#{part}") }
    }

    /// The notice of a match.
    pub fn notice(
        &self,
        pairing: &Pairing,
        (unit, part): (Option<usize>, usize),
        context: &Context,
        at: Option<i64>,
    ) -> Notice {
        let (request, offer) = (&self.requests[pairing.request], &self.offers[pairing.offer]);
        let mut asking = Party::new(request.advertisement(), &self.request(pairing.request, unit), context);
        asking.part_of = unit.map(|_| request.id().to_owned());
        let offered = |_| Party::of_offer(offer.advertisement(), offer.id(), context).part(part);
        Notice::of_pair(pairing, asking, offered, at)
    }

    /// The notice of a gang.
    pub fn gang_notice(&self, gang: &Gang, context: &Context, at: Option<i64>) -> Notice {
        let request = &self.requests[gang.request];
        let offer = |index: usize| Party::of_offer(&self.offers[index].ad, self.offers[index].id(), context);
        Notice::of_gang(gang, Party::new(&request.ad, request.id(), context), offer, at)
    }
}

/// Tells which requests do not count for as many as they say.
pub fn warn_of_counts(session: &Session, requests: &[Identified]) {
    let (count, context) = (Name::new(RESOURCE_COUNT), session.context());
    let mut told: IndexMap<String, (&str, usize)> = IndexMap::new();
    for run in runs(requests).filter(|run| run[0].ad.get(&count).is_some()) {
        if let Some(reason) = miscounted(&run[0].ad, &context) {
            told.entry(reason).or_insert((run[0].id(), 0)).1 += run.len();
        }
    }
    for (reason, (first, requests)) in told {
        let more = if requests > 1 { format!(" (and {} more requests)", requests - 1) } else { String::new() };
        session.warning(&format!("{first}: {reason}{more}"));
    }
}

/// Requests that follow one another and are one ad.
fn runs(requests: &[Identified]) -> impl Iterator<Item = &[Identified]> {
    requests.chunk_by(|one, next| one.ad.identity() == next.ad.identity())
}
