//! Conversions between types (thesis A.9).

use crate::ad::time::in_local_zone;
use crate::ad::{AbsoluteTime, ByteString, Dialect, ExpressionKind, RelativeTime, UnaryOperator, Value};
use crate::syntax::{ParseOptions, number_prefix, parse_expression};

use super::super::Abort;
use super::super::operators::checked_integer;
use super::{BuiltinFunction, Call, CallResult};

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    function!(int(1, 1) Strict "(any) -> int",
        "convert to an integer: a number without its fraction, a time in seconds, or the number at the beginning of a \
        string",
        both "int(\"-12.7\")" => "-12",
        |call| call.convert(to_integer)),
    function!(real(1, 1) Strict "(any) -> real",
        "convert to a real: a number, a time in seconds, or the number at the beginning of a string",
        both "real(\"1.5\")" => "1.5"),
    function!(string(1, 1) Strict "(any) -> string",
        "convert a value to a string",
        both "string(1 + 1)" => "\"2\"",
        |call| call.text(0).map(Value::String)),
    function!(bool(1, 1) Strict "(any) -> bool",
        "convert a number (0 is false), \"true\" or \"false\" to a boolean; in the papers' dialect, each string \
        but \"\" is true",
        both "bool(2.5)" => "true",
        boolean),
    function!(absTime(0, 2) Strict "([any [, offset]]) -> abstime",
        "convert a string, or seconds since 1970, to a time (default: now); the offset from UTC is in seconds",
        both "absTime(981173106, -3600 * 6)" => "absTime(\"2001-02-02T22:05:06-06:00\")",
        absolute),
    function!(relTime(1, 1) Strict "(any) -> reltime",
        "convert seconds or a string to a length of time",
        both "relTime(60 * 60 * 26)" => "relTime(\"1+02:00:00\")",
        relative),
];

/// Returns an integer value. In the papers' dialect an integer beyond 32 bits is an error.
pub(super) fn integer_value(call: &Call<'_, '_>, integer: i64) -> Value {
    checked_integer(integer, call.dialect(), call.span)
}

/// Returns the current time at the local UTC offset; [`Abort::Unknown`] if the time is unknown.
pub(super) fn local_now(call: &Call<'_, '_>) -> Result<AbsoluteTime, Abort> {
    call.evaluator.now().map(in_local_zone)
}

/// Converts a real to a C `int` as x86 does: a real that does not fit becomes the least integer, -2^31.
#[allow(clippy::cast_possible_truncation)] // checked
pub(super) fn as_c_int(real: f64) -> i32 {
    let whole = real.trunc();
    if whole >= f64::from(i32::MIN) && whole <= f64::from(i32::MAX) { whole as i32 } else { i32::MIN }
}

/// Truncates a real to an integer; `None` if it does not fit into 64 bits.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // checked
pub(super) fn without_fraction(real: f64) -> Option<i64> {
    const BOUND: f64 = i64::MIN as f64;
    (BOUND..-BOUND).contains(&real).then_some(real as i64)
}

/// Truncates a real to an integer value. A value that does not fit, or NaN, becomes the least integer in HTCondor's
/// dialect and an error in the papers' dialect.
pub(super) fn truncated_integer(call: &Call<'_, '_>, real: f64) -> Value {
    match without_fraction(real) {
        Some(integer) => integer_value(call, integer),
        None if call.dialect().is_condor() => Value::Integer(i64::MIN),
        None => call.error(format!("{real:?} does not fit into an integer")),
    }
}

/// Converts a value as `int()` does. A value without a number, such as a list, gives an error.
pub(super) fn to_integer(call: &Call<'_, '_>, value: &Value) -> Value {
    match value {
        Value::Undefined | Value::Error(_) | Value::Integer(_) => value.clone(),
        Value::Boolean(is) => Value::Integer(i64::from(*is)),
        Value::Real(real) => truncated_integer(call, *real),
        Value::AbsoluteTime(time) => integer_value(call, time.seconds),
        Value::RelativeTime(time) => truncated_integer(call, time.seconds),
        Value::String(text) => match leading_number(text, call.dialect()) {
            Some(Value::Integer(integer)) => integer_value(call, integer),
            Some(number) => to_integer(call, &number),
            None => not_a_number_error(call, value),
        },
        Value::List(_) | Value::Ad(_) => not_a_number_error(call, value),
    }
}

/// Converts a value as `real()` does; `None` for a value without a number, such as a list.
#[allow(clippy::cast_precision_loss)] // beyond 2^53 the nearest real
fn to_real(value: &Value, dialect: Dialect) -> Option<f64> {
    Some(match value {
        Value::Integer(integer) => *integer as f64,
        Value::Real(real) => *real,
        Value::Boolean(is) => f64::from(u8::from(*is)),
        Value::AbsoluteTime(time) => time.seconds as f64,
        Value::RelativeTime(time) if dialect.is_condor() => time.seconds_in_condor(),
        Value::RelativeTime(time) => time.seconds,
        Value::String(text) => to_real(&leading_number(text, dialect)?, dialect)?,
        _ => return None,
    })
}

/// Converts a value as `real()` does. The call ends with an error if there is no number in the value.
pub(super) fn require_real(call: &Call<'_, '_>, value: &Value) -> CallResult<f64> {
    to_real(value, call.dialect()).ok_or_else(|| not_a_number_error(call, value).into())
}

/// Returns the error for a value that cannot be converted to a number.
fn not_a_number_error(call: &Call<'_, '_>, value: &Value) -> Value {
    match value {
        Value::String(text) => call.error(format!("\"{}\" does not begin with a number", text.to_str())),
        value => call.type_error(value, "a number"),
    }
}

/// Returns the integer or real at the beginning of a string, in C's syntax; `None` if there is none. In the papers'
/// dialect a string that is a numeric literal of the language has the literal's value: `2K` is 2048.
#[allow(clippy::cast_precision_loss)] // the comparison detects the loss
fn leading_number(text: &ByteString, dialect: Dialect) -> Option<Value> {
    let text = text.to_str();
    if dialect == Dialect::Classad
        && let Some(number) = parse_numeric_literal(&text)
    {
        return Some(number);
    }
    let real = number_prefix(&text)?;
    // A real cannot hold all digits of a long integer, so an integer is read a second time from its digits.
    let start = text.trim_start();
    let unsigned = start.strip_prefix(['+', '-']).unwrap_or(start);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let integer = start.get(..start.len() - unsigned.len() + digits).and_then(|digits| digits.parse::<i64>().ok());
    Some(match integer {
        // The integer replaces the real only if both are the same number. `-0` stays a real, since no integer is minus
        // zero.
        Some(integer) if (integer as f64).to_bits() == real.to_bits() => Value::Integer(integer),
        _ => Value::Real(real),
    })
}

/// Returns the value of a text that is a numeric literal of the papers' language, such as `-017`, `0x1F` or `2K`;
/// `None` for other texts.
fn parse_numeric_literal(text: &str) -> Option<Value> {
    let text = text.trim();
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-');
    // Texts of more than 400 bytes are not parsed. The caller then reads their numbers in C's syntax.
    if text.len() > 400 || !text.bytes().all(plain) {
        return None;
    }
    let expression = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Classad)).ok()?;
    let (is_negative, operand) = match expression.kind() {
        ExpressionKind::Unary(UnaryOperator::Minus, operand) => (true, operand),
        ExpressionKind::Unary(UnaryOperator::Plus, operand) => (false, operand),
        _ => (false, &expression),
    };
    match operand.as_literal()? {
        Value::Integer(integer) if is_negative => integer.checked_neg().map(Value::Integer),
        Value::Real(real) if is_negative => Some(Value::Real(-real)),
        number @ (Value::Integer(_) | Value::Real(_)) => Some(number.clone()),
        _ => None,
    }
}

fn real(call: &mut Call<'_, '_>) -> CallResult {
    let value = call.value(0)?;
    if value.is_exceptional() { Ok(value) } else { require_real(call, &value).map(Value::Real) }
}

fn boolean(call: &mut Call<'_, '_>) -> CallResult {
    let value = call.value(0)?;
    let condor = call.dialect().is_condor();
    Ok(Value::Boolean(match &value {
        Value::Boolean(is) => *is,
        Value::Integer(integer) => *integer != 0,
        Value::Real(real) => *real != 0.0,
        Value::RelativeTime(time) if condor => time.seconds_in_condor() != 0.0,
        Value::RelativeTime(time) => time.seconds != 0.0,
        Value::AbsoluteTime(time) if !condor => time.seconds != 0,
        Value::String(text) if condor && text.as_bytes().eq_ignore_ascii_case(b"true") => true,
        Value::String(text) if condor && text.as_bytes().eq_ignore_ascii_case(b"false") => false,
        Value::String(_) if condor => return Ok(Value::Undefined),
        Value::String(text) => !text.as_bytes().is_empty(),
        Value::Undefined => return Ok(value),
        other => return Ok(call.type_error(other, "a boolean, a number or a string")),
    }))
}

fn absolute(call: &mut Call<'_, '_>) -> CallResult {
    if call.arguments.is_empty() {
        return Ok(Value::AbsoluteTime(local_now(call)?));
    }
    let value = call.value(0)?;
    let offset = if call.arguments.len() == 1 { None } else { Some(offset(call)?) };
    Ok(match &value {
        Value::Undefined | Value::AbsoluteTime(_) => value,
        Value::Integer(_) if offset == Some(-1) && call.dialect() == Dialect::Condor => {
            call.error("HTCondor does not accept an offset of -1")
        }
        Value::RelativeTime(time) => absolute_from_number(call, &Value::Real(time.seconds), offset),
        Value::String(text) => {
            let text = text.to_str();
            match AbsoluteTime::parse(&text).or_else(|| AbsoluteTime::parse_asctime(&text)) {
                Some(time) => Value::AbsoluteTime(AbsoluteTime { offset: offset.unwrap_or(time.offset), ..time }),
                None => call.error(format!("\"{text}\" is not an absolute time")),
            }
        }
        other => absolute_from_number(call, other, offset),
    })
}

/// Returns the second argument as an offset from UTC in seconds, wrapped to 32 bits as in HTCondor.
#[allow(clippy::cast_possible_truncation)] // wrapping is intended
fn offset(call: &mut Call<'_, '_>) -> CallResult<i32> {
    match call.value(1)? {
        Value::Integer(seconds) => Ok(seconds as i32),
        Value::Real(seconds) => Ok(as_c_int(seconds)),
        Value::RelativeTime(time) => Ok(time.seconds as i64 as i32),
        other => Err(call.type_error(&other, "an offset in seconds").into()),
    }
}

/// Returns the absolute time `value` seconds after 1970-01-01T00:00:00Z. `offset` is its UTC offset in seconds; `None`
/// stands for the local UTC offset.
pub(super) fn absolute_from_number(call: &Call<'_, '_>, value: &Value, offset: Option<i32>) -> Value {
    let seconds = match value {
        Value::Integer(seconds) => *seconds,
        Value::Real(real) => match without_fraction(*real) {
            Some(seconds) => seconds,
            None => return call.error(format!("{real:?} seconds after 1970 is out of range for a time")),
        },
        other => return call.type_error(other, "a number of seconds"),
    };
    Value::AbsoluteTime(match offset {
        Some(offset) => AbsoluteTime { seconds, offset },
        None => in_local_zone(seconds),
    })
}

fn relative(call: &mut Call<'_, '_>) -> CallResult {
    let value = call.value(0)?;
    let parse = if call.dialect().is_condor() { RelativeTime::parse_condor } else { RelativeTime::parse_classad };
    Ok(match &value {
        Value::Undefined => value,
        Value::RelativeTime(time) => Value::RelativeTime(RelativeTime::new(time.seconds)),
        Value::AbsoluteTime(time) => relative_from_number(call, &Value::Integer(time.seconds)),
        Value::String(text) => match parse(&text.to_str()) {
            Some(time) => Value::RelativeTime(time),
            None => call.error(format!("\"{}\" is not a relative time", text.to_str())),
        },
        other => relative_from_number(call, other),
    })
}

/// Returns a relative time of `value` seconds.
#[allow(clippy::cast_precision_loss)] // beyond 2^53 the nearest real
pub(super) fn relative_from_number(call: &Call<'_, '_>, value: &Value) -> Value {
    let seconds = match value {
        Value::Integer(seconds) => *seconds as f64,
        Value::Real(seconds) if seconds.is_finite() => *seconds,
        Value::Real(seconds) => return call.error(format!("{seconds} seconds are out of range for a length of time")),
        other => return call.type_error(other, "a number of seconds"),
    };
    Value::RelativeTime(RelativeTime::new(seconds))
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::check_in as check;
    use crate::ad::Dialect;

    #[test]
    fn a_written_relative_time_keeps_its_fraction() {
        check(
            Dialect::Condor,
            &[
                ("real(relTime(\"1+00:02:00.003\"))", "86520.003"),
                ("[ t = relTime(\"1.7\"); r = real(t) ].r", "1.7"),
                ("real(relTime(1.7))", "1.0"),
                ("real(-relTime(\"1.7\"))", "-1.7"),
                ("real(relTime(\"1.7\") + relTime(\"0.5\"))", "2.2"),
                ("real(relTime(\"1.75\") - relTime(\"0.5\"))", "1.25"),
                ("real(relTime(\"1.75\") * 2.0)", "3.5"),
                ("real(2 * relTime(\"1.75\"))", "3.5"),
                ("real(relTime(\"3\") / 2)", "1.5"),
                ("real(true ? relTime(\"1.7\") : 1)", "1.7"),
                ("real(undefined ?: relTime(\"1.7\"))", "1.7"),
                ("real(ifThenElse(true, relTime(\"1.7\"), 1))", "1.7"),
                ("real({ relTime(\"1.7\") }[0])", "1.7"),
                ("real(eval(\"relTime(\\\"1.7\\\")\"))", "1.7"),
                ("real([ t = relTime(\"1.7\"); r = t * 2 ].r)", "3.4"),
                ("round(relTime(\"1.7\"))", "2"),
                ("bool(relTime(\"0.5\"))", "true"),
                ("int(relTime(\"1.7\"))", "1"),
                // A computed time drops the fraction.
                ("real(relTime(relTime(\"1.7\")))", "1.0"),
                ("real(-relTime(1.7))", "-1.0"),
                ("real(relTime(1.5) * 1.5)", "2.0"),
                ("real(relTime(3) / 2)", "1.0"),
                ("real(relTime(1.5) + relTime(1.7))", "3.0"),
                ("real(true ? relTime(1.7) : 1)", "1.0"),
                ("round(relTime(1.7))", "1"),
                ("bool(relTime(0.5))", "false"),
                ("relTime(\"1.7\") =?= relTime(1.7)", "true"),
                ("[ t = relTime(1.7); r = real(t) ].r", "1.0"),
            ],
        );
    }

    #[test]
    fn numbers_in_strings() {
        check(
            Dialect::Condor,
            &[
                ("int(\"2K\")", "2"),
                ("int(\" 0x1F junk\")", "31"),
                ("int(\"010\")", "10"),
                ("int(\"9223372036854775807\")", "9223372036854775807"),
                ("int(\"1e30\")", "-9223372036854775808"),
                ("int(real(\"NaN\"))", "-9223372036854775808"),
                ("real(\"-infinity\")", "real(\"-INF\")"),
                ("real(\"-0\")", "-0.0"),
                ("int(\"abc\")", "error"),
                ("int(undefined)", "undefined"),
            ],
        );
        check(
            Dialect::Classad,
            &[
                ("int(\"2K\")", "2048"),
                ("int(\" -0x1F \")", "-31"),
                ("int(\"010\")", "8"),
                ("int(\"08 bottles\")", "8"),
                ("real(\"1.5M\")", "1572864.0"),
                ("int(\"2147483648\")", "error"),
                ("int(-2147483648.5)", "-2147483648"),
                ("int(1e10)", "error"),
                ("int(real(\"NaN\"))", "error"),
            ],
        );
    }

    #[test]
    fn truth_in_strings() {
        check(
            Dialect::Condor,
            &[("bool(\"TRUE\")", "true"), ("bool(\"abc\")", "undefined"), ("bool(\"\")", "undefined")],
        );
        check(Dialect::Classad, &[("bool(\"false\")", "true"), ("bool(\"abc\")", "true"), ("bool(\"\")", "false")]);
    }

    #[test]
    fn times_in_strings() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            check(
                dialect,
                &[
                    ("absTime((\"2001-02-03T04:05:06Z\"))", "absTime(\"2001-02-03T04:05:06-00:00\")"),
                    ("absTime((\"2001-02-03T04:05:06Z\"), 3600)", "absTime(\"2001-02-03T05:05:06+01:00\")"),
                    ("absTime((\"soon\"))", "error"),
                    ("absTime(3e9, 0)", "absTime(\"2065-01-24T05:20:00-00:00\")"),
                    ("absTime(3e9, relTime(0))", "absTime(\"2065-01-24T05:20:00-00:00\")"),
                    ("absTime(real(\"INF\"))", "error"),
                    ("relTime((\"-1+02:03:04\"))", "relTime(\"-1+02:03:04\")"),
                    ("relTime((\"soon\"))", "error"),
                    ("relTime(real(\"NaN\"))", "error"),
                ],
            );
        }
        check(
            Dialect::Condor,
            &[("relTime((\"8:00\"))", "relTime(\"0+00:08:00\")"), ("absTime(0, undefined)", "error")],
        );
        check(
            Dialect::Classad,
            &[("relTime((\"8:00\"))", "relTime(\"0+08:00:00\")"), ("absTime(0, undefined)", "undefined")],
        );
    }
}
