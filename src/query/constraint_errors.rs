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
