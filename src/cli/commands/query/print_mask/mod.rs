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
use super::format_string::FormatString;
use crate::cli::io::argument_text;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;
use autoformat::AutoformatFlags;
use classad::query::AdLookup;

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
        let parse = |option: &str, text: &str| argument_text::parse_condor_expression(session, option, text);
        PrintMask::of_parts(&query.mask, parse).map(Some)
    }

    /// Makes a mask of the values of `--mask`. `parse` parses the expression of an option.
    fn of_parts(
        parts: &[String],
        mut parse: impl FnMut(&str, &str) -> Result<Expression, Failure>,
    ) -> Result<PrintMask, Failure> {
        let mut mask = PrintMask::default();
        let mut letters = AutoformatFlags::default();
        let mut format = None;
        for part in parts {
            match part.split_once(':') {
                Some(("columns", text)) => (letters, format) = (AutoformatFlags::parse(text, &mut mask)?, None),
                Some(("format", text)) => format = Some(FormatString::parse(text).map_err(Failure::refused)?),
                Some(("expression", text)) => {
                    let option = if format.is_some() { "-format" } else { "-autoformat" };
                    let expression = parse(option, text)?;
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
        Ok(mask)
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

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::eval::Context;
    use classad::syntax::{ParseOptions, parse_ad, parse_expression};

    use super::{PrintMask, PrintMaskWriter};
    use classad::query::AdLookup;

    const ADS: [&str; 2] = [
        "[ Owner = \"ann\"; ClusterId = 1; ProcId = 2; Size = 2.5; Sum = Size + 1 ]",
        "[ Owner = \"barbara\"; ClusterId = 20; Size = true; List = { 1, \"a\" } ]",
    ];

    /// Prints the ads under a mask; the message, if the mask is refused.
    fn printed(parts: &[&str]) -> String {
        let rules = ParseOptions::new(Dialect::Condor);
        let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        let Ok(mask) = PrintMask::of_parts(&parts, |_, text| Ok(parse_expression(text.as_bytes(), rules).unwrap()))
        else {
            return "refused".to_owned();
        };
        let (mut writer, mut out, context) = (PrintMaskWriter::new(&mask), Vec::new(), Context::new(Dialect::Condor));
        for ad in ADS {
            let ad = parse_ad(ad.as_bytes(), rules).unwrap();
            let cells = mask.cells(&mask.values(&mut AdLookup::new(&ad, &context)));
            writer.write(&mut out, cells).unwrap();
        }
        writer.finish(&mut out, "").unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn letters_of_autoformat() {
        let [owner, size] = ["expression:Owner", "expression:Size"];
        for (parts, expected) in [
            (&["columns:", owner, size][..], "ann 2.5\nbarbara true\n"),
            (&["columns:,", owner, size], "ann, 2.5\nbarbara, true\n"),
            (&["columns:t", owner, size], "ann\t2.5\nbarbara\ttrue\n"),
            (&["columns:n", owner, size], "ann\n 2.5\nbarbara\n true\n"),
            (&["columns:g", owner, size], "\nann2.5\n\nbarbaratrue\n"),
            (&["columns:l", owner, size], "Owner = ann Size = 2.5\nOwner = barbara Size = true\n"),
            (&["columns:j", owner], "1.2 ann\n20.0 barbara\n"),
            (&["columns:jl", owner], "ID = 1.2 Owner = ann\nID = 20.0 Owner = barbara\n"),
            (&["columns:h", owner, size], "Owner   Size\nann     2.5 \nbarbara true\n"),
            (&["columns:hl", owner, size], "Owner   Size\nann     2.5 \nbarbara true\n"),
            (&["columns:V", owner, size], "\"ann\" 2.5\n\"barbara\" true\n"),
            (&["columns:r", "expression:Sum", owner], "Size + 1 \"ann\"\nundefined \"barbara\"\n"),
            (&["columns:o", "expression:Sum"], "Size + 1\nundefined\n"),
            (&["columns:", "expression:Sum"], "3.5\nundefined\n"),
            (&["columns:", "expression:List"], "undefined\n{ 1, \"a\" }\n"),
            (&["columns:", "expression:ClusterId + 1"], "2\n21\n"),
            // Letters apply to the columns that follow, and the text around all of them is that of the last letters.
            (&["columns:,", owner, "columns:t", size], "ann\t2.5\nbarbara\ttrue\n"),
            (&["columns:g", owner, "columns:", size], "ann 2.5\nbarbara true\n"),
            (&["columns:n", owner, "columns:V", owner], "ann \"ann\"\nbarbara \"barbara\"\n"),
            (&["columns:l", owner, "columns:", size], "Owner = ann 2.5\nOwner = barbara true\n"),
            (&["columns:h", size, "columns:l", owner], "Size Owner  \n2.5  ann    \ntrue barbara\n"),
            (&["columns:jh", size], " ID  Size\n1.2  2.5 \n20.0 true\n"),
            (&["columns:Vo", owner], "\"ann\"\n\"barbara\"\n"),
            (&["columns:T", "expression:ClusterId"], "  0+00:00:01\n  0+00:00:20\n"),
            (
                &["columns:V", owner, "format:<%d>", "expression:ClusterId", size],
                "\"ann\" <1> 2.5\n\"barbara\" <20> true\n",
            ),
            (
                &["columns:h", owner, "format:<%d>", "expression:ClusterId"],
                "Owner   ClusterId\nann           <1>\nbarbara      <20>\n",
            ),
            (&["format:<%3d>", "expression:ClusterId", "columns:", owner], "<  1> ann\n< 20> barbara\n"),
            (&["columns:x", owner], "refused"),
            (&["nothing:x", owner], "refused"),
        ] {
            assert_eq!(printed(parts), expected, "{parts:?}");
        }
    }

    #[test]
    fn formats() {
        for (format, expression, expected) in [
            ("%s\\n", "Owner", "ann\nbarbara\n"),
            ("<%5s>", "Owner", "<  ann><barbara>"),
            ("<%-5s>", "Owner", "<ann  ><barbara>"),
            ("<%.2s>", "Owner", "<an><ba>"),
            ("%d.", "Size", "2.1."),
            ("%d.", "Owner", ""),
            ("%03d.", "ClusterId", "001.020."),
            ("%.2f ", "Size", "2.50 1.00 "),
            ("%v ", "List", "undefined { 1, \"a\" } "),
            ("%V ", "Owner", "\"ann\" \"barbara\" "),
            ("%r ", "Sum", "Size + 1 undefined "),
            ("%s ", "Sum", "Size + 1 "),
            ("100%%\\t", "Owner", "100%\t100%\t"),
            ("%d %d", "Size", "refused"),
        ] {
            let parts = [format!("format:{format}"), format!("expression:{expression}")];
            assert_eq!(printed(&[&parts[0], &parts[1]]), expected, "{format} {expression}");
        }
    }
}
