//! Whether the constraint is an error in every ad, which is most likely a mistake in the constraint.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use classad::ad::Value;

use crate::cli::session::Session;

/// What the values of the constraint have been so far. Several threads may record values at once.
#[derive(Default)]
pub struct ConstraintErrors {
    /// Whether some value was no error.
    has_other: AtomicBool,
    /// Why the value was an error in an ad.
    reason: OnceLock<String>,
}

impl ConstraintErrors {
    /// Records the value of the constraint in an ad.
    pub fn record(&self, value: &Value) {
        if self.has_other() {
            return;
        }
        match value {
            Value::Error(cause) => {
                self.reason.get_or_init(|| cause.origin().map_or_else(String::new, ToString::to_string));
            }
            _ => self.has_other.store(true, Relaxed),
        }
    }

    /// Whether some value was no error. Until then the constraint has to be evaluated in each ad.
    pub fn has_other(&self) -> bool {
        self.has_other.load(Relaxed)
    }

    /// Tells that the constraint was an error in every ad, and why in one of them. Tells nothing if it had another value,
    /// or if there was no ad.
    pub fn report(&self, session: &Session) {
        if let Some(reason) = self.reason.get().filter(|_| !self.has_other()) {
            let separator = if reason.is_empty() { "" } else { ": " };
            session.note(&format!("the constraint is an error in every ad{separator}{reason}"));
        }
    }
}
