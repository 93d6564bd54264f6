//! The decision stack of the search: decisions, their alternatives, and conflict sets.

use std::cmp::Ordering;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

use crate::matching::gang::participants::PortPlace;
use crate::matching::gang::port_index::{RowBitmap, SettledConstraints, all_rows, first_row_from};
use crate::protocol::PortPattern;

use super::GangSearch;
use super::agenda::{Agenda, JoiningAd};
use super::score::{CandidateScore, GangScore};

/// A set of decisions, as positions in the decision stack: a conflict set.
pub type ConflictSet = FixedBitSet;

/// What the search knows between two decisions, apart from what is docked. By default the state before the first
/// decision.
#[derive(Clone, Default)]
pub struct SearchState {
    /// The ports still to be filled.
    pub agenda: Agenda,
    /// Docked ports whose constraints could not be decided yet.
    pub undecided: Rc<[PortPlace]>,
    /// Candidates of those open ports for which they have been computed.
    pub domains: Rc<[PortDomain]>,
}

/// The candidates of an open port.
#[derive(Clone)]
pub struct PortDomain {
    /// The port.
    pub place: PortPlace,
    /// The candidate rows.
    pub rows: Rc<RowBitmap>,
    /// The constraints that these rows are known to meet.
    pub settled: SettledConstraints,
}

/// A decision with several alternatives: an entry of the decision stack.
pub struct Decision {
    /// The alternatives, and the alternative taken.
    pub kind: DecisionKind,
    /// The state before the decision, from which each alternative continues.
    pub state_before: SearchState,
    /// Scores of the alternative taken: one for a candidate, several for a pattern of ports.
    pub scores: Vec<CandidateScore>,
    /// The conflict set: earlier decisions that contributed to the failure of the alternatives tried so far.
    pub conflict_set: ConflictSet,
    /// Classes of candidates that failed for a reason that holds for the whole class.
    pub failed_classes: FxHashSet<usize>,
    /// Whether all alternatives so far were infeasible. False once an alternative was possible but gave no new gang:
    /// it was no better than the best gang, or already enumerated.
    pub is_infeasible: bool,
}

impl Decision {
    pub fn new(kind: DecisionKind, state_before: SearchState) -> Self {
        let (conflict_set, failed_classes) = (ConflictSet::new(), FxHashSet::default());
        Decision { kind, state_before, scores: Vec::new(), conflict_set, failed_classes, is_infeasible: true }
    }

    /// Returns the port that is filled. `None` if the decision selects a pattern of ports.
    pub fn filled_port(&self) -> Option<PortPlace> {
        match self.kind {
            DecisionKind::FillPort { place, .. } => Some(place),
            DecisionKind::SelectPattern { .. } => None,
        }
    }

    /// Returns the port that is filled and the link docked there. `None` if nothing is docked.
    pub fn docked_pair(&self) -> Option<(PortPlace, PortPlace)> {
        match self.kind {
            DecisionKind::FillPort { place, docked: Some(link), .. } => Some((place, link)),
            _ => None,
        }
    }

    /// Adds decisions to the conflict set of this decision, which is at `depth`. A decision is not in its own set.
    pub fn add_conflict(&mut self, depth: usize, conflict: &ConflictSet) {
        self.conflict_set.union_with(conflict);
        self.conflict_set.grow(depth + 1);
        self.conflict_set.set(depth, false);
    }

    /// Whether the decision fills a port for which at least `many` candidates have not been tried yet. `many` must be
    /// positive.
    pub fn has_untried_candidates(&self, many: usize) -> bool {
        match &self.kind {
            DecisionKind::FillPort { candidates: Candidates::Set { rows, next }, .. } => {
                rows.ones().skip_while(|row| row < next).nth(many - 1).is_some()
            }
            DecisionKind::FillPort { candidates: Candidates::Listed { rows, next, .. }, .. } => {
                rows.len().saturating_sub(*next) >= many
            }
            DecisionKind::SelectPattern { .. } => false,
        }
    }

    /// Skips all alternatives not tried yet.
    pub fn exhaust(&mut self) {
        let (DecisionKind::FillPort {
            candidates: Candidates::Set { next, .. } | Candidates::Listed { next, .. }, ..
        }
        | DecisionKind::SelectPattern { next, .. }) = &mut self.kind;
        // No alternative has this index.
        *next = usize::MAX;
    }
}

/// A decision holds its offer from [`GangSearch::record_docked`] until [`GangSearch::undo`], which also undocks the offer
/// in the table.
impl GangSearch<'_> {
    /// Iterates over the filled ports and the links docked there, in the order of docking.
    pub fn docked_pairs(&self) -> impl Iterator<Item = (PortPlace, PortPlace)> + '_ {
        self.decisions.iter().filter_map(Decision::docked_pair)
    }

    /// Returns the conflict set that contains all decisions.
    pub fn full_conflict_set(&self) -> ConflictSet {
        all_rows(self.decisions.len())
    }

    /// Records that the decision at `depth` has docked `link`. The caller must have docked it in the table.
    pub fn record_docked(&mut self, depth: usize, link: PortPlace, score: CandidateScore) {
        let decision = &mut self.decisions[depth];
        decision.scores.push(score);
        if let DecisionKind::FillPort { docked, .. } = &mut decision.kind {
            *docked = Some(link);
        }
        self.holders.insert(link.participant, depth);
    }

    /// Undoes the alternative taken by the decision at `depth`, here and in the table. Returns false if no alternative
    /// was taken.
    pub fn undo(&mut self, depth: usize) -> bool {
        let decision = &mut self.decisions[depth];
        decision.scores.clear();
        match &mut decision.kind {
            DecisionKind::FillPort { place, docked, .. } => {
                let Some(link) = docked.take() else { return false };
                self.pool.table.undock(*place, link);
                self.holders.remove(&link.participant);
            }
            DecisionKind::SelectPattern { newcomer, patterns, taken, .. } => {
                let Some(taken) = taken.take() else { return false };
                self.pool.table.reopen_unfilled(newcomer.participant, &patterns[taken]);
            }
        }
        true
    }

    /// Undoes and removes all decisions.
    pub fn undo_all(&mut self) {
        for depth in (0..self.decisions.len()).rev() {
            self.undo(depth);
        }
        self.decisions.clear();
    }

    /// Returns the number of scores decided once the decision at `depth` has docked a candidate, which adds one score.
    pub fn score_count(&self, depth: usize) -> usize {
        self.decisions[..depth].iter().map(|decision| decision.scores.len()).sum::<usize>() + 1
    }

    /// Compares the scores decided before `depth`, followed by `next`, with the scores of the gang `against`. `None` if
    /// some score is unknown.
    pub fn compare_scores(&self, depth: usize, next: &[CandidateScore], against: &GangScore) -> Option<Ordering> {
        against.compare_steps(0, self.decisions[..depth].iter().flat_map(|decision| &decision.scores).chain(next))
    }

    /// Compares the input positions of the offers docked before `depth`, followed by `link`, with as many offers of the
    /// gang `against`. `Less` means earlier, hence preferred.
    pub fn compare_positions(&self, depth: usize, link: PortPlace, against: &GangScore) -> Ordering {
        let docked = self.decisions[..depth].iter().filter_map(Decision::docked_pair).map(|(_, link)| link);
        let offers = docked.chain([link]).map(|link| link.participant);
        offers
            .zip(&against.offers)
            .map(|(mine, theirs)| mine.cmp(theirs))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

/// The kind of a decision, with its alternatives.
pub enum DecisionKind {
    /// Which candidate is docked at a port.
    FillPort { place: PortPlace, candidates: Candidates, settled: SettledConstraints, docked: Option<PortPlace> },
    /// Which pattern of an ad's ports is filled.
    SelectPattern { newcomer: JoiningAd, patterns: Rc<[PortPattern]>, next: usize, taken: Option<usize> },
}

/// Candidates of a port, in the order in which they are tried.
pub enum Candidates {
    /// The rows in input order. Rows from `next` on have not been tried yet.
    Set { rows: Rc<RowBitmap>, next: usize },
    /// The rows in another order. `scores` holds their scores, and is empty if nothing ranks. `next` is the index into
    /// `rows` of the next row to try.
    Listed { rows: Vec<usize>, scores: Vec<CandidateScore>, next: usize },
}

impl Candidates {
    /// Takes the next row and its score. `None` when no row is left.
    pub fn next(&mut self) -> Option<(usize, CandidateScore)> {
        match self {
            Candidates::Set { rows, next } => {
                let row = first_row_from(rows, *next)?;
                *next = row + 1;
                Some((row, CandidateScore::ZERO))
            }
            Candidates::Listed { rows, scores, next } => {
                let row = *rows.get(*next)?;
                let score = scores.get(*next).cloned().unwrap_or(CandidateScore::ZERO);
                *next += 1;
                Some((row, score))
            }
        }
    }
}
