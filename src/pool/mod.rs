//! Structures over many ads: column store, indexes, autoclusters, census and diff.
//!
//! This floor knows ads, their evaluation and the advertising protocol, but not matching.

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
