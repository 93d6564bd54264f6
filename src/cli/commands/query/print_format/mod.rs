//! HTCondor's print formats: files that describe a table, for `-print-format`.
//!
//! The tables of HTCondor's tools are such texts, too: [`super::tables`].

mod column_words;
mod reader;
mod words;

use classad::ad::Expression;

use super::print_mask::PrintMask;
use classad::query::SortKey;

pub use column_words::WidthRule;
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
    use classad::ad::{Dialect, Expression};
    use classad::eval::Context;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::{FormatSummary, WidthRule, read_print_format};
    use crate::cli::commands::query::print_mask::PrintMaskWriter;
    use classad::query::AdLookup;

    const AD: &str = "[ Owner = \"alice\"; ClusterId = 12; Size = 3.75; Version = \"$CondorVersion: 24.0.1 2024-10-31 \
                      BuildID: 765 PackageID: 24.0.1-1 $\" ]";

    /// Prints the row of an ad; or the messages, if the print format is wrong.
    fn row(format: &str) -> String {
        let format =
            match read_print_format(&format!("SELECT NOTITLE NOHEADER {format}\n"), Dialect::Condor, WidthRule::Cuts) {
                Ok(format) => format,
                Err(problems) => {
                    return problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ");
                }
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
            ("Owner WIDTH 8 LEFT", "   alice\n"),
            ("Owner WIDTH -8 RIGHT", "alice   \n"),
            ("Owner PRINTF '%s' WIDTH 8 LEFT", "alice   \n"),
            ("Owner PRINTF '%s' WIDTH 8 LEFT RIGHT", "   alice\n"),
            ("Owner AS ''", "alice\n"),
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

    /// `SELECT` with words, and columns; the row, or the problems.
    #[test]
    fn words_of_select_and_of_columns() {
        for (format, expected) in [
            ("\nOwner\nClusterId", "alice 12       \n"),
            ("FIELDPREFIX '<' FIELDSUFFIX '>'\nOwner\nClusterId\nSize", "alice><12       ><3.75\n"),
            ("FIELDPREFIX '<'\nOwner\nClusterId NOPREFIX", "alice12       \n"),
            ("FIELDPREFIX '' FIELDSUFFIX '>'\nOwner NOSUFFIX\nClusterId\nSize", "alice12       >3.75\n"),
            ("RECORDPREFIX '[' RECORDSUFFIX ']'\nOwner", "[alice]"),
            ("LABEL\nOwner\nClusterId AS Id", "Owner = alice Id = 12\n"),
            ("\nOwner PRINTF '<%s>'\nSize PRINTF '%.1f'\nClusterId PRINTF '%05d'", "<alice>  3.8     00012\n"),
            ("\nSize PRINTF '%d'\nOwner PRINTF '%d' OR ?\nLost PRINTF '%s' OR *", "   3 ?     *   \n"),
            ("\nLost PRINTF '%s' WIDTH 5 OR ??\nOwner", "[???] alice\n"),
            ("\nLost PRINTF '%s' WIDTH 5 OR ..\nOwner", "..... alice\n"),
            ("\nLost PRINTF '%s' WIDTH 2 OR ??\nOwner", " ? alice\n"),
            ("\nLost WIDTH 9\nOwner", "undefined alice\n"),
            ("\nClusterId + 1 AS Next", "13  \n"),
            ("\nClusterId PRINTAS JOB_UNIVERSE", "Local    \n"),
            ("\nLost PRINTAS JOB_UNIVERSE", "    \n"),
            ("\nLost PRINTAS JOB_UNIVERSE ALWAYS", "Unknown\n"),
            ("\nOwner WIDTH", "WIDTH needs a number or AUTO"),
            ("\nOwner WIDTH 4096", &format!("{:>4096}\n", "alice")),
            ("\nOwner WIDTH 4097", "the width `4097` is not valid"),
            ("\nOwner WIDTH x", "the width `x` is not valid"),
            ("\nOwner PRINTAS NOTHING", "there is no function NOTHING"),
            ("\nOwner OR x", "OR does not support `x`"),
            ("\nOwner AUTO", "AUTO must follow WIDTH"),
            ("\nOwner AS 'x", "the closing quote is missing"),
            ("RECORDPREFIX", "RECORDPREFIX needs a string"),
            ("NOTHING\nOwner", "unknown keyword `NOTHING` after SELECT"),
            ("UNIQUE\nOwner", "UNIQUE is not supported: only an access point can group jobs"),
            ("\nOwner\nWHERE ClusterId >", "expected an expression, found the end"),
            ("\nOwner\nWHERE a\nWHERE b", "WHERE already has an expression"),
            ("\nOwner\nSUMMARY SOME", "unknown keyword `SOME` after SUMMARY"),
            ("\nOwner\nJOIN x", "HTCondor reserves the keyword JOIN, but does not support it"),
        ] {
            assert_eq!(row(format), expected, "{format}");
        }
        assert!(read_print_format("Owner\n", Dialect::Condor, WidthRule::Cuts).is_err());
        assert!(read_print_format("# nothing\n", Dialect::Condor, WidthRule::Cuts).is_err());
    }

    #[test]
    fn conditions_orders_and_summaries() {
        for (format, constraint, order, summary) in [
            ("SELECT\nOwner", "", "", "nothing, title, heading"),
            ("SELECT BARE\nOwner", "", "", "nothing"),
            ("SELECT NOTITLE\nOwner\nSUMMARY STANDARD", "", "", "standard, heading"),
            ("SELECT NOHEADER\nOwner\nSUMMARY NONE", "", "", "nothing, title"),
            ("SELECT LABEL\nOwner\nSUMMARY\nSize\nLost", "", "", "2 columns, title"),
            ("SELECT\nOwner\nWHERE a \\\n > 1", "a > 1", "", "nothing, title, heading"),
            (
                "SELECT\nOwner\nGROUP BY\na\nb DESCENDING\nc + 1 AS x ASCENDING",
                "",
                "a, -b, c + 1",
                "nothing, title, heading",
            ),
        ] {
            let read = read_print_format(&format!("{format}\n"), Dialect::Condor, WidthRule::Cuts)
                .unwrap_or_else(|_| panic!("{format}"));
            let text = |expression: &Expression| expression.to_string();
            let found = read.constraint.as_ref().map(text).unwrap_or_default();
            let keys = read
                .order
                .iter()
                .map(|key| format!("{}{}", if key.is_descending { "-" } else { "" }, text(&key.expression)));
            let keys: Vec<String> = keys.collect();
            let mut told = vec![match &read.summary {
                FormatSummary::Nothing => "nothing".to_owned(),
                FormatSummary::Standard => "standard".to_owned(),
                FormatSummary::Columns(mask) => format!("{} columns", mask.columns.len()),
            }];
            told.extend(read.has_title.then(|| "title".to_owned()));
            told.extend(read.mask.has_heading.then(|| "heading".to_owned()));
            assert_eq!(
                (found.as_str(), keys.join(", ").as_str(), told.join(", ").as_str()),
                (constraint, order, summary),
                "{format}"
            );
        }
    }

    #[test]
    fn a_separator_of_labels_follows_label() {
        assert!(row("SEPARATOR 'x'\nOwner").starts_with("SEPARATOR must follow LABEL"));
        assert_eq!(row("LABEL SEPARATOR 'x'\nOwner"), "Ownerxalice\n");
    }
}
