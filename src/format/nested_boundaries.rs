//! Where ads of JSON or XML end, found by their tokens without building them.

use super::document_nesting::{DocumentNesting, FollowedText};
use super::nested_reader::{AdGrammar, TokenStream, recover};

/// Returns the length in bytes of the longest prefix of a text that contains only complete ads.
///
/// The text may end anywhere. What follows the prefix must be read again together with more text.
pub fn complete_prefix_length<'t, G: AdGrammar<'t>>(text: &'t [u8]) -> usize {
    follow_document::<G>(text, DocumentNesting::default()).complete_length
}

/// Follows a text behind a complete ad to its end. The text may end anywhere.
pub fn follow_document<'t, G: AdGrammar<'t>>(text: &'t [u8], mut nesting: DocumentNesting) -> FollowedText {
    let mut tokens = TokenStream::new(text, G::lexer(text, 0));
    let mut followed = FollowedText { complete_length: 0, at_complete: nesting, at_end: None };
    while let Some(token) = tokens.next() {
        nesting.has_content |= !text[token.1.clone()].trim_ascii().is_empty();
        if G::begins_ad(&token.0) {
            let start = token.1.start;
            let end = G::skip_plain_ad(&mut tokens, start).or_else(|| ad_end::<G>(&mut tokens, start));
            let Some(end) = end else { return followed };
            if G::takes_end(&text[..end]) {
                nesting.close(end);
            }
            followed = FollowedText { complete_length: end, at_complete: nesting, ..followed };
        } else if G::is_empty_ad(&token.0) {
            followed = FollowedText { complete_length: token.1.end, at_complete: nesting, ..followed };
        } else if G::is_unclosed(text, &token) {
            return followed;
        } else {
            match G::nesting(&token.0) {
                Some(true) => nesting.open(token.1.start),
                Some(false) => nesting.close(token.1.start),
                None => {}
            }
        }
    }
    FollowedText { at_end: Some(nesting), ..followed }
}

/// Whether a text is exactly one complete ad, with only white space around it.
pub fn is_single_ad<'t, G: AdGrammar<'t>>(text: &'t [u8]) -> bool {
    let mut tokens = TokenStream::new(text, G::lexer(text, 0));
    tokens
        .next()
        .filter(|token| G::begins_ad(&token.0))
        .and_then(|token| ad_end::<G>(&mut tokens, token.1.start))
        .is_some_and(|end| text[end..].trim_ascii().is_empty())
}

/// Returns the byte offset of the end of the ad that begins at `start`. `None` if the ad may continue behind the end of
/// the text. The first token of the ad has been read.
fn ad_end<'t, G: AdGrammar<'t>>(tokens: &mut TokenStream<'t, G::Lexer>, start: usize) -> Option<usize> {
    let mut grammar = G::at_ad_start(tokens.text, start);
    while let Some(token) = tokens.next() {
        if G::is_unclosed(tokens.text, &token) {
            return None;
        }
        if !grammar.advance(tokens.text, &token) {
            return recover(&mut grammar, tokens, token);
        }
        if grammar.is_done() {
            return Some(token.1.end);
        }
    }
    None
}
