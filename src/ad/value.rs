//! Values: the results of evaluating expressions (thesis 2.3).

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AbsoluteTime, Ad, ByteString, ErrorCause, ErrorOrigin, Expression, RelativeTime, ScopeFrame, Span};

/// A value of the language.  Cloning is O(1). In JSON only values that have an order are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "ValueRecord", from = "ValueRecord")]
#[must_use]
pub enum Value {
    /// Missing information.
    Undefined,
    /// Wrong or incompatible information, with its cause for messages.
    Error(ErrorCause),
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.  HTCondor's dialect uses all 64 bits; in the papers' dialect an integer beyond 32 bits is an
    /// error when evaluated.
    Integer(i64),
    /// A number in double precision.
    Real(f64),
    /// A string of bytes.
    String(ByteString),
    /// A moment, with its offset from UTC.
    AbsoluteTime(AbsoluteTime),
    /// A length of time.
    RelativeTime(RelativeTime),
    /// A list of expressions, evaluated on use.
    List(ListValue),
    /// An ad, whose attributes are evaluated on use.
    Ad(AdValue),
}

/// A list as a value: its elements and their scope.
#[derive(Clone, Debug)]
pub struct ListValue {
    /// The elements, unevaluated.
    pub elements: Arc<[Expression]>,
    /// The scope in which the elements are evaluated; `None` if they refer to no names.
    pub scope: Option<Arc<ScopeFrame>>,
}

/// An ad as a value: the ad and its scope chain.
#[derive(Clone, Debug)]
pub struct AdValue {
    /// The innermost frame of the scope chain, which holds the ad.
    pub frame: Arc<ScopeFrame>,
}

/// The type of a value (thesis 2.3), as `--type` and `--cases` name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Type {
    Undefined,
    Error,
    Boolean,
    Integer,
    Real,
    String,
    AbsoluteTime,
    RelativeTime,
    List,
    Ad,
}

impl Type {
    /// All types.
    pub const ALL: [Type; 10] = [
        Type::Undefined,
        Type::Error,
        Type::Boolean,
        Type::Integer,
        Type::Real,
        Type::String,
        Type::AbsoluteTime,
        Type::RelativeTime,
        Type::List,
        Type::Ad,
    ];

    /// Returns the type with a name, as [`Type::as_str`] returns it.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Type::ALL.into_iter().find(|of| of.as_str() == name)
    }

    /// Returns two names of the type: one for machine-readable output and one for messages.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Type::Undefined => ("undefined", "undefined"),
            Type::Error => ("error", "an error"),
            Type::Boolean => ("bool", "a boolean"),
            Type::Integer => ("int", "an integer"),
            Type::Real => ("real", "a real"),
            Type::String => ("string", "a string"),
            Type::AbsoluteTime => ("abstime", "an absolute time"),
            Type::RelativeTime => ("reltime", "a relative time"),
            Type::List => ("list", "a list"),
            Type::Ad => ("classad", "an ad"),
        }
    }

    /// Returns the name for machine-readable output, such as `abstime`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.names().0
    }

    /// Returns the name for messages, with an article if one belongs there, such as `an ad`.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        self.names().1
    }
}

impl Value {
    /// Creates an error whose cause is the failing expression at `span` and a reason.
    pub fn error(span: Span, reason: impl Into<String>) -> Value {
        Value::Error(ErrorCause::new(span, reason))
    }

    /// Creates a string value.
    pub fn string(text: impl Into<ByteString>) -> Value {
        Value::String(text.into())
    }

    /// Returns the value of an integer; `None` for other values.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        if let Value::Integer(number) = self { Some(*number) } else { None }
    }

    /// Returns the value of a number; `None` for other values.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // as in arithmetic
    pub fn as_real(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Real(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the value of a boolean; `None` for other values.
    #[must_use]
    pub fn as_boolean(&self) -> Option<bool> {
        if let Value::Boolean(truth) = self { Some(*truth) } else { None }
    }

    /// Returns the text of a string; `None` for other values.
    #[must_use]
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        if let Value::String(text) = self { Some(text.to_str()) } else { None }
    }

    /// Returns the type of the value; the elements of a list or an ad do not matter.
    #[must_use]
    pub fn value_type(&self) -> Type {
        match self {
            Value::Undefined => Type::Undefined,
            Value::Error(_) => Type::Error,
            Value::Boolean(_) => Type::Boolean,
            Value::Integer(_) => Type::Integer,
            Value::Real(_) => Type::Real,
            Value::String(_) => Type::String,
            Value::AbsoluteTime(_) => Type::AbsoluteTime,
            Value::RelativeTime(_) => Type::RelativeTime,
            Value::List(_) => Type::List,
            Value::Ad(_) => Type::Ad,
        }
    }

    /// Whether the value is `undefined` or `error`.
    #[must_use]
    pub fn is_exceptional(&self) -> bool {
        matches!(self, Value::Undefined | Value::Error(_))
    }

    /// Returns the origin of an error; `None` for other values and for a literal `error`.
    #[must_use]
    pub fn error_origin(&self) -> Option<&ErrorOrigin> {
        match self {
            Value::Error(cause) => cause.origin(),
            _ => None,
        }
    }
}

impl From<bool> for Value {
    fn from(is: bool) -> Self {
        Value::Boolean(is)
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Value::Integer(integer)
    }
}

impl From<f64> for Value {
    fn from(real: f64) -> Self {
        Value::Real(real)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::string(text)
    }
}

impl PartialEq for ListValue {
    /// Compares the elements as expressions, without evaluating them; the scope is ignored.
    fn eq(&self, other: &Self) -> bool {
        super::expression::equal_lists(&self.elements, &other.elements)
    }
}

impl PartialEq for AdValue {
    /// Compares the attributes as expressions, without evaluating them; the scope is ignored.
    fn eq(&self, other: &Self) -> bool {
        self.frame.ad == other.frame.ad
    }
}

impl AdValue {
    /// Returns the ad without its scope chain.
    #[must_use]
    pub fn ad(&self) -> &Ad {
        &self.frame.ad
    }
}

/// A value as it is written in JSON: one that has an order, or `Other`: undefined, an error, a list or an ad, which are read as undefined.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ValueRecord {
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
