//! Index of what offers demand of the port at which they dock. A demand is a clause of the offer's constraint, such as
//! `other.Size <= 45`. The index holds columns of bounds, such as `45`, and classes of rows with equal demands.

use rustc_hash::FxHashMap;

use crate::ad::{ExpressionKind, Truth, Value};
use crate::matching::gang::participants::{
    AttributeTranslation, HashableValue, ParticipantTable, PortPlace, SymbolicClause, SymbolicEvaluator, SymbolicValue,
    ValueTest, WindowCondition,
};
use crate::pool::{BoundCollector, BoundColumn, ColumnCell, Partition, ValueKey};

use super::RowBitmap;

/// The demands of all rows on the port at which they dock. Some demands are not indexed and left to evaluation.
pub struct LinkDemands {
    /// Columns of bounds. Demands that differ only in their bounds share a column: `other.Size <= 45` and
    /// `other.Size <= 60`, for example. The columns are sorted by the bounded attribute, here `Size`. The bounded value
    /// is an attribute of the port at which a row docks, with steps applied to it.
    pub bounds: Vec<BoundColumn<AttributeTranslation>>,
    /// Identifier of the class of each row. Rows of a class have equal demands and equal ranks. `None` if the index
    /// lacks a demand or the rank of the row, so that the row must be evaluated.
    pub class_of: Vec<Option<u32>>,
    /// Identifier of the class of each row if ranks do not matter. Rows of a class have equal demands. `None` if the
    /// index lacks a demand of the row.
    pub unranked_class_of: Vec<Option<u32>>,
}

/// Column index of the rank in the key of a class. The key is a list of pairs: a column index and the bound in the
/// column. The rank has no column, so that it gets an index that no column has.
const RANK_COLUMN: usize = usize::MAX;

impl LinkDemands {
    /// Indexes the constraints and ranks of the rows. `places` holds the port that each row stands for. Precondition:
    /// nothing is docked in `table`.
    pub fn new(places: &[PortPlace], table: &ParticipantTable) -> Self {
        let (dialect, evaluator) = (table.context.dialect, SymbolicEvaluator::new(table));
        let mut collector: BoundCollector<AttributeTranslation, Value> = BoundCollector::default();
        let mut class_numbers: FxHashMap<Vec<(usize, ValueKey)>, u32> = FxHashMap::default();
        let (mut class_of, mut unranked_class_of) = (vec![None; places.len()], vec![None; places.len()]);
        for (row, place) in places.iter().enumerate() {
            let Some(clauses) = table.clauses(*place) else { continue };
            let mut class = Some(Vec::new());
            for (clause, frame) in clauses.iter() {
                let demand = match evaluator.clause(*place, clause, frame) {
                    SymbolicClause::Condition(WindowCondition {
                        translation,
                        test: ValueTest::Compares(operator, HashableValue(bound)),
                    }) => {
                        let key = ValueKey::of(&bound);
                        // A column holds one bound per row. A second bound on the same value by the same operator is
                        // left to evaluation.
                        collector.add(row, translation, operator, bound).map(|column| (column, key))
                    }
                    // Skip a clause that is met whatever docks, because it demands nothing. A binary operation, such as
                    // `1 < 2`, is left to evaluation even if it is always met.
                    SymbolicClause::Known(value)
                        if !matches!(clause.without_parentheses().kind(), ExpressionKind::Binary(..))
                            && Truth::of(&value, dialect).is_true() =>
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
            let Some(mut class) = class else { continue };
            class.sort_by_key(|(column, _)| *column);
            let mut number = |class| {
                let next = u32::try_from(class_numbers.len()).unwrap_or(u32::MAX);
                Some(*class_numbers.entry(class).or_insert(next))
            };
            match evaluator.rank(*place) {
                None => {
                    class_of[row] = number(class);
                    unranked_class_of[row] = class_of[row];
                }
                Some(SymbolicValue::Known(rank)) => {
                    unranked_class_of[row] = number(class.clone());
                    class.push((RANK_COLUMN, ValueKey::of(&rank)));
                    class_of[row] = number(class);
                }
                // Leave a row without a class if its rank may depend on the port at which it docks.
                Some(_) => unranked_class_of[row] = number(class),
            }
        }
        let mut bounds = collector.build(places.len(), dialect, |_, bound| ColumnCell::Constant(bound));
        bounds.sort_by(|left, right| left.subject.attribute.cmp(&right.subject.attribute));
        LinkDemands { bounds, class_of, unranked_class_of }
    }

    /// Partitions rows by their demands, and by their ranks if `ranks_matter`. Rows for which `is_included` is false are
    /// in no class.
    pub fn partition(&self, ranks_matter: bool, is_included: impl Fn(usize) -> bool) -> Partition {
        let class_of = if ranks_matter { &self.class_of } else { &self.unranked_class_of };
        let mut partition = Partition::new(class_of.len());
        let classes = class_of.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        partition.split(classes, |row| class_of[row].filter(|_| is_included(row)));
        partition
    }
    /// Returns the test that the value of a column of bounds must pass for a row to accept it. `None` if the row accepts
    /// any value.
    pub fn demand_of(&self, number: usize, row: usize) -> Option<ValueTest> {
        let column = &self.bounds[number];
        match column.bounds.cell(row) {
            ColumnCell::Constant(bound) => Some(ValueTest::Compares(column.operator, HashableValue(bound))),
            _ => None,
        }
    }

    /// Removes from `rows` those that do not accept `value` as the value of a column of bounds. A row without a bound
    /// accepts every value.
    pub fn retain_accepting(&self, rows: &mut RowBitmap, number: usize, value: &Value) {
        let mut accepting = RowBitmap::new();
        self.bounds[number].admitting(value, &mut accepting);
        rows.intersect_with(&accepting);
    }
}
