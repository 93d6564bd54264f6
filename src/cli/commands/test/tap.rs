//! Test results in the Test Anything Protocol, version 14.

use std::io::Write;

use classad::format::document_tree::string_scalar;

use crate::cli::Failure;

use super::report::{CaseResult, CaseVerdict, SpecResult, TestReport, UnmetExpectation, stop_reason};

pub fn write(out: &mut dyn Write, report: &TestReport) -> Result<(), Failure> {
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
            write_point(out, number, file, outcome)?;
        }
        for (place, message) in &file.problems {
            number += 1;
            writeln!(
                out,
                "not ok {number} - {}",
                escape_description(&format!("{}: the spec is well-formed", file.name))
            )?;
            let place = place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
            write_block(out, &[("message", message.clone()), ("at", format!("{}{place}", file.name))])?;
        }
    }
    Ok(())
}

/// Writes the `ok` or `not ok` line of a case. If the case did not pass, a diagnostic block follows.
fn write_point(out: &mut dyn Write, number: usize, file: &SpecResult, outcome: &CaseResult) -> Result<(), Failure> {
    let is_passed = matches!(outcome.verdict, CaseVerdict::Passed);
    let ok = if is_passed { "ok" } else { "not ok" };
    writeln!(out, "{ok} {number} - {}", escape_description(&format!("{}: {}", file.name, outcome.name)))?;
    let place = outcome.position.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
    let at = format!("{}{place}", file.name);
    match &outcome.verdict {
        CaseVerdict::Passed | CaseVerdict::Listed => Ok(()),
        CaseVerdict::Stopped(stop) => write_block(out, &[("message", stop_reason(stop)), ("at", at)]),
        CaseVerdict::Failed(unmet) => {
            let mut entries = Vec::new();
            let sentences: Vec<String> = unmet.iter().map(UnmetExpectation::sentence).collect();
            entries.push(("message", sentences.join("; ")));
            entries.push(("at", at));
            for unmet in unmet.iter().take(1) {
                entries.push(("expected", unmet.expected.to_line()));
                entries.push(("actual", unmet.actual.to_line()));
            }
            if !outcome.reasons.is_empty() {
                entries.push(("reason", outcome.reasons.join("; ")));
            }
            write_block(out, &entries)
        }
    }
}

/// Writes the YAML diagnostic block of a test point.
fn write_block(out: &mut dyn Write, entries: &[(&str, String)]) -> Result<(), Failure> {
    writeln!(out, "  ---")?;
    for (key, text) in entries {
        writeln!(out, "  {key}: {}", string_scalar(text))?;
    }
    writeln!(out, "  ...")?;
    Ok(())
}

/// Puts a description on one line. Escapes `#`, which would otherwise begin a TAP directive.
fn escape_description(text: &str) -> String {
    let text = crate::cli::render::diagnostics::single_line(text);
    text.replace('\\', "\\\\").replace('#', "\\#")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_description_is_no_directive() {
        assert_eq!(super::escape_description("a # TODO b\\\nc"), "a \\# TODO b\\\\\u{240a}c");
    }
}
