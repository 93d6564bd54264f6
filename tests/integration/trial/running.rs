//! Which specs and cases are run, and what the exit status tells of them.

use std::path::Path;

use super::{Folder, code, expressions, outcomes, run};

#[test]
fn the_exit_status_tells_what_happened() {
    let (passes, fails) = (expressions(&[("1", "1")]), expressions(&[("1", "1"), ("1", "2")]));
    let halts = "max-steps: 3\n".to_owned() + &expressions(&[("1 + 1 + 1 + 1", "4"), ("1", "2")]);
    assert_eq!(code(&[], &passes), 0);
    assert_eq!(code(&[], &fails), 1);
    assert_eq!(code(&["--exit-zero"], &fails), 0);
    assert_eq!(code(&["--filter", "case 0"], &fails), 0);
    assert_eq!(code(&["--filter", "nothing"], &fails), 1);
    assert_eq!(code(&["--tag", "nothing"], &fails), 1);
    assert_eq!(code(&["--list"], &fails), 0);
    assert_eq!(code(&[], "cases: 5"), 2);
    assert_eq!(code(&["nothing-is-here.yaml"], ""), 2);
    assert_eq!(code(&["tests/cases/check"], ""), 2);
    assert_eq!(code(&["--list", "-o", "tap"], &passes), 2);
    assert_eq!(code(&["--update"], &passes), 2);
    assert_eq!(code(&[], &halts), 3);
    let bad_ports = "cases: [ { name: a, request: '[ Ports = 5 ]', offers: [ {} ], gang: none } ]";
    assert_eq!(code(&[], bad_ports), 2);
    let folder = Folder::new();
    let (broken, good) = (folder.write("broken.yaml", "cases: 5"), folder.write("good.yaml", &halts));
    let output = run(&[&broken, &good], "");
    // What is broken stops no other, and counts more than a budget.
    assert_eq!(output.status.code(), Some(2));
    let shown = String::from_utf8_lossy(&output.stdout);
    let first = shown.lines().next().unwrap();
    assert!(
        first.starts_with("1 of 2 cases failed: case 1 (") && first.contains("; 1 exceeded a budget: case 0 ("),
        "{first}"
    );
    assert!(first.contains("; 1 spec is broken: "), "{first}");
    assert!(run(&["-q"], &fails).stdout.is_empty());
}

#[test]
fn tags_and_names_select() {
    let spec = "cases:\n\
                - { name: One, tags: [ a, b ], expression: 1, expect: 1 }\n\
                - { name: two, tags: b, expression: 1, expect: 1 }\n\
                - { name: three, expression: 1, expect: 1 }\n";
    for (arguments, expected) in [
        (&["--tag", "a"][..], &["One"][..]),
        (&["--tag", "b"], &["One", "two"]),
        (&["--tag", "a", "--tag", "b"], &["One", "two"]),
        (&["--filter", "ONE"], &["One"]),
        (&["--filter", "t"], &["two", "three"]),
        (&["--filter", "t", "--tag", "b"], &["two"]),
    ] {
        let names: Vec<String> =
            outcomes(arguments, spec).iter().map(|outcome| outcome.split(':').next().unwrap().to_owned()).collect();
        assert_eq!(names, expected, "{arguments:?}");
    }
    let output = run(&["--tag", "bb"], spec);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no case has the tag bb; did you mean b?"));
    let listed = String::from_utf8(run(&["--list"], spec).stdout).unwrap();
    assert_eq!(listed, "standard input:2:44: One [a, b]\nstandard input:3:37: two [b]\nstandard input:4:30: three\n");
}

#[test]
fn folders_are_searched_for_specs() {
    let folder = Folder::new();
    let spec = |name: &str| format!("cases:\n- {{ name: {name}, expression: 1, expect: 1 }}\n");
    for path in ["b.yaml", "a.yml", "sub/deep/c.yaml", ".hidden/d.yaml", ".e.yaml", "f.txt"] {
        folder.write(path, &spec(path.rsplit('/').next().unwrap()));
    }
    folder.write("policy.yaml", "order: JobPrio\n");
    folder.write("ads.yaml", "---\na: 1\n---\nb: 2\n");
    folder.write("sub/ads/machines.long", "Name = \"m1\"\nCpus = 4\n");
    folder.write(
        "sub/g.yaml",
        "ads: { m: { file: ads/machines.long } }\ncases:\n- { name: g, my: m, expression: Cpus, expect: 4 }\n",
    );
    let path = folder.0.to_str().unwrap();
    assert_eq!(outcomes(&[path], ""), ["a.yml: passed", "b.yaml: passed", "c.yaml: passed", "g: passed"]);
}

#[test]
fn the_samples_pass() {
    assert_eq!(code(&["samples/policies", "--files-below", "samples"], ""), 0);
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/policies").read_dir().unwrap().count() >= 4);
}

/// A spec may come from elsewhere: it reaches the files of its folder, unless an option names others.
#[test]
fn a_spec_reads_only_below_its_folder() {
    let folder = Folder::new();
    folder.write("secret.long", "secret = \"hunter2\"\n");
    folder.write("secret.rules", "SET hunter2 1\n");
    folder.write("in/below/own.long", "secret = \"hunter2\"\n");
    let root = folder.0.to_str().unwrap();
    std::os::unix::fs::symlink("../secret.long", folder.0.join("in/link.long")).unwrap();
    std::os::unix::fs::symlink("..", folder.0.join("in/up")).unwrap();
    let case =
        |ad: &str| format!("ads:\n  a: {ad}\ncases:\n- {{ name: c, my: a, expression: size(secret), expect: 7 }}\n");
    let matching = |policy: &str| {
        format!("policy: {policy}\ncases:\n- {{ name: c, requests: [ {{}} ], offers: [ {{}} ], matches: {{ }} }}\n")
    };
    for (spec, is_own) in [
        (case("{ file: below/own.long }"), true),
        (case("{ file: ./below/../below/own.long }"), true),
        (case(&format!("{{ file: {root}/in/below/own.long }}")), true),
        (case("{ file: ../secret.long }"), false),
        (case(&format!("{{ file: {root}/secret.long }}")), false),
        (case("{ file: link.long }"), false),
        (case("{ file: up/secret.long }"), false),
        (case("{ file: below/../../secret.long }"), false),
        (case("{ like: { x: 1 }, transform: ../secret.rules }"), false),
        (matching("../secret.long"), false),
        ("config: ../secret.long\ncases:\n- { name: c, knob: secret, expect: 1 }\n".to_owned(), false),
    ] {
        let path = folder.write("in/spec.yaml", &spec);
        let output = run(&[&path], "");
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(if is_own { 0 } else { 2 }), "{spec}: {told}");
        if !is_own {
            assert!(told.contains("it is not below") && !told.contains("hunter2"), "{spec}: {told}");
            let output = run(&["--files-below", root, &path], "");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!told.contains("it is not below"), "{spec}: {told}");
        }
    }
}

#[test]
fn a_spec_cannot_raise_a_limit_of_the_run() {
    let spec = |top: &str, own: &str| format!("{top}cases:\n- {{ name: c, {own}expression: 1 + 1, expect: 2 }}\n");
    for (key, more) in [("max-steps", "99999999999"), ("max-depth", "100000"), ("max-value-bytes", "1073741824")] {
        let raised = [spec(&format!("{key}: {more}\n"), ""), spec("", &format!("{key}: {more}, "))];
        for spec in &raised {
            let output = run(&[], spec);
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{spec}: {told}");
            assert!(told.contains("a spec cannot raise a limit of the run"), "{spec}: {told}");
            // The command line can.
            assert_eq!(code(&[&format!("--{key}"), more], spec), 0, "{spec}");
        }
        // A case may have a higher limit than its spec, and any lower one.
        assert_eq!(code(&[], &spec(&format!("{key}: 50\n"), &format!("{key}: 60, "))), 0, "{key}");
    }
}
