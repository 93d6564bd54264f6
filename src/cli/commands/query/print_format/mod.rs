//! HTCondor's print formats: files that describe a table, for `-print-format`.
//!
//! The tables of HTCondor's tools are such texts, too: [`super::tables`].

mod column_words;
mod reader;
mod words;

use classad::ad::Expression;

use super::print_mask::PrintMask;
use super::sort::SortKey;

pub use reader::read_print_format;

/// A print format: the columns, the ads that are chosen, their order, and the headings and totals around them.
#[derive(Clone, Default)]
pub struct PrintFormat {
    pub mask: PrintMask,
    pub has_title: bool,
    pub summary: FormatSummary,
    /// The constraint of `WHERE`.
    pub constraint: Option<Expression>,
    /// The keys of `GROUP BY`.
    pub order: Vec<SortKey>,
}

/// What is printed after the rows.
#[derive(Clone, Default)]
pub enum FormatSummary {
    #[default]
    Nothing,
    /// The totals that HTCondor's tool prints.
    Standard,
    /// Columns of the totals of jobs.
    Columns(Box<PrintMask>),
}

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::eval::Context;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::read_print_format;
    use crate::cli::commands::query::ad_lookup::AdLookup;
    use crate::cli::commands::query::print_mask::PrintMaskWriter;

    const AD: &str = "[ Owner = \"alice\"; ClusterId = 12; Size = 3.75; Version = \"$CondorVersion: 24.0.1 2024-10-31 \
                      BuildID: 765 PackageID: 24.0.1-1 $\" ]";

    /// Prints the row of an ad; or the messages, if the print format is wrong.
    fn row(format: &str) -> String {
        let format = match read_print_format(&format!("SELECT NOTITLE NOHEADER {format}\n"), Dialect::Condor) {
            Ok(format) => format,
            Err(problems) => return problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; "),
        };
        let (ad, context) =
            (parse_ad(AD.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap(), Context::new(Dialect::Condor));
        let cells = format.mask.cells(&format.mask.values(&mut AdLookup::new(&ad, &context)));
        let (mut writer, mut out) = (PrintMaskWriter::new(&format.mask), Vec::new());
        writer.write(&mut out, cells).unwrap();
        writer.finish(&mut out, "").unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn widths_and_alignments() {
        for (columns, expected) in [
            ("Owner WIDTH 8", "   alice\n"),
            ("Owner WIDTH -8", "alice   \n"),
            ("Owner WIDTH 8 LEFT", "alice   \n"),
            ("Owner WIDTH -8 RIGHT", "   alice\n"),
            ("Owner WIDTH 3", "ali\n"),
            ("Owner WIDTH 3 TRUNCATE", "ali\n"),
            ("Owner WIDTH AUTO", "alice\n"),
            ("ClusterId WIDTH -5 LEFT", "12   \n"),
        ] {
            assert_eq!(row(&format!("\n{columns}")), expected, "{columns}");
        }
    }

    /// From a width of 10 on, there is place for the long form of a version.
    #[test]
    fn versions_are_short_in_narrow_columns() {
        for (width, expected) in [(9, "24.0.1"), (10, "24.0.1.765"), (11, "24.0.1.765")] {
            let text = row(&format!("\nVersion WIDTH {width} PRINTAS CONDOR_VERSION"));
            assert_eq!(text.trim(), expected, "{width}");
        }
    }

    #[test]
    fn a_separator_of_labels_follows_label() {
        assert!(row("SEPARATOR 'x'\nOwner").starts_with("SEPARATOR must follow LABEL"));
        assert_eq!(row("LABEL SEPARATOR 'x'\nOwner"), "Ownerxalice\n");
    }
}
