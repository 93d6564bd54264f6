//! Test results in the Test Anything Protocol, version 14.

use std::io::Write;

use classad::format::document_tree::scalar;

use crate::cli::Failure;

use super::report::{File, Outcome, Report, Unmet, Verdict, reason};

pub fn write(out: &mut dyn Write, report: &Report) -> Result<(), Failure> {
    let points: usize = report.files.iter().map(|file| file.outcomes.len() + file.problems.len()).sum();
    writeln!(out, "TAP version 14")?;
    if points == 0 {
        writeln!(out, "1..0 # no case is selected")?;
        return Ok(());
    }
    writeln!(out, "1..{points}")?;
    let mut number = 0;
    for file in &report.files {
        for outcome in &file.outcomes {
            number += 1;
            point(out, number, file, outcome)?;
        }
        for (place, message) in &file.problems {
            number += 1;
            writeln!(out, "not ok {number} - {}", description(&format!("{}: the spec is well-formed", file.name)))?;
            let place = place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
            block(out, &[("message", message.clone()), ("at", format!("{}{place}", file.name))])?;
        }
    }
    Ok(())
}

/// Writes the test point of a case.
fn point(out: &mut dyn Write, number: usize, file: &File, outcome: &Outcome) -> Result<(), Failure> {
    let is_passed = matches!(outcome.verdict, Verdict::Passed);
    let ok = if is_passed { "ok" } else { "not ok" };
    writeln!(out, "{ok} {number} - {}", description(&format!("{}: {}", file.name, outcome.name)))?;
    let place = outcome.place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
    let at = format!("{}{place}", file.name);
    match &outcome.verdict {
        Verdict::Passed | Verdict::Listed => Ok(()),
        Verdict::Stopped(stop) => block(out, &[("message", reason(stop)), ("at", at)]),
        Verdict::Failed(unmet) => {
            let mut entries = Vec::new();
            let sentences: Vec<String> = unmet.iter().map(Unmet::sentence).collect();
            entries.push(("message", sentences.join("; ")));
            entries.push(("at", at));
            for unmet in unmet.iter().take(1) {
                entries.push(("expected", unmet.expected.text()));
                entries.push(("actual", unmet.actual.text()));
            }
            if !outcome.reasons.is_empty() {
                entries.push(("reason", outcome.reasons.join("; ")));
            }
            block(out, &entries)
        }
    }
}

/// Writes the YAML diagnostic block of a test point.
fn block(out: &mut dyn Write, entries: &[(&str, String)]) -> Result<(), Failure> {
    writeln!(out, "  ---")?;
    for (key, text) in entries {
        writeln!(out, "  {key}: {}", scalar(text))?;
    }
    writeln!(out, "  ...")?;
    Ok(())
}

/// Puts a description on one line and escapes `#`, which would begin a directive.
fn description(text: &str) -> String {
    let text = crate::cli::render::diagnostics::line(text);
    text.replace('\\', "\\\\").replace('#', "\\#")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_description_is_no_directive() {
        assert_eq!(super::description("a # TODO b\\\nc"), "a \\# TODO b\\\\\u{240a}c");
    }
}
