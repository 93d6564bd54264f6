//! Compares a request with one offer: evaluates each clause of either side against the other.

use crate::ad::{Ad, Truth, Value};
use crate::matching::PairSide;

use super::clauses::{ExplainedClause, text};
use super::decisive_part::ClauseInPair;
use super::evaluation::{OfferTable, RequestContext};
use crate::text::shorten;

/// The clauses of a request and of one offer, each evaluated against the other side.
#[derive(Clone, Debug)]
pub struct PairReport {
    /// The clauses of the request; empty if the request has no constraint.
    pub request: Vec<EvaluatedClause>,
    /// The clauses of the offer; empty if the offer has no constraint.
    pub offer: Vec<EvaluatedClause>,
    /// Index of the clause of the offer that decides that it refuses; `None` if it meets all.
    pub decisive_demand: Option<usize>,
}

/// A clause of one side, evaluated against the other.
#[derive(Clone, Debug)]
pub struct EvaluatedClause {
    /// The evaluated clause.
    pub clause: ExplainedClause,
    /// The text of the clause on one line.
    pub text: String,
    /// The outcome of the clause.
    pub outcome: Truth,
    /// The value of the clause.
    pub value: Value,
    /// The attributes that the clause reads, such as `TARGET.Memory`, with their values.
    pub reads: Vec<(String, Value)>,
}

impl PairReport {
    pub(super) fn new(table: &OfferTable, request: &Ad, offer: usize) -> Self {
        let context = RequestContext::new(request);
        let Some(row) = table.row_of.get(offer).map(|row| *row as usize) else {
            return PairReport { request: Vec::new(), offer: Vec::new(), decisive_demand: None };
        };
        let own = table.request_clauses(&context);
        let acceptance = table.acceptance(&context);
        let constraints = table.offer_constraints();
        let demands: Vec<_> = acceptance.row_outcomes(table, &context, row).collect();
        let precedence = |place: &usize| constraints.clauses[demands[*place].0].weight.precedence();
        let unmet = (0..demands.len()).filter(|place| demands[*place].1 != Truth::True);
        let decisive_demand = unmet.min_by_key(precedence);
        let demands = demands.iter().map(|(clause, _)| constraints.clauses[*clause].clause.clone()).collect();
        let evaluate = |side, clauses: Vec<ExplainedClause>| {
            clauses.into_iter().map(|clause| EvaluatedClause::new(table, &context, (side, row), clause)).collect()
        };
        let [request, offer] = [evaluate(PairSide::Request, own), evaluate(PairSide::Offer, demands)];
        PairReport { request, offer, decisive_demand }
    }

    /// Iterates over the unmet clauses of both sides, those of the request first.
    pub fn unmet(&self) -> impl Iterator<Item = (PairSide, &EvaluatedClause)> {
        let request = self.request.iter().map(|clause| (PairSide::Request, clause));
        let offer = self.offer.iter().map(|clause| (PairSide::Offer, clause));
        request.chain(offer).filter(|(_, clause)| clause.outcome != Truth::True)
    }

    /// Whether request and offer match: both have clauses, and all clauses are true.
    #[must_use]
    pub fn is_match(&self) -> bool {
        !self.request.is_empty() && !self.offer.is_empty() && self.unmet().next().is_none()
    }
}

impl EvaluatedClause {
    /// Evaluates a clause. `at` is the side that the clause belongs to, and the row of the offer.
    fn new(table: &OfferTable, request: &RequestContext, at: (PairSide, usize), clause: ExplainedClause) -> Self {
        let (side, row) = at;
        let dialect = table.context.dialect;
        let value = table.value(request, side, &clause, row);
        let pair = ClauseInPair { table, request, side, row };
        let read = pair.attributes_read(&clause.expression).into_iter();
        let reads = read
            .map(|(side, name)| (format!("{}.{name}", dialect.side_names()[side]), pair.attribute_value(side, &name)));
        let reads = reads.collect();
        let text = text(&clause.expression, dialect);
        EvaluatedClause { text, outcome: Truth::of(&value, dialect), value, reads, clause }
    }

    /// Lists the values that the clause reads: ` (TARGET.Memory is 4096)`; empty if the clause reads none. `most` is
    /// the maximum number of characters of a value.
    #[must_use]
    pub fn values_read(&self, most: usize) -> String {
        let values = self.reads.iter().map(|(name, value)| format!("{name} is {}", shorten(&value.to_string(), most)));
        if self.reads.is_empty() { String::new() } else { format!(" ({})", values.collect::<Vec<_>>().join(", ")) }
    }
}
