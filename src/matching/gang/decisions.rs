//! The decisions of a search for a gang, and the ways in which each can be taken.

use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

use crate::protocol::Pattern;

use super::agenda::{Agenda, Newcomer};
use super::participants::PortPlace;
use super::port_index::Rows;
use super::score::Worth;

/// Decisions, as positions among the levels of the search.
pub type Levels = FixedBitSet;

/// What a search is at between two decisions.
#[derive(Clone)]
pub struct State {
    pub agenda: Agenda,
    /// Docked ports whose constraints could not be decided yet.
    pub waiting: Rc<[PortPlace]>,
    /// What may dock at ports that are still open, where that has been looked up.
    pub domains: Rc<[Domain]>,
}

/// What may dock at a port.
#[derive(Clone)]
pub struct Domain {
    pub place: PortPlace,
    pub rows: Rc<Rows>,
    pub settled: Settled,
}

/// Which constraints the index has answered for all candidates of a port: they need not be evaluated.
#[derive(Clone, Copy, Default)]
pub struct Settled {
    /// That of the port.
    pub port: bool,
    /// Those of candidates of which the index knows all that they demand.
    pub links: bool,
}

impl Settled {
    /// What one of two answers has settled for those that are in both.
    pub fn or(self, other: Settled) -> Self {
        Settled { port: self.port || other.port, links: self.links || other.links }
    }
}

/// A decision that can be taken in several ways.
pub struct Level {
    pub choice: Choice,
    pub before: State,
    /// What the way that is taken is worth: one step for a candidate, some for the shape of an ad.
    pub worths: Vec<Worth>,
    /// Earlier decisions that have to do with the failure of ways tried so far.
    pub conflict: Levels,
    /// The buckets of candidates that have failed for reasons that hold for all in them.
    pub failed: FxHashSet<usize>,
    /// Whether all that failed here did so because no gang is possible, and not because none is better.
    pub impossible: bool,
}

impl Level {
    pub fn new(choice: Choice, before: State) -> Self {
        let (conflict, failed) = (Levels::new(), FxHashSet::default());
        Level { choice, before, worths: Vec::new(), conflict, failed, impossible: true }
    }

    /// The port that is filled; none if the shape of an ad is decided.
    pub fn place(&self) -> Option<PortPlace> {
        match self.choice {
            Choice::Port { place, .. } => Some(place),
            Choice::Shape { .. } => None,
        }
    }

    /// The port that is filled, and what is docked there.
    pub fn docked(&self) -> Option<(PortPlace, PortPlace)> {
        match self.choice {
            Choice::Port { place, docked: Some(link), .. } => Some((place, link)),
            _ => None,
        }
    }

    /// There is no other way left.
    pub fn exhaust(&mut self) {
        match &mut self.choice {
            Choice::Port { candidates, .. } => candidates.exhaust(),
            Choice::Shape { patterns, next, .. } => *next = patterns.len(),
        }
    }
}

/// What is decided.
pub enum Choice {
    /// Which candidate is docked at a port.
    Port { place: PortPlace, candidates: Candidates, settled: Settled, docked: Option<PortPlace> },
    /// Which ports of an ad are filled.
    Shape { newcomer: Newcomer, patterns: Rc<[Pattern]>, next: usize, taken: Option<usize> },
}

/// Candidates of a port, in the order in which they are tried.
pub enum Candidates {
    /// In the order of the input.
    Set { rows: Rc<Rows>, next: usize },
    /// In an order of their own, with what they are worth where somebody ranks.
    Listed { rows: Vec<usize>, worths: Vec<Worth>, next: usize },
}

impl Candidates {
    /// The next row, and what it is worth.
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

    /// Whether this many are left.
    pub fn has(&self, many: usize) -> bool {
        match self {
            Candidates::Set { rows, next } => rows.ones().skip_while(|row| row < next).nth(many - 1).is_some(),
            Candidates::Listed { rows, next, .. } => rows.len() >= next + many,
        }
    }

    /// None is left.
    pub fn exhaust(&mut self) {
        match self {
            Candidates::Set { rows, next } => *next = rows.len(),
            Candidates::Listed { rows, next, .. } => *next = rows.len(),
        }
    }
}

/// The first row of a set from one on.
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
