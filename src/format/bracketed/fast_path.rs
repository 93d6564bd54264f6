//! Fast path for bracketed ads that resemble those before: reads them without the lexer and the grammar.

use crate::ad::{Ad, Dialect, Name};
use crate::format::attribute_cache::{AttributeBuffer, AttributeCache};
use crate::format::attribute_name::attribute_name;
use crate::syntax::{blank_length, next_structure, read_name, skip_blanks_and_comments};

/// Maximum nesting depth of the brackets in a value.  The grammar reads deeper ones.
const MAX_DEPTH: usize = 100;

/// Reads the ad that begins at byte `start`, with a `[`.  Returns the ad and the byte offset of its end.  `None` if only
/// the grammar can tell what the ad is.
///
/// The text of an attribute ends with the semicolon or bracket behind its value, and the white space that follows a
/// semicolon.
pub fn read_ad(
    text: &[u8],
    start: usize,
    cache: &mut AttributeCache,
    buffer: &mut AttributeBuffer,
) -> Option<(Ad, usize)> {
    cache.begin_ad(buffer);
    let mut at = start + 1;
    loop {
        at = skip_separators(text, at)?;
        if let Some(length) = cache.read_same(&text[at..], buffer) {
            at += length;
            if text[at - 1] == b']' {
                return Some((cache.build_ad(buffer), at));
            }
            continue;
        }
        if *text.get(at)? == b']' {
            return Some((cache.build_ad(buffer), at + 1));
        }
        let (index, value_start) = match cache.attributes.predicted_name(&text[at..]) {
            // Another attribute of the name may have more white space before its value.
            Some((index, length)) => (index, at + length + blank_length(&text[at + length..])),
            None => find_name(text, at, cache)?,
        };
        let value_end = value_end(text, value_start)?;
        let is_last = text[value_end] == b']';
        let blanks = if is_last { 0 } else { blank_length(&text[value_end + 1..]) };
        let end = value_end + 1 + blanks;
        let value = &text[value_start..value_end];
        // The strings and quoted names of the grammar are UTF-8.
        std::str::from_utf8(value).ok()?;
        if !cache.add_simple_literal(index, &text[at..end], value, buffer) {
            let parsed = cache.values.parse(value, index)?;
            cache.add(index, Some(&text[at..end]), parsed, buffer);
        }
        if is_last {
            return Some((cache.build_ad(buffer), end));
        }
        at = end;
    }
}

/// Returns the offset of the first byte from `at` on that is outside white space, comments and semicolons.  `None` if a
/// comment has no end.
fn skip_separators(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = skip_blanks_and_comments(text, at).ok()?;
        if text.get(at) != Some(&b';') {
            return Some(at);
        }
        at += 1;
    }
}

/// Reads the name at byte `at`, and the equals sign behind it.  Returns the index of the name in the cache, and the byte
/// offset of the value.  `None` if no plain name and equals sign stand there.
fn find_name(text: &[u8], at: usize, cache: &mut AttributeCache) -> Option<(usize, usize)> {
    let rest = &text[at..];
    let name_length = match rest.first()? {
        b'\'' => memchr::memchr3(b'\'', b'\\', 0, &rest[1..]).filter(|end| rest[1 + end] == b'\'')? + 2,
        _ => rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count(),
    };
    let (name, behind) = rest.split_at(name_length);
    let equals = name_length + blank_length(behind);
    if *rest.get(equals)? != b'=' {
        return None;
    }
    let beginning = &rest[..equals + 1 + blank_length(&rest[equals + 1..])];
    let index = match cache.attributes.number_of(beginning) {
        Some(index) => index,
        None => cache.insert_name(beginning, true, name_of(name, cache.dialect())?),
    };
    Some((index, at + beginning.len()))
}

/// Returns the name that a text means.  `None` if an attribute cannot have this name, or only the grammar can tell.
fn name_of(text: &[u8], dialect: Dialect) -> Option<Name> {
    let text = std::str::from_utf8(text).ok()?;
    let name = attribute_name(read_name(text, dialect)?.as_bytes(), dialect, 0..0, 0).ok()?;
    (text.starts_with('\'') || name.is_identifier()).then_some(name)
}

/// Returns the byte offset of the semicolon or bracket behind the value that begins at byte `start`.  `None` if there is
/// none, or if the brackets of the value do not pair up or are too deep.
fn value_end(text: &[u8], start: usize) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, start);
    loop {
        let found = next_structure(text, at).ok()??;
        match text[found] {
            b'[' | b'(' | b'{' => depth += 1,
            b';' | b']' if depth == 0 => return Some(found),
            b';' => {}
            _ => depth = depth.checked_sub(1)?,
        }
        if depth > MAX_DEPTH {
            return None;
        }
        at = found + 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::ad::Dialect;
    use crate::format::FileFormat;
    use crate::format::bracketed::BracketedReader;
    use crate::format::testing::{assert_cached_as_by_grammar, attribute_texts, shown_with_spans};

    fn by_grammar(text: &[u8], dialect: Dialect) -> Vec<String> {
        shown_with_spans(BracketedReader { cache: None, ..BracketedReader::new(text, dialect) })
    }

    proptest! {
        #[test]
        fn the_grammar_reads_the_same(texts in attribute_texts(
            ["[", "]"],
            &[
                "a = ", "b = ", "A=", "'c d' = ", "self = ", " a = ", "true = ", "'' = ", "a /* = */ = ",
                "'\\x' = ", "is=", "a =", "_1 = ",
            ],
            &[
                "1", "2", "-0", "1.5", "-1e3", "08", "9223372036854775808", "\"x\"", "\"y\\n\"", "\"z", "",
                "TRUE", "no pe", "a + 1", "=?= 2", "!a", "{ 1, \"]\" }", "[ a = 1; b = { } ]", "[ ]", "(1]",
                "f(1; 2)", "{ 1, /* c; ] */ 2 }", "[", "1 // c ; ]\n", "{ [ L = a; C = b < 1 ] }", "\"\u{e9}\"",
                "'18:21'", "'q", "1 / 2", "\"a\" \"b\"", "{", "= 1", "1)", "a.b[0]",
            ],
            &[
                "; ", ";", " ; ", ";\n", ";;\n", "]", " ]", "]\n[", "]\n[ ", "][", "", "// c\n;", "; // c\n",
                "],\n[", "; ]\n[\n  ", "/*", "]; [",
            ],
            &["[", "]", "\n[", "]\n", ";", "{", "}\n", "x", "/", "\"", "\0"],
        )) {
            assert_cached_as_by_grammar(&texts, FileFormat::Bracketed, by_grammar);
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_refused() {
        for text in [&b"[a = \"x\"]\n[a = \"\xff\"]\n[a = \"\xff\"]"[..], b"['\xff' = 1]", b"[a = '\xff']"] {
            assert_cached_as_by_grammar(&[text], FileFormat::Bracketed, by_grammar);
            let items = by_grammar(text, Dialect::Condor);
            assert!(items.last().is_some_and(|item| item.contains("UTF-8")), "{items:?}");
        }
    }
}
