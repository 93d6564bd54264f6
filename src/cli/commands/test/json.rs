//! Test results as a JSON document with the schema `classad.test/1`.
//!
//! ```text
//! {"schema": "classad.test/1", "passed": N, "failed": N, "stopped": N, "updated": N, "files": [FILE...]}
//! FILE: {"file", "problems": [{"line", "column", "message"}...], "cases": [CASE...]}
//! CASE: {"name", "tags": [...], "line", "column", "status": "passed" or "failed", "stopped" or "listed",
//!  "unmet": [{"key", "line", "column", "expected", "actual"}...], "reasons": [...], "message"}
//! ```
//!
//! `expected` and `actual` are texts in the syntax of ClassAds. A case is `stopped` if it exceeds a budget, or if its
//! ads or its policy cannot be used; `message` says why.

use std::io::Write;

use classad::format::Position;
use serde_json::{Value, json};

use crate::cli::outcome::Failure;
use crate::cli::render::json::write_json_value;

use super::report::{CaseResult, CaseStatus, SpecResult, TestReport, UnmetExpectation};

pub fn write(out: &mut dyn Write, report: &TestReport) -> Result<(), Failure> {
    let count = |wanted: &[CaseStatus]| report.outcomes().filter(|outcome| wanted.contains(&outcome.status)).count();
    let document = json!({
        "schema": "classad.test/1",
        "passed": count(&[CaseStatus::Passed]),
        "failed": count(&[CaseStatus::Failed]),
        "stopped": count(&[CaseStatus::OverBudget, CaseStatus::Unusable]),
        "updated": report.updated,
        "files": report.files.iter().map(spec_json).collect::<Vec<Value>>(),
    });
    Ok(write_json_value(out, &document)?)
}

fn spec_json(file: &SpecResult) -> Value {
    let problems = file.problems.iter().map(|(position, message)| {
        let [line, column] = line_and_column(*position);
        json!({ "line": line, "column": column, "message": message })
    });
    json!({
        "file": file.name,
        "problems": problems.collect::<Value>(),
        "cases": file.outcomes.iter().map(case_json).collect::<Value>(),
    })
}

fn case_json(outcome: &CaseResult) -> Value {
    let CaseResult { name, tags, position, status, message, unmet, reasons, marks: _ } = outcome;
    let [line, column] = line_and_column(*position);
    let unmet = unmet.iter().map(|UnmetExpectation { key, position: Position { line, column }, expected, actual }| {
        json!({
            "key": key, "line": line, "column": column, "expected": expected.to_line(), "actual": actual.to_line(),
        })
    });
    json!({
        "name": name, "tags": tags, "line": line, "column": column, "status": status,
        "unmet": unmet.collect::<Value>(), "reasons": reasons, "message": message,
    })
}

fn line_and_column(position: Option<Position>) -> [Option<usize>; 2] {
    [position.map(|position| position.line), position.map(|position| position.column)]
}
