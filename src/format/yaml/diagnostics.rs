//! Problems of YAML documents, with our own positions and messages.

use std::ops::Range;

use crate::format::{MAX_AD_BYTES, Problem};

use super::deserialize::YamlRejection;
use super::node_end::brackets;
use super::scalar_offset::position_offset;

/// Maximum number of brackets that are open at once. For each word, libyaml visits all open brackets, so without a
/// limit the total time would be quadratic.
const MAX_OPEN_BRACKETS: usize = 500;

/// Finds the first reason why the parser should not read a document: more than [`MAX_AD_BYTES`], bytes that are not
/// UTF-8, characters that YAML forbids, or too many open brackets. Returns its byte range and a message; `None` if
/// there is none.
pub fn find_unreadable(text: &[u8]) -> Option<(Range<usize>, String)> {
    if text.len() > MAX_AD_BYTES {
        return Some((0..1, format!("a YAML document can have at most {MAX_AD_BYTES} bytes")));
    }
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            return Some((at..at + 1, "these bytes are not UTF-8".to_owned()));
        }
    };
    let strange =
        |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}') || matches!(c, '\u{fffe}' | '\u{ffff}');
    if let Some((at, c)) = text.char_indices().find(|(_, c)| strange(*c)) {
        let message = format!("YAML does not allow the character {} without an escape", c.escape_unicode());
        return Some((at..at + c.len_utf8(), message));
    }
    // Most documents have so few brackets that no more than the maximum can be open. For them the search ends here.
    memchr::memchr2_iter(b'[', b'{', text.as_bytes()).nth(MAX_OPEN_BRACKETS)?;
    let (at, _) = brackets(text.as_bytes(), 0).find(|(_, open)| *open > MAX_OPEN_BRACKETS)?;
    Some((at..at + 1, format!("more than {MAX_OPEN_BRACKETS} brackets are open")))
}

/// Converts a rejection by our visitors into a problem. `at` is the byte offset of the rejected node.
pub fn from_rejection(text: &[u8], at: usize, rejection: YamlRejection) -> Problem {
    // Looks for the text of the expression in the document, to show the exact place of the error. The text is not found
    // if the expression is written with escapes or on several lines.
    if let Some(expression) = rejection.text.as_ref().filter(|expression| !expression.is_empty()) {
        let nearby = &text[at..text.len().min(at + 64 + 2 * expression.len())];
        if let Some(found) = memchr::memmem::find(nearby, expression.as_bytes()) {
            return Problem::from_syntax(*rejection.error, at + found, 0);
        }
    }
    let end = memchr::memchr2(b'\n', b'\r', &text[at..]).map_or(text.len(), |end| at + end);
    let column = |text: &str| text.get(..rejection.error.span.range().start).map_or(0, |text| text.chars().count()) + 1;
    let message = match &rejection.text {
        Some(text) => format!("{} (column {} of the expression)", rejection.error.message, column(text)),
        None => rejection.error.message.clone(),
    };
    Problem { help: rejection.error.help, ..Problem::error_at(at..end, 0, message) }
}

/// Converts an error of `serde_yaml` into a problem. `at` is the byte offset of the error.
pub fn from_serde_yaml(text: &[u8], at: usize, error: &serde_yaml::Error) -> Problem {
    let error = error.to_string();
    // Messages have the form `what is wrong at line 3 column 1, while parsing something at line 2 column 7`.
    let (wrong, context) = error.split_once(", while ").unwrap_or((&error, ""));
    let wrong = wrong.split(" at line ").next().unwrap_or_default();
    let (message, help) = match wrong {
        "recursion limit exceeded" => (
            "this is nested more than 128 levels deep".to_owned(),
            "write nested ads and lists as an expression: !expr '[ a = { { 1 } } ]'",
        ),
        "repetition limit exceeded" => ("the aliases of this document expand to too many values".to_owned(), ""),
        wrong if wrong.contains("more than one document") => {
            ("there is text after the end of this document".to_owned(), "write a line `---` between two documents")
        }
        wrong if wrong.starts_with("invalid type") || wrong.contains(": invalid type") => {
            (wrong.to_owned(), "write each attribute as `name: value` or `name: !expr 'expression'`")
        }
        wrong => (format!("this is not YAML: {wrong}"), ""),
    };
    // A problem at the end of the document is placed before trailing white space.
    let at = at.min(text.trim_ascii_end().len());
    let mut problem = Problem::error_at(at..text.len().min(at + 1), 0, message);
    problem.help = (!help.is_empty()).then(|| help.to_owned());
    if let Some((what, place)) = context.split_once(" at line ")
        && let Some((line, column)) = place.split_once(" column ")
        && let (Ok(line), Ok(column)) = (line.parse(), column.parse())
        && let Some(began) = position_offset(text, line, column)
    {
        problem.related = Some((began..text.len().min(began + 1), format!("while {what} that begins here")));
    }
    problem
}

/// Finds an integer that is too large for `serde_yaml`, which has read it as one of `reals`. Returns its byte range;
/// `None` if there is no such integer.
pub fn find_oversized_integer(text: &[u8], reals: &[f64]) -> Option<Range<usize>> {
    let is_between = |byte: Option<&u8>| {
        byte.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b'[' | b']' | b'{' | b'}'))
    };
    let mut at = 0;
    while at < text.len() {
        let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let signed = usize::from(at > 0 && matches!(text[at - 1], b'-' | b'+'));
        let range = at - signed..at + digits;
        let before = range.start.checked_sub(1).map(|before| &text[before]);
        if digits > 38
            && is_between(before)
            && is_between(text.get(range.end))
            && std::str::from_utf8(&text[range.clone()])
                .ok()
                .and_then(|text| text.parse().ok())
                .is_some_and(|real| reals.contains(&real))
        {
            return Some(range);
        }
        at += digits + 1;
    }
    None
}
