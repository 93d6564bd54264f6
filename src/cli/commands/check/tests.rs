use std::ops::Range;

use classad::format::FileFormat;
use classad::lint::{LintFinding, LintLevel, find_rule};

use super::located::{CheckReport, FindingPlace, KeptFinding, LocatedFinding};
use super::rule_counts::{AdCount, RuleCounts};
use super::text::summary;
use super::{github, rule_table};
use crate::cli::io::source_text::SourceText;

const TEXT: &str = "A = Memory > 1000\nB = Memory > 20 && x\nC = \u{e4}\n  && Disk > 5\n";

/// A finding of a rule in the ad `ad` of a file, which marks the range of [`TEXT`].
fn finding(rule: &str, message: &str, file: &str, ad: usize, range: Range<usize>) -> LocatedFinding {
    let rule = find_rule(rule).unwrap();
    let help = if rule.level == LintLevel::Note { String::new() } else { "mend, it".to_owned() };
    let finding = LintFinding { rule, message: message.to_owned(), help, labels: Vec::new(), fix: None };
    let text = SourceText::from_file(file, TEXT.as_bytes().to_vec(), FileFormat::Long);
    let place = FindingPlace { marks: vec![(range, String::new())], ad_number: ad, ..FindingPlace::default() };
    LocatedFinding::new(0, finding, &text, place)
}

fn changed(mut found: LocatedFinding, change: impl FnOnce(&mut LocatedFinding)) -> LocatedFinding {
    change(&mut found);
    found
}

fn report(findings: Vec<LocatedFinding>) -> CheckReport {
    let rules = RuleCounts::default();
    CheckReport { findings, rules, has_expression: false, ads_checked: 0, policies_checked: None }
}

#[test]
fn a_line_counts_what_was_found_and_checked() {
    let [error, warning, note] = ["contradiction", "duplicate", "case-sensitive"];
    let both = [error, warning, warning, note, note, note];
    for (rules, ads, policies, has_expression, expected) in [
        (&[][..], 0, None, false, "no ads to check"),
        (&[], 0, None, true, "nothing found"),
        (&[], 1, None, false, "nothing found in 1 ad"),
        (&[], 0, Some(0), false, "nothing found in the configuration"),
        (&[], 1234, Some(3), false, "nothing found in 1,234 ads and the configuration"),
        (&[warning], 0, None, false, "1 warning"),
        (&[note], 0, None, true, "1 note"),
        (&both, 2, None, false, "1 error, 2 warnings, 3 notes in 2 ads"),
        (&["syntax"], 1, None, false, "1 error in 1 readable ad"),
        (&[error, "syntax", error], 2, Some(1), false, "3 errors in 2 readable ads and the configuration"),
    ] {
        let findings = rules.iter().map(|rule| finding(rule, "this", "f", 1, 0..1)).collect();
        let mut report = report(findings);
        (report.ads_checked, report.policies_checked, report.has_expression) = (ads, policies, has_expression);
        assert_eq!(summary(&report), expected);
    }
}

/// The places of findings, in their order.
fn places(report: &CheckReport) -> String {
    let place = |found: &LocatedFinding| {
        let start = found.regions[0].start;
        format!("{}:{}:{} {}", found.file, start.line, start.column, found.ad_count)
    };
    report.findings.iter().map(place).collect::<Vec<_>>().join(", ")
}

#[test]
fn findings_are_sorted_within_their_file() {
    let at = |file, at: usize, number| {
        changed(finding("duplicate", "this", file, 1, at..at + 1), |found| found.number = number)
    };
    let mut report = report(vec![at("b", 18, 0), at("a", 4, 1), at("b", 4, 2), at("b", 0, 3), at("a", 0, 4)]);
    report.count_and_sort(|number| number);
    assert_eq!(places(&report), "b:1:1 3, b:1:5 2, b:2:1 1, a:1:1 4, a:1:5 1");
    assert_eq!([LintLevel::Warning, LintLevel::Note].map(|level| report.count_at_level(level)), [5, 0]);
}

#[test]
fn a_mark_ends_with_the_text() {
    let length = TEXT.len();
    for (range, start, end) in [
        (0..1, (1, 1), (1, 2)),
        (43..45, (3, 5), (3, 6)),
        (43..51, (3, 5), (4, 6)),
        (length - 1..length + 9, (4, 14), (5, 1)),
        (length + 5..length + 9, (5, 1), (5, 1)),
    ] {
        let found = finding("duplicate", "this", "f", 1, range);
        let place = &found.regions[0];
        let [from, to] = [place.start, place.end].map(|position| (position.line, position.column));
        assert_eq!((from, to), (start, end));
    }
}

#[test]
fn findings_that_differ_in_numbers_and_strings_are_alike() {
    let base = || finding("duplicate", "x is over 5", "f", 1, 4..17);
    for (other, is_alike) in [
        (finding("duplicate", "x is over 17", "g", 2, 4..17), true),
        (finding("duplicate", "x is over 5", "f", 1, 22..33), true),
        (finding("duplicate", "x is over 5", "f", 1, 22..38), false),
        (finding("duplicate", "y is over 5", "f", 1, 4..17), false),
        (finding("circular", "x is over 5", "f", 1, 4..17), false),
    ] {
        let report = report(vec![base(), other]);
        let others: Vec<usize> = report.shown(false).iter().map(|(_, others)| *others).collect();
        assert_eq!(others, if is_alike { vec![1] } else { vec![0, 0] });
        assert_eq!(report.shown(true).iter().map(|(_, others)| *others).collect::<Vec<_>>(), [0, 0]);
    }
}

#[test]
fn annotations_tell_their_lines_and_how_many_are_like_them() {
    let annotations = |findings: Vec<LocatedFinding>, lists_all: bool| {
        let mut text = Vec::new();
        github::write(&mut text, &report(findings), lists_all).unwrap();
        String::from_utf8(text).unwrap()
    };
    let one = || finding("duplicate", "100 % of x", "a,b:c", 1, 0..1);
    let of_line = "::warning file=a%2Cb%3Ac,line=1,endLine=1,col=1,endColumn=2,title=duplicate::100 %25 of x";
    assert_eq!(annotations(vec![one()], false), format!("{of_line}%0Amend, it\n"));
    let two = |count| changed(one(), |found| found.ad_count = count);
    assert_eq!(annotations(vec![two(2)], false), format!("{of_line} (in 2 ads)%0Amend, it\n"));
    assert_eq!(
        annotations(vec![two(2), one(), one()], false),
        format!("{of_line} (in 2 ads) (2 findings like it)%0Amend, it\n")
    );
    assert_eq!(annotations(vec![one(), one()], false), format!("{of_line} (1 finding like it)%0Amend, it\n"));
    assert_eq!(annotations(vec![one(), one()], true), format!("{of_line}%0Amend, it\n").repeat(2));
    // Columns are told within a line only.
    assert_eq!(
        annotations(vec![finding("case-sensitive", "a\r\nb", "f", 1, 43..51)], false),
        "::notice file=f,line=3,endLine=4,title=case-sensitive::a%0D%0Ab\n"
    );
    assert!(annotations(vec![finding("contradiction", "a", "f", 1, 0..1)], false).starts_with("::error file=f,"));
}

#[test]
fn an_ad_is_called_by_its_name_or_its_number() {
    for (id, ad, expected) in [(None, 0, ""), (Some("slot1"), 0, ""), (Some("slot1"), 2, "slot1"), (None, 2, "ad 2")] {
        let found = changed(finding("duplicate", "x", "f", ad, 0..1), |found| found.id = id.map(str::to_owned));
        assert_eq!(found.ad_label(), expected);
    }
}

/// Counts of ads, each with its owner and its number.
fn count(ads: &[(Option<&str>, usize)]) -> AdCount {
    let mut count = AdCount::default();
    for (owner, number) in ads {
        count.add_ad(owner.map(str::to_owned), *number);
    }
    count
}

#[test]
fn owners_with_the_most_ads_come_first() {
    let duplicate = find_rule("duplicate").unwrap();
    let mut rules = RuleCounts::default();
    rules.add(duplicate, &count(&[(Some("bob"), 3), (None, 4), (Some("ann"), 5)]), 10);
    let owners = |rules: &RuleCounts| {
        let count = rules.get("duplicate").unwrap();
        (count.ads, count.owners().names().join(" "))
    };
    assert_eq!(owners(&rules), (3, "bob ann".to_owned()));
    // Of equally many ads, those of the owner who comes first in the input come first.
    rules.add(duplicate, &count(&[(Some("ann"), 0), (Some("carl"), 1), (Some("carl"), 2), (Some("bob"), 3)]), 0);
    assert_eq!(owners(&rules), (7, "ann carl bob".to_owned()));
    rules.add(duplicate, &count(&[(Some("bob"), 0)]), 99);
    assert_eq!(owners(&rules), (8, "bob ann carl".to_owned()));
    assert!(rules.get("circular").is_none());
    assert_eq!(rules.into_records().len(), 1);
}

#[test]
fn a_table_of_rules_needs_three_ads() {
    let owners = [(Some("ann"), 0), (Some("ann"), 1), (Some("bob"), 2)];
    for (ads, has_table) in [(0, false), (2, false), (3, true)] {
        let mut report = report(vec![
            finding("syntax", "x", "f", 0, 0..1),
            finding("circular", "x", "f", 1, 18..19),
            finding("duplicate", "x", "f", 2, 4..5),
            finding("duplicate", "x", "g", 3, 0..1),
        ]);
        report.rules.add(find_rule("circular").unwrap(), &count(&owners[..1]), 0);
        report.rules.add(find_rule("duplicate").unwrap(), &count(&owners[..ads]), 0);
        assert_eq!(rule_table::text(&report, false).is_empty(), !has_table, "{ads}");
        let rows = rule_table::json(&report);
        if ads == 3 {
            let row = |row: &serde_json::Value| {
                let cells = ["rule", "ads", "owners", "owner_names", "findings", "example"];
                cells.map(|name| row[name].to_string()).join(" ")
            };
            let told: Vec<String> = rows.as_array().unwrap().iter().map(row).collect();
            assert_eq!(
                told,
                [
                    "\"duplicate\" 3 2 [\"ann\",\"bob\"] 2 {\"file\":\"f\",\"ad\":2,\"id\":null,\"line\":1,\"column\":5}",
                    "\"circular\" 1 1 [\"ann\"] 1 {\"file\":\"f\",\"ad\":1,\"id\":null,\"line\":2,\"column\":1}",
                ]
            );
        }
    }
}
