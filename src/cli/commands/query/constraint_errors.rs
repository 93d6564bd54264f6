//! Whether the constraint is an error in every ad, which is most likely a mistake in the constraint.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use classad::ad::Value;

use crate::cli::session::Session;

/// What the values of the constraint have been so far. Several threads may record values at once.
#[derive(Default)]
pub struct ConstraintErrors {
    /// Whether some value was no error.
    has_valid_value: AtomicBool,
    /// Why the value was an error in an ad.
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
                self.reason.get_or_init(|| cause.origin().map_or_else(String::new, ToString::to_string));
            }
            _ => self.has_valid_value.store(true, Relaxed),
        }
    }

    /// Whether a value was not an error. Until then the constraint must be evaluated in each ad.
    pub fn has_valid_value(&self) -> bool {
        self.has_valid_value.load(Relaxed)
    }

    /// Returns whether a value was no error, and why one was.
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

    /// Prints a note if the constraint was an error in every ad, with the reason in one of them. Prints nothing if there
    /// was no ad.
    pub fn report(&self, session: &Session) {
        if let Some(reason) = self.reason.get().filter(|_| !self.has_valid_value()) {
            let separator = if reason.is_empty() { "" } else { ": " };
            session.note(&format!("the constraint is an error in every ad{separator}{reason}"));
        }
    }
}
