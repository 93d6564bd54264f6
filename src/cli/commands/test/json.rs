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

use serde_json::{Value, json};

use crate::cli::Failure;

use super::report::{CaseResult, CaseVerdict, SpecResult, TestReport, UnmetExpectation, stop_reason};

pub fn write(out: &mut dyn Write, report: &TestReport) -> Result<(), Failure> {
    let count = |is: &dyn Fn(&CaseVerdict) -> bool| report.outcomes().filter(|outcome| is(&outcome.verdict)).count();
    let document = json!({
        "schema": "classad.test/1",
        "passed": count(&|verdict| matches!(verdict, CaseVerdict::Passed)),
        "failed": count(&|verdict| matches!(verdict, CaseVerdict::Failed(_))),
        "stopped": count(&|verdict| matches!(verdict, CaseVerdict::Stopped(_))),
        "updated": report.updated,
        "files": report.files.iter().map(spec_json).collect::<Vec<Value>>(),
    });
    writeln!(out, "{document:#}")?;
    Ok(())
}

fn spec_json(file: &SpecResult) -> Value {
    let problems = file.problems.iter().map(|(place, message)| {
        json!({
            "line": place.map(|place| place.line), "column": place.map(|place| place.column), "message": message,
        })
    });
    json!({
        "file": file.name,
        "problems": problems.collect::<Vec<Value>>(),
        "cases": file.outcomes.iter().map(case_json).collect::<Vec<Value>>(),
    })
}

fn case_json(outcome: &CaseResult) -> Value {
    let (status, unmet, message) = match &outcome.verdict {
        CaseVerdict::Listed => ("listed", Vec::new(), None),
        CaseVerdict::Passed => ("passed", Vec::new(), None),
        CaseVerdict::Failed(unmet) => {
            let sentences: Vec<String> = unmet.iter().map(UnmetExpectation::sentence).collect();
            ("failed", unmet.iter().map(self::unmet_json).collect(), Some(sentences.join("; ")))
        }
        CaseVerdict::Stopped(stop) => ("stopped", Vec::new(), Some(stop_reason(stop))),
    };
    json!({
        "name": outcome.name,
        "tags": outcome.tags,
        "line": outcome.position.map(|place| place.line),
        "column": outcome.position.map(|place| place.column),
        "status": status,
        "unmet": unmet,
        "reasons": outcome.reasons,
        "message": message,
    })
}

fn unmet_json(unmet: &UnmetExpectation) -> Value {
    json!({
        "key": unmet.key,
        "line": unmet.position.line,
        "column": unmet.position.column,
        "expected": unmet.expected.to_line(),
        "actual": unmet.actual.to_line(),
    })
}
