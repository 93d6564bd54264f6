//! Allocation of offers to requests when the whole queue is matched, for `--unmatched`.

use classad::matching::Accelerations;
use classad::matching::negotiate::Settings;
use indexmap::IndexSet;

use crate::cli::Failure;
use crate::cli::io::input::Identified;
use crate::cli::io::parties::Parties;
use crate::cli::matching_run::{Strategy, Task, Wanted};
use crate::cli::session::Session;

use crate::cli::render::explanation::Case;
use crate::cli::render::explanation::gangs;

/// Which requests took which offers.
pub enum Taken {
    /// Bilateral matching: one offer for each request.
    Pairs(Pairs),
    /// Gangmatching: a gang of offers for each request.
    Gangs(gangs::Queue),
}

/// The allocation of bilateral matching.
pub struct Pairs {
    /// Whether a request got an offer, by index of the request.
    is_matched: Vec<bool>,
    /// Requests that hold an offer or a part of it, by index of the offer.
    holders: Vec<Vec<usize>>,
}

impl Taken {
    /// Whether a request got its offer or its gang.
    pub fn is_matched(&self, request: usize) -> bool {
        match self {
            Taken::Pairs(pairs) => pairs.is_matched[request],
            Taken::Gangs(gangs) => gangs.is_matched[request],
        }
    }

    /// Returns the requests that hold any of these offers, in ascending order.
    pub fn by(&self, offers: &[usize]) -> Vec<usize> {
        let of = |offer: &usize| match self {
            Taken::Pairs(pairs) => pairs.holders[*offer].as_slice(),
            Taken::Gangs(gangs) => gangs.holders(*offer),
        };
        let mut holders: IndexSet<usize> = offers.iter().flat_map(of).copied().collect();
        holders.sort_unstable();
        holders.into_iter().collect()
    }

    /// Returns the allocation of gangs; `None` after bilateral matching.
    pub fn gangs(&self) -> Option<&gangs::Queue> {
        match self {
            Taken::Gangs(gangs) => Some(gangs),
            Taken::Pairs(_) => None,
        }
    }
}

/// Matches each request in turn with the best offer left, like `classad match`.
pub fn taken(session: &mut Session, parties: &Parties, case: &Case<'_>) -> Result<Pairs, Failure> {
    let overview = parties.overview(session);
    let task = Task {
        wanted: Wanted { strategy: Strategy::Greedy, all: false, best: None, consume: true, one_will_do: false },
        settings: Settings {
            policy: case.given.policy.clone(),
            protocol: case.protocol.clone(),
            context: session.context(),
            accelerations: Accelerations::ALL,
        },
        has_rules: case.given.decides() || overview.counts,
        is_clustered: parties.requests.first().is_none_or(Identified::is_selected),
        distinct: overview.distinct as u64,
    };
    let found = task.find(&parties.ads()).map_err(|fault| case.given.refuse(session, fault))?;
    let (requests, offers) = (parties.requests.len(), parties.offers.len());
    let mut pairs = Pairs { is_matched: vec![false; requests], holders: vec![Vec::new(); offers] };
    for pairing in &found.pairings {
        pairs.is_matched[pairing.request] = true;
        pairs.holders[pairing.offer].push(pairing.request);
    }
    session.failures(found.statistics.failures);
    Ok(pairs)
}
