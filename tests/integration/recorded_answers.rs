//! What the hand-made cases of `tests/conformance` are answered in both dialects, as `tests/answers` records it. In
//! HTCondor's dialect the values are those of its library, but for the deviations that `QUIRKS.md` explains.

use std::fmt::Write;
use std::fs;

use serde_json::{Map, Value as Json, json};

use crate::binary::{assert_recorded, run};

/// A case: the line that shows it in the record, and its fields.
type Case = (String, Map<String, Json>);

/// The hand-made cases for the comparison with HTCondor's library.
const CURATED: &str = "tests/conformance/curated.txt";

/// The cases of a file. An expression has the ad and the target of the last lines that begin with `@`. Indented lines
/// are recorded answers.
fn expressions(path: &str) -> Vec<Case> {
    let text = fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).expect("it is text");
    let mut cases = Vec::new();
    let (mut ad, mut target) = (None, None);
    for line in text.lines().filter(|line| !line.starts_with("  ")) {
        if line == "@ad" || line.starts_with("@ad ") {
            ad = line.strip_prefix("@ad ").map(str::to_owned);
        } else if line == "@target" || line.starts_with("@target ") {
            target = line.strip_prefix("@target ").map(str::to_owned);
        // What a pattern of exponential cost gives depends on the time that it takes.
        } else if !(line.is_empty() || line.starts_with("# ") || line.starts_with("## ") || line.contains("(a+)+")) {
            let case = json!({ "expr": line, "ad": ad, "target": target });
            cases.push((line.to_owned(), case.as_object().expect("it is one").clone()));
        }
    }
    cases
}

/// The cases of [`CURATED`] that read names.
fn expressions_with_names() -> impl Iterator<Item = Case> {
    expressions(CURATED).into_iter().filter(|(_, case)| !case["ad"].is_null())
}

/// The answers of a command to the cases in a dialect: the texts of their fields without names.
fn answers(command: &str, dialect: &str, cases: &[Case]) -> Vec<String> {
    let lines = cases.iter().map(|(_, case)| format!("{}\n", Json::from(case.clone()))).collect::<Vec<_>>().concat();
    let output = run(&[command, "--dialect", dialect, "--cases", "-"], lines.as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = |line: &str| {
        let answer: Map<String, Json> = serde_json::from_str(line).expect("it is JSON");
        let fields = answer.iter().filter(|(name, _)| *name != "id").map(|(_, value)| match value {
            Json::String(text) => text.clone(),
            value => value.to_string(),
        });
        fields.collect::<Vec<_>>().join(" ")
    };
    String::from_utf8(output.stdout).expect("it is text").lines().map(shown).collect()
}

/// Compares the answers to the cases with those that the file has.
fn compare(command: &str, cases: &[Case], file: &str) {
    let [condor, classad] = ["condor", "classad"].map(|dialect| answers(command, dialect, cases));
    assert_eq!([condor.len(), classad.len()], [cases.len(); 2]);
    let mut record = String::new();
    for ((name, _), (condor, classad)) in cases.iter().zip(condor.into_iter().zip(classad)) {
        if condor == classad {
            writeln!(record, "{name}\n    {condor}").expect("a text has room");
        } else {
            writeln!(record, "{name}\n    condor {condor}\n    classad {classad}").expect("a text has room");
        }
    }
    assert_recorded(&format!("tests/answers/{file}"), &record);
}

#[test]
fn expressions_have_their_recorded_values() {
    compare("eval", &expressions(CURATED), "values.txt");
    compare("eval", &expressions("tests/answers/further_values.txt"), "further_values.txt");
}

#[test]
fn expressions_have_their_recorded_references() {
    compare("refs", &expressions_with_names().collect::<Vec<_>>(), "references.txt");
}

/// Each expression is specialized with the ad as it is, and with attributes of it unknown.
#[test]
fn expressions_have_their_recorded_residues() {
    let mut cases = Vec::new();
    for (name, case) in expressions_with_names() {
        for (way, flags) in [
            ("open", json!({})),
            ("loose", json!({ "loose": true, "unknown": ["a"] })),
            ("inline", json!({ "inline": true, "unknown": ["b", "x"] })),
        ] {
            let mut case = case.clone();
            case.extend(flags.as_object().expect("it is one").clone());
            cases.push((format!("{way} {name}"), case));
        }
    }
    compare("specialize", &cases, "residues.txt");
}
