//! The search for the gang of a request (thesis 5): one backtracking search, which all algorithms configure.
//!
//! It fills port after port and backtracks when a port has no candidate left. The preset algorithms of the thesis
//! backtrack chronologically and stop at the first gang.
//!
//! `best` uses conflict-directed backjumping: it returns to the last decision in the conflict set of the failure. It
//! skips candidates equivalent to one that failed, runs forward checking ([`super::forward_checking`]), and continues
//! by branch and bound until no gang can beat the best one found ([`super::bounds`]).

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::Participant;
use crate::protocol::PortPattern;

use super::agenda::{Agenda, Goal, JoiningAd};
use super::bounds::{BoundTest, ScoreBounds};
use super::decisions::{Candidates, ConflictSet, Decision, DecisionKind, PortDomain, SearchState, SettledConstraints};
use super::forward_checking::ForwardChecking;
use super::matcher::Gangmatcher;
use super::participants::{DockingVerdict, PortPlace};
use super::port_index::RowBitmap;
use super::score::{CandidateScore, GangScore};
use super::strategy::PortOrder;
use super::window_query::WindowQuery;
use super::{DockedOffer, Gang};

/// The state of the search for one request.
pub struct GangSearch<'m> {
    pub(super) matcher: &'m mut Gangmatcher,
    /// The decision stack.
    pub(super) decisions: Vec<Decision>,
    /// For each offer in the gang, the decision that docked it, as an index into the decision stack.
    pub(super) decision_by_offer: FxHashMap<Participant, usize>,
    pub(super) forward_checking: ForwardChecking,
    pub(super) bounds: ScoreBounds,
    /// The best gang so far, with its score.
    pub(super) best: Option<(GangScore, Gang)>,
    /// If set, only gangs with a lower score are wanted: those up to it have been enumerated.
    pub(super) worse_than: Option<GangScore>,
}

impl GangSearch<'_> {
    /// Runs the search and returns the gang found with its score. `None` if there is none, or if the search is
    /// interrupted before its end.
    pub(super) fn run(&mut self) -> Option<(GangScore, Gang)> {
        let start = SearchState { agenda: Agenda::new(), undecided: Rc::from([]), domains: Rc::from([]) };
        let mut state = start.clone();
        loop {
            if self.matcher.table.is_interrupted() {
                return None;
            }
            let next = match state.agenda.goal() {
                Goal::Done if !self.matcher.strategy.finds_best => {
                    return Some((GangScore::default(), self.build_gang()));
                }
                Goal::Done => {
                    self.update_best();
                    if self.best.is_some() && self.first_gang_is_best() {
                        return self.best.take();
                    }
                    // Continue the search; from now on a gang must beat the best one.
                    self.backjump(&self.full_conflict_set(), false).and_then(|()| self.advance())
                }
                Goal::ChoosePorts(newcomer) => {
                    if let Some(patterns) = self.port_patterns(newcomer) {
                        let choice = DecisionKind::SelectPattern { newcomer, patterns, next: 0, taken: None };
                        self.decisions.push(Decision::new(choice, state));
                        self.advance()
                    } else {
                        let ports = (0..self.matcher.table.port_count(newcomer.participant)).collect();
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
                None if self.forward_checking.is_restart_due => {
                    // The first candidates failed: restart with forward checking, for this request and the next ones.
                    self.matcher.expects_first_candidate = false;
                    self.undo_all();
                    self.forward_checking = ForwardChecking::new(true);
                    start.clone()
                }
                None => return self.best.take(),
            };
        }
    }

    /// Undoes all decisions.
    pub(super) fn undo_all(&mut self) {
        while let Some(mut level) = self.decisions.pop() {
            self.undo(&mut level);
        }
    }

    /// Undoes the alternative taken by a decision. Returns whether one was taken.
    fn undo(&mut self, level: &mut Decision) -> bool {
        level.scores.clear();
        match &mut level.kind {
            DecisionKind::FillPort { place, docked, .. } => {
                let Some(link) = docked.take() else { return false };
                self.matcher.table.undock(*place, link);
                self.decision_by_offer.remove(&link.participant);
                true
            }
            DecisionKind::SelectPattern { newcomer, patterns, taken, .. } => {
                let Some(taken) = taken.take() else { return false };
                self.matcher.table.reopen_unfilled(newcomer.participant, &patterns[taken]);
                true
            }
        }
    }

    /// Returns the allowed patterns of an ad that joins the gang, which must fill its link. `None` if all ports are
    /// mandatory.
    fn port_patterns(&self, newcomer: JoiningAd) -> Option<Rc<[PortPattern]>> {
        let patterns = self.matcher.table.patterns(newcomer.participant)?;
        Some(match newcomer.link {
            Some(link) => patterns.iter().filter(|pattern| pattern.contains(link)).cloned().collect(),
            None => Rc::clone(patterns),
        })
    }

    /// Determines the order in which the given ports of an ad are filled, and checks them as the strategy demands.
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
        let (strategy, participant) = (self.matcher.strategy, newcomer.participant);
        let place = |port: usize| PortPlace { participant, port };
        if strategy.order == PortOrder::Reversed {
            ports.reverse();
        }
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
                return Err(self.full_conflict_set());
            }
            if strategy.order == PortOrder::FewestFirst {
                sized.sort_by_key(|(size, _)| *size);
            }
            ports = sized.iter().map(|(_, domain)| domain.place.port).collect();
            // Keep the candidates of the port that is filled first: they stay valid until then.
            begun.domains = sized.into_iter().take(1).map(|(_, domain)| domain).collect();
        } else if self.forward_checking.is_enabled {
            self.initialize_domains(&mut begun, participant, &ports)?;
        }
        begun.agenda = begun.agenda.with_ports_chosen(newcomer, ports.into());
        Ok(begun)
    }

    /// Returns the number of candidates, or of candidate classes if the strategy summarizes.
    fn candidate_count(&mut self, rows: &RowBitmap) -> usize {
        if self.matcher.strategy.summarized {
            self.candidate_classes().representatives(rows, usize::MAX).len()
        } else {
            rows.count_ones(..)
        }
    }

    /// Runs a window query: returns the rows that may dock at a port, and the constraints that the index has proved.
    pub(super) fn probe(&mut self, place: PortPlace, waiting: &[PortPlace]) -> (RowBitmap, SettledConstraints) {
        self.matcher.statistics.probes += 1;
        let first = self.is_initial(place).then(|| self.matcher.initial_query(place.port));
        let Gangmatcher { table, port_index: links, strategy, .. } = &mut *self.matcher;
        let window = first.unwrap_or_else(|| Rc::new(WindowQuery::of(place, waiting, table, links)));
        let rows = links.select(&window, table);
        // The thesis's algorithms evaluate every candidate that they test.
        (rows, if strategy.finds_best { links.settled_constraints(&window) } else { SettledConstraints::default() })
    }

    /// Whether a port is a mandatory one of the request and nothing is docked yet, so that its cached window query
    /// applies.
    pub(super) fn is_initial(&self, place: PortPlace) -> bool {
        self.decision_by_offer.is_empty() && place.participant == 0 && self.matcher.table.patterns(0).is_none()
    }

    /// Returns the candidates of a port in the order in which they are tried, and the constraints that the index has
    /// proved.
    fn candidates(&mut self, place: PortPlace, state: &SearchState) -> (Candidates, SettledConstraints) {
        let strategy = self.matcher.strategy;
        let (rows, settled) = match state.domains.iter().find(|domain| domain.place == place) {
            Some(domain) => (Rc::clone(&domain.rows), domain.settled),
            None if strategy.indexed => {
                let (rows, settled) = self.probe(place, &state.undecided);
                (Rc::new(rows), settled)
            }
            None => (Rc::new(self.matcher.port_index.unused().clone()), SettledConstraints::default()),
        };
        if strategy.finds_best && self.matcher.is_ranked(place, &rows) {
            return (self.ranked_candidates(place, &rows), settled);
        }
        if strategy.summarized {
            // Offers in the gang must not represent their class.
            let mut rows = (*rows).clone();
            self.decision_by_offer
                .keys()
                .for_each(|holder| rows.set_range(self.matcher.port_index.rows_of(*holder), false));
            let mut rows = self.candidate_classes().representatives(&rows, usize::MAX);
            if strategy.random_start && !rows.is_empty() {
                let start = self.matcher.random.usize(..rows.len());
                rows.rotate_left(start);
            }
            return (Candidates::Listed { rows, worths: Vec::new(), next: 0 }, settled);
        }
        (Candidates::Set { rows, next: 0 }, settled)
    }

    /// Sorts rows by their score at a port, best first, then by input order.
    fn ranked_candidates(&mut self, place: PortPlace, rows: &RowBitmap) -> Candidates {
        let mut ranked: Vec<(usize, CandidateScore)> = Vec::new();
        let mut held = Vec::new();
        for row in rows.ones() {
            // Offers in the gang come first: the search skips them and adds their holders to the conflict set.
            if self.decision_by_offer.contains_key(&self.matcher.port_index.place(row).participant) {
                held.push((row, CandidateScore::Unknown));
                continue;
            }
            let worth = self.candidate_score(place, row);
            if worth.is_acceptable() {
                ranked.push((row, worth));
            }
        }
        if let Err(fault) = self.matcher.check_vectors(ranked.iter().map(|(_, worth)| worth)) {
            self.matcher.fault.get_or_insert(fault);
            return Candidates::Listed { rows: Vec::new(), worths: Vec::new(), next: 0 };
        }
        // An unknown score may turn out best: try these rows first.
        let is_known = |worth: &CandidateScore| *worth != CandidateScore::Unknown;
        ranked.sort_by(|(_, left), (_, right)| {
            right.compare(left).unwrap_or_else(|| is_known(left).cmp(&is_known(right)))
        });
        let (rows, worths) = held.into_iter().chain(ranked).unzip();
        Candidates::Listed { rows, worths, next: 0 }
    }

    /// Takes the next alternative of the last decision that has one left, and backtracks from the others. Returns the
    /// new state, or `None` when the search is exhausted.
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
                _ => level.conflict_set = self.full_conflict_set(),
            }
            self.backjump(&level.conflict_set, level.is_infeasible)?;
        }
    }

    /// Backjumps: undoes decisions down to and including the last one in the conflict set. Returns `None` if there is
    /// none, or if the search should restart with forward checking.
    ///
    /// `impossible` says whether the undone decision is infeasible, rather than merely no better than the best gang.
    fn backjump(&mut self, conflict: &ConflictSet, impossible: bool) -> Option<()> {
        let culprit = if self.matcher.strategy.finds_best {
            conflict.ones().take_while(|level| *level < self.decisions.len()).last()?
        } else {
            self.decisions.len().checked_sub(1)?
        };
        while self.decisions.len() > culprit {
            let mut level = self.decisions.pop()?;
            let is_culprit = self.decisions.len() == culprit;
            if is_culprit {
                level.is_infeasible &= impossible;
                level.conflict_set.union_with(conflict);
                level.conflict_set.set(culprit, false);
                if impossible && let DecisionKind::FillPort { docked: Some(link), .. } = &level.kind {
                    self.mark_class_failed(&mut level.failed_classes, *link);
                }
            }
            let was_docked = self.undo(&mut level);
            // Going on after a complete gang is no backtrack.
            self.matcher.statistics.backtracks += u64::from(was_docked && impossible);
            if is_culprit {
                self.forward_checking.is_restart_due = self.needs_forward_checking(&level);
                self.decisions.push(level);
                break;
            }
        }
        (!self.forward_checking.is_restart_due).then_some(())
    }

    /// Whether to restart with forward checking, because a candidate failed and many are left.
    fn needs_forward_checking(&self, level: &Decision) -> bool {
        /// Minimum number of untried candidates.
        const MIN_UNTRIED_CANDIDATES: usize = 3;
        self.matcher.strategy.finds_best
            && !self.forward_checking.is_enabled
            && self.best.is_none()
            && matches!(&level.kind, DecisionKind::FillPort { candidates, .. } if candidates.has_at_least(MIN_UNTRIED_CANDIDATES))
    }

    /// Adds the class of a failed candidate to `failed`, so that its equivalents are skipped.
    fn mark_class_failed(&mut self, failed: &mut FxHashSet<usize>, link: PortPlace) {
        if self.matcher.strategy.finds_best && self.forward_checking.is_enabled {
            let row = self.matcher.port_index.row(link);
            failed.extend(self.candidate_classes().class_of(row));
        }
    }

    /// Returns the conflict set of all decisions.
    pub(super) fn full_conflict_set(&self) -> ConflictSet {
        let mut all = ConflictSet::with_capacity(self.decisions.len());
        all.insert_range(..);
        all
    }

    /// Takes the next feasible alternative of the decision at `depth`. Returns the new state, or `None` if none is
    /// left.
    fn try_next(&mut self, depth: usize) -> Option<SearchState> {
        if matches!(self.decisions[depth].kind, DecisionKind::SelectPattern { .. }) {
            return self.try_next_pattern(depth);
        }
        loop {
            if self.matcher.table.is_interrupted() {
                return None;
            }
            let level = &mut self.decisions[depth];
            let DecisionKind::FillPort { place, candidates, .. } = &mut level.kind else { return None };
            let (place, (row, worth)) = (*place, candidates.next()?);
            let link = self.matcher.port_index.place(row);
            if let Some(holder) = self.decision_by_offer.get(&link.participant) {
                level.conflict_set.grow_and_insert(*holder);
                continue;
            }
            if !level.failed_classes.is_empty()
                && self
                    .candidate_classes()
                    .class_of(row)
                    .is_some_and(|bucket| self.decisions[depth].failed_classes.contains(&bucket))
            {
                continue;
            }
            let prospect = self.bound_test(depth, std::slice::from_ref(&worth), Some(link));
            if prospect != BoundTest::MayImprove {
                let level = &mut self.decisions[depth];
                level.is_infeasible = false;
                if prospect == BoundTest::PruneRest {
                    level.exhaust();
                }
                continue;
            }
            if self.worse_than.is_some() && self.is_already_enumerated(depth, std::slice::from_ref(&worth), link) {
                self.decisions[depth].is_infeasible = false;
                continue;
            }
            if let Some(state) = self.try_dock(depth, place, link, worth) {
                return Some(state);
            }
        }
    }

    /// Docks a candidate if its constraints and forward checking allow. Returns the new state, or `None` after
    /// recording the conflict.
    fn try_dock(
        &mut self,
        depth: usize,
        place: PortPlace,
        link: PortPlace,
        worth: CandidateScore,
    ) -> Option<SearchState> {
        self.matcher.statistics.tests += 1;
        self.matcher.table.dock(place, link);
        let Some(waiting) = self.verify(depth, place, link) else {
            self.matcher.table.undock(place, link);
            if self.matcher.strategy.finds_best {
                let concerned = self.conflict_set(place);
                self.add_conflict(depth, &concerned, link);
            }
            return None;
        };
        let has_ports = self.matcher.table.port_count(link.participant) > 1;
        let level = &mut self.decisions[depth];
        level.scores.push(worth);
        if let DecisionKind::FillPort { docked, .. } = &mut level.kind {
            *docked = Some(link);
        }
        let mut state = SearchState {
            agenda: level.state_before.agenda.with_docked(link, has_ports),
            undecided: waiting,
            domains: Rc::clone(&level.state_before.domains),
        };
        self.decision_by_offer.insert(link.participant, depth);
        if self.forward_checking.is_enabled
            && let Err(conflict) = self.check_forward(&mut state, place, link)
        {
            let mut level = self.decisions.pop()?;
            self.undo(&mut level);
            self.decisions.push(level);
            self.add_conflict(depth, &conflict, link);
            return None;
        }
        Some(state)
    }

    /// Adds a conflict set to the decision at `depth` after `link` could not be docked, and marks its class as failed.
    fn add_conflict(&mut self, depth: usize, conflict: &ConflictSet, link: PortPlace) {
        let mut failed = std::mem::take(&mut self.decisions[depth].failed_classes);
        self.mark_class_failed(&mut failed, link);
        let level = &mut self.decisions[depth];
        level.failed_classes = failed;
        level.conflict_set.union_with(conflict);
        level.conflict_set.grow(depth + 1);
        level.conflict_set.set(depth, false);
    }

    /// Checks the constraints of two docked ports and of the ports undecided before. Returns the ports still undecided,
    /// or `None` if one refuses. Constraints proved by the index are not evaluated.
    fn verify(&mut self, depth: usize, above: PortPlace, link: PortPlace) -> Option<Rc<[PortPlace]>> {
        let Decision { kind: choice, state_before: before, .. } = &self.decisions[depth];
        let settled = match choice {
            DecisionKind::FillPort { settled, .. } => *settled,
            DecisionKind::SelectPattern { .. } => SettledConstraints::default(),
        };
        let Gangmatcher { table, port_index: links, .. } = &mut *self.matcher;
        let is_open = [!settled.port_constraint, !(settled.link_constraints && links.is_fully_indexed(link))];
        let docked = [above, link].into_iter().zip(is_open).filter_map(|(place, is_open)| is_open.then_some(place));
        let mut undecided = Vec::new();
        for place in docked.chain(before.undecided.iter().copied()) {
            match table.accepts(place) {
                DockingVerdict::Refused => return None,
                DockingVerdict::Met => {}
                DockingVerdict::Tentative => undecided.push(place),
            }
        }
        Some(if *undecided == *before.undecided { Rc::clone(&before.undecided) } else { undecided.into() })
    }

    /// Takes the next feasible pattern of an ad's ports. Returns the new state, or `None` if none is left.
    fn try_next_pattern(&mut self, depth: usize) -> Option<SearchState> {
        loop {
            let level = &mut self.decisions[depth];
            let DecisionKind::SelectPattern { newcomer, patterns, next, taken } = &mut level.kind else { return None };
            let (newcomer, pattern) = (*newcomer, patterns.get(*next)?.clone());
            *taken = Some(*next);
            *next += 1;
            let table = &mut self.matcher.table;
            table.mark_unfilled(newcomer.participant, &pattern);
            self.bounds.clear();
            let ports = 0..table.port_count(newcomer.participant);
            level.scores = CandidateScore::unfilled_scores(ports.filter(|port| !pattern.contains(*port)));
            let (state, worths) = (level.state_before.clone(), level.scores.clone());
            let is_wanted = self.bound_test(depth, &worths, None) == BoundTest::MayImprove;
            let begun = if is_wanted {
                self.plan_ports(&state, newcomer, pattern.ones().collect())
            } else {
                Err(self.full_conflict_set())
            };
            let Err(conflict) = begun else { return begun.ok() };
            let mut level = self.decisions.pop()?;
            self.undo(&mut level);
            level.is_infeasible &= is_wanted;
            level.conflict_set.union_with(&conflict);
            level.conflict_set.set(depth, false);
            self.decisions.push(level);
        }
    }

    /// Keeps the complete gang if it is acceptable and better than the best so far.
    fn update_best(&mut self) {
        let preference = self.gang_score();
        let is_acceptable = preference.scores.iter().all(CandidateScore::is_acceptable);
        let is_below = self.worse_than.as_ref().is_none_or(|above| preference.compare(above).is_lt());
        if is_acceptable && is_below && self.best.as_ref().is_none_or(|(best, _)| preference.compare(best).is_gt()) {
            self.matcher.expects_first_candidate =
                !self.forward_checking.is_enabled || self.forward_checking.first_candidate == self.first_row();
            self.best = Some((preference, self.build_gang()));
        }
    }

    /// Returns the row docked by the first decision that docks one.
    fn first_row(&self) -> Option<usize> {
        let docked = self.decisions.iter().find_map(Decision::docked_pair)?;
        Some(self.matcher.port_index.row(docked.1))
    }

    /// Returns the score of the complete gang.
    fn gang_score(&mut self) -> GangScore {
        let mut preference = GangScore::default();
        for level in &self.decisions {
            let Some((place, link)) = level.docked_pair() else {
                preference.scores.extend(level.scores.iter().cloned());
                continue;
            };
            preference.scores.push(match level.scores.first() {
                Some(worth) if *worth != CandidateScore::Unknown => worth.clone(),
                _ => self.matcher.table.docked_score(place, link),
            });
            preference.offers.push(link.participant);
            preference.links.push(link.port);
        }
        preference
    }

    /// Builds the tree of the complete gang. Works from the last decision upwards, without recursion, since ads may
    /// form long chains.
    fn build_gang(&mut self) -> Gang {
        let filled: Vec<(PortPlace, PortPlace)> = self.decisions.iter().filter_map(Decision::docked_pair).collect();
        let mut below: FxHashMap<Participant, Vec<(usize, DockedOffer)>> = FxHashMap::default();
        for (place, link) in filled.into_iter().rev() {
            let table = &mut self.matcher.table;
            let docked = DockedOffer {
                label: table.label(place),
                offer: link.participant as usize - 1,
                part: self.matcher.residuals.part_number(link.participant),
                link: link.port,
                rank: table.rank(place),
                offer_rank: table.rank(link),
                ports: sorted_by_port(below.remove(&link.participant)),
            };
            below.entry(place.participant).or_default().push((place.port, docked));
        }
        Gang { request: 0, ports: sorted_by_port(below.remove(&0)) }
    }
}

/// Sorts docked offers by port.
fn sorted_by_port(ports: Option<Vec<(usize, DockedOffer)>>) -> Vec<DockedOffer> {
    let mut ports = ports.unwrap_or_default();
    ports.sort_by_key(|(port, _)| *port);
    ports.into_iter().map(|(_, docked)| docked).collect()
}
