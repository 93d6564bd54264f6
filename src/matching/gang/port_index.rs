//! Every port of every offer, as something that may be docked at a port (thesis §5.4.2).
//!
//! The ports are rows, in the order of the input.  What candidates are is looked up in columns; what they demand
//! of the port that they dock at, in columns of bounds.  An answer may hold too much, never too little: each
//! candidate is confirmed by evaluation.

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

/// A set of rows.
pub type Rows = FixedBitSet;

/// The ports of all offers.
pub struct Links {
    places: Vec<PortPlace>,
    rows_of: Vec<Range<usize>>,
    /// Rows of offers that are not used up.
    unused: Rows,
    /// Those that may accept someone.
    free: Rows,
    /// Rows that rank what docks there.
    ranking: Rows,
    /// Rows of which the columns tell what they were: what is left of them is asked by evaluation.
    changed: Rows,
    imported: Vec<Imported>,
    /// The names of all attributes that the rows show to whoever docks there, once they were asked for.
    names: OnceCell<FxHashSet<Name>>,
    columns: Vec<Lookup>,
    /// Whether one of the columns does not tell what some row has.
    has_open: bool,
    /// Which of the columns is of what.
    numbers: FxHashMap<Translation, usize>,
    /// For each row the number of what it demands, and how it ranks: alike where the numbers are equal.  None where
    /// only evaluation tells.
    demands: Vec<Option<u32>>,
    /// The last answer to what rows demand at another port.
    demanded: Option<(Demanded, Rc<Rows>)>,
}

/// Bounds that candidates have on what one attribute of a port comes to.
pub struct Imported {
    pub translation: Translation,
    operator: BinaryOperator,
    /// The operator turned round: how the bounds compare with the value.
    exchanged: BinaryOperator,
    /// The bounds of the rows; without one a row accepts any value.
    bounds: Lookup,
}

/// What some rows demand at another port than that at which they dock.
#[derive(PartialEq, Eq)]
struct Demanded {
    /// The numbers of what they demand.
    by: Vec<Option<u32>>,
    /// For each kind of bounds the column on which they are.
    columns: Vec<(usize, usize)>,
}

/// The bounds of one kind while they are collected, by row.
struct Bounds {
    translation: Translation,
    operator: BinaryOperator,
    rows: Vec<(usize, Value)>,
}

impl Links {
    /// The ports of the offers at a table, at which nothing is docked.
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

    /// Takes the constraints of all rows apart.
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
                // A second bound of the same kind is left to evaluation.
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

    /// The port that a row is.
    pub fn place(&self, row: usize) -> PortPlace {
        self.places[row]
    }

    /// The rows of an offer.
    pub fn rows_of(&self, participant: Participant) -> Range<usize> {
        self.rows_of[participant as usize - 1].clone()
    }

    /// The row that a port is.
    pub fn row(&self, place: PortPlace) -> usize {
        self.rows_of(place.participant).start + place.port
    }

    /// The rows of offers that are not used up.
    pub fn unused(&self) -> &Rows {
        &self.unused
    }

    /// The names of all attributes that the rows show to whoever docks there.
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

    /// How many offers show an attribute of this name.
    pub fn showing(&self, name: &Name, table: &Table) -> usize {
        let is_shown = |place: &PortPlace| table.attribute(*place, name).is_some();
        self.rows_of.iter().filter(|rows| self.places[(*rows).clone()].iter().any(is_shown)).count()
    }

    /// Takes the rows of an offer away.
    pub fn take(&mut self, participant: Participant) {
        let rows = self.rows_of(participant);
        self.unused.set_range(rows.clone(), false);
        self.free.set_range(rows, false);
    }

    /// Gives the rows of an offer back, whose ad is another one by now.
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
            // Columns are made anew when it costs less than to try each changed row.
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

    /// Whether one of these rows ranks what docks there.
    pub fn any_ranks(&self, rows: &Rows) -> bool {
        !self.ranking.is_disjoint(rows)
    }

    /// Whether any row ranks what docks there.
    pub fn ranks(&self) -> bool {
        !self.ranking.is_clear()
    }

    /// What the rows demand of the ports that they dock at.
    pub fn imported(&self) -> &[Imported] {
        &self.imported
    }

    /// The rows that a window lets in (thesis §4.5).
    pub fn answer(&mut self, window: &Window, table: &mut Table) -> Rows {
        let mut found = self.free.clone();
        self.keep(&mut found, window, table);
        found
    }

    /// Keeps the rows that a window lets in.
    pub fn keep(&mut self, found: &mut Rows, window: &Window, table: &mut Table) {
        if window.never {
            found.clear();
            return;
        }
        // What is left of a changed row is asked by evaluation.
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

    /// Keeps the rows that may meet a condition.
    fn restrict(&mut self, found: &mut Rows, condition: &Condition, table: &mut Table) {
        let dialect = table.context.dialect;
        found.intersect_with(self.lookup(&condition.translation, table).select(&condition.test, dialect));
    }

    /// Whether it is known all that a port of an offer demands.
    pub fn knows_demands(&self, link: PortPlace) -> bool {
        self.demands[self.row(link)].is_some()
    }

    /// Which constraints a window settles for the rows that it has let in.
    pub fn settled(&self, window: &Window) -> Settled {
        Settled { port: self.settle_port(window), links: window.offered.len() == self.imported.len() }
    }

    /// Whether the constraint of a port is met by all rows that its window has let in.
    pub fn settle_port(&self, window: &Window) -> bool {
        let is_told = |condition: &Condition| {
            let number = self.numbers.get(&condition.translation);
            number.is_some_and(|number| !self.columns[*number].column().has_open())
        };
        let are_told = !self.has_open || window.conditions.iter().all(is_told);
        window.is_complete && are_told && self.changed.is_clear()
    }

    /// The rows that some of other rows demand at a port, by what they demand of the port whose window this is.
    pub fn demanded(&mut self, by: &[usize], at: PortPlace, shown: &Window, table: &mut Table) -> Rc<Rows> {
        let passed_on = shown.passed_on.iter().filter(|(_, of, _)| *of == at);
        let columns = passed_on.map(|(number, _, on)| (*number, self.number(on, table))).collect();
        let mut demands: Vec<Option<u32>> = by.iter().map(|row| self.demands[*row]).collect();
        demands.sort_unstable();
        let asked = Demanded { by: demands, columns };
        // One request after the other asks for the same, as long as no demand has lost its last row.
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

    /// Keeps the rows that accept what a port shows, which is computed from what a row is that is docked at another
    /// port; whether that is known.
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

    /// The rows that a window lets in of the offers that are used up.
    pub fn answer_used(&mut self, window: &Window, table: &mut Table) -> Rows {
        let mut used = all(self.places.len());
        used.difference_with(&self.unused);
        let free = std::mem::replace(&mut self.free, used);
        let found = self.answer(window, table);
        self.free = free;
        found
    }

    /// The column of what an attribute of the rows comes to.
    fn lookup(&mut self, translation: &Translation, table: &mut Table) -> &mut Lookup {
        let number = self.number(translation, table);
        &mut self.columns[number]
    }

    /// The number of that column, which is made if there is none.
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

    fn column(&self, translation: &Translation, table: &mut Table) -> Column {
        let is_an_ad = stands_for_an_ad(&translation.attribute);
        let cells = self.places.iter().map(|place| {
            let cell = match table.attribute(*place, &translation.attribute).map(Expression::kind) {
                Some(Kind::Literal(value)) if is_plain(value, table.context.dialect) && !is_an_ad => {
                    Cell::Constant(value.clone())
                }
                None if table.context.dialect == Dialect::Classad && !is_an_ad => Cell::Absent,
                // Whatever is docked there now may be undocked again.
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

    /// Rows that demand the same; one of which only evaluation tells what it demands is in no group.
    pub fn demanding(&self) -> Partition {
        let mut alike = Partition::new(self.places.len());
        alike.split(self.kinds(), |row| self.demands[row]);
        alike
    }

    /// How many numbers there are of what rows demand.
    fn kinds(&self) -> usize {
        self.demands.iter().flatten().max().map_or(0, |most| *most as usize + 1)
    }

    /// Rows that have the same values of these attributes, demand the same, and have no ports of their own.  A row
    /// that is like no other is in no group; without names, none is.
    pub fn alike<'n>(&mut self, names: Option<impl Iterator<Item = &'n Name>>, table: &mut Table) -> Partition {
        let mut alike = Partition::new(self.places.len());
        alike.split(self.kinds(), |row| {
            let alone = table.ports(self.places[row].participant) == 1;
            self.demands[row].filter(|_| alone && names.is_some())
        });
        for name in names.into_iter().flatten() {
            // Most of what a request mentions is its own.
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
    /// What the bounds must be for a value.
    pub fn test(&self, value: Value) -> Test {
        Test::Compares(self.exchanged, value)
    }
}

/// So many rows, all of them.
fn all(rows: usize) -> Rows {
    let mut all = Rows::with_capacity(rows);
    all.insert_range(..);
    all
}

/// The number of a rank among what rows demand.
const RANK: usize = usize::MAX;

/// What a part of the constraint of a row demands of the port that it docks at, if it is a bound on one value.
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

/// What an attribute of a row is, whatever is docked at its ports.
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
                // What is drawn anew each time is no constant.
                let context = Context { chance: None, ..table.context.clone() };
                match Evaluator::new(&table.environment, &context).evaluate(&bound, &frame) {
                    Ok(Value::List(_) | Value::Ad(_)) | Err(_) => Cell::Open,
                    Ok(value) => Cell::Constant(value),
                }
            }
        },
    }
}
