//! Index of the offers' ports: answers which of them may dock at a port (thesis 5.4.2).
//!
//! Every port of every offer is a row, in input order. Columns hold the attributes of the rows; further columns hold
//! the bounds that rows demand of attributes of the port at which they dock.
//!
//! Answers are supersets: they may contain rows that do not fit, never miss one that does. Candidates are confirmed by
//! evaluation unless [`SettledConstraints`] says that the index has proved the constraint.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, OperatorGroup, Participant, Value};
use crate::constraint::{is_scope_name, is_self_evaluating};
use crate::eval::{Context, Evaluator, NameResolution};
use crate::pool::{AttributeColumn, ColumnCell, Partition, ValueKey};
use crate::protocol::is_met;

use super::cached_column::CachedColumn;
use super::decisions::SettledConstraints;
use super::participants::{ParticipantTable, PortPlace};
use super::symbolic::{AttributeTranslation, SymbolicValue};
use super::window_query::{ValueTest, WindowCondition, WindowQuery};

/// A set of rows, as a bitmap.
pub type RowBitmap = FixedBitSet;

/// The index of the ports of all offers.
pub struct PortIndex {
    /// Port of each row.
    places: Vec<PortPlace>,
    /// Range of rows of each offer, by 0-based index of the offer.
    rows_of: Vec<Range<usize>>,
    /// Rows of offers that are not used up.
    unused: RowBitmap,
    /// Unused rows that have a constraint: a port without one accepts nobody.
    eligible: RowBitmap,
    /// Rows that have a rank.
    ranking: RowBitmap,
    /// Rows whose ads have changed since the columns were built. They are selected always and checked by evaluation.
    changed: RowBitmap,
    /// Bounds that rows demand, one entry per attribute expression and operator.
    bounds: Vec<LinkBounds>,
    /// Names of all attributes that the rows show, computed on first use.
    attribute_names: OnceCell<FxHashSet<Name>>,
    /// Columns of attributes of the rows, built on demand.
    columns: Vec<CachedColumn>,
    /// Whether some column has a row with a value that only evaluation can tell.
    has_deviants: bool,
    /// Index into `columns` by the attribute and the steps computed from it.
    column_by_translation: FxHashMap<AttributeTranslation, usize>,
    /// For each row, the number of its class of equal demands and equal rank. `None` if only evaluation tells its
    /// demands.
    demand_class_of: Vec<Option<u32>>,
    /// The last answer to a demand query, with its key.
    last_demand: Option<(LinkDemandKey, Rc<RowBitmap>)>,
}

/// A column of bounds: what each row demands of one attribute of the port at which it docks.
pub struct LinkBounds {
    /// The attribute, and the steps computed from it, that is bounded.
    pub translation: AttributeTranslation,
    /// The operator, with the attribute on the left and the bound on the right.
    operator: BinaryOperator,
    /// The operator with its operands exchanged: bound on the left, attribute on the right.
    exchanged: BinaryOperator,
    /// The bound of each row. A row without one accepts any value.
    bounds: CachedColumn,
}

/// Key of a demand query: which rows satisfy the demands of some row at another port?
#[derive(PartialEq, Eq)]
struct LinkDemandKey {
    /// Demand classes of the rows that demand, sorted.
    demand_classes: Vec<Option<u32>>,
    /// Pairs of the index of a column of bounds and the index of the column of the bounded values.
    columns: Vec<(usize, usize)>,
}

/// A column of bounds under construction, as pairs of row and bound.
struct LinkBoundsBuilder {
    translation: AttributeTranslation,
    operator: BinaryOperator,
    rows: Vec<(usize, Value)>,
}

impl PortIndex {
    /// Builds the index of the offers of a table at which nothing is docked.
    pub fn new(table: &ParticipantTable) -> Self {
        let offers = table.offer_count();
        let (mut places, mut rows_of) = (Vec::new(), Vec::with_capacity(offers));
        for participant in (1..=offers).map(|index| Participant::try_from(index).unwrap_or(Participant::MAX)) {
            let first = places.len();
            places.extend((0..table.port_count(participant)).map(|port| PortPlace { participant, port }));
            rows_of.push(first..places.len());
        }
        let mut links = PortIndex {
            unused: all_rows(places.len()),
            eligible: RowBitmap::with_capacity(places.len()),
            ranking: RowBitmap::with_capacity(places.len()),
            changed: RowBitmap::with_capacity(places.len()),
            places,
            rows_of,
            bounds: Vec::new(),
            attribute_names: OnceCell::new(),
            columns: Vec::new(),
            has_deviants: false,
            column_by_translation: FxHashMap::default(),
            demand_class_of: Vec::new(),
            last_demand: None,
        };
        links.index_demands(table);
        links
    }

    /// Indexes the clauses and ranks of all rows.
    fn index_demands(&mut self, table: &ParticipantTable) {
        let mut bounds: Vec<LinkBoundsBuilder> = Vec::new();
        let mut kinds: FxHashMap<Vec<(usize, ValueKey)>, u32> = FxHashMap::default();
        let mut numbers: FxHashMap<(AttributeTranslation, BinaryOperator), usize> = FxHashMap::default();
        for (row, place) in self.places.iter().enumerate() {
            let Some(parts) = table.clauses(*place) else {
                self.demand_class_of.push(None);
                continue;
            };
            self.eligible.insert(row);
            let mut kind = Some(Vec::with_capacity(parts.len()));
            if let Some(rank) = table.symbolic_rank(*place) {
                self.ranking.insert(row);
                match (rank, &mut kind) {
                    (SymbolicValue::Known(rank), Some(kind)) => kind.push((RANK_COLUMN, ValueKey::of(&rank))),
                    _ => kind = None,
                }
            }
            for (part, frame) in parts.iter() {
                let imported = match part.without_parentheses().kind() {
                    ExpressionKind::Binary(operator, left, right) => as_demand(
                        *place,
                        *operator,
                        table.symbolic_value(left, frame),
                        table.symbolic_value(right, frame),
                    ),
                    _ => match table.symbolic_value(part, frame) {
                        SymbolicValue::Known(value) if is_met(&value, table.context.dialect) => continue,
                        _ => None,
                    },
                };
                let Some((translation, operator, bound)) = imported else {
                    kind = None;
                    continue;
                };
                let number = *numbers.entry((translation, operator)).or_insert_with_key(|(translation, operator)| {
                    bounds.push(LinkBoundsBuilder {
                        translation: translation.clone(),
                        operator: *operator,
                        rows: Vec::new(),
                    });
                    bounds.len() - 1
                });
                let rows = &mut bounds[number].rows;
                // A row has one bound per column; a second one is left to evaluation.
                if rows.last().is_some_and(|(last, _)| *last == row) {
                    kind = None;
                    continue;
                }
                if let Some(kind) = &mut kind {
                    kind.push((number, ValueKey::of(&bound)));
                }
                rows.push((row, bound));
            }
            let next = u32::try_from(kinds.len()).unwrap_or(u32::MAX);
            self.demand_class_of.push(kind.map(|mut kind| {
                kind.sort_by_key(|(number, _)| *number);
                *kinds.entry(kind).or_insert(next)
            }));
        }
        bounds.sort_by(|left, right| left.translation.attribute.cmp(&right.translation.attribute));
        for LinkBoundsBuilder { translation, operator, rows } in bounds {
            let Some(exchanged) = operator.converse() else { continue };
            let mut unbounded = all_rows(self.places.len());
            let mut cells = vec![ColumnCell::Absent; self.places.len()];
            for (row, bound) in rows {
                unbounded.set(row, false);
                cells[row] = ColumnCell::Constant(bound);
            }
            self.bounds.push(LinkBounds {
                translation,
                operator,
                exchanged,
                bounds: CachedColumn::new(AttributeColumn::new(cells, table.context.dialect), unbounded),
            });
        }
    }

    /// Returns the port of a row.
    pub fn place(&self, row: usize) -> PortPlace {
        self.places[row]
    }

    /// Returns the range of rows of an offer.
    pub fn rows_of(&self, participant: Participant) -> Range<usize> {
        self.rows_of[participant as usize - 1].clone()
    }

    /// Returns the row of a port of an offer.
    pub fn row(&self, place: PortPlace) -> usize {
        self.rows_of(place.participant).start + place.port
    }

    /// Returns the rows of offers that are not used up.
    pub fn unused(&self) -> &RowBitmap {
        &self.unused
    }

    /// Returns the names of all attributes that the rows show to what docks there.
    pub fn attribute_names(&self, table: &ParticipantTable) -> &FxHashSet<Name> {
        self.attribute_names.get_or_init(|| {
            let mut names = FxHashSet::default();
            for attribute in self.places.iter().flat_map(|place| table.frames(*place)).flat_map(|frame| frame.ad.iter())
            {
                if !names.contains(attribute.name) {
                    names.insert(attribute.name.clone());
                }
            }
            names
        })
    }

    /// Returns the number of offers that show an attribute of this name.
    pub fn offers_with_attribute(&self, name: &Name, table: &ParticipantTable) -> usize {
        let is_shown = |place: &PortPlace| table.attribute(*place, name).is_some();
        self.rows_of.iter().filter(|rows| self.places[(*rows).clone()].iter().any(is_shown)).count()
    }

    /// Removes the rows of an offer that is used up.
    pub fn remove(&mut self, participant: Participant) {
        let rows = self.rows_of(participant);
        self.unused.set_range(rows.clone(), false);
        self.eligible.set_range(rows, false);
    }

    /// Adds the rows of an offer again whose ad was replaced in the meantime.
    pub fn reinsert(&mut self, participant: Participant, table: &ParticipantTable) {
        let rows = self.rows_of(participant);
        if rows.len() == table.port_count(participant) {
            for row in rows {
                let place = self.places[row];
                self.unused.insert(row);
                self.changed.insert(row);
                self.eligible.set(row, table.clauses(place).is_some());
                self.ranking.set(row, table.has_rank(place));
                self.demand_class_of[row] = None;
            }
            // Rebuild the index once its cost is below that of evaluating every changed row for each query.
            let changed = self.changed.count_ones(..);
            if changed * changed <= self.places.len() {
                return;
            }
        }
        let mut renewed = PortIndex::new(table);
        for other in (1..=self.rows_of.len()).filter_map(|other| Participant::try_from(other).ok()) {
            if other != participant && !self.rows_of(other).any(|row| self.unused.contains(row)) {
                renewed.remove(other);
            }
        }
        *self = renewed;
    }

    /// Whether one of `rows` has a rank.
    pub fn any_has_rank(&self, rows: &RowBitmap) -> bool {
        !self.ranking.is_disjoint(rows)
    }

    /// Whether any row has a rank.
    pub fn has_ranking_rows(&self) -> bool {
        !self.ranking.is_clear()
    }

    /// Returns the columns of bounds that rows demand.
    pub fn bounds(&self) -> &[LinkBounds] {
        &self.bounds
    }

    /// Returns the rows that a window query selects (thesis 4.5).
    pub fn select(&mut self, window: &WindowQuery, table: &mut ParticipantTable) -> RowBitmap {
        let mut found = self.eligible.clone();
        self.retain(&mut found, window, table);
        found
    }

    /// Removes from `found` the rows that a window query does not select.
    pub fn retain(&mut self, found: &mut RowBitmap, window: &WindowQuery, table: &mut ParticipantTable) {
        if window.is_unsatisfiable {
            found.clear();
            return;
        }
        // Changed rows stay, since the columns are stale: evaluation decides about them.
        let mut changed = None;
        if !self.changed.is_clear() {
            changed.insert(self.changed.clone()).intersect_with(found);
        }
        for condition in &window.conditions {
            self.retain_meeting(found, condition, table);
        }
        for (number, test) in &window.shown {
            found.intersect_with(self.bounds[*number].bounds.select(test, table.context.dialect));
        }
        if let Some(changed) = changed {
            found.union_with(&changed);
        }
    }

    /// Removes from `found` the rows that cannot meet a condition.
    fn retain_meeting(&mut self, found: &mut RowBitmap, condition: &WindowCondition, table: &mut ParticipantTable) {
        let dialect = table.context.dialect;
        found.intersect_with(self.column_of(&condition.translation, table).select(&condition.test, dialect));
    }

    /// Whether the index holds all demands of a port of an offer.
    pub fn is_fully_indexed(&self, link: PortPlace) -> bool {
        self.demand_class_of[self.row(link)].is_some()
    }

    /// Returns the constraints that a window query proves for the rows that it selects.
    pub fn settled_constraints(&self, window: &WindowQuery) -> SettledConstraints {
        SettledConstraints {
            port_constraint: self.settles_port(window),
            link_constraints: window.shown.len() == self.bounds.len(),
        }
    }

    /// Whether every row that a window query selects is certain to meet the constraint of its port.
    pub fn settles_port(&self, window: &WindowQuery) -> bool {
        let is_told = |condition: &WindowCondition| {
            let number = self.column_by_translation.get(&condition.translation);
            number.is_some_and(|number| !self.columns[*number].column().has_deviant_rows())
        };
        let are_told = !self.has_deviants || window.conditions.iter().all(is_told);
        window.is_complete && are_told && self.changed.is_clear()
    }

    /// Returns the rows that, docked at the port `at`, satisfy the demands of at least one row of `by` on the port with
    /// the window query `shown`. Only demands on attributes computed from what docks at `at` count.
    pub fn rows_demanded_by(
        &mut self,
        by: &[usize],
        at: PortPlace,
        shown: &WindowQuery,
        table: &mut ParticipantTable,
    ) -> Rc<RowBitmap> {
        let passed_on = shown.computed.iter().filter(|(_, of, _)| *of == at);
        let columns = passed_on.map(|(number, _, on)| (*number, self.column_index(on, table))).collect();
        let mut demands: Vec<Option<u32>> = by.iter().map(|row| self.demand_class_of[*row]).collect();
        demands.sort_unstable();
        let asked = LinkDemandKey { demand_classes: demands, columns };
        // Successive requests ask for the same until some class of demands has lost its last row.
        if let Some((known, rows)) = &self.last_demand
            && *known == asked
        {
            return Rc::clone(rows);
        }
        let (all, mut some) = (all_rows(self.places.len()), RowBitmap::with_capacity(self.places.len()));
        for row in by {
            let mut found = all.clone();
            for (number, column) in &asked.columns {
                let LinkBounds { operator, bounds, .. } = &self.bounds[*number];
                if let ColumnCell::Constant(bound) = bounds.column().cell(*row) {
                    let test = ValueTest::Compares(*operator, bound);
                    found.intersect_with(self.columns[*column].select(&test, table.context.dialect));
                }
            }
            some.union_with(&found);
        }
        let some = Rc::new(some);
        self.last_demand = Some((asked, Rc::clone(&some)));
        some
    }

    /// Removes from `found` the rows that reject attributes of the port with the window query `shown`, namely those
    /// computed from `row`, which is docked at the port `at`. Returns whether the columns know all these values; if
    /// not, `found` may be narrowed by some of them.
    pub fn retain_accepting(
        &mut self,
        found: &mut RowBitmap,
        shown: &WindowQuery,
        at: PortPlace,
        row: usize,
        table: &mut ParticipantTable,
    ) -> bool {
        for (number, _, translation) in shown.computed.iter().filter(|(_, of, _)| *of == at) {
            let value = match self.column_of(translation, table).column().cell(row) {
                ColumnCell::Constant(value) => value,
                ColumnCell::Absent => Value::Undefined,
                ColumnCell::Deviant => return false,
            };
            let imported = &mut self.bounds[*number];
            found.intersect_with(imported.bounds.select(&imported.test(value), table.context.dialect));
        }
        true
    }

    /// Returns the rows of used-up offers that a window query selects.
    pub fn select_used(&mut self, window: &WindowQuery, table: &mut ParticipantTable) -> RowBitmap {
        let mut used = all_rows(self.places.len());
        used.difference_with(&self.unused);
        let free = std::mem::replace(&mut self.eligible, used);
        let found = self.select(window, table);
        self.eligible = free;
        found
    }

    /// Returns the column of a computed attribute, building it on first use.
    fn column_of(&mut self, translation: &AttributeTranslation, table: &mut ParticipantTable) -> &mut CachedColumn {
        let number = self.column_index(translation, table);
        &mut self.columns[number]
    }

    /// Returns the index of that column in `columns`, building it on first use.
    fn column_index(&mut self, translation: &AttributeTranslation, table: &mut ParticipantTable) -> usize {
        if let Some(number) = self.column_by_translation.get(translation) {
            return *number;
        }
        let column = self.build_column(translation, table);
        let open = column.deviant_rows().clone();
        self.has_deviants |= column.has_deviant_rows();
        self.columns.push(CachedColumn::new(column, open));
        self.column_by_translation.insert(translation.clone(), self.columns.len() - 1);
        self.columns.len() - 1
    }

    /// Builds the column of a computed attribute.
    fn build_column(&self, translation: &AttributeTranslation, table: &mut ParticipantTable) -> AttributeColumn {
        let is_an_ad = is_scope_name(&translation.attribute);
        let dialect = table.context.dialect;
        let cells = self.places.iter().map(|place| {
            let cell = match table.attribute(*place, &translation.attribute).map(Expression::kind) {
                Some(ExpressionKind::Literal(value))
                    if is_self_evaluating(value, table.context.dialect) && !is_an_ad =>
                {
                    ColumnCell::Constant(value.clone())
                }
                None if table.context.dialect == Dialect::Classad && !is_an_ad => ColumnCell::Absent,
                // Undock the participant for the evaluation: the column must hold whatever is docked.
                _ => table.with_undocked(place.participant, |table| cell_of(table, *place, &translation.attribute)),
            };
            match cell {
                cell if translation.is_identity() => cell,
                ColumnCell::Constant(value) => ColumnCell::Constant(translation.apply(value, &table.context)),
                ColumnCell::Absent => ColumnCell::Constant(translation.apply(Value::Undefined, &table.context)),
                ColumnCell::Deviant => ColumnCell::Deviant,
            }
        });
        AttributeColumn::new(cells, dialect)
    }

    /// Partitions rows by their indexed demands. Rows with a demand that is not indexed are in no class.
    pub fn demand_partition(&self) -> Partition {
        let mut alike = Partition::new(self.places.len());
        alike.split(self.demand_class_count(), |row| self.demand_class_of[row]);
        alike
    }

    /// Returns the number of demand classes.
    fn demand_class_count(&self) -> usize {
        self.demand_class_of.iter().flatten().max().map_or(0, |most| *most as usize + 1)
    }

    /// Partitions rows by the values of these attributes and by their demands, leaving out rows of offers with ports of
    /// their own. Rows equivalent to no other are in no class. Without `names` all rows are in no class.
    pub fn candidate_partition<'n>(
        &mut self,
        names: Option<impl Iterator<Item = &'n Name>>,
        table: &mut ParticipantTable,
    ) -> Partition {
        let mut alike = Partition::new(self.places.len());
        alike.split(self.demand_class_count(), |row| {
            let alone = table.port_count(self.places[row].participant) == 1;
            self.demand_class_of[row].filter(|_| alone && names.is_some())
        });
        for name in names.into_iter().flatten() {
            // Skip names that no row shows: most names that a request mentions are attributes of the request itself.
            let is_its_own = table.context.dialect == Dialect::Classad && !self.attribute_names(table).contains(name);
            if is_its_own && !is_scope_name(name) {
                continue;
            }
            self.column_of(&AttributeTranslation::identity(name), table).column().split(&mut alike);
        }
        alike
    }
}

impl LinkBounds {
    /// Returns the test that the bounds must pass for rows to accept a value.
    pub fn test(&self, value: Value) -> ValueTest {
        ValueTest::Compares(self.exchanged, value)
    }
}

/// Returns the set of all rows of an index with `rows` rows.
fn all_rows(rows: usize) -> RowBitmap {
    let mut all = RowBitmap::with_capacity(rows);
    all.insert_range(..);
    all
}

/// Number of the rank among the demands of a row, where other demands have the index of their column of bounds.
const RANK_COLUMN: usize = usize::MAX;

/// Returns a clause of the row `place` as a bound on one attribute of what docks there. `None` if it has another form.
fn as_demand(
    place: PortPlace,
    operator: BinaryOperator,
    left: SymbolicValue,
    right: SymbolicValue,
) -> Option<(AttributeTranslation, BinaryOperator, Value)> {
    if !matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity) {
        return None;
    }
    match (left, right) {
        (SymbolicValue::Function(of, translation), SymbolicValue::Known(bound)) if of == place => {
            Some((translation, operator, bound))
        }
        (SymbolicValue::Known(bound), SymbolicValue::Function(of, translation)) if of == place => {
            Some((translation, operator.converse()?, bound))
        }
        _ => None,
    }
}

/// Returns the cell of an attribute of a row: `Opaque` if it depends on what is docked or is no plain value.
fn cell_of(table: &ParticipantTable, place: PortPlace, name: &Name) -> ColumnCell {
    let Some(frame) = table.frame(place) else { return ColumnCell::Absent };
    if is_scope_name(name) {
        return ColumnCell::Deviant;
    }
    match table.environment.resolve_selected(&frame, name, &table.context) {
        NameResolution::Missing => ColumnCell::Absent,
        NameResolution::Value(_) | NameResolution::Unknown => ColumnCell::Deviant,
        NameResolution::Expression(bound, frame) => match bound.kind() {
            ExpressionKind::Literal(value) if is_self_evaluating(value, table.context.dialect) => {
                ColumnCell::Constant(value.clone())
            }
            _ => {
                // A random value differs at each evaluation, so it is no constant.
                let context = Context { random: None, ..table.context.clone() };
                match Evaluator::new(&table.environment, &context).evaluate(&bound, &frame) {
                    Ok(Value::List(_) | Value::Ad(_)) | Err(_) => ColumnCell::Deviant,
                    Ok(value) => ColumnCell::Constant(value),
                }
            }
        },
    }
}
