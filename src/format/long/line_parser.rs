//! Parser of single lines of the long form.

use super::super::submit_signs::submit_command;
use crate::ad::{Name, Span};
use crate::format::attribute_name::{attribute_name, checked_name_text};
use crate::format::attribute_text::ParsedAttribute;
use crate::format::diagnostic::{IGNORED_TEXT, lost_value};
use crate::format::{Problem, Severity};
use crate::syntax::{ParseOptions, SyntaxError, parse_expression, parse_prefix, read_name};

/// Whether a line begins with a quote.  A quoted name may contain `=`, so that the text up to the first `=` does not
/// show the name.
pub fn has_quoted_name(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"'")
}

/// Parser of single lines, without a cache.
#[derive(Clone, Copy)]
pub struct LineParser {
    /// The options for parsing the value.
    pub options: ParseOptions,
    /// Number of the ad that the line belongs to, for problems.
    pub ad_number: usize,
}

impl LineParser {
    /// Parses the line at byte `offset`. Text behind the expression is ignored with a warning, as in HTCondor.
    pub fn parse_line(self, offset: usize, line: &[u8]) -> Result<ParsedAttribute, Problem> {
        let Some(equals) = find_separator(line) else {
            let indent = line.len() - line.trim_ascii_start().len();
            let end = line.trim_ascii_end().len();
            let line = &line[indent.min(end)..end];
            let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            let is_csv = line.contains(&b',') && !line.iter().any(u8::is_ascii_whitespace);
            let help = submit_command_help(word).unwrap_or_else(|| {
                if is_csv { "this looks like CSV, which cannot be read" } else { LONG_FORM_HELP }.to_owned()
            });
            let message = "this line does not have the form `name = expression`";
            return Err(Problem::error_at(offset + indent..offset + end, self.ad_number, message).with_help(help));
        };
        let name = self.parse_name(offset, &line[..equals])?;
        let value = &line[equals + 1..];
        let value_offset = offset + equals + 1;
        let (expression, rest) = match parse_prefix(value, self.options) {
            Ok(parsed) => parsed,
            Err(error) => {
                let problem = self.problem_in_value(error, value, value_offset);
                let help = submit_command_help(name.as_str().as_bytes()).or(problem.help);
                let problem = Problem { help, ..problem };
                if problem.severity == Severity::Error {
                    return Err(problem);
                }
                let (expression, value_start) = (lost_value(), equals + 1);
                return Ok(ParsedAttribute { name, expression, value_start, warning: Some(problem) });
            }
        };
        let warning = rest.filter(|rest| !value[rest.range()].trim_ascii().is_empty()).map(|rest| {
            let range = rest.start as usize + value_offset..value.trim_ascii_end().len() + value_offset;
            // Parsing the whole value as one expression fails, and the hint of this error says what was probably meant.
            let help = submit_command_help(name.as_str().as_bytes())
                .or_else(|| parse_expression(value, self.options).err().and_then(|error| error.help));
            Problem { help, ..Problem::error_at(range, self.ad_number, IGNORED_TEXT).as_warning() }
        });
        Ok(ParsedAttribute { name, expression, value_start: equals + 1, warning })
    }

    /// Converts a syntax error of a value into a problem. If the error is at the end of the value, the problem is
    /// placed behind the last character of the line that is not white space.
    fn problem_in_value(self, error: SyntaxError, value: &[u8], offset: usize) -> Problem {
        let end = u32::try_from(value.trim_ascii_end().len()).unwrap_or(u32::MAX);
        let span = if error.span.start < end { error.span } else { Span::new(end, end) };
        Problem::from_syntax(SyntaxError { span, ..error }, offset, self.ad_number)
    }

    /// Reads a name from `written`, the text before the `=` of a line. `offset` is the byte offset of the line.
    pub fn parse_name(self, offset: usize, written: &[u8]) -> Result<Name, Problem> {
        let indent = written.len() - written.trim_ascii_start().len();
        let trimmed = written.trim_ascii();
        let range = offset + indent..offset + indent + trimmed.len();
        let text = checked_name_text(trimmed, range.clone(), self.ad_number)?;
        // An escape that means no byte stands for itself.
        match read_name(text, self.options.dialect).or_else(|| Some(text.to_owned())) {
            Some(name) if !name.is_empty() => {
                attribute_name(name.as_bytes(), self.options.dialect, range, self.ad_number)
            }
            _ => Err(Problem::error_at(
                range.start..range.end.max(range.start + 1),
                self.ad_number,
                "a name is missing before this `=`",
            )
            .with_help(LONG_FORM_HELP)),
        }
    }
}

const LONG_FORM_HELP: &str = "in the long form, write each attribute as a line `name = expression`";

/// Returns the help for a line of a submit file that is not a line of an ad; `None` for another word.
fn submit_command_help(word: &[u8]) -> Option<String> {
    let command = submit_command(word)?;
    Some(format!("`{command}` is a command of submit files; --from submit reads the jobs of one"))
}

/// Returns the offset of the `=` that ends the name of a line; `None` if there is none.
///
/// This is the first `=` of the line, as in HTCondor. If the name is quoted, this is the `=` behind the closing quote,
/// because a quoted name may contain `=`.
pub fn find_separator(line: &[u8]) -> Option<usize> {
    if let Some(rest) = line.trim_ascii_start().strip_prefix(b"'") {
        let start = line.len() - rest.len();
        let mut at = 0;
        while let Some(found) = memchr::memchr2(b'\'', b'\\', rest.get(at..)?) {
            at += found + 1;
            if rest[at - 1] == b'\\' {
                at += 1;
            } else if let Some(behind) = rest.get(at..)
                && behind.trim_ascii_start().starts_with(b"=")
            {
                return Some(start + at + behind.len() - behind.trim_ascii_start().len());
            } else {
                break;
            }
        }
    }
    memchr::memchr(b'=', line)
}
