//! The alternatives of a decision: which candidates or patterns are tried, in which order, and why some are skipped.

use std::rc::Rc;

use crate::ad::Value;
use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::{DockingVerdict, PortPlace};
use crate::matching::gang::port_index::{RowBitmap, SettledConstraints};

use super::GangSearch;
use super::bounds::BoundTest;
use super::decisions::{Candidates, ConflictSet, Decision, DecisionKind, SearchState};
use super::score::CandidateScore;
use super::upper_bound::ScoreBounds;

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
            None => (Rc::new(self.pool.index.unused().clone()), SettledConstraints::default()),
        };
        if strategy.finds_best && self.pool.is_ranked(place, &rows) {
            return (self.ranked_candidates(place, &rows), settled);
        }
        if strategy.summarized {
            // Remove offers that are in the gang: they cannot dock again, so they must not stand for their class.
            let mut rows = (*rows).clone();
            for held in self.decisions.holders().keys() {
                rows.set_range(self.pool.index.rows_of(*held), false);
            }
            let mut rows = self.pool.candidate_classes().representatives(&rows, usize::MAX);
            if strategy.random_start && !rows.is_empty() {
                let start = self.memory.random.usize(..rows.len());
                rows.rotate_left(start);
            }
            return (Candidates::Listed { rows, scores: Vec::new(), next: 0 }, settled);
        }
        (Candidates::Set { rows, next: 0 }, settled)
    }

    /// Returns the candidates of a port sorted by score, best first. Equally good candidates keep their input order.
    /// Leaves out candidates that may not dock. Empty if docking vectors cannot be compared.
    fn ranked_candidates(&mut self, place: PortPlace, rows: &RowBitmap) -> Candidates {
        let mut ranked: Vec<(usize, CandidateScore)> = Vec::new();
        let mut held = Vec::new();
        for row in rows.ones() {
            // Put the rows of docked offers before all other rows. The search skips these rows, but notes in the
            // conflict set which decisions have docked the offers.
            if self.decisions.holders().contains_key(&self.pool.index.place(row).participant) {
                held.push((row, CandidateScore::Unknown));
                continue;
            }
            let score = self.bounds.scores.candidate_score(self.pool, place, row);
            if score.is_acceptable() {
                ranked.push((row, score));
            }
        }
        if !self.memory.check_vectors(&ranked, &self.pool.table.docking_vector) {
            return Candidates::Listed { rows: Vec::new(), scores: Vec::new(), next: 0 };
        }
        note_mixed_ranks(self.pool, place, &ranked);
        // Sort rows with an unknown score first, because the score may turn out to be the best.
        let is_known = |score: &CandidateScore| *score != CandidateScore::Unknown;
        ranked.sort_by(|(_, left), (_, right)| {
            right.compare(left).unwrap_or_else(|| is_known(left).cmp(&is_known(right)))
        });
        let (rows, scores) = held.into_iter().chain(ranked).unzip();
        Candidates::Listed { rows, scores, next: 0 }
    }

    /// Takes the next feasible alternative of the decision at `depth` and returns the new state. `None` if no feasible
    /// alternative is left or the search is interrupted.
    pub fn try_next(&mut self, depth: usize) -> Option<SearchState> {
        if matches!(self.decisions[depth].kind, DecisionKind::SelectPattern { .. }) {
            return self.try_next_pattern(depth);
        }
        loop {
            if self.pool.table.context.is_interrupted() || self.is_spent() {
                return None;
            }
            let decision = &mut self.decisions[depth];
            let DecisionKind::FillPort { place, candidates, .. } = &mut decision.kind else { return None };
            let (place, (row, score)) = (*place, candidates.next()?);
            let link = self.pool.index.place(row);
            if let Some(holder) = self.decisions.holders().get(&link.participant).copied() {
                self.decisions[depth].conflict_set.grow_and_insert(holder);
                continue;
            }
            let (failed, explored) = (&self.decisions[depth].failed_classes, &self.decisions[depth].explored_classes);
            if !failed.is_empty()
                && self.pool.feasibility_classes().class_of(row).is_some_and(|class| failed.contains(&class))
            {
                continue;
            }
            if !explored.is_empty()
                && self.pool.candidate_classes().class_of(row).is_some_and(|class| explored.contains(&class))
            {
                continue;
            }
            let scores = std::slice::from_ref(&score);
            let (bounds, decisions) = (&mut self.bounds, &self.decisions);
            let test = bounds.test(self.pool, decisions, depth, scores, Some(link));
            if test != BoundTest::MayImprove || bounds.is_already_enumerated(self.pool, decisions, depth, scores, link)
            {
                let decision = &mut self.decisions[depth];
                decision.is_infeasible = false;
                if test == BoundTest::PruneRest {
                    decision.exhaust();
                }
                continue;
            }
            if let Some(state) = self.try_dock(depth, place, link, score) {
                return Some(state);
            }
        }
    }

    /// Docks a candidate and returns the new state if the constraints of both ports and forward checking allow it.
    /// Otherwise undocks the candidate, extends the conflict set of the decision, and returns `None`.
    fn try_dock(
        &mut self,
        depth: usize,
        place: PortPlace,
        link: PortPlace,
        score: CandidateScore,
    ) -> Option<SearchState> {
        self.pool.table.statistics.tests += 1;
        self.pool.table.dock(place, link);
        let Some(undecided) = self.verify(depth, place, link) else {
            self.pool.table.undock(place, link);
            if self.strategy.finds_best {
                let conflict = self.conflict_set(place);
                self.add_conflict(depth, &conflict, link);
            }
            return None;
        };
        let has_ports = self.pool.table.port_count(link.participant) > 1;
        let before = &self.decisions[depth].state_before;
        let mut state = SearchState {
            agenda: before.agenda.with_docked(link, has_ports),
            undecided,
            domains: Rc::clone(&before.domains),
            all_different: Rc::clone(&before.all_different),
            symmetry: Rc::clone(&before.symmetry),
        };
        self.decisions.record_docked(depth, link, score);
        if let Some(mut checking) = self.forward_checking()
            && let Err(conflict) = checking.narrow_domains(&mut state, place, link)
        {
            self.decisions.undo(&mut self.pool.table, depth);
            self.add_conflict(depth, &conflict, link);
            return None;
        }
        Some(state)
    }

    /// Extends the conflict set of the decision at `depth` after `link` could not be docked. Marks the class of `link`
    /// as failed.
    fn add_conflict(&mut self, depth: usize, conflict: &ConflictSet, link: PortPlace) {
        self.mark_class_failed(depth, link);
        self.decisions[depth].add_conflict(depth, conflict);
    }

    /// Marks the class of a candidate that failed at the decision at `depth`, so that equivalent candidates are
    /// skipped.
    pub fn mark_class_failed(&mut self, depth: usize, link: PortPlace) {
        if self.look_ahead.is_some() {
            let (classes, row) = (self.pool.feasibility_classes(), self.pool.index.row(link));
            let decision = &mut self.decisions[depth];
            decision.failed_classes.extend(classes.class_of(row));
            decision.failed_rows.grow(self.pool.index.unused().len());
            classes.add_equivalent_rows(row, &mut decision.failed_rows);
        }
    }

    /// Marks the class of a candidate whose gangs have all been compared with the best gang, so that equivalent
    /// candidates are skipped. Their gangs have the same scores and later offers, so that none of them is better. The
    /// enumeration of all gangs wants them nevertheless.
    pub fn mark_class_explored(&mut self, depth: usize, link: PortPlace) {
        if self.look_ahead.is_some() && self.bounds.wants_best_only() {
            let class = self.pool.candidate_classes().class_of(self.pool.index.row(link));
            self.decisions[depth].explored_classes.extend(class);
        }
    }

    /// Checks the constraints of the docked ports `above` and `link`, and of the ports that were undecided before.
    /// Skips constraints that the index has proved. Returns the ports that remain undecided. `None` if a constraint
    /// refuses.
    fn verify(&mut self, depth: usize, above: PortPlace, link: PortPlace) -> Option<Rc<[PortPlace]>> {
        let Decision { kind: DecisionKind::FillPort { settled, .. }, state_before: before, .. } =
            &self.decisions[depth]
        else {
            return None;
        };
        let is_link_settled = settled.link_constraints && self.pool.index.is_fully_indexed(link);
        let above = (!settled.port_constraint).then_some(above);
        let link = (!is_link_settled).then_some(link);
        let mut undecided = Vec::new();
        for place in above.into_iter().chain(link).chain(before.undecided.iter().copied()) {
            match self.pool.table.accepts(place) {
                DockingVerdict::Refused => return None,
                DockingVerdict::Met => {}
                DockingVerdict::Tentative => undecided.push(place),
            }
        }
        Some(if *undecided == *before.undecided { Rc::clone(&before.undecided) } else { undecided.into() })
    }

    /// Takes the next feasible pattern of an ad's ports and returns the new state. `None` if no pattern is left.
    fn try_next_pattern(&mut self, depth: usize) -> Option<SearchState> {
        loop {
            let decision = &mut self.decisions[depth];
            let DecisionKind::SelectPattern { newcomer, patterns, next, taken } = &mut decision.kind else {
                return None;
            };
            let (newcomer, pattern) = (*newcomer, patterns.get(*next)?.clone());
            *taken = Some(*next);
            *next += 1;
            let table = &mut self.pool.table;
            table.mark_unfilled(newcomer.participant, &pattern);
            // Clear the cached scores, which may depend on the ports that are unfilled.
            self.bounds.scores = ScoreBounds::default();
            let ports = 0..table.port_count(newcomer.participant);
            decision.scores = CandidateScore::unfilled_scores(ports.filter(|port| !pattern.contains(*port)));
            let (state, scores) = (decision.state_before.clone(), decision.scores.clone());
            let is_wanted = self.bounds.test(self.pool, &self.decisions, depth, &scores, None) == BoundTest::MayImprove;
            let planned = if is_wanted {
                self.plan_ports(&state, newcomer, pattern.ones().collect())
            } else {
                Err(self.decisions.full_conflict_set())
            };
            let Err(conflict) = planned else { return planned.ok() };
            self.decisions.undo(&mut self.pool.table, depth);
            let decision = &mut self.decisions[depth];
            decision.is_infeasible &= is_wanted;
            decision.add_conflict(depth, &conflict);
        }
    }
}

/// Notes the ranks at a port that count as 0, because other candidates have numbers.
fn note_mixed_ranks(pool: &mut OfferPool, place: PortPlace, ranked: &[(usize, CandidateScore)]) {
    let values = |score: &CandidateScore| match score {
        CandidateScore::TypedRanks(vector) => [0, 1].map(|side| Some(vector.0.get(side)?.as_ref()?.value.clone())),
        CandidateScore::Ranks(rank, offer_rank) => [*rank, *offer_rank].map(|rank| Some(Value::Real(rank))),
        _ => [None, None],
    };
    let is_number = |value: &Value| matches!(value, Value::Real(number) if *number != 0.0);
    if !ranked.iter().any(|(_, score)| matches!(score, CandidateScore::TypedRanks(_))) {
        return;
    }
    for side in [0, 1] {
        if !ranked.iter().any(|(_, score)| values(score)[side].as_ref().is_some_and(is_number)) {
            continue;
        }
        for (row, score) in ranked {
            let value = values(score)[side].take().filter(|value| !matches!(value, Value::Real(_)));
            if let Some(value) = value {
                let of = if side == 0 { place } else { pool.index.place(*row) };
                pool.table.note_non_numeric(of, &value);
            }
        }
    }
}
