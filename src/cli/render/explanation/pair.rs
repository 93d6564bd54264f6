//! Explanations of single pairs: why a request and a named offer do not match.

use classad::ad::Truth;
use std::io::Write;

use classad::eval::{Environment, Evaluator};
use classad::explain::{EvaluatedClause, Explainer, PairReport};
use classad::text::{counted, shorten, similar_ids, suggestion};
use serde_json::{Value as Json, json};

use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::wanted_ads::WantedAds;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::diagnostics::{self, sentence_line, single_line};
use crate::cli::render::expression_tree;
use crate::cli::render::json::write_json_value;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::session::Session;

use super::case::ExplanationInput;
use super::gangs::GangExplainer;
use super::listing::push_wrapped;

/// Maximum length of a value in characters; the rest is cut off.
const MAX_VALUE_CHARS: usize = 40;

/// Explains why an offer does not match requests. The offer and the requests are given by name. Without names of
/// requests, explains each request. The status tells whether the offer matches each of the explained requests.
///
/// # Errors
///
/// No offer or no request has the name.
pub fn explain_pair(
    session: &mut Session,
    case: &ExplanationInput<'_>,
    explainer: &Explainer,
    (offer, wanted): (&str, Option<&WantedAds>),
    form: Option<OutputForm>,
) -> Result<Status, Failure> {
    let refuse = |what: &str, id: &str, ads: &[NamedAd]| {
        let near = similar_ids(id, ads.iter().map(NamedAd::id));
        Failure::refused(format!("there is no {what} {id} to explain{}", suggestion(&near)))
    };
    let context = session.context();
    let is_offer = |ad: &NamedAd| ad.is_called(offer, &context);
    let place = case.partners.iter().position(is_offer).ok_or_else(|| refuse("offer", offer, case.partners))?;
    let offer = case.partners[place].id();
    if let Some(unknown) = wanted.and_then(|wanted| wanted.unknown(case.subjects, &context)) {
        return Err(refuse("request", unknown, case.subjects));
    }
    let is_request = |at: &usize| wanted.is_none_or(|wanted| wanted.selects(&case.subjects[*at], &context));
    let requests: Vec<usize> = (0..case.subjects.len()).filter(is_request).collect();
    let (mut matches_all, mut documents) = (true, Vec::new());
    let (as_gangs, requests): (Vec<usize>, Vec<usize>) =
        requests.iter().partition(|request| case.needs_gang(**request));
    if !as_gangs.is_empty() {
        let mut gangs = GangExplainer::new(session, case)?;
        for request in as_gangs {
            let found = gangs.explain_pair(session, (request, place), form)?;
            matches_all &= found.as_ref().is_some_and(|(_, docks)| *docks);
            documents.extend(found.map(|(document, _)| document));
        }
    }
    for group in case.group_equivalent(session, &requests) {
        let paired = explainer.explain_pair(&case.subjects[group[0]].ad, place);
        matches_all &= paired.is_match();
        if session.options.quiet {
            continue;
        }
        let requests: Vec<&str> = group.iter().map(|at| case.subjects[*at].id()).collect();
        if let Some(OutputForm::Json | OutputForm::Jsonl) = form {
            documents.push(pair_json(&paired, &requests, offer));
            continue;
        }
        let request = requests[0];
        let mut text = sentence_line(&summary(&paired, request, offer));
        text.push_str(&clause_listing(&format!("what {request} asks for"), &paired.request, case.evidence_level > 0));
        text.push_str(&clause_listing(&format!("what {offer} asks for"), &paired.offer, case.evidence_level > 0));
        if case.evidence_level > 1 {
            text.push_str(&evaluation_trees(session, case, group[0], place)?);
        }
        out().write_all(text.as_bytes())?;
    }
    if let Some(OutputForm::Json | OutputForm::Jsonl) = form {
        let document = json!({ "schema": "classad.explain.pair/1", "pairs": documents });
        write_json_value(&mut out(), &document)?;
    }
    out().flush()?;
    Ok(Status::of(matches_all))
}

/// Returns the report about a pair as JSON.
fn pair_json(paired: &PairReport, requests: &[&str], offer: &str) -> Json {
    let side = |clauses: &[EvaluatedClause]| clauses.iter().map(clause_json).collect::<Json>();
    json!({
        "requests": requests,
        "offer": offer,
        "match": paired.is_match(),
        "summary": summary(paired, requests[0], offer),
        "request_clauses": side(&paired.request),
        "offer_clauses": side(&paired.offer),
    })
}

/// Returns the summary sentence: the first unmet clause of the request, and the one that decides of the offer.
fn summary(paired: &PairReport, request: &str, offer: &str) -> String {
    if paired.is_match() {
        return single_line(&format!("{request} and {offer} match"));
    }
    let reason = |clauses: &[EvaluatedClause], decisive: Option<usize>, who: &str, whom: &str| {
        if clauses.is_empty() {
            return Some(format!("{who} has no constraint, so it accepts nothing"));
        }
        let unmet = &clauses[decisive?];
        Some(format!(
            "{who} does not accept {whom}: `{}` is {}{}",
            unmet.text,
            unmet.outcome.phrase(),
            unmet.values_read(MAX_VALUE_CHARS)
        ))
    };
    let first_unmet = paired.request.iter().position(|clause| clause.outcome != Truth::True);
    let own = reason(&paired.request, first_unmet, request, offer);
    let theirs = reason(&paired.offer, paired.decisive_demand, offer, request);
    let reasons: Vec<String> = own.into_iter().chain(theirs).collect();
    single_line(&reasons.join("; "))
}

/// Returns a heading and below it the unmet clauses, or all clauses if `has_all`.
fn clause_listing(heading: &str, clauses: &[EvaluatedClause], has_all: bool) -> String {
    let unmet = clauses.iter().filter(|clause| clause.outcome != Truth::True).count();
    let mut text =
        single_line(&format!("{heading}: {} of {} met", clauses.len() - unmet, counted(clauses.len(), "clause")))
            + "\n";
    for clause in clauses.iter().filter(|clause| has_all || clause.outcome != Truth::True) {
        let sentence =
            format!("{:9}  {}{}", outcome_word(clause.outcome), clause.text, clause.values_read(MAX_VALUE_CHARS));
        push_wrapped(&mut text, "  ", &sentence);
    }
    text
}

fn clause_json(clause: &EvaluatedClause) -> Json {
    let reads: Json = clause.reads.iter().map(|(name, value)| (name.as_str(), value.to_string())).collect();
    json!({ "text": clause.text, "outcome": clause.outcome.as_str(), "reads": reads })
}

/// Returns the evaluation trees of both constraints of a pair.
pub fn evaluation_trees(
    session: &Session,
    case: &ExplanationInput<'_>,
    request: usize,
    offer: usize,
) -> Result<String, Failure> {
    let (request, offer) = (&case.subjects[request], &case.partners[offer]);
    let (environment, frames) = Environment::pair(request.ad.clone(), offer.ad.clone());
    let context = session.context();
    let mut text: Vec<u8> = Vec::new();
    for (ad, frame) in [(request, &frames[0]), (offer, &frames[1])] {
        let Some(name) = case.protocol.constraint_name(&ad.ad) else { continue };
        let Some(expression) = ad.ad.get(name) else { continue };
        writeln!(text, "{name} of {}:", single_line(ad.id()))?;
        expression_tree::write_value_tree(&mut text, expression, frame, &mut Evaluator::new(&environment, &context))?;
    }
    // A value that is a whole ad may make a very long line: shorten each line to the width of the terminal.
    let width = diagnostics::terminal_width().max(40);
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().map(|text| shorten(&single_line(text), width) + "\n").collect())
}

/// Returns the word for an outcome in listings of clauses.
pub fn outcome_word(outcome: Truth) -> &'static str {
    if outcome == Truth::True { "ok" } else { outcome.as_str() }
}
