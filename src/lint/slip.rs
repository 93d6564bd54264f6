//! A mistake in an expression, with its correction where one is known. The linter reports slips as findings; whoever
//! else looks at expressions can offer the corrections.

use crate::ad::{ByteString, Expression, ExpressionKind, Name};

use super::rules::{self, LintRule};
use super::scale_suffix::written_suffix;

/// A probable mistake in an expression.
#[derive(Clone, Debug)]
pub struct Slip {
    /// The violated rule.
    pub rule: &'static LintRule,
    /// The message, as a phrase without a full stop.
    pub message: String,
    /// What to do about the mistake, in one line. `None` if the help of the rule suffices.
    pub help: Option<String>,
    /// The mistaken part: a node of the expression itself, so that its span can be marked.
    pub place: Expression,
    /// The words at the mark of the mistaken part. Empty if the message suffices.
    pub label: String,
    /// What to write instead of the mistaken part. `None` if that is unknown.
    pub rewrite: Option<Expression>,
    /// What is around the mistaken part, if this is what `rewrite` replaces.
    pub around: Option<Expression>,
}

/// What the columns of a pool tell about the values of attributes.
pub trait PoolColumns {
    /// Number of ads that have the attribute.
    fn ads_with(&self, name: &Name) -> usize;

    /// Number of ads in which the attribute is this string, ignoring case.
    fn ads_with_string(&self, name: &Name, text: &ByteString) -> usize;

    /// The string as the pool spells it; `None` if the pool has `text` itself, or no string that differs in case only.
    fn other_spelling(&self, name: &Name, text: &ByteString) -> Option<ByteString>;
}

impl Slip {
    pub(super) fn new(rule: &'static LintRule, place: &Expression, message: impl Into<String>) -> Self {
        let place = place.clone();
        Slip { rule, message: message.into(), help: None, place, label: String::new(), rewrite: None, around: None }
    }

    pub(super) fn with_help(self, help: impl Into<String>) -> Self {
        Slip { help: Some(help.into()), ..self }
    }

    pub(super) fn with_label(self, label: impl Into<String>) -> Self {
        Slip { label: label.into(), ..self }
    }

    pub(super) fn with_rewrite(self, rewrite: Expression) -> Self {
        Slip { rewrite: Some(rewrite), ..self }
    }

    /// Sets what to write instead of `around`, which is around the mistaken part.
    pub(super) fn with_rewrite_of(self, around: &Expression, rewrite: Expression) -> Self {
        Slip { around: Some(around.clone()), ..self.with_rewrite(rewrite) }
    }

    /// The part that the rewrite replaces.
    pub(super) fn replaced(&self) -> &Expression {
        self.around.as_ref().unwrap_or(&self.place)
    }

    /// Returns the word, if the slip is about a name that was probably meant as a value; `node01` for
    /// `node01.example.org`.
    pub(super) fn word(&self) -> Option<&Name> {
        let mut place = self.place.without_parentheses();
        while let ExpressionKind::Select(subject, _) = place.kind() {
            place = subject.without_parentheses();
        }
        match place.kind() {
            ExpressionKind::Attribute(word) if self.rule == &rules::WORD => Some(word),
            _ => None,
        }
    }

    /// Whether the slip is a number with a suffix such as `G`.
    #[must_use]
    pub fn is_of_suffix(&self) -> bool {
        self.rule == &rules::UNIT && written_suffix(&self.place).is_some()
    }

    /// Whether the slip is an attribute of the clock, or a day, that does not exist: its correction is true at some times only.
    #[must_use]
    pub fn is_of_clock(&self) -> bool {
        self.rule == &rules::CLOCK
    }

    /// Whether the slip is a conditional that takes more as its condition than was probably meant.
    #[must_use]
    pub fn is_of_conditional(&self) -> bool {
        self.rule == &rules::PRECEDENCE && matches!(self.place.kind(), ExpressionKind::Conditional(..))
    }

    /// Returns the expression in which the slip was found, with the mistaken part corrected. `None` if no correction is
    /// known, or if the expression is nested too deeply.
    #[must_use]
    pub fn corrected(&self, expression: &Expression) -> Option<Expression> {
        const MAX_DEPTH: usize = 200;
        let rewrite = self.rewrite.as_ref().filter(|_| !expression.is_deeper_than(MAX_DEPTH))?;
        Some(expression.with_parts_replaced(&mut |part| part.ptr_eq(self.replaced()).then(|| rewrite.clone())))
    }
}
