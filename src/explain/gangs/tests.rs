//! Compares explanations of gangs with an exhaustive search over all assignments of offers to ports.

use super::{EmptyPortCause, GangVerdict, explain_gang};
use crate::ad::{Ad, Dialect, Name};
use crate::eval::Context;
use crate::explain::report_tests::{Lines, Slots, assert_document};
use crate::explain::{AdReference, SummaryWriter};
use crate::matching::gang::Gangmatcher;
use crate::matching::gang::tests::{ExhaustiveSearch, GangAdGenerator, members};
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, parse_ad};

fn matcher(offers: &[Ad]) -> Gangmatcher {
    let (matcher, bad) = Gangmatcher::new(offers, Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
    assert_eq!(bad, []);
    matcher
}

#[test]
fn every_change_gives_the_gang_that_trying_everything_gives() {
    let (mut changes, mut several, mut another, mut empty, mut apart) = (0, 0, 0, 0, 0);
    for case in 0..800 {
        let mut writer = GangAdGenerator(fastrand::Rng::with_seed(case));
        let offers: Vec<Ad> = (0..writer.0.usize(1..6)).map(|_| writer.offer()).collect();
        let request = writer.request(3);
        let mut matcher = matcher(&offers);
        let before = matcher.statistics();
        let report = explain_gang(&mut matcher, 0, &request).unwrap();
        assert_eq!(matcher.statistics(), before);
        let mut exhaustive = ExhaustiveSearch::new(&offers);
        assert_eq!(report.gang.is_some(), !exhaustive.gangs(&request).is_empty(), "case {case}");
        assert_eq!(report.offers, offers.len());
        for change in &report.changes {
            let best = match change.duplicate_offer {
                Some(offer) => {
                    let more: Vec<Ad> = offers.iter().chain([&offers[offer]]).cloned().collect();
                    another += 1;
                    let best = ExhaustiveSearch::new(&more).gangs(&change.request);
                    assert!(!best.is_empty(), "case {case}");
                    continue;
                }
                None => exhaustive.gangs(&change.request),
            };
            let best = best.first().unwrap_or_else(|| panic!("case {case}: {}", change.text()));
            assert_eq!(members(&change.matched), (best.offers.clone(), best.links.clone()), "case {case}");
            changes += 1;
            several += usize::from(change.steps.len() > 1);
        }
        match &report.verdict {
            GangVerdict::Matches => assert!(report.gang.is_some()),
            GangVerdict::EmptyPort(empty_port) => {
                assert_eq!(report.failure.unwrap().ports[empty_port.port].independent, 0);
                empty += 1;
            }
            GangVerdict::Incompatible(empty_port) => {
                assert!(report.failure.unwrap().ports[empty_port.port].independent > 0, "case {case}");
                apart += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    // Ensure that the random cases cover every kind of result.
    let counts = [changes, several, another, empty, apart];
    assert!(changes > 500 && several > 20 && another > 5 && empty > 100 && apart > 50, "{counts:?}");
}

fn explained(request: &str, offers: &[&str]) -> super::GangReport {
    let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
    let offers: Vec<Ad> = offers.iter().map(|text| ad(text)).collect();
    explain_gang(&mut matcher(&offers), 0, &ad(request)).unwrap()
}

#[test]
fn a_misspelt_attribute_is_told_and_mended() {
    let report = explained(
        "[ Ports = { [ Label = cpu; Constraint = cpu.Memroy >= 5 ] } ]",
        &["[ Memory = 8; Constraint = true ]", "[ Memory = 2; Constraint = true ]"],
    );
    let GangVerdict::EmptyPort(empty_port) = &report.verdict else { panic!("{:?}", report.verdict) };
    let EmptyPortCause::Missing { name, near, .. } = &empty_port.cause else { panic!("{:?}", empty_port.cause) };
    assert_eq!((name.as_str(), near[0].0.as_str(), near[0].1), ("Memroy", "Memory", 2));
    assert_eq!(report.verdict.as_str(), "missing-attribute");
    assert_eq!(report.changes[0].text(), "`cpu.Memroy >= 5` -> `cpu.Memory >= 5`");
    assert_eq!(report.changes[0].matched.ports[0].offer, 0);
}

#[test]
fn values_are_changed_where_they_are_written() {
    // The bound stands in the request in the first case, in the port in the second, and in the clause itself in the
    // third.
    for (request, expected) in [
        ("[ Size = 9; Ports = { [ Label = a; Constraint = a.Memory >= Size ] } ]", "Size 9 -> 8"),
        ("[ Ports = { [ Label = a; Size = 8; Constraint = a.Memory > Size ] } ]", "Size 8 -> 7"),
        ("[ Ports = { [ Label = a; Constraint = 10 <= a.Memory ] } ]", "`10 <= a.Memory` -> `8 <= a.Memory`"),
    ] {
        let report = explained(request, &["[ Memory = 8; Constraint = true ]"]);
        assert_eq!(report.changes[0].text(), expected, "{request}");
    }
    let report = explained(
        "[ Want = 3; Ports = { [ Label = a; Constraint = true ] } ]",
        &["[ Ports = { [ Label = r; Constraint = r.Want > 3 ] } ]"],
    );
    assert_eq!(report.changes[0].text(), "Want 3 -> 4");
    assert_eq!(report.verdict.as_str(), "refused");
    // The request lacks what the offer demands; an offer that demands 0 is no advice.
    let slot =
        |cpus: u32| format!("[ Cpus = {cpus}; Ports = {{ [ Label = r; Constraint = r.RequestCpus <= Cpus ] }} ]");
    let report = explained("[ Ports = { [ Label = a; Constraint = true ] } ]", &[&slot(0), &slot(4)]);
    assert_eq!(report.changes[0].text(), "RequestCpus = 4");
}

#[test]
fn the_values_that_a_condition_of_an_empty_port_reads_in_the_request_are_told() {
    let names = |ad: AdReference| format!("{ad:?}");
    let writer = SummaryWriter {
        subject: "job",
        is_plural: false,
        nouns: ["offer", "offers"],
        names: &names,
        dialect: Dialect::Classad,
        max_clause_chars: 60,
        brevity: 0,
    };
    for (constraint, expected) in [
        ("a.Type == Wanted", "`a.Type == Wanted` is true for none of 2 offers, where Wanted is \"z\""),
        ("a.X > 1 && a.Type == Wanted", "`a.Type == Wanted` is true for none of 2 offers, where Wanted is \"z\""),
        ("a.Type == \"z\"", "`a.Type == \"z\"` is true for none of 2 offers"),
    ] {
        let request = format!("[ Wanted = \"z\"; Ports = {{ [ Label = a; Constraint = {constraint} ] }} ]");
        let report = explained(
            &request,
            &["[ X = 1; Type = \"a\"; Constraint = true ]", "[ X = 2; Type = \"b\"; Constraint = true ]"],
        );
        assert_eq!(writer.gang_cause(&report), format!("a stays empty: {expected}"), "{constraint}");
    }
}

#[test]
fn several_ports_are_mended_one_after_the_other() {
    let report = explained(
        "[ Ports = { [ Label = a; Constraint = a.X >= 9 ], [ Label = b; Constraint = b.Y >= 9 ], \
           [ Label = c; Constraint = c.Z >= 9 ] } ]",
        &["[ X = 8; Constraint = true ]", "[ Y = 7; Constraint = true ]", "[ Z = 6; Constraint = true ]"],
    );
    let expected = "`a.X >= 9` -> `a.X >= 8` and `b.Y >= 9` -> `b.Y >= 7` and `c.Z >= 9` -> `c.Z >= 6`";
    assert_eq!(report.changes[0].text(), expected);
}

#[test]
fn what_is_wanted_twice_is_told() {
    let report = explained(
        "[ Ports = { [ Label = a; Constraint = true ], [ Label = b; Constraint = b.X == 1 ] } ]",
        &["[ X = 1; Constraint = true ]"],
    );
    let GangVerdict::Incompatible(empty_port) = &report.verdict else { panic!("{:?}", report.verdict) };
    assert!(matches!(empty_port.cause, EmptyPortCause::AllDocked), "{:?}", empty_port.cause);
    assert_eq!(report.changes.last().unwrap().steps, ["do without b"]);
    assert!(report.changes.iter().any(|change| change.duplicate_offer == Some(0)));
}

#[test]
fn a_decisive_port_is_dropped_and_several_with_their_groups() {
    let ports = |a: u8, b: u8| {
        format!(
            "[ Ports = {{ [ Ports = {{ [ Label = a; Constraint = a.X == {a} ], [ Label = b; Constraint = b.X == {b} ] }} ], \
             [ Label = c; Constraint = true ] }} ]"
        )
    };
    let offers = ["[ X = 1; Constraint = true ]", "[ X = 2; Constraint = true ]", "[ X = 3; Constraint = true ]"];
    for (request, dropped) in
        [(ports(1, 9), "do without b"), (ports(9, 2), "do without a"), (ports(1, 1), "do without a and b")]
    {
        let report = explained(&request, &offers);
        let texts: Vec<String> = report.changes.iter().map(super::super::RequestChange::text).collect();
        assert!(texts.iter().any(|text| text == dropped), "{request}: {texts:?}");
    }
}

/// Writes all that a report on a gang tells.
fn told(request: &str, offers: &[&str]) -> String {
    let report = explained(request, offers);
    let writer = SummaryWriter {
        subject: "job",
        is_plural: false,
        nouns: ["offer", "offers"],
        names: &Slots(offers),
        dialect: Dialect::Classad,
        max_clause_chars: 60,
        brevity: 0,
    };
    let mut lines = Lines(String::new());
    lines.add("summary", writer.gang_summary(&report));
    lines.add("cause", format!("{}, {}", report.verdict.as_str(), report.cause_id()));
    lines.add("attributes", report.attributes.iter().map(Name::as_str).collect::<Vec<_>>().join(" "));
    for change in &report.changes {
        let copy = change.duplicate_offer.map_or_else(String::new, |offer| format!("another slot{offer}"));
        lines.add("change", format!("{}{copy}: {}", change.text(), writer.list_docked(&change.matched)));
    }
    lines.0
}

#[test]
fn reports_on_gangs_are_as_the_document_has_them() {
    assert_document("gangs/tests.txt", include_str!("tests.txt"), told);
}
