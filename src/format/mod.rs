//! Files of ads: detection of their format, readers, and writers.
//!
//! A bad ad never ends the reading and is never left out silently. The reader yields a [`Problem`] in its place.

mod ad_builder;
mod ad_syntax;
mod ad_text;
mod attribute_cache;
mod attribute_form;
mod attribute_name;
mod attribute_predictor;
mod attribute_span;
mod attribute_text;
mod attribute_text_cache;
mod attribute_text_reader;
mod backward_stream;
mod block_ads;
mod bracketed;
mod dag;
mod decoders;
mod described_ads;
mod detect;
mod diagnostic;
mod document;
mod document_nesting;
mod event_log;
mod formatter;
mod forms;
mod job_queue_log;
mod json;
mod lazy_ad;
mod long;
mod nested_boundaries;
mod nested_reader;
mod nested_writer;
mod open_document;
mod other_text;
mod part;
mod read_buffer;
mod shape_cache;
mod source_map;
mod stream;
mod stream_block;
mod stream_limits;
#[cfg(test)]
mod stream_tests;
mod submit_signs;
#[cfg(test)]
pub(crate) mod testing;
mod transcriber;
mod unpacking;
mod wrapped_text;
mod writer;
mod xml;
mod yaml;

pub use attribute_form::{AdText, AttributeForm};
pub use attribute_span::AttributeSpan;
pub(crate) use attribute_span::SourcePiece;
pub(crate) use attribute_text_cache::AttributeWriter;
pub(crate) use attribute_text_reader::AttributeTextReader;
pub use backward_stream::BackwardStream;
pub use block_ads::{BlockAds, BlockItem};
pub use described_ads::DescribedAds;
pub(crate) use detect::byte_order_mark_length;
pub use detect::{FileFormat, detect, form_of_ads, format_of_comments, is_compressed};
pub use diagnostic::{Position, Problem, Severity};
pub use event_log::YearlessEvents;
pub use formatter::{FormattedBlock, FormattedBlockJoiner, FormattedText, LongFormatter, format_ads};
pub use forms::{FORMS, FormFacts};
pub use job_queue_log::{ACCOUNT_TABLE, log_length_until};
pub(crate) use lazy_ad::{AdTextPlan, LazyAd, LazyAdReader};
pub use long::{
    AdSharing, AdTextReader, AttributeNameCollector, LineKind, PlacedAd, PrefilterVerdict, ProjectingReader,
    Projection, is_closed,
};
pub use part::{PartBoundary, has_parts, part_boundary};
pub use stream::Stream;
pub use stream_block::StreamBlock;
pub use stream_limits::{MAX_AD_BYTES, StreamLimits};
pub use transcriber::{AdTranscriber, BlockTranscription};
pub use unpacking::{MAX_UNPACK_RATIO, UNLIMITED_UNPACKED_BYTES, unpacked};
pub use writer::{AdBatch, AdBatchWriter, AdDocumentWriter, write};
pub use yaml::{MAX_REPEATED_BYTES, document_tree};

use crate::ad::{Ad, Dialect};
use crate::syntax::{ParseOptions, complete_ads_length};

use attribute_cache::AttributeCache;
use bracketed::BracketedReader;
use event_log::EventLogReader;
use json::JsonGrammar;
use long::LongReader;
use nested_reader::RecoveringReader;
use xml::XmlGrammar;

/// An ad that was read from a file, with its number and byte offset.
#[derive(Clone, Debug)]
pub struct AdEntry {
    /// The ad. If a projection was used, it has only the attributes of the projection.
    pub ad: Ad,
    /// 1-based number of the ad in its file. Bad ads are counted, too.
    pub number: usize,
    /// Byte offset of the ad in the text that was read.
    pub offset: usize,
    /// Whether the ad has all its attributes. `false` if a projection read only some of them.
    pub is_whole: bool,
    /// Number of attributes at the end of the ad that stand only in the banner behind the record, in a history file.
    pub banner_attributes: usize,
}

/// An ad, or a problem that a reader found. A bad ad can have several problems.
pub type ReadResult = Result<AdEntry, Problem>;

/// What readers remember of the ads that they have read. Names, expressions and whole lines that repeat are read faster,
/// and the ads share them in memory.
///
/// One cache serves all texts of a source, or of several sources. It does not change what is read. Its memory is
/// bounded.
pub struct ReadCache {
    dialect: Dialect,
    long: AttributeCache,
    bracketed: AttributeCache,
    json: AttributeCache,
    xml: AttributeCache,
}

impl ReadCache {
    /// Creates an empty cache for texts of a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        let long = AttributeCache::new(ParseOptions::long(dialect));
        let [bracketed, json, xml] = [(); 3].map(|()| AttributeCache::new(ParseOptions::new(dialect)));
        ReadCache { dialect, long, bracketed, json, xml }
    }

    /// Leaves out the attributes that stand only in the banners behind the records of history files.
    #[must_use]
    pub fn without_banner_attributes(mut self) -> Self {
        self.long.adds_banners = false;
        self
    }
}

/// Returns an iterator that reads the ads of a text one by one.
#[must_use]
pub fn read<'t>(text: &'t [u8], form: FileFormat, dialect: Dialect) -> Box<dyn Iterator<Item = ReadResult> + 't> {
    let cache = || AttributeCache::new(ParseOptions::new(dialect));
    match form {
        FileFormat::Long => Box::new(LongReader::new(text, dialect)),
        FileFormat::Bracketed => Box::new(BracketedReader::new(text, dialect)),
        FileFormat::Json | FileFormat::JsonLines => {
            Box::new(RecoveringReader::<JsonGrammar, _>::with_cache(text, cache()))
        }
        FileFormat::Xml => Box::new(RecoveringReader::<XmlGrammar, _>::with_cache(text, cache())),
        FileFormat::Yaml => Box::new(yaml::read_ads(text, dialect)),
        FileFormat::EventLog => Box::new(EventLogReader::new(text, dialect)),
        FileFormat::JobQueueLog => Box::new(job_queue_log::read_job_queue_log(text, dialect)),
        FileFormat::Dag => Box::new(dag::read_dag(text)),
        FileFormat::Submit => Box::new(std::iter::once(Err(Problem::error_at(
            0..0,
            0,
            "a submit file has no ads: `submit::describe_jobs` makes them",
        )))),
    }
}

/// Reads the ads of a text that is a whole document, as [`read`] does. A problem follows them if the document is torn.
pub fn read_document(text: &[u8], form: FileFormat, dialect: Dialect) -> impl Iterator<Item = ReadResult> + '_ {
    read(text, form, dialect).chain(document::document_problem(text, form).map(Err))
}

/// Reads the ads of a text as [`read`] does, faster if `cache` has read similar ads.
#[must_use]
pub fn read_cached<'t>(
    text: &'t [u8],
    form: FileFormat,
    cache: &'t mut ReadCache,
) -> Box<dyn Iterator<Item = ReadResult> + 't> {
    match form {
        FileFormat::Long => Box::new(LongReader::with_cache(text, &mut cache.long)),
        FileFormat::Bracketed => Box::new(BracketedReader::with_cache(text, &mut cache.bracketed)),
        FileFormat::Json | FileFormat::JsonLines => {
            Box::new(RecoveringReader::<JsonGrammar, _>::with_cache(text, &mut cache.json))
        }
        FileFormat::Xml => Box::new(RecoveringReader::<XmlGrammar, _>::with_cache(text, &mut cache.xml)),
        FileFormat::Yaml | FileFormat::EventLog | FileFormat::JobQueueLog | FileFormat::Submit | FileFormat::Dag => {
            read(text, form, cache.dialect)
        }
    }
}

/// Returns the length in bytes of the longest prefix of `window` that contains only complete ads.
///
/// Returns 0 if no ad is complete yet, or if only more text can show where the first ad ends.
#[must_use]
pub fn complete_prefix_length(window: &[u8], form: FileFormat) -> usize {
    match form {
        FileFormat::Long => long::complete_prefix_length(window),
        FileFormat::Bracketed => complete_ads_length(window),
        FileFormat::Json => nested_boundaries::complete_prefix_length::<JsonGrammar>(window),
        FileFormat::JsonLines => {
            let last = json::last_ad_line(window).unwrap_or(0);
            last + nested_boundaries::complete_prefix_length::<JsonGrammar>(&window[last..])
        }
        FileFormat::Xml => nested_boundaries::complete_prefix_length::<XmlGrammar>(window),
        FileFormat::Yaml => yaml::complete_prefix_length(window),
        FileFormat::EventLog => event_log::complete_prefix_length(window),
        // Any later line may change any ad.
        FileFormat::JobQueueLog | FileFormat::Submit | FileFormat::Dag => 0,
    }
}

/// Returns the places of the attributes of the ad that begins at byte `offset`, in the order of the text.
///
/// An attribute that is written several times is returned several times. In YAML, attributes whose place is uncertain
/// are left out. For logs and submit files there are none; those of jobs are [`StreamBlock::attribute_spans`].
#[must_use]
pub fn attribute_spans(text: &[u8], form: FileFormat, offset: usize, dialect: Dialect) -> Vec<AttributeSpan> {
    match form {
        FileFormat::Long => long::attribute_spans(text, offset, dialect),
        FileFormat::Bracketed => bracketed::attribute_spans(text, offset, dialect),
        FileFormat::Json | FileFormat::JsonLines => {
            nested_reader::attribute_spans::<JsonGrammar>(text, offset, dialect)
        }
        FileFormat::Xml => nested_reader::attribute_spans::<XmlGrammar>(text, offset, dialect),
        FileFormat::Yaml => yaml::attribute_spans(text, offset),
        FileFormat::EventLog | FileFormat::JobQueueLog | FileFormat::Submit | FileFormat::Dag => Vec::new(),
    }
}
