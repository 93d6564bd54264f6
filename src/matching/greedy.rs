//! Greedy bilateral matching: requests are served in order, and each takes the best remaining offer.

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
/// The best offer is the one that the request ranks highest. Among equally ranked offers the best is the one that ranks
/// the request highest, then the first (1998 paper 3.2).
pub struct GreedyMatcher {
    matchmaker: Matchmaker,
    taken: Vec<bool>,
    /// For each match list, by its address: the number of leading candidates that are all known to be taken.
    taken_prefixes: FxHashMap<usize, usize>,
    /// Whether a matched offer is unavailable to later requests.
    pub consume: bool,
}

impl GreedyMatcher {
    /// Creates a matcher for these offers. All accelerations are on.
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

    /// Returns the counters of the work done so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.matchmaker.statistics
    }

    /// Returns the match with the best remaining offer; `None` if no compatible offer remains. If `consume` is set, the
    /// offer is taken. `index` becomes [`BilateralMatch::request`] and has no other effect.
    pub fn take_best(&mut self, index: usize, request: &Ad) -> Option<BilateralMatch> {
        let candidates = self.matchmaker.candidates(request);
        // A taken offer never becomes free again. The next request with this list skips the candidates that were found
        // taken.
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
