//! XML according to HTCondor's DTD: `<c>` is an ad, `<a n="...">` an attribute of it, and each type of value has its
//! own element.
//!
//! Strings and names use the escapes of C, `<s>C:\\dir\n</s>`, in addition to those of XML. HTCondor writes and reads
//! the escapes of C, too. With them every byte can be represented.

mod content;
mod grammar;
mod markup;
mod value;
mod writer;

pub use grammar::XmlGrammar;
pub use writer::write;
