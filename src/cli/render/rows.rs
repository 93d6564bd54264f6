//! Results as rows of cells: tables, CSV, tab-separated values, Markdown, JSON.

use std::io::{self, Write};

use classad::ad::{Dialect, Expression, Value};
use classad::syntax::{ParseOptions, Style, parse_expression, print_value};

use serde::{Deserialize, Serialize};

use super::diagnostics;
use super::json::{JsonValueWriter, value_json};
use super::output::OutputForm;
use super::table::TableLayout;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Returns the text of a value. With `raw`, the text of a string has no quotes and escapes.
pub fn value_text(value: &Value, raw: bool) -> Vec<u8> {
    match value {
        Value::String(text) if raw => text.as_bytes().to_vec(),
        value => print_value(value, Style::New),
    }
}

/// Maximum number of cells of the table of autoclusters. Thousands of them can have thousands of attributes, mostly without
/// values.
pub const MAX_CLUSTER_CELLS: usize = 1 << 20;

/// Number of steps for comparisons that writing the text of a row counts as, where rows are made of pairs of ads.
pub fn steps_of_text(row: &[TableCell]) -> u64 {
    const BYTES_PER_STEP: usize = 16;
    row.iter().map(|cell| (cell.text.len() / BYTES_PER_STEP) as u64).sum()
}

/// Number of times that a table holds a row until it is printed: the cells, their texts, and their lines.
const LAYOUTS_PER_ROW: usize = 4;

/// Number of bytes that a row takes in memory: its cells with two copies of their texts, as JSON has one.
pub fn bytes_of_row(row: &[TableCell]) -> usize {
    const BYTES_PER_TEXT: usize = 32;
    let of_cell = |cell: &TableCell| size_of::<TableCell>() + 2 * (cell.text.len() + BYTES_PER_TEXT);
    size_of::<Vec<TableCell>>() + row.iter().map(of_cell).sum::<usize>()
}

/// An error in JSON, as HTCondor marks expressions in it.
const ERROR_IN_JSON: &str = "/Expr(error)/";

/// A field of a row: its text, and its JSON value.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TableCell {
    pub text: String,
    json: serde_json::Value,
}

/// Implements the conversion of values of simple types, such as `usize`, to cells. The text of the cell is what
/// `to_string` returns.
macro_rules! plain_cells {
    ($($type:ty),*) => {$(
        impl From<$type> for TableCell {
            fn from(plain: $type) -> Self {
                TableCell { text: plain.to_string(), json: plain.into() }
            }
        }
    )*};
}

plain_cells!(&str, String, usize, f64);

/// Makes a cell of an integer. In JSON one beyond 64 bits is rounded to a real.
impl From<i128> for TableCell {
    fn from(integer: i128) -> Self {
        #[allow(clippy::cast_precision_loss)] // JSON has no such integer
        let json = i64::try_from(integer).map_or_else(|_| (integer as f64).into(), serde_json::Value::from);
        TableCell { text: integer.to_string(), json }
    }
}

impl TableCell {
    /// Returns the number in the cell; `None` if it is not a number.
    pub fn number(&self) -> Option<f64> {
        self.json.as_f64()
    }

    /// Returns a literal with the value in the cell, or an expression that has this value.
    pub fn expression(&self, dialect: Dialect) -> Expression {
        match &self.json {
            serde_json::Value::Bool(value) => Expression::literal(Value::Boolean(*value)),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(integer) => Expression::literal(Value::Integer(integer)),
                None => Expression::literal(Value::Real(number.as_f64().unwrap_or(f64::NAN))),
            },
            serde_json::Value::String(text) if *text == self.text => Expression::literal(Value::string(text.as_str())),
            // JSON has no infinity.
            serde_json::Value::Null if self.text.parse::<f64>().is_ok() => {
                Expression::literal(Value::Real(self.text.parse().unwrap_or(f64::NAN)))
            }
            _ => parse_expression(self.text.as_bytes(), ParseOptions::new(dialect))
                .unwrap_or_else(|_| Expression::literal(Value::string(self.text.as_str()))),
        }
    }

    /// Whether the cell is undefined.
    pub fn is_null(&self) -> bool {
        self.json.is_null()
    }
}

/// Makes a cell of a list. JSON gets an array. All other forms get the elements separated by `, `, where a table can
/// break the line.
impl From<Vec<String>> for TableCell {
    fn from(parts: Vec<String>) -> Self {
        TableCell { text: parts.join(", "), json: parts.into() }
    }
}

impl From<&Value> for TableCell {
    fn from(value: &Value) -> Self {
        let text = String::from_utf8_lossy(&value_text(value, true)).into_owned();
        let json = match value {
            Value::Undefined => serde_json::Value::Null,
            // The string "error" is another value.
            Value::Error(_) => ERROR_IN_JSON.into(),
            value => value_json(value),
        };
        TableCell { text, json }
    }
}

/// Rows of cells with a header.
#[derive(Default)]
pub struct ResultTable {
    pub header: Vec<String>,
    pub rows: Vec<Vec<TableCell>>,
    /// Whether every column was asked for. If a terminal is too narrow for them, rows become records.
    pub keeps_columns: bool,
}

impl ResultTable {
    pub fn new(header: &[&str]) -> Self {
        ResultTable { header: header.iter().map(|&cell| cell.to_owned()).collect(), ..ResultTable::default() }
    }

    pub fn with_rows(header: &[&str], rows: impl IntoIterator<Item = Vec<TableCell>>) -> Self {
        ResultTable { rows: rows.into_iter().collect(), ..ResultTable::new(header) }
    }

    /// Writes the rows. Without a form they are a table on a terminal, tab-separated values elsewhere.
    ///
    /// # Errors
    ///
    /// The form is for whole ads or trees, not for rows, or writing fails.
    pub fn write(&self, out: &mut dyn Write, form: Option<OutputForm>, with_header: bool) -> Result<(), Failure> {
        let mut writer = TableWriter::new(self.header.clone(), form, with_header)?;
        if writer.form == OutputForm::Table {
            return Ok(self.write_table(out, with_header)?);
        }
        for row in &self.rows {
            writer.write_row(out, row)?;
        }
        writer.finish(out)
    }

    fn write_table(&self, out: &mut dyn Write, with_header: bool) -> io::Result<()> {
        let mut layout = TableLayout::new(&self.header);
        layout.with_header = with_header;
        if self.keeps_columns {
            layout = layout.with_expendable_columns(&[]);
        }
        for row in &self.rows {
            layout.push_row(row.iter().map(|cell| &cell.text));
        }
        write!(out, "{}", layout.render(diagnostics::table_width()))
    }
}

/// Writes rows one after the other. A table is collected until [`TableWriter::finish`], as its layout depends on all
/// rows.
pub struct TableWriter {
    form: OutputForm,
    with_header: bool,
    /// The header. For a table, also the rows written so far.
    table: ResultTable,
    json: JsonValueWriter,
    has_begun: bool,
    /// What is written for undefined in separated values. `None` for `undefined`.
    null: Option<String>,
}

impl TableWriter {
    /// Makes a writer. Without a form it writes a table on a terminal, tab-separated values elsewhere.
    ///
    /// # Errors
    ///
    /// The form is for whole ads or trees, not for rows.
    pub fn new(header: Vec<String>, form: Option<OutputForm>, with_header: bool) -> Result<Self, Failure> {
        let form = form.unwrap_or(if Session::is_terminal() { OutputForm::Table } else { OutputForm::Tsv });
        if form == OutputForm::Tree {
            return refuse("this command prints no trees: only gangmatch does");
        }
        if form == OutputForm::Parquet {
            return refuse("only `query --af` and `convert --columns` write parquet");
        }
        if form == OutputForm::Svg {
            return refuse(
                "this draws no picture: census, explain, gangmatch and `negotiate --cycles N --by-submitter` do",
            );
        }
        if matches!(form, OutputForm::Long | OutputForm::New | OutputForm::Xml | OutputForm::Yaml) {
            return refuse("rows cannot be printed in this format: use table, csv, tsv, markdown, json or jsonl");
        }
        Ok(TableWriter::with_form(header, form, with_header))
    }

    /// Makes a writer in `form`, which must be one of the forms for rows.
    pub fn with_form(header: Vec<String>, form: OutputForm, with_header: bool) -> Self {
        let table = ResultTable { header, ..ResultTable::default() };
        TableWriter { form, with_header, table, json: JsonValueWriter::new(form), has_begun: false, null: None }
    }

    /// Keeps all columns of a table, as they were asked for.
    pub fn keeping_columns(mut self) -> Self {
        self.table.keeps_columns = true;
        self
    }

    /// Writes a text for undefined in separated values.
    pub fn with_null(self, null: Option<&String>) -> Self {
        TableWriter { null: null.cloned(), ..self }
    }

    /// Number of bytes that a row takes until the output ends, also when the table is laid out; 0 if it is written at
    /// once.
    pub fn held_bytes(&self, row: &[TableCell]) -> usize {
        if self.form == OutputForm::Table { bytes_of_row(row) * LAYOUTS_PER_ROW } else { 0 }
    }

    pub fn write(&mut self, out: &mut dyn Write, row: Vec<TableCell>) -> Result<(), Failure> {
        if self.form == OutputForm::Table {
            self.table.rows.push(row);
            return Ok(());
        }
        Ok(self.write_row(out, &row)?)
    }

    fn write_row(&mut self, out: &mut dyn Write, row: &[TableCell]) -> io::Result<()> {
        self.write_header(out)?;
        match self.form {
            OutputForm::Names => writeln!(out, "{}", row.first().map_or("", |cell| cell.text.as_str())),
            OutputForm::Json | OutputForm::Jsonl => {
                let fields = self.table.header.iter().cloned().zip(row.iter().map(|cell| cell.json.clone()));
                self.json.write(out, &serde_json::Value::Object(fields.collect()))
            }
            _ => {
                let null = self.null.as_deref();
                self.write_line(out, row.iter().map(|cell| null.filter(|_| cell.is_null()).unwrap_or(&cell.text)))
            }
        }
    }

    /// Ends the output: writes the whole table, the end of a JSON document, or the header if there was no row.
    pub fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        self.write_header(out)?;
        match self.form {
            OutputForm::Json | OutputForm::Jsonl => self.json.finish(out)?,
            OutputForm::Table => self.table.write_table(out, self.with_header)?,
            _ => {}
        }
        Ok(())
    }

    /// Writes the header before the first row.
    fn write_header(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let is_due = !std::mem::replace(&mut self.has_begun, true) && self.with_header;
        if is_due && self.form.has_lines_of_cells() {
            self.write_line(out, self.table.header.iter().map(String::as_str))?;
            if self.form == OutputForm::Markdown {
                writeln!(out, "|{}", " --- |".repeat(self.table.header.len()))?;
            }
        }
        Ok(())
    }

    /// Writes a line of separated values.
    fn write_line<'c>(&self, out: &mut dyn Write, cells: impl Iterator<Item = &'c str>) -> io::Result<()> {
        let ([begin, separator, end], escape): ([&str; 3], fn(&str) -> String) = match self.form {
            OutputForm::Csv => (["", ",", ""], csv_cell),
            OutputForm::Markdown => (["| ", " | ", " |"], markdown_cell),
            _ => (["", "\t", ""], tsv_cell),
        };
        for (index, cell) in cells.enumerate() {
            out.write_all(if index == 0 { begin } else { separator }.as_bytes())?;
            out.write_all(escape(cell).as_bytes())?;
        }
        out.write_all(end.as_bytes())?;
        out.write_all(b"\n")
    }
}

/// Escapes the characters that would break the row: tab, line ends, backslash.
pub fn tsv_cell(cell: &str) -> String {
    if !cell.bytes().any(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r')) {
        return cell.to_owned();
    }
    cell.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

/// Escapes the characters that Markdown would not print as they are. A line end becomes `<br>`.
fn markdown_cell(cell: &str) -> String {
    let mut escaped = String::with_capacity(cell.len());
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let mut letters = cell.chars().peekable();
    let mut before = None;
    while let Some(letter) = letters.next() {
        let after = letters.peek().copied();
        let is_special = match letter {
            '\\' | '|' | '*' | '`' | '<' | '[' | ']' | '~' => true,
            // Within a word it is itself.
            '_' => !(is_word(before) && is_word(after)),
            // The beginning of an entity, such as `&lt;`.
            '&' => is_word(after) || after == Some('#'),
            _ => false,
        };
        match letter {
            '\r' if after == Some('\n') => {}
            '\n' | '\r' => escaped.push_str("<br>"),
            letter if is_special => escaped.extend(['\\', letter]),
            letter => escaped.push(letter),
        }
        before = Some(letter);
    }
    escaped
}

fn csv_cell(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
