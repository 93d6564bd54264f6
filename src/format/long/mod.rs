//! HTCondor's long form. An attribute is a line `name = expression`, and a blank line separates ads.

mod ad_texts;
mod attribute_names;
mod line_cache;
mod projecting_reader;
mod projection;
mod reader;
mod scan;
mod writer;

pub use ad_texts::{AdTextReader, PlacedAd, ends_with_blank_line};
pub use attribute_names::AttributeNameCollector;
pub use line_cache::LineCache;
pub use projecting_reader::ProjectingReader;
pub use projection::{AdSharing, Projection};
pub(super) use reader::LineParser;
pub use reader::{LongReader, attribute_spans, complete_prefix_length, is_comment, without_carriage_return};
pub use writer::SYNTAX;
