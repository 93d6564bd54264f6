//! Reader of a block in the long form that tells where each ad stands, and that can skip ads.

use std::collections::VecDeque;

use crate::format::attribute_cache::AttributeCache;
use crate::format::detect::byte_order_mark_length;
use crate::format::{ReadCache, ReadResult, StreamBlock};

use super::banner::Banner;
use super::line_kind::LineKind;
use super::reader::LongReader;

/// Reader of the ads of a block in the long form, with the texts of the ads. An ad whose text is known can be skipped.
pub struct AdTextReader<'t, 'c> {
    text: &'t [u8],
    reader: LongReader<'t, &'c mut AttributeCache>,
}

/// An ad with its text, or the problems of the ad.
pub struct PlacedAd<'t> {
    /// The problems, and then the ad unless one of the problems is an error.
    pub items: VecDeque<ReadResult>,
    /// Number of the ad in the stream.
    pub number: usize,
    /// Byte offset of the first line in the block.
    pub offset: usize,
    /// The text from the first line on, up to and including the line that ends the ad.
    pub text: &'t [u8],
}

impl<'t, 'c> AdTextReader<'t, 'c> {
    /// Creates a reader at the beginning of a block. `cache` has what was read before.
    pub fn new(block: &'t StreamBlock, cache: &'c mut ReadCache) -> Self {
        let start = byte_order_mark_length(&block.text);
        AdTextReader::at(block, start, block.ads_before, cache)
    }

    /// Creates a reader at the line that begins at byte `offset` of a block. `ads_before` is the number of ads of the
    /// stream before this line.
    pub fn at(block: &'t StreamBlock, offset: usize, ads_before: usize, cache: &'c mut ReadCache) -> Self {
        let reader = LongReader::with_cache(&block.text, &mut cache.long).starting_at(offset, ads_before);
        AdTextReader { text: &block.text, reader }
    }

    /// Returns the text from the first line of the next ad on, and the byte offset of this line. The text is empty at
    /// the end of the block.
    pub fn rest(&mut self) -> (&'t [u8], usize) {
        loop {
            let start = self.reader.offset().min(self.text.len());
            let Some((_, line)) = self.reader.next_line() else { return (&[], start) };
            match LineKind::of(line.trim_ascii_start()) {
                LineKind::Blank | LineKind::Comment | LineKind::Heading => {}
                LineKind::Banner if Banner::parse(self.text, start..start + line.len()).is_ok() => {}
                LineKind::Banner | LineKind::Attribute => {
                    self.reader.set_offset(start);
                    return (&self.text[start..], start);
                }
            }
        }
    }

    /// Skips the next ad. `length` is the length of its text from the first line on, in bytes. To be called after
    /// [`AdTextReader::rest`].
    pub fn skip(&mut self, length: usize) {
        self.reader.skip_ad(length);
    }

    /// Reads the next ad; `None` at the end of the block.
    pub fn next_ad(&mut self) -> Option<PlacedAd<'t>> {
        let (_, offset) = self.rest();
        let (items, number) = self.reader.next_ad()?;
        let end = self.reader.offset().min(self.text.len());
        Some(PlacedAd { items, number, offset, text: &self.text[offset..end] })
    }
}

/// Whether the text of an ad ends with a line that ends an ad: a blank line, a heading or a banner. If so, the ad ends in
/// any text that begins with this text.
#[must_use]
pub fn is_closed(text: &[u8]) -> bool {
    let Some(lines) = text.strip_suffix(b"\n") else { return false };
    let last = &lines[memchr::memrchr(b'\n', lines).map_or(0, |end| end + 1)..];
    LineKind::of(last.trim_ascii()).ends_ad()
}
