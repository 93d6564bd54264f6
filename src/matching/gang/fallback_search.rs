//! The search for a gang that takes any gang if the search for the best one ends at its limit.

use crate::matching::policy::PolicyFault;

use super::Gang;
use super::offer_pool::OfferPool;
use super::search::{Algorithm, GangScore, SearchMemory, SearchStrategy, find_gang};

/// Searches for a gang of the current request. `index` becomes the `request` of the gang. If `below` is a score, finds
/// only gangs with a score lower than `below`.
///
/// # Errors
///
/// When docking vectors cannot be compared.
pub fn find_best_or_any(
    pool: &mut OfferPool,
    memory: &mut SearchMemory,
    strategy: SearchStrategy,
    index: usize,
    below: Option<&GangScore>,
) -> Result<Option<(GangScore, Gang)>, PolicyFault> {
    let mut found = find_gang(pool, memory, strategy, below);
    // Many ports that depend on each other may be beyond the search for the best gang, but not beyond that for any.
    let is_missing = found.is_none() && memory.was_cut_off && below.is_none();
    if is_missing && strategy.finds_best && pool.table.docking_vector.is_empty() {
        let any = SearchStrategy { is_limited: true, ..Algorithm::Dyn.strategy() };
        let before = pool.table.statistics;
        found = find_gang(pool, memory, any, None);
        let statistics = &mut pool.table.statistics;
        (statistics.failures, statistics.cut_off_searches) = (before.failures, before.cut_off_searches);
        memory.was_cut_off = true;
    }
    match memory.fault.take() {
        Some(fault) => Err(fault),
        None => Ok(found.map(|(score, gang)| (score, Gang { request: index, ..gang }))),
    }
}
