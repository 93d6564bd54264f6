//! The decision stack of the search: decisions, their alternatives, and conflict sets.

use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

use crate::protocol::Pattern;

use super::agenda::{Agenda, Newcomer};
use super::participants::PortPlace;
use super::port_index::Rows;
use super::score::Worth;

/// A set of decisions, as positions in the decision stack: a conflict set.
pub type Levels = FixedBitSet;

/// The state of a search between two decisions.
#[derive(Clone)]
pub struct State {
    /// The ports still to be filled.
    pub agenda: Agenda,
    /// Docked ports whose constraints could not be decided yet.
    pub waiting: Rc<[PortPlace]>,
    /// Candidates of open ports, where they have been computed.
    pub domains: Rc<[Domain]>,
}

/// The candidates of an open port.
#[derive(Clone)]
pub struct Domain {
    /// The port.
    pub place: PortPlace,
    /// The candidate rows.
    pub rows: Rc<Rows>,
    /// The constraints that these rows are known to meet.
    pub settled: Settled,
}

/// The constraints that the index has proved for all candidates of a port, so that they need no evaluation.
#[derive(Clone, Copy, Default)]
pub struct Settled {
    /// Whether the constraint of the port is proved.
    pub port: bool,
    /// Whether the constraints of the candidates are proved, for candidates whose demands are fully indexed.
    pub links: bool,
}

impl Settled {
    /// Combines two selections: rows in both meet what either of them proves.
    pub fn or(self, other: Settled) -> Self {
        Settled { port: self.port || other.port, links: self.links || other.links }
    }
}

/// A decision with several alternatives: an entry of the decision stack.
pub struct Level {
    /// The alternatives and the one taken.
    pub choice: Choice,
    /// The state before the decision.
    pub before: State,
    /// Scores of the alternative taken: one for a candidate, several for a pattern of ports.
    pub worths: Vec<Worth>,
    /// The conflict set: earlier decisions that contributed to the failure of the alternatives tried so far.
    pub conflict: Levels,
    /// Classes of candidates that failed for a reason that holds for the whole class.
    pub failed: FxHashSet<usize>,
    /// Whether all failures so far were infeasible. False once an alternative was merely no better than the best gang.
    pub impossible: bool,
}

impl Level {
    pub fn new(choice: Choice, before: State) -> Self {
        let (conflict, failed) = (Levels::new(), FxHashSet::default());
        Level { choice, before, worths: Vec::new(), conflict, failed, impossible: true }
    }

    /// Returns the port that is filled. `None` if the decision selects a pattern of ports.
    pub fn place(&self) -> Option<PortPlace> {
        match self.choice {
            Choice::Port { place, .. } => Some(place),
            Choice::Shape { .. } => None,
        }
    }

    /// Returns the port that is filled and the link docked there. `None` if nothing is docked.
    pub fn docked(&self) -> Option<(PortPlace, PortPlace)> {
        match self.choice {
            Choice::Port { place, docked: Some(link), .. } => Some((place, link)),
            _ => None,
        }
    }

    /// Skips all alternatives left.
    pub fn exhaust(&mut self) {
        match &mut self.choice {
            Choice::Port { candidates, .. } => candidates.exhaust(),
            Choice::Shape { patterns, next, .. } => *next = patterns.len(),
        }
    }
}

/// The kind of a decision, with its alternatives.
pub enum Choice {
    /// Which candidate is docked at a port.
    Port { place: PortPlace, candidates: Candidates, settled: Settled, docked: Option<PortPlace> },
    /// Which pattern of an ad's ports is filled.
    Shape { newcomer: Newcomer, patterns: Rc<[Pattern]>, next: usize, taken: Option<usize> },
}

/// Candidates of a port, in the order in which they are tried.
pub enum Candidates {
    /// In input order. `next` is the first row not tried yet.
    Set { rows: Rc<Rows>, next: usize },
    /// In an order of their own, with their scores if anything ranks. `next` is an index into `rows`.
    Listed { rows: Vec<usize>, worths: Vec<Worth>, next: usize },
}

impl Candidates {
    /// Returns the next row and its score. `None` when no row is left.
    pub fn next(&mut self) -> Option<(usize, Worth)> {
        match self {
            Candidates::Set { rows, next } => {
                let row = first_from(rows, *next)?;
                *next = row + 1;
                Some((row, Worth::NONE))
            }
            Candidates::Listed { rows, worths, next } => {
                let row = *rows.get(*next)?;
                let worth = worths.get(*next).cloned().unwrap_or(Worth::NONE);
                *next += 1;
                Some((row, worth))
            }
        }
    }

    /// Whether at least `many` candidates are left. `many` must be positive.
    pub fn has(&self, many: usize) -> bool {
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
pub fn first_from(rows: &Rows, from: usize) -> Option<usize> {
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
