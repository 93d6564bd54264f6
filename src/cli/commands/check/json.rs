//! Findings as a JSON document with a versioned schema.

use std::io::Write;

use classad::lint::LintLevel;
use serde_json::{Value, json};

use crate::cli::Failure;

use super::located::{CheckReport, FindingRegion};

/// Value of the field `schema`.
const SCHEMA: &str = "classad.check/1";

pub fn write(out: &mut impl Write, report: &CheckReport) -> Result<(), Failure> {
    let findings = report.findings.iter().map(|found| {
        let mut finding = json!({
            "rule": found.rule.name,
            "level": found.rule.level.as_str(),
            "message": found.message,
            "help": found.help,
            "file": &*found.file,
            "ad": found.ad_number,
            "id": found.id,
            "attribute": found.attribute,
            "labels": found.regions.iter().skip(1).map(label_json).collect::<Vec<Value>>(),
            "ads": found.ad_count,
        });
        if let (Some(object), Some(place)) = (finding.as_object_mut(), found.regions.first()) {
            object.extend(region_fields(place));
        }
        finding
    });
    let report = json!({
        "schema": SCHEMA,
        "findings": findings.collect::<Vec<Value>>(),
        "ads": report.ads_checked,
        "errors": report.count_at_level(LintLevel::Error),
        "warnings": report.count_at_level(LintLevel::Warning),
        "notes": report.count_at_level(LintLevel::Note),
    });
    writeln!(out, "{report:#}")?;
    Ok(())
}

fn label_json(place: &FindingRegion) -> Value {
    let mut fields: serde_json::Map<String, Value> = region_fields(place).into_iter().collect();
    fields.insert("text".to_owned(), json!(place.text));
    Value::Object(fields)
}

fn region_fields(place: &FindingRegion) -> [(String, Value); 4] {
    [
        ("line", place.start.line),
        ("column", place.start.column),
        ("end_line", place.end.line),
        ("end_column", place.end.column),
    ]
    .map(|(name, number)| (name.to_owned(), json!(number)))
}
