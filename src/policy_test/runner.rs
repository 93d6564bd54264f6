//! Computes the actual results for the question of a case.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::ad::{Ad, Expression, ExpressionKind, ScopeFrame};
use crate::eval::{
    Abort, Context, Environment, Evaluator, Knowledge, SpecializeOptions, SpecializedExpression, specialize,
    specialize_attribute,
};
use crate::explain::{Explainer, PairReport};
use crate::format::document_tree::YamlNode;
use crate::matching::gang::{DockedOffer, Gang, GangFault, Gangmatcher};
use crate::matching::negotiate::{Grant, GrantedOffer, NegotiationEvent, NegotiationSettings, negotiate};
use crate::matching::policy::Policy;
use crate::matching::{Pair, PairSide, Query, Statistics, part_name};
use crate::protocol::Protocol;

use super::Expectation;
use super::ads::SpecAd;
use super::expectation::CaseAnswer;
use super::normalize::normalize;

/// The question of a case, with the ads and the policy that it needs.
pub enum CaseQuestion<'o> {
    /// The value of an expression.
    Value(ScopedExpression<'o>),
    /// Whether two ads match.
    Match { request: SpecAd, offer: SpecAd },
    /// The ads that meet a constraint.
    Query { constraint: Expression, pool: Vec<SpecAd> },
    /// The gang that a request gets.
    Gang { request: SpecAd, offers: Vec<SpecAd>, policy: Policy },
    /// The offers that requests get in a negotiation cycle.
    Cycle { requests: Vec<SpecAd>, offers: Vec<SpecAd>, policy: Policy },
    /// The residue of an expression when only some ads are known. With `is_closed`, an attribute that a known ad lacks
    /// is undefined, instead of unknown.
    Residue { scoped: ScopedExpression<'o>, is_closed: bool },
}

/// An expression with the ads of its scope. An ad is `None` if the case does not give it.
pub struct ScopedExpression<'o> {
    /// The YAML node of the expression, or of the name of the variable that holds it.
    pub node: &'o YamlNode,
    /// Whether the node holds the expression itself, so that its spans are places in the node.
    pub is_in_node: bool,
    /// The expression.
    pub expression: Expression,
    /// The ad in which the expression is evaluated.
    pub my: Option<SpecAd>,
    /// The ad of the other side, to which `target` refers.
    pub target: Option<SpecAd>,
}

/// The reason why a case has no result.
#[derive(Clone, Debug)]
pub enum CaseError {
    /// An evaluation exceeded its budget.
    BudgetExceeded(Abort),
    /// Some evaluations of a matching exceeded their budgets. Holds the number of these evaluations.
    FailedEvaluations(u64),
    /// The ads or the policy are invalid. Holds the message.
    Unusable(String),
}

impl From<Abort> for CaseError {
    fn from(halt: Abort) -> Self {
        CaseError::BudgetExceeded(halt)
    }
}

/// The keywords for the sides of a pair that refuse. The index of a keyword is the sum of 1 if the request refuses and
/// 2 if the offer refuses.
pub const REFUSING_SIDES: [&str; 4] = ["none", "request", "offer", "both"];

impl ScopedExpression<'_> {
    /// Builds the environment and the scope in which the expression is evaluated.
    pub fn environment(&self) -> (Environment, Arc<ScopeFrame>) {
        let [my, target] = self.ads();
        Environment::known(my, target)
    }

    fn ads(&self) -> [Option<Ad>; 2] {
        [&self.my, &self.target].map(|known| known.as_ref().map(|known| known.ad.clone()))
    }

    /// Specializes the expression. If the expression is only the name of an attribute of `my`, specializes that
    /// attribute's expression instead.
    fn specialize(&self, is_closed: bool, context: &Context) -> SpecializedExpression {
        let [my, target] = self.ads();
        let extent = if is_closed { Knowledge::Complete } else { Knowledge::Partial };
        let (environment, frame) = Environment::partial(my, target, extent);
        let options = SpecializeOptions::default();
        match self.expression.without_parentheses().kind() {
            ExpressionKind::Attribute(name) if frame.ad.get(name).is_some() => {
                specialize_attribute(name, &frame, &environment, context, options)
            }
            _ => specialize(&self.expression, &frame, &environment, context, options),
        }
    }
}

impl CaseQuestion<'_> {
    /// Computes the actual result for each expectation.
    ///
    /// # Errors
    ///
    /// If a budget is exceeded, or if ports or a policy are invalid.
    pub fn answer(&self, expectations: &[Expectation<'_>], context: &Context) -> Result<Vec<CaseAnswer>, CaseError> {
        let each = |answer: &dyn Fn(&str) -> CaseAnswer| expectations.iter().map(|asked| answer(asked.key)).collect();
        Ok(match self {
            CaseQuestion::Value(scoped) => {
                let (environment, frame) = scoped.environment();
                let mut evaluator = Evaluator::new(&environment, context);
                let value = evaluator.evaluate(&scoped.expression, &frame)?;
                vec![CaseAnswer::Value(normalize(value, &mut Evaluator::new(&environment, context))?)]
            }
            CaseQuestion::Match { request, offer } => {
                let protocol = Protocol::new(context.dialect);
                let pair = Pair::new(request.ad.clone(), offer.ad.clone(), protocol, context.clone());
                let (by_request, by_offer) = (!pair.accepts(PairSide::Request)?, !pair.accepts(PairSide::Offer)?);
                each(&|key| match key {
                    "match" => CaseAnswer::Truth(!by_request && !by_offer),
                    "refused-by" => {
                        CaseAnswer::Word(REFUSING_SIDES[usize::from(by_request) + 2 * usize::from(by_offer)])
                    }
                    _ => {
                        let pair = evaluate_pair(request, offer, context);
                        let clauses = pair.unmet().map(|(_, clause)| clause.clause.expression.clone());
                        CaseAnswer::Clauses(clauses.collect())
                    }
                })
            }
            CaseQuestion::Query { constraint, pool } => {
                let found = query_pool(constraint, pool, context)?;
                each(&|key| match key {
                    "count" => CaseAnswer::Count(found.len()),
                    _ => CaseAnswer::Ads(found.clone()),
                })
            }
            CaseQuestion::Gang { request, offers, policy } => {
                let offers = admitted_offers(offers, policy, context);
                let gang = find_gang(request, &offers, policy, context)?;
                let name = |docked: &DockedOffer| part_name(&offers[docked.offer].id, docked.part);
                let wants_members = matches!(expectations, [Expectation { fact: CaseAnswer::Members(_), .. }]);
                vec![match gang {
                    Some(gang) if wants_members => CaseAnswer::Members(gang.members().into_iter().map(name).collect()),
                    gang => CaseAnswer::Places(gang.iter().flat_map(|gang| docked_places(gang, &name)).collect()),
                }]
            }
            CaseQuestion::Cycle { requests, offers, policy } => {
                vec![CaseAnswer::Places(run_cycle(requests, offers, policy, context)?)]
            }
            CaseQuestion::Residue { scoped, is_closed } => {
                let residue = scoped.specialize(*is_closed, context);
                each(&|key| match key {
                    "verdict" => CaseAnswer::Word(residue.verdict.as_str()),
                    _ => CaseAnswer::Residue(residue.expression.clone()),
                })
            }
        })
    }
}

/// Returns the names of the ads that meet the constraint.
fn query_pool(constraint: &Expression, pool: &[SpecAd], context: &Context) -> Result<Vec<String>, CaseError> {
    let query = Query::new(constraint.clone(), context.clone());
    let name = |known: &SpecAd| Ok(query.accepts(&known.ad)?.then(|| known.id.clone()));
    pool.iter().filter_map(|known| name(known).transpose()).collect()
}

/// Evaluates the clauses of both ads against each other.
pub fn evaluate_pair(request: &SpecAd, offer: &SpecAd, context: &Context) -> PairReport {
    let offers = [offer.ad.clone()];
    Explainer::new(&offers, Protocol::new(context.dialect), context.clone()).explain_pair(&request.ad, 0)
}

fn check_failures(statistics: &Statistics) -> Result<(), CaseError> {
    if statistics.failures > 0 { Err(CaseError::FailedEvaluations(statistics.failures)) } else { Ok(()) }
}

/// Returns the offers that the policy gives away: the ads in which the expression `roots` of the policy is not true.
pub fn admitted_offers<'k>(offers: &'k [SpecAd], policy: &Policy, context: &Context) -> Vec<&'k SpecAd> {
    offers.iter().filter(|known| policy.is_offer(&known.ad, context)).collect()
}

/// Builds the gang matcher for the offers. The docking vector and the residual are those of the policy.
pub fn gang_matcher(offers: &[&SpecAd], policy: &Policy, context: &Context) -> Result<Gangmatcher, CaseError> {
    let ads: Vec<Ad> = offers.iter().map(|known| known.ad.clone()).collect();
    let (matcher, bad) = Gangmatcher::new(&ads, Protocol::new(context.dialect), context.clone());
    if let Some(bad) = bad.first() {
        return Err(CaseError::Unusable(format!("{}: {}", offers[bad.index].id, bad.fault.reason)));
    }
    Ok(matcher.with_docking_vector(policy.docking.clone()).with_residual(policy.residual.clone()))
}

/// Whether the policy serves a request: the policy's expression `roots` is true in the request.
pub fn is_served(request: &SpecAd, policy: &Policy, context: &Context) -> Result<bool, CaseError> {
    let roots = policy.roots(std::slice::from_ref(&request.ad), context);
    let (roots, failures) = roots.map_err(|fault| CaseError::Unusable(fault.reason))?;
    if failures > 0 { Err(CaseError::FailedEvaluations(failures)) } else { Ok(!roots.is_empty()) }
}

fn find_gang(
    request: &SpecAd,
    offers: &[&SpecAd],
    policy: &Policy,
    context: &Context,
) -> Result<Option<Gang>, CaseError> {
    if !is_served(request, policy, context)? {
        return Ok(None);
    }
    let mut matcher = gang_matcher(offers, policy, context)?;
    let gang = matcher.marshal(0, &request.ad).map_err(|fault| match fault {
        GangFault::Ports(fault) => CaseError::Unusable(format!("{}: {}", request.id, fault.reason)),
        GangFault::Policy(fault) => CaseError::Unusable(fault.reason),
    })?;
    check_failures(&matcher.statistics())?;
    Ok(gang)
}

/// Returns the offers of a gang, each with the path of its port. A path is `cpu` for a port of the request, or
/// `service.machine` for a port of the offer docked at `service`.
fn docked_places(gang: &Gang, name: &dyn Fn(&DockedOffer) -> String) -> Vec<(String, String)> {
    gang.port_paths().into_iter().zip(gang.members().into_iter().map(name)).collect()
}

fn run_cycle(
    requests: &[SpecAd],
    offers: &[SpecAd],
    policy: &Policy,
    context: &Context,
) -> Result<Vec<(String, String)>, CaseError> {
    let ads = |known: &[SpecAd]| known.iter().map(|known| known.ad.clone()).collect::<Vec<Ad>>();
    let settings = NegotiationSettings::new(policy.clone(), Protocol::new(context.dialect), context.clone());
    let mut bad_request = None;
    let outcome = negotiate(&settings, &ads(requests), &ads(offers), &|_| None, &mut |event| {
        if let NegotiationEvent::BadPorts { request, fault, .. } = event {
            bad_request.get_or_insert_with(|| format!("{}: {}", requests[request].id, fault.reason));
        }
        ControlFlow::Continue(())
    });
    let outcome = outcome.map_err(|fault| CaseError::Unusable(fault.reason))?;
    let bad_offer = outcome.bad_ports.first().map(|bad| format!("{}: {}", offers[bad.index].id, bad.fault.reason));
    if let Some(reason) = bad_request.or(bad_offer) {
        return Err(CaseError::Unusable(reason));
    }
    check_failures(&outcome.statistics)?;
    let places = |grant: &Grant| {
        let unit = grant.unit.map(|unit| format!("#{unit}")).unwrap_or_default();
        let request = format!("{}{unit}", requests[grant.request].id);
        let place = |granted: &GrantedOffer| (request.clone(), part_name(&offers[granted.offer].id, granted.part));
        grant.offers.iter().map(place).collect::<Vec<_>>()
    };
    Ok(outcome.grants.iter().flat_map(places).collect())
}
