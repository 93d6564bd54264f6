//! What the constraints of offers' ports demand of the port at which they dock: columns of bounds, and classes of equal
//! demands.

use rustc_hash::FxHashMap;

use crate::ad::{BinaryOperator, Dialect, ExpressionKind, Value};
use crate::matching::gang::participants::{
    AttributeTranslation, ParticipantTable, PortPlace, SymbolicClause, SymbolicEvaluator, SymbolicValue,
};
use crate::pool::{AttributeColumn, ColumnCell, Partition, ValueKey};
use crate::protocol::is_met;

use super::cached_column::CachedColumn;
use super::window_query::ValueTest;
use super::{RowBitmap, all_rows};

/// The demands of all rows, as far as they are indexed.
pub struct LinkDemands {
    /// Bounds that rows demand, one entry per attribute expression and operator, sorted by attribute.
    bounds: Vec<LinkBounds>,
    /// For each row, the number of its class of equal demands and equal rank. `None` if the demands or the rank are not
    /// fully indexed, so that the row must be evaluated.
    class_of: Vec<Option<u32>>,
}

/// A column of bounds: what each row demands of one attribute of the port at which it docks.
pub struct LinkBounds {
    /// The bounded value: an attribute of the port at which the row docks, and steps applied to it.
    translation: AttributeTranslation,
    /// The operator, with the attribute on the left and the bound on the right.
    operator: BinaryOperator,
    /// The operator with its operands exchanged: bound on the left, attribute on the right.
    exchanged: BinaryOperator,
    /// The bound of each row. A row without one accepts any value.
    bounds: CachedColumn,
}

/// A column of bounds under construction, as pairs of row and bound.
struct LinkBoundsBuilder {
    translation: AttributeTranslation,
    operator: BinaryOperator,
    rows: Vec<(usize, Value)>,
}

/// Stands for the rank in the key of a class, where each demand has the index of its column of bounds.
const RANK_COLUMN: usize = usize::MAX;

impl LinkDemands {
    /// Indexes the clauses and ranks of the rows `places`, with nothing docked.
    pub fn new(places: &[PortPlace], table: &ParticipantTable) -> Self {
        let mut bounds: Vec<LinkBoundsBuilder> = Vec::new();
        let mut numbers: FxHashMap<(AttributeTranslation, BinaryOperator), usize> = FxHashMap::default();
        let mut class_numbers: FxHashMap<Vec<(usize, ValueKey)>, u32> = FxHashMap::default();
        let mut class_of = Vec::with_capacity(places.len());
        for (row, place) in places.iter().enumerate() {
            let Some(clauses) = table.clauses(*place) else {
                class_of.push(None);
                continue;
            };
            let mut class = rank_demand(*place, table);
            for (clause, frame) in clauses.iter() {
                let (translation, operator, bound) = match SymbolicEvaluator::new(table).clause(*place, clause, frame) {
                    SymbolicClause::Compares(translation, operator, bound) => (translation, operator, bound),
                    // A clause that is always met demands nothing. An operation on constants is left to evaluation.
                    SymbolicClause::Known(value)
                        if !matches!(clause.without_parentheses().kind(), ExpressionKind::Binary(..))
                            && is_met(&value, table.context().dialect) =>
                    {
                        continue;
                    }
                    _ => {
                        class = None;
                        continue;
                    }
                };
                let number = *numbers.entry((translation, operator)).or_insert_with_key(|(translation, operator)| {
                    let (translation, operator) = (translation.clone(), *operator);
                    bounds.push(LinkBoundsBuilder { translation, operator, rows: Vec::new() });
                    bounds.len() - 1
                });
                let rows = &mut bounds[number].rows;
                // A row has one bound per column. A second bound is left to evaluation.
                if rows.last().is_some_and(|(last, _)| *last == row) {
                    class = None;
                    continue;
                }
                if let Some(class) = &mut class {
                    class.push((number, ValueKey::of(&bound)));
                }
                rows.push((row, bound));
            }
            let next = u32::try_from(class_numbers.len()).unwrap_or(u32::MAX);
            class_of.push(class.map(|mut class| {
                class.sort_by_key(|(number, _)| *number);
                *class_numbers.entry(class).or_insert(next)
            }));
        }
        bounds.sort_by(|left, right| left.translation.attribute.cmp(&right.translation.attribute));
        let dialect = table.context().dialect;
        let bounds = bounds.into_iter().filter_map(|builder| builder.build(places.len(), dialect)).collect();
        LinkDemands { bounds, class_of }
    }

    /// Returns the columns of bounds, sorted by attribute.
    pub fn bounds(&self) -> &[LinkBounds] {
        &self.bounds
    }

    /// Returns the column of bounds with an index, for selection, which updates the cache of the column.
    pub fn bounds_mut(&mut self, number: usize) -> &mut LinkBounds {
        &mut self.bounds[number]
    }

    /// Returns the class of equal demands of a row. `None` if its demands are not fully indexed.
    pub fn class_of(&self, row: usize) -> Option<u32> {
        self.class_of[row]
    }

    /// Takes a row whose ad has changed out of its class, so that its demands are evaluated.
    pub fn forget(&mut self, row: usize) {
        self.class_of[row] = None;
    }

    /// Partitions the rows for which `is_included` holds by their classes. All other rows are in no class.
    pub fn partition(&self, is_included: impl Fn(usize) -> bool) -> Partition {
        let mut alike = Partition::new(self.class_of.len());
        let classes = self.class_of.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        alike.split(classes, |row| self.class_of[row].filter(|_| is_included(row)));
        alike
    }
}

/// Returns the key of a row's class before any demand is added: a constant rank, or nothing if the row has no rank.
/// `None` if the rank may depend on what docks, so that the row has no class.
fn rank_demand(place: PortPlace, table: &ParticipantTable) -> Option<Vec<(usize, ValueKey)>> {
    match table.symbolic_rank(place) {
        None => Some(Vec::new()),
        Some(SymbolicValue::Known(rank)) => Some(vec![(RANK_COLUMN, ValueKey::of(&rank))]),
        Some(_) => None,
    }
}

impl LinkBoundsBuilder {
    /// Builds the column for an index with `row_count` rows. `None` if the operator has no converse.
    fn build(self, row_count: usize, dialect: Dialect) -> Option<LinkBounds> {
        let exchanged = self.operator.converse()?;
        let mut unbounded = all_rows(row_count);
        let mut cells = vec![ColumnCell::Absent; row_count];
        for (row, bound) in self.rows {
            unbounded.set(row, false);
            cells[row] = ColumnCell::Constant(bound);
        }
        let bounds = CachedColumn::new(AttributeColumn::new(cells, dialect), unbounded);
        Some(LinkBounds { translation: self.translation, operator: self.operator, exchanged, bounds })
    }
}

impl LinkBounds {
    /// Returns the bounded value: an attribute of the port at which the row docks, and steps applied to it.
    pub fn translation(&self) -> &AttributeTranslation {
        &self.translation
    }

    /// Returns the test that the bounds must pass for rows to accept a value.
    pub fn test(&self, value: Value) -> ValueTest {
        ValueTest::Compares(self.exchanged, value)
    }

    /// Returns the test that the bounded value must pass for a row to accept it. `None` if the row accepts any value.
    pub fn demand_of(&self, row: usize) -> Option<ValueTest> {
        match self.bounds.column().cell(row) {
            ColumnCell::Constant(bound) => Some(ValueTest::Compares(self.operator, bound)),
            _ => None,
        }
    }

    /// Returns the rows whose bounds pass a test, and the rows without a bound.
    pub fn select(&mut self, test: &ValueTest, dialect: Dialect) -> &RowBitmap {
        self.bounds.select(test, dialect)
    }
}
