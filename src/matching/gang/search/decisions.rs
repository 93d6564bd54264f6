//! The decision stack of the search: decisions, their alternatives, and their conflict sets.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::Participant;
use crate::matching::gang::participants::{ParticipantTable, PortPlace};
use crate::matching::gang::port_index::{RowBitmap, SettledConstraints, all_rows, first_row_from};
use crate::protocol::PortPattern;

use super::agenda::{Agenda, JoiningAd};
use super::all_different::AllDifferent;
use super::score::{CandidateScore, GangScore};
use super::symmetry::PortSymmetry;

/// A conflict set: a set of decisions, as positions in the decision stack.
pub type ConflictSet = FixedBitSet;

/// The state of the search between two decisions, without the dockings. The default is the state before the first
/// decision.
#[derive(Clone, Default)]
pub struct SearchState {
    /// The ports still to be filled.
    pub agenda: Agenda,
    /// Docked ports whose constraints still depend on open ports.
    pub undecided: Rc<[PortPlace]>,
    /// Domains of the open ports. A port whose candidates have not been computed has no entry.
    pub domains: Rc<[PortDomain]>,
    /// Which ports of the request are interchangeable, computed on first use.
    pub symmetry: Rc<OnceCell<PortSymmetry>>,
    /// All-different constraints of the ads in the gang, as far as forward checking knows them.
    pub all_different: Rc<[AllDifferent]>,
}

/// The domain of an open port: its candidates.
#[derive(Clone)]
pub struct PortDomain {
    /// The open port.
    pub place: PortPlace,
    /// The rows of the candidates.
    pub rows: Rc<RowBitmap>,
    /// The constraints that the index has proved for these rows.
    pub settled: SettledConstraints,
}

/// A decision with several alternatives: an entry of the decision stack.
pub struct Decision {
    /// The alternatives, and which of them has been taken.
    pub kind: DecisionKind,
    /// The state before the decision, from which each alternative continues.
    pub state_before: SearchState,
    /// Scores of the alternative taken: one for a candidate, several for a pattern of ports.
    pub scores: Vec<CandidateScore>,
    /// The conflict set: earlier decisions that contributed to the failure of the alternatives tried so far.
    pub conflict_set: ConflictSet,
    /// Classes of candidates that failed for a reason that holds for the whole class.
    pub failed_classes: FxHashSet<usize>,
    /// The candidates of `failed_classes`, and those that failed without a class. Empty if none has failed.
    pub failed_rows: RowBitmap,
    /// Classes of candidates after one of which no gang is better than the best gang so far.
    pub explored_classes: FxHashSet<usize>,
    /// Whether every alternative tried so far leads to no gang at all. False if some alternative leads to a gang, even
    /// to a gang that is no better than the best or already enumerated.
    pub is_infeasible: bool,
}

impl Decision {
    pub fn new(kind: DecisionKind, state_before: SearchState) -> Self {
        Decision {
            kind,
            state_before,
            scores: Vec::new(),
            conflict_set: ConflictSet::new(),
            failed_classes: FxHashSet::default(),
            failed_rows: RowBitmap::new(),
            explored_classes: FxHashSet::default(),
            is_infeasible: true,
        }
    }

    /// Returns the port that the decision fills. `None` if the decision selects a pattern of ports.
    pub fn filled_port(&self) -> Option<PortPlace> {
        match self.kind {
            DecisionKind::FillPort { place, .. } => Some(place),
            DecisionKind::SelectPattern { .. } => None,
        }
    }

    /// Returns the port that the decision fills and the link docked there. `None` if nothing is docked.
    pub fn docked_pair(&self) -> Option<(PortPlace, PortPlace)> {
        match self.kind {
            DecisionKind::FillPort { place, docked: Some(link), .. } => Some((place, link)),
            _ => None,
        }
    }

    /// Adds decisions to the conflict set of this decision. Leaves out this decision, which is at `depth` in the stack.
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
        // No alternative has this index, so that none is left.
        *next = usize::MAX;
    }
}

/// The decision stack. The depth of a decision is its index in the stack.
#[derive(Default)]
pub struct DecisionStack {
    decisions: Vec<Decision>,
    /// For each offer in the gang, the depth of the decision that docked it. An offer is here from
    /// [`DecisionStack::record_docked`] until [`DecisionStack::undo`].
    holders: FxHashMap<Participant, usize>,
}

impl DecisionStack {
    pub fn push(&mut self, decision: Decision) {
        self.decisions.push(decision);
    }

    /// Removes the last decision. The caller must have undone it. `None` if the stack is empty.
    pub fn pop(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    /// Returns the depth of the last decision. `None` if the stack is empty.
    pub fn last_depth(&self) -> Option<usize> {
        self.decisions.len().checked_sub(1)
    }

    /// Iterates over the decisions, the first decision first.
    pub fn iter(&self) -> impl Iterator<Item = &Decision> {
        self.decisions.iter()
    }

    /// Returns the offers in the gang, each with the depth of the decision that docked it.
    pub fn holders(&self) -> &FxHashMap<Participant, usize> {
        &self.holders
    }

    /// Iterates over pairs of a filled port and the link docked there, in the order of docking.
    pub fn docked_pairs(&self) -> impl DoubleEndedIterator<Item = (PortPlace, PortPlace)> + '_ {
        self.decisions.iter().filter_map(Decision::docked_pair)
    }

    /// Returns the conflict set of all decisions.
    pub fn full_conflict_set(&self) -> ConflictSet {
        all_rows(self.decisions.len())
    }

    /// Records that the decision at `depth` has docked `link`. The caller must have docked `link` in the table.
    pub fn record_docked(&mut self, depth: usize, link: PortPlace, score: CandidateScore) {
        let decision = &mut self.decisions[depth];
        decision.scores.push(score);
        if let DecisionKind::FillPort { docked, .. } = &mut decision.kind {
            *docked = Some(link);
        }
        self.holders.insert(link.participant, depth);
    }

    /// Undoes the alternative taken by the decision at `depth`: undocks its candidate, or reopens the ports that its
    /// pattern leaves unfilled. Returns false if no alternative was taken.
    pub fn undo(&mut self, table: &mut ParticipantTable, depth: usize) -> bool {
        let decision = &mut self.decisions[depth];
        decision.scores.clear();
        match &mut decision.kind {
            DecisionKind::FillPort { place, docked, .. } => {
                let Some(link) = docked.take() else { return false };
                table.undock(*place, link);
                self.holders.remove(&link.participant);
            }
            DecisionKind::SelectPattern { newcomer, patterns, taken, .. } => {
                let Some(taken) = taken.take() else { return false };
                table.reopen_unfilled(newcomer.participant, &patterns[taken]);
            }
        }
        true
    }

    /// Goes back to the decision at `depth`: undoes its alternative, and undoes and removes all later decisions. Returns
    /// the number of alternatives undone.
    pub fn return_to(&mut self, table: &mut ParticipantTable, depth: usize) -> u64 {
        let undone = (depth..self.decisions.len()).rev().map(|depth| u64::from(self.undo(table, depth))).sum();
        self.decisions.truncate(depth + 1);
        undone
    }

    /// Undoes and removes all decisions.
    pub fn undo_all(&mut self, table: &mut ParticipantTable) {
        self.return_to(table, 0);
        self.decisions.clear();
    }

    /// Returns the number of scores of all decisions up to `depth`. The decision at `depth` counts one score, since it
    /// docks one candidate.
    pub fn score_count(&self, depth: usize) -> usize {
        self.decisions[..depth].iter().map(|decision| decision.scores.len()).sum::<usize>() + 1
    }

    /// Compares the scores decided before `depth`, followed by `next`, with the scores of the gang `against`. `None` if
    /// some score is unknown.
    pub fn compare_scores(&self, depth: usize, next: &[CandidateScore], against: &GangScore) -> Option<Ordering> {
        against.compare_steps(0, self.decisions[..depth].iter().flat_map(|decision| &decision.scores).chain(next))
    }

    /// Compares two gangs by the input positions of their offers, one offer after another. The first gang consists of
    /// the offers docked before `depth` and the offer of `link`. The second gang is `against`. `Less` means that the
    /// first gang has the earlier offers, which are preferred.
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

impl Index<usize> for DecisionStack {
    type Output = Decision;

    fn index(&self, depth: usize) -> &Decision {
        &self.decisions[depth]
    }
}

impl IndexMut<usize> for DecisionStack {
    fn index_mut(&mut self, depth: usize) -> &mut Decision {
        &mut self.decisions[depth]
    }
}

/// A kind of decision, with its alternatives.
pub enum DecisionKind {
    /// Dock one of `candidates` at the port `place`. `docked` is the candidate now docked, `None` if none is docked.
    FillPort { place: PortPlace, candidates: Candidates, settled: SettledConstraints, docked: Option<PortPlace> },
    /// Select the ports of the ad `newcomer` that are filled. `taken` is the index of the pattern taken. `next` is the
    /// index of the next pattern to try.
    SelectPattern { newcomer: JoiningAd, patterns: Rc<[PortPattern]>, next: usize, taken: Option<usize> },
}

/// Candidates of a port, in the order in which they are tried.
pub enum Candidates {
    /// Rows in input order. Rows from `next` on have not been tried yet.
    Set { rows: Rc<RowBitmap>, next: usize },
    /// Rows in another order. `scores` holds their scores, or is empty if all scores are zero. `next` is the index in
    /// `rows` of the next row to try.
    Listed { rows: Vec<usize>, scores: Vec<CandidateScore>, next: usize },
}

impl Candidates {
    /// Takes the next row to try and returns its score with it. `None` if no row is left.
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
