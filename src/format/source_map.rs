//! Texts whose escapes are resolved.

use crate::syntax::SyntaxError;

use super::Problem;

/// A text whose escapes are resolved, and where in the file its bytes come from.
#[derive(Debug, Default)]
pub struct Decoded {
    /// The text.
    pub bytes: Vec<u8>,
    pieces: Vec<Piece>,
    /// Offset in the file behind its last byte.
    end: usize,
}

/// Bytes that follow each other in the file, too, or the bytes that one escape stands for.
#[derive(Debug)]
struct Piece {
    /// Offset in the decoded text.
    start: usize,
    /// Offset in the file.
    origin: usize,
    verbatim: bool,
}

impl Decoded {
    /// Nothing yet; the text begins at this offset of the file.
    pub fn at(offset: usize) -> Self {
        Decoded { end: offset, ..Decoded::default() }
    }

    /// Adds bytes that stand in the file as they are, from this offset on.
    pub fn plain(&mut self, bytes: &[u8], offset: usize) {
        if !bytes.is_empty() {
            self.pieces.push(Piece { start: self.bytes.len(), origin: offset, verbatim: true });
            self.bytes.extend_from_slice(bytes);
            self.end = offset + bytes.len();
        }
    }

    /// Adds what an escape stands for that takes this many bytes of the file.
    pub fn escaped(&mut self, bytes: &[u8], offset: usize, length: usize) {
        self.pieces.push(Piece { start: self.bytes.len(), origin: offset, verbatim: false });
        self.bytes.extend_from_slice(bytes);
        self.end = offset + length;
    }

    /// Where in the file a byte of the text is.
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

    /// What is wrong with the part of the text that begins at `start`, as a problem of the file.
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
