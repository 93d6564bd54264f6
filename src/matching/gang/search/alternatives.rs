//! The alternatives of a decision: which candidates or patterns are tried, in which order, and why some are skipped.

use std::rc::Rc;

use crate::matching::gang::participants::{DockingVerdict, PortPlace};
use crate::matching::gang::port_index::{RowBitmap, SettledConstraints};

use super::GangSearch;
use super::bounds::{BoundTest, is_already_enumerated};
use super::decisions::{Candidates, ConflictSet, DecisionKind, SearchState};
use super::score::CandidateScore;

impl GangSearch<'_> {
    /// Returns the candidates of a port in the order in which they are tried, and the constraints that the index has
    /// proved.
    pub fn candidates(&mut self, place: PortPlace, state: &SearchState) -> (Candidates, SettledConstraints) {
        let strategy = self.strategy;
        let (rows, settled) = match state.domains.iter().find(|domain| domain.place == place) {
            Some(domain) => (Rc::clone(&domain.rows), domain.settled),
            None if strategy.indexed => {
                let (rows, settled) = self.probe(place, &state.undecided);
                (Rc::new(rows), settled)
            }
            None => (Rc::new(self.pool.index().unused().clone()), SettledConstraints::default()),
        };
        if strategy.finds_best && self.pool.is_ranked(place, &rows) {
            return (self.ranked_candidates(place, &rows), settled);
        }
        if strategy.summarized {
            // Remove offers that are in the gang: they cannot dock again, so they must not represent their class.
            let mut rows = (*rows).clone();
            let held = self.decisions.holders().map(|(offer, _)| self.pool.index().rows_of(offer));
            held.for_each(|held| rows.set_range(held, false));
            let mut rows = self.pool.candidate_classes().representatives(&rows, usize::MAX);
            if strategy.random_start && !rows.is_empty() {
                let start = self.memory.random.usize(..rows.len());
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
            // Put offers that are in the gang first: the search skips them and adds the decisions that docked them to
            // the conflict set.
            if self.decisions.holder(self.pool.index().place(row).participant).is_some() {
                held.push((row, CandidateScore::Unknown));
                continue;
            }
            let worth = self.bounds.candidate_score(self.pool, place, row);
            if worth.is_acceptable() {
                ranked.push((row, worth));
            }
        }
        if !self.memory.check_vectors(&ranked, self.pool.table().docking_vector()) {
            return Candidates::Listed { rows: Vec::new(), worths: Vec::new(), next: 0 };
        }
        // Sort rows with an unknown score first, because it may turn out to be the best.
        let is_known = |worth: &CandidateScore| *worth != CandidateScore::Unknown;
        ranked.sort_by(|(_, left), (_, right)| {
            right.compare(left).unwrap_or_else(|| is_known(left).cmp(&is_known(right)))
        });
        let (rows, worths) = held.into_iter().chain(ranked).unzip();
        Candidates::Listed { rows, worths, next: 0 }
    }

    /// Takes the next feasible alternative of the decision at `depth`. Returns the new state, or `None` if no feasible
    /// alternative is left or the search is interrupted.
    pub fn try_next(&mut self, depth: usize) -> Option<SearchState> {
        if matches!(self.decisions.at(depth).kind, DecisionKind::SelectPattern { .. }) {
            return self.try_next_pattern(depth);
        }
        loop {
            if self.pool.table().context().is_interrupted() {
                return None;
            }
            let decision = self.decisions.at_mut(depth);
            let DecisionKind::FillPort { place, candidates, .. } = &mut decision.kind else { return None };
            let (place, (row, worth)) = (*place, candidates.next()?);
            let link = self.pool.index().place(row);
            if let Some(holder) = self.decisions.holder(link.participant) {
                self.decisions.at_mut(depth).conflict_set.grow_and_insert(holder);
                continue;
            }
            let failed = &self.decisions.at(depth).failed_classes;
            if !failed.is_empty()
                && self.pool.candidate_classes().class_of(row).is_some_and(|class| failed.contains(&class))
            {
                continue;
            }
            let scores = std::slice::from_ref(&worth);
            let test = self.bound_test(depth, scores, Some(link));
            if test != BoundTest::MayImprove {
                let decision = self.decisions.at_mut(depth);
                decision.is_infeasible = false;
                if test == BoundTest::PruneRest {
                    decision.exhaust();
                }
                continue;
            }
            if let Some(below) = self.worse_than
                && is_already_enumerated(self.pool, &self.decisions, depth, (scores, link), below)
            {
                self.decisions.at_mut(depth).is_infeasible = false;
                continue;
            }
            if let Some(state) = self.try_dock(depth, place, link, worth) {
                return Some(state);
            }
        }
    }

    /// Runs the bound test for the next alternative of the decision at `depth`. `link` is the candidate; `None` if the
    /// alternative is a pattern of ports.
    fn bound_test(&mut self, depth: usize, scores: &[CandidateScore], link: Option<PortPlace>) -> BoundTest {
        let Some((best, _)) = &self.best else { return BoundTest::MayImprove };
        self.bounds.test(self.pool, &self.decisions, depth, (scores, link), best)
    }

    /// Docks a candidate if the constraints of both ports and forward checking allow it. Otherwise undocks the
    /// candidate, adds the conflict to the decision and returns `None`.
    fn try_dock(
        &mut self,
        depth: usize,
        place: PortPlace,
        link: PortPlace,
        worth: CandidateScore,
    ) -> Option<SearchState> {
        self.pool.table_mut().statistics_mut().tests += 1;
        self.pool.table_mut().dock(place, link);
        let Some(waiting) = self.verify(depth, place, link) else {
            self.pool.table_mut().undock(place, link);
            if self.strategy.finds_best {
                let concerned = self.conflict_set(place);
                self.add_conflict(depth, &concerned, link);
            }
            return None;
        };
        let has_ports = self.pool.table().port_count(link.participant) > 1;
        let before = &self.decisions.at(depth).state_before;
        let mut state = SearchState {
            agenda: before.agenda.with_docked(link, has_ports),
            undecided: waiting,
            domains: Rc::clone(&before.domains),
        };
        self.decisions.record_docked(depth, link, worth);
        if self.forward_checking.is_enabled()
            && let Err(conflict) =
                self.forward_checking.narrow_domains(self.pool, &self.decisions, &mut state, place, link)
        {
            self.decisions.undo(depth, self.pool.table_mut());
            self.add_conflict(depth, &conflict, link);
            return None;
        }
        Some(state)
    }

    /// Adds a conflict set to the decision at `depth` after `link` could not be docked, and marks the class of `link`
    /// as failed.
    fn add_conflict(&mut self, depth: usize, conflict: &ConflictSet, link: PortPlace) {
        self.mark_class_failed(depth, link);
        let decision = self.decisions.at_mut(depth);
        decision.conflict_set.union_with(conflict);
        decision.conflict_set.grow(depth + 1);
        decision.conflict_set.set(depth, false);
    }

    /// Checks the constraints of the docked ports `above` and `link`, and of the ports that were undecided before.
    /// Constraints proved by the index are not evaluated. Returns the ports that remain undecided, or `None` if a
    /// constraint refuses.
    fn verify(&mut self, depth: usize, above: PortPlace, link: PortPlace) -> Option<Rc<[PortPlace]>> {
        let decision = self.decisions.at(depth);
        let before = &decision.state_before;
        let settled = match &decision.kind {
            DecisionKind::FillPort { settled, .. } => *settled,
            DecisionKind::SelectPattern { .. } => SettledConstraints::default(),
        };
        let (table, index) = self.pool.table_and_index();
        let is_open = [!settled.port_constraint, !(settled.link_constraints && index.is_fully_indexed(link))];
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

    /// Takes the next feasible pattern of an ad's ports. Returns the new state, or `None` if no pattern is left.
    fn try_next_pattern(&mut self, depth: usize) -> Option<SearchState> {
        loop {
            let decision = self.decisions.at_mut(depth);
            let DecisionKind::SelectPattern { newcomer, patterns, next, taken } = &mut decision.kind else {
                return None;
            };
            let (newcomer, pattern) = (*newcomer, patterns.get(*next)?.clone());
            *taken = Some(*next);
            *next += 1;
            let table = self.pool.table_mut();
            table.mark_unfilled(newcomer.participant, &pattern);
            self.bounds.clear();
            let ports = 0..table.port_count(newcomer.participant);
            decision.scores = CandidateScore::unfilled_scores(ports.filter(|port| !pattern.contains(*port)));
            let (state, scores) = (decision.state_before.clone(), decision.scores.clone());
            let is_wanted = self.bound_test(depth, &scores, None) == BoundTest::MayImprove;
            let begun = if is_wanted {
                self.plan_ports(&state, newcomer, pattern.ones().collect())
            } else {
                Err(self.decisions.full_conflict_set())
            };
            let Err(conflict) = begun else { return begun.ok() };
            self.decisions.undo(depth, self.pool.table_mut());
            let decision = self.decisions.at_mut(depth);
            decision.is_infeasible &= is_wanted;
            decision.conflict_set.union_with(&conflict);
            decision.conflict_set.set(depth, false);
        }
    }
}
