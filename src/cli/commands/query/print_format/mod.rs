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
    use classad::format::Problem;
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

    /// Widths that fit, placeholders, functions with a format, and the text around columns and rows.
    #[test]
    fn columns_by_several_words() {
        for (format, expected) in [
            ("\nOwner WIDTH 0", "alice\n"),
            ("\nOwner WIDTH 3 FIT", "alice\n"),
            ("\nOwner WIDTH 3 TRUNCATE FIT", "alice\n"),
            ("\nOwner WIDTH 3 WIDTH AUTO", "alice\n"),
            ("\nOwner WIDTH AUTO WIDTH 3", "ali\n"),
            ("\nOwner WIDTH AUTO WIDTH 8", "   alice\n"),
            ("\nOwner WIDTH AUTO WIDTH 3 PRINTAS OWNER", "alice\n"),
            ("\nOwner WIDTH AUTO TRUNCATE", "alice\n"),
            ("\nOwner WIDTH 8 LEFT PRINTAS OWNER", "alice   \n"),
            ("\nOwner WIDTH -8 RIGHT PRINTAS OWNER", "alice   \n"),
            ("\nSize PRINTF '%.1f' WIDTH 2", "3.\n"),
            ("\nLost PRINTF '%8.2f' OR ?\nOwner", "?    alice\n"),
            ("\nLost WIDTH 0 PRINTF '%-8.2f' OR ?\nOwner", "?        alice\n"),
            ("\nLost WIDTH 0 PRINTF '%8.2f' OR ?\nOwner", "       ? alice\n"),
            ("\nLost WIDTH 0 PRINTF '%d' OR ??\nOwner", " alice\n"),
            ("\nLost WIDTH 3 PRINTF '%d' OR ??\nOwner", "[?] alice\n"),
            ("\nLost WIDTH 2 PRINTF '%d' OR **\nOwner", " * alice\n"),
            ("\nLost WIDTH 4 PRINTF '%d' OR '?*'\nOwner", "   ? alice\n"),
            ("\nClusterId PRINTAS JOB_ID PRINTF '<%s>'", "<12.0>   \n"),
            ("\nClusterId PRINTF '<%6s>' PRINTAS JOB_ID", "12.0     \n"),
            ("\nClusterId PRINTF '<%6s>' RENDERAS JOB_ID", "<  12.0> \n"),
            ("\nOwner PRINTF '%4d' RENDERAS MEMBER_COUNT", "    1\n"),
            ("\nOwner PRINTF '%4d' PRINTAS MEMBER_COUNT", "    1\n"),
            ("\nSize RENDERAS MEMBER_COUNT OR ?", "?   \n"),
            ("\nVersion WIDTH 9 WIDTH AUTO PRINTAS CONDOR_VERSION", "24.0.1.765\n"),
            ("\nOwner PRINTF 'x'\nSize PRINTF '%%'", "x     %   \n"),
            ("\nOwner NOPREFIX\nSize NOSUFFIX\nClusterId NOPREFIX NOSUFFIX", "alice 3.7512       \n"),
            (
                "FIELDPREFIX '<' FIELDSUFFIX '>'\nOwner NOPREFIX\nSize NOSUFFIX\nSize NOPREFIX\nOwner",
                "alice><3.753.75><alice\n",
            ),
            ("RECORDPREFIX '[\\t' RECORDSUFFIX ']\\n' FIELDPREFIX ''\nOwner\nSize", "[\talice3.75]\n"),
            ("LABEL\nOwner WIDTH 3\nSize", "Own Size = 3.75\n"),
            ("LABEL\nOwner WIDTH 3 FIT\nSize", "Owner = alice Size = 3.75\n"),
            ("LABEL\nOwner WIDTH 0\nSize", "Owner = alice Size = 3.75\n"),
            ("LABEL\nOwner PRINTF '%8s'\nSize", "Owner =    alice Size = 3.75\n"),
            ("LABEL\nClusterId PRINTAS JOB_ID\nSize", "ClusterId = 12.0 Size = 3.75\n"),
            ("LABEL\nLost PRINTF '%6d' OR ?\nSize", "?      Size = 3.75\n"),
            ("LABEL SEPARATOR ': '\nOwner AS 'The owner'\nSize AS S NOPREFIX", "The owner: aliceS: 3.75\n"),
        ] {
            assert_eq!(row(format), expected, "{format}");
        }
    }

    /// The problems of a print format, one on each line: the text at its place, the message and the hint.
    fn problems(format: &str) -> String {
        let Err(found) = read_print_format(format, Dialect::Condor, WidthRule::Cuts) else { panic!("{format}") };
        let shown = |problem: Problem| {
            assert_eq!(problem.ad_number, 0, "{format}");
            let help = problem.help.map_or(String::new(), |help| format!(" [{help}]"));
            format!("`{}` {}{help}", &format[problem.range], problem.message)
        };
        found.into_iter().map(shown).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn problems_of_columns_have_places_and_hints() {
        for (format, expected) in [
            ("SELECT BARE\n  AS x\n", "`` a column must begin with an attribute or an expression"),
            ("SELECT\n a AS\n", "`AS` AS needs a heading"),
            ("SELECT\n a PRINTF\n", "`PRINTF` PRINTF needs a format"),
            ("SELECT\n a OR\n", "`OR` OR needs a character"),
            ("SELECT\n a PRINTAS\n", "`PRINTAS` PRINTAS needs the name of a function"),
            (
                "SELECT\n a AS x WIDTH y more\n",
                "`y` the width `y` is not valid [use AUTO or a number up to 4096; a negative number aligns to \
                 the left]\n`more` unknown keyword `more` in a column [the keywords are ALWAYS, AS, FIT, LEFT, \
                 NOPREFIX, NOSUFFIX, OR, PRINTAS, PRINTF, RENDERAS, RIGHT, TRUNCATE, WIDTH, AUTO (put text with \
                 blanks in quotes)]",
            ),
            (
                "SELECT\n a AS x WIDHT\n",
                "`WIDHT` unknown keyword `WIDHT` in a column [did you mean WIDTH, RIGHT? (put text with \
                 blanks in quotes)]",
            ),
            (
                "SELECT\n a WIDTH -4097\n",
                "`-4097` the width `-4097` is not valid [use AUTO or a number up to 4096; a negative number \
                 aligns to the left]",
            ),
            (
                "SELECT\n a OR !\n",
                "`!` OR does not support `!` [write ? * . - _ # 0 or a quoted blank; write the character twice \
                 to fill the column]",
            ),
            (
                "SELECT\n a PRINTF '%d %d'\n",
                "`'%d %d'` `%d %d` has more than one conversion: give each an expression of its own",
            ),
            ("SELECT\n a PRINTAS job_statu\n", "`job_statu` there is no function job_statu [did you mean JOB_STATUS?]"),
            ("SELECT\n a as x\n", "`as` expected the end, found a name `as` [write keywords in capitals: AS]"),
            ("SELECT\n a AUTO\n", "`AUTO` AUTO must follow WIDTH [write WIDTH AUTO]"),
            ("SELECT\n a AS 'x\n b OR \"\n", "`'x` the closing quote is missing\n`\"` the closing quote is missing"),
        ] {
            assert_eq!(problems(format), expected, "{format}");
        }
    }

    #[test]
    fn problems_of_sections_have_places_and_hints() {
        for (format, expected) in [
            (
                "",
                "`` the print format has no SELECT [write SELECT, and on each line after it an attribute or an \
                 expression]",
            ),
            ("Owner\nSize\n", "`Owner` a print format begins with SELECT [the lines after SELECT are the columns]"),
            ("select\n", "`select` a print format begins with SELECT [keywords are in capitals]"),
            ("'SELECT'\n", "`'SELECT'` a print format begins with SELECT [keywords are in capitals]"),
            ("SELECT RECORDPREFIX 'x\n a\n", "`'x` the closing quote is missing"),
            ("SELECT FIELDPREFIX\n a\n", "`FIELDPREFIX` FIELDPREFIX needs a string [quote it: ' ']"),
            (
                "SELECT SEPARATOR ':'\n a\n",
                "`SEPARATOR` SEPARATOR must follow LABEL [write LABEL SEPARATOR ': ']\n`':'` unknown keyword \
                 `:` after SELECT [columns begin on the line after SELECT; the keywords are FROM, UNIQUE, BARE, \
                 NOTITLE, NOHEADER, NOSUMMARY, LABEL, SEPARATOR, RECORDPREFIX, RECORDSUFFIX, FIELDPREFIX, \
                 FIELDSUFFIX]",
            ),
            (
                "SELECT FROM JOBS\n a\n",
                "`FROM` FROM is not supported: only an access point can group jobs [`classad autocluster` \
                 groups jobs, `query --group-by` counts them]",
            ),
            (
                "SELECT NOHEADR\n a\n",
                "`NOHEADR` unknown keyword `NOHEADR` after SELECT [columns begin on the line after SELECT; did \
                 you mean NOHEADER?]",
            ),
            (
                "SELECT\n a\nWHERE a\nWHERE  b \n",
                "`b` WHERE already has an expression [join conditions with `&&` after one WHERE; end a \
                 continued line with \\]",
            ),
            (
                "SELECT\n a\nSUMMARY STANDAR\n",
                "`STANDAR` unknown keyword `STANDAR` after SUMMARY [did you mean STANDARD?]",
            ),
            ("SELECT\n a\n AND b\n", "`AND` HTCondor reserves the keyword AND, but does not support it"),
            (
                "SELECT\n a\nGROUP BY )\n",
                "`)` expected an expression, found `)` [this `)` closes nothing: there is no open bracket before it]",
            ),
        ] {
            assert_eq!(problems(format), expected, "{format}");
        }
    }

    /// Comments, continued lines, quoted words and lines without a word are no keywords and no columns.
    #[test]
    fn lines_are_joined_and_comments_are_left_out() {
        let columns = |format: &str| {
            let read = read_print_format(format, Dialect::Condor, WidthRule::Cuts);
            let read = read.unwrap_or_else(|_| panic!("{format}"));
            let columns = read.mask.columns.iter().map(|column| format!("{}: {}", column.heading, column.expression));
            let keys = read.order.iter().map(|key| key.expression.to_string());
            let condition = read.constraint.iter().map(ToString::to_string);
            columns.chain(keys).chain(condition).collect::<Vec<_>>().join(", ")
        };
        for (format, expected) in [
            ("# first\n\n  SELECT\n # a\n a\n\n b\n", "a: a, b: b"),
            ("SELECT\n a + \\\n   b AS \\\n 'x y'\n", "x y: a + b"),
            ("SELECT\n # a \\\n b\n", "b: b"),
            ("SELECT\n \"SELECT\"\n '#x'\n", "\"SELECT\": \"SELECT\", '#x': '#x'"),
            ("SELECT\n a AS ''\n", "a: a"),
            ("SELECT\n a\nWHERE\n c\nGROUP\n k\n", "a: a, k, c"),
            ("SELECT\n a\nGROUP k AS x DESCENDING\n", "a: a, k"),
            ("SELECT\n a\nGROUP BY k\nSELECT\n b\n", "a: a, b: b, k"),
        ] {
            assert_eq!(columns(format), expected, "{format}");
        }
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
