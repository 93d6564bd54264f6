//! Groups of clap arguments that commands share, and the other places where options come from.

pub mod acceleration;
pub mod advertising;
pub mod condor_options;
pub mod config_file;
pub mod global;
pub mod matching;
pub mod notify;
pub mod partial_scope;
pub mod policy;
