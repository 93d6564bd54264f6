//! Rounding, powers, random numbers (thesis A.10, and HTCondor's).

use crate::ad::{Dialect, ListValue, Value};

use super::super::Abort;
use super::super::operators::wrapped_integer;
use super::conversion::{not_a_number_error, to_integer, to_real, truncated_integer};
use super::{BuiltinFunction, Call};

macro_rules! rounding {
    ($name:ident, $doc:literal, $call:literal => $value:literal, $round:path) => {
        function!($name(1, 1) Strict "(number) -> int",
            $doc,
            both $call => $value,
            |call| round_argument(call, $round))
    };
}

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    rounding!(floor, "the greatest integer that is not above a number", "floor(-2.5)" => "-3", f64::floor),
    rounding!(ceiling, "the least integer that is not below a number", "ceiling(2.1)" => "3", f64::ceil),
    rounding!(ceil, "the same as ceiling()", "ceil(2.1)" => "3", f64::ceil),
    rounding!(round, "the integer nearest to a number; of two the even one",
        "round(2.5)" => "2", f64::round_ties_even),
    function!(pow(2, 2) Strict "(base, exponent) -> int | real",
        "a power; of integers an integer, if the exponent is not negative",
        both "pow(-2, 3)" => "-8",
        pow),
    function!(quantize(2, 2) Strict "(number, number | list) -> number",
        "the next multiple that is not below; of a list the first that is not below, or a multiple of the last",
        both "quantize(10, 4)" => "12",
        quantize),
    function!(random(0, 1) Random "([number]) -> int | real",
        "a number at random: from 0 to n - 1 for an integer n, from 0 to r for a real r, from 0 to 1 without",
        both "random(1)" => "0",
        random),
    function!(interval(1, 1) Strict "(seconds) -> string",
        "seconds as days, hours, minutes and seconds",
        both "interval(93784)" => "\"1+02:03:04\"",
        interval),
];

fn round_argument(call: &mut Call<'_, '_>, round: fn(f64) -> f64) -> Result<Value, Abort> {
    let value = call.value(0)?;
    Ok(match &value {
        Value::Integer(_) => value,
        Value::Real(number) => truncated_integer(call, round(*number)),
        // The papers' functions accept numbers only.
        other if call.dialect() == Dialect::Classad => call.type_error(other, "a number"),
        other => match to_real(other, Dialect::Condor) {
            Some(number) => truncated_integer(call, round(number)),
            None => not_a_number_error(call, other),
        },
    })
}

fn pow(call: &mut Call<'_, '_>) -> Result<Value, Abort> {
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
    Ok(match (to_real(&base, dialect), to_real(&exponent, dialect)) {
        (Some(base), Some(exponent)) => Value::Real(base.powf(exponent)),
        (None, _) => not_a_number_error(call, &base),
        (_, None) => not_a_number_error(call, &exponent),
    })
}

/// Computes a power by repeated squaring with the given multiplication; `None` as soon as that fails.
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

fn quantize(call: &mut Call<'_, '_>) -> Result<Value, Abort> {
    let (value, base) = (call.value(0)?, call.value(1)?);
    let dialect = call.dialect();
    let Some(number) = to_real(&value, dialect) else { return Ok(not_a_number_error(call, &value)) };
    let base = match base {
        Value::List(list) => match step_of_list(call, &list, number)? {
            QuantizeStep::Taken(step) => return Ok(step),
            QuantizeStep::Beyond(highest) => highest,
        },
        base => base,
    };
    let Some(step) = to_real(&base, dialect) else { return Ok(not_a_number_error(call, &base)) };
    Ok(match (&value, &base) {
        (_, Value::Integer(0)) => value,
        (Value::Integer(number), Value::Integer(step)) => {
            let steps = number.wrapping_add(*step).wrapping_sub(1).wrapping_div(*step);
            wrapped_integer(steps.wrapping_mul(*step), dialect)
        }
        (_, Value::Integer(_)) => Value::Real((number / step).ceil() * step),
        // HTCondor takes a step this small for zero.
        _ if step.abs() <= 1e-8 => value,
        _ => Value::Real((number / step).ceil() * step),
    })
}

/// Result of looking a number up in a list of steps.
enum QuantizeStep {
    /// The first step that is not below the number, or the error for an unsuitable list.
    Taken(Value),
    /// The number is above the last step, which this holds.
    Beyond(Value),
}

fn step_of_list(call: &mut Call<'_, '_>, list: &ListValue, number: f64) -> Result<QuantizeStep, Abort> {
    let mut step = Value::Real(0.0);
    for index in 0..list.elements.len() {
        step = call.element(list, index)?;
        match to_real(&step, call.dialect()) {
            Some(height) if height >= number => return Ok(QuantizeStep::Taken(step)),
            Some(_) => {}
            None => return Ok(QuantizeStep::Taken(not_a_number_error(call, &step))),
        }
    }
    Ok(QuantizeStep::Beyond(step))
}

fn random(call: &mut Call<'_, '_>) -> Result<Value, Abort> {
    let most = if call.is_empty() { Value::Real(1.0) } else { call.value(0)? };
    Ok(match &most {
        Value::Integer(..=0) => call.error("expected a number above 0"),
        Value::Real(most) if *most <= 0.0 => call.error("expected a number above 0"),
        Value::Integer(most) => Value::Integer(call.evaluator().random()?.i64(0..*most)),
        Value::Real(most) => Value::Real(*most * call.evaluator().random()?.f64()),
        other => call.type_error(other, "a number"),
    })
}

#[allow(clippy::cast_possible_truncation)] // HTCondor uses 32 bits
fn interval(call: &mut Call<'_, '_>) -> Result<Value, Abort> {
    let value = call.value(0)?;
    let seconds = match to_integer(call, &value) {
        Value::Integer(seconds) => seconds as i32,
        other => return Ok(call.type_error(&other, "a number of seconds")),
    };
    // Only the first non-zero part carries the sign.
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
