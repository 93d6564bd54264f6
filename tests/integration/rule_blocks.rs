//! Rules of many kinds, and what HTCondor's own tool makes of them: `tests/transforms/`.

use classad::ad::{Ad, Dialect};
use classad::configuration::parse_bracketed_rules;
use classad::eval::Context;
use classad::format::{FileFormat, Severity, read};
use classad::syntax::{Style, expression_text};
use classad::transform::{FaultScope, Transform, parse_rules};

/// The parts of a file by their titles.
fn parts(file: &str) -> Vec<(String, String)> {
    let path = format!("{}/tests/transforms/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file is there");
    let parts = text.split("## ").skip(1).map(|part| part.split_once('\n').expect("a title has a line"));
    parts.map(|(title, part)| (title.to_owned(), part.to_owned())).collect()
}

/// A text without blanks, in lower case, as the two print them differently.
fn plain(text: &str) -> String {
    let text = text.replace("=?= undefined", "is undefined").replace("=!= undefined", "isnt undefined");
    text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase()
}

/// What changed from one ad to the other, sorted, as in the answers.
fn changes(before: &Ad, after: &Ad) -> Vec<String> {
    let gone = before.iter().filter(|attribute| after.get(attribute.name).is_none());
    let mut lines: Vec<String> = gone.map(|attribute| plain(&format!("- {}", attribute.name))).collect();
    for attribute in after.iter() {
        if before.get(attribute.name) != Some(attribute.expression) {
            let text = expression_text(attribute.expression, Style::Long);
            lines.push(plain(&format!("{} = {text}", attribute.name)));
        }
    }
    lines.sort();
    lines
}

#[test]
fn every_block_does_what_it_does_in_htcondor() {
    let path = format!("{}/tests/transforms/job.long", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).unwrap();
    let job = read(&bytes, FileFormat::Long, Dialect::Condor).next().unwrap().unwrap().ad;
    let context = Context::new(Dialect::Condor);
    let (blocks, answers) = (parts("blocks.rules"), parts("blocks.answers"));
    assert!(blocks.len() == answers.len() && blocks.len() >= 20);
    for ((title, text), (_, answer)) in blocks.iter().zip(&answers) {
        let (rules, problems) = parse_rules(text.as_bytes(), Dialect::Condor);
        let wrong: Vec<_> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
        assert!(wrong.is_empty(), "{title}: {wrong:?}");
        let results = Transform { rules, ..Transform::default() }.apply(&job, &context);
        assert!(results[0].faults.is_empty(), "{title}: {:?}", results[0].faults);
        let mut expected: Vec<String> = answer.lines().map(plain).collect();
        expected.sort();
        assert_eq!(changes(&job, &results[0].ad), expected, "{title}");
    }
}

/// Corners of the language, one by one. The answers are of 25.14.1; `tests/transforms/record` writes them.
#[test]
fn every_corner_is_what_it_is_in_htcondor() {
    let path = format!("{}/tests/transforms/corners.long", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).unwrap();
    let job = read(&bytes, FileFormat::Long, Dialect::Condor).next().unwrap().unwrap().ad;
    let context = Context::new(Dialect::Condor);
    let (corners, answers) = (parts("corners.rules"), parts("corners.answers"));
    assert!(corners.len() == answers.len() && corners.len() >= 100);
    for ((title, text), (_, answer)) in corners.iter().zip(&answers) {
        let (rules, problems) = parse_rules(text.as_bytes(), Dialect::Condor);
        let is_wrong = problems.iter().any(|problem| problem.severity == Severity::Error);
        let results = Transform { rules, ..Transform::default() }.apply(&job, &context);
        let is_refused = is_wrong || results[0].faults.iter().any(|fault| fault.scope == FaultScope::Ad);
        assert_eq!(is_refused, answer.starts_with("! refused"), "{title}: {problems:?}");
        if is_refused {
            continue;
        }
        let expected: Vec<Vec<String>> = answer
            .split("--\n")
            .map(|ad| {
                let mut lines: Vec<String> = ad.lines().map(plain).collect();
                lines.sort();
                lines
            })
            .collect();
        let ours: Vec<Vec<String>> = results.iter().map(|result| changes(&job, &result.ad)).collect();
        assert_eq!(ours, expected, "{title}");
    }
}

#[test]
fn brackets_are_converted_as_htcondor_converts_them() {
    let context = Context::new(Dialect::Condor);
    let (blocks, answers) = (parts("brackets.rules"), parts("brackets.answers"));
    assert!(blocks.len() == answers.len() && blocks.len() >= 6);
    for ((title, text), (_, answer)) in blocks.iter().zip(&answers) {
        let (rules, problems) = parse_bracketed_rules(text.as_bytes(), "", &Ad::default(), &context);
        assert!(problems.is_empty(), "{title}: {problems:?}");
        let sorted = |text: &str| {
            let text = text.replace("UNIVERSE VANILLA", "UNIVERSE 5").replace("UNIVERSE GRID", "UNIVERSE 9");
            let mut lines: Vec<String> = text.lines().filter(|line| !line.trim().is_empty()).map(plain).collect();
            // The tool prints the universe before the requirements.
            lines.sort();
            lines
        };
        let ours: String = rules.iter().map(ToString::to_string).collect();
        assert_eq!(sorted(&ours), sorted(answer), "{title}");
        // The rules that are printed are rules.
        let (again, problems) = parse_rules(ours.as_bytes(), Dialect::Condor);
        let wrong = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        assert!(wrong == 0 && again.len() == rules.len(), "{title}: {problems:?}");
    }
}
