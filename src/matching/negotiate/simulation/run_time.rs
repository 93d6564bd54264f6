//! How long simulated requests run.

use crate::ad::{Ad, Expression, Value};
use crate::eval::{Context, Environment, Evaluator};

/// An expression of the seconds that a request runs. It is evaluated in the request, with the slot as the other ad.
#[derive(Clone, Debug)]
pub struct RunTime {
    /// The expression.
    pub expression: Expression,
}

impl RunTime {
    /// Returns the whole seconds that a request runs in a slot, rounded up. `None` if the expression is no number of at least 0.
    pub(super) fn seconds(&self, request: &Ad, slot: Option<&Ad>, context: &Context) -> Option<i64> {
        let (environment, [left, _]) = Environment::pair(request.clone(), slot.cloned().unwrap_or_default());
        let value = Evaluator::new(&environment, context).evaluate(&self.expression, &left).ok()?;
        match value {
            Value::Integer(seconds) => Some(seconds).filter(|seconds| *seconds >= 0),
            #[allow(clippy::cast_possible_truncation)] // it saturates
            Value::Real(seconds) => {
                Some(seconds.ceil()).filter(|seconds| *seconds >= 0.0).map(|seconds| seconds as i64)
            }
            Value::RelativeTime(time) => {
                #[allow(clippy::cast_possible_truncation)] // it saturates
                Some(time.seconds.ceil()).filter(|seconds| *seconds >= 0.0).map(|seconds| seconds as i64)
            }
            _ => None,
        }
    }
}
