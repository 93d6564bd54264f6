//! XML according to HTCondor's DTD: `<c>` is an ad, `<a n="...">` an attribute of it, and each type of value has its
//! own element.
//!
//! Strings and names use the escapes of C, `<s>C:\\dir\n</s>`, in addition to those of XML. HTCondor writes and reads
//! the escapes of C, too. With them every byte can be represented.

mod content;
mod grammar;
mod markup;
mod spans;
mod value;
mod writer;

pub use grammar::XmlGrammar;

use super::ad_format::{AdFormat, DocumentFrame};
use super::nested_reader::{RecoveringReader, complete_prefix_length};

/// Iterator over the ads of a text.
pub type XmlReader<'t> = RecoveringReader<'t, XmlGrammar>;

/// Functions and properties of XML. The prologue is the one that HTCondor writes.
pub const FORMAT: AdFormat = AdFormat {
    name: "XML",
    is_htcondor_format: true,
    read: |text, dialect| Box::new(XmlReader::new(text, dialect)),
    complete_prefix_length: |text| complete_prefix_length::<XmlGrammar>(text),
    write: writer::write,
    frame: DocumentFrame {
        prologue: "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n",
        separator: None,
        epilogue: "</classads>\n",
        empty: "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n</classads>\n",
    },
    attribute_spans: |text, offset, _| spans::attribute_spans(text, offset),
    lay_out: None,
};
