//! The gangs of one request one after another, best first.

use std::iter::FusedIterator;

use crate::matching::policy::PolicyFault;

use super::Gang;
use super::fallback_search::find_best_or_any;
use super::offer_pool::OfferPool;
use super::search::{Algorithm, GangScore, SearchMemory};

/// Iterator over the gangs of a request, best first. Returned by [`Gangmatcher::gangs`](super::Gangmatcher::gangs).
pub struct GangIter<'m> {
    pool: &'m mut OfferPool,
    memory: &'m mut SearchMemory,
    request: usize,
    /// Score of the last gang returned. The next gang must have a lower score.
    last: Option<GangScore>,
    /// The error if docking vectors cannot be compared. `None` if no error has occurred.
    fault: Option<PolicyFault>,
    /// Whether the iteration has ended: all gangs have been returned, or docking vectors cannot be compared.
    is_done: bool,
}

impl<'m> GangIter<'m> {
    /// Begins with the best gang of the request that is seated in `pool`. `request` becomes the `request` of the gangs.
    pub(super) fn new(pool: &'m mut OfferPool, memory: &'m mut SearchMemory, request: usize) -> Self {
        GangIter { pool, memory, request, last: None, fault: None, is_done: false }
    }

    /// Returns and clears the error that ended the iteration: docking vectors cannot be compared. `None` if there is no
    /// error.
    pub fn fault(&mut self) -> Option<PolicyFault> {
        self.fault.take()
    }
}

impl Iterator for GangIter<'_> {
    type Item = Gang;

    fn next(&mut self) -> Option<Gang> {
        if self.is_done {
            return None;
        }
        let best = Algorithm::Best.strategy();
        let found = find_best_or_any(self.pool, self.memory, best, self.request, self.last.as_ref());
        let Ok(Some((score, gang))) = found else {
            self.is_done = true;
            self.fault = found.err();
            return None;
        };
        if self.last.replace(score).is_none() {
            self.pool.table.statistics.matched += 1;
        }
        Some(gang)
    }
}

impl FusedIterator for GangIter<'_> {}
