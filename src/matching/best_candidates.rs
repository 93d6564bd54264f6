//! The best of many candidates, found without sorting all of them.

use std::cmp::Ordering;

use super::Candidate;

/// Collects candidates and keeps the best ones.
pub struct BestCandidates {
    most: usize,
    /// The best candidates so far, and candidates that were added since the worse ones were removed last.
    kept: Vec<Candidate>,
    /// The worst of the best `most` candidates when the worse ones were removed last. `None` before that.
    limit: Option<Candidate>,
}

impl BestCandidates {
    /// Creates a collection that keeps `most` candidates, at least one.
    pub fn new(most: usize) -> Self {
        BestCandidates { most: most.max(1), kept: Vec::new(), limit: None }
    }

    /// Adds a candidate, unless it is worse than the best ones.
    pub fn add(&mut self, candidate: Candidate) {
        if self.limit.is_some_and(|limit| candidate.cmp_best_first(&limit) == Ordering::Greater) {
            return;
        }
        self.kept.push(candidate);
        if self.kept.len() >= self.most.saturating_mul(2) {
            let (_, limit, _) = self.kept.select_nth_unstable_by(self.most - 1, Candidate::cmp_best_first);
            self.limit = Some(*limit);
            self.kept.truncate(self.most);
        }
    }

    /// Returns the best candidates, best first.
    pub fn into_sorted(mut self) -> Vec<Candidate> {
        self.kept.sort_unstable_by(Candidate::cmp_best_first);
        self.kept.truncate(self.most);
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::BestCandidates;
    use crate::matching::Candidate;

    #[test]
    fn the_best_are_those_that_sorting_puts_first() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..500 {
            let (length, most) = (random.usize(..60), random.usize(1..20));
            let mut candidates: Vec<Candidate> = (0..length)
                .map(|offer| {
                    let mut rank = || [0.0, -0.0, 1.0, 2.5, f64::NAN][random.usize(..5)];
                    Candidate { offer, request_rank: rank(), offer_rank: rank() }
                })
                .collect();
            random.shuffle(&mut candidates);
            let mut best = BestCandidates::new(most);
            for candidate in &candidates {
                best.add(*candidate);
            }
            candidates.sort_by(Candidate::cmp_best_first);
            candidates.truncate(most);
            let offers = |candidates: &[Candidate]| candidates.iter().map(|one| one.offer).collect::<Vec<_>>();
            assert_eq!(offers(&best.into_sorted()), offers(&candidates));
        }
    }

    /// Twice as many as are wanted are held at most.
    #[test]
    fn worse_ones_are_removed_in_time() {
        for (wanted, most) in [(0, 1), (1, 1), (2, 2), (5, 5)] {
            let mut best = BestCandidates::new(wanted);
            let mut held = Vec::new();
            for offer in 0..12 {
                best.add(Candidate { offer, request_rank: 1.0, offer_rank: 0.0 });
                held.push(best.kept.len());
            }
            // Of equal candidates the first are the best: once they are known, nothing is held.
            let expected: Vec<usize> = (1..=12).map(|added| if added < 2 * most { added } else { most }).collect();
            assert_eq!(held, expected, "{wanted}");
            let offers: Vec<usize> = best.into_sorted().iter().map(|one| one.offer).collect();
            assert_eq!(offers, (0..most).collect::<Vec<_>>(), "{wanted}");
        }
        let mut all = BestCandidates::new(usize::MAX);
        all.add(Candidate { offer: 3, request_rank: 1.0, offer_rank: 0.0 });
        assert_eq!(all.into_sorted().len(), 1);
    }
}
