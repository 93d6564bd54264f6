//! HTCondor's long form: one `name = expression` line per attribute, a blank line between ads.

mod attribute_names;
mod projecting_reader;
mod projection;
mod reader;
mod scan;
mod writer;

pub use attribute_names::Spellings;
pub use projecting_reader::Selected;
pub use projection::{Selection, Sharing};
pub use reader::{Reader, ad_at, separator, whole};
pub use writer::write;
