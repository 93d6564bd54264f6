//! What remains of an offer after a match (open in thesis §6.2.1): partitionable slots.

use std::sync::Arc;

use crate::ad::{Ad, Expression, Frame, Name, Span, Value};
use crate::eval::{Context, Environment, Evaluator, Halt};

use super::Rule;

/// How an offer is divided.
#[derive(Clone, Debug, Default)]
pub struct Residual {
    /// Only offers of which this is true leave a remainder; all if there is none.
    pub when: Option<Rule>,
    /// Attributes of the remainder: evaluated in the offer as it was before the match, with `other` for the request.
    pub set: Vec<(Name, Rule)>,
    /// The remainder is offered while this is true of it; always if there is none.
    pub while_true: Option<Rule>,
}

impl Residual {
    /// What remains of an offer that a request has got; none if it is used up.  Both scopes are those of the two
    /// sides of the environment.
    ///
    /// # Errors
    ///
    /// When a budget is exceeded.
    pub fn of(&self, offer: &Arc<Frame>, environment: &Environment, context: &Context) -> Result<Option<Ad>, Halt> {
        if let Some(when) = &self.when
            && !when.is_met(&offer.ad, context)?
        {
            return Ok(None);
        }
        let mut remainder = offer.ad.clone();
        for (name, rule) in &self.set {
            let value = Evaluator::new(environment, context).evaluate(&rule.expression, offer)?;
            remainder = remainder.with(name.clone(), Expression::literal(settled(value)));
        }
        match &self.while_true {
            Some(rule) if !rule.is_met(&remainder, context)? => Ok(None),
            _ => Ok(Some(remainder)),
        }
    }
}

/// A value that needs no scope: lists and ads may refer to the two that met, and these part.
fn settled(value: Value) -> Value {
    match value {
        Value::List(_) | Value::Ad(_) => Value::error(Span::default(), "a remainder holds no lists and no ads"),
        value => value,
    }
}
