//! Test results in the Test Anything Protocol, version 14.

use std::io::Write;

use classad::format::document_tree::string_scalar;

use crate::cli::outcome::Failure;

use super::report::{CaseResult, TestReport, located};

/// The lines of a diagnostic block: keys and texts. Empty for a test point that is `ok`.
type DiagnosticBlock = Vec<(&'static str, String)>;

pub fn write(out: &mut dyn Write, report: &TestReport) -> Result<(), Failure> {
    let mut points: Vec<(String, DiagnosticBlock)> = Vec::new();
    for file in &report.files {
        for outcome in &file.outcomes {
            points.push((format!("{}: {}", file.name, outcome.name), case_block(&file.name, outcome)));
        }
        for (position, message) in &file.problems {
            let block = vec![("message", message.clone()), ("at", located(&file.name, *position))];
            points.push((format!("{}: the spec is well-formed", file.name), block));
        }
    }
    writeln!(out, "TAP version 14")?;
    let note = if points.is_empty() { " # no case is selected" } else { "" };
    writeln!(out, "1..{}{note}", points.len())?;
    for (place, (description, block)) in points.iter().enumerate() {
        let ok = if block.is_empty() { "ok" } else { "not ok" };
        writeln!(out, "{ok} {} - {}", place + 1, escape_description(description))?;
        if !block.is_empty() {
            writeln!(out, "  ---")?;
            for (key, text) in block {
                writeln!(out, "  {key}: {}", string_scalar(text))?;
            }
            writeln!(out, "  ...")?;
        }
    }
    Ok(())
}

/// Returns the YAML diagnostic block of a case; empty if the case passed.
fn case_block(file: &str, outcome: &CaseResult) -> DiagnosticBlock {
    let Some(message) = &outcome.message else { return Vec::new() };
    let mut block = vec![("message", message.clone()), ("at", located(file, outcome.position))];
    if let Some(unmet) = outcome.unmet.first() {
        block.extend([("expected", unmet.expected.to_line()), ("actual", unmet.actual.to_line())]);
    }
    if !outcome.reasons.is_empty() {
        block.push(("reason", outcome.reasons.join("; ")));
    }
    block
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
