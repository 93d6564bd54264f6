//! What searches remember from request to request.

use crate::matching::policy::{PolicyFault, PolicyRule, PolicyVector};

use super::decisions::DecisionStack;
use super::score::CandidateScore;

/// What searches remember from request to request.
pub struct SearchMemory {
    /// Random numbers for the algorithms that choose at random.
    pub random: fastrand::Rng,
    /// The error if docking vectors could not be compared in the last search. `None` if they could.
    pub fault: Option<PolicyFault>,
    /// Whether the last search ended at its limit of tests.
    pub was_cut_off: bool,
    /// Whether the next request is expected to get the first candidate of its first port. True if the last gang found
    /// has the first candidate or was found without forward checking. If true, the search for a request with at most
    /// two ports starts without forward checking.
    pub expects_first_candidate: bool,
    /// The decision stack of the last search, without decisions. Its memory is used again.
    pub decisions: DecisionStack,
    /// The first docking vector computed. All later docking vectors must be comparable with it.
    first_vector: Option<PolicyVector>,
}

impl SearchMemory {
    /// Returns the memory before the first search. `seed` is for the algorithms that choose at random.
    pub fn new(seed: u64) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        let decisions = DecisionStack::default();
        SearchMemory {
            random,
            fault: None,
            was_cut_off: false,
            expects_first_candidate: true,
            decisions,
            first_vector: None,
        }
    }

    /// Whether the docking vectors in `scores` can be compared with one another and with all earlier vectors. Records
    /// the error if they cannot.
    pub fn check_vectors(&mut self, scores: &[(usize, CandidateScore)], rules: &[PolicyRule]) -> bool {
        let vectors = scores.iter().filter_map(|(_, score)| match score {
            CandidateScore::Vector(vector) => Some(vector),
            _ => None,
        });
        let Some(first) = vectors.clone().next() else { return true };
        let known = self.first_vector.get_or_insert_with(|| first.clone());
        let check = PolicyVector::check_comparable(std::iter::once(&*known).chain(vectors), "docking", rules);
        check.map_err(|fault| self.fault.get_or_insert(fault)).is_ok()
    }
}
