//! Constant folding across a sum, as thesis 2.6.1 does with `3 + a + 7`.
//!
//! Folding may change a value, since sums of reals round and sums of integers overflow in between. It is done only if
//! `SpecializeOptions::loose` is set.

use crate::ad::{BinaryOperator, Dialect, Span, UnaryOperator, Value};

use crate::eval::operators;

use super::partial_result::{ChainedOperator, PartialResult};

/// Adds up the known numbers of the sum with which a chain begins. The total replaces the first of these numbers.
pub fn fold_sum(
    first: PartialResult,
    steps: Vec<ChainedOperator<'_>>,
    dialect: Dialect,
) -> (PartialResult, Vec<ChainedOperator<'_>>) {
    let is_sum = |step: &ChainedOperator| matches!(step.operator, BinaryOperator::Add | BinaryOperator::Subtract);
    let length = steps.iter().take_while(|step| is_sum(step)).count();
    let known = steps[..length].iter().filter(|step| is_number(&step.operand)).count() + usize::from(is_number(&first));
    if known < 2 || known == length + 1 {
        return (first, steps);
    }
    let mut total = Value::Integer(0);
    if let Some(value) = first.value.as_ref().filter(|_| is_number(&first)) {
        total = value.clone();
    }
    for step in steps[..length].iter().filter(|step| is_number(&step.operand)) {
        if let Some(value) = &step.operand.value {
            total = operators::binary(step.operator, &total, value, dialect, Span::default());
        }
    }
    let mut first = first;
    let mut place_taken = is_number(&first);
    if place_taken {
        first = PartialResult::of_value(first.expression.span(), total.clone());
    }
    let mut rest = Vec::with_capacity(steps.len());
    for (position, mut step) in steps.into_iter().enumerate() {
        if position < length {
            if is_number(&step.operand) {
                if place_taken {
                    continue;
                }
                place_taken = true;
                let (operator, size) = split_sign(&total, dialect);
                step.operator = operator;
                step.operand = PartialResult::of_value(step.right.span(), size);
            }
            // The left operand may have changed. `left` is set to an expression that differs from it, so that a copy is
            // built.
            step.left = step.node;
        }
        rest.push(step);
    }
    (first, rest)
}

fn is_number(part: &PartialResult) -> bool {
    matches!(part.value, Some(Value::Integer(_) | Value::Real(_)))
}

/// Splits a number into `+` or `-` and its magnitude.
fn split_sign(total: &Value, dialect: Dialect) -> (BinaryOperator, Value) {
    let negative = match total {
        Value::Integer(integer) => *integer < 0,
        Value::Real(real) => *real < 0.0,
        _ => false,
    };
    if negative {
        (BinaryOperator::Subtract, operators::unary(UnaryOperator::Minus, total.clone(), dialect, Span::default()))
    } else {
        (BinaryOperator::Add, total.clone())
    }
}
