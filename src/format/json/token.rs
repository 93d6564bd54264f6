//! Tokens of JSON, and the comments that HTCondor allows between them.

use logos::{FilterResult, Lexer, Logos, SpannedIter};

use crate::format::detect::byte_order_mark_length;

/// Reason why no token can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonTokenError {
    /// A string without a closing quote on its line.
    #[default]
    UnclosedString,
    /// A comment without its `*/`.
    UnclosedComment,
}

/// Kind of a token.
///
/// The lexer sets its flag `extras` when the rest of the text has no `*/`. From then on the lexer does not search for
/// `*/` again, so many unclosed comments do not take quadratic time.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(utf8 = false, extras = bool, error = JsonTokenError)]
#[logos(skip(r"[ \t\r\n\x0b\x0c]+"))]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub enum JsonToken {
    /// `{`
    #[token("{")]
    BraceOpen,
    /// `}`
    #[token("}")]
    BraceClose,
    /// `[`
    #[token("[")]
    BracketOpen,
    /// `]`
    #[token("]")]
    BracketClose,
    /// `,`
    #[token(",")]
    Comma,
    /// `:`
    #[token(":")]
    Colon,
    /// `"..."` on one line.
    #[token("\"", string)]
    String,
    /// A number, `true`, `false` or `null`. Text that is no JSON at all is a `Word`, too.
    #[regex(r#"[^ \t\r\n\x0b\x0c{}\[\],:"/]+"#)]
    #[token("/")]
    #[token("/*", comment)]
    Word,
}

impl JsonToken {
    /// Returns the token as messages name it: "a string", or the text of the token in backquotes.
    pub fn describe(self, text: &[u8]) -> String {
        match self {
            JsonToken::String => "a string".to_owned(),
            _ => format!("`{}`", String::from_utf8_lossy(text)),
        }
    }
}

/// Reads a string up to its closing quote. The quote must be on the same line, because a line break in a string is
/// written `\n`.
fn string(lexer: &mut Lexer<'_, JsonToken>) -> FilterResult<(), JsonTokenError> {
    let rest = lexer.remainder();
    let mut at = 0;
    while let Some(found) = rest.get(at..).and_then(|rest| memchr::memchr3(b'"', b'\\', b'\n', rest)) {
        at += found;
        match &rest[at..] {
            [b'"', ..] => {
                lexer.bump(at + 1);
                return FilterResult::Emit(());
            }
            [b'\\', b'\n', ..] => at += 1,
            [b'\\', ..] => at += 2,
            _ => break,
        }
    }
    // A string without a closing quote ends with its line.
    lexer.bump(memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
    FilterResult::Error(JsonTokenError::UnclosedString)
}

fn comment(lexer: &mut Lexer<'_, JsonToken>) -> FilterResult<(), JsonTokenError> {
    let has_no_end = lexer.extras;
    if !has_no_end && let Some(at) = memchr::memmem::find(lexer.remainder(), b"*/") {
        lexer.bump(at + 2);
        return FilterResult::Skip;
    }
    lexer.extras = true;
    FilterResult::Error(JsonTokenError::UnclosedComment)
}

/// Iterator over the tokens of a text, each with its byte range.
pub type JsonLexer<'t> = SpannedIter<'t, JsonToken>;

/// Returns an iterator over the tokens from byte `offset` on. A byte order mark is skipped.
pub fn json_lexer(text: &[u8], offset: usize) -> JsonLexer<'_> {
    let mut lexer = JsonToken::lexer(text);
    lexer.bump(offset.max(byte_order_mark_length(text)));
    lexer.spanned()
}

#[cfg(test)]
mod tests {
    use super::{JsonToken, JsonTokenError, json_lexer};

    fn kinds(text: &str) -> Vec<Result<JsonToken, JsonTokenError>> {
        json_lexer(text.as_bytes(), 0).map(|(token, _)| token).collect()
    }

    #[test]
    fn tokens() {
        use JsonToken::{BraceClose, BraceOpen, Colon, String, Word};
        assert_eq!(kinds(r#"{"a\"}": -1.5e+3}"#), [BraceOpen, String, Colon, Word, BraceClose].map(Ok));
        assert_eq!(kinds("// c\n/* d */ 1//e"), [Ok(Word)]);
        assert_eq!(kinds("\u{feff}nan / \u{1}é"), [Ok(Word), Ok(Word), Ok(Word)]);
        assert_eq!(kinds("\"a\n1"), [Err(JsonTokenError::UnclosedString), Ok(Word)]);
        assert_eq!(kinds("\"a\\\n1"), [Err(JsonTokenError::UnclosedString), Ok(Word)]);
        assert_eq!(kinds("\"a\\"), [Err(JsonTokenError::UnclosedString)]);
        assert_eq!(
            kinds("/* 1 /* 2"),
            [Err(JsonTokenError::UnclosedComment), Ok(Word), Err(JsonTokenError::UnclosedComment), Ok(Word)]
        );
    }
}
