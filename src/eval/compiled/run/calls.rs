//! Calls of functions and searches for patterns by programs, within the budget of the run.

use std::sync::Arc;

use crate::ad::{ExpressionKind, ScopeFrame, Truth, Value};

use super::super::builtin::{Call, EarlyEnd};
use super::super::pattern::{SearchFault, SearchSteps};
use super::super::{Abort, Context, Environment, Evaluator};
use super::budget::ProgramBudget;
use super::operand::Bail;
use super::program::{CallOperation, PatternOperation};

/// Calls a function with the values of its arguments. It runs in an environment without ads and the scope there.
pub(super) fn call_function(
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
pub(super) fn search_pattern(
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
