//! The findings of the linter, and the marked places in an ad.

use crate::ad::{Expression, Name, Span};

use super::fix::LintFix;
use super::rules::LintRule;
use super::slip::Slip;

/// A probable mistake that the linter has found in an ad.
#[derive(Clone, Debug)]
pub struct LintFinding {
    /// The violated rule.
    pub rule: &'static LintRule,
    /// The message, as a phrase without a full stop.
    pub message: String,
    /// What to do about the finding, in one line.
    pub help: String,
    /// The marked places in the ad, the decisive place first. Empty if the finding concerns the ad as a whole.
    pub labels: Vec<FindingLabel>,
    /// The correction; `None` if none is known.
    pub fix: Option<LintFix>,
}

/// A marked place in an ad: an expression, or the name of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingLabel {
    /// The attribute that contains the place.
    pub attribute: Name,
    /// The span of the marked expression in the source of the attribute. `None` if the attribute's name is marked.
    pub span: Option<Span>,
    /// The words at the marked place. Empty if the finding's message suffices.
    pub text: String,
}

impl LintFinding {
    pub(super) fn new(rule: &'static LintRule, message: impl Into<String>) -> Self {
        LintFinding { rule, message: message.into(), help: rule.help.to_owned(), labels: Vec::new(), fix: None }
    }

    /// Creates the finding about a slip in the expression of an attribute.
    pub(super) fn of_slip(attribute: &Name, slip: Slip) -> Self {
        let fix = LintFix::of_slip(attribute, &slip);
        let finding = LintFinding::new(slip.rule, slip.message).at(attribute, &slip.place, slip.label);
        let finding = LintFinding { fix, ..finding };
        match slip.help {
            Some(help) => finding.with_help(help),
            None => finding,
        }
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// Marks an expression of an attribute. `text` is printed at the mark.
    pub(super) fn at(self, attribute: &Name, expression: &Expression, text: impl Into<String>) -> Self {
        self.at_span(attribute, Some(expression.span()), text)
    }

    /// Marks a span within an attribute, or the attribute's name if `span` is `None`. `text` is printed at the mark.
    pub(super) fn at_span(mut self, attribute: &Name, span: Option<Span>, text: impl Into<String>) -> Self {
        self.labels.push(FindingLabel { attribute: attribute.clone(), span, text: text.into() });
        self
    }
}
