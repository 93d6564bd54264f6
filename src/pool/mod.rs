//! Many ads at once: what a pool looks like as a whole, and which requests are alike.
//!
//! What stands here knows ads, what they mean and the advertising protocol, and nothing of matching.

mod census;
mod cluster;
mod column;
mod partition;
mod rows;
mod sorted;
mod store;
mod summary;

pub use census::Census;
pub use cluster::{CLUSTER_ID, Cluster, Clusters, Policies};
pub use column::{Cell, Cells, Column, Key, code};
pub use partition::Partition;
pub use rows::Rows;
pub use store::{Selected, Store};
pub use summary::{Content, Distinct, Range, Summary};
