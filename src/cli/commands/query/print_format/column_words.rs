//! The words of a column of a print format: an expression, and how its value is printed.

use std::ops::Range;

use classad::ad::Dialect;
use classad::format::Problem;
use classad::syntax::{ParseOptions, PrintfConversion, SyntaxError, parse_expression};
use classad::text::suggestion;

use super::words::{FormatWord, FormatWords, problem_at, similar_words};
use crate::cli::commands::query::format_string::{FormatString, unescape};
use crate::cli::commands::query::print_function::{PrintFunction, find_function, similar_names};
use crate::cli::commands::query::print_mask::{MaskColumn, Placeholder};

/// The words of a column.
const COLUMN_WORDS: [&str; 14] = [
    "ALWAYS", "AS", "FIT", "LEFT", "NOPREFIX", "NOSUFFIX", "OR", "PRINTAS", "PRINTF", "RENDERAS", "RIGHT", "TRUNCATE",
    "WIDTH", "AUTO",
];

/// Maximum width of a column, in characters.
const MAX_WIDTH: i64 = 4096;

/// The characters that can stand in place of a value.
const PLACEHOLDERS: &str = " ?*.-_#0";

/// Format of the values of a column.
enum ColumnFormat {
    /// No keyword sets a format. The format is `%v`.
    Default,
    /// The text as it is; `%v` if there is no function.
    Text,
    Given(FormatString),
}

/// What a number after `WIDTH` means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WidthRule {
    /// Longer values are cut, as in `condor_q` and in HTCondor's own tables.
    Cuts,
    /// Longer values stay whole unless `TRUNCATE` is given, and without `PRINTF` only strings are printed, as in `condor_status`.
    Pads,
}

/// Settings of a column, as its keywords give them.
#[allow(clippy::struct_excessive_bools)] // each is a word
struct ColumnWords {
    heading: Option<String>,
    format: ColumnFormat,
    function: Option<&'static PrintFunction>,
    /// The number after `WIDTH`.
    width: Option<i64>,
    /// Whether the column is as wide as its cells: after `WIDTH AUTO`, and if there is no `WIDTH`.
    fits_cells: bool,
    /// Whether there is a `WIDTH AUTO`, which counts beside a number, too: the number is the minimum then.
    has_auto_width: bool,
    is_cut: bool,
    is_left_aligned: Option<bool>,
    has_prefix: bool,
    has_suffix: bool,
    is_always_called: bool,
    placeholder: Placeholder,
    width_rule: WidthRule,
    problems: Vec<Problem>,
}

/// Reads a column. With a separator of labels, the label and the separator stand before each value.
///
/// # Errors
///
/// The problems of the line.
pub fn read_column(
    text: &str,
    mut words: FormatWords,
    dialect: Dialect,
    (label_separator, width_rule): (Option<&str>, WidthRule),
) -> Result<MaskColumn, Vec<Problem>> {
    let (_, Range { start, .. }) = words.rest();
    let mut told = ColumnWords::new(width_rule);
    let end = told.read(&mut words);
    let range = start..start + text[start..end].trim_end().len();
    let written = &text[range.clone()];
    if written.is_empty() {
        told.problems.push(problem_at(range, "a column must begin with an attribute or an expression", ""));
        return Err(told.problems);
    }
    match parse_expression(written.as_bytes(), ParseOptions::long(dialect)) {
        Ok(expression) if told.problems.is_empty() => {
            let heading = told.heading.take().filter(|heading| !heading.is_empty());
            let heading = heading.unwrap_or_else(|| written.to_owned());
            Ok(told.into_column(MaskColumn::new(&heading, expression, None), label_separator))
        }
        Ok(_) => Err(told.problems),
        Err(error) => {
            told.problems.insert(0, expression_problem(text, range, error));
            Err(told.problems)
        }
    }
}

/// Returns the problem of an expression that cannot be parsed. Words that are not keywords make it wrong, most likely in
/// small letters.
fn expression_problem(text: &str, range: Range<usize>, error: SyntaxError) -> Problem {
    let mut problem = Problem::from_syntax(error, range.start, 0);
    let lower = |word: &FormatWord| COLUMN_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word.text));
    if let Some(word) = FormatWords::new(text, range).find(|word| !word.is_quoted && lower(word)) {
        problem.help = Some(format!("write keywords in capitals: {}", word.text.to_uppercase()));
    }
    problem
}

impl ColumnWords {
    /// Returns the settings of a column without keywords.
    fn new(width_rule: WidthRule) -> Self {
        ColumnWords {
            heading: None,
            format: ColumnFormat::Default,
            function: None,
            width: None,
            fits_cells: true,
            has_auto_width: false,
            is_cut: false,
            is_left_aligned: None,
            has_prefix: true,
            has_suffix: true,
            is_always_called: false,
            placeholder: Placeholder { character: ' ', is_wide: false },
            width_rule,
            problems: Vec::new(),
        }
    }

    /// Reads the words of a column. Returns where its expression ends: at the first keyword, or at the end of the line.
    fn read(&mut self, words: &mut FormatWords) -> usize {
        let mut end = words.end();
        while let Some(word) = words.next() {
            if COLUMN_WORDS.iter().any(|keyword| word.is(keyword)) {
                end = end.min(word.range.start);
                self.read_word(&word, words);
            } else if end < word.range.start {
                let help = similar_words(word.text, &COLUMN_WORDS);
                let help = format!("{help} (put text with blanks in quotes)");
                let message = format!("unknown keyword `{}` in a column", word.text);
                self.problems.push(problem_at(word.range, message, help));
            }
        }
        end
    }

    fn read_word(&mut self, word: &FormatWord, words: &mut FormatWords) {
        match word.text {
            "NOPREFIX" => self.has_prefix = false,
            "NOSUFFIX" => self.has_suffix = false,
            "LEFT" => self.is_left_aligned = Some(true),
            "RIGHT" => self.is_left_aligned = Some(false),
            "TRUNCATE" => self.is_cut = true,
            "FIT" => self.is_cut = false,
            "ALWAYS" => self.is_always_called = true,
            "AUTO" => self.problems.push(problem_at(word.range.clone(), "AUTO must follow WIDTH", "write WIDTH AUTO")),
            _ => {
                let Some(value) = words.next() else {
                    let message = format!("{} needs {}", word.text, needed_by(word.text));
                    return self.problems.push(problem_at(word.range.clone(), message, ""));
                };
                if value.is_unclosed {
                    return self.problems.push(problem_at(value.range, "the closing quote is missing", ""));
                }
                self.read_value(word.text, &value);
            }
        }
    }

    fn read_value(&mut self, keyword: &str, value: &FormatWord) {
        let result = match keyword {
            "AS" => {
                self.heading = Some(if value.is_quoted { unescape(value.text) } else { value.text.to_owned() });
                Ok(())
            }
            "PRINTF" => FormatString::parse(value.text)
                .map(|format| self.format = ColumnFormat::Given(format))
                .map_err(|message| (message, String::new())),
            "OR" => self.read_placeholder(value.text),
            "WIDTH" => self.read_width(value.text),
            _ => self.read_function(keyword, value.text),
        };
        if let Err((message, help)) = result {
            self.problems.push(problem_at(value.range.clone(), message, help));
        }
    }

    fn read_function(&mut self, keyword: &str, name: &str) -> Result<(), (String, String)> {
        let Some(function) = find_function(name) else {
            let near = suggestion(&similar_names(&name.to_uppercase()));
            let help = near.trim_start_matches([' ', ',', ';']).to_owned();
            return Err((format!("there is no function {name}"), help));
        };
        self.function = Some(function);
        let is_default = matches!(self.format, ColumnFormat::Default);
        if keyword == "PRINTAS" || (is_default && !function.format.is_empty()) {
            self.format = match FormatString::parse(function.format) {
                Ok(format) if !function.format.is_empty() => ColumnFormat::Given(format),
                _ => ColumnFormat::Text,
            };
        }
        Ok(())
    }

    fn read_placeholder(&mut self, text: &str) -> Result<(), (String, String)> {
        let mut characters = text.chars();
        let first = characters.next().filter(|character| PLACEHOLDERS.contains(*character));
        let Some(character) = first else {
            let help = "write ? * . - _ # 0 or a quoted blank; write the character twice to fill the column".to_owned();
            return Err((format!("OR does not support `{text}`"), help));
        };
        self.placeholder = Placeholder { character, is_wide: characters.next() == first };
        Ok(())
    }

    fn read_width(&mut self, text: &str) -> Result<(), (String, String)> {
        if text == "AUTO" {
            (self.fits_cells, self.has_auto_width, self.is_cut) = (true, true, false);
            return Ok(());
        }
        let Some(width) = text.parse::<i64>().ok().filter(|width| width.abs() <= MAX_WIDTH) else {
            let help = format!("use AUTO or a number up to {MAX_WIDTH}; a negative number aligns to the left");
            return Err((format!("the width `{text}` is not valid"), help));
        };
        (self.width, self.fits_cells) = (Some(width), self.has_auto_width);
        self.is_cut |= self.width_rule == WidthRule::Cuts;
        if matches!(self.format, ColumnFormat::Default) {
            self.format = ColumnFormat::Text;
        }
        Ok(())
    }

    /// Completes a column, whose heading gives it a width if no word does.
    fn into_column(self, mut column: MaskColumn, label_separator: Option<&str>) -> MaskColumn {
        let any_value =
            || FormatString { conversion: Some(PrintfConversion::of_letter('v', None)), ..FormatString::default() };
        column.function = self.function;
        let is_without_format = matches!(self.format, ColumnFormat::Text);
        column.format = match self.format {
            ColumnFormat::Given(format) => Some(format),
            ColumnFormat::Text if self.function.is_some() => None,
            ColumnFormat::Text if self.width_rule == WidthRule::Pads && self.width != Some(0) => None,
            ColumnFormat::Default | ColumnFormat::Text => Some(any_value()),
        };
        (column.has_prefix, column.has_suffix) = (self.has_prefix, self.has_suffix);
        (column.fits_cells, column.is_cut) = (self.fits_cells, self.is_cut);
        (column.is_always_called, column.placeholder) = (self.is_always_called, self.placeholder);
        let heading_width = column.heading.chars().count();
        match self.width {
            None => (column.width, column.is_left_aligned) = (heading_width, true),
            Some(width) => {
                column.width = usize::try_from(width.unsigned_abs()).unwrap_or(0);
                column.is_left_aligned = width < 0;
            }
        }
        let cuts_values = self.width_rule == WidthRule::Cuts && column.fits_cells && column.is_cut;
        if is_without_format && column.function.is_none() && cuts_values {
            // A number after AUTO cuts the values all the same.
            column.format = FormatString::parse(&format!("%.{}v", column.width)).ok();
        }
        if let Some(separator) = label_separator {
            // The width is that of the value, without the label.
            let letter = if column.function.is_some() { 's' } else { 'v' };
            let sign = if column.is_left_aligned { "-" } else { "" };
            let cut = if column.is_cut { format!(".{}", column.width) } else { String::new() };
            let has_width = self.width.is_some_and(|width| width != 0) && is_without_format;
            let width = if has_width { format!("{sign}{}{cut}", column.width) } else { String::new() };
            if is_without_format {
                column.format = FormatString::parse(&format!("%{width}{letter}")).ok();
            }
            let label = format!("{}{separator}", column.heading);
            column.format.get_or_insert_with(any_value).before.insert_str(0, &label);
            // What the format says is the width of all, with the label.
            column.width = 0;
        }
        column.adopt_width_of_format();
        // RIGHT takes back only LEFT. A format that is made of the width aligns by the sign alone.
        let has_made_format = is_without_format && column.function.is_none() && self.width_rule == WidthRule::Cuts;
        column.is_left_aligned |= self.is_left_aligned == Some(true) && !has_made_format;
        column
    }
}

fn needed_by(keyword: &str) -> &'static str {
    match keyword {
        "AS" => "a heading",
        "PRINTF" => "a format",
        "OR" => "a character",
        "WIDTH" => "a number or AUTO",
        _ => "the name of a function",
    }
}
