//! What `check` finds.

use crate::ad::{Expression, Name, Span};

use super::rules::Rule;

/// Something found in an ad.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that it breaks.
    pub rule: &'static Rule,
    /// What it is, as a phrase without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// Where it is, the decisive place first; none for the ad as a whole.
    pub labels: Vec<Label>,
}

/// A place in an ad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The attribute.
    pub attribute: Name,
    /// A part of the text that its expression was read from; none for the name of the attribute.
    pub span: Option<Span>,
    /// What is to be seen there; nothing if the message says it.
    pub text: String,
}

impl Finding {
    pub(super) fn new(rule: &'static Rule, message: impl Into<String>) -> Self {
        Finding { rule, message: message.into(), help: rule.help.to_owned(), labels: Vec::new() }
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// The finding at an expression of an attribute.
    pub(super) fn at(mut self, attribute: &Name, expression: &Expression, text: impl Into<String>) -> Self {
        let span = Some(expression.span());
        self.labels.push(Label { attribute: attribute.clone(), span, text: text.into() });
        self
    }

    /// The finding at the name of an attribute.
    pub(super) fn at_name(mut self, attribute: &Name, text: impl Into<String>) -> Self {
        self.labels.push(Label { attribute: attribute.clone(), span: None, text: text.into() });
        self
    }
}
