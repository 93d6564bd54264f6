//! The display name of an ad in all outputs.

use crate::ad::{Ad, Expression, Value};
use crate::eval::{Context, Environment, Evaluator};

use super::Advertisement;

/// Returns the identity of an ad: the value of `expression` in the ad if an expression is given, else the first present
/// of `Name`, `GlobalJobId`, `ClusterId.ProcId` and `MyAddress`.
///
/// Returns `None` if the value is neither a string nor an integer, if none of these attributes is present, or if a
/// budget is exceeded.
#[must_use]
pub fn identity(ad: &Ad, expression: Option<&Expression>, context: &Context) -> Option<String> {
    let Some(expression) = expression else { return Advertisement::new(ad, context).identity() };
    let (environment, frame) = Environment::single(ad.clone());
    match Evaluator::new(&environment, context).evaluate(expression, &frame).ok()? {
        Value::String(text) => Some(text.to_str().into_owned()),
        Value::Integer(integer) => Some(integer.to_string()),
        _ => None,
    }
}
