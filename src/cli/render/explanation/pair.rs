//! Explanations of single pairs: why a request and a named offer do not match.

use std::io::Write;

use classad::eval::{Environment, Evaluator};
use classad::explain::{Explainer, Outcome, Paired, PairedClause};
use classad::syntax::{Style, print_value};

use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics::{self, line};
use crate::cli::render::expression_tree;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

use super::case::Case;
use super::gangs::Gangs;
use super::listing::push_wrapped;
use super::writer::{shortened, sign};

/// Explains why the offer of this name and a request, or all requests, do not match. The status says whether all do.
///
/// # Errors
///
/// No offer or no request has the name.
pub fn explain(
    session: &mut Session,
    case: &Case<'_>,
    explainer: &mut Explainer,
    parties: &Parties,
    (offer, request): (&str, Option<&str>),
    form: Option<OutputForm>,
) -> Result<Status, Failure> {
    let refuse = |what: &str, id: &str| Failure::Refused(Some(format!("there is no {what} called {id}")));
    let place = case.offered.iter().position(|ad| ad.id() == offer).ok_or_else(|| refuse("offer", offer))?;
    let requests: Vec<usize> =
        (0..case.asking.len()).filter(|at| request.is_none_or(|id| case.asking[*at].id() == id)).collect();
    if requests.is_empty() {
        return Err(refuse("request", request.unwrap_or_default()));
    }
    let (mut matches_all, mut documents) = (true, Vec::new());
    let (as_gangs, requests): (Vec<usize>, Vec<usize>) = requests.iter().partition(|request| case.is_gang(**request));
    if !as_gangs.is_empty() {
        let mut gangs = Gangs::new(session, parties, case.given, &case.protocol)?;
        for request in as_gangs {
            let found = gangs.pair(session, (request, place), form)?;
            matches_all &= found.as_ref().is_some_and(|(_, docks)| *docks);
            documents.extend(found.map(|(document, _)| document));
        }
    }
    for group in case.alike(session, &requests) {
        let paired = explainer.pair(&case.asking[group[0]].ad, place);
        matches_all &= paired.is_match();
        if session.options.quiet {
            continue;
        }
        let request = case.asking[group[0]].id();
        if let Some(OutputForm::Json | OutputForm::Jsonl) = form {
            let side = |clauses: &[PairedClause]| clauses.iter().map(json).collect::<Vec<_>>();
            let document = serde_json::json!({
                "requests": group.iter().map(|at| case.asking[*at].id()).collect::<Vec<_>>(),
                "offer": offer,
                "match": paired.is_match(),
                "summary": summary(&paired, request, offer),
                "request_clauses": side(&paired.request),
                "offer_clauses": side(&paired.offer),
            });
            documents.push(document);
            continue;
        }
        let mut text = summary(&paired, request, offer) + "\n";
        text.push_str(&listed(&format!("what {request} asks for"), &paired.request, case.evidence > 0));
        text.push_str(&listed(&format!("what {offer} asks for"), &paired.offer, case.evidence > 0));
        if case.evidence > 1 {
            text.push_str(&trees(session, case, group[0], place)?);
        }
        out().write_all(text.as_bytes())?;
    }
    if let (Some(OutputForm::Json | OutputForm::Jsonl), false) = (form, session.options.quiet) {
        let document = serde_json::json!({ "schema": "classad.explain.pair/1", "pairs": documents });
        writeln!(out(), "{}", serde_json::to_string_pretty(&document).unwrap_or_default())?;
    }
    out().flush()?;
    Ok(Status::of(matches_all))
}

/// Returns the summary sentence: the first unmet clause of each side.
fn summary(paired: &Paired, request: &str, offer: &str) -> String {
    if paired.is_match() {
        return line(&format!("{request} and {offer} match"));
    }
    let reason = |clauses: &[PairedClause], who: &str, whom: &str| {
        if clauses.is_empty() {
            return Some(format!("{who} has no constraint, so that it accepts nothing"));
        }
        let unmet = clauses.iter().find(|clause| clause.outcome != Outcome::True)?;
        Some(format!("{who} does not accept {whom}: `{}` is {}{}", unmet.text, unmet.outcome.phrase(), reads(unmet)))
    };
    let own = reason(&paired.request, request, offer);
    let theirs = reason(&paired.offer, offer, request);
    let reasons: Vec<String> = own.into_iter().chain(theirs).collect();
    line(&reasons.join("; "))
}

/// Returns the values that a clause reads, such as ` (TARGET.Memory is 4096)`; empty without any.
fn reads(clause: &PairedClause) -> String {
    let values = clause.reads.iter().map(|(name, value)| {
        let value = print_value(value, Style::New);
        format!("{name} is {}", shortened(&String::from_utf8_lossy(&value), 40))
    });
    let values: Vec<String> = values.collect();
    if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) }
}

/// Returns a heading and the unmet clauses below it; with `has_all` all clauses.
fn listed(heading: &str, clauses: &[PairedClause], has_all: bool) -> String {
    let unmet = clauses.iter().filter(|clause| clause.outcome != Outcome::True).count();
    let mut text = line(&format!("{heading}: {} of {} clauses met", clauses.len() - unmet, clauses.len())) + "\n";
    for clause in clauses.iter().filter(|clause| has_all || clause.outcome != Outcome::True) {
        let sentence = format!("{:9}  {}{}", sign(clause.outcome), clause.text, reads(clause));
        push_wrapped(&mut text, "  ", &sentence);
    }
    text
}

fn json(clause: &PairedClause) -> serde_json::Value {
    let reads: serde_json::Map<String, serde_json::Value> = clause
        .reads
        .iter()
        .map(|(name, value)| (name.clone(), String::from_utf8_lossy(&print_value(value, Style::New)).into()))
        .collect();
    serde_json::json!({ "text": clause.text, "outcome": clause.outcome.as_str(), "reads": reads })
}

/// Returns the evaluation trees of both constraints of a pair.
pub fn trees(session: &Session, case: &Case<'_>, request: usize, offer: usize) -> Result<String, Failure> {
    let (request, offer) = (&case.asking[request], &case.offered[offer]);
    let (environment, frames) = Environment::pair(request.ad.clone(), offer.ad.clone());
    let context = session.context();
    let mut text: Vec<u8> = Vec::new();
    for (ad, frame) in [(request, &frames[0]), (offer, &frames[1])] {
        let Some(name) = case.protocol.constraint(&ad.ad) else { continue };
        let Some(expression) = ad.ad.get(name) else { continue };
        writeln!(text, "{name} of {}:", line(ad.id()))?;
        expression_tree::values(&mut text, expression, frame, &mut Evaluator::new(&environment, &context))?;
    }
    // Values that are whole ads are written out: cut the lines.
    let width = diagnostics::width().max(40);
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().map(|text| shortened(&line(text), width) + "\n").collect())
}
