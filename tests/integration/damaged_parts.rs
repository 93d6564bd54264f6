//! Partial results that are damaged or made up: `merge` refuses them or prints something, and ends.

use std::process::{Command, Stdio};

use fastrand::Rng;
use serde_json::{Value, json};

use super::binary::{file, resealed, run};
use super::random::seeds;

/// Commands that write partial results of all kinds.
const COMMANDS: [&[&str]; 12] = [
    &["query", "Cpus > 1"],
    &["query", "Cpus > 1", "--af", "Name,Memory,Cpus / 3.0"],
    &["query", "Cpus >= 1", "--count", "--limit", "7"],
    &["query", "true", "--af", "Name,Cpus", "--sort", "Cpus", "--desc"],
    &[
        "query",
        "true",
        "--group-by",
        "Cpus",
        "--sum",
        "Memory / 7.0",
        "--mean",
        "Cpus",
        "--median",
        "Memory",
        "--max",
        "Name",
        "--totals",
    ],
    &["query", "eval(Text) > 1", "--af", "Name", "-o", "json", "--max-steps", "3"],
    &["census"],
    &["census", "--attr", "Memory", "-o", "json"],
    &["refs"],
    &["refs", "--count"],
    &["check"],
    &["check", "-o", "json"],
];

/// Ads with mistakes, so that partial results have problems and findings.
fn ads() -> String {
    let ad = |number: usize| {
        let requirements = ["Cpus > 1 && Memroy < 4", "TARGET.Cpuss >= Cpus && Cpus > 4 && Cpus < 2"][number % 2];
        format!(
            "Name = \"n{number}\"\nCpus = {}\nMemory = {}.5\nText = \"Cpus\"\nRequirements = {requirements}\n{}\n",
            number % 4,
            number * 100,
            if number % 7 == 3 { "Bad = (\n" } else { "" }
        )
    };
    (0..20).map(ad).collect()
}

/// Returns a value that no program writes in place of another.
fn odd(random: &mut Rng, value: &Value) -> Value {
    let deep = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    match random.u8(0..16) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(u64::MAX),
        3 => json!(u64::MAX / 2),
        4 => json!(i64::MIN),
        5 => json!(1e308),
        6 => json!(""),
        7 => json!("\u{1b}[2J\u{7}\0\u{9b}"),
        8 => json!([]),
        9 => json!({}),
        10 => deep(random.usize(1..120)),
        11 => json!([value, value, value]),
        12 => json!({ "raw": value }),
        13 => json!("x".repeat(random.usize(0..5000))),
        14 => json!(random.bool()),
        _ => json!(random.u64(..)),
    }
}

/// Replaces, removes or repeats something in a JSON value.
fn mutate(random: &mut Rng, value: &mut Value) {
    let descend = random.u8(0..5) > 0;
    match value {
        Value::Array(elements) if descend && !elements.is_empty() => {
            let at = random.usize(0..elements.len());
            match random.u8(0..8) {
                0 => drop(elements.remove(at)),
                1 => elements.push(elements[at].clone()),
                _ => mutate(random, &mut elements[at]),
            }
        }
        Value::Object(members) if descend && !members.is_empty() => {
            let name = members.keys().nth(random.usize(0..members.len())).cloned().unwrap_or_default();
            match random.u8(0..8) {
                0 => drop(members.remove(&name)),
                1 => drop(members.insert(format!("{name}x"), json!(1))),
                _ => members.get_mut(&name).into_iter().for_each(|member| mutate(random, member)),
            }
        }
        value => *value = odd(random, value),
    }
}

/// Returns a damaged partial result.
fn damaged(random: &mut Rng, text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(0..lines.len());
        match random.u8(0..12) {
            0 if lines.len() > 1 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let other = random.usize(0..lines.len());
                lines.swap(at, other);
            }
            3 => {
                let length = random.usize(0..=lines[at].len());
                lines[at].truncate(length);
            }
            4 => {
                let place = random.usize(0..=lines[at].len());
                lines[at].insert(place, random.u8(..));
            }
            _ => {
                if let Ok(mut value) = serde_json::from_slice::<Value>(&lines[at]) {
                    mutate(random, &mut value);
                    lines[at] = format!("{value}\n").into_bytes();
                }
            }
        }
    }
    lines.concat()
}

#[test]
fn damaged_partial_results_are_refused_or_merged() {
    let input = file("hostile-parts.long", ads());
    let partials: Vec<Vec<u8>> = COMMANDS
        .iter()
        .map(|command| {
            let output = run(&[*command, &["--partial", &input][..]].concat(), b"");
            assert_eq!(output.status.code(), Some(0), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        })
        .collect();
    let mut refused = 0;
    for seed in seeds() {
        let mut random = Rng::with_seed(seed);
        let chosen = random.usize(0..partials.len());
        let path = file("hostile-parts.part", resealed(&damaged(&mut random, &partials[chosen])));
        // A limit of the memory: a number in a file may not ask for more.
        let output = Command::new("bash")
            .args([
                "-c",
                "ulimit -v 4000000; ulimit -t 20; exec \"$0\" merge \"$1\"",
                env!("CARGO_BIN_EXE_classad"),
                &path,
            ])
            .stdin(Stdio::null())
            .output()
            .expect("bash runs");
        let told = String::from_utf8_lossy(&output.stderr);
        let kept = std::fs::read(&path).expect("it is there");
        assert!(
            matches!(output.status.code(), Some(0..=3)) && !told.contains("panicked"),
            "seed {seed}: {:?} {told}\n{}",
            output.status,
            String::from_utf8_lossy(&kept)
        );
        // Messages are for terminals.
        assert!(!told.contains(['\u{1b}', '\u{7}', '\u{9b}']), "seed {seed}: {told:?}");
        refused += usize::from(output.status.code() == Some(2));
        // The errors that `check` finds are its result.
        let is_silent = told.is_empty() && output.stdout.is_empty();
        assert!(output.status.code() != Some(2) || !is_silent, "seed {seed}: refused without a reason");
    }
    assert!(refused * 3 > seeds().count(), "{refused} are refused");
}

#[test]
fn a_number_of_ads_is_a_number() {
    let input = file("hostile-count.long", ads());
    let output = run(&["query", "true", "--count", "--partial", &input], b"");
    let text = String::from_utf8(output.stdout).expect("it is UTF-8");
    assert!(text.contains("{\"present\":"), "{text}");
    let line = |line: &str| {
        let line = line.replace("file_end\":{\"ads\":20", "file_end\":{\"ads\":1000000000000000000");
        let finding = r#"{"finding":{"present":1000000000000000000}}"#;
        format!("{}\n", if line.contains("present") { finding } else { &line })
    };
    let path = file("hostile-count.part", resealed(text.lines().map(line).collect::<String>().as_bytes()));
    let output = run(&["merge", &path], b"");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "1000000000000000000\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Replaces each integer of a value.
fn with_integers(value: Value, integer: u64) -> Value {
    match value {
        Value::Number(number) if number.is_u64() || number.is_i64() => json!(integer),
        Value::Array(elements) => elements.into_iter().map(|element| with_integers(element, integer)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, with_integers(member, integer))).collect()
        }
        value => value,
    }
}

/// A made-up part that counts more than there can be is no overflow.
#[test]
fn huge_counts_are_no_overflow() {
    let ads = file("hostile-huge.long", ads());
    for command in COMMANDS {
        let partial = run(&[command, &[&ads, "--partial"]].concat(), b"").stdout;
        let partial = String::from_utf8(partial).expect("it is text");
        for integer in [u64::MAX, u64::MAX / 2, u64::MAX / 2 + 1, 1 << 32] {
            let line = |(number, line): (usize, &str)| {
                let value: Value = serde_json::from_str(line).expect("it is JSON");
                let is_kept = number == 0 || value.get("file").is_some();
                format!("{}\n", if is_kept { value } else { with_integers(value, integer) })
            };
            let huge = partial.lines().enumerate().map(line).collect::<String>();
            let huge = file("hostile-huge.part", resealed(huge.as_bytes()));
            let output = run(&["merge", &huge], b"");
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code().is_some_and(|code| code < 6), "{command:?} {integer}: {told}");
        }
    }
}

/// The table of causes adds up the subjects of two parts that claim more than there can be.
#[test]
fn huge_numbers_of_causes_are_no_overflow() {
    let pool = "samples/pool/machines.long";
    for form in ["table", "json", "csv", "svg"] {
        let parts = ["1/2", "2/2"].map(|share| {
            let arguments =
                ["explain", "samples/pool/jobs.long", "--pool", pool, "--unmatched", "--summary", "-o", form];
            let more = ["--now", "1760000000", "--share", share, "--partial"];
            let output = run(&[&arguments[..], &more].concat(), b"");
            assert_eq!(output.status.code(), Some(0), "{form}");
            let text = String::from_utf8(output.stdout).expect("it is text");
            assert!(text.contains("\"subjects\":1"), "{form}");
            let name = format!("causes-{form}-{}.part", &share[..1]);
            let text = text.replace("\"subjects\":1", &format!("\"subjects\":{}", u64::MAX));
            file(&name, resealed(text.as_bytes()))
        });
        let status = run(&["merge", &parts[0], &parts[1]], b"").status.code();
        assert!(matches!(status, Some(0..=2)), "{form}: {status:?}");
    }
}

/// Commands whose partial results of shares are tried.
const SHARED: [&[&str]; 2] = [
    &["match", "--all", "samples/pool/jobs.long", "--pool", "samples/pool/machines.long"],
    &["explain", "samples/pool/jobs.long", "--pool", "samples/pool/machines.long", "--unmatched"],
];

#[test]
fn a_changed_byte_of_a_partial_result_is_an_error_or_changes_nothing() {
    let input = file("hostile-bytes.long", ads());
    let of_parts = COMMANDS.iter().map(|command| [*command, &["--partial", &input]].concat());
    let of_shares =
        SHARED.iter().map(|command| [*command, &["--now", "1760000000", "--partial", "--share", "1/1"]].concat());
    for (number, command) in of_parts.chain(of_shares).enumerate() {
        let output = run(&command, b"");
        assert_eq!(output.status.code(), Some(0), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let partial = output.stdout;
        let path = file("hostile-bytes.part", &partial);
        let whole = run(&["merge", &path], b"");
        assert_ne!((whole.status.code(), whole.stdout.is_empty()), (Some(2), true), "{command:?}");
        let mut random = Rng::with_seed(number as u64);
        for _ in 0..30 {
            let mut changed = partial.clone();
            let at = random.usize(0..changed.len());
            changed[at] ^= 1 << random.u8(0..8);
            let path = file("hostile-bytes.part", &changed);
            let merged = run(&["merge", &path], b"");
            let told = String::from_utf8_lossy(&merged.stderr);
            let is_refused = merged.status.code() == Some(2) && merged.stdout.is_empty() && !told.is_empty();
            let is_same = (merged.status.code(), &merged.stdout) == (whole.status.code(), &whole.stdout);
            assert!(is_refused || is_same, "{command:?}: byte {at} {told}");
        }
    }
}

#[test]
fn a_partial_result_that_finds_more_ads_than_it_read_is_an_error() {
    let input = file("hostile-sums.long", ads());
    for (command, is, becomes) in [
        (&["query", "true", "--group-by", "Owner"][..], "\"ads\":20,\"values\"", "\"ads\":99,\"values\""),
        (&["query", "true", "--count"], "{\"present\":20}", "{\"present\":21}"),
        (&["census"], "{\"finding\":{\"ads\":17", "{\"finding\":{\"ads\":21"),
        (&["query", "true", "--af", "Name"], "\"file_end\":{\"ads\":20", "\"file_end\":{\"ads\":16"),
    ] {
        let partial =
            String::from_utf8(run(&[command, &["--partial", &input]].concat(), b"").stdout).expect("it is text");
        assert!(partial.contains(is), "{partial}");
        let path = file("hostile-sums.part", resealed(partial.replace(is, becomes).as_bytes()));
        let output = run(&["merge", &path], b"");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains("is damaged: it found"), "{command:?}: {told}");
    }
}
