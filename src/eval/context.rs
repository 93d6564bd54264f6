//! What an evaluation is given beside the expression: dialect, clock, chance, budgets.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::ad::Dialect;

/// What is the same for every evaluation of a run.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Whose language.
    pub dialect: Dialect,
    /// The time now, in seconds since 1970-01-01T00:00:00Z; constant within a run.
    pub now: i64,
    /// Where `random()` starts.
    pub seed: u64,
    /// How many evaluations may be nested in one another.
    pub deepest: u32,
    /// How many nodes one evaluation may visit.
    pub most_steps: u64,
}

impl Context {
    /// The usual budgets, the system's clock, and chance.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Context {
            dialect,
            now: i64::try_from(now).unwrap_or(i64::MAX),
            seed: fastrand::u64(..),
            deepest: 20_000,
            most_steps: 10_000_000,
        }
    }
}

/// Why an evaluation has no value.  That is not the value `error`: the expression may well have a
/// value that was not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Evaluations are nested deeper than the budget allows.
    TooDeep(u32),
    /// The evaluation took more steps than the budget allows.
    TooLong(u64),
    /// The value depends on a name that is not bound yet.
    Unknown,
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Halt::TooDeep(deepest) => write!(f, "evaluation is nested more than {deepest} deep"),
            Halt::TooLong(most) => write!(f, "evaluation took more than {most} steps"),
            Halt::Unknown => f.write_str("the value depends on something that is not known yet"),
        }
    }
}

impl std::error::Error for Halt {}
