//! Compares a request with one offer: evaluates each clause of either side against the other.

use crate::ad::{Ad, Expression, Value};
use crate::eval::FreeNames;
use crate::matching::PairSide;

use super::clauses::ExplainedClause;
use super::evaluation::{ClauseOutcome, OfferTable, RequestContext};
use crate::text::shorten;

/// The clauses of a request and of one offer, each evaluated against the other side.
#[derive(Clone, Debug)]
pub struct PairReport {
    /// The clauses of the request; empty if the request has no constraint.
    pub request: Vec<EvaluatedClause>,
    /// The clauses of the offer; empty if the offer has no constraint.
    pub offer: Vec<EvaluatedClause>,
}

/// A clause of one side, evaluated against the other.
#[derive(Clone, Debug)]
pub struct EvaluatedClause {
    /// The clause.
    pub clause: ExplainedClause,
    /// The source text on one line.
    pub text: String,
    /// The outcome of the clause.
    pub outcome: ClauseOutcome,
    /// The value of the clause.
    pub value: Value,
    /// The attributes that the clause reads, as `side.name`, with their values.
    pub reads: Vec<(String, Value)>,
}

impl PairReport {
    pub(super) fn new(survey: &mut OfferTable, request: &Ad, offer: usize) -> Self {
        let asking = RequestContext::new(request);
        let Some(row) = survey.row_of.get(offer).map(|row| *row as usize) else {
            return PairReport { request: Vec::new(), offer: Vec::new() };
        };
        let own = survey.request_clauses(&asking);
        let theirs =
            survey.offer_clause_outcomes(&asking, row).into_iter().map(|(clause, _)| clause).collect::<Vec<_>>();
        let mut of = |side, clauses: Vec<ExplainedClause>| -> Vec<EvaluatedClause> {
            clauses.into_iter().map(|clause| EvaluatedClause::new(survey, &asking, (side, row), clause)).collect()
        };
        PairReport { request: of(PairSide::Request, own), offer: of(PairSide::Offer, theirs) }
    }

    /// Iterates over the unmet clauses of both sides, those of the request first.
    pub fn unmet(&self) -> impl Iterator<Item = (PairSide, &EvaluatedClause)> {
        let request = self.request.iter().map(|clause| (PairSide::Request, clause));
        let offer = self.offer.iter().map(|clause| (PairSide::Offer, clause));
        request.chain(offer).filter(|(_, clause)| clause.outcome != ClauseOutcome::True)
    }

    /// Whether request and offer match: both have clauses, and all clauses are true.
    #[must_use]
    pub fn is_match(&self) -> bool {
        !self.request.is_empty() && !self.offer.is_empty() && self.unmet().next().is_none()
    }
}

impl EvaluatedClause {
    fn new(
        survey: &mut OfferTable,
        asking: &RequestContext,
        (side, row): (PairSide, usize),
        clause: ExplainedClause,
    ) -> Self {
        let dialect = survey.context.dialect;
        let value = survey.evaluate(asking, side, &clause, row);
        let own = match side {
            PairSide::Request => asking.ad.clone(),
            PairSide::Offer => survey.store.ads()[row].clone(),
        };
        let mentions = FreeNames::of(&clause.expression, dialect);
        let mut reads: Vec<(String, Value)> = Vec::new();
        let [my, target] = dialect.side_names();
        let own_names = mentions.mine.iter().chain(mentions.unqualified.iter().filter(|name| own.get(name).is_some()));
        let fallen = mentions.unqualified.iter().filter(|name| own.get(name).is_none());
        let named =
            own_names.map(|name| (my, name)).chain(mentions.theirs.iter().chain(fallen).map(|name| (target, name)));
        for (side_name, name) in named {
            let text = format!("{side_name}.{name}");
            if reads.iter().any(|(known, _)| known.eq_ignore_ascii_case(&text)) {
                continue;
            }
            let selected =
                ExplainedClause::detached(Expression::select(Expression::attribute(side_name), name.clone()));
            reads.push((text, survey.evaluate(asking, side, &selected, row)));
        }
        EvaluatedClause {
            text: clause.expression_text(dialect),
            outcome: ClauseOutcome::of(&value, dialect),
            value,
            reads,
            clause,
        }
    }

    /// Lists the values that the clause reads: ` (TARGET.Memory is 4096)`; empty if the clause reads none. `most` is
    /// the maximum number of characters of a value.
    #[must_use]
    pub fn values_read(&self, most: usize) -> String {
        let values = self.reads.iter().map(|(name, value)| format!("{name} is {}", shorten(&value.to_string(), most)));
        let values: Vec<String> = values.collect();
        if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) }
    }
}
