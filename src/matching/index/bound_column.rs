//! Columns of the bounds that offers demand of attributes of requests (thesis 4.4: imported intervals).

use fixedbitset::FixedBitSet;

use crate::ad::{BinaryOperator, Name, Value};
use crate::pool::{AttributeColumn, ColumnCell};

use super::build::{CollectedBounds, OwnOperand};
use super::columns::OfferColumns;

/// The bounds of the offers in clauses `bound operator attribute`, one for each offer.
pub struct BoundColumn {
    /// The attribute of requests, which the bounds restrict.
    pub attribute: Name,
    operator: BinaryOperator,
    /// The bounds by offer; the cell of an offer without a bound is absent.
    pub bounds: AttributeColumn,
    /// The offers that no value excludes: those without a bound, and those whose bound is deviant.
    pub always_admitted: FixedBitSet,
}

impl BoundColumn {
    /// Builds one column for each attribute and operator, sorted by attribute.
    pub fn build_all(collected: CollectedBounds<'_>, columns: &mut OfferColumns) -> Vec<BoundColumn> {
        let (offers, dialect) = (columns.offers.len(), columns.context.dialect);
        let build = |((attribute, operator), bounds): ((Name, BinaryOperator), Vec<(usize, OwnOperand<'_>)>)| {
            let mut cells = vec![ColumnCell::Absent; offers];
            let mut always_admitted = FixedBitSet::with_capacity(offers);
            always_admitted.insert_range(..);
            for (offer, bound) in bounds {
                cells[offer] = match bound {
                    OwnOperand::Value(value) => ColumnCell::Constant(value.clone()),
                    OwnOperand::Attribute(name) => columns.column(name).cell(offer),
                };
                always_admitted.remove(offer);
            }
            let bounds = AttributeColumn::new(cells, dialect);
            always_admitted.union_with(bounds.deviant_rows());
            BoundColumn { attribute, operator, bounds, always_admitted }
        };
        let mut bound_columns: Vec<BoundColumn> = collected.into_iter().map(build).collect();
        bound_columns.sort_by(|left, right| left.attribute.cmp(&right.attribute));
        bound_columns
    }

    /// Replaces `admitted` by the offers that a value of the attribute does not exclude: the offers whose bound the
    /// value meets, and [`BoundColumn::always_admitted`].
    pub fn admitting(&self, value: &Value, admitted: &mut FixedBitSet) {
        admitted.clone_from(&self.always_admitted);
        self.bounds.select(self.operator, value, admitted);
    }
}
