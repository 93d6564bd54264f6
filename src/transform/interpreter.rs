//! Interpreter of transform rules.

use crate::ad::{Ad, Expression, ExpressionKind, ListValue, Name, Value};
use crate::eval::Context;
use crate::format::LazyAd;
use crate::syntax::{ParseOptions, SyntaxError, parse_expression};

use super::MAX_MADE_BYTES;
use super::ad_state::AdState;
use super::branches::OpenBranches;
use super::condition::{IfCondition, boolean_of};
use super::edited_ad::EditedAd;
use super::edited_shapes::EditedShapes;
use super::iteration::{MAX_ADS_PER_AD, TransformLine};
use super::macro_function;
use super::macros::{self, MacroText, MacroVariables, StatementFailure, VariableTable, evaluate, expand_own};
use super::new_names;
use super::result::{FaultScope, StatementPosition, TransformFault, TransformResult};
use super::rule::{RuleAction, RuleOperand, TransformRule, parse_beginning};

/// Sequence of rules to apply in order.
#[derive(Clone, Debug, Default)]
pub struct Transform {
    /// Rules in order of application.
    pub rules: Vec<TransformRule>,
    /// Condition that an ad must satisfy; other ads stay unchanged. `None` applies the rules to every ad.
    pub condition: Option<Expression>,
    /// Variables that the rules can use without giving them a value, such as the configuration's.
    pub variables: VariableTable,
    /// Whether a macro `$ENV(...)` in a value of the ad reads the environment. Otherwise nothing stands for it.
    pub allows_environment: bool,
}

/// What the results for one ad can share with the results for the ads before. It does not change the results.
#[derive(Default)]
pub struct TransformCache(EditedShapes);

impl Transform {
    /// Applies the rules to an ad. Returns one result, unless a TRANSFORM line of a rule makes several ads.
    ///
    /// Variables keep their values from one rule to the next. A statement that fails is skipped. If a condition cannot
    /// be evaluated, the whole ad stays unchanged.
    #[must_use]
    pub fn apply(&self, ad: &Ad, context: &Context) -> Vec<TransformResult> {
        self.apply_cached(ad, context, &mut TransformCache::default())
    }

    /// Applies the rules to an ad as [`Transform::apply`] does. If `cache` has served similar ads, it is faster, and
    /// the resulting ads share the shapes of those.
    #[must_use]
    pub fn apply_cached(&self, ad: &Ad, context: &Context, cache: &mut TransformCache) -> Vec<TransformResult> {
        self.apply_to(EditedAd::new(ad, &cache.0), context)
    }

    /// Applies the rules to an ad whose values are read on demand. The resulting ads may have its placeholders. Without
    /// `finds_changes`, the changes may include some that leave an attribute as it was.
    pub(super) fn apply_to_unread(
        &self,
        ad: &LazyAd<'_>,
        context: &Context,
        cache: &mut TransformCache,
        finds_changes: bool,
    ) -> Vec<TransformResult> {
        self.apply_to(EditedAd::of_lazy(ad, &cache.0, finds_changes), context)
    }

    fn apply_to(&self, mut ad: EditedAd<'_>, context: &Context) -> Vec<TransformResult> {
        let original = ad.ad();
        let unchanged = |faults| vec![TransformResult { ad: original.clone(), changes: Vec::new(), faults }];
        let mut first = AdState {
            ad,
            variables: MacroVariables::default(),
            outer_variables: self.variables.clone(),
            allows_environment: self.allows_environment,
            unbound_counters: None,
            position: StatementPosition { rule: 0, statement: None },
            changes: Vec::new(),
            faults: Vec::new(),
            made_bytes: 0,
        };
        if let Some(condition) = &self.condition {
            match evaluate(condition, &mut first.ad, context) {
                Ok(Value::Boolean(true)) => {}
                Ok(value) if context.dialect.is_condor() && boolean_of(&value) == Some(true) => {}
                Ok(_) => return unchanged(Vec::new()),
                Err(halt) => return unchanged(vec![TransformFault::new(None, halt.into(), FaultScope::Ad)]),
            }
        }
        let mut states = vec![first];
        for (number, rule) in self.rules.iter().enumerate() {
            let mut after = Vec::new();
            for mut state in states {
                state.position = StatementPosition { rule: number, statement: None };
                if let Err(fault) = (RuleExecution { rule, context }).apply_rule(state, &mut after) {
                    return unchanged(vec![fault]);
                }
            }
            states = after;
        }
        let finished = states.into_iter().map(|state| TransformResult {
            ad: state.ad.into_ad(),
            changes: state.changes,
            faults: state.faults,
        });
        finished.collect()
    }
}

/// Rule with the context in which it is executed.
#[derive(Clone, Copy)]
struct RuleExecution<'r> {
    rule: &'r TransformRule,
    context: &'r Context,
}

impl RuleExecution<'_> {
    /// Applies the rule to an ad and appends the results to `after`.
    fn apply_rule<'u>(self, mut state: AdState<'u>, after: &mut Vec<AdState<'u>>) -> Result<(), TransformFault> {
        if let Some(expression) = self.rule.requirements.as_ref().and_then(RuleOperand::expression) {
            let value = evaluate(expression, &mut state.ad, self.context);
            let value = value.map_err(|halt| state.fault(halt, FaultScope::Ad))?;
            if boolean_of(&value) != Some(true) {
                after.push(state);
                return Ok(());
            }
        }
        match &self.rule.iteration {
            Some(iteration) if iteration.is_iterating() || iteration.has_macros => {
                self.iterate(iteration, &state, after)
            }
            _ => {
                state.unbound_counters = Some((None, false));
                self.execute_statements(&mut state)?;
                after.push(state);
                Ok(())
            }
        }
    }

    /// Executes the statements once for each ad that a TRANSFORM line makes, on a copy of the ad `state`.
    fn iterate<'u>(
        self,
        line: &TransformLine,
        state: &AdState<'u>,
        after: &mut Vec<AdState<'u>>,
    ) -> Result<(), TransformFault> {
        if after.len().saturating_add(line.total()) > MAX_ADS_PER_AD {
            let reason = format!("one ad would become more than {MAX_ADS_PER_AD} ads");
            return Err(state.fault(reason, FaultScope::Ad));
        }
        let no_item = [String::new()];
        let items = line.items.as_ref().map_or(&no_item[..], |items| items.all());
        let mut made = 0_usize;
        for (row, item) in items.iter().enumerate() {
            let mut variables = state.variables.clone();
            for (name, value) in line.values(item) {
                variables.insert(Name::new(name), value.as_bytes().to_vec().into());
            }
            // Variables keep their values from one ad of an item to the next.
            for step in 0..line.count {
                let mut copy = AdState { variables: std::mem::take(&mut variables), ..state.clone() };
                copy.unbound_counters = Some((Some([row, step, made]), line.is_iterating()));
                self.execute_statements(&mut copy)?;
                variables.clone_from(&copy.variables);
                after.push(copy);
                made += 1;
            }
        }
        Ok(())
    }

    /// Executes the statements for one ad.
    fn execute_statements(self, state: &mut AdState<'_>) -> Result<(), TransformFault> {
        let mut open = OpenBranches::default();
        for (position, statement) in self.rule.statements.iter().enumerate() {
            state.position.statement = Some(position);
            if open.enter(&statement.action, |condition| self.holds(condition, state))? {
                let before = state.faults.len();
                if let Err(failure) = self.execute(&statement.action, state) {
                    // What is wrong with the macro is why the statement fails.
                    match state.faults[before..].iter_mut().find(|fault| fault.scope == FaultScope::Macro) {
                        Some(cause) if failure.halt.is_none() => cause.scope = FaultScope::Statement,
                        _ => state.faults.push(state.fault(failure, FaultScope::Statement)),
                    }
                }
                if state.made_bytes > MAX_MADE_BYTES {
                    let reason = format!("the rules put more than {MAX_MADE_BYTES} bytes into one ad");
                    return Err(state.fault(reason, FaultScope::Ad));
                }
            }
        }
        Ok(())
    }

    /// Whether the condition of an `if` or `elif` holds. A condition that cannot be evaluated is a fault of the whole
    /// ad.
    fn holds(self, condition: &IfCondition, state: &mut AdState<'_>) -> Result<bool, TransformFault> {
        let holds = state.with_expander(self.context, |expander| condition.holds(expander));
        holds.map_err(|failure| state.fault(failure, FaultScope::Ad))
    }

    /// Executes a statement other than `if`, `elif`, `else` and `endif`.
    fn execute(self, action: &RuleAction, state: &mut AdState<'_>) -> Result<(), StatementFailure> {
        match action {
            RuleAction::Assign(variable, text) => {
                let name = state.expanded(variable, ParseOptions::new(self.context.dialect), self.context)?;
                let variable = &*String::from_utf8_lossy(&name);
                let variables = state.bind_variables();
                let value = expand_own(text, variable, variables.get(&Name::new(variable)))?;
                variables.insert(Name::new(variable), value);
            }
            RuleAction::Append(variable, between, text) => {
                macros::append(state.bind_variables(), variable, between, text);
            }
            RuleAction::EvaluateMacro(variable, operand) => {
                let bytes = macro_function::variable_text(self.value(operand, state)?);
                state.bind_variables().insert(Name::new(variable), MacroText { bytes, is_from_ad: true });
            }
            RuleAction::Default(name, _) if state.ad.get_unread(name).is_some() => {}
            RuleAction::Set(name, operand) | RuleAction::Default(name, operand) => {
                let expression = self.expression(operand, state, |_, _| None)?;
                state.set_attribute(name.clone(), expression);
            }
            RuleAction::EvaluateSet(name, operand) => {
                let value = self.value(operand, state)?;
                state.set_attribute(name.clone(), value_expression(value));
            }
            RuleAction::Copy(target, names) | RuleAction::Rename(target, names) => {
                let names = state.expanded(names, ParseOptions::new(self.context.dialect), self.context)?;
                for (from, to) in state.target_names(target, &names)? {
                    // An invalid new name is a fault of one attribute. The other attributes are still changed.
                    match (new_names::new_name(&to), state.ad.get_unread(&from).cloned()) {
                        (Err(reason), _) => state.faults.push(state.fault(reason, FaultScope::Attribute(from))),
                        (Ok(to), Some(expression)) if matches!(action, RuleAction::Copy(..)) => {
                            state.set_attribute(to, expression);
                        }
                        (Ok(to), Some(expression)) => state.rename_attribute(from, to, expression),
                        (Ok(_), None) => {}
                    }
                }
            }
            RuleAction::Delete(target) => {
                for (name, _) in state.target_names(target, b"")? {
                    if let Some(before) = state.ad.remove(&name) {
                        state.record_change(name, Some(before), None);
                    }
                }
            }
            RuleAction::If(_) | RuleAction::ElseIf(_) | RuleAction::Else | RuleAction::EndIf => {}
        }
        Ok(())
    }

    /// Returns the value of an operand, evaluated in the current ad. As in HTCondor, text behind the expression is ignored
    /// that macros bring along.
    fn value(self, operand: &RuleOperand, state: &mut AdState<'_>) -> Result<Value, StatementFailure> {
        let expression = self.expression(operand, state, |text, error| {
            parse_beginning(text, error, operand.rules).map(|(expression, _)| expression)
        })?;
        Ok(evaluate(&expression, &mut state.ad, self.context)?)
    }

    /// Returns the expression of an operand for this ad, with its macros expanded. `repair` may return an expression for
    /// a text that is none.
    fn expression(
        self,
        operand: &RuleOperand,
        state: &mut AdState<'_>,
        repair: impl Fn(&[u8], &SyntaxError) -> Option<Expression>,
    ) -> Result<Expression, StatementFailure> {
        if let Some(expression) = operand.expression() {
            return Ok(expression.clone());
        }
        let text = state.expanded(operand.text(), operand.rules, self.context)?;
        parse_expression(&text, operand.rules).or_else(|error| {
            repair(&text, &error).ok_or_else(|| {
                let shown: String = String::from_utf8_lossy(&text).chars().take(200).collect();
                let shown = if shown.trim().is_empty() { "empty".to_owned() } else { format!("`{shown}`") };
                format!("the expression becomes {shown}: {error}").into()
            })
        })
    }
}

/// Converts a value to an expression. A list or an ad in the value is detached from the ad in which it was evaluated.
fn value_expression(value: Value) -> Expression {
    let kind = match value {
        Value::List(ListValue { elements, .. }) => ExpressionKind::List(elements),
        Value::Ad(nested) => ExpressionKind::Ad(nested.ad().clone()),
        scalar => ExpressionKind::Literal(scalar),
    };
    kind.into()
}
