//! Syntax errors: where, what, and what to write instead.

use std::fmt;

use crate::ad::Span;

/// Why a text is no expression or no ad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The offending bytes, in the text that was parsed.
    pub span: Span,
    /// What is wrong, as a phrase without a full stop.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// Another place that has to do with it, such as the bracket that is still open.
    pub related: Option<(Span, String)>,
}

impl SyntaxError {
    /// An error at a place.
    #[must_use]
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        SyntaxError { span, message: message.into(), help: None, related: None }
    }

    /// The error with a word of advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same error in a text of which the one parsed is the part that begins at `offset`.
    #[must_use]
    pub fn shifted(mut self, offset: u32) -> Self {
        self.span = self.span.shifted(offset);
        self.related = self.related.map(|(span, text)| (span.shifted(offset), text));
        self
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}
