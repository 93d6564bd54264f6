//! Hash keys of the values of `--on`.

use classad::ad::Value;

/// A hash key of a value. Values that `==` finds equal have the same key; some others have it, too.
#[derive(PartialEq, Eq, Hash)]
pub enum EqualityKey {
    /// A number or a boolean, by the bits of the number as a real.
    Number(u64),
    /// A string in lower case.
    Text(Vec<u8>),
    /// Seconds since 1970.
    AbsoluteTime(i64),
    /// Seconds, as the bits of a real.
    RelativeTime(u64),
}

impl EqualityKey {
    /// Returns the keys of values; `None` if one of them is equal to nothing.
    pub fn of_all(values: &[Value]) -> Option<Vec<Self>> {
        values.iter().map(EqualityKey::of).collect()
    }

    /// Returns the key of a value; `None` if the value is equal to nothing.
    fn of(value: &Value) -> Option<Self> {
        // Both zeros are equal. NaN is equal to nothing.
        let bits = |real: f64| (!real.is_nan()).then_some(if real == 0.0 { 0 } else { real.to_bits() });
        #[allow(clippy::cast_precision_loss)] // `==` compares an integer and a real as reals
        match value {
            Value::Boolean(is_true) => bits(f64::from(u8::from(*is_true))).map(EqualityKey::Number),
            Value::Integer(integer) => bits(*integer as f64).map(EqualityKey::Number),
            Value::Real(real) => bits(*real).map(EqualityKey::Number),
            Value::String(text) => Some(EqualityKey::Text(text.as_bytes().to_ascii_lowercase())),
            Value::AbsoluteTime(time) => Some(EqualityKey::AbsoluteTime(time.seconds)),
            Value::RelativeTime(time) => bits(time.seconds).map(EqualityKey::RelativeTime),
            Value::Undefined | Value::Error(_) | Value::List(_) | Value::Ad(_) => None,
        }
    }
}
