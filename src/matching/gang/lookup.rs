//! A column of the rows, in which the same things are looked up for many requests.

use rustc_hash::FxHashMap;

use crate::ad::Dialect;
use crate::constraint::is_met;
use crate::pool::Column;

use super::links::Rows;
use super::window::{Asked, Test};

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
        let (column, always) = (&self.column, &self.always);
        self.found.entry(test.asked()).or_insert_with(|| {
            let mut rows = always.clone();
            match test {
                Test::Compares(operator, value) => column.select(*operator, value, dialect, &mut rows),
                Test::IsMet => column.select_met(|value| is_met(value, dialect), &mut rows),
            }
            rows
        })
    }
}
