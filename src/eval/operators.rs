//! Operators on values (thesis 2.4.4). HTCondor's dialect follows HTCondor's library.

use std::cmp::Ordering;

use crate::ad::{
    AbsoluteTime, Ad, AdValue, BinaryOperator, Dialect, ListValue, OperatorGroup, Participant, RelativeTime,
    ScopeFrame, Span, Truth, UnaryOperator, Value,
};

/// Returns the value of `&&` or `||` if the left operand, whose truth value is `truth`, determines it alone. `None` if
/// the right operand is needed.
pub fn short_circuit(
    operator: BinaryOperator,
    truth: Truth,
    left: &Value,
    dialect: Dialect,
    span: Span,
) -> Option<Value> {
    let decisive = if operator == BinaryOperator::And { Truth::False } else { Truth::True };
    match truth {
        Truth::Error => Some(logic_error(operator, left, span)),
        // In HTCondor's dialect `false && x` is false, whatever `x` is. In the papers' dialect an error in `x` is never
        // hidden, so `x` is needed.
        _ if truth == decisive && dialect.is_condor() => Some(Value::Boolean(truth == Truth::True)),
        _ => None,
    }
}

/// Returns the value of `&&` or `||`. `left` is the truth value of the left operand, `right` the right operand itself.
/// Precondition: [`short_circuit`] returned `None` for the left operand.
pub fn logic(operator: BinaryOperator, left: Truth, right: &Value, dialect: Dialect, span: Span) -> Value {
    let decisive = if operator == BinaryOperator::And { Truth::False } else { Truth::True };
    let right_truth = Truth::of(right, dialect);
    match (left, right_truth) {
        (_, Truth::Error) => logic_error(operator, right, span),
        (left, right) if left == decisive || right == decisive => Value::Boolean(decisive == Truth::True),
        (Truth::Undefined, _) | (_, Truth::Undefined) => Value::Undefined,
        _ => Value::Boolean(decisive != Truth::True),
    }
}

/// Returns the value of any binary operator. `right` computes the right operand; it is not called if the left operand
/// determines `&&` or `||` alone.
pub fn apply<E>(
    operator: BinaryOperator,
    left: &Value,
    right: impl FnOnce() -> Result<Value, E>,
    dialect: Dialect,
    span: Span,
) -> Result<Value, E> {
    if let BinaryOperator::And | BinaryOperator::Or = operator {
        let truth = Truth::of(left, dialect);
        return match short_circuit(operator, truth, left, dialect, span) {
            Some(value) => Ok(value),
            None => Ok(logic(operator, truth, &right()?, dialect, span)),
        };
    }
    Ok(binary(operator, left, &right()?, dialect, span))
}

/// Returns the error that an operand of `&&` or `||` is, or makes because its type has no truth values.
fn logic_error(operator: BinaryOperator, value: &Value, span: Span) -> Value {
    if let Value::Error(_) = value {
        return value.clone();
    }
    Value::error(span, format!("`{}` does not work with {}", operator.symbol(), value.value_type().phrase()))
}

/// Returns the value of a unary operator.
pub fn unary(operator: UnaryOperator, value: Value, dialect: Dialect, span: Span) -> Value {
    match (operator, &value) {
        (_, Value::Undefined | Value::Error(_))
        | (UnaryOperator::Plus, Value::Integer(_) | Value::Real(_) | Value::RelativeTime(_)) => value,
        (UnaryOperator::Not, _) => match Truth::of(&value, dialect) {
            Truth::True => Value::Boolean(false),
            Truth::False => Value::Boolean(true),
            _ => Value::error(span, format!("`!` does not work with {}", value.value_type().phrase())),
        },
        (UnaryOperator::Minus, Value::Integer(integer)) => wrapped_integer(integer.wrapping_neg(), dialect),
        (UnaryOperator::Minus, Value::Real(real)) => Value::Real(-real),
        (UnaryOperator::Minus, Value::RelativeTime(time)) => {
            Value::RelativeTime(RelativeTime { seconds: -time.seconds, ..*time })
        }
        (UnaryOperator::Complement, Value::Integer(integer)) => wrapped_integer(!integer, dialect),
        (operator, _) => {
            Value::error(span, format!("`{}` cannot take {}", operator.symbol(), value.value_type().phrase()))
        }
    }
}

/// Returns the value of a binary operator that always needs both operands: any but `&&` and `||`.
pub fn binary(operator: BinaryOperator, left: &Value, right: &Value, dialect: Dialect, span: Span) -> Value {
    if operator.group() == OperatorGroup::Identity {
        return match identical(left, right, dialect) {
            Some(same) => Value::Boolean(same == (operator == BinaryOperator::Is)),
            None => type_mismatch_error(operator, left, right, span),
        };
    }
    match (left, right) {
        (Value::Error(_), _) => return left.clone(),
        (_, Value::Error(_)) => return right.clone(),
        (Value::Undefined, _) | (_, Value::Undefined) => return Value::Undefined,
        _ => {}
    }
    let result = match operator.group() {
        OperatorGroup::Arithmetic => arithmetic(operator, left, right, dialect, span),
        OperatorGroup::Bitwise => bitwise(operator, left, right, dialect),
        OperatorGroup::Comparison => compare(operator, left, right, dialect).map(Value::Boolean),
        OperatorGroup::Identity | OperatorGroup::Logic => None,
    };
    result.unwrap_or_else(|| type_mismatch_error(operator, left, right, span))
}

fn type_mismatch_error(operator: BinaryOperator, left: &Value, right: &Value, span: Span) -> Value {
    let is_time = |value: &Value| matches!(value, Value::AbsoluteTime(_));
    let is_number = |value: &Value| matches!(value, Value::Integer(_) | Value::Real(_));
    let converts = is_time(left) && is_number(right) || is_number(left) && is_time(right);
    let help = if converts { "; `int(absTime(...))` is a time in seconds" } else { "" };
    let (left, right) = (left.value_type().phrase(), right.value_type().phrase());
    Value::error(span, format!("`{}` does not work with {left} and {right}{help}", operator.symbol()))
}

/// Whether two values are identical under `is`. `None` for two lists or two ads in HTCondor's dialect, where their
/// comparison is an error.
fn identical(left: &Value, right: &Value, dialect: Dialect) -> Option<bool> {
    Some(match (left, right) {
        (Value::Undefined, Value::Undefined) | (Value::Error(_), Value::Error(_)) => true,
        (Value::List(_), Value::List(_)) | (Value::Ad(_), Value::Ad(_)) => {
            return if dialect.is_condor() { None } else { Some(false) };
        }
        (Value::String(a), Value::String(b)) => a == b,
        (Value::AbsoluteTime(a), Value::AbsoluteTime(b)) => {
            a.seconds == b.seconds && (a.offset == b.offset || dialect == Dialect::Classad)
        }
        (left, right) if left.value_type() == right.value_type() => {
            compare(BinaryOperator::Equal, left, right, dialect).unwrap_or(false)
        }
        _ => false,
    })
}

/// Returns the result of a comparison such as `<`; `None` for two types that cannot be compared.
#[must_use]
pub fn compare(operator: BinaryOperator, left: &Value, right: &Value, dialect: Dialect) -> Option<bool> {
    let ordering = match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
        (Value::String(a), Value::String(b)) => match operator {
            BinaryOperator::Equal => return Some(a.eq_ignore_case(b)),
            BinaryOperator::NotEqual => return Some(!a.eq_ignore_case(b)),
            _ => Some(a.cmp_ignore_case(b)),
        },
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
        (Value::AbsoluteTime(a), Value::AbsoluteTime(b)) => Some(a.seconds.cmp(&b.seconds)),
        (Value::RelativeTime(a), Value::RelativeTime(b)) => a.seconds.partial_cmp(&b.seconds),
        _ => as_real(left, dialect.is_condor())?.partial_cmp(&as_real(right, dialect.is_condor())?),
    };
    Some(match operator {
        BinaryOperator::Equal => ordering == Some(Ordering::Equal),
        BinaryOperator::NotEqual => ordering != Some(Ordering::Equal),
        BinaryOperator::Less => ordering == Some(Ordering::Less),
        BinaryOperator::LessEqual => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        BinaryOperator::Greater => ordering == Some(Ordering::Greater),
        BinaryOperator::GreaterEqual => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        _ => return None,
    })
}

/// Returns a number, or a boolean if `booleans_count`, as a real; `None` for other values.
fn as_real(value: &Value, booleans_count: bool) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(nearest_real(*integer)),
        Value::Real(real) => Some(*real),
        Value::Boolean(is) if booleans_count => Some(f64::from(u8::from(*is))),
        _ => None,
    }
}

/// Returns an integer, or a boolean as 0 or 1; `None` for other values.
fn as_integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(integer) => Some(*integer),
        Value::Boolean(is) => Some(i64::from(*is)),
        _ => None,
    }
}

/// Returns the integer as a real; beyond 2^53 the nearest one, as in C.
#[allow(clippy::cast_precision_loss)]
fn nearest_real(integer: i64) -> f64 {
    integer as f64
}

/// Returns an integer value. In the papers' dialect an integer beyond 32 bits is an error.
pub fn checked_integer(integer: i64, dialect: Dialect, span: Span) -> Value {
    if dialect == Dialect::Classad && i32::try_from(integer).is_err() {
        let reason =
            format!("{integer} does not fit into the 32 bits of the papers' dialect; --dialect condor has 64 bits");
        return Value::error(span, reason);
    }
    Value::Integer(integer)
}

/// Returns the value of a literal. In the papers' dialect it is an error for an integer beyond 32 bits.
pub fn literal(value: &Value, dialect: Dialect, span: Span) -> Value {
    match value {
        Value::Integer(integer) => checked_integer(*integer, dialect, span),
        Value::Error(cause) if cause.origin().is_none() => Value::error(span, "written as `error`"),
        value => value.clone(),
    }
}

/// Returns an integer value. In the papers' dialect it is wrapped to 32 bits.
#[allow(clippy::cast_possible_truncation)] // wrapping is intended
pub fn wrapped_integer(integer: i64, dialect: Dialect) -> Value {
    match dialect {
        Dialect::Classad => Value::Integer(i64::from(integer as i32)),
        Dialect::Condor => Value::Integer(integer),
    }
}

fn arithmetic(operator: BinaryOperator, left: &Value, right: &Value, dialect: Dialect, span: Span) -> Option<Value> {
    if let (Value::AbsoluteTime(_) | Value::RelativeTime(_), _) | (_, Value::AbsoluteTime(_) | Value::RelativeTime(_)) =
        (left, right)
    {
        return time_arithmetic(operator, left, right, span);
    }
    let boolean = matches!(left, Value::Boolean(_)) || matches!(right, Value::Boolean(_));
    if boolean && operator == BinaryOperator::Remainder && dialect == Dialect::Classad {
        return None;
    }
    if let (Some(a), Some(b)) = (as_integer(left), as_integer(right)) {
        return Some(match operator {
            BinaryOperator::Add => wrapped_integer(a.wrapping_add(b), dialect),
            BinaryOperator::Subtract => wrapped_integer(a.wrapping_sub(b), dialect),
            BinaryOperator::Multiply => wrapped_integer(a.wrapping_mul(b), dialect),
            _ if b == 0 => Value::error(span, "division by zero"),
            // `i64::MIN / -1` is the only quotient that overflows; HTCondor returns the largest integer.
            BinaryOperator::Divide if dialect.is_condor() => Value::Integer(a.checked_div(b).unwrap_or(i64::MAX)),
            BinaryOperator::Divide => wrapped_integer(a.wrapping_div(b), dialect),
            BinaryOperator::Remainder => wrapped_integer(a.wrapping_rem(b), dialect),
            _ => return None,
        });
    }
    let (a, b) = (as_real(left, true)?, as_real(right, true)?);
    if dialect == Dialect::Classad && b == 0.0 && matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder)
    {
        return Some(Value::error(span, "division by zero"));
    }
    let result = match operator {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        BinaryOperator::Multiply => a * b,
        BinaryOperator::Divide => a / b,
        BinaryOperator::Remainder if dialect == Dialect::Classad => a % b,
        _ => return None,
    };
    // In HTCondor positive infinity is an error; negative infinity and NaN are values.
    Some(if dialect.is_condor() && result == f64::INFINITY {
        let is_division = operator == BinaryOperator::Divide && b == 0.0;
        Value::error(span, if is_division { "division by zero" } else { "the result is too large for a real" })
    } else {
        Value::Real(result)
    })
}

fn time_arithmetic(operator: BinaryOperator, left: &Value, right: &Value, span: Span) -> Option<Value> {
    let is_written =
        [left, right].into_iter().any(|value| matches!(value, Value::RelativeTime(time) if time.is_written));
    let relative = |seconds: f64| {
        if seconds.is_finite() {
            Value::RelativeTime(RelativeTime { seconds, is_written })
        } else {
            Value::error(span, "the result is out of range for a length of time")
        }
    };
    Some(match (operator, left, right) {
        (BinaryOperator::Subtract, Value::AbsoluteTime(a), Value::AbsoluteTime(b)) => {
            relative(nearest_real(a.seconds.saturating_sub(b.seconds)))
        }
        (BinaryOperator::Add, Value::AbsoluteTime(at), Value::RelativeTime(by))
        | (BinaryOperator::Add, Value::RelativeTime(by), Value::AbsoluteTime(at)) => add_seconds(*at, by.seconds),
        (BinaryOperator::Subtract, Value::AbsoluteTime(at), Value::RelativeTime(by)) => add_seconds(*at, -by.seconds),
        (BinaryOperator::Add, Value::RelativeTime(a), Value::RelativeTime(b)) => relative(a.seconds + b.seconds),
        (BinaryOperator::Subtract, Value::RelativeTime(a), Value::RelativeTime(b)) => relative(a.seconds - b.seconds),
        (BinaryOperator::Multiply, Value::RelativeTime(time), factor)
        | (BinaryOperator::Multiply, factor, Value::RelativeTime(time)) => {
            relative(time.seconds * as_real(factor, false)?)
        }
        (BinaryOperator::Divide, Value::RelativeTime(time), divisor) => {
            let divisor = as_real(divisor, false)?;
            if divisor == 0.0 {
                return Some(Value::error(span, "division by zero"));
            }
            relative(time.seconds / divisor)
        }
        _ => return None,
    })
}

/// Returns the absolute time `seconds` after `at`, with the same UTC offset.
#[allow(clippy::cast_possible_truncation)] // `as` saturates
fn add_seconds(at: AbsoluteTime, seconds: f64) -> Value {
    Value::AbsoluteTime(AbsoluteTime { seconds: at.seconds.saturating_add(seconds as i64), offset: at.offset })
}

/// Applies a bitwise operator or a shift as Java does: to 32 bits in the papers' dialect, to 64 bits in HTCondor's.
/// `None` if an operand is not an integer.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]
fn bitwise(operator: BinaryOperator, left: &Value, right: &Value, dialect: Dialect) -> Option<Value> {
    let (Value::Integer(a), Value::Integer(b)) = (left, right) else { return None };
    let (a, b) = (*a, *b);
    // Java takes the shift count modulo the number of bits, and so do Rust's wrapping shifts.
    let count = b as u32;
    Some(Value::Integer(match (operator, dialect) {
        (BinaryOperator::BitAnd, _) => a & b,
        (BinaryOperator::BitOr, _) => a | b,
        (BinaryOperator::BitXor, _) => a ^ b,
        (BinaryOperator::ShiftLeft, Dialect::Condor) => a.wrapping_shl(count),
        // HTCondor's library does not take the count modulo 64 when it shifts a negative number right.
        (BinaryOperator::ShiftRight, Dialect::Condor) if a < 0 => a >> b.clamp(0, 63),
        (BinaryOperator::ShiftRight, Dialect::Condor) => a.wrapping_shr(count),
        (BinaryOperator::ShiftRightUnsigned, Dialect::Condor) => (a as u64).wrapping_shr(count) as i64,
        (BinaryOperator::ShiftLeft, Dialect::Classad) => i64::from((a as i32).wrapping_shl(count)),
        (BinaryOperator::ShiftRight, Dialect::Classad) => i64::from((a as i32).wrapping_shr(count)),
        (BinaryOperator::ShiftRightUnsigned, Dialect::Classad) => i64::from((a as u32).wrapping_shr(count) as i32),
        _ => return None,
    }))
}

/// Truncates a relative time to whole seconds, as HTCondor's library does with elements of lists. Other values stay as
/// they are.
pub fn truncate_relative_time(value: Value) -> Value {
    match value {
        Value::RelativeTime(time) => Value::RelativeTime(RelativeTime::new(time.seconds.trunc())),
        other => other,
    }
}

/// Takes a list or an ad out of its scope, so that the ads around it are not searched for names. In HTCondor the
/// values of `ad["name"]` and `list.name` have no scope.
pub fn without_scope(value: Value) -> Value {
    let nowhere = |ad| ScopeFrame::root(ad, Participant::NONE);
    match value {
        Value::List(list) => Value::List(ListValue { elements: list.elements, scope: Some(nowhere(Ad::default())) }),
        Value::Ad(nested) => Value::Ad(AdValue { frame: nowhere(nested.ad().clone()) }),
        scalar => scalar,
    }
}
