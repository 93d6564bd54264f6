//! Columns of the bounds that ads demand of attributes of the other side (thesis 4.4: imported intervals).

use std::hash::Hash;

use fixedbitset::FixedBitSet;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::ad::{BinaryOperator, Dialect, Value};

use super::{AttributeColumn, ColumnCell};

/// Collects the bounds in clauses `subject operator bound` of many rows: pairs of row and bound for each column.
pub struct BoundCollector<S, B> {
    columns: IndexMap<(S, BinaryOperator), Vec<(usize, B)>, FxBuildHasher>,
}

/// The bounds of many rows in clauses `subject operator bound`, one for each row.
pub struct BoundColumn<S> {
    /// What the bounds restrict.
    pub subject: S,
    /// The operator, with the subject on the left and the bound on the right.
    pub operator: BinaryOperator,
    /// The operator with its operands exchanged: bound on the left, subject on the right.
    exchanged: BinaryOperator,
    /// The bounds by row; the cell of a row without a bound is absent.
    pub bounds: AttributeColumn,
    /// The rows that no value excludes: those without a bound, and those whose bound is deviant.
    pub always_admitted: FixedBitSet,
}

impl<S, B> Default for BoundCollector<S, B> {
    fn default() -> Self {
        BoundCollector { columns: IndexMap::default() }
    }
}

impl<S: Eq + Hash, B> BoundCollector<S, B> {
    /// Adds the bound of a row and returns the number of its column. Rows must be added in ascending order. `None` if
    /// the caller has to check the clause otherwise: the operator cannot be exchanged, or the row has a bound in the
    /// column already, which is rare.
    pub fn add(&mut self, row: usize, subject: S, operator: BinaryOperator, bound: B) -> Option<usize> {
        operator.converse()?;
        let column = self.columns.entry((subject, operator));
        let number = column.index();
        let bounds = column.or_default();
        if bounds.last().is_some_and(|(last, _)| *last == row) {
            return None;
        }
        bounds.push((row, bound));
        Some(number)
    }

    /// Builds the columns for `rows` rows, in the order of their numbers. `cell` gives the cell of the bound of a row.
    pub fn build(
        self,
        rows: usize,
        dialect: Dialect,
        mut cell: impl FnMut(usize, B) -> ColumnCell,
    ) -> Vec<BoundColumn<S>> {
        let build = |((subject, operator), row_bounds): ((S, BinaryOperator), Vec<(usize, B)>)| {
            let mut cells = vec![ColumnCell::Absent; rows];
            let mut always_admitted = FixedBitSet::with_capacity(rows);
            always_admitted.insert_range(..);
            for (row, bound) in row_bounds {
                cells[row] = cell(row, bound);
                always_admitted.remove(row);
            }
            let bounds = AttributeColumn::new(cells, dialect);
            always_admitted.union_with(bounds.deviant_rows());
            Some(BoundColumn { subject, operator, exchanged: operator.converse()?, bounds, always_admitted })
        };
        self.columns.into_iter().filter_map(build).collect()
    }
}

impl<S> BoundColumn<S> {
    /// Replaces `admitted` by the rows that a value of the subject does not exclude: the rows whose bound the value
    /// meets, and [`BoundColumn::always_admitted`].
    pub fn admitting(&self, value: &Value, admitted: &mut FixedBitSet) {
        admitted.clone_from(&self.always_admitted);
        self.bounds.select(self.exchanged, value, admitted);
    }
}
