//! Claims that outlive their requests: when one ends, the access point starts the next of the same submitter in the claim, without
//! the negotiator (`Scheduler::RecycleShadow` and `Resource::claimWorklifeExpired` of HTCondor).

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name, Value};
use crate::eval::Context;
use crate::matching::policy::{PolicyRule, with_attributes};
use crate::matching::{Accelerations, Candidate};
use crate::pool::RequestClusters;
use crate::protocol::{evaluate_attribute, has_ports, rank_number};

use super::super::NegotiationSettings;
use super::super::offers::CycleOffers;
use super::super::runnable::{ClaimRules, WaitingRequests};
use super::request::SimulatedRequest;

/// The universe whose jobs have claims of several slots: parallel.
const PARALLEL_UNIVERSE: i64 = 11;

/// A claim whose request has ended.
pub struct EndedClaim<'a> {
    /// The slot.
    pub slot: &'a Ad,
    /// Index of the request that has ended; `None` if the queue has no ad of it.
    pub request: Option<usize>,
    pub submitter: &'a str,
}

/// What the access point knows of waiting requests when a claim becomes free.
pub struct ClaimReuse {
    rules: ClaimRules,
    worklife: PolicyRule,
    /// The requests that wait, by submitter.
    queues: FxHashMap<String, WaitingRequests>,
    /// The place of each request in the order of all, and its autocluster. `None` for a request that the policy does not serve, or
    /// that needs more than one slot.
    places: Vec<Option<(usize, usize)>>,
    /// The requests that are still to come, the earliest last.
    future: Vec<(i64, usize)>,
    /// The time by which requests have come.
    time: i64,
}

impl ClaimReuse {
    /// Finds the places of the requests in their order. `None` if the policy has no rule for claims.
    pub fn new(
        settings: &NegotiationSettings,
        requests: &[SimulatedRequest],
        (order, clusters): (&[usize], Option<&RequestClusters>),
    ) -> Option<Self> {
        let NegotiationSettings { policy, context, .. } = settings;
        let leftovers = policy.leftovers.clone()?;
        let worklife = leftovers.worklife.clone()?;
        let mut places = vec![None; requests.len()];
        for (place, request) in order.iter().enumerate() {
            let cluster = clusters.map_or(*request, |clusters| clusters.cluster_of[*request]);
            places[*request] = Some((place, cluster)).filter(|_| needs_one_slot(&requests[*request].ad, context));
        }
        let mut future: Vec<(i64, usize)> =
            requests.iter().enumerate().map(|(index, request)| (request.arrival, index)).collect();
        future.sort_unstable_by(|left, right| right.cmp(left));
        let rules = ClaimRules { policy: policy.clone(), leftovers };
        Some(ClaimReuse { rules, worklife, queues: FxHashMap::default(), places, future, time: i64::MIN })
    }

    /// Adds the requests that have come by a time.
    pub fn advance(&mut self, time: i64, requests: &[SimulatedRequest]) {
        self.time = time;
        while let Some((_, request)) = self.future.pop_if(|(arrival, _)| *arrival <= time) {
            self.renew(request, &requests[request]);
        }
    }

    /// Takes note of how many units of a request wait now.
    pub fn renew(&mut self, index: usize, request: &SimulatedRequest) {
        if let Some((place, cluster)) = self.places[index].filter(|_| request.arrival <= self.time) {
            let queue = self.queues.entry(request.submitter.clone()).or_default();
            queue.set(index, (place, cluster, request.waiting));
        }
    }

    /// Whether a claim may get a further request: it is not older than the policy says, and its submitter has some.
    pub fn is_open(&self, claim: &EndedClaim<'_>, age: i64, context: &Context) -> bool {
        let has_some = self.queues.get(claim.submitter).is_some_and(|queue| !queue.is_empty());
        let had_one_slot = claim.request.is_none_or(|request| self.places[request].is_some());
        let worklife = || self.worklife.evaluate(claim.slot, context).ok().as_ref().and_then(rank_number);
        #[allow(clippy::cast_precision_loss)] // no claim is older than 2^53 seconds
        let age = age as f64;
        has_some && had_one_slot && worklife().filter(|life| *life >= 0.0).is_none_or(|life| age <= life)
    }

    /// Returns claimed slots as offers. `settings` has the time at which their requests ended.
    pub fn offers(slots: &[Ad], settings: &NegotiationSettings) -> CycleOffers {
        let prepared = with_attributes(slots, &settings.policy.offer_attributes);
        CycleOffers::new(&[], &prepared, settings, Accelerations::NONE)
    }

    /// Returns the request that starts in a claim, which is an offer.
    pub fn next(
        &self,
        claim: &EndedClaim<'_>,
        (offers, offer): (&mut CycleOffers, usize),
        requests: &[SimulatedRequest],
    ) -> Option<(usize, Candidate)> {
        let queue = self.queues.get(claim.submitter)?;
        let limits = match claim.request {
            Some(request) => self.rules.limits_text(&requests[request].prepared, offers, offer),
            None => match evaluate_attribute(claim.slot, &Name::new("ConcurrencyLimits"), &offers.context) {
                Some(Value::String(limits)) => limits.to_str().to_ascii_lowercase(),
                _ => String::new(),
            },
        };
        self.rules.find_runnable(queue, |request| &requests[request].prepared, offers, offer, &limits)
    }
}

fn needs_one_slot(request: &Ad, context: &Context) -> bool {
    let universe = evaluate_attribute(request, &Name::new("JobUniverse"), context);
    !has_ports(request) && !matches!(universe, Some(Value::Integer(PARALLEL_UNIVERSE)))
}
