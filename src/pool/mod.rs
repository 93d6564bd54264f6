//! Many ads at once: what a pool looks like as a whole.
//!
//! What stands here knows ads, what they mean and the advertising protocol, and nothing of matching.

mod census;
mod column;
mod partition;
mod sorted;
mod store;
mod summary;

pub use census::Census;
pub use column::{Cell, Column, Key};
pub use partition::Partition;
pub use store::{Selected, Store};
pub use summary::{Content, Distinct, Range, Summary};
