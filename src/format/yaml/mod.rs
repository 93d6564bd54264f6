//! YAML: a document for each ad, a mapping of names to values.
//!
//! Booleans, integers, reals, strings and `null` (undefined) are YAML's own, lists are sequences and
//! nested ads mappings.  Everything else is an expression under a tag: `!expr 'Memory / 1024'`.  So that
//! nothing is lost on the way, strings with bytes that are no UTF-8, times and `error` are expressions,
//! too, and what is nested deeper than readers of YAML like.
//!
//! This is the only module that knows `serde_yaml`.

mod documents;
mod extent;
pub mod outline;
mod place;
mod places;
mod problems;
mod reader;
mod scalar;
mod settings;
mod starts;
mod values;
mod writer;

pub use documents::whole;
pub use places::places;
pub use reader::Reader;
pub use writer::write;

/// The tag of what is no value of YAML's: the text of an expression.
const EXPRESSION: &str = "expr";

#[cfg(test)]
mod tests;
