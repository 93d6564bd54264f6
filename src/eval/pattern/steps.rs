//! The steps of searches, and why a search has no result.

use std::fmt;

/// Number of steps after a first, quick search that do not count for the run. Usual searches take none.
const FREE_SLOW_STEPS: u64 = 256;

/// Steps that searches may take, and those that they took. They depend on pattern and text alone, not on the machine.
#[derive(Clone, Debug)]
pub(crate) struct SearchSteps {
    left: u64,
    taken: u64,
    /// Number of steps of searches with [`MATCH_LIMITS`]. A quick search takes far less time than its steps say.
    slow: u64,
}

impl SearchSteps {
    /// Returns the steps of searches that may take `most`.
    pub(crate) fn new(most: u64) -> Self {
        SearchSteps { left: most, taken: 0, slow: 0 }
    }

    /// Number of steps taken.
    pub(in crate::eval) fn taken(&self) -> u64 {
        self.taken
    }

    /// Number of steps left.
    pub(in crate::eval) fn left(&self) -> u64 {
        self.left
    }

    /// Number of steps that count for the run beside those of evaluations. Each takes twice as long.
    pub(in crate::eval) fn of_run(&self) -> u64 {
        if self.slow > FREE_SLOW_STEPS { 2 * self.slow } else { 0 }
    }

    pub(super) fn take_slow(&mut self, steps: u64) -> Result<(), SearchFault> {
        self.take(steps)?;
        self.slow += steps;
        Ok(())
    }

    pub(super) fn take(&mut self, steps: u64) -> Result<(), SearchFault> {
        self.left = self.left.checked_sub(steps).ok_or(SearchFault::TooManySteps)?;
        self.taken += steps;
        Ok(())
    }
}

/// Why a search has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchFault {
    /// The search takes more steps than [`SearchSteps`] has.
    TooManySteps,
    /// The pattern cannot be used, or the search exceeds a limit of PCRE2; the reason as a phrase.
    Failed(String),
}

impl fmt::Display for SearchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchFault::TooManySteps => f.write_str("the search takes too many steps"),
            SearchFault::Failed(reason) => f.write_str(reason),
        }
    }
}
