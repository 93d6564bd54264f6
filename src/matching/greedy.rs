//! Greedy bilateral matching: each request in turn takes the best offer that is left.

use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::eval::Context;
use crate::protocol::Protocol;

use super::{Accelerations, Matchmaker, Statistics};

/// A request and the offer it got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// Index of the request.
    pub request: usize,
    /// Index of the offer.
    pub offer: usize,
    /// How the request ranks the offer.
    pub request_rank: f64,
    /// How the offer ranks the request.
    pub offer_rank: f64,
}

/// Matches requests, one after the other.
///
/// The best offer is the one that the request ranks highest, then the one that ranks the request
/// highest, then the first (1998 paper §3.2).
pub struct Greedy {
    matchmaker: Matchmaker,
    taken: Vec<bool>,
    /// For each match list how many of its first offers are known to be taken.
    passed: FxHashMap<usize, usize>,
    /// Whether a matched offer is gone for later requests.
    pub consume: bool,
}

impl Greedy {
    /// A matchmaker with these offers.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> Self {
        Greedy::with(Matchmaker::new(offers, protocol, context, Accelerations::ALL))
    }

    /// One that has its candidates from this matchmaker.
    #[must_use]
    pub fn with(matchmaker: Matchmaker) -> Self {
        let taken = vec![false; matchmaker.offers()];
        Greedy { matchmaker, taken, passed: FxHashMap::default(), consume: true }
    }

    /// What has been counted so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.matchmaker.statistics
    }

    /// The best offer for a request, which is then taken.
    pub fn best(&mut self, index: usize, request: &Ad) -> Option<Match> {
        let candidates = self.matchmaker.candidates(request);
        // The next request that has this list need not look at what is taken already; taken stays taken.
        let passed = self.passed.entry(candidates.as_ptr() as usize).or_default();
        while candidates.get(*passed).is_some_and(|candidate| self.taken[candidate.offer]) {
            *passed += 1;
        }
        let best = candidates.get(*passed).map(|candidate| candidate.of(index));
        if !self.matchmaker.keeps_lists() {
            self.passed.clear();
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

    /// Every offer that is left and compatible with a request, in input order.
    pub fn each_compatible(&mut self, index: usize, request: &Ad, mut found: impl FnMut(Match)) {
        let mut candidates = self.matchmaker.candidates(request).to_vec();
        candidates.retain(|candidate| !self.taken[candidate.offer]);
        candidates.sort_unstable_by_key(|candidate| candidate.offer);
        for candidate in candidates {
            found(candidate.of(index));
        }
    }
}
