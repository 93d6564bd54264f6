//! Source map: where each byte of a decoded text comes from in the file.

use std::ops::Range;

use crate::syntax::SyntaxError;

use super::Problem;

/// A text whose escapes were decoded, with the offset in the file of each of its bytes.
#[derive(Clone, Debug, Default)]
pub struct DecodedText {
    /// The decoded text.
    pub bytes: Vec<u8>,
    /// The segments of `bytes`, in ascending order of `start`.
    segments: Vec<SourceSegment>,
    /// Byte offset in the file at which the encoded text ends.
    end: usize,
}

/// A segment of the decoded text. It was copied unchanged from the file or decoded from one escape.
#[derive(Clone, Debug)]
struct SourceSegment {
    /// Byte offset of the segment in the decoded text.
    start: usize,
    /// Byte offset of the segment in the file.
    source_offset: usize,
    /// Whether the segment was copied unchanged. Otherwise it was decoded from one escape.
    verbatim: bool,
}

impl DecodedText {
    /// Creates an empty text. `offset` is the byte offset in the file at which the encoded text begins.
    pub fn starting_at(offset: usize) -> Self {
        DecodedText { end: offset, ..DecodedText::default() }
    }

    /// Appends bytes that are not escaped. They stand at byte `offset` in the file.
    pub fn push_verbatim(&mut self, bytes: &[u8], offset: usize) {
        if !bytes.is_empty() {
            self.segments.push(SourceSegment { start: self.bytes.len(), source_offset: offset, verbatim: true });
            self.bytes.extend_from_slice(bytes);
            self.end = offset + bytes.len();
        }
    }

    /// Appends the decoded bytes of an escape. The escape has `length` bytes at byte `offset` of the file.
    pub fn push_escape(&mut self, bytes: &[u8], offset: usize, length: usize) {
        self.segments.push(SourceSegment { start: self.bytes.len(), source_offset: offset, verbatim: false });
        self.bytes.extend_from_slice(bytes);
        self.end = offset + length;
    }

    /// Returns the byte offset in the file of byte `at` of the decoded text. If `at` is the length of the text or more,
    /// returns the offset behind the encoded text. O(log n) in the number of segments.
    pub fn source_offset(&self, at: usize) -> usize {
        if at >= self.bytes.len() {
            return self.end;
        }
        let next = self.segments.partition_point(|segment| segment.start <= at);
        match self.segments[..next].last() {
            Some(segment) if segment.verbatim => segment.source_offset + at - segment.start,
            Some(segment) => segment.source_offset,
            None => self.end,
        }
    }

    /// Converts a syntax error into a problem with byte ranges in the file. The span of the error counts from byte
    /// `start` of the decoded text.
    pub fn problem(&self, error: SyntaxError, start: usize, ad: usize) -> Problem {
        let origin = |range: Range<usize>| self.source_offset(range.start)..self.source_offset(range.end);
        Problem::from_syntax(error, start, ad).map_ranges(origin)
    }
}

#[cfg(test)]
mod tests {
    use super::DecodedText;

    #[test]
    fn every_byte_knows_where_it_comes_from() {
        // The encoded text is `ab\ncd\u00e9e` at byte offset 10 of the file.
        let mut decoded = DecodedText::starting_at(10);
        decoded.push_verbatim(b"ab", 10);
        decoded.push_escape(b"\n", 12, 2);
        decoded.push_verbatim(b"cd", 14);
        decoded.push_escape("é".as_bytes(), 16, 6);
        decoded.push_verbatim(b"e", 22);
        let origins: Vec<usize> = (0..=decoded.bytes.len()).map(|at| decoded.source_offset(at)).collect();
        assert_eq!(origins, [10, 11, 12, 14, 15, 16, 16, 22, 23]);
        assert_eq!(DecodedText::starting_at(7).source_offset(0), 7);
    }
}
