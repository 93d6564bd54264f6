//! Converts chumsky's errors into messages: what was expected, what was found, and a hint.

use chumsky::error::{RichPattern, RichReason};

use crate::ad::Span;

use super::SyntaxError;
use super::chumsky_types::{ChumskyError, token_text};
use super::hints;
use super::token::{LexicalError, SpannedToken, Token};

/// Converts chumsky's error into a [`SyntaxError`], with a hint and a related place that are found among `tokens`.
pub(super) fn to_syntax_error(error: ChumskyError<'_>, tokens: &[SpannedToken], text: &[u8]) -> SyntaxError {
    let span = *error.span();
    let mut ours = match error.into_reason() {
        // A parser of this crate raised the error: it is a `SyntaxError` already.
        RichReason::Custom(ours) => return ours,
        RichReason::ExpectedFound { expected, found } => {
            let found = found.map(|token| *token);
            if let Some(Token::Flawed(flaw)) = found {
                return lexical_error_message(flaw, span, text);
            }
            let found = match found {
                Some(token @ (Token::Name | Token::Integer | Token::Real | Token::Scaled)) => {
                    format!("{} `{}`", token, token_text(text, span))
                }
                Some(token) => token.to_string(),
                None => "the end".to_owned(),
            };
            SyntaxError::new(span, format!("expected {}, found {found}", expected_list(&expected)))
        }
    };
    ours.help = hints::syntax_hint(ours.span, tokens, text);
    ours.related = broken_string(span, tokens, text);
    ours.lacks_quote = ours.related.is_some();
    ours.related = ours.related.or_else(|| open_bracket(span, tokens));
    ours
}

/// Joins the expected tokens to `a, b or c`, without duplicates.
fn expected_list(expected: &[RichPattern<'_, Token>]) -> String {
    let mut words: Vec<String> = Vec::new();
    for pattern in expected {
        let word = match pattern {
            RichPattern::Token(token) => token.to_string(),
            RichPattern::Label(label) => label.to_string(),
            RichPattern::EndOfInput => "the end".to_owned(),
            _ => "an operator".to_owned(),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    match words.as_slice() {
        [] => "the end".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Returns the message for a lexical error at `span`, with a hint for the common mistakes.
fn lexical_error_message(flaw: LexicalError, span: Span, text: &[u8]) -> SyntaxError {
    let shown = String::from_utf8_lossy(&text[span.range()]).into_owned();
    let first = Span::new(span.start, span.start + 1);
    match flaw {
        LexicalError::Character => {
            let character = shown.chars().next().unwrap_or(' ');
            let rest = String::from_utf8_lossy(text.get(span.start as usize..).unwrap_or_default());
            let rest: String = rest.chars().take(3).collect();
            // A backslash or a quote is shown as it is.
            let shown =
                if character.is_ascii_graphic() { character.to_string() } else { character.escape_debug().to_string() };
            SyntaxError::new(span, format!("`{shown}` is not part of the language"))
                .with_help(hints::character_hint(character, &rest))
        }
        LexicalError::UnterminatedString => SyntaxError::new(first, "this string has no closing quote")
            .with_help("a quote is missing at the end, or there is an extra one before this string"),
        LexicalError::UnterminatedQuote => SyntaxError::new(first, "this quoted name or time has no closing quote")
            .with_help("put strings in double quotes: \"...\""),
        LexicalError::UnterminatedComment => {
            SyntaxError::new(Span::new(span.start, span.start + 2), "this comment has no closing `*/`")
        }
        LexicalError::Number => {
            SyntaxError::new(span, format!("`{shown}` is not a number")).with_help(hints::number_hint(&shown))
        }
        LexicalError::Nul => SyntaxError::new(span, "an ad cannot contain a byte of value 0"),
        LexicalError::Utf8 => {
            let error = SyntaxError::new(span, "these bytes are not UTF-8");
            // Only strings can have such bytes, as escapes.
            let is_string = shown.starts_with('"');
            if is_string {
                error.with_help("write each of these bytes as an octal escape, for example \\377")
            } else {
                error
            }
        }
    }
}

/// Finds the first string with a line break, up to the error: the closing quote of this string is probably missing.
/// Returns the span of the string's opening quote, with a message.  `None` if there is no such string.
fn broken_string(span: Span, tokens: &[SpannedToken], text: &[u8]) -> Option<(Span, String)> {
    let (_, string) = tokens.iter().find(|(token, at)| {
        *token == Token::String && at.end <= span.end && memchr::memchr(b'\n', &text[at.range()]).is_some()
    })?;
    let quote = Span::new(string.start, string.start + 1);
    Some((quote, "this string continues on the next line: is the closing quote missing?".to_owned()))
}

/// Returns the innermost bracket that is open at the error, with a message; `None` if no bracket is open.
fn open_bracket(span: Span, tokens: &[SpannedToken]) -> Option<(Span, String)> {
    let before = tokens.partition_point(|(_, at)| at.start < span.start);
    let (token, at) = hints::innermost_open(&tokens[..before])?;
    Some((at, format!("this {token} is still open")))
}
