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
    assert_eq!(code(&["samples/policies"], ""), 0);
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/policies").read_dir().unwrap().count() >= 4);
}
