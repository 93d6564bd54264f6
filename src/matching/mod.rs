//! Matchmaking: one-way queries, strategies for bilateral matches, gangs, negotiation cycles under a policy, and what
//! follows a match: notices and claims.

mod best_candidates;
mod candidate;
mod candidate_queue;
pub mod claim;
pub mod gang;
mod greedy;
mod index;
mod matchmaker;
mod maximum_matching;
pub mod negotiate;
mod notification;
mod pair;
pub mod policy;
mod query;
mod registrar;
mod request_classes;
mod stable_matching;
#[cfg(test)]
mod tests;

use best_candidates::BestCandidates;
pub use candidate::{BilateralMatch, Candidate};
pub use greedy::GreedyMatcher;
pub use matchmaker::{Accelerations, Matchmaker};
pub use maximum_matching::maximum_matching;
pub use notification::{Docking, MatchKind, Notice, Party, UNNUMBERED, ad_json, part_name, read_lenient};
pub use pair::{Pair, PairSide};
pub use query::{Query, about_one_ad};
pub use registrar::Registrar;
pub use stable_matching::stable_matching;

/// Counters of one matching run: the work done and the matches found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Statistics {
    /// Number of requests considered.
    pub roots: u64,
    /// Number of requests matched.
    pub matched: u64,
    /// Number of pairs of ads, or pairs of ports, that were tested for compatibility.
    pub tests: u64,
    /// Number of constraints and ranks evaluated.
    pub evaluations: u64,
    /// Number of queries to an index of offers, including queries answered from a cache.
    pub probes: u64,
    /// Number of candidates that were docked and undocked again.
    pub backtracks: u64,
    /// Number of autoclusters: groups of requests that neither offers nor the policy can distinguish.
    pub autoclusters: u64,
    /// Number of requests skipped because an equivalent request had failed.
    #[serde(skip)]
    pub skipped: u64,
    /// Number of evaluations and of searches for gangs that exceeded a budget. Such an evaluation counts as no match,
    /// and such a search may have missed gangs.
    #[serde(skip)]
    pub failures: u64,
    /// Number of searches for gangs among the failures. A gang may be missing, or there may be a better one.
    #[serde(skip)]
    pub cut_off_searches: u64,
}

impl Statistics {
    /// Adds the counters of another run to these counters.
    pub fn add(&mut self, other: &Statistics) {
        let Statistics { roots, matched, tests, evaluations, probes, autoclusters, .. } = other;
        let Statistics { skipped, backtracks, failures, cut_off_searches, .. } = other;
        self.roots += roots;
        self.matched += matched;
        self.tests += tests;
        self.evaluations += evaluations;
        self.probes += probes;
        self.autoclusters += autoclusters;
        self.skipped += skipped;
        self.backtracks += backtracks;
        self.failures += failures;
        self.cut_off_searches += cut_off_searches;
    }
}
