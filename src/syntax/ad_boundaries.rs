//! Finds where the bracketed ads of a text begin and end, without parsing them.

use logos::Logos;

use crate::ad::Span;

use super::token::{StringSyntax, Token, to_offset};

/// The first item of a text that holds bracketed ads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdBoundary {
    /// The text has only white space, comments, and separators between ads.
    Blank,
    /// An ad: from a `[` to the `]` that closes it.
    Closed(Span),
    /// An unclosed ad: from its `[` to the end of the text.
    Unclosed(Span),
    /// Text that begins no ad, up to the next bracket or the end of its line.
    NotAnAd(Span),
}

/// Finds the first bracketed ad of a text.  O(n) in the length of the text up to the end of that ad.
#[must_use]
pub fn find_first_ad(text: &[u8]) -> AdBoundary {
    let lexer = Token::lexer_with_extras(text, StringSyntax::Escaped.into()).spanned();
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
                    return AdBoundary::Closed(Span::new(to_offset(start), to_offset(range.end)));
                }
            }
            // Ads may be the elements of a list, or be separated by commas or semicolons.
            (Ok(Token::Comma | Token::Semicolon | Token::BraceOpen | Token::BraceClose), None) | (_, Some(_)) => {}
            (_, None) => {
                let line = memchr::memchr2(b'\n', b'[', &text[range.end..]);
                let end = line.map_or(text.len(), |at| range.end + at);
                return AdBoundary::NotAnAd(Span::new(to_offset(range.start), to_offset(end)));
            }
        }
    }
    match start {
        Some(start) => AdBoundary::Unclosed(Span::new(to_offset(start), to_offset(text.len()))),
        None => AdBoundary::Blank,
    }
}

/// Returns the length of the longest prefix that further text cannot change: complete ads, and text that is no ad up
/// to the `[` of the last ad.  0 if there is no such prefix.
#[must_use]
pub fn complete_ads_length(text: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut complete = 0;
    for (result, range) in Token::lexer_with_extras(text, StringSyntax::Escaped.into()).spanned() {
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
            // Further text may close the string, the quoted name or the comment.
            Err(error) if error.is_unterminated() => break,
            _ => {}
        }
    }
    complete
}
