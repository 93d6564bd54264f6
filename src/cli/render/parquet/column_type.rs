//! The types of columns, and which type a column has by the values in it.

use classad::ad::{Type, Value};
use classad::text::join_and;
use serde::Deserialize;

/// The type of the values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    Boolean,
    /// 64 bits.
    Integer,
    /// Double precision.
    Real,
    /// Milliseconds since 1970, in UTC.
    Timestamp,
    String,
}

impl ColumnType {
    /// The name of the type in a schema.
    pub fn noun(self) -> &'static str {
        match self {
            ColumnType::Boolean => "boolean",
            ColumnType::Integer => "integer",
            ColumnType::Real => "real",
            ColumnType::Timestamp => "timestamp",
            ColumnType::String => "string",
        }
    }
}

/// The integers that a real represents exactly are at most 2^53 from 0.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// Whether a real represents an integer exactly.
pub fn is_exact(integer: i64) -> bool {
    integer.unsigned_abs() <= MAX_EXACT_INTEGER
}

/// The numbers of values of each type in a column, without undefined and error.
#[derive(Clone, Debug, Default)]
pub struct ObservedTypes {
    booleans: usize,
    integers: usize,
    /// Whether a real cannot represent one of the integers.
    has_inexact_integers: bool,
    reals: usize,
    times: usize,
    strings: usize,
    /// Values that have no type of their own in a column: lists, ads and lengths of time.
    others: usize,
}

impl ObservedTypes {
    /// Counts a value.
    pub fn add(&mut self, value: &Value) {
        if let Value::Integer(integer) = value {
            self.has_inexact_integers |= !is_exact(*integer);
        }
        self.add_type(value.value_type(), 1);
    }

    /// Counts values of a type.
    pub fn add_type(&mut self, of: Type, count: usize) {
        *match of {
            Type::Undefined | Type::Error => return,
            Type::Boolean => &mut self.booleans,
            Type::Integer => &mut self.integers,
            Type::Real => &mut self.reals,
            Type::AbsoluteTime => &mut self.times,
            Type::String => &mut self.strings,
            _ => &mut self.others,
        } += count;
    }

    /// Returns the type of a column with these values. Integers among reals are reals if all of them are exact. Values of
    /// several types become text. So do a column without values, and lists and ads.
    pub fn column_type(&self) -> ColumnType {
        match self.counts().as_slice() {
            [(_, "boolean")] => ColumnType::Boolean,
            [(_, "integer")] => ColumnType::Integer,
            [(_, "real")] => ColumnType::Real,
            [(_, "integer"), (_, "real")] if !self.has_inexact_integers => ColumnType::Real,
            [(_, "time")] => ColumnType::Timestamp,
            _ => ColumnType::String,
        }
    }

    /// Returns the values that become text although they are none, such as `3 integers and 1 string`. `None` if the column
    /// has one type.
    pub fn mixture(&self) -> Option<String> {
        let counts = self.counts();
        let is_mixed = counts.len() > 1 && self.column_type() == ColumnType::String;
        let phrase = |(count, noun): &(usize, &str)| format!("{count} {noun}{}", if *count == 1 { "" } else { "s" });
        is_mixed.then(|| join_and(&counts.iter().map(phrase).collect::<Vec<_>>()))
    }

    /// Returns the types that occur, with the numbers of their values.
    fn counts(&self) -> Vec<(usize, &'static str)> {
        let all = [
            (self.booleans, "boolean"),
            (self.integers, "integer"),
            (self.reals, "real"),
            (self.times, "time"),
            (self.strings, "string"),
            (self.others, "other value"),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::{AbsoluteTime, Value};

    use super::{ColumnType, ObservedTypes};

    fn observed(values: &[Value]) -> ObservedTypes {
        let mut types = ObservedTypes::default();
        for value in values {
            types.add(value);
        }
        types
    }

    #[test]
    fn types_of_columns() {
        let (integer, large, real) = (Value::Integer(1), Value::Integer((1 << 53) + 1), Value::Real(0.5));
        let (string, boolean) = (Value::string("x"), Value::Boolean(true));
        let time = Value::AbsoluteTime(AbsoluteTime { seconds: 0, offset: 3600 });
        for (values, expected) in [
            (vec![], ColumnType::String),
            (vec![Value::Undefined, boolean.clone()], ColumnType::Boolean),
            (vec![integer.clone(), large.clone()], ColumnType::Integer),
            (vec![real.clone(), integer.clone()], ColumnType::Real),
            (vec![real, large], ColumnType::String),
            (vec![time.clone()], ColumnType::Timestamp),
            (vec![time, integer.clone()], ColumnType::String),
            (vec![string.clone()], ColumnType::String),
            (vec![boolean, integer.clone()], ColumnType::String),
        ] {
            assert_eq!(observed(&values).column_type(), expected, "{values:?}");
        }
        assert_eq!(observed(&[integer.clone(), integer, string]).mixture().as_deref(), Some("2 integers and 1 string"));
        assert_eq!(observed(&[Value::string("x")]).mixture(), None);
    }
}
