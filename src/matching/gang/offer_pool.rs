//! The current request and the offers, with an index and caches that are kept from request to request.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Name, Participant};
use crate::protocol::PortFault;

use super::participants::{ParticipantTable, PortPlace};
use super::port_index::{CandidateClasses, CandidateClassifier, PortIndex, RowBitmap, SettledConstraints, WindowQuery};

/// The participants, the index of the offers' ports, and caches of values computed from them.
///
/// Cached values do not depend on what is docked. [`OfferPool::seat`] clears the caches that depend on the request.
/// [`OfferPool::offer_remainder`] clears the caches that depend on the offers.
pub struct OfferPool {
    /// The request and the offers, with the current dockings. Callers may dock and evaluate in the table. They must not
    /// replace ads, because only the pool also updates the index and the caches.
    pub table: ParticipantTable,
    /// The index of the offers' ports.
    pub index: PortIndex,
    classifier: CandidateClassifier,
    /// Classes of rows that no request so far can tell apart. `None` until computed for the current request.
    classes: Option<Rc<CandidateClasses>>,
    /// Classes of rows that no constraint can tell apart. `None` until computed for the current request.
    feasibility_classes: Option<Rc<CandidateClasses>>,
    /// Window query of each port of the current request with nothing docked, by port index. `None` until computed.
    initial_queries: Vec<Option<Rc<WindowQuery>>>,
    /// Window queries that select no unused offer. An entry stays valid until a remainder is offered, because until
    /// then offers are only used up.
    exhausted_queries: FxHashSet<Rc<WindowQuery>>,
    /// 1-based part number of each offer that has been replaced by a remainder. The first remainder is part 2.
    part_numbers: FxHashMap<Participant, usize>,
}

impl OfferPool {
    /// Returns the pool of a table's offers and builds their index. Precondition: nothing is docked in `table`.
    pub fn new(table: ParticipantTable) -> Self {
        OfferPool {
            index: PortIndex::new(&table),
            table,
            classifier: CandidateClassifier::default(),
            classes: None,
            feasibility_classes: None,
            initial_queries: Vec::new(),
            exhausted_queries: FxHashSet::default(),
            part_numbers: FxHashMap::default(),
        }
    }

    /// Replaces the current request, the participant [`Participant::REQUEST`], by `request`.
    ///
    /// # Errors
    ///
    /// When the ports of `request` cannot be used. The former request then stays.
    pub fn seat(&mut self, request: &Ad) -> Result<(), PortFault> {
        self.table.replace(Participant::REQUEST, request)?;
        self.table.non_numeric_ranks.retain(|place, _| !place.participant.is_request());
        self.classes = None;
        self.feasibility_classes = None;
        self.initial_queries.clear();
        self.initial_queries.resize(self.table.port_count(Participant::REQUEST), None);
        Ok(())
    }

    /// Replaces the ad of a used-up offer by its remainder and makes the offer available again. The part number of the
    /// offer rises by one: the first remainder is part 2.
    ///
    /// # Errors
    ///
    /// When the ports of the remainder cannot be used. The offer then stays used up.
    pub fn offer_remainder(&mut self, offer: Participant, remainder: &Ad) -> Result<(), PortFault> {
        self.table.replace(offer, remainder)?;
        self.index.reinsert(offer, &self.table);
        self.classifier.invalidate();
        self.classes = None;
        self.feasibility_classes = None;
        self.exhausted_queries.clear();
        *self.part_numbers.entry(offer).or_insert(1) += 1;
        Ok(())
    }

    /// Returns the 1-based part number of an offer: 1 is the whole offer, each remainder counts one more.
    pub fn part_number(&self, offer: Participant) -> usize {
        self.part_numbers.get(&offer).copied().unwrap_or(1)
    }

    /// Iterates over the 0-based indices of the unused offers.
    pub fn unused_offers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.table.offer_count()).filter(|offer| self.index.is_unused(Participant::of_offer(*offer)))
    }

    /// Whether all ports of the request are mandatory. The cached window queries are valid only then, because an
    /// unfilled port would change the queries.
    fn has_fixed_ports(&self) -> bool {
        self.table.patterns(Participant::REQUEST).is_none()
    }

    /// Returns the window query of a port of the current request with nothing docked, and caches the query.
    /// Precondition: all ports of the request are mandatory. An unfilled port would change the query.
    fn initial_query(&mut self, port: usize) -> Rc<WindowQuery> {
        let (table, index) = (&self.table, &self.index);
        let query = || Rc::new(WindowQuery::of(PortPlace::of_request(port), &[], table, index));
        Rc::clone(self.initial_queries[port].get_or_insert_with(query))
    }

    /// Returns the cached window query of a port with nothing docked. `None` if the query has not been computed, the
    /// port belongs to an offer, or the request has optional ports.
    pub fn known_initial_query(&self, place: PortPlace) -> Option<Rc<WindowQuery>> {
        if self.has_initial_query(place) { self.initial_queries[place.port].clone() } else { None }
    }

    /// Whether the cached window query of a port may be used while nothing is docked. True if the port belongs to the
    /// request and all ports of the request are mandatory.
    pub fn has_initial_query(&self, place: PortPlace) -> bool {
        place.participant.is_request() && self.has_fixed_ports()
    }

    /// Runs a window query. Returns the rows that may dock at a port, and the constraints that the index has proved.
    /// `is_initial` says whether nothing is docked.
    pub fn probe(
        &mut self,
        place: PortPlace,
        undecided: &[PortPlace],
        is_initial: bool,
    ) -> (RowBitmap, SettledConstraints) {
        self.table.statistics.probes += 1;
        let query = if is_initial && self.has_initial_query(place) {
            self.initial_query(place.port)
        } else {
            Rc::new(WindowQuery::of(place, undecided, &self.table, &self.index))
        };
        let rows = self.index.select(&query, &mut self.table);
        (rows, self.index.settled_constraints(&query))
    }

    /// Returns the rows that the index admits at a port of the request, as if nothing were docked at the request.
    pub fn probe_independent(&mut self, place: PortPlace) -> RowBitmap {
        self.table.statistics.probes += 1;
        let index = &mut self.index;
        self.table.with_undocked(Participant::REQUEST, |table| {
            let query = WindowQuery::of(place, &[], table, index);
            index.select(&query, table)
        })
    }

    /// Records that no unused offer fits a port of the request while nothing is docked. Later requests with the same
    /// window query then fail at once.
    pub fn mark_exhausted(&mut self, place: PortPlace) {
        if self.has_initial_query(place) {
            let query = self.initial_query(place.port);
            self.exhausted_queries.insert(query);
        }
    }

    /// Whether the window query of some port of the request is known to select no unused offer.
    pub fn has_exhausted_port(&mut self) -> bool {
        !self.exhausted_queries.is_empty()
            && self.has_fixed_ports()
            && (0..self.table.port_count(Participant::REQUEST)).rev().any(|port| {
                let query = self.initial_query(port);
                self.exhausted_queries.contains(&query)
            })
    }

    /// Returns the rows that leave a candidate for the port `other` when docked at the port `place`: at least one row
    /// of `candidates` then still accepts `other`.
    ///
    /// Tests only attributes that `other` computes from the row at `place`: `Memory = cpu.Memory - 128`, for example.
    /// The result comes from the index alone and is correct only if nothing is docked. `None` if the index cannot
    /// decide, or if the rows of `candidates` form more than `most` classes with equal demands.
    pub fn rows_demanded_by(
        &mut self,
        place: PortPlace,
        other: PortPlace,
        candidates: &RowBitmap,
        most: usize,
    ) -> Option<Rc<RowBitmap>> {
        let shown = self.initial_query(other.port);
        if !shown.shows_all(&self.index) || !self.index.settles_port(&shown) {
            return None;
        }
        let demanding = self.classifier.demand_classes(&self.index);
        let distinct = demanding.representatives(candidates, most + 1);
        if distinct.len() > most || distinct.iter().any(|row| demanding.class_of(*row).is_none()) {
            return None;
        }
        Some(self.index.rows_demanded_by(&distinct, place, &shown, &mut self.table))
    }

    /// Returns the classes of rows that neither the current request nor an earlier request can tell apart.
    pub fn candidate_classes(&mut self) -> Rc<CandidateClasses> {
        let (classifier, table, index) = (&mut self.classifier, &mut self.table, &mut self.index);
        Rc::clone(self.classes.get_or_insert_with(|| classifier.candidate_classes(index, table)))
    }

    /// Returns the classes of rows that no constraint can tell apart: if a row fits no gang, no other row of its class
    /// does. Rows of a class may differ in rank.
    pub fn feasibility_classes(&mut self) -> Rc<CandidateClasses> {
        let (classifier, table, index) = (&mut self.classifier, &mut self.table, &mut self.index);
        Rc::clone(self.feasibility_classes.get_or_insert_with(|| classifier.feasibility_classes(index, table)))
    }

    /// Whether some offer may read the attribute `name` of the port at which it docks, in a constraint or in what it
    /// shows to others.
    pub fn is_demanded(&mut self, name: &Name) -> bool {
        self.classifier.is_demanded(name, &self.index, &self.table)
    }

    /// Whether the candidates `rows` of a port may differ in score, so that they must be sorted.
    pub fn is_ranked(&self, place: PortPlace, rows: &RowBitmap) -> bool {
        !self.table.docking_vector.is_empty() || self.table.has_rank(place) || !self.index.ranking.is_disjoint(rows)
    }

    /// Whether the offers have no preferences: there is no docking vector, no offer has a rank, and no offer has
    /// optional ports.
    pub fn offers_have_no_preference(&self) -> bool {
        self.table.docking_vector.is_empty() && self.index.ranking.is_clear() && !self.table.offers_have_patterns
    }
}
