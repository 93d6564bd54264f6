//! Forward checking: keeps the candidates of open ports consistent with the docked ports, with one another, and with
//! the number of offers.
//!
//! Thesis 6.2.2 names the problem. Narrowing one port by the candidates of another is arc consistency; a bipartite
//! matching detects ports that compete for too few offers.

use std::cell::OnceCell;
use std::rc::Rc;

use fixedbitset::FixedBitSet;

use crate::ad::Participant;

use super::assignment::PortAssignment;
use super::candidate_classes::CandidateClasses;
use super::decisions::{ConflictSet, Decision, PortDomain, SearchState, SettledConstraints};
use super::matcher::Gangmatcher;
use super::participants::{ParticipantTable, PortPlace};
use super::port_index::RowBitmap;
use super::search::GangSearch;
use super::window_query::WindowQuery;

/// State of forward checking in one search.
#[derive(Default)]
pub struct ForwardChecking {
    /// Whether this search runs forward checking.
    pub is_enabled: bool,
    /// Whether the search should restart with forward checking.
    pub is_restart_due: bool,
    /// First candidate row of the first port, before other ports narrowed it.
    pub first_candidate: Option<usize>,
    /// Cached classes of equivalent rows.
    classes: Option<Rc<CandidateClasses>>,
    /// Dependencies among the ports of the request, computed on first use.
    dependencies: OnceCell<PortDependencies>,
}

/// Which ports of the request depend on each other (thesis 5.5.1: the dependence relation). One set of ports per port.
struct PortDependencies {
    /// Ports whose labels the port mentions.
    direct: Vec<FixedBitSet>,
    /// Ports connected with it through any number of others.
    transitive: Vec<FixedBitSet>,
}

/// Maximum number of candidate classes of a port up to which it narrows other ports.
const MAX_CANDIDATE_CLASSES: usize = 64;

impl ForwardChecking {
    /// Returns the initial state of a search with or without forward checking.
    pub fn new(is_enabled: bool) -> Self {
        ForwardChecking { is_enabled, ..ForwardChecking::default() }
    }
}

impl GangSearch<'_> {
    /// Returns the classes of rows that no request tells apart.
    pub(super) fn candidate_classes(&mut self) -> Rc<CandidateClasses> {
        if let Some(alike) = &self.forward_checking.classes {
            return Rc::clone(alike);
        }
        let Gangmatcher { table, port_index: links, classifier: buckets, .. } = &mut *self.matcher;
        let alike = buckets.candidate_classes(links, table);
        self.forward_checking.classes = Some(Rc::clone(&alike));
        alike
    }

    /// Computes the domains of the ports of an ad that joins the gang.
    ///
    /// Works from right to left, because later ports refer to earlier ones.
    ///
    /// # Errors
    ///
    /// The conflict set, if some port is left without candidates.
    pub(super) fn initialize_domains(
        &mut self,
        state: &mut SearchState,
        participant: Participant,
        ports: &[usize],
    ) -> Result<(), ConflictSet> {
        let mut domains = state.domains.to_vec();
        for port in ports.iter().rev() {
            let place = PortPlace { participant, port: *port };
            let (rows, settled) = self.probe(place, &state.undecided);
            if participant == 0 && Some(port) == ports.first() {
                self.forward_checking.first_candidate = rows.ones().next();
            }
            if participant == 0 && rows.is_clear() && self.matcher.table.patterns(0).is_none() {
                let window = self.matcher.initial_query(*port);
                self.matcher.exhausted_queries.insert(window);
            }
            let rows = self.arc_consistent_rows(place, rows, &state.undecided, &domains);
            self.check_not_empty(place, &rows)?;
            domains.push(PortDomain { place, rows: Rc::new(rows), settled });
        }
        self.check_assignment(&domains)?;
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
    pub(super) fn check_forward(
        &mut self,
        state: &mut SearchState,
        docked: PortPlace,
        link: PortPlace,
    ) -> Result<(), ConflictSet> {
        let mut domains = state.domains.to_vec();
        domains.retain(|domain| domain.place != docked);
        for index in (0..domains.len()).rev() {
            let PortDomain { place, rows: before, settled } = domains[index].clone();
            if place.participant != docked.participant || self.are_dependent(place, docked) {
                let accepting = self.narrowed_by_index(&domains[index], &state.undecided, docked, link);
                let (rows, newly) = accepting.unwrap_or_else(|| {
                    let (mut rows, newly) = self.probe(place, &state.undecided);
                    rows.intersect_with(&before);
                    (rows, newly)
                });
                let rows = self.arc_consistent_rows(place, rows, &state.undecided, &domains);
                domains[index] = PortDomain { place, rows: Rc::new(rows), settled: settled.merge(newly) };
            }
            let rows = Rc::clone(&domains[index].rows);
            self.check_not_empty(place, &rows)?;
        }
        self.check_assignment(&domains)?;
        state.domains = domains.into();
        Ok(())
    }

    /// Narrows the domain of an open port after `link` was docked at `docked`, without a new window query.
    ///
    /// Possible if the two ports depend on each other only through attributes that the open port shows, all of which
    /// the index knows. `None` otherwise.
    fn narrowed_by_index(
        &mut self,
        domain: &PortDomain,
        waiting: &[PortPlace],
        docked: PortPlace,
        link: PortPlace,
    ) -> Option<(RowBitmap, SettledConstraints)> {
        let shown = self.matcher.known_initial_query(domain.place).filter(|_| waiting.is_empty())?;
        let Gangmatcher { table, port_index: links, .. } = &mut *self.matcher;
        let mut rows = (*domain.rows).clone();
        let is_known = shown.shows_all(links)
            && links.settles_port(&shown)
            && links.retain_accepting(&mut rows, &shown, docked, links.row(link), table);
        if !is_known {
            return None;
        }
        self.matcher.statistics.probes += 1;
        let is_docked = |place: PortPlace| {
            self.decisions.iter().any(|level| level.docked_pair().is_some_and(|(at, _)| at == place))
        };
        let links = shown.computed.iter().all(|(_, of, _)| is_docked(*of));
        Some((rows, SettledConstraints { port_constraint: true, link_constraints: links }))
    }

    /// Removes rows of a port that are consistent with no candidate of some other port of the same ad.
    ///
    /// Considers only ports with few candidate classes. Each class adds one rectangle to the query of the port.
    fn arc_consistent_rows(
        &mut self,
        place: PortPlace,
        mut rows: RowBitmap,
        waiting: &[PortPlace],
        domains: &[PortDomain],
    ) -> RowBitmap {
        for PortDomain { place: other, rows: candidates, .. } in domains {
            if *other == place || other.participant != place.participant {
                continue;
            }
            let (is_shown, is_asked) = (self.may_read(place, *other), self.may_read(*other, place));
            if !is_shown && !is_asked {
                continue;
            }
            let demanded = if is_shown { None } else { self.rows_demanded_by(place, *other, candidates) };
            let together = match demanded {
                Some(together) => together,
                None => match self.rows_supported_by(place, &rows, (*other, candidates), is_shown, waiting) {
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
    fn rows_supported_by(
        &mut self,
        place: PortPlace,
        rows: &RowBitmap,
        (other, candidates): (PortPlace, &RowBitmap),
        is_shown: bool,
        waiting: &[PortPlace],
    ) -> Option<Rc<RowBitmap>> {
        let distinct = self.candidate_classes().representatives(candidates, MAX_CANDIDATE_CLASSES + 1);
        if distinct.len() > MAX_CANDIDATE_CLASSES {
            return None;
        }
        let Gangmatcher { table, port_index: links, .. } = &mut *self.matcher;
        let mut together = RowBitmap::with_capacity(rows.len());
        for row in distinct {
            let link = links.place(row);
            let mut answer = rows.clone();
            let waiting: Vec<PortPlace> = waiting.iter().copied().chain([other, link]).collect();
            let window = table.with_docked(other, link, |table| {
                if is_shown {
                    WindowQuery::of(place, &waiting, table, links)
                } else {
                    WindowQuery::of_undecided(place, &waiting, table)
                }
            });
            links.retain(&mut answer, &window, table);
            together.union_with(&answer);
        }
        Some(Rc::new(together))
    }

    /// Returns the rows of `place` that satisfy the demands of some candidate of `other`, computed from the index
    /// without docking anything.
    ///
    /// Applies if nothing is docked and the candidates' demands are the only dependency between the two ports. `None`
    /// otherwise, or if there are too many distinct demands.
    fn rows_demanded_by(
        &mut self,
        place: PortPlace,
        other: PortPlace,
        candidates: &RowBitmap,
    ) -> Option<Rc<RowBitmap>> {
        if !self.is_initial(other) {
            return None;
        }
        let shown = self.matcher.initial_query(other.port);
        let Gangmatcher { table, port_index: links, classifier: buckets, .. } = &mut *self.matcher;
        if !shown.shows_all(links) || !links.settles_port(&shown) {
            return None;
        }
        let demanding = buckets.demand_classes(links);
        let distinct = demanding.representatives(candidates, MAX_CANDIDATE_CLASSES + 1);
        if distinct.len() > MAX_CANDIDATE_CLASSES || distinct.iter().any(|row| demanding.class_of(*row).is_none()) {
            return None;
        }
        Some(links.rows_demanded_by(&distinct, place, &shown, table))
    }

    /// Checks that a port has a candidate that is not in the gang yet.
    ///
    /// # Errors
    ///
    /// The conflict set, if it has none.
    fn check_not_empty(&self, place: PortPlace, rows: &RowBitmap) -> Result<(), ConflictSet> {
        let is_free =
            |row: usize| !self.decision_by_offer.contains_key(&self.matcher.port_index.place(row).participant);
        if rows.ones().any(is_free) { Ok(()) } else { Err(self.conflict_set_of_ports(&[(place, rows)])) }
    }

    /// Checks that all open ports can get distinct offers, by bipartite matching: six ports may accept the same five
    /// offers (thesis 6.2.2).
    ///
    /// # Errors
    ///
    /// The conflict set of the ports that compete for too few offers.
    fn check_assignment(&self, domains: &[PortDomain]) -> Result<(), ConflictSet> {
        let ports = domains.len();
        // By pigeonhole a port with at least `ports` candidates is always satisfiable; only scarce ports need the
        // matching.
        let mut scarce: Vec<(usize, Vec<Participant>)> = Vec::new();
        for (index, PortDomain { rows, .. }) in domains.iter().enumerate() {
            let mut offers: Vec<Participant> = Vec::new();
            for row in rows.ones() {
                let offer = self.matcher.port_index.place(row).participant;
                if offers.last() != Some(&offer) && !self.decision_by_offer.contains_key(&offer) {
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
        let mut given = PortAssignment::default();
        for first in 0..scarce.len() {
            if let Some(rivals) = given.assign(first, &scarce) {
                let rivals = rivals.into_iter().map(|rival| &domains[scarce[rival].0]);
                let blamed: Vec<(PortPlace, &RowBitmap)> = rivals.map(|domain| (domain.place, &*domain.rows)).collect();
                return Err(self.conflict_set_of_ports(&blamed));
            }
        }
        Ok(())
    }

    /// Returns the conflict set of ports with too few candidates: the decisions that narrowed them and the decisions
    /// that hold their candidates.
    fn conflict_set_of_ports(&self, ports: &[(PortPlace, &RowBitmap)]) -> ConflictSet {
        let mut levels = ConflictSet::with_capacity(self.decisions.len());
        for (place, rows) in ports {
            levels.union_with(&self.conflict_set(*place));
            for (offer, level) in &self.decision_by_offer {
                if self.matcher.port_index.rows_of(*offer).any(|row| rows.contains(row)) {
                    levels.grow_and_insert(*level);
                }
            }
        }
        levels
    }

    /// Returns the conflict set of a port: the decisions that may affect which candidates dock there.
    pub(super) fn conflict_set(&self, place: PortPlace) -> ConflictSet {
        let mut docked = self.decisions.iter().filter_map(Decision::docked_pair);
        let is_flat =
            place.participant == 0 && docked.all(|(_, link)| self.matcher.table.port_count(link.participant) == 1);
        if !(is_flat && self.forward_checking.is_enabled) {
            return self.full_conflict_set();
        }
        let ties = self.dependencies();
        let mut levels = ConflictSet::with_capacity(self.decisions.len());
        for (index, level) in self.decisions.iter().enumerate() {
            if level.filled_port().is_none_or(|other| ties.transitive[place.port].contains(other.port)) {
                levels.insert(index);
            }
        }
        levels
    }

    /// Returns the dependencies among the ports of the request.
    fn dependencies(&self) -> &PortDependencies {
        self.forward_checking.dependencies.get_or_init(|| PortDependencies::new(&self.matcher.table))
    }

    /// Whether the candidates of one port of an ad may depend on what docks at another.
    fn are_dependent(&self, one: PortPlace, other: PortPlace) -> bool {
        one.participant != 0
            || self.computes_from(one, other) == Some(true)
            || self.dependencies().transitive[one.port].contains(other.port)
    }

    /// Whether a port of an ad may read what docks at another. False if the index knows that no candidate is affected.
    fn may_read(&self, one: PortPlace, other: PortPlace) -> bool {
        one.participant != 0
            || self
                .computes_from(one, other)
                .unwrap_or_else(|| self.dependencies().direct[one.port].contains(other.port))
    }

    /// Whether an attribute that the port `one` of the request shows is computed from what docks at `other`. `None` if
    /// the two may depend on each other in further ways.
    fn computes_from(&self, one: PortPlace, other: PortPlace) -> Option<bool> {
        let window = self.matcher.known_initial_query(one)?;
        let tells_all = window.is_complete && window.shows_all(&self.matcher.port_index);
        tells_all.then(|| window.computed.iter().any(|(_, of, _)| *of == other))
    }
}

impl PortDependencies {
    /// Computes the dependencies among the ports of the request.
    fn new(table: &ParticipantTable) -> Self {
        let ports = table.port_count(0);
        let mut direct = vec![FixedBitSet::with_capacity(ports); ports];
        let mut group: Vec<usize> = (0..ports).collect();
        for port in 0..ports {
            for label in table.mentioned_ports(PortPlace { participant: 0, port }) {
                direct[port].insert(label);
                let (from, to) = (group[label], group[port]);
                group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
        let together = |port: usize| (0..ports).filter(|other| group[*other] == group[port]).collect();
        PortDependencies { direct, transitive: (0..ports).map(together).collect() }
    }
}
