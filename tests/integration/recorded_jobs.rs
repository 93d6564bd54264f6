//! The jobs and the problems of small submit files, as `tests/answers/jobs.txt` records them. Each case there is a submit
//! file: ` // ` stands between its lines, and ` ## ` behind the configuration. One without an executable or a queue
//! statement gets them.

use std::collections::BTreeMap;
use std::fmt::Write;

use classad::ad::{Ad, Dialect};
use classad::configuration::Configuration;
use classad::eval::Context;
use classad::format::{Position, Severity};
use classad::submit::{SubmitSettings, describe_jobs};
use classad::syntax::{Style, expression_text};

use crate::binary::assert_answers;

/// The folder in which the jobs are submitted.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/submit/files");

fn settings(configuration: &str) -> SubmitSettings {
    let configuration = format!("FILESYSTEM_DOMAIN = live.test\n{configuration}\n");
    SubmitSettings {
        configuration: Configuration::read(configuration.as_bytes()).0,
        context: Context { now: Some(1_795_817_032), ..Context::new(Dialect::Condor) },
        working_directory: FOLDER.to_owned(),
        file_name: "x.sub".to_owned(),
        user: "root".to_owned(),
        max_jobs: 8,
        ..SubmitSettings::default()
    }
}

fn attributes(ad: &Ad) -> BTreeMap<String, String> {
    let shown = |text: String| text.replace(FOLDER, "/t");
    ad.iter()
        .map(|attribute| {
            (attribute.name.as_str().to_owned(), shown(expression_text(attribute.expression, Style::Long)))
        })
        .collect()
}

/// Shows the jobs of a submit file, each by what differs from the plain job, and the problems. `case` has the
/// configuration before ` ## `, if there is one, and ` // ` between lines.
fn shown(case: &str, plain: &BTreeMap<String, String>) -> String {
    let (configuration, commands) = case.split_once(" ## ").unwrap_or(("", case));
    let mut text = format!("{}\n", commands.replace(" // ", "\n"));
    let has = |word: &str| text.lines().any(|line| line.trim_start_matches("# ").starts_with(word));
    let (has_executable, has_queue) = (has("executable"), has("queue") || has("iter"));
    if !has_executable {
        text.insert_str(0, "executable = a\n");
    }
    if !has_queue {
        text.push_str("queue\n");
    }
    let described = describe_jobs(text.as_bytes(), &settings(&configuration.replace(" // ", "\n")));
    let mut record = String::new();
    for item in &described.items {
        match item {
            Ok(entry) => {
                writeln!(record, "    job {} at {}", entry.number, entry.offset).expect("a text has room");
                let own = attributes(&entry.ad);
                let spans = described.attribute_spans(entry.offset);
                for (name, value) in own.iter().filter(|(name, value)| plain.get(*name) != Some(value)) {
                    let span = spans.iter().find(|span| span.name.as_str() == name);
                    let expression = entry.ad.get_str(name).expect("it has it");
                    let source = span.map(|span| {
                        let range = span.file_range(expression.span());
                        format!(" by {} {:?}", &text[span.name_range.clone()], &text[range])
                    });
                    writeln!(record, "        {name} = {value}{}", source.unwrap_or_default())
                        .expect("a text has room");
                }
                for name in plain.keys().filter(|name| !own.contains_key(*name)) {
                    writeln!(record, "        without {name}").expect("a text has room");
                }
            }
            Err(problem) => {
                let Position { line, column } = Position::of_offset(text.as_bytes(), problem.range.start);
                let mark = if problem.severity == Severity::Error { "!" } else { "~" };
                let marked = &text[problem.range.clone()];
                let help = problem.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
                let message = problem.message.replace(FOLDER, "/t");
                writeln!(record, "    {mark}{line}:{column} {marked:?}: {message}{help}").expect("a text has room");
            }
        }
    }
    record
}

#[test]
fn submit_files_make_the_recorded_jobs() {
    let plain = describe_jobs(b"executable = a\nqueue\n", &settings(""));
    let plain = attributes(&plain.items[0].as_ref().expect("it is a job").ad);
    assert_answers("tests/answers/jobs.txt", |case| shown(case, &plain));
}
