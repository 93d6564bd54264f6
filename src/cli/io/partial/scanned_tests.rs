//! Tests of partial results that are read for the first time.

use super::*;
use crate::cli::io::share::WorkShare;

fn header() -> PartialHeader {
    let file = |name: &str, is_empty| PartialFile {
        file: name.to_owned(),
        form: "long".to_owned(),
        start: 0,
        end: Some(6),
        size: 6,
        inode: 7,
        is_empty,
    };
    PartialHeader {
        classad_partial: PARTIAL_VERSION,
        version: "1".to_owned(),
        arguments: vec!["query".to_owned()],
        host: String::new(),
        dialect: "condor".to_owned(),
        share: None,
        now: None,
        settings: Vec::new(),
        files: vec![file("f", false), file("g", true)],
    }
}

/// Returns the text of a partial result, with its checksum and its end.
fn text(header: &PartialHeader, events: &str) -> String {
    let text = serde_json::to_string(header).unwrap() + "\n" + events;
    let checksum = checksum_text(Sha256::new_with_prefix(&text));
    format!("{text}{{\"checksum\":\"{checksum}\"}}\n\"end\"\n")
}

const EVENTS: &str = "{\"file\":0}\n{\"finding\":1}\n{\"file\":1}\n{\"notes\":[5]}\n";

/// Reads texts as partial results `p0`, `p1` and so on.
fn read(texts: &[String]) -> Result<ScannedPartials, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = |number: usize| folder.path().join(format!("p{number}")).display().to_string();
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(path(number), text).unwrap();
    }
    let paths: Vec<String> = (0..texts.len()).map(path).collect();
    let without_folder = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
    match ScannedPartials::read(&paths) {
        Ok(read) => Ok(ScannedPartials { faults: read.faults.into_iter().map(without_folder).collect(), ..read }),
        Err(Failure::Refused(Some(reason))) => Err(without_folder(reason)),
        Err(failure) => panic!("it has no reason: {failure:?}"),
    }
}

#[test]
fn a_partial_result_has_a_segment_for_each_file() {
    let whole = text(&header(), EVENTS);
    let scanned = read(std::slice::from_ref(&whole)).unwrap();
    assert_eq!(
        (scanned.arguments.as_slice(), scanned.dialect, scanned.faults.len()),
        (&["query".to_owned()][..], Dialect::Condor, 0)
    );
    let [partial] = scanned.partials.as_slice() else { panic!("there is one") };
    let segments: Vec<_> =
        partial.segments.iter().map(|segment| (segment.file.file.as_str(), segment.offset)).collect();
    let offset = |mark: &str| (whole.find(mark).unwrap() + mark.len()) as u64;
    assert_eq!(segments, [("f", offset("{\"file\":0}\n")), ("g", offset("{\"file\":1}\n"))]);
    assert_eq!(partial.notes, serde_json::json!([5]));
    // Files of a host have its name.
    let hosted = read(&[text(&PartialHeader { host: "ap1".to_owned(), ..header() }, EVENTS)]).unwrap();
    assert_eq!(hosted.partials[0].segments[0].file.file, "ap1:f");
    // What all shares have in common stands before the findings.
    let share = PartialHeader { share: Some(WorkShare { number: 1, count: 2 }), ..header() };
    let events = "{\"message\":[\"note\",\"a\"]}\n{\"common\":1}\n{\"finding\":1}\n{\"notes\":2}\n";
    let share_text = text(&share, events);
    let scanned = read(std::slice::from_ref(&share_text)).unwrap();
    let partial = &scanned.partials[0];
    assert_eq!(partial.common, b"{\"message\":[\"note\",\"a\"]}\n{\"common\":1}\n");
    assert_eq!(partial.offset, share_text.find("{\"finding\"").unwrap() as u64);
}

#[test]
fn partial_results_that_are_torn_or_changed_are_refused() {
    let whole = text(&header(), EVENTS);
    let share = PartialHeader { share: Some(WorkShare { number: 1, count: 2 }), ..header() };
    let (again, of_share) = ("repeat the run with f@0-6 g@0-6", "repeat the run with --share 1/2");
    let incomplete = format!("it is not complete; {again}");
    let damaged = format!("it is damaged: its checksum is another; {again}");
    let checksum = whole.find("{\"checksum\"").unwrap();
    let (before, behind) = whole.split_at(checksum);
    for (text, expected) in [
        (String::new(), "it is not a partial result (--partial writes one)".to_owned()),
        ("A = 1\n".to_owned(), "it is not a partial result (--partial writes one)".to_owned()),
        (
            text(&PartialHeader { classad_partial: PARTIAL_VERSION + 1, ..header() }, EVENTS),
            format!("it has version {} of the format, not {PARTIAL_VERSION}", PARTIAL_VERSION + 1),
        ),
        (before.to_owned(), incomplete.clone()),
        (whole.replace("\"end\"\n", ""), incomplete.clone()),
        (format!("{before}\"end\"\n"), incomplete.clone()),
        (format!("{whole}x"), incomplete.clone()),
        (text(&header(), "{\"file\":2}\n"), incomplete.clone()),
        (text(&header(), "{\"file\":x}\n"), incomplete),
        (whole.replace("{\"finding\":1}", "{\"finding\":2}"), damaged.clone()),
        (whole.trim_end().to_owned(), damaged.clone()),
        (format!("{before}{}", behind.replace("\"end\"", "{\"notes\":6}\n\"end\"")), damaged.clone()),
        (format!("{before}{}", behind.replace("\"checksum\":\"", "\"checksum\":\"0")), damaged),
        (text(&share, "{\"finding\":1}\n"), format!("it is not complete; {of_share}")),
    ] {
        let refused = read(std::slice::from_ref(&text)).err().unwrap();
        assert_eq!(refused, format!("the partial results cannot be merged: p0: {expected}"), "{text}");
    }
}

#[test]
fn partial_results_are_of_one_command() {
    let with = |change: fn(&mut PartialHeader)| {
        let mut header = header();
        change(&mut header);
        text(&header, EVENTS)
    };
    let settings = |header: &mut PartialHeader| header.settings = vec![("s".to_owned(), "1".to_owned())];
    let same = || with(|_| ());
    for (texts, expected) in [
        (vec![same(), same()], &[][..]),
        (vec![same(), with(|header| header.version = "2".to_owned())], &["p1 is of version 2, p0 of 1"]),
        (vec![same(), with(|header| header.arguments.push("x".to_owned()))], &["p1 is of `query x`, p0 of `query`"]),
        (vec![same(), with(settings)], &["a file was another for p1 than for p0: run all parts again"]),
        (
            vec![with(settings), with(|header| header.settings = vec![("s".to_owned(), "2".to_owned())])],
            &["s was another for p1 than for p0: run all parts again"],
        ),
        (
            vec![same(), with(|header| header.dialect = "classad".to_owned())],
            &["p1 is in the dialect classad, but others are in condor; run all with --dialect"],
        ),
        // A file without ads says nothing of the dialect.
        (
            vec![
                with(|header| {
                    header.dialect = "classad".to_owned();
                    header.files.iter_mut().for_each(|file| file.is_empty = true);
                }),
                same(),
            ],
            &[],
        ),
        (vec![same(), "x".to_owned(), same()], &["p1: it is not a partial result (--partial writes one)"]),
    ] {
        let scanned = read(&texts).unwrap();
        assert_eq!(scanned.faults, expected);
        assert_eq!(scanned.dialect, Dialect::Condor);
    }
    // A setting that can be read again must be as it was.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("setting").display().to_string();
    std::fs::write(&path, "x").unwrap();
    for (checksum, count) in [(setting_checksum(&path).ok().unwrap(), 0), ("0".to_owned(), 1)] {
        let header = PartialHeader { settings: vec![(path.clone(), checksum)], ..header() };
        let faults = read(&[text(&header, EVENTS)]).unwrap().faults;
        assert_eq!(faults.len(), count, "{faults:?}");
        assert!(faults.iter().all(|fault| fault.ends_with("has changed since the runs: run all parts again")));
    }
}
