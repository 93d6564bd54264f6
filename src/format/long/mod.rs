//! HTCondor's long form: a `name = expression` line for each attribute, a blank line between ads.

mod names;
mod reader;
mod scan;
mod select;
mod selection;
mod writer;

pub use names::Spellings;
pub use reader::{Reader, ad_at, separator, whole};
pub use select::Selected;
pub use selection::{Selection, Sharing};
pub use writer::write;
