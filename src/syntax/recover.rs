//! Error recovery in ads: reports every wrong attribute by parsing each attribute on its own.

use std::ops::Range;

use chumsky::Parser;
use chumsky::prelude::*;

use crate::ad::Span;

use super::ad_structure::blank_length;
use super::chumsky_types::{ChumskyExtra, TokenInput};
use super::dialect_tokens::tokens_of;
use super::grammar::{Grammar, parse_ad};
use super::token::{SpannedToken, Token, to_offset};
use super::{ParseOptions, SyntaxError};

/// Maximum number of attribute errors reported for one ad.
const MAX_ERRORS_PER_AD: usize = 20;

/// The spans of an attribute in the text of a bracketed ad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindingSpans {
    /// The name, including any quotes.
    pub name: Span,
    /// The whole definition, from the name to the end of the expression.
    pub whole: Span,
    /// The value: what follows the `=` and the white space behind it.
    pub value: Span,
}

/// Returns the spans of all attributes of a bracketed ad, including repeated names.
#[must_use]
pub fn binding_spans(text: &[u8], rules: ParseOptions) -> Vec<BindingSpans> {
    let tokens = tokens_of(text, rules).unwrap_or_default();
    let of = |piece: Range<usize>| {
        let (first, last) = (tokens.get(piece.start)?.1, tokens.get(piece.end.checked_sub(1)?)?.1);
        let behind = tokens.get(piece.start + 1).map_or(last.end, |(_, equals)| equals.end).min(last.end);
        let blanks = blank_length(&text[Span::new(behind, last.end).range()]);
        let value = Span::new(behind + to_offset(blanks), last.end);
        Some(BindingSpans { name: first, whole: first.to(last), value })
    };
    attribute_token_ranges(&tokens).into_iter().filter_map(of).collect()
}

/// Returns the errors in the text of a bracketed ad, at most one per attribute, in the order of the text; empty if
/// the text is an ad.
#[must_use]
pub fn ad_errors(text: &[u8], rules: ParseOptions) -> Vec<SyntaxError> {
    let Err(first) = parse_ad(text, rules) else { return Vec::new() };
    let grammar = Grammar { text, rules };
    let Ok(tokens) = tokens_of(text, rules) else { return vec![first] };
    // After an unclosed quote the text is read as a string: later errors would be meaningless.
    let end = if first.lacks_quote { first.span.start } else { u32::MAX };
    let mut errors = Vec::new();
    for piece in attribute_token_ranges(&tokens) {
        let input = &tokens[piece.start..tokens.len().min(piece.end + 1)];
        let at_end = tokens.get(piece.end).map_or(grammar.end(), |(_, span)| Span::new(span.end, span.end));
        let closed = one_of::<_, TokenInput<'_>, ChumskyExtra<'_>>([Token::Semicolon, Token::BracketClose].as_slice());
        let parser = grammar.attribute(grammar.expression()).then_ignore(closed);
        if let Err(error) = grammar.run_within(parser, input, at_end, &tokens[piece.start..])
            && error.span.start < end
            && errors.len() < MAX_ERRORS_PER_AD
        {
            errors.push(error);
        }
    }
    // An error at the end of the text means that the ad is not closed.  Drop the error: `first` shows the open bracket.
    errors.retain(|error| error.span.start < first.span.start || error.span.start < to_offset(text.len()));
    // `first` is the parser's error for the whole ad.  Add `first` if all errors of attributes begin after `first`, so
    // that none of them repeats `first`.  Also add `first` if a quote is probably missing, because the loop then left
    // out all errors from `first` on.
    if errors.iter().all(|error| error.span.start > first.span.start) || end != u32::MAX {
        errors.push(first);
    }
    errors.sort_by_key(|error| error.span.start);
    errors.dedup_by_key(|error| error.span);
    errors
}

/// Returns for each attribute of an ad the range of its tokens, without separators.
fn attribute_token_ranges(tokens: &[SpannedToken]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    if tokens.first().is_none_or(|(token, _)| *token != Token::BracketOpen) {
        return pieces;
    }
    let mut open = vec![Token::BracketOpen];
    let (mut start, mut end) = (1, tokens.len());
    let mut bound = false;
    for (at, (token, _)) in tokens.iter().enumerate().skip(1) {
        match token {
            Token::Semicolon if begins_attribute(tokens, at + 1) || open.len() == 1 => {
                close_inner_brackets(&mut open);
                if open.len() == 1 {
                    pieces.push(start..at);
                    (start, bound) = (at + 1, false);
                }
            }
            Token::Assign if open.len() == 1 => bound = true,
            Token::Name | Token::Quoted if begins_attribute(tokens, at) && ends_operand(tokens, at) => {
                close_inner_brackets(&mut open);
                if open.len() == 1 && bound {
                    pieces.push(start..at);
                    (start, bound) = (at, false);
                }
            }
            token if token.closing().is_some() => open.push(*token),
            Token::BracketClose => {
                close_inner_brackets(&mut open);
                open.pop();
                if open.is_empty() {
                    end = at;
                    break;
                }
            }
            token if token.is_closing() => {
                open.pop_if(|open| open.closing() == Some(*token));
            }
            _ => {}
        }
    }
    pieces.push(start..end);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Pops the open parentheses and braces down to the enclosing `[`, because an attribute or the end of an ad cannot
/// be inside parentheses or braces.
fn close_inner_brackets(open: &mut Vec<Token>) {
    while open.last().is_some_and(|token| *token != Token::BracketOpen) {
        open.pop();
    }
}

/// Whether a name and `=` begin at the token index `at`.
fn begins_attribute(tokens: &[SpannedToken], at: usize) -> bool {
    let token = |at: usize| tokens.get(at).map(|(token, _)| *token);
    matches!(token(at), Some(Token::Name | Token::Quoted)) && token(at + 1) == Some(Token::Assign)
}

/// Whether the token before the index `at` ends an operand, so that no other operand can follow.
fn ends_operand(tokens: &[SpannedToken], at: usize) -> bool {
    use Token::{Error, False, Flawed, Name, Quoted, String, True, Undefined};
    let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map(|(token, _)| *token);
    before.is_some_and(|token| {
        let is_word = matches!(token, Name | Quoted | String | True | False | Undefined | Error | Flawed(_));
        is_word || token.is_number() || token.is_closing()
    })
}

#[cfg(test)]
mod tests {
    use super::{ad_errors, binding_spans};
    use crate::syntax::ParseOptions;

    fn errors(text: &str) -> Vec<String> {
        let errors = ad_errors(text.as_bytes(), ParseOptions::default());
        errors.into_iter().map(|error| format!("{}: {}", error.span.start, error.message)).collect()
    }

    #[test]
    fn every_bad_attribute_is_told() {
        for (text, expected) in [
            ("[ a = 1; b = 2 ]", vec![]),
            (
                "[ a = ; b = 2; c = 1 +; d = (3; e = 4 ]",
                vec![
                    "6: expected an expression, found `;`",
                    "22: expected an expression, found `;`",
                    "30: expected `)`, found `;`",
                ],
            ),
            (
                "[ a = 1 b = 2; c = ]",
                vec!["8: expected `;` or `]`, found a name `b`", "19: expected an expression, found `]`"],
            ),
            ("[ a = (1\n  b = 2 ]", vec!["11: expected `)`, found a name `b`"]),
            (
                "[ a = b = 1; c = ) ]",
                vec!["8: expected `;` or `]`, found `=`", "17: expected an expression, found `)`"],
            ),
            (
                "[ a = [ b = ; c = 1 ]; d = ]",
                vec!["12: expected an expression, found `;`", "27: expected an expression, found `]`"],
            ),
            ("[ a = 1", vec!["7: expected `;` or `]`, found the end"]),
            ("[ a = 1 ] b", vec!["10: expected the end, found a name `b`"]),
            ("a", vec!["0: expected `[`, found a name `a`"]),
        ] {
            assert_eq!(errors(text), expected, "{text}");
        }
    }

    #[test]
    fn one_bad_quote_is_one_error() {
        assert_eq!(errors("[ a = \"x; b = 1;\n c = \"y\"; d = 2 ]").len(), 1);
        assert_eq!(errors("[ z = ; a = \"x; b = 1;\n c = \"y\"; d = 2 ]").len(), 2);
    }

    #[test]
    fn where_attributes_stand() {
        let text = "[ a = [ b = 1; c = 2 ]; ; 'd e' = f(1) // x\n; a = 3 ]";
        let found = binding_spans(text.as_bytes(), ParseOptions::default());
        let texts: Vec<(&str, &str)> =
            found.iter().map(|found| (&text[found.name.range()], &text[found.whole.range()])).collect();
        assert_eq!(texts, [("a", "a = [ b = 1; c = 2 ]"), ("'d e'", "'d e' = f(1)"), ("a", "a = 3")]);
    }
}
