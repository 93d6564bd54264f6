//! Index of the offers' ports: answers which offers may dock at a port (thesis 5.4.2).
//!
//! Every port of every offer is a row, in input order. Some columns hold attributes of the rows. Other columns hold
//! bounds: what a row demands of the port at which the row docks, such as `other.Size <= 45`.
//!
//! An answer may contain rows that do not fit, but never misses a row that fits. Candidates are therefore confirmed by
//! evaluation, unless [`SettledConstraints`] says that the index has proved the constraint.

mod candidate_classes;
mod distinct_values;
mod link_demands;
mod row_bitmap;
mod row_columns;
mod window_query;

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

use crate::ad::{Dialect, Name, Participant, Value};
use crate::constraint::is_scope_name;
use crate::pool::Partition;

use super::participants::{AttributeTranslation, ParticipantTable, PortPlace, WindowCondition};
use link_demands::LinkDemands;
use row_columns::{RowColumns, rows_passing};

pub use candidate_classes::{CandidateClasses, CandidateClassifier};
pub use distinct_values::{DistinctValue, Distinction};
pub use row_bitmap::{all_rows, first_row_from};
pub use window_query::WindowQuery;

/// A set of rows, as a bitmap.
pub type RowBitmap = FixedBitSet;

/// The constraints that the index has proved for all candidates of a port, so that they need no evaluation.
#[derive(Clone, Copy, Default)]
pub struct SettledConstraints {
    /// Whether the constraint of the port is proved.
    pub port_constraint: bool,
    /// Whether the constraints of the candidates are proved. Applies only to candidates whose demands are fully
    /// indexed.
    pub link_constraints: bool,
}

impl SettledConstraints {
    /// Combines the constraints that two selections of rows have proved. The result holds for the rows in both selections.
    pub fn merge(self, other: SettledConstraints) -> Self {
        SettledConstraints {
            port_constraint: self.port_constraint || other.port_constraint,
            link_constraints: self.link_constraints || other.link_constraints,
        }
    }
}

/// The index of the ports of all offers.
pub struct PortIndex {
    /// The port that each row stands for.
    places: Vec<PortPlace>,
    /// Range of rows of each offer, by 0-based index of the offer.
    rows_of: Vec<Range<usize>>,
    /// Rows of the unused offers.
    unused: RowBitmap,
    /// Unused rows that have a constraint. A port without a constraint accepts nobody.
    eligible: RowBitmap,
    /// Rows that have a constraint and a rank. Its capacity ends at the last such row, so that it costs nothing if no
    /// offer has a rank.
    pub ranking: RowBitmap,
    /// Rows whose ads have changed since the columns were built. The columns are wrong for these rows. The rows are
    /// therefore always selected and left to evaluation. The capacity ends at the last such row.
    changed: RowBitmap,
    /// Columns of bounds: what each row demands of the port at which the row docks, such as `other.Size <= 45`.
    demands: LinkDemands,
    /// Columns of attributes of the rows.
    columns: RowColumns,
    /// Names of all attributes that the rows show, computed on first use.
    attribute_names: OnceCell<FxHashSet<Name>>,
    /// Key and result of the last call of [`PortIndex::rows_demanded_by`].
    last_demand: Option<(LinkDemandKey, Rc<RowBitmap>)>,
}

/// Key of a call of [`PortIndex::rows_demanded_by`]. Calls with equal keys have equal results.
#[derive(PartialEq, Eq)]
struct LinkDemandKey {
    /// Classes of the rows whose demands are to be satisfied, sorted: see [`LinkDemands::class_of`].
    demand_classes: Vec<Option<u32>>,
    /// Pairs of column indices. The first is the column of bounds, the second is the column of the bounded values.
    columns: Vec<(usize, usize)>,
}

impl PortIndex {
    /// Builds the index of the offers of a table. Precondition: nothing is docked in `table`.
    pub fn new(table: &ParticipantTable) -> Self {
        let (mut places, mut rows_of) = (Vec::new(), Vec::new());
        for offer in 0..table.offer_count() {
            let first = places.len();
            places.extend(table.ports(Participant::of_offer(offer)));
            rows_of.push(first..places.len());
        }
        let none = RowBitmap::with_capacity(places.len());
        let mut index = PortIndex {
            unused: all_rows(places.len()),
            eligible: none,
            ranking: RowBitmap::new(),
            changed: RowBitmap::new(),
            demands: LinkDemands::new(&places, table),
            columns: RowColumns::default(),
            places,
            rows_of,
            attribute_names: OnceCell::new(),
            last_demand: None,
        };
        (0..index.places.len()).for_each(|row| index.read_row(row, table));
        index
    }

    /// Updates `eligible` and `ranking` for a row from the constraint and the rank of its port.
    fn read_row(&mut self, row: usize, table: &ParticipantTable) {
        let has_constraint = table.clauses(self.places[row]).is_some();
        self.eligible.set(row, has_constraint);
        if has_constraint && table.has_rank(self.places[row]) {
            self.ranking.grow_and_insert(row);
        } else if self.ranking.contains(row) {
            self.ranking.remove(row);
        }
    }

    /// Returns the port of a row.
    pub fn place(&self, row: usize) -> PortPlace {
        self.places[row]
    }

    /// Returns the range of rows of an offer.
    pub fn rows_of(&self, participant: Participant) -> Range<usize> {
        self.rows_of[participant.offer()].clone()
    }

    /// Returns the row of a port of an offer.
    pub fn row(&self, place: PortPlace) -> usize {
        self.rows_of(place.participant).start + place.port
    }

    /// Returns the rows of the unused offers.
    pub fn unused(&self) -> &RowBitmap {
        &self.unused
    }

    /// Whether an offer has ports and is not used up.
    pub fn is_unused(&self, participant: Participant) -> bool {
        self.rows_of(participant).any(|row| self.unused.contains(row))
    }

    /// Returns the distinct offers that `rows` belong to, in input order.
    pub fn offers_of(&self, rows: &RowBitmap) -> Vec<Participant> {
        let mut offers: Vec<Participant> = rows.ones().map(|row| self.places[row].participant).collect();
        offers.dedup();
        offers
    }

    /// Returns the names of all attributes that the rows show to their partners.
    pub fn attribute_names(&self, table: &ParticipantTable) -> &FxHashSet<Name> {
        self.attribute_names.get_or_init(|| {
            let frames = self.places.iter().flat_map(|place| table.frames(*place));
            let mut names = FxHashSet::default();
            for attribute in frames.flat_map(|frame| frame.ad.iter()) {
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

    /// Marks an offer as used up: [`PortIndex::select`] no longer returns its rows.
    pub fn remove(&mut self, participant: Participant) {
        let rows = self.rows_of(participant);
        self.unused.set_range(rows.clone(), false);
        self.eligible.set_range(rows, false);
    }

    /// Makes the rows of an offer available again, after the ad of the offer was replaced. Rebuilds the whole index if
    /// the number of ports has changed or too many rows have changed.
    pub fn reinsert(&mut self, participant: Participant, table: &ParticipantTable) {
        let rows = self.rows_of(participant);
        if rows.len() == table.port_count(participant) {
            for row in rows {
                self.unused.insert(row);
                self.changed.grow_and_insert(row);
                self.read_row(row, table);
                // Drop the classes of the row, which stand for the demands of the former ad.
                self.demands.class_of[row] = None;
                self.demands.unranked_class_of[row] = None;
            }
            // Drop the cached names, because the new ad may show further attributes.
            self.attribute_names.take();
            // Rebuild the index if more rows have changed than the square root of the number of all rows. Evaluating
            // the changed rows for each query then costs more than rebuilding.
            let changed = self.changed.count_ones(..);
            if changed * changed <= self.places.len() {
                return;
            }
        }
        let mut renewed = PortIndex::new(table);
        for other in (0..self.rows_of.len()).map(Participant::of_offer) {
            if other != participant && !self.is_unused(other) {
                renewed.remove(other);
            }
        }
        *self = renewed;
    }

    /// Returns the unused rows that a window query selects (thesis 4.5). Leaves out rows without a constraint.
    pub fn select(&mut self, window: &WindowQuery, table: &mut ParticipantTable) -> RowBitmap {
        let mut rows = self.eligible.clone();
        self.retain(&mut rows, window, table);
        rows
    }

    /// Returns the number of columns of bounds. Demands that differ only in their bounds share a column:
    /// `other.Size <= 45` and `other.Size <= 60`, for example.
    pub fn bound_count(&self) -> usize {
        self.demands.bounds.len()
    }

    /// Returns the rows of used-up offers that a window query selects.
    pub fn select_used(&mut self, window: &WindowQuery, table: &mut ParticipantTable) -> RowBitmap {
        let mut used = all_rows(self.places.len());
        used.difference_with(&self.unused);
        self.retain(&mut used, window, table);
        used
    }

    /// Removes from `rows` the rows that a window query does not select.
    pub fn retain(&mut self, rows: &mut RowBitmap, window: &WindowQuery, table: &mut ParticipantTable) {
        if window.is_unsatisfiable {
            rows.clear();
            return;
        }
        // Keep the changed rows: the columns hold values of their former ads, so that only evaluation can decide.
        let changed = (!self.changed.is_clear()).then(|| &self.changed & &*rows);
        for WindowCondition { translation, test } in &window.conditions {
            let column = self.columns.at(translation, &self.places, table);
            rows.intersect_with(&rows_passing(&self.columns.columns[column], test, table.context.dialect));
        }
        for (number, value) in &window.shown {
            self.demands.retain_accepting(rows, *number, &value.0);
        }
        if let Some(changed) = changed {
            rows.union_with(&changed);
        }
    }

    /// Whether the index holds all demands of a port of an offer. Only then can the index prove the constraint of the
    /// port.
    pub fn is_fully_indexed(&self, link: PortPlace) -> bool {
        self.demands.class_of[self.row(link)].is_some()
    }

    /// Returns the constraints that a window query proves for the rows that it selects.
    pub fn settled_constraints(&self, window: &WindowQuery) -> SettledConstraints {
        SettledConstraints {
            port_constraint: self.settles_port(window),
            link_constraints: window.shown.len() == self.bound_count(),
        }
    }

    /// Whether every row that a window query selects is certain to meet the constraint of the queried port.
    pub fn settles_port(&self, window: &WindowQuery) -> bool {
        window.is_complete
            && self.columns.know_all(window.conditions.iter().map(|condition| &condition.translation))
            && self.changed.is_clear()
    }

    /// Returns the rows after whose docking at the port `at` another port keeps a candidate. `by` are the candidates of
    /// the other port, and `shown` is its window query. A candidate is kept if it still accepts the other port.
    ///
    /// Tests only attributes that the other port computes from the row at `at`: `Memory = cpu.Memory - 128`, for
    /// example.
    pub fn rows_demanded_by(
        &mut self,
        by: &[usize],
        at: PortPlace,
        shown: &WindowQuery,
        table: &mut ParticipantTable,
    ) -> Rc<RowBitmap> {
        let computed = shown.computed.iter().filter(|(_, of, _)| *of == at);
        let columns = computed.map(|(number, _, of)| (*number, self.columns.at(of, &self.places, table))).collect();
        let mut demand_classes: Vec<Option<u32>> = by.iter().map(|row| self.demands.class_of[*row]).collect();
        demand_classes.sort_unstable();
        let key = LinkDemandKey { demand_classes, columns };
        // Reuse the last result. Similar requests in succession have equal keys until all offers of a class are used
        // up.
        if let Some((last, rows)) = &self.last_demand
            && *last == key
        {
            return Rc::clone(rows);
        }
        let every_row = all_rows(self.places.len());
        let mut demanded = RowBitmap::with_capacity(self.places.len());
        for row in by {
            let mut rows = every_row.clone();
            for (number, column) in &key.columns {
                if let Some(test) = self.demands.demand_of(*number, *row) {
                    let column = &self.columns.columns[*column];
                    rows.intersect_with(&rows_passing(column, &test, table.context.dialect));
                }
            }
            demanded.union_with(&rows);
        }
        let demanded = Rc::new(demanded);
        self.last_demand = Some((key, Rc::clone(&demanded)));
        demanded
    }

    /// Returns the index of the column that holds the result of `translation` for each row. Builds the column on first
    /// use. The index is valid until a remainder is offered.
    pub fn column(&mut self, translation: &AttributeTranslation, table: &mut ParticipantTable) -> usize {
        self.columns.at(translation, &self.places, table)
    }

    /// Returns the value of a row in a column. `None` if the row must be evaluated: its value depends on what is
    /// docked, or its ad has changed since the column was built.
    pub fn column_value(&self, column: usize, row: usize) -> Option<Value> {
        if self.changed.contains(row) {
            return None;
        }
        self.columns.columns[column].cell(row).value()
    }

    /// Narrows `rows`, the candidates of an open port, after `row` was docked at the port `at`. The open port may
    /// compute attributes from `row`: `Memory = cpu.Memory - 128`, for example. Removes the candidates that reject a
    /// computed attribute. `shown` is the window query of the open port.
    ///
    /// Returns false if the index lacks an attribute of `row` that the open port reads. Then `rows` may still contain
    /// candidates that reject the open port.
    pub fn retain_accepting(
        &mut self,
        rows: &mut RowBitmap,
        shown: &WindowQuery,
        at: PortPlace,
        row: usize,
        table: &mut ParticipantTable,
    ) -> bool {
        for (number, _, translation) in shown.computed.iter().filter(|(_, of, _)| *of == at) {
            let column = self.columns.at(translation, &self.places, table);
            let Some(value) = self.columns.columns[column].cell(row).value() else { return false };
            self.demands.retain_accepting(rows, *number, &value);
        }
        true
    }

    /// Partitions rows into classes with equal demands and equal values of the attributes `names`, and with equal ranks
    /// if `ranks_matter`. A row is in no class if no other row is equivalent, or if its offer has several ports. If
    /// `names` is `None`, there are no classes.
    fn candidate_partition<'n>(
        &mut self,
        names: Option<impl Iterator<Item = &'n Name>>,
        ranks_matter: bool,
        table: &mut ParticipantTable,
    ) -> Partition {
        let is_included = |row: usize| names.is_some() && table.port_count(self.places[row].participant) == 1;
        let mut partition = self.demands.partition(ranks_matter, is_included);
        for name in names.into_iter().flatten() {
            // In the papers' dialect, skip a name that no row shows, because it tells no rows apart. In HTCondor's
            // dialect, such a name may refer to something else than an attribute of the row.
            let is_its_own = table.context.dialect == Dialect::Classad && !self.attribute_names(table).contains(name);
            if is_its_own && !is_scope_name(name) {
                continue;
            }
            let column = self.columns.at(&AttributeTranslation::identity(name), &self.places, table);
            self.columns.columns[column].split(&mut partition);
        }
        partition
    }
}
