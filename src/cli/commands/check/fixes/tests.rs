use classad::ad::Dialect;
use classad::eval::Context;
use classad::format::FileFormat;
use classad::lint::{LintRule, find_rule};
use classad::protocol::Protocol;

use super::{CheckTask, FileFix, FixCounts, TextFix, outside, take};
use crate::cli::session::Session;

/// A text in a form with its fixes, and what is said of them. Of `unsafe` ones only if `with_unsafe`.
fn fixed(text: &str, form: FileFormat, with_unsafe: bool, wanted: &dyn Fn(&LintRule) -> bool) -> (String, String) {
    let (protocol, context) = (Protocol::new(Dialect::Condor), Context::new(Dialect::Condor));
    let task = CheckTask { protocol, context, pool: None };
    let fix = FileFix { task: &task, wanted, with_unsafe, form };
    let (mut counts, mut total) = (FixCounts::default(), FixCounts::default());
    let new = fix.run(&Session::keeping(""), text.as_bytes(), &mut counts).unwrap();
    let Some(new) = new else { return ("not read".to_owned(), String::new()) };
    total.add(counts, new != text.as_bytes());
    (String::from_utf8(new).unwrap(), total.summary())
}

#[test]
fn texts_are_corrected() {
    let [left, more] = ["no fixes", "no fixes; --unsafe also applies 1 fix that can change values"];
    for (text, expected, summary) in [
        ("A = 1\nB = 2\na = 3\n", "B = 2\na = 3\n", "1 fix in 1 file: duplicate 1"),
        ("A = 1\nA = 2\nA = 3", "A = 3", "2 fixes in 1 file: duplicate 2"),
        ("# c\n\nA = 1\nA = 2\n\n  A = 1\nA = 2", "# c\n\nA = 2\n\nA = 2", "2 fixes in 1 file: duplicate 2"),
        ("A = 1\nB = 2 ;\n", "A = 1\nB = 2\n", "1 fix in 1 file: ignored-text 1"),
        ("A = 1\nB = x y\n", "A = 1\nB = x y\n", more),
        ("A = 1\nB = 2 # c\n", "A = 1\nB = 2 # c\n", more),
        ("A = (1\n", "not read", ""),
        ("A = 1\nA = 2\n\nB = (1\n", "not read", ""),
        // What a daemon wrote stays as it is.
        ("MyAddress = \"x\"\nA = 1\nA = 2\n", "MyAddress = \"x\"\nA = 1\nA = 2\n", left),
        ("Requirements = true\n", "Requirements = true\n", left),
        (
            "Requirements = a || b && c\n",
            "Requirements = TARGET.a || (TARGET.b && TARGET.c)\n",
            "2 fixes in 1 file: mixed-logic 1, falls-through 1",
        ),
        (
            "Requirements = OpSys == 'LINUX'\n",
            "Requirements = TARGET.OpSys == 'LINUX'\n",
            "1 fix in 1 file: falls-through 1; --unsafe also applies 1 fix that can change values",
        ),
    ] {
        assert_eq!(fixed(text, FileFormat::Long, false, &|_| true), (expected.to_owned(), summary.to_owned()));
    }
    for (text, expected, summary) in [
        ("[ A = 1; B = 2; a = 3 ]", "[ B = 2; a = 3 ]", "1 fix in 1 file: duplicate 1"),
        ("[ B = 2; A = 1; A = 3; ] [ A = 1; A = 1 ]", "[ B = 2; A = 3; ] [ A = 1 ]", "2 fixes in 1 file: duplicate 2"),
        // A comment would be lost.
        ("[ A = 1; /* c */ A = 3 ]", "[ A = 1; /* c */ A = 3 ]", left),
        ("[ A = 1; // c\n A = 3 ]", "[ A = 1; // c\n A = 3 ]", left),
        ("[ A = 4 / 2; A = 3 ]", "[ A = 3 ]", "1 fix in 1 file: duplicate 1"),
    ] {
        let told = fixed(text, FileFormat::Bracketed, false, &|_| true);
        assert_eq!(told, (expected.to_owned(), summary.to_owned()));
    }
}

#[test]
fn fixes_that_change_values_and_rules_are_chosen() {
    let text = "Requirements = OpSys == 'LINUX'\nB = x y\nB = 2\n";
    let of = |with_unsafe, wanted: &[&str]| {
        fixed(text, FileFormat::Long, with_unsafe, &|rule| wanted.is_empty() || wanted.contains(&rule.name))
    };
    for (with_unsafe, wanted, expected, summary) in [
        (
            true,
            &[][..],
            "Requirements = TARGET.OpSys == \"LINUX\"\nB = 2\n",
            "4 fixes in 1 file: ignored-text 1, single-quotes 1, duplicate 1, falls-through 1",
        ),
        (
            false,
            &["falls-through"],
            "Requirements = TARGET.OpSys == TARGET.LINUX\nB = x y\nB = 2\n",
            "1 fix in 1 file: falls-through 1",
        ),
        (false, &["circular"], text, "no fixes"),
        (false, &["ignored-text"], text, "no fixes; --unsafe also applies 1 fix that can change values"),
        (
            false,
            &["single-quotes", "ignored-text"],
            text,
            "no fixes; --unsafe also applies 2 fixes that can change values",
        ),
    ] {
        assert_eq!(of(with_unsafe, wanted), (expected.to_owned(), summary.to_owned()), "{wanted:?}");
    }
}

#[test]
fn fixes_of_files_are_added_up() {
    let counts = |rules: &[(&'static str, usize)], unsafe_left, has_more| FixCounts {
        by_rule: rules.iter().copied().collect(),
        unsafe_left,
        files: 0,
        has_more,
    };
    let mut total = FixCounts::default();
    assert_eq!(total.summary(), "no fixes");
    total.add(counts(&[], 0, true), false);
    assert_eq!(total.summary(), "no fixes; a further run may fix more");
    total.add(counts(&[("a", 1)], 1, false), true);
    assert_eq!(
        total.summary(),
        "1 fix in 1 file: a 1; --unsafe also applies 1 fix that can change values; a further run may fix more"
    );
    total.add(counts(&[("b", 2), ("a", 3)], 1, false), true);
    total.add(counts(&[], 0, false), false);
    assert_eq!(
        total.summary(),
        "6 fixes in 2 files: a 4, b 2; --unsafe also applies 2 fixes that can change values; a further run may fix more"
    );
}

#[test]
fn what_is_probably_mistaken_is_not_told_more_plainly() {
    let rule = find_rule("falls-through").unwrap();
    let left = |edits: &[(usize, usize)], doubtful: &[(usize, usize)]| {
        let edits = edits.iter().map(|&(start, end)| (start..end, String::new())).collect();
        let doubtful: Vec<_> = doubtful.iter().map(|&(start, end)| start..end).collect();
        let fix = outside((rule, TextFix { keeps_values: true, edits }), &doubtful.iter().collect::<Vec<_>>());
        fix.map(|(_, fix)| fix.edits.into_iter().map(|(range, _)| (range.start, range.end)).collect::<Vec<_>>())
    };
    for (edits, doubtful, expected) in [
        (&[(2, 4)][..], &[][..], Some(vec![(2, 4)])),
        (&[(2, 4)], &[(4, 9)], Some(vec![(2, 4)])),
        (&[(2, 4)], &[(3, 9)], Some(vec![(2, 4)])),
        (&[(2, 4)], &[(2, 4)], None),
        (&[(2, 4)], &[(1, 9)], None),
        (&[(2, 4)], &[(5, 9), (2, 5)], None),
        (&[(2, 4), (6, 8)], &[(1, 5)], Some(vec![(6, 8)])),
        // A parenthesis in it leaves out the other one, too; one beside it does not.
        (&[(2, 2), (9, 9)], &[(1, 5)], None),
        (&[(2, 2), (9, 9)], &[(2, 5)], Some(vec![(2, 2), (9, 9)])),
        (&[(2, 2), (9, 9)], &[(5, 9)], Some(vec![(2, 2), (9, 9)])),
        (&[(2, 2), (9, 9)], &[(1, 2)], Some(vec![(2, 2), (9, 9)])),
        (&[(2, 2), (9, 9)], &[(8, 10)], None),
    ] {
        assert_eq!(left(edits, doubtful), expected, "{edits:?} {doubtful:?}");
    }
}

#[test]
fn ranges_that_overlap_are_not_taken() {
    for (taken, other, is_free) in [
        (0..0, 0..0, true),
        (2..4, 4..6, true),
        (4..6, 2..4, true),
        (2..4, 3..6, false),
        (3..6, 2..4, false),
        (2..4, 2..4, false),
        (2..9, 4..5, false),
        (4..5, 2..9, false),
        // Insertions beside a range and in it.
        (2..4, 2..2, true),
        (2..4, 4..4, true),
        (2..4, 3..3, false),
        (2..2, 2..4, true),
        (4..4, 2..4, true),
        (3..3, 2..4, false),
    ] {
        assert_eq!(take(&mut vec![taken.clone()], [other.clone()].iter()), is_free, "{taken:?} {other:?}");
    }
}
