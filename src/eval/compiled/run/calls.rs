//! Calls of functions and searches for patterns by programs, within the budget of the run.

use std::sync::Arc;

use crate::ad::{ExpressionKind, ScopeFrame, Truth, Value};

use super::super::super::builtin::{Call, EarlyEnd, string_lists};
use super::super::super::pattern::{SearchFault, SearchSteps};
use super::super::super::{Abort, Context, Environment, Evaluator};
use super::super::budget::ProgramBudget;
use super::super::operand::{Bail, Operand};
use super::super::program::{CallOperation, ListOperation, PatternOperation};
use super::Run;

impl<'a> Run<'a> {
    #[inline(never)]
    pub(super) fn pattern_test(&mut self, test: &'a PatternOperation) -> Result<Truth, Bail> {
        let subject = &test.call.arguments[1];
        if let Some(Value::String(subject)) = self.stored(subject) {
            return search_pattern(test, subject.as_bytes(), self.context, &mut self.budget);
        }
        let subject = self.operand(subject)?;
        if let Operand::Undefined = subject {
            return Ok(Truth::Undefined);
        }
        let Some(subject) = self.strings.text(subject) else { return Ok(Truth::Error) };
        search_pattern(test, subject.as_bytes(), self.context, &mut self.budget)
    }

    pub(super) fn list_search(&mut self, search: &'a ListOperation) -> Result<Operand<'a>, Bail> {
        let call = &search.call;
        let [wanted, list] = [self.operand(&call.arguments[0])?, self.operand(&call.arguments[1])?];
        if let (Some(wanted), Some(list)) = (self.strings.text(wanted), self.strings.text(list)) {
            let (wanted, list) = (wanted.as_bytes(), list.as_bytes());
            let is_listed = string_lists::lists_item(list, search.delimiters.as_bytes(), wanted, search.ignores_case);
            return Ok(Operand::Boolean(is_listed));
        }
        let mut values = vec![wanted, list];
        for argument in &call.arguments[2..] {
            values.push(self.operand(argument)?);
        }
        self.call_with(call, &values)
    }

    /// Calls a function with the values of its arguments.
    pub(super) fn call_with(&mut self, call: &CallOperation, values: &[Operand<'a>]) -> Result<Operand<'a>, Bail> {
        let values = values.iter().map(|value| Ok(self.strings.value(*value))).collect();
        let value = call_function(call, values, self.nowhere, self.context, &mut self.budget)?;
        self.strings.keep(value)
    }
}

/// Calls a function with the values of its arguments. It runs in an environment without ads and the scope there.
fn call_function(
    call: &CallOperation,
    values: Vec<Result<Value, Abort>>,
    (environment, frame): &(Environment, Arc<ScopeFrame>),
    context: &Context,
    budget: &mut ProgramBudget,
) -> Result<Value, Bail> {
    let ExpressionKind::Call(_, arguments) = call.expression.kind() else { return Err(Bail) };
    let mut evaluator = Evaluator::new(environment, context);
    if evaluator.spending.hold_bytes(budget.bytes).is_err() {
        return Err(Bail);
    }
    let span = call.expression.span();
    let mut call_of_walker = Call { evaluator: &mut evaluator, frame, arguments, values: Some(values), span };
    let value: Value = match call.function.run(&mut call_of_walker) {
        Ok(value) | Err(EarlyEnd::Decided(value)) => value,
        Err(EarlyEnd::Aborted(_)) => return Err(Bail),
    };
    // A function takes steps of its own, such as one for each replacement.
    let is_over = evaluator.spending.add_value(&value).is_err();
    budget.count_steps(evaluator.spending.steps());
    if is_over || budget.is_spent() {
        return Err(Bail);
    }
    budget.bytes = evaluator.spending.bytes();
    Ok(value)
}

/// Searches a text for the pattern of `test`.
fn search_pattern(
    test: &PatternOperation,
    subject: &[u8],
    context: &Context,
    budget: &mut ProgramBudget,
) -> Result<Truth, Bail> {
    if !subject.starts_with(&test.prefix) {
        budget.count_steps(test.pattern.quick_steps(subject));
        return if budget.is_spent() { Err(Bail) } else { Ok(Truth::False) };
    }
    let mut steps = SearchSteps::new(budget.steps_left());
    let found = test.pattern.matches(subject, &mut steps);
    budget.count_steps(steps.taken());
    let of_run = steps.of_run();
    if of_run > 0 {
        context.count_steps(of_run);
        if context.has_spent_run() {
            return Err(Bail);
        }
    }
    match found {
        Ok(found) => Ok(found.into()),
        Err(SearchFault::Failed(_)) => Ok(Truth::Error),
        // The walker has more steps.
        Err(SearchFault::TooManySteps) => Err(Bail),
    }
}
