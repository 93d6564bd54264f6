//! Tests of streams: blocks, limits, compressed input.

use std::io::{self, Read};

use super::Stream;
use super::read_buffer::READ_BYTES;
use crate::ad::Dialect;
use crate::format::FileFormat;
use crate::syntax::{Style, print_ad};

/// Reader that returns its text in pieces. The number is the maximum number of bytes in a piece.
struct Drops(Vec<u8>, usize);

impl Read for Drops {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(self.0.len()).min(into.len());
        into[..length].copy_from_slice(&self.0[..length]);
        self.0.drain(..length);
        Ok(length)
    }
}

/// Returns a text for each item: an ad with its number, line and column, or a problem as
/// `!number line:column: message`.
fn items(text: &str, form: Option<FileFormat>, piece: usize) -> Vec<String> {
    let mut stream = Stream::new(Box::new(Drops(text.as_bytes().to_vec(), piece)), form).unwrap();
    let mut items = Vec::new();
    let mut before = 0;
    while let Some(mut block) = stream.next_block().unwrap() {
        block.ads_before = before;
        for item in block.ads(Dialect::Condor) {
            items.push(match item {
                Ok(entry) => {
                    before = entry.number;
                    let at = block.position(entry.offset);
                    let ad = String::from_utf8(print_ad(&entry.ad, Style::New)).unwrap();
                    format!("{} {}:{} {ad}", entry.number, at.line, at.column)
                }
                Err(problem) => {
                    before = before.max(problem.ad_number);
                    let at = block.position(problem.range.start);
                    format!("!{} {}:{}: {}", problem.ad_number, at.line, at.column, problem.message)
                }
            });
        }
    }
    items
}

#[test]
fn a_stream_has_the_ads_of_its_text() {
    let padding = format!("// {}\n", "x".repeat(5000));
    for text in [
        "a = 1\nb = \"x\"\n\n\nc = 2\n \nd = (\n\ne = \"é\"\n",
        "[a = 1][b = \"]\n[\"] // ]\n /* [ */ x [c = {1, [d = 2]}]\n[e = ]\n'[' [f = 'g]']",
        "{ [a = 1], [b = 2] }",
        "",
        "[a = 1] [b = \"open\n]",
    ] {
        let text = if text.starts_with('[') { format!("{padding}{text}") } else { text.to_owned() };
        let whole = items(&text, None, usize::MAX);
        for piece in [1, 2, 3, 7, 64] {
            assert_eq!(items(&text, None, piece), whole, "{text} in pieces of {piece}");
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_stream() {
    /// Reader that repeats one ad without end. The number counts the bytes returned so far.
    struct Endless(usize);

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let ad = b"[ name = \"an ad\"; value = { 1, 2 } ]\n";
            for byte in into.iter_mut() {
                *byte = ad[self.0 % ad.len()];
                self.0 += 1;
            }
            Ok(into.len())
        }
    }

    let mut stream = Stream::new(Box::new(Endless(0)), None).unwrap();
    let mut longest = 0;
    for _ in 0..50 {
        longest = longest.max(stream.next_block().unwrap().unwrap().text.len());
    }
    assert!(longest <= 2 * READ_BYTES, "{longest}");
}

#[test]
fn packed_streams() {
    use std::io::Write;
    let text = b"[ a = 1 ]\n".repeat(1000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&text).unwrap();
    let zstd = zstd::stream::encode_all(text.as_slice(), 1).unwrap();
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
    xz.write_all(&text).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(&text).unwrap();
    // A compressed file may consist of several gzip members, zstd frames, or streams of xz or bzip2.
    let packed = [gzip.finish().unwrap(), zstd, xz.finish().unwrap(), bzip2.finish().unwrap()];
    for packed in packed.map(|packed| packed.repeat(2)) {
        let mut stream = Stream::new(Box::new(Drops(packed, 11)), None).unwrap();
        assert_eq!(stream.form(), Some(FileFormat::Bracketed));
        let mut length = 0;
        while let Some(block) = stream.next_block().unwrap() {
            length += block.text.len();
        }
        assert_eq!(length, 20_000);
    }
}

#[test]
fn an_ad_must_end() {
    for (ad, part, form) in [
        ("[ a = 1 ]\n", "[ b = { 1, 2 ", FileFormat::Bracketed),
        ("a = 1\n\n", "b = 1\nc = ", FileFormat::Long),
        ("{\"a\": 1}\n", "{\"b\": \"", FileFormat::Json),
        ("{\"a\": 1}\n", "{\"b\": \"", FileFormat::JsonLines),
        ("<c></c>\n", "<c><a n=\"b\"><s>", FileFormat::Xml),
        ("---\na: 1\n---\n", "b: ", FileFormat::Yaml),
    ] {
        let endless = io::Cursor::new(format!("{ad}{part}")).chain(io::repeat(b'x'));
        let mut stream = Stream::new(Box::new(endless), Some(form)).unwrap();
        let mut count = 0;
        let error = loop {
            match stream.next_block() {
                Ok(block) => count += block.unwrap().ads(Dialect::Condor).flatten().count(),
                Err(error) => break error,
            }
        };
        assert_eq!(count, 1, "{form}");
        assert!(error.to_string().contains("an ad (in YAML, a document) has more than 8388608 bytes"), "{error}");
        assert!(stream.next_block().unwrap().is_none());
    }
}

#[test]
fn a_form_is_known_as_soon_as_it_can_be() {
    /// Reader that returns its whole text at the first read. A second read fails the test.
    struct Waiting(Vec<u8>);

    impl Read for Waiting {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "more is waited for");
            into[..self.0.len()].copy_from_slice(&self.0);
            Ok(std::mem::take(&mut self.0).len())
        }
    }

    for (text, form) in [
        ("a = 1\n\n", FileFormat::Long),
        ("# c\na = 1\n\n", FileFormat::Long),
        ("[ a = 1 ]\n", FileFormat::Bracketed),
        ("[\n a = 1 ]\n", FileFormat::Bracketed),
        ("{\"a\": 1}\n", FileFormat::JsonLines),
        ("[\n{\n\"a\": 1\n},\n", FileFormat::Json),
        ("---\na: 1\n---\n", FileFormat::Yaml),
        ("<classads>\n<c><a n=\"a\"><i>1</i></a></c>\n", FileFormat::Xml),
    ] {
        let mut stream = Stream::new(Box::new(Waiting(text.into())), None).unwrap();
        assert_eq!(stream.form(), Some(form), "{text}");
        let block = stream.next_block().unwrap().unwrap();
        assert_eq!(block.ads(Dialect::Condor).flatten().count(), 1, "{text}");
    }
}

/// Reader that returns its text and then an error.
struct Breaking(Drops);

impl Read for Breaking {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 => Err(io::Error::other("it broke")),
            count => Ok(count),
        }
    }
}

#[test]
fn what_comes_whole_before_a_break_is_handed_out() {
    for (text, form) in [
        ("a = 1\n\na = 2\n\na = 3", FileFormat::Long),
        ("[ a = 1 ] [ a = 2 ] [ a = 3", FileFormat::Bracketed),
        ("[ {\"a\": 1}, {\"a\": 2}, {\"a\": 3", FileFormat::Json),
        ("---\na: 1\n---\na: 2\n---\na: 3", FileFormat::Yaml),
        ("<c><a n=\"a\"><i>1</i></a></c><c></c><c><a n=\"a\"><i>3", FileFormat::Xml),
    ] {
        for piece in [1, 3, 1000] {
            let broken = Breaking(Drops(text.as_bytes().to_vec(), piece));
            let mut stream = Stream::new(Box::new(broken), None).unwrap();
            assert_eq!(stream.form(), Some(form));
            let mut count = 0;
            let error = loop {
                match stream.next_block() {
                    Ok(block) => {
                        let ads: Result<Vec<_>, _> = block.unwrap().ads(Dialect::Condor).collect();
                        count += ads.unwrap().len();
                    }
                    Err(error) => break error,
                }
            };
            assert_eq!((count, error.to_string().as_str()), (2, "it broke"), "{form}");
            // The error is not returned a second time.
            assert!(stream.next_block().unwrap().is_none());
        }
    }
    let nothing = Breaking(Drops(b"# only a comment".to_vec(), 3));
    assert!(Stream::new(Box::new(nothing), None).is_err());
}

#[test]
fn what_is_long_and_blank_takes_no_memory() {
    for (blank, ad, form) in [
        ("\n", "a = 1\n", FileFormat::Long),
        ("# c\n", "a = 1\n", FileFormat::Long),
        ("/* é\n */ // c\n", "[ a = 1 ]", FileFormat::Bracketed),
        (" ", "{\"a\": 1}", FileFormat::JsonLines),
    ] {
        for count in [1, 5000, 5001, 200_000] {
            let text = blank.repeat(count) + ad;
            let at = crate::format::Position::of_offset(text.as_bytes(), text.len() - ad.len());
            for mark in ["", "\u{feff}"] {
                let text = mark.to_owned() + &text;
                let mut stream = Stream::new(Box::new(io::Cursor::new(text.into_bytes())), None).unwrap();
                assert_eq!(stream.form(), Some(form));
                assert!(stream.window.len() <= 2 * READ_BYTES);
                let position = loop {
                    let block = stream.next_block().unwrap().unwrap();
                    if let Some(entry) = block.ads(Dialect::Condor).next() {
                        break block.position(entry.unwrap().offset);
                    }
                };
                let columns = usize::from(!mark.is_empty() && at.line == 1);
                assert_eq!((position.line, position.column), (at.line, at.column + columns), "{blank:?}");
            }
        }
    }
}

#[test]
fn what_is_no_text_is_refused() {
    use std::io::Write;
    let packed = |text: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).unwrap();
        gzip.finish().unwrap()
    };
    for (bytes, reason) in [
        (packed(&packed(b"[ a = 1 ]")), "it is compressed twice"),
        (b"\xff\xfe[\0]\0".to_vec(), "it is UTF-16"),
        (packed(b"\xfe\xff\0[\0]"), "it is UTF-16"),
    ] {
        let error = Stream::new(Box::new(Drops(bytes, 5)), None).err().unwrap();
        assert!(error.to_string().starts_with(reason), "{error}");
    }
}

/// The last event of a log tells the years of the others, so that a log without years is one block.
#[test]
fn only_a_log_without_years_is_one_block() {
    let log = |time: &str| format!("001 (1.0.0) {time} Job executing on host: <a>\n...\n").repeat(READ_BYTES / 20);
    for (text, is_one) in [
        (log("2026-11-22 23:35:27"), false),
        (log("11/22 23:35:27"), true),
        ("a = 1\n\n".repeat(READ_BYTES / 3), false),
    ] {
        let mut stream = Stream::new(Box::new(io::Cursor::new(text.clone())), None).unwrap();
        let first = stream.next_block().unwrap().unwrap();
        assert_eq!(first.text.len() == text.len(), is_one, "{}", &text[..30]);
    }
}
