//! Fast path for ads in JSON that resemble those before: reads them without the lexer and the grammar.

use std::ops::Range;

use crate::ad::{Ad, ByteString, Expression, Name, Value};
use crate::format::attribute_cache::{AttributeBuffer, AttributeCache};
use crate::format::nested_reader::{AdOrigin, RecoveringReader};
use crate::syntax::ParsedValue;

use super::value::{read_name, read_string, read_word};
use super::{JsonGrammar, OPEN};

/// Reads the ad that begins at byte `start`, with a `{`. Returns the ad and the byte offset of its end. `None` if only
/// the grammar can tell what the ad is: it has an error, a comment, a superfluous comma or no attributes.
pub fn read_ad(
    origin: &AdOrigin,
    start: usize,
    cache: &mut AttributeCache,
    buffer: &mut AttributeBuffer,
) -> Option<(Ad, usize)> {
    let text = origin.text;
    cache.begin_ad(buffer);
    let mut at = skip_blanks(text, start + 1);
    loop {
        while let Some(length) = cache.read_same(&text[at..], buffer) {
            at += length;
            if text[at - 1] == b'}' {
                return Some((cache.build_ad(buffer), at));
            }
            at = skip_blanks(text, at);
        }
        let (index, value_start) = match cache.predicted_name(&text[at..]) {
            Some((index, length)) => (index, at + length),
            None => find_name(origin, at, cache)?,
        };
        let (value, value_end) = read_value(origin, value_start, index, cache)?;
        let delimiter = skip_blanks(text, value_end);
        let end = match text.get(delimiter)? {
            b',' => skip_blanks(text, delimiter + 1),
            b'}' => delimiter + 1,
            _ => return None,
        };
        cache.add(index, Some(&text[at..end]), value, buffer);
        if text[delimiter] == b'}' {
            return Some((cache.build_ad(buffer), end));
        }
        at = end;
    }
}

/// Reads the name at byte `at`, and the colon behind it. Returns the index of the name in the cache, and the byte
/// offset of the value. `None` if no plain name stands there.
fn find_name(origin: &AdOrigin, at: usize, cache: &mut AttributeCache) -> Option<(usize, usize)> {
    let text = origin.text;
    if *text.get(at)? != b'"' {
        return None;
    }
    let end = string_end(text, at)?;
    let colon = skip_blanks(text, end);
    if *text.get(colon)? != b':' {
        return None;
    }
    let value = skip_blanks(text, colon + 1);
    let beginning = &text[at..value];
    let index = match cache.index_of(beginning) {
        Some(index) => index,
        None => cache.insert_name(beginning, true, read_name(origin, &(at..end)).ok()?),
    };
    Some((index, value))
}

/// Reads the value at byte `start`. Returns the value and the byte offset of its end. `index` is the index of its name
/// in the cache. `None` if the value has an error, or a comment may stand in it.
fn read_value(
    origin: &AdOrigin,
    start: usize,
    index: usize,
    cache: &mut AttributeCache,
) -> Option<(ParsedValue<()>, usize)> {
    let text = origin.text;
    match text.get(start)? {
        b'"' => {
            let end = string_end(text, start)?;
            let inside = &text[start + 1..end - 1];
            if memchr::memchr2(b'\\', 0, inside).is_none() && !inside.starts_with(&OPEN[..1]) {
                return Some((ParsedValue::literal(Expression::literal(Value::String(ByteString::from(inside)))), end));
            }
            let parse = || read_string(origin, &(start..end)).ok();
            Some((cache.values.parse_with(&text[start..end], index, parse)?, end))
        }
        b'{' | b'[' => {
            let end = nested_end(text, start)?;
            let parse = || read_nested(origin, start..end);
            Some((cache.values.parse_with(&text[start..end], index, parse)?, end))
        }
        _ => {
            let is_delimiter = |byte: &u8| matches!(byte, b',' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
            let end = start + text[start..].iter().position(is_delimiter)?;
            let word = &text[start..end];
            if let Some(integer) = plain_integer(word) {
                return Some((ParsedValue::literal(Expression::literal(Value::Integer(integer))), end));
            }
            let is_word = word.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'));
            let expression = if is_word { read_word(origin, &(start..end)).ok()? } else { return None };
            Some((ParsedValue::literal(expression), end))
        }
    }
}

/// Parses a decimal integer of at most 18 digits.
fn plain_integer(word: &[u8]) -> Option<i64> {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    let is_plain = matches!(digits, [b'1'..=b'9', ..] | b"0") && digits.len() <= 18;
    if !is_plain || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let integer = digits.iter().fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    Some(if digits.len() < word.len() { -integer } else { integer })
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

/// Returns the byte offset of the first byte from `at` on that is no white space.
fn skip_blanks(text: &[u8], at: usize) -> usize {
    let blanks = text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c));
    at + blanks.count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::ad::Dialect;
    use crate::format::json::{JsonGrammar, SYNTAX};
    use crate::format::nested_reader::RecoveringReader;
    use crate::format::{FileFormat, ReadCache, ReadResult, read_cached};

    fn shown(items: impl Iterator<Item = ReadResult>) -> Vec<String> {
        let show = |item| match item {
            Ok(crate::format::AdEntry { ad, number, offset, .. }) => {
                let mut text = Vec::new();
                SYNTAX.push_ad(&ad, &mut text);
                format!("{number} at {offset}: {}", text.escape_ascii())
            }
            Err(problem) => format!("{problem:?}"),
        };
        items.map(show).collect()
    }

    proptest! {
        #[test]
        fn the_grammar_reads_the_same(
            texts in prop::collection::vec(
                prop::collection::vec(
                    prop_oneof![
                        8 => (
                            prop::sample::select(vec!["\"a\": ", "\"b\": ", "\"A\":", "\"c\\n\": ", "\"self\" : ", " \"a\": "]),
                            prop::sample::select(vec![
                                "1", "2", "-0", "1.5", "-1e3", "01", "9223372036854775808", "\"x\"", "\"y\\n\"", "\"z", "null",
                                "TRUE", "nope", "\"\\/Expr(a + 1)\\/\"", "\"/Expr(b)/\"", "\"/expr(1 +)/\"", "[1, 2]", "[1, \"]\"]",
                                "[]", "{}", "{\"a\": [1]}", "[1, /* c */ 2]", "[", "{\"a\"", "999999999999999999", "\"\\u0041\"",
                            ]),
                            prop::sample::select(vec![", ", ",", " , ", ",\n", "}", " }", "}\n{", "}\n{", "}{", "", "// c\n,"]),
                        ).prop_map(|(name, value, end)| format!("{name}{value}{end}")),
                        1 => prop::sample::select(vec!["{", "}", "\n{", "}\n", ",", "[", "]\n"]).prop_map(str::to_owned),
                    ],
                    0..12,
                ),
                1..4,
            ),
        ) {
            for dialect in [Dialect::Condor, Dialect::Classad] {
                let mut cache = ReadCache::new(dialect);
                for pieces in &texts {
                    let text = format!("{{{}}}", pieces.concat());
                    let read = shown(read_cached(text.as_bytes(), FileFormat::JsonLines, &mut cache));
                    let expected = shown(RecoveringReader::<JsonGrammar>::new(text.as_bytes(), dialect));
                    prop_assert_eq!(read, expected, "{}", text);
                }
            }
        }
    }
}
