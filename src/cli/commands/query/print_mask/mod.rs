//! Rows as `condor_q` and `condor_status` print them: `-autoformat` and `-format`.
//!
//! What a conversion does with a value, and what stands around a column, is as HTCondor 25's library has it.  Other than
//! there, columns under headings are as wide as their widest cell, lists have blanks behind their commas, numbers of
//! more than 32 bits are printed as they are, and more than one conversion in a format is refused.

mod writer;

use classad::ad::{Ad, Expression, Kind, Value};
use classad::eval::Context;
use classad::syntax::{Style, parse_expression, print, print_value};

use super::Query;
use super::columns::{Row, value};
use super::format::Format;
use super::printf::{Conversion, Sort};
use crate::cli::Failure;
use crate::cli::io::input;
use crate::cli::render::rows::Cell;
use crate::cli::session::Session;

pub use writer::MaskWriter;

/// The columns, and what surrounds them.
#[derive(Default)]
pub struct Mask {
    columns: Vec<Column>,
    /// Before each row.
    before_row: &'static str,
    /// Behind each row.
    after_row: &'static str,
    /// Before each column but the first.
    before: &'static str,
    /// Behind each column but the last.
    after: &'static str,
    has_heading: bool,
}

/// A column.
struct Column {
    heading: String,
    what: What,
}

/// What a column shows.
enum What {
    /// The number of a job.
    Job { label: &'static str, parts: [Expression; 2] },
    /// A value in a format.
    Value { format: Format, expression: Expression },
}

/// What the letters behind `-autoformat:` ask for.
#[derive(Default)]
struct Letters {
    labels: bool,
    quoted: bool,
    raw: bool,
}

impl Mask {
    /// What the command line asks for; none if it does not ask in HTCondor's words.
    pub fn new(session: &mut Session, query: &Query) -> Result<Option<Mask>, Failure> {
        if query.mask.is_empty() {
            return Ok(None);
        }
        let others = !query.af.is_empty() || query.output.is_some() || query.group_by.is_some() || query.undefined;
        if others || !query.attributes.is_empty() {
            let message = "-autoformat and -format print rows of their own: they go without --af, --output, \
                           --attributes, --group-by and --undefined";
            return Err(refused(message));
        }
        Mask::parse(session, &query.mask).map(Some)
    }

    /// From the parts that the command line was taken apart into.
    fn parse(session: &mut Session, parts: &[String]) -> Result<Mask, Failure> {
        let mut mask = Mask::default();
        let mut letters = Letters::default();
        let mut format = None;
        for part in parts {
            match part.split_once(':') {
                Some(("columns", text)) => (letters, format) = (mask.surround(session, text)?, None),
                Some(("format", text)) => format = Some(Format::parse(text).map_err(|fault| refused(&fault))?),
                Some(("expression", text)) => {
                    let expression =
                        input::expression(session, if format.is_some() { "-format" } else { "-autoformat" }, text)?;
                    let format = format.take().unwrap_or_else(|| letters.format(text));
                    mask.columns.push(Column { heading: text.to_owned(), what: What::Value { format, expression } });
                }
                _ => return Err(refused(&format!("--mask is for -autoformat and -format, not for `{part}`"))),
            }
        }
        if mask.has_heading {
            // Then the labels stand above.
            for column in &mut mask.columns {
                if let What::Value { format, .. } = &mut column.what {
                    format.before.truncate(if format.is_label { 0 } else { format.before.len() });
                }
            }
        }
        Ok(mask)
    }

    /// Takes the letters behind `-autoformat:`.
    fn surround(&mut self, session: &Session, text: &str) -> Result<Letters, Failure> {
        let mut letters = Letters::default();
        let mut jobs = false;
        (self.before_row, self.before, self.after, self.after_row) = ("", " ", "", "\n");
        for letter in text.chars() {
            match letter {
                'j' => jobs = true,
                'h' => self.has_heading = true,
                'l' => letters.labels = true,
                'n' => self.after = "\n",
                ',' => self.after = ",",
                't' => self.before = "\t",
                'g' => (self.before_row, self.before) = ("\n", ""),
                'r' | 'o' => letters.raw = true,
                'V' => letters.quoted = true,
                other => {
                    let known = "j job id, h heading, l labels, V quoted strings, r or o unevaluated, t tabs, \
                                 `,` commas, n lines, g a line between ads";
                    let message = format!("-autoformat with the letter `{other}` is not done here: there is {known}");
                    return Err(refused(&message));
                }
            }
        }
        if jobs {
            let rules = classad::syntax::Rules::new(session.dialect());
            let part = |name: &str| parse_expression(name.as_bytes(), rules).map_err(|_| Failure::Refused(None));
            let parts = [part("ClusterId")?, part("ProcId")?];
            let label = if letters.labels { "ID = " } else { "" };
            self.columns.push(Column { heading: " ID".to_owned(), what: What::Job { label, parts } });
        }
        Ok(letters)
    }

    /// The expressions whose values are shown.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.columns.iter().flat_map(|column| match &column.what {
            What::Job { parts, .. } => parts.as_slice(),
            What::Value { expression, .. } => std::slice::from_ref(expression),
        })
    }

    /// What is shown of an ad.
    pub fn row(&self, ad: &Ad, context: &Context) -> Row {
        let mut row = Row::default();
        for column in &self.columns {
            let cell = column.text(ad, context, &mut row.failures);
            row.cells.push(Cell::from(cell));
        }
        row
    }
}

impl Letters {
    /// The format of a column without one of its own.
    fn format(&self, text: &str) -> Format {
        let letter = if self.raw { 'r' } else { ['v', 'V'][usize::from(self.quoted)] };
        let before = if self.labels { format!("{text} = ") } else { String::new() };
        Format { before, is_label: self.labels, conversion: Some(Conversion::plain(letter)), after: String::new() }
    }
}

impl Column {
    fn text(&self, ad: &Ad, context: &Context, failures: &mut u64) -> String {
        let (format, expression) = match &self.what {
            What::Value { format, expression } => (format, expression),
            What::Job { label, parts } => {
                let mut part = |index: usize| value(ad, &parts[index], context, failures);
                let (cluster, process) = (part(0), part(1));
                return match (cluster, process) {
                    (Value::Integer(cluster), Value::Integer(process)) => format!("{label}{cluster}.{process}"),
                    _ => String::new(),
                };
            }
        };
        let Some(conversion) = &format.conversion else { return format.before.clone() };
        let bound = match expression.kind() {
            Kind::Attribute(name) => ad.get(name),
            _ => None,
        };
        // What is not evaluated.
        let raw = || match (bound, expression.kind()) {
            (None, Kind::Attribute(_)) => "undefined".to_owned(),
            (bound, _) => text(print(bound.unwrap_or(expression), Style::Long)),
        };
        let mut value = || value(ad, expression, context, failures);
        let shown = match conversion.sort() {
            Sort::Raw => Some(conversion.text(&raw())),
            Sort::Value => Some(conversion.text(&match value() {
                Value::String(string) if !conversion.is_quoted() => text(string.as_bytes().to_vec()),
                value => text(print_value(&value, Style::Long)),
            })),
            Sort::String => match value() {
                Value::String(string) => Some(conversion.text(&text(string.as_bytes().to_vec()))),
                _ => bound.map(|_| conversion.text(&raw())),
            },
            Sort::Integer => number(&value()).map(|number| conversion.integer(number)),
            Sort::Real => real(&value()).map(|number| conversion.real(number)),
        };
        match shown {
            Some(shown) => format!("{}{shown}{}", format.before, format.after),
            // A value of another type leaves the column blank, with the text around it.
            None => " ".repeat(conversion.width()),
        }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[allow(clippy::cast_possible_truncation)] // as it is meant
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(integer) => Some(*integer),
        value => real(value).map(|real| real as i64),
    }
}

#[allow(clippy::cast_precision_loss)] // as it is meant
fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Boolean(is) => Some(f64::from(u8::from(*is))),
        Value::Integer(integer) => Some(*integer as f64),
        Value::Real(real) => Some(*real),
        _ => None,
    }
}

fn refused(message: &str) -> Failure {
    Failure::Refused(Some(message.to_owned()))
}
