//! The members of an object in JSON: a name, a colon, a value, and a comma or closing brace.

use std::ops::Range;

use crate::ad::{Dialect, Expression, Name, Type};
use crate::format::ad_builder::AdOrigin;
use crate::format::attribute_text::{AttributeText, ParsedAttribute};
use crate::format::nested_reader::RecoveringReader;
use crate::syntax::LiteralText;

use super::value::{read_name, read_string, read_word};
use super::{JsonGrammar, OPEN};

/// Reads to the end of the first member of a text. `name_length` is the length of the text before the value, in bytes,
/// if it is known. `None` if the text does not begin with a member, or if a comment may stand in it.
pub fn next_member(text: &[u8], name_length: Option<usize>) -> Option<AttributeText<'_>> {
    let (start, value) = if let Some(length) = name_length {
        (0, length)
    } else {
        let start = skip_blanks(text, 0);
        (start, value_start(text, start)?.1)
    };
    let end = value_end(text, value)?;
    Some(AttributeText { whole: &text[..member_end(text, end)?], content: &text[start..end] })
}

/// Returns the length of a member before its value, in bytes.
pub fn member_value_start(member: &[u8]) -> Option<usize> {
    Some(value_start(member, 0)?.1)
}

/// Parses a member. `None` if it has an error.
pub fn parse_member(member: &[u8], dialect: Dialect) -> Option<ParsedAttribute> {
    let origin = AdOrigin { text: member, dialect, number: 1 };
    let (name_end, value_start) = value_start(member, 0)?;
    let name = read_name(&origin, &(0..name_end)).ok()?;
    let expression = read_member_value(&origin, value_start..member.len())?;
    Some(ParsedAttribute { name, expression, value_start, warning: None })
}

/// Parses a value. `None` if it has an error.
pub fn parse_value(value: &[u8], dialect: Dialect) -> Option<Expression> {
    read_member_value(&AdOrigin { text: value, dialect, number: 1 }, 0..value.len())
}

/// Whether JSON reads a literal as the language does: a string that is certainly no expression, a number that JSON allows,
/// or a boolean in lower case.
pub fn is_literal(literal: &LiteralText) -> bool {
    match (literal.value_type, literal.text) {
        (Type::String, text) => !text[1..].starts_with(&OPEN[..1]),
        // The language reads a real with a superfluous 0. It reads `-0` as an operation.
        (_, [b'-', b'0', ..] | [b'0', b'0'..=b'9', ..]) => false,
        _ => literal.value_type != Type::Boolean || literal.is_plain(),
    }
}

/// Whether the text between the quotes of a string is its value, and certainly no expression.
pub fn is_plain_string(inside: &[u8]) -> bool {
    memchr::memchr2(b'\\', 0, inside).is_none() && !inside.starts_with(&OPEN[..1])
}

/// Reads the name at byte `at`, and the colon behind it. Returns the byte offsets of the end of the name and of the
/// value. `None` if no name and colon stand there.
pub fn value_start(text: &[u8], at: usize) -> Option<(usize, usize)> {
    if *text.get(at)? != b'"' {
        return None;
    }
    let end = string_end(text, at)?;
    let colon = skip_blanks(text, end);
    (*text.get(colon)? == b':').then(|| (end, skip_blanks(text, colon + 1)))
}

/// Returns the byte offset of the end of the value that begins at byte `start`. `None` if there is no end, or if a
/// comment may stand in it.
pub fn value_end(text: &[u8], start: usize) -> Option<usize> {
    match text.get(start)? {
        b'"' => string_end(text, start),
        b'{' | b'[' => nested_end(text, start),
        _ => {
            let is_delimiter = |byte: &u8| matches!(byte, b',' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
            Some(start + text[start..].iter().position(is_delimiter)?)
        }
    }
}

/// Returns the byte offset of the end of the member whose value ends at byte `value_end`: behind its closing brace, or
/// behind its comma and the white space that follows. `None` if neither stands there.
pub fn member_end(text: &[u8], value_end: usize) -> Option<usize> {
    let delimiter = skip_blanks(text, value_end);
    match text.get(delimiter)? {
        b',' => Some(skip_blanks(text, delimiter + 1)),
        b'}' => Some(delimiter + 1),
        _ => None,
    }
}

/// Reads the value at a byte range, whose end [`value_end`] has found. `None` if it has an error.
pub fn read_member_value(origin: &AdOrigin, range: Range<usize>) -> Option<Expression> {
    let value = &origin.text[range.clone()];
    match value.first()? {
        b'"' => read_string(origin, &range).ok(),
        b'{' | b'[' => read_nested(origin, range),
        _ => {
            let is_word = value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'));
            if is_word { read_word(origin, &range).ok() } else { None }
        }
    }
}

/// Reads a list or an ad as a value. `None` if it has an error.
fn read_nested(origin: &AdOrigin, range: Range<usize>) -> Option<Expression> {
    let text = [b"{\"a\":", &origin.text[range], b"}"].concat();
    let mut items = RecoveringReader::<JsonGrammar>::new(&text, origin.dialect);
    let ad = items.next()?.ok()?.ad;
    let value = ad.get(&Name::new("a"))?.clone();
    (ad.len() == 1 && items.next().is_none()).then_some(value)
}

/// Returns the byte offset of the end of the list or ad that begins at byte `start`. `None` if there is no end, or if
/// text outside strings has a slash, which may begin a comment.
fn nested_end(text: &[u8], start: usize) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, start);
    loop {
        match text.get(at)? {
            b'"' => {
                at = string_end(text, at)?;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            b'/' => return None,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns the byte offset behind the closing quote of the string that begins at byte `start`. `None` if the string
/// has no closing quote on its line.
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr3(b'"', b'\\', b'\n', text.get(at..)?)?;
        match text[at] {
            b'"' => return Some(at + 1),
            b'\\' if text.get(at + 1).is_some_and(|byte| *byte != b'\n') => at += 2,
            _ => return None,
        }
    }
}

/// Returns the byte offset of the first byte from `at` on that is not white space.
pub fn skip_blanks(text: &[u8], at: usize) -> usize {
    let blanks = text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c));
    at + blanks.count()
}

#[cfg(test)]
mod tests {
    use super::{nested_end, string_end};

    #[test]
    fn ends_of_strings_lists_and_ads() {
        for (text, expected) in [
            (r#""x""#, Some(3)),
            (r#""x" "y""#, Some(3)),
            (r#""""#, Some(2)),
            (r#""x\"y" "#, Some(6)),
            (r#""x\\" "#, Some(5)),
            ("\"x\n\"", None),
            ("\"x\\\n\"", None),
            (r#""x"#, None),
            (r#""x\"#, None),
        ] {
            assert_eq!(string_end(text.as_bytes(), 0), expected, "{text}");
        }
        for (text, expected) in [
            ("[] ", Some(2)),
            ("[[], {}]]", Some(8)),
            (r#"{"a": "]"}}"#, Some(10)),
            (r#"{"a": "\"]"} "#, Some(12)),
            ("[1 / 2]", None),
            (r#"["/"]"#, Some(5)),
            ("[1", None),
            (r#"["x]"#, None),
        ] {
            assert_eq!(nested_end(text.as_bytes(), 0), expected, "{text}");
        }
    }
}
