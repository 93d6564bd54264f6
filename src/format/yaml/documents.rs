//! Splitting of a text into YAML documents, without parsing them.
//!
//! A line that begins with `---` always begins a document, even inside a string. A line that begins with `...` ends a
//! document. Each document is parsed separately, so a malformed document does not affect the others.

use std::ops::Range;

/// Where a document begins and ends in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentExtent {
    /// Byte range of the whole document: directives, comments, the marker `---` and content.
    pub range: Range<usize>,
    /// Byte offset of the first line that is not blank, a comment or a directive.
    pub content: usize,
    /// Whether the document ends at the end of `range` whatever text is added.
    is_ended: bool,
}

/// Iterator over the documents of a text from byte `at` on.
pub struct DocumentExtents<'t> {
    pub text: &'t [u8],
    pub at: usize,
}

impl Iterator for DocumentExtents<'_> {
    type Item = DocumentExtent;

    fn next(&mut self) -> Option<DocumentExtent> {
        let start = self.at;
        let mut content = None;
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let line = line_length(rest);
            if is_marker(rest, *b"---") && content.is_some() {
                // If `---` is the end of the text, more text could follow on this line, as in `---a`. Then the line is
                // no marker.
                let is_ended = rest.len() > 3;
                return content.map(|content| DocumentExtent { range: start..self.at, content, is_ended });
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
                return Some(DocumentExtent { range: start..self.at, content, is_ended });
            }
        }
        content.map(|content| DocumentExtent { range: start..self.at, content, is_ended: false })
    }
}

/// Returns the length in bytes of the longest prefix of a text that contains only complete documents. Returns 0 if no
/// document is complete yet.
#[must_use]
pub fn complete_prefix_length(text: &[u8]) -> usize {
    DocumentExtents { text, at: 0 }.take_while(|document| document.is_ended).last().map_or(0, |last| last.range.end)
}

/// Returns the length in bytes of the first line, including its line end (`\n`, `\r\n` or `\r`).
fn line_length(text: &[u8]) -> usize {
    match memchr::memchr2(b'\n', b'\r', text) {
        Some(end) if text[end..].starts_with(b"\r\n") => end + 2,
        Some(end) => end + 1,
        None => text.len(),
    }
}

/// Whether a line begins with the marker `mark`, which is `---` or `...`.
fn is_marker(line: &[u8], mark: [u8; 3]) -> bool {
    line.starts_with(&mark) && line.get(3).is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}
