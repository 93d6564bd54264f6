//! The candidates of requests under a policy, where nothing is taken.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::Ad;
use crate::matching::policy::PolicyFault;
use crate::matching::{Candidate, Statistics};

use super::Settings;
use super::match_list::Ranked;
use super::offers::Offers;

/// Finds the offers that requests could have under a policy: those with which they are compatible and which the
/// docking vector does not discard, best first by that vector.
pub struct Ranking {
    offers: Offers,
    /// The lists by the requests, which are kept alive so that no other gets their identity.
    lists: FxHashMap<usize, (Ad, Arc<[Candidate]>)>,
    keeps_lists: bool,
}

impl Ranking {
    /// Of these offers; those that are requests themselves are none.
    #[must_use]
    pub fn new(settings: &Settings, offers: &[Ad]) -> Self {
        Ranking {
            offers: Offers::new(offers, settings, settings.accelerations),
            lists: FxHashMap::default(),
            keeps_lists: settings.accelerations.match_lists,
        }
    }

    /// The candidates of a request, best first; the same list for the same ad, if lists are kept.
    ///
    /// # Errors
    ///
    /// When docking vectors do not compare.
    pub fn candidates(&mut self, request: &Ad) -> Result<Arc<[Candidate]>, PolicyFault> {
        if let Some((_, list)) = self.lists.get(&request.identity()) {
            return Ok(Arc::clone(list));
        }
        let mut ranked = Ranked::default();
        ranked.refresh(&mut self.offers, request)?;
        let list = ranked.all(&self.offers);
        if self.keeps_lists {
            self.lists.insert(request.identity(), (request.clone(), Arc::clone(&list)));
        }
        Ok(list)
    }

    /// The components of the docking vector that discarded every candidate so far: always undefined, say.
    #[must_use]
    pub fn unplaced(&self) -> Vec<usize> {
        self.offers.unplaced()
    }

    /// What was counted so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.offers.statistics()
    }
}
