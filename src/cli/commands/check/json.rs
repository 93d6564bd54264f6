//! Findings as a JSON document with a versioned schema.

use std::io::Write;

use classad::lint::Level;
use serde_json::{Value, json};

use crate::cli::Failure;

use super::located::{Placed, Report};

/// Value of the field `schema`.
const SCHEMA: &str = "classad.check/1";

pub fn write(out: &mut impl Write, report: &Report) -> Result<(), Failure> {
    let findings = report.found.iter().map(|found| {
        let mut finding = json!({
            "rule": found.rule.name,
            "level": found.rule.level.as_str(),
            "message": found.message,
            "help": found.help,
            "file": &*found.file,
            "ad": found.ad,
            "id": found.id,
            "attribute": found.attribute,
            "labels": found.places.iter().skip(1).map(labelled).collect::<Vec<Value>>(),
            "ads": found.ads,
        });
        if let (Some(object), Some(place)) = (finding.as_object_mut(), found.places.first()) {
            object.extend(region(place));
        }
        finding
    });
    let report = json!({
        "schema": SCHEMA,
        "findings": findings.collect::<Vec<Value>>(),
        "ads": report.ads,
        "errors": report.of_level(Level::Error),
        "warnings": report.of_level(Level::Warning),
        "notes": report.of_level(Level::Note),
    });
    writeln!(out, "{report:#}")?;
    Ok(())
}

fn labelled(place: &Placed) -> Value {
    let mut fields: serde_json::Map<String, Value> = region(place).into_iter().collect();
    fields.insert("text".to_owned(), json!(place.text));
    Value::Object(fields)
}

fn region(place: &Placed) -> [(String, Value); 4] {
    [
        ("line", place.start.line),
        ("column", place.start.column),
        ("end_line", place.end.line),
        ("end_column", place.end.column),
    ]
    .map(|(name, number)| (name.to_owned(), json!(number)))
}
