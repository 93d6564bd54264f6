//! Administrative policy (thesis 3.2.4): the requests to serve and their order, the choice of offers, the remainder
//! of an offer, and fair share among submitters.

mod docking_vector;
mod parse;
mod residual;
mod usage;

use std::fmt;
use std::ops::Range;

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Value};
use crate::eval::{Abort, Context, Environment, Evaluator, FreeNames};
use crate::pool::PolicyExpressions;
use crate::protocol::is_met;

pub use docking_vector::PolicyVector;
pub use residual::Residual;
pub use usage::{Account, Accountant};

/// Priority of a submitter that neither the policy nor the usage file names; larger is worse.
pub const UNKNOWN_PRIORITY: f64 = 1000.0;

/// An expression of a policy, with its place in the policy file for error messages.
#[derive(Clone, Debug)]
pub struct PolicyRule {
    /// The expression; the key that holds it in the policy defines in which ad it is evaluated.
    pub expression: Expression,
    /// Byte range of the expression in the policy file; `None` if the expression comes from elsewhere.
    pub range: Option<Range<usize>>,
}

impl From<Expression> for PolicyRule {
    fn from(expression: Expression) -> Self {
        PolicyRule { expression, range: None }
    }
}

impl PolicyRule {
    /// Splits a list, `{ a, b }`, into one rule for each element; any other rule is returned as it is.
    #[must_use]
    pub fn components(self) -> Vec<PolicyRule> {
        match self.expression.without_parentheses().kind() {
            ExpressionKind::List(elements) if !elements.is_empty() => {
                let rule = |expression: &Expression| PolicyRule { expression: expression.clone(), ..self.clone() };
                elements.iter().map(rule).collect()
            }
            _ => vec![self],
        }
    }

    /// Evaluates the rule in an ad alone.
    pub fn evaluate(&self, ad: &Ad, context: &Context) -> Result<Value, Abort> {
        let (environment, frame) = Environment::single(ad.clone());
        Evaluator::new(&environment, context).evaluate(&self.expression, &frame)
    }

    /// Whether the rule is true in an ad alone.
    pub fn is_met(&self, ad: &Ad, context: &Context) -> Result<bool, Abort> {
        self.evaluate(ad, context).map(|value| is_met(&value, context.dialect))
    }
}

/// The administrative policy of a pool.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Root identification: requests for which this is true are served, and offers for which it is true are not given
    /// away. If `None`, all requests are roots and all offers are available.
    pub roots: Option<PolicyRule>,
    /// Root ordering: evaluated in each request, lexicographically greatest first. Undefined, error and NaN come
    /// last. Input order if empty.
    pub order: Vec<PolicyRule>,
    /// The docking vector: evaluated in the request for each candidate, which is `label` (and `other`) there. The
    /// greatest wins; a candidate with a component that is undefined or an error is discarded. If empty, the vector
    /// is the rank of the request, then that of the offer.
    pub docking: Vec<PolicyRule>,
    /// The rules for the remainder of an offer after a match; if `None`, no offer leaves a remainder.
    pub residual: Option<Residual>,
    /// Fair share among submitters; if `None`, all requests belong to one submitter.
    pub share: Option<Share>,
}

/// Fair share: submitters take turns, each up to its slice of the offers.
#[derive(Clone, Debug)]
pub struct Share {
    /// The expression whose value in a request names the submitter of the request.
    pub by: PolicyRule,
    /// Priorities of submitters; larger is worse, always positive.
    pub priorities: Vec<(String, f64)>,
}

impl Share {
    /// Returns the priority that the policy gives a submitter; `None` if the policy does not name the submitter.
    #[must_use]
    pub fn priority(&self, submitter: &str) -> Option<f64> {
        self.priorities.iter().find(|(name, _)| name == submitter).map(|(_, priority)| *priority)
    }
}

impl Policy {
    /// Returns the indexes of the requests to serve, in the order in which they are served, and the number of requests
    /// for which the evaluation of `roots` exceeded a budget.
    ///
    /// # Errors
    ///
    /// Fails if the values of the ordering cannot be compared.
    pub fn roots(&self, requests: &[Ad], context: &Context) -> Result<(Vec<usize>, u64), PolicyFault> {
        let mut failures = 0;
        let mut roots: Vec<usize> = (0..requests.len()).collect();
        if let Some(rule) = &self.roots {
            roots.retain(|root| {
                let met = rule.is_met(&requests[*root], context);
                failures += u64::from(met.is_err());
                met.unwrap_or(false)
            });
        }
        if !self.order.is_empty() {
            let vector = |root: usize| {
                let value = |rule: &PolicyRule| rule.evaluate(&requests[root], context).unwrap_or(Value::Undefined);
                PolicyVector::new(self.order.iter().map(value).collect(), context.dialect)
            };
            let mut vectors: Vec<(PolicyVector, usize)> = roots.into_iter().map(|root| (vector(root), root)).collect();
            PolicyVector::check_comparable(vectors.iter().map(|(vector, _)| vector), "order", &self.order)?;
            vectors.sort_by(|(left, _), (right, _)| left.cmp_greatest_first(right));
            roots = vectors.into_iter().map(|(_, root)| root).collect();
        }
        Ok((roots, failures))
    }

    /// Whether an offer may be given away: `roots` is not true in it.
    #[must_use]
    pub fn is_offer(&self, offer: &Ad, context: &Context) -> bool {
        !self.roots.as_ref().is_some_and(|rule| rule.is_met(offer, context).unwrap_or(false))
    }

    /// Returns the names that the expressions of the policy read, in whatever ad they are evaluated.
    #[must_use]
    pub fn free_names(&self, dialect: Dialect) -> FreeNames {
        let Policy { roots, order, docking, residual, share } = self;
        let mut mentions = FreeNames::default();
        for rule in roots.iter().chain(order).chain(docking).chain(share.iter().map(|share| &share.by)) {
            mentions.add_policy_expression(&rule.expression, dialect);
        }
        if let Some(residual) = residual {
            let set = residual.set.iter().map(|(_, rule)| rule);
            for rule in residual.when.iter().chain(set).chain(&residual.while_true) {
                mentions.add_policy_expression(&rule.expression, dialect);
            }
        }
        mentions
    }

    /// Returns the expressions that decide which offer a request gets. An autocluster holds only requests that these
    /// expressions cannot distinguish.
    #[must_use]
    pub fn match_policies(&self) -> PolicyExpressions {
        let in_requests = self.docking.iter().map(|rule| rule.expression.clone()).collect();
        let residual = self.residual.iter().flat_map(|residual| &residual.set);
        PolicyExpressions { in_requests, in_offers: residual.map(|(_, rule)| rule.expression.clone()).collect() }
    }

    /// Returns the expressions of [`Policy::match_policies`] and those that select and order requests and name their
    /// submitters. A resource request replaces several requests by a count, so that it may only replace requests that
    /// none of these expressions can distinguish (2006 paper 4.3).
    #[must_use]
    pub fn request_policies(&self) -> PolicyExpressions {
        let mut policies = self.match_policies();
        let rules = self.roots.iter().chain(&self.order).chain(self.share.iter().map(|share| &share.by));
        policies.in_requests.extend(rules.map(|rule| rule.expression.clone()));
        policies
    }
}

/// An error in applying a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFault {
    /// The reason, as a phrase.
    pub reason: String,
    /// Byte range of the faulty expression in the policy file; `None` if the expression comes from elsewhere.
    pub range: Option<Range<usize>>,
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for PolicyFault {}

/// Returns the name that denotes the candidate in docking expressions.
#[must_use]
pub fn candidate_label() -> Name {
    Name::new("label")
}
