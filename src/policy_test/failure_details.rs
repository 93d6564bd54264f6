//! Collects details for failed cases: the values that an expression reads, and unmet clauses.

use std::ops::Range;

use crate::ad::{Expression, Kind, Name, Value};
use crate::eval::{Context, Evaluator};
use crate::explain::{Explainer, GangWording, Outcome, PairedClause, explain_gang, shortened};
use crate::format::document_tree::Node;
use crate::matching::Side;
use crate::matching::policy::Policy;
use crate::protocol::Protocol;
use crate::syntax::{Style, print_value};

use super::Mismatch;
use super::ads::Known;
use super::expectation::Fact;
use super::runner::{Question, Sighted, matcher, paired, part, served, unmet};

/// Maximum number of marked subexpressions, and of reasons.
const MOST: usize = 6;

/// Maximum length of a value in characters; the rest is cut off.
const LONGEST: usize = 60;

/// Details that explain an unexpected result.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'o> {
    /// Annotations in the text of an expression: node of the spec, byte range within the expression, message.
    pub marks: Vec<(&'o Node, Range<usize>, String)>,
    /// Reasons, a sentence each.
    pub reasons: Vec<String>,
}

/// Collects details for the mismatches of a case.
pub fn of<'o>(question: &Question<'o>, mismatches: &[Mismatch<'o>], context: &Context) -> Evidence<'o> {
    let reasons = match (question, mismatches) {
        (Question::Value(sighted), _) => return of_value(sighted, context),
        (Question::Match { request, offer }, _) => refusals(request, offer, context),
        (Question::Cycle { requests, offers, .. }, [Mismatch { expectation, actual: Fact::Places(actual) }]) => {
            match &expectation.fact {
                Fact::Places(expected) => of_cycle(requests, offers, [expected, actual], context),
                _ => Vec::new(),
            }
        }
        (Question::Gang { request, offers, policy }, [Mismatch { actual: Fact::Places(actual), .. }])
            if actual.is_empty() =>
        {
            no_gang(request, offers, policy, context).into_iter().collect()
        }
        _ => Vec::new(),
    };
    Evidence { marks: Vec::new(), reasons }
}

/// Says which clauses of the two ads are unmet.
fn refusals(request: &Known, offer: &Known, context: &Context) -> Vec<String> {
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
    reasons
}

/// Says why requests do not get the offers that they were expected to get.
fn of_cycle(
    requests: &[Known],
    offers: &[Known],
    [expected, actual]: [&[(String, String)]; 2],
    context: &Context,
) -> Vec<String> {
    let mut reasons = Vec::new();
    for (request, offer) in expected.iter().filter(|place| !actual.contains(place)).take(MOST) {
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
        let refusals = refusals(asking, asked, context);
        if refusals.is_empty() {
            let other = actual.iter().find(|(_, given)| given == offer);
            let but = other.map_or(String::new(), |(other, _)| format!(", but {other} has it"));
            reasons.push(format!("{request} and {offer} accept each other{but}"));
        }
        reasons.extend(refusals);
    }
    reasons.truncate(MOST);
    reasons
}

/// Says why a request gets no gang. `None` if it cannot be found out.
fn no_gang(request: &Known, offers: &[Known], policy: &Policy, context: &Context) -> Option<String> {
    let offers: Vec<&Known> = served(offers, policy, context);
    let mut matcher = matcher(&offers, policy, context).ok()?;
    let report = explain_gang(&mut matcher, 0, &request.ad).ok()?;
    if report.gang.is_some() {
        return Some(format!("{} is not served: `roots` of the policy is not true of it", request.id));
    }
    let wording = GangWording {
        subject: &request.id,
        is_plural: false,
        offer: &|docked| part(&offers[docked.offer].id, docked.part),
        name: &|offer| offers[offer].id.clone(),
        requests: &|_| request.id.clone(),
        dialect: context.dialect,
        longest: LONGEST,
    };
    Some(wording.summary(&report))
}

/// Marks the value of each name in an expression. For a single attribute also lists its clauses that are not true.
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
        // Even for a single clause the values that it reads are new information.
        reasons.extend(clauses.take(MOST).map(|clause| format!("in {}, {}", place(clause, name), of_clause(clause))));
    }
    Evidence { marks, reasons }
}

/// Returns the attribute that contains a clause.
fn place(clause: &PairedClause, name: &Name) -> String {
    clause.clause.attribute().unwrap_or(name).to_string()
}

/// Describes a clause: ``` `LoadAvg < 0.3` is false (MY.LoadAvg is 0.9) ```
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

/// Returns the names in an expression, with their qualifiers, in the order of the text.
fn names(expression: &Expression) -> Vec<&Expression> {
    let (mut names, mut pending) = (Vec::new(), vec![expression]);
    while let Some(part) = pending.pop() {
        match part.kind() {
            Kind::Attribute(_) | Kind::RootAttribute(_) => names.push(part),
            Kind::Select(of, _) if matches!(of.kind(), Kind::Attribute(_)) => names.push(part),
            // The attributes within an ad are in another scope.
            Kind::Ad(_) => {}
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
    names.sort_by_key(|name| name.span().range().start);
    names
}
