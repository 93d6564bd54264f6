//! Forward checking: keeps the candidates of open ports consistent with the docked ports, with one another, and with
//! the number of offers.
//!
//! Thesis 6.2.2 names the problem. Narrowing one port by the candidates of another is arc consistency; a bipartite
//! matching detects ports that compete for too few offers.

use std::cell::OnceCell;
use std::rc::Rc;

use fixedbitset::FixedBitSet;

use crate::ad::Participant;

use super::assignment::Given;
use super::candidate_classes::Alike;
use super::decisions::{Domain, Level, Levels, Settled, State};
use super::matcher::Gangmatcher;
use super::participants::{PortPlace, Table};
use super::port_index::Rows;
use super::search::Search;
use super::window_query::Window;

/// State of forward checking in one search.
#[derive(Default)]
pub struct Ahead {
    /// Whether this search runs forward checking.
    pub is_looking: bool,
    /// Whether the search should restart with forward checking.
    pub is_due: bool,
    /// First candidate row of the first port, before other ports narrowed it.
    pub first: Option<usize>,
    /// Cached classes of equivalent rows.
    alike: Option<Rc<Alike>>,
    /// Dependencies among the ports of the request, computed on first use.
    ties: OnceCell<Ties>,
}

/// Which ports of the request depend on each other (thesis 5.5.1: the dependence relation). One set of ports per port.
struct Ties {
    /// Ports whose labels the port mentions.
    mentioned: Vec<FixedBitSet>,
    /// Ports connected with it through any number of others.
    tied: Vec<FixedBitSet>,
}

/// Maximum number of candidate classes of a port up to which it narrows other ports.
const MOST_RECTANGLES: usize = 64;

impl Ahead {
    /// Returns the initial state of a search with or without forward checking.
    pub fn new(is_looking: bool) -> Self {
        Ahead { is_looking, ..Ahead::default() }
    }
}

impl Search<'_> {
    /// Returns the classes of rows that no request tells apart.
    pub(super) fn alike(&mut self) -> Rc<Alike> {
        if let Some(alike) = &self.ahead.alike {
            return Rc::clone(alike);
        }
        let Gangmatcher { table, links, buckets, .. } = &mut *self.matcher;
        let alike = buckets.alike(links, table);
        self.ahead.alike = Some(Rc::clone(&alike));
        alike
    }

    /// Computes the domains of the ports of an ad that joins the gang.
    ///
    /// Works from right to left, because later ports refer to earlier ones.
    ///
    /// # Errors
    ///
    /// The conflict set, if some port is left without candidates.
    pub(super) fn look_around(
        &mut self,
        state: &mut State,
        participant: Participant,
        ports: &[usize],
    ) -> Result<(), Levels> {
        let mut domains = state.domains.to_vec();
        for port in ports.iter().rev() {
            let place = PortPlace { participant, port: *port };
            let (rows, settled) = self.probe(place, &state.waiting);
            if participant == 0 && Some(port) == ports.first() {
                self.ahead.first = rows.ones().next();
            }
            if participant == 0 && rows.is_clear() && self.matcher.table.patterns(0).is_none() {
                let window = self.matcher.first_window(*port);
                self.matcher.exhausted.insert(window);
            }
            let rows = self.narrowed(place, rows, &state.waiting, &domains);
            self.must_be_possible(place, &rows)?;
            domains.push(Domain { place, rows: Rc::new(rows), settled });
        }
        self.must_all_be_possible(&domains)?;
        state.domains = domains.into();
        Ok(())
    }

    /// Narrows the domains of open ports after `link` was docked at `docked`.
    ///
    /// Works from left to right, because the candidates left at a port narrow the ports that refer to it.
    ///
    /// # Errors
    ///
    /// The conflict set, if some port is left without candidates.
    pub(super) fn look_ahead(&mut self, state: &mut State, docked: PortPlace, link: PortPlace) -> Result<(), Levels> {
        let mut domains = state.domains.to_vec();
        domains.retain(|domain| domain.place != docked);
        for index in (0..domains.len()).rev() {
            let Domain { place, rows: before, settled } = domains[index].clone();
            if place.participant != docked.participant || self.are_tied(place, docked) {
                let accepting = self.accepting(&domains[index], &state.waiting, docked, link);
                let (rows, newly) = accepting.unwrap_or_else(|| {
                    let (mut rows, newly) = self.probe(place, &state.waiting);
                    rows.intersect_with(&before);
                    (rows, newly)
                });
                let rows = self.narrowed(place, rows, &state.waiting, &domains);
                domains[index] = Domain { place, rows: Rc::new(rows), settled: settled.or(newly) };
            }
            let rows = Rc::clone(&domains[index].rows);
            self.must_be_possible(place, &rows)?;
        }
        self.must_all_be_possible(&domains)?;
        state.domains = domains.into();
        Ok(())
    }

    /// Narrows the domain of an open port after `link` was docked at `docked`, without a new window query.
    ///
    /// Possible if the two ports depend on each other only through attributes that the open port shows, all of which
    /// the index knows. `None` otherwise.
    fn accepting(
        &mut self,
        domain: &Domain,
        waiting: &[PortPlace],
        docked: PortPlace,
        link: PortPlace,
    ) -> Option<(Rows, Settled)> {
        let shown = self.matcher.known_window(domain.place).filter(|_| waiting.is_empty())?;
        let Gangmatcher { table, links, .. } = &mut *self.matcher;
        let mut rows = (*domain.rows).clone();
        let is_known = shown.shows_all(links)
            && links.settle_port(&shown)
            && links.accept(&mut rows, &shown, docked, links.row(link), table);
        if !is_known {
            return None;
        }
        self.matcher.statistics.probes += 1;
        let is_docked =
            |place: PortPlace| self.levels.iter().any(|level| level.docked().is_some_and(|(at, _)| at == place));
        let links = shown.passed_on.iter().all(|(_, of, _)| is_docked(*of));
        Some((rows, Settled { port: true, links }))
    }

    /// Removes rows of a port that are consistent with no candidate of some other port of the same ad.
    ///
    /// Considers only ports with few candidate classes. Each class adds one rectangle to the query of the port.
    fn narrowed(&mut self, place: PortPlace, mut rows: Rows, waiting: &[PortPlace], domains: &[Domain]) -> Rows {
        for Domain { place: other, rows: candidates, .. } in domains {
            if *other == place || other.participant != place.participant {
                continue;
            }
            let (is_shown, is_asked) = (self.mentions(place, *other), self.mentions(*other, place));
            if !is_shown && !is_asked {
                continue;
            }
            let demanded = if is_shown { None } else { self.demanded(place, *other, candidates) };
            let together = match demanded {
                Some(together) => together,
                None => match self.together(place, &rows, (*other, candidates), is_shown, waiting) {
                    Some(together) => together,
                    None => continue,
                },
            };
            rows.intersect_with(&together);
        }
        rows
    }

    /// Returns those of `rows` that are consistent with some candidate class of the port `other`. `None` if it has too
    /// many classes.
    fn together(
        &mut self,
        place: PortPlace,
        rows: &Rows,
        (other, candidates): (PortPlace, &Rows),
        is_shown: bool,
        waiting: &[PortPlace],
    ) -> Option<Rc<Rows>> {
        let distinct = self.alike().representatives(candidates, MOST_RECTANGLES + 1);
        if distinct.len() > MOST_RECTANGLES {
            return None;
        }
        let Gangmatcher { table, links, .. } = &mut *self.matcher;
        let mut together = Rows::with_capacity(rows.len());
        for row in distinct {
            let link = links.place(row);
            let mut answer = rows.clone();
            let waiting: Vec<PortPlace> = waiting.iter().copied().chain([other, link]).collect();
            let window = table.suppose(other, link, |table| {
                if is_shown {
                    Window::of(place, &waiting, table, links)
                } else {
                    Window::of_waiting(place, &waiting, table)
                }
            });
            links.keep(&mut answer, &window, table);
            together.union_with(&answer);
        }
        Some(Rc::new(together))
    }

    /// Returns the rows of `place` that satisfy the demands of some candidate of `other`, computed from the index
    /// without docking anything.
    ///
    /// Applies if nothing is docked and the candidates' demands are the only dependency between the two ports. `None`
    /// otherwise, or if there are too many distinct demands.
    fn demanded(&mut self, place: PortPlace, other: PortPlace, candidates: &Rows) -> Option<Rc<Rows>> {
        if !self.is_first(other) {
            return None;
        }
        let shown = self.matcher.first_window(other.port);
        let Gangmatcher { table, links, buckets, .. } = &mut *self.matcher;
        if !shown.shows_all(links) || !links.settle_port(&shown) {
            return None;
        }
        let demanding = buckets.demanding(links);
        let distinct = demanding.representatives(candidates, MOST_RECTANGLES + 1);
        if distinct.len() > MOST_RECTANGLES || distinct.iter().any(|row| demanding.bucket(*row).is_none()) {
            return None;
        }
        Some(links.demanded(&distinct, place, &shown, table))
    }

    /// Checks that a port has a candidate that is not in the gang yet.
    ///
    /// # Errors
    ///
    /// The conflict set, if it has none.
    fn must_be_possible(&self, place: PortPlace, rows: &Rows) -> Result<(), Levels> {
        let is_free = |row: usize| !self.holders.contains_key(&self.matcher.links.place(row).participant);
        if rows.ones().any(is_free) { Ok(()) } else { Err(self.blamed(&[(place, rows)])) }
    }

    /// Checks that all open ports can get distinct offers, by bipartite matching: six ports may accept the same five
    /// offers (thesis 6.2.2).
    ///
    /// # Errors
    ///
    /// The conflict set of the ports that compete for too few offers.
    fn must_all_be_possible(&self, domains: &[Domain]) -> Result<(), Levels> {
        let ports = domains.len();
        // By pigeonhole a port with at least `ports` candidates is always satisfiable; only scarce ports need the
        // matching.
        let mut scarce: Vec<(usize, Vec<Participant>)> = Vec::new();
        for (index, Domain { rows, .. }) in domains.iter().enumerate() {
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
        let mut given = Given::default();
        for first in 0..scarce.len() {
            if let Some(rivals) = given.give(first, &scarce) {
                let rivals = rivals.into_iter().map(|rival| &domains[scarce[rival].0]);
                let blamed: Vec<(PortPlace, &Rows)> = rivals.map(|domain| (domain.place, &*domain.rows)).collect();
                return Err(self.blamed(&blamed));
            }
        }
        Ok(())
    }

    /// Returns the conflict set of ports with too few candidates: the decisions that narrowed them and the decisions
    /// that hold their candidates.
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

    /// Returns the conflict set of a port: the decisions that may affect which candidates dock there.
    pub(super) fn concerned(&self, place: PortPlace) -> Levels {
        let mut docked = self.levels.iter().filter_map(Level::docked);
        let is_flat = place.participant == 0 && docked.all(|(_, link)| self.matcher.table.ports(link.participant) == 1);
        if !(is_flat && self.ahead.is_looking) {
            return self.everything();
        }
        let ties = self.ties();
        let mut levels = Levels::with_capacity(self.levels.len());
        for (index, level) in self.levels.iter().enumerate() {
            if level.place().is_none_or(|other| ties.tied[place.port].contains(other.port)) {
                levels.insert(index);
            }
        }
        levels
    }

    /// Returns the dependencies among the ports of the request.
    fn ties(&self) -> &Ties {
        self.ahead.ties.get_or_init(|| Ties::new(&self.matcher.table))
    }

    /// Whether the candidates of one port of an ad may depend on what docks at another.
    fn are_tied(&self, one: PortPlace, other: PortPlace) -> bool {
        one.participant != 0
            || self.passes_on(one, other) == Some(true)
            || self.ties().tied[one.port].contains(other.port)
    }

    /// Whether a port of an ad may read what docks at another. False if the index knows that no candidate is affected.
    fn mentions(&self, one: PortPlace, other: PortPlace) -> bool {
        one.participant != 0
            || self.passes_on(one, other).unwrap_or_else(|| self.ties().mentioned[one.port].contains(other.port))
    }

    /// Whether an attribute that the port `one` of the request shows is computed from what docks at `other`. `None` if
    /// the two may depend on each other in further ways.
    fn passes_on(&self, one: PortPlace, other: PortPlace) -> Option<bool> {
        let window = self.matcher.known_window(one)?;
        let tells_all = window.is_complete && window.shows_all(&self.matcher.links);
        tells_all.then(|| window.passed_on.iter().any(|(_, of, _)| *of == other))
    }
}

impl Ties {
    /// Computes the dependencies among the ports of the request.
    fn new(table: &Table) -> Self {
        let ports = table.ports(0);
        let mut mentioned = vec![FixedBitSet::with_capacity(ports); ports];
        let mut group: Vec<usize> = (0..ports).collect();
        for port in 0..ports {
            for label in table.labels_mentioned(PortPlace { participant: 0, port }) {
                mentioned[port].insert(label);
                let (from, to) = (group[label], group[port]);
                group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
        let together = |port: usize| (0..ports).filter(|other| group[*other] == group[port]).collect();
        Ties { mentioned, tied: (0..ports).map(together).collect() }
    }
}
