//! The tokens of a text in a dialect, as the grammar reads them.

use crate::ad::Span;

use super::number_tokens::divide_numbers;
use super::token::{SpannedToken, Token, lex};
use super::{ParseOptions, SyntaxError};

/// Maximum nesting depth of brackets.
const MAX_NESTING: usize = 200_000;

/// Returns the tokens of a text, or an error if it is longer than 4 GiB or nested too deeply.
pub(super) fn tokens_of(text: &[u8], rules: ParseOptions) -> Result<Vec<SpannedToken>, SyntaxError> {
    if u32::try_from(text.len()).is_err() {
        return Err(SyntaxError::new(Span::new(0, 1), "this text is longer than 4 GiB"));
    }
    let mut tokens = lex(text, rules.strings);
    if rules.dialect.is_condor() {
        tokens = divide_numbers(text, rules.strings, tokens);
        join_doubled_dots(text, &mut tokens);
    }
    check_nesting(&tokens)?;
    Ok(tokens)
}

/// Joins two dots that follow one another: HTCondor reads `..` as `.`, and `..5` as a number.
fn join_doubled_dots(text: &[u8], tokens: &mut Vec<SpannedToken>) {
    tokens.dedup_by(|(next, place), (token, before)| {
        let is_doubled = *token == Token::Dot && before.end == place.start;
        let is_number =
            is_doubled && matches!(next, Token::Real | Token::Scaled) && text[place.range()].starts_with(b".");
        if is_number {
            (*token, before.end) = (*next, place.end);
        }
        is_number || is_doubled && *next == Token::Dot
    });
}

/// Refuses brackets that are nested more than [`MAX_NESTING`] levels deep.
fn check_nesting(tokens: &[SpannedToken]) -> Result<(), SyntaxError> {
    let mut depth = 0_usize;
    for (token, span) in tokens {
        if token.closing().is_some() {
            depth += 1;
            if depth > MAX_NESTING {
                return Err(SyntaxError::new(
                    *span,
                    format!("brackets are nested more than {MAX_NESTING} levels deep"),
                ));
            }
        } else if token.is_closing() {
            depth = depth.saturating_sub(1);
        }
    }
    Ok(())
}
