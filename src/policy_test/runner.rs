//! Runs the question of a case.

use std::sync::Arc;

use crate::ad::{Ad, Expression, Frame, Kind};
use crate::eval::{Context, Environment, Evaluator, Extent, Halt, Liberties, specialize, specialize_attribute};
use crate::explain::{Explainer, Outcome, Paired, PairedClause};
use crate::format::document_tree::Node;
use crate::matching::gang::{Docked, Gang, GangFault, Gangmatcher};
use crate::matching::negotiate::{Grant, Settings as Cycle, negotiate};
use crate::matching::policy::Policy;
use crate::matching::{Accelerations, Pair, Query, Side, Statistics};
use crate::protocol::Protocol;

use super::Expectation;
use super::ads::Known;
use super::expectation::Fact;
use super::normalize::settle;

/// The question of a case.
pub enum Question<'o> {
    /// The value of an expression.
    Value(Sighted<'o>),
    /// Whether two ads match.
    Match { request: Known, offer: Known },
    /// The ads that meet a constraint.
    Query { constraint: Expression, pool: Vec<Known> },
    /// The gang that a request gets.
    Gang { request: Known, offers: Vec<Known>, policy: Policy },
    /// The offers that requests get in a negotiation cycle.
    Cycle { requests: Vec<Known>, offers: Vec<Known>, policy: Policy },
    /// The residue of an expression when some ads are known. With `is_closed` the ads have no further attributes.
    Residue { sighted: Sighted<'o>, is_closed: bool },
}

/// An expression with the ads in its scope.
pub struct Sighted<'o> {
    /// The node of the expression.
    pub node: &'o Node,
    /// The expression.
    pub expression: Expression,
    /// The ad in which the expression is evaluated.
    pub my: Option<Known>,
    /// The ad on the other side.
    pub target: Option<Known>,
}

/// The reason why a case has no result.
#[derive(Clone, Debug)]
pub enum Stop {
    /// An evaluation exceeded its budget.
    Halt(Halt),
    /// Number of evaluations in a matching run that exceeded their budgets.
    Failures(u64),
    /// The ads or the policy cannot be used; the message.
    Refused(String),
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        Stop::Halt(halt)
    }
}

/// The keywords for the sides that refuse.
pub const SIDES: [&str; 4] = ["none", "request", "offer", "both"];

impl Sighted<'_> {
    /// Builds the scope for evaluation.
    pub fn environment(&self) -> (Environment, Arc<Frame>) {
        let ad = |known: &Option<Known>| known.as_ref().map(|known| known.ad.clone());
        match (ad(&self.my), ad(&self.target)) {
            (my, Some(target)) => {
                let (environment, [frame, _]) = Environment::pair(my.unwrap_or_default(), target);
                (environment, frame)
            }
            (Some(my), None) => Environment::alone(my),
            (None, None) => Environment::nowhere(),
        }
    }

    fn partial_environment(&self, is_closed: bool) -> (Environment, Arc<Frame>) {
        let extent = if is_closed { Extent::Closed } else { Extent::Open };
        match (&self.my, &self.target) {
            (_, Some(_)) => {
                let (mut environment, frame) = self.environment();
                for participant in [0, 1] {
                    if let Some(member) = environment.member_mut(participant) {
                        member.extent = extent;
                    }
                }
                (environment, frame)
            }
            (Some(my), None) => Environment::unmet(my.ad.clone(), extent),
            (None, None) if is_closed => Environment::unmet(Ad::default(), extent),
            (None, None) => Environment::unplaced(),
        }
    }
}

impl Question<'_> {
    /// Computes the actual result for each of the expectations.
    ///
    /// # Errors
    ///
    /// If a budget is exceeded, or if ports or a policy are invalid.
    pub fn answer(&self, expectations: &[Expectation<'_>], context: &Context) -> Result<Vec<Fact>, Stop> {
        let protocol = Protocol::new(context.dialect);
        Ok(match self {
            Question::Value(sighted) => {
                let (environment, frame) = sighted.environment();
                let mut evaluator = Evaluator::new(&environment, context);
                let value = evaluator.evaluate(&sighted.expression, &frame)?;
                vec![Fact::Value(settle(value, &mut Evaluator::new(&environment, context))?)]
            }
            Question::Match { request, offer } => {
                let pair = Pair::new(request.ad.clone(), offer.ad.clone(), protocol, context.clone());
                let accepts = [pair.accepts(Side::Left)?, pair.accepts(Side::Right)?];
                let refusing = || {
                    let paired = paired(request, offer, context);
                    unmet(&paired).map(|(_, clause)| clause.clause.expression.clone()).collect()
                };
                let answer = |expectation: &Expectation<'_>| match expectation.key {
                    "match" => Fact::Truth(accepts == [true, true]),
                    "refused-by" => Fact::Word(match accepts {
                        [true, true] => SIDES[0],
                        [false, true] => SIDES[1],
                        [true, false] => SIDES[2],
                        [false, false] => SIDES[3],
                    }),
                    _ => Fact::Clauses(refusing()),
                };
                expectations.iter().map(answer).collect()
            }
            Question::Query { constraint, pool } => {
                let query = Query::new(constraint.clone(), context.clone());
                let mut found = Vec::new();
                for known in pool {
                    if query.accepts(&known.ad)? {
                        found.push(known.id.clone());
                    }
                }
                let answer = |expectation: &Expectation<'_>| match expectation.key {
                    "count" => Fact::Count(found.len()),
                    _ => Fact::Ads(found.clone()),
                };
                expectations.iter().map(answer).collect()
            }
            Question::Gang { request, offers, policy } => {
                let offers = served(offers, policy, context);
                let gang = gang(request, &offers, policy, context)?;
                let name = |docked: &Docked| part(&offers[docked.offer].id, docked.part);
                let wants_members = matches!(expectations, [Expectation { fact: Fact::Members(_), .. }]);
                vec![match gang {
                    Some(gang) if wants_members => Fact::Members(gang.members().into_iter().map(name).collect()),
                    gang => Fact::Places(gang.iter().flat_map(|gang| places(gang, &name)).collect()),
                }]
            }
            Question::Cycle { requests, offers, policy } => {
                vec![Fact::Places(cycle(requests, offers, policy, context, protocol)?)]
            }
            Question::Residue { sighted, is_closed } => {
                let (environment, frame) = sighted.partial_environment(*is_closed);
                let liberties = Liberties::default();
                // Specialize an attribute's own expression, as if it stood in the attribute.
                let left = match sighted.expression.bare().kind() {
                    Kind::Attribute(name) if frame.ad.get(name).is_some() => {
                        specialize_attribute(name, &frame, &environment, context, liberties)
                    }
                    _ => specialize(&sighted.expression, &frame, &environment, context, liberties),
                };
                let answer = |expectation: &Expectation<'_>| match expectation.key {
                    "verdict" => Fact::Word(left.verdict.as_str()),
                    _ => Fact::Residue(left.expression.clone()),
                };
                expectations.iter().map(answer).collect()
            }
        })
    }
}

/// Evaluates the clauses of both ads against each other.
pub fn paired(request: &Known, offer: &Known, context: &Context) -> Paired {
    let offers = [offer.ad.clone()];
    Explainer::new(&offers, Protocol::new(context.dialect), context.clone()).pair(&request.ad, 0)
}

/// Returns the unmet clauses of both sides, those of the request first.
pub fn unmet(paired: &Paired) -> impl Iterator<Item = (Side, &PairedClause)> {
    let request = paired.request.iter().map(|clause| (Side::Left, clause));
    let offer = paired.offer.iter().map(|clause| (Side::Right, clause));
    request.chain(offer).filter(|(_, clause)| clause.outcome != Outcome::True)
}

/// Returns the display name of a part of an offer. Part 1 is the offer itself.
pub fn part(id: &str, part: usize) -> String {
    if part == 1 { id.to_owned() } else { format!("{id}#{part}") }
}

fn stopped(statistics: &Statistics) -> Result<(), Stop> {
    if statistics.failures > 0 { Err(Stop::Failures(statistics.failures)) } else { Ok(()) }
}

/// Returns the offers that the policy admits.
pub fn served<'k>(offers: &'k [Known], policy: &Policy, context: &Context) -> Vec<&'k Known> {
    offers.iter().filter(|known| policy.is_offer(&known.ad, context)).collect()
}

/// Builds the gang matcher for these offers under a policy.
pub fn matcher(offers: &[&Known], policy: &Policy, context: &Context) -> Result<Gangmatcher, Stop> {
    let ads: Vec<Ad> = offers.iter().map(|known| known.ad.clone()).collect();
    let (matcher, bad) = Gangmatcher::new(&ads, Protocol::new(context.dialect), context.clone());
    if let Some(bad) = bad.first() {
        return Err(Stop::Refused(format!("{}: {}", offers[bad.index].id, bad.fault.reason)));
    }
    Ok(matcher.docking(policy.docking.clone()).dividing(policy.residual.clone()))
}

fn gang(request: &Known, offers: &[&Known], policy: &Policy, context: &Context) -> Result<Option<Gang>, Stop> {
    let is_root = policy.roots(std::slice::from_ref(&request.ad), context);
    let (roots, failures) = is_root.map_err(|fault| Stop::Refused(fault.reason))?;
    if failures > 0 {
        return Err(Stop::Failures(failures));
    }
    if roots.is_empty() {
        return Ok(None);
    }
    let mut matcher = matcher(offers, policy, context)?;
    let gang = matcher.marshal(0, &request.ad).map_err(|fault| match fault {
        GangFault::Ports(fault) => Stop::Refused(format!("{}: {}", request.id, fault.reason)),
        GangFault::Policy(fault) => Stop::Refused(fault.reason),
    })?;
    stopped(&matcher.statistics())?;
    Ok(gang)
}

/// Returns the offers of a gang by the path of their port: `cpu`, or `service.machine` for a port of the offer docked
/// at `service`.
fn places(gang: &Gang, name: &dyn Fn(&Docked) -> String) -> Vec<(String, String)> {
    let mut places = Vec::new();
    let mut pending: Vec<(String, &Docked)> = gang.ports.iter().rev().map(|docked| (String::new(), docked)).collect();
    while let Some((above, docked)) = pending.pop() {
        let path = if above.is_empty() { docked.label.clone() } else { format!("{above}.{}", docked.label) };
        places.push((path.clone(), name(docked)));
        pending.extend(docked.ports.iter().rev().map(|below| (path.clone(), below)));
    }
    places
}

fn cycle(
    requests: &[Known],
    offers: &[Known],
    policy: &Policy,
    context: &Context,
    protocol: Protocol,
) -> Result<Vec<(String, String)>, Stop> {
    let ads = |known: &[Known]| known.iter().map(|known| known.ad.clone()).collect::<Vec<Ad>>();
    let settings =
        Cycle { policy: policy.clone(), protocol, context: context.clone(), accelerations: Accelerations::ALL };
    let outcome = negotiate(&settings, &ads(requests), &ads(offers), &|_| None, &mut |_| ());
    let outcome = outcome.map_err(|fault| Stop::Refused(fault.reason))?;
    stopped(&outcome.statistics)?;
    let place = |grant: &Grant| {
        let unit = grant.unit.map(|unit| format!("#{unit}")).unwrap_or_default();
        (format!("{}{unit}", requests[grant.request].id), part(&offers[grant.offer].id, grant.part))
    };
    Ok(outcome.grants.iter().map(place).collect())
}
