//! The examples of the library: short, and by what the front page of its documentation shows.

use std::process::Command;

/// Each example, and what it prints of the samples.
const EXAMPLES: [(&str, &str); 4] = [
    ("filter_dump", "slot1@node01.example.org\n"),
    ("evaluate_attribute", "1: the integer 8000\n"),
    ("match_jobs", "job 6 matches no slot\n"),
    (
        "explain_jobs",
        "job 6: it matches none of 12 slots: no slot has Memory >= 524288 (RequestMemory); the largest is 221184\n",
    ),
];

#[test]
fn examples_are_short_and_need_only_the_door() {
    for (name, _) in EXAMPLES {
        let text = std::fs::read_to_string(format!("examples/{name}.rs")).unwrap();
        assert!(text.lines().count() <= 20, "{name}");
        assert_eq!(text.matches("classad::").count(), 1, "{name}");
    }
    assert_eq!(std::fs::read_dir("examples").unwrap().count(), EXAMPLES.len());
}

#[test]
fn examples_print_what_they_say() {
    let tests = std::env::current_exe().unwrap();
    let folder = tests.ancestors().nth(2).unwrap().join("examples");
    for (name, expected) in EXAMPLES {
        let output = Command::new(folder.join(name)).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && printed.contains(expected), "{name}: {printed}");
    }
}
