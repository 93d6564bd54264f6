//! Who gets what when a whole queue is matched.

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

/// The offers that requests took.
pub enum Taken {
    /// One each.
    Pairs(Pairs),
    /// Gangs of them.
    Gangs(gangs::Queue),
}

/// The offers that requests took, one each.
pub struct Pairs {
    /// Of each request whether it has an offer.
    is_matched: Vec<bool>,
    /// Of each offer which requests have it, or parts of it.
    holders: Vec<Vec<usize>>,
}

impl Taken {
    /// Whether a request has what it asks for.
    pub fn is_matched(&self, request: usize) -> bool {
        match self {
            Taken::Pairs(pairs) => pairs.is_matched[request],
            Taken::Gangs(gangs) => gangs.is_matched[request],
        }
    }

    /// The requests that have some of these offers, in the order of the requests.
    pub fn by(&self, offers: &[usize]) -> Vec<usize> {
        let of = |offer: &usize| match self {
            Taken::Pairs(pairs) => pairs.holders[*offer].as_slice(),
            Taken::Gangs(gangs) => gangs.holders(*offer),
        };
        let mut holders: IndexSet<usize> = offers.iter().flat_map(of).copied().collect();
        holders.sort_unstable();
        holders.into_iter().collect()
    }

    /// The gangs, if there are any.
    pub fn gangs(&self) -> Option<&gangs::Queue> {
        match self {
            Taken::Gangs(gangs) => Some(gangs),
            Taken::Pairs(_) => None,
        }
    }
}

/// Matches every request in turn with the best offer that is left, as `match` does.
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
