//! Reader of print formats.

use std::ops::Range;

use classad::ad::{Dialect, Expression};
use classad::format::Problem;
use classad::syntax::{ParseOptions, parse_expression};

use super::column_words::{WidthRule, read_column};
use super::words::{FormatWord, FormatWords, problem_at, similar_words};
use super::{FormatSummary, PrintFormat};
use crate::cli::commands::query::format_string::unescape;
use crate::cli::commands::query::print_mask::{MaskSeparators, PrintMask};
use classad::query::SortKey;

/// Section of a print format. A keyword at the start of a line begins it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FormatSection {
    None,
    Select,
    Where,
    GroupBy,
    Summary,
}

/// The words that begin a part.
const SECTION_WORDS: [&str; 4] = ["SELECT", "WHERE", "GROUP", "SUMMARY"];

/// The words of the line `SELECT`.
const SELECT_WORDS: [&str; 12] = [
    "FROM",
    "UNIQUE",
    "BARE",
    "NOTITLE",
    "NOHEADER",
    "NOSUMMARY",
    "LABEL",
    "SEPARATOR",
    "RECORDPREFIX",
    "RECORDSUFFIX",
    "FIELDPREFIX",
    "FIELDSUFFIX",
];

/// A print format that is being read.
struct FormatReader<'t> {
    text: &'t str,
    dialect: Dialect,
    width_rule: WidthRule,
    format: PrintFormat,
    problems: Vec<Problem>,
    section: FormatSection,
    /// The text between a label and its value; `None` if columns have headings instead.
    label_separator: Option<String>,
    summary_columns: PrintMask,
    has_summary_columns: bool,
}

/// Reads a print format.
///
/// # Errors
///
/// The problems of the text, with their places.
pub fn read_print_format(text: &str, dialect: Dialect, width_rule: WidthRule) -> Result<PrintFormat, Vec<Problem>> {
    let joined = join_continued_lines(text);
    let mut format = PrintFormat { has_title: true, ..PrintFormat::default() };
    format.mask.has_heading = true;
    let mut reader = FormatReader {
        text: &joined,
        dialect,
        width_rule,
        format,
        problems: Vec::new(),
        section: FormatSection::None,
        label_separator: None,
        summary_columns: PrintMask::default(),
        has_summary_columns: false,
    };
    let mut start = 0;
    for line in joined.split_inclusive('\n') {
        reader.read_line(start..start + line.trim_end().len());
        start += line.len();
    }
    reader.finish()
}

/// Replaces a backslash at the end of a line, and the line feed, by blanks: the next line continues the line.
fn join_continued_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let kept = line.trim_end();
        match kept.strip_suffix('\\') {
            Some(before) if line.ends_with('\n') && !kept.trim_start().starts_with('#') => {
                joined.push_str(before);
                joined.push_str(&" ".repeat(line.len() - before.len()));
            }
            _ => joined.push_str(line),
        }
    }
    joined
}

impl FormatReader<'_> {
    fn read_line(&mut self, line: Range<usize>) {
        let mut words = FormatWords::new(self.text, line.clone());
        let Some(first) = words.peek() else { return };
        if first.text.starts_with('#') && !first.is_quoted {
            return;
        }
        match first.text {
            _ if first.is_quoted => {}
            "SELECT" => {
                words.next();
                self.section = FormatSection::Select;
                return self.read_select(words);
            }
            "WHERE" => {
                words.next();
                self.section = FormatSection::Where;
            }
            "GROUP" => {
                words.next();
                words.skip_keyword("BY");
                self.section = FormatSection::GroupBy;
            }
            "SUMMARY" => {
                words.next();
                self.section = FormatSection::Summary;
                return self.read_summary(words);
            }
            "JOIN" | "AND" => {
                let message = format!("HTCondor reserves the keyword {}, but does not support it", first.text);
                return self.problems.push(problem_at(first.range, message, ""));
            }
            _ => {}
        }
        self.read_part(&first, words);
    }

    /// Reads the line of a section, or what stands behind its keyword. `first` is the first word of the line.
    fn read_part(&mut self, first: &FormatWord<'_>, words: FormatWords<'_>) {
        let (rest, range) = words.rest();
        if rest.is_empty() {
            return;
        }
        match self.section {
            FormatSection::None => {
                let near = SECTION_WORDS.iter().any(|word| word.eq_ignore_ascii_case(first.text));
                let help = if near { "keywords are in capitals" } else { "the lines after SELECT are the columns" };
                self.problems.push(problem_at(first.range.clone(), "a print format begins with SELECT", help));
                // Report this once.
                self.section = FormatSection::Select;
            }
            FormatSection::Select | FormatSection::Summary => {
                let separator = self.label_separator.as_deref();
                match read_column(self.text, words, self.dialect, (separator, self.width_rule)) {
                    Ok(column) if self.section == FormatSection::Select => self.format.mask.columns.push(column),
                    Ok(column) => self.summary_columns.columns.push(column),
                    Err(problems) => self.problems.extend(problems),
                }
            }
            FormatSection::Where => {
                let Some(constraint) = self.parse(rest, range.clone()) else { return };
                if self.format.constraint.is_some() {
                    let help = "join conditions with `&&` after one WHERE; end a continued line with \\";
                    self.problems.push(problem_at(range, "WHERE already has an expression", help));
                }
                self.format.constraint = Some(constraint);
            }
            FormatSection::GroupBy => self.read_key(words),
        }
    }

    /// Reads the rest of the line `SELECT`.
    fn read_select(&mut self, mut words: FormatWords) {
        let separators = &mut self.format.mask.separators;
        *separators = MaskSeparators::default();
        (separators.before, separators.after_row) = (" ".to_owned(), "\n".to_owned());
        while let Some(word) = words.next() {
            let mut string = |reader: &mut Self| {
                if let Some(value) = words.next() {
                    return reader.checked(&value).then(|| unescape(value.text));
                }
                let message = format!("{} needs a string", word.text);
                reader.problems.push(problem_at(word.range.clone(), message, "quote it: ' '"));
                None
            };
            match word.text {
                "FROM" | "UNIQUE" if !word.is_quoted => {
                    let help = "`classad autocluster` groups jobs, `query --group-by` counts them";
                    let message = format!("{} is not supported: only an access point can group jobs", word.text);
                    self.problems.push(problem_at(word.range, message, help));
                    words.next();
                }
                "BARE" => (self.format.has_title, self.format.mask.has_heading) = (false, false),
                "NOTITLE" => self.format.has_title = false,
                "NOHEADER" => self.format.mask.has_heading = false,
                "NOSUMMARY" => {}
                "LABEL" => self.label_separator = Some(" = ".to_owned()),
                "SEPARATOR" if self.label_separator.is_some() => {
                    self.label_separator = string(self).or(self.label_separator.take());
                }
                "RECORDPREFIX" => self.format.mask.separators.before_row = string(self).unwrap_or_default(),
                "RECORDSUFFIX" => self.format.mask.separators.after_row = string(self).unwrap_or_default(),
                "FIELDPREFIX" => self.format.mask.separators.before = string(self).unwrap_or_default(),
                "FIELDSUFFIX" => self.format.mask.separators.after = string(self).unwrap_or_default(),
                "SEPARATOR" => {
                    self.problems.push(problem_at(
                        word.range,
                        "SEPARATOR must follow LABEL",
                        "write LABEL SEPARATOR ': '",
                    ));
                }
                other => {
                    let help = similar_words(other, &SELECT_WORDS);
                    let help = format!("columns begin on the line after SELECT; {help}");
                    self.problems.push(problem_at(word.range, format!("unknown keyword `{other}` after SELECT"), help));
                }
            }
        }
        // Labels take the place of headings.
        self.format.mask.has_heading &= self.label_separator.is_none();
    }

    fn read_summary(&mut self, words: FormatWords) {
        self.has_summary_columns = true;
        for word in words {
            match word.text {
                "STANDARD" => {
                    (self.format.summary, self.has_summary_columns) = (FormatSummary::Standard, false);
                }
                "NONE" => (self.format.summary, self.has_summary_columns) = (FormatSummary::Nothing, false),
                other => {
                    let help = similar_words(other, &["STANDARD", "NONE"]);
                    self.problems.push(problem_at(
                        word.range,
                        format!("unknown keyword `{other}` after SUMMARY"),
                        help,
                    ));
                }
            }
        }
    }

    /// Reads a key of `GROUP BY`: an expression, `AS` and a name, `ASCENDING` or `DESCENDING`.
    fn read_key(&mut self, mut words: FormatWords) {
        let (_, Range { start, .. }) = words.rest();
        let (mut end, mut is_descending) = (words.end(), false);
        while let Some(word) = words.next() {
            if !["AS", "ASCENDING", "DESCENDING"].iter().any(|keyword| word.is(keyword)) {
                continue;
            }
            end = end.min(word.range.start);
            is_descending = word.is("DESCENDING");
            if word.is("AS") {
                words.next();
            }
        }
        let range = start..start + self.text[start..end].trim_end().len();
        if let Some(expression) = self.parse(&self.text[range.clone()], range) {
            self.format.order.push(SortKey { expression, is_descending });
        }
    }

    /// Whether a string has both quotes; reports it otherwise.
    fn checked(&mut self, word: &FormatWord) -> bool {
        if word.is_unclosed {
            self.problems.push(problem_at(word.range.clone(), "the closing quote is missing", ""));
        }
        !word.is_unclosed
    }

    fn parse(&mut self, text: &str, range: Range<usize>) -> Option<Expression> {
        let parsed = parse_expression(text.as_bytes(), ParseOptions::long(self.dialect));
        parsed.map_err(|error| self.problems.push(Problem::from_syntax(error, range.start, 0))).ok()
    }

    fn finish(mut self) -> Result<PrintFormat, Vec<Problem>> {
        if self.section == FormatSection::None && self.problems.is_empty() {
            let help = "write SELECT, and on each line after it an attribute or an expression";
            self.problems.push(problem_at(0..0, "the print format has no SELECT", help));
        }
        if self.has_summary_columns {
            let mut mask = self.summary_columns;
            (mask.separators, mask.has_heading) = (self.format.mask.separators.clone(), self.format.mask.has_heading);
            self.format.summary = FormatSummary::Columns(Box::new(mask));
        }
        if self.problems.is_empty() { Ok(self.format) } else { Err(self.problems) }
    }
}
