//! `test`: policies under test; what passes, what fails, what is broken, and what `--update` leaves alone.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use quick_xml::Reader;
use quick_xml::events::Event;
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

#[test]
fn values_are_compared_by_type_and_meaning() {
    for (expression, expected, passes) in [
        ("1 + 1", "2", true),
        ("1 + 1", "2.0", false),
        ("2.0", "2", false),
        ("2.0", "2.0", true),
        ("4 / 2.0", "!expr 1.0 + 1", true),
        ("\"LINUX\"", "LINUX", true),
        ("\"LINUX\"", "'LINUX'", true),
        ("\"LINUX\"", "linux", false),
        ("\"LINUX\"", "'\"LINUX\"'", false),
        ("\"1\"", "1", false),
        ("\"1\"", "'1'", true),
        ("true", "true", true),
        ("true", "'true'", false),
        ("1", "true", false),
        ("nothing", "undefined", true),
        ("nothing", "~", true),
        ("nothing", "error", false),
        ("\"undefined\"", "undefined", false),
        ("\"undefined\"", "!expr '\"undefined\"'", true),
        ("1 + \"a\"", "error", true),
        ("{ 1, 1 + 1, { nothing } }", "[1, 2, [undefined]]", true),
        ("{ 1, 2 }", "[2, 1]", false),
        ("[ a = 1; b = a + 1 ]", "{ B: 2, a: 1 }", true),
        ("[ a = 1; b = a + 1 ]", "{ a: 1 }", false),
        ("{ }", "[]", true),
        ("real(\"NaN\")", ".nan", true),
        ("real(\"INF\")", ".inf", true),
        ("absTime(\"2026-01-15T00:00:00Z\")", "!expr 'absTime(\"2026-01-15T00:00:00Z\")'", true),
    ] {
        let spec = expressions(&[(expression, expected)]);
        for dialect in ["classad", "condor"] {
            let output = run(&["--dialect", dialect], &spec);
            let shown = String::from_utf8_lossy(&output.stdout);
            assert_eq!(
                output.status.code(),
                Some(i32::from(!passes)),
                "{dialect}: {expression} is {expected}: {shown}"
            );
        }
    }
}

#[test]
fn every_question_has_its_answer() {
    let spec = r#"
dialect: condor
ads:
  machine: { Name: m1, Cpus: 4, LoadAvg: 0.9, Requirements: !expr LoadAvg < 0.3 && TARGET.Cpus <= MY.Cpus }
  idle: { like: machine, with: { Name: m2, LoadAvg: 0.1 } }
  bare: { like: machine, without: [ Requirements, Name ] }
  job: |
    Cpus = 2
    Requirements = TARGET.Cpus >= 2
  pool: [ machine, idle, "[ Cpus = 1; Requirements = true ]" ]
cases:
  - { name: refused, request: job, offer: machine, match: false, refused-by: offer, clause: LoadAvg<0.3 }
  - { name: other clause, request: job, offer: machine, match: false, clause: LoadAvg < 0.4 }
  - { name: accepted, request: job, offer: idle, match: true, refused-by: none, clause: none }
  - { name: no constraint, request: job, offer: bare, match: false, refused-by: offer }
  - name: both
    request: { like: job, with: { Cpus: 9, Requirements: false } }
    offer: idle
    match: false
    refused-by: both
  - { name: found, query: Cpus >= 4, pool: pool, ids: [ m2, m1 ], count: 2 }
  - { name: none found, query: Cpus > 4, pool: pool, ids: none, count: 0 }
  - { name: by place, query: Cpus == 1, pool: pool, ids: "\x233" }
  - { name: by name, query: Cpus == 2, pool: [ job, bare ], ids: job }
  - name: cycle
    requests: [ { like: job, with: { Name: a } }, { like: job, with: { Name: b } }, { like: job, with: { Name: c } } ]
    offers: pool
    matches: { a: m2, b: none }
  - name: divided
    policy: { residual: { set: { Cpus: Cpus - other.Cpus }, while: Cpus > 0 }, order: Prio }
    requests: [ { like: job, with: { Name: a, Prio: 1 } }, { like: job, with: { Name: b, Prio: 2 } } ]
    offers: idle
    matches: { b: m2, a: m2#2 }
  - name: residue
    specialize: LoadAvg < 0.3 && TARGET.Cpus <= MY.Cpus
    my: idle
    residue: TARGET.Cpus <= 4
    verdict: depends
  - { name: attribute, specialize: Requirements, my: machine, residue: "false", verdict: never }
  - { name: met, specialize: Requirements, my: idle, target: job, residue: "true", verdict: always }
"#;
    let found = outcomes(&[], spec);
    let failed: Vec<&String> = found.iter().filter(|outcome| !outcome.ends_with(": passed")).collect();
    assert_eq!(failed, ["other clause: failed, clause LoadAvg < 0.3"], "{found:?}");
    assert_eq!(found.len(), 14);
}

#[test]
fn gangs_are_expected_by_port_or_by_member() {
    let ads = "
ads:
  offers:
    - { file: samples/rendering/service.ad }
    - { file: samples/rendering/machines.ad }
    - { file: samples/rendering/licenses.ad }
  client: { file: samples/rendering/client.ad }
cases:
";
    let case =
        |name: &str, gang: &str| format!("  - {{ name: {name}, request: client, offers: offers, gang: {gang} }}\n");
    // The first case tells what the gang is, in both of its forms.
    let found = outcomes(&[], &(ads.to_owned() + &case("a", "none") + &case("b", "[]")));
    let by_port = found[0].strip_prefix("a: failed, gang ").unwrap();
    let members = found[1].strip_prefix("b: failed, gang ").unwrap();
    assert!(by_port.contains(": voxel") && members.contains("voxel") && by_port.contains('.'), "{found:?}");
    let spec = ads.to_owned()
        + &case("a", &format!("{{ {by_port} }}"))
        + &case("b", &format!("[ {members} ]"))
        + &case(
            "c",
            &format!(
                "[ {} ]",
                members.split(", ").collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(", ")
            ),
        )
        + "  - { name: d, request: client, offers: { file: samples/rendering/machines.ad }, gang: none }\n";
    let found = outcomes(&[], &spec);
    assert_eq!(found.iter().map(|outcome| outcome.contains("passed")).collect::<Vec<_>>(), [true, true, false, true]);
}

#[test]
fn time_chance_and_dialect_are_those_of_the_case() {
    let spec = "now: 1000\nseed: 7\ncases:\n\
                - { name: a, expression: int(random() * 1000000), expect: 0 }\n\
                - { name: b, expression: int(random() * 1000000), expect: 0 }\n\
                - { name: c, seed: 8, expression: int(random() * 1000000), expect: 0 }\n\
                - { name: d, expression: time(), expect: 1000 }\n\
                - { name: e, now: '1970-01-01T00:00:05Z', expression: time(), expect: 5 }\n\
                - { name: f, dialect: condor, expression: true || error, expect: true }\n\
                - { name: g, dialect: classad, expression: true || error, expect: error }\n";
    let all = outcomes(&[], spec);
    // Each case has chance of its own: whether others run does not matter, nor what the command line says.
    assert_eq!(all[0].split_once(':').unwrap().1, all[1].split_once(':').unwrap().1);
    assert_ne!(all[0].split_once(':').unwrap().1, all[2].split_once(':').unwrap().1);
    assert!(all[3..].iter().all(|outcome| outcome.ends_with(": passed")), "{all:?}");
    assert_eq!(outcomes(&["--filter", "B", "--seed", "9", "--now", "5"], spec), all[1..2]);
    // What the spec leaves open is as asked.
    assert_eq!(code(&["--now", "77"], "cases: [ { name: a, expression: time(), expect: 77 } ]"), 0);
    assert_eq!(code(&["--dialect", "condor"], "cases: [ { name: a, expression: true || error, expect: true } ]"), 0);
    // Else an ad in a form of HTCondor's decides, even one that is not used.
    let plain = "cases: [ { name: a, expression: true || error, expect: true } ]\n";
    assert_eq!(code(&[], plain), 1);
    assert_eq!(code(&[], &format!("ads: {{ a: 'x = 1' }}\n{plain}")), 0);
    assert_eq!(code(&[], &format!("ads: {{ a: {{ file: samples/pool/jobs.long }} }}\n{plain}")), 0);
    assert_eq!(code(&[], &format!("ads: {{ a: '[ x = 1 ]' }}\n{plain}")), 1);
}

/// Specs, and all that is wrong with each; `CASE` stands for a case that is not.
const BROKEN: &[(&str, &[&str])] = &[
    ("cases:\n- name: a\n  expresion: 1\n  expect: 1\n", &["3:3 there is no `expresion` in a case"]),
    ("case: []\n", &["1:1 there is no `case` in a spec"]),
    ("ads: {}\n", &["1:1 this spec has no `cases`"]),
    ("cases: []\n", &["1:8 this spec has no cases"]),
    ("cases:\n", &["1:7 this spec has no cases"]),
    ("cases: 5\n", &["1:8 `cases` must be a sequence"]),
    ("", &["1:1 a spec must be a mapping"]),
    ("cases: [ 5 ]\n", &["1:10 a case must be a mapping"]),
    ("cases:\n- name: a\n  expression: 1\n  expect: 1\n  expect: 1\n", &["5:3 `expect` is given twice"]),
    ("cases:\n- name: a\n  expression: 1\n", &["2:3 this case expects nothing"]),
    ("cases:\n- expression: 1\n  expect: 1\n", &["2:3 this case has no name"]),
    ("cases:\n- name: a\n", &["2:3 this case asks nothing"]),
    (
        "cases:\n- { name: a, query: x, expression: x, expect: 1 }\n",
        &["2:3 this case asks two things: `expression` and `query`"],
    ),
    (
        "cases:\n- { name: a, expression: x, pool: [ {} ], expect: 1 }\n",
        &["2:35 `pool` has no use in a case with `expression`"],
    ),
    ("cases:\n- { name: a, match: true, request: {} }\n", &["2:3 `offer` is missing"]),
    (
        "cases:\n- { name: a, expression: x +, expect: 1 }\n",
        &["2:29 expected an expression, found the end (column 4 of the expression)"],
    ),
    (
        "cases:\n- { name: a, expression: 1, expect: !expr x }\n",
        &["2:37 an expected value stands by itself, but this refers to x"],
    ),
    ("cases:\n- { name: a, expression: 1, expect: !date 1 }\n", &["2:37 there is no tag `!date`"]),
    ("cases:\n- { name: a, expression: 1, my: b, expect: 1 }\n", &["2:33 there is no ad called `b`"]),
    ("ads: { a: b, b: {} }\nCASE", &["1:11 there is no ad called `b`"]),
    ("ads: { a: { x: 1, X: 2 } }\nCASE", &["1:19 the attribute `X` is given twice"]),
    ("ads: { a: { like: {}, file: x } }\nCASE", &["1:11 this has both `file` and `like`"]),
    ("ads: { a: { like: {}, whit: {} } }\nCASE", &["1:23 there is no `whit` in an ad with `file` or `like`"]),
    ("ads: { a: '[ x = 1; y = ]' }\nCASE", &["1:25 expected an expression, found `]`"]),
    (
        "ads: { a: { x: !expr '1 +' } }\nCASE",
        &["1:27 expected an expression, found the end (column 4 of the expression)"],
    ),
    ("ads: { a: { file: nothing.long } }\nCASE", &["1:19 cannot read nothing.long: there is no such file"]),
    (
        "cases: [ { name: a, expression: 1, my: { file: samples/pool/machines.long }, expect: 1 } ]\n",
        &["1:40 one ad is wanted here, not 12"],
    ),
    (
        "cases:\n- name: a\n  my: { file: samples/pool/machines.long, id: slot1@node1.example.org }\n  \
         expression: 1\n  \
         expect: 1\n",
        &["3:47 no ad is called `slot1@node1.example.org`"],
    ),
    (
        "cases:\n- { name: a, expression: 1, expect: 1 }\n- { name: a, expression: 1, expect: 1 }\n",
        &["3:11 two cases are called `a`"],
    ),
    (
        "dialect: condr\nnow: noon\nmax-steps: -1\nCASE",
        &["1:10 this is no dialect", "2:6 this is no time", "3:12 this is no whole number"],
    ),
    (
        "policy: { docking: 1 +, ordr: 2 }\ncases: [ { name: a, requests: [ {} ], offers: [ {} ], matches: none } ]\n",
        &[
            "1:23 expected an expression, found the end (column 4 of the expression)",
            "1:25 there is no `ordr` in a policy",
        ],
    ),
    (
        "policy: tests/cases/negotiate/broken.yaml\ncases: [ { name: a, requests: {}, offers: {}, matches: none } ]\n",
        &["1:9 tests/cases/negotiate/broken.yaml:"],
    ),
    ("cases: [ { name: a, query: x, pool: [ {} ], count: many } ]\n", &["1:52 this is no number of ads"]),
    ("cases: [ { name: a, match: perhaps, request: {}, offer: {} } ]\n", &["1:28 `true` or `false` is wanted here"]),
    (
        "cases: [ { name: a, match: true, request: {}, offer: {}, refused-by: nobody } ]\n",
        &["1:70 this word has no meaning here"],
    ),
];

#[test]
fn what_is_wrong_with_a_spec_has_a_place() {
    for (spec, expected) in BROKEN {
        let spec = spec.replace("CASE", "cases: [ { name: a, expression: 1, expect: 1 } ]\n");
        let found = problems(&spec);
        assert!(found.len() >= expected.len(), "{spec}: {found:?}");
        for (found, expected) in found.iter().zip(*expected) {
            assert!(found.starts_with(expected), "{spec}: {found:?}, not {expected:?}");
        }
    }
    // What is not far from it is suggested.
    let output = run(&[], "cases:\n- name: a\n  expresion: 1\n  expect: 1\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `expression`?"));
}

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
fn junit_is_xml_whatever_stands_in_a_spec() {
    let strange = "cases:\n\
                - name: \"<&>'\\\"]]> \\e \\t \\n é\"\n  \
                expression: '\"<![CDATA[ & \\\\001 ]]>\"'\n  expect: \"<b>\"\n\
                - { name: b, max-steps: 1, expression: 1 + 1 + 1, expect: 3 }\n\
                - { name: c, expression: 1, expect: 1 }\n";
    let folder = Folder::new();
    let (strange, broken) =
        (folder.write("a&<b>'.yaml", strange), folder.write("broken.yaml", "cases: 5\n\"<&\": 1\n"));
    let output = run(&["-o", "junit", &strange, &broken], "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.chars().any(|c| c < ' ' && c != '\n'), "{text}");
    let mut reader = Reader::from_str(&text);
    let (mut depth, mut seen) = (0, Vec::new());
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {text}")) {
            Event::Start(tag) => {
                tag.attributes().for_each(|attribute| drop(attribute.unwrap()));
                seen.push(tag.name().as_ref().to_owned());
                depth += 1;
            }
            Event::Empty(tag) => seen.push(tag.name().as_ref().to_owned()),
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    let count = |name: &str| seen.iter().filter(|seen| *seen == name).count();
    assert_eq!(["testsuites", "testsuite", "testcase", "failure", "error"].map(count), [1, 2, 5, 1, 3], "{text}");
    assert!(text.contains("<testsuites name=\"classad test\" tests=\"5\" failures=\"1\" errors=\"3\" skipped=\"0\">"));
}

#[test]
fn tap_counts_its_points() {
    let spec = "cases:\n\
                - { name: 'a # TODO', expression: 1, expect: 1 }\n\
                - { name: b, expression: 1, expect: 2 }\n\
                - { name: c, max-steps: 1, expression: 1 + 1 + 1, expect: 3 }\n";
    let text = String::from_utf8(run(&["-o", "tap"], spec).stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..4],
        ["TAP version 14", "1..3", "ok 1 - standard input: a \\# TODO", "not ok 2 - standard input: b"]
    );
    assert_eq!(lines.iter().filter(|line| line.starts_with("not ok ")).count(), 2);
    assert_eq!(
        lines.iter().filter(|line| **line == "  ---").count(),
        lines.iter().filter(|line| **line == "  ...").count()
    );
    let nothing = String::from_utf8(run(&["-o", "tap", "--filter", "x"], spec).stdout).unwrap();
    assert_eq!(nothing, "TAP version 14\n1..0 # no case is selected\n");
}

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

#[test]
fn the_samples_pass() {
    assert_eq!(code(&["samples/policies"], ""), 0);
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/policies").read_dir().unwrap().count() >= 4);
}
