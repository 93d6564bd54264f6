//! Writing of rows to standard output in Parquet.

use std::sync::Arc;

use classad::ad::Value;
use classad::text::counted;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::column::ParquetColumn;
use super::column_type::ColumnType;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::output::{BufferedStdout, out};
use crate::cli::session::Session;

/// Maximum number of rows in a row group.
const MAX_GROUP_ROWS: usize = 1 << 17;

/// Number of bytes of values from which on a row group is written. So the memory does not grow with the number of rows.
const MAX_GROUP_BYTES: usize = 32 << 20;

/// Writer of rows in typed columns. Rows are collected and written in groups.
pub struct ParquetWriter {
    file: SerializedFileWriter<BufferedStdout>,
    columns: Vec<ParquetColumn>,
    /// Number of rows that wait to be written.
    rows: usize,
    /// Number of bytes of their values.
    bytes: usize,
}

impl ParquetWriter {
    /// Begins a file with these columns.
    ///
    /// # Errors
    ///
    /// Standard output is a terminal, two columns have one name, or writing fails.
    pub fn new(columns: Vec<(String, ColumnType)>) -> Result<Self, Failure> {
        if Session::is_terminal() {
            return refuse("Parquet cannot go to a terminal: write it to a file, with `> ads.parquet`");
        }
        for (index, (name, _)) in columns.iter().enumerate() {
            if columns[..index].iter().any(|(before, _)| before.eq_ignore_ascii_case(name)) {
                return refuse(format!("two columns have the name `{name}`: rename one with NAME=EXPR"));
            }
        }
        let columns: Vec<ParquetColumn> =
            columns.into_iter().map(|(name, column_type)| ParquetColumn::new(name, column_type)).collect();
        let fields = columns.iter().map(ParquetColumn::schema).collect::<Result<_, _>>().map_err(failure)?;
        let schema = Type::group_type_builder("ads").with_fields(fields).build().map_err(failure)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("classad ", env!("CARGO_PKG_VERSION")).to_owned());
        let file = SerializedFileWriter::new(out(), Arc::new(schema), Arc::new(properties.build())).map_err(failure)?;
        Ok(ParquetWriter { file, columns, rows: 0, bytes: 0 })
    }

    /// Adds a row: a value for each column.
    ///
    /// # Errors
    ///
    /// Writing fails.
    pub fn push(&mut self, row: &[Value]) -> Result<(), Failure> {
        self.bytes += self.columns.iter_mut().zip(row).map(|(column, value)| column.push(value)).sum::<usize>();
        self.rows += 1;
        if self.rows >= MAX_GROUP_ROWS || self.bytes >= MAX_GROUP_BYTES {
            self.write_group().map_err(failure)?;
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.rows > 0 {
            let mut group = self.file.next_row_group()?;
            self.columns.iter_mut().try_for_each(|column| column.write_to(&mut group))?;
            group.close()?;
        }
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    /// Ends the file. Reports the values that were written as null: as notes, or as errors with `--strict`.
    ///
    /// # Errors
    ///
    /// Writing fails.
    pub fn finish(mut self, session: &mut Session) -> Result<(), Failure> {
        self.write_group().map_err(failure)?;
        self.file.finish().map_err(failure)?;
        let mut report =
            |message: &str| if session.options.strict { session.error(message) } else { session.note(message) };
        for ParquetColumn { name, column_type, errors, unfit, .. } in &self.columns {
            if *errors > 0 {
                report(&format!("column `{name}`: null replaces {}", counted(*errors, "error")));
            }
            if *unfit > 0 {
                let values = counted(*unfit, "value");
                report(&format!(
                    "column `{name}` is of type {}: null replaces {values} of other types",
                    column_type.noun()
                ));
            }
        }
        Ok(())
    }
}

/// Converts an error of the library. An error of the output keeps its kind.
fn failure(error: ParquetError) -> Failure {
    match error {
        ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
            Ok(error) => Failure::from(*error),
            Err(cause) => Failure::refused(cause.to_string()),
        },
        error => Failure::refused(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::Span;

    use super::{ColumnType, MAX_GROUP_ROWS, ParquetWriter, Session, Value};
    use crate::cli::program::session_of;
    use crate::cli::render::output::silence_stdout;

    fn writer(columns: &[(&str, ColumnType)]) -> ParquetWriter {
        silence_stdout(true);
        ParquetWriter::new(columns.iter().map(|(name, of)| ((*name).to_owned(), *of)).collect()).ok().unwrap()
    }

    #[test]
    fn a_group_ends_when_it_has_many_rows_or_bytes() {
        if Session::is_terminal() {
            return; // no file can be written to it
        }
        let mut rows = writer(&[("a", ColumnType::Boolean)]);
        let groups = |writer: &ParquetWriter| (writer.file.flushed_row_groups().len(), writer.rows);
        for _ in 0..MAX_GROUP_ROWS - 1 {
            rows.push(&[Value::Undefined]).ok().unwrap();
        }
        assert_eq!(groups(&rows), (0, MAX_GROUP_ROWS - 1));
        rows.push(&[Value::Undefined]).ok().unwrap();
        assert_eq!((groups(&rows), rows.bytes), ((1, 0), 0));
        let (mut bytes, long) = (writer(&[("a", ColumnType::String)]), Value::string("x".repeat(8 << 20)));
        for count in 1..4 {
            bytes.push(std::slice::from_ref(&long)).ok().unwrap();
            assert_eq!(groups(&bytes), (0, count));
        }
        bytes.push(&[long]).ok().unwrap();
        assert_eq!((groups(&bytes), bytes.bytes), ((1, 0), 0));
        // Nothing is no group.
        bytes.write_group().unwrap();
        assert_eq!(groups(&bytes), (1, 0));
    }

    #[test]
    fn columns_have_different_names() {
        if Session::is_terminal() {
            return; // no file can be written to it
        }
        let column = |name: &str| (name.to_owned(), ColumnType::Real);
        assert!(ParquetWriter::new(vec![column("a"), column("b"), column("A")]).is_err());
        assert!(ParquetWriter::new(vec![column("a"), column("ab")]).is_ok());
    }

    #[test]
    fn what_is_lost_is_told_at_the_end() {
        if Session::is_terminal() {
            return; // no file can be written to it
        }
        for (options, kind) in [(&["repl", "--quiet"][..], "note"), (&["repl", "--quiet", "--strict"], "error")] {
            let mut session = session_of(options);
            session.keep_messages();
            let mut writer = writer(&[("a", ColumnType::Integer), ("b", ColumnType::Boolean), ("c", ColumnType::Real)]);
            let (error, real) = (Value::error(Span::default(), "wrong"), Value::Real(0.5));
            writer.push(&[Value::Integer(1), error.clone(), real.clone()]).ok().unwrap();
            writer.push(&[real.clone(), error.clone(), Value::Undefined]).ok().unwrap();
            writer.push(&[error, real.clone(), real]).ok().unwrap();
            writer.finish(&mut session).ok().unwrap();
            let expected = [
                "column `a`: null replaces 1 error",
                "column `a` is of type integer: null replaces 1 value of other types",
                "column `b`: null replaces 2 errors",
                "column `b` is of type boolean: null replaces 1 value of other types",
            ];
            assert_eq!(session.told(), expected.map(|text| format!("{kind}: {text}")));
        }
    }
}
