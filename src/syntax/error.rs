//! Syntax errors: the place, the message and a hint.

use std::fmt;

use crate::ad::Span;

/// The reason why a text is not an expression or no ad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The offending bytes, in the text that was parsed.
    pub span: Span,
    /// The message, as a phrase without a full stop.
    pub message: String,
    /// A hint what to write instead.
    pub help: Option<String>,
    /// A related place and a message about it, such as the bracket that is still open.
    pub related: Option<(Span, String)>,
    /// Whether a string before the error probably lacks its closing quote.
    pub(crate) lacks_quote: bool,
    /// Whether HTCondor reads the text, but as another value than it says. The ad around it is then kept.
    pub(crate) keeps_ad: bool,
}

impl SyntaxError {
    /// Creates an error without a hint.
    #[must_use]
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        SyntaxError { span, message: message.into(), help: None, related: None, lacks_quote: false, keeps_ad: false }
    }

    /// Marks the error as one for which an ad is kept.
    #[must_use]
    pub(crate) fn keeping_ad(mut self) -> Self {
        self.keeps_ad = true;
        self
    }

    /// Sets the hint [`SyntaxError::help`].
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Converts the spans of an error in a part of a text to spans of the whole text. The part begins at the byte
    /// `offset`.
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
