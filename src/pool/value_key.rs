//! Values as hash keys.

use crate::ad::{ByteString, Value};

/// A value as a hash key. Two keys are equal only if evaluation cannot distinguish the values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueKey {
    /// An absent attribute, which has no value.
    Absent,
    /// The value `undefined`.
    Undefined,
    /// An error. All errors have the same key.
    Error,
    /// A boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A real, by its bits, so that `0.0` and `-0.0` have different keys.
    Real(u64),
    /// A string. Strings that differ in case have different keys.
    String(ByteString),
    /// An absolute time: seconds since 1970, and the offset of the time zone in seconds.
    AbsoluteTime(i64, i32),
    /// A relative time in seconds, as the bits of a real.
    RelativeTime(u64),
    /// A list or an ad, by its address in memory.
    Structure(usize),
}

impl ValueKey {
    /// Returns the key of a value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Undefined => ValueKey::Undefined,
            Value::Error(_) => ValueKey::Error,
            Value::Boolean(is) => ValueKey::Boolean(*is),
            Value::Integer(integer) => ValueKey::Integer(*integer),
            Value::Real(real) => ValueKey::Real(real.to_bits()),
            Value::String(text) => ValueKey::String(text.clone()),
            Value::AbsoluteTime(time) => ValueKey::AbsoluteTime(time.seconds, time.offset),
            Value::RelativeTime(time) => ValueKey::RelativeTime(time.seconds.to_bits()),
            Value::List(list) => ValueKey::Structure(list.elements.as_ptr() as usize),
            Value::Ad(nested) => ValueKey::Structure(nested.ad().identity()),
        }
    }
}
