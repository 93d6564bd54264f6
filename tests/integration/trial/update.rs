//! `--update`: what is rewritten, and what stays.

use std::fs;

use super::{Folder, code, run};

/// Rewrites a spec, and gives its new text; afterwards all cases must pass.
fn rewritten(text: &str) -> String {
    let folder = Folder::new();
    let path = folder.write("spec.yaml", text);
    let output = run(&["--update", &path], "");
    let new = folder.read("spec.yaml");
    assert_eq!(output.status.code(), Some(0), "{text}: {}: {new}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(code(&[&path], ""), 0, "{text}: {new}");
    // There is nothing left to rewrite.
    assert_eq!(code(&["--update", &path], ""), 0);
    assert_eq!(folder.read("spec.yaml"), new);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    new
}

#[test]
fn what_is_rewritten_is_what_was_expected_and_nothing_else() {
    for (before, after) in [
        ("expect: 1  # why", "expect: 12  # why"),
        ("expect:    'x'   # why", "expect:    12   # why"),
        ("expect: \"it''s \\\" # no\" # why", "expect: 12 # why"),
        ("expect: !expr 5 + 5 # why", "expect: 12 # why"),
        ("expect:", "expect: 12"),
        ("expect: ~", "expect: 12"),
        ("expect:\n      1", "expect:\n      12"),
        ("expect: |\n      a text\n      of lines\n\n", "expect: 12\n\n"),
        ("expect: a text\n      of lines", "expect: 12"),
        ("expect: [ 1, \"]\", # ]\n      2 ] # why", "expect: 12 # why"),
        ("expect: { a: 1,\n b: [] }", "expect: 12"),
        ("expect:\n      - 1 # a\n      - 2 # b", "expect:\n      12 # b"),
        ("expect: &a 1", "expect: &a 12"),
        ("\"expect\" : 1", "\"expect\" : 12"),
        ("expect: 0x10", "expect: 12"),
        ("expect: 1e3", "expect: 12"),
        ("expect: .inf", "expect: 12"),
        ("expect: undefined\r\n    tags: a\r", "expect: 12\r\n    tags: a\r"),
    ] {
        let spec =
            |part: &str| format!("# begin\ncases:\n  - name: a # é\n    expression: 3 * 4\n    {part}\n\n  # end\n");
        assert_eq!(rewritten(&spec(before)), spec(after), "{before}");
    }
    // In flow, as the last of all, and without a line end.
    assert_eq!(
        rewritten("cases: [{name: a, expression: '{1, \"b, ]\"}', expect: 1}, {expression: 1, expect: [], name: b}]"),
        "cases: [{name: a, expression: '{1, \"b, ]\"}', expect: [1, \"b, ]\"]}, {expression: 1, expect: 1, name: b}]"
    );
    assert_eq!(
        rewritten("cases:\n- name: a\n  expression: 1\n  expect: 2"),
        "cases:\n- name: a\n  expression: 1\n  expect: 1"
    );
}

#[test]
fn lines_that_still_hold_stay_with_their_comments() {
    let ads = "ads: { pool: [ { Name: a }, { Name: b }, { Name: c } ] }\n";
    let spec =
        |ids: &str| format!("{ads}cases:\n- name: q\n  query: Name != \"b\"\n  pool: pool\n  {ids}\n  tags: x\n");
    for (before, after) in [
        ("ids:\n  - a # one\n  - b # two\n  # three", "ids:\n  - a # one\n  - c\n  # three"),
        ("ids:\n    - b\n    - c # three", "ids:\n    - c # three\n    - a"),
        ("ids:\n    - b\n    - x", "ids:\n    - a\n    - c"),
        ("ids: [ a, b ] # two", "ids: [a, c] # two"),
        ("ids: none", "ids: [a, c]"),
        ("count: 9 # many\n  ids: c", "count: 2 # many\n  ids: [a, c]"),
    ] {
        assert_eq!(rewritten(&spec(before)), spec(after), "{before}");
    }
    let spec = |matches: &str| {
        format!(
            "cases:\n- name: m\n  requests: [ {{ Name: r, Constraint: true }}, {{ Name: s, Constraint: true }} ]\n  \
             offers: [ {{ Name: a, Constraint: true }}, {{ Name: b, Constraint: true }} ]\n  matches: {matches}\n"
        )
    };
    for (before, after) in [
        ("\n    r: b # one\n    s: a # two", "\n    r: a # one\n    s: b # two"),
        ("\n    t: b # one\n    s: b # two", "\n    s: b # two\n    r: a"),
        ("\n    r: ~ # one\n    x: none", "\n    r: a # one\n    x: none\n    s: b"),
        ("{ r: b }", "{r: a, s: b}"),
        ("none", "{r: a, s: b}"),
    ] {
        assert_eq!(rewritten(&spec(before)), spec(after), "{before}");
    }
}

#[test]
fn what_cannot_be_rewritten_is_left_alone() {
    for spec in [
        // One anchor, two values.
        "cases:\n- { name: a, expression: 1, expect: &x 5 }\n- { name: b, expression: 2, expect: *x }\n",
        // No two runs agree.
        "cases:\n- { name: a, expression: random(), expect: 5 }\n",
    ] {
        let folder = Folder::new();
        let path = folder.write("spec.yaml", spec);
        let output = run(&["--update", &path], "");
        assert_eq!(output.status.code(), Some(2), "{spec}");
        assert_eq!(folder.read("spec.yaml"), spec);
        assert!(String::from_utf8_lossy(&output.stderr).contains("is left as it is"), "{output:?}");
    }
    // Nor is what was not selected, or is broken.
    let folder = Folder::new();
    let spec = "cases:\n- { name: a, expression: 1, expect: 2 }\n- { name: b, expression: 1, expect: 2 }\n";
    let path = folder.write("spec.yaml", spec);
    assert_eq!(code(&["--update", "--filter", "b", &path], ""), 0);
    assert_eq!(
        folder.read("spec.yaml"),
        spec.replace("name: b, expression: 1, expect: 2", "name: b, expression: 1, expect: 1")
    );
    let path = folder.write("broken.yaml", "cases:\n- { name: a, expression: 1, expect: 2, x: 1 }\n");
    assert_eq!(code(&["--update", &path], ""), 2);
    assert!(folder.read("broken.yaml").contains("expect: 2"));
}

/// Whatever comes out of an expression can be expected, in whatever layout it stands.
#[test]
fn every_value_can_be_rewritten() {
    let values = [
        "undefined",
        "error",
        "true",
        "-5",
        "9223372036854775807",
        "-9223372036854775807 - 1",
        "0.1",
        "1e300",
        "-0.0",
        "real(\"NaN\")",
        "real(\"-INF\")",
        "\"\"",
        "\"a b\"",
        "\"a: b # c\"",
        "\"- x\"",
        "\"null\"",
        "\"5\"",
        "\"error\"",
        "\"it's \\\"so\\\"\"",
        "\"a\\nb\\t\"",
        "\"é\"",
        "absTime(\"2026-01-15T00:00:00+01:00\")",
        "relTime(\"1+02:03:04\")",
        "{ }",
        "{ 1, { \"a, b\", undefined }, error }",
        "[ ]",
        "[ a = 1; 'b c' = { 2 }; d = [ e = \"]\" ] ]",
        "split(\"a b\")",
    ];
    let layouts = [
        "5",
        "",
        "[ 1,\n      2 ]",
        "|\n      a\n      b",
        "{ a: { b: \"}\" } } # c",
        "\n      - 1\n      - a: 2\n        b: 3",
    ];
    for dialect in ["classad", "condor"] {
        for layout in layouts {
            let case = |(number, value): (usize, &&str)| {
                let value = serde_json::to_string(value).unwrap();
                format!(
                    "  - name: case {number}\n    expression: {value}\n    expect: {layout}\n    tags: t # {number}\n"
                )
            };
            let cases: String = values.iter().enumerate().map(case).collect();
            let new = rewritten(&format!("dialect: {dialect}\ncases:\n{cases}"));
            assert!(new.matches("    tags: t # ").count() == values.len(), "{new}");
        }
    }
}
