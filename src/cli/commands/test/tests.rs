use classad::format::Position;
use classad::policy_test::CaseAnswer;

use super::report::{CaseResult, CaseStatus, SpecResult, TestReport, UnmetExpectation, located};
use super::{json, junit, tap, text};
use crate::cli::session::Session;

fn at(line: usize, column: usize) -> Position {
    Position { line, column }
}

/// A case of this name that starts in the line 3; one that did not pass has the message `no <name>`.
fn case(name: &str, status: CaseStatus) -> CaseResult {
    let message = (!status.is_good()).then(|| format!("no {name}"));
    let (tags, unmet, marks, reasons) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let position = (!status.is_good()).then(|| at(3, 5));
    CaseResult { name: name.to_owned(), tags, position, status, message, unmet, marks, reasons }
}

fn spec(name: &str, outcomes: Vec<CaseResult>) -> SpecResult {
    SpecResult { name: name.to_owned(), outcomes, ..SpecResult::default() }
}

fn broken(name: &str, problems: &[(Option<Position>, &str)]) -> SpecResult {
    let problems = problems.iter().map(|(place, problem)| (*place, (*problem).to_owned())).collect();
    SpecResult { name: name.to_owned(), problems, ..SpecResult::default() }
}

fn report(files: Vec<SpecResult>) -> TestReport {
    TestReport { files, ..TestReport::default() }
}

/// A case whose expectation of some ads is not met: `expected` and `actual` are their names.
fn failed(name: &str, expected: &[String], actual: &[String]) -> CaseResult {
    let [expected, actual] = [expected, actual].map(|names| CaseAnswer::Ads(names.to_vec()));
    let unmet = vec![UnmetExpectation { key: "ads", position: at(4, 5), expected, actual }];
    CaseResult { unmet, ..case(name, CaseStatus::Failed) }
}

/// A spec with a case of each status, and one with problems.
fn all_statuses() -> TestReport {
    let truth = |key, expected, actual| UnmetExpectation {
        key,
        position: at(4, 9),
        expected: CaseAnswer::Truth(expected),
        actual: CaseAnswer::Truth(actual),
    };
    let unmet = vec![truth("match", true, false), truth("forward", false, true)];
    let reasons = vec!["a < b".to_owned(), "it is".to_owned()];
    let two = CaseResult { unmet, reasons, ..case("two", CaseStatus::Failed) };
    let [one, three, four] =
        [case("one", CaseStatus::Passed), case("three", CaseStatus::OverBudget), case("four", CaseStatus::Unusable)];
    let bad = broken("b.yaml", &[(Some(at(1, 2)), "x & y"), (None, "cannot read")]);
    report(vec![spec("a.yaml", vec![one, two, three, four]), bad])
}

#[test]
fn a_line_tells_how_many_cases_passed() {
    use CaseStatus::{Failed, OverBudget, Passed, Unusable};
    let cases = |statuses: &[CaseStatus]| {
        let case = |(number, status): (usize, &CaseStatus)| case(&format!("c{number}"), *status);
        spec("a", statuses.iter().enumerate().map(case).collect())
    };
    let bad = |name: &str| broken(name, &[(None, "x")]);
    for (files, updated, expected) in [
        (vec![], 0, "no case is selected"),
        (vec![cases(&[])], 0, "no case is selected"),
        (vec![bad("b")], 0, "no case was run; 1 spec is broken: b"),
        (vec![bad("b"), bad("c")], 0, "no case was run; 2 specs are broken: b, c"),
        (vec![bad("b"), bad("c"), bad("d"), bad("e")], 0, "no case was run; 4 specs are broken: b, c, d and 1 more"),
        (vec![cases(&[Passed])], 0, "1 case passed"),
        (vec![cases(&[Passed]), cases(&[Passed])], 0, "2 cases passed"),
        (vec![cases(&[Passed])], 1, "1 case passed; 1 expectation rewritten"),
        (vec![cases(&[Passed])], 2, "1 case passed; 2 expectations rewritten"),
        (vec![cases(&[Failed])], 0, "1 of 1 case failed: c0 (a:3:5)"),
        (vec![cases(&[Failed, Passed, Failed, Failed])], 0, "3 of 4 cases failed: c0 (a:3:5), c2 (a:3:5), c3 (a:3:5)"),
        (
            vec![cases(&[Failed, Failed, Failed, Failed, Failed])],
            0,
            "5 of 5 cases failed: c0 (a:3:5), c1 (a:3:5), c2 (a:3:5) and 2 more",
        ),
        (vec![cases(&[OverBudget, Passed])], 0, "1 of 2 cases passed; 1 exceeded a budget: c0 (a:3:5)"),
        (
            vec![cases(&[Unusable, OverBudget, Passed])],
            0,
            "1 of 3 cases passed; 1 exceeded a budget: c1 (a:3:5); 1 cannot be run: c0 (a:3:5)",
        ),
        (vec![cases(&[Unusable, Unusable])], 0, "0 of 2 cases passed; 2 cannot be run: c0 (a:3:5), c1 (a:3:5)"),
    ] {
        let report = TestReport { updated, ..report(files) };
        assert_eq!(text::summary(&report), expected);
    }
    let summary = "1 of 4 cases failed: two (a.yaml:3:5); 1 exceeded a budget: three (a.yaml:3:5); 1 cannot be run: four \
                   (a.yaml:3:5); 1 spec is broken: b.yaml";
    assert_eq!(text::summary(&all_statuses()), summary);
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut text = Vec::new();
    write(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn a_difference_has_its_first_and_last_lines() {
    let session = Session::keeping("--color never");
    let of = |report: &TestReport| written(|out| text::write(out, &session, report).unwrap());
    let names = |count: usize| (0..count).map(|number| format!("n{number}")).collect::<Vec<_>>();
    for (count, left_out) in [(2, ""), (60, ""), (61, "1 more line"), (63, "3 more lines")] {
        let text = of(&report(vec![spec("a", vec![failed("x", &names(count), &names(1))])]));
        // Also of two lines, one is what both have.
        let mut lines = vec!["1 of 1 case failed: x (a:3:5)".to_owned(), String::new(), "  ads:".to_owned()];
        for number in 0..count {
            if number == 30 && !left_out.is_empty() {
                lines.push(format!("    ... {left_out} ..."));
            }
            if number < 30 || number >= count - 30 {
                lines.push(if number == 0 { "    n0".to_owned() } else { format!("  - n{number}") });
            }
        }
        assert_eq!(text.lines().collect::<Vec<_>>(), lines, "{count}");
    }
    let all = of(&all_statuses());
    let (_, rest) = all.split_once('\n').unwrap();
    let expected = "\n  - match: true\n  + match: false\n  - forward: false\n  + forward: true\n  a < b\n  it is\n";
    assert_eq!(rest, expected);
}

#[test]
fn cases_are_listed_with_their_places_and_tags() {
    let tagged = |name: &str, tags: &[&str], position| CaseResult {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        position,
        ..case(name, CaseStatus::Listed)
    };
    let cases =
        vec![tagged("one", &[], Some(at(2, 3))), tagged("t\u{7}o", &["x"], None), tagged("c", &["x", "y"], None)];
    let listed = written(|out| text::list(out, &report(vec![spec("a", cases)])).unwrap());
    assert_eq!(listed, "a:2:3: one\na: t\u{2407}o [x]\na: c [x, y]\n");
    assert_eq!([located("a", Some(at(1, 2))), located("a", None)], ["a:1:2", "a"]);
}

#[test]
fn results_in_the_test_anything_protocol() {
    let tap = |report: &TestReport| written(|out| tap::write(out, report).unwrap());
    assert_eq!(tap(&report(vec![])), "TAP version 14\n1..0 # no case is selected\n");
    assert_eq!(
        tap(&all_statuses()),
        "TAP version 14
1..6
ok 1 - a.yaml: one
not ok 2 - a.yaml: two
  ---
  message: no two
  at: \"a.yaml:3:5\"
  expected: \"true\"
  actual: \"false\"
  reason: \"a < b; it is\"
  ...
not ok 3 - a.yaml: three
  ---
  message: no three
  at: \"a.yaml:3:5\"
  ...
not ok 4 - a.yaml: four
  ---
  message: no four
  at: \"a.yaml:3:5\"
  ...
not ok 5 - b.yaml: the spec is well-formed
  ---
  message: \"x & y\"
  at: \"b.yaml:1:2\"
  ...
not ok 6 - b.yaml: the spec is well-formed
  ---
  message: cannot read
  at: b.yaml
  ...
"
    );
}

#[test]
fn results_as_suites_and_as_json() {
    let suites = written(|out| junit::write(out, &all_statuses()).unwrap());
    let place = "classname=\"a.yaml\" file=\"a.yaml\"";
    assert_eq!(
        suites,
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"classad test\" tests=\"6\" failures=\"1\" errors=\"4\" skipped=\"0\">
  <testsuite name=\"a.yaml\" tests=\"4\" failures=\"1\" errors=\"2\" skipped=\"0\">
    <testcase name=\"one\" {place}/>
    <testcase name=\"two\" {place} line=\"3\">
      <failure message=\"no two\" type=\"unmet\">match:\n- true\n+ false\nforward:\n- false\n+ true\na &lt; b\nit is</failure>
    </testcase>
    <testcase name=\"three\" {place} line=\"3\">
      <error message=\"no three\" type=\"stopped\"></error>
    </testcase>
    <testcase name=\"four\" {place} line=\"3\">
      <error message=\"no four\" type=\"stopped\"></error>
    </testcase>
  </testsuite>
  <testsuite name=\"b.yaml\" tests=\"2\" failures=\"0\" errors=\"2\" skipped=\"0\">
    <testcase name=\"the spec is well-formed:1:2\" classname=\"b.yaml\">
      <error message=\"x &amp; y\" type=\"spec\">b.yaml:1:2: x &amp; y</error>
    </testcase>
    <testcase name=\"the spec is well-formed\" classname=\"b.yaml\">
      <error message=\"cannot read\" type=\"spec\">b.yaml: cannot read</error>
    </testcase>
  </testsuite>
</testsuites>
"
        )
    );
    let document = written(|out| json::write(out, &all_statuses()).unwrap());
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let counts = ["passed", "failed", "stopped", "updated"].map(|name| document[name].as_u64());
    assert_eq!(counts, [Some(1), Some(1), Some(2), Some(0)]);
    assert_eq!(document["files"][0]["cases"][1]["unmet"][0]["line"], 4);
    assert_eq!(document["files"][1]["problems"][1]["line"], serde_json::Value::Null);
}
