//! Writing of texts and reals as YAML scalars. A reader of YAML gets the same value and type.

use std::borrow::Cow;

/// Words that some readers of YAML 1.1 or 1.2 do not read as strings, so they must be quoted.
const AMBIGUOUS_WORDS: [&str; 11] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"];

/// Returns a string as a scalar on one line. The scalar has quotes if some reader of YAML would misread it without
/// quotes.
#[must_use]
pub fn string_scalar(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        Cow::Borrowed(text)
    } else if text.contains(['"', '\\']) && !text.chars().any(|c| c == '\'' || needs_escape(c)) {
        Cow::Owned(format!("'{text}'"))
    } else {
        Cow::Owned(double_quoted(text))
    }
}

/// Returns the text of an expression as a scalar. Single quotes are preferred, because expressions often contain `"`.
pub fn expression_scalar(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        Cow::Borrowed(text)
    } else if text.chars().any(needs_escape) {
        Cow::Owned(double_quoted(text))
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', "''")))
    }
}

/// Whether a text needs no quotes. Such a text begins with a letter, `_` or `/`, consists of harmless characters and
/// single spaces, and is none of [`AMBIGUOUS_WORDS`].
fn is_plain(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'/');
    let is_harmless = |byte: u8| is_letter(byte) || byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'@');
    text.bytes().next().is_some_and(is_letter)
        && text.split(' ').all(|word| !word.is_empty() && word.bytes().all(is_harmless))
        && !AMBIGUOUS_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a character must be escaped: control characters, line ends, U+FEFF, U+FFFE and U+FFFF.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Returns a text in double quotes with escapes.
fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // The code point of every character that must be escaped has at most four hexadecimal digits.
            c if needs_escape(c) => out.extend(["\\u", &format!("{:04x}", u32::from(c))]),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns a real as a scalar. It has a point and, before an exponent, a sign, because YAML 1.1 requires both.
pub fn real_scalar(real: f64) -> String {
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
