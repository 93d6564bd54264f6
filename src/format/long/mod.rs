//! HTCondor's long form: one `name = expression` line per attribute, a blank line between ads.

mod attribute_names;
mod projecting_reader;
mod projection;
mod reader;
mod scan;
mod spans;
mod writer;

pub use attribute_names::AttributeNameCollector;
pub use projecting_reader::ProjectingReader;
pub use projection::{AdSharing, Projection};
pub use reader::{LongReader, ad_at, find_separator, is_comment};

use super::ad_format::{AdFormat, DocumentFrame};
use super::formatter::format_long;

/// Functions and properties of the long form.
pub const FORMAT: AdFormat = AdFormat {
    name: "the long form",
    is_htcondor_format: true,
    read: |text, dialect| Box::new(LongReader::new(text, dialect)),
    complete_prefix_length: reader::complete_prefix_length,
    write: writer::write,
    frame: DocumentFrame::NONE,
    attribute_spans: spans::attribute_spans,
    lay_out: Some(format_long),
};
