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
    /// Candidates that the index does not know, because their offers were replaced, best first. They are worse than all
    /// ranked ones.
    pub replaced: Vec<Candidate>,
    /// Number of candidates to rank next.
    pub batch: usize,
}

impl CandidateQueue {
    /// Creates a queue of ranked candidates, best first.
    pub fn of_ranked(request: Ad, ranked: Vec<Candidate>) -> Self {
        let (unranked, replaced) = (FixedBitSet::new(), Vec::new());
        CandidateQueue { request, ranked, passed: 0, unranked, replaced, batch: FIRST_BATCH }
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

    /// The size of the queue in bytes.
    pub fn bytes(&self) -> usize {
        (self.ranked.capacity() + self.replaced.capacity()) * size_of::<Candidate>() + self.unranked.len() / 8
    }

    /// Number of all candidates.
    pub fn len(&self) -> usize {
        self.ranked.len() + self.unranked.count_ones(..) + self.replaced.len()
    }

    /// Whether all candidates are ranked.
    pub fn is_ranked(&self) -> bool {
        self.unranked.is_clear() && self.replaced.is_empty()
    }

    /// Removes the candidate of an offer, if it is not ranked.
    pub fn remove(&mut self, offer: usize) {
        self.remove_unranked(offer);
        self.replaced.retain(|candidate| candidate.offer != offer);
    }

    fn remove_unranked(&mut self, offer: usize) {
        if self.unranked.contains(offer) {
            self.unranked.remove(offer);
        }
    }

    /// Adds the candidate of a replaced offer. It must be worse than all ranked ones.
    pub fn add_replaced(&mut self, candidate: Candidate) {
        let position = self.replaced.partition_point(|known| known.cmp_best_first(&candidate).is_lt());
        self.replaced.insert(position, candidate);
    }

    /// Replaces the ranked candidates, which are all taken, by the next ones. These must be the best of the unranked; if
    /// there are none, no unranked candidate is left. Those of the replaced offers that come before one of them are added.
    pub fn refill(&mut self, mut ranked: Vec<Candidate>) {
        if ranked.is_empty() {
            self.unranked.clear();
        }
        for candidate in &ranked {
            self.remove_unranked(candidate.offer);
        }
        let better = match ranked.last() {
            Some(last) if !self.unranked.is_clear() => {
                self.replaced.partition_point(|candidate| candidate.cmp_best_first(last).is_lt())
            }
            _ => self.replaced.len(),
        };
        if better > 0 {
            ranked.extend(self.replaced.drain(..better));
            ranked.sort_unstable_by(Candidate::cmp_best_first);
        }
        self.ranked = ranked;
        self.passed = 0;
        self.batch = self.batch.saturating_mul(BATCH_GROWTH);
    }
}

#[cfg(test)]
mod tests {
    use fixedbitset::FixedBitSet;

    use super::CandidateQueue;
    use crate::ad::Ad;
    use crate::matching::Candidate;

    fn candidate(offer: usize, request_rank: f64) -> Candidate {
        Candidate { offer, request_rank, offer_rank: 0.0 }
    }

    fn offers(queue: &CandidateQueue) -> [Vec<usize>; 3] {
        let of = |candidates: &[Candidate]| candidates.iter().map(|candidate| candidate.offer).collect();
        [of(&queue.ranked), queue.unranked.ones().collect(), of(&queue.replaced)]
    }

    #[test]
    fn the_best_that_is_not_taken_comes_first() {
        let ranked = vec![candidate(3, 9.0), candidate(1, 5.0), candidate(2, 1.0)];
        let mut queue = CandidateQueue::of_ranked(Ad::default(), ranked);
        let mut taken = FixedBitSet::with_capacity(4);
        for (take, next) in [(None, Some(3)), (Some(1), Some(3)), (Some(3), Some(2)), (Some(2), None)] {
            taken.extend(take);
            assert_eq!(queue.first_free(&taken).map(|candidate| candidate.offer), next, "{take:?}");
        }
        assert_eq!((queue.len(), queue.is_ranked()), (3, true));
    }

    #[test]
    fn replaced_offers_come_where_their_ranks_are() {
        let unranked: FixedBitSet = [1, 2, 3, 4].into_iter().collect();
        let mut queue = CandidateQueue::of_unranked(Ad::default(), unranked);
        for (offer, rank) in [(7, 3.0), (8, 6.0), (9, 1.0)] {
            queue.add_replaced(candidate(offer, rank));
        }
        assert_eq!(offers(&queue), [vec![], vec![1, 2, 3, 4], vec![8, 7, 9]]);
        assert_eq!((queue.len(), queue.is_ranked()), (7, false));
        queue.remove(7);
        queue.remove(3);
        queue.remove(3);
        assert_eq!(offers(&queue), [vec![], vec![1, 2, 4], vec![8, 9]]);
        let batch = queue.batch;
        queue.refill(vec![candidate(2, 8.0), candidate(4, 5.0)]);
        assert_eq!(offers(&queue), [vec![2, 8, 4], vec![1], vec![9]]);
        assert!(queue.batch > batch);
        // What is worse than all ranked ones waits until no unranked one is left.
        queue.refill(vec![candidate(1, 2.0)]);
        assert_eq!(offers(&queue), [vec![1, 9], vec![], vec![]]);
        queue.refill(vec![]);
        assert!(queue.is_ranked() && queue.len() == 0);
    }

    #[test]
    fn each_batch_is_four_times_as_large_as_the_one_before() {
        let mut queue = CandidateQueue::of_unranked(Ad::default(), (0..3).collect());
        assert_eq!((queue.batch, queue.is_ranked(), queue.first_free(&FixedBitSet::new())), (32, false, None));
        for batch in [128, 512, 2048] {
            queue.refill(vec![candidate(1, 1.0)]);
            assert_eq!((queue.batch, queue.ranked.len()), (batch, 1));
        }
        queue.batch = usize::MAX;
        queue.refill(Vec::new());
        assert_eq!((queue.batch, queue.len(), queue.is_ranked()), (usize::MAX, 0, true));
    }

    #[test]
    fn a_queue_begins_anew_after_each_batch() {
        let mut queue = CandidateQueue::of_ranked(Ad::default(), vec![candidate(0, 3.0), candidate(1, 2.0)]);
        let taken: FixedBitSet = [0, 1].into_iter().collect();
        assert_eq!(queue.first_free(&taken), None);
        queue.refill(vec![candidate(2, 1.0)]);
        let mut taken = FixedBitSet::with_capacity(3);
        assert_eq!(queue.first_free(&taken), Some(candidate(2, 1.0)));
        taken.insert(2);
        assert_eq!(queue.first_free(&taken), None);
    }

    /// What equals the last of the batch comes with it only if it is better by its place.
    #[test]
    fn replaced_offers_that_are_equal_are_ordered_by_their_places() {
        for (offer, expected) in [(1, [vec![1, 2], vec![5], vec![]]), (3, [vec![2], vec![5], vec![3]])] {
            let mut queue = CandidateQueue::of_unranked(Ad::default(), [2, 5].into_iter().collect());
            queue.add_replaced(candidate(offer, 4.0));
            queue.refill(vec![candidate(2, 4.0)]);
            assert_eq!(offers(&queue), expected, "{offer}");
        }
    }

    #[test]
    fn the_size_is_that_of_its_lists() {
        let mut queue = CandidateQueue::of_unranked(Ad::default(), FixedBitSet::with_capacity(800));
        assert_eq!((queue.bytes(), queue.len()), (100, 0));
        queue.ranked = Vec::with_capacity(3);
        queue.replaced = Vec::with_capacity(2);
        assert_eq!(queue.bytes(), 5 * size_of::<Candidate>() + 100);
    }

    #[test]
    fn only_what_is_not_ranked_is_removed() {
        let mut queue = CandidateQueue::of_ranked(Ad::default(), vec![candidate(1, 2.0)]);
        queue.unranked = [1, 3].into_iter().collect();
        queue.add_replaced(candidate(4, 1.0));
        for (offer, expected) in [
            (9, [vec![1], vec![1, 3], vec![4]]),
            (4, [vec![1], vec![1, 3], vec![]]),
            (1, [vec![1], vec![3], vec![]]),
            (3, [vec![1], vec![], vec![]]),
        ] {
            queue.remove(offer);
            assert_eq!(offers(&queue), expected, "{offer}");
        }
    }
}
