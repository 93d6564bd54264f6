//! The ads of a block. Ads in the long form may be taken by their texts, without expression trees.

use std::collections::VecDeque;

use super::attribute_cache::AttributeCache;
use super::detect::byte_order_mark_length;
use super::long::LongReader;
use super::{FileFormat, ReadCache, ReadResult, StreamBlock};

/// Number of ads in a row that are not taken by their texts. After them, no more of the block are tried.
const MAX_FAILURES: usize = 16;

/// The ads of a block, one by one.
pub struct BlockAds<'t> {
    reader: BlockAdReader<'t>,
    /// Number of ads before the next one that were not taken by their texts.
    failures: usize,
}

/// The reader of the ads that are not taken by their texts.
enum BlockAdReader<'t> {
    Long {
        text: &'t [u8],
        reader: LongReader<'t, &'t mut AttributeCache>,
        /// What was read of the last ad.
        pending: VecDeque<ReadResult>,
    },
    Other(Box<dyn Iterator<Item = ReadResult> + 't>),
}

/// The next ad of a block, or the next problem.
pub enum BlockItem {
    /// An ad without problems that was taken by its text. This is the number of the ad in the stream.
    Taken(usize),
    /// An ad that was read, or a problem.
    Read(ReadResult),
}

impl<'t> BlockAds<'t> {
    /// Begins to read a block.
    pub fn new(block: &'t StreamBlock, cache: &'t mut ReadCache) -> Self {
        let reader = if block.form == FileFormat::Long {
            let text = block.records();
            let start = byte_order_mark_length(text);
            let reader = LongReader::with_cache(text, &mut cache.long).starting_at(start, block.ads_before);
            BlockAdReader::Long { text, reader, pending: VecDeque::new() }
        } else {
            BlockAdReader::Other(Box::new(block.ads_cached(cache)))
        };
        BlockAds { reader, failures: 0 }
    }

    /// Returns the next ad or problem. `None` at the end of the block.
    ///
    /// `take` is called with the text of an ad in the long form and all that follows. It returns the length of the text up
    /// to and including the blank line behind the ad, or `None` if it does not take the ad, which is then read.
    pub fn next(&mut self, mut take: impl FnMut(&[u8]) -> Option<usize>) -> Option<BlockItem> {
        let (text, reader, pending) = match &mut self.reader {
            BlockAdReader::Long { text, reader, pending } => (*text, reader, pending),
            BlockAdReader::Other(items) => return items.next().map(BlockItem::Read),
        };
        while pending.is_empty() {
            if self.failures < MAX_FAILURES {
                if let Some(length) = take(text.get(reader.offset()..).unwrap_or_default()) {
                    self.failures = 0;
                    reader.skip_separate_ad(length);
                    return Some(BlockItem::Taken(reader.number()));
                }
                self.failures += 1;
            }
            *pending = reader.next_ad()?.0;
        }
        pending.pop_front().map(BlockItem::Read)
    }
}
