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
