//! Options of `query` that do not go together.

use super::{QueryCommand, parquet_rows};
use crate::cli::outcome::{Failure, refuse_contradictions};
use crate::cli::render::output::OutputForm;

/// Refuses options that others would silently ignore.
pub fn check_options(query: &QueryCommand) -> Result<(), Failure> {
    parquet_rows::check_options(query)?;
    let (groups, has_columns) = (query.has_groups(), !query.af.is_empty() || !query.attributes.is_empty());
    refuse_contradictions(&[
        (query.former_invert > 0, "`query` does not take -v: --invert prints the other ads, --verbose reports more"),
        (groups && has_columns, "--af and --attributes cannot be used with --group-by, --sum, --mean and so on"),
        (groups && query.distinct, "--distinct cannot be used with --group-by, --sum, --mean and so on"),
        (
            query.distinct && query.af.is_empty(),
            "--distinct needs --af (not -af): it prints each row of --af only once",
        ),
        (
            query.count && has_columns && !query.distinct,
            "--count cannot be used with --af or --attributes; count different rows with --distinct and --af",
        ),
        (query.follow && groups, "--follow cannot be used with --group-by, --sum, --mean and so on: they need the end"),
        (
            query.follow && matches!(query.output.form, Some(OutputForm::Table | OutputForm::Parquet)),
            "--follow cannot be used with -o table and -o parquet: they need the end",
        ),
        (
            query.follow && !(query.condor_table.is_empty() && query.print_format.is_none()),
            "--follow cannot print tables of HTCondor's tools: they need the end",
        ),
        (query.follow && query.partial.is_given(), "--partial does not work with --follow"),
        (query.attempts && query.partial.is_given(), "--partial does not work with --attempts"),
        (query.attempts && query.writes_parquet(), "--attempts and -o parquet cannot be combined"),
    ])
}
