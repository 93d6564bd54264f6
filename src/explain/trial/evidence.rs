//! Why a case came out as it did: what its expression reads, and the clauses that are not met.

use std::ops::Range;

use crate::ad::{Expression, Kind, Name, Value};
use crate::constraint::Protocol;
use crate::eval::{Context, Evaluator};
use crate::explain::{Explainer, Outcome, PairedClause, shortened};
use crate::format::outline::Node;
use crate::matching::Side;
use crate::syntax::{Style, print_value};

use super::question::{Question, Sighted, paired, unmet};

/// So many parts of an expression, or clauses, are worth a word each.
const MOST: usize = 6;

/// Values are cut off behind so many characters.
const LONGEST: usize = 60;

/// What speaks for the answer.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'o> {
    /// Bytes of the text of an expression in the spec, and what is there.
    pub marks: Vec<(&'o Node, Range<usize>, String)>,
    /// Reasons, a sentence each.
    pub reasons: Vec<String>,
}

/// Looks for what speaks for the answer to a question.
pub fn of<'o>(question: &Question<'o>, context: &Context) -> Evidence<'o> {
    match question {
        Question::Value(sighted) => of_value(sighted, context),
        Question::Match { request, offer } => {
            let paired = paired(request, offer, context);
            let mut reasons = Vec::new();
            for (known, clauses) in [(request, &paired.request), (offer, &paired.offer)] {
                if clauses.is_empty() {
                    reasons.push(format!("{} has no constraint, so that it accepts nothing", known.id));
                }
            }
            reasons.extend(unmet(&paired).take(MOST).map(|(side, clause)| {
                let (who, whom) = if side == Side::Left { (request, offer) } else { (offer, request) };
                format!("{} does not accept {}: {}", who.id, whom.id, of_clause(clause))
            }));
            Evidence { marks: Vec::new(), reasons }
        }
        _ => Evidence::default(),
    }
}

/// What each name in an expression is, and which clauses are not true of an attribute that is one.
fn of_value<'o>(sighted: &Sighted<'o>, context: &Context) -> Evidence<'o> {
    let (environment, frame) = sighted.environment();
    let value = |expression: &Expression| {
        let value = Evaluator::new(&environment, context).evaluate(expression, &frame);
        value.map_or_else(
            |halt| halt.to_string(),
            |value| {
                let text = String::from_utf8_lossy(&print_value(&value, Style::New)).into_owned();
                match value.fault() {
                    Some(fault) => format!("{text}: {fault}"),
                    None => shortened(&text, LONGEST),
                }
            },
        )
    };
    let of_part = |part: &Expression| (sighted.node, part.span().range(), format!("is {}", value(part)));
    let mut marks: Vec<_> = names(&sighted.expression).into_iter().take(MOST).map(of_part).collect();
    if marks.is_empty() {
        marks.push(of_part(&sighted.expression));
    }
    let mut reasons = Vec::new();
    if let (Kind::Attribute(name), Some(my)) = (sighted.expression.bare().kind(), &sighted.my)
        && my.ad.get(name).is_some()
    {
        let target = sighted.target.as_ref().map(|known| known.ad.clone()).unwrap_or_default();
        let protocol = Protocol::new(context.dialect).with(Some(name.as_str()), None);
        let paired = Explainer::new(&[target], protocol, context.clone()).pair(&my.ad, 0);
        let clauses = paired.request.iter().filter(|clause| clause.outcome != Outcome::True);
        // One clause that is the whole attribute says nothing new but what it reads.
        reasons.extend(clauses.take(MOST).map(|clause| format!("in {}, {}", place(clause, name), of_clause(clause))));
    }
    Evidence { marks, reasons }
}

/// The attribute in which a clause stands.
fn place(clause: &PairedClause, name: &Name) -> String {
    clause.clause.attribute().unwrap_or(name).to_string()
}

/// ``` `LoadAvg < 0.3` is false (MY.LoadAvg is 0.9) ```
fn of_clause(clause: &PairedClause) -> String {
    let reads = clause.reads.iter().map(|(name, value)| {
        let text = String::from_utf8_lossy(&print_value(value, Style::New)).into_owned();
        format!("{name} is {}", shortened(&text, LONGEST))
    });
    let reads: Vec<String> = reads.collect();
    let reads = if reads.is_empty() { String::new() } else { format!(" ({})", reads.join(", ")) };
    let outcome = match clause.value {
        Value::String(_) => "a string; in YAML an expression has `!expr` before it",
        _ => clause.outcome.phrase(),
    };
    format!("`{}` is {outcome}{reads}", shortened(&clause.text, 2 * LONGEST))
}

/// The names in an expression, with what they are selected from, in the order in which they are written.
fn names(expression: &Expression) -> Vec<&Expression> {
    let (mut names, mut pending) = (Vec::new(), vec![expression]);
    while let Some(part) = pending.pop() {
        match part.kind() {
            Kind::Attribute(_) | Kind::RootAttribute(_) => names.push(part),
            Kind::Select(of, _) if matches!(of.kind(), Kind::Attribute(_)) => names.push(part),
            // What is in an ad is not in this scope.
            Kind::Ad(_) => {}
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
    names.sort_by_key(|name| name.span().range().start);
    names
}
