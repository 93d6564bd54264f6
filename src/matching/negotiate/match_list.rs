//! The match list of an autocluster: its candidates, best first by the docking vector (2006 paper 4.2, thesis 3.2.4).

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ad::Ad;
use crate::matching::Candidate;
use crate::matching::candidate_queue::CandidateQueue;
use crate::matching::policy::{PolicyFault, PolicyVector};

use super::offers::CycleOffers;

/// A candidate with its docking vector.
#[derive(Clone, Debug)]
pub struct RankedCandidate {
    pub candidate: Candidate,
    /// Docking vector of the request for the candidate; `None` if the policy has no docking vector, so that ranks
    /// decide.
    pub vector: Option<PolicyVector>,
}

/// The candidates of an autocluster, best first. The list is kept for later requests of the autocluster, and updated
/// after an offer was divided.
///
/// The first component of the docking vector is evaluated for all candidates. The others are evaluated only where it does
/// not decide, and only as far as candidates are asked for: the candidates before `settled`.
///
/// Without a docking vector, ranks decide. Then candidates are ranked only as far as they are asked for. The others take
/// one bit each, and candidates that are all taken leave the list.
#[derive(Default)]
pub struct ClusterMatchList {
    /// The candidates that are not known to be discarded, best first. Those of `queue` are worse.
    candidates: Vec<Candidate>,
    /// The candidates that are not ranked yet. `None` if all are.
    queue: Option<CandidateQueue>,
    /// The docking vector of each candidate; from `settled` on only its first component. Empty if the policy has no
    /// docking vector, so that ranks decide.
    vectors: Vec<PolicyVector>,
    /// Number of leading candidates whose whole vectors are known.
    settled: usize,
    /// The compatible offers that the docking vector discarded.
    discarded: FxHashSet<usize>,
    /// Number of compatible offers that were taken before their vectors or ranks were needed, and left the list.
    passed: usize,
    /// Position in `candidates` at which the search for a free offer starts. All earlier offers are taken.
    next_position: usize,
    /// Length of [`CycleOffers::divisions`] when the list was last refreshed; `None` if the list was never filled.
    divisions_seen: Option<usize>,
    /// Whether remainders stand behind candidates that are worse. Such a list is good only for the next request of its
    /// autocluster.
    is_disordered: bool,
}

impl ClusterMatchList {
    /// Fills the list, or updates it if offers were divided since the last refresh. Only the divided offers are tested
    /// and evaluated again. `is_repeated` says whether the request before was of the same autocluster.
    ///
    /// # Errors
    ///
    /// Fails if docking vectors cannot be compared.
    pub fn refresh(&mut self, offers: &mut CycleOffers, request: &Ad, is_repeated: bool) -> Result<(), PolicyFault> {
        if self.is_disordered && !is_repeated {
            *self = ClusterMatchList::default();
        }
        let divisions = offers.divisions.len();
        match self.divisions_seen.replace(divisions) {
            None => self.fill(offers, request),
            Some(seen) if seen == divisions => Ok(()),
            Some(seen) => {
                let mut divided = offers.divisions[seen..].to_vec();
                divided.sort_unstable();
                divided.dedup();
                self.is_disordered |= is_repeated && offers.puts_after_worse() && !offers.policy.docking.is_empty();
                if self.is_disordered {
                    self.settle(usize::MAX, offers, request)?;
                }
                self.update(offers, request, divided)
            }
        }
    }

    /// The size of the list in bytes.
    pub fn bytes(&self) -> usize {
        // Vectors have at most two lengths: the first ones are whole.
        let of_vector = self.vectors.first().map_or(0, PolicyVector::bytes);
        self.candidates.capacity() * size_of::<Candidate>()
            + self.vectors.len() * of_vector
            + self.queue.as_ref().map_or(0, CandidateQueue::bytes)
            + self.discarded.capacity() * size_of::<usize>()
    }

    /// Whether remainders stand behind candidates that are worse.
    pub fn is_disordered(&self) -> bool {
        self.is_disordered
    }

    fn fill(&mut self, offers: &mut CycleOffers, request: &Ad) -> Result<(), PolicyFault> {
        let components = offers.policy.docking.len();
        if components == 0 {
            let mut queue = offers.queue(request);
            self.candidates = std::mem::take(&mut queue.ranked);
            self.settled = self.candidates.len();
            self.queue = Some(queue).filter(|queue| !queue.is_ranked());
            return Ok(());
        }
        let candidates = offers.candidates(request);
        let mut ranked: Vec<(Candidate, PolicyVector)> = Vec::new();
        for candidate in candidates.iter() {
            match offers.vector(request, candidate.offer, 0..1) {
                Some(vector) => ranked.push((*candidate, vector)),
                None => {
                    self.discarded.insert(candidate.offer);
                }
            }
        }
        offers.check_comparable(ranked.iter().map(|(_, vector)| vector))?;
        sort_best_first(&mut ranked, offers);
        (self.candidates, self.vectors) = ranked.into_iter().unzip();
        self.settled = if components == 1 { self.candidates.len() } else { 0 };
        Ok(())
    }

    /// Ranks candidates until one is known at a position, or no candidate is left.
    fn rank_up_to(&mut self, position: usize, offers: &mut CycleOffers) {
        while let Some(mut queue) = self.queue.take_if(|_| self.candidates.len() <= position) {
            let unranked = queue.len();
            let batch = offers.rank_more(&mut queue);
            self.passed += unranked - batch.len() - queue.len();
            self.candidates.extend(batch);
            self.settled = self.candidates.len();
            self.queue = Some(queue).filter(|queue| !queue.is_ranked());
        }
    }

    /// Evaluates the whole vectors of candidates until the candidate at a position is settled, or no candidate is left.
    fn settle(&mut self, position: usize, offers: &mut CycleOffers, request: &Ad) -> Result<(), PolicyFault> {
        self.rank_up_to(position, offers);
        while self.settled <= position && self.settled < self.candidates.len() {
            // The candidates among which the first component does not decide.
            let first = &self.vectors[self.settled];
            let equal =
                self.vectors[self.settled..].iter().take_while(|vector| first.cmp_greatest_first(vector).is_eq());
            let range = self.settled..self.settled + equal.count();
            let mut ranked: Vec<(Candidate, PolicyVector)> = Vec::new();
            let prefixes: Vec<PolicyVector> = self.vectors.drain(range.clone()).collect();
            let candidates: Vec<Candidate> = self.candidates.drain(range).collect();
            for (candidate, prefix) in candidates.into_iter().zip(prefixes) {
                if offers.taken[candidate.offer] {
                    self.passed += 1;
                } else if let Some(vector) = whole_vector(prefix, offers, request, candidate.offer) {
                    ranked.push((candidate, vector));
                } else {
                    self.discarded.insert(candidate.offer);
                }
            }
            offers.check_comparable(ranked.iter().map(|(_, vector)| vector))?;
            sort_best_first(&mut ranked, offers);
            let at = self.settled;
            self.settled += ranked.len();
            let (candidates, vectors): (Vec<Candidate>, Vec<PolicyVector>) = ranked.into_iter().unzip();
            self.candidates.splice(at..at, candidates);
            self.vectors.splice(at..at, vectors);
        }
        Ok(())
    }

    /// Removes divided offers and adds those of their remainders that are compatible.
    fn update(&mut self, offers: &mut CycleOffers, request: &Ad, divided: Vec<usize>) -> Result<(), PolicyFault> {
        for offer in &divided {
            self.discarded.remove(offer);
            if let Some(position) = self.candidates.iter().position(|candidate| candidate.offer == *offer) {
                self.candidates.remove(position);
                if !self.vectors.is_empty() {
                    self.vectors.remove(position);
                }
                self.settled -= usize::from(position < self.settled);
                self.next_position -= usize::from(position < self.next_position);
            } else if let Some(queue) = &mut self.queue {
                queue.remove(*offer);
            }
        }
        let components = offers.policy.docking.len();
        for candidate in offers.candidates_among(request, divided) {
            if components == 0 {
                let position = self.candidates.partition_point(|known| known.cmp_best_first(&candidate).is_lt());
                match &mut self.queue {
                    Some(queue) if position == self.candidates.len() => queue.add_replaced(candidate),
                    _ => self.insert(position, candidate, None, true),
                }
                continue;
            }
            let Some(prefix) = offers.vector(request, candidate.offer, 0..1) else {
                self.discarded.insert(candidate.offer);
                continue;
            };
            if self.is_disordered {
                self.insert_after_worse(candidate, prefix, offers, request);
                continue;
            }
            offers.check_comparable(self.vectors.iter().take(1).chain([&prefix]))?;
            let last_settled = self.settled.checked_sub(1).map(|last| &self.vectors[last]);
            let is_settled = last_settled.is_some_and(|last| prefix.cmp_greatest_first(last).is_le());
            if !is_settled && components > 1 {
                let place = offers.place(candidate.offer);
                let range = self.settled..self.vectors.len();
                let position = self.settled + self.position_of(&prefix, place, range, offers);
                self.insert(position, candidate, Some(prefix), false);
                continue;
            }
            let run = self.vectors[..self.settled].partition_point(|known| known.cmp_greatest_first(&prefix).is_lt());
            let Some(vector) = whole_vector(prefix, offers, request, candidate.offer) else {
                self.discarded.insert(candidate.offer);
                continue;
            };
            // Only vectors with an equal first component are compared further.
            let equal = self.vectors[run..self.settled].first().filter(|known| known.0[..1] == vector.0[..1]);
            offers.check_comparable(equal.into_iter().chain([&vector]))?;
            let position = self.position_of(&vector, offers.place(candidate.offer), 0..self.settled, offers);
            self.insert(position, candidate, Some(vector), true);
        }
        Ok(())
    }

    /// Puts the remainder of an offer before the first candidate that is as good or better, from the first free one on: see
    /// [`Residual::after_worse`](crate::matching::policy::Residual::after_worse).
    fn insert_after_worse(
        &mut self,
        candidate: Candidate,
        first: PolicyVector,
        offers: &mut CycleOffers,
        request: &Ad,
    ) {
        let Some(vector) = whole_vector(first, offers, request, candidate.offer) else {
            self.discarded.insert(candidate.offer);
            return;
        };
        self.skip_taken(offers);
        let worse =
            self.vectors[self.next_position..].iter().take_while(|known| vector.cmp_greatest_first(known).is_lt());
        let position = self.next_position + worse.count();
        self.insert(position, candidate, Some(vector), true);
    }

    /// Returns the place of a candidate among the candidates of a range, which are sorted, from the range's beginning. Of
    /// equal vectors the offer with the smaller place, which is `place` here, comes first.
    fn position_of(&self, vector: &PolicyVector, place: usize, range: Range<usize>, offers: &CycleOffers) -> usize {
        let known = &self.vectors[range.clone()];
        let position = known.partition_point(|known| known.cmp_greatest_first(vector).is_lt());
        let equal = known[position..].iter().zip(&self.candidates[range][position..]);
        let before = |(known, candidate): &(&PolicyVector, &Candidate)| {
            known.cmp_greatest_first(vector).is_eq() && offers.place(candidate.offer) < place
        };
        position + equal.take_while(before).count()
    }

    fn insert(&mut self, position: usize, candidate: Candidate, vector: Option<PolicyVector>, is_settled: bool) {
        self.candidates.insert(position, candidate);
        if let Some(vector) = vector {
            self.vectors.insert(position, vector);
        }
        self.settled += usize::from(is_settled);
        self.next_position = self.next_position.min(position);
    }

    /// Passes over the taken candidates at the beginning for good.
    pub fn skip_taken(&mut self, offers: &CycleOffers) {
        while self.next_position < self.settled && offers.taken[self.candidates[self.next_position].offer] {
            self.next_position += 1;
        }
        if self.queue.is_some() && self.next_position == self.candidates.len() {
            self.passed += self.candidates.len();
            self.candidates.clear();
            (self.settled, self.next_position) = (0, 0);
        }
    }

    /// Returns the best candidate that is not taken, after those that were returned for this `position` before. The
    /// first `position` is 0. `None` if there is no candidate left.
    ///
    /// # Errors
    ///
    /// Fails if docking vectors cannot be compared.
    pub fn free_from(
        &mut self,
        position: &mut usize,
        offers: &mut CycleOffers,
        request: &Ad,
    ) -> Result<Option<RankedCandidate>, PolicyFault> {
        *position = self.next_position.max(*position);
        loop {
            self.settle(*position, offers, request)?;
            let Some(candidate) = self.candidates.get(*position).copied() else { return Ok(None) };
            let vector = self.vectors.get(*position);
            *position += 1;
            if !offers.taken[candidate.offer] {
                return Ok(Some(RankedCandidate { candidate, vector: vector.cloned() }));
            }
        }
    }

    /// Whether another free candidate is of the same worth as the one that [`ClusterMatchList::free_from`] returned last,
    /// with this `position` after it.
    pub fn is_tied(&self, position: usize, offers: &CycleOffers) -> bool {
        let Some(best) = position.checked_sub(1).and_then(|best| self.vectors.get(best)) else { return false };
        let others = self.vectors[position..self.settled.max(position)].iter().zip(&self.candidates[position..]);
        let mut equal = others.take_while(|(vector, _)| best.cmp_greatest_first(vector).is_eq());
        equal.any(|(_, candidate)| !offers.taken[candidate.offer])
    }

    /// Returns all candidates that are not taken, best first.
    ///
    /// # Errors
    ///
    /// Fails if docking vectors cannot be compared.
    pub fn remaining(&mut self, offers: &mut CycleOffers, request: &Ad) -> Result<Arc<[Candidate]>, PolicyFault> {
        if let Some(queue) = &mut self.queue {
            queue.batch = usize::MAX;
        }
        self.settle(usize::MAX, offers, request)?;
        Ok(self.candidates.iter().filter(|candidate| !offers.taken[candidate.offer]).copied().collect())
    }

    /// Returns two counts: the compatible offers, including taken ones, and those among them that are known to be
    /// discarded by the docking vector.
    pub fn counts(&self) -> (usize, usize) {
        let unranked = self.queue.as_ref().map_or(0, CandidateQueue::len);
        (self.candidates.len() + unranked + self.discarded.len() + self.passed, self.discarded.len())
    }
}

/// Sorts candidates best first: by their vectors, then by the places of their offers.
fn sort_best_first(ranked: &mut [(Candidate, PolicyVector)], offers: &CycleOffers) {
    ranked.sort_by(|(left, left_vector), (right, right_vector)| {
        let by_vector = left_vector.cmp_greatest_first(right_vector);
        by_vector.then_with(|| offers.place(left.offer).cmp(&offers.place(right.offer)))
    });
}

/// Evaluates the components of a docking vector after the first one. `None` if the offer is discarded.
fn whole_vector(mut first: PolicyVector, offers: &mut CycleOffers, request: &Ad, offer: usize) -> Option<PolicyVector> {
    let components = offers.policy.docking.len();
    if components > 1 {
        first.0.extend(offers.vector(request, offer, 1..components)?.0);
    }
    Some(first)
}
