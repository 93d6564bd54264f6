//! XML according to HTCondor's DTD: `<c>` is an ad, and `<a n="...">` is an attribute of the ad. Each type of value has
//! an element of its own, such as `<i>` for integers.
//!
//! Strings and names use the escapes of C in addition to those of XML: `<s>C:\\dir\n</s>`. HTCondor does the same. With
//! these escapes every byte can be represented.

mod content;
mod fast_path;
mod grammar;
mod markup;
mod value;
mod writer;

pub use grammar::XmlGrammar;
pub use writer::SYNTAX;
