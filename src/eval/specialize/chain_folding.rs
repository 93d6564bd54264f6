//! Constant folding across a sum or a product: `3 + a + 7` becomes `10 + a`, `3 * a * 7` becomes `21 * a` (thesis 2.6.1).
//!
//! Folding changes the order of the operations. Reals may then round differently, and integers may overflow. So sums and
//! products are folded only if `SpecializeOptions::loose` is set.

use crate::ad::{BinaryOperator, Dialect, Span, UnaryOperator, Value};

use crate::eval::operators;

use super::chained_operator::ChainedOperator;
use super::partial_result::PartialResult;

/// Combines the known numbers of the sum or product at the beginning of a chain of operators. The total replaces the
/// first known number; the other known numbers are removed.
pub fn fold_chain(first: &mut PartialResult, steps: &mut Vec<ChainedOperator<'_>>, dialect: Dialect) {
    let (operators, neutral): (&[BinaryOperator], i64) = match steps.first().map(|step| step.operator) {
        Some(BinaryOperator::Add | BinaryOperator::Subtract) => (&[BinaryOperator::Add, BinaryOperator::Subtract], 0),
        Some(BinaryOperator::Multiply) => (&[BinaryOperator::Multiply], 1),
        _ => return,
    };
    let length = steps.iter().take_while(|step| operators.contains(&step.operator)).count();
    let known = steps[..length].iter().filter(|step| number(&step.operand).is_some()).count();
    let known = known + usize::from(number(first).is_some());
    if known < 2 || known == length + 1 {
        return;
    }
    let mut total = number(first).cloned().unwrap_or(Value::Integer(neutral));
    for step in &steps[..length] {
        if let Some(value) = number(&step.operand) {
            total = operators::binary(step.operator, &total, value, dialect, Span::default());
        }
    }
    let mut is_placed = number(first).is_some();
    if is_placed {
        *first = PartialResult::of_value(first.expression.span(), total.clone());
    }
    let rest = steps.split_off(length);
    steps.retain_mut(|step| {
        if number(&step.operand).is_none() {
            return true;
        }
        let is_first = !std::mem::replace(&mut is_placed, true);
        if is_first {
            let (operator, magnitude) = match step.operator {
                BinaryOperator::Multiply => (BinaryOperator::Multiply, total.clone()),
                _ => split_sign(&total, dialect),
            };
            step.operator = operator;
            step.operand = PartialResult::of_value(step.operand.expression.span(), magnitude);
        }
        is_first
    });
    steps.extend(rest);
}

/// Returns the known number that is the value of a subexpression; `None` if the value is unknown or no number.
fn number(part: &PartialResult) -> Option<&Value> {
    part.value.as_ref().filter(|value| matches!(value, Value::Integer(_) | Value::Real(_)))
}

/// Splits a number into its sign, as the operator `+` or `-`, and its magnitude: -7 into `-` and 7.
fn split_sign(total: &Value, dialect: Dialect) -> (BinaryOperator, Value) {
    if operators::compare(BinaryOperator::Less, total, &Value::Integer(0), dialect) == Some(true) {
        (BinaryOperator::Subtract, operators::unary(UnaryOperator::Minus, total.clone(), dialect, Span::default()))
    } else {
        (BinaryOperator::Add, total.clone())
    }
}
