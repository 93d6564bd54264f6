//! The candidates of a request, best first. The queue ranks only the first ones, and more when they are asked for.

use fixedbitset::FixedBitSet;

use crate::ad::Ad;

use super::Candidate;

/// Number of candidates that are ranked first. Most requests are in autoclusters of fewer requests.
const FIRST_BATCH: usize = 32;

/// Factor by which each batch is larger than the one before.
const BATCH_GROWTH: usize = 4;

/// The candidates of a request, best first, for a caller that takes one after the other. Of many candidates, most are
/// never ranked and take one bit each.
pub struct CandidateQueue {
    /// The request, kept alive because its address identifies the queue.
    pub request: Ad,
    /// The candidates that are ranked, best first.
    pub ranked: Vec<Candidate>,
    /// Number of leading candidates in `ranked` that are all known to be taken.
    passed: usize,
    /// The candidates that are not ranked yet. They are worse than all ranked ones.
    pub unranked: FixedBitSet,
    /// Number of candidates to rank next.
    pub batch: usize,
}

impl CandidateQueue {
    /// Creates a queue of ranked candidates, best first.
    pub fn of_ranked(request: Ad, ranked: Vec<Candidate>) -> Self {
        CandidateQueue { request, ranked, passed: 0, unranked: FixedBitSet::new(), batch: FIRST_BATCH }
    }

    /// Creates a queue of offers. None of them is ranked yet.
    pub fn of_unranked(request: Ad, offers: FixedBitSet) -> Self {
        CandidateQueue { unranked: offers, ..CandidateQueue::of_ranked(request, Vec::new()) }
    }

    /// Returns the best candidate that is not taken. A taken offer never becomes free again. `None` if there is none
    /// among the ranked ones.
    pub fn first_free(&mut self, taken: &FixedBitSet) -> Option<Candidate> {
        while self.ranked.get(self.passed).is_some_and(|candidate| taken.contains(candidate.offer)) {
            self.passed += 1;
        }
        self.ranked.get(self.passed).copied()
    }

    /// Replaces the ranked candidates, which are all taken, by the next ones. These must be the best of the unranked.
    pub fn refill(&mut self, ranked: Vec<Candidate>) {
        for candidate in &ranked {
            self.unranked.set(candidate.offer, false);
        }
        self.ranked = ranked;
        self.passed = 0;
        self.batch = self.batch.saturating_mul(BATCH_GROWTH);
    }
}
