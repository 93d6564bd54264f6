//! The decision stack of the search: decisions, their alternatives, and conflict sets.

use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

use crate::protocol::PortPattern;

use super::agenda::{Agenda, JoiningAd};
use super::participants::PortPlace;
use super::port_index::RowBitmap;
use super::score::CandidateScore;

/// A set of decisions, as positions in the decision stack: a conflict set.
pub type ConflictSet = FixedBitSet;

/// The state of a search between two decisions.
#[derive(Clone)]
pub struct SearchState {
    /// The ports still to be filled.
    pub agenda: Agenda,
    /// Docked ports whose constraints could not be decided yet.
    pub undecided: Rc<[PortPlace]>,
    /// Candidates of open ports, where they have been computed.
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

/// The constraints that the index has proved for all candidates of a port, so that they need no evaluation.
#[derive(Clone, Copy, Default)]
pub struct SettledConstraints {
    /// Whether the constraint of the port is proved.
    pub port_constraint: bool,
    /// Whether the constraints of the candidates are proved, for candidates whose demands are fully indexed.
    pub link_constraints: bool,
}

impl SettledConstraints {
    /// Combines two selections: rows in both meet what either of them proves.
    pub fn merge(self, other: SettledConstraints) -> Self {
        SettledConstraints {
            port_constraint: self.port_constraint || other.port_constraint,
            link_constraints: self.link_constraints || other.link_constraints,
        }
    }
}

/// A decision with several alternatives: an entry of the decision stack.
pub struct Decision {
    /// The alternatives and the one taken.
    pub kind: DecisionKind,
    /// The state before the decision.
    pub state_before: SearchState,
    /// Scores of the alternative taken: one for a candidate, several for a pattern of ports.
    pub scores: Vec<CandidateScore>,
    /// The conflict set: earlier decisions that contributed to the failure of the alternatives tried so far.
    pub conflict_set: ConflictSet,
    /// Classes of candidates that failed for a reason that holds for the whole class.
    pub failed_classes: FxHashSet<usize>,
    /// Whether all failures so far were infeasible. False once an alternative was merely no better than the best gang.
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

    /// Skips all alternatives left.
    pub fn exhaust(&mut self) {
        match &mut self.kind {
            DecisionKind::FillPort { candidates, .. } => candidates.exhaust(),
            DecisionKind::SelectPattern { patterns, next, .. } => *next = patterns.len(),
        }
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
    /// In input order. `next` is the first row not tried yet.
    Set { rows: Rc<RowBitmap>, next: usize },
    /// In an order of their own, with their scores if anything ranks. `next` is an index into `rows`.
    Listed { rows: Vec<usize>, worths: Vec<CandidateScore>, next: usize },
}

impl Candidates {
    /// Returns the next row and its score. `None` when no row is left.
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

    /// Whether at least `many` candidates are left. `many` must be positive.
    pub fn has_at_least(&self, many: usize) -> bool {
        match self {
            Candidates::Set { rows, next } => rows.ones().skip_while(|row| row < next).nth(many - 1).is_some(),
            Candidates::Listed { rows, next, .. } => rows.len() >= next + many,
        }
    }

    /// Skips all candidates left.
    pub fn exhaust(&mut self) {
        match self {
            Candidates::Set { rows, next } => *next = rows.len(),
            Candidates::Listed { rows, next, .. } => *next = rows.len(),
        }
    }
}

/// Returns the first row of a set that is not before `from`. `None` if there is none.
pub fn first_row_from(rows: &RowBitmap, from: usize) -> Option<usize> {
    const BITS: usize = usize::BITS as usize;
    let blocks = rows.as_slice();
    let mut at = from / BITS;
    let mut block = blocks.get(at)? & (usize::MAX << (from % BITS));
    while block == 0 {
        at += 1;
        block = *blocks.get(at)?;
    }
    Some(at * BITS + block.trailing_zeros() as usize)
}
