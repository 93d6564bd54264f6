//! Greedy bilateral matching: each request in turn takes the best remaining offer.

use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::eval::Context;
use crate::protocol::Protocol;

use super::{Accelerations, Matchmaker, Statistics};

/// A request and the offer it got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BilateralMatch {
    /// Index of the request.
    pub request: usize,
    /// Index of the offer.
    pub offer: usize,
    /// Rank that the request gives the offer.
    pub request_rank: f64,
    /// Rank that the offer gives the request.
    pub offer_rank: f64,
}

/// Matches requests one by one, in the order in which they are given.
///
/// The best offer is the one that the request ranks highest, then the one that ranks the request highest, then the
/// first (1998 paper 3.2).
pub struct GreedyMatcher {
    matchmaker: Matchmaker,
    taken: Vec<bool>,
    /// For each match list, by address, the number of its leading candidates that are known to be taken.
    taken_prefixes: FxHashMap<usize, usize>,
    /// Whether a matched offer is unavailable to later requests.
    pub consume: bool,
}

impl GreedyMatcher {
    /// Creates a matcher for these offers with all accelerations.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> Self {
        GreedyMatcher::from_matchmaker(Matchmaker::new(offers, protocol, context, Accelerations::ALL))
    }

    /// Creates a matcher that gets its candidates from a matchmaker.
    #[must_use]
    pub fn from_matchmaker(matchmaker: Matchmaker) -> Self {
        let taken = vec![false; matchmaker.offers.len()];
        GreedyMatcher { matchmaker, taken, taken_prefixes: FxHashMap::default(), consume: true }
    }

    /// Returns the counters so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.matchmaker.statistics
    }

    /// Returns the best remaining offer for a request and takes it if `consume` is set. `None` if no compatible offer
    /// remains. `index` only becomes the `request` of the match.
    pub fn take_best(&mut self, index: usize, request: &Ad) -> Option<BilateralMatch> {
        let candidates = self.matchmaker.candidates(request);
        // A taken offer stays taken, so that the next request with this list can skip the taken prefix.
        let passed = self.taken_prefixes.entry(candidates.as_ptr() as usize).or_default();
        while candidates.get(*passed).is_some_and(|candidate| self.taken[candidate.offer]) {
            *passed += 1;
        }
        let best = candidates.get(*passed).map(|candidate| candidate.match_with(index));
        if !self.matchmaker.accelerations.match_lists {
            self.taken_prefixes.clear();
        }
        let statistics = &mut self.matchmaker.statistics;
        statistics.roots += 1;
        statistics.matched += u64::from(best.is_some());
        if let Some(best) = best.filter(|_| self.consume) {
            self.taken[best.offer] = true;
            self.matchmaker.withdraw(best.offer);
        }
        best
    }
}
