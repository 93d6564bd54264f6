//! HTCondor's long form. An attribute is a line `name = expression`, and a blank line separates ads.

mod ad_interner;
mod ad_texts;
mod attribute_names;
mod banner;
mod boundaries;
mod line_kind;
mod line_parser;
mod projecting_reader;
mod projection;
mod reader;
#[cfg(test)]
mod record_tests;
mod scan;
mod statement_lines;
#[cfg(test)]
mod tests;
mod writer;

pub use ad_interner::AdSharing;
pub use ad_texts::{AdTextReader, PlacedAd, is_closed};
pub use attribute_names::AttributeNameCollector;
pub(super) use banner::banner_problem;
pub use boundaries::{closed_line_end, complete_prefix_length, ends_with_banner, is_separator, unfinished_length};
pub use line_kind::{LineKind, without_carriage_return};
pub(super) use line_parser::LineParser;
pub use line_parser::has_quoted_name;
pub use projecting_reader::ProjectingReader;
pub use projection::{PrefilterVerdict, Projection};
pub use reader::{LongReader, attribute_spans};
pub use statement_lines::{BEGINNING_BYTES, JDL_REFUSAL, Statements};
pub use writer::SYNTAX;
