//! Grammar of ads in JSON. The objects stand back to back, one per line, or in arrays.

use std::ops::{ControlFlow, Range};

use crate::ad::Ad;
use crate::format::Problem;
use crate::format::ad_builder::{AdBuilder, AdOrigin};
use crate::format::attribute_cache::{AttributeBuffer, AttributeCache};
use crate::format::attribute_span::ExpressionSource;
use crate::format::nested_reader::{AdGrammar, Located, SkippingGrammar, TokenStream, begins_line};

use super::fast_path;
use super::token::{JsonLexer, JsonToken, JsonTokenError, json_lexer};
use super::value::{read_name, read_string, read_word, string_source};

/// The kind of token that can stand next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedToken {
    Name,
    Colon,
    Value,
    FirstElement,
    More,
}

/// State of reading an ad: the open brackets, and the kind of token expected next.
#[derive(Debug)]
pub struct JsonGrammar {
    /// The open brackets, each with its byte offset, outermost first.
    open: Vec<(JsonToken, usize)>,
    expects: ExpectedToken,
    /// Number of blanks, `[` and `,` directly before the `{` that begins the ad. A later `{` that begins a line most
    /// likely begins the next ad, unless it is indented more.
    indent: usize,
}

type JsonTokenResult = Result<JsonToken, JsonTokenError>;

impl JsonGrammar {
    /// Whether the innermost open bracket is the `{` of an ad, not the `[` of a list.
    fn is_in_ad(&self) -> bool {
        matches!(self.open.last(), Some((JsonToken::BraceOpen, _)))
    }
}

impl<'t> AdGrammar<'t> for JsonGrammar {
    type Token = JsonTokenResult;
    type Lexer = JsonLexer<'t>;
    /// The previous token outside ads. `None` directly behind an ad, behind a malformed token, and at the beginning of
    /// the text.
    type Outer = Option<JsonToken>;

    fn lexer(text: &'t [u8], offset: usize) -> JsonLexer<'t> {
        json_lexer(text, offset)
    }

    fn begins_ad(token: &JsonTokenResult) -> bool {
        *token == Ok(JsonToken::BraceOpen)
    }

    fn nesting(token: &JsonTokenResult) -> Option<bool> {
        match token {
            Ok(JsonToken::BracketOpen) => Some(true),
            Ok(JsonToken::BracketClose) => Some(false),
            _ => None,
        }
    }

    fn takes_end(text: &[u8]) -> bool {
        text.ends_with(b"]")
    }

    fn is_unclosed(text: &[u8], token: &Located<JsonTokenResult>) -> bool {
        token.0 == Err(JsonTokenError::UnclosedComment) || is_open_ended(text, token)
    }

    fn at_ad_start(text: &[u8], offset: usize) -> Self {
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'[' | b',');
        let indent = text[..offset].iter().rev().take_while(blank).count();
        JsonGrammar { open: vec![(JsonToken::BraceOpen, offset)], expects: ExpectedToken::Name, indent }
    }

    fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    fn advance(&mut self, _: &[u8], (token, range): &Located<JsonTokenResult>) -> bool {
        let Ok(token) = *token else { return false };
        let in_ad = self.is_in_ad();
        self.expects = match (self.expects, token) {
            (ExpectedToken::Name, JsonToken::String) => ExpectedToken::Colon,
            // HTCondor accepts superfluous commas in ads, but not in lists.
            (ExpectedToken::Name | ExpectedToken::More, JsonToken::Comma) if in_ad => ExpectedToken::Name,
            (ExpectedToken::Colon, JsonToken::Colon) | (ExpectedToken::More, JsonToken::Comma) => ExpectedToken::Value,
            (ExpectedToken::Name | ExpectedToken::More, JsonToken::BraceClose) if in_ad => ExpectedToken::More,
            (ExpectedToken::FirstElement | ExpectedToken::More, JsonToken::BracketClose) if !in_ad => {
                ExpectedToken::More
            }
            (ExpectedToken::Value | ExpectedToken::FirstElement, value) => match value {
                JsonToken::BraceOpen => ExpectedToken::Name,
                JsonToken::BracketOpen => ExpectedToken::FirstElement,
                JsonToken::String | JsonToken::Word => ExpectedToken::More,
                _ => return false,
            },
            _ => return false,
        };
        match token {
            JsonToken::BraceOpen | JsonToken::BracketOpen => self.open.push((token, range.start)),
            JsonToken::BraceClose | JsonToken::BracketClose => drop(self.open.pop()),
            _ => {}
        }
        true
    }

    fn apply(&self, (token, range): Located<JsonTokenResult>, ad: &mut AdBuilder<'t>) {
        let origin = ad.origin;
        let opaque = || ExpressionSource::Opaque(range.clone());
        match token {
            Ok(JsonToken::BraceOpen) => ad.note_source(opaque).open_ad(),
            Ok(JsonToken::BracketOpen) => ad.note_source(opaque).open_list(),
            Ok(JsonToken::BraceClose | JsonToken::BracketClose) => ad.close(),
            Ok(JsonToken::Word) => ad.note_source(opaque).push_value(read_word(&origin, &range)),
            Ok(JsonToken::String) if self.expects == ExpectedToken::Colon => {
                ad.push_name(&range, read_name(&origin, &range));
            }
            Ok(JsonToken::String) => {
                ad.note_source(|| string_source(&origin, &range)).push_value(read_string(&origin, &range));
            }
            Ok(JsonToken::Comma | JsonToken::Colon) | Err(_) => {}
        }
    }

    fn expected(&self) -> String {
        let expected = match self.expects {
            ExpectedToken::Name => "a name in double quotes or `}`",
            ExpectedToken::Colon => "`:`",
            ExpectedToken::Value => "a value",
            ExpectedToken::FirstElement => "a value or `]`",
            ExpectedToken::More if self.is_in_ad() => "`,` or `}`",
            ExpectedToken::More => "`,` or `]`",
        };
        expected.to_owned()
    }

    fn innermost(&self) -> Option<(Range<usize>, String)> {
        let (bracket, at) = *self.open.last()?;
        let bracket = if bracket == JsonToken::BraceOpen { '{' } else { '[' };
        Some((at..at + 1, format!("this `{bracket}` is not closed")))
    }

    fn unexpected(&self, origin: &AdOrigin, (token, range): &Located<JsonTokenResult>) -> Problem {
        let token = match token {
            Ok(token) => *token,
            Err(flaw) => return lexical_error(origin, *flaw, range),
        };
        let found = token.describe(&origin.text[range.clone()]);
        let problem = origin.problem_at(range.clone(), format!("expected {}, found {found}", self.expected()));
        match (token, self.expects) {
            (JsonToken::String | JsonToken::Word, ExpectedToken::More) => {
                problem.with_help("is a `,` missing before this?")
            }
            (_, ExpectedToken::Colon) => problem.with_help("is a `:` missing before this?"),
            (JsonToken::Colon, ExpectedToken::FirstElement | ExpectedToken::More) if !self.is_in_ad() => {
                problem.with_help("is a `]` missing before this name?")
            }
            (JsonToken::Word, _) => problem.with_help("JSON needs double quotes around names and strings"),
            _ => problem,
        }
    }

    /// Returns true for a `{` that begins a line and is indented no more than the bad ad.
    fn next_ad_begins_at(&self, text: &[u8], offset: usize) -> bool {
        begins_line(text, offset, self.indent)
    }

    /// Skips a token of a bad ad. The bad ad ends with its own `}`, or with the `]` of an array around it.
    fn skip(
        &mut self,
        tokens: &mut TokenStream<'t, JsonLexer<'t>>,
        (token, range): Located<JsonTokenResult>,
    ) -> ControlFlow<Option<usize>> {
        match token {
            Ok(bracket @ (JsonToken::BraceOpen | JsonToken::BracketOpen)) => self.open.push((bracket, range.start)),
            Ok(JsonToken::BraceClose) => {
                while let Some((JsonToken::BracketOpen, _)) = self.open.pop() {}
                if self.open.is_empty() {
                    return ControlFlow::Break(Some(range.end));
                }
            }
            Ok(JsonToken::BracketClose) => {
                match self.open.iter().rposition(|(bracket, _)| *bracket == JsonToken::BracketOpen) {
                    Some(innermost) => self.open.truncate(innermost),
                    // This `]` closes the array around the bad ad.
                    None => return ControlFlow::Break(Some(range.end)),
                }
            }
            _ if is_open_ended(tokens.text, &(token, range)) => return ControlFlow::Break(None),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn read_similar_ad(
        tokens: &mut TokenStream<'t, JsonLexer<'t>>,
        origin: &AdOrigin,
        start: usize,
        cache: &mut AttributeCache,
        buffer: &mut AttributeBuffer,
    ) -> Option<Ad> {
        let (ad, end) = fast_path::read_ad(origin, start, cache, buffer)?;
        Self::skip_ad(tokens, end - start);
        Some(ad)
    }

    fn outside(
        before: &mut Option<JsonToken>,
        origin: &AdOrigin,
        tokens: &mut TokenStream<'t, JsonLexer<'t>>,
        (token, mut range): Located<JsonTokenResult>,
    ) -> Option<Problem> {
        let before = std::mem::replace(before, token.ok());
        Some(match token {
            Err(flaw) => lexical_error(origin, flaw, &range),
            Ok(JsonToken::BracketOpen) if matches!(before, Some(JsonToken::BracketOpen | JsonToken::Comma)) => {
                origin.problem_at(range, "expected an ad, not an array")
            }
            // Brackets and commas around ads are skipped. The brackets need not balance, because the text may be a
            // part of a stream and may begin in the middle of an array.
            Ok(JsonToken::BracketOpen | JsonToken::BracketClose | JsonToken::Comma) => return None,
            Ok(_) => {
                // The problem covers the rest of the line, but ends before an ad, an array or a malformed token.
                while let Some((token, next)) = tokens.next() {
                    let same_text = memchr::memchr(b'\n', &origin.text[range.end..next.start]).is_none();
                    if !same_text || matches!(token, Ok(JsonToken::BraceOpen | JsonToken::BracketOpen) | Err(_)) {
                        tokens.put_back((token, next));
                        break;
                    }
                    range.end = next.end;
                }
                origin.problem_at(range, "expected an ad, which begins with `{`")
            }
        })
    }
}

impl<'t> SkippingGrammar<'t> for JsonGrammar {
    fn skip_ad(tokens: &mut TokenStream<'t, JsonLexer<'t>>, length: usize) {
        tokens.lexer.bump(length - 1);
    }
}

fn lexical_error(origin: &AdOrigin, flaw: JsonTokenError, range: &Range<usize>) -> Problem {
    match flaw {
        JsonTokenError::UnclosedString => origin
            .problem_at(range.start..range.start + 1, "this string has no closing quote")
            .with_help("write a quote in a string as \\\", a line break \\n"),
        JsonTokenError::UnclosedComment => origin.problem_at(range.clone(), "this comment has no closing `*/`"),
    }
}

/// Whether a token may be incomplete, because it ends where the text ends. This is so only for words and for strings
/// without a closing quote.
fn is_open_ended(text: &[u8], (token, range): &Located<JsonTokenResult>) -> bool {
    matches!(token, Ok(JsonToken::Word) | Err(JsonTokenError::UnclosedString)) && range.end == text.len()
}

#[cfg(test)]
mod tests {
    use crate::format::json::JsonGrammar;
    use crate::format::nested_boundaries::{complete_prefix_length, is_single_ad};

    #[test]
    fn one_ad() {
        for (text, one) in [
            ("{}", true),
            (" {\"a\": [{}, \"}\"]} \r", true),
            ("{\"a\": 1", false),
            ("{}{}", false),
            ("{},", false),
            ("[{}]", false),
            ("", false),
        ] {
            assert_eq!(is_single_ad::<JsonGrammar>(text.as_bytes()), one, "{text}");
        }
    }

    #[test]
    fn whole_ads() {
        for (text, length) in [
            ("", 0),
            (r#"{"a": 1}"#, 8),
            (r#"{"a": 1} {"b""#, 8),
            (r#"{"a": "}{"#, 0),
            (r#"{"a": "}"}"#, 10),
            (r#"{"a": "\"}"}"#, 12),
            (r#"[{"a": {"b": [{}]}}, {"#, 19),
            ("{} // }{}\n{} /* {} */ {", 12),
            ("{} /* {}", 2),
            (r#", {"a": 1}]"#, 10),
            // The first ad is bad. The bad ad ends before the next ad, so the bad ad counts as complete.
            ("{\"a\": \"x}\n{\"b\": 1}\n{", 18),
            ("{\"a\": 1\n{\"b\": 1}\n{", 16),
            ("{\"a\": [1}, {\"b\"", 9),
            // The outer ad has no error so far, so the `{` that begins a line belongs to a nested ad.
            ("{\"a\": [\n{\"b\": 1}\n", 0),
        ] {
            assert_eq!(complete_prefix_length::<JsonGrammar>(text.as_bytes()), length, "{text}");
        }
    }
}
