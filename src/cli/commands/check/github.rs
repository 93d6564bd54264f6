//! Findings as workflow commands of GitHub Actions, which GitHub shows as annotations of a change.

use std::io::Write;

use classad::lint::LintLevel;

use crate::cli::Failure;

use super::located::CheckReport;

pub fn write(out: &mut impl Write, report: &CheckReport) -> Result<(), Failure> {
    for found in &report.findings {
        let command = match found.rule.level {
            LintLevel::Error => "error",
            LintLevel::Warning => "warning",
            LintLevel::Note => "notice",
        };
        let mut properties = vec![("file", found.file.to_string())];
        if let Some(place) = found.regions.first() {
            properties.extend([("line", place.start.line.to_string()), ("endLine", place.end.line.to_string())]);
            // GitHub accepts columns only if the range lies in one line.
            if place.start.line == place.end.line {
                properties
                    .extend([("col", place.start.column.to_string()), ("endColumn", place.end.column.to_string())]);
            }
        }
        properties.push(("title", found.rule.name.to_owned()));
        let properties: Vec<String> =
            properties.into_iter().map(|(name, value)| format!("{name}={}", escape_property(&value))).collect();
        let more = if found.ad_count > 1 { format!(" (in {} ads)", found.ad_count) } else { String::new() };
        let help = if found.help.is_empty() { String::new() } else { format!("\n{}", found.help) };
        writeln!(
            out,
            "::{command} {}::{}",
            properties.join(","),
            escape_data(&format!("{}{more}{help}", found.message))
        )?;
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
