//! HTCondor's print masks: the options `-autoformat` and `-format` of `condor_q` and `condor_status`.
//!
//! Conversions and the text around columns follow the library of HTCondor 25, with these exceptions: columns under
//! headings are as wide as their widest cell, lists have a blank after each comma, numbers beyond 32 bits are printed
//! in full, and a format with more than one conversion is refused.

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

/// A print mask: columns and the text around them.
#[derive(Default)]
pub struct Mask {
    columns: Vec<Column>,
    /// Text before each row.
    before_row: &'static str,
    /// Text after each row.
    after_row: &'static str,
    /// Text before each column but the first.
    before: &'static str,
    /// Text after each column but the last.
    after: &'static str,
    has_heading: bool,
}

/// A column of a print mask.
struct Column {
    heading: String,
    what: What,
}

/// Content of a column.
enum What {
    /// Job id: `ClusterId.ProcId`.
    Job { label: &'static str, parts: [Expression; 2] },
    /// A formatted value.
    Value { format: Format, expression: Expression },
}

/// Flags of `-autoformat:` that apply to each column.
#[derive(Default)]
struct Letters {
    labels: bool,
    quoted: bool,
    raw: bool,
}

impl Mask {
    /// Reads the mask from the command line; `None` without `-autoformat` and `-format`.
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

    /// Parses the parts into which the translation of HTCondor's options splits the command line.
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
            // The heading replaces the labels.
            for column in &mut mask.columns {
                if let What::Value { format, .. } = &mut column.what {
                    format.before.truncate(if format.is_label { 0 } else { format.before.len() });
                }
            }
        }
        Ok(mask)
    }

    /// Parses the letters after `-autoformat:`.
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

    /// Returns the expressions of all columns.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.columns.iter().flat_map(|column| match &column.what {
            What::Job { parts, .. } => parts.as_slice(),
            What::Value { expression, .. } => std::slice::from_ref(expression),
        })
    }

    /// Evaluates the row of an ad.
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
    /// Returns the format of an `-autoformat` column with this expression text.
    fn format(&self, text: &str) -> Format {
        let letter = if self.raw { 'r' } else { ['v', 'V'][usize::from(self.quoted)] };
        let before = if self.labels { format!("{text} = ") } else { String::new() };
        Format { before, is_label: self.labels, conversion: Some(Conversion::plain(letter)), after: String::new() }
    }
}

impl Column {
    /// Formats the cell of an ad. Counts evaluations that exceed a budget in `failures`.
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
        // The unevaluated expression.
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
            // A value of another type leaves the column blank, and its surrounding text out.
            None => " ".repeat(conversion.width()),
        }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[allow(clippy::cast_possible_truncation)] // reals are truncated, as in C
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(integer) => Some(*integer),
        value => real(value).map(|real| real as i64),
    }
}

#[allow(clippy::cast_precision_loss)] // large integers are rounded, as in C
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
