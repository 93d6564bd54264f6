//! Finds where the bracketed ads of a text begin and end, without parsing them.

use logos::Logos;

use crate::ad::Span;

use super::ad_structure::next_structure;
use super::token::{StringSyntax, Token, to_offset};

/// What a text of bracketed ads begins with.
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
            // Skip separators and the braces of a list before the ad, and all other tokens inside the ad.
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

/// Returns the number of settled bytes at the start of a text: appended text cannot change the ads in these bytes.  The
/// settled bytes end after the last complete ad.  If an unclosed ad follows, they end before its `[`.  0 if the text
/// has no ad.
#[must_use]
pub fn complete_ads_length(text: &[u8]) -> usize {
    let (mut depth, mut complete, mut at) = (0_usize, 0, 0);
    // Appended text may close a quote or a comment that is open.
    while let Ok(Some(found)) = next_structure(text, at) {
        match text[found] {
            b'[' => {
                if depth == 0 {
                    // Appended text cannot change the text before an ad that has begun.
                    complete = found;
                }
                depth += 1;
            }
            b']' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    complete = found + 1;
                }
            }
            _ => {}
        }
        at = found + 1;
    }
    complete
}

/// Returns the byte offsets of the braces around the ads of a text, and whether no ad, quote or comment is open at its end.
#[must_use]
pub fn outer_braces(text: &[u8]) -> (Vec<usize>, bool) {
    let (mut braces, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    loop {
        let Ok(found) = next_structure(text, at) else { return (braces, false) };
        let Some(found) = found else { return (braces, depth == 0) };
        match text[found] {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b'{' | b'}' if depth == 0 => braces.push(found),
            _ => {}
        }
        at = found + 1;
    }
}
