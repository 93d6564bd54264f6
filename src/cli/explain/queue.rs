//! Who gets what when a whole queue is matched.

use classad::constraint::Protocol;
use classad::matching::Accelerations;
use classad::matching::negotiate::Settings;
use classad::matching::policy::Policy;
use indexmap::IndexSet;

use crate::cli::Failure;
use crate::cli::input::Identified;
use crate::cli::pairs::{Strategy, Task, Wanted};
use crate::cli::parties::Parties;
use crate::cli::session::Session;

/// The offers that requests took.
pub struct Taken {
    /// Of each request whether it has an offer.
    pub is_matched: Vec<bool>,
    /// Of each offer which request has it.
    holder: Vec<Option<usize>>,
}

impl Taken {
    /// The requests that have some of these offers, in the order of the requests.
    pub fn by(&self, offers: &[usize]) -> Vec<usize> {
        let mut holders: IndexSet<usize> = offers.iter().filter_map(|offer| self.holder[*offer]).collect();
        holders.sort_unstable();
        holders.into_iter().collect()
    }
}

/// Matches every request in turn with the best offer that is left, as `match` does.
pub fn taken(session: &mut Session, parties: &Parties, protocol: &Protocol) -> Result<Taken, Failure> {
    let overview = parties.overview(session);
    let task = Task {
        wanted: Wanted { strategy: Strategy::Greedy, all: false, best: None, consume: true, one_will_do: false },
        settings: Settings {
            policy: Policy::default(),
            protocol: protocol.clone(),
            context: session.context(),
            accelerations: Accelerations::ALL,
        },
        has_rules: overview.counts,
        is_clustered: parties.requests.first().is_none_or(Identified::is_selected),
        distinct: overview.distinct as u64,
    };
    let found = task.find(&parties.ads()).map_err(|fault| Failure::Refused(Some(fault.to_string())))?;
    let mut taken = Taken { is_matched: vec![false; parties.requests.len()], holder: vec![None; parties.offers.len()] };
    for pairing in &found.pairings {
        taken.is_matched[pairing.request] = true;
        taken.holder[pairing.offer] = Some(pairing.request);
    }
    session.failures(found.statistics.failures);
    Ok(taken)
}
