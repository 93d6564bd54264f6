//! Finds where the bracketed ads of a text begin and end, without parsing them.

use logos::Logos;

use crate::ad::Span;

use super::token::{Flaw, Strings, Token, offset};

/// The first item of a text that holds bracketed ads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The text has only white space, comments, and separators between ads.
    Nothing,
    /// An ad: from a `[` to the `]` that closes it.
    Closed(Span),
    /// An unclosed ad: from its `[` to the end of the text.
    Open(Span),
    /// Text that begins no ad, up to the next bracket or the end of its line.
    Other(Span),
}

/// Finds the first bracketed ad of a text.  O(n) up to its end.
#[must_use]
pub fn first_group(text: &[u8]) -> Group {
    let lexer = Token::lexer_with_extras(text, Strings::Escaped.into()).spanned();
    let mut start = None;
    let mut depth = 0_usize;
    for (result, range) in lexer {
        match (result, start) {
            (Ok(Token::BracketOpen), _) => {
                depth += 1;
                start.get_or_insert(range.start);
            }
            (Ok(Token::BracketClose), Some(start)) => {
                depth -= 1;
                if depth == 0 {
                    return Group::Closed(Span::new(offset(start), offset(range.end)));
                }
            }
            // Ads may be the elements of a list, or be separated by commas or semicolons.
            (Ok(Token::Comma | Token::Semicolon | Token::BraceOpen | Token::BraceClose), None) | (_, Some(_)) => {}
            (_, None) => {
                let line = memchr::memchr2(b'\n', b'[', &text[range.end..]);
                let end = line.map_or(text.len(), |at| range.end + at);
                return Group::Other(Span::new(offset(range.start), offset(end)));
            }
        }
    }
    match start {
        Some(start) => Group::Open(Span::new(offset(start), offset(text.len()))),
        None => Group::Nothing,
    }
}

/// Returns the length of the longest prefix that holds only complete items, for a text that may be continued; 0
/// if there is none.
#[must_use]
pub fn complete_groups(text: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut complete = 0;
    for (result, range) in Token::lexer_with_extras(text, Strings::Escaped.into()).spanned() {
        match result {
            Ok(Token::BracketOpen) => {
                if depth == 0 {
                    // Text before the bracket that is no ad ends here.
                    complete = range.start;
                }
                depth += 1;
            }
            Ok(Token::BracketClose) if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    complete = range.end;
                }
            }
            // The continuation of the text may close it.
            Err(Flaw::UnterminatedString | Flaw::UnterminatedQuote | Flaw::UnterminatedComment) => break,
            _ => {}
        }
    }
    complete
}
