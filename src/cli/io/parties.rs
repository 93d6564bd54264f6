//! The requests and offers of a run, and their names in its output.

use std::collections::hash_map::Entry;

use classad::ad::{Ad, Name};
use classad::eval::Context;
use classad::explain::{AdNames, AdReference};
use classad::matching::gang::Gang;
use classad::matching::negotiate::{Grant, GrantedOffer, NegotiationSettings};
use classad::matching::policy::with_typed_ranks;
use classad::matching::{BilateralMatch, Notice, Party, part_name};
use classad::protocol::{ContentIdentities, RESOURCE_COUNT, has_ports, invalid_count_reason, resource_count};
use classad::text::counted;
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::named_ad::NamedAd;
use crate::cli::session::Session;

/// The requests and offers of a run.
pub struct Parties {
    pub requests: Vec<NamedAd>,
    pub offers: Vec<NamedAd>,
}

/// The findings of [`Parties::summarize_requests`].
pub struct RequestSummary {
    /// Number of distinct ads among the requests. Requests that were read in part may share one ad.
    pub distinct_ads: usize,
    /// Number of requests with ports.
    pub with_ports: usize,
    /// Whether some request has a valid resource count, so that it stands for several units.
    pub has_resource_counts: bool,
}

impl Parties {
    pub fn new([requests, offers]: [Vec<NamedAd>; 2]) -> Self {
        Parties { requests, offers }
    }

    /// Returns copies of the requests and the offers, without their names. Copying an [`Ad`] takes O(1).
    pub fn ads(&self) -> [Vec<Ad>; 2] {
        [&self.requests, &self.offers].map(|ads| ads.iter().map(|ad| ad.ad.clone()).collect())
    }

    /// Returns the settings of a run in which ranks of the papers' dialect may be strings or times.
    pub fn with_typed_ranks(&self, settings: NegotiationSettings) -> NegotiationSettings {
        let (protocol, dialect) = (&settings.protocol, settings.context.dialect);
        if dialect.is_condor() {
            return settings;
        }
        let [requests, offers] = self.ads();
        let policy = with_typed_ranks(settings.policy, &requests, &offers, protocol, dialect);
        NegotiationSettings { policy, ..settings }
    }

    /// Summarizes the requests. Prints warnings of invalid resource counts.
    pub fn summarize_requests(&self, session: &Session) -> RequestSummary {
        let count = Name::new(RESOURCE_COUNT);
        let mut distinct: FxHashMap<usize, (&Ad, usize)> = FxHashMap::default();
        for run in runs_of_shared_ads(&self.requests) {
            distinct.entry(run[0].ad.identity()).or_insert((&run[0].ad, 0)).1 += run.len();
        }
        let with_ports: usize = distinct.values().filter(|(ad, _)| has_ports(ad)).map(|(_, requests)| requests).sum();
        let context = session.context();
        warn_of_invalid_counts(session, &self.requests);
        let is_counted = |ad: &Ad| ad.get(&count).is_some() && resource_count(ad, &context).is_some();
        RequestSummary {
            distinct_ads: distinct.len(),
            with_ports,
            has_resource_counts: distinct.values().any(|(ad, _)| is_counted(ad)),
        }
    }

    /// Returns the name of a request, or of one unit of a request that stands for several units: `job#2` for the
    /// second. `unit` is the 1-based number of the unit; `None` for the whole request.
    pub fn request_name(&self, request: usize, unit: Option<usize>) -> String {
        let id = self.requests[request].id();
        unit.map_or_else(|| id.to_owned(), |unit| format!("{id}#{unit}"))
    }

    /// Returns the name of an offer or of a residual of it. `part` is 1 for the offer, 2 for its first residual, which
    /// is called `slot#2`.
    pub fn offer_name(&self, offer: usize, part: usize) -> String {
        part_name(self.offers[offer].id(), part)
    }

    /// Returns what records of matches call a request, or one unit of a request that stands for several units.
    fn request_record_id(&self, request: usize, unit: Option<usize>) -> String {
        let id = self.requests[request].record_id();
        unit.map_or_else(|| id.to_owned(), |unit| format!("{id}#{unit}"))
    }

    /// Returns the notification of the match that `grant` describes. `at` is the time of the match in seconds since
    /// 1970.
    pub fn notice(&self, grant: &Grant, context: &Context, at: Option<i64>) -> Notice {
        let Grant { request, unit, ref offers, ref gang, .. } = *grant;
        if let Some(gang) = gang {
            let mut notice = self.gang_notice(gang, unit, context, at);
            for (party, granted) in notice.parties.iter_mut().skip(1).zip(offers) {
                party.portion.clone_from(&granted.portion);
            }
            return notice;
        }
        let GrantedOffer { offer, part, request_rank, offer_rank, ref portion, .. } = offers[0];
        let offered = &self.offers[offer];
        let offer_party = |_| {
            let party = Party::from_offer(offered.advertisement(), offered.record_id(), context).into_part(part);
            Party { portion: portion.clone(), ..party }
        };
        let matched = BilateralMatch { request, offer, request_rank, offer_rank };
        Notice::for_pair(&matched, self.request_party(request, unit, context), offer_party, at)
    }

    /// Returns the notification of a gang, of one unit of its request if the request stands for several units. `at` is
    /// the time of the match in seconds since 1970.
    pub fn gang_notice(&self, gang: &Gang, unit: Option<usize>, context: &Context, at: Option<i64>) -> Notice {
        let offer = |index: usize| {
            Party::from_offer(self.offers[index].advertisement(), self.offers[index].record_id(), context)
        };
        Notice::for_gang(gang, self.request_party(gang.request, unit, context), offer, at)
    }

    /// Returns the party of a request, or of one unit of a request that stands for several units.
    fn request_party(&self, request: usize, unit: Option<usize>, context: &Context) -> Party {
        let asking = &self.requests[request];
        let party = Party::new(asking.advertisement(), &self.request_record_id(request, unit), context);
        Party { whole_id: unit.map(|_| asking.record_id().to_owned()), ..party }
    }
}

impl AdNames for Parties {
    fn ad_name(&self, ad: AdReference) -> String {
        match ad {
            AdReference::Request(request) => self.request_name(request, None),
            AdReference::Offer { offer, part } => self.offer_name(offer, part),
        }
    }
}

/// Assigns content identities to the ads that have no names. Returns their number. Requests and offers with equal
/// contents are numbered together.
pub fn assign_content_ids<'a>(sides: impl IntoIterator<Item = &'a mut Vec<NamedAd>>) -> usize {
    let mut identities = ContentIdentities::default();
    let ads = sides.into_iter().flatten();
    ads.filter_map(|ad| ad.assign_content_id(&mut identities).then_some(())).count()
}

/// Whether some of these ads have ports. Ads that were read only in part are skipped, because `explain` reads ads in
/// part only if none of them has ports.
pub fn any_ports(ads: &[NamedAd]) -> bool {
    ads.iter().any(|ad| !ad.is_projected() && has_ports(&ad.ad))
}

/// Calls ads by their identities where their display names are equal, as those of jobs of several access points can be.
/// With `--id`, equal names are meant.
pub fn distinguish_names(ads: &mut [NamedAd], context: &Context) {
    let mut first_of_name: FxHashMap<&str, usize> = FxHashMap::default();
    let mut equal: FxHashSet<usize> = FxHashSet::default();
    for (index, ad) in ads.iter().enumerate().filter(|(_, ad)| ad.is_named_by_job_number()) {
        match first_of_name.entry(ad.id()) {
            Entry::Vacant(none) => drop(none.insert(index)),
            Entry::Occupied(first) => equal.extend([*first.get(), index]),
        }
    }
    for index in equal {
        ads[index].name_by_identity(context);
    }
}

/// Warns of requests whose resource count is invalid. Prints one warning for each reason, not for each request.
pub fn warn_of_invalid_counts(session: &Session, requests: &[NamedAd]) {
    let (count, context) = (Name::new(RESOURCE_COUNT), session.context());
    let mut reasons: IndexMap<String, (&str, usize)> = IndexMap::new();
    for run in runs_of_shared_ads(requests).filter(|run| run[0].ad.get(&count).is_some()) {
        if let Some(reason) = invalid_count_reason(&run[0].ad, &context) {
            reasons.entry(reason).or_insert((run[0].id(), 0)).1 += run.len();
        }
    }
    for (reason, (first, requests)) in reasons {
        let more =
            if requests > 1 { format!(" (and {})", counted(requests - 1, "more request")) } else { String::new() };
        session.warning(&format!("{first}: {reason}{more}"));
    }
}

/// Splits the requests into slices of consecutive requests that share one ad.
pub fn runs_of_shared_ads(requests: &[NamedAd]) -> impl Iterator<Item = &[NamedAd]> {
    requests.chunk_by(|one, next| one.ad.identity() == next.ad.identity())
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::*;
    use crate::cli::program::session_of;

    fn ad(text: &str, name: &str) -> NamedAd {
        NamedAd::unnamed(parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap())
            .with_name(name.to_owned())
    }

    #[test]
    fn units_and_parts_have_numbers() {
        let parties = Parties::new([vec![ad("[ a = 1 ]", "r")], vec![ad("[ a = 1 ]", "o")]]);
        assert_eq!([None, Some(0), Some(2)].map(|unit| parties.request_name(0, unit)), ["r", "r#0", "r#2"]);
        assert_eq!([1, 2].map(|part| parties.offer_name(0, part)), ["o", "o#2"]);
        assert_eq!(parties.ad_name(AdReference::Request(0)), "r");
        assert_eq!(parties.ad_name(AdReference::Offer { offer: 0, part: 3 }), "o#3");
    }

    #[test]
    fn jobs_of_one_number_are_told_apart() {
        let context = Context::new(Dialect::Condor);
        let job = |id: &str, name: &str| {
            ad(&format!("[ MyType = \"Job\"; GlobalJobId = \"{id}\"; ClusterId = 1; ProcId = 0; JobStatus = 1 ]"), name)
        };
        let mut ads = [
            job("a#1.0#5", "1.0"),
            job("b#2.0#5", "2.0"),
            job("c#1.0#5", "1.0"),
            job("d", "x"),
            job("e", "x"),
            job("f#1.0#5", "1.0"),
        ];
        distinguish_names(&mut ads, &context);
        assert_eq!(ads.each_ref().map(NamedAd::id), ["a#1.0#5", "2.0", "c#1.0#5", "x", "x", "f#1.0#5"]);
    }

    #[test]
    fn counts_that_are_no_counts_are_told_once() {
        let of = |count: &str, name: &str| ad(&format!("[ a = 1; ResourceRequestCount = {count} ]"), name);
        let shared = of("\"x\"", "r3");
        let requests = [
            of("1", "r0"),
            of("-1", "r1"),
            ad("[ a = 1 ]", "r2"),
            shared.clone(),
            shared.clone().with_name("r4".to_owned()),
            of("-1", "r5"),
            shared.with_name("r6".to_owned()),
        ];
        let mut session = session_of(&["repl", "--quiet", "--dialect", "condor"]);
        session.keep_messages();
        warn_of_invalid_counts(&session, &requests);
        assert_eq!(
            session.told(),
            [
                "warning: r1: ResourceRequestCount -1 is below 0 and counts as 0 (and 1 more request)",
                "warning: r3: ResourceRequestCount \"x\" is a string instead of an integer and counts as 1 \
                 (and 2 more requests)",
            ]
        );
        let parties = Parties::new([requests.to_vec(), Vec::new()]);
        let summary = parties.summarize_requests(&session);
        assert_eq!((summary.distinct_ads, summary.with_ports, summary.has_resource_counts), (5, 0, true));
        let ports = ad("[ Ports = { [ Label = \"x\" ] } ]", "p");
        let parties = Parties::new([vec![ports.clone(), ad("[ a = 1 ]", "r"), ports], Vec::new()]);
        let summary = parties.summarize_requests(&session);
        assert_eq!((summary.distinct_ads, summary.with_ports, summary.has_resource_counts), (2, 2, false));
        assert!(any_ports(&parties.requests) && !any_ports(&parties.requests[1..2]));
    }

    #[test]
    fn ads_without_names_get_identities() {
        let mut sides = [vec![ad("[ a = 1 ]", "r")], Vec::new()];
        assert_eq!(assign_content_ids(&mut sides), 0);
    }
}
