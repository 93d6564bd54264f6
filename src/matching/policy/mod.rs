//! Administrative policy (thesis 3.2.4): which requests are served in which order, which offers they get, what remains
//! of an offer, and fair share among submitters.

mod docking_vector;
mod parse;
mod residual;
mod usage;
mod userprio;

use std::fmt;
use std::ops::Range;

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Value};
use crate::eval::{Abort, Context, Environment, Evaluator, FreeNames};
use crate::pool::PolicyExpressions;
use crate::protocol::is_met;

pub use docking_vector::PolicyVector;
pub use residual::Residual;
pub use usage::{Account, Accountant, AccountedClaim};

/// Priority of a submitter that neither the policy nor the usage file names; larger is worse.
pub const UNKNOWN_PRIORITY: f64 = 1000.0;

/// An expression of a policy, with its position in the policy file for error messages.
#[derive(Clone, Debug)]
pub struct PolicyRule {
    /// The expression. Its key in the policy, such as `roots`, decides in which ad it is evaluated.
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
    /// Splits a list such as `{ a, b }` into one rule for each element. Any other rule becomes the only component.
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

    /// Evaluates the rule in an ad without a partner.
    pub fn evaluate(&self, ad: &Ad, context: &Context) -> Result<Value, Abort> {
        let (environment, frame) = Environment::single(ad.clone());
        Evaluator::new(&environment, context).evaluate(&self.expression, &frame)
    }

    /// Whether the rule is true in an ad without a partner.
    pub fn is_met(&self, ad: &Ad, context: &Context) -> Result<bool, Abort> {
        self.evaluate(ad, context).map(|value| is_met(&value, context.dialect))
    }
}

/// The administrative policy of a pool.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Root identification. A request is served if the rule is true in the request. An offer is not given away if the
    /// rule is true in the offer. If `None`, all requests are served and all offers are available.
    pub roots: Option<PolicyRule>,
    /// Root ordering: the components of a vector that is evaluated in each request. Requests with greater vectors are
    /// served first. A value that cannot be ordered, such as undefined or NaN, counts as the least. If empty, requests
    /// are served in input order.
    pub order: Vec<PolicyRule>,
    /// The docking vector: its components are evaluated in the request for each candidate. There, `label` and `other`
    /// denote the candidate. The candidate with the greatest vector wins. A candidate is discarded if a component
    /// cannot be ordered, for example because it is undefined. If empty, candidates are ordered by the rank of the
    /// request, then by the rank of the offer.
    pub docking: Vec<PolicyRule>,
    /// The rules for the remainder of an offer after a match; if `None`, no offer leaves a remainder.
    pub residual: Option<Residual>,
    /// Fair share among submitters; if `None`, all requests belong to one submitter.
    pub share: Option<Share>,
}

/// Fair share: in each round, a submitter gets at most a slice of the offers. The priority of the submitter decides the
/// size of the slice.
#[derive(Clone, Debug)]
pub struct Share {
    /// The expression whose value in a request names the submitter of the request.
    pub by: PolicyRule,
    /// Priorities of submitters, by name. A priority is positive; larger is worse.
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
    /// Returns the indexes of the requests to serve, in the order in which they are served. Also returns the number of
    /// requests for which the evaluation of `roots` exceeded a budget.
    ///
    /// # Errors
    ///
    /// Fails if the values of a component of `order` cannot be compared.
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

    /// Whether an offer may be given away: `roots` is not true in the offer.
    #[must_use]
    pub fn is_offer(&self, offer: &Ad, context: &Context) -> bool {
        !self.roots.as_ref().is_some_and(|rule| rule.is_met(offer, context).unwrap_or(false))
    }

    /// Returns the names of all attributes that the policy reads, in requests or in offers.
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

    /// Returns the expressions that decide which offer a request gets. Requests that these expressions can distinguish
    /// are never in one autocluster.
    #[must_use]
    pub fn match_policies(&self) -> PolicyExpressions {
        let in_requests = self.docking.iter().map(|rule| rule.expression.clone()).collect();
        let residual = self.residual.iter().flat_map(|residual| &residual.set);
        PolicyExpressions { in_requests, in_offers: residual.map(|(_, rule)| rule.expression.clone()).collect() }
    }

    /// Returns the expressions of [`Policy::match_policies`], and the expressions that select requests, order them or
    /// name their submitters. A resource request may stand only for requests that none of these expressions can
    /// distinguish (2006 paper 4.3).
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

/// Returns the name of the candidate in docking expressions: `label`.
#[must_use]
pub fn candidate_label() -> Name {
    Name::new("label")
}
