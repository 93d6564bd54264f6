//! The findings of the linter.

use crate::ad::{Expression, Name, Span};

use super::rules::LintRule;

/// A finding in an ad.
#[derive(Clone, Debug)]
pub struct LintFinding {
    /// The violated rule.
    pub rule: &'static LintRule,
    /// The message, as a phrase without a full stop.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// The places in the ad, the decisive one first; empty for the ad as a whole.
    pub labels: Vec<FindingLabel>,
}

/// A marked place in an ad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingLabel {
    /// The attribute.
    pub attribute: Name,
    /// The span of the marked expression, within the source of the attribute. `None` if the attribute's name is marked.
    pub span: Option<Span>,
    /// The annotation; empty if the message suffices.
    pub text: String,
}

impl LintFinding {
    pub(super) fn new(rule: &'static LintRule, message: impl Into<String>) -> Self {
        LintFinding { rule, message: message.into(), help: rule.help.to_owned(), labels: Vec::new() }
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// Adds a label at an expression of an attribute.
    pub(super) fn at(self, attribute: &Name, expression: &Expression, text: impl Into<String>) -> Self {
        self.at_span(attribute, Some(expression.span()), text)
    }

    /// Adds a label at a span within an attribute, or at the attribute's name.
    pub(super) fn at_span(mut self, attribute: &Name, span: Option<Span>, text: impl Into<String>) -> Self {
        self.labels.push(FindingLabel { attribute: attribute.clone(), span, text: text.into() });
        self
    }
}
