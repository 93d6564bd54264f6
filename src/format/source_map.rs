//! Source map: decoded text whose bytes know their offsets in the file.

use crate::syntax::SyntaxError;

use super::Problem;

/// A text with its escapes resolved, and a map from its bytes to offsets in the file.
#[derive(Debug, Default)]
pub struct Decoded {
    /// The decoded text.
    pub bytes: Vec<u8>,
    /// The segments, in ascending order of `start`.
    pieces: Vec<Piece>,
    /// Offset in the file behind the last byte.
    end: usize,
}

/// A segment of the decoded text: bytes copied unchanged from the file, or the bytes of one escape.
#[derive(Debug)]
struct Piece {
    /// Offset of the segment in the decoded text.
    start: usize,
    /// Offset of the segment in the file.
    origin: usize,
    /// Whether the bytes are copied unchanged.
    verbatim: bool,
}

impl Decoded {
    /// Creates an empty text that begins at this offset of the file.
    pub fn at(offset: usize) -> Self {
        Decoded { end: offset, ..Decoded::default() }
    }

    /// Appends bytes that stand unchanged in the file at this offset.
    pub fn plain(&mut self, bytes: &[u8], offset: usize) {
        if !bytes.is_empty() {
            self.pieces.push(Piece { start: self.bytes.len(), origin: offset, verbatim: true });
            self.bytes.extend_from_slice(bytes);
            self.end = offset + bytes.len();
        }
    }

    /// Appends the decoded bytes of an escape that occupies `length` bytes of the file at `offset`.
    pub fn escaped(&mut self, bytes: &[u8], offset: usize, length: usize) {
        self.pieces.push(Piece { start: self.bytes.len(), origin: offset, verbatim: false });
        self.bytes.extend_from_slice(bytes);
        self.end = offset + length;
    }

    /// Returns the offset in the file of byte `at` of the decoded text. Behind the last byte it is the end of the
    /// source. O(log n) in the number of segments.
    pub fn origin(&self, at: usize) -> usize {
        if at >= self.bytes.len() {
            return self.end;
        }
        let next = self.pieces.partition_point(|piece| piece.start <= at);
        match next.checked_sub(1).and_then(|last| self.pieces.get(last)) {
            Some(piece) if piece.verbatim => piece.origin + at - piece.start,
            Some(piece) => piece.origin,
            None => self.end,
        }
    }

    /// Converts a syntax error in the decoded text from `start` on into a problem with ranges in the file.
    pub fn problem(&self, error: SyntaxError, start: usize, ad: usize) -> Problem {
        let mut problem = Problem::from_syntax(error, start, ad);
        let origin = |range: std::ops::Range<usize>| self.origin(range.start)..self.origin(range.end);
        problem.range = origin(problem.range);
        problem.related = problem.related.map(|(range, text)| (origin(range), text));
        problem
    }
}

#[cfg(test)]
mod tests {
    use super::Decoded;

    #[test]
    fn every_byte_knows_where_it_comes_from() {
        // `ab\ncd\u00e9e` at 10
        let mut decoded = Decoded::at(10);
        decoded.plain(b"ab", 10);
        decoded.escaped(b"\n", 12, 2);
        decoded.plain(b"cd", 14);
        decoded.escaped("é".as_bytes(), 16, 6);
        decoded.plain(b"e", 22);
        let origins: Vec<usize> = (0..=decoded.bytes.len()).map(|at| decoded.origin(at)).collect();
        assert_eq!(origins, [10, 11, 12, 14, 15, 16, 16, 22, 23]);
        assert_eq!(Decoded::at(7).origin(0), 7);
    }
}
