//! Output for people and for scripts: tables, rows, diagnostics, charts, progress.

pub mod alignment;
pub mod chart;
pub mod diagnostics;
pub mod explanation;
pub mod expression_tree;
pub mod function_help;
pub mod gains_and_losses;
pub mod gang;
pub mod gang_writer;
pub mod json;
pub mod match_table;
pub mod output;
pub mod parquet;
pub mod progress;
pub mod references;
pub mod rows;
pub mod svg;
pub mod table;
pub mod tally_table;
pub mod terminal_text;
pub mod text_diff;
