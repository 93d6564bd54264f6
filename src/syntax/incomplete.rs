//! Tells incomplete expressions from wrong ones, for input read line by line.

use super::ParseOptions;
use super::grammar::parse_expression;
use super::token::{Token, lex};

/// Whether a text is not an expression but may become one with further lines: a bracket, a string or a comment is open
/// at its end, or an operator lacks its operand.
#[must_use]
pub fn is_incomplete(text: &[u8], rules: ParseOptions) -> bool {
    let Err(error) = parse_expression(text, rules) else { return false };
    let start = error.span.range().start;
    // The parser failed at the end of the text, so that further lines may complete the expression.
    if start >= text.len() {
        return true;
    }
    let is_unterminated = |token| matches!(token, Token::Flawed(error) if error.is_unterminated());
    lex(text, rules.strings).into_iter().any(|(token, span)| span.range().start == start && is_unterminated(token))
}

#[cfg(test)]
mod tests {
    use super::is_incomplete;
    use crate::ad::Dialect;
    use crate::syntax::ParseOptions;

    #[test]
    fn what_can_go_on_is_told_from_what_is_wrong() {
        let unfinished = [
            "",
            "1 +",
            "(1",
            "f(1,",
            "f(1",
            "[ a = 1;",
            "[ a =",
            "{ 1, 2",
            "x ? 1",
            "x ? 1 :",
            "!",
            "a.",
            "a[1",
            "\"ab",
            "\"ab\nc",
            "'ab",
            "1 /* no end",
            "1 + // more",
            "(\n\n",
            "x && \"a\\\"",
            "(\"a\" \"b",
        ];
        let finished = [
            "1",
            "1 + 2",
            ")",
            "(1 + )",
            "1 2",
            "f(1,,",
            "[ a = 1 ] ]",
            "\"ab\"",
            "1 // more",
            "12abc +",
            "# (",
            "a = ",
        ];
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let of = |text: &str| is_incomplete(text.as_bytes(), ParseOptions::new(dialect));
            for text in unfinished {
                assert!(of(text), "{text:?} can go on in {dialect}");
            }
            for text in finished {
                assert!(!of(text), "{text:?} cannot go on in {dialect}");
            }
        }
    }
}
