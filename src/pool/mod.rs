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

pub use autocluster::{AUTOCLUSTER_ID, PolicyExpressions, RequestCluster, RequestClusters};
pub use census::Census;
pub use column::{AttributeColumn, ColumnBuilder, ColumnCell, ValueKey, code};
pub use partition::Partition;
pub use sparse_rows::SparseRows;
pub use store::{Store, StoreSelection};
pub use summary::{AttributeSummary, BindingKind, DistinctCount, ObservedRange};
