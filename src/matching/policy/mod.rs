//! Administrative policy (thesis 3.2.4): which requests are served in which order, which offers they get, what remains
//! of an offer, and fair share among submitters.

mod concurrency_limits;
mod configured;
mod docking_vector;
mod group_quotas;
mod job_demands;
mod leftovers;
mod parse;
mod residual;
mod typed_ranks;
mod usage;
mod userprio;
mod variables;
mod weighted_share;

use std::fmt;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdExtension, Dialect, Expression, ExpressionKind, Name, Truth, Value};
use crate::eval::{Abort, Context, Environment, Evaluator, FreeNames};
use crate::pool::PolicyExpressions;
use crate::protocol::{is_typed_rank, rank_number, rank_value};

pub use concurrency_limits::{ConcurrencyLimits, parse_limits};
pub use configured::{CycleTimes, READY_POLICIES, configure, negotiator_problems, ready_policy};
pub use docking_vector::PolicyVector;
pub(in crate::matching) use docking_vector::docking_values;
pub use group_quotas::{AccountingGroup, GroupAllocation, GroupQuota, GroupTree, ROOT_GROUP};
pub use job_demands::JobDemands;
pub use leftovers::Leftovers;
pub use parse::{MAX_COMPONENTS, POLICY_KEYS, PolicyProblems};
pub use residual::{ListTaking, Residual};
pub use typed_ranks::with_typed_ranks;
pub use usage::{Account, Accountant, AccountedClaim};
pub use userprio::{impossible_numbers, time_of_accounts};
pub use weighted_share::{PriorityFactors, WeightedShare};

/// Priority of a submitter that neither the policy nor the usage file names; larger is worse.
pub const UNKNOWN_PRIORITY: f64 = 1000.0;

/// An expression of a policy, with its position in the policy file for error messages.
#[derive(Clone, Debug)]
pub struct PolicyRule {
    /// The expression. Its key in the policy, such as `roots`, decides in which ad it is evaluated.
    pub expression: Expression,
    /// Byte range of the expression in the policy file; `None` if the expression comes from elsewhere.
    pub range: Option<Range<usize>>,
    /// What reports call a component of a vector; `None` if the policy does not name it.
    pub name: Option<Box<str>>,
    /// How the component of a vector orders values that are no numbers, if it is a rank. `None` for any other rule: a value
    /// that cannot be ordered, such as an error, has no place in the order then.
    pub rank: Option<RankOrder>,
}

/// How a rank orders values that are no numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RankOrder {
    /// Such a value counts as this number.
    Number(f64),
    /// In the papers' dialect strings and times order among their own kind (thesis 3.2.3). Among numbers they count as 0,
    /// as any other such value does.
    Typed,
}

impl From<Expression> for PolicyRule {
    fn from(expression: Expression) -> Self {
        PolicyRule { expression, range: None, name: None, rank: None }
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

    /// Returns the value by which a component orders: that of its expression, or a number if the component is a rank.
    pub fn ordered_value(&self, value: Value, dialect: Dialect) -> Value {
        match self.rank {
            None => value,
            Some(RankOrder::Typed) if is_typed_rank(&value, dialect) => value,
            Some(RankOrder::Typed) => Value::Real(rank_value(&value)),
            Some(RankOrder::Number(otherwise)) => Value::Real(rank_number(&value).unwrap_or(otherwise)),
        }
    }

    /// Evaluates the rule in an ad without a partner.
    pub fn evaluate(&self, ad: &Ad, context: &Context) -> Result<Value, Abort> {
        let (environment, frame) = Environment::single(ad.clone());
        Evaluator::new(&environment, context).evaluate(&self.expression, &frame)
    }

    /// Whether the rule is true in an ad without a partner.
    pub fn is_met(&self, ad: &Ad, context: &Context) -> Result<bool, Abort> {
        self.evaluate(ad, context).map(|value| Truth::of(&value, context.dialect).is_true())
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
    /// Rule that a request and a candidate must meet besides their constraints, evaluated like a component of the docking
    /// vector. A value that is neither true nor false counts as true. If `None`, every candidate meets it.
    pub start: Option<PolicyRule>,
    /// The rules for the remainder of an offer after a match; if `None`, no offer leaves a remainder.
    pub residual: Option<Residual>,
    /// The rules for what is left of offers after the cycle; if `None`, nothing is divided after the cycle.
    pub leftovers: Option<Leftovers>,
    /// Fair share among submitters; if `None`, all requests belong to one submitter.
    pub share: Option<Share>,
    /// Concurrency limits; if `None`, requests have none.
    pub limits: Option<ConcurrencyLimits>,
    /// Attributes that are added to every request before the cycle. Rules and ads may read them.
    pub request_attributes: Vec<(Name, PolicyRule)>,
    /// Attributes that are added to every offer before the cycle. Rules and ads may read them.
    pub offer_attributes: Vec<(Name, PolicyRule)>,
}

/// Fair share: in each round, a submitter gets at most a slice of the offers. The priority of the submitter decides the
/// size of the slice.
#[derive(Clone, Debug)]
pub struct Share {
    /// The expression whose value in a request names the submitter of the request.
    pub by: PolicyRule,
    /// Priorities of submitters, by name. A priority is positive; larger is worse.
    pub priorities: Vec<(String, f64)>,
    /// Shares by weight, as in HTCondor; if `None`, submitters share the number of offers that are left in each round.
    pub weighted: Option<WeightedShare>,
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
                let value = |rule: &PolicyRule| {
                    rule.ordered_value(
                        rule.evaluate(&requests[root], context).unwrap_or(Value::Undefined),
                        context.dialect,
                    )
                };
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

    /// Returns the shares by weight, if there are any.
    #[must_use]
    pub fn weighted_share(&self) -> Option<&WeightedShare> {
        self.share.as_ref()?.weighted.as_ref()
    }

    /// Whether the docking vector is that of [`with_typed_ranks`].
    #[must_use]
    pub fn has_typed_ranks(&self) -> bool {
        self.docking.iter().any(|rule| rule.rank == Some(RankOrder::Typed))
    }

    /// Returns the docking vector for gangs. Ports have ranks of their own, which order by themselves.
    pub(in crate::matching) fn docking_of_gangs(&self) -> Vec<PolicyRule> {
        self.docking.iter().filter(|rule| rule.rank != Some(RankOrder::Typed)).cloned().collect()
    }

    /// Returns the names of all attributes that the policy reads, in requests or in offers.
    #[must_use]
    pub fn free_names(&self, dialect: Dialect) -> FreeNames {
        let Policy { roots, order, docking, start, residual, leftovers, share, limits, .. } = self;
        let Policy { request_attributes, offer_attributes, .. } = self;
        let mut mentions = FreeNames::default();
        let shares = share.iter().flat_map(|share| {
            let weighted = share.weighted.iter().flat_map(WeightedShare::rules).flatten();
            weighted.chain([&share.by])
        });
        let limits = limits.iter().flat_map(|limits| limits.needs.iter().chain(&limits.in_use));
        let attributes = request_attributes.iter().chain(offer_attributes).map(|(_, rule)| rule);
        let of_rests = leftovers.iter().flat_map(|leftovers| leftovers.permits.iter().chain(&leftovers.worklife));
        let rules = roots.iter().chain(order).chain(docking).chain(start).chain(of_rests);
        for rule in rules.chain(shares).chain(limits).chain(attributes) {
            mentions.add_policy_expression(&rule.expression, dialect);
        }
        for residual in residual.iter().chain(leftovers.iter().map(|leftovers| &leftovers.division)) {
            let set = residual.set.iter().map(|(_, rule)| rule);
            let take = residual.take.iter().flat_map(|taking| [&taking.count].into_iter().chain(&taking.fits));
            mentions.names.extend(residual.take.iter().map(|taking| taking.list.clone()));
            for rule in residual.when.iter().chain(&residual.keep).chain(set).chain(take).chain(&residual.while_true) {
                mentions.add_policy_expression(&rule.expression, dialect);
            }
        }
        mentions
    }

    /// Returns the expressions that decide which offer a request gets. Requests that these expressions can distinguish
    /// are never in one autocluster.
    #[must_use]
    pub fn match_policies(&self) -> PolicyExpressions {
        let weighted = self.share.iter().flat_map(|share| &share.weighted);
        let needs = self.limits.iter().flat_map(|limits| &limits.needs);
        let of_share = weighted.flat_map(|share| share.beyond.iter().chain(&share.covers));
        let of_rests = self.leftovers.iter().flat_map(|leftovers| &leftovers.permits);
        let in_requests = self.docking.iter().chain(&self.start).chain(needs).chain(of_share).chain(of_rests);
        let divisions = self.residual.iter().chain(self.leftovers.iter().map(|leftovers| &leftovers.division));
        let in_offers = divisions.flat_map(|residual| {
            let set = residual.set.iter().map(|(_, rule)| rule);
            let take = residual.take.iter().flat_map(|taking| [&taking.count].into_iter().chain(&taking.fits));
            residual.when.iter().chain(set).chain(take)
        });
        PolicyExpressions {
            in_requests: in_requests.map(|rule| rule.expression.clone()).collect(),
            in_offers: in_offers.map(|rule| rule.expression.clone()).collect(),
        }
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

/// Returns ads with further attributes. Ads that share one [`Ad`] do so afterwards, too.
#[must_use]
pub fn with_attributes(ads: &[Ad], attributes: &[(Name, PolicyRule)]) -> Vec<Ad> {
    if attributes.is_empty() {
        return ads.to_vec();
    }
    let mut extension =
        AdExtension::new(attributes.iter().map(|(name, rule)| (name.clone(), rule.expression.clone())).collect());
    let mut made: FxHashMap<usize, Ad> = FxHashMap::default();
    let add = |ad: &Ad| made.entry(ad.identity()).or_insert_with(|| extension.extend(ad)).clone();
    ads.iter().map(add).collect()
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

#[cfg(test)]
mod tests {
    mod accounts;
    mod divided;
    mod settings;
    mod vectors;
    mod words;

    use super::{PolicyRule, with_attributes};
    use crate::ad::{Ad, Expression, Name};

    #[test]
    fn ads_without_further_attributes_are_the_same_and_shared_ones_stay_shared() {
        let [one, other] = [1, 2].map(|number| Ad::default().with(Name::new("a"), Expression::literal(number)));
        let ads = [one.clone(), other, one];
        let identities = |ads: &[Ad]| ads.iter().map(Ad::identity).collect::<Vec<_>>();
        assert_eq!(identities(&with_attributes(&ads, &[])), identities(&ads));
        let rule = PolicyRule::from(Expression::literal(3));
        let extended = with_attributes(&ads, &[(Name::new("b"), rule)]);
        let texts: Vec<String> = extended.iter().map(|ad| ad.get_str("b").unwrap().to_string()).collect();
        assert_eq!(texts, ["3", "3", "3"]);
        let found = identities(&extended);
        assert!(found[0] == found[2] && found[0] != found[1]);
    }
}
