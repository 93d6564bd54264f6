//! Greedy bilateral matching: requests are served in order, and each takes the best remaining offer.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::eval::Context;
use crate::protocol::Protocol;

use super::candidate_queue::CandidateQueue;
use super::{Accelerations, BilateralMatch, Matchmaker, Statistics};

/// Matches requests one by one, in the order in which they are given.
///
/// The best offer is the one that the request ranks highest. Among equally ranked offers the best is the one that ranks
/// the request highest, then the first (1998 paper 3.2).
pub struct GreedyMatcher {
    matchmaker: Matchmaker,
    taken: FixedBitSet,
    /// The candidates of each request so far, by the address of the request.
    queues: FxHashMap<usize, CandidateQueue>,
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
        let taken = FixedBitSet::with_capacity(matchmaker.offers.len());
        GreedyMatcher { matchmaker, taken, queues: FxHashMap::default(), consume: true }
    }

    /// Returns the counters of the work done so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.matchmaker.statistics
    }

    /// Returns the match with the best remaining offer; `None` if no compatible offer remains. If `consume` is set, the
    /// offer is taken. `index` becomes [`BilateralMatch::request`] and has no other effect.
    pub fn take_best(&mut self, index: usize, request: &Ad) -> Option<BilateralMatch> {
        let known = self.queues.remove(&request.identity());
        let mut queue = known.unwrap_or_else(|| self.matchmaker.queue(request));
        let best = loop {
            let best = queue.first_free(&self.taken);
            if best.is_some() {
                break best;
            }
            queue.unranked.difference_with(&self.taken);
            if queue.is_ranked() {
                break None;
            }
            self.matchmaker.rank_more(&mut queue);
        };
        let best = best.map(|candidate| candidate.match_with(index));
        if self.matchmaker.accelerations.match_lists && !self.matchmaker.is_interrupted() {
            self.queues.insert(request.identity(), queue);
        }
        let statistics = &mut self.matchmaker.statistics;
        statistics.roots += 1;
        statistics.matched += u64::from(best.is_some());
        if let Some(best) = best.filter(|_| self.consume) {
            self.taken.insert(best.offer);
            self.matchmaker.withdraw(best.offer);
        }
        best
    }
}
