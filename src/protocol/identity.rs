//! What an ad is called in outputs.

use crate::ad::{Ad, Expression, Value};
use crate::eval::{Context, Environment, Evaluator};

use super::Advertisement;

/// The identity of an ad: the value of an expression in it if one is given, else the first it has of
/// `Name`, `GlobalJobId`, `ClusterId.ProcId` and `MyAddress`.
#[must_use]
pub fn identity(ad: &Ad, expression: Option<&Expression>, context: &Context) -> Option<String> {
    let Some(expression) = expression else { return Advertisement::new(ad, context).identity() };
    let (environment, frame) = Environment::alone(ad.clone());
    match Evaluator::new(&environment, context).evaluate(expression, &frame).ok()? {
        Value::String(text) => Some(text.to_str().into_owned()),
        Value::Integer(integer) => Some(integer.to_string()),
        _ => None,
    }
}
