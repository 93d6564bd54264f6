//! Operator precedence parsing: a loop with an explicit stack, driven by the table of precedences.
//!
//! The loop does not recurse, so that a chain of a million operators cannot overflow the call stack.

use chumsky::prelude::*;

use crate::ad::{
    BinaryOperator, Expression, ExpressionKind, PRECEDENCE_CONDITIONAL, PRECEDENCE_UNARY, Span, UnaryOperator,
};

use super::chumsky_types::{ChumskyError, TokenInputRef, TokenParser, expected_error, skip_token};
use super::token::Token;

/// An operator on the stack, whose right operand is not complete yet.
enum StackedOperator {
    Unary(UnaryOperator, Span),
    Binary(BinaryOperator),
    /// `condition ?`: the consequent is being read.
    Consequent,
    /// `condition ? consequent :`: the alternative is being read.
    Alternative,
}

impl StackedOperator {
    fn precedence(&self) -> u8 {
        match self {
            StackedOperator::Unary(..) => PRECEDENCE_UNARY,
            StackedOperator::Binary(operator) => operator.precedence(),
            StackedOperator::Alternative => PRECEDENCE_CONDITIONAL,
            // Lower than the precedence of any operator, because only the `:` ends the consequent.
            StackedOperator::Consequent => PRECEDENCE_CONDITIONAL - 1,
        }
    }
}

/// Parses operands and the operators between them, by precedence.  O(n) in the number of operators.
pub(super) fn operators<'t>(
    operand: impl TokenParser<'t, Expression> + 't,
    text: &'t [u8],
) -> impl TokenParser<'t, Expression> {
    custom(move |input: &mut TokenInputRef<'t, '_>| {
        let mut waiting: Vec<StackedOperator> = Vec::new();
        let mut operands: Vec<Expression> = Vec::new();
        let mut open_conditions = 0_usize;
        loop {
            while let Some(operator) = input.peek().and_then(Token::unary) {
                if operator == UnaryOperator::Minus && negative_number_follows(input, text) {
                    break;
                }
                waiting.push(StackedOperator::Unary(operator, skip_token(input)));
            }
            operands.push(elvis(input, &operand)?);

            let (precedence, operator) = match input.peek() {
                Some(Token::Question) => {
                    open_conditions += 1;
                    (PRECEDENCE_CONDITIONAL + 1, StackedOperator::Consequent)
                }
                Some(Token::Colon) if open_conditions > 0 => {
                    open_conditions -= 1;
                    (PRECEDENCE_CONDITIONAL, StackedOperator::Alternative)
                }
                token => match token.and_then(Token::binary) {
                    Some(operator) => (operator.precedence(), StackedOperator::Binary(operator)),
                    None => break,
                },
            };
            input.skip();
            reduce(&mut waiting, &mut operands, precedence);
            if matches!(operator, StackedOperator::Alternative) {
                // The `:` ends the consequent, so the `?` on top of the stack is removed.
                waiting.pop();
            }
            waiting.push(operator);
        }
        reduce(&mut waiting, &mut operands, PRECEDENCE_CONDITIONAL);
        match operands.pop() {
            Some(expression) if waiting.is_empty() => Ok(expression),
            _ => Err(expected_error(input, &["`:`", "an operator"])),
        }
    })
}

/// Parses `operand ?: operand ?: ...`, which associates to the right and binds tightest.
fn elvis<'t>(
    input: &mut TokenInputRef<'t, '_>,
    operand: &impl TokenParser<'t, Expression>,
) -> Result<Expression, ChumskyError<'t>> {
    let mut last = input.parse(operand)?;
    let mut before: Vec<Expression> = Vec::new();
    while skip_elvis(input) {
        before.push(last);
        last = input.parse(operand)?;
    }
    Ok(before.into_iter().rfold(last, |right, left| {
        let span = left.span().to(right.span());
        Expression::new(ExpressionKind::Elvis(left, right), span)
    }))
}

/// Skips the operator `?:`, also with space between the two characters; returns whether the operator was there.
fn skip_elvis(input: &mut TokenInputRef<'_, '_>) -> bool {
    if !matches!(input.peek(), Some(Token::Elvis | Token::Question)) {
        return false;
    }
    let start = input.save();
    let found = input.next() == Some(Token::Elvis) || input.next() == Some(Token::Colon);
    if !found {
        input.rewind(start);
    }
    found
}

/// Applies the operators at the top of the stack to their operands, as long as they bind at least as tightly as
/// `precedence`.
fn reduce(waiting: &mut Vec<StackedOperator>, operands: &mut Vec<Expression>, precedence: u8) {
    while let Some(operator) = waiting.pop_if(|last| last.precedence() >= precedence) {
        let Some(right) = operands.pop() else { return };
        let end = right.span();
        let (start, kind) = match operator {
            StackedOperator::Unary(operator, start) => (start, ExpressionKind::Unary(operator, right)),
            StackedOperator::Binary(operator) => {
                let Some(left) = operands.pop() else { return };
                (left.span(), ExpressionKind::Binary(operator, left, right))
            }
            StackedOperator::Alternative => {
                let (Some(consequent), Some(condition)) = (operands.pop(), operands.pop()) else { return };
                (condition.span(), ExpressionKind::Conditional(condition, consequent, right))
            }
            StackedOperator::Consequent => return,
        };
        operands.push(Expression::new(kind, start.to(end)));
    }
}

/// Whether the next tokens are a minus and a number without space between them.  As in HTCondor, `-5` is a literal
/// where an operand is expected, and `- 5` is an operation.
pub(super) fn negative_number_follows(input: &mut TokenInputRef<'_, '_>, text: &[u8]) -> bool {
    let start = input.save();
    let minus = skip_token(input);
    let adjacent = text.get(minus.end as usize).is_some_and(|b| b.is_ascii_digit() || *b == b'.');
    let number = adjacent && input.peek().is_some_and(Token::is_number);
    input.rewind(start);
    number
}
