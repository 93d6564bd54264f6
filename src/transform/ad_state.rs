//! State of an ad while rules are applied to it.

use crate::ad::{Expression, Name, Value};
use crate::eval::Context;
use crate::syntax::{ParseOptions, Style, print};

use super::edited_ad::EditedAd;
use super::expander::{EnvironmentReaders, MacroExpander, MacroGap};
use super::macros::{MacroVariables, StatementFailure, VariableTable, has_macros};
use super::new_names;
use super::result::{AppliedChange, FaultScope, StatementPosition, TransformFault};
use super::rule::RuleTarget;

/// The numbers of an ad among those that a TRANSFORM line makes: of its item, among those of the item, and among all; `None`
/// if the line does not number it. And whether the line has items or makes several ads.
pub(super) type AdCounters = (Option<[usize; 3]>, bool);

/// State of one ad while rules are applied to it.
#[derive(Clone)]
pub(super) struct AdState<'u> {
    pub ad: EditedAd<'u>,
    pub variables: MacroVariables,
    pub outer_variables: VariableTable,
    /// As in [`Transform::allows_environment`].
    pub allows_environment: bool,
    /// The counters that `variables` does not have yet. Most rules use none.
    pub unbound_counters: Option<AdCounters>,
    /// The statement that is being executed.
    pub position: StatementPosition,
    pub changes: Vec<AppliedChange>,
    pub faults: Vec<TransformFault>,
    /// Number of bytes of the texts that the rules put into the ad.
    pub made_bytes: usize,
}

impl<'u> AdState<'u> {
    pub fn expander<'a>(&'a mut self, context: &'a Context) -> MacroExpander<'a, 'u> {
        self.ad.set_depends_on_values();
        self.bind_variables();
        let mut expander = MacroExpander::new((&self.variables, &self.outer_variables), &mut self.ad, context);
        if self.allows_environment {
            expander.environment = EnvironmentReaders::Everybody;
        }
        expander
    }

    /// Calls `work` with an expander, and records the macros in whose place nothing stands.
    pub fn with_expander<T>(
        &mut self,
        context: &Context,
        work: impl FnOnce(&mut MacroExpander<'_, 'u>) -> Result<T, StatementFailure>,
    ) -> Result<T, StatementFailure> {
        let mut expander = self.expander(context);
        let done = work(&mut expander);
        for gap in std::mem::take(&mut expander.gaps) {
            let (message, scope) = match gap {
                MacroGap::Function(message) => (message, FaultScope::Macro),
                MacroGap::Environment(name) => {
                    (format!("the ad does not get the environment variable {name}"), FaultScope::Environment)
                }
            };
            self.faults.push(self.fault(message, scope));
        }
        done
    }

    /// Returns a text of the rules with its macros expanded.
    pub fn expanded(
        &mut self,
        text: &str,
        rules: ParseOptions,
        context: &Context,
    ) -> Result<Vec<u8>, StatementFailure> {
        if !has_macros(text) {
            return Ok(text.as_bytes().to_vec());
        }
        self.with_expander(context, |expander| expander.expand(text.as_bytes(), rules))
    }

    /// Creates the fault of the statement that is being executed.
    pub fn fault(&self, failure: impl Into<StatementFailure>, scope: FaultScope) -> TransformFault {
        TransformFault::new(Some(self.position), failure.into(), scope)
    }

    pub fn record_change(&mut self, attribute: Name, before: Option<Expression>, after: Option<Expression>) {
        self.changes.push(AppliedChange { position: self.position, attribute, before, after });
    }

    /// Returns the variables for reading and writing.
    pub fn bind_variables(&mut self) -> &mut MacroVariables {
        if let Some(counters) = self.unbound_counters.take() {
            self.bind_counters(counters);
        }
        &mut self.variables
    }

    /// Binds the built-in variables of an ad. Those of its numbers have no value if it has none.
    pub fn bind_counters(&mut self, (numbers, is_iterating): AdCounters) {
        let counters =
            numbers.map(|[row, step, made]| [("Row", row), ("ItemIndex", row), ("Step", step), ("XFormId", made)]);
        let counters = counters.into_iter().flatten();
        let constants = [
            ("Iterating", usize::from(is_iterating)),
            ("IsLinux", 1),
            ("IsWindows", 0),
            ("IsClusterAd", 0),
            ("LateMaterialization", 0),
        ];
        for (name, number) in counters.chain(constants) {
            self.variables.insert(Name::new(name), number.to_string().into_bytes().into());
        }
    }

    /// Returns the attributes that a target selects, each with its new name. `names` is the new name or, if the target
    /// is a pattern, the template of the new names.
    pub fn target_names(&self, target: &RuleTarget, names: &[u8]) -> Result<Vec<(Name, Vec<u8>)>, StatementFailure> {
        Ok(match target {
            RuleTarget::Name(name) => vec![(name.clone(), names.to_vec())],
            RuleTarget::Pattern(pattern) => new_names::matching(&self.ad, pattern, names)?,
        })
    }

    pub fn set_attribute(&mut self, attribute: Name, expression: Expression) {
        self.made_bytes = self.made_bytes.saturating_add(text_length(&expression));
        let before = self.ad.set(attribute.clone(), expression.clone());
        if before.as_ref().is_none_or(|before| self.ad.may_differ(before, &expression)) {
            self.record_change(attribute, before, Some(expression));
        }
    }

    pub fn rename_attribute(&mut self, from: Name, to: Name, expression: Expression) {
        if from.as_str() != to.as_str() {
            let before = self.ad.rename(&from, to.clone());
            self.record_change(from, Some(expression.clone()), None);
            self.record_change(to, before, Some(expression));
        }
    }
}

/// Returns the length of the text of an expression. A number or a placeholder counts as nothing.
fn text_length(expression: &Expression) -> usize {
    match expression.as_literal() {
        Some(Value::String(text)) => text.as_bytes().len(),
        Some(_) => 0,
        None => print(expression, Style::Long).len(),
    }
}
