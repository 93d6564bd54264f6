//! Where in a text something stands.

/// A half-open range of bytes of the text that was parsed.
///
/// Offsets are 32 bits wide: an expression or a bracketed ad larger than 4 GiB is refused by its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The span of the bytes from `start` up to, not including, `end`.
    #[must_use]
    pub fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The range, to index the text with.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The same place in a text of which this one is the part that begins at `offset`.
    #[must_use]
    pub fn shifted(self, offset: u32) -> Span {
        Span { start: self.start + offset, end: self.end + offset }
    }
}
