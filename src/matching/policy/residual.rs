//! Remainders of offers after a match: for example, what is left of a partitionable slot of HTCondor. Thesis 6.2.1
//! names remainders as an open question.

use std::sync::Arc;

use crate::ad::{Ad, Expression, Name, ScopeFrame, Span, Value};
use crate::eval::{Abort, Context, Environment, Evaluator};

use super::PolicyRule;

/// The rules that define what remains of an offer after a match.
#[derive(Clone, Debug, Default)]
pub struct Residual {
    /// Rule that an offer must meet to leave a remainder. If `None`, every offer leaves a remainder.
    pub when: Option<PolicyRule>,
    /// Attributes that are set in the remainder. Their expressions are evaluated in the offer as it was before the
    /// match; `other` is the request.
    pub set: Vec<(Name, PolicyRule)>,
    /// Rule that a remainder must meet to be offered again. If `None`, every remainder is offered.
    pub while_true: Option<PolicyRule>,
}

impl Residual {
    /// Returns the remainder of an offer after a match with a request; `None` if there is no remainder to offer.
    /// `environment` contains the pair, and `offer` is the offer's scope in it.
    pub fn remainder(
        &self,
        offer: &Arc<ScopeFrame>,
        environment: &Environment,
        context: &Context,
    ) -> Result<Option<Ad>, Abort> {
        if let Some(when) = &self.when
            && !when.is_met(&offer.ad, context)?
        {
            return Ok(None);
        }
        let mut remainder = offer.ad.clone();
        for (name, rule) in &self.set {
            let mut evaluator = Evaluator::new(environment, context);
            let value = evaluator.evaluate(&rule.expression, offer)?;
            remainder = remainder.with(name.clone(), scopeless_expression(value, &mut evaluator, MAX_LIST_DEPTH)?);
        }
        match &self.while_true {
            Some(rule) if !rule.is_met(&remainder, context)? => Ok(None),
            _ => Ok(Some(remainder)),
        }
    }
}

/// Maximum nesting depth of lists in a remainder.
const MAX_LIST_DEPTH: usize = 32;

/// Converts a value to an expression that needs no scope. List elements are evaluated now: they may refer to the ads of
/// the pair, which are not in scope later.
fn scopeless_expression(value: Value, evaluator: &mut Evaluator<'_>, depth: usize) -> Result<Expression, Abort> {
    let error = |reason| Ok(Expression::literal(Value::error(Span::default(), reason)));
    let list = match value {
        Value::List(_) if depth == 0 => return error("the lists of a remainder are nested too deep"),
        Value::List(list) => list,
        Value::Ad(_) => return error("a remainder holds no ads"),
        value => return Ok(Expression::literal(value)),
    };
    let elements: Result<Vec<Expression>, Abort> = (0..list.elements.len())
        .map(|index| {
            let element = evaluator.element(&list, index)?;
            scopeless_expression(element, evaluator, depth - 1)
        })
        .collect();
    Ok(Expression::list(elements?))
}
