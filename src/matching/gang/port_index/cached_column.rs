//! A column of the port index with a cache of selection results.

use rustc_hash::FxHashMap;

use crate::ad::Dialect;
use crate::pool::{AttributeColumn, ValueKey};
use crate::protocol::is_met;

use super::RowBitmap;
use super::window_query::{ValueTest, ValueTestKey};

/// A column and the rows recently selected from it.
pub struct CachedColumn {
    column: AttributeColumn,
    /// Rows that every selection includes, because the column has no value of them to test.
    always_selected: RowBitmap,
    /// Selected rows by the key of the test.
    cache: FxHashMap<ValueTestKey, RowBitmap>,
}

/// Maximum memory of the cached selections of one column, in bytes.
const MAX_CACHE_BYTES: usize = 1 << 18;

/// Maximum number of cached selections of one column.
const MAX_CACHED_SELECTIONS: usize = 256;

impl CachedColumn {
    /// Wraps a column, with an empty cache. Every selection includes the rows `always_selected`.
    pub fn new(column: AttributeColumn, always_selected: RowBitmap) -> Self {
        CachedColumn { column, always_selected, cache: FxHashMap::default() }
    }

    /// Returns the column without its cache.
    pub fn column(&self) -> &AttributeColumn {
        &self.column
    }

    /// Returns the rows that may pass a test: those whose values pass it, and the rows always selected.
    pub fn select(&mut self, test: &ValueTest, dialect: Dialect) -> &RowBitmap {
        // Clear the whole cache when it is full: entries in frequent use are soon computed again.
        if self.cache.len() >= (MAX_CACHE_BYTES / (self.always_selected.len() / 8 + 1)).clamp(1, MAX_CACHED_SELECTIONS)
        {
            self.cache.clear();
        }
        let asked = test.key();
        if matches!(asked, Some((_, ValueKey::Structure(_)))) {
            // Recompute the entry of a list or an ad: its key is an address, which may have been reused for another.
            self.cache.remove(&asked);
        }
        let (column, always) = (&self.column, &self.always_selected);
        self.cache.entry(asked).or_insert_with(|| {
            let mut rows = always.clone();
            match test {
                ValueTest::Compares(operator, value) => column.select(*operator, value, &mut rows),
                ValueTest::IsMet => column.select_where(|value| is_met(value, dialect), &mut rows),
            }
            rows
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CachedColumn;
    use crate::ad::{BinaryOperator, Dialect, Value};
    use crate::matching::gang::port_index::RowBitmap;
    use crate::matching::gang::port_index::window_query::ValueTest;
    use crate::pool::{AttributeColumn, ColumnCell};

    #[test]
    fn answers_are_those_of_the_column_however_many_are_remembered() {
        let cells = || (0..500).map(|row| ColumnCell::Constant(Value::Integer(row % 40)));
        let column = || AttributeColumn::new(cells(), Dialect::Classad);
        let mut always = RowBitmap::with_capacity(500);
        always.insert(499);
        let mut lookup = CachedColumn::new(column(), always.clone());
        for round in 0..2 {
            for bound in 0..300 {
                let (operator, bound) = (BinaryOperator::Less, Value::Integer(bound));
                let mut expected = always.clone();
                column().select(operator, &bound, &mut expected);
                let test = ValueTest::Compares(operator, bound);
                assert_eq!(*lookup.select(&test, Dialect::Classad), expected, "round {round}");
            }
        }
    }
}
