//! Logical lines of a rules file: comments are dropped, continued lines joined.

use std::ops::Range;

use crate::format::{Problem, byte_order_mark_length};

use super::keywords::error;

/// Line of a rules file with the lines that continue it. A line that ends in a backslash continues on the next line.
#[derive(Debug)]
pub(crate) struct LogicalLine {
    /// The text, trimmed.
    pub text: String,
    /// 1-based number of the line in the file at which the logical line begins.
    pub number: usize,
    /// Start of each joined physical line: its byte offset in `text`, and its byte offset in the file.
    pieces: Vec<(usize, usize)>,
}

impl LogicalLine {
    /// Maps a byte range of the text to a range of the file.
    pub fn file_range(&self, range: Range<usize>) -> Range<usize> {
        let offset = |at: usize| {
            let piece = self.pieces.partition_point(|(text, _)| *text <= at).saturating_sub(1);
            self.pieces.get(piece).map_or(0, |(text, file)| file + (at - text))
        };
        let start = offset(range.start);
        let end = if range.end > range.start { offset(range.end - 1) + 1 } else { start };
        start..end
    }

    /// Returns the pieces of the text from a byte offset on: where each begins, counted from there, and its range in the
    /// file.
    pub fn pieces_from(&self, from: usize) -> Vec<(usize, Range<usize>)> {
        let ends = self.pieces.iter().skip(1).map(|(at, _)| *at).chain([self.text.len()]);
        let within = self.pieces.iter().zip(ends).map(|((start, file), end)| {
            let first = (*start).max(from);
            (first - from, file + (first - start)..file + (end.max(first) - start))
        });
        let pieces: Vec<_> = within.filter(|(_, range)| !range.is_empty()).collect();
        if pieces.is_empty() { vec![(0, self.file_range(from..from))] } else { pieces }
    }

    /// Returns the line without its first bytes, trimmed.
    pub fn without_start(&self, bytes: usize) -> LogicalLine {
        let text = self.text[bytes..].trim_start_matches(is_blank);
        let cut = self.text.len() - text.len();
        let mut pieces = vec![(0, self.file_range(cut..cut).start)];
        pieces.extend(self.pieces.iter().filter(|(at, _)| *at > cut).map(|(at, file)| (at - cut, *file)));
        LogicalLine { text: text.to_owned(), number: self.number, pieces }
    }

    /// Converts the ranges of a problem from ranges in `text` to ranges in the file.
    pub fn locate(&self, problem: Problem) -> Problem {
        let end = self.text.len();
        problem.map_ranges(|range| self.file_range(range.start.min(end)..range.end.min(end)))
    }

    /// Creates an error that covers the whole line. Its range is in `text`; [`Self::locate`] converts it to the file.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        error(0..self.text.len(), message)
    }

    /// Returns the range of the whole line in the file.
    pub fn whole_file_range(&self) -> Range<usize> {
        self.file_range(0..self.text.len())
    }
}

/// Iterator over the logical lines of a text, including empty ones.
pub(crate) struct LogicalLines<'t> {
    text: &'t str,
    /// Byte offset of the next line.
    at: usize,
    /// Number of physical lines read so far.
    number: usize,
}

impl<'t> LogicalLines<'t> {
    pub fn new(text: &'t str) -> Self {
        LogicalLines { text, at: byte_order_mark_length(text.as_bytes()), number: 0 }
    }

    /// Creates the iterator over the lines of a part of a text. Ranges and numbers of lines are those of the whole
    /// text.
    pub fn of_part(text: &'t str, part: Range<usize>) -> Self {
        let number = text[..part.start].matches('\n').count();
        LogicalLines { text: &text[..part.end], at: part.start, number }
    }

    /// Returns the next physical line, trimmed, with its byte offset.
    fn next_physical(&mut self) -> Option<(usize, &'t str)> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let line = rest.split('\n').next().unwrap_or(rest);
        let start = self.at + line.len() - line.trim_start_matches(is_blank).len();
        self.at += line.len() + 1;
        self.number += 1;
        Some((start, line.trim_matches(is_blank)))
    }
}

/// Whether C's `isspace` is true of a character: ASCII whitespace or a vertical tab.
fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

impl Iterator for LogicalLines<'_> {
    type Item = LogicalLine;

    fn next(&mut self) -> Option<LogicalLine> {
        // A comment is always one line: a backslash at its end does not continue it.
        let mut lines = std::iter::from_fn(|| self.next_physical());
        let (mut offset, mut part) = lines.find(|(_, part)| !part.starts_with('#'))?;
        let mut line = LogicalLine { text: String::new(), number: self.number, pieces: Vec::new() };
        loop {
            let continued = part.strip_suffix('\\');
            // A comment between continued lines is left out.
            if line.pieces.is_empty() || !part.starts_with('#') {
                line.pieces.push((line.text.len(), offset));
                line.text.push_str(continued.unwrap_or(part));
            }
            match continued.and_then(|_| self.next_physical()) {
                Some(next) => (offset, part) = next,
                None => return Some(line),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LogicalLine, LogicalLines};

    fn lines(text: &str) -> Vec<LogicalLine> {
        LogicalLines::new(text).collect()
    }

    #[test]
    fn a_line_goes_on_behind_a_backslash() {
        for (text, expected) in [
            ("", &[][..]),
            ("\n", &["1:"]),
            ("a", &["1:a"]),
            ("a\nb\n", &["1:a", "2:b"]),
            (" a \n\t\x0bb\r\n", &["1:a", "2:b"]),
            ("a\\\nb", &["1:ab"]),
            ("a \\\n  b\nc", &["1:a b", "3:c"]),
            ("a\\\n\nb", &["1:a", "3:b"]),
            ("a\\", &["1:a"]),
            ("a\\\\\nb", &["1:a\\b"]),
            // A comment is one line, and is left out of a line that goes on.
            ("# a\\\nb", &["2:b"]),
            ("#a\n#b\nc", &["3:c"]),
            ("a\\\n# b\\\n c", &["1:ac"]),
            ("a\\\n# b\n c", &["1:a", "3:c"]),
            ("#", &[]),
            ("\u{feff}a", &["1:a"]),
        ] {
            let found: Vec<_> = lines(text).iter().map(|line| format!("{}:{}", line.number, line.text)).collect();
            assert_eq!(found, expected, "{text}");
        }
        let text = "a\nb\nc\nd";
        for (part, expected) in [(0..7, "1a 2b 3c 4d"), (2..5, "2b 3c"), (3..5, "2 3c"), (4..4, "")] {
            let lines = LogicalLines::of_part(text, part).map(|line| format!("{}{}", line.number, line.text));
            assert_eq!(lines.collect::<Vec<_>>().join(" "), expected);
        }
    }

    /// Each character of a line has its place in the file, and so have the pieces of a part of it.
    #[test]
    fn a_range_of_a_line_is_one_of_the_file() {
        let file = "#x\n  ab \\\n   cd\\\n#no\\\n e \n";
        let line = lines(file).remove(0);
        assert_eq!((line.text.as_str(), line.number), ("ab cde", 2));
        for (range, expected) in [
            (0..1, "a"),
            (0..2, "ab"),
            (0..3, "ab "),
            (0..4, "ab \\\n   c"),
            (3..5, "cd"),
            (4..6, "d\\\n#no\\\n e"),
            (5..6, "e"),
            (6..6, ""),
            (0..6, "ab \\\n   cd\\\n#no\\\n e"),
        ] {
            assert_eq!(&file[line.file_range(range.clone())], expected, "{range:?}");
        }
        assert_eq!(line.file_range(6..6).start, line.whole_file_range().end);
        let pieces = |from| -> Vec<(usize, &str)> {
            line.pieces_from(from).into_iter().map(|(at, range)| (at, &file[range])).collect()
        };
        assert_eq!(pieces(0), [(0, "ab "), (3, "cd"), (5, "e")]);
        assert_eq!(pieces(1), [(0, "b "), (2, "cd"), (4, "e")]);
        assert_eq!(pieces(3), [(0, "cd"), (2, "e")]);
        assert_eq!(pieces(4), [(0, "d"), (1, "e")]);
        assert_eq!(pieces(5), [(0, "e")]);
        assert_eq!(line.pieces_from(6), [(0, line.file_range(6..6))]);
        for (bytes, expected) in [(0, "ab cde"), (1, "b cde"), (2, "cde"), (3, "cde"), (4, "de"), (6, "")] {
            let rest = line.without_start(bytes);
            assert_eq!((rest.text.as_str(), rest.number), (expected, 2), "{bytes}");
            let first = rest.file_range(0..1.min(rest.text.len()));
            assert_eq!(&file[first], &expected[..1.min(expected.len())], "{bytes}");
            assert_eq!(rest.whole_file_range().end, line.whole_file_range().end, "{bytes}");
        }
        let problem = line.locate(line.problem("no"));
        assert_eq!((problem.message.as_str(), problem.range), ("no", line.whole_file_range()));
    }
}
