//! Forward checking: removes candidates of open ports that cannot be part of a gang, so that a dead end is found before
//! the search reaches it.
//!
//! Four checks apply. A candidate must fit what is docked already. A candidate must be consistent with some candidate
//! of every port on which its port depends (arc consistency). All open ports must be able to get distinct offers
//! (thesis 6.2.2), and distinct values where their constraints demand it; both are tested by bipartite matching.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::ad::Participant;
use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::PortPlace;
use crate::matching::gang::port_index::{RowBitmap, SettledConstraints, WindowQuery, first_row_from};

use super::all_different::{AllDifferent, all_different_constraints};
use super::assignment::PortAssignment;
use super::decisions::{ConflictSet, DecisionStack, PortDomain, SearchState};
use super::dependencies::PortDependencies;
use super::symmetry::PortSymmetry;

/// What forward checking finds out about the request and keeps until the search ends.
#[derive(Default)]
pub struct LookAhead {
    /// First candidate row of the request's first port before forward checking. `None` if the port has no candidate or
    /// its candidates have not been computed.
    pub first_candidate: Option<usize>,
    /// Dependencies among the ports of the request, computed on first use.
    dependencies: OnceCell<PortDependencies>,
}

/// Forward checking of the current decisions of a search. It is made anew for each use, because it borrows the pool.
pub struct ForwardChecking<'s> {
    pub pool: &'s mut OfferPool,
    pub decisions: &'s DecisionStack,
    pub look_ahead: &'s mut LookAhead,
}

/// Maximum number of candidate classes of a port that narrows other ports. Each class costs one selection from the
/// index. A request with many ports may have as many classes as it has ports, and is not to be searched blindly.
const MAX_CANDIDATE_CLASSES: usize = 64;

/// Number of candidate classes for each port of the request that may always narrow other ports.
const CLASSES_PER_PORT: usize = 2;

impl ForwardChecking<'_> {
    /// Computes the domains of the ports of an ad that joins the gang.
    ///
    /// Works from the last port to the first. Later ports refer to earlier ports, so that the domain of a later port
    /// narrows an earlier port.
    ///
    /// # Errors
    ///
    /// The conflict set, if some port is left without candidates.
    pub fn initialize_domains(
        &mut self,
        state: &mut SearchState,
        participant: Participant,
        ports: &[usize],
    ) -> Result<(), ConflictSet> {
        let mut domains = state.domains.to_vec();
        if participant.is_request() {
            state.symmetry = Rc::default();
        }
        for port in ports.iter().rev() {
            let place = PortPlace { participant, port: *port };
            let (rows, settled) = self.pool.probe(place, &state.undecided, self.decisions.holders().is_empty());
            if participant.is_request() && Some(port) == ports.first() {
                self.look_ahead.first_candidate = rows.ones().next();
            }
            if rows.is_clear() {
                self.pool.mark_exhausted(place);
            }
            let rows = self.arc_consistent_rows(place, rows, &state.undecided, &domains);
            domains.push(self.checked_domain(PortDomain { place, rows: Rc::new(rows), settled })?);
        }
        self.check_assignment(&domains)?;
        let places: Vec<PortPlace> = ports.iter().map(|port| PortPlace { participant, port: *port }).collect();
        let constraints = all_different_constraints(&places, &self.pool.table);
        if !constraints.is_empty() {
            state.all_different = state.all_different.iter().cloned().chain(constraints).collect();
        }
        self.check_all_different(&state.all_different, &domains)?;
        state.domains = domains.into();
        Ok(())
    }

    /// Narrows the domains of open ports after `link` was docked at the port `docked`.
    ///
    /// Works from the first port to the last. The candidates left at a port narrow the later ports that refer to it.
    ///
    /// # Errors
    ///
    /// The conflict set, if some port is left without candidates.
    pub fn narrow_domains(
        &mut self,
        state: &mut SearchState,
        docked: PortPlace,
        link: PortPlace,
    ) -> Result<(), ConflictSet> {
        let mut domains = state.domains.to_vec();
        domains.retain(|domain| domain.place != docked);
        self.remove_failed_rows(state, docked, &mut domains);
        for index in (0..domains.len()).rev() {
            let mut domain = domains[index].clone();
            let place = domain.place;
            if place.participant != docked.participant || self.are_dependent(place, docked) {
                let is_decided = state.undecided.is_empty();
                let accepting = if is_decided { self.narrowed_by_index(&domain, docked, link) } else { None };
                let (rows, settled) = accepting.unwrap_or_else(|| {
                    let (mut rows, settled) =
                        self.pool.probe(place, &state.undecided, self.decisions.holders().is_empty());
                    rows.intersect_with(&domain.rows);
                    (rows, settled)
                });
                domain.rows = Rc::new(self.arc_consistent_rows(place, rows, &state.undecided, &domains));
                domain.settled = domain.settled.merge(settled);
            }
            domains[index] = self.checked_domain(domain)?;
        }
        self.check_assignment(&domains)?;
        self.check_all_different(&state.all_different, &domains)?;
        state.domains = domains.into();
        Ok(())
    }

    /// Removes from the domains of ports that are interchangeable with `docked` the candidates that have already failed
    /// at `docked`. If one of them filled such a port, exchanging it with the candidate at `docked` would make a gang
    /// that does not exist. Without this, the search would try all orders of the candidates.
    fn remove_failed_rows(&mut self, state: &SearchState, docked: PortPlace, domains: &mut [PortDomain]) {
        let Some(decision) = self.decisions.iter().last().filter(|decision| !decision.failed_rows.is_clear()) else {
            return;
        };
        if !docked.participant.is_request() || domains.is_empty() {
            return;
        }
        let symmetry = state.symmetry.get_or_init(|| PortSymmetry::of_request(self.pool));
        for domain in domains {
            let place = domain.place;
            if place.participant.is_request() && symmetry.are_interchangeable(place.port, docked.port) {
                let mut rows = (*domain.rows).clone();
                rows.difference_with(&decision.failed_rows);
                domain.rows = Rc::new(rows);
            }
        }
    }

    /// Removes rows that are consistent with no candidate of some other port of the same ad.
    ///
    /// Ignores other ports with more than [`MAX_CANDIDATE_CLASSES`] classes of candidates, because each class costs one
    /// selection from the index.
    fn arc_consistent_rows(
        &mut self,
        place: PortPlace,
        mut rows: RowBitmap,
        undecided: &[PortPlace],
        domains: &[PortDomain],
    ) -> RowBitmap {
        for domain in domains {
            let other = domain.place;
            if other == place || other.participant != place.participant {
                continue;
            }
            let (is_shown, is_asked) = (self.may_read(place, other), self.may_read(other, place));
            if !is_shown && !is_asked {
                continue;
            }
            let has_query = !is_shown && self.decisions.holders().is_empty() && self.pool.has_initial_query(other);
            let demanded = if has_query {
                self.pool.rows_demanded_by(place, other, &domain.rows, self.max_candidate_classes())
            } else {
                None
            };
            if let Some(demanded) = demanded {
                rows.intersect_with(&demanded);
            } else if let Some(supported) = self.rows_supported_by(place, &rows, domain, is_shown, undecided) {
                rows = supported;
            }
        }
        rows
    }

    /// Iterates over the offers of `rows` that are not in the gang yet, in input order. An offer with several rows is
    /// repeated.
    fn free_offers(&self, rows: &RowBitmap) -> impl Iterator<Item = Participant> {
        let mut from = 0;
        // Skips whole words without rows. Once most offers are used up, most words have none.
        let rows = std::iter::from_fn(move || {
            let row = first_row_from(rows, from)?;
            from = row + 1;
            Some(row)
        });
        let offers = rows.map(|row| self.pool.index.place(row).participant);
        offers.filter(|offer| !self.decisions.holders().contains_key(offer))
    }

    /// Returns `domain` if it has a candidate that is not in the gang yet.
    ///
    /// # Errors
    ///
    /// The conflict set, if the port has no such candidate.
    fn checked_domain(&self, domain: PortDomain) -> Result<PortDomain, ConflictSet> {
        if self.free_offers(&domain.rows).next().is_some() {
            Ok(domain)
        } else {
            Err(self.conflict_set_of_ports(&[&domain]))
        }
    }

    /// Checks that all open ports can get distinct offers, by bipartite matching: six ports may accept the same five
    /// offers (thesis 6.2.2).
    ///
    /// # Errors
    ///
    /// The conflict set of the ports that compete for too few offers.
    fn check_assignment(&self, domains: &[PortDomain]) -> Result<(), ConflictSet> {
        // A port with at least as many free offers as there are open ports can always get one of them. Only ports with
        // fewer free offers need the matching.
        let mut scarce: Vec<&PortDomain> = Vec::new();
        let mut assignment = PortAssignment::default();
        for domain in domains {
            let mut offers: Vec<Participant> = Vec::new();
            for offer in self.free_offers(&domain.rows) {
                if offers.last() != Some(&offer) {
                    offers.push(offer);
                }
                if offers.len() >= domains.len() {
                    break;
                }
            }
            if offers.len() < domains.len() {
                scarce.push(domain);
                assignment.add(offers).map_err(|rivals| {
                    let rivals: Vec<&PortDomain> = rivals.into_iter().map(|rival| scarce[rival]).collect();
                    self.conflict_set_of_ports(&rivals)
                })?;
            }
        }
        Ok(())
    }

    /// Checks that the open ports of each all-different constraint can get distinct values, by bipartite matching: six
    /// ports whose candidates must differ in colour may accept candidates of five colours only.
    ///
    /// # Errors
    ///
    /// The conflict set of the ports that compete for too few values.
    fn check_all_different(&mut self, constraints: &[AllDifferent], domains: &[PortDomain]) -> Result<(), ConflictSet> {
        for constraint in constraints {
            let taken = constraint.taken_values(self.pool, self.decisions.docked_pairs());
            let mut scarce: Vec<&PortDomain> = Vec::new();
            let mut assignment = PortAssignment::default();
            for domain in domains {
                let Some(mut values) = constraint.scarce_values(self.pool, domain.place, &domain.rows) else {
                    continue;
                };
                values.retain(|value| !taken.contains(value));
                scarce.push(domain);
                assignment.add(values).map_err(|rivals| {
                    let rivals: Vec<&PortDomain> = rivals.into_iter().map(|rival| scarce[rival]).collect();
                    self.conflict_set_of_ports(&rivals)
                })?;
            }
        }
        Ok(())
    }

    /// Returns the conflict set of ports with too few candidates. It contains the decisions that may have narrowed
    /// their domains, and the decisions that have docked offers of their domains.
    fn conflict_set_of_ports(&self, domains: &[&PortDomain]) -> ConflictSet {
        let mut decisions = ConflictSet::new();
        for domain in domains {
            decisions.union_with(&self.conflict_set(domain.place));
            let is_candidate =
                |offer: &Participant| self.pool.index.rows_of(*offer).any(|row| domain.rows.contains(row));
            let holders = self.decisions.holders().iter().filter(|(offer, _)| is_candidate(offer));
            decisions.extend(holders.map(|(_, depth)| *depth));
        }
        decisions
    }

    /// Returns the conflict set of a port: the decisions that may affect which candidates dock there.
    pub fn conflict_set(&self, place: PortPlace) -> ConflictSet {
        let is_flat =
            || self.decisions.docked_pairs().all(|(_, link)| self.pool.table.port_count(link.participant) == 1);
        if !(place.participant.is_request() && is_flat()) {
            return self.decisions.full_conflict_set();
        }
        let connected = &self.dependencies().transitive[place.port];
        let mut decisions = self.decisions.full_conflict_set();
        for (depth, decision) in self.decisions.iter().enumerate() {
            decisions.set(depth, decision.filled_port().is_none_or(|other| connected.contains(other.port)));
        }
        for decision in self.decisions.iter().filter(|decision| !decision.failed_rows.is_clear()) {
            // What failed here may have been removed from domains: see `remove_failed_rows`.
            if decision.state_before.symmetry.get().is_some_and(PortSymmetry::has_interchangeable_ports) {
                decisions.union_with(&decision.conflict_set);
            }
        }
        decisions
    }

    /// Returns the dependencies among the ports of the request.
    fn dependencies(&self) -> &PortDependencies {
        self.look_ahead.dependencies.get_or_init(|| PortDependencies::new(&self.pool.table))
    }

    /// Whether the candidates of the port `one` of an ad may depend on what docks at the port `other` of the same ad.
    fn are_dependent(&self, one: PortPlace, other: PortPlace) -> bool {
        !one.participant.is_request()
            || self.computes_from(one, other) == Some(true)
            || self.dependencies().transitive[one.port].contains(other.port)
    }

    /// Whether the port `one` of an ad may read the candidate at the port `other` of the same ad. False if the index
    /// proves that no candidate of `one` is affected.
    fn may_read(&self, one: PortPlace, other: PortPlace) -> bool {
        let is_mentioned = || self.dependencies().direct[one.port].contains(other.port);
        !one.participant.is_request() || self.computes_from(one, other).unwrap_or_else(is_mentioned)
    }

    /// Whether the port `one` of the request shows an attribute that it computes from the candidate at `other`. `None`
    /// if the index does not know the whole constraint of `one` or an attribute that `one` shows.
    fn computes_from(&self, one: PortPlace, other: PortPlace) -> Option<bool> {
        let query = self.pool.known_initial_query(one)?;
        let is_known = query.is_complete && query.shows_all(&self.pool.index);
        is_known.then(|| query.computed.iter().any(|(_, of, _)| *of == other))
    }

    /// Narrows the domain of an open port after `link` was docked at `docked`, without a new window query.
    /// Precondition: no docked port is undecided. The constraints of docked ports are ignored.
    ///
    /// `None` if the index does not know all attributes that the open port shows, lacks an attribute of `link`, or
    /// cannot prove the constraint of the open port.
    fn narrowed_by_index(
        &mut self,
        domain: &PortDomain,
        docked: PortPlace,
        link: PortPlace,
    ) -> Option<(RowBitmap, SettledConstraints)> {
        let shown = self.pool.known_initial_query(domain.place)?;
        let mut rows = (*domain.rows).clone();
        let OfferPool { table, index, .. } = &mut *self.pool;
        let row = index.row(link);
        let is_known = shown.shows_all(index)
            && index.settles_port(&shown)
            && index.retain_accepting(&mut rows, &shown, docked, row, table);
        if !is_known {
            return None;
        }
        table.statistics.probes += 1;
        let link_constraints =
            shown.computed.iter().all(|(_, of, _)| self.decisions.docked_pairs().any(|(at, _)| at == *of));
        Some((rows, SettledConstraints { port_constraint: true, link_constraints }))
    }

    fn max_candidate_classes(&self) -> usize {
        let ports = self.pool.table.port_count(Participant::REQUEST);
        MAX_CANDIDATE_CLASSES.max(ports.saturating_mul(CLASSES_PER_PORT))
    }

    /// Returns the rows of `rows` that are consistent with some candidate of another port, whose domain is `other`.
    /// `None` if the candidates of that port form more than [`MAX_CANDIDATE_CLASSES`] classes.
    fn rows_supported_by(
        &mut self,
        place: PortPlace,
        rows: &RowBitmap,
        other: &PortDomain,
        is_shown: bool,
        undecided: &[PortPlace],
    ) -> Option<RowBitmap> {
        let most = self.max_candidate_classes();
        let distinct = self.pool.feasibility_classes().representatives(&other.rows, most + 1);
        if distinct.len() > most {
            return None;
        }
        let OfferPool { table, index, .. } = &mut *self.pool;
        let mut supported = RowBitmap::with_capacity(rows.len());
        for row in distinct {
            let link = index.place(row);
            let mut answer = rows.clone();
            let undecided: Vec<PortPlace> = undecided.iter().copied().chain([other.place, link]).collect();
            let query = table.with_docked(other.place, link, |table| {
                if is_shown {
                    WindowQuery::of(place, &undecided, table, index)
                } else {
                    WindowQuery::of_undecided(place, &undecided, table)
                }
            });
            index.retain(&mut answer, &query, table);
            supported.union_with(&answer);
        }
        Some(supported)
    }
}
