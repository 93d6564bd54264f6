//! The origin of an `error` value: the reason and the place.

use std::fmt;
use std::sync::Arc;

use super::Span;

/// The first failure that made an evaluation yield `error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorOrigin {
    /// The failing expression, as a span of the text that it was parsed from.
    pub span: Span,
    /// The reason, as a phrase without a full stop.
    pub reason: String,
}

impl fmt::Display for ErrorOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// The cause of an `error` value, for messages only: an origin, or `None` for a literal `error`.  Any two causes
/// compare equal, so that they do not affect the equality of values.
#[derive(Clone, Debug, Default)]
pub struct ErrorCause(Option<Arc<ErrorOrigin>>);

impl ErrorCause {
    /// Creates the cause of a failure at a span.
    #[must_use]
    pub fn new(span: Span, reason: impl Into<String>) -> Self {
        ErrorCause(Some(Arc::new(ErrorOrigin { span, reason: reason.into() })))
    }

    /// Returns the origin; `None` for a literal `error`.
    #[must_use]
    pub fn origin(&self) -> Option<&ErrorOrigin> {
        self.0.as_deref()
    }
}

impl PartialEq for ErrorCause {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for ErrorCause {}
