//! The match list of an autocluster, best first by the docking vector (2006 paper 4.2, thesis 3.2.4).

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
    /// The docking vector; `None` if the policy has none, so that ranks decide.
    pub vector: Option<PolicyVector>,
}

/// The candidates of an autocluster, best first, as of some number of divisions of offers.
#[derive(Default)]
pub struct ClusterMatchList {
    candidates: Arc<[Candidate]>,
    /// Candidates that the docking vector accepts, best first: position in `candidates`, and vector. Empty if the
    /// policy has no docking vector.
    by_vector: Vec<(usize, PolicyVector)>,
    /// Position in the best-first order before which all offers are taken.
    next_position: usize,
    /// Number of divisions of offers that the list takes into account; `None` if it has not been filled.
    divisions_seen: Option<usize>,
    has_vector: bool,
}

impl ClusterMatchList {
    /// Brings the list up to date with the divisions of offers. Vectors of undivided offers are kept, so that they are
    /// not evaluated again.
    ///
    /// # Errors
    ///
    /// Fails if docking vectors cannot be compared.
    pub fn refresh(&mut self, offers: &mut CycleOffers, request: &Ad) -> Result<(), PolicyFault> {
        if self.divisions_seen == Some(offers.division_count()) {
            return Ok(());
        }
        let candidates = offers.candidates(request);
        self.has_vector = offers.has_vector();
        if self.has_vector {
            let mut known: FxHashMap<usize, PolicyVector> = FxHashMap::default();
            known.extend(self.by_vector.drain(..).map(|(position, vector)| (self.candidates[position].offer, vector)));
            for divided in offers.divided_since(self.divisions_seen.unwrap_or(0)) {
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
        self.divisions_seen = Some(offers.division_count());
        self.next_position = 0;
        Ok(())
    }

    /// Returns the best candidate that is not taken; `None` if there is none.
    pub fn best(&mut self, offers: &CycleOffers) -> Option<RankedCandidate> {
        loop {
            let standing = if self.has_vector {
                let (position, vector) = self.by_vector.get(self.next_position)?;
                RankedCandidate { candidate: self.candidates[*position], vector: Some(vector.clone()) }
            } else {
                RankedCandidate { candidate: *self.candidates.get(self.next_position)?, vector: None }
            };
            if !offers.is_taken(standing.candidate.offer) {
                return Some(standing);
            }
            self.next_position += 1;
        }
    }

    /// Returns all candidates that are not taken, best first.
    pub fn remaining(&self, offers: &CycleOffers) -> Arc<[Candidate]> {
        let is_left = |candidate: &Candidate| !offers.is_taken(candidate.offer);
        if self.has_vector {
            let positions = self.by_vector.iter().map(|(position, _)| self.candidates[*position]);
            return positions.filter(is_left).collect();
        }
        self.candidates.iter().copied().filter(is_left).collect()
    }

    /// Returns the number of compatible offers, including taken ones.
    pub fn compatible_count(&self) -> usize {
        self.candidates.len()
    }

    /// Returns the number of compatible offers that the docking vector discarded.
    pub fn discarded_count(&self) -> usize {
        if self.has_vector { self.candidates.len() - self.by_vector.len() } else { 0 }
    }
}
