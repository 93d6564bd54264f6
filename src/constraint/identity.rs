//! What an ad is called in outputs.

use crate::ad::{Ad, Expression, Name, Value};
use crate::eval::{Context, Environment, Evaluator};

/// The attributes that [`identity`] looks for.
pub const IDENTITY: [&str; 5] = ["Name", "GlobalJobId", "ClusterId", "ProcId", "MyAddress"];

/// The identity of an ad: the value of an expression in it if one is given, else the first it has of
/// `Name`, `GlobalJobId`, `ClusterId.ProcId` and `MyAddress`.
#[must_use]
pub fn identity(ad: &Ad, expression: Option<&Expression>, context: &Context) -> Option<String> {
    let (environment, frame) = Environment::alone(ad.clone());
    let text = |value: Value| match value {
        Value::String(text) => Some(text.to_str().into_owned()),
        Value::Integer(integer) => Some(integer.to_string()),
        _ => None,
    };
    if let Some(expression) = expression {
        return Evaluator::new(&environment, context).evaluate(expression, &frame).ok().and_then(text);
    }
    let attribute = |name: &str| {
        let value = Evaluator::new(&environment, context).attribute(&frame, &Name::new(name));
        value.ok().and_then(text)
    };
    let [name, global, cluster, process, address] = IDENTITY;
    attribute(name)
        .or_else(|| attribute(global))
        .or_else(|| Some(format!("{}.{}", attribute(cluster)?, attribute(process)?)))
        .or_else(|| attribute(address))
}
