//! What is wrong with a document, in our words, and where.

use std::ops::Range;

use crate::format::Problem;

use super::values::Objection;

/// So many brackets may be open at once.  libyaml looks at all of them for each word.
const MOST_OPEN: usize = 500;

/// What keeps a document from being parsed at all: bytes that YAML does not have, and too many brackets.
pub fn unreadable(text: &[u8]) -> Option<(Range<usize>, String)> {
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
        let message = format!("the character {} cannot stand in YAML as it is", c.escape_unicode());
        return Some((at..at + c.len_utf8(), message));
    }
    let at = open_brackets(text.as_bytes())?;
    Some((at..at + 1, format!("more than {MOST_OPEN} brackets are open")))
}

/// Where one bracket too many is opened, quoted ones aside.
fn open_brackets(text: &[u8]) -> Option<usize> {
    if memchr::memchr2_iter(b'[', b'{', text).nth(MOST_OPEN).is_none() {
        return None;
    }
    let mut open = 0_usize;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        // A quote opens a string only where a word can begin.
        let begins = at == 0 || matches!(text[at - 1], b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b',' | b':');
        match byte {
            b'"' | b'\'' if begins => at += quoted_length(&text[at..]),
            b'[' | b'{' => {
                open += 1;
                if open > MOST_OPEN {
                    return Some(at);
                }
            }
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Bytes from a quote to before the one that closes it.
fn quoted_length(text: &[u8]) -> usize {
    let quote = text[0];
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 1,
            b'\'' if quote == b'\'' && text.get(at + 1) == Some(&quote) => at += 1,
            byte if *byte == quote => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// The problem that our own objection to a node is; `at` is where the node begins.
pub fn objected(text: &[u8], at: usize, objection: Objection) -> Problem {
    let line = memchr::memchr2(b'\n', b'\r', &text[at..]).map_or(text.len(), |end| at + end);
    let Some(expression) = objection.text else {
        let mut problem = Problem::at(at..line.max(at + 1).min(text.len().max(at)), 0, objection.error.message);
        problem.help = objection.error.help;
        return problem;
    };
    // The text of the expression stands behind the tag, unless it has escapes or goes over several lines.
    let nearby = &text[at..text.len().min(at + 64 + 2 * expression.len())];
    match memchr::memmem::find(nearby, expression.as_bytes()).filter(|_| !expression.is_empty()) {
        Some(found) => Problem::from_syntax(objection.error, at + found, 0),
        None => {
            let mut problem = Problem::at(at..line, 0, objection.error.message);
            problem.help = objection.error.help;
            problem
        }
    }
}

/// The problem that serde_yaml has with a document.
pub fn of_yaml(error: &serde_yaml::Error) -> Problem {
    let text = without_places(&error.to_string());
    let (message, help) = match text.as_str() {
        "recursion limit exceeded" => (
            "this is nested more than 128 deep".to_owned(),
            "a nested ad can be written as the text of an expression: !expr '[ a = [ b = 1 ] ]'",
        ),
        "repetition limit exceeded" => ("the aliases of this document repeat too much".to_owned(), ""),
        text if text.contains("more than one document") => {
            ("something stands behind the end of this document".to_owned(), "documents begin with a line `---`")
        }
        text if text.starts_with("invalid type") || text.contains(": invalid type") => {
            (text.to_owned(), "an ad is a mapping of names to values: `name: value`")
        }
        text => (format!("this is no YAML: {text}"), ""),
    };
    let problem = Problem::at(0..0, 0, message);
    if help.is_empty() { problem } else { problem.with_help(help) }
}

/// A message without the places that it tells: they are those of the document, not of the file.
fn without_places(message: &str) -> String {
    let mut parts = message.split(" at line ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest.strip_prefix(" column ").unwrap_or(rest);
        text.push_str(rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    text
}

/// Where a document has an integer that is too long for serde_yaml and was read as one of these reals.
pub fn long_integer(text: &[u8], reals: &[f64]) -> Option<Range<usize>> {
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
