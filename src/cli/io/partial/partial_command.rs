//! Commands that are to run on parts of their files, or in shares of the work.

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::global::GlobalOptions;

/// A command that is to run on parts of its files, or in shares.
pub struct PartialCommand {
    /// The arguments, with HTCondor's options as this program spells them.
    pub arguments: Vec<String>,
    pub input: PartialInput,
    pub options: GlobalOptions,
}

/// What the runs of a [`PartialCommand`] read.
#[derive(Clone)]
pub enum PartialInput {
    /// Each a part of the files that are named, and of those of lists.
    Parts(AdFilesArgs),
    /// All of them the same files: those of requests, which are arguments, and those of offers.
    Shares([Vec<String>; 2]),
}

/// Returns the index of the argument `--`, or else the number of arguments: options can be inserted there.
pub fn end_of_options(arguments: &[String]) -> usize {
    arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len())
}
