//! What one expression is in every offer.

use std::cell::RefCell;
use std::rc::Rc;

use fixedbitset::FixedBitSet;

use crate::ad::{Dialect, Value};
use crate::pool::Partition;
use crate::protocol::is_met;

/// What a clause is in one offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It is met.
    True,
    /// It is `false`, or a number that counts as such.
    False,
    /// It is `undefined`.
    Undefined,
    /// It is an error, or a value that is no boolean.
    Error,
}

impl Outcome {
    /// What a value is as a clause.
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

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::True => "true",
            Outcome::False => "false",
            Outcome::Undefined => "undefined",
            Outcome::Error => "error",
        }
    }

    /// The same in a sentence: what something is.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        if self == Outcome::Error { "an error" } else { self.as_str() }
    }
}

/// In how many offers a clause is what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// In so many it is true.
    pub is_true: usize,
    /// In so many it is false.
    pub is_false: usize,
    /// In so many it is undefined.
    pub undefined: usize,
    /// In so many it is an error, or no boolean.
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

/// The values of an expression by groups of rows.
pub struct Answers {
    /// The groups; none if each row is one.
    groups: Option<Rc<Partition>>,
    /// The value of each group, if it was asked for.
    pub values: Vec<Value>,
    outcomes: RefCell<Vec<Option<Outcome>>>,
    /// The rows in which it is true.
    pub truth: FixedBitSet,
    /// In how many offers it is what.
    pub counts: Counts,
}

impl Answers {
    /// These values, of all groups.
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

    /// Nothing is known yet.
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

    /// The group of a row.
    pub fn group(&self, row: usize) -> usize {
        self.groups.as_ref().map_or(row, |groups| groups.group(row).unwrap_or_default())
    }

    /// What it is in a row, if that is known.
    pub fn at(&self, row: usize) -> Option<Outcome> {
        self.outcomes.borrow().get(self.group(row)).copied().flatten()
    }

    /// Notes what it is in a row.
    pub fn note(&self, row: usize, outcome: Outcome) {
        if let Some(known) = self.outcomes.borrow_mut().get_mut(self.group(row)) {
            *known = Some(outcome);
        }
    }
}
