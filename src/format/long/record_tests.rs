//! Tests of the records of history files: banners, headings, and what is missing between them.

use std::collections::BTreeMap;
use std::io::{self, Read};

use proptest::prelude::*;

use super::{LongReader, ProjectingReader, Projection, SYNTAX};
use crate::ad::{Ad, Dialect, Name};
use crate::format::{FileFormat, Position, PrefilterVerdict, ReadResult, Severity, Stream, StreamBlock};

fn ad_text(ad: &Ad) -> String {
    let mut out = Vec::new();
    SYNTAX.push_ad(ad, &mut out);
    String::from_utf8(out).unwrap().trim_end().replace('\n', " | ")
}

/// Returns a text for an item: an ad printed on one line, an error as `!number line:column: message`, or a warning with
/// `~`.
fn item_text(item: &ReadResult, position: impl Fn(usize) -> Position) -> String {
    match item {
        Ok(entry) => format!("{} {}: {}", entry.number, position(entry.offset).line, ad_text(&entry.ad)),
        Err(problem) => {
            let at = position(problem.range.start);
            let mark = if problem.severity == Severity::Warning { "~" } else { "!" };
            format!("{mark}{} {}:{}: {}", problem.ad_number, at.line, at.column, problem.message)
        }
    }
}

fn items(text: &str) -> Vec<String> {
    let place = |at| Position::of_offset(text.as_bytes(), at);
    LongReader::new(text.as_bytes(), Dialect::Condor).map(|item| item_text(&item, place)).collect()
}

const UNFINISHED: &str = "the last record is skipped: it has no banner after it";

#[test]
fn a_banner_ends_its_record() {
    for (text, expected) in [
        // As in $(SPOOL)/history.
        (
            "A = 1\nClusterId = 1\n*** Offset = 0 ClusterId = 1 ProcId = 2 Owner = \"Bob\" CompletionDate = 17\n\
             A = 2\n*** Offset = 9 ClusterId = 2 ProcId = 1 Owner = \"Ann\" CompletionDate = 18 CurrentTime = 19\n",
            vec![
                "1 1: A = 1 | ClusterId = 1 | Offset = 0 | ProcId = 2 | Owner = \"Bob\" | CompletionDate = 17",
                "2 4: A = 2 | Offset = 9 | ClusterId = 2 | ProcId = 1 | Owner = \"Ann\" | CompletionDate = 18 \
                 | CurrentTime = 19",
            ],
        ),
        // As in the history of runs and transfers.
        (
            "A = 1\n*** EPOCH ClusterId=1 ProcId=0 RunInstanceId=3 Owner=\"a b\" CurrentTime=5\n\
             RecordType = \"X\"\n*** INPUT ClusterId=1 ProcId=0 RunInstanceId=3 Owner=\"a\" CurrentTime=5\n",
            vec![
                "1 1: A = 1 | RecordType = \"EPOCH\" | ClusterId = 1 | ProcId = 0 | RunInstanceId = 3 | Owner = \"a b\" \
                 | CurrentTime = 5",
                "2 3: RecordType = \"X\" | ClusterId = 1 | ProcId = 0 | RunInstanceId = 3 | Owner = \"a\" \
                 | CurrentTime = 5",
            ],
        ),
        // As in the history of a daemon.
        ("A = 1\n*** MASTER CurrentTime=5\n", vec!["1 1: A = 1 | RecordType = \"MASTER\" | CurrentTime = 5"]),
        // What the daemon did not know is not a value.
        (
            "A = 1\r\n*** Offset = 0 ClusterId = -1 ProcId = -1 Owner = \"?\" CompletionDate = -1\r\n",
            vec!["1 1: A = 1 | Offset = 0"],
        ),
        // A banner without a record is skipped.
        ("***\n*** \nA = 1\n***\n", vec!["1 3: A = 1"]),
        // A number may be cut at the end of a file.
        (
            "A = 1\n*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = \"a\" CompletionDate = 17",
            vec!["1 1: A = 1 | Offset = 0 | ClusterId = 1 | ProcId = 0 | Owner = \"a\""],
        ),
        // A blank line ends an ad here, too.
        ("A = 1\n*** X A=1\nA = 2\n\nA = 3", vec!["1 1: A = 1 | RecordType = \"X\"", "2 3: A = 2", "3 5: A = 3"]),
        // In the log of file transfers each record has `***` before it.
        ("***\nA = 1\n***\nA = 2\n", vec!["1 2: A = 1", "2 4: A = 2"]),
        // The body counts, and the contradiction is told.
        (
            "ClusterId = 2\nOwner = \"b\"\n*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = \"b\" CompletionDate = 1\n",
            vec![
                "~1 3:16: this line and the record above it differ in ClusterId; the value of the record, 2, counts",
                "1 1: ClusterId = 2 | Owner = \"b\" | Offset = 0 | ProcId = 0 | CompletionDate = 1",
            ],
        ),
    ] {
        assert_eq!(items(text), expected, "{text}");
        let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        assert_eq!(items(&text), expected, "{text:?}");
    }
}

#[test]
fn a_record_without_a_banner_is_left_out() {
    let message = format!("~2 3:1: {UNFINISHED}");
    let first = "1 1: A = 1 | RecordType = \"X\" | B = 2";
    assert_eq!(items("A = 1\n*** X B=2\nA = 2\nB = ("), [first, &message]);
    assert_eq!(items("A = 1\n*** X B=2\nA = 2\n"), [first, &message]);
    // So it is where only some attributes are read.
    let text = "A = 1\n*** X B=2\nA = 2\nB = 3";
    let mut projection = Projection::new([Name::new("A")], Dialect::Condor);
    let place = |at| Position::of_offset(text.as_bytes(), at);
    let read = ProjectingReader::new(text.as_bytes(), 0, &mut projection).map(|item| item_text(&item, place));
    assert_eq!(read.collect::<Vec<_>>(), ["1 1: A = 1", &message]);
    // Without any banner the text is not a history file.
    assert_eq!(items("A = 1\nB = 2"), ["1 1: A = 1 | B = 2"]);
}

#[test]
fn a_torn_banner_is_an_error_and_the_records_around_it_are_read() {
    let torn = |column: usize| format!("!1 2:{column}: this banner is broken");
    for (banner, place) in [
        ("*** Offset = 0 Clus", torn(16)),
        ("*** Offset = ", torn(5)),
        ("*** Offs", torn(5)),
        ("*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = \"b", torn(41)),
        ("*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = \"b\"", torn(52)),
        ("*** EPOCH", torn(10)),
        ("*** EPOCH ClusterId=1 Pro", torn(23)),
        ("*** whatever", "!1 2:1: HTCondor does not write banners of this form".into()),
        ("*** A = 1", "!1 2:1: HTCondor does not write banners of this form".into()),
        (" *** Offset = 0", "!1 2:1: a banner must be at the beginning of its line".into()),
    ] {
        let text = format!("A = 1\n{banner}\nA = 2\n***\n");
        let read = items(&text);
        assert_eq!(read[..2], ["1 1: A = 1".to_owned(), place], "{banner}");
        // ` *** Offset = 0` and `*** A = 1` may hide an attribute of the next record.
        let hides = [" *** Offset = 0", "*** A = 1"].contains(&banner);
        let hidden = "!2 3:1: this record is skipped: its first attribute may be in the broken banner before it";
        assert_eq!(read[2..], [if hides { hidden } else { "2 3: A = 2" }], "{banner}");
    }
}

#[test]
fn a_record_whose_first_line_is_behind_a_torn_banner_is_left_out() {
    for banner in ["*** Offset = 0 ClusterId = 1 ProcBytesSent = 0", "*** Offset = 0 ClusJobStatus = 4"] {
        let text = format!("A = 1\n{banner}\nA = 2\n***\nA = 3\n***\n");
        let read = items(&text);
        assert_eq!((read.len(), &*read[0], &*read[3]), (4, "1 1: A = 1", "3 5: A = 3"), "{read:?}");
        assert!(read[1].ends_with("this banner is broken"), "{read:?}");
        assert!(read[2].starts_with("!2 3:1: this record is skipped"), "{read:?}");
    }
}

#[test]
fn headings_of_condor_q_and_condor_submit_stand_between_ads() {
    for (text, expected) in [
        (
            "\n\n-- Schedd: a@b : <127.0.0.1:9618?x=y> @ 11/22/26 20:00:00\nA = 1\n\nA = 2\n\n\n-- Schedd: c : <d>\nA = 3\n\n",
            vec!["1 4: A = 1", "2 6: A = 2", "3 10: A = 3"],
        ),
        ("\n** Proc 1.0:\nA = 1\n** Proc 1.1:\nA = 2\n\n", vec!["1 3: A = 1", "2 5: A = 2"]),
        ("Dry-Run job(s)\nA=1\n.\nA=2\n.\n2 job(s) dry-run to cluster 1.\n", vec!["1 2: A = 1", "2 4: A = 2"]),
    ] {
        assert_eq!(items(text), expected, "{text}");
    }
}

/// Reader that returns its text in pieces. The number is the maximum number of bytes in a piece.
struct Pieces(Vec<u8>, usize);

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(self.0.len()).min(into.len());
        into[..length].copy_from_slice(&self.0[..length]);
        self.0.drain(..length);
        Ok(length)
    }
}

/// Returns an item without its place, if it says that a record is left out.
fn without_place(item: &str) -> String {
    if item.ends_with(UNFINISHED) { UNFINISHED.to_owned() } else { item.to_owned() }
}

/// Reads a text as a stream in pieces. A record that is left out at the end is one item, as from a reader.
fn streamed(text: &str, piece: usize) -> Vec<String> {
    let stream = Stream::new(Box::new(Pieces(text.as_bytes().to_vec(), piece)), Some(FileFormat::Long));
    let mut stream = stream.unwrap();
    let (mut items, mut before) = (Vec::new(), 0);
    while let Some(mut block) = stream.next_block().unwrap() {
        block.ads_before = before;
        for item in block.ads(Dialect::Condor) {
            before = before.max(item.as_ref().map_or_else(|problem| problem.ad_number, |entry| entry.number));
            items.push(without_place(&item_text(&item, |at| block.position(at))));
        }
        if block.is_unfinished {
            items.push(UNFINISHED.to_owned());
        }
    }
    items
}

/// The values of some attributes of each good ad, by the number of the ad.
type ValuesByAd = BTreeMap<usize, Vec<Option<String>>>;

fn values(items: impl Iterator<Item = ReadResult>, names: &[Name]) -> (ValuesByAd, Vec<String>) {
    let (mut ads, mut errors) = (ValuesByAd::new(), Vec::new());
    for item in items {
        match item {
            Ok(entry) => {
                let value = |name| entry.ad.get(name).map(ToString::to_string);
                ads.insert(entry.number, names.iter().map(value).collect());
            }
            Err(problem) if problem.severity == Severity::Error => errors.push(format!("{problem:?}")),
            Err(_) => {}
        }
    }
    (ads, errors)
}

proptest! {
    #[test]
    fn pieces_and_parts_of_a_history_are_those_of_the_whole(
        lines in prop::collection::vec(
            prop::sample::select(vec![
                "A = 1", "ClusterId = 1", "ClusterId = 2", "Owner = \"a\"", "Z = ClusterId + 1", "B", "# c", "", " ",
                "***", "*** Offset = 7 ClusterId = 1 ProcId = 0 Owner = \"a\" CompletionDate = 3",
                "*** EPOCH ClusterId=1 ProcId=0 RunInstanceId=3 Owner=\"a\" CurrentTime=5\r",
                "*** MASTER CurrentTime=5", "*** Offset = 1 Clus", "*** Offset = 1 ClusA = 1", "*** odd", " ***",
                "-- Schedd: a : <b>", "** Proc 1.0:", ".",
            ]),
            0..24,
        ),
        is_ended in any::<bool>(),
    ) {
        let text = lines.join("\n") + if is_ended { "\n" } else { "" };
        let whole = items(&text);
        for piece in [1, 5, 40, usize::MAX] {
            prop_assert_eq!(streamed(&text, piece), whole.iter().map(|item| without_place(item)).collect::<Vec<_>>());
        }
        for names in [&["Z"][..], &["A", "Offset", "RecordType"], &["Owner", "ClusterId"], &["CurrentTime"]] {
            let names: Vec<Name> = names.iter().map(|name| Name::new(name)).collect();
            let (ads, errors) = values(LongReader::new(text.as_bytes(), Dialect::Condor), &names);
            for piece in [1, 1 << 15] {
                let mut plain = Projection::new(names.clone(), Dialect::Condor).with_piece_bytes(piece);
                let read = values(ProjectingReader::new(text.as_bytes(), 0, &mut plain), &names);
                prop_assert_eq!(&read, &(ads.clone(), errors.clone()), "{}", text);
                let mut shared = Projection::new(names.clone(), Dialect::Condor).with_shared_ads([Name::new("Owner")]);
                let read = values(ProjectingReader::new(text.as_bytes(), 0, &mut shared), &names);
                prop_assert_eq!(&read, &(ads.clone(), errors.clone()), "{}", text);
            }
        }
    }
}

#[test]
fn a_prefilter_sees_the_values_of_banners() {
    let text = "A = 1\n*** EPOCH ClusterId=1 ProcId=0 RunInstanceId=3 Owner=\"a\" CurrentTime=5\n\
                A = 2\n*** INPUT ClusterId=2 ProcId=0 RunInstanceId=3 Owner=\"a\" CurrentTime=5\n";
    let block = StreamBlock::from_complete_text(text, FileFormat::Long);
    let names = [Name::new("RecordType"), Name::new("ClusterId")];
    let mut seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let kept = std::rc::Rc::clone(&seen);
    let mut projection = Projection::new(names.clone(), Dialect::Condor).with_prefilter(&names, move |ad| {
        kept.borrow_mut().extend(ad.iter().map(|attribute| attribute.expression.to_string()));
        PrefilterVerdict::Passed
    });
    assert_eq!(block.project(&mut projection).flatten().count(), 2);
    drop(projection);
    let seen = std::rc::Rc::get_mut(&mut seen).unwrap().take().join(" ");
    assert_eq!(seen, "\"EPOCH\" 1 \"INPUT\" 2");
}
