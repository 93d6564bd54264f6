//! Allocation of offers to requests when the whole queue is matched, for `--unmatched`.

use classad::matching::Accelerations;
use classad::matching::negotiate::NegotiationSettings;
use indexmap::IndexSet;

use crate::cli::Failure;
use crate::cli::io::input::NamedAd;
use crate::cli::io::parties::Parties;
use crate::cli::matching_run::{MatchStrategy, MatchingRun, PairSelection};
use crate::cli::session::Session;

use crate::cli::render::explanation::ExplanationInput;
use crate::cli::render::explanation::gangs;

/// Which requests took which offers.
pub enum Allocation {
    /// Bilateral matching: one offer for each request.
    Pairs(PairAllocation),
    /// Gangmatching: a gang of offers for each request.
    Gangs(gangs::GangQueue),
}

/// The allocation of bilateral matching.
pub struct PairAllocation {
    /// Whether a request got an offer, by index of the request.
    is_matched: Vec<bool>,
    /// Requests that hold an offer or a part of it, by index of the offer.
    holders: Vec<Vec<usize>>,
}

impl Allocation {
    /// Whether a request got an offer or a gang.
    pub fn is_matched(&self, request: usize) -> bool {
        match self {
            Allocation::Pairs(pairs) => pairs.is_matched[request],
            Allocation::Gangs(gangs) => gangs.is_matched[request],
        }
    }

    /// Returns the requests that hold any of these offers, in ascending order.
    pub fn holders_of(&self, offers: &[usize]) -> Vec<usize> {
        let of = |offer: &usize| match self {
            Allocation::Pairs(pairs) => pairs.holders[*offer].as_slice(),
            Allocation::Gangs(gangs) => gangs.holders(*offer),
        };
        let mut holders: IndexSet<usize> = offers.iter().flat_map(of).copied().collect();
        holders.sort_unstable();
        holders.into_iter().collect()
    }

    /// Returns the allocation of gangs; `None` after bilateral matching.
    pub fn as_gangs(&self) -> Option<&gangs::GangQueue> {
        match self {
            Allocation::Gangs(gangs) => Some(gangs),
            Allocation::Pairs(_) => None,
        }
    }
}

/// Matches each request in turn with the best offer left, like `classad match`.
pub fn allocate_pairs(
    session: &mut Session,
    parties: &Parties,
    case: &ExplanationInput<'_>,
) -> Result<PairAllocation, Failure> {
    let overview = parties.summarize_requests(session);
    let task = MatchingRun {
        selection: PairSelection {
            strategy: MatchStrategy::Greedy,
            all_pairs: false,
            max_per_request: None,
            consume: true,
            stops_at_first: false,
        },
        settings: NegotiationSettings {
            policy: case.policy.policy.clone(),
            protocol: case.protocol.clone(),
            context: session.context(),
            accelerations: Accelerations::ALL,
        },
        follows_policy: case.policy.affects_matching() || overview.has_resource_counts,
        has_shared_ads: parties.requests.first().is_none_or(NamedAd::is_projected),
        distinct_requests: overview.distinct_ads as u64,
    };
    let found = task.find_pairs(&parties.ads()).map_err(|fault| case.policy.report_fault(session, fault))?;
    let (requests, offers) = (parties.requests.len(), parties.offers.len());
    let mut pairs = PairAllocation { is_matched: vec![false; requests], holders: vec![Vec::new(); offers] };
    for pairing in &found.pairings {
        pairs.is_matched[pairing.request] = true;
        pairs.holders[pairing.offer].push(pairing.request);
    }
    session.report_budget_failures(found.statistics.failures);
    Ok(pairs)
}
