//! YAML: a document for each ad, a mapping of names to values.
//!
//! Booleans, integers, reals, strings and `null` (undefined) are YAML's own, lists are sequences and
//! nested ads mappings.  Everything else is an expression under a tag: `!expr 'Memory / 1024'`.  So that
//! nothing is lost on the way, strings with bytes that are no UTF-8, times and `error` are expressions,
//! too, and what is nested deeper than readers of YAML like.
//!
//! This is the only module that knows `serde_yaml`.

mod config_reader;
mod deserialize;
mod diagnostics;
pub mod document_tree;
mod documents;
mod node_end;
mod reader;
mod scalar;
mod scalar_offset;
mod scalar_positions;
mod spans;
mod writer;

pub use documents::whole;
pub use reader::Reader;
pub use spans::places;
pub use writer::write;

/// The tag of what is no value of YAML's: the text of an expression.
const EXPRESSION: &str = "expr";

#[cfg(test)]
mod tests;
