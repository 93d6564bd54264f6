//! Whether the constraint is an error or no truth value in every ad, which is most likely a mistake in the constraint.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::ad::Value;

/// What the values of the constraint have been so far. Several threads may record values at once.
#[derive(Default)]
pub struct ConstraintErrors {
    /// Whether some value was true, false, undefined or a number.
    has_valid_value: AtomicBool,
    /// What the value was in an ad, and why it was an error.
    reason: OnceLock<String>,
}

impl ConstraintErrors {
    /// Records the value of the constraint in an ad.
    pub fn record(&self, value: &Value) {
        if self.has_valid_value() {
            return;
        }
        match value {
            Value::Error(cause) => {
                let cause = || cause.origin().map(|origin| format!(": {origin}")).unwrap_or_default();
                self.reason.get_or_init(|| format!("true in no ad: in some it is an error{}", cause()));
            }
            Value::String(_) | Value::List(_) | Value::Ad(_) => {
                self.reason.get_or_init(|| format!("true in no ad: in some it is {}", value.value_type().phrase()));
            }
            _ => self.has_valid_value.store(true, Relaxed),
        }
    }

    /// Whether a value was one of those. Until then the constraint must be evaluated in each ad.
    #[must_use]
    pub fn has_valid_value(&self) -> bool {
        self.has_valid_value.load(Relaxed)
    }

    /// Returns whether a value was valid, and what another was.
    #[must_use]
    pub fn to_parts(&self) -> (bool, Option<String>) {
        (self.has_valid_value(), self.reason.get().cloned())
    }

    /// Adds what is known of other ads.
    pub fn add_parts(&self, has_valid_value: bool, reason: Option<String>) {
        self.has_valid_value.fetch_or(has_valid_value, Relaxed);
        if let Some(reason) = reason {
            self.reason.get_or_init(|| reason);
        }
    }

    /// Returns what the constraint was in an ad, if it was valid in no ad. `None` if there was no ad.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.get().filter(|_| !self.has_valid_value()).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::ConstraintErrors;
    use crate::ad::{Span, Value};

    #[test]
    fn a_constraint_without_a_valid_value_has_a_reason() {
        let wrong = || Value::error(Span::default(), "it is wrong");
        let error = "true in no ad: in some it is an error: it is wrong";
        let string = "true in no ad: in some it is a string";
        for (values, expected, has_valid) in [
            (vec![], None, false),
            (vec![wrong()], Some(error), false),
            (vec![Value::string("a")], Some(string), false),
            // The first reason counts.
            (vec![Value::string("a"), wrong()], Some(string), false),
            (vec![wrong(), Value::string("a")], Some(error), false),
            (vec![wrong(), Value::Boolean(false)], None, true),
            (vec![Value::Undefined, wrong()], None, true),
            (vec![Value::Integer(0)], None, true),
            (vec![Value::Real(0.5)], None, true),
        ] {
            let errors = ConstraintErrors::default();
            for value in &values {
                errors.record(value);
            }
            assert_eq!((errors.reason(), errors.has_valid_value()), (expected, has_valid), "{values:?}");
            let (is_valid, reason) = errors.to_parts();
            assert_eq!(is_valid, has_valid);
            for (more, more_reason, all) in [
                (false, None, expected),
                (true, None, None),
                (false, Some("other"), if has_valid { None } else { expected.or(Some("other")) }),
            ] {
                let joined = ConstraintErrors::default();
                joined.add_parts(is_valid, reason.clone());
                joined.add_parts(more, more_reason.map(str::to_owned));
                assert_eq!(joined.reason(), all, "{values:?} {more} {more_reason:?}");
            }
        }
        // Reasons behind a valid value are not kept.
        let errors = ConstraintErrors::default();
        for value in [Value::Undefined, wrong()] {
            errors.record(&value);
        }
        assert_eq!(errors.to_parts(), (true, None));
    }
}
