//! Why a value is `error`.

use std::fmt;
use std::sync::Arc;

use super::Span;

/// Why an evaluation gave `error`: what went wrong first, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The expression that made the error, in the text that it was parsed from.
    pub span: Span,
    /// What went wrong, as a phrase.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// The first cause of an error value.  It is no part of the value: all causes are equal.
#[derive(Clone, Debug, Default)]
pub struct Cause(Option<Arc<Fault>>);

impl Cause {
    /// An error that came of this fault.
    #[must_use]
    pub fn new(span: Span, reason: impl Into<String>) -> Self {
        Cause(Some(Arc::new(Fault { span, reason: reason.into() })))
    }

    /// What went wrong; nothing for an `error` that was written as such.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.0.as_deref()
    }
}

impl PartialEq for Cause {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cause {}
