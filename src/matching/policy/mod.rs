//! Administrative policy (thesis §3.2.4): which requests are served, in which order, by which offers; what is
//! left of an offer; and which share of the offers a submitter gets.

mod docking_vector;
mod parse;
mod residual;
mod usage;

use std::fmt;
use std::ops::Range;

use crate::ad::{Ad, Dialect, Expression, Kind, Name, Value};
use crate::eval::{Context, Environment, Evaluator, Halt, Mentions};
use crate::pool::Policies;
use crate::protocol::is_met;

pub use docking_vector::Vector;
pub use residual::Residual;
pub use usage::{Account, Accountant};

/// A submitter that neither the policy nor the usage knows has this priority; the larger the worse.
pub const UNKNOWN_PRIORITY: f64 = 1000.0;

/// An expression of a policy.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The expression.
    pub expression: Expression,
    /// The bytes of the policy file that it is; none if it stands elsewhere.
    pub range: Option<Range<usize>>,
}

impl From<Expression> for Rule {
    fn from(expression: Expression) -> Self {
        Rule { expression, range: None }
    }
}

impl Rule {
    /// The elements of a list, `{ a, b }`, as rules of their own; else the rule itself.
    #[must_use]
    pub fn components(self) -> Vec<Rule> {
        match self.expression.bare().kind() {
            Kind::List(elements) if !elements.is_empty() => {
                elements.iter().map(|element| Rule { expression: element.clone(), range: self.range.clone() }).collect()
            }
            _ => vec![self],
        }
    }

    /// The value in an ad that meets no one.
    ///
    /// # Errors
    ///
    /// When a budget is exceeded.
    pub fn value(&self, ad: &Ad, context: &Context) -> Result<Value, Halt> {
        let (environment, frame) = Environment::alone(ad.clone());
        Evaluator::new(&environment, context).evaluate(&self.expression, &frame)
    }

    /// Whether it is true of an ad.
    ///
    /// # Errors
    ///
    /// When a budget is exceeded.
    pub fn is_met(&self, ad: &Ad, context: &Context) -> Result<bool, Halt> {
        self.value(ad, context).map(|value| is_met(&value, context.dialect))
    }
}

/// The policy of a pool.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Which requests are served, and which offers are none, because they are requests themselves; all and none.
    pub roots: Option<Rule>,
    /// Root ordering: evaluated in each request, lexicographically greatest first; what is undefined, an error or
    /// no number comes last.  As they come if there is none.
    pub order: Vec<Rule>,
    /// The docking vector: evaluated in the request for each candidate, which is `label` (and `other`) there; the
    /// greatest wins, one with an undefined or error component is discarded.  If there is none, it is the rank of
    /// the request, then that of the offer.
    pub docking: Vec<Rule>,
    /// What remains of an offer after a match; it is used up if there is none.
    pub residual: Option<Residual>,
    /// Which share of the offers each submitter gets; all requests are one submitter's if there is none.
    pub share: Option<Share>,
}

/// Fair share: submitters take turns, each up to its slice of the offers.
#[derive(Clone, Debug)]
pub struct Share {
    /// Who submitted a request: evaluated in it.
    pub by: Rule,
    /// The priorities of submitters; the larger the worse, always positive.
    pub priorities: Vec<(String, f64)>,
}

impl Share {
    /// The priority that the policy gives a submitter.
    #[must_use]
    pub fn priority(&self, submitter: &str) -> Option<f64> {
        self.priorities.iter().find(|(name, _)| name == submitter).map(|(_, priority)| *priority)
    }
}

impl Policy {
    /// The requests that are served, as indexes in their order, and how many evaluations exceeded a budget.
    ///
    /// # Errors
    ///
    /// When the values of the ordering do not compare.
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
            let value = |rule: &Rule, root: usize| rule.value(&requests[root], context).unwrap_or(Value::Undefined);
            let mut vectors = Vec::with_capacity(roots.len());
            for root in roots {
                let values = self.order.iter().map(|rule| value(rule, root)).collect();
                vectors.push((Vector::new(values, context.dialect), root));
            }
            Vector::check(vectors.iter().map(|(vector, _)| vector), "order", &self.order)?;
            vectors.sort_by(|(left, _), (right, _)| left.greatest_first(right));
            roots = vectors.into_iter().map(|(_, root)| root).collect();
        }
        Ok((roots, failures))
    }

    /// Whether an offer is one: it is none if it is a request itself.
    #[must_use]
    pub fn is_offer(&self, offer: &Ad, context: &Context) -> bool {
        !self.roots.as_ref().is_some_and(|rule| rule.is_met(offer, context).unwrap_or(false))
    }

    /// What all expressions of the policy mention, in whatever ad they are evaluated.
    #[must_use]
    pub fn mentions(&self, dialect: Dialect) -> Mentions {
        let Policy { roots, order, docking, residual, share } = self;
        let mut mentions = Mentions::default();
        for rule in roots.iter().chain(order).chain(docking).chain(share.iter().map(|share| &share.by)) {
            mentions.add_rule(&rule.expression, dialect);
        }
        if let Some(residual) = residual {
            let set = residual.set.iter().map(|(_, rule)| rule);
            for rule in residual.when.iter().chain(set).chain(&residual.while_true) {
                mentions.add_rule(&rule.expression, dialect);
            }
        }
        mentions
    }

    /// The expressions that decide which offer a request gets: requests in which they read the same are treated
    /// alike.
    #[must_use]
    pub fn of_matches(&self) -> Policies {
        let in_requests = self.docking.iter().map(|rule| rule.expression.clone()).collect();
        let residual = self.residual.iter().flat_map(|residual| &residual.set);
        Policies { in_requests, in_offers: residual.map(|(_, rule)| rule.expression.clone()).collect() }
    }

    /// Those, and the expressions that decide which request comes when: what has to be known of requests that are
    /// counted and not kept (2006 paper §4.3).
    #[must_use]
    pub fn of_requests(&self) -> Policies {
        let mut policies = self.of_matches();
        let rules = self.roots.iter().chain(&self.order).chain(self.share.iter().map(|share| &share.by));
        policies.in_requests.extend(rules.map(|rule| rule.expression.clone()));
        policies
    }
}

/// Why a policy cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFault {
    /// What is wrong, as a phrase.
    pub reason: String,
    /// The bytes of the policy file in which it is; none if the expression stands elsewhere.
    pub range: Option<Range<usize>>,
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for PolicyFault {}

/// The name that stands for the candidate in every docking expression.
#[must_use]
pub fn label() -> Name {
    Name::new("label")
}
