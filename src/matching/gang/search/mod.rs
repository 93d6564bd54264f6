//! The search for the gang of a request (thesis 5). All algorithms are settings of one backtracking search.
//!
//! The search fills port after port and backtracks when a port has no candidate left. The algorithms of the thesis
//! backtrack chronologically and stop at the first gang.
//!
//! [`Algorithm::Best`] uses conflict-directed backjumping: it returns to the last decision in the conflict set of the
//! failure. It skips candidates equivalent to one that failed, also at interchangeable ports ([`symmetry`]), and runs
//! forward checking ([`forward_checking`]), which counts the values of ports that must differ ([`all_different`]). It
//! continues by branch and bound until no gang can beat the best gang found ([`bounds`]).
//!
//! The search undocks everything that it has docked: after [`find_gang`] nothing is docked.

mod agenda;
mod all_different;
mod alternatives;
mod assignment;
mod bounds;
mod budget;
mod decisions;
mod dependencies;
mod forward_checking;
mod memory;
mod score;
mod strategy;
mod symmetry;
#[cfg(test)]
mod tests;
mod upper_bound;
mod value_assignments;

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ad::Participant;
use crate::protocol::PortPattern;

use super::offer_pool::OfferPool;
use super::participants::PortPlace;
use super::port_index::{RowBitmap, SettledConstraints};
use super::{DockedOffer, Gang};
use agenda::{Goal, JoiningAd};
use bounds::BranchAndBound;
use budget::SearchBudget;
use decisions::{ConflictSet, Decision, DecisionKind, DecisionStack, PortDomain, SearchState};
use forward_checking::{ForwardChecking, LookAhead};

pub use memory::SearchMemory;
pub use score::{CandidateScore, GangScore};
pub use strategy::{Algorithm, PortOrder, SearchStrategy};

/// Minimum number of untried candidates for which a restart with forward checking saves time.
const MIN_UNTRIED_CANDIDATES: usize = 3;

/// The search for one request: the decisions made so far and the best gang found.
struct GangSearch<'m> {
    pool: &'m mut OfferPool,
    memory: &'m mut SearchMemory,
    strategy: SearchStrategy,
    decisions: DecisionStack,
    /// What forward checking has found out. `None` if the search runs without forward checking.
    look_ahead: Option<LookAhead>,
    /// Whether the search must undo all decisions and restart with forward checking.
    is_restart_due: bool,
    bounds: BranchAndBound<'m>,
    budget: SearchBudget,
}

/// Searches for the best or the first gang of the current request, depending on the strategy. With `worse_than`, finds
/// only gangs with a lower score.
///
/// `None` if there is no gang. Also `None` if docking vectors cannot be compared: `memory` then holds the error. An
/// interrupted search returns `None` or the best gang so far. So does a search for the best gang that makes more tests
/// than [`Context::max_search_tests`], besides one of each offer at each port; it counts as a failure in the
/// statistics.
///
/// [`Context::max_search_tests`]: crate::eval::Context::max_search_tests
pub fn find_gang(
    pool: &mut OfferPool,
    memory: &mut SearchMemory,
    strategy: SearchStrategy,
    worse_than: Option<&GangScore>,
) -> Option<(GangScore, Gang)> {
    memory.was_cut_off = false;
    if strategy.finds_best && pool.has_exhausted_port() {
        return None;
    }
    let is_hard =
        worse_than.is_some() || pool.table.port_count(Participant::REQUEST) > 2 || !memory.expects_first_candidate;
    let mut search = GangSearch {
        budget: SearchBudget::new(&pool.table, strategy.is_limited),
        decisions: std::mem::take(&mut memory.decisions),
        pool,
        memory,
        strategy,
        look_ahead: (strategy.finds_best && is_hard).then(LookAhead::default),
        is_restart_due: false,
        bounds: BranchAndBound::new(worse_than),
    };
    let found = search.run();
    let is_spent = search.is_spent();
    search.decisions.undo_all(&mut search.pool.table);
    search.memory.decisions = search.decisions;
    search.memory.was_cut_off = is_spent;
    pool.table.statistics.failures += u64::from(is_spent);
    pool.table.statistics.cut_off_searches += u64::from(is_spent);
    found
}

impl GangSearch<'_> {
    /// Runs the search and returns the gang found with its score. `None` if there is no gang. An interrupted search
    /// returns `None` or the best gang so far. May leave offers docked, which the caller must undock.
    fn run(&mut self) -> Option<(GangScore, Gang)> {
        let mut state = SearchState::default();
        loop {
            if self.pool.table.context.is_interrupted() {
                return None;
            }
            if self.is_spent() {
                return self.bounds.best.take();
            }
            let next = match state.agenda.goal() {
                Goal::Done if !self.strategy.finds_best => {
                    return Some((GangScore::default(), self.build_gang()));
                }
                Goal::Done => {
                    self.update_best();
                    if self.bounds.is_best_certain(self.pool) {
                        return self.bounds.best.take();
                    }
                    // Continue the search: from now on a gang must beat the best gang found.
                    self.backtrack(&self.decisions.full_conflict_set(), false)
                }
                Goal::ChoosePorts(newcomer) => {
                    if let Some(patterns) = self.port_patterns(newcomer) {
                        self.decide(DecisionKind::SelectPattern { newcomer, patterns, next: 0, taken: None }, state)
                    } else {
                        let ports = (0..self.pool.table.port_count(newcomer.participant)).collect();
                        match self.plan_ports(&state, newcomer, ports) {
                            Ok(planned) => Some(planned),
                            Err(conflict) => self.backtrack(&conflict, true),
                        }
                    }
                }
                Goal::Fill(place) => {
                    let (candidates, settled) = self.candidates(place, &state);
                    self.decide(DecisionKind::FillPort { place, candidates, settled, docked: None }, state)
                }
            };
            state = match next {
                Some(next) => next,
                None if self.is_restart_due => {
                    // The first candidates failed. Restart with forward checking, and use it for the next requests from
                    // the start.
                    self.memory.expects_first_candidate = false;
                    self.is_restart_due = false;
                    self.decisions.undo_all(&mut self.pool.table);
                    self.look_ahead = Some(LookAhead::default());
                    SearchState::default()
                }
                None => return self.bounds.best.take(),
            };
        }
    }

    /// Whether the search has made as many tests as it may, or looked at as many parts of expressions. It then ends with
    /// the best gang so far.
    fn is_spent(&self) -> bool {
        self.budget.is_spent(&self.pool.table)
    }

    /// Returns the allowed patterns of an ad that joins the gang, limited to those that fill its link. `None` if all
    /// ports are mandatory.
    fn port_patterns(&self, newcomer: JoiningAd) -> Option<Rc<[PortPattern]>> {
        let patterns = self.pool.table.patterns(newcomer.participant)?;
        Some(match newcomer.link {
            Some(link) => patterns.iter().filter(|pattern| pattern.contains(link)).cloned().collect(),
            None => Rc::clone(patterns),
        })
    }

    /// Puts `ports` of an ad in the order in which they are filled and adds them to the agenda. If the strategy
    /// requires it, first checks that each port has candidates. If the search runs forward checking, first computes
    /// their domains.
    ///
    /// # Errors
    ///
    /// The conflict set, if some port has no candidates.
    fn plan_ports(
        &mut self,
        state: &SearchState,
        newcomer: JoiningAd,
        mut ports: Vec<usize>,
    ) -> Result<SearchState, ConflictSet> {
        let (strategy, participant) = (self.strategy, newcomer.participant);
        ports.retain(|port| Some(*port) != newcomer.link);
        if strategy.order == PortOrder::Reversed {
            ports.reverse();
        }
        let mut planned = state.clone();
        if strategy.requires_candidates {
            let mut sized = Vec::with_capacity(ports.len());
            for port in ports {
                let place = PortPlace { participant, port };
                let (rows, settled) = self.probe(place, &state.undecided);
                let size = if strategy.summarized {
                    self.pool.candidate_classes().representatives(&rows, usize::MAX).len()
                } else {
                    rows.count_ones(..)
                };
                sized.push((size, PortDomain { place, rows: Rc::new(rows), settled }));
            }
            if sized.iter().any(|(size, _)| *size == 0) {
                return Err(self.decisions.full_conflict_set());
            }
            if strategy.order == PortOrder::FewestFirst {
                sized.sort_by_key(|(size, _)| *size);
            }
            ports = sized.iter().map(|(_, domain)| domain.place.port).collect();
            // Keep only the candidates of the port that is filled first. No offer is docked before this port is filled,
            // so that its candidates stay valid.
            planned.domains = sized.into_iter().take(1).map(|(_, domain)| domain).collect();
        } else if let Some(mut checking) = self.forward_checking() {
            checking.initialize_domains(&mut planned, participant, &ports)?;
        }
        planned.agenda = planned.agenda.with_ports_chosen(newcomer, ports.into());
        Ok(planned)
    }

    /// Runs a window query. Returns the rows that may dock at a port, and the constraints that the index has proved.
    fn probe(&mut self, place: PortPlace, undecided: &[PortPlace]) -> (RowBitmap, SettledConstraints) {
        let (rows, settled) = self.pool.probe(place, undecided, self.decisions.holders().is_empty());
        // Ignore proved constraints in the thesis's algorithms, which evaluate every candidate that they test.
        (rows, if self.strategy.finds_best { settled } else { SettledConstraints::default() })
    }

    /// Returns forward checking of the current decisions. `None` if the search runs without forward checking.
    fn forward_checking(&mut self) -> Option<ForwardChecking<'_>> {
        let look_ahead = self.look_ahead.as_mut()?;
        Some(ForwardChecking { pool: self.pool, decisions: &self.decisions, look_ahead })
    }

    /// Returns the conflict set of a port: the decisions that may affect which candidates dock there.
    fn conflict_set(&mut self, place: PortPlace) -> ConflictSet {
        match self.forward_checking() {
            Some(checking) => checking.conflict_set(place),
            None => self.decisions.full_conflict_set(),
        }
    }

    /// Adds a decision to be made in `state` and takes its first alternative by [`GangSearch::advance`]. Returns the
    /// new state. `None` if the search is exhausted or must restart with forward checking.
    fn decide(&mut self, kind: DecisionKind, state: SearchState) -> Option<SearchState> {
        self.decisions.push(Decision::new(kind, state));
        self.advance()
    }

    /// Undoes decisions by [`GangSearch::backjump`] and takes the next alternative by [`GangSearch::advance`]. Returns
    /// the new state. `None` if the search is exhausted or must restart with forward checking.
    fn backtrack(&mut self, conflict: &ConflictSet, is_infeasible: bool) -> Option<SearchState> {
        self.backjump(conflict, is_infeasible)?;
        self.advance()
    }

    /// Takes the next alternative of the last decision and backtracks as long as a decision has none left. Returns the
    /// new state. `None` if the search is exhausted or must restart with forward checking.
    fn advance(&mut self) -> Option<SearchState> {
        loop {
            let depth = self.decisions.last_depth()?;
            if let Some(state) = self.try_next(depth) {
                return Some(state);
            }
            let mut decision = self.decisions.pop()?;
            match (&decision.kind, decision.is_infeasible) {
                (DecisionKind::FillPort { place, .. }, true) => {
                    decision.conflict_set.union_with(&self.conflict_set(*place));
                }
                (DecisionKind::SelectPattern { .. }, true) => {}
                _ => decision.conflict_set = self.decisions.full_conflict_set(),
            }
            self.backjump(&decision.conflict_set, decision.is_infeasible)?;
        }
    }

    /// Goes back to the last decision in the conflict set. Undoes its alternative and all later decisions, so that its
    /// next alternative can be tried. A strategy that takes the first gang goes back to the last decision on the stack
    /// instead.
    /// `None` if no decision is left or the search must restart with forward checking.
    ///
    /// `is_infeasible` says that the undone alternative leads to no gang at all. If it is false, the alternative leads
    /// to gangs, but to no better ones.
    fn backjump(&mut self, conflict: &ConflictSet, is_infeasible: bool) -> Option<()> {
        let last = self.decisions.last_depth()?;
        let culprit =
            if self.strategy.finds_best { conflict.ones().take_while(|depth| *depth <= last).last()? } else { last };
        let decision = &mut self.decisions[culprit];
        decision.is_infeasible &= is_infeasible;
        decision.add_conflict(culprit, conflict);
        if let Some((_, link)) = decision.docked_pair() {
            if is_infeasible {
                self.mark_class_failed(culprit, link);
            } else {
                self.mark_class_explored(culprit, link);
            }
        }
        let undone = self.decisions.return_to(&mut self.pool.table, culprit);
        // Do not count backtracks if the search only continues after a complete gang.
        self.pool.table.statistics.backtracks += if is_infeasible { undone } else { 0 };
        // Restart with forward checking if many candidates of the decision have not been tried yet.
        self.is_restart_due = self.strategy.finds_best
            && self.look_ahead.is_none()
            && self.bounds.best.is_none()
            && self.decisions[culprit].has_untried_candidates(MIN_UNTRIED_CANDIDATES);
        (!self.is_restart_due).then_some(())
    }

    /// Makes the complete gang the best gang if it is an improvement.
    fn update_best(&mut self) {
        let score = self.gang_score();
        if self.bounds.is_improvement(&score) {
            let first_row = self.decisions.docked_pairs().next().map(|(_, link)| self.pool.index.row(link));
            let look_ahead = self.look_ahead.as_ref();
            self.memory.expects_first_candidate = look_ahead.is_none_or(|ahead| ahead.first_candidate == first_row);
            self.bounds.best = Some((score, self.build_gang()));
        }
    }

    /// Returns the score of the complete gang. Scores unknown at the time of docking are computed now.
    fn gang_score(&mut self) -> GangScore {
        let mut gang = GangScore::default();
        for decision in self.decisions.iter() {
            let Some((place, link)) = decision.docked_pair() else {
                gang.scores.extend(decision.scores.iter().cloned());
                continue;
            };
            gang.scores.push(match decision.scores.first() {
                Some(score) if *score != CandidateScore::Unknown => score.clone(),
                _ => self.pool.table.docked_score(place, link),
            });
            gang.offers.push(link.participant);
            gang.links.push(link.port);
        }
        gang
    }

    /// Builds the tree of the complete gang. Works from the last decision to the first, without recursion, since a long
    /// chain of docked ads would overflow the stack.
    fn build_gang(&mut self) -> Gang {
        let pairs: Vec<(PortPlace, PortPlace)> = self.decisions.docked_pairs().rev().collect();
        if pairs.iter().all(|(place, _)| place.participant.is_request()) {
            // The usual gang has no tree below the request's ports and needs no tables.
            let docked =
                pairs.into_iter().map(|(place, link)| (place.port, self.docked_offer(place, link, Vec::new())));
            let mut docked: Vec<(usize, DockedOffer)> = docked.collect();
            docked.sort_unstable_by_key(|(port, _)| *port);
            return Gang { request: 0, ports: docked.into_iter().map(|(_, docked)| docked).collect() };
        }
        // For each participant, the offers docked at it, by the index of its port.
        let mut below: FxHashMap<Participant, BTreeMap<usize, DockedOffer>> = FxHashMap::default();
        for (place, link) in pairs {
            let ports = below.remove(&link.participant).unwrap_or_default().into_values().collect();
            let docked = self.docked_offer(place, link, ports);
            below.entry(place.participant).or_default().insert(place.port, docked);
        }
        Gang { request: 0, ports: below.remove(&Participant::REQUEST).unwrap_or_default().into_values().collect() }
    }

    /// Returns the offer docked at a port, with the offers docked at its own ports.
    fn docked_offer(&mut self, place: PortPlace, link: PortPlace, ports: Vec<DockedOffer>) -> DockedOffer {
        let table = &mut self.pool.table;
        let docks = !table.docking_vector.is_empty();
        let vector = match docks.then(|| table.docked_score(place, link)) {
            Some(CandidateScore::Vector(vector)) => Some(vector),
            _ => None,
        };
        DockedOffer {
            label: table.label(place),
            offer: link.participant.offer(),
            rank: table.rank(place).unwrap_or(0.0),
            offer_rank: table.rank(link).unwrap_or(0.0),
            vector,
            part: self.pool.part_number(link.participant),
            link: link.port,
            ports,
        }
    }
}
