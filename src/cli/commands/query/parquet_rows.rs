//! Rows of Parquet: the types of `--af`, from a schema or from a first pass over the files.

use classad::query::{ScanItem, ScannedBlock};

use super::QueryCommand;
use super::finding::QueryFinding;
use super::scan::QueryScanner;
use crate::cli::io::block_pipeline::for_each_block;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, refuse, refuse_contradictions};
use crate::cli::render::parquet::{ColumnSchema, ColumnType, ObservedTypes};
use crate::cli::session::Session;

/// Refuses options that do not go with Parquet.
pub fn check_options(query: &QueryCommand) -> Result<(), Failure> {
    let writes_parquet = query.writes_parquet();
    refuse_contradictions(&[
        (!writes_parquet && query.schema.is_some(), "--schema needs -o parquet"),
        (
            writes_parquet && query.partial.is_given(),
            "--partial and -o parquet cannot be combined: write a Parquet file for each part",
        ),
        (writes_parquet && query.count, "--count and -o parquet cannot be combined"),
        (writes_parquet && query.at.is_some(), "--at and -o parquet cannot be combined"),
        (writes_parquet && !query.userlog.is_empty(), "-o parquet and --userlog cannot be combined: give files of ads"),
        (
            writes_parquet && query.has_groups(),
            "-o parquet cannot be combined with --group-by, --sum, --mean and so on",
        ),
        (writes_parquet && query.af.is_empty(), "-o parquet needs columns: name them with --af"),
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
    scanner: &QueryScanner<'_>,
) -> Result<Vec<(String, ColumnType)>, Failure> {
    let columns = &scanner.selection.columns.af;
    if let Some(path) = &query.schema {
        let schema = ColumnSchema::read(path)?;
        let typed = |(name, expression): &(String, _)| Ok((name.clone(), schema.column_type(name, expression)?));
        return columns.iter().map(typed).collect();
    }
    let mut observed = vec![ObservedTypes::default(); columns.len()];
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
        for_each_block(session, [&mut again], scanner, &mut |_, _, _, scanned: ScannedBlock<QueryFinding>| {
            for item in scanned.items {
                if let ScanItem::Found(QueryFinding::Row(row)) = item {
                    observed.iter_mut().zip(&row.values).for_each(|(types, value)| types.add(value));
                }
            }
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
