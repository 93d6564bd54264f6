//! Findings as a JSON document with a versioned schema.

use std::io::{self, Write};

use classad::lint::{LintFinding, LintLevel};
use serde_json::{Value, json};

use crate::cli::render::json::{JoinedRecord, write_json_value};

use super::located::{CheckReport, FindingRegion, LocatedFix};
use super::rule_table;

/// Value of the field `schema`: name and version of the output format.
const SCHEMA: &str = "classad.check/1";

pub fn write(out: &mut impl Write, report: &CheckReport) -> io::Result<()> {
    let findings = report.findings.iter().map(|found| {
        let LintFinding { rule, message, help, labels, .. } = &found.finding;
        let head = json!({
            "rule": rule.name,
            "level": rule.level.as_str(),
            "message": message,
            "help": help,
            "file": &*found.file,
            "ad": found.ad_number,
            "id": found.id,
            "attribute": labels.first().map(|label| label.attribute.as_str()),
            "labels": found.regions.iter().skip(1).map(|place| json!(JoinedRecord { head: region_json(place), tail: json!({ "text": place.text }) })).collect::<Vec<Value>>(),
            "ads": found.ad_count,
            "fix": found.fix.as_ref().map(fix_json),
        });
        json!(JoinedRecord { head, tail: found.regions.first().map(region_json) })
    });
    let report = json!({
        "schema": SCHEMA,
        "findings": findings.collect::<Vec<Value>>(),
        "summary": { "rules": rule_table::json(report) },
        "ads": report.ads_checked,
        "policies": report.policies_checked.unwrap_or_default(),
        "errors": report.count_at_level(LintLevel::Error),
        "warnings": report.count_at_level(LintLevel::Warning),
        "notes": report.count_at_level(LintLevel::Note),
    });
    write_json_value(out, &report)
}

fn fix_json(fix: &LocatedFix) -> Value {
    let replacement =
        |place: &FindingRegion| json!(JoinedRecord { head: region_json(place), tail: json!({ "text": place.text }) });
    json!({
        "safe": fix.keeps_values,
        "replacements": fix.replacements.iter().map(replacement).collect::<Vec<Value>>(),
    })
}

fn region_json(place: &FindingRegion) -> Value {
    let FindingRegion { start, end, .. } = place;
    json!({ "line": start.line, "column": start.column, "end_line": end.line, "end_column": end.column })
}
