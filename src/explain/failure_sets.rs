//! Groups the offers by the clauses of a request that they do not meet.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::pool::SparseRows;

use super::conflicts::minimal_masks;
use super::evaluation::{ClauseResults, RowWeights};

/// The rows grouped by the clauses that they do not meet. A row is a distinct ad of the offers.
pub struct FailureSets {
    /// The groups, in no particular order.
    pub sets: Vec<FailureSet>,
    row_count: usize,
}

/// The rows that fail the same clauses.
pub struct FailureSet {
    /// The clauses that the rows fail, as a bit mask over the clauses of the request.
    pub mask: u128,
    pub rows: SparseRows,
}

impl FailureSets {
    /// Groups the rows by the results of a request's clauses. There must be at most 128 clauses.
    pub fn new(row_count: usize, results: &[Arc<ClauseResults>]) -> Self {
        let true_rows: Vec<&[usize]> = results.iter().map(|results| results.true_rows.as_slice()).collect();
        let mut all = FixedBitSet::with_capacity(row_count);
        all.insert_range(..);
        let mut numbers: FxHashMap<u128, usize> = FxHashMap::default();
        let mut sets: Vec<FailureSet> = Vec::new();
        // The rows of one word, split by their masks.
        let mut parts: Vec<(u128, usize)> = Vec::new();
        for (position, rows) in all.as_slice().iter().enumerate() {
            parts.clear();
            parts.push((0, *rows));
            for (place, words) in true_rows.iter().enumerate() {
                let is_true = words[position];
                if is_true == *rows {
                    continue;
                }
                for part in 0..parts.len() {
                    let (mask, rows) = parts[part];
                    match (rows & is_true, rows & !is_true) {
                        (_, 0) => {}
                        (0, _) => parts[part].0 |= 1 << place,
                        (met, failing) => {
                            parts[part].1 = met;
                            parts.push((mask | 1 << place, failing));
                        }
                    }
                }
            }
            for (mask, rows) in &parts {
                let number = *numbers.entry(*mask).or_insert_with(|| {
                    sets.push(FailureSet { mask: *mask, rows: SparseRows::default() });
                    sets.len() - 1
                });
                sets[number].rows.push_word(position, *rows);
            }
        }
        FailureSets { sets, row_count }
    }

    /// Returns the groups of those rows that are also in `set`.
    pub fn within(&self, set: &FixedBitSet) -> Self {
        let sets = self.sets.iter().map(|FailureSet { mask, rows }| FailureSet { mask: *mask, rows: rows.within(set) });
        FailureSets { sets: sets.filter(|set| set.rows.word_count() > 0).collect(), row_count: self.row_count }
    }

    /// Returns the minimal masks: no other row's mask is a proper subset.
    pub fn minimal(&self) -> Vec<u128> {
        minimal_masks(self.sets.iter().map(|set| set.mask))
    }

    /// Returns the rows that fail exactly the clauses of one of the masks.
    pub fn rows_failing(&self, masks: &[u128]) -> FixedBitSet {
        let mut rows = FixedBitSet::with_capacity(self.row_count);
        for (position, word) in
            self.sets.iter().filter(|set| masks.contains(&set.mask)).flat_map(|set| set.rows.words())
        {
            rows.as_mut_slice()[position] |= word;
        }
        rows
    }

    /// Returns the clauses that a row fails, as a bit mask.
    pub fn mask_of(&self, row: usize) -> u128 {
        let found = self.sets.iter().find(|set| set.rows.contains(row));
        found.map(|set| set.mask).unwrap_or_default()
    }
}

impl FailureSet {
    /// Number of offers in the set.
    pub fn offers(&self, weights: &RowWeights) -> usize {
        weights.of_words(self.rows.words())
    }
}

#[cfg(test)]
mod tests {
    use super::FailureSets;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::explain::evaluation::{OfferTable, RequestContext};
    use crate::protocol::Protocol;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn every_row_is_in_the_set_of_its_mask() {
        let mut random = fastrand::Rng::with_seed(7);
        let parse = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
        for _ in 0..40 {
            let offers: Vec<_> = (0..random.usize(0..300))
                .map(|_| parse(&format!("[ a = {}; b = {}; c = {} ]", random.u8(0..4), random.u8(0..4), random.bool())))
                .collect();
            let context = Context::new(Dialect::Classad);
            let table = OfferTable::new(&offers, Protocol::new(Dialect::Classad), context);
            let request = parse("[ Constraint = other.a > 1 && other.b < 3 && other.c && other.a != other.b && true ]");
            let request = RequestContext::new(&request);
            let clauses = table.request_clauses(&request);
            let results: Vec<_> = clauses.iter().map(|clause| table.clause_results(&request, clause)).collect();
            let found = FailureSets::new(offers.len(), &results);
            let mask = |row: usize| {
                let failed = results.iter().enumerate().filter(|(_, results)| !results.true_rows.contains(row));
                failed.fold(0, |mask, (place, _)| mask | 1_u128 << place)
            };
            for row in 0..offers.len() {
                assert_eq!(found.mask_of(row), mask(row));
            }
            for set in &found.sets {
                assert!(set.rows.rows().all(|row| mask(row) == set.mask));
                let rows: Vec<usize> = (0..offers.len()).filter(|row| mask(*row) == set.mask).collect();
                assert!(set.rows.rows().eq(rows.iter().copied()), "{rows:?}");
                assert_eq!(found.rows_failing(&[set.mask]).ones().collect::<Vec<_>>(), rows);
            }
        }
    }
}
