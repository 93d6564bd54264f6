//! The decision stack of the search: decisions, their alternatives, and conflict sets.

use std::cmp::Ordering;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::Participant;
use crate::matching::gang::participants::{ParticipantTable, PortPlace};
use crate::matching::gang::port_index::{RowBitmap, SettledConstraints, first_row_from};
use crate::protocol::PortPattern;

use super::agenda::{Agenda, JoiningAd};
use super::score::{CandidateScore, GangScore};

/// A set of decisions, as positions in the decision stack: a conflict set.
pub type ConflictSet = FixedBitSet;

/// What the search knows between two decisions, apart from what is docked.
#[derive(Clone)]
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

    /// Skips all alternatives not tried yet.
    pub fn exhaust(&mut self) {
        match &mut self.kind {
            DecisionKind::FillPort { candidates, .. } => candidates.exhaust(),
            DecisionKind::SelectPattern { patterns, next, .. } => *next = patterns.len(),
        }
    }
}

/// The decision stack, and the offers that its decisions have docked.
///
/// A decision holds its offer from [`DecisionStack::record_docked`] until [`DecisionStack::undo`], which also undocks
/// the offer in the table. A decision must be undone before it is popped.
#[derive(Default)]
pub struct DecisionStack {
    decisions: Vec<Decision>,
    /// For each offer in the gang, the decision that docked it, as an index into `decisions`.
    holders: FxHashMap<Participant, usize>,
}

impl DecisionStack {
    /// Returns the number of decisions, which is the depth of the next decision.
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// Adds a decision of which no alternative has been taken yet.
    pub fn push(&mut self, decision: Decision) {
        self.decisions.push(decision);
    }

    /// Removes the last decision, which must have been undone.
    pub fn pop(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    /// Returns the decision at a depth.
    pub fn at(&self, depth: usize) -> &Decision {
        &self.decisions[depth]
    }

    /// Returns the decision at a depth.
    pub fn at_mut(&mut self, depth: usize) -> &mut Decision {
        &mut self.decisions[depth]
    }

    /// Iterates over the decisions in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = &Decision> {
        self.decisions.iter()
    }

    /// Iterates over the filled ports and the links docked there, in the order of docking.
    pub fn docked_pairs(&self) -> impl DoubleEndedIterator<Item = (PortPlace, PortPlace)> + '_ {
        self.decisions.iter().filter_map(Decision::docked_pair)
    }

    /// Iterates over the offers in the gang, each with the depth of the decision that docked it.
    pub fn holders(&self) -> impl Iterator<Item = (Participant, usize)> + '_ {
        self.holders.iter().map(|(offer, depth)| (*offer, *depth))
    }

    /// Returns the depth of the decision that docked an offer. `None` if the offer is not in the gang.
    pub fn holder(&self, offer: Participant) -> Option<usize> {
        self.holders.get(&offer).copied()
    }

    /// Whether no offer is in the gang.
    pub fn is_gang_empty(&self) -> bool {
        self.holders.is_empty()
    }

    /// Returns the conflict set that contains all decisions.
    pub fn full_conflict_set(&self) -> ConflictSet {
        let mut all = ConflictSet::with_capacity(self.decisions.len());
        all.insert_range(..);
        all
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
    pub fn undo(&mut self, depth: usize, table: &mut ParticipantTable) -> bool {
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

    /// Undoes and removes all decisions.
    pub fn undo_all(&mut self, table: &mut ParticipantTable) {
        while let Some(depth) = self.decisions.len().checked_sub(1) {
            self.undo(depth, table);
            self.decisions.pop();
        }
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

    /// Compares the input positions of the offers docked before `depth`, followed by `link`, with the offers of the
    /// gang `against`. `Less` means earlier, hence preferred.
    pub fn compare_positions(&self, depth: usize, link: PortPlace, against: &GangScore) -> Ordering {
        let docked = self.decisions[..depth].iter().filter_map(Decision::docked_pair).map(|(_, link)| link);
        docked
            .chain([link])
            .zip(&against.offers)
            .map(|(mine, theirs)| mine.participant.cmp(theirs))
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
    /// The rows in another order. `worths` holds their scores, and is empty if nothing ranks. `next` is the index into
    /// `rows` of the next row to try.
    Listed { rows: Vec<usize>, worths: Vec<CandidateScore>, next: usize },
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
            Candidates::Listed { rows, worths, next } => {
                let row = *rows.get(*next)?;
                let worth = worths.get(*next).cloned().unwrap_or(CandidateScore::ZERO);
                *next += 1;
                Some((row, worth))
            }
        }
    }

    /// Whether at least `many` candidates have not been tried yet. `many` must be positive.
    pub fn has_at_least(&self, many: usize) -> bool {
        match self {
            Candidates::Set { rows, next } => rows.ones().skip_while(|row| row < next).nth(many - 1).is_some(),
            Candidates::Listed { rows, next, .. } => rows.len() >= next + many,
        }
    }

    /// Skips all candidates not tried yet.
    pub fn exhaust(&mut self) {
        match self {
            Candidates::Set { rows, next } => *next = rows.len(),
            Candidates::Listed { rows, next, .. } => *next = rows.len(),
        }
    }
}
