//! Results as rows of cells: tables, CSV, tab-separated values, JSON.

use std::io::{self, Write};

use classad::ad::Value;
use classad::syntax::{Style, print_value};

use super::super::Failure;
use super::super::session::Session;
use super::diagnostics;
use super::output::OutputForm;
use super::table::Grid;

/// Returns the text of a value; with `raw`, strings are returned without quotes and escapes.
pub fn value_text(value: &Value, raw: bool) -> Vec<u8> {
    match value {
        Value::String(text) if raw => text.as_bytes().to_vec(),
        value => print_value(value, Style::New),
    }
}

/// A field of a row: its text, and its JSON value.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Cell {
    pub text: String,
    json: serde_json::Value,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell { json: text.clone().into(), text }
    }
}

/// Makes a cell of a list: an array in JSON, else the parts separated by `, `, where a table can break the line.
impl From<Vec<String>> for Cell {
    fn from(parts: Vec<String>) -> Self {
        Cell { text: parts.join(", "), json: parts.into() }
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Cell { text: count.to_string(), json: count.into() }
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Cell { text: number.to_string(), json: number.into() }
    }
}

impl From<&Value> for Cell {
    fn from(value: &Value) -> Self {
        let text = String::from_utf8_lossy(&value_text(value, true)).into_owned();
        let json = match value {
            Value::Undefined => serde_json::Value::Null,
            Value::Boolean(is) => (*is).into(),
            Value::Integer(integer) => (*integer).into(),
            Value::Real(real) if real.is_finite() => (*real).into(),
            _ => text.clone().into(),
        };
        Cell { text, json }
    }
}

/// Rows of cells with a header.
pub struct Rows {
    pub header: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

impl Rows {
    pub fn new(header: &[&str]) -> Self {
        Rows { header: header.iter().map(|&cell| cell.to_owned()).collect(), rows: Vec::new() }
    }

    /// Writes the rows. Without a form they are a table on a terminal, tab-separated values elsewhere.
    ///
    /// # Errors
    ///
    /// The form is one of ads or trees, or writing fails.
    pub fn write(&self, out: &mut dyn Write, form: Option<OutputForm>, with_header: bool) -> Result<(), Failure> {
        let mut writer = RowWriter::new(self.header.clone(), form, with_header)?;
        if writer.form == OutputForm::Table {
            return Ok(self.table(out, with_header)?);
        }
        for row in &self.rows {
            writer.line(out, row)?;
        }
        writer.finish(out)
    }

    fn table(&self, out: &mut dyn Write, with_header: bool) -> io::Result<()> {
        let mut grid = Grid::new(&self.header);
        if !with_header {
            grid = grid.headless();
        }
        for row in &self.rows {
            grid.row(row.iter().map(|cell| &cell.text));
        }
        let has_width = Session::is_terminal() || std::env::var_os("COLUMNS").is_some();
        write!(out, "{}", grid.text(has_width.then(diagnostics::width)))
    }
}

/// Writes rows one after the other. A table is collected until [`RowWriter::finish`], as its layout depends on all
/// rows.
pub struct RowWriter {
    form: OutputForm,
    with_header: bool,
    /// The header and, for a table, the rows so far.
    rows: Rows,
    json: JsonWriter,
    has_begun: bool,
}

impl RowWriter {
    /// Makes a writer. Without a form it writes a table on a terminal, tab-separated values elsewhere.
    ///
    /// # Errors
    ///
    /// The form is one of ads or trees.
    pub fn new(header: Vec<String>, form: Option<OutputForm>, with_header: bool) -> Result<Self, Failure> {
        let form = form.unwrap_or(if Session::is_terminal() { OutputForm::Table } else { OutputForm::Tsv });
        if form == OutputForm::Tree {
            return Err(Failure::Refused(Some("these are rows: only gangs are trees".to_owned())));
        }
        if matches!(form, OutputForm::Long | OutputForm::New | OutputForm::Xml | OutputForm::Yaml) {
            let message = "these are rows, not ads: write them as table, csv, tsv or json";
            return Err(Failure::Refused(Some(message.to_owned())));
        }
        let rows = Rows { header, rows: Vec::new() };
        Ok(RowWriter { form, with_header, rows, json: JsonWriter::new(form), has_begun: false })
    }

    pub fn write(&mut self, out: &mut dyn Write, row: Vec<Cell>) -> Result<(), Failure> {
        if self.form == OutputForm::Table {
            self.rows.rows.push(row);
            return Ok(());
        }
        Ok(self.line(out, &row)?)
    }

    fn line(&mut self, out: &mut dyn Write, row: &[Cell]) -> io::Result<()> {
        self.begin(out)?;
        match self.form {
            OutputForm::Csv => separated(out, ",", row.iter().map(|cell| csv(&cell.text))),
            OutputForm::Names => writeln!(out, "{}", row.first().map_or("", |cell| cell.text.as_str())),
            OutputForm::Json | OutputForm::Jsonl => {
                let fields = self.rows.header.iter().cloned().zip(row.iter().map(|cell| cell.json.clone()));
                self.json.write(out, &serde_json::Value::Object(fields.collect()))
            }
            _ => separated(out, "\t", row.iter().map(|cell| tsv(&cell.text))),
        }
    }

    /// Writes the header if there was no row, the end of a JSON document, or the whole table.
    pub fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        self.begin(out)?;
        match self.form {
            OutputForm::Json | OutputForm::Jsonl => self.json.finish(out)?,
            OutputForm::Table => self.rows.table(out, self.with_header)?,
            _ => {}
        }
        Ok(())
    }

    /// Writes the header before the first row.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::replace(&mut self.has_begun, true) || !self.with_header {
            return Ok(());
        }
        match self.form {
            OutputForm::Csv => separated(out, ",", self.rows.header.iter().map(|cell| csv(cell))),
            OutputForm::Tsv => separated(out, "\t", self.rows.header.iter().map(|cell| tsv(cell))),
            _ => Ok(()),
        }
    }
}

fn separated(out: &mut dyn Write, by: &str, cells: impl Iterator<Item = String>) -> io::Result<()> {
    for (index, cell) in cells.enumerate() {
        write!(out, "{}{cell}", if index == 0 { "" } else { by })?;
    }
    writeln!(out)
}

/// Writes JSON values as one array, or one a line for [`OutputForm::Jsonl`].
pub fn json_array(
    out: &mut dyn Write,
    form: OutputForm,
    values: impl Iterator<Item = impl std::fmt::Display>,
) -> io::Result<()> {
    let mut writer = JsonWriter::new(form);
    for value in values {
        writer.write(out, &value)?;
    }
    writer.finish(out)
}

/// Writes JSON values one after the other, as one array or one a line.
pub struct JsonWriter {
    /// Whether each value is a line of its own, instead of an element of an array.
    lines: bool,
    is_empty: bool,
}

impl JsonWriter {
    pub fn new(form: OutputForm) -> Self {
        JsonWriter { lines: form == OutputForm::Jsonl, is_empty: true }
    }

    pub fn write(&mut self, out: &mut dyn Write, value: &impl std::fmt::Display) -> io::Result<()> {
        let is_first = std::mem::replace(&mut self.is_empty, false);
        match (self.lines, is_first) {
            (true, _) => writeln!(out, "{value}"),
            (false, true) => write!(out, "[\n{value}"),
            (false, false) => write!(out, ",\n{value}"),
        }
    }

    /// Writes the end of the array.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        match (self.lines, self.is_empty) {
            (true, _) => Ok(()),
            (false, true) => writeln!(out, "[]"),
            (false, false) => writeln!(out, "\n]"),
        }
    }
}

/// Escapes the characters that would break the row: tab, line ends, backslash.
pub(super) fn tsv(cell: &str) -> String {
    if !cell.bytes().any(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r')) {
        return cell.to_owned();
    }
    cell.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn csv(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}
