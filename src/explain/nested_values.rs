//! The values that the ads in lists of offers have where a nested constraint asks for others.

use indexmap::IndexSet;

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, Value};
use crate::constraint::{ClauseOperand, constant_integer, orient_comparison};
use crate::eval::{Context, FreeNames};

use super::distance::closest_value;
use super::evaluation::OfferTable;
use super::nested_ads::{nested_ads, rows_with_values, value_in};
use super::offered_values::{OfferedValues, ValueCounter};

/// Maximum number of values to which an unmet part is relaxed.
const MAX_OTHER_VALUES: usize = 4;

/// Returns a comparison of an attribute of the nested ads with a literal, as `name operator literal`.
fn comparison_of(part: &Expression) -> Option<(Name, BinaryOperator, Value)> {
    let ExpressionKind::Binary(operator, left, right) = part.without_parentheses().kind() else { return None };
    let name = |expression: &Expression| match ClauseOperand::of(expression)? {
        ClauseOperand::Unqualified(name) | ClauseOperand::Own(name) => Some(name.clone()),
        _ => None,
    };
    let literal = |expression: &Expression| {
        let literal = expression.without_parentheses().as_literal().cloned();
        literal.or_else(|| constant_integer(expression).map(Value::Integer))
    };
    orient_comparison(*operator, left, right, name, literal)
}

pub fn closest_in(part: &Expression, nested: &[Ad], context: &Context) -> Option<(BinaryOperator, Value, Value)> {
    let (name, operator, bound) = comparison_of(part)?;
    let attribute = Expression::attribute(name);
    let values: Vec<Value> = nested.iter().filter_map(|ad| value_in(ad, &attribute, context)).collect();
    let closest = closest_value(operator, &bound, values.iter().map(|value| (value, 1)), context.dialect)?;
    Some((operator, bound, closest))
}

/// Returns the values that nested ads have in the attribute that `part` compares with a literal, the closest first.
pub fn other_values(part: &Expression, nested: &[Ad], context: &Context) -> Vec<Value> {
    let Some((name, operator, bound)) = comparison_of(part) else { return Vec::new() };
    let attribute = Expression::attribute(name);
    let mut left: Vec<Value> = nested.iter().filter_map(|ad| value_in(ad, &attribute, context)).collect();
    let mut found = Vec::new();
    while found.len() < MAX_OTHER_VALUES {
        let values = left.iter().map(|value| (value, 1));
        let Some(next) = closest_value(operator, &bound, values, context.dialect) else { break };
        left.retain(|value| *value != next);
        found.push(next);
    }
    // Of strings, others than the wanted one are no closer or farther.
    let is_equality = matches!(operator, BinaryOperator::Equal | BinaryOperator::Is);
    for value in left.into_iter().filter(|value| is_equality && matches!(value, Value::String(_))) {
        if found.len() < MAX_OTHER_VALUES && !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Returns the only attribute that `part` reads, and the string with which it calls a function: `DeviceName` and `A100` of
/// `regexp("A100", DeviceName)`. `None` for any other part.
fn called_on(part: &Expression, context: &Context) -> Option<(Name, BinaryOperator, Value)> {
    let names = FreeNames::of(part, context.dialect).names;
    let is_call = matches!(part.without_parentheses().kind(), ExpressionKind::Call(..));
    let name = names.first().filter(|_| is_call && names.len() == 1)?.clone();
    let string = part.parts().find_map(|part| part.as_literal().filter(|value| matches!(value, Value::String(_))))?;
    Some((name, BinaryOperator::Equal, string.clone()))
}

/// Returns the values that nested ads have in the attribute that `part` compares with a literal, or that it calls a function
/// of strings with. `rows_of` are the rows of each ad. A row is free where its `list` has the value as it is.
pub fn offered_in(
    part: &Expression,
    list: &Name,
    (nested, rows_of): (&[Ad], &[Vec<usize>]),
    table: &OfferTable,
) -> Option<OfferedValues> {
    let (name, operator, wanted) = comparison_of(part).or_else(|| called_on(part, &table.context))?;
    let is_amount = matches!(
        operator,
        BinaryOperator::Greater | BinaryOperator::GreaterEqual | BinaryOperator::Less | BinaryOperator::LessEqual
    );
    let rows_with = rows_with_values(nested.iter().zip(rows_of), &name, &table.context);
    let left = nested_ads(&table.ads, list, &table.context);
    let left = rows_with_values(left.iter().map(|(ad, rows)| (ad, rows)), &name, &table.context);
    let text = |value: &Value| match value {
        Value::String(text) => text.to_str().into_owned(),
        other => other.to_string(),
    };
    let mut counter = ValueCounter::new(false);
    let are_numbers = matches!(wanted, Value::Integer(_) | Value::Real(_));
    let mut found = OfferedValues { are_strings: !are_numbers, ..OfferedValues::of(name) };
    for (shown, (value, rows)) in rows_with {
        for row in rows {
            if are_numbers == matches!(value, Value::String(_)) {
                continue;
            }
            if is_amount && are_numbers {
                found.extend_range(&value, table, row);
            } else {
                let is_left = left.get(&shown).is_some_and(|(_, rows)| rows.contains(&row));
                counter.add_if_free(&text(&value), table, row, is_left);
            }
        }
    }
    // A slot with several of them counts once.
    let rows: IndexSet<usize> = rows_of.iter().flatten().copied().collect();
    let offline = |row: &usize| table.states.as_ref().is_some_and(|states| states.offline.contains(*row));
    let (off, on): (Vec<usize>, Vec<usize>) = rows.into_iter().partition(offline);
    for (range, rows) in [(&mut found.range, on), (&mut found.offline, off)] {
        if let Some(range) = range {
            range.offers = table.weights.of_rows(rows);
        }
    }
    let found = counter.finish(found, &[text(&wanted)]);
    (found.value_count > 0 || found.range.is_some() || found.offline.is_some()).then_some(found)
}

/// Returns the comparison `part` with `value` as its bound, so that `value` meets it.
pub fn relaxed_part(part: &Expression, value: &Value) -> Option<Expression> {
    let (name, operator, _) = comparison_of(part)?;
    let operator = match operator {
        BinaryOperator::Greater => BinaryOperator::GreaterEqual,
        BinaryOperator::Less => BinaryOperator::LessEqual,
        other => other,
    };
    Some(Expression::binary(operator, Expression::attribute(name), Expression::literal(value.clone())))
}
