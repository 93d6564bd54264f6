//! The results of one expression over all offers.

use std::cell::RefCell;
use std::rc::Rc;

use fixedbitset::FixedBitSet;

use crate::ad::{Dialect, Value};
use crate::pool::Partition;
use crate::protocol::is_met;

/// The outcome of a clause in one offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClauseOutcome {
    /// The clause is true, or a number that counts as true.
    True,
    /// The clause is `false`, or a number that counts as false.
    False,
    /// The clause is `undefined`.
    Undefined,
    /// The clause is an error, or it has a value that counts neither as true nor as false, such as a string.
    Error,
}

impl ClauseOutcome {
    /// Classifies the value of a clause.
    #[must_use]
    pub fn of(value: &Value, dialect: Dialect) -> Self {
        match value {
            value if is_met(value, dialect) => ClauseOutcome::True,
            Value::Boolean(_) => ClauseOutcome::False,
            Value::Integer(_) | Value::Real(_) if dialect.is_condor() => ClauseOutcome::False,
            Value::Undefined => ClauseOutcome::Undefined,
            _ => ClauseOutcome::Error,
        }
    }

    /// The outcome as a keyword: `true`, `false`, `undefined` or `error`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ClauseOutcome::True => "true",
            ClauseOutcome::False => "false",
            ClauseOutcome::Undefined => "undefined",
            ClauseOutcome::Error => "error",
        }
    }

    /// The outcome as it stands after "is" in a sentence: `false`, `an error`.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        if self == ClauseOutcome::Error { "an error" } else { self.as_str() }
    }
}

/// Number of offers per outcome of a clause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// Number of offers in which the clause is true.
    pub is_true: usize,
    /// Number of offers in which the clause is false.
    pub is_false: usize,
    /// Number of offers in which the clause is undefined.
    pub undefined: usize,
    /// Number of offers with [`ClauseOutcome::Error`].
    pub error: usize,
}

/// The results of an expression, stored once per group of rows. The rows of a group agree in all attributes that the
/// expression depends on.
pub struct ClauseResults {
    groups: Rc<Partition>,
    /// The value of each group; empty unless the expression was evaluated for all rows.
    pub values: Vec<Value>,
    outcomes: RefCell<Vec<Option<ClauseOutcome>>>,
    /// The rows in which the expression is true.
    pub true_rows: FixedBitSet,
    /// Number of offers per outcome.
    pub counts: OutcomeCounts,
}

impl ClauseResults {
    /// Builds the results from the values of all groups. `weights` is the number of offers of each row.
    pub fn new(values: Vec<Value>, groups: Rc<Partition>, weights: &[usize], dialect: Dialect) -> Self {
        let outcomes = values.iter().map(|value| Some(ClauseOutcome::of(value, dialect))).collect();
        let mut results =
            ClauseResults { values, outcomes: RefCell::new(outcomes), ..ClauseResults::unevaluated(groups) };
        results.true_rows.grow(weights.len());
        for (row, weight) in weights.iter().enumerate() {
            let outcome = results.outcome(row).unwrap_or(ClauseOutcome::Error);
            results.true_rows.set(row, outcome == ClauseOutcome::True);
            let count = match outcome {
                ClauseOutcome::True => &mut results.counts.is_true,
                ClauseOutcome::False => &mut results.counts.is_false,
                ClauseOutcome::Undefined => &mut results.counts.undefined,
                ClauseOutcome::Error => &mut results.counts.error,
            };
            *count += weight;
        }
        results
    }

    /// Makes results without any outcome. [`Self::record`] adds the outcomes later.
    pub fn unevaluated(groups: Rc<Partition>) -> Self {
        let size = groups.first_rows().len();
        ClauseResults {
            groups,
            values: Vec::new(),
            outcomes: RefCell::new(vec![None; size]),
            true_rows: FixedBitSet::new(),
            counts: OutcomeCounts::default(),
        }
    }

    /// Returns the value of each group of rows, with the number of offers in the group. Counts only the offers of
    /// `rows`. `weights` is the number of offers of each row.
    pub fn weighted_values(&self, rows: impl IntoIterator<Item = usize>, weights: &[usize]) -> Vec<(&Value, usize)> {
        let mut offers = vec![0; self.values.len()];
        rows.into_iter().for_each(|row| offers[self.group_of(row)] += weights[row]);
        self.values.iter().zip(offers).collect()
    }

    /// The value of the expression in a row.
    pub fn value(&self, row: usize) -> &Value {
        &self.values[self.group_of(row)]
    }

    /// Index of the group of a row.
    fn group_of(&self, row: usize) -> usize {
        self.groups.group(row).unwrap_or_default()
    }

    /// The outcome in a row. `None` if the expression has not been evaluated for the group of the row.
    pub fn outcome(&self, row: usize) -> Option<ClauseOutcome> {
        self.outcomes.borrow().get(self.group_of(row)).copied().flatten()
    }

    /// Records the outcome in a row. The outcome holds for all rows of the row's group.
    pub fn record(&self, row: usize, outcome: ClauseOutcome) {
        if let Some(known) = self.outcomes.borrow_mut().get_mut(self.group_of(row)) {
            *known = Some(outcome);
        }
    }
}
