//! A negotiation cycle: submitters take turns, and each request gets the best remaining offer (thesis 3.8, 2006 paper
//! 2.2 and 4).

mod accounting_limit;
mod allowance;
mod choice;
mod consideration;
mod cycle;
mod cycle_gangs;
mod event;
mod forecast;
mod granted_offer;
mod group_order;
mod group_rounds;
mod ledger;
mod limit_counts;
mod limit_record;
mod match_list;
mod match_table;
mod offers;
mod pie;
mod policy_candidates;
mod priority_attributes;
mod rounds;
mod run_history;
mod runnable;
mod simulation;
mod starts;
#[cfg(test)]
mod tests;
mod weight_accounts;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Name, Value};
use crate::eval::{Context, FreeNames};
use crate::pool::RequestClusters;
use crate::protocol::{Protocol, RESOURCE_COUNT, USER_ATTRIBUTES};

use super::gang::{Algorithm, BadPorts};
use super::policy::{Policy, PolicyFault, Share, UNKNOWN_PRIORITY, with_attributes};
use super::{Accelerations, Statistics};

pub use accounting_limit::{AccountingLimit, GroupUse, SubmitterUse, priority_text};
pub use allowance::{RefusalReasons, RemainingAllowance};
pub use choice::{Choice, DecidingDifference};
use cycle::NegotiationCycle;
pub use event::{Grant, GroupBalance, NegotiationEvent};
pub use forecast::{ForecastSettings, RequestLoad, RunTimes, StartForecast, forecast_starts};
pub use granted_offer::GrantedOffer;
use group_rounds::GroupRounds;
pub use limit_counts::ReachedLimit;
use limit_record::LimitRecord;
pub use limit_record::TurnLimit;
use match_table::KnownMatches;
pub use policy_candidates::PolicyCandidates;
use priority_attributes::PriorityAttributes;
use rounds::run_rounds;
pub use run_history::{
    CompletedRun, HISTORY_ATTRIBUTES, HISTORY_RUN_TIME, RunBasis, RunBasisUse, RunHistory, RunKind, RunSample,
    runs_in_slot,
};
pub use simulation::{
    RunTime, SIMULATION_ATTRIBUTES, SimulatedCycle, SimulatedEffect, SimulatedGrant, SimulationSettings,
    SimulationTotals, SubmitterState, simulate,
};
pub use starts::{ExceededQuota, RequestStarts};
use weight_accounts::WeightAccounts;

/// The settings of a negotiation cycle.
#[derive(Clone, Debug)]
pub struct NegotiationSettings {
    /// The administrative policy.
    pub policy: Policy,
    /// The names of the attributes that hold constraint and rank.
    pub protocol: Protocol,
    /// Dialect, budgets and interrupt of all evaluations.
    pub context: Context,
    /// Optional caches and indexes; they change the cost, never a match.
    pub accelerations: Accelerations,
    /// Which requests get gangs, and how gangs are searched.
    pub gangs: GangSettings,
    /// Whether the runner-up of each match is found. Finding the second best gang takes as long as finding the best.
    pub finds_runner_up: bool,
    /// Whether the requests that start after the cycle are found.
    pub finds_starts: bool,
    /// Whether the limits that keep requests from offers are found.
    pub finds_limits: bool,
}

impl NegotiationSettings {
    /// Returns settings with all accelerations, in which the requests that need gangs get them.
    #[must_use]
    pub fn new(policy: Policy, protocol: Protocol, context: Context) -> Self {
        NegotiationSettings {
            policy,
            protocol,
            context,
            accelerations: Accelerations::ALL,
            gangs: GangSettings::default(),
            finds_runner_up: false,
            finds_starts: false,
            finds_limits: false,
        }
    }
}

/// Which requests get gangs in a cycle, and how gangs are searched.
#[derive(Clone, Copy, Debug, Default)]
pub struct GangSettings {
    /// Which requests get gangs.
    pub ports: PortUse,
    /// How gangs are searched.
    pub algorithm: Algorithm,
    /// The seed of an algorithm that chooses at random.
    pub seed: u64,
}

/// Which requests get gangs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortUse {
    /// No request: ports are ignored, and each request gets one offer by the constraints of the two ads.
    Ignored,
    /// The requests with ports, and those at which an offer with ports may dock.
    #[default]
    Needed,
    /// All requests. A request without ports has the port `other`.
    Always,
}

/// The result of a negotiation cycle.
#[derive(Clone, Debug, Default)]
pub struct NegotiationOutcome {
    /// The matches, in the order in which they were made.
    pub grants: Vec<Grant>,
    /// Counters of the work done and the matches made in the cycle.
    pub statistics: Statistics,
    /// What each submitter got, the best priority first.
    pub submitters: Vec<SubmitterOutcome>,
    /// What each submitter uses after the cycle, if submitters share by weight: the weight of the offers that it got and of
    /// those that it used before, ordered by name.
    pub used_weight: Option<BTreeMap<String, f64>>,
    /// Indexes of the components of the docking vector whose values could never be ordered, for example because they
    /// are always undefined. Such a component discards every candidate.
    pub unordered_components: Vec<usize>,
    /// The offers that were left out because their ports cannot be used.
    pub bad_ports: Vec<BadPorts>,
    /// Number of offers whose weight is not a number of at least 0, and counts as 1. 0 unless submitters share by weight.
    pub without_weight: usize,
    /// Number of single offers that were given although another free candidate had an equal docking vector: the order of the
    /// input decided.
    pub ties: usize,
    /// The submitters that had the same priority, and used the same part of their share, as another one with requests: the
    /// order of their names decided. Empty unless submitters share by weight.
    pub tied_submitters: BTreeSet<String>,
    /// What is left of the divided offers, by the index of the offer.
    pub rests: BTreeMap<usize, Ad>,
    /// The requests that start after the cycle; `None` if they were not to be found.
    pub starts: Option<RequestStarts>,
    /// The limits that ended the turns of waiting requests, by index of the request. Empty if they were not to be found.
    pub limits: FxHashMap<usize, TurnLimit>,
    /// The submitter of each request, as an index into `submitters`, by index of the request. Empty if limits were not to be
    /// found, or if there are no shares.
    pub submitter_of: FxHashMap<usize, usize>,
}

/// What a submitter got in a cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmitterOutcome {
    /// The name. Empty if there are no shares: all requests belong to one submitter then.
    pub name: String,
    /// The priority; larger is worse.
    pub priority: f64,
    /// Number of requests.
    pub requests: usize,
    /// Number of matches. A request that stands for several units can have several.
    pub matches: usize,
    /// Number of offers in the matches.
    pub offers: usize,
}

/// The function that a cycle calls with each event. The cycle ends when it returns [`ControlFlow::Break`].
pub type CycleObserver<'o> = dyn FnMut(NegotiationEvent<'_>) -> ControlFlow<()> + 'o;

/// Runs a negotiation cycle and returns its matches. `priority` returns the priority of a submitter that the policy
/// does not name; larger is worse, and `None` means unknown. `tell` is called with each event as it happens. If
/// it returns [`ControlFlow::Break`], the cycle ends.
///
/// A request with ports gets a gang, and so does a request at which an offer with ports may dock (see [`PortUse`]). All
/// offers of a gang count against the share of its submitter. If a submitter may get fewer offers in a round than a
/// gang has, the request waits for the next round, unless the submitter got no offer yet in this round.
///
/// Without a policy, requests are served in input order. Each request gets the remaining offer that it ranks highest.
/// Among equally ranked offers it gets the one that ranks the request highest, then the first. [`super::GreedyMatcher`]
/// makes the same matches.
///
/// # Errors
///
/// Fails if values of the policy's vectors cannot be compared.
pub fn negotiate(
    settings: &NegotiationSettings,
    requests: &[Ad],
    offers: &[Ad],
    priority: &dyn Fn(&str) -> Option<f64>,
    tell: &mut CycleObserver<'_>,
) -> Result<NegotiationOutcome, PolicyFault> {
    let requests = with_attributes(requests, &settings.policy.request_attributes);
    let offers = with_attributes(offers, &settings.policy.offer_attributes);
    negotiate_known(settings, [requests, offers], KnownAds::default(), priority, tell)
}

/// What is known of ads from an earlier cycle.
#[derive(Default)]
struct KnownAds {
    clusters: Option<RequestClusters>,
    /// The submitter of each request.
    submitters: Option<Vec<String>>,
    /// The requests to serve, in their order.
    order: Option<Vec<usize>>,
    matches: Option<KnownMatches>,
}

/// Runs a cycle as [`negotiate`] does. The ads have the attributes of the policy.
fn negotiate_known(
    settings: &NegotiationSettings,
    ads: [Vec<Ad>; 2],
    known: KnownAds,
    priority: &dyn Fn(&str) -> Option<f64>,
    tell: &mut CycleObserver<'_>,
) -> Result<NegotiationOutcome, PolicyFault> {
    let NegotiationSettings { policy, context, .. } = settings;
    let weights = policy.weighted_share().map(|share| WeightAccounts::new(share, &ads[1], context)).unwrap_or_default();
    let [requests, offers] = PriorityAttributes::new(policy, context).add(ads, &weights, priority);
    let KnownAds { clusters, submitters: names, order, matches } = known;
    let mut cycle = NegotiationCycle::new(settings, (&requests, clusters), (&offers, weights, matches), tell);
    let (roots, failures) = match order {
        Some(order) => (order, 0),
        None => policy.roots(&requests, context)?,
    };
    cycle.outcome.statistics.failures += failures;
    let mut submitters = group_by_submitter(settings, (&requests, names), &roots, priority);
    cycle.limits = settings.finds_limits.then(|| LimitRecord::new(&cycle.ledger.weights, &submitters));
    match settings.policy.weighted_share() {
        Some(share) => {
            let mut rounds = GroupRounds::new(&mut cycle, share);
            rounds.run(&mut submitters)?;
            let used = rounds.accounts().used();
            cycle.outcome.used_weight = Some(used);
            cycle.outcome.without_weight = cycle.ledger.weights.without_weight;
        }
        None => run_rounds(&mut cycle, &mut submitters)?,
    }
    cycle.outcome.limits = cycle.limits(&submitters);
    if settings.finds_limits && settings.policy.share.is_some() {
        let of = |(index, of): (usize, &Submitter)| of.requests.iter().map(move |at| (*at, index)).collect::<Vec<_>>();
        cycle.outcome.submitter_of = submitters.iter().enumerate().flat_map(of).collect();
    }
    cycle.outcome.statistics.add(&cycle.offers.statistics());
    cycle.outcome.unordered_components = cycle.offers.unordered_components();
    cycle.outcome.bad_ports = std::mem::take(&mut cycle.offers.bad_ports);
    cycle.outcome.rests = cycle.offers.rests();
    if settings.finds_starts {
        cycle.outcome.starts = Some(starts::find_starts(&mut cycle, &submitters, &offers));
    }
    let mut matches: FxHashMap<usize, usize> = FxHashMap::default();
    for grant in &cycle.outcome.grants {
        *matches.entry(grant.request).or_default() += 1;
    }
    let outcome = |Submitter { name, priority, requests, granted }: Submitter| SubmitterOutcome {
        name,
        priority,
        requests: requests.len(),
        matches: requests.iter().filter_map(|request| matches.get(request)).sum(),
        offers: granted,
    };
    cycle.outcome.submitters = submitters.into_iter().map(outcome).collect();
    Ok(cycle.outcome)
}

/// Returns names of attributes that a cycle reads: the names in the policy, the count of a resource request, and the
/// user of an offer. A cycle also reads constraints, ranks and what they mention; these names are not added.
#[must_use]
pub fn negotiation_names(policy: &Policy, dialect: Dialect) -> FreeNames {
    let mut mentions = policy.free_names(dialect);
    mentions.names.extend(USER_ATTRIBUTES.iter().map(|name| Name::new(name)));
    mentions.names.insert(Name::new(RESOURCE_COUNT));
    mentions
}

/// A submitter during a cycle.
struct Submitter {
    name: String,
    priority: f64,
    /// Indexes of the submitter's requests, in the order in which they are served.
    requests: Vec<usize>,
    granted: usize,
}

/// Groups requests by submitter. Submitters are sorted by priority, best first, then by name. Without fair share,
/// all requests belong to one submitter without a name. `names` are the submitters of the requests, if they are known.
fn group_by_submitter(
    settings: &NegotiationSettings,
    (requests, mut names): (&[Ad], Option<Vec<String>>),
    roots: &[usize],
    priority: &dyn Fn(&str) -> Option<f64>,
) -> Vec<Submitter> {
    let Some(share) = &settings.policy.share else {
        return vec![Submitter { name: String::new(), priority: 1.0, requests: roots.to_vec(), granted: 0 }];
    };
    let mut by_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for root in roots {
        let name = match &mut names {
            Some(names) => std::mem::take(&mut names[*root]),
            None => submitter_name(share, &requests[*root], &settings.context),
        };
        by_name.entry(name).or_default().push(*root);
    }
    let submitter = |(name, requests): (String, Vec<usize>)| {
        let priority = submitter_priority(share, &name, priority);
        Submitter { name, priority, requests, granted: 0 }
    };
    let mut submitters: Vec<Submitter> = by_name.into_iter().map(submitter).collect();
    submitters.sort_by(|a, b| a.priority.total_cmp(&b.priority).then_with(|| a.name.cmp(&b.name)));
    submitters
}

/// Returns the name of the submitter of a request. A string is the name itself; any other value is printed.
fn submitter_name(share: &Share, request: &Ad, context: &Context) -> String {
    match share.by.evaluate(request, context).unwrap_or(Value::Undefined) {
        Value::String(text) => text.to_str().into_owned(),
        value => value.to_string(),
    }
}

/// Returns the priority of a submitter: that of the policy, or else that of `priority`, or else that of a new submitter.
fn submitter_priority(share: &Share, name: &str, priority: &dyn Fn(&str) -> Option<f64>) -> f64 {
    let of_new = || share.weighted.as_ref()?.new_priority(name);
    share.priority(name).or_else(|| priority(name)).or_else(of_new).unwrap_or(UNKNOWN_PRIORITY)
}
