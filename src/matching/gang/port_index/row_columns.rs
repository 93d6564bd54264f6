//! Columns of attributes of the rows, built on first use.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::ad::{AdShape, Dialect, Expression, ExpressionKind, Name, Truth, Value};
use crate::constraint::{is_scope_name, is_self_evaluating};
use crate::eval::NameResolution;
use crate::matching::gang::participants::{AttributeTranslation, ParticipantTable, PortPlace, ValueTest};
use crate::pool::{AttributeColumn, ColumnCell};

use super::RowBitmap;
use super::selection_cache::SelectionCache;

/// Columns of the rows: each column holds an attribute, or a function of an attribute.
#[derive(Default)]
pub struct RowColumns {
    /// The columns by the attribute and the steps applied to it.
    pub columns: IndexMap<AttributeTranslation, RowColumn, FxBuildHasher>,
    /// Whether some column has a deviant row, which must be evaluated.
    has_deviants: bool,
}

/// A column of values. Caches the rows recently selected from the column.
pub struct RowColumn {
    /// The value of each row.
    pub values: AttributeColumn,
    selections: SelectionCache<ValueTest>,
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
            let expressions = bound_expressions(name, places, table);
            let computed = |row: usize, _: &Expression| computed_cell(translation, places[row], table);
            AttributeColumn::of_expressions(expressions.iter().map(Option::as_ref), dialect, computed)
        } else {
            AttributeColumn::new(places.iter().map(|place| computed_cell(translation, *place, table)), dialect)
        };
        let column = RowColumn { values, selections: SelectionCache::default() };
        self.has_deviants |= column.values.has_deviant_rows();
        self.columns.insert_full(translation.clone(), column).0
    }

    /// Whether the columns of `translations` have no deviant rows, so that they hold the values of all rows. The
    /// columns must have been built before.
    pub fn know_all<'t>(&self, mut translations: impl Iterator<Item = &'t AttributeTranslation>) -> bool {
        let is_known = |column: &RowColumn| !column.values.has_deviant_rows();
        !self.has_deviants || translations.all(|translation| self.columns.get(translation).is_some_and(is_known))
    }
}

impl RowColumn {
    /// Returns the rows that may pass a test: those whose values pass it, and the deviant rows.
    pub fn select(&mut self, test: &ValueTest, dialect: Dialect) -> &RowBitmap {
        let column = &self.values;
        self.selections.get_or_select(test.clone(), column.deviant_rows().len(), || {
            let mut rows = column.deviant_rows().clone();
            match test {
                ValueTest::Compares(operator, bound) => column.select(*operator, &bound.0, &mut rows),
                ValueTest::IsMet => column.select_where(|value| Truth::of(value, dialect).is_true(), &mut rows),
            }
            rows
        })
    }
}

/// Maximum number of shapes in which the position of an attribute is remembered.
const MAX_KNOWN_SHAPES: usize = 8;

/// Returns the expression of the attribute that each of the rows `places` shows. Looks the name up once for each of the
/// first shapes, because most offers have one of a few shapes.
fn bound_expressions(name: &Name, places: &[PortPlace], table: &ParticipantTable) -> Vec<Option<Expression>> {
    let mut known: Vec<(&Arc<AdShape>, Option<usize>)> = Vec::with_capacity(MAX_KNOWN_SHAPES);
    let mut expressions = Vec::with_capacity(places.len());
    for place in places {
        let bound = table.frames(*place).find_map(|frame| {
            let shape = frame.ad.shape();
            let position = if let Some((_, position)) = known.iter().find(|(known, _)| Arc::ptr_eq(known, shape)) {
                *position
            } else {
                let position = shape.position(name);
                if known.len() < MAX_KNOWN_SHAPES {
                    known.push((shape, position));
                }
                position
            };
            position.map(|position| frame.ad.expressions()[position].clone())
        });
        expressions.push(bound);
    }
    expressions
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

#[cfg(test)]
mod tests {
    use super::{AttributeColumn, RowColumn, SelectionCache, ValueTest};
    use crate::ad::{BinaryOperator, Dialect, Value};
    use crate::matching::gang::participants::HashableValue;
    use crate::matching::gang::port_index::RowBitmap;
    use crate::pool::ColumnCell;

    #[test]
    fn answers_are_those_of_the_column_however_many_are_remembered() {
        let constants = (0..499).map(|row| ColumnCell::Constant(Value::Integer(row % 40)));
        let values = AttributeColumn::new(constants.chain([ColumnCell::Deviant]), Dialect::Classad);
        let mut column = RowColumn { values, selections: SelectionCache::default() };
        for round in 0..2 {
            for bound in 0..300 {
                let selected = |row: &usize| *row == 499 || row % 40 < bound;
                let expected: RowBitmap = (0..500).filter(selected).collect();
                let bound = HashableValue(Value::Integer(i64::try_from(bound).unwrap()));
                let test = ValueTest::Compares(BinaryOperator::Less, bound);
                assert_eq!(*column.select(&test, Dialect::Classad), expected, "round {round}");
            }
        }
    }
}
