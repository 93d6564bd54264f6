//! The command line. Each subcommand has a file with a struct that holds its arguments and a method `run`.

pub mod args;
mod budget_messages;
mod clock;
pub mod commands;
mod found_pairs;
pub mod io;
mod kept_messages;
mod matching_run;
mod outcome;
mod program;
mod rank_warnings;
pub mod render;
mod session;
mod shown_problems;

pub use program::run;
