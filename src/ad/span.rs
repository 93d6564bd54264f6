//! Byte ranges in a source text.

/// A half-open range of bytes of the text that was parsed.
///
/// Offsets have 32 bits: readers refuse an expression or a bracketed ad of more than 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span of the bytes from `start` up to, not including, `end`.
    pub fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// Returns the smallest span that covers both spans.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns the span as a range for indexing the text.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Converts a span of a part of a text to a span of the whole text. The part begins at the byte `offset`.
    pub fn shifted(self, offset: u32) -> Span {
        Span { start: self.start + offset, end: self.end + offset }
    }
}
