//! Tests of sources: samples of files, blocks, and what is counted.

use std::fs::{self, File};

use classad::ad::Ad;
use classad::format::{AdEntry, FileFormat, Position, Problem, Stream, StreamBlock, YearlessEvents};

use super::{AdSource, FilePart};

#[test]
fn a_sample_has_whole_lines_from_all_over() {
    let path = std::env::temp_dir().join(format!("classad-sample-{}", std::process::id()));
    let lines: Vec<String> = (0..2000).map(|line| format!("line{line} = {line}")).collect();
    fs::write(&path, lines.join("\n")).unwrap();
    let name = path.to_str().unwrap();
    let source = AdSource::new(name, Stream::new(Box::new(File::open(&path).unwrap()), None).unwrap());
    let sample = |length| {
        let pieces: Result<Vec<Vec<u8>>, _> = source.sample(length).unwrap().collect();
        String::from_utf8(pieces.unwrap().concat()).unwrap()
    };
    assert_eq!(sample(1 << 20), lines.join("\n"));
    let some = sample(8000);
    assert!(some.len() <= 8100);
    let number = |line: &str| lines.iter().position(|whole| whole == line).expect(line);
    let numbers: Vec<usize> = some.lines().map(number).collect();
    assert!(numbers.is_sorted() && numbers[0] == 0);
    for part in 0..8 {
        assert!(numbers.iter().any(|number| number / 250 == part), "{part} of 8");
    }
    // Lines longer than a piece are in no sample.
    fs::write(&path, format!("a = \"{}\"\nb = 1\n", "x".repeat(9000))).unwrap();
    assert_eq!(sample(1600), "");
    fs::remove_file(&path).unwrap();
}

fn source() -> AdSource {
    AdSource::unopened("no such file", Some(FileFormat::Long))
}

#[test]
fn ads_that_are_left_are_estimated() {
    for (size, bytes_read, ads_read, expected) in [
        (None, 20, 4, 0),
        (Some(100), 20, 4, 16),
        (Some(100), 100, 4, 0),
        (Some(100), 120, 4, 0),
        (Some(100), 0, 3, 300),
        (Some(100), 20, 0, 0),
    ] {
        let source = AdSource { ads_read, size, bytes_read, ..source() };
        assert_eq!(source.estimated_ads_left(), expected, "{size:?} {bytes_read} {ads_read}");
    }
}

#[test]
fn ads_are_counted_by_their_numbers() {
    let mut source = source();
    let ad = |number| AdEntry { ad: Ad::default(), number, offset: 0, is_whole: true, banner_attributes: 0 };
    let items = [
        Ok(ad(1)),
        Err(Problem::error_at(0..1, 3, "wrong")),
        Ok(ad(2)),
        Err(Problem::error_at(0..1, 0, "wrong")),
        Ok(ad(4)),
    ];
    let counts = items.map(|item| {
        source.count_ad(&item);
        source.ads_read
    });
    assert_eq!(counts, [1, 3, 3, 3, 4]);
}

#[test]
fn what_is_unfinished_or_without_year_is_told_once() {
    let mut source = source();
    assert_eq!(source.take_unfinished_line(), None);
    let block = StreamBlock::from_complete_text("\n\nA = 1\n", FileFormat::Long);
    let text = source.wrap_block(StreamBlock { start: Position { line: 7, column: 1 }, ..block });
    source.set_unfinished(&text);
    assert_eq!(source.unfinished_line(), Some(9));
    assert_eq!([source.take_unfinished_line(), source.take_unfinished_line()], [Some(9), None]);
    source.yearless.0 = vec![YearlessEvents::All, YearlessEvents::Some];
    assert_eq!(source.take_yearless(), [YearlessEvents::All, YearlessEvents::Some]);
    assert_eq!(source.take_yearless(), []);
    source.yearless.0.push(YearlessEvents::Unfitting);
    assert_eq!(source.take_yearless(), [YearlessEvents::Unfitting]);
}

#[test]
fn a_source_is_read_in_blocks_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ads");
    let name = path.to_str().unwrap();
    fs::write(&path, "A = 1\n\nA = 2\n").unwrap();
    let open = || AdSource::new(name, Stream::new(Box::new(File::open(&path).unwrap()), None).unwrap());
    let mut source = open();
    assert!(source.is_file() && source.is_long_file() && source.has_content() && !source.is_compressed());
    assert_eq!((source.path(), source.size), (name, Some(13)));
    let text = |source: &mut AdSource| {
        let mut all = Vec::new();
        while let Some(text) = source.next_block().unwrap() {
            all.extend_from_slice(&text.block.text);
            source.recycle(text);
        }
        String::from_utf8(all).unwrap()
    };
    assert_eq!(text(&mut source), "A = 1\n\nA = 2\n");
    assert_eq!((source.bytes_read(), source.lines_read(), source.has_ended), (13, 3, true));
    assert_eq!(text(&mut source), "");
    let mut again = source.reopen().unwrap();
    assert_eq!((text(&mut again).len(), again.bytes_read()), (13, 13));
    // What was closed is opened when it is read.
    let mut closed = open();
    closed.close_until_read();
    assert!(closed.stream.is_none());
    assert_eq!(text(&mut closed).len(), 13);
    let mut instead = open();
    instead.read_instead(b"B = 3\n".to_vec()).unwrap();
    assert!(!instead.is_long_file());
    assert_eq!(text(&mut instead), "B = 3\n");
    let part = FilePart { path: name.to_owned(), start: 7, end: None };
    let mut part = AdSource::of_part("part", part, Some(FileFormat::Long));
    assert_eq!((part.path(), part.is_file(), part.is_long_file()), (name, true, false));
    assert_eq!(text(&mut part), "A = 2\n");
    assert_eq!(text(&mut part.reopen().unwrap()), "A = 2\n");
    let seekable = std::io::read_to_string(open().as_seekable_file().unwrap()).unwrap();
    assert_eq!(seekable, "A = 1\n\nA = 2\n");
}
