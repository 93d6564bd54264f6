//! Findings as SARIF 2.1.0, for code review tools. SARIF and `LintLevel` have the same level names, so the names are
//! written unchanged.

use std::io::{self, Write};

use classad::lint::{LintFinding, RULES};
use serde_json::{Value, json};

use crate::cli::render::json::write_json_value;

use super::located::{CheckReport, FindingRegion, LocatedFinding, LocatedFix};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub fn write(out: &mut impl Write, report: &CheckReport) -> io::Result<()> {
    let rules = RULES.iter().map(|rule| {
        json!({
            "id": rule.name,
            "shortDescription": { "text": rule.doc },
            "help": { "text": format!("{}. Bad: `{}`. Good: `{}`", rule.help, rule.bad, rule.good) },
            "defaultConfiguration": { "level": rule.level.as_str() },
        })
    });
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "classad check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<Value>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": report.findings.iter().map(result).collect::<Vec<Value>>(),
        }],
    });
    write_json_value(out, &log)
}

fn result(found: &LocatedFinding) -> Value {
    let LintFinding { rule, message, help, .. } = &found.finding;
    let advice = if help.is_empty() { String::new() } else { format!(". {help}") };
    let related = found.regions.iter().skip(1).enumerate().map(|(number, place)| {
        let mut related = location(&found.file, place);
        related["id"] = json!(number + 1);
        related["message"] = json!({ "text": place.text });
        related
    });
    let mut result = json!({
        "ruleId": rule.name,
        "ruleIndex": RULES.iter().position(|known| known.name == rule.name),
        "level": rule.level.as_str(),
        "message": { "text": format!("{message}{advice}") },
        "locations": found.regions.iter().take(1).map(|place| location(&found.file, place)).collect::<Vec<Value>>(),
        "relatedLocations": related.collect::<Vec<Value>>(),
        "occurrenceCount": found.ad_count,
    });
    if let Some(fix) = &found.fix {
        result["fixes"] = json!([fix_json(&found.file, fix, help)]);
    }
    result
}

/// Returns the correction of a finding. `help` describes it.
fn fix_json(file: &str, fix: &LocatedFix, help: &str) -> Value {
    let effect = if fix.keeps_values { "keeps the values" } else { "can change values" };
    let text = if help.is_empty() { effect.to_owned() } else { format!("{help} ({effect})") };
    let replacement =
        |place: &FindingRegion| json!({ "deletedRegion": region(place), "insertedContent": { "text": place.text } });
    json!({
        "description": { "text": text },
        "artifactChanges": [{
            "artifactLocation": { "uri": percent_encoded(file) },
            "replacements": fix.replacements.iter().map(replacement).collect::<Vec<Value>>(),
        }],
    })
}

fn location(file: &str, place: &FindingRegion) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": percent_encoded(file) },
        "region": region(place),
    } })
}

fn region(place: &FindingRegion) -> Value {
    json!({
        "startLine": place.start.line,
        "startColumn": place.start.column,
        "endLine": place.end.line,
        "endColumn": place.end.column,
    })
}

/// Percent-encodes a path as a relative URI reference.
fn percent_encoded(path: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/.-_~".contains(byte);
    path.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
