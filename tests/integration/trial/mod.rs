//! `test`: policies under test; what passes, what fails, what is broken, and what `--update` leaves alone.

mod answers;
mod broken;
mod forms;
mod running;
mod update;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// A folder of its own for files, away when it is done with.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("classad-trial-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
    command.arg("test").args(arguments).env("COLUMNS", "80").env("TZ", "UTC");
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // What does not read standard input may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn code(arguments: &[&str], input: &str) -> i32 {
    run(arguments, input).status.code().unwrap()
}

fn json(arguments: &[&str], input: &str) -> Value {
    let output = run(&[&["-o", "json"], arguments].concat(), input);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Each case as `name: status`, with what came instead.
fn outcomes(arguments: &[&str], input: &str) -> Vec<String> {
    let report = json(arguments, input);
    assert_eq!(report["schema"], "classad.test/1");
    let files = report["files"].as_array().unwrap();
    let cases = files.iter().flat_map(|file| file["cases"].as_array().unwrap());
    let case = |case: &Value| {
        let unmet = case["unmet"].as_array().unwrap().iter();
        let unmet =
            unmet.map(|unmet| format!(", {} {}", unmet["key"].as_str().unwrap(), unmet["actual"].as_str().unwrap()));
        let unmet = unmet.collect::<Vec<_>>().concat();
        format!("{}: {}{unmet}", case["name"].as_str().unwrap(), case["status"].as_str().unwrap())
    };
    cases.map(case).collect()
}

/// A spec of expressions and what is expected of them.
fn expressions(cases: &[(&str, &str)]) -> String {
    let case = |(number, (expression, expected)): (usize, &(&str, &str))| {
        let expression = serde_json::to_string(expression).unwrap();
        format!("  - name: case {number}\n    expression: {expression}\n    expect: {expected}\n")
    };
    "cases:\n".to_owned() + &cases.iter().enumerate().map(case).collect::<String>()
}

/// What is wrong with a spec: `line:column message`.
fn problems(spec: &str) -> Vec<String> {
    let output = run(&["-o", "json"], spec);
    assert_eq!(output.status.code(), Some(2), "{spec}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let problems = report["files"][0]["problems"].as_array().unwrap().iter();
    problems
        .map(|problem| format!("{}:{} {}", problem["line"], problem["column"], problem["message"].as_str().unwrap()))
        .collect()
}
