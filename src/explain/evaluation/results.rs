//! The results of one expression over all offers.

use std::sync::Arc;

use fixedbitset::FixedBitSet;

use crate::ad::{Truth, Value};
use crate::pool::{Partition, WORD_BITS};

use super::row_weights::RowWeights;

/// Number of offers per outcome of a clause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// Number of offers in which the clause is true.
    pub is_true: usize,
    /// Number of offers in which the clause is false.
    pub is_false: usize,
    /// Number of offers in which the clause is undefined.
    pub undefined: usize,
    /// Number of offers with [`Truth::Error`].
    pub error: usize,
}

/// The rows in groups that agree in some attributes.
pub struct RowGroups {
    pub partition: Arc<Partition>,
    /// Number of offers in each group.
    offers: Box<[usize]>,
}

impl RowGroups {
    pub fn new(partition: Arc<Partition>, weights: &RowWeights) -> Self {
        let mut offers = vec![0; partition.first_rows().len()];
        partition.groups().iter().enumerate().for_each(|(row, group)| offers[*group as usize] += weights.of_row(row));
        RowGroups { partition, offers: offers.into() }
    }

    /// Index of the group of a row.
    pub fn group_of(&self, row: usize) -> usize {
        self.partition.groups()[row] as usize
    }

    /// Returns the rows whose groups have the flag.
    fn rows_with(&self, flags: &[bool]) -> FixedBitSet {
        let groups = self.partition.groups();
        let word = |rows: &[u32]| {
            rows.iter().rev().fold(0, |word: usize, group| word << 1 | usize::from(flags[*group as usize]))
        };
        FixedBitSet::with_capacity_and_blocks(groups.len(), groups.chunks(WORD_BITS).map(word))
    }
}

/// The outcomes of a clause of a request, stored once per group of rows. The rows of a group agree in all attributes
/// that the clause depends on.
pub struct ClauseResults {
    groups: Arc<RowGroups>,
    outcomes: Box<[Truth]>,
    /// The rows in which the clause is true.
    pub true_rows: FixedBitSet,
    /// Number of offers per outcome.
    pub counts: OutcomeCounts,
}

impl ClauseResults {
    /// The first row of each group of rows in which the clause has one value.
    pub fn first_rows(&self) -> &[u32] {
        self.groups.partition.first_rows()
    }

    /// Makes the results from the outcomes of all groups.
    pub fn new(outcomes: Vec<Truth>, groups: Arc<RowGroups>) -> Self {
        let mut counts = OutcomeCounts::default();
        for (outcome, offers) in outcomes.iter().zip(&groups.offers) {
            let count = match outcome {
                Truth::True => &mut counts.is_true,
                Truth::False => &mut counts.is_false,
                Truth::Undefined => &mut counts.undefined,
                Truth::Error => &mut counts.error,
            };
            *count += offers;
        }
        let is_true: Vec<bool> = outcomes.iter().map(|outcome| *outcome == Truth::True).collect();
        ClauseResults { true_rows: groups.rows_with(&is_true), outcomes: outcomes.into(), groups, counts }
    }

    /// The outcome in a row.
    pub fn outcome(&self, row: usize) -> Truth {
        self.outcomes[self.groups.group_of(row)]
    }

    /// The size of the results in bytes. The groups do not count, because they are shared.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.outcomes.len() + self.true_rows.len() / 8
    }
}

/// The values of an expression of a request, stored once per group of rows like [`ClauseResults`].
pub struct ExpressionValues {
    groups: Arc<RowGroups>,
    values: Box<[Value]>,
}

impl ExpressionValues {
    /// Makes the results from the values of all groups.
    pub fn new(values: Vec<Value>, groups: Arc<RowGroups>) -> Self {
        ExpressionValues { groups, values: values.into() }
    }

    /// Returns the value of each group, with the number of offers in the group.
    pub fn weighted_values(&self) -> impl Iterator<Item = (&Value, usize)> {
        self.values.iter().zip(self.groups.offers.iter().copied())
    }

    /// Returns the value of each group that has some of `rows`, with the number of offers of these rows.
    pub fn weighted_values_in(&self, rows: &[usize], weights: &RowWeights) -> impl Iterator<Item = (&Value, usize)> {
        let mut offers = vec![0; self.values.len()];
        for row in rows {
            offers[self.groups.group_of(*row)] += weights.of_row(*row);
        }
        self.values.iter().zip(offers).filter(|(_, offers)| *offers > 0)
    }

    /// The value of the expression in a row.
    pub fn value(&self, row: usize) -> &Value {
        &self.values[self.groups.group_of(row)]
    }

    /// Computes a number from each value.
    pub fn measured(&self, measure: impl Fn(&Value) -> f64) -> GroupMeasures {
        GroupMeasures { groups: Arc::clone(&self.groups), numbers: self.values.iter().map(measure).collect() }
    }

    /// The size of the values in bytes. Memory that the values refer to does not count: it mostly belongs to the ads.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.values)
    }
}

/// Numbers computed from the values of an expression, stored once per group of rows.
pub struct GroupMeasures {
    groups: Arc<RowGroups>,
    numbers: Vec<f64>,
}

impl GroupMeasures {
    /// The number of a row.
    pub fn of_row(&self, row: usize) -> f64 {
        self.numbers[self.groups.group_of(row)]
    }
}
