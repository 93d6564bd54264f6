//! Rounding, powers, random numbers (thesis A.10, and HTCondor's).

use crate::ad::{Dialect, ListValue, Value};

use super::super::operators::wrapped_integer;
use super::conversion::{require_real, to_integer, truncated_integer};
use super::{BuiltinFunction, Call, CallResult};

macro_rules! rounding {
    ($name:ident, $doc:literal, $call:literal => $value:literal, $round:path) => {
        function!($name(1, 1) Strict "(number) -> int",
            $doc,
            both $call => $value,
            |call| round_argument(call, $round))
    };
}

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    rounding!(floor, "round a number down to an integer", "floor(-2.5)" => "-3", f64::floor),
    rounding!(ceiling, "round a number up to an integer", "ceiling(2.1)" => "3", f64::ceil),
    rounding!(ceil, "same as ceiling()", "ceil(2.1)" => "3", f64::ceil),
    rounding!(round, "round a number to the nearest integer; halfway between two integers, to the even integer",
        "round(2.5)" => "2", f64::round_ties_even),
    function!(pow(2, 2) Strict "(base, exponent) -> int | real",
        "raise a number to a power; integers give an integer, unless the exponent is negative",
        both "pow(-2, 3)" => "-8"),
    function!(quantize(2, 2) Strict "(number, number | list) -> number",
        "round a number up to a multiple of the second argument; with a list, up to its first element that is not less \
        than the number, else to a multiple of its last element",
        both "quantize(10, 4)" => "12"),
    function!(random(0, 1) Random "([number]) -> int | real",
        "draw a random number of the argument's type: at least 0, and less than the argument (default: 1.0)",
        both "random(1)" => "0"),
    function!(interval(1, 1) Strict "(seconds) -> string",
        "write seconds as days, hours, minutes and seconds",
        both "interval(93784)" => "\"1+02:03:04\""),
];

fn round_argument(call: &mut Call<'_, '_>, round: fn(f64) -> f64) -> CallResult {
    let value = call.value(0)?;
    let number = match &value {
        Value::Integer(_) => return Ok(value),
        Value::Real(number) => *number,
        // In the papers' dialect the functions that round accept numbers only.
        other if call.dialect() == Dialect::Classad => return Ok(call.type_error(other, "a number")),
        other => require_real(call, other)?,
    };
    Ok(truncated_integer(call, round(number)))
}

fn pow(call: &mut Call<'_, '_>) -> CallResult {
    let (base, exponent) = (call.value(0)?, call.value(1)?);
    let dialect = call.dialect();
    if let (Value::Integer(base), Value::Integer(exponent)) = (&base, &exponent)
        && let Ok(exponent) = u64::try_from(*exponent)
    {
        return Ok(match dialect {
            Dialect::Classad => {
                wrapped_integer(power(*base, exponent, |a, b| Some(a.wrapping_mul(b))).unwrap_or(0), dialect)
            }
            // HTCondor returns the least integer for any result that does not fit.
            Dialect::Condor => Value::Integer(power(*base, exponent, i64::checked_mul).unwrap_or(i64::MIN)),
        });
    }
    Ok(Value::Real(require_real(call, &base)?.powf(require_real(call, &exponent)?)))
}

/// Computes a power by repeated squaring. `multiply` multiplies two integers; `None` if one of its calls returns
/// `None`.
fn power(base: i64, exponent: u64, multiply: fn(i64, i64) -> Option<i64>) -> Option<i64> {
    let (mut result, mut square, mut left) = (1, base, exponent);
    loop {
        if left & 1 == 1 {
            result = multiply(result, square)?;
        }
        left >>= 1;
        if left == 0 {
            return Some(result);
        }
        square = multiply(square, square)?;
    }
}

fn quantize(call: &mut Call<'_, '_>) -> CallResult {
    let (value, base) = (call.value(0)?, call.value(1)?);
    let number = require_real(call, &value)?;
    let base = match base {
        Value::List(list) => last_step(call, &list, number)?,
        base => base,
    };
    let step = require_real(call, &base)?;
    Ok(match (&value, &base) {
        // HTCondor treats a step of at most 1e-8 like zero and returns the number unchanged.
        _ if step.abs() <= 1e-8 => value,
        (Value::Integer(number), Value::Integer(step)) => {
            let steps = number.wrapping_add(*step).wrapping_sub(1).wrapping_div(*step);
            wrapped_integer(steps.wrapping_mul(*step), call.dialect())
        }
        _ => Value::Real((number / step).ceil() * step),
    })
}

/// Returns the last element of a list of steps if all elements are below `number`; 0.0 for an empty list. Otherwise the
/// call ends, and its value is the first element that is not below `number`.
fn last_step(call: &mut Call<'_, '_>, list: &ListValue, number: f64) -> CallResult {
    let mut step = Value::Real(0.0);
    for index in 0..list.elements.len() {
        step = call.element(list, index)?;
        if require_real(call, &step)? >= number {
            return Err(step.into());
        }
    }
    Ok(step)
}

fn random(call: &mut Call<'_, '_>) -> CallResult {
    let limit = if call.arguments.is_empty() { Value::Real(1.0) } else { call.value(0)? };
    Ok(match &limit {
        Value::Integer(..=0) => call.error("expected a number above 0"),
        Value::Real(limit) if *limit <= 0.0 => call.error("expected a number above 0"),
        Value::Integer(limit) => Value::Integer(call.evaluator.random()?.i64(0..*limit)),
        Value::Real(limit) => Value::Real(*limit * call.evaluator.random()?.f64()),
        other => call.type_error(other, "a number"),
    })
}

#[allow(clippy::cast_possible_truncation)] // HTCondor uses 32 bits
fn interval(call: &mut Call<'_, '_>) -> CallResult {
    let value = call.value(0)?;
    let seconds = match to_integer(call, &value) {
        Value::Integer(seconds) => seconds as i32,
        other => return Ok(call.type_error(&other, "a number of seconds")),
    };
    // Only the first non-zero part carries the sign: `-1+02:03:04`.
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let second = (seconds % 60).abs();
    Ok(Value::string(if days != 0 {
        format!("{days}+{:02}:{:02}:{second:02}", hours.abs(), minutes.abs())
    } else if hours != 0 {
        format!("{hours}:{:02}:{second:02}", minutes.abs())
    } else if minutes != 0 {
        format!("{minutes}:{second:02}")
    } else {
        seconds.to_string()
    }))
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::check_in as check;
    use crate::ad::Dialect;

    #[test]
    fn powers() {
        check(
            Dialect::Condor,
            &[
                ("pow(3, 39)", "4052555153018976267"),
                ("pow(-2, 63)", "-9223372036854775808"),
                ("pow(2, 64)", "-9223372036854775808"),
                ("pow(-1, 9223372036854775807)", "-1"),
                ("pow(0, 0)", "1"),
                ("pow(2, -1)", "0.5"),
                ("pow(undefined, 1)", "error"),
            ],
        );
        check(
            Dialect::Classad,
            &[("pow(2, 31)", "-2147483648"), ("pow(3, 2147483647)", "-1431655765"), ("pow(undefined, 1)", "undefined")],
        );
    }

    #[test]
    fn steps() {
        check(
            Dialect::Condor,
            &[
                ("quantize(5, { 4, 8 })", "8"),
                ("quantize(20, { 4, \"8\" })", "24.0"),
                ("quantize(7.5, {})", "7.5"),
                ("quantize(-5, 2)", "-4"),
                ("quantize(-9223372036854775807 - 1, -1)", "9223372036854775806"),
                ("quantize(5, { undefined, 8 })", "error"),
            ],
        );
    }

    #[test]
    fn chance_has_bounds() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            check(
                dialect,
                &[
                    ("random(0)", "error"),
                    ("random(-1.5)", "error"),
                    ("random(2.5) <= 2.5", "true"),
                    ("random() < 1", "true"),
                ],
            );
        }
    }
}
