//! Texts as scalars that read back as they are, and as what they are.

use std::borrow::Cow;

/// Words that some readers of YAML, of version 1.1 or 1.2, take for something else than a string.
const WORDS: [&str; 11] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"];

/// A text as a scalar on one line: as it is where no reader of YAML can misunderstand it, else in quotes.
#[must_use]
pub fn scalar(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        Cow::Borrowed(text)
    } else if text.contains(['"', '\\']) && !text.chars().any(|c| c == '\'' || needs_escape(c)) {
        Cow::Owned(format!("'{text}'"))
    } else {
        Cow::Owned(quoted(text))
    }
}

/// The text of an expression as a scalar; `"` is frequent there.
pub fn expression(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        Cow::Borrowed(text)
    } else if text.chars().any(needs_escape) {
        Cow::Owned(quoted(text))
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', "''")))
    }
}

/// Whether a text needs no quotes: words of harmless characters, the first of which begins no number,
/// with single spaces between.
fn is_plain(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'/');
    let is_harmless = |byte: u8| is_letter(byte) || byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'@');
    text.bytes().next().is_some_and(is_letter)
        && text.split(' ').all(|word| !word.is_empty() && word.bytes().all(is_harmless))
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a character cannot stand in a scalar as it is: what controls, ends lines, is invisible, or
/// does not exist.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Double quotes, with escapes.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // All of them are of the basic plane.
            c if needs_escape(c) => out.extend(["\\u", &format!("{:04x}", u32::from(c))]),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A real; YAML 1.1 wants a point, and a sign in the exponent.
pub fn real(real: f64) -> String {
    if real.is_nan() {
        return ".nan".to_owned();
    }
    if real.is_infinite() {
        return if real > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let text = format!("{real:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let point = if digits.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            format!("{digits}{point}e{sign}{exponent}")
        }
        None => text,
    }
}
