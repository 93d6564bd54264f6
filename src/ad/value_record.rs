//! Values as they are written in JSON.

use serde::{Deserialize, Serialize};

use super::{AbsoluteTime, ByteString, RelativeTime, Value};

/// A value that has an order, or `Other`: undefined, an error, a list or an ad, which are read as undefined.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ValueRecord {
    Integer(i64),
    /// The 64 bits of the real, so that NaN and infinity are kept.
    Real(u64),
    Boolean(bool),
    String(ByteString),
    /// Seconds since 1970, and the offset of the time zone in seconds.
    Absolute(i64, i32),
    /// Seconds, as the bits of a real.
    Relative(u64),
    Other,
}

impl From<Value> for ValueRecord {
    fn from(value: Value) -> Self {
        match value {
            Value::Integer(integer) => ValueRecord::Integer(integer),
            Value::Real(real) => ValueRecord::Real(real.to_bits()),
            Value::Boolean(is_true) => ValueRecord::Boolean(is_true),
            Value::String(text) => ValueRecord::String(text),
            Value::AbsoluteTime(time) => ValueRecord::Absolute(time.seconds, time.offset),
            Value::RelativeTime(time) => ValueRecord::Relative(time.seconds.to_bits()),
            Value::Undefined | Value::Error(_) | Value::List(_) | Value::Ad(_) => ValueRecord::Other,
        }
    }
}

impl From<ValueRecord> for Value {
    fn from(record: ValueRecord) -> Self {
        match record {
            ValueRecord::Integer(integer) => Value::Integer(integer),
            ValueRecord::Real(bits) => Value::Real(f64::from_bits(bits)),
            ValueRecord::Boolean(is_true) => Value::Boolean(is_true),
            ValueRecord::String(text) => Value::String(text),
            ValueRecord::Absolute(seconds, offset) => Value::AbsoluteTime(AbsoluteTime { seconds, offset }),
            ValueRecord::Relative(bits) => Value::RelativeTime(RelativeTime::new(f64::from_bits(bits))),
            ValueRecord::Other => Value::Undefined,
        }
    }
}
