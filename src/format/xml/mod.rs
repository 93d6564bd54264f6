//! XML by HTCondor's DTD: `<c>` is an ad, `<a n="...">` an attribute of it, and each type of value has
//! its element.
//!
//! The texts of strings and of names have C's escapes, `<s>C:\\dir\n</s>`, beside XML's own.  So HTCondor
//! writes and reads them, and so any byte can be carried.

mod content;
mod markup;
mod nesting;
mod reader;
mod spans;
mod writer;

pub use nesting::whole;
pub use reader::Reader;
pub use spans::places;
pub use writer::{EPILOGUE, PROLOGUE, write};
