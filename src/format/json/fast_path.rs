//! Fast path for ads in JSON that resemble those before: reads them without the lexer and the grammar.

use crate::ad::{Ad, ByteString, Expression, Value};
use crate::format::ad_builder::AdOrigin;
use crate::format::attribute_cache::{AttributeBuffer, AttributeCache};
use crate::syntax::ParsedValue;

use super::member::{is_plain_string, member_end, read_member_value, skip_blanks, value_end, value_start};
use super::value::read_name;

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
        let (index, value_start) = match cache.attributes.predicted_name(&text[at..]) {
            Some((index, length)) => (index, at + length),
            None => find_name(origin, at, cache)?,
        };
        let (value, value_end) = read_value(origin, value_start, index, cache)?;
        let end = member_end(text, value_end)?;
        cache.add(index, Some(&text[at..end]), value, buffer);
        if text[end - 1] == b'}' {
            return Some((cache.build_ad(buffer), end));
        }
        at = end;
    }
}

/// Reads the name at byte `at`, and the colon behind it. Returns the index of the name in the cache, and the byte
/// offset of the value. `None` if no plain name stands there.
fn find_name(origin: &AdOrigin, at: usize, cache: &mut AttributeCache) -> Option<(usize, usize)> {
    let (name_end, value) = value_start(origin.text, at)?;
    let beginning = &origin.text[at..value];
    let index = match cache.attributes.number_of(beginning) {
        Some(index) => index,
        None => cache.insert_name(beginning, true, read_name(origin, &(at..name_end)).ok()?),
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
    let end = value_end(origin.text, start)?;
    let value = &origin.text[start..end];
    let read = match value {
        [b'"', inside @ .., b'"'] if is_plain_string(inside) => {
            ParsedValue::literal(Expression::literal(Value::String(ByteString::from(inside))))
        }
        [b'"' | b'{' | b'[', ..] => cache.values.parse_with(value, index, || read_member_value(origin, start..end))?,
        word => match plain_integer(word) {
            Some(integer) => ParsedValue::literal(Expression::literal(Value::Integer(integer))),
            None => ParsedValue::literal(read_member_value(origin, start..end)?),
        },
    };
    Some((read, end))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::ad::Dialect;
    use crate::format::FileFormat;
    use crate::format::json::JsonGrammar;
    use crate::format::nested_reader::RecoveringReader;
    use crate::format::testing::{assert_cached_as_by_grammar, attribute_texts, shown_with_spans};

    fn by_grammar(text: &[u8], dialect: Dialect) -> Vec<String> {
        shown_with_spans(RecoveringReader::<JsonGrammar>::new(text, dialect))
    }

    /// What stands behind the end of an ad is no part of it, also if it is written as the next attribute was before.
    #[test]
    fn an_ad_ends_at_its_bracket() {
        let texts = [
            "{\"a\": 1, \"b\": 2}\n{\"a\": 1}\"b\": 2}\n",
            "{\"a\": 1,\"b\": 2}\n{\"a\": 3}\"b\": 2}\n{\"a\": 4}",
            "{\"a\": 1}\n{\"a\": 1}\"a\": 1}\n",
        ];
        assert_cached_as_by_grammar(&texts, FileFormat::JsonLines, by_grammar);
    }

    proptest! {
        #[test]
        fn the_grammar_reads_the_same(texts in attribute_texts(
            ["{", "}"],
            &["\"a\": ", "\"b\": ", "\"A\":", "\"c\\n\": ", "\"self\" : ", " \"a\": "],
            &[
                "1", "2", "-0", "1.5", "-1e3", "01", "9223372036854775808", "\"x\"", "\"y\\n\"", "\"z", "null",
                "TRUE", "nope", "\"\\/Expr(a + 1)\\/\"", "\"/Expr(b)/\"", "\"/expr(1 +)/\"", "[1, 2]", "[1, \"]\"]",
                "[]", "{}", "{\"a\": [1]}", "[1, /* c */ 2]", "[", "{\"a\"", "999999999999999999", "\"\\u0041\"",
            ],
            &[", ", ",", " , ", ",\n", "}", " }", "}\n{", "}\n{", "}{", "", "// c\n,"],
            &["{", "}", "\n{", "}\n", ",", "[", "]\n"],
        )) {
            assert_cached_as_by_grammar(&texts, FileFormat::JsonLines, by_grammar);
        }
    }
}
