//! Blocks of a stream: complete ads, and the place of each in the stream.

use super::event_log::{EventLogReader, EventYears, YearlessEvents};
use super::long::LongReader;
use super::{
    AdEntry, AttributeSpan, DescribedAds, FileFormat, Position, ProjectingReader, Projection, ReadCache, ReadResult,
    attribute_spans, read, read_cached,
};
use std::sync::Arc;

use crate::ad::Dialect;

/// A part of a stream that consists of complete ads.
#[derive(Clone, Debug)]
pub struct StreamBlock {
    /// The text of the block: complete ads. The last block also has everything behind the last ad.
    pub text: Vec<u8>,
    /// The format of the text.
    pub form: FileFormat,
    /// Position in the stream at which the block begins.
    pub start: Position,
    /// Number of ads of the stream before this block. [`Stream`](super::Stream) does not count ads and sets 0, so the caller must set
    /// this number.
    pub ads_before: usize,
    /// Whether the block is the end of a history file behind its last banner: the beginning of a record that is still
    /// being written. It has no ad.
    pub is_unfinished: bool,
    /// The time at which the stream was written last, in seconds since 1970, for events without years; `None` if it is
    /// unknown. [`Stream`](super::Stream) does not know it, so the caller must set it.
    pub written_at: Option<i64>,
    /// The time of the latest event before the block, in seconds since 1970, for events without years. `None` if no event
    /// before has a known time.
    pub latest_event_before: Option<i64>,
    /// The ads that the text describes; `None` for a text that contains its ads. [`Stream`](super::Stream) does not make
    /// them, so the caller must set them.
    pub described: Option<Arc<DescribedAds>>,
}

impl StreamBlock {
    /// Creates a block from a text that is a whole stream.
    #[must_use]
    pub fn from_complete_text(text: impl Into<Vec<u8>>, form: FileFormat) -> Self {
        StreamBlock {
            text: text.into(),
            form,
            start: Position::START,
            ads_before: 0,
            is_unfinished: false,
            written_at: None,
            latest_event_before: None,
            described: None,
        }
    }

    /// Reads the ads of the block. The first ad has the number `ads_before` + 1. Byte offsets count from the beginning
    /// of the block.
    pub fn ads(&self, dialect: Dialect) -> impl Iterator<Item = ReadResult> + '_ {
        self.numbered(match (self.form, &self.described) {
            (_, Some(described)) => Box::new(described.items.iter().cloned()),
            (FileFormat::EventLog, _) => self.events(dialect),
            (form, _) => read(self.records(), form, dialect),
        })
    }

    /// Reads the ads of the block as [`StreamBlock::ads`] does, faster if `cache` has read similar ads.
    pub fn ads_cached<'t>(&'t self, cache: &'t mut ReadCache) -> impl Iterator<Item = ReadResult> + 't {
        self.numbered(match (self.form, &self.described) {
            (_, Some(described)) => Box::new(described.items.iter().cloned()),
            (FileFormat::EventLog, _) => self.events(cache.dialect),
            (form, _) => read_cached(self.records(), form, cache),
        })
    }

    /// Returns the places of the attributes of the ad at byte `offset` of the block, as [`attribute_spans`] does.
    #[must_use]
    pub fn attribute_spans(&self, offset: usize, dialect: Dialect) -> Vec<AttributeSpan> {
        match &self.described {
            Some(described) => described.attribute_spans(offset).to_vec(),
            None => attribute_spans(&self.text, self.form, offset, dialect),
        }
    }

    fn events(&self, dialect: Dialect) -> Box<dyn Iterator<Item = ReadResult> + '_> {
        Box::new(
            EventLogReader::new(self.records(), dialect)
                .written_at(self.written_at)
                .following(self.latest_event_before),
        )
    }

    /// Returns which events of the block have no year of their own; `None` if all have one, or if no time is known by
    /// which they can get one.
    #[must_use]
    pub fn yearless_events(&self) -> Option<YearlessEvents> {
        let written = self.written_at.filter(|_| self.form == FileFormat::EventLog)?;
        EventYears::of(self.records(), written, self.latest_event_before).yearless
    }

    /// Returns the text with its complete ads.
    pub(super) fn records(&self) -> &[u8] {
        if self.is_unfinished { &[] } else { &self.text }
    }

    /// Numbers items of the block by their place in the stream.
    fn numbered<'t>(&self, items: impl Iterator<Item = ReadResult> + 't) -> impl Iterator<Item = ReadResult> + 't {
        let before = self.ads_before;
        items.map(move |item| numbered(item, before))
    }

    /// Reads the ads of the block, but only the attributes in a projection. Uses the dialect of the projection. The
    /// block must be in the long form.
    pub fn project<'t, 's>(&'t self, selection: &'s mut Projection) -> ProjectingReader<'t, 's> {
        ProjectingReader::new(self.records(), self.ads_before, selection)
    }

    /// Reads all attributes of the ad that begins at byte `offset` of the block. Yields the ad or its problems.
    /// `number` is the 1-based number of the ad in the stream. The block must be in the long form.
    pub fn ad_at(
        &self,
        offset: usize,
        number: usize,
        cache: &mut ReadCache,
    ) -> impl Iterator<Item = ReadResult> + use<> {
        let reader = LongReader::with_cache(&self.text, &mut cache.long);
        reader.starting_at(offset, number.saturating_sub(1)).into_next_ad().into_iter()
    }

    /// Returns the position in the stream of byte `offset` of the block.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        self.start.after(&self.text[..offset.min(self.text.len())])
    }
}

/// Numbers an item by its place in the stream. The stream has `before` ads before the block.
pub fn numbered(item: ReadResult, before: usize) -> ReadResult {
    match item {
        Ok(entry) => Ok(AdEntry { number: entry.number + before, ..entry }),
        Err(problem) => Err(problem.after_ads(before)),
    }
}
