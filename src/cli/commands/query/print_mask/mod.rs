//! HTCondor's print masks: the columns of `-autoformat`, `-format`, of print formats, and of the tables.
//!
//! Conversions and the text around columns follow the library of HTCondor 25, with these exceptions: columns that are
//! as wide as their cells are as wide as the widest one of all types, lists have a blank after each comma, numbers
//! beyond 32 bits are printed in full, and a format with more than one conversion is refused.

mod autoformat;
mod column;
mod writer;

use classad::ad::{Expression, Value};

use super::QueryCommand;
use super::ad_lookup::AdLookup;
use super::format_string::FormatString;
use crate::cli::io::input;
use crate::cli::session::Session;
use crate::cli::{Failure, refuse};
use autoformat::AutoformatFlags;

pub use autoformat::append_columns;
pub use column::{MaskCell, MaskColumn, Placeholder};
pub use writer::PrintMaskWriter;

/// A print mask: columns and the text around them.
#[derive(Clone, Default)]
pub struct PrintMask {
    pub columns: Vec<MaskColumn>,
    pub separators: MaskSeparators,
    pub has_heading: bool,
    /// Whether blanks at the ends of rows are dropped.
    pub trims_rows: bool,
}

/// The text around the rows and columns of a print mask.
#[derive(Clone, Default)]
pub struct MaskSeparators {
    pub before_row: String,
    pub after_row: String,
    /// Text before each column but the first.
    pub before: String,
    /// Text after each column but the last.
    pub after: String,
}

/// The values of a mask's columns in an ad; `None` for what a column cannot print.
pub type MaskValues = Vec<Option<Value>>;

impl PrintMask {
    /// Parses the values of `--mask`, into which `condor_options` translates `-autoformat` and `-format`. Returns
    /// `None` if there are no values.
    pub fn new(session: &mut Session, query: &QueryCommand) -> Result<Option<PrintMask>, Failure> {
        if query.mask.is_empty() {
            return Ok(None);
        }
        let others =
            !query.af.is_empty() || query.output.form.is_some() || query.groups.group_by.is_some() || query.undefined;
        if others || !query.attributes.is_empty() {
            let message = "-autoformat and -format cannot be combined with --af, --output, --attributes, --group-by \
                or --undefined";
            return refuse(message);
        }
        let mut mask = PrintMask::default();
        let mut letters = AutoformatFlags::default();
        let mut format = None;
        for part in &query.mask {
            match part.split_once(':') {
                Some(("columns", text)) => (letters, format) = (AutoformatFlags::parse(text, &mut mask)?, None),
                Some(("format", text)) => format = Some(FormatString::parse(text).map_err(Failure::refused)?),
                Some(("expression", text)) => {
                    let option = if format.is_some() { "-format" } else { "-autoformat" };
                    let expression = input::parse_condor_expression(session, option, text)?;
                    let format = format.take().unwrap_or_else(|| letters.format(text));
                    let mut column = MaskColumn::new(text, expression, Some(format));
                    column.adopt_width_of_format();
                    mask.columns.push(column);
                }
                _ => return refuse(format!("--mask is for -autoformat and -format, not for `{part}`")),
            }
        }
        for column in mask.columns.iter_mut().filter(|_| mask.has_heading) {
            // If the mask has a heading, the heading replaces the labels of the columns.
            if let Some(format) = column.format.as_mut().filter(|format| format.is_label) {
                format.before.clear();
            }
            column.fits_cells = true;
            column.is_left_aligned |= column.width == 0;
            column.width = column.width.max(column.heading.chars().count());
        }
        Ok(Some(mask))
    }

    /// Returns the expressions of all columns.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.columns.iter().map(|column| &column.expression)
    }

    /// Returns the attributes that the functions of columns read beside the expressions.
    pub fn function_attributes(&self) -> impl Iterator<Item = &'static str> {
        self.columns
            .iter()
            .filter_map(|column| column.function)
            .flat_map(|function| function.attributes.iter().copied())
    }

    /// Evaluates the columns in an ad.
    pub fn values(&self, lookup: &mut AdLookup) -> MaskValues {
        self.columns.iter().map(|column| column.value(lookup)).collect()
    }

    /// Formats the values of a row, one cell for each column.
    pub fn cells(&self, values: &[Option<Value>]) -> Vec<MaskCell> {
        self.columns.iter().zip(values).map(|(column, value)| column.cell(value.as_ref())).collect()
    }
}
