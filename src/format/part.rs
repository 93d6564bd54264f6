//! Parts of files. Each cut of a file is moved to a boundary of ads, so that parts hold whole ads and tile the file
//! wherever it is cut, as the splits of Hadoop's `TextInputFormat` do.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::FileFormat;
use super::json::closes_ad_line;
use super::long::{ends_with_banner, is_separator};

/// Number of bytes before a cut that are searched at first for the beginning of its line.
const FIRST_SEARCH_BYTES: u64 = 4096;

/// The place to which a cut is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartBoundary {
    /// Byte offset in the file.
    pub offset: u64,
    /// Whether the line before is a banner that stands behind each record of a history file.
    pub is_behind_banner: bool,
}

/// Whether files in this form can be read in parts: the long form, and with it history files, and JSON Lines.
#[must_use]
pub fn has_parts(form: FileFormat) -> bool {
    matches!(form, FileFormat::Long | FileFormat::JsonLines)
}

/// Moves a cut of a file to the end of the first separator that ends at byte `cut` or behind it, or to the end of the
/// file if none does. A cut at 0 stays there.
///
/// In the long form a separator is a blank line or a banner (`***`) that is not torn. In JSON Lines it is the end of a
/// line behind an object, if the next line begins with `{`. O(n) in the length of the ads around the cut.
///
/// # Errors
///
/// I/O errors of the file.
pub fn part_boundary<F: Read + Seek>(file: &mut F, form: FileFormat, cut: u64) -> io::Result<PartBoundary> {
    let size = file.seek(SeekFrom::End(0))?;
    let at = |offset| PartBoundary { offset, is_behind_banner: false };
    if cut == 0 || cut >= size {
        return Ok(at(cut.min(size)));
    }
    let mut offset = line_start(file, form, cut)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut lines = BufReader::new(file);
    let (mut line, mut closes_ad) = (Vec::new(), false);
    loop {
        line.clear();
        let length = lines.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Ok(at(size));
        }
        offset += length as u64;
        let is_boundary = if form == FileFormat::JsonLines {
            closes_ad = if line.trim_ascii().is_empty() { closes_ad } else { closes_ad_line(&line) };
            closes_ad && offset >= cut && lines.fill_buf()?.first() == Some(&b'{')
        } else {
            offset >= cut && is_separator(&line)
        };
        if is_boundary {
            let is_behind_banner = form == FileFormat::Long && ends_with_banner(&line);
            return Ok(PartBoundary { offset, is_behind_banner });
        }
    }
}

/// Returns the byte offset of the line that contains the byte before `cut`. In JSON Lines, returns that of the last
/// line before it that is not blank, because a blank line behind an object is a boundary.
fn line_start<F: Read + Seek>(file: &mut F, form: FileFormat, cut: u64) -> io::Result<u64> {
    let mut length = FIRST_SEARCH_BYTES;
    loop {
        let start = cut.saturating_sub(length);
        file.seek(SeekFrom::Start(start))?;
        let mut before = Vec::new();
        Read::by_ref(file).take(cut - start).read_to_end(&mut before)?;
        before.pop();
        let line_of = |text: &[u8]| memchr::memrchr(b'\n', text).map(|end| end + 1);
        let line = line_of(&before).and_then(|line| match form {
            FileFormat::JsonLines => line_of(before[..line].trim_ascii_end()),
            _ => Some(line),
        });
        match line {
            Some(line) => return Ok(start + line as u64),
            None if start == 0 => return Ok(0),
            None => length = length.saturating_mul(4),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::part_boundary;
    use crate::format::FileFormat;

    /// Returns the boundary for each cut of a text.
    fn boundaries(text: &str, form: FileFormat) -> Vec<u64> {
        let mut file = Cursor::new(text.as_bytes());
        (0..=text.len() as u64).map(|cut| part_boundary(&mut file, form, cut).unwrap().offset).collect()
    }

    /// Returns the end of the first separator that ends at a cut or behind it, for each cut.
    fn expected(text: &str, ends: &[usize]) -> Vec<u64> {
        let first = |cut: usize| ends.iter().find(|end| **end >= cut).map_or(text.len(), |end| *end);
        (0..=text.len()).map(|cut| if cut == 0 { 0 } else { first(cut) as u64 }).collect()
    }

    #[test]
    fn a_cut_moves_to_the_next_separator() {
        for (text, ends) in [
            ("A = 1\n\nB = 2\n", &[7][..]),
            ("A = 1\r\n\r\nB = 2\r\n", &[9]),
            ("A = 1\n*** MASTER CurrentTime=5\nB = 2\n***\n", &[31, 41]),
            ("A = 1\n*** Offset\nB = 2\n", &[]),
            ("A = 1\n \n\n# c\nB = 2", &[8, 9]),
            ("A = 1", &[]),
            ("", &[]),
        ] {
            assert_eq!(boundaries(text, FileFormat::Long), expected(text, ends), "{text:?}");
        }
        for (text, ends) in [
            ("{\"a\": 1}\n{\"a\": 2}\n", &[9][..]),
            ("{\"a\": 1}\r\n\r\n{\"a\": 2}", &[12]),
            ("{\"a\": [\n{\"b\": 1}\n]}\n{}\n{}", &[20, 23]),
            ("{\"a\": 1} // }\n{\"a\": 2}\n", &[]),
        ] {
            assert_eq!(boundaries(text, FileFormat::JsonLines), expected(text, ends), "{text:?}");
        }
    }

    #[test]
    fn long_lines_are_found_from_their_beginnings() {
        let line = format!("A = \"{}\"\n", "x".repeat(70_000));
        let text = format!("{line}\n{line}*** MASTER CurrentTime=5\n{line}");
        let mut file = Cursor::new(text.as_bytes());
        let second = line.len() as u64 + 1;
        let third = 2 * line.len() as u64 + 26;
        for (cut, boundary) in [(1, second), (second, second), (second + 1, third), (third + 9, text.len() as u64)] {
            let found = part_boundary(&mut file, FileFormat::Long, cut).unwrap();
            assert_eq!((found.offset, found.is_behind_banner), (boundary, boundary == third));
        }
    }
}
