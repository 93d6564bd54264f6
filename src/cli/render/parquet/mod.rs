//! Typed columns in Apache Parquet.

mod column;
mod column_type;
mod schema;
mod writer;

pub use column_type::{ColumnType, ObservedTypes};
pub use schema::ColumnSchema;
pub use writer::ParquetWriter;
