//! Columns of attributes of the rows, built on first use.

use rustc_hash::FxHashMap;

use crate::ad::{Dialect, Expression, ExpressionKind, Name, Value};
use crate::constraint::{is_scope_name, is_self_evaluating};
use crate::eval::{Context, Evaluator, NameResolution};
use crate::matching::gang::participants::{AttributeTranslation, ParticipantTable, PortPlace};
use crate::pool::{AttributeColumn, ColumnCell};

use super::cached_column::CachedColumn;

/// Columns of attributes of the rows, and of functions of these.
#[derive(Default)]
pub struct RowColumns {
    columns: Vec<CachedColumn>,
    /// Whether some column has a row with a value that only evaluation can tell.
    has_deviants: bool,
    /// Index into `columns` by the attribute and the steps computed from it.
    by_translation: FxHashMap<AttributeTranslation, usize>,
}

impl RowColumns {
    /// Returns the index of the column of a computed attribute of the rows `places`, building it on first use.
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

    /// Returns a column.
    pub fn column(&self, index: usize) -> &AttributeColumn {
        self.columns[index].column()
    }

    /// Returns a column for selection.
    pub fn column_mut(&mut self, index: usize) -> &mut CachedColumn {
        &mut self.columns[index]
    }

    /// Whether the columns of these computed attributes are built and know the values of all rows.
    pub fn know_all<'t>(&self, mut translations: impl Iterator<Item = &'t AttributeTranslation>) -> bool {
        let is_known = |translation: &AttributeTranslation| {
            let number = self.by_translation.get(translation);
            number.is_some_and(|number| !self.column(*number).has_deviant_rows())
        };
        !self.has_deviants || translations.all(is_known)
    }
}

/// Returns the cell of a computed attribute of a row.
fn computed_cell(translation: &AttributeTranslation, place: PortPlace, table: &mut ParticipantTable) -> ColumnCell {
    let (name, dialect) = (&translation.attribute, table.context().dialect);
    let is_an_ad = is_scope_name(name);
    let cell = match table.attribute(place, name).map(Expression::kind) {
        Some(ExpressionKind::Literal(value)) if is_self_evaluating(value, dialect) && !is_an_ad => {
            ColumnCell::Constant(value.clone())
        }
        None if dialect == Dialect::Classad && !is_an_ad => ColumnCell::Absent,
        // Undock the participant for the evaluation: the column must hold whatever is docked.
        _ => table.with_undocked(place.participant, |table| cell_of(table, place, name)),
    };
    match cell {
        cell if translation.is_identity() => cell,
        ColumnCell::Constant(value) => ColumnCell::Constant(translation.apply(value, table.context())),
        ColumnCell::Absent => ColumnCell::Constant(translation.apply(Value::Undefined, table.context())),
        ColumnCell::Deviant => ColumnCell::Deviant,
    }
}

/// Returns the cell of an attribute of a row: `Deviant` if it depends on what is docked or is no plain value.
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
                // A random value differs at each evaluation, so it is no constant.
                let context = Context { random: None, ..table.context().clone() };
                match Evaluator::new(table.environment(), &context).evaluate(&bound, &frame) {
                    Ok(Value::List(_) | Value::Ad(_)) | Err(_) => ColumnCell::Deviant,
                    Ok(value) => ColumnCell::Constant(value),
                }
            }
        },
    }
}
