//! Entries from a pipe or a file.

use std::io::{self, BufRead};

use crate::cli::render::output;

/// An entry that has so many lines is whole: something is wrong with it, and all that follows must not be lost in it.
const MOST_LINES: usize = 4096;

/// Lines that are read as entries.
pub struct Script<R> {
    reader: R,
    /// How many lines have been read.
    lines: usize,
}

impl<R: BufRead> Script<R> {
    pub fn new(reader: R) -> Self {
        Script { reader, lines: 0 }
    }

    /// The next entry and the number of its first line; an entry has as many lines as it goes on.  What is not UTF-8
    /// stands in it as a character that begins nothing.
    pub fn next(&mut self, goes_on: impl Fn(&str) -> bool) -> io::Result<Option<(String, usize)>> {
        output::hand_on();
        let (mut text, first) = (String::new(), self.lines + 1);
        loop {
            let mut line = Vec::new();
            if self.reader.read_until(b'\n', &mut line)? == 0 {
                return Ok((self.lines >= first).then_some((text, first)));
            }
            let line = String::from_utf8_lossy(&line);
            text.push_str(line.strip_suffix('\n').map_or(&*line, |line| line.strip_suffix('\r').unwrap_or(line)));
            self.lines += 1;
            if self.lines - first >= MOST_LINES || !goes_on(&text) {
                return Ok(Some((text, first)));
            }
            text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Script;

    #[test]
    fn entries_have_as_many_lines_as_they_go_on() {
        let mut script = Script::new(&b"one\r\ntwo\\\nthree\n\nfour\\"[..]);
        let mut next = || script.next(|text| text.ends_with('\\')).expect("it can be read");
        assert_eq!(next(), Some(("one".to_owned(), 1)));
        assert_eq!(next(), Some(("two\\\nthree".to_owned(), 2)));
        assert_eq!(next(), Some((String::new(), 4)));
        assert_eq!(next(), Some(("four\\\n".to_owned(), 5)));
        assert_eq!(next(), None);
    }
}
