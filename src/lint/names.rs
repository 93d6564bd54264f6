//! Checks names that stand where a value was meant: `null`, words without quotes, functions without parentheses.

use crate::ad::{BinaryOperator, ByteString, Dialect, Expression, ExpressionKind, Name, OperatorGroup, Value};
use crate::constraint::{ClauseOperand, is_scope_name};
use crate::eval::{CURRENT_TIME, find_function};
use crate::text::counted;

use super::rules;
use super::short_text::short_text;
use super::slip::{PoolColumns, Slip};
use super::slips::is_comparison;
use super::standard_attributes::{StandardType, is_usual_value};
use super::subexpressions::for_each_in_scope;

/// The names that are taken for attributes of the clock, each with the attribute of slots that is meant, and the number by
/// which that is divided.
const CLOCK_NAMES: [(&str, &str, i64); 6] = [
    ("ClockHour", "ClockMin", 60),
    ("ClockHours", "ClockMin", 60),
    ("ClockMinute", "ClockMin", 1),
    ("ClockMinutes", "ClockMin", 1),
    ("ClockDayOfWeek", "ClockDay", 1),
    ("ClockWeekday", "ClockDay", 1),
];

/// Checks the names in an expression. `pool` is what is known of the ads of the other side.
pub(super) fn check(expression: &Expression, dialect: Dialect, pool: Option<&dyn PoolColumns>, found: &mut Vec<Slip>) {
    let mut pending = vec![expression];
    while let Some(part) = pending.pop() {
        match part.kind() {
            ExpressionKind::Ad(_) => continue,
            ExpressionKind::Attribute(_) | ExpressionKind::Select(..) => {
                found.extend(check_clock(part, dialect, pool));
            }
            ExpressionKind::Binary(operator, left, right) => {
                found.extend(check_day(*operator, [left, right]));
                for (operand, other) in [(left, right), (right, left)] {
                    if is_comparison(*operator) {
                        found.extend(check_null(part, *operator, operand, other, dialect));
                        found.extend(check_word(operand, other, pool).or_else(|| check_host(operand, other, pool)));
                    }
                    if matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Arithmetic) {
                        found.extend(check_function(operand));
                    }
                }
            }
            _ => {}
        }
        let start = pending.len();
        for_each_in_scope(part.kind(), |child| pending.push(child));
        pending[start..].reverse();
    }
}

/// Returns the name if the expression is an unqualified name without quotes.
fn bare_name(expression: &Expression) -> Option<&Name> {
    let inner = expression.without_parentheses();
    match inner.kind() {
        // The span of a name in single quotes includes these.
        ExpressionKind::Attribute(name)
            if !is_scope_name(name) && inner.span().range().len() <= name.as_str().len() =>
        {
            Some(name)
        }
        _ => None,
    }
}

/// Reports a comparison with `null`, which is only the name of an attribute.
fn check_null(
    whole: &Expression,
    operator: BinaryOperator,
    operand: &Expression,
    other: &Expression,
    dialect: Dialect,
) -> Option<Slip> {
    let name = bare_name(operand).filter(|name| name.is("null") || name.is("nil"))?;
    let instead = match operator {
        BinaryOperator::Equal | BinaryOperator::Is => BinaryOperator::Is,
        _ => BinaryOperator::Isnt,
    };
    let rewrite = Expression::binary(instead, other.clone(), Expression::literal(Value::Undefined));
    let message = format!("{name} is an attribute, not a value");
    let help = format!("write `{}`", short_text(&rewrite, dialect));
    Some(Slip::new(&rules::NULL, whole, message).with_help(help).with_rewrite(rewrite))
}

/// Reports a word without quotes beside an attribute that is a string, if the word looks like a value.
fn check_word(operand: &Expression, other: &Expression, pool: Option<&dyn PoolColumns>) -> Option<Slip> {
    let word = bare_name(operand).filter(|word| !word.is("null") && StandardType::of(word).is_none())?;
    let attribute = attribute_name(other)?;
    let text = ByteString::from(word.as_str());
    let ads = pool.filter(|pool| pool.ads_with(word) == 0).map_or(0, |pool| pool.ads_with_string(attribute, &text));
    let is_string = StandardType::of(attribute) == Some(StandardType::String);
    if ads == 0 && !(is_string && (is_usual_value(attribute, word.as_str()) || looks_like_value(word))) {
        return None;
    }
    let spelt = pool.and_then(|pool| pool.other_spelling(attribute, &text)).unwrap_or(text);
    let string = format!("\"{}\"", spelt.to_str());
    let message = match ads {
        0 => format!("{word} without quotes is an attribute, but {attribute} is a string"),
        ads => format!(
            "{word} without quotes is an attribute, but {attribute} is the string {string} in {}",
            counted(ads, "ad")
        ),
    };
    let slip = Slip::new(&rules::WORD, operand, message).with_help(format!("write {string} for the string"));
    Some(slip.with_rewrite(Expression::literal(Value::String(spelt))))
}

/// Returns the mistake that the value of an attribute is a word without quotes, which the caller knows to be no attribute.
#[must_use]
pub fn find_unquoted_setting(value: &Expression) -> Option<Slip> {
    let word = bare_name(value).filter(|word| StandardType::of(word).is_none())?;
    let message = format!("{word} without quotes is an attribute, which nothing defines");
    let slip = Slip::new(&rules::WORD, value, message).with_help(format!("write \"{word}\" for the string"));
    Some(slip.with_rewrite(Expression::literal(Value::string(word.as_str()))))
}

/// Reports the name of a host without quotes beside an attribute that is a string, such as `node01.example.org`, which is
/// read as an attribute of an attribute.
fn check_host(operand: &Expression, other: &Expression, pool: Option<&dyn PoolColumns>) -> Option<Slip> {
    const MIN_LABELS: usize = 3;
    let attribute = attribute_name(other).filter(|name| StandardType::of(name) == Some(StandardType::String))?;
    let mut labels = Vec::new();
    let mut part = operand;
    while let ExpressionKind::Select(subject, label) = part.kind() {
        labels.push(label.as_str());
        part = subject;
    }
    let first = bare_name(part).filter(|name| StandardType::of(name).is_none())?;
    labels.push(first.as_str());
    labels.reverse();
    if labels.len() < MIN_LABELS || pool.is_some_and(|pool| pool.ads_with(first) > 0) {
        return None;
    }
    let host = labels.join(".");
    let message = format!("{host} without quotes is an attribute of {first}, but {attribute} is a string");
    let help = format!("quotes are missing: write \"{host}\"");
    let slip = Slip::new(&rules::WORD, operand, message).with_help(help);
    Some(slip.with_rewrite(Expression::literal(Value::string(host))))
}

/// Returns the row of a name that is taken for an attribute of the clock.
fn clock_name(name: &Name) -> Option<(&'static str, &'static str, i64)> {
    CLOCK_NAMES.into_iter().find(|(mistaken, ..)| name.is(mistaken))
}

/// Whether a name is taken for an attribute of the clock, such as `ClockHour`.
#[must_use]
pub fn is_mistaken_clock_name(name: &Name) -> bool {
    clock_name(name).is_some()
}

/// Reports an attribute of the clock that slots do not have, such as `ClockHour`.
fn check_clock(part: &Expression, dialect: Dialect, pool: Option<&dyn PoolColumns>) -> Option<Slip> {
    let name = attribute_name(part).filter(|name| pool.is_none_or(|pool| pool.ads_with(name) == 0))?;
    let (_, known, divisor) = clock_name(name)?;
    let attribute = match part.without_parentheses().kind() {
        ExpressionKind::Select(scope, _) => Expression::select(scope.clone(), Name::new(known)),
        _ => Expression::attribute(known),
    };
    let rewrite = if divisor == 1 {
        attribute
    } else {
        let divisor = Expression::literal(Value::Integer(divisor));
        let hour = Expression::binary(BinaryOperator::Divide, attribute, divisor);
        ExpressionKind::Parentheses(hour).into()
    };
    let message = format!("slots have no {name}, but {known}");
    let help = format!("write `{}`", short_text(&rewrite, dialect));
    Some(Slip::new(&rules::CLOCK, part, message).with_help(help).with_rewrite(rewrite))
}

/// Reports a comparison of `ClockDay` with 7: it is 0 on Sunday.
fn check_day(operator: BinaryOperator, [left, right]: [&Expression; 2]) -> Option<Slip> {
    let is_day = |operand: &Expression| attribute_name(operand).is_some_and(|name| name.is("ClockDay"));
    let day = if is_day(left) { right } else { Some(left).filter(|_| is_day(right))? };
    let is_equality = matches!(operator, BinaryOperator::Equal | BinaryOperator::Is);
    let is_seven = is_equality && day.without_parentheses().as_literal() == Some(&Value::Integer(7));
    let slip = Slip::new(&rules::CLOCK, day, "ClockDay is 0 on Sunday and 6 on Saturday, never 7");
    is_seven.then(|| slip.with_help("write 0 for Sunday").with_rewrite(Expression::literal(Value::Integer(0))))
}

/// Returns the name of the attribute that an operand is. `None` for any other expression.
fn attribute_name(operand: &Expression) -> Option<&Name> {
    match ClauseOperand::of(operand)? {
        ClauseOperand::Other(name) | ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) => Some(name),
        ClauseOperand::Literal(_) => None,
    }
}

/// Whether a name is written as values are, such as `alice`, and not as names of attributes are, such as `DiskUsage`.
pub(super) fn looks_like_value(word: &Name) -> bool {
    let text = word.as_str();
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) && find_function(word).is_none()
}

/// Reports the name of a function without parentheses, such as `time`, among numbers.
fn check_function(operand: &Expression) -> Option<Slip> {
    let name = bare_name(operand).filter(|name| StandardType::of(name).is_none() && !name.is_known(CURRENT_TIME))?;
    let function = find_function(name)
        .filter(|function| function.max_arguments == Some(0) || function.name.eq_ignore_ascii_case("random"))?;
    let message = format!("{name} without parentheses is an attribute, but {name}() is a function");
    let slip =
        Slip::new(&rules::WORD, operand, message).with_help(format!("write `{}()` for its value", function.name));
    Some(slip.with_rewrite(Expression::call(function.name, [])))
}
