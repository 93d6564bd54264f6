//! Finds mistakes in clauses with numbers: strings in their place, exact amounts, types, places that are counted from one.

use crate::ad::{BinaryOperator, Expression, ExpressionKind, OperatorGroup, Value, rewrite_expression};
use crate::constraint::ClauseOperand;
use crate::lint;
use crate::protocol::RESOURCE_ATTRIBUTES;

use super::clause_analysis::ClauseAnalysis;
use super::distance::as_number;

/// Returns the clause with a number in place of a string that has it behind letters, such as `"RHEL9"`, and that is compared
/// with an attribute; with what to say of it. `None` if there is no such comparison.
pub fn number_in_string(clause: &Expression) -> Option<(String, Expression)> {
    let operand_pairs = clause.parts().filter_map(|part| match part.kind() {
        ExpressionKind::Binary(operator, left, right)
            if matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity) =>
        {
            Some([(left, right), (right, left)])
        }
        _ => None,
    });
    operand_pairs.flatten().find_map(|(text, attribute)| {
        let (ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) = ClauseOperand::of(attribute)? else {
            return None;
        };
        let Some(Value::String(string)) = text.without_parentheses().as_literal() else { return None };
        let number = trailing_number(&string.to_str())?;
        let number = Expression::literal(Value::Integer(number));
        let corrected = rewrite_expression(clause, &mut |part| part.ptr_eq(text).then(|| number.clone()))?;
        Some((format!("\"{}\" is a string, and {name} a number", string.to_str()), corrected))
    })
}

/// Returns the whole number that stands behind letters, as in `RHEL9` and `el 9`. `None` for any other text.
fn trailing_number(text: &str) -> Option<i64> {
    let letters = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_word = |letter: char| letter.is_ascii_alphabetic() || [' ', '-', '_'].contains(&letter);
    let is_named = letters.starts_with(|letter: char| letter.is_ascii_alphabetic()) && letters.chars().all(is_word);
    text[letters.len()..].parse().ok().filter(|_| is_named)
}

/// Returns the clause with a least amount of a resource in place of the exact one: a slot with more does as well. `None` if there
/// is no such comparison.
pub fn of_least_amount(clause: &Expression) -> Option<(String, Expression)> {
    let (part, name, least) = clause.parts().find_map(|part| {
        let ExpressionKind::Binary(BinaryOperator::Equal | BinaryOperator::Is, left, right) = part.kind() else {
            return None;
        };
        let (amount, number) = if right.as_literal().is_some() { (left, right) } else { (right, left) };
        let (ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) = ClauseOperand::of(amount)? else {
            return None;
        };
        let is_amount = RESOURCE_ATTRIBUTES.iter().any(|known| name.is(known));
        let least = || Expression::binary(BinaryOperator::GreaterEqual, amount.clone(), number.clone());
        (is_amount && as_number(number.as_literal()?)? > 0.0).then(|| (part, name.clone(), least()))
    })?;
    let corrected = rewrite_expression(clause, &mut |known| known.ptr_eq(part).then(|| least.clone()))?;
    Some((format!("a slot with more {name} does as well"), corrected))
}

/// Returns the clause with `==` in place of `=?=` where it compares an attribute with a real that is whole: `X == 8` for
/// `X =?= 8.0`, which no integer is; with what to say of it. `None` if there is no such comparison.
pub fn of_other_type(clause: &Expression) -> Option<(String, Expression)> {
    let (part, name, equal) = clause.parts().find_map(|part| {
        let ExpressionKind::Binary(BinaryOperator::Is, left, right) = part.kind() else { return None };
        let (attribute, number) = if right.as_literal().is_some() { (left, right) } else { (right, left) };
        let (ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) = ClauseOperand::of(attribute)? else {
            return None;
        };
        let Some(Value::Real(real)) = number.as_literal() else { return None };
        let whole: i64 = format!("{real:.0}").parse().ok().filter(|_| real.fract() == 0.0)?;
        let whole = Expression::literal(Value::Integer(whole));
        Some((part, name.clone(), Expression::binary(BinaryOperator::Equal, attribute.clone(), whole)))
    })?;
    let corrected = rewrite_expression(clause, &mut |known| known.ptr_eq(part).then(|| equal.clone()))?;
    Some((format!("=?= compares types, too, and {name} is an integer"), corrected))
}

/// Returns the clause with the place before that of a call of `substr`, or of an entry of a list, because these are counted from
/// zero; with what to say of it. `None` if there is none.
pub fn counted_from_one(clause: &Expression) -> Option<(String, Expression)> {
    let before = |place: &Expression| match place.without_parentheses().as_literal() {
        Some(Value::Integer(place)) if *place > 0 => Some(Expression::literal(Value::Integer(place - 1))),
        _ => None,
    };
    let (place, before, what) = clause.parts().find_map(|part| match part.kind() {
        ExpressionKind::Call(function, arguments) if function.is("substr") => {
            let place = arguments.get(1)?;
            Some((place, before(place)?, "substr counts the letters from 0"))
        }
        ExpressionKind::Subscript(list, place) if matches!(list.kind(), ExpressionKind::Call(..)) => {
            Some((place, before(place)?, "the entries of a list are counted from 0"))
        }
        _ => None,
    })?;
    let corrected = rewrite_expression(clause, &mut |part| part.ptr_eq(place).then(|| before.clone()))?;
    Some((what.to_owned(), corrected))
}

/// Returns the clause with MiB in place of KiB, if it asks for a whole number of GiB as KiB of memory; with what to say of it. `None`
/// for any other clause. The caller must ensure that no offer meets it.
pub fn memory_in_kib(analysis: &ClauseAnalysis) -> Option<(String, Expression)> {
    let comparison = analysis.comparison.as_ref().filter(|of| of.bound_holder.is_none())?;
    let is_least = matches!(comparison.operator, BinaryOperator::Greater | BinaryOperator::GreaterEqual);
    let slip = lint::find_kibibytes(comparison.attribute()?, &Expression::literal(comparison.bound.clone()))?;
    let meant = slip.rewrite.filter(|_| is_least)?;
    Some((slip.message, Expression::binary(comparison.operator, comparison.operand.clone(), meant)))
}
