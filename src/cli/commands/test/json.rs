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

use super::report::{File, Outcome, Report, Unmet, Verdict, reason};

pub fn write(out: &mut dyn Write, report: &Report) -> Result<(), Failure> {
    let count = |is: &dyn Fn(&Verdict) -> bool| report.outcomes().filter(|outcome| is(&outcome.verdict)).count();
    let document = json!({
        "schema": "classad.test/1",
        "passed": count(&|verdict| matches!(verdict, Verdict::Passed)),
        "failed": count(&|verdict| matches!(verdict, Verdict::Failed(_))),
        "stopped": count(&|verdict| matches!(verdict, Verdict::Stopped(_))),
        "updated": report.updated,
        "files": report.files.iter().map(file).collect::<Vec<Value>>(),
    });
    writeln!(out, "{document:#}")?;
    Ok(())
}

fn file(file: &File) -> Value {
    let problems = file.problems.iter().map(|(place, message)| {
        json!({
            "line": place.map(|place| place.line), "column": place.map(|place| place.column), "message": message,
        })
    });
    json!({
        "file": file.name,
        "problems": problems.collect::<Vec<Value>>(),
        "cases": file.outcomes.iter().map(case).collect::<Vec<Value>>(),
    })
}

fn case(outcome: &Outcome) -> Value {
    let (status, unmet, message) = match &outcome.verdict {
        Verdict::Listed => ("listed", Vec::new(), None),
        Verdict::Passed => ("passed", Vec::new(), None),
        Verdict::Failed(unmet) => {
            let sentences: Vec<String> = unmet.iter().map(Unmet::sentence).collect();
            ("failed", unmet.iter().map(self::unmet).collect(), Some(sentences.join("; ")))
        }
        Verdict::Stopped(stop) => ("stopped", Vec::new(), Some(reason(stop))),
    };
    json!({
        "name": outcome.name,
        "tags": outcome.tags,
        "line": outcome.place.map(|place| place.line),
        "column": outcome.place.map(|place| place.column),
        "status": status,
        "unmet": unmet,
        "reasons": outcome.reasons,
        "message": message,
    })
}

fn unmet(unmet: &Unmet) -> Value {
    json!({
        "key": unmet.key,
        "line": unmet.place.line,
        "column": unmet.place.column,
        "expected": unmet.expected.text(),
        "actual": unmet.actual.text(),
    })
}
