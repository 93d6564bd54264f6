//! A column of the port index with a cache of selection results.

use rustc_hash::FxHashMap;

use crate::ad::Dialect;
use crate::pool::{Column, Key};
use crate::protocol::is_met;

use super::port_index::Rows;
use super::window_query::{Asked, Test};

/// A column and the rows recently selected from it.
pub struct Lookup {
    column: Column,
    /// Rows that every selection includes, because the column does not know their values.
    always: Rows,
    /// Selected rows by the key of the test.
    found: FxHashMap<Asked, Rows>,
}

/// Maximum memory of the cached selections of one column, in bytes.
const MOST_MEMORY: usize = 1 << 18;

/// Maximum number of cached selections of one column.
const MOST_FOUND: usize = 256;

impl Lookup {
    /// Wraps a column. `always` are the rows that every selection includes.
    pub fn new(column: Column, always: Rows) -> Self {
        Lookup { column, always, found: FxHashMap::default() }
    }

    /// Returns the column itself.
    pub fn column(&self) -> &Column {
        &self.column
    }

    /// Returns the rows that may pass a test.
    pub fn select(&mut self, test: &Test, dialect: Dialect) -> &Rows {
        // The cache is simply cleared when full; hot entries come back at once.
        if self.found.len() >= (MOST_MEMORY / (self.always.len() / 8 + 1)).clamp(1, MOST_FOUND) {
            self.found.clear();
        }
        let asked = test.asked();
        if matches!(asked, Some((_, Key::Structure(_)))) {
            // Lists and ads are keyed by address, which may have been reused: do not trust the entry.
            self.found.remove(&asked);
        }
        let (column, always) = (&self.column, &self.always);
        self.found.entry(asked).or_insert_with(|| {
            let mut rows = always.clone();
            match test {
                Test::Compares(operator, value) => column.select(*operator, value, dialect, &mut rows),
                Test::IsMet => column.select_met(|value| is_met(value, dialect), &mut rows),
            }
            rows
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Lookup;
    use crate::ad::{BinaryOperator, Dialect, Value};
    use crate::matching::gang::port_index::Rows;
    use crate::matching::gang::window_query::Test;
    use crate::pool::{Cell, Column};

    #[test]
    fn answers_are_those_of_the_column_however_many_are_remembered() {
        let column = || Column::new((0..500).map(|row| Cell::Constant(Value::Integer(row % 40))));
        let mut always = Rows::with_capacity(500);
        always.insert(499);
        let mut lookup = Lookup::new(column(), always.clone());
        for round in 0..2 {
            for bound in 0..300 {
                let (operator, bound) = (BinaryOperator::Less, Value::Integer(bound));
                let mut expected = always.clone();
                column().select(operator, &bound, Dialect::Classad, &mut expected);
                let test = Test::Compares(operator, bound);
                assert_eq!(*lookup.select(&test, Dialect::Classad), expected, "round {round}");
            }
        }
    }
}
