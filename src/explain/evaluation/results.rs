//! The results of one expression over all offers.

use std::cell::RefCell;
use std::rc::Rc;

use fixedbitset::FixedBitSet;

use crate::ad::{Dialect, Value};
use crate::pool::Partition;
use crate::protocol::is_met;

/// The outcome of a clause in one offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It is true, or a number that counts as true.
    True,
    /// It is `false`, or a number that counts as false.
    False,
    /// It is `undefined`.
    Undefined,
    /// It is an error, or a value that is not a boolean.
    Error,
}

impl Outcome {
    /// Classifies the value of a clause.
    #[must_use]
    pub fn of(value: &Value, dialect: Dialect) -> Self {
        match value {
            value if is_met(value, dialect) => Outcome::True,
            Value::Boolean(_) => Outcome::False,
            Value::Integer(_) | Value::Real(_) if dialect.is_condor() => Outcome::False,
            Value::Undefined => Outcome::Undefined,
            _ => Outcome::Error,
        }
    }

    /// The keyword.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::True => "true",
            Outcome::False => "false",
            Outcome::Undefined => "undefined",
            Outcome::Error => "error",
        }
    }

    /// The outcome as a predicate in a sentence: `false`, `an error`.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        if self == Outcome::Error { "an error" } else { self.as_str() }
    }
}

/// Number of offers per outcome of a clause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of offers in which it is true.
    pub is_true: usize,
    /// Number of offers in which it is false.
    pub is_false: usize,
    /// Number of offers in which it is undefined.
    pub undefined: usize,
    /// Number of offers in which it is an error or not a boolean.
    pub error: usize,
}

impl Counts {
    fn add(&mut self, outcome: Outcome, weight: usize) {
        *match outcome {
            Outcome::True => &mut self.is_true,
            Outcome::False => &mut self.is_false,
            Outcome::Undefined => &mut self.undefined,
            Outcome::Error => &mut self.error,
        } += weight;
    }
}

/// The results of an expression, stored once per group of rows. The rows of a group agree in all attributes that the
/// expression depends on.
pub struct Answers {
    /// The groups of rows; `None` if each row is a group of its own.
    groups: Option<Rc<Partition>>,
    /// The value of each group; empty unless the expression was evaluated for all rows.
    pub values: Vec<Value>,
    outcomes: RefCell<Vec<Option<Outcome>>>,
    /// The rows in which it is true.
    pub truth: FixedBitSet,
    /// Number of offers per outcome.
    pub counts: Counts,
}

impl Answers {
    /// Builds the results from the values of all groups. `weights` is the number of offers of each row.
    pub fn new(values: Vec<Value>, groups: Option<Rc<Partition>>, weights: &[usize], dialect: Dialect) -> Self {
        let outcomes: Vec<_> = values.iter().map(|value| Some(Outcome::of(value, dialect))).collect();
        let mut answers = Answers::unknown(groups, weights.len());
        answers.outcomes = RefCell::new(outcomes);
        answers.values = values;
        answers.truth.grow(weights.len());
        for (row, weight) in weights.iter().enumerate() {
            let outcome = answers.at(row).unwrap_or(Outcome::Error);
            answers.truth.set(row, outcome == Outcome::True);
            answers.counts.add(outcome, *weight);
        }
        answers
    }

    /// Results without any outcome yet; [`Self::note`] adds them.
    pub fn unknown(groups: Option<Rc<Partition>>, rows: usize) -> Self {
        let size = groups.as_ref().map_or(rows, |groups| groups.first().len());
        Answers {
            groups,
            values: Vec::new(),
            outcomes: RefCell::new(vec![None; size]),
            truth: FixedBitSet::new(),
            counts: Counts::default(),
        }
    }

    /// Index of the group of a row.
    pub fn group(&self, row: usize) -> usize {
        self.groups.as_ref().map_or(row, |groups| groups.group(row).unwrap_or_default())
    }

    /// The outcome in a row. `None` if it has not been evaluated.
    pub fn at(&self, row: usize) -> Option<Outcome> {
        self.outcomes.borrow().get(self.group(row)).copied().flatten()
    }

    /// Records the outcome for the group of a row.
    pub fn note(&self, row: usize, outcome: Outcome) {
        if let Some(known) = self.outcomes.borrow_mut().get_mut(self.group(row)) {
            *known = Some(outcome);
        }
    }
}
