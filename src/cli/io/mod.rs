//! Input and output of ads: sources, selective loading, match records, atomic rewriting.

pub mod atomic_write;
pub mod cases;
pub mod input;
pub mod match_records;
pub mod parties;
pub mod selective_load;
pub mod source;
