//! Columns of the bounds that ads demand of attributes of the other side (thesis 4.4: imported intervals).

use fixedbitset::FixedBitSet;

use crate::ad::{BinaryOperator, Dialect, Name, Value};

use super::{AttributeColumn, ColumnCell};

/// The bounds of many rows in clauses `subject operator bound`, one for each row.
pub struct BoundColumn {
    /// The subject of the clauses, which the bounds restrict.
    pub subject: Name,
    /// The operator of the clauses with its operands exchanged: bound on the left, subject on the right.
    exchanged: BinaryOperator,
    /// The bounds by row; the cell of a row without a bound is absent.
    pub bounds: AttributeColumn,
    /// The rows that no value excludes: those without a bound, and those whose bound is deviant.
    pub always_admitted: FixedBitSet,
}

impl BoundColumn {
    /// Builds the column for `rows` rows from the rows that have a bound, each with the cell of the bound.  `exchanged`
    /// is the operator between bound and subject.
    pub fn new(
        subject: Name,
        exchanged: BinaryOperator,
        rows: usize,
        bounds: impl IntoIterator<Item = (usize, ColumnCell)>,
        dialect: Dialect,
    ) -> Self {
        let mut cells = vec![ColumnCell::Absent; rows];
        let mut always_admitted = FixedBitSet::with_capacity(rows);
        always_admitted.insert_range(..);
        for (row, cell) in bounds {
            cells[row] = cell;
            always_admitted.remove(row);
        }
        let bounds = AttributeColumn::new(cells, dialect);
        always_admitted.union_with(bounds.deviant_rows());
        BoundColumn { subject, exchanged, bounds, always_admitted }
    }

    /// Replaces `admitted` by the rows that a value of the subject does not exclude: the rows whose bound the value
    /// meets, and [`BoundColumn::always_admitted`].
    pub fn admitting(&self, value: &Value, admitted: &mut FixedBitSet) {
        admitted.clone_from(&self.always_admitted);
        self.bounds.select(self.exchanged, value, admitted);
    }
}
