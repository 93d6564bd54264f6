//! XML by HTCondor's DTD: `<c>` is an ad, `<a n="...">` an attribute of it, and each type of value has
//! its element.
//!
//! The texts of strings and of names have C's escapes, `<s>C:\\dir\n</s>`, beside XML's own.  So HTCondor
//! writes and reads them, and so any byte can be carried.

mod content;
mod markup;
mod places;
mod reader;
mod shape;
mod writer;

pub use places::places;
pub use reader::Reader;
pub use shape::whole;
pub use writer::{EPILOGUE, PROLOGUE, write};
