//! Remainders of offers after a match: for example, what is left of a partitionable slot of HTCondor. Thesis 6.2.1
//! names remainders as an open question.

use std::sync::Arc;

use crate::ad::{Ad, Expression, ExpressionKind, Name, ScopeFrame, Span, Truth, Value};
use crate::eval::{Abort, Context, Environment, Evaluator};

use super::PolicyRule;

/// The rules that define what remains of an offer after a match.
#[derive(Clone, Debug, Default)]
pub struct Residual {
    /// Rule that an offer must meet to leave a remainder, evaluated in the offer; `other` is the request. If `None`, every
    /// offer leaves a remainder.
    pub when: Option<PolicyRule>,
    /// Rule of offers that leave no remainder and yet stay on offer as they are. Each match costs all of such an offer, which
    /// then stands behind equal ones: `WantAdRevaluate` of HTCondor. If `None`, no offer stays.
    pub keep: Option<PolicyRule>,
    /// Attributes that are set in the remainder. Their expressions are evaluated in the offer as it was before the
    /// match; `other` is the request.
    pub set: Vec<(Name, PolicyRule)>,
    /// Lists of the remainder that lose elements.
    pub take: Vec<ListTaking>,
    /// Rule that a remainder must meet to be offered again. If `None`, every remainder is offered.
    pub while_true: Option<PolicyRule>,
    /// Whether a remainder stands behind the candidates that are worse, as long as requests of one autocluster follow each
    /// other: HTCondor's negotiator puts slots with consumption policies back into its list in this way
    /// (`MatchListType::insert_candidate`). If not, a remainder has the place that its docking vector gives it.
    pub after_worse: bool,
}

impl Residual {
    /// Iterates over the names of the attributes in which the rest of an offer may differ from the offer.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.set.iter().map(|(name, _)| name).chain(self.take.iter().map(|taking| &taking.list))
    }

    /// Whether the rest of an offer is offered again.
    pub fn is_offered(&self, rest: &Ad, context: &Context) -> Result<bool, Abort> {
        self.while_true.as_ref().map_or(Ok(true), |rule| rule.is_met(rest, context))
    }

    /// Whether an offer stays as it is, however often it is given away.
    pub fn keeps(&self, offer: &Ad, context: &Context) -> Result<bool, Abort> {
        self.keep.as_ref().map_or(Ok(false), |rule| rule.is_met(offer, context))
    }

    /// Returns what a request leaves of an offer, whether it is offered again or not; `None` if the request gets all of
    /// it. `environment` contains the pair, and `offer` is the offer's scope in it.
    pub fn rest(
        &self,
        offer: &Arc<ScopeFrame>,
        environment: &Environment,
        context: &Context,
    ) -> Result<Option<Ad>, Abort> {
        if let Some(when) = &self.when {
            let value = Evaluator::new(environment, context).evaluate(&when.expression, offer)?;
            if !Truth::of(&value, context.dialect).is_true() {
                return Ok(None);
            }
        }
        let mut remainder = offer.ad.clone();
        for (name, rule) in &self.set {
            let mut evaluator = Evaluator::new(environment, context);
            let value = evaluator.evaluate(&rule.expression, offer)?;
            remainder = remainder.with(name.clone(), scopeless_expression(value, &mut evaluator, MAX_LIST_DEPTH)?);
        }
        for taking in &self.take {
            remainder = taking.apply(remainder, offer, environment, context)?;
        }
        Ok(Some(remainder))
    }
}

/// The elements of a list that a request gets, such as the GPUs of a slot (`AvailableGPUs`): the first ones that fit.
#[derive(Clone, Debug)]
pub struct ListTaking {
    /// The attribute that holds the list.
    pub list: Name,
    /// Number of elements that the request gets, evaluated in the offer.
    pub count: PolicyRule,
    /// Expression that an element must meet, as in `countMatches()`; evaluated in the offer. If no element meets it, as
    /// when the request has no such condition, every element fits.
    pub fits: Option<PolicyRule>,
}

impl ListTaking {
    /// Removes the elements from the list of a remainder. An attribute that is not a list stays as it is.
    fn apply(
        &self,
        remainder: Ad,
        offer: &Arc<ScopeFrame>,
        environment: &Environment,
        context: &Context,
    ) -> Result<Ad, Abort> {
        let evaluate = |expression: &Expression| Evaluator::new(environment, context).evaluate(expression, offer);
        let Value::Integer(mut count) = evaluate(&self.count.expression)? else { return Ok(remainder) };
        let Some(ExpressionKind::List(elements)) =
            remainder.get(&self.list).map(|list| list.without_parentheses().kind())
        else {
            return Ok(remainder);
        };
        let mut fitting = Vec::new();
        for element in elements.iter() {
            fitting.push(match &self.fits {
                Some(rule) => {
                    let only = Expression::list([element.clone()]);
                    let matches = Expression::call(Name::new("countMatches"), [rule.expression.clone(), only]);
                    matches!(evaluate(&matches)?, Value::Integer(1))
                }
                None => true,
            });
        }
        let any_fits = fitting.contains(&true);
        let mut left = Vec::new();
        for (element, fits) in elements.iter().zip(fitting) {
            if count > 0 && (fits || !any_fits) {
                count -= 1;
            } else {
                left.push(element.clone());
            }
        }
        Ok(remainder.with(self.list.clone(), Expression::list(left)))
    }
}

/// Maximum nesting depth of lists in a remainder.
const MAX_LIST_DEPTH: usize = 32;

/// Converts a value to an expression that needs no scope. List elements are evaluated now: they may refer to the ads of
/// the pair, which are not in scope later.
fn scopeless_expression(value: Value, evaluator: &mut Evaluator<'_>, depth: usize) -> Result<Expression, Abort> {
    let error = |reason| Ok(Expression::literal(Value::error(Span::default(), reason)));
    let list = match value {
        Value::List(_) if depth == 0 => return error("the lists of a residual are nested too deeply"),
        Value::List(list) => list,
        Value::Ad(_) => return error("a residual cannot hold ads"),
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
