//! Many ads at once: what a pool looks like as a whole, and which requests are alike.
//!
//! What stands here knows ads, what they mean and the advertising protocol, and nothing of matching.

mod autocluster;
mod census;
mod column;
pub mod diff;
mod partition;
mod range_index;
mod sparse_rows;
mod store;
mod summary;

pub use autocluster::{CLUSTER_ID, Cluster, Clusters, Policies};
pub use census::Census;
pub use column::{Cell, Cells, Column, Key, code};
pub use partition::Partition;
pub use sparse_rows::Rows;
pub use store::{Selected, Store};
pub use summary::{Content, Distinct, Range, Summary};
