//! The match list of an autocluster: its candidates, best first by the docking vector (2006 paper 4.2, thesis 3.2.4).

use std::sync::Arc;

use rustc_hash::FxHashMap;

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
    candidates: Arc<[Candidate]>,
    /// Candidates that the docking vector accepts, best first: the position in `candidates` and the vector of each.
    /// Empty if the policy has no docking vector.
    by_vector: Vec<(usize, PolicyVector)>,
    /// Position in the best-first order at which the search for a free offer starts. All earlier offers are taken.
    next_position: usize,
    /// Length of [`CycleOffers::divisions`] when the list was last refreshed; `None` if the list was never filled.
    divisions_seen: Option<usize>,
    has_vector: bool,
}

impl ClusterMatchList {
    /// Fills the list, or updates it if offers were divided since the last refresh. A docking vector in the list is
    /// evaluated again only if its offer was divided since.
    ///
    /// # Errors
    ///
    /// Fails if docking vectors cannot be compared.
    pub fn refresh(&mut self, offers: &mut CycleOffers, request: &Ad) -> Result<(), PolicyFault> {
        if self.divisions_seen == Some(offers.divisions.len()) {
            return Ok(());
        }
        let candidates = offers.candidates(request);
        self.has_vector = !offers.policy.docking.is_empty();
        if self.has_vector {
            let mut known: FxHashMap<usize, PolicyVector> = FxHashMap::default();
            known.extend(self.by_vector.drain(..).map(|(position, vector)| (self.candidates[position].offer, vector)));
            for divided in &offers.divisions[self.divisions_seen.unwrap_or(0)..] {
                known.remove(divided);
            }
            for (position, candidate) in candidates.iter().enumerate() {
                let vector = known.remove(&candidate.offer).or_else(|| offers.vector(request, candidate.offer));
                self.by_vector.extend(vector.map(|vector| (position, vector)));
            }
            offers.check_comparable(self.by_vector.iter().map(|(_, vector)| vector))?;
            self.by_vector.sort_by(|(a, left), (b, right)| {
                left.cmp_greatest_first(right).then_with(|| candidates[*a].offer.cmp(&candidates[*b].offer))
            });
        }
        self.candidates = candidates;
        self.divisions_seen = Some(offers.divisions.len());
        self.next_position = 0;
        Ok(())
    }

    /// Returns the candidate at a position of the best-first order, with its docking vector; `None` after the last
    /// candidate.
    fn at(&self, position: usize) -> Option<(&Candidate, Option<&PolicyVector>)> {
        if !self.has_vector {
            return Some((self.candidates.get(position)?, None));
        }
        let (position, vector) = self.by_vector.get(position)?;
        Some((&self.candidates[*position], Some(vector)))
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
        let compatible = self.candidates.len();
        (compatible, if self.has_vector { compatible - self.by_vector.len() } else { 0 })
    }
}
