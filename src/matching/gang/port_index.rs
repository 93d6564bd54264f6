//! Index of the offers' ports: answers which of them may dock at a port (thesis 5.4.2).
//!
//! Every port of every offer is a row, in input order. Columns hold the attributes of the rows; further columns hold
//! the bounds that rows demand of attributes of the port at which they dock.
//!
//! Answers are supersets: they may contain rows that do not fit, never miss one that does. Candidates are confirmed by
//! evaluation unless [`Settled`] says that the index has proved the constraint.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{BinaryOperator, Dialect, Expression, Group, Kind, Name, Participant, Value};
use crate::constraint::{is_plain, stands_for_an_ad};
use crate::eval::{Context, Evaluator, Resolution};
use crate::pool::{Cell, Column, Key, Partition};
use crate::protocol::is_met;

use super::cached_column::Lookup;
use super::decisions::Settled;
use super::participants::{PortPlace, Table};
use super::symbolic::{Form, Translation};
use super::window_query::{Condition, Test, Window};

/// A set of rows, as a bitmap.
pub type Rows = FixedBitSet;

/// The index of the ports of all offers.
pub struct Links {
    /// Port of each row.
    places: Vec<PortPlace>,
    /// Range of rows of each offer, by 0-based index of the offer.
    rows_of: Vec<Range<usize>>,
    /// Rows of offers that are not used up.
    unused: Rows,
    /// Unused rows that have a constraint: a port without one accepts nobody.
    free: Rows,
    /// Rows that have a rank.
    ranking: Rows,
    /// Rows whose ads have changed since the columns were built. They are selected always and checked by evaluation.
    changed: Rows,
    /// Bounds that rows demand, one entry per attribute expression and operator.
    imported: Vec<Imported>,
    /// Names of all attributes that the rows show, computed on first use.
    names: OnceCell<FxHashSet<Name>>,
    /// Columns of attributes of the rows, built on demand.
    columns: Vec<Lookup>,
    /// Whether some column has a row with a value that only evaluation can tell.
    has_open: bool,
    /// Index into `columns` by the attribute and the steps computed from it.
    numbers: FxHashMap<Translation, usize>,
    /// For each row, the number of its class of equal demands and equal rank. `None` if only evaluation tells its
    /// demands.
    demands: Vec<Option<u32>>,
    /// The last answer to a demand query, with its key.
    demanded: Option<(Demanded, Rc<Rows>)>,
}

/// A column of bounds: what each row demands of one attribute of the port at which it docks.
pub struct Imported {
    /// The attribute, and the steps computed from it, that is bounded.
    pub translation: Translation,
    /// The operator, with the attribute on the left and the bound on the right.
    operator: BinaryOperator,
    /// The operator with its operands exchanged: bound on the left, attribute on the right.
    exchanged: BinaryOperator,
    /// The bound of each row. A row without one accepts any value.
    bounds: Lookup,
}

/// Key of a demand query: which rows satisfy the demands of some row at another port?
#[derive(PartialEq, Eq)]
struct Demanded {
    /// Demand classes of the rows that demand, sorted.
    by: Vec<Option<u32>>,
    /// Pairs of the index of a column of bounds and the index of the column of the bounded values.
    columns: Vec<(usize, usize)>,
}

/// A column of bounds under construction, as pairs of row and bound.
struct Bounds {
    translation: Translation,
    operator: BinaryOperator,
    rows: Vec<(usize, Value)>,
}

impl Links {
    /// Builds the index of the offers of a table at which nothing is docked.
    pub fn new(table: &Table) -> Self {
        let offers = table.offers();
        let (mut places, mut rows_of) = (Vec::new(), Vec::with_capacity(offers));
        for participant in (1..=offers).map(|index| Participant::try_from(index).unwrap_or(Participant::MAX)) {
            let first = places.len();
            places.extend((0..table.ports(participant)).map(|port| PortPlace { participant, port }));
            rows_of.push(first..places.len());
        }
        let mut links = Links {
            unused: all(places.len()),
            free: Rows::with_capacity(places.len()),
            ranking: Rows::with_capacity(places.len()),
            changed: Rows::with_capacity(places.len()),
            places,
            rows_of,
            imported: Vec::new(),
            names: OnceCell::new(),
            columns: Vec::new(),
            has_open: false,
            numbers: FxHashMap::default(),
            demands: Vec::new(),
            demanded: None,
        };
        links.import(table);
        links
    }

    /// Indexes the clauses and ranks of all rows.
    fn import(&mut self, table: &Table) {
        let mut bounds: Vec<Bounds> = Vec::new();
        let mut kinds: FxHashMap<Vec<(usize, Key)>, u32> = FxHashMap::default();
        let mut numbers: FxHashMap<(Translation, BinaryOperator), usize> = FxHashMap::default();
        for (row, place) in self.places.iter().enumerate() {
            let Some(parts) = table.parts(*place) else {
                self.demands.push(None);
                continue;
            };
            self.free.insert(row);
            let mut kind = Some(Vec::with_capacity(parts.len()));
            if let Some(rank) = table.rank_form(*place) {
                self.ranking.insert(row);
                match (rank, &mut kind) {
                    (Form::Known(rank), Some(kind)) => kind.push((RANK, Key::of(&rank))),
                    _ => kind = None,
                }
            }
            for (part, frame) in parts.iter() {
                let imported = match part.bare().kind() {
                    Kind::Binary(operator, left, right) => {
                        demand(*place, *operator, table.form(left, frame), table.form(right, frame))
                    }
                    _ => match table.form(part, frame) {
                        Form::Known(value) if is_met(&value, table.context.dialect) => continue,
                        _ => None,
                    },
                };
                let Some((translation, operator, bound)) = imported else {
                    kind = None;
                    continue;
                };
                let number = *numbers.entry((translation, operator)).or_insert_with_key(|(translation, operator)| {
                    bounds.push(Bounds { translation: translation.clone(), operator: *operator, rows: Vec::new() });
                    bounds.len() - 1
                });
                let rows = &mut bounds[number].rows;
                // A row has one bound per column; a second one is left to evaluation.
                if rows.last().is_some_and(|(last, _)| *last == row) {
                    kind = None;
                    continue;
                }
                if let Some(kind) = &mut kind {
                    kind.push((number, Key::of(&bound)));
                }
                rows.push((row, bound));
            }
            let next = u32::try_from(kinds.len()).unwrap_or(u32::MAX);
            self.demands.push(kind.map(|mut kind| {
                kind.sort_by_key(|(number, _)| *number);
                *kinds.entry(kind).or_insert(next)
            }));
        }
        bounds.sort_by(|left, right| left.translation.attribute.cmp(&right.translation.attribute));
        for Bounds { translation, operator, rows } in bounds {
            let Some(exchanged) = operator.exchanged() else { continue };
            let mut unbounded = all(self.places.len());
            let mut cells = vec![Cell::Absent; self.places.len()];
            for (row, bound) in rows {
                unbounded.set(row, false);
                cells[row] = Cell::Constant(bound);
            }
            self.imported.push(Imported {
                translation,
                operator,
                exchanged,
                bounds: Lookup::new(Column::new(cells), unbounded),
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
    pub fn unused(&self) -> &Rows {
        &self.unused
    }

    /// Returns the names of all attributes that the rows show to what docks there.
    pub fn names(&self, table: &Table) -> &FxHashSet<Name> {
        self.names.get_or_init(|| {
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
    pub fn showing(&self, name: &Name, table: &Table) -> usize {
        let is_shown = |place: &PortPlace| table.attribute(*place, name).is_some();
        self.rows_of.iter().filter(|rows| self.places[(*rows).clone()].iter().any(is_shown)).count()
    }

    /// Removes the rows of an offer that is used up.
    pub fn take(&mut self, participant: Participant) {
        let rows = self.rows_of(participant);
        self.unused.set_range(rows.clone(), false);
        self.free.set_range(rows, false);
    }

    /// Adds the rows of an offer again whose ad was replaced in the meantime.
    pub fn put_back(&mut self, participant: Participant, table: &Table) {
        let rows = self.rows_of(participant);
        if rows.len() == table.ports(participant) {
            for row in rows {
                let place = self.places[row];
                self.unused.insert(row);
                self.changed.insert(row);
                self.free.set(row, table.parts(place).is_some());
                self.ranking.set(row, table.ranks(place));
                self.demands[row] = None;
            }
            // Rebuild the index once its cost is below that of evaluating every changed row for each query.
            let changed = self.changed.count_ones(..);
            if changed * changed <= self.places.len() {
                return;
            }
        }
        let mut renewed = Links::new(table);
        for other in (1..=self.rows_of.len()).filter_map(|other| Participant::try_from(other).ok()) {
            if other != participant && !self.rows_of(other).any(|row| self.unused.contains(row)) {
                renewed.take(other);
            }
        }
        *self = renewed;
    }

    /// Whether one of `rows` has a rank.
    pub fn any_ranks(&self, rows: &Rows) -> bool {
        !self.ranking.is_disjoint(rows)
    }

    /// Whether any row has a rank.
    pub fn ranks(&self) -> bool {
        !self.ranking.is_clear()
    }

    /// Returns the columns of bounds that rows demand.
    pub fn imported(&self) -> &[Imported] {
        &self.imported
    }

    /// Returns the rows that a window query selects (thesis 4.5).
    pub fn answer(&mut self, window: &Window, table: &mut Table) -> Rows {
        let mut found = self.free.clone();
        self.keep(&mut found, window, table);
        found
    }

    /// Removes from `found` the rows that a window query does not select.
    pub fn keep(&mut self, found: &mut Rows, window: &Window, table: &mut Table) {
        if window.never {
            found.clear();
            return;
        }
        // Changed rows stay, since the columns are stale: evaluation decides about them.
        let mut changed = None;
        if !self.changed.is_clear() {
            changed.insert(self.changed.clone()).intersect_with(found);
        }
        for condition in &window.conditions {
            self.restrict(found, condition, table);
        }
        for (number, test) in &window.offered {
            found.intersect_with(self.imported[*number].bounds.select(test, table.context.dialect));
        }
        if let Some(changed) = changed {
            found.union_with(&changed);
        }
    }

    /// Removes from `found` the rows that cannot meet a condition.
    fn restrict(&mut self, found: &mut Rows, condition: &Condition, table: &mut Table) {
        let dialect = table.context.dialect;
        found.intersect_with(self.lookup(&condition.translation, table).select(&condition.test, dialect));
    }

    /// Whether the index holds all demands of a port of an offer.
    pub fn knows_demands(&self, link: PortPlace) -> bool {
        self.demands[self.row(link)].is_some()
    }

    /// Returns the constraints that a window query proves for the rows that it selects.
    pub fn settled(&self, window: &Window) -> Settled {
        Settled { port: self.settle_port(window), links: window.offered.len() == self.imported.len() }
    }

    /// Whether every row that a window query selects is certain to meet the constraint of its port.
    pub fn settle_port(&self, window: &Window) -> bool {
        let is_told = |condition: &Condition| {
            let number = self.numbers.get(&condition.translation);
            number.is_some_and(|number| !self.columns[*number].column().has_open())
        };
        let are_told = !self.has_open || window.conditions.iter().all(is_told);
        window.is_complete && are_told && self.changed.is_clear()
    }

    /// Returns the rows that, docked at the port `at`, satisfy the demands of at least one row of `by` on the port with
    /// the window query `shown`. Only demands on attributes computed from what docks at `at` count.
    pub fn demanded(&mut self, by: &[usize], at: PortPlace, shown: &Window, table: &mut Table) -> Rc<Rows> {
        let passed_on = shown.passed_on.iter().filter(|(_, of, _)| *of == at);
        let columns = passed_on.map(|(number, _, on)| (*number, self.number(on, table))).collect();
        let mut demands: Vec<Option<u32>> = by.iter().map(|row| self.demands[*row]).collect();
        demands.sort_unstable();
        let asked = Demanded { by: demands, columns };
        // Successive requests ask for the same until some class of demands has lost its last row.
        if let Some((known, rows)) = &self.demanded
            && *known == asked
        {
            return Rc::clone(rows);
        }
        let (all, mut some) = (all(self.places.len()), Rows::with_capacity(self.places.len()));
        for row in by {
            let mut found = all.clone();
            for (number, column) in &asked.columns {
                let Imported { operator, bounds, .. } = &self.imported[*number];
                if let Cell::Constant(bound) = bounds.column().cell(*row) {
                    let test = Test::Compares(*operator, bound);
                    found.intersect_with(self.columns[*column].select(&test, table.context.dialect));
                }
            }
            some.union_with(&found);
        }
        let some = Rc::new(some);
        self.demanded = Some((asked, Rc::clone(&some)));
        some
    }

    /// Removes from `found` the rows that reject attributes of the port with the window query `shown`, namely those
    /// computed from `row`, which is docked at the port `at`. Returns whether the columns know all these values; if
    /// not, `found` may be narrowed by some of them.
    pub fn accept(&mut self, found: &mut Rows, shown: &Window, at: PortPlace, row: usize, table: &mut Table) -> bool {
        for (number, _, translation) in shown.passed_on.iter().filter(|(_, of, _)| *of == at) {
            let value = match self.lookup(translation, table).column().cell(row) {
                Cell::Constant(value) => value,
                Cell::Absent => Value::Undefined,
                Cell::Open => return false,
            };
            let imported = &mut self.imported[*number];
            found.intersect_with(imported.bounds.select(&imported.test(value), table.context.dialect));
        }
        true
    }

    /// Returns the rows of used-up offers that a window query selects.
    pub fn answer_used(&mut self, window: &Window, table: &mut Table) -> Rows {
        let mut used = all(self.places.len());
        used.difference_with(&self.unused);
        let free = std::mem::replace(&mut self.free, used);
        let found = self.answer(window, table);
        self.free = free;
        found
    }

    /// Returns the column of a computed attribute, building it on first use.
    fn lookup(&mut self, translation: &Translation, table: &mut Table) -> &mut Lookup {
        let number = self.number(translation, table);
        &mut self.columns[number]
    }

    /// Returns the index of that column in `columns`, building it on first use.
    fn number(&mut self, translation: &Translation, table: &mut Table) -> usize {
        if let Some(number) = self.numbers.get(translation) {
            return *number;
        }
        let column = self.column(translation, table);
        let open = column.open().clone();
        self.has_open |= column.has_open();
        self.columns.push(Lookup::new(column, open));
        self.numbers.insert(translation.clone(), self.columns.len() - 1);
        self.columns.len() - 1
    }

    /// Builds the column of a computed attribute.
    fn column(&self, translation: &Translation, table: &mut Table) -> Column {
        let is_an_ad = stands_for_an_ad(&translation.attribute);
        let cells = self.places.iter().map(|place| {
            let cell = match table.attribute(*place, &translation.attribute).map(Expression::kind) {
                Some(Kind::Literal(value)) if is_plain(value, table.context.dialect) && !is_an_ad => {
                    Cell::Constant(value.clone())
                }
                None if table.context.dialect == Dialect::Classad && !is_an_ad => Cell::Absent,
                // Undock the participant for the evaluation: the column must hold whatever is docked.
                _ => table.alone(place.participant, |table| cell(table, *place, &translation.attribute)),
            };
            match cell {
                cell if translation.is_identity() => cell,
                Cell::Constant(value) => Cell::Constant(translation.apply(value, &table.context)),
                Cell::Absent => Cell::Constant(translation.apply(Value::Undefined, &table.context)),
                Cell::Open => Cell::Open,
            }
        });
        Column::new(cells)
    }

    /// Partitions rows by their indexed demands. Rows with a demand that is not indexed are in no class.
    pub fn demanding(&self) -> Partition {
        let mut alike = Partition::new(self.places.len());
        alike.split(self.kinds(), |row| self.demands[row]);
        alike
    }

    /// Returns the number of demand classes.
    fn kinds(&self) -> usize {
        self.demands.iter().flatten().max().map_or(0, |most| *most as usize + 1)
    }

    /// Partitions rows by the values of these attributes and by their demands, leaving out rows of offers with ports of
    /// their own. Rows equivalent to no other are in no class. Without `names` all rows are in no class.
    pub fn alike<'n>(&mut self, names: Option<impl Iterator<Item = &'n Name>>, table: &mut Table) -> Partition {
        let mut alike = Partition::new(self.places.len());
        alike.split(self.kinds(), |row| {
            let alone = table.ports(self.places[row].participant) == 1;
            self.demands[row].filter(|_| alone && names.is_some())
        });
        for name in names.into_iter().flatten() {
            // Skip names that no row shows: most names that a request mentions are attributes of the request itself.
            let is_its_own = table.context.dialect == Dialect::Classad && !self.names(table).contains(name);
            if is_its_own && !stands_for_an_ad(name) {
                continue;
            }
            let column = self.lookup(&Translation::identity(name), table).column();
            alike.split(column.codes(), |row| (!column.is_open(row)).then(|| column.code(row)));
        }
        alike
    }
}

impl Imported {
    /// Returns the test that the bounds must pass for rows to accept a value.
    pub fn test(&self, value: Value) -> Test {
        Test::Compares(self.exchanged, value)
    }
}

/// Returns the set of all rows of an index with `rows` rows.
fn all(rows: usize) -> Rows {
    let mut all = Rows::with_capacity(rows);
    all.insert_range(..);
    all
}

/// Number of the rank among the demands of a row, where other demands have the index of their column of bounds.
const RANK: usize = usize::MAX;

/// Returns a clause of the row `place` as a bound on one attribute of what docks there. `None` if it has another form.
fn demand(
    place: PortPlace,
    operator: BinaryOperator,
    left: Form,
    right: Form,
) -> Option<(Translation, BinaryOperator, Value)> {
    if !matches!(operator.group(), Group::Comparison | Group::Identity) {
        return None;
    }
    match (left, right) {
        (Form::Of(of, translation), Form::Known(bound)) if of == place => Some((translation, operator, bound)),
        (Form::Known(bound), Form::Of(of, translation)) if of == place => {
            Some((translation, operator.exchanged()?, bound))
        }
        _ => None,
    }
}

/// Returns the cell of an attribute of a row: `Open` if it depends on what is docked or is no plain value.
fn cell(table: &Table, place: PortPlace, name: &Name) -> Cell {
    let Some(frame) = table.frame(place) else { return Cell::Absent };
    if stands_for_an_ad(name) {
        return Cell::Open;
    }
    match table.environment.resolve_in(&frame, name, &table.context) {
        Resolution::Missing => Cell::Absent,
        Resolution::Value(_) | Resolution::Unknown => Cell::Open,
        Resolution::Expression(bound, frame) => match bound.kind() {
            Kind::Literal(value) if is_plain(value, table.context.dialect) => Cell::Constant(value.clone()),
            _ => {
                // A random value differs at each evaluation, so it is no constant.
                let context = Context { chance: None, ..table.context.clone() };
                match Evaluator::new(&table.environment, &context).evaluate(&bound, &frame) {
                    Ok(Value::List(_) | Value::Ad(_)) | Err(_) => Cell::Open,
                    Ok(value) => Cell::Constant(value),
                }
            }
        },
    }
}
