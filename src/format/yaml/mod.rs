//! YAML: one document per ad. An ad is a mapping of names to values.
//!
//! Booleans, integers, reals, strings and undefined (`null`) are scalars of YAML. Lists are sequences, and nested ads
//! are mappings. Every other value is an expression with a tag: `!expr 'Memory / 1024'`. This includes times, `error`,
//! strings with bytes that are not UTF-8, and values nested too deeply for readers of YAML. So no value is changed.
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

pub use deserialize::MAX_REPEATED_BYTES;
pub use documents::complete_prefix_length;
pub use reader::read_ads;
pub use spans::attribute_spans;
pub use writer::SYNTAX;

/// Tag of a scalar that is the text of an expression: `!expr`.
const EXPRESSION: &str = "expr";

#[cfg(test)]
mod tests;
