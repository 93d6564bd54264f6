//! Looking ahead: what may still dock at the ports that are open, kept consistent with what is docked, with one
//! another, and with the number of offers (thesis §6.2.2 names what this takes).

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Name, Participant};
use crate::eval::Mentions;
use crate::pool::Partition;

use super::links::Rows;
use super::search::{Gangmatcher, Level, Levels, Search, State};
use super::table::{PortPlace, Table};
use super::window::Window;

/// What is known for looking ahead.
#[derive(Default)]
pub struct Ahead {
    /// Whether this search looks ahead.
    pub is_looking: bool,
    /// Whether it should have.
    pub is_due: bool,
    /// The first candidate of the first port, before other ports were considered.
    pub first: Option<usize>,
    buckets: Option<Rc<Partition>>,
    /// For each port of the request the others that have to do with it, itself included.
    tied: Option<Rc<[Rows]>>,
}

/// The distinct candidates of a port, if they are no more than this, narrow other ports.
const MOST_RECTANGLES: usize = 64;

impl Ahead {
    /// For a search that looks ahead, or that does not.
    pub fn new(is_looking: bool) -> Self {
        Ahead { is_looking, ..Ahead::default() }
    }
}

impl Search<'_> {
    /// Rows that nothing tells apart: the seated request reads the same in them, and so may other offers.
    pub(super) fn buckets(&mut self) -> Rc<Partition> {
        if let Some(buckets) = &self.ahead.buckets {
            return Rc::clone(buckets);
        }
        let buckets = self.matcher.buckets();
        self.ahead.buckets = Some(Rc::clone(&buckets));
        buckets
    }

    /// The first of the rows of each bucket; no more than this many.
    pub(super) fn representatives(&mut self, rows: &Rows, most: usize) -> Vec<usize> {
        let buckets = self.buckets();
        let mut met = FxHashSet::default();
        let distinct = rows.ones().filter(|row| buckets.group(*row).is_none_or(|bucket| met.insert(bucket)));
        distinct.take(most).collect()
    }

    /// Looks up what may dock at the ports of an ad that joins the gang: from right to left, since later ports
    /// refer to earlier ones.
    pub(super) fn look_around(
        &mut self,
        state: &mut State,
        participant: Participant,
        ports: &[usize],
    ) -> Result<(), Levels> {
        let mut domains: Vec<(PortPlace, Rc<Rows>)> = state.domains.to_vec();
        for port in ports.iter().rev() {
            let place = PortPlace { participant, port: *port };
            let rows = self.probe(place, &state.waiting);
            if participant == 0 && Some(port) == ports.first() {
                self.ahead.first = rows.ones().next();
            }
            let rows = self.narrowed(place, rows, &state.waiting, &domains);
            self.must_be_possible(place, &rows)?;
            domains.push((place, Rc::new(rows)));
        }
        self.must_all_be_possible(&domains)?;
        state.domains = domains.into();
        Ok(())
    }

    /// Looks up anew what may dock at open ports, now that something is docked at one.
    pub(super) fn look_ahead(&mut self, state: &mut State, docked: PortPlace) -> Result<(), Levels> {
        let mut domains: Vec<(PortPlace, Rc<Rows>)> = state.domains.to_vec();
        domains.retain(|(place, _)| *place != docked);
        for index in 0..domains.len() {
            let place = domains[index].0;
            if place.participant != docked.participant || self.are_tied(place, docked) {
                let mut rows = self.probe(place, &state.waiting);
                rows.intersect_with(&domains[index].1);
                let rows = self.narrowed(place, rows, &state.waiting, &domains);
                domains[index].1 = Rc::new(rows);
            }
            let rows = Rc::clone(&domains[index].1);
            self.must_be_possible(place, &rows)?;
        }
        self.must_all_be_possible(&domains)?;
        state.domains = domains.into();
        Ok(())
    }

    /// The rows of a port that go with some candidate of each other port of the same ad that has few distinct ones:
    /// these are rectangles of one window.
    fn narrowed(
        &mut self,
        place: PortPlace,
        mut rows: Rows,
        waiting: &[PortPlace],
        domains: &[(PortPlace, Rc<Rows>)],
    ) -> Rows {
        for (other, candidates) in domains {
            if *other == place || other.participant != place.participant || !self.are_tied(*other, place) {
                continue;
            }
            let distinct = self.representatives(candidates, MOST_RECTANGLES + 1);
            if distinct.len() > MOST_RECTANGLES {
                continue;
            }
            let Gangmatcher { table, links, .. } = &mut *self.matcher;
            let mut together = Rows::with_capacity(rows.len());
            for row in distinct {
                let link = links.place(row);
                let waiting: Vec<PortPlace> = waiting.iter().copied().chain([*other, link]).collect();
                let answer = table.suppose(*other, link, |table| {
                    let window = Window::of(place, &waiting, table, links);
                    links.answer(&window, table)
                });
                together.union_with(&answer);
            }
            rows.intersect_with(&together);
        }
        rows
    }

    /// Whether a port still has a candidate that is not in the gang.
    fn must_be_possible(&self, place: PortPlace, rows: &Rows) -> Result<(), Levels> {
        let is_free = |row: usize| !self.holders.contains_key(&self.matcher.links.place(row).participant);
        if rows.ones().any(is_free) { Ok(()) } else { Err(self.blamed(&[(place, rows)])) }
    }

    /// Whether there is an offer for each port: six ports may accept the same five (thesis §6.2.2).
    fn must_all_be_possible(&self, domains: &[(PortPlace, Rc<Rows>)]) -> Result<(), Levels> {
        let ports = domains.len();
        // A port with as many candidates as there are ports finds one, whatever the others take.
        let mut scarce: Vec<(usize, Vec<Participant>)> = Vec::new();
        for (index, (_, rows)) in domains.iter().enumerate() {
            let mut offers: Vec<Participant> = Vec::new();
            for row in rows.ones() {
                let offer = self.matcher.links.place(row).participant;
                if offers.last() != Some(&offer) && !self.holders.contains_key(&offer) {
                    offers.push(offer);
                    if offers.len() >= ports {
                        break;
                    }
                }
            }
            if offers.len() < ports {
                scarce.push((index, offers));
            }
        }
        let mut given = Given { offers: vec![None; scarce.len()], ports: FxHashMap::default() };
        for first in 0..scarce.len() {
            if let Some(rivals) = given.give(first, &scarce) {
                let rivals = rivals.into_iter().map(|rival| &domains[scarce[rival].0]);
                let blamed: Vec<(PortPlace, &Rows)> = rivals.map(|(place, rows)| (*place, &**rows)).collect();
                return Err(self.blamed(&blamed));
            }
        }
        Ok(())
    }

    /// The decisions to blame that ports have too few candidates: those that narrowed them, and those that hold
    /// candidates of theirs.
    fn blamed(&self, ports: &[(PortPlace, &Rows)]) -> Levels {
        let mut levels = Levels::with_capacity(self.levels.len());
        for (place, rows) in ports {
            levels.union_with(&self.concerned(*place));
            for (offer, level) in &self.holders {
                if self.matcher.links.rows_of(*offer).any(|row| rows.contains(row)) {
                    levels.grow_and_insert(*level);
                }
            }
        }
        levels
    }

    /// The decisions that have to do with what may dock at a port.
    pub(super) fn concerned(&self, place: PortPlace) -> Levels {
        let mut docked = self.levels.iter().filter_map(Level::docked);
        let is_flat = place.participant == 0 && docked.all(|(_, link)| self.matcher.table.ports(link.participant) == 1);
        if !is_flat || self.ahead.tied.is_none() {
            return self.everything();
        }
        let mut levels = Levels::with_capacity(self.levels.len());
        for (index, level) in self.levels.iter().enumerate() {
            if level.place().is_none_or(|other| self.are_tied_if_known(other, place)) {
                levels.insert(index);
            }
        }
        levels
    }

    fn are_tied_if_known(&self, one: PortPlace, other: PortPlace) -> bool {
        self.ahead.tied.as_ref().is_none_or(|tied| tied.get(one.port).is_none_or(|tied| tied.contains(other.port)))
    }

    /// Whether what docks at one port of an ad may have to do with what docks at another.
    fn are_tied(&mut self, one: PortPlace, other: PortPlace) -> bool {
        if one.participant != 0 {
            return true;
        }
        if self.ahead.tied.is_none() {
            self.ahead.tied = Some(ties(&self.matcher.table).into());
        }
        self.are_tied_if_known(one, other)
    }
}

/// Which ports have been given which offers.
struct Given {
    offers: Vec<Option<Participant>>,
    ports: FxHashMap<Participant, usize>,
}

impl Given {
    /// Gives an offer to a port, others giving up theirs where they can have another (Kuhn's algorithm); if that
    /// cannot be, the ports that compete for too few offers.
    fn give(&mut self, first: usize, wanted: &[(usize, Vec<Participant>)]) -> Option<Vec<usize>> {
        let mut asked_for: FxHashMap<Participant, usize> = FxHashMap::default();
        let mut asking = vec![first];
        let mut next = 0;
        while let Some(port) = asking.get(next).copied() {
            next += 1;
            for offer in &wanted[port].1 {
                if asked_for.contains_key(offer) {
                    continue;
                }
                asked_for.insert(*offer, port);
                if let Some(holder) = self.ports.get(offer) {
                    asking.push(*holder);
                    continue;
                }
                let mut offer = Some(*offer);
                while let Some(free) = offer {
                    let port = asked_for[&free];
                    offer = self.offers[port].replace(free);
                    self.ports.insert(free, port);
                }
                return None;
            }
        }
        Some(asking)
    }
}

/// For each port of the request the others that are tied to it, by the labels that they mention, be it over other
/// ports (thesis §5.5.1: the transitive closure of the dependence relation).
fn ties(table: &Table) -> Vec<Rows> {
    let ports = table.ports(0);
    let mut group: Vec<usize> = (0..ports).collect();
    for port in 0..ports {
        for mentioned in table.labels_mentioned(PortPlace { participant: 0, port }) {
            let (from, to) = (group[mentioned], group[port]);
            group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
        }
    }
    let tied = |port: usize| (0..ports).filter(|other| group[*other] == group[port]).collect();
    (0..ports).map(tied).collect()
}

impl Gangmatcher {
    /// The buckets of rows for the seated request.
    pub(super) fn buckets(&mut self) -> Rc<Partition> {
        let dialect = self.table.context.dialect;
        let mut mentions = Mentions::default();
        let mut read = |ad: &Ad| ad.iter().for_each(|attribute| mentions.add(attribute.expression, dialect));
        read(&self.table.ad(0));
        if self.table.offers_have_ports() {
            self.table.offers_with_ports().for_each(|ad| read(&ad));
        }
        self.table.vector().iter().for_each(|rule| mentions.add_rule(&rule.expression, dialect));
        let mut names: Vec<Name> = mentions.names.iter().cloned().collect();
        names.sort();
        self.links.buckets((!mentions.is_opaque()).then_some(names), &mut self.table)
    }
}

impl Level {
    /// The port that is filled; none if the shape of an ad is decided.
    pub fn place(&self) -> Option<PortPlace> {
        match self.choice {
            super::search::Choice::Port { place, .. } => Some(place),
            super::search::Choice::Shape { .. } => None,
        }
    }
}
