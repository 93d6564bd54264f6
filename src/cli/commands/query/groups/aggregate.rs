//! Sums, means, percentiles and extreme values of an expression over the ads of a group.

use std::borrow::Cow;
use std::cmp::Ordering;

use classad::ad::Value;
use classad::pool::{ExactSum, NumberCounts, Total};
use serde::{Deserialize, Serialize};

use crate::cli::render::rows::TableCell;
use classad::query::order;

/// What is computed of the values of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateFunction {
    Sum,
    Mean,
    Median,
    /// A percentile, in hundredths of a percent: 9500 for the 95th.
    Percentile(u16),
    Min,
    Max,
}

/// The values of one expression in the ads of a group so far. The result does not depend on how the ads are divided.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Accumulator {
    /// The sum of the numbers, for sums and means.
    pub sum: ExactSum,
    /// The numbers, for medians and percentiles.
    pub numbers: NumberCounts,
    /// Number of values that count: those that are numbers, or that have an order.
    pub count: u64,
    /// Number of values that do not count and are not undefined.
    pub unfit: u64,
    /// The extreme value so far; of equal ones the first.
    pub extreme: Option<Value>,
}

impl AggregateFunction {
    pub fn name(self) -> Cow<'static, str> {
        let name = match self {
            AggregateFunction::Sum => "sum",
            AggregateFunction::Mean => "mean",
            AggregateFunction::Median => "median",
            AggregateFunction::Percentile(hundredths) => return format!("p{}", f64::from(hundredths) / 100.0).into(),
            AggregateFunction::Min => "min",
            AggregateFunction::Max => "max",
        };
        name.into()
    }

    /// Whether the values that count are numbers.
    pub fn is_of_numbers(self) -> bool {
        !matches!(self, AggregateFunction::Min | AggregateFunction::Max)
    }

    /// The percentile that is computed, if it is one, in hundredths of a percent.
    fn percentile(self) -> Option<u16> {
        match self {
            AggregateFunction::Median => Some(5000),
            AggregateFunction::Percentile(hundredths) => Some(hundredths),
            _ => None,
        }
    }

    /// Whether a later value takes the place of the extreme value.
    fn prefers(self, value: &Value, extreme: &Value) -> bool {
        order(value, extreme) == if self == AggregateFunction::Min { Ordering::Less } else { Ordering::Greater }
    }

    /// Adds the value of the expression in an ad. Booleans count as 1 and 0 among numbers, as in arithmetic.
    #[allow(clippy::cast_precision_loss)] // the nearest real is wanted
    pub fn add(self, accumulator: &mut Accumulator, value: Value) {
        let is_sum = matches!(self, AggregateFunction::Sum | AggregateFunction::Mean);
        match value {
            Value::Undefined => return,
            Value::Integer(integer) if is_sum => accumulator.sum.add_integer(integer),
            Value::Boolean(is_true) if is_sum => accumulator.sum.add_integer(i64::from(is_true)),
            Value::Real(real) if is_sum => accumulator.sum.add_real(real),
            Value::Integer(integer) if self.is_of_numbers() => accumulator.numbers.add(integer as f64),
            Value::Boolean(is_true) if self.is_of_numbers() => accumulator.numbers.add(f64::from(u8::from(is_true))),
            Value::Real(real) if self.is_of_numbers() && !real.is_nan() => accumulator.numbers.add(real),
            Value::Error(_) | Value::List(_) | Value::Ad(_) => {
                accumulator.unfit += 1;
                return;
            }
            _ if self.is_of_numbers() => {
                accumulator.unfit += 1;
                return;
            }
            value => self.add_extreme(accumulator, value),
        }
        accumulator.count += 1;
    }

    fn add_extreme(self, accumulator: &mut Accumulator, value: Value) {
        if accumulator.extreme.as_ref().is_none_or(|extreme| self.prefers(&value, extreme)) {
            accumulator.extreme = Some(value);
        }
    }

    /// Adds the values of later ads.
    pub fn merge(self, accumulator: &mut Accumulator, later: Accumulator) {
        accumulator.sum.merge(&later.sum);
        accumulator.numbers.merge(&later.numbers);
        accumulator.count = accumulator.count.saturating_add(later.count);
        accumulator.unfit = accumulator.unfit.saturating_add(later.unfit);
        if let Some(value) = later.extreme {
            self.add_extreme(accumulator, value);
        }
    }

    /// Returns the result: undefined if no value counts.
    pub fn result(self, accumulator: &Accumulator) -> TableCell {
        #[allow(clippy::cast_precision_loss)] // a count beyond 2^53 is not reached
        let count = accumulator.count as f64;
        match self {
            _ if accumulator.count == 0 => TableCell::from(&Value::Undefined),
            AggregateFunction::Sum => match accumulator.sum.total() {
                Total::Integer(integer) => TableCell::from(integer),
                Total::Real(real) => TableCell::from(&Value::Real(real)),
            },
            AggregateFunction::Mean => TableCell::from(&Value::Real(accumulator.sum.total().as_real() / count)),
            AggregateFunction::Median | AggregateFunction::Percentile(_) => {
                let number = self.percentile().and_then(|hundredths| accumulator.numbers.percentile(hundredths));
                TableCell::from(&number.map_or(Value::Undefined, Value::Real))
            }
            AggregateFunction::Min | AggregateFunction::Max => {
                TableCell::from(accumulator.extreme.as_ref().unwrap_or(&Value::Undefined))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::{ListValue, Span, Value};

    use super::{Accumulator, AggregateFunction};

    const FUNCTIONS: [AggregateFunction; 6] = [
        AggregateFunction::Sum,
        AggregateFunction::Mean,
        AggregateFunction::Median,
        AggregateFunction::Percentile(2500),
        AggregateFunction::Min,
        AggregateFunction::Max,
    ];

    fn accumulated(function: AggregateFunction, values: &[Value]) -> Accumulator {
        let mut accumulator = Accumulator::default();
        for value in values {
            function.add(&mut accumulator, value.clone());
        }
        accumulator
    }

    /// Values of each type: for each function the number of values that count, of those that do not, and the result.
    #[test]
    fn values_of_each_type_count_or_do_not() {
        let list = || Value::List(ListValue { elements: [].into(), scope: None });
        let error = || Value::error(Span::new(0, 0), "wrong");
        let (undefined, two) = (|| Value::Undefined, || Value::from(2));
        let nothing = "0 0 undefined";
        let unfit = "0 1 undefined";
        for (values, expected) in [
            (vec![undefined()], [nothing; 6]),
            (vec![error()], [unfit; 6]),
            (vec![list()], [unfit; 6]),
            (vec![Value::from("a")], [unfit, unfit, unfit, unfit, "1 0 a", "1 0 a"]),
            (vec![two()], ["1 0 2", "1 0 2.0", "1 0 2.0", "1 0 2.0", "1 0 2", "1 0 2"]),
            (vec![Value::from(true)], ["1 0 1", "1 0 1.0", "1 0 1.0", "1 0 1.0", "1 0 true", "1 0 true"]),
            (vec![Value::from(0.5)], ["1 0 0.5", "1 0 0.5", "1 0 0.5", "1 0 0.5", "1 0 0.5", "1 0 0.5"]),
            (vec![list(), two()], ["1 1 2", "1 1 2.0", "1 1 2.0", "1 1 2.0", "1 1 2", "1 1 2"]),
            (vec![two(), error()], ["1 1 2", "1 1 2.0", "1 1 2.0", "1 1 2.0", "1 1 2", "1 1 2"]),
            (vec![undefined(), two()], ["1 0 2", "1 0 2.0", "1 0 2.0", "1 0 2.0", "1 0 2", "1 0 2"]),
            (
                vec![two(), Value::from(5), Value::from(1.5), undefined(), Value::from(9)],
                ["4 0 17.5", "4 0 4.375", "4 0 3.5", "4 0 1.875", "4 0 1.5", "4 0 9"],
            ),
        ] {
            for (function, expected) in FUNCTIONS.into_iter().zip(expected) {
                let found = accumulated(function, &values);
                let found = format!("{} {} {}", found.count, found.unfit, function.result(&found).text);
                assert_eq!(found, expected, "{} of {values:?}", function.name());
            }
        }
    }

    #[test]
    fn merged_values_count_as_those_of_one_file() {
        let values = [3.into(), "a".into(), Value::Undefined, 0.5.into(), true.into(), 3.into(), "B".into()];
        for function in FUNCTIONS {
            let whole = accumulated(function, &values);
            for place in 0..=values.len() {
                let mut merged = accumulated(function, &values[..place]);
                function.merge(&mut merged, accumulated(function, &values[place..]));
                assert_eq!((merged.count, merged.unfit), (whole.count, whole.unfit));
                assert_eq!(
                    function.result(&merged).text,
                    function.result(&whole).text,
                    "{} at {place}",
                    function.name()
                );
            }
        }
    }
}
