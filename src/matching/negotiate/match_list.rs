//! The match list of an autocluster, best first by the docking vector (2006 paper 4.2, thesis 3.2.4).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::matching::Candidate;
use crate::matching::policy::{PolicyFault, Vector};

use super::offers::Offers;

/// A candidate with its docking vector.
#[derive(Clone, Debug)]
pub struct Standing {
    pub candidate: Candidate,
    /// The docking vector; `None` if the policy has none, so that ranks decide.
    pub vector: Option<Vector>,
}

/// The candidates of an autocluster, best first, as of some number of divisions of offers.
#[derive(Default)]
pub struct Ranked {
    candidates: Arc<[Candidate]>,
    /// Candidates that the docking vector accepts, best first: position in `candidates`, and vector. Empty if the
    /// policy has no docking vector.
    by_vector: Vec<(usize, Vector)>,
    /// Position in the best-first order before which all offers are taken.
    next: usize,
    /// Number of divisions of offers that the list takes into account; `None` if it has not been filled.
    seen: Option<usize>,
    has_vector: bool,
}

impl Ranked {
    /// Brings the list up to date with the divisions of offers. Vectors of undivided offers are kept.
    ///
    /// # Errors
    ///
    /// Fails if docking vectors cannot be compared.
    pub fn refresh(&mut self, offers: &mut Offers, request: &Ad) -> Result<(), PolicyFault> {
        if self.seen == Some(offers.divided()) {
            return Ok(());
        }
        let candidates = offers.candidates(request);
        self.has_vector = offers.has_vector();
        if self.has_vector {
            let mut known: FxHashMap<usize, Vector> = FxHashMap::default();
            known.extend(self.by_vector.drain(..).map(|(position, vector)| (self.candidates[position].offer, vector)));
            for divided in offers.divided_since(self.seen.unwrap_or(0)) {
                known.remove(divided);
            }
            for (position, candidate) in candidates.iter().enumerate() {
                let vector = known.remove(&candidate.offer).or_else(|| offers.vector(request, candidate.offer));
                self.by_vector.extend(vector.map(|vector| (position, vector)));
            }
            offers.check(self.by_vector.iter().map(|(_, vector)| vector))?;
            self.by_vector.sort_by(|(a, left), (b, right)| {
                left.greatest_first(right).then_with(|| candidates[*a].offer.cmp(&candidates[*b].offer))
            });
        }
        self.candidates = candidates;
        self.seen = Some(offers.divided());
        self.next = 0;
        Ok(())
    }

    /// Returns the best candidate that is not taken; `None` if there is none.
    pub fn best(&mut self, offers: &Offers) -> Option<Standing> {
        loop {
            let standing = if self.has_vector {
                let (position, vector) = self.by_vector.get(self.next)?;
                Standing { candidate: self.candidates[*position], vector: Some(vector.clone()) }
            } else {
                Standing { candidate: *self.candidates.get(self.next)?, vector: None }
            };
            if !offers.is_taken(standing.candidate.offer) {
                return Some(standing);
            }
            self.next += 1;
        }
    }

    /// Returns all candidates that are not taken, best first.
    pub fn all(&self, offers: &Offers) -> Arc<[Candidate]> {
        let is_left = |candidate: &Candidate| !offers.is_taken(candidate.offer);
        if self.has_vector {
            let positions = self.by_vector.iter().map(|(position, _)| self.candidates[*position]);
            return positions.filter(is_left).collect();
        }
        self.candidates.iter().copied().filter(is_left).collect()
    }

    /// Returns the number of compatible offers, including taken ones.
    pub fn compatible(&self) -> usize {
        self.candidates.len()
    }

    /// Returns the number of compatible offers that the docking vector discarded.
    pub fn discarded(&self) -> usize {
        if self.has_vector { self.candidates.len() - self.by_vector.len() } else { 0 }
    }
}
