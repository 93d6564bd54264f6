//! Forward checking: removes candidates of open ports that cannot be part of a gang, so that a dead end is found before
//! the search reaches it.
//!
//! Three checks apply. A candidate must fit what is docked already. It must be consistent with some candidate of every
//! port on which its port depends (arc consistency). All open ports must be able to get distinct offers, which a
//! bipartite matching decides. Thesis 6.2.2 names the problem.

use std::cell::OnceCell;
use std::rc::Rc;

use fixedbitset::FixedBitSet;

use crate::ad::Participant;
use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::{ParticipantTable, PortPlace};
use crate::matching::gang::port_index::{RowBitmap, SettledConstraints, WindowQuery};

use super::assignment::PortAssignment;
use super::decisions::{ConflictSet, DecisionStack, PortDomain, SearchState};

/// Forward checking for one search, with what it computes once per search.
#[derive(Default)]
pub struct ForwardChecking {
    is_enabled: bool,
    /// First candidate row of the request's first port, before other ports narrowed its domain.
    first_candidate: Option<usize>,
    /// Dependencies among the ports of the request, computed on first use.
    dependencies: OnceCell<PortDependencies>,
}

/// Which ports of the request depend on each other (thesis 5.5.1: the dependence relation). Each field holds one set of
/// ports per port.
struct PortDependencies {
    /// Ports whose labels the port mentions.
    direct: Vec<FixedBitSet>,
    /// Ports connected with the port through any number of other ports, in either direction.
    transitive: Vec<FixedBitSet>,
}

/// A port with more candidate classes than this narrows no other port, because each class costs one selection.
const MAX_CANDIDATE_CLASSES: usize = 64;

impl ForwardChecking {
    /// Returns the initial state of a search with or without forward checking.
    pub fn new(is_enabled: bool) -> Self {
        ForwardChecking { is_enabled, ..ForwardChecking::default() }
    }

    /// Whether this search runs forward checking.
    pub fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Returns the first candidate row of the request's first port, before other ports narrowed its domain. `None` if
    /// domains were not computed or that port has no candidate.
    pub fn first_candidate(&self) -> Option<usize> {
        self.first_candidate
    }

    /// Computes the domains of the ports of an ad that joins the gang.
    ///
    /// Works from right to left, because later ports refer to earlier ports: the domain of a later port must be known
    /// when it narrows an earlier port.
    ///
    /// # Errors
    ///
    /// The conflict set, if some port is left without candidates.
    pub fn initialize_domains(
        &mut self,
        pool: &mut OfferPool,
        decisions: &DecisionStack,
        state: &mut SearchState,
        participant: Participant,
        ports: &[usize],
    ) -> Result<(), ConflictSet> {
        let mut domains = state.domains.to_vec();
        for port in ports.iter().rev() {
            let place = PortPlace { participant, port: *port };
            let (rows, settled) = pool.probe(place, &state.undecided, decisions.is_gang_empty());
            if participant.is_request() && Some(port) == ports.first() {
                self.first_candidate = rows.ones().next();
            }
            if rows.is_clear() {
                pool.mark_exhausted(place);
            }
            let rows = self.arc_consistent_rows(pool, decisions, (place, rows), &state.undecided, &domains);
            self.check_not_empty(pool, decisions, place, &rows)?;
            domains.push(PortDomain { place, rows: Rc::new(rows), settled });
        }
        self.check_assignment(pool, decisions, &domains)?;
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
    pub fn narrow_domains(
        &self,
        pool: &mut OfferPool,
        decisions: &DecisionStack,
        state: &mut SearchState,
        docked: PortPlace,
        link: PortPlace,
    ) -> Result<(), ConflictSet> {
        let mut domains = state.domains.to_vec();
        domains.retain(|domain| domain.place != docked);
        for index in (0..domains.len()).rev() {
            let PortDomain { place, rows: before, settled } = domains[index].clone();
            if place.participant != docked.participant || self.are_dependent(pool, place, docked) {
                let accepting = if state.undecided.is_empty() {
                    narrowed_by_index(pool, decisions, &domains[index], docked, link)
                } else {
                    None
                };
                let (rows, newly) = accepting.unwrap_or_else(|| {
                    let (mut rows, newly) = pool.probe(place, &state.undecided, decisions.is_gang_empty());
                    rows.intersect_with(&before);
                    (rows, newly)
                });
                let rows = self.arc_consistent_rows(pool, decisions, (place, rows), &state.undecided, &domains);
                domains[index] = PortDomain { place, rows: Rc::new(rows), settled: settled.merge(newly) };
            }
            let rows = Rc::clone(&domains[index].rows);
            self.check_not_empty(pool, decisions, place, &rows)?;
        }
        self.check_assignment(pool, decisions, &domains)?;
        state.domains = domains.into();
        Ok(())
    }

    /// Removes rows of a port that are consistent with no candidate of some other port of the same ad.
    ///
    /// Skips other ports with more than [`MAX_CANDIDATE_CLASSES`] classes, because each class costs one selection.
    fn arc_consistent_rows(
        &self,
        pool: &mut OfferPool,
        decisions: &DecisionStack,
        (place, mut rows): (PortPlace, RowBitmap),
        undecided: &[PortPlace],
        domains: &[PortDomain],
    ) -> RowBitmap {
        for PortDomain { place: other, rows: candidates, .. } in domains {
            if *other == place || other.participant != place.participant {
                continue;
            }
            let (is_shown, is_asked) = (self.may_read(pool, place, *other), self.may_read(pool, *other, place));
            if !is_shown && !is_asked {
                continue;
            }
            let has_query = !is_shown && decisions.is_gang_empty() && pool.has_initial_query(*other);
            let demanded =
                if has_query { pool.rows_demanded_by(place, *other, candidates, MAX_CANDIDATE_CLASSES) } else { None };
            if let Some(demanded) = demanded {
                rows.intersect_with(&demanded);
            } else if let Some(together) =
                rows_supported_by(pool, (place, &rows), (*other, candidates), is_shown, undecided)
            {
                rows = together;
            }
        }
        rows
    }

    /// Checks that a port has a candidate that is not in the gang yet.
    ///
    /// # Errors
    ///
    /// The conflict set, if the port has no such candidate.
    fn check_not_empty(
        &self,
        pool: &OfferPool,
        decisions: &DecisionStack,
        place: PortPlace,
        rows: &RowBitmap,
    ) -> Result<(), ConflictSet> {
        let is_free = |row: usize| decisions.holder(pool.index().place(row).participant).is_none();
        if rows.ones().any(is_free) {
            Ok(())
        } else {
            Err(self.conflict_set_of_ports(pool, decisions, &[(place, rows)]))
        }
    }

    /// Checks that all open ports can get distinct offers, by bipartite matching: six ports may accept the same five
    /// offers (thesis 6.2.2).
    ///
    /// # Errors
    ///
    /// The conflict set of the ports that compete for too few offers.
    fn check_assignment(
        &self,
        pool: &OfferPool,
        decisions: &DecisionStack,
        domains: &[PortDomain],
    ) -> Result<(), ConflictSet> {
        let ports = domains.len();
        // A port with at least as many free offers as there are open ports always gets one. Only ports with fewer
        // offers need the matching.
        let mut scarce: Vec<(usize, Vec<Participant>)> = Vec::new();
        for (index, PortDomain { rows, .. }) in domains.iter().enumerate() {
            let mut offers: Vec<Participant> = Vec::new();
            for row in rows.ones() {
                let offer = pool.index().place(row).participant;
                if offers.last() != Some(&offer) && decisions.holder(offer).is_none() {
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
            given.assign(first, &scarce).map_err(|rivals| {
                let rivals = rivals.into_iter().map(|rival| &domains[scarce[rival].0]);
                let blamed: Vec<(PortPlace, &RowBitmap)> = rivals.map(|domain| (domain.place, &*domain.rows)).collect();
                self.conflict_set_of_ports(pool, decisions, &blamed)
            })?;
        }
        Ok(())
    }

    /// Returns the conflict set of ports with too few candidates: the decisions that may have narrowed their domains
    /// and the decisions that hold offers of their domains.
    fn conflict_set_of_ports(
        &self,
        pool: &OfferPool,
        decisions: &DecisionStack,
        ports: &[(PortPlace, &RowBitmap)],
    ) -> ConflictSet {
        let mut levels = ConflictSet::with_capacity(decisions.len());
        for (place, rows) in ports {
            levels.union_with(&self.conflict_set(pool, decisions, *place));
            for (offer, level) in decisions.holders() {
                if pool.index().rows_of(offer).any(|row| rows.contains(row)) {
                    levels.grow_and_insert(level);
                }
            }
        }
        levels
    }

    /// Returns the conflict set of a port: the decisions that may affect which candidates dock there.
    pub fn conflict_set(&self, pool: &OfferPool, decisions: &DecisionStack, place: PortPlace) -> ConflictSet {
        let is_flat = || decisions.docked_pairs().all(|(_, link)| pool.table().port_count(link.participant) == 1);
        if !(self.is_enabled && place.participant.is_request() && is_flat()) {
            return decisions.full_conflict_set();
        }
        let connected = &self.dependencies(pool).transitive[place.port];
        let mut levels = ConflictSet::with_capacity(decisions.len());
        for (index, level) in decisions.iter().enumerate() {
            if level.filled_port().is_none_or(|other| connected.contains(other.port)) {
                levels.insert(index);
            }
        }
        levels
    }

    /// Returns the dependencies among the ports of the request.
    fn dependencies(&self, pool: &OfferPool) -> &PortDependencies {
        self.dependencies.get_or_init(|| PortDependencies::new(pool.table()))
    }

    /// Whether the candidates of the port `one` of an ad may depend on what docks at the port `other` of the same ad.
    fn are_dependent(&self, pool: &OfferPool, one: PortPlace, other: PortPlace) -> bool {
        !one.participant.is_request()
            || computes_from(pool, one, other) == Some(true)
            || self.dependencies(pool).transitive[one.port].contains(other.port)
    }

    /// Whether the port `one` of an ad may read what docks at the port `other` of the same ad. False if the index knows
    /// that this affects no candidate of `one`.
    fn may_read(&self, pool: &OfferPool, one: PortPlace, other: PortPlace) -> bool {
        !one.participant.is_request()
            || computes_from(pool, one, other)
                .unwrap_or_else(|| self.dependencies(pool).direct[one.port].contains(other.port))
    }
}

/// Narrows the domain of an open port after `link` was docked at `docked`, without a new window query.
///
/// `None` unless the two ports depend on each other only through attributes that the open port shows, and the index
/// knows all of these. No docked port may be undecided, since the result ignores its constraint.
fn narrowed_by_index(
    pool: &mut OfferPool,
    decisions: &DecisionStack,
    domain: &PortDomain,
    docked: PortPlace,
    link: PortPlace,
) -> Option<(RowBitmap, SettledConstraints)> {
    let shown = pool.known_initial_query(domain.place)?;
    let mut rows = (*domain.rows).clone();
    let (table, index) = pool.table_and_index();
    let row = index.row(link);
    let is_known = shown.shows_all(index)
        && index.settles_port(&shown)
        && index.retain_accepting(&mut rows, &shown, docked, row, table);
    if !is_known {
        return None;
    }
    table.statistics_mut().probes += 1;
    let is_docked = |place: PortPlace| decisions.docked_pairs().any(|(at, _)| at == place);
    let link_constraints = shown.sources().all(is_docked);
    Some((rows, SettledConstraints { port_constraint: true, link_constraints }))
}

/// Returns those of `rows` that are consistent with some candidate class of the port `other`. `None` if `other` has
/// more than [`MAX_CANDIDATE_CLASSES`] classes.
fn rows_supported_by(
    pool: &mut OfferPool,
    (place, rows): (PortPlace, &RowBitmap),
    (other, candidates): (PortPlace, &RowBitmap),
    is_shown: bool,
    undecided: &[PortPlace],
) -> Option<RowBitmap> {
    let distinct = pool.candidate_classes().representatives(candidates, MAX_CANDIDATE_CLASSES + 1);
    if distinct.len() > MAX_CANDIDATE_CLASSES {
        return None;
    }
    let (table, index) = pool.table_and_index();
    let mut together = RowBitmap::with_capacity(rows.len());
    for row in distinct {
        let link = index.place(row);
        let mut answer = rows.clone();
        let undecided: Vec<PortPlace> = undecided.iter().copied().chain([other, link]).collect();
        let window = table.with_docked(other, link, |table| {
            if is_shown {
                WindowQuery::of(place, &undecided, table, index)
            } else {
                WindowQuery::of_undecided(place, &undecided, table)
            }
        });
        index.retain(&mut answer, &window, table);
        together.union_with(&answer);
    }
    Some(together)
}

/// Whether an attribute that the port `one` of the request shows is computed from what docks at `other`. `None` if
/// `one` may depend on other ports in further ways.
fn computes_from(pool: &OfferPool, one: PortPlace, other: PortPlace) -> Option<bool> {
    let window = pool.known_initial_query(one)?;
    window.tells_all(pool.index()).then(|| window.sources().any(|of| of == other))
}

impl PortDependencies {
    /// Computes the dependencies among the ports of the request from the labels that they mention.
    fn new(table: &ParticipantTable) -> Self {
        let ports = table.port_count(Participant::REQUEST);
        let mut direct = vec![FixedBitSet::with_capacity(ports); ports];
        let mut group: Vec<usize> = (0..ports).collect();
        for port in 0..ports {
            for label in table.mentioned_ports(PortPlace::of_request(port)) {
                direct[port].insert(label);
                let (from, to) = (group[label], group[port]);
                group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
        let together = |port: usize| (0..ports).filter(|other| group[*other] == group[port]).collect();
        PortDependencies { direct, transitive: (0..ports).map(together).collect() }
    }
}
