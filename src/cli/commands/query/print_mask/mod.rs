//! HTCondor's print masks: the options `-autoformat` and `-format` of `condor_q` and `condor_status`.
//!
//! Conversions and the text around columns follow the library of HTCondor 25, with these exceptions: columns under
//! headings are as wide as their widest cell, lists have a blank after each comma, numbers beyond 32 bits are printed
//! in full, and a format with more than one conversion is refused.

mod writer;

use classad::ad::{Ad, Expression, ExpressionKind, Value};
use classad::eval::Context;
use classad::syntax::{ConversionKind, PrintfConversion, Style, expression_text, print_value};

use super::QueryCommand;
use super::columns::{Row, evaluate_or_undefined};
use super::format_string::FormatString;
use crate::cli::io::input;
use crate::cli::session::Session;
use crate::cli::{Failure, refuse};

pub use writer::PrintMaskWriter;

/// A print mask: columns and the text around them.
#[derive(Default)]
pub struct PrintMask {
    columns: Vec<MaskColumn>,
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
struct MaskColumn {
    heading: String,
    content: ColumnContent,
}

/// What a column prints for an ad.
enum ColumnContent {
    /// Job id: `ClusterId.ProcId`.
    Job { label: &'static str, parts: [Expression; 2] },
    /// A formatted value.
    Value { format: FormatString, expression: Expression },
}

/// Flags of `-autoformat:` that apply to each column that follows.
#[derive(Default)]
struct AutoformatFlags {
    labels: bool,
    quoted: bool,
    raw: bool,
}

impl PrintMask {
    /// Parses the values of `--mask`, into which `condor_options` translates `-autoformat` and `-format`. Returns
    /// `None` if there are no values.
    pub fn new(session: &mut Session, query: &QueryCommand) -> Result<Option<PrintMask>, Failure> {
        if query.mask.is_empty() {
            return Ok(None);
        }
        let others = !query.af.is_empty() || query.output.form.is_some() || query.group_by.is_some() || query.undefined;
        if others || !query.attributes.is_empty() {
            let message = "-autoformat and -format print rows of their own: they go without --af, --output, \
                           --attributes, --group-by and --undefined";
            return refuse(message);
        }
        let mut mask = PrintMask::default();
        let mut letters = AutoformatFlags::default();
        let mut format = None;
        for part in &query.mask {
            match part.split_once(':') {
                Some(("columns", text)) => (letters, format) = (mask.parse_flags(text)?, None),
                Some(("format", text)) => format = Some(FormatString::parse(text).map_err(Failure::refused)?),
                Some(("expression", text)) => {
                    let option = if format.is_some() { "-format" } else { "-autoformat" };
                    let expression = input::parse_condor_expression(session, option, text)?;
                    let format = format.take().unwrap_or_else(|| letters.format(text));
                    let content = ColumnContent::Value { format, expression };
                    mask.columns.push(MaskColumn { heading: text.to_owned(), content });
                }
                _ => return refuse(format!("--mask is for -autoformat and -format, not for `{part}`")),
            }
        }
        for column in &mut mask.columns {
            // If the mask has a heading, the heading replaces the labels of the columns.
            if let ColumnContent::Value { format, .. } = &mut column.content
                && mask.has_heading
                && format.is_label
            {
                format.before.clear();
            }
        }
        Ok(Some(mask))
    }

    /// Parses the letters after `-autoformat:`. Sets the separators and the heading of the mask, and adds the column of
    /// the job id. Returns the flags of the columns that follow.
    fn parse_flags(&mut self, text: &str) -> Result<AutoformatFlags, Failure> {
        let mut letters = AutoformatFlags::default();
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
                    return refuse(message);
                }
            }
        }
        if jobs {
            let parts = ["ClusterId", "ProcId"].map(Expression::attribute);
            let label = if letters.labels { "ID = " } else { "" };
            self.columns.push(MaskColumn { heading: " ID".to_owned(), content: ColumnContent::Job { label, parts } });
        }
        Ok(letters)
    }

    /// Returns the expressions of all columns.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.columns.iter().flat_map(|column| match &column.content {
            ColumnContent::Job { parts, .. } => parts.as_slice(),
            ColumnContent::Value { expression, .. } => std::slice::from_ref(expression),
        })
    }

    /// Evaluates and formats the columns in an ad, one cell for each column.
    pub fn row(&self, ad: &Ad, context: &Context) -> Row {
        let mut row = Row::default();
        for column in &self.columns {
            row.cells.push(column.text(ad, context, &mut row.failures).into());
        }
        row
    }
}

impl AutoformatFlags {
    /// Returns the format of an `-autoformat` column. `text` is the column's expression as written, which is the label.
    fn format(&self, text: &str) -> FormatString {
        let letter = if self.raw { 'r' } else { ['v', 'V'][usize::from(self.quoted)] };
        let before = if self.labels { format!("{text} = ") } else { String::new() };
        let conversion = Some(PrintfConversion::of_letter(letter, None));
        FormatString { before, is_label: self.labels, conversion, ..FormatString::default() }
    }
}

impl MaskColumn {
    /// Formats the cell of an ad. Counts evaluations that exceed a budget in `failures`.
    fn text(&self, ad: &Ad, context: &Context, failures: &mut u64) -> String {
        let (format, expression) = match &self.content {
            ColumnContent::Value { format, expression } => (format, expression),
            ColumnContent::Job { label, parts } => {
                return match parts.each_ref().map(|part| evaluate_or_undefined(ad, part, context, failures)) {
                    [Value::Integer(cluster), Value::Integer(process)] => format!("{label}{cluster}.{process}"),
                    _ => String::new(),
                };
            }
        };
        let Some(conversion) = &format.conversion else { return format.before.clone() };
        let bound = if let ExpressionKind::Attribute(name) = expression.kind() { ad.get(name) } else { None };
        // Text of the expression without evaluation; for an attribute reference, the text of the attribute in the ad.
        let raw = || match (bound, expression.kind()) {
            (None, ExpressionKind::Attribute(_)) => "undefined".to_owned(),
            (bound, _) => expression_text(bound.unwrap_or(expression), Style::Long),
        };
        let mut value = || evaluate_or_undefined(ad, expression, context, failures);
        let shown = match conversion.kind() {
            ConversionKind::Raw => Some(conversion.format_text(&raw())),
            ConversionKind::Value => Some(conversion.format_text(&match value() {
                Value::String(string) if !conversion.is_quoted() => string.to_str().into_owned(),
                value => String::from_utf8_lossy(&print_value(&value, Style::Long)).into_owned(),
            })),
            ConversionKind::String => match value() {
                Value::String(string) => Some(conversion.format_text(&string.to_str())),
                _ => bound.map(|_| conversion.format_text(&raw())),
            },
            ConversionKind::Integer => to_integer(&value()).map(|number| conversion.format_integer(number)),
            ConversionKind::Real => to_real(&value()).map(|number| conversion.format_real(number)),
        };
        match shown {
            Some(shown) => format!("{}{shown}{}", format.before, format.after),
            // A value that the conversion cannot format leaves the column blank. The text around it is omitted.
            None => " ".repeat(conversion.width()),
        }
    }
}

#[allow(clippy::cast_possible_truncation)] // reals are truncated, as in C
fn to_integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(integer) => Some(*integer),
        value => to_real(value).map(|real| real as i64),
    }
}

#[allow(clippy::cast_precision_loss)] // large integers are rounded, as in C
fn to_real(value: &Value) -> Option<f64> {
    match value {
        Value::Boolean(is) => Some(f64::from(u8::from(*is))),
        Value::Integer(integer) => Some(*integer as f64),
        Value::Real(real) => Some(*real),
        _ => None,
    }
}
