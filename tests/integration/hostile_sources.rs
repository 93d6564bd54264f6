//! Submit files, DAG files and configurations that ask for much, or for what is not theirs: each ends with an error at its
//! place, in bounded time and memory.

use std::time::{Duration, Instant};

use super::binary::{classad, file};

/// Maximum time that a file may take in a build for tests.
const MOST: Duration = Duration::from_secs(30);

/// Runs a command, and returns its status and what it printed. Fails if it takes too long.
fn bounded(arguments: &[&str]) -> (Option<i32>, String) {
    let start = Instant::now();
    let (status, out, errors) = classad(arguments);
    assert!(start.elapsed() < MOST, "{arguments:?} took {:?}", start.elapsed());
    let told = format!("{errors}{out}").replace("\n  \u{2502} ", " ").replace("\n    \u{2502} ", " ");
    (status, told)
}

/// Returns a text with a piece for each number.
fn repeated(numbers: std::ops::Range<usize>, piece: impl Fn(usize) -> String) -> String {
    numbers.map(piece).collect::<Vec<_>>().concat()
}

#[test]
fn hostile_submit_files_end_with_an_error() {
    let doubled = repeated(0..60, |at| format!("v{at} = $(v{})$(v{})\n", at + 1, at + 1));
    let names = repeated(0..20_000, |at| format!("v{at},"));
    let table = file("hostile.csv", format!("{names}x\n{}", "1\n".repeat(20_000)));
    let own = file("hostile-self.inc", "include : hostile-self.inc\n");
    std::fs::write(&own, format!("include : {own}\n")).expect("it is written");
    for (name, text, place, expected) in [
        ("circle", "a = $(b)\nb = $(a)\narguments = $(a)\nqueue\n".to_owned(), "4:13", "form a circle"),
        ("doubled", format!("{doubled}v60 = x\narguments = $(v0)\nqueue\n"), "63:13", "give too long a text"),
        ("grown", format!("a = x\n{}queue\n", "a = $(a)$(a)\n".repeat(60)), "", "too long a"),
        ("itself", format!("include : {own}\nqueue\n"), "2:1", "files include each other"),
        ("billion", "queue 1000000000\n".to_owned(), "2:1", "more than 1000000 jobs"),
        ("product", format!("queue {names}x from (\n{})\n", "a\n".repeat(20_000)), "2:1", "more than 10000000 values"),
        ("table", format!("queue from table {table}\n"), "2:1", "more than 10000000 values"),
        ("items", "queue x from /dev/zero\n".to_owned(), "2:1", "it is not a regular file"),
        ("included", "include : /dev/zero\nqueue\n".to_owned(), "2:1", "it is not a regular file"),
        ("command", "include command : yes\nqueue\n".to_owned(), "2:1", "no program is run"),
        ("pipe", "queue x from yes |\n".to_owned(), "2:1", "no program is run"),
        ("half", "queue x from (\n a\n".to_owned(), "2:1", "there is no line with the `)`"),
        ("half-table", "queue x from table(csv (a\n".to_owned(), "2:19", "have no closing `)`"),
        ("half-if", "if true\n".to_owned(), "2:1", "has no `endif`"),
        ("half-block", "x @=end\nqueue\n".to_owned(), "2:1", "there is no line `@end`"),
        ("nested", "if true\n".repeat(100_000), "65:1", "nested too deeply"),
        ("brackets", format!("requirements = {}1\nqueue\n", "(".repeat(300_000)), "2:", "nested more than"),
        ("zero", "arguments = a\0b\nqueue\n".to_owned(), "2:14", "this byte is zero"),
    ] {
        let path = file(&format!("hostile-{name}.sub"), format!("executable = a.sh\n{text}"));
        let (status, told) = bounded(&["convert", &path, "--to", "long"]);
        assert_eq!(status, Some(2), "{name}: {told}");
        assert!(told.contains(expected) && told.contains(&format!("{path}:{place}")), "{name}: {told}");
        assert!(told.len() < 20_000, "{name}: {} bytes are printed", told.len());
    }
}

#[test]
fn hostile_dag_files_end_with_an_error() {
    let nodes = repeated(0..20_000, |at| format!("JOB n{at} a.sub\n"));
    let list = |range| repeated(range, |at| format!("n{at} "));
    let product = format!("{nodes}PARENT {} CHILD {}\n", list(0..10_000), list(10_000..20_000));
    for (name, text, place, expected) in [
        ("product", product, "20001:1", "more than 1000000 dependencies"),
        ("half", "JOB A {\n executable = a\n".to_owned(), "1:1", "the line `}` that ends this description is missing"),
        ("half-block", "JOB A @=end\n executable = a\n".to_owned(), "1:1", "the line `@end` that ends"),
        ("zero", "JOB A a\0.sub\n".to_owned(), "1:1", "a byte that is zero"),
        ("quote", "JOB A a.sub\nVARS A x=\"1\n".to_owned(), "2:1", "a string in this line does not end"),
    ] {
        let path = file(&format!("hostile-{name}.dag"), text);
        let (status, told) = bounded(&["convert", &path, "--to", "long"]);
        assert_eq!(status, Some(2), "{name}: {told}");
        assert!(told.contains(expected) && told.contains(&format!("{path}:{place}")), "{name}: {told}");
    }
    // No file that a DAG file names is read, so that one in itself is a node as any other.
    let own = file("hostile-self.dag", "SUBDAG EXTERNAL A hostile-self.dag\nSPLICE B hostile-self.dag\n");
    let (status, told) = bounded(&["query", "true", &own, "--count"]);
    assert!(status == Some(0) && told.trim() == "2", "{told}");
}

#[test]
fn hostile_configurations_end_with_an_error() {
    let doubled = repeated(0..60, |at| format!("V{at} = $(V{})$(V{})\n", at + 1, at + 1));
    let slots = std::fs::read_to_string("samples/pool/machines.long").expect("the sample is there");
    for (name, text, expected) in [
        ("circle", "A = $(B)\nB = $(A)\nSTART = $(A)\n".to_owned(), "form a circle"),
        ("doubled", format!("{doubled}V60 = 1\nSTART = $(V0)\n"), "give too long a text"),
        ("itself", "include : hostile-itself.config\n".to_owned(), "include each other"),
        ("device", "include : /dev/zero\nSTART = (\n".to_owned(), "it is not a regular file"),
        ("command", "include command : yes\nSTART = (\n".to_owned(), "no program is run"),
        ("half", "START @=end\n x\n".to_owned(), "`@end`"),
        ("slots", slots, "has ads in the long form, not settings"),
        ("json", "{\"Name\": \"a\"}\n".to_owned(), "has ads in JSON Lines, not settings"),
    ] {
        let path = file(&format!("hostile-{name}.config"), text);
        let (status, told) = bounded(&["check", "samples/pool/jobs.long", "--config", &path]);
        assert!(status == Some(2) && told.contains(expected), "{name}: {status:?} {told}");
    }
}
