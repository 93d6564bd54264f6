//! Checks operators that bind otherwise than their order suggests.

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, UnaryOperator};
use crate::syntax::{Style, expression_text};
use crate::text::shorten;

use super::rules;
use super::short_text::short_text;
use super::slip::Slip;
use super::slips::{ChainedComparison, GreedyConditional, is_comparison};

/// Checks the operands of a binary operator, which are parts of `whole`.
pub(super) fn check_operands(
    whole: &Expression,
    (operator, left, right): (BinaryOperator, &Expression, &Expression),
    dialect: Dialect,
    found: &mut Vec<Slip>,
) {
    for operand in [left, right] {
        match operand.kind() {
            ExpressionKind::Binary(inner, ..) if is_comparison(operator) && is_comparison(*inner) => {
                found.push(compared_comparison(whole, operand, (operator, left, right), dialect));
            }
            ExpressionKind::Binary(BinaryOperator::And, ..) if operator == BinaryOperator::Or => {
                let message = "`&&` binds more tightly than the `||` next to it".to_owned();
                found.push(Slip::new(&rules::MIXED, operand, message).with_label("these belong together"));
            }
            ExpressionKind::Unary(UnaryOperator::Not, negated)
                if is_comparison(operator)
                    && operand.ptr_eq(left)
                    && !matches!(right.without_parentheses().kind(), ExpressionKind::Unary(..)) =>
            {
                found.push(compared_negation(whole, operand, (operator, negated, right), dialect));
            }
            _ => {}
        }
    }
}

/// Reports a comparison of a comparison, such as `a < b == c`. `operand` is the inner one.
fn compared_comparison(
    whole: &Expression,
    operand: &Expression,
    (operator, left, right): (BinaryOperator, &Expression, &Expression),
    dialect: Dialect,
) -> Slip {
    let symbol = operator.symbol_in(dialect);
    let message = format!("`{}` is true or false, and `{symbol}` compares this", short_text(operand, dialect));
    let (help, rewrite) = regrouped(whole, (symbol, left, right), dialect);
    let label = format!("`{symbol}` applies to all of this");
    let slip = Slip::new(&rules::PRECEDENCE, operand, message).with_help(help).with_label(label);
    match rewrite {
        Some(rewrite) => slip.with_rewrite_of(whole, rewrite),
        None => slip,
    }
}

/// Reports a comparison of a negation, such as `!a == b`. `operand` is the negation, `negated` what it negates.
fn compared_negation(
    whole: &Expression,
    operand: &Expression,
    (operator, negated, right): (BinaryOperator, &Expression, &Expression),
    dialect: Dialect,
) -> Slip {
    let symbol = operator.symbol_in(dialect);
    let message = format!("`!` binds more tightly than `{symbol}`");
    let [inner, last] = [negated, right].map(|part| short_text(part, dialect));
    let help = format!("write `!({inner} {symbol} {last})`, or `(!{inner}) {symbol} {last}` if that is meant");
    let compared = Expression::binary(operator, negated.clone(), right.clone());
    let grouped = ExpressionKind::Parentheses(compared).into();
    let rewrite = ExpressionKind::Unary(UnaryOperator::Not, grouped).into();
    let slip = Slip::new(&rules::PRECEDENCE, operand, message).with_help(help);
    slip.with_label("only this is negated").with_rewrite_of(whole, rewrite)
}

/// Returns a suggestion of parentheses for a comparison of a comparison, such as `a < b == c`, and what to write instead if
/// only one thing can be meant.
fn regrouped(
    whole: &Expression,
    (operator, left, right): (&str, &Expression, &Expression),
    dialect: Dialect,
) -> (String, Option<Expression>) {
    if let Some(chain) = ChainedComparison::of(whole)
        && chain.second.as_literal().is_none()
    {
        let [first, second, last] = [chain.first, chain.second, chain.last].map(|part| short_text(part, dialect));
        let (inner, outer) = (chain.inner.symbol(), chain.outer.symbol());
        // `1 < x < 8` is a range in mathematics.
        if [chain.inner, chain.outer].into_iter().all(is_order) {
            let rest = Expression::binary(chain.outer, chain.second.clone(), chain.last.clone());
            let rewrite = Expression::binary(BinaryOperator::And, left.clone(), rest);
            return (format!("write `{first} {inner} {second} && {second} {outer} {last}`"), Some(rewrite));
        }
        let help = format!(
            "write `{first} {inner} ({second} {outer} {last})`, or `({first} {inner} {second}) {outer} {last}` if that is meant"
        );
        return (help, None);
    }
    let grouped = |operand: &Expression| match operand.kind() {
        ExpressionKind::Binary(inner, ..) if is_comparison(*inner) => format!("({})", short_text(operand, dialect)),
        _ => short_text(operand, dialect),
    };
    (format!("write `{} {operator} {}` if that is meant", grouped(left), grouped(right)), None)
}

/// Whether the operator compares by an order.
fn is_order(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
    matches!(operator, Greater | GreaterEqual | Less | LessEqual)
}

/// Reports a conditional that takes more as its condition than was probably meant.
pub(super) fn greedy_slip(whole: &Expression, greedy: GreedyConditional<'_>, dialect: Dialect) -> Slip {
    /// Maximum length of what to write, in characters. The reader must see the parentheses.
    const MAX_CHARS: usize = 180;
    let symbol = greedy.operator.symbol_in(dialect);
    let message = format!("`?` binds less tightly than `{symbol}`: all before the `?` is its condition");
    let written = shorten(&expression_text(&greedy.regrouped, Style::of(dialect)), MAX_CHARS);
    let help = format!("write `{written}`");
    Slip::new(&rules::PRECEDENCE, whole, message).with_help(help).with_rewrite(greedy.regrouped)
}
