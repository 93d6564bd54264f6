//! The option of commands that write partial results.

use clap::Args;

/// Whether a partial result is written, and where its files are.
#[derive(Args, Default)]
pub struct PartialResultArgs {
    /// Write a partial result for `classad merge`. HOST names the host of the files, if several hosts have files
    #[arg(long, value_name = "HOST", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    partial: Option<String>,
}

impl PartialResultArgs {
    pub fn is_given(&self) -> bool {
        self.partial.is_some()
    }

    /// Returns the host of the files; empty if it is not named. `None` if no partial result is written.
    pub fn host(&self) -> Option<&str> {
        self.partial.as_deref()
    }
}
