//! Matchmaking: one-way queries, strategies for bilateral matches, gangs, negotiation cycles under a policy, and what
//! follows a match: notices and claims.

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
mod testing;

pub use greedy::{BilateralMatch, GreedyMatcher};
pub use matchmaker::{Accelerations, Candidate, Matchmaker};
pub use maximum_matching::maximum_matching;
pub use notification::{Docking, MatchKind, Notice, Party, part_name, read_lenient};
pub use pair::{Pair, PairSide};
pub use query::Query;
pub use registrar::Registrar;
pub use stable_matching::stable_matching;

/// Counters of one matching run: the work done and the matches found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Statistics {
    /// Requests considered.
    pub roots: u64,
    /// Requests matched.
    pub matched: u64,
    /// Pairs of ads, or of ports, tried against each other.
    pub tests: u64,
    /// Constraints and ranks evaluated.
    pub evaluations: u64,
    /// Queries on an index of offers, whether computed or answered from a cache.
    pub probes: u64,
    /// Docked candidates that were undocked again.
    pub backtracks: u64,
    /// Autoclusters: groups of requests that neither offers nor the policy can distinguish.
    pub autoclusters: u64,
    /// Requests skipped because an equivalent one had failed.
    #[serde(skip)]
    pub skipped: u64,
    /// Evaluations that exceeded a budget; they count as no match.
    #[serde(skip)]
    pub failures: u64,
}

impl Statistics {
    /// Adds the counters of another run.
    pub fn add(&mut self, other: &Statistics) {
        let Statistics { roots, matched, tests, evaluations, probes, autoclusters, skipped, backtracks, failures } =
            other;
        self.roots += roots;
        self.matched += matched;
        self.tests += tests;
        self.evaluations += evaluations;
        self.probes += probes;
        self.autoclusters += autoclusters;
        self.skipped += skipped;
        self.backtracks += backtracks;
        self.failures += failures;
    }
}
