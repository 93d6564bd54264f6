//! Rows of pairs with equal values, beside the evaluation of `==` in every pair.

use std::fmt::Write as _;

use classad::ad::{Ad, Dialect, Value};
use classad::eval::{Context, Environment, Evaluator};
use classad::syntax::{ParseOptions, parse_ad, parse_expression};
use fastrand::Rng;

use crate::binary::{classad, file};
use crate::checks::random::seeds;

/// Values that are equal to others of another type or spelling, to nothing, or only to themselves.
const VALUES: [&str; 24] = [
    "1",
    "1.0",
    "true",
    "false",
    "0",
    "-0.0",
    "0.0",
    "\"a\"",
    "\"A\"",
    "\"b\"",
    "\"\"",
    "undefined",
    "error",
    "{ 1 }",
    "[ x = 1 ]",
    "absTime(\"2026-01-01T00:00:00+00:00\")",
    "absTime(\"2026-01-01T01:00:00+01:00\")",
    "relTime(1)",
    "9007199254740993",
    "9007199254740992",
    "9007199254740992.0",
    "real(\"NaN\")",
    "1 + 1",
    "strcat(\"A\", \"\")",
];

fn side(random: &mut Rng, most: usize, padding: usize) -> Vec<String> {
    let count = random.usize(0..=most);
    let ad = |number| {
        let mut text = format!("Id = {number}; Filler = \"{}\"", "x".repeat(padding));
        if random.u8(0..8) > 0 {
            let _ = write!(text, "; Key = {}", VALUES[random.usize(0..VALUES.len())]);
        }
        if random.u8(0..8) > 0 {
            let _ = write!(text, "; Other = {}", random.u8(0..3));
        }
        format!("[ {text} ]")
    };
    (0..count).map(ad).collect()
}

fn parsed(ads: &[String], dialect: Dialect) -> Vec<Ad> {
    ads.iter().map(|text| parse_ad(text.as_bytes(), ParseOptions::new(dialect)).expect("it is an ad")).collect()
}

/// The rows of `--af Id,TARGET.Id`, from every pair.
fn expected(lefts: &[Ad], rights: &[Ad], dialect: Dialect, keeps_left: bool, has_second: bool) -> String {
    let context = Context { now: Some(7), ..Context::new(dialect) };
    let both = "MY.Key == TARGET.Key && MY.Other == 2 - TARGET.Other";
    let text = if has_second { both } else { &both[..20] };
    let is_equal = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).expect("it is an expression");
    let mut rows = String::new();
    for (number, left) in lefts.iter().enumerate() {
        let mut has_partner = false;
        for (other, right) in rights.iter().enumerate() {
            let (environment, [frame, _]) = Environment::pair(left.clone(), right.clone());
            let value = Evaluator::new(&environment, &context).evaluate(&is_equal, &frame);
            if value.expect("it is short") == Value::Boolean(true) {
                has_partner = true;
                let _ = writeln!(rows, "{number}\t{other}");
            }
        }
        if !has_partner && keeps_left {
            let _ = writeln!(rows, "{number}\tundefined");
        }
    }
    rows
}

#[test]
fn rows_are_the_pairs_with_equal_values() {
    let (mut rows, mut lone) = (0, 0);
    for seed in seeds().step_by(30) {
        let mut random = Rng::with_seed(seed);
        // Now one side is larger in bytes, now the other, and is held.
        let (lefts, rights) = (side(&mut random, 20, 0), side(&mut random, 20, if seed % 60 < 30 { 0 } else { 900 }));
        let [left, right] = [("join-left.new", &lefts), ("join-right.new", &rights)]
            .map(|(name, ads)| file(name, ads.join("\n").as_bytes()));
        for (dialect, name) in [(Dialect::Classad, "classad"), (Dialect::Condor, "condor")] {
            let ads = [parsed(&lefts, dialect), parsed(&rights, dialect)];
            for (keeps_left, has_second) in [(false, false), (true, false), (true, true)] {
                let options: &[&str] = if keeps_left { &["--left"] } else { &[] };
                let on = if has_second { "Key, Other=2 - Other" } else { "Key=(Key)" };
                let common = ["join", &left, "--with", &right, "--on", on, "--dialect", name, "--now", "7"];
                let columns = ["--af", "Id,TARGET.Id", "--no-header"];
                let (status, out, _) = classad(&[&common[..], options, &columns].concat());
                let wanted = expected(&ads[0], &ads[1], dialect, keeps_left, has_second);
                assert_eq!(out, wanted, "seed {seed}, {name}, left {keeps_left}");
                assert_eq!(status, Some(i32::from(wanted.is_empty())));
                let (_, count, _) = classad(&[&common[..], options, &["--count"]].concat());
                assert_eq!(count, format!("{}\n", wanted.lines().count()));
                rows += wanted.lines().count();
                lone += wanted.matches("undefined").count();
            }
        }
    }
    assert!(rows > 500 && lone > 50, "{rows} {lone}");
}

#[test]
fn expressions_columns_and_names() {
    let jobs =
        file("join-jobs.long", "ClusterId = 1\nProcId = 0\nLastRemoteHost = \"slot1@A\"\nX = 1\n\nOwner = \"b\"\n");
    let slots = file("join-slots.long", "Name = \"SLOT1@a\"\nCpus = 4\nX = 2\n\nName = \"slot2@a\"\nCpus = 8\n");
    let join = |arguments: &[&str]| classad(&[&["join", &jobs, "--with", &slots, "--on"], arguments].concat());
    let note = "note: 1 of 2 ads has no partner; --left keeps such ads\n";
    let (status, out, told) = join(&["LastRemoteHost=Name", "--af", "C=Cpus * 2,X,TARGET.X", "-o", "csv"]);
    assert_eq!((status, out.as_str(), told.as_str()), (Some(0), "C,X,TARGET.X\n8,1,2\n", note));
    // `==` and `=` in strings separate nothing.
    let on = "LastRemoteHost == \"a=b\" || X == 1 = Cpus == 4";
    assert_eq!(join(&[on, "--af", "TARGET.Name", "--no-header"]).1, "SLOT1@a\n");
    let (_, names, _) = join(&["LastRemoteHost=Name", "--left", "-o", "json"]);
    let names: serde_json::Value = serde_json::from_str(&names).expect("it is JSON");
    assert_eq!(names[0], serde_json::json!({ "left": "1.0", "right": "SLOT1@a" }));
    assert!(
        names[1]["left"].as_str().expect("it has a name").ends_with("join-jobs.long:2") && names[1]["right"].is_null()
    );
    for (on, reason) in
        [("LastRemoteHost=", "--on"), ("A = B = C", "--on"), ("", "--on"), (",", "--on"), ("X,,Y=", "--on")]
    {
        let (status, out, told) = join(&[on]);
        assert!(status == Some(2) && out.is_empty() && told.contains(reason), "{on}: {told}");
    }
    // Several keys are one list, or several options, and all are equal.
    for (on, count) in [(&["X,X"][..], "1\n"), (&["X,ClusterId=X"], "0\n"), (&["X", "--on", "2=Cpus / 2"], "1\n")] {
        let twice = file("join-twice.long", "X = 1\nClusterId = 2\n\nX = 2\nClusterId = 1\n");
        let slots = file("join-keys.long", "X = 1\nCpus = 4\n\nX = 3\nCpus = 4\n");
        let arguments = [&["join", &twice, "--with", &slots, "--count", "--on"], on].concat();
        assert_eq!(classad(&arguments).1, count, "{on:?}");
    }
    // A misspelt name has a note. A file that cannot be read leaves no ad without a partner.
    let (status, _, told) = join(&["LastRemoteHost=Nmae", "--left"]);
    assert!(
        status == Some(0) && told == format!("note: no ad of {slots} has the attribute Nmae; did you mean Name?\n"),
        "{told}"
    );
    let (status, out, told) = classad(&["join", &jobs, "--with", "no such file", "--on", "X", "--left"]);
    assert!(status == Some(2) && out.is_empty() && told.contains("there is no such file"), "{out}{told}");
    // An ad without a partner has no row, unless --left keeps it.
    let (lonely, partner) =
        (file("join-lonely.long", "A = 1\n\nA = 2\n\nA = 3\n"), file("join-partner.long", "A = 2\n"));
    for (first, second, note) in
        [(&lonely, &partner, "note: 2 of 3 ads have no partner; --left keeps such ads\n"), (&partner, &lonely, "")]
    {
        assert_eq!(classad(&["join", first, "--with", second, "--on", "A", "--count"]).2, note);
        assert_eq!(classad(&["join", first, "--with", second, "--on", "A", "--count", "--left"]).2, "");
    }
    let (status, _, told) = classad(&["join", &jobs, "--on", "X"]);
    assert!(status == Some(2) && told.contains("--with"), "{told}");
}
