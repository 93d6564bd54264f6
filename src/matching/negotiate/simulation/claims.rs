//! Claims that outlive their requests: when one ends, the access point starts the next of the same submitter in the claim, without
//! the negotiator (`Scheduler::RecycleShadow` and `Resource::claimWorklifeExpired` of HTCondor). If none waits, the claim stays open
//! for `KeepClaimIdle` (`Scheduler::FindRunnableJobForClaim`).

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Expression, Name, Value};
use crate::eval::Context;
use crate::matching::policy::{PolicyRule, with_attributes};
use crate::matching::{Accelerations, Candidate};
use crate::pool::RequestClusters;
use crate::protocol::{evaluate_attribute, has_ports, rank_number};

use super::super::NegotiationSettings;
use super::super::offers::CycleOffers;
use super::super::runnable::{ClaimRules, WaitingRequests};
use super::SimulationSettings;
use super::request::SimulatedRequest;

/// The attribute of a job for how many seconds its claim stays open without a job.
const KEEP_CLAIM: &str = "KeepClaimIdle";

/// The state of a job that runs (`JobStatus`).
const RUNNING: i64 = 2;

/// The universe whose jobs have claims of several slots: parallel.
const PARALLEL_UNIVERSE: i64 = 11;

/// A claim of the access point on a slot.
#[derive(Clone, Copy)]
pub struct SlotClaim {
    /// The time since which the slot is claimed.
    pub since: i64,
    /// Index of the request for which it was claimed; `None` if the queue has no ad of it.
    pub first: Option<usize>,
    /// Number of seconds for which it stays open without a request.
    pub keep: i64,
}

/// A claim without a request.
pub struct OpenClaim {
    /// Index of the slot.
    pub slot: usize,
    pub submitter: String,
    pub claim: SlotClaim,
    /// The last time at which it is open.
    pub until: i64,
    /// The time at which the slot ends it because of its age.
    pub closes: i64,
    /// Whether it stays open after its next request as long as after the one before.
    pub passes_keep: bool,
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
    /// The claims that wait for requests, by slot.
    open: BTreeMap<usize, OpenClaim>,
    /// The submitters of whom requests have come to wait since the access point looked at its open claims.
    came: FxHashSet<String>,
    /// The beginning of the simulation, and the time between two looks.
    looks: (i64, Option<i64>),
}

impl ClaimReuse {
    /// Finds the places of the requests in their order. `None` if the policy has no rule for claims.
    pub fn new(
        (settings, of): (&NegotiationSettings, &SimulationSettings),
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
        Some(ClaimReuse {
            rules,
            worklife,
            queues: FxHashMap::default(),
            places,
            future,
            time: of.begin,
            open: BTreeMap::new(),
            came: FxHashSet::default(),
            looks: (of.begin, of.claim_interval),
        })
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
            if request.waiting > 0 && !self.open.is_empty() {
                self.came.insert(request.submitter.clone());
            }
        }
    }

    /// Whether requests of a submitter wait.
    pub fn has_waiting(&self, submitter: &str) -> bool {
        self.queues.get(submitter).is_some_and(|queue| !queue.is_empty())
    }

    /// Returns the time at which a slot ends a claim because of its age. `request` has ended in it; after one that needs several
    /// slots, the claim ends, too.
    pub fn closing(&self, slot: &Ad, claim: SlotClaim, request: Option<usize>, context: &Context) -> i64 {
        if request.is_some_and(|request| self.places[request].is_none()) {
            return i64::MIN;
        }
        let life = self.worklife.evaluate(slot, context).ok().as_ref().and_then(rank_number);
        #[allow(clippy::cast_possible_truncation)] // saturates
        let last = life.filter(|life| *life >= 0.0).map(|life| claim.since.saturating_add(life as i64));
        last.map_or(i64::MAX, |last| last.saturating_add(1))
    }

    /// Returns the number of seconds for which a claim stays open after a request that starts in it. The access point evaluates
    /// `KeepClaimIdle` when the request has begun to run.
    pub fn keep(request: &Ad, context: &Context) -> i64 {
        if request.get_str(KEEP_CLAIM).is_none() {
            return 0;
        }
        let running = request.with(Name::new("JobStatus"), Expression::literal(Value::Integer(RUNNING)));
        let seconds = match evaluate_attribute(&running, &Name::new(KEEP_CLAIM), context) {
            Some(Value::Integer(seconds)) => seconds,
            #[allow(clippy::cast_possible_truncation)] // saturates
            Some(Value::Real(seconds)) => seconds as i64,
            Some(Value::Boolean(is_kept)) => i64::from(is_kept),
            _ => 0,
        };
        seconds.max(0)
    }

    /// Keeps a claim open. An access point that looks at times alone may come late.
    pub fn add_open(&mut self, claim: OpenClaim) {
        let ends = if self.looks.1.is_none() { claim.until.saturating_add(1) } else { i64::MAX };
        self.open.insert(claim.slot, OpenClaim { closes: claim.closes.min(ends), ..claim });
    }

    /// Takes the open claim on a slot.
    pub fn take_open(&mut self, slot: usize) -> Option<OpenClaim> {
        self.open.remove(&slot)
    }

    /// Returns the next time at which something can become of an open claim.
    pub fn next_look(&self) -> Option<i64> {
        let closes = self.open.values().map(|claim| claim.closes).min()?;
        let ends = self.open.values().map(|claim| claim.until.saturating_add(1)).min();
        let come = if self.came.is_empty() { self.future.last().map(|(arrival, _)| *arrival) } else { Some(self.time) };
        let look = ends.into_iter().chain(come).min().map(|time| match self.looks {
            (begin, Some(interval)) => time.saturating_add(begin.saturating_sub(time).rem_euclid(interval)),
            _ => time,
        });
        Some(look.map_or(closes, |look| look.min(closes)).max(self.time))
    }

    /// Takes the open claims that the access point tries to use at a time, or gives back. It looks at them also when it starts
    /// other requests.
    pub fn take_due(&mut self, at: i64, starts_others: bool) -> Vec<OpenClaim> {
        let is_tick = |interval: i64| at.saturating_sub(self.looks.0).rem_euclid(interval) == 0;
        let is_look = starts_others || self.looks.1.is_none_or(is_tick);
        let came = if is_look { std::mem::take(&mut self.came) } else { FxHashSet::default() };
        let is_due =
            |claim: &OpenClaim| claim.closes <= at || is_look && (claim.until < at || came.contains(&claim.submitter));
        let slots: Vec<usize> = self.open.values().filter(|claim| is_due(claim)).map(|claim| claim.slot).collect();
        slots.into_iter().filter_map(|slot| self.open.remove(&slot)).collect()
    }

    /// Returns claimed slots as offers. `settings` has the time at which their requests ended.
    pub fn offers(slots: &[Ad], settings: &NegotiationSettings) -> CycleOffers {
        let prepared = with_attributes(slots, &settings.policy.offer_attributes);
        CycleOffers::new(&[], &prepared, settings, Accelerations::NONE)
    }

    /// Returns the request that starts in a claim on a slot, which is an offer.
    pub fn next(
        &self,
        (slot, claim): (&Ad, &OpenClaim),
        (offers, offer): (&mut CycleOffers, usize),
        requests: &[SimulatedRequest],
    ) -> Option<(usize, Candidate)> {
        let queue = self.queues.get(&claim.submitter)?;
        let limits = match claim.claim.first {
            Some(request) => self.rules.limits_text(&requests[request].prepared, offers, offer),
            None => match evaluate_attribute(slot, &Name::new("ConcurrencyLimits"), &offers.context) {
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
