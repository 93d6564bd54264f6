//! Structures over many ads: column store, indexes, autoclusters, census and diff.
//!
//! This module knows ads, their evaluation and the advertising protocol, but not matching.

#[cfg(feature = "anonymize")]
pub mod anonymize;
mod autocluster;
mod bound_column;
mod census;
mod census_counter;
mod chunked_text;
mod class_memo;
mod code;
mod coded_expressions;
mod column;
mod column_builder;
mod constants;
mod dictionary_column;
pub mod diff;
mod exact_sum;
mod expression_column;
mod number_counts;
mod partition;
mod range_index;
mod row_lists;
mod sparse_rows;
mod store;
mod summary;
mod text_census;
mod text_models;
mod value_codes;
mod value_key;
mod value_sample;

pub use autocluster::{
    AUTOCLUSTER_ATTRIBUTES, AUTOCLUSTER_ID, AUTOCLUSTER_SIGNATURE, PolicyExpressions, RequestCluster, RequestClusters,
    SignificantNames,
};
pub use bound_column::{BoundCollector, BoundColumn};
pub use census::Census;
pub use census_counter::{CensusCounter, CensusPart};
pub use class_memo::ClassMemo;
pub use code::code;
pub use coded_expressions::{CodedExpressions, code_expressions};
pub use column::AttributeColumn;
pub use constants::is_constant;
pub use dictionary_column::ColumnCell;
pub use exact_sum::{ExactSum, Total};
pub use expression_column::ExpressionColumn;
pub use number_counts::NumberCounts;
pub use partition::Partition;
pub use range_index::{PositionRange, RowTest};
pub use row_lists::RowLists;
pub use sparse_rows::{SparseRows, WORD_BITS, bit_rows};
pub use store::{Dependencies, Store, StoreValues};
pub use summary::{AttributeSummary, BindingKind, DistinctCount, ObservedRange};
pub use text_census::TextCensusCounter;
pub use text_models::{AdModel, AdTextModels, ModelledAd};
pub use value_codes::ScalarKind;
pub use value_key::ValueKey;
