//! Columns of attributes of the rows, built on first use.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::ad::{Dialect, Expression, ExpressionKind, Truth, Value};
use crate::constraint::{is_scope_name, is_self_evaluating};
use crate::eval::NameResolution;
use crate::matching::gang::participants::{AttributeTranslation, ParticipantTable, PortPlace, ValueTest};
use crate::pool::{AttributeColumn, CodedExpressions, ColumnCell};

use super::RowBitmap;

/// Columns of the rows: each column holds an attribute, or a function of an attribute.
#[derive(Default)]
pub struct RowColumns {
    /// The columns by the attribute and the steps applied to it.
    pub columns: IndexMap<AttributeTranslation, AttributeColumn, FxBuildHasher>,
    /// Whether some column has a deviant row, which must be evaluated.
    has_deviants: bool,
}

impl RowColumns {
    /// Returns the index of the column that holds the result of `translation` for each of the rows `places`. Builds the
    /// column on first use.
    pub fn at(
        &mut self,
        translation: &AttributeTranslation,
        places: &[PortPlace],
        table: &mut ParticipantTable,
    ) -> usize {
        if let Some(number) = self.columns.get_index_of(translation) {
            return number;
        }
        let dialect = table.context.dialect;
        let name = &translation.attribute;
        let values = if dialect == Dialect::Classad && translation.is_identity() && !is_scope_name(name) {
            let codes = CodedExpressions::of(places.iter().map(|place| table.attribute(*place, name)));
            let computed = |row: usize, _: &Expression| computed_cell(translation, places[row], table);
            AttributeColumn::of_codes(codes, places.len(), dialect, computed)
        } else {
            AttributeColumn::new(places.iter().map(|place| computed_cell(translation, *place, table)), dialect)
        };
        self.has_deviants |= values.has_deviant_rows();
        self.columns.insert_full(translation.clone(), values).0
    }

    /// Whether the columns of `translations` have no deviant rows, so that they hold the values of all rows. The
    /// columns must have been built before.
    pub fn know_all<'t>(&self, mut translations: impl Iterator<Item = &'t AttributeTranslation>) -> bool {
        let is_known = |column: &AttributeColumn| !column.has_deviant_rows();
        !self.has_deviants || translations.all(|translation| self.columns.get(translation).is_some_and(is_known))
    }
}

/// Returns the rows of a column that may pass a test: those whose values pass it, and the deviant rows.
pub fn rows_passing(column: &AttributeColumn, test: &ValueTest, dialect: Dialect) -> RowBitmap {
    let mut rows = column.deviant_rows().clone();
    match test {
        ValueTest::Compares(operator, bound) => column.select(*operator, &bound.0, &mut rows),
        ValueTest::IsMet => column.select_where(|value| Truth::of(value, dialect).is_true(), &mut rows),
    }
    rows
}

/// Returns the cell of a row in the column of `translation`. The cell is `Deviant` if the attribute depends on what is
/// docked or its value is a list or an ad.
fn computed_cell(translation: &AttributeTranslation, place: PortPlace, table: &mut ParticipantTable) -> ColumnCell {
    let (name, dialect) = (&translation.attribute, table.context.dialect);
    let cell = match table.attribute(place, name).map(Expression::kind) {
        _ if is_scope_name(name) => ColumnCell::Deviant,
        Some(ExpressionKind::Literal(value)) if is_self_evaluating(value, dialect) => {
            ColumnCell::Constant(value.clone())
        }
        None if dialect == Dialect::Classad => ColumnCell::Absent,
        // Undock the participant for the evaluation: the column must be valid whatever is docked.
        _ => table.with_undocked(place.participant, |table| {
            match table.environment().resolve_selected(table.frame(place), name, &table.context) {
                NameResolution::Missing => ColumnCell::Absent,
                NameResolution::Value(_) | NameResolution::Unknown => ColumnCell::Deviant,
                NameResolution::Expression(bound, frame) => match table.evaluate_fixed(&bound, &frame) {
                    None | Some(Value::List(_) | Value::Ad(_)) => ColumnCell::Deviant,
                    Some(value) => ColumnCell::Constant(value),
                },
            }
        }),
    };
    if translation.is_identity() {
        return cell;
    }
    let apply = |value| ColumnCell::Constant(translation.apply(value, &table.context));
    cell.value().map_or(ColumnCell::Deviant, apply)
}
