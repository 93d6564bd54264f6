//! What an explanation tells of one clause.

use crate::ad::Value;

use super::clause_analysis::ClauseAnalysis;
use super::distance::as_number;
use super::evaluation::OutcomeCounts;
use super::failure_reason::FailureReason;
use super::offered_values::OfferedValues;
use super::own_expression::RequestExpression;
use super::value_phrase::is_macro;

/// The results of one clause over all offers.
#[derive(Clone, Debug)]
pub struct ClauseReport {
    /// The analysis of the clause while the offer is unknown.
    pub analysis: ClauseAnalysis,
    /// The text of the clause on one line.
    pub text: String,
    /// The text of the residue; `None` if it equals `text`.
    pub residue: Option<String>,
    /// Number of offers per outcome.
    pub counts: OutcomeCounts,
    /// Number of offers that meet this clause and all clauses before it.
    pub remaining: usize,
    /// Number of offers that fail this clause only and meet all others.
    pub sole_blocker: usize,
    /// The offers' value that comes closest to meeting the clause. `None` if the clause is not a comparison with a
    /// constant or if no value is comparable.
    pub closest_value: Option<Value>,
    /// The value that comes closest to meeting the clause in a partitionable slot without jobs. `None` if no such slot
    /// comes closer than `closest_value`.
    pub closest_if_drained: Option<Value>,
    /// The strings that the offers have in the attribute that the clause reads, for a clause that no offer meets.
    pub offered: Option<OfferedValues>,
    /// The expression behind a request for a resource that the clause reads. `None` if a literal is behind each.
    pub own_expression: Option<RequestExpression>,
    /// The reason why no offer meets the clause; `None` if some do.
    pub failure: Option<FailureReason>,
}

impl PartialEq for ClauseReport {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.failure == other.failure
    }
}

impl ClauseReport {
    /// The values that the offers have, for a clause that none meets.
    #[must_use]
    pub fn offered(&self) -> Option<&OfferedValues> {
        match &self.failure {
            Some(FailureReason::Nested(nested)) => nested.offered.as_ref(),
            Some(FailureReason::Slip { then: Some(then), .. }) => then.offered(),
            Some(FailureReason::Slip { .. } | FailureReason::Setting { .. } | FailureReason::NotNow(_)) | None => None,
            Some(FailureReason::Alternatives(parts)) if self.offered.is_none() => parts.iter().find_map(Self::offered),
            Some(_) => self.offered.as_ref(),
        }
    }

    /// Whether the clause compares with a string that has a macro of a submit file.
    pub(super) fn has_macro(&self) -> bool {
        self.analysis.comparison.as_ref().is_some_and(|comparison| is_macro(&comparison.bound))
    }

    /// Whether a slot has as much as the clause asks for once its jobs end.
    pub(super) fn is_met_if_drained(&self) -> bool {
        let found = self.closest_if_drained.as_ref().and_then(as_number);
        let comparison = self.analysis.comparison.as_ref().filter(|_| found.is_some());
        comparison.is_some_and(|comparison| {
            let bound = as_number(&comparison.bound);
            if comparison.asks_for_less() { found <= bound } else { found >= bound }
        })
    }

    /// The same values, to be completed.
    pub(super) fn offered_mut(&mut self) -> Option<&mut OfferedValues> {
        match &mut self.failure {
            Some(FailureReason::Nested(nested)) => nested.offered.as_mut(),
            Some(FailureReason::Slip { .. } | FailureReason::Setting { .. }) | None => None,
            Some(_) => self.offered.as_mut(),
        }
    }
}
