//! Results about single jobs, as `--when` and `--when-start` print them: rows, JSON, or a text.

use std::io::Write;

use serde_json::Value as Json;

use crate::cli::args::output::TableOutputArgs;
use crate::cli::outcome::Failure;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell};

/// Writes results in the form that is asked for. Rows and reports come with the index of their job, and are written in the
/// order of the jobs; `document` makes the document of the reports.
pub fn write_job_results(
    output: TableOutputArgs,
    (columns, rows): (&[&str], impl FnOnce() -> Vec<(usize, Vec<TableCell>)>),
    (reports, document): (impl FnOnce() -> Vec<(usize, Json)>, impl FnOnce(Vec<Json>) -> Json),
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if output.form.is_some_and(OutputForm::has_lines_of_cells) {
        return output.write(&ResultTable::with_rows(columns, in_order(rows())));
    }
    let mut out = out();
    let written = match output.form {
        Some(OutputForm::Jsonl) => in_order(reports()).iter().try_for_each(|report| writeln!(out, "{report}")),
        Some(OutputForm::Json) => writeln!(out, "{:#}", document(in_order(reports()))),
        _ => write!(out, "{}", text()),
    };
    written.map_err(Failure::from)
}

fn in_order<T>(mut of_jobs: Vec<(usize, T)>) -> Vec<T> {
    of_jobs.sort_by_key(|(job, _)| *job);
    of_jobs.into_iter().map(|(_, result)| result).collect()
}
