//! A column of the rows, in which the same things are looked up for many requests.

use rustc_hash::FxHashMap;

use crate::ad::Dialect;
use crate::pool::{Column, Key};
use crate::protocol::is_met;

use super::port_index::Rows;
use super::window_query::{Asked, Test};

/// A column, and what was found in it lately.
pub struct Lookup {
    column: Column,
    /// The rows that are found whatever is asked: the column does not tell.
    always: Rows,
    found: FxHashMap<Asked, Rows>,
}

/// So much memory may the answers take that are remembered of one column, in bytes.
const MOST_MEMORY: usize = 1 << 18;

/// More answers are not remembered.
const MOST_FOUND: usize = 256;

impl Lookup {
    /// For a column that does not tell of these rows.
    pub fn new(column: Column, always: Rows) -> Self {
        Lookup { column, always, found: FxHashMap::default() }
    }

    /// The column.
    pub fn column(&self) -> &Column {
        &self.column
    }

    /// The rows that may stand a test.
    pub fn select(&mut self, test: &Test, dialect: Dialect) -> &Rows {
        // When there are too many all are forgotten: what is asked again and again is soon known again.
        if self.found.len() >= (MOST_MEMORY / (self.always.len() / 8 + 1)).clamp(1, MOST_FOUND) {
            self.found.clear();
        }
        let asked = test.asked();
        if matches!(asked, Some((_, Key::Structure(_)))) {
            // The address of a list or an ad may be another's when it is gone.
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
