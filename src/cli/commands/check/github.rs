//! Findings as workflow commands of GitHub Actions, which GitHub shows as annotations of a change.

use std::io::{self, Write};

use classad::lint::{LintFinding, LintLevel};
use classad::text::counted;

use super::located::{CheckReport, FindingRegion};

pub fn write(out: &mut impl Write, report: &CheckReport, lists_all: bool) -> io::Result<()> {
    for (found, others) in report.shown(lists_all) {
        let LintFinding { rule, message, help, .. } = &found.finding;
        let command = if rule.level == LintLevel::Note { "notice" } else { rule.level.as_str() };
        write!(out, "::{command} file={}", escape_property(&found.file))?;
        if let Some(FindingRegion { start, end, .. }) = found.regions.first() {
            write!(out, ",line={},endLine={}", start.line, end.line)?;
            // GitHub accepts columns only if the range lies in one line.
            if start.line == end.line {
                write!(out, ",col={},endColumn={}", start.column, end.column)?;
            }
        }
        let mut more = if found.ad_count > 1 { format!(" (in {} ads)", found.ad_count) } else { String::new() };
        if others > 0 {
            more = format!("{more} ({} like it)", counted(others, "finding"));
        }
        let help = if help.is_empty() { String::new() } else { format!("\n{help}") };
        let text = escape_data(&format!("{message}{more}{help}"));
        writeln!(out, ",title={}::{text}", escape_property(rule.name))?;
    }
    Ok(())
}

/// Escapes the message of a workflow command.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property of a workflow command.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
