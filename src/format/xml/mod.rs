//! XML according to HTCondor's DTD: `<c>` is an ad, `<a n="...">` an attribute of it, and each type of value has its
//! own element.
//!
//! Strings and names use the escapes of C, `<s>C:\\dir\n</s>`, in addition to those of XML. HTCondor writes and reads
//! them in this way, and so every byte can be represented.

mod content;
mod markup;
mod nesting;
mod reader;
mod spans;
mod writer;

pub use nesting::complete_prefix_length;
pub use reader::XmlReader;
pub use spans::attribute_spans;
pub use writer::{EPILOGUE, PROLOGUE, write};
