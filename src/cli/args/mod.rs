//! Groups of clap arguments that commands share, HTCondor's options, and the user's defaults.

pub mod acceleration;
pub mod ad_files;
pub mod advertising;
pub mod condor_options;
pub mod config_file;
pub mod foreign_options;
pub mod global;
pub mod matching;
pub mod named_expressions;
pub mod notify;
pub mod output;
pub mod partial_result;
pub mod partial_scope;
pub mod policy;
pub mod share;
pub mod suggested_values;
