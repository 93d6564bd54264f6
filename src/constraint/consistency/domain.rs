//! Sets of values of all types, such as the values that satisfy a comparison.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::{Arc, LazyLock};

use crate::ad::{
    AbsoluteTime, Ad, AdValue, BinaryOperator, ByteString, Dialect, ErrorCause, Expression, ListValue, OperatorGroup,
    RelativeTime, ScopeFrame, Span, Truth, Type, Value,
};
use crate::eval::binary;

use super::ranges::Ranges;

/// A set of values of all types. It may hold more values than the exact set, never fewer.
#[derive(Clone, Debug)]
pub(super) struct ValueDomain {
    /// Bit set over [`SAMPLES`]. A sample represents all values that compare in the same way.
    samples: u16,
    /// The integers of the set, as ranges of reals.
    integers: Ranges<f64>,
    /// The reals of the set, without NaN, which is one of the samples.
    reals: Ranges<f64>,
    strings: Ranges<StringOrderKey>,
    /// The absolute times of the set, in seconds, whatever their offsets.
    absolute_times: Ranges<f64>,
    /// The relative times of the set, in seconds, without NaN, which is one of the samples.
    relative_times: Ranges<f64>,
}

/// Sort key of a string. `<` compares the lower-case bytes; the second part distinguishes strings that differ only in
/// case.
type StringOrderKey = (Vec<u8>, CaseEdge);

#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum CaseEdge {
    Before,
    At(ByteString),
    After,
}

/// One value for each set of values that the domain does not distinguish. Some sets have one value only, such as
/// `true`; others are a whole type, such as all lists.
static SAMPLES: LazyLock<[Value; 8]> = LazyLock::new(|| {
    let ad = AdValue { frame: ScopeFrame::root(Ad::default(), crate::ad::Participant::REQUEST) };
    [
        Value::Undefined,
        Value::Error(ErrorCause::default()),
        Value::Boolean(false),
        Value::Boolean(true),
        Value::Real(f64::NAN),
        Value::RelativeTime(RelativeTime { seconds: f64::NAN }),
        Value::List(ListValue { elements: Arc::<[Expression]>::from([]), scope: None }),
        Value::Ad(ad),
    ]
});

/// 2^53: integers up to this magnitude are exact as reals.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

impl ValueDomain {
    /// Returns the set of all values.
    pub(super) fn all() -> Self {
        ValueDomain {
            samples: u16::MAX,
            integers: Ranges::all(),
            reals: Ranges::all(),
            strings: Ranges::all(),
            absolute_times: Ranges::all(),
            relative_times: Ranges::all(),
        }
    }

    /// Returns the set of all values but NaN.
    pub(super) fn without_nan() -> Self {
        let is_nan = |value: &Value| match value {
            Value::Real(number) | Value::RelativeTime(RelativeTime { seconds: number }) => number.is_nan(),
            _ => false,
        };
        ValueDomain { samples: matching_samples(|value| !is_nan(value)), ..ValueDomain::all() }
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        ValueDomain {
            samples: self.samples & other.samples,
            integers: self.integers.intersection(&other.integers),
            reals: self.reals.intersection(&other.reals),
            strings: self.strings.intersection(&other.strings),
            absolute_times: self.absolute_times.intersection(&other.absolute_times),
            relative_times: self.relative_times.intersection(&other.relative_times),
        }
    }

    pub(super) fn union(self, other: Self) -> Self {
        ValueDomain {
            samples: self.samples | other.samples,
            integers: self.integers.union(other.integers),
            reals: self.reals.union(other.reals),
            strings: self.strings.union(other.strings),
            absolute_times: self.absolute_times.union(other.absolute_times),
            relative_times: self.relative_times.union(other.relative_times),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.type_bits() == 0
    }

    /// Whether the set holds all values of each type that it has, such as all numbers. Undefined and error are no values,
    /// nor is NaN.
    pub(super) fn holds_whole_types(&self) -> bool {
        let booleans = matching_samples(|value| value.value_type() == Type::Boolean);
        self.present_type_bits() != 0
            && [0, booleans].contains(&(self.samples & booleans))
            && self.reals.is_none_or_all()
            && self.strings.is_none_or_all()
            && self.absolute_times.is_none_or_all()
            && self.relative_times.is_none_or_all()
    }

    /// Returns the types of the values as a bit set; integers and reals share one bit.
    pub(super) fn type_bits(&self) -> u16 {
        let bit = |kind: Type| 1 << kind as u16;
        let with = |any: bool, kind: Type| if any { bit(kind) } else { 0 };
        let singles = SAMPLES.iter().enumerate().filter(|(place, _)| self.samples & (1 << place) != 0);
        singles.fold(0, |types, (_, sample)| types | bit(sample.value_type()))
            | with(!self.integers.is_empty() || !self.reals.is_empty(), Type::Real)
            | with(!self.strings.is_empty(), Type::String)
            | with(!self.absolute_times.is_empty(), Type::AbsoluteTime)
            | with(!self.relative_times.is_empty(), Type::RelativeTime)
    }

    /// Returns the types of the values other than undefined and error, as in [`ValueDomain::type_bits`].
    pub(super) fn present_type_bits(&self) -> u16 {
        self.type_bits() & !(1 << Type::Undefined as u16 | 1 << Type::Error as u16)
    }

    /// Returns the values that count as true in a condition if `wanted`, else the values that count as false.
    pub(super) fn of_truth(wanted: bool, dialect: Dialect) -> Self {
        // `false` is the only sample that counts as false. In HTCondor's dialect, 0 also counts as false, but 0 is no
        // sample.
        let is_truth =
            |value: &Value| if wanted { Truth::of(value, dialect).is_true() } else { *value == Value::Boolean(false) };
        let numbers = if dialect.is_condor() {
            number_ranges(Type::Real, 0.0, |order| (order != Ordering::Equal) == wanted)
        } else {
            Ranges::none()
        };
        ValueDomain {
            samples: matching_samples(is_truth),
            integers: numbers.clone(),
            reals: numbers,
            strings: Ranges::none(),
            absolute_times: Ranges::none(),
            relative_times: Ranges::none(),
        }
    }

    /// Returns all values of the type `kind` if `wanted`, else all values of other types.
    pub(super) fn of_type(kind: Type, wanted: bool) -> Self {
        let is_in = |of: Type| (of == kind) == wanted;
        ValueDomain {
            samples: matching_samples(|value| is_in(value.value_type())),
            integers: all_or_none(is_in(Type::Integer)),
            reals: all_or_none(is_in(Type::Real)),
            strings: all_or_none(is_in(Type::String)),
            absolute_times: all_or_none(is_in(Type::AbsoluteTime)),
            relative_times: all_or_none(is_in(Type::RelativeTime)),
        }
    }

    /// Returns the values `v` for which `v operator constant` evaluates to the boolean `wanted`.
    pub(super) fn of_comparison(operator: BinaryOperator, constant: &Value, wanted: bool, dialect: Dialect) -> Self {
        let gives = |value: &Value, constant: &Value| {
            binary(operator, value, constant, dialect, Span::default()) == Value::Boolean(wanted)
        };
        let samples = matching_samples(|value| gives(value, constant));
        let ordered = |order: Ordering| gives(&Value::Integer(order as i64), &Value::Integer(0));
        let numbers = |kind: Type, sample: Value| match as_number(constant, dialect) {
            // A numeric constant splits the numbers into ranges. For `is` it splits only the numbers of its own type,
            // because an integer is never identical with a real.
            Some(at) if operator.group() == OperatorGroup::Comparison || constant.value_type() == kind => {
                if at.is_nan() {
                    all_or_none(gives(&Value::Real(0.0), &Value::Real(f64::NAN)))
                } else {
                    number_ranges(kind, at, ordered)
                }
            }
            _ => all_or_none(gives(&sample, constant)),
        };
        let strings = match constant {
            Value::String(text) => {
                // `is` distinguishes upper and lower case; for other comparisons all spellings are the same string.
                let edges = match operator.group() {
                    OperatorGroup::Identity => [CaseEdge::At(text.clone()), CaseEdge::At(text.clone())],
                    _ => [CaseEdge::Before, CaseEdge::After],
                };
                let [first, last] = edges.map(|edge| (text.as_bytes().to_ascii_lowercase(), edge));
                let at = (Bound::Included(first.clone()), Bound::Included(last.clone()));
                ranges_where(ordered, Bound::Excluded(first), at, Bound::Excluded(last))
            }
            _ => all_or_none(gives(&Value::string(""), constant)),
        };
        let absolute_times = match constant {
            // `isnt` holds for the same time with another offset.
            Value::AbsoluteTime(_) if operator.group() == OperatorGroup::Identity && ordered(Ordering::Less) => {
                Ranges::all()
            }
            #[allow(clippy::cast_precision_loss)] // as for integers
            Value::AbsoluteTime(time) => number_ranges(Type::Integer, time.seconds as f64, ordered),
            _ => all_or_none(gives(&Value::AbsoluteTime(AbsoluteTime { seconds: 0, offset: 0 }), constant)),
        };
        let relative_times = match constant {
            Value::RelativeTime(time) if time.seconds.is_nan() => Ranges::all(),
            Value::RelativeTime(time) => number_ranges(Type::Real, time.seconds, ordered),
            _ => all_or_none(gives(&Value::RelativeTime(RelativeTime { seconds: 0.0 }), constant)),
        };
        ValueDomain {
            samples,
            integers: numbers(Type::Integer, Value::Integer(0)),
            reals: numbers(Type::Real, Value::Real(0.0)),
            strings,
            absolute_times,
            relative_times,
        }
    }
}

/// Returns a constant as a real if it is comparable with numbers; `None` otherwise.
#[allow(clippy::cast_precision_loss)] // as in comparisons
fn as_number(constant: &Value, dialect: Dialect) -> Option<f64> {
    match constant {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Real(real) => Some(*real),
        Value::Boolean(is) if dialect.is_condor() => Some(f64::from(u8::from(*is))),
        _ => None,
    }
}

/// Returns the bit set of the samples that satisfy `is`.
fn matching_samples(is: impl Fn(&Value) -> bool) -> u16 {
    SAMPLES.iter().enumerate().fold(0, |found, (place, sample)| found | u16::from(is(sample)) << place)
}

fn all_or_none<T: PartialOrd + Clone>(all: bool) -> Ranges<T> {
    if all { Ranges::all() } else { Ranges::none() }
}

/// Returns the values whose ordering relative to a constant satisfies `holds`. Values less than the constant end at the
/// bound `below`. Values equal to the constant lie between the bounds `at`. Greater values begin at the bound `above`.
fn ranges_where<T: PartialOrd + Clone>(
    holds: impl Fn(Ordering) -> bool,
    below: Bound<T>,
    at: (Bound<T>, Bound<T>),
    above: Bound<T>,
) -> Ranges<T> {
    let ranges = [
        (Ordering::Less, (Bound::Unbounded, below)),
        (Ordering::Equal, at),
        (Ordering::Greater, (above, Bound::Unbounded)),
    ];
    let holding = ranges.into_iter().filter(|(order, _)| holds(*order));
    holding.fold(Ranges::none(), |all, (_, (low, high))| all.union(Ranges::of(low, high)))
}

/// Returns the values of the type `kind`, integer or real, whose ordering relative to `at` satisfies `holds`.
fn number_ranges(kind: Type, at: f64, holds: impl Fn(Ordering) -> bool) -> Ranges<f64> {
    let point = (Bound::Included(at), Bound::Included(at));
    if at.abs() >= MAX_EXACT_INTEGER {
        // Several large integers round to the real `at`. One of them may be less than another, so all three ranges
        // include `at`.
        ranges_where(holds, Bound::Included(at), point, Bound::Included(at))
    } else if kind == Type::Real {
        ranges_where(holds, Bound::Excluded(at), point, Bound::Excluded(at))
    } else {
        let point = if at.fract() == 0.0 { point } else { (Bound::Excluded(at), Bound::Excluded(at)) };
        ranges_where(holds, Bound::Included(at.ceil() - 1.0), point, Bound::Included(at.floor() + 1.0))
    }
}
