//! The ads of a block. Ads in the long form and in JSON may be taken by their texts, without expression trees.

use std::collections::VecDeque;

use super::attribute_cache::AttributeCache;
use super::attribute_form::{AdText, AttributeForm};
use super::detect::byte_order_mark_length;
use super::json::JsonGrammar;
use super::long::LongReader;
use super::nested_reader::{ReadItem, RecoveringReader};
use super::stream_block::numbered;
use super::{ReadCache, ReadResult, StreamBlock};

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
    Json {
        reader: RecoveringReader<'t, JsonGrammar, &'t mut AttributeCache>,
        /// Number of ads of the stream before the block.
        ads_before: usize,
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
        let text = block.records();
        let reader = match AttributeForm::of(block.form) {
            Some(AttributeForm::Long) => {
                let start = byte_order_mark_length(text);
                let reader = LongReader::with_cache(text, &mut cache.long).starting_at(start, block.ads_before);
                BlockAdReader::Long { text, reader, pending: VecDeque::new() }
            }
            Some(AttributeForm::Json) => {
                let reader = RecoveringReader::with_cache(text, &mut cache.json);
                BlockAdReader::Json { reader, ads_before: block.ads_before }
            }
            None => BlockAdReader::Other(Box::new(block.ads_cached(cache))),
        };
        BlockAds { reader, failures: 0 }
    }

    /// Returns the next ad or problem. `None` at the end of the block.
    ///
    /// `take` is called with the text of an ad and all that follows. It returns the length of the ad, or `None` if it
    /// does not take the ad, which is then read. In the long form, the blank line behind the ad counts.
    pub fn next(&mut self, mut take: impl FnMut(AdText) -> Option<usize>) -> Option<BlockItem> {
        let failures = &mut self.failures;
        let mut try_take = |bytes: &[u8], form| {
            if *failures >= MAX_FAILURES {
                return None;
            }
            let taken = take(AdText { bytes, form });
            *failures = if taken.is_some() { 0 } else { *failures + 1 };
            taken
        };
        match &mut self.reader {
            BlockAdReader::Long { text, reader, pending } => {
                while pending.is_empty() {
                    let rest = text.get(reader.offset()..).unwrap_or_default();
                    if let Some(length) = try_take(rest, AttributeForm::Long) {
                        reader.skip_separate_ad(length);
                        return Some(BlockItem::Taken(reader.number()));
                    }
                    *pending = reader.next_ad()?.0;
                }
                pending.pop_front().map(BlockItem::Read)
            }
            BlockAdReader::Json { reader, ads_before } => {
                let item = reader.next_or_skip(&mut |text| try_take(text, AttributeForm::Json))?;
                Some(match item {
                    ReadItem::Skipped(number) => BlockItem::Taken(number + *ads_before),
                    ReadItem::Read(read) => BlockItem::Read(numbered(read, *ads_before)),
                })
            }
            BlockAdReader::Other(items) => items.next().map(BlockItem::Read),
        }
    }
}
