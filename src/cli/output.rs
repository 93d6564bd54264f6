//! Results: tables for people, lines for scripts.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use clap::ValueEnum;
use classad::ad::Value;
use classad::format::{self, Form};
use classad::matching::Statistics;
use classad::syntax::{Style, print_value};
use comfy_table::{ContentArrangement, Table};

use super::input::Identified;
use super::session::Session;
use super::{Failure, report};

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputForm {
    /// A table for people
    Table,
    /// Ads in HTCondor's long form
    Long,
    /// Bracketed ads
    New,
    /// One JSON document
    Json,
    /// A JSON object on each line
    Jsonl,
    /// HTCondor's XML
    Xml,
    /// A YAML document for each ad
    Yaml,
    /// Comma-separated values
    Csv,
    /// Tab-separated values
    Tsv,
    /// Only the identities, one a line
    Names,
}

/// What is written to standard output and not yet handed on.
static WRITTEN: LazyLock<Mutex<BufWriter<Stdout>>> = LazyLock::new(|| Mutex::new(BufWriter::new(io::stdout())));

fn written() -> MutexGuard<'static, BufWriter<Stdout>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands on what is written, before more input is waited for: whoever reads the output may wait for it, too.
pub fn hand_on() {
    // What cannot be written now cannot be written later either, and is told then.
    let _ = written().flush();
}

/// Leaves the memory of something big to the system, which takes it back at once when the command ends; piece by
/// piece it would take as long as to make it.
pub fn leave<T>(it: T) {
    std::mem::forget(it);
}

/// Standard output, buffered.
pub struct Out(());

/// Standard output, buffered.
pub fn out() -> Out {
    Out(())
}

impl Write for Out {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        written().write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        written().flush()
    }
}

impl Drop for Out {
    /// What was written before an error is handed on, too.
    fn drop(&mut self) {
        hand_on();
    }
}

/// The text of a value on one line; strings without their quotes if `raw`.
pub fn value_text(value: &Value, raw: bool) -> Vec<u8> {
    match value {
        Value::String(text) if raw => text.as_bytes().to_vec(),
        value => print_value(value, Style::New),
    }
}

/// One field of a row: its text, and what it is in JSON.
#[derive(Clone, PartialEq)]
pub struct Cell {
    pub text: String,
    json: serde_json::Value,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell { json: text.clone().into(), text }
    }
}

/// A list: in JSON an array, else its parts with commas and blanks
/// between them, where a table can break the line.
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

/// Rows of cells, under a heading.
pub struct Rows {
    pub header: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

impl Rows {
    pub fn new(header: &[&str]) -> Self {
        Rows { header: header.iter().map(|&cell| cell.to_owned()).collect(), rows: Vec::new() }
    }

    /// Writes the rows; as a table on a terminal, tab-separated otherwise, unless a form is asked for.
    pub fn write(&self, out: &mut dyn Write, form: Option<OutputForm>, with_header: bool) -> Result<(), Failure> {
        let form = form.unwrap_or(if Session::is_terminal() { OutputForm::Table } else { OutputForm::Tsv });
        match form {
            OutputForm::Table => self.table(out, with_header)?,
            OutputForm::Csv => self.separated(out, ",", csv, with_header)?,
            OutputForm::Names => {
                for row in &self.rows {
                    writeln!(out, "{}", row.first().map_or("", |cell| cell.text.as_str()))?;
                }
            }
            OutputForm::Json | OutputForm::Jsonl => self.json(out, form)?,
            OutputForm::Tsv => self.separated(out, "\t", tsv, with_header)?,
            OutputForm::Long | OutputForm::New | OutputForm::Xml | OutputForm::Yaml => {
                return Err(Failure::Refused(Some(
                    "these are rows, not ads: write them as table, csv, tsv or json".to_owned(),
                )));
            }
        }
        Ok(())
    }

    fn table(&self, out: &mut dyn Write, with_header: bool) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        let mut columns = self.header.len();
        if Session::is_terminal() || std::env::var_os("COLUMNS").is_some() {
            table.set_width(u16::try_from(report::width()).unwrap_or(80));
            columns = self.fitting_columns(report::width());
        }
        if with_header {
            table.set_header(self.header.iter().take(columns).map(|cell| shown(cell)));
        }
        for row in &self.rows {
            table.add_row(row.iter().take(columns).map(|cell| shown(&cell.text)));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        writeln!(out, "{}", table.trim_fmt())?;
        if columns < self.header.len() {
            writeln!(out, "(not shown for want of room: {})", self.header[columns..].join(", "))?;
        }
        Ok(())
    }

    /// How many of the first columns fit without a word being cut; two at least, for an answer is of use
    /// only beside what was asked.
    fn fitting_columns(&self, width: usize) -> usize {
        const GAP: usize = 2;
        let longest_word = |text: &str| text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
        let mut used = 0;
        for (position, header) in self.header.iter().enumerate() {
            let cells = self.rows.iter().filter_map(|row| row.get(position));
            used += cells.map(|cell| longest_word(&cell.text)).fold(longest_word(header), usize::max) + GAP;
            if used > width + GAP && position > 1 {
                return position;
            }
        }
        self.header.len()
    }

    fn separated(
        &self,
        out: &mut dyn Write,
        by: &str,
        escape: fn(&str) -> String,
        with_header: bool,
    ) -> io::Result<()> {
        if with_header {
            let cells: Vec<String> = self.header.iter().map(|cell| escape(cell)).collect();
            writeln!(out, "{}", cells.join(by))?;
        }
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| escape(&cell.text)).collect();
            writeln!(out, "{}", cells.join(by))?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write, form: OutputForm) -> io::Result<()> {
        let object = |row: &Vec<Cell>| -> serde_json::Value {
            let fields = self.header.iter().cloned().zip(row.iter().map(|cell| cell.json.clone()));
            fields.collect::<serde_json::Map<_, _>>().into()
        };
        json_array(out, form, self.rows.iter().map(object))
    }
}

/// Writes JSON values as one array, or each on a line of its own.
pub fn json_array(
    out: &mut dyn Write,
    form: OutputForm,
    values: impl Iterator<Item = impl std::fmt::Display>,
) -> io::Result<()> {
    let lines = form == OutputForm::Jsonl;
    let mut first = true;
    for value in values {
        let before = match (lines, first) {
            (true, _) => "",
            (false, true) => "[\n",
            (false, false) => ",\n",
        };
        write!(out, "{before}{value}")?;
        if lines {
            writeln!(out)?;
        }
        first = false;
    }
    match (lines, first) {
        (true, _) => Ok(()),
        (false, true) => writeln!(out, "[]"),
        (false, false) => writeln!(out, "\n]"),
    }
}

/// What would break the line becomes visible.
fn tsv(cell: &str) -> String {
    cell.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn csv(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

/// A cell for people: control characters do no harm.
fn shown(cell: &str) -> String {
    cell.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

impl OutputForm {
    /// The form of the ads themselves; none for rows.
    fn of_ads(self) -> Option<Form> {
        match self {
            OutputForm::Long => Some(Form::Long),
            OutputForm::New => Some(Form::New),
            OutputForm::Json => Some(Form::Json),
            OutputForm::Jsonl => Some(Form::JsonLines),
            OutputForm::Xml => Some(Form::Xml),
            OutputForm::Yaml => Some(Form::Yaml),
            OutputForm::Table | OutputForm::Csv | OutputForm::Tsv | OutputForm::Names => None,
        }
    }
}

/// Writes ads one after the other: as a document, or only what they are called.
pub struct AdWriter {
    document: Option<format::Writer>,
}

impl AdWriter {
    /// In this form.
    pub fn of(form: Form) -> Self {
        AdWriter { document: Some(format::Writer::new(form)) }
    }

    /// In the form asked for, else in the form of the input.
    pub fn new(form: Option<OutputForm>, input: Form) -> Result<Self, Failure> {
        let form = match form {
            None => Some(input),
            Some(OutputForm::Names) => None,
            Some(form) => {
                let message = "whole ads are written as long, new, json, jsonl, xml, yaml or names";
                Some(form.of_ads().ok_or_else(|| Failure::Refused(Some(message.to_owned())))?)
            }
        };
        Ok(AdWriter { document: form.map(format::Writer::new) })
    }

    pub fn write(&mut self, session: &mut Session, out: &mut dyn Write, ad: &Identified) -> Result<(), Failure> {
        match &mut self.document {
            Some(document) => document.write(out, &ad.ad, |changes| session.changed(&ad.id, changes))?,
            None => writeln!(out, "{}", tsv(&ad.id))?,
        }
        Ok(())
    }

    /// Writes what ends the output.
    pub fn finish(&self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(document) = &self.document {
            document.finish(out)?;
        }
        out.flush()?;
        Ok(())
    }
}

/// Writes the ads of several files: one document in a form that is asked for; otherwise a document for each
/// file, in the file's own form.
pub struct Documents {
    form: Option<OutputForm>,
    is_silent: bool,
    current: Option<AdWriter>,
}

impl Documents {
    pub fn new(form: Option<OutputForm>, is_silent: bool) -> Self {
        Documents { form, is_silent, current: None }
    }

    /// Goes on to the ads of a file in this form.
    pub fn begin_file(&mut self, out: &mut dyn Write, input: Form) -> Result<(), Failure> {
        if self.form.is_none() {
            self.finish(out)?;
        }
        if self.current.is_none() {
            self.current = Some(AdWriter::new(self.form, input)?);
        }
        Ok(())
    }

    pub fn write(&mut self, session: &mut Session, out: &mut dyn Write, ad: &Identified) -> Result<(), Failure> {
        match &mut self.current {
            Some(writer) if !self.is_silent => writer.write(session, out, ad),
            _ => Ok(()),
        }
    }

    /// Writes what ends the document.
    pub fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        match self.current.take() {
            Some(writer) if !self.is_silent => writer.finish(out),
            _ => Ok(()),
        }
    }
}

/// Prints the counters of a run on standard error: a table on a terminal, else one line of JSON.
pub fn statistics(statistics: &Statistics, seconds: f64) {
    let counted = [
        ("roots", statistics.roots),
        ("matched", statistics.matched),
        ("tests", statistics.tests),
        ("evaluations", statistics.evaluations),
        ("probes", statistics.probes),
        ("backtracks", statistics.backtracks),
        ("autoclusters", statistics.autoclusters),
    ];
    counters(&counted, seconds);
}

/// The same for any counters.
pub fn counters(counters: &[(&str, u64)], seconds: f64) {
    use std::io::IsTerminal;
    let mut err = io::stderr().lock();
    // If standard error is closed there is no one to tell.
    let _ = if err.is_terminal() {
        counters
            .iter()
            .try_for_each(|(name, count)| writeln!(err, "{name:>12}  {count}"))
            .and_then(|()| writeln!(err, "{:>12}  {seconds:.3}", "seconds"))
    } else {
        let mut object = serde_json::Map::new();
        for (name, count) in counters {
            object.insert((*name).to_owned(), (*count).into());
        }
        object.insert("seconds".to_owned(), seconds.into());
        writeln!(err, "{}", serde_json::Value::Object(object))
    };
}
