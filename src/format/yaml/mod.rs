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

use super::ad_format::{AdFormat, DocumentFrame};

/// Functions and properties of YAML.
pub const FORMAT: AdFormat = AdFormat {
    name: "YAML",
    is_htcondor_format: false,
    read: |text, dialect| Box::new(reader::YamlReader::new(text, dialect)),
    complete_prefix_length: documents::complete_prefix_length,
    write: writer::write,
    frame: DocumentFrame::NONE,
    attribute_spans: |text, offset, _| spans::attribute_spans(text, offset),
    lay_out: None,
};

/// Tag before the text of an expression that has no YAML value.
const EXPRESSION: &str = "expr";

#[cfg(test)]
mod tests;
