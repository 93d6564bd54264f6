//! Constant folding across a sum, as thesis 2.6.1 does with `3 + a + 7`.
//!
//! Folding may change a value, since sums of reals round and sums of integers overflow in between. It is an option.

use crate::ad::{BinaryOperator, Dialect, Span, UnaryOperator, Value};

use crate::eval::operators;

use super::partial_result::{Part, Step};

/// Adds up the known numbers of the sum with which a chain begins. The total replaces the first of them.
pub fn added_up(first: Part, steps: Vec<Step<'_>>, dialect: Dialect) -> (Part, Vec<Step<'_>>) {
    let is_sum = |step: &Step| matches!(step.operator, BinaryOperator::Add | BinaryOperator::Subtract);
    let length = steps.iter().take_while(|step| is_sum(step)).count();
    let known = steps[..length].iter().filter(|step| is_number(&step.part)).count() + usize::from(is_number(&first));
    if known < 2 || known == length + 1 {
        return (first, steps);
    }
    let mut total = Value::Integer(0);
    if let Some(value) = first.value.as_ref().filter(|_| is_number(&first)) {
        total = value.clone();
    }
    for step in steps[..length].iter().filter(|step| is_number(&step.part)) {
        if let Some(value) = &step.part.value {
            total = operators::binary(step.operator, &total, value, dialect, Span::default());
        }
    }
    let mut first = first;
    let mut place_taken = is_number(&first);
    if place_taken {
        first = Part::of_value(first.expression.span(), total.clone());
    }
    let mut rest = Vec::with_capacity(steps.len());
    for (position, mut step) in steps.into_iter().enumerate() {
        if position < length {
            if is_number(&step.part) {
                if place_taken {
                    continue;
                }
                place_taken = true;
                let (operator, size) = signed(&total, dialect);
                step.operator = operator;
                step.part = Part::of_value(step.right.span(), size);
            }
            // Its left operand has changed.
            step.left = step.node;
        }
        rest.push(step);
    }
    (first, rest)
}

fn is_number(part: &Part) -> bool {
    matches!(part.value, Some(Value::Integer(_) | Value::Real(_)))
}

/// Splits a number into `+` or `-` and its magnitude.
fn signed(total: &Value, dialect: Dialect) -> (BinaryOperator, Value) {
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
