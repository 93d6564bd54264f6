//! The subcommands, one file or folder each. A subcommand is a struct of its clap arguments with a method `run`.

pub mod autocluster;
pub mod census;
pub mod check;
pub mod claim;
pub mod collect;
pub mod completions;
pub mod convert;
pub mod diff;
pub mod eval;
pub mod explain;
pub mod fmt;
pub mod functions;
pub mod gangmatch;
pub mod help;
pub mod r#match;
pub mod negotiate;
pub mod parse;
pub mod parts;
pub mod query;
pub mod refs;
pub mod repl;
pub mod route;
pub mod specialize;
pub mod test;
pub mod transform;
pub mod workload;
