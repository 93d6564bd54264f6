//! Policies of a configuration: expressions, parsed.

use std::ops::Range;

use crate::ad::{Expression, Span};
use crate::eval::Context;
use crate::format::Problem;
use crate::syntax::{ParseOptions, parse_expression};

use super::dump::Configuration;
use super::knobs::{self, KnobKind, PolicyKnob};
use super::texts::ConfigurationEntry;

/// Expression of a configuration.
#[derive(Clone, Debug)]
pub struct ConfiguredPolicy {
    /// Name of the variable.
    pub name: String,
    /// What the variable is about.
    pub kind: KnobKind,
    /// The expression with its macros expanded.
    pub expression: Expression,
    /// Byte range of the variable's value in the dump.
    pub value_range: Range<usize>,
    /// 1-based number of the line in the dump.
    pub line: usize,
    /// Whether it is HTCondor's default, because no file sets the variable.
    pub is_default: bool,
    /// Text of the expression, with its macros expanded.
    pub(super) text: String,
    /// Whether the value has no macros, so that spans of the expression count from the beginning of the value.
    is_verbatim: bool,
}

impl ConfiguredPolicy {
    /// Whether the policy is a condition, as START is. Another policy is a value, as RANK is.
    #[must_use]
    pub fn is_condition(&self) -> bool {
        knobs::is_condition(&self.name)
    }

    /// Returns the text of a span of the expression.
    #[must_use]
    pub fn part(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Returns the byte range of a span of the expression in the dump, be it in the value or in that of a macro in it.
    /// `None` if macros were expanded and the text of the span is in none of the values, or in several places.
    #[must_use]
    pub fn file_range(&self, span: Span, configuration: &Configuration) -> Option<Range<usize>> {
        if self.is_verbatim {
            let span = span.range();
            return Some(self.value_range.start + span.start..self.value_range.start + span.end);
        }
        let part = self.part(span);
        let mut found = None;
        for entry in configuration.with_macros(configuration.entry(&self.name)?) {
            for (at, _) in configuration.raw_value(entry).match_indices(part).filter(|_| !part.is_empty()) {
                let start = entry.value_range.start + at;
                if found.replace(start..start + part.len()).is_some() {
                    return None;
                }
            }
        }
        found
    }
}

impl ConfiguredPolicy {
    /// Returns the policies of a configuration that are expressions, in the order of the dump, and a problem for each
    /// that is none.
    #[must_use]
    pub fn all(configuration: &Configuration, context: &Context) -> (Vec<Self>, Vec<Problem>) {
        let (mut policies, mut problems) = (Vec::new(), Vec::new());
        for entry in configuration.entries() {
            let is_last = configuration.entry(&entry.name).is_some_and(|last| std::ptr::eq(last, entry));
            let knob = PolicyKnob::find(&entry.name).filter(|knob| is_last && !knob.kind.is_rules());
            match knob.map(|knob| Self::parse(configuration, entry, knob.kind, context)) {
                Some(Ok(policy)) => policies.push(policy),
                Some(Err(problem)) => problems.push(problem),
                None => {}
            }
        }
        (policies, problems)
    }

    /// Returns the policy of a variable, whatever it is about; `None` if the configuration lacks the variable.
    ///
    /// # Errors
    ///
    /// The problem, with its range in the dump, if the value is not an expression or cannot be expanded.
    pub fn find(configuration: &Configuration, name: &str, context: &Context) -> Result<Option<Self>, Problem> {
        let Some(entry) = configuration.entry(name) else { return Ok(None) };
        let kind = PolicyKnob::find(&entry.name).map_or(KnobKind::JobPolicy, |knob| knob.kind);
        Self::parse(configuration, entry, kind, context).map(Some)
    }

    fn parse(
        configuration: &Configuration,
        entry: &ConfigurationEntry,
        kind: KnobKind,
        context: &Context,
    ) -> Result<ConfiguredPolicy, Problem> {
        let value = configuration.expand(entry, context)?;
        let options = ParseOptions::long(context.dialect);
        let expression = parse_expression(value.text.as_bytes(), options).map_err(|error| {
            if value.is_verbatim {
                let problem = Problem::from_syntax(error, entry.value_range.start, 0);
                return Problem { message: format!("{}: {}", entry.name, problem.message), ..problem };
            }
            let shown: String = value.text.chars().take(200).collect();
            let shown = if shown.trim().is_empty() { "nothing".to_owned() } else { format!("`{shown}`") };
            let message = format!("{}: its macros expand to {shown}: {error}", entry.name);
            Problem::error_at(entry.value_range.clone(), 0, message)
        })?;
        Ok(ConfiguredPolicy {
            name: entry.name.clone(),
            kind,
            expression,
            value_range: entry.value_range.clone(),
            line: entry.line,
            is_default: !configuration.sets(&entry.name),
            text: value.text,
            is_verbatim: value.is_verbatim,
        })
    }
}
