//! Truth values.

use super::{Dialect, Value};

/// Truth value of a constraint, a clause, or an operand of `&&`, `||`, `!` or `? :`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// `true`, or a number that counts as true.
    True,
    /// `false`, or a number that counts as false.
    False,
    /// `undefined`.
    Undefined,
    /// An error, or a value of a type without truth values, such as a string: each operator that wants a truth value
    /// makes an error of it.
    Error,
}

impl Truth {
    /// Returns the truth value of a value. Numbers have truth values only in HTCondor's dialect: 0 is false.
    #[must_use]
    pub fn of(value: &Value, dialect: Dialect) -> Self {
        match value {
            Value::Boolean(is) => Truth::from(*is),
            Value::Undefined => Truth::Undefined,
            Value::Integer(integer) => Truth::of_number(*integer != 0, dialect),
            Value::Real(real) => Truth::of_number(*real != 0.0, dialect),
            _ => Truth::Error,
        }
    }

    /// Returns the truth value of a number; `is` says whether it is not 0.
    #[must_use]
    pub fn of_number(is: bool, dialect: Dialect) -> Self {
        if dialect.is_condor() { Truth::from(is) } else { Truth::Error }
    }

    /// Whether a constraint with this truth value is met.
    #[must_use]
    pub fn is_true(self) -> bool {
        self == Truth::True
    }

    /// Returns the truth value as a boolean; `None` if it is undefined or an error.
    #[must_use]
    pub fn known(self) -> Option<bool> {
        match self {
            Truth::True => Some(true),
            Truth::False => Some(false),
            Truth::Undefined | Truth::Error => None,
        }
    }

    /// The truth value as a keyword: `true`, `false`, `undefined` or `error`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Truth::True => "true",
            Truth::False => "false",
            Truth::Undefined => "undefined",
            Truth::Error => "error",
        }
    }

    /// The truth value as it stands after "is" in a sentence: `false`, `an error`.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        if self == Truth::Error { "an error" } else { self.as_str() }
    }
}

impl From<bool> for Truth {
    fn from(is: bool) -> Self {
        if is { Truth::True } else { Truth::False }
    }
}

#[cfg(test)]
mod tests {
    use super::Truth;
    use crate::ad::{AbsoluteTime, Dialect, ErrorCause, RelativeTime, Value};

    #[test]
    fn numbers_are_true_or_false_only_in_htcondors_dialect() {
        for (value, papers, condor) in [
            (Value::Boolean(true), Truth::True, Truth::True),
            (Value::Boolean(false), Truth::False, Truth::False),
            (Value::Undefined, Truth::Undefined, Truth::Undefined),
            (Value::Error(ErrorCause::default()), Truth::Error, Truth::Error),
            (Value::Integer(0), Truth::Error, Truth::False),
            (Value::Integer(-1), Truth::Error, Truth::True),
            (Value::Real(-0.0), Truth::Error, Truth::False),
            (Value::Real(0.1), Truth::Error, Truth::True),
            (Value::Real(f64::NAN), Truth::Error, Truth::True),
            (Value::String("true".into()), Truth::Error, Truth::Error),
            (Value::RelativeTime(RelativeTime::new(1.0)), Truth::Error, Truth::Error),
            (Value::AbsoluteTime(AbsoluteTime { seconds: 1, offset: 0 }), Truth::Error, Truth::Error),
        ] {
            let truths = [Dialect::Classad, Dialect::Condor].map(|dialect| Truth::of(&value, dialect));
            assert_eq!(truths, [papers, condor], "{value:?}");
        }
    }
}
