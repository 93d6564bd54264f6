//! Where the ads of a text begin and end, without parsing them.

use logos::Logos;

use crate::ad::Span;

use super::token::{Flaw, Strings, Token, offset};

/// What stands at the beginning of a text that holds bracketed ads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Nothing but space, comments, and separators between ads.
    Nothing,
    /// From a `[` to the `]` that closes it.
    Closed(Span),
    /// From a `[` that nothing closes to the end of the text.
    Open(Span),
    /// Something that begins no ad, up to the next bracket or the end of its line.
    Other(Span),
}

/// Finds the first bracketed ad of a text, without parsing it.
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
            // Ads may be the elements of a list, and stand in a row with commas or semicolons between.
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

/// The length of the beginning of a text that holds whole groups only, when the text may go on; 0 if it
/// holds none.
#[must_use]
pub fn complete_groups(text: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut complete = 0;
    for (result, range) in Token::lexer_with_extras(text, Strings::Escaped.into()).spanned() {
        match result {
            Ok(Token::BracketOpen) => {
                if depth == 0 {
                    // What stands before it, if it is no ad, ends here.
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
            // It may end where the text goes on.
            Err(Flaw::UnterminatedString | Flaw::UnterminatedQuote | Flaw::UnterminatedComment) => break,
            _ => {}
        }
    }
    complete
}
