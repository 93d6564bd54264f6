//! The search for the gang of a request (thesis 5): one backtracking search, which all algorithms configure.
//!
//! The search fills port after port and backtracks when a port has no candidate left. The algorithms of the thesis
//! backtrack chronologically and stop at the first gang.
//!
//! [`Algorithm::Best`] uses conflict-directed backjumping: it returns to the last decision in the conflict set of the
//! failure. It skips candidates equivalent to one that failed and runs forward checking ([`forward_checking`]). It
//! continues by branch and bound until no gang can beat the best gang found ([`bounds`]).
//!
//! The search undocks everything that it has docked: after [`find_gang`] nothing is docked.

mod agenda;
mod alternatives;
mod assignment;
mod bounds;
mod decisions;
mod forward_checking;
mod port_order;
mod score;
mod strategy;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ad::Participant;
use crate::matching::policy::{PolicyFault, PolicyRule, PolicyVector};
use crate::protocol::PortPattern;

use super::offer_pool::OfferPool;
use super::participants::PortPlace;
use super::port_index::{RowBitmap, SettledConstraints};
use super::{DockedOffer, Gang};
use agenda::{Agenda, Goal, JoiningAd};
use bounds::{ScoreBounds, first_gang_is_best};
use decisions::{ConflictSet, Decision, DecisionKind, DecisionStack, PortDomain, SearchState};
use forward_checking::ForwardChecking;

pub use port_order::PortOrder;
pub use score::{CandidateScore, GangScore};
pub use strategy::{Algorithm, SearchStrategy};

/// What searches remember from request to request.
pub struct SearchMemory {
    random: fastrand::Rng,
    /// Whether the next request is expected to get the first candidate of its first port, as the last request did. A
    /// request of at most two ports then starts without forward checking.
    expects_first_candidate: bool,
    /// The first docking vector computed. All other vectors must compare with it.
    first_vector: Option<PolicyVector>,
    /// Why docking vectors could not be compared. `None` if they could.
    fault: Option<PolicyFault>,
}

impl SearchMemory {
    /// Returns the memory before the first search. `seed` is for the algorithms that choose at random.
    pub fn new(seed: u64) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        SearchMemory { random, expects_first_candidate: true, first_vector: None, fault: None }
    }

    /// Restarts the random number generator with another seed.
    pub fn reseed(&mut self, seed: u64) {
        self.random = fastrand::Rng::with_seed(seed);
    }

    /// Returns why docking vectors could not be compared in the last search, and clears it.
    pub fn take_fault(&mut self) -> Option<PolicyFault> {
        self.fault.take()
    }

    /// Whether the docking vectors in `scores` compare with one another and with all earlier vectors. Records the fault
    /// if they do not.
    fn check_vectors(&mut self, scores: &[(usize, CandidateScore)], rules: &[PolicyRule]) -> bool {
        let mut vectors = scores.iter().filter_map(|(_, score)| match score {
            CandidateScore::Vector(vector) => Some(vector),
            _ => None,
        });
        let Some(first) = vectors.clone().next() else { return true };
        let known = self.first_vector.get_or_insert_with(|| first.clone());
        let check = PolicyVector::check_comparable(std::iter::once(&*known).chain(&mut vectors), "docking", rules);
        let is_comparable = check.is_ok();
        if let Err(fault) = check {
            self.fault.get_or_insert(fault);
        }
        is_comparable
    }
}

/// The search for one request: the decisions made so far and the best gang found.
struct GangSearch<'m> {
    pool: &'m mut OfferPool,
    memory: &'m mut SearchMemory,
    strategy: SearchStrategy,
    decisions: DecisionStack,
    forward_checking: ForwardChecking,
    /// Whether the search must undo all decisions and restart with forward checking.
    is_restart_due: bool,
    bounds: ScoreBounds,
    /// The best gang so far, with its score.
    best: Option<(GangScore, Gang)>,
    /// If set, only gangs with a lower score are wanted, because all others have already been enumerated.
    worse_than: Option<&'m GangScore>,
}

/// Searches for the best or the first gang of the current request, depending on the strategy. With `below`, only gangs
/// with a lower score count.
///
/// `None` if there is no gang, or if docking vectors do not compare: `memory` then holds the fault. An interrupted
/// search returns `None` or the best gang so far.
pub fn find_gang(
    pool: &mut OfferPool,
    memory: &mut SearchMemory,
    strategy: SearchStrategy,
    below: Option<&GangScore>,
) -> Option<(GangScore, Gang)> {
    if strategy.finds_best && pool.has_exhausted_port() {
        return None;
    }
    let looks_ahead = strategy.finds_best
        && (below.is_some() || pool.table().port_count(Participant::REQUEST) > 2 || !memory.expects_first_candidate);
    let mut search = GangSearch {
        pool,
        memory,
        strategy,
        decisions: DecisionStack::default(),
        forward_checking: ForwardChecking::new(looks_ahead),
        is_restart_due: false,
        bounds: ScoreBounds::default(),
        best: None,
        worse_than: below,
    };
    let found = search.run();
    search.decisions.undo_all(search.pool.table_mut());
    found
}

impl GangSearch<'_> {
    /// Runs the search and returns the gang found with its score. `None` if there is no gang. An interrupted search
    /// returns `None` or the best gang so far. May leave offers docked, which the caller must undock.
    fn run(&mut self) -> Option<(GangScore, Gang)> {
        let start = SearchState { agenda: Agenda::new(), undecided: Rc::from([]), domains: Rc::from([]) };
        let mut state = start.clone();
        loop {
            if self.pool.table().context().is_interrupted() {
                return None;
            }
            let next = match state.agenda.goal() {
                Goal::Done if !self.strategy.finds_best => {
                    return Some((GangScore::default(), self.build_gang()));
                }
                Goal::Done => {
                    self.update_best();
                    if self.best.is_some() && self.worse_than.is_none() && first_gang_is_best(self.pool) {
                        return self.best.take();
                    }
                    // Continue the search: from now on a gang must beat the best gang found.
                    self.backjump(&self.decisions.full_conflict_set(), false).and_then(|()| self.advance())
                }
                Goal::ChoosePorts(newcomer) => {
                    if let Some(patterns) = self.port_patterns(newcomer) {
                        let choice = DecisionKind::SelectPattern { newcomer, patterns, next: 0, taken: None };
                        self.decisions.push(Decision::new(choice, state));
                        self.advance()
                    } else {
                        let ports = (0..self.pool.table().port_count(newcomer.participant)).collect();
                        match self.plan_ports(&state, newcomer, ports) {
                            Ok(begun) => Some(begun),
                            Err(conflict) => self.backjump(&conflict, true).and_then(|()| self.advance()),
                        }
                    }
                }
                Goal::Fill(place) => {
                    let (candidates, settled) = self.candidates(place, &state);
                    self.decisions.push(Decision::new(
                        DecisionKind::FillPort { place, candidates, settled, docked: None },
                        state,
                    ));
                    self.advance()
                }
            };
            state = match next {
                Some(next) => next,
                None if self.is_restart_due => {
                    // The first candidates failed: restart with forward checking, for this request and the next ones.
                    self.memory.expects_first_candidate = false;
                    self.is_restart_due = false;
                    self.decisions.undo_all(self.pool.table_mut());
                    self.forward_checking = ForwardChecking::new(true);
                    start.clone()
                }
                None => return self.best.take(),
            };
        }
    }

    /// Returns the allowed patterns of an ad that joins the gang, limited to those that fill its link. `None` if all
    /// ports are mandatory.
    fn port_patterns(&self, newcomer: JoiningAd) -> Option<Rc<[PortPattern]>> {
        let patterns = self.pool.table().patterns(newcomer.participant)?;
        Some(match newcomer.link {
            Some(link) => patterns.iter().filter(|pattern| pattern.contains(link)).cloned().collect(),
            None => Rc::clone(patterns),
        })
    }

    /// Determines the order in which `ports` of an ad are filled and adds them to the agenda. Before that, checks that
    /// each port has candidates if the strategy requires it, or computes their domains for forward checking.
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
        ports.retain(|port| Some(*port) != newcomer.link);
        let (strategy, participant) = (self.strategy, newcomer.participant);
        let place = |port: usize| PortPlace { participant, port };
        strategy.order.sort_listed(&mut ports);
        let mut begun = state.clone();
        if strategy.requires_candidates {
            let mut sized = Vec::with_capacity(ports.len());
            for port in ports {
                let (rows, settled) = self.probe(place(port), &state.undecided);
                sized.push((
                    self.candidate_count(&rows),
                    PortDomain { place: place(port), rows: Rc::new(rows), settled },
                ));
            }
            if sized.iter().any(|(size, _)| *size == 0) {
                return Err(self.decisions.full_conflict_set());
            }
            strategy.order.sort_by_candidates(&mut sized);
            ports = sized.iter().map(|(_, domain)| domain.place.port).collect();
            // Keep the candidates only of the port that is filled first: nothing is docked before, so they stay valid.
            begun.domains = sized.into_iter().take(1).map(|(_, domain)| domain).collect();
        } else if self.forward_checking.is_enabled() {
            let (pool, decisions) = (&mut *self.pool, &self.decisions);
            self.forward_checking.initialize_domains(pool, decisions, &mut begun, participant, &ports)?;
        }
        begun.agenda = begun.agenda.with_ports_chosen(newcomer, ports.into());
        Ok(begun)
    }

    /// Returns the number of candidates in `rows`. Equivalent candidates count as one if the strategy summarizes.
    fn candidate_count(&mut self, rows: &RowBitmap) -> usize {
        if self.strategy.summarized {
            self.pool.candidate_classes().representatives(rows, usize::MAX).len()
        } else {
            rows.count_ones(..)
        }
    }

    /// Runs a window query: returns the rows that may dock at a port, and the constraints that the index has proved.
    fn probe(&mut self, place: PortPlace, undecided: &[PortPlace]) -> (RowBitmap, SettledConstraints) {
        let (rows, settled) = self.pool.probe(place, undecided, self.decisions.is_gang_empty());
        // Ignore what the index has proved: the thesis's algorithms evaluate every candidate that they test.
        (rows, if self.strategy.finds_best { settled } else { SettledConstraints::default() })
    }

    /// Takes the next alternative of the last decision and backtracks as long as a decision has none left. Returns the
    /// new state. `None` if the search is exhausted or must restart with forward checking.
    fn advance(&mut self) -> Option<SearchState> {
        loop {
            let depth = self.decisions.len().checked_sub(1)?;
            if let Some(state) = self.try_next(depth) {
                return Some(state);
            }
            let mut level = self.decisions.pop()?;
            match (&level.kind, level.is_infeasible) {
                (DecisionKind::FillPort { place, .. }, true) => {
                    level.conflict_set.union_with(&self.conflict_set(*place));
                }
                (DecisionKind::SelectPattern { .. }, true) => {}
                _ => level.conflict_set = self.decisions.full_conflict_set(),
            }
            self.backjump(&level.conflict_set, level.is_infeasible)?;
        }
    }

    /// Undoes decisions down to and including the last decision in the conflict set, whose next alternative is to be
    /// tried. Chronological backtracking undoes only the last decision. Returns `None` if there is no such decision or
    /// the search must restart with forward checking.
    ///
    /// `impossible` says whether the undone alternative leads to no gang at all, rather than to no better one.
    fn backjump(&mut self, conflict: &ConflictSet, impossible: bool) -> Option<()> {
        let culprit = if self.strategy.finds_best {
            conflict.ones().take_while(|level| *level < self.decisions.len()).last()?
        } else {
            self.decisions.len().checked_sub(1)?
        };
        while let Some(depth) = self.decisions.len().checked_sub(1).filter(|depth| *depth >= culprit) {
            let is_culprit = depth == culprit;
            if is_culprit {
                let decision = self.decisions.at_mut(depth);
                decision.is_infeasible &= impossible;
                decision.conflict_set.union_with(conflict);
                decision.conflict_set.set(culprit, false);
                if impossible && let Some((_, link)) = decision.docked_pair() {
                    self.mark_class_failed(depth, link);
                }
            }
            let was_docked = self.decisions.undo(depth, self.pool.table_mut());
            // Going on after a complete gang is no backtrack.
            self.pool.table_mut().statistics_mut().backtracks += u64::from(was_docked && impossible);
            if is_culprit {
                self.is_restart_due = self.needs_forward_checking(depth);
                break;
            }
            self.decisions.pop();
        }
        (!self.is_restart_due).then_some(())
    }

    /// Whether to restart with forward checking, because a candidate of the decision at `depth` failed and several more
    /// would have to be tried.
    fn needs_forward_checking(&self, depth: usize) -> bool {
        /// Minimum number of untried candidates for which a restart pays.
        const MIN_UNTRIED_CANDIDATES: usize = 3;
        self.strategy.finds_best
            && !self.forward_checking.is_enabled()
            && self.best.is_none()
            && matches!(&self.decisions.at(depth).kind, DecisionKind::FillPort { candidates, .. } if candidates.has_at_least(MIN_UNTRIED_CANDIDATES))
    }

    /// Marks the class of a candidate that failed at the decision at `depth`, so that equivalent candidates are
    /// skipped.
    fn mark_class_failed(&mut self, depth: usize, link: PortPlace) {
        if self.strategy.finds_best && self.forward_checking.is_enabled() {
            let class = self.pool.candidate_classes().class_of(self.pool.index().row(link));
            self.decisions.at_mut(depth).failed_classes.extend(class);
        }
    }

    /// Returns the conflict set of a port: the decisions that may affect which candidates dock there.
    fn conflict_set(&self, place: PortPlace) -> ConflictSet {
        self.forward_checking.conflict_set(self.pool, &self.decisions, place)
    }

    /// Makes the complete gang the best gang if it is acceptable, better than the best gang so far and worse than
    /// `worse_than`.
    fn update_best(&mut self) {
        let preference = self.gang_score();
        let is_acceptable = preference.scores.iter().all(CandidateScore::is_acceptable);
        let is_below = self.worse_than.is_none_or(|above| preference.compare(above).is_lt());
        if is_acceptable && is_below && self.best.as_ref().is_none_or(|(best, _)| preference.compare(best).is_gt()) {
            self.memory.expects_first_candidate = !self.forward_checking.is_enabled()
                || self.forward_checking.first_candidate() == self.first_docked_row();
            self.best = Some((preference, self.build_gang()));
        }
    }

    /// Returns the row that was docked first. `None` if nothing is docked.
    fn first_docked_row(&self) -> Option<usize> {
        self.decisions.docked_pairs().next().map(|(_, link)| self.pool.index().row(link))
    }

    /// Returns the score of the complete gang. Scores unknown at the time of docking are computed now.
    fn gang_score(&mut self) -> GangScore {
        let mut preference = GangScore::default();
        for level in self.decisions.iter() {
            let Some((place, link)) = level.docked_pair() else {
                preference.scores.extend(level.scores.iter().cloned());
                continue;
            };
            preference.scores.push(match level.scores.first() {
                Some(worth) if *worth != CandidateScore::Unknown => worth.clone(),
                _ => self.pool.table_mut().docked_score(place, link),
            });
            preference.offers.push(link.participant);
            preference.links.push(link.port);
        }
        preference
    }

    /// Builds the tree of the complete gang. Works from the last decision to the first, without recursion, since a long
    /// chain of docked ads would overflow the stack.
    fn build_gang(&mut self) -> Gang {
        let mut below: FxHashMap<Participant, Vec<(usize, DockedOffer)>> = FxHashMap::default();
        for (place, link) in self.decisions.docked_pairs().rev() {
            let part = self.pool.part_number(link.participant);
            let table = self.pool.table_mut();
            let docked = DockedOffer {
                label: table.label(place),
                offer: link.participant.offer(),
                part,
                link: link.port,
                rank: table.rank(place),
                offer_rank: table.rank(link),
                ports: sorted_by_port(below.remove(&link.participant)),
            };
            below.entry(place.participant).or_default().push((place.port, docked));
        }
        Gang { request: 0, ports: sorted_by_port(below.remove(&Participant::REQUEST)) }
    }
}

/// Sorts docked offers by the index of their port and drops the index. Empty for `None`.
fn sorted_by_port(ports: Option<Vec<(usize, DockedOffer)>>) -> Vec<DockedOffer> {
    let mut ports = ports.unwrap_or_default();
    ports.sort_by_key(|(port, _)| *port);
    ports.into_iter().map(|(_, docked)| docked).collect()
}
