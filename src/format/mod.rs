//! Files of ads: detecting their format, reading them ad by ad, writing them.
//!
//! A bad ad never stops the reading and is never dropped silently: the reader yields a [`Problem`] in its place.

mod ad_format;
mod attribute_name;
mod attribute_span;
mod bracketed;
mod detect;
mod diagnostic;
mod formatter;
mod json;
mod long;
mod nested_reader;
mod nested_writer;
mod read_buffer;
mod source_map;
mod stream;
#[cfg(test)]
mod testing;
mod writer;
mod xml;
mod yaml;

use std::io::{self, Write};

pub use attribute_span::AttributeSpan;
pub(crate) use detect::byte_order_mark_length;
pub use detect::{FileFormat, detect, format_of_comments, is_compressed};
pub use diagnostic::{Position, Problem, Severity};
pub use formatter::{FormattedText, format_ads};
pub use long::{AdSharing, AttributeNameCollector, ProjectingReader, Projection};
pub use stream::{Stream, StreamBlock};
pub use writer::AdDocumentWriter;
pub use yaml::document_tree;

use crate::ad::{Ad, Dialect, Name};
use crate::syntax::LossyChange;

/// An ad read from a file, with the number and the offset of the ad in the file.
#[derive(Clone, Debug)]
pub struct AdEntry {
    /// The ad, with all its attributes or only those of the projection.
    pub ad: Ad,
    /// 1-based number of the ad in its file; bad ads are counted, too.
    pub number: usize,
    /// Byte offset of the ad in the text.
    pub offset: usize,
    /// Whether the ad has all its attributes. `false` if a projection read only some of them.
    pub is_whole: bool,
}

/// An ad, or the problem that a reader found in its place.
pub type ReadResult = Result<AdEntry, Problem>;

/// Returns an iterator that reads the ads of a text one by one.
#[must_use]
pub fn read<'t>(text: &'t [u8], form: FileFormat, dialect: Dialect) -> Box<dyn Iterator<Item = ReadResult> + 't> {
    (form.ad_format().read)(text, dialect)
}

/// Returns the length in bytes of the longest prefix of `window` that contains only complete ads.
///
/// Returns 0 if no ad is complete yet, or if more text is needed to know where the first ad ends.
#[must_use]
pub fn complete_prefix_length(window: &[u8], form: FileFormat) -> usize {
    (form.ad_format().complete_prefix_length)(window)
}

/// Writes one ad in a format; [`AdDocumentWriter`] writes several into one document.
///
/// Returns the changes that were made because the format cannot represent the ad exactly, each with its attribute.
///
/// # Errors
///
/// I/O errors of `out`.
pub fn write(out: &mut dyn Write, ad: &Ad, form: FileFormat) -> io::Result<Vec<(Name, LossyChange)>> {
    (form.ad_format().write)(out, ad)
}

/// Returns the places of the attributes of the ad that begins at `offset`, in the order of the text.
///
/// An attribute that is written several times appears as often. In YAML, attributes whose place is uncertain are left
/// out.
#[must_use]
pub fn attribute_spans(text: &[u8], form: FileFormat, offset: usize, dialect: Dialect) -> Vec<AttributeSpan> {
    (form.ad_format().attribute_spans)(text, offset, dialect)
}
