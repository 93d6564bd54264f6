//! Sample values of a subject: at least one for each set of values that comparisons with some constants do not tell apart.

use std::sync::LazyLock;

use crate::ad::{
    AbsoluteTime, Ad, AdValue, ByteString, Dialect, ErrorCause, Expression, ListValue, RelativeTime, ScopeFrame, Value,
};
use crate::constraint::is_self_evaluating;

/// The values of a comparison: undefined, error, false and true.
pub(super) static TRUTH_SAMPLES: LazyLock<[Value; 4]> = LazyLock::new(|| {
    [Value::Undefined, Value::Error(ErrorCause::default()), Value::Boolean(false), Value::Boolean(true)]
});

/// Returns sample values of all types. `constants` are the values with which the subject is compared. Strings are the first:
/// most clauses that are costly to evaluate are about strings, and many searches end at the first values that meet them.
pub(super) fn samples(constants: &[Value], dialect: Dialect) -> Vec<Value> {
    let ad = AdValue { frame: ScopeFrame::root(Ad::default(), crate::ad::Participant::REQUEST) };
    let relative = |seconds: f64| Value::RelativeTime(RelativeTime::new(seconds));
    let seconds = points(constants.iter().filter_map(|constant| match constant {
        Value::RelativeTime(time) => Some(time.seconds),
        _ => None,
    }));
    let mut samples: Vec<Value> = strings(constants).into_iter().map(Value::String).collect();
    samples.extend(TRUTH_SAMPLES.iter().cloned());
    samples.extend(integers(constants, dialect).into_iter().map(Value::Integer));
    samples.extend(around(&number_points(constants, dialect)).into_iter().chain([f64::NAN]).map(Value::Real));
    samples.extend(absolute_times(constants).into_iter().map(Value::AbsoluteTime));
    samples.extend(around(&seconds).into_iter().chain([f64::NAN]).map(relative));
    samples.push(Value::List(ListValue { elements: Vec::<Expression>::new().into(), scope: None }));
    samples.push(Value::Ad(ad));
    samples
}

/// Returns the constants that are comparable with numbers, ascending.
#[allow(clippy::cast_precision_loss)] // as in comparisons
fn number_points(constants: &[Value], dialect: Dialect) -> Vec<f64> {
    points(constants.iter().filter_map(|constant| match constant {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Real(real) => Some(*real),
        Value::Boolean(is) if dialect.is_condor() => Some(f64::from(u8::from(*is))),
        _ => None,
    }))
}

/// Returns numbers without NaN and repetitions, ascending; 0 if there are none.
fn points(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut points: Vec<f64> = numbers.filter(|number| !number.is_nan()).collect();
    points.sort_by(f64::total_cmp);
    points.dedup();
    if points.is_empty() { vec![0.0] } else { points }
}

/// Returns ascending points, and numbers below, between and above them.
fn around(points: &[f64]) -> Vec<f64> {
    let between = |pair: &[f64]| {
        let middle = pair[0] / 2.0 + pair[1] / 2.0;
        if pair[0] < middle && middle < pair[1] { middle } else { pair[0].next_up() }
    };
    let beyond = |end: f64, next: f64, nearest: f64| if (next - end).abs() > 0.0 { next } else { nearest };
    let below = points.iter().take(1).map(|first| beyond(*first, first - 1.0, first.next_down()));
    let above = points.last().map(|last| beyond(*last, last + 1.0, last.next_up()));
    points.iter().copied().chain(points.windows(2).map(between)).chain(below).chain(above).collect()
}

/// Returns integers at, between and around the constants. Large integers round to the same real, so that the neighbours
/// of each constant are among them.
#[allow(clippy::cast_possible_truncation)] // beyond the integers it saturates
fn integers(constants: &[Value], dialect: Dialect) -> Vec<i64> {
    let points = number_points(constants, dialect);
    let exact = constants.iter().filter_map(|constant| match constant {
        Value::Integer(integer) => Some(*integer),
        _ => None,
    });
    let middles = points.windows(2).map(|pair| (pair[0] / 2.0 + pair[1] / 2.0) as i64);
    // From 2 to the power of 53 on, the next integer is the same real.
    let next = points.iter().filter(|point| point.abs() >= 2_f64.powi(53));
    let next = next.flat_map(|point| [point.next_down(), point.next_up()]);
    let at = exact.chain(points.iter().copied().chain(next).map(|point| point as i64));
    let near = at.flat_map(|integer| [integer.saturating_sub(1), integer, integer.saturating_add(1)]);
    // The papers' integers have 32 bits: the nearest ones are those for constants beyond them.
    let is_integer = |integer: i64| is_self_evaluating(&Value::Integer(integer), dialect);
    let nearest =
        |integer: i64| if is_integer(integer) { integer } else { integer.clamp(i32::MIN.into(), i32::MAX.into()) };
    sorted(near.chain(middles).map(nearest))
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Returns the string constants, each also in another case, and strings before, between and after them. `<` compares
/// the lower-case bytes; `is` tells spellings apart.
fn strings(constants: &[Value]) -> Vec<ByteString> {
    let written = sorted(constants.iter().filter_map(|constant| match constant {
        Value::String(text) => Some(text.as_bytes().to_vec()),
        _ => None,
    }));
    let folded = sorted(written.iter().map(|text| text.to_ascii_lowercase()));
    let respelt = written.iter().filter_map(|text| {
        let letters = (0..text.len()).filter(|place| text[*place].is_ascii_alphabetic());
        let mut spellings = letters.map(|place| {
            let mut other = text.clone();
            other[place] ^= 0x20;
            other
        });
        spellings.find(|other| written.binary_search(other).is_err())
    });
    let after = folded.iter().enumerate().filter_map(|(place, text)| {
        let mut longer = [b' ', 1, 0].into_iter().map(|end| [text.as_slice(), &[end]].concat());
        longer.find(|longer| folded.get(place + 1).is_none_or(|next| longer < next))
    });
    let all = written.iter().cloned().chain(respelt).chain(after).chain([Vec::new()]);
    sorted(all).into_iter().map(ByteString::from).collect()
}

/// Returns times at, before and after the constants, and each constant with another offset.
fn absolute_times(constants: &[Value]) -> Vec<AbsoluteTime> {
    let times = constants.iter().filter_map(|constant| match constant {
        Value::AbsoluteTime(time) => Some(*time),
        _ => None,
    });
    let near = times.flat_map(|AbsoluteTime { seconds, offset }| {
        let moved = [seconds.saturating_sub(1), seconds, seconds.saturating_add(1)];
        moved.map(|seconds| (seconds, offset)).into_iter().chain([(seconds, 1 - offset.signum())])
    });
    sorted(near.chain([(0, 0)])).into_iter().map(|(seconds, offset)| AbsoluteTime { seconds, offset }).collect()
}

#[cfg(test)]
mod tests {
    use super::samples;
    use crate::ad::{AbsoluteTime, Dialect, Expression, RelativeTime, Value};

    fn text(sample: Value) -> String {
        match sample {
            Value::String(text) => format!("{:?}", text.to_str()),
            Value::AbsoluteTime(time) => format!("{}{:+}", time.seconds, time.offset),
            Value::RelativeTime(time) => format!("{}s", time.seconds),
            Value::Real(real) => format!("{real:?}"),
            other => Expression::literal(other).to_string(),
        }
    }

    /// Checks the samples of both dialects.
    fn check(rows: Vec<(&str, Vec<Value>, &str, &str)>) {
        for (name, constants, in_condor, in_classad) in rows {
            for (dialect, expected) in [(Dialect::Condor, in_condor), (Dialect::Classad, in_classad)] {
                let shown: Vec<String> = samples(&constants, dialect).into_iter().map(text).collect();
                assert_eq!(shown.join(" "), expected, "{name} in {dialect}");
            }
        }
    }

    #[test]
    fn samples_are_at_between_and_beyond_numbers() {
        let (real, integer) = (Value::Real, Value::Integer);
        check(vec![
            (
                "none",
                vec![],
                "\"\" undefined error false true -1 0 1 0.0 -1.0 1.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true -1 0 1 0.0 -1.0 1.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
            (
                "integer",
                vec![integer(5)],
                "\"\" undefined error false true 4 5 6 5.0 4.0 6.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true 4 5 6 5.0 4.0 6.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
            (
                "integers",
                vec![integer(5), integer(9), integer(5)],
                "\"\" undefined error false true 4 5 6 7 8 9 10 5.0 9.0 7.0 4.0 10.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true 4 5 6 7 8 9 10 5.0 9.0 7.0 4.0 10.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
            (
                "large",
                vec![integer(9_007_199_254_740_992)],
                "\"\" undefined error false true 9007199254740990 9007199254740991 9007199254740992 9007199254740993 \
                 9007199254740994 9007199254740995 9007199254740992.0 9007199254740991.0 9007199254740994.0 NaN 0+0 \
                0s -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true 2147483647 9007199254740992.0 9007199254740991.0 9007199254740994.0 \
                 NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
            (
                "beyond 32 bits",
                vec![integer(3_000_000_000)],
                "\"\" undefined error false true 2999999999 3000000000 3000000001 3000000000.0 2999999999.0 \
                 3000000001.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true 2147483647 3000000000.0 2999999999.0 3000000001.0 NaN 0+0 0s -1s 1s \
                 NaNs { } [ ]",
            ),
            (
                "least",
                vec![integer(i64::MIN)],
                "\"\" undefined error false true -9223372036854775808 -9223372036854775807 -9223372036854774785 \
                 -9223372036854774784 -9223372036854774783 -9.223372036854776e18 -9.223372036854778e18 \
                -9.223372036854775e18 NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true -2147483648 -9.223372036854776e18 -9.223372036854778e18 \
                 -9.223372036854775e18 NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
            (
                "real",
                vec![real(2.5), real(f64::NAN)],
                "\"\" undefined error false true 1 2 3 2.5 1.5 3.5 NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true 1 2 3 2.5 1.5 3.5 NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
            (
                "near",
                vec![real(1.0), real(1.0_f64.next_up())],
                "\"\" undefined error false true 0 1 2 1.0 1.0000000000000002 1.0000000000000002 0.0 2.0 NaN 0+0 0s \
                 -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true 0 1 2 1.0 1.0000000000000002 1.0000000000000002 0.0 2.0 NaN 0+0 0s \
                 -1s 1s NaNs { } [ ]",
            ),
            (
                "huge",
                vec![real(1e300), real(f64::INFINITY)],
                "\"\" undefined error false true 9223372036854775806 9223372036854775807 1e300 inf \
                 1.0000000000000002e300 9.999999999999999e299 inf NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true 2147483647 1e300 inf 1.0000000000000002e300 9.999999999999999e299 \
                 inf NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
        ]);
    }

    #[test]
    fn samples_are_at_between_and_beyond_other_constants() {
        let time = |seconds, offset| Value::AbsoluteTime(AbsoluteTime { seconds, offset });
        let length = |seconds| Value::RelativeTime(RelativeTime::new(seconds));
        check(vec![
            (
                "boolean",
                vec![Value::Boolean(true)],
                "\"\" undefined error false true 0 1 2 1.0 0.0 2.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true -1 0 1 0.0 -1.0 1.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
            (
                "text",
                vec![Value::string("b")],
                "\"\" \"B\" \"b\" \"b \" undefined error false true -1 0 1 0.0 -1.0 1.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" \"B\" \"b\" \"b \" undefined error false true -1 0 1 0.0 -1.0 1.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
            (
                "texts",
                vec![Value::string("b"), Value::string("B"), Value::string("b "), Value::string("")],
                "\"\" \" \" \"B\" \"B \" \"b\" \"b\\u{1}\" \"b \" \"b  \" undefined error false true -1 0 1 0.0 -1.0 \
                 1.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" \" \" \"B\" \"B \" \"b\" \"b\\u{1}\" \"b \" \"b  \" undefined error false true -1 0 1 0.0 -1.0 \
                 1.0 NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
            (
                "spellings",
                vec![Value::string("aB"), Value::string("AB"), Value::string("1")],
                "\"\" \"1\" \"1 \" \"AB\" \"Ab\" \"aB\" \"ab\" \"ab \" undefined error false true -1 0 1 0.0 -1.0 1.0 \
                 NaN 0+0 0s -1s 1s NaNs { } [ ]",
                "\"\" \"1\" \"1 \" \"AB\" \"Ab\" \"aB\" \"ab\" \"ab \" undefined error false true -1 0 1 0.0 -1.0 1.0 \
                 NaN 0+0 0s -1s 1s NaNs { } [ ]",
            ),
            (
                "time",
                vec![time(5, 0), time(7, -60)],
                "\"\" undefined error false true -1 0 1 0.0 -1.0 1.0 NaN 0+0 4+0 5+0 5+1 6-60 6+0 7-60 7+2 8-60 0s \
                 -1s 1s NaNs { } [ ]",
                "\"\" undefined error false true -1 0 1 0.0 -1.0 1.0 NaN 0+0 4+0 5+0 5+1 6-60 6+0 7-60 7+2 8-60 0s \
                 -1s 1s NaNs { } [ ]",
            ),
            (
                "length",
                vec![length(5.0), length(7.0)],
                "\"\" undefined error false true -1 0 1 0.0 -1.0 1.0 NaN 0+0 5s 7s 6s 4s 8s NaNs { } [ ]",
                "\"\" undefined error false true -1 0 1 0.0 -1.0 1.0 NaN 0+0 5s 7s 6s 4s 8s NaNs { } [ ]",
            ),
        ]);
    }
}
