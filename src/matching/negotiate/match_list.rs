//! The match list of an autocluster: its candidates, best first by the docking vector (2006 paper 4.2, thesis 3.2.4).

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ad::Ad;
use crate::matching::Candidate;
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
#[derive(Default)]
pub struct ClusterMatchList {
    /// The candidates that the docking vector accepts, best first.
    candidates: Vec<Candidate>,
    /// The docking vector of each candidate. Empty if the policy has none, so that ranks decide.
    vectors: Vec<PolicyVector>,
    /// The compatible offers that the docking vector discarded.
    discarded: FxHashSet<usize>,
    /// Position in `candidates` at which the search for a free offer starts. All earlier offers are taken.
    next_position: usize,
    /// Length of [`CycleOffers::divisions`] when the list was last refreshed; `None` if the list was never filled.
    divisions_seen: Option<usize>,
}

impl ClusterMatchList {
    /// Fills the list, or updates it if offers were divided since the last refresh. Only the divided offers are tested
    /// and evaluated again.
    ///
    /// # Errors
    ///
    /// Fails if docking vectors cannot be compared.
    pub fn refresh(&mut self, offers: &mut CycleOffers, request: &Ad) -> Result<(), PolicyFault> {
        let divisions = offers.divisions.len();
        match self.divisions_seen.replace(divisions) {
            None => self.fill(offers, request),
            Some(seen) if seen == divisions => Ok(()),
            Some(seen) => {
                let mut divided = offers.divisions[seen..].to_vec();
                divided.sort_unstable();
                divided.dedup();
                self.update(offers, request, divided)
            }
        }
    }

    fn fill(&mut self, offers: &mut CycleOffers, request: &Ad) -> Result<(), PolicyFault> {
        let candidates = offers.candidates(request);
        if offers.policy.docking.is_empty() {
            self.candidates = candidates.to_vec();
            return Ok(());
        }
        let mut ranked: Vec<(Candidate, PolicyVector)> = Vec::new();
        for candidate in candidates.iter() {
            match offers.vector(request, candidate.offer) {
                Some(vector) => ranked.push((*candidate, vector)),
                None => {
                    self.discarded.insert(candidate.offer);
                }
            }
        }
        offers.check_comparable(ranked.iter().map(|(_, vector)| vector))?;
        ranked.sort_by(|(left, left_vector), (right, right_vector)| {
            left_vector.cmp_greatest_first(right_vector).then_with(|| left.offer.cmp(&right.offer))
        });
        (self.candidates, self.vectors) = ranked.into_iter().unzip();
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
                self.next_position -= usize::from(position < self.next_position);
            }
        }
        for candidate in offers.candidates_among(request, divided) {
            let position = if offers.policy.docking.is_empty() {
                self.candidates.partition_point(|known| known.cmp_best_first(&candidate).is_lt())
            } else {
                let Some(vector) = offers.vector(request, candidate.offer) else {
                    self.discarded.insert(candidate.offer);
                    continue;
                };
                offers.check_comparable(self.vectors.iter().take(1).chain([&vector]))?;
                let position = self.vectors.partition_point(|known| known.cmp_greatest_first(&vector).is_lt());
                // Of equal vectors the earlier offer comes first.
                let equal = self.vectors[position..].iter().zip(&self.candidates[position..]);
                let position = position
                    + equal
                        .take_while(|(known, before)| {
                            known.cmp_greatest_first(&vector).is_eq() && before.offer < candidate.offer
                        })
                        .count();
                self.vectors.insert(position, vector);
                position
            };
            self.candidates.insert(position, candidate);
            self.next_position = self.next_position.min(position);
        }
        Ok(())
    }

    /// Returns the candidate at a position of the best-first order, with its docking vector; `None` after the last
    /// candidate.
    fn at(&self, position: usize) -> Option<(&Candidate, Option<&PolicyVector>)> {
        Some((self.candidates.get(position)?, self.vectors.get(position)))
    }

    /// Passes over the taken candidates at the beginning for good.
    pub fn skip_taken(&mut self, offers: &CycleOffers) {
        while self.at(self.next_position).is_some_and(|(candidate, _)| offers.taken[candidate.offer]) {
            self.next_position += 1;
        }
    }

    /// Returns the best candidate that is not taken, after those that were returned for this `position` before. The
    /// first `position` is 0. `None` if there is no candidate left.
    pub fn free_from(&self, position: &mut usize, offers: &CycleOffers) -> Option<RankedCandidate> {
        *position = self.next_position.max(*position);
        loop {
            let (candidate, vector) = self.at(*position)?;
            *position += 1;
            if !offers.taken[candidate.offer] {
                return Some(RankedCandidate { candidate: *candidate, vector: vector.cloned() });
            }
        }
    }

    /// Returns all candidates that are not taken, best first.
    pub fn remaining(&self, offers: &CycleOffers) -> Arc<[Candidate]> {
        let candidates = (0..).map_while(|position| self.at(position)).map(|(candidate, _)| *candidate);
        candidates.filter(|candidate| !offers.taken[candidate.offer]).collect()
    }

    /// Returns two counts: the compatible offers, including taken ones, and those among them that the docking vector
    /// discarded.
    pub fn counts(&self) -> (usize, usize) {
        (self.candidates.len() + self.discarded.len(), self.discarded.len())
    }
}
