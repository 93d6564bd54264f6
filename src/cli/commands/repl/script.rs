//! Reading of entries from a pipe or a file.

use std::io::{self, BufRead};

use crate::cli::render::output;

/// Maximum number of lines after the first line of an entry. A longer entry most likely lacks a bracket. Without the
/// limit, it would take in all later lines of the script.
const MAX_ENTRY_LINES: usize = 4096;

/// Reads lines and joins them into entries.
pub struct EntryReader<R> {
    reader: R,
    /// Number of lines read so far.
    lines_read: usize,
}

impl<R: BufRead> EntryReader<R> {
    pub fn new(reader: R) -> Self {
        EntryReader { reader, lines_read: 0 }
    }

    /// Reads the next entry: its text and the 1-based number of its first line; `None` at the end.
    ///
    /// Adds the next line as long as `goes_on` returns true for the text so far. Bytes that are not UTF-8 become
    /// U+FFFD. No token begins with U+FFFD, so the parser refuses such bytes between tokens.
    pub fn next_entry(&mut self, goes_on: impl Fn(&str) -> bool) -> io::Result<Option<(String, usize)>> {
        output::flush_stdout();
        let (mut text, first) = (String::new(), self.lines_read + 1);
        loop {
            let mut line = Vec::new();
            if self.reader.read_until(b'\n', &mut line)? == 0 {
                return Ok((self.lines_read >= first).then_some((text, first)));
            }
            let line = String::from_utf8_lossy(&line);
            text.push_str(line.strip_suffix('\n').map_or(&*line, |line| line.strip_suffix('\r').unwrap_or(line)));
            self.lines_read += 1;
            if self.lines_read - first >= MAX_ENTRY_LINES || !goes_on(&text) {
                return Ok(Some((text, first)));
            }
            text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EntryReader, MAX_ENTRY_LINES};

    #[test]
    fn entries_have_as_many_lines_as_they_go_on() {
        let mut script = EntryReader::new(&b"one\r\ntwo\\\nthree\n\nfour\\"[..]);
        let mut next = || script.next_entry(|text| text.ends_with('\\')).expect("it can be read");
        assert_eq!(next(), Some(("one".to_owned(), 1)));
        assert_eq!(next(), Some(("two\\\nthree".to_owned(), 2)));
        assert_eq!(next(), Some((String::new(), 4)));
        assert_eq!(next(), Some(("four\\\n".to_owned(), 5)));
        assert_eq!(next(), None);
    }

    #[test]
    fn an_entry_ends_after_many_lines() {
        let text = "(\n".repeat(MAX_ENTRY_LINES + 3);
        let mut script = EntryReader::new(text.as_bytes());
        let mut next = || script.next_entry(|_| true).expect("it can be read");
        let (entry, line) = next().expect("it has lines");
        assert_eq!((entry.lines().count(), line), (MAX_ENTRY_LINES + 1, 1));
        assert_eq!(next(), Some(("(\n(\n".to_owned(), MAX_ENTRY_LINES + 2)));
        assert_eq!(next(), None);
    }
}
