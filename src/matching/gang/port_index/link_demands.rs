//! What the constraints of offers' ports demand of the port at which they dock: columns of bounds, and classes of equal
//! demands.

use rustc_hash::FxHashMap;

use crate::ad::{ExpressionKind, Value};
use crate::matching::gang::participants::{
    AttributeTranslation, HashableValue, ParticipantTable, PortPlace, SymbolicClause, SymbolicValue, ValueTest,
    WindowCondition,
};
use crate::pool::{BoundCollector, BoundColumn, ColumnCell, Partition, ValueKey};
use crate::protocol::is_met;

use super::RowBitmap;
use super::selection_cache::SelectionCache;

/// The demands of all rows, as far as they are indexed.
pub struct LinkDemands {
    /// Bounds that rows demand, one entry per attribute expression and operator, sorted by attribute.
    pub bounds: Vec<LinkBounds>,
    /// For each row, the number of its class of equal demands and equal rank. `None` if the demands or the rank are not
    /// fully indexed, so that the row must be evaluated.
    pub class_of: Vec<Option<u32>>,
}

/// A column of bounds with the rows recently selected from it: what each row demands of one attribute of the port at
/// which it docks.
pub struct LinkBounds {
    /// The bound of each row. The subject is an attribute of the port at which the row docks, and steps applied to it.
    column: BoundColumn<AttributeTranslation>,
    selections: SelectionCache<HashableValue>,
}

/// Stands for the rank in the key of a class, where each demand has the index of its column of bounds.
const RANK_COLUMN: usize = usize::MAX;

impl LinkDemands {
    /// Indexes the clauses and ranks of the rows `places`, with nothing docked.
    pub fn new(places: &[PortPlace], table: &ParticipantTable) -> Self {
        let dialect = table.context.dialect;
        let mut collector: BoundCollector<AttributeTranslation, Value> = BoundCollector::default();
        let mut class_numbers: FxHashMap<Vec<(usize, ValueKey)>, u32> = FxHashMap::default();
        let mut class_of = vec![None; places.len()];
        for (row, place) in places.iter().enumerate() {
            let Some(clauses) = table.clauses(*place) else { continue };
            // A rank that may depend on what docks leaves the row without a class.
            let mut class = match table.symbolic_rank(*place) {
                None => Some(Vec::new()),
                Some(SymbolicValue::Known(rank)) => Some(vec![(RANK_COLUMN, ValueKey::of(&rank))]),
                Some(_) => None,
            };
            for (clause, frame) in clauses.iter() {
                let demand = match table.symbolic_clause(*place, clause, frame) {
                    SymbolicClause::Condition(WindowCondition {
                        translation,
                        test: ValueTest::Compares(operator, HashableValue(bound)),
                    }) => {
                        let key = ValueKey::of(&bound);
                        // A row has one bound per column. A second bound is left to evaluation.
                        collector.add(row, translation, operator, bound).map(|column| (column, key))
                    }
                    // A clause that is always met demands nothing. An operation on constants is left to evaluation.
                    SymbolicClause::Known(value)
                        if !matches!(clause.without_parentheses().kind(), ExpressionKind::Binary(..))
                            && is_met(&value, dialect) =>
                    {
                        continue;
                    }
                    _ => None,
                };
                class = class.zip(demand).map(|(mut class, demand)| {
                    class.push(demand);
                    class
                });
            }
            let next = u32::try_from(class_numbers.len()).unwrap_or(u32::MAX);
            class_of[row] = class.map(|mut class| {
                class.sort_by_key(|(column, _)| *column);
                *class_numbers.entry(class).or_insert(next)
            });
        }
        let mut columns = collector.build(places.len(), dialect, |_, bound| ColumnCell::Constant(bound));
        columns.sort_by(|left, right| left.subject.attribute.cmp(&right.subject.attribute));
        let with_cache = |column| LinkBounds { column, selections: SelectionCache::default() };
        LinkDemands { bounds: columns.into_iter().map(with_cache).collect(), class_of }
    }

    /// Partitions the rows for which `is_included` holds by their classes. All other rows are in no class.
    pub fn partition(&self, is_included: impl Fn(usize) -> bool) -> Partition {
        let mut partition = Partition::new(self.class_of.len());
        let classes = self.class_of.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        partition.split(classes, |row| self.class_of[row].filter(|_| is_included(row)));
        partition
    }
}

impl LinkBounds {
    /// Returns the bounded value: an attribute of the port at which the row docks, and steps applied to it.
    pub fn translation(&self) -> &AttributeTranslation {
        &self.column.subject
    }

    /// Returns the test that the bounded value must pass for a row to accept it. `None` if the row accepts any value.
    pub fn demand_of(&self, row: usize) -> Option<ValueTest> {
        match self.column.bounds.cell(row) {
            ColumnCell::Constant(bound) => Some(ValueTest::Compares(self.column.operator, HashableValue(bound))),
            _ => None,
        }
    }

    /// Returns the rows that accept a bounded value, and the rows without a bound.
    pub fn accepting(&mut self, value: &HashableValue) -> &RowBitmap {
        let column = &self.column;
        self.selections.get_or_select(value.clone(), column.always_admitted.len(), || {
            let mut rows = RowBitmap::new();
            column.admitting(&value.0, &mut rows);
            rows
        })
    }
}
