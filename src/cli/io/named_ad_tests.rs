//! Tests of named ads: what they are called, and where their attributes stand.

use classad::ad::Dialect;
use classad::syntax::{ParseOptions, parse_ad};

use super::*;
use crate::cli::program::session_of;

fn ad(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
}

/// Returns the ads of a text, without names.
fn located(text: &str, form: FileFormat) -> Vec<NamedAd> {
    let text = SourceText::from_file("file", text.as_bytes().to_vec(), form);
    text.block.ads(Dialect::Condor).map(|entry| NamedAd::located(&text, entry.unwrap(), None)).collect()
}

#[test]
fn numbers_of_jobs_are_two_numbers() {
    for (name, expected) in [
        ("1.0", true),
        ("1234.56", true),
        ("1", false),
        ("1.", false),
        (".0", false),
        ("1.0.0", false),
        ("a.0", false),
        ("-1.0", false),
        ("1.x", false),
        ("", false),
    ] {
        assert_eq!(is_job_number(name), expected, "{name}");
        assert_eq!(NamedAd::unnamed(Ad::default()).with_name(name.to_owned()).is_named_by_job_number(), expected);
    }
}

#[test]
fn ads_are_called_by_what_names_them() {
    let context = Context::new(Dialect::Condor);
    let job =
        "[ MyType = \"Job\"; ClusterId = 7; ProcId = 3; Owner = \"ann\"; JobStatus = 1; GlobalJobId = \"ap#7.3#1\" ]";
    let slot = "[ MyType = \"Machine\"; Name = \"slot1@host\"; Machine = \"node\"; State = \"Unclaimed\" ]";
    let other = "[ MyType = \"Scheduler\"; Name = \"ap\"; Machine = \"node\"; Owner = \"ann\"; ClusterId = 7 ]";
    for (ad_text, name, called, not_called) in [
        (job, "7.3", &["7.3", "7", "ann", "ap#7.3#1"][..], &["3", "bob", "ap", ""][..]),
        (slot, "slot1@host", &["slot1@host", "host", "node"], &["slot1", "Unclaimed", "nod"]),
        (other, "ap", &["ap"], &["node", "ann", "7"]),
        ("[ a = 1 ]", "file:1", &["file:1"], &["1", "file"]),
    ] {
        let named = NamedAd::unnamed(ad(ad_text)).with_name(name.to_owned());
        for wanted in called {
            assert!(named.is_called(wanted, &context), "{name} is {wanted}");
        }
        for wanted in not_called {
            assert!(!named.is_called(wanted, &context), "{name} is not {wanted}");
        }
    }
}

#[test]
fn ads_without_names_have_their_place_and_their_contents() {
    let [mut unnamed, other] = <[NamedAd; 2]>::try_from(located("A = 1\n\nA = 2\n", FileFormat::Long)).ok().unwrap();
    assert_eq!([unnamed.id(), other.id()], ["file:1", "file:2"]);
    assert_eq!(unnamed.record_id(), "file:1");
    let mut identities = ContentIdentities::default();
    assert!(unnamed.assign_content_id(&mut identities));
    assert_eq!(unnamed.id(), "file:1");
    assert_ne!(unnamed.record_id(), "file:1");
    let mut named = NamedAd::unnamed(ad("[ A = 1 ]")).with_name("a".to_owned());
    assert!(!named.assign_content_id(&mut identities));
    assert_eq!((named.id(), named.record_id()), ("a", "a"));
    assert_eq!(NamedAd::default().id(), "");
    assert!(!named.is_projected() && !named.is_of_submit_file() && !other.is_of_submit_file());
}

#[test]
fn assignments_are_edits_of_the_file() {
    let session = session_of(&["repl", "--quiet", "--dialect", "condor"]);
    for (text, form, place, expected) in [
        ("A = 1\nB = 2 \n", FileFormat::Long, 0, Some(vec![(4..5, "5"), (11..11, "\nC = 6")])),
        ("A =1\nB =\t2\n\nA = 3\n", FileFormat::Long, 0, Some(vec![(3..4, "5"), (10..10, "\nC = 6")])),
        ("B = 2\n\nA = 3\nB = x + 1", FileFormat::Long, 1, Some(vec![(11..12, "5"), (22..22, "\nC = 6")])),
        // The last one counts.
        ("A = 1\nA = 2\n", FileFormat::Long, 0, Some(vec![(10..11, "5"), (11..11, "\nC = 6")])),
        ("[ A = 1; B = 2 ]", FileFormat::Bracketed, 0, Some(vec![(6..7, "5"), (14..14, "; C = 6")])),
        ("{\"A\": 1}", FileFormat::JsonLines, 0, None),
    ] {
        let ads = located(text, form);
        let edits = ads[place].edits(&session, &[("A".to_owned(), "5".to_owned()), ("C".to_owned(), "6".to_owned())]);
        let expected = expected.map(|edits| edits.into_iter().map(|(range, text)| (range, text.to_owned())).collect());
        assert_eq!(edits.map(|(_, edits)| edits), expected, "{text}");
    }
    assert!(NamedAd::unnamed(ad("[ A = 1 ]")).edits(&session, &[]).is_none());
}

#[test]
fn bad_ports_are_told_at_their_place() {
    let mut session = session_of(&["repl", "--quiet"]);
    session.keep_messages();
    let ads = located("A = 1\nPorts = { 5 }\n\nA = 2\n", FileFormat::Long);
    let fault = classad::protocol::read_ports(&ads[0].ad).err().unwrap();
    for ad in &ads {
        ad.report_bad_ports(&mut session, &fault).unwrap();
    }
    NamedAd::unnamed(ad("[ A = 1 ]")).report_bad_ports(&mut session, &fault).unwrap();
    let expected = format!("file: {fault}");
    assert_eq!(session.told(), [expected.clone(), expected]);
    assert_eq!(session.error_count(), 2);
}
