//! The lines of a rules file: comments left out, continued lines joined.

use std::ops::Range;

/// A line as the language counts them: one that ends in a backslash goes on with the next.
#[derive(Debug)]
pub(super) struct Line {
    /// The text, without blanks around it.
    pub text: String,
    /// Which line of the file it begins on; the first is 1.
    pub number: usize,
    /// Where its parts begin: in the text, and in the file.
    pieces: Vec<(usize, usize)>,
}

impl Line {
    /// Where a part of the text stands in the file.
    pub fn place(&self, range: Range<usize>) -> Range<usize> {
        let offset = |at: usize| {
            let piece = self.pieces.partition_point(|(text, _)| *text <= at).saturating_sub(1);
            self.pieces.get(piece).map_or(0, |(text, file)| file + (at - text))
        };
        let start = offset(range.start);
        let end = if range.end > range.start { offset(range.end - 1) + 1 } else { start };
        start..end.max(start)
    }

    /// Where the line stands in the file.
    pub fn whole(&self) -> Range<usize> {
        self.place(0..self.text.len())
    }
}

/// The lines of a text, empty ones among them.
pub(super) struct Lines<'t> {
    text: &'t str,
    /// Offset of the next line.
    at: usize,
    /// Lines read so far.
    number: usize,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Self {
        Lines { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 }, number: 0 }
    }

    /// The next line of the file without the blanks around it, and its offset.
    fn physical(&mut self) -> Option<(usize, &'t str)> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let line = rest.split('\n').next().unwrap_or(rest);
        let start = self.at + line.len() - line.trim_start_matches(is_blank).len();
        self.at += line.len() + 1;
        self.number += 1;
        Some((start, line.trim_matches(is_blank)))
    }
}

/// What C counts as space.
fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let (mut offset, mut part) = self.physical()?;
        // A comment is not continued.
        while part.starts_with('#') {
            (offset, part) = self.physical()?;
        }
        let mut line = Line { text: String::new(), number: self.number, pieces: Vec::new() };
        loop {
            // A comment between continued lines is left out.
            let (content, goes_on) = match part.strip_suffix('\\') {
                Some(content) => (content, true),
                None => (part, false),
            };
            if line.pieces.is_empty() || !part.starts_with('#') {
                line.pieces.push((line.text.len(), offset));
                line.text.push_str(content);
            }
            match if goes_on { self.physical() } else { None } {
                Some(next) => (offset, part) = next,
                None => return Some(line),
            }
        }
    }
}
