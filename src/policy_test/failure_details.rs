//! Collects details for failed cases: the values that an expression reads, and unmet clauses.

use std::ops::Range;

use crate::ad::{Expression, ExpressionKind, Name, Value};
use crate::eval::{Context, Evaluator};
use crate::explain::{AdReference, ClauseOutcome, EvaluatedClause, Explainer, SummaryWriter, explain_gang};
use crate::format::document_tree::YamlNode;
use crate::matching::policy::Policy;
use crate::matching::{PairSide, part_name};
use crate::protocol::Protocol;
use crate::text::shorten;

use super::Mismatch;
use super::ads::SpecAd;
use super::expectation::CaseAnswer;
use super::runner::{CaseQuestion, ScopedExpression, admitted_offers, evaluate_pair, gang_matcher, is_served};

/// Maximum number of marked subexpressions, and of reasons.
const MAX_DETAILS: usize = 6;

/// Maximum length of a value in characters; the rest is cut off.
const MAX_VALUE_CHARS: usize = 60;

/// Details that explain an unexpected result.
#[derive(Clone, Debug, Default)]
pub struct FailureDetails<'o> {
    /// Annotations in the text of an expression: node of the spec, byte range within the expression, message.
    pub marks: Vec<(&'o YamlNode, Range<usize>, String)>,
    /// Reasons, a sentence each.
    pub reasons: Vec<String>,
}

/// Collects details for the mismatches of a case.
pub fn collect_details<'o>(
    question: &CaseQuestion<'o>,
    mismatches: &[Mismatch<'o>],
    context: &Context,
) -> FailureDetails<'o> {
    let reasons = match (question, mismatches) {
        (CaseQuestion::Value(sighted), _) => return value_details(sighted, context),
        (CaseQuestion::Match { request, offer }, _) => refusal_details(request, offer, context),
        (
            CaseQuestion::Cycle { requests, offers, .. },
            [Mismatch { expectation, actual: CaseAnswer::Places(actual) }],
        ) => match &expectation.fact {
            CaseAnswer::Places(expected) => cycle_details(requests, offers, [expected, actual], context),
            _ => Vec::new(),
        },
        (CaseQuestion::Gang { request, offers, policy }, [Mismatch { actual: CaseAnswer::Places(actual), .. }])
            if actual.is_empty() =>
        {
            gang_details(request, offers, policy, context).into_iter().collect()
        }
        _ => Vec::new(),
    };
    FailureDetails { marks: Vec::new(), reasons }
}

/// Says which clauses of the request and of the offer are unmet, or that one of them has no constraint.
fn refusal_details(request: &SpecAd, offer: &SpecAd, context: &Context) -> Vec<String> {
    let paired = evaluate_pair(request, offer, context);
    let mut reasons = Vec::new();
    for (known, clauses) in [(request, &paired.request), (offer, &paired.offer)] {
        if clauses.is_empty() {
            reasons.push(format!("{} has no constraint, so that it accepts nothing", known.id));
        }
    }
    reasons.extend(paired.unmet().take(MAX_DETAILS).map(|(side, clause)| {
        let (who, whom) = if side == PairSide::Request { (request, offer) } else { (offer, request) };
        format!("{} does not accept {}: {}", who.id, whom.id, clause_text(clause))
    }));
    reasons
}

/// Says why requests do not get the offers that they were expected to get.
fn cycle_details(
    requests: &[SpecAd],
    offers: &[SpecAd],
    [expected, actual]: [&[(String, String)]; 2],
    context: &Context,
) -> Vec<String> {
    let mut reasons = Vec::new();
    for (request, offer) in expected.iter().filter(|place| !actual.contains(place)).take(MAX_DETAILS) {
        // A part of an offer is called by the offer's name with `#` and a number.
        let whole = offer.rsplit_once('#').map_or(offer.as_str(), |(whole, _)| whole);
        let found = (
            requests.iter().find(|known| known.id == *request),
            offers.iter().find(|known| known.id == *offer).or_else(|| offers.iter().find(|known| known.id == whole)),
        );
        let (Some(asking), Some(asked)) = found else {
            let (what, name) = if found.0.is_none() { ("request", request) } else { ("offer", offer) };
            reasons.push(format!("there is no {what} called {name}"));
            continue;
        };
        let refusals = refusal_details(asking, asked, context);
        if refusals.is_empty() {
            let other = actual.iter().find(|(_, given)| given == offer);
            let but = other.map_or(String::new(), |(other, _)| format!(", but {other} has it"));
            reasons.push(format!("{request} and {offer} accept each other{but}"));
        }
        reasons.extend(refusals);
    }
    reasons.truncate(MAX_DETAILS);
    reasons
}

/// Says why a request gets no gang. `None` if the explanation fails.
fn gang_details(request: &SpecAd, offers: &[SpecAd], policy: &Policy, context: &Context) -> Option<String> {
    if !is_served(request, policy, context).ok()? {
        return Some(format!("{} is not served: `roots` of the policy is not true of it", request.id));
    }
    let offers: Vec<&SpecAd> = admitted_offers(offers, policy, context);
    let mut matcher = gang_matcher(&offers, policy, context).ok()?;
    let report = explain_gang(&mut matcher, 0, &request.ad).ok()?;
    let writer = SummaryWriter {
        subject: &request.id,
        is_plural: false,
        nouns: ["offer", "offers"],
        names: &|ad| match ad {
            AdReference::Request(_) => request.id.clone(),
            AdReference::Offer { offer, part } => part_name(&offers[offer].id, part),
        },
        dialect: context.dialect,
        max_clause_chars: MAX_VALUE_CHARS,
    };
    Some(writer.gang_summary(&report))
}

/// Marks each name in an expression with its value. If the expression is a single attribute, also lists the clauses of
/// this attribute that are not true.
fn value_details<'o>(sighted: &ScopedExpression<'o>, context: &Context) -> FailureDetails<'o> {
    let (environment, frame) = sighted.environment();
    let value = |expression: &Expression| {
        let value = Evaluator::new(&environment, context).evaluate(expression, &frame);
        value.map_or_else(
            |halt| halt.to_string(),
            |value| {
                let text = value.to_string();
                match value.error_origin() {
                    Some(fault) => format!("{text}: {fault}"),
                    None => shorten(&text, MAX_VALUE_CHARS),
                }
            },
        )
    };
    let of_part = |part: &Expression| (sighted.node, part.span().range(), format!("is {}", value(part)));
    let mut marks: Vec<_> = scope_names(&sighted.expression).into_iter().take(MAX_DETAILS).map(of_part).collect();
    if marks.is_empty() {
        marks.push(of_part(&sighted.expression));
    }
    let mut reasons = Vec::new();
    if let (ExpressionKind::Attribute(name), Some(my)) = (sighted.expression.without_parentheses().kind(), &sighted.my)
        && my.ad.get(name).is_some()
    {
        let target = sighted.target.as_ref().map(|known| known.ad.clone()).unwrap_or_default();
        let protocol = Protocol::new(context.dialect).with_attributes(Some(name.as_str()), None);
        let paired = Explainer::new(&[target], protocol, context.clone()).explain_pair(&my.ad, 0);
        let clauses = paired.request.iter().filter(|clause| clause.outcome != ClauseOutcome::True);
        // List even a single clause: the values that it reads are new information.
        reasons.extend(
            clauses
                .take(MAX_DETAILS)
                .map(|clause| format!("in {}, {}", clause_place(clause, name), clause_text(clause))),
        );
    }
    FailureDetails { marks, reasons }
}

/// Returns the attribute that contains a clause; `name` for a clause that belongs to no attribute.
fn clause_place(clause: &EvaluatedClause, name: &Name) -> String {
    clause.clause.attribute().unwrap_or(name).to_string()
}

/// Describes a clause: ``` `LoadAvg < 0.3` is false (MY.LoadAvg is 0.9) ```
fn clause_text(clause: &EvaluatedClause) -> String {
    let reads = clause.values_read(MAX_VALUE_CHARS);
    let outcome = match clause.value {
        Value::String(_) => "a string; in YAML an expression has `!expr` before it",
        _ => clause.outcome.phrase(),
    };
    format!("`{}` is {outcome}{reads}", shorten(&clause.text, 2 * MAX_VALUE_CHARS))
}

/// Returns the names in an expression, with their qualifiers, in the order of the text.
fn scope_names(expression: &Expression) -> Vec<&Expression> {
    let (mut names, mut pending) = (Vec::new(), vec![expression]);
    while let Some(part) = pending.pop() {
        match part.kind() {
            ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_) => names.push(part),
            ExpressionKind::Select(of, _) if matches!(of.kind(), ExpressionKind::Attribute(_)) => names.push(part),
            // The attributes within an ad are in another scope.
            ExpressionKind::Ad(_) => {}
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
    names.sort_by_key(|name| name.span().range().start);
    names
}
