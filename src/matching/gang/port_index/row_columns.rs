//! Columns of attributes of the rows, built on first use.

use rustc_hash::FxHashMap;

use crate::ad::{Dialect, Expression, ExpressionKind, Name, Value};
use crate::constraint::{is_scope_name, is_self_evaluating};
use crate::eval::{Context, Evaluator, NameResolution};
use crate::matching::gang::participants::{AttributeTranslation, ParticipantTable, PortPlace};
use crate::pool::{AttributeColumn, ColumnCell};

use super::cached_column::CachedColumn;

/// Columns of attributes of the rows, and of functions of attributes.
#[derive(Default)]
pub struct RowColumns {
    columns: Vec<CachedColumn>,
    /// Whether some column has a deviant row: one whose value depends on what docks, so that it must be evaluated.
    has_deviants: bool,
    /// Index into `columns` by the attribute and the steps applied to it.
    by_translation: FxHashMap<AttributeTranslation, usize>,
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
        if let Some(number) = self.by_translation.get(translation) {
            return *number;
        }
        let dialect = table.context().dialect;
        let cells = places.iter().map(|place| computed_cell(translation, *place, table));
        let column = AttributeColumn::new(cells, dialect);
        let open = column.deviant_rows().clone();
        self.has_deviants |= column.has_deviant_rows();
        self.columns.push(CachedColumn::new(column, open));
        self.by_translation.insert(translation.clone(), self.columns.len() - 1);
        self.columns.len() - 1
    }

    /// Returns the column with an index, for reading cells.
    pub fn column(&self, index: usize) -> &AttributeColumn {
        self.columns[index].column()
    }

    /// Returns the column with an index, for selection, which updates the cache of the column.
    pub fn column_mut(&mut self, index: usize) -> &mut CachedColumn {
        &mut self.columns[index]
    }

    /// Whether the columns of `translations` know the values of all rows. The columns must have been built before.
    pub fn know_all<'t>(&self, mut translations: impl Iterator<Item = &'t AttributeTranslation>) -> bool {
        let is_known = |translation: &AttributeTranslation| {
            let number = self.by_translation.get(translation);
            number.is_some_and(|number| !self.column(*number).has_deviant_rows())
        };
        !self.has_deviants || translations.all(is_known)
    }
}

/// Returns the cell of a row in the column of `translation`.
fn computed_cell(translation: &AttributeTranslation, place: PortPlace, table: &mut ParticipantTable) -> ColumnCell {
    let (name, dialect) = (&translation.attribute, table.context().dialect);
    let is_an_ad = is_scope_name(name);
    let cell = match table.attribute(place, name).map(Expression::kind) {
        Some(ExpressionKind::Literal(value)) if is_self_evaluating(value, dialect) && !is_an_ad => {
            ColumnCell::Constant(value.clone())
        }
        None if dialect == Dialect::Classad && !is_an_ad => ColumnCell::Absent,
        // Undock the participant for the evaluation: the column must be valid whatever is docked.
        _ => table.with_undocked(place.participant, |table| cell_of(table, place, name)),
    };
    match cell {
        cell if translation.is_identity() => cell,
        ColumnCell::Constant(value) => ColumnCell::Constant(translation.apply(value, table.context())),
        ColumnCell::Absent => ColumnCell::Constant(translation.apply(Value::Undefined, table.context())),
        ColumnCell::Deviant => ColumnCell::Deviant,
    }
}

/// Returns the cell of an attribute of a row. The cell is `Deviant` if the attribute depends on what is docked or its
/// value is a list or an ad.
fn cell_of(table: &ParticipantTable, place: PortPlace, name: &Name) -> ColumnCell {
    let Some(frame) = table.frame(place) else { return ColumnCell::Absent };
    if is_scope_name(name) {
        return ColumnCell::Deviant;
    }
    match table.environment().resolve_selected(&frame, name, table.context()) {
        NameResolution::Missing => ColumnCell::Absent,
        NameResolution::Value(_) | NameResolution::Unknown => ColumnCell::Deviant,
        NameResolution::Expression(bound, frame) => match bound.kind() {
            ExpressionKind::Literal(value) if is_self_evaluating(value, table.context().dialect) => {
                ColumnCell::Constant(value.clone())
            }
            _ => {
                // Evaluate without a random stream, so that a random value fails: it differs at each evaluation.
                let context = Context { random: None, ..table.context().clone() };
                match Evaluator::new(table.environment(), &context).evaluate(&bound, &frame) {
                    Ok(Value::List(_) | Value::Ad(_)) | Err(_) => ColumnCell::Deviant,
                    Ok(value) => ColumnCell::Constant(value),
                }
            }
        },
    }
}
