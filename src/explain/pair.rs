//! Compares a request with one offer: evaluates each clause of either side against the other.

use crate::ad::{Ad, Expression, Kind, Name, Span, Value};
use crate::eval::Mentions;
use crate::matching::Side;

use super::clauses::Clause;
use super::evaluation::{Asking, Outcome, Survey};

/// The result for a request and one offer.
#[derive(Clone, Debug)]
pub struct Paired {
    /// The clauses of the request; empty if it has no constraint.
    pub request: Vec<PairedClause>,
    /// The clauses of the offer; empty if it has no constraint.
    pub offer: Vec<PairedClause>,
}

/// A clause of one side, evaluated against the other.
#[derive(Clone, Debug)]
pub struct PairedClause {
    /// The clause.
    pub clause: Clause,
    /// The source text on one line.
    pub text: String,
    /// The outcome of the clause.
    pub outcome: Outcome,
    /// Its value.
    pub value: Value,
    /// The attributes that the clause reads, as `side.name`, with their values.
    pub reads: Vec<(String, Value)>,
}

impl Paired {
    pub(super) fn new(survey: &mut Survey, request: &Ad, offer: usize) -> Self {
        let asking = Asking::new(request);
        let Some(row) = survey.row_of.get(offer).map(|row| *row as usize) else {
            return Paired { request: Vec::new(), offer: Vec::new() };
        };
        let own = survey.clauses(&asking);
        let theirs = survey.demanding(&asking, row).into_iter().map(|(clause, _)| clause).collect::<Vec<_>>();
        let mut of = |side, clauses: Vec<Clause>| -> Vec<PairedClause> {
            clauses.into_iter().map(|clause| PairedClause::new(survey, &asking, (side, row), clause)).collect()
        };
        Paired { request: of(Side::Left, own), offer: of(Side::Right, theirs) }
    }

    /// Whether they match: both have clauses, and all are true.
    #[must_use]
    pub fn is_match(&self) -> bool {
        [&self.request, &self.offer]
            .iter()
            .all(|side| !side.is_empty() && side.iter().all(|clause| clause.outcome == Outcome::True))
    }
}

impl PairedClause {
    fn new(survey: &mut Survey, asking: &Asking, (side, row): (Side, usize), clause: Clause) -> Self {
        let dialect = survey.context.dialect;
        let value = survey.value(asking, side, &clause, row);
        let own = match side {
            Side::Left => asking.ad.clone(),
            Side::Right => survey.ads[row].clone(),
        };
        let mentions = Mentions::of(&clause.expression, dialect);
        let mut reads: Vec<(String, Value)> = Vec::new();
        let (my, target) = if dialect.is_condor() { ("MY", "TARGET") } else { ("self", "other") };
        let own_names = mentions.own.iter().chain(mentions.either.iter().filter(|name| own.get(name).is_some()));
        let fallen = mentions.either.iter().filter(|name| own.get(name).is_none());
        let named =
            own_names.map(|name| (my, name)).chain(mentions.other.iter().chain(fallen).map(|name| (target, name)));
        for (side_name, name) in named {
            let text = format!("{side_name}.{name}");
            if reads.iter().any(|(known, _)| known.eq_ignore_ascii_case(&text)) {
                continue;
            }
            let selected = Clause::of(selection(side_name, name));
            reads.push((text, survey.value(asking, side, &selected, row)));
        }
        PairedClause { text: clause.text(dialect), outcome: Outcome::of(&value, dialect), value, reads, clause }
    }
}

/// Builds the expression `side.name`.
fn selection(side: &str, name: &Name) -> Expression {
    let side = Expression::new(Kind::Attribute(Name::new(side)), Span::default());
    Expression::new(Kind::Select(side, name.clone()), Span::default())
}
