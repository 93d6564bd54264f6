//! The options `--output` and `--no-header`, and writing of result tables in the form that they select.

use clap::Args;

use crate::cli::Failure;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::ResultTable;

/// The options of commands whose results are tables.
#[derive(Args, Clone, Copy)]
pub struct TableOutputArgs {
    /// The form of the output
    #[arg(id = "output", short, long = "output", value_name = "FORM")]
    pub form: Option<OutputForm>,
    /// Leave the heading out
    #[arg(long)]
    pub no_header: bool,
}

impl TableOutputArgs {
    /// Writes a table to standard output.
    ///
    /// # Errors
    ///
    /// The form is for whole ads or trees, not for tables, or writing fails.
    pub fn write(self, table: &ResultTable) -> Result<(), Failure> {
        table.write(&mut out(), self.form, !self.no_header)
    }
}
