//! Collects details for failed cases: the values that an expression reads, and unmet clauses.

use std::ops::Range;

use crate::ad::{Expression, ExpressionKind, Truth, Value};
use crate::eval::{Context, Evaluator};
use crate::explain::{AdReference, EvaluatedClause, Explainer, SummaryWriter, explain_gang};
use crate::format::document_tree::YamlNode;
use crate::matching::policy::Policy;
use crate::matching::{PairSide, part_name};
use crate::protocol::Protocol;
use crate::text::shorten;

use super::Mismatch;
use super::ads::SpecAd;
use super::expectation::CaseAnswer;
use super::runner::{CaseQuestion, ScopedExpression, admitted_offers, evaluate_pair, gang_matcher, is_served};

/// Maximum number of marked names in an expression, and of listed reasons.
const MAX_DETAILS: usize = 6;

/// Maximum number of characters printed of a value. A longer value is cut.
const MAX_VALUE_CHARS: usize = 60;

/// Details that explain an unexpected result.
#[derive(Clone, Debug, Default)]
pub struct FailureDetails<'o> {
    /// Annotations in the text of an expression: the node of the expression in the spec, a byte range within the
    /// expression, and the message for this range.
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
        (CaseQuestion::Value(scoped), _) => return value_details(scoped, context),
        (CaseQuestion::Match { request, offer }, _) => refusal_details(request, offer, context),
        (CaseQuestion::Cycle { requests, offers, .. }, [mismatch]) => {
            cycle_details(requests, offers, mismatch, context)
        }
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
    let without = [(request, &paired.request), (offer, &paired.offer)].into_iter().filter(|(_, own)| own.is_empty());
    let without = without.map(|(known, _)| format!("{} has no constraint, so it accepts nothing", known.id));
    let unmet = paired.unmet().take(MAX_DETAILS).map(|(side, clause)| {
        let (who, whom) = if side == PairSide::Request { (request, offer) } else { (offer, request) };
        format!("{} does not accept {}: {}", who.id, whom.id, clause_text(clause))
    });
    without.chain(unmet).collect()
}

/// Says why requests do not get the offers that they were expected to get.
fn cycle_details(requests: &[SpecAd], offers: &[SpecAd], mismatch: &Mismatch<'_>, context: &Context) -> Vec<String> {
    let mut reasons = Vec::new();
    let (CaseAnswer::Places(expected), CaseAnswer::Places(actual)) = (&mismatch.expectation.fact, &mismatch.actual)
    else {
        return reasons;
    };
    for (request, offer) in expected.iter().filter(|place| !actual.contains(place)).take(MAX_DETAILS) {
        // `slot1#2` names a part of the offer `slot1`.
        let whole = offer.rsplit_once('#').map_or(offer.as_str(), |(whole, _)| whole);
        match (find(requests, request), find(offers, offer).or_else(|| find(offers, whole))) {
            (None, _) => reasons.push(format!("there is no request called {request}")),
            (_, None) => reasons.push(format!("there is no offer called {offer}")),
            (Some(request_ad), Some(offer_ad)) => {
                let refusals = refusal_details(request_ad, offer_ad, context);
                if refusals.is_empty() {
                    let holder = actual.iter().find(|(_, held)| held == offer);
                    let but = holder.map_or(String::new(), |(holder, _)| format!(", but {holder} got {offer}"));
                    reasons.push(format!("{request} and {offer} accept each other{but}"));
                }
                reasons.extend(refusals);
            }
        }
    }
    reasons.truncate(MAX_DETAILS);
    reasons
}

fn find<'a>(ads: &'a [SpecAd], id: &str) -> Option<&'a SpecAd> {
    ads.iter().find(|known| known.id == id)
}

/// Says why a request gets no gang. `None` if an evaluation or the gang search fails.
fn gang_details(request: &SpecAd, offers: &[SpecAd], policy: &Policy, context: &Context) -> Option<String> {
    if !is_served(request, policy, context).ok()? {
        return Some(format!("{} is not served: `roots` of the policy is not true for it", request.id));
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
        brevity: 0,
    };
    Some(writer.gang_summary(&report))
}

/// Marks each name in an expression with its value. If the whole expression is the name of an attribute, also lists the
/// clauses of this attribute that are not true.
fn value_details<'o>(scoped: &ScopedExpression<'o>, context: &Context) -> FailureDetails<'o> {
    let (environment, frame) = scoped.environment();
    let value = |expression: &Expression| match Evaluator::new(&environment, context).evaluate(expression, &frame) {
        Err(halt) => halt.to_string(),
        Ok(value) => match value.error_origin() {
            Some(origin) => format!("{value}: {origin}"),
            None => shorten(&value.to_string(), MAX_VALUE_CHARS),
        },
    };
    let of_part = |part: &Expression| {
        if scoped.is_in_node {
            (scoped.node, part.span().range(), format!("is {}", value(part)))
        } else {
            (scoped.node, 0..scoped.node.text().map_or(0, str::len), format!("{part} is {}", value(part)))
        }
    };
    let mut marks: Vec<_> = scope_names(&scoped.expression).into_iter().take(MAX_DETAILS).map(of_part).collect();
    if marks.is_empty() {
        marks.push(of_part(&scoped.expression));
    }
    let mut reasons = Vec::new();
    if let (ExpressionKind::Attribute(name), Some(my)) = (scoped.expression.without_parentheses().kind(), &scoped.my)
        && my.ad.get(name).is_some()
    {
        let target = scoped.target.as_ref().map(|known| known.ad.clone()).unwrap_or_default();
        let protocol = Protocol::new(context.dialect).with_attributes(Some(name.as_str()), None);
        let paired = Explainer::new(&[target], protocol, context.clone()).explain_pair(&my.ad, 0);
        let is_met = |clause: &&EvaluatedClause| clause.outcome == Truth::True;
        // If all clauses are true, the case expects that one is not: all are of interest.
        let are_all_met = paired.request.iter().all(|clause| is_met(&clause));
        let clauses = paired.request.iter().filter(|clause| are_all_met || !is_met(clause));
        // List the clause even if there is only one, because the list also shows the values that the clause reads.
        reasons.extend(clauses.take(MAX_DETAILS).map(|clause| {
            let attribute = clause.clause.attribute().unwrap_or(name);
            format!("in {attribute}, {}", clause_text(clause))
        }));
    }
    FailureDetails { marks, reasons }
}

/// Describes a clause: ``` `LoadAvg < 0.3` is false (MY.LoadAvg is 0.9) ```
fn clause_text(clause: &EvaluatedClause) -> String {
    let reads = clause.values_read(MAX_VALUE_CHARS);
    let outcome = match clause.value {
        Value::String(_) => "a string; in YAML an expression has `!expr` before it",
        Value::Integer(_) | Value::Real(_) => "a number",
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
            // Names in a nested ad are resolved in another scope, so that this scope has no values for them.
            ExpressionKind::Ad(_) => {}
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
    names.sort_by_key(|name| name.span().range().start);
    names
}
