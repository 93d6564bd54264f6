//! Columns of the bounds that ads set for attributes of the other side (thesis 4.4: imported intervals).

use std::hash::Hash;

use fixedbitset::FixedBitSet;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::ad::{BinaryOperator, Dialect, Value};

use super::{AttributeColumn, ColumnCell, RowTest};

/// Collects the bounds of many rows from clauses `subject operator bound`. Each subject and operator has its own
/// column.
pub struct BoundCollector<S, B> {
    columns: IndexMap<(S, BinaryOperator), Vec<(usize, B)>, FxBuildHasher>,
}

/// The bounds of many rows from clauses `subject operator bound`. The clauses have the same subject and the same
/// operator. A row has at most one bound.
pub struct BoundColumn<S> {
    /// The left operand of the clauses, such as the name of an attribute.
    pub subject: S,
    /// The operator of the clauses: the subject is its left operand, the bound its right operand.
    pub operator: BinaryOperator,
    /// The operator for exchanged operands: the bound is its left operand, the subject its right operand. Example: `<=`
    /// if `operator` is `>=`.
    exchanged: BinaryOperator,
    /// The bounds by row; the cell of a row without a bound is absent.
    pub bounds: AttributeColumn,
    /// The rows that no value of the subject excludes: rows without a bound, and rows whose bound is deviant.
    pub always_admitted: FixedBitSet,
}

impl<S, B> Default for BoundCollector<S, B> {
    fn default() -> Self {
        BoundCollector { columns: IndexMap::default() }
    }
}

impl<S: Eq + Hash, B> BoundCollector<S, B> {
    /// Adds the bound of a row to the column of its subject and operator, and returns the index of the column. Rows
    /// must be added in ascending order. Returns `None` and adds nothing if the operands of the operator cannot be
    /// exchanged, or if the row already has a bound in the column. The caller must then check the clause without the
    /// column.
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

    /// Builds the columns in the order of their indexes, each with `rows` rows. `cell` converts the bound of a row to a
    /// column cell.
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
    /// Returns the test of a single row that says the same as [`BoundColumn::admitting`] by
    /// [`RowTest::is_met_or_void`]. `None` if only [`BoundColumn::admitting`] can tell.
    pub fn row_test(&self, value: &Value) -> Option<RowTest<'_>> {
        Some(self.bounds.row_test(self.bounds.matching_range(self.exchanged, value)?))
    }

    /// Sets `admitted` to the rows that a value of the subject does not exclude: the rows whose bound the value meets,
    /// and [`BoundColumn::always_admitted`].
    pub fn admitting(&self, value: &Value, admitted: &mut FixedBitSet) {
        admitted.clone_from(&self.always_admitted);
        self.bounds.select(self.exchanged, value, admitted);
    }
}
