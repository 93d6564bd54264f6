//! Rows of typed columns: the types of `--af`, from a schema or from a first pass over the files.

use classad::format::{Projection, StreamBlock};

use super::QueryCommand;
use super::finding::ScanFinding;
use super::scan::AdScanner;
use super::scan_task::{QueryScanState, ScanTask};
use crate::cli::io::block_pipeline::{BlockTask, for_each_block};
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, refuse, refuse_contradictions};
use crate::cli::render::parquet::{ColumnSchema, ColumnType, ObservedTypes};
use crate::cli::session::Session;

/// Refuses options that typed columns cannot have.
pub fn check_options(query: &QueryCommand) -> Result<(), Failure> {
    let is_typed = query.is_typed();
    refuse_contradictions(&[
        (!is_typed && query.schema.is_some(), "--schema needs -o parquet"),
        (
            is_typed && query.partial.is_given(),
            "--partial and -o parquet cannot be combined: write a Parquet file for each part",
        ),
        (is_typed && query.count, "--count and -o parquet cannot be combined"),
        (is_typed && query.at.is_some(), "--at and -o parquet cannot be combined"),
        (is_typed && !query.userlog.is_empty(), "-o parquet and --userlog cannot be combined: give files of ads"),
        (is_typed && query.groups.is_given(), "-o parquet cannot be combined with --group-by, --sum, --mean and so on"),
        (is_typed && query.af.is_empty(), "-o parquet needs columns: name them with --af"),
    ])
}

/// Returns the names and types of the columns. Without a schema, reads the files once for the types.
///
/// # Errors
///
/// The schema lacks a column, or a source can be read only once.
pub fn column_types(
    session: &mut Session,
    query: &QueryCommand,
    sources: &[AdSource],
    scanner: &AdScanner<'_>,
) -> Result<Vec<(String, ColumnType)>, Failure> {
    let columns = &scanner.columns.af;
    if let Some(path) = &query.schema {
        let schema = ColumnSchema::read(path)?;
        let typed = |(name, expression): &(String, _)| Ok((name.clone(), schema.column_type(name, expression)?));
        return columns.iter().map(typed).collect();
    }
    let mut observed = vec![ObservedTypes::default(); columns.len()];
    let task = TypeTask { rows: ScanTask { scanner } };
    for source in sources {
        if !source.is_file() {
            return refuse(format!(
                "{} can be read only once; give the types of columns with --schema (from `census -o json`)",
                source.name
            ));
        }
        let mut again = source.reopen().map_err(|error| Failure::unreadable(&source.name, &error))?;
        // An error is reported when the rows are read.
        session.keep_messages();
        for_each_block(session, [&mut again], &task, &mut |_, _, _, types: Vec<ObservedTypes>| {
            observed.iter_mut().zip(&types).for_each(|(all, of_block)| all.merge(of_block));
            Ok(true)
        })?;
        session.print_messages(Vec::new());
    }
    let typed = columns.iter().zip(observed).map(|((name, _), types)| {
        if let Some(mixture) = types.mixture() {
            session.note(&format!("column `{name}` is text, because it has {mixture}"));
        }
        (name.clone(), types.column_type())
    });
    Ok(typed.collect())
}

/// Observes the types of the values of rows. Problems are reported when the rows are written.
struct TypeTask<'q> {
    rows: ScanTask<'q>,
}

impl BlockTask for TypeTask<'_> {
    type State = QueryScanState;
    type Output = Vec<ObservedTypes>;

    fn new_state(&self) -> QueryScanState {
        self.rows.new_state()
    }

    fn projection<'s>(&self, state: &'s mut QueryScanState) -> Option<&'s mut Projection> {
        self.rows.projection(state)
    }

    fn run(&self, state: &mut QueryScanState, block: &StreamBlock) -> Vec<ObservedTypes> {
        let mut observed = vec![ObservedTypes::default(); self.rows.scanner.columns.af.len()];
        for finding in self.rows.run(state, block).findings {
            if let ScanFinding::Row(row) = finding {
                observed.iter_mut().zip(&row.values).for_each(|(types, value)| types.add(value));
            }
        }
        observed
    }
}
