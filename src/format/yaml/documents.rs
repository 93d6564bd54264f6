//! Where the documents of a text begin and end, without parsing them.
//!
//! A line that begins with `---` begins a document wherever it stands, inside strings too, and one that
//! begins with `...` ends one.  Each is parsed by itself, so that a broken one costs no other.

use std::ops::Range;

/// A document of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// All of it: directives and comments, its mark, its content.
    pub range: Range<usize>,
    /// Offset of its first line that is neither blank nor a comment or directive.
    pub content: usize,
    /// Whether it ends here whatever follows.
    is_ended: bool,
}

/// The documents of a text from an offset on.
pub struct Documents<'t> {
    pub text: &'t [u8],
    pub at: usize,
}

impl Iterator for Documents<'_> {
    type Item = Document;

    fn next(&mut self) -> Option<Document> {
        let start = self.at;
        let mut content = None;
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let line = line_length(rest);
            if is_marker(rest, *b"---") && content.is_some() {
                // The mark may go on behind the end of the text, and be none.
                let is_ended = rest.len() > 3;
                return content.map(|content| Document { range: start..self.at, content, is_ended });
            }
            let is_end = is_marker(rest, *b"...");
            let first = rest[..line].trim_ascii_start().first();
            let is_directive = rest[0] == b'%' && content.is_none();
            if !is_end && !is_directive && first.is_some_and(|byte| *byte != b'#') {
                content.get_or_insert(self.at);
            }
            self.at += line;
            if is_end && let Some(content) = content {
                let is_ended = rest[..line].ends_with(b"\n");
                return Some(Document { range: start..self.at, content, is_ended });
            }
        }
        content.map(|content| Document { range: start..self.at, content, is_ended: false })
    }
}

/// The length of the longest prefix of a text that holds whole documents only; 0 if none is whole yet.
#[must_use]
#[allow(dead_code)] // streams are cut with it
pub fn whole(text: &[u8]) -> usize {
    Documents { text, at: 0 }.take_while(|document| document.is_ended).last().map_or(0, |last| last.range.end)
}

/// The bytes of the first line, with its end: `\n`, `\r\n` or `\r`.
fn line_length(text: &[u8]) -> usize {
    match memchr::memchr2(b'\n', b'\r', text) {
        Some(end) if text[end..].starts_with(b"\r\n") => end + 2,
        Some(end) => end + 1,
        None => text.len(),
    }
}

/// Whether a line begins with one of the two marks.
fn is_marker(line: &[u8], mark: [u8; 3]) -> bool {
    line.starts_with(&mark) && line.get(3).is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}
