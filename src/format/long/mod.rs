//! HTCondor's long form. An attribute is a line `name = expression`, and a blank line separates ads.

mod ad_texts;
mod attribute_names;
mod projecting_reader;
mod projection;
mod reader;
mod scan;
#[cfg(test)]
mod tests;
mod writer;

pub use ad_texts::{AdTextReader, PlacedAd, ends_with_blank_line};
pub use attribute_names::AttributeNameCollector;
pub use projecting_reader::ProjectingReader;
pub use projection::{AdSharing, Projection};
pub(super) use reader::LineParser;
pub use reader::{
    LongReader, attribute_spans, complete_prefix_length, has_quoted_name, is_comment, without_carriage_return,
};
pub use writer::SYNTAX;
