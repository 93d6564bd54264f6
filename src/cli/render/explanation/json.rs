//! Reports as JSON, of the schema `classad.explain/1`.

use classad::ad::Value;
use classad::explain::RequestReport;
use serde_json::{Value as Json, json};

use std::io::Write;

use super::case::ExplanationInput;
use crate::cli::Failure;
use crate::cli::render::output::out;

/// Returns the report about a group of requests.
pub fn report_json(case: &ExplanationInput<'_>, group: &[usize], report: &RequestReport, summary: &str) -> Json {
    let requests: Vec<&str> = group.iter().map(|request| case.subjects[*request].id()).collect();
    let attributes: Vec<&str> = report.attributes.iter().map(classad::ad::Name::as_str).collect();
    let clauses: Vec<Json> = report
        .clauses
        .iter()
        .map(|clause| {
            let span = clause.analysis.clause.expression.span();
            json!({
                "text": clause.text,
                "span": [span.start, span.end],
                "true": clause.counts.is_true,
                "false": clause.counts.is_false,
                "undefined": clause.counts.undefined,
                "error": clause.counts.error,
                "remaining": clause.remaining,
                "sole_blocker": clause.sole_blocker,
                "best": clause.closest_value.as_ref().map_or(Json::Null, value_json),
            })
        })
        .collect();
    let changes: Vec<Json> =
        report.changes.iter().map(|change| json!({ "change": change.text(), "matches": change.match_count })).collect();
    let offer = |offer: usize| case.partners[offer].id();
    let nearest: Vec<Json> = report
        .closest
        .iter()
        .map(|near| {
            let fails: Vec<usize> = near.failed_clauses.iter().map(|(clause, _)| *clause).collect();
            let refuses: Vec<&str> = near.unmet_demands.iter().map(|demand| demand.clause.as_str()).collect();
            json!({ "offer": offer(near.offer), "fails": fails, "refuses": refuses })
        })
        .collect();
    let refusals: Vec<Json> = report
        .refusals
        .iter()
        .map(|refusal| json!({ "clause": refusal.clause, "offers": refusal.offers, "example": offer(refusal.example) }))
        .collect();
    let names: Vec<Json> = report
        .remarks
        .iter()
        .map(|finding| json!({ "kind": finding.kind, "clause": finding.clause, "text": finding.text }))
        .collect();
    json!({
        "requests": requests,
        "verdict": report.verdict.as_str(),
        "attributes": attributes,
        "summary": summary,
        "clauses": clauses,
        "conflicts": report.conflicts.sets,
        "changes": changes,
        "nearest": nearest,
        "refusals": refusals,
        "names": names,
        "not_examined": NOT_EXAMINED,
    })
}

fn value_json(value: &Value) -> Json {
    match value {
        Value::Boolean(is) => (*is).into(),
        Value::Integer(integer) => (*integer).into(),
        Value::Real(real) if real.is_finite() => (*real).into(),
        Value::String(text) => text.to_str().into(),
        other => other.to_string().into(),
    }
}

/// Reasons for missing matches that cannot be seen in the ads.
pub const NOT_EXAMINED: [&str; 4] =
    ["claims made since the ads were read", "quotas and shares", "user priorities", "preemption by rank"];

/// Writes the document of all reports.
pub fn write_reports(reports: &[serde_json::Value]) -> Result<(), Failure> {
    let document = serde_json::json!({ "schema": "classad.explain/1", "reports": reports });
    let mut out = out();
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
