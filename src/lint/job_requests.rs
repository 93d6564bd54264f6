//! Checks the requests of a job for resources where there is no slot: before a match, and in the grid universe.

use crate::ad::{Ad, Expression, Name, Value};
use crate::eval::{Context, Environment, Evaluator};

use super::constants::NEEDED_REQUESTS;
use super::finding::LintFinding;
use super::missing_names::missing_names;
use super::rules;
use super::standard_attributes::is_of_one_side;

/// The requests that are checked.
pub(super) const REQUESTS: [&str; 4] = ["RequestCpus", "RequestDisk", "RequestMemory", "RequestGPUs"];

/// `JobUniverse` of a job of the grid, which never gets a slot.
const GRID: i64 = 9;

/// Returns the findings about requests that are expressions.
pub(super) fn check(job: &Ad, context: &Context) -> Vec<LintFinding> {
    let universe = job.get_str("JobUniverse").and_then(Expression::as_literal);
    let is_grid = matches!(universe, Some(Value::Integer(GRID)));
    let own = REQUESTS.iter().filter_map(|name| job.attribute(&Name::new(name)));
    let own = own.filter(|request| request.expression.as_literal().is_none());
    own.filter_map(|request| check_request(job, request.name, request.expression, is_grid, context)).collect()
}

fn check_request(
    job: &Ad,
    name: &Name,
    expression: &Expression,
    is_grid: bool,
    context: &Context,
) -> Option<LintFinding> {
    let (environment, frame) = Environment::single(job.clone());
    let value = Evaluator::new(&environment, context).evaluate(expression, &frame).ok()?;
    let missing = missing_names(job, expression, context.dialect);
    let is_of_slot = |name: &&Name| is_of_one_side(name, true);
    let of_slot = missing.theirs.first().or_else(|| missing.own.iter().find(is_of_slot));
    // Such a request has its value beside a slot.
    if of_slot.is_some() && !is_grid {
        return None;
    }
    let is_needed = NEEDED_REQUESTS.iter().any(|needed| name.is(needed));
    let is_none = match value {
        Value::Undefined => {
            let lost = of_slot.or(missing.own.first())?;
            let (message, help) = if of_slot.is_some() {
                let message = format!("{name} is undefined: a job of the grid universe gets no slot with {lost}");
                (message, format!("give it a value without a slot, as in `(...) ?: {}`", usual_request(name)))
            } else {
                let message = format!("{name} is undefined: this job has no {lost}");
                (message, format!("give it a value without {lost}, as in `(...) ?: {}`", usual_request(name)))
            };
            let finding = LintFinding::new(&rules::UNDEFINED_REQUEST, message).with_help(help);
            return Some(finding.at(name, expression, ""));
        }
        Value::Integer(number) => number <= 0,
        Value::Real(number) => number <= 0.0,
        _ => false,
    };
    let message = format!("{name} is 0 in this job: ask for as much as the job needs");
    (is_none && is_needed).then(|| LintFinding::new(&rules::ZERO_REQUEST, message).at(name, expression, ""))
}

/// An amount as an example.
fn usual_request(name: &Name) -> u32 {
    match () {
        () if name.is("RequestMemory") => 2048,
        () if name.is("RequestDisk") => 1_048_576,
        () => 1,
    }
}
