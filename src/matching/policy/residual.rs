//! What remains of an offer after a match (open in thesis §6.2.1): partitionable slots.

use std::sync::Arc;

use crate::ad::{Ad, Expression, Frame, Kind, Name, Span, Value};
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
            let mut evaluator = Evaluator::new(environment, context);
            let value = evaluator.evaluate(&rule.expression, offer)?;
            remainder = remainder.with(name.clone(), settled(value, &mut evaluator, DEEPEST)?);
        }
        match &self.while_true {
            Some(rule) if !rule.is_met(&remainder, context)? => Ok(None),
            _ => Ok(Some(remainder)),
        }
    }
}

/// Lists in a remainder may be nested this deep.
const DEEPEST: usize = 32;

/// A value as an expression that needs no scope: elements of lists may refer to the two that met, and these part.
fn settled(value: Value, evaluator: &mut Evaluator<'_>, depth: usize) -> Result<Expression, Halt> {
    let error = |reason| Ok(Expression::literal(Value::error(Span::default(), reason)));
    let list = match value {
        Value::List(_) if depth == 0 => return error("the lists of a remainder are nested too deep"),
        Value::List(list) => list,
        Value::Ad(_) => return error("a remainder holds no ads"),
        value => return Ok(Expression::literal(value)),
    };
    let elements: Result<Vec<Expression>, Halt> = (0..list.elements.len())
        .map(|index| {
            let element = evaluator.element(&list, index)?;
            settled(element, evaluator, depth - 1)
        })
        .collect();
    Ok(Expression::new(Kind::List(elements?.into()), Span::default()))
}
