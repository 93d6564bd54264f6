//! Tests of shares: what makes it impossible to merge them.

use super::super::{PARTIAL_VERSION, PartialHeader};
use super::*;
use crate::cli::io::part_plan::PlannedFile;

fn file(name: &str, size: u64) -> PartialFile {
    PartialFile { file: name.to_owned(), form: "long".to_owned(), start: 0, end: None, size, inode: 7, is_empty: false }
}

/// A share of the files `f` and `g`.
fn share(path: &str, number: usize, count: usize) -> ScannedPartial {
    let header = PartialHeader {
        classad_partial: PARTIAL_VERSION,
        version: "1".to_owned(),
        arguments: vec!["match".to_owned()],
        host: String::new(),
        dialect: "condor".to_owned(),
        share: Some(WorkShare { number, count }),
        now: Some(5),
        settings: Vec::new(),
        files: vec![file("f", 1), file("g", 2)],
    };
    let (segments, notes) = (Vec::new(), serde_json::Value::Null);
    ScannedPartial { path: path.into(), header, segments, common: b"common".to_vec(), offset: 0, notes }
}

fn with(of: ScannedPartial, change: impl FnOnce(&mut PartialHeader)) -> ScannedPartial {
    let mut of = of;
    change(&mut of.header);
    of
}

#[test]
fn shares_are_of_one_run() {
    let other = || share("q", 2, 2);
    for (first, other, expected) in [
        (share("p", 1, 2), other(), None),
        (share("p", 1, 3), other(), Some("q is one of 2 shares, but p is one of 3")),
        (share("p", 1, 2), share("q", 1, 1), Some("q is one of 1 share, but p is one of 2")),
        (
            with(share("p", 1, 2), |header| header.share = None),
            other(),
            Some("q is from a run with --share, but p is not"),
        ),
        (
            share("p", 1, 2),
            with(other(), |header| header.share = None),
            Some("p is from a run with --share, but q is not"),
        ),
        (
            share("p", 1, 2),
            with(other(), |header| header.files[1] = file("g", 3)),
            Some("q: g is not the file that another share read; run all shares again"),
        ),
        (
            share("p", 1, 2),
            with(other(), |header| header.files.truncate(1)),
            Some("q: its number of files differs from that of another share; run all shares again"),
        ),
        (
            share("p", 1, 2),
            with(other(), |header| header.now = None),
            Some("q is evaluated as of no time, p as of 1970-01-01T00:00:05Z: give all shares the same --now"),
        ),
        (
            share("p", 1, 2),
            ScannedPartial { common: b"other".to_vec(), ..other() },
            Some("q and p read different ads: run all shares again"),
        ),
        // Other arguments are a fault of their own.
        (
            share("p", 1, 2),
            ScannedPartial { common: b"other".to_vec(), ..with(other(), |header| header.arguments.clear()) },
            None,
        ),
    ] {
        let faults = difference_faults(&first, &[other]);
        assert_eq!(faults, expected.into_iter().map(str::to_owned).collect::<Vec<_>>());
    }
}

#[test]
fn shares_are_those_of_the_plan() {
    let planned = |name: &str, size: u64, inode: u64| PlannedFile {
        file: name.to_owned(),
        start: 0,
        end: None,
        size: Some(size),
        inode,
    };
    let plan = |shares, parts| PartPlan { classad_plan: 1, now: None, shares, parts };
    let another = "g in the plan is not the file that the shares read: make a new plan, and run all shares again";
    for (plan, expected) in [
        (plan(Some(2), vec![vec![planned("f", 1, 7), planned("g", 2, 7)]]), &[][..]),
        (plan(Some(2), vec![]), &[]),
        (plan(None, vec![]), &["the plan has parts of files, but the partial results are of shares"]),
        (plan(Some(1), vec![]), &["the plan has 1 share, but the partial results are of 2 shares"]),
        (plan(Some(2), vec![vec![planned("h", 1, 7)]]), &["h is in the plan, but no share read a file of this name"]),
        (plan(Some(2), vec![vec![planned("g", 3, 7)]]), &[another]),
        (plan(Some(2), vec![vec![planned("g", 2, 8)]]), &[another]),
        (
            plan(Some(3), vec![vec![planned("g", 2, 8)]]),
            &["the plan has 3 shares, but the partial results are of 2 shares", another],
        ),
    ] {
        assert_eq!(plan_faults(&plan, 2, &[file("f", 1), file("g", 2)]), expected);
    }
}

#[test]
fn shares_that_are_missing_are_named_with_their_command() {
    let set = |partials: Vec<ScannedPartial>, words: &[&str], plan: Option<&PartPlan>| {
        let arguments = words.iter().map(|&word| word.to_owned()).collect();
        let scanned = ScannedPartials { partials, arguments, dialect: Dialect::Condor, faults: Vec::new() };
        match ShareSet::new(scanned, plan) {
            Ok(set) => Ok(set.shares.len()),
            Err(Failure::Refused(Some(reason))) => Err(reason.replace("the partial results cannot be merged: ", "")),
            Err(failure) => panic!("it has no reason: {failure:?}"),
        }
    };
    let command = ["match", "a b", "--", "x"];
    for (partials, words, expected) in [
        (vec![share("p", 1, 1)], &["match"][..], Ok(1)),
        (vec![share("q", 2, 2), share("p", 1, 2)], &["match"], Ok(2)),
        (
            vec![share("p", 1, 2)],
            &["match"],
            Err("a share is missing: 2/2; run it with `classad match --partial --share 2/2`"),
        ),
        (
            vec![share("p", 1, 3)],
            &command,
            Err("shares are missing: 2/3 and 3/3; run each with `classad match 'a b' --partial --share K/3 -- x`"),
        ),
        (
            vec![share("p", 2, 2), share("q", 2, 2), share("r", 1, 2)],
            &["match"],
            Err("q and p have the same share 2/2"),
        ),
    ] {
        assert_eq!(set(partials, words, None), expected.map_err(str::to_owned));
    }
    assert_eq!(set(Vec::new(), &[], None), Err("there is no partial result".to_owned()));
    let many = set(vec![share("p", 1, 30)], &["match"], None).unwrap_err();
    assert!(many.contains("20/30, 21/30 and 9 more; run each with"), "{many}");
    let plan = PartPlan { classad_plan: 1, now: None, shares: Some(2), parts: Vec::new() };
    assert!(set(vec![share("p", 1, 1)], &["match"], Some(&plan)).unwrap_err().starts_with("the plan has 2 shares"));
}
