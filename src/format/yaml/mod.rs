//! YAML: one document per ad. An ad is a mapping of names to values.
//!
//! Booleans, integers, reals, strings and `null` (undefined) are YAML's own, lists are sequences and nested ads
//! mappings. Everything else is an expression with a tag: `!expr 'Memory / 1024'`. This includes strings with bytes
//! that are not UTF-8, times, `error`, and values nested deeper than readers of YAML accept; so nothing is lost.
//!
//! This is the only module that uses `serde_yaml`.

mod config_reader;
mod deserialize;
mod diagnostics;
pub mod document_tree;
mod documents;
mod node_end;
mod reader;
mod scalar;
mod scalar_offset;
mod spans;
mod visit;
mod writer;

pub use documents::complete_prefix_length;
pub use reader::read_ads;
pub use spans::attribute_spans;
pub use writer::write;

/// Tag before the text of an expression that has no YAML value.
const EXPRESSION: &str = "expr";

#[cfg(test)]
mod tests;
