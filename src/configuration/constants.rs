//! Constants of HTCondor's configuration: numbers and truth values, which may be expressions.

use crate::ad::{Ad, Dialect, Value};
use crate::eval::{Context, Environment, Evaluator};
use crate::syntax::{ParseOptions, parse_expression};

/// Reads a number, or an expression whose value is a number, as HTCondor's `param_double` does. `None` for anything else,
/// and for a number that is not finite.
#[must_use]
pub fn constant_number(text: &str, context: &Context) -> Option<f64> {
    let text = text.trim();
    let number = text.parse().ok().or_else(|| match constant(text, context)? {
        #[allow(clippy::cast_precision_loss)] // a quota or a limit
        Value::Integer(number) => Some(number as f64),
        Value::Real(number) => Some(number),
        _ => None,
    });
    number.filter(|number: &f64| number.is_finite())
}

/// Reads a truth value, or an expression whose value is one. `None` for anything else.
#[must_use]
pub fn constant_truth(text: &str, context: &Context) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "1" => Some(true),
        "false" | "f" | "no" | "0" => Some(false),
        other => match constant(other, context)? {
            Value::Boolean(truth) => Some(truth),
            Value::Integer(number) => Some(number != 0),
            _ => None,
        },
    }
}

/// Evaluates an expression without an ad.
fn constant(text: &str, context: &Context) -> Option<Value> {
    let expression = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).ok()?;
    let (environment, frame) = Environment::single(Ad::default());
    Evaluator::new(&environment, context).evaluate(&expression, &frame).ok()
}

/// Returns whether HTCondor takes a value for true; `None` for a value that is neither true nor false.
pub(super) fn value_truth(value: &Value) -> Option<bool> {
    match value {
        Value::Boolean(is) => Some(*is),
        Value::Integer(number) => Some(*number != 0),
        Value::Real(number) => Some(*number != 0.0),
        _ => None,
    }
}
