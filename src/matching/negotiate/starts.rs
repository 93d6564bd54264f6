//! The requests that start after a cycle, as HTCondor's access point starts jobs: those that got an offer, and further ones in
//! what these leave of partitionable slots (`Scheduler::claimedStartd` and `FindRunnableJob` of HTCondor).

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Truth, Value};
use crate::matching::Candidate;
use crate::matching::policy::{Leftovers, Policy};

use super::Submitter;
use super::cycle::NegotiationCycle;
use super::event::Grant;
use super::granted_offer::GrantedOffer;
use super::weight_accounts::{WeightAccounts, weight};

/// The requests that start after a cycle.
#[derive(Clone, Debug, Default)]
pub struct RequestStarts {
    /// A grant for each request that starts: first those of the matches, in their order, then those in rests. The parts of
    /// a divided offer are numbered in the order in which requests start in them.
    pub grants: Vec<Grant>,
    /// Number of grants among them that are in rests.
    pub in_rests: usize,
    /// Number of matches whose offers are in use. Their requests start when the users before have left.
    pub preempting: usize,
    /// What is left of the divided offers, by the index of the offer.
    pub rests: BTreeMap<usize, Ad>,
    /// The groups that use more than their quotas when all these requests run.
    pub exceeded: Vec<ExceededQuota>,
}

/// A group that uses more than its quota.
#[derive(Clone, Debug, PartialEq)]
pub struct ExceededQuota {
    /// Name of the group.
    pub group: String,
    /// Weight that the quota gives the group.
    pub quota: f64,
    /// Weight that the group uses.
    pub weight: f64,
}

/// Finds the requests that start after a cycle. Without rules for leftovers these are the requests that got offers.
pub fn find_starts(cycle: &mut NegotiationCycle<'_>, submitters: &[Submitter], offers: &[Ad]) -> RequestStarts {
    let policy = cycle.settings.policy.clone();
    let leftovers = policy.leftovers.clone().unwrap_or_else(|| Leftovers { are_used: false, ..Leftovers::default() });
    let queues = submitters.iter().map(|submitter| WaitingRequests::new(cycle, submitter)).collect();
    let mut filling =
        SlotFilling { cycle, leftovers, policy, queues, starts: RequestStarts::default(), weights: Vec::new() };
    filling.start_matches(submitters);
    filling.fill_rests();
    filling.find_exceeded(submitters, offers);
    filling.starts
}

/// The requests of a submitter that have not started.
#[derive(Default)]
struct WaitingRequests {
    /// The requests of each autocluster, by their places in the submitter's order.
    clusters: FxHashMap<usize, BTreeMap<usize, usize>>,
    /// The autocluster of each request that is the first of its autocluster, by its place.
    heads: BTreeMap<usize, usize>,
    /// The place of each request.
    places: FxHashMap<usize, usize>,
    /// Number of starts that each request still waits for, by its place.
    units: Vec<usize>,
}

impl WaitingRequests {
    fn new(cycle: &NegotiationCycle<'_>, submitter: &Submitter) -> Self {
        let mut waiting = WaitingRequests::default();
        for (place, request) in submitter.requests.iter().enumerate() {
            let units = cycle.requests[*request].asked();
            waiting.units.push(units);
            if units > 0 {
                waiting.clusters.entry(cycle.cluster_of[*request]).or_default().insert(place, *request);
                waiting.places.insert(*request, place);
            }
        }
        let first = |(cluster, requests): (&usize, &BTreeMap<usize, usize>)| Some((*requests.keys().next()?, *cluster));
        waiting.heads = waiting.clusters.iter().filter_map(first).collect();
        waiting
    }

    fn contains(&self, request: usize) -> bool {
        self.places.contains_key(&request)
    }

    /// Takes one start of a request away.
    fn start(&mut self, request: usize, cluster: usize) {
        let Some(place) = self.places.get(&request).copied() else { return };
        self.units[place] -= 1;
        if self.units[place] > 0 {
            return;
        }
        self.places.remove(&request);
        let Some(requests) = self.clusters.get_mut(&cluster) else { return };
        requests.remove(&place);
        if self.heads.remove(&place).is_some()
            && let Some(next) = requests.keys().next()
        {
            self.heads.insert(*next, cluster);
        }
    }
}

/// A slot of a submitter whose rest can be filled.
struct Rest {
    /// Index of the submitter.
    submitter: usize,
    offer: usize,
}

struct SlotFilling<'f, 'c> {
    cycle: &'f mut NegotiationCycle<'c>,
    leftovers: Leftovers,
    policy: Policy,
    /// The requests that wait, by the index of the submitter.
    queues: Vec<WaitingRequests>,
    starts: RequestStarts,
    /// The submitter and the weight of each start.
    weights: Vec<(usize, f64)>,
}

impl SlotFilling<'_, '_> {
    /// Starts a request for each match.
    fn start_matches(&mut self, submitters: &[Submitter]) {
        let mut submitter_of: FxHashMap<usize, usize> = FxHashMap::default();
        for (index, submitter) in submitters.iter().enumerate() {
            submitter_of.extend(submitter.requests.iter().map(|request| (*request, index)));
        }
        for (index, grant) in std::mem::take(&mut self.cycle.outcome.grants).into_iter().enumerate() {
            let submitter = submitter_of.get(&grant.request).copied().unwrap_or_default();
            self.start_match(index, &grant, submitter);
            self.cycle.outcome.grants.push(grant);
        }
    }

    fn start_match(&mut self, index: usize, grant: &Grant, submitter: usize) {
        let (request, cluster) = (grant.request, self.cycle.cluster_of[grant.request]);
        if grant.offers.iter().any(|granted| granted.preempted.is_some()) {
            self.queues[submitter].start(request, cluster);
            self.starts.preempting += 1;
            return;
        }
        let single = grant.offers.first().filter(|granted| grant.gang.is_none() && granted.portion.is_none());
        let Some(granted) = single else {
            // A gang, or a part of a slot that the cycle divided.
            self.queues[submitter].start(request, cluster);
            let weight =
                grant.offers.iter().map(|granted| self.weight_of(granted.offer, granted.portion.as_ref())).sum();
            self.weights.push((submitter, weight));
            self.starts.grants.push(grant.clone());
            return;
        };
        let is_chosen = !self.cycle.chosen_later.contains(index) && self.queues[submitter].contains(request);
        let limits = self.limits_text(request, granted.offer);
        let chosen = if is_chosen {
            Some((request, granted.clone()))
        } else {
            self.find_runnable(submitter, granted.offer, &limits).map(|(request, candidate)| {
                let preempted = granted.preempted.clone();
                (request, GrantedOffer { part: granted.part, preempted, ..GrantedOffer::of_candidate(candidate) })
            })
        };
        if let Some((request, granted)) = chosen {
            self.start(submitter, request, granted);
        }
    }

    /// Fills the rests of slots with further requests. All slots take turns: a request starts in a slot while the access point
    /// waits for the rest of the other slots.
    fn fill_rests(&mut self) {
        if !self.leftovers.are_used {
            return;
        }
        let matched = self.starts.grants.len();
        let mut rests: VecDeque<Rest> = VecDeque::new();
        let mut known: FxHashSet<usize> = FxHashSet::default();
        for (index, (submitter, _)) in self.weights.iter().enumerate() {
            let grant = &self.starts.grants[index];
            if let Some(granted) = grant.offers.first().filter(|_| grant.gang.is_none())
                && granted.portion.is_some()
                && known.insert(granted.offer)
            {
                rests.push_back(Rest { submitter: *submitter, offer: granted.offer });
            }
        }
        while let Some(rest) = rests.pop_front() {
            if self.cycle.settings.context.has_spent_comparisons() {
                break;
            }
            let Some((request, candidate)) = self.find_runnable(rest.submitter, rest.offer, "") else { continue };
            let part = self.cycle.offers.parts[rest.offer];
            let granted = GrantedOffer { part, ..GrantedOffer::of_candidate(candidate) };
            if self.start(rest.submitter, request, granted) {
                rests.push_back(rest);
            }
        }
        self.starts.in_rests = self.starts.grants.len() - matched;
    }

    /// Starts a request in an offer. Returns whether a rest of the offer can be filled.
    fn start(&mut self, submitter: usize, request: usize, mut granted: GrantedOffer) -> bool {
        let (offer, ad) = (granted.offer, &self.cycle.ads[request]);
        self.queues[submitter].start(request, self.cycle.cluster_of[request]);
        let division = &self.leftovers.division;
        let rest = self.cycle.offers.rest_by(division, offer, ad);
        granted.portion = rest.as_ref().map(|rest| self.cycle.offers.portion_by(division, offer, rest));
        self.weights.push((submitter, self.weight_of(offer, granted.portion.as_ref())));
        self.starts.grants.push(Grant { request, unit: None, offers: vec![granted], gang: None, choice: None });
        let Some(rest) = rest else { return false };
        let is_offered = division.is_offered(&rest, &self.cycle.settings.context).unwrap_or_default();
        self.starts.rests.insert(offer, rest.clone());
        self.cycle.offers.put(offer, rest);
        is_offered
    }

    /// Returns the first request of a submitter that matches an offer as it is now, may have it and has these concurrency
    /// limits. If a request does not match, none of its autocluster does.
    fn find_runnable(&mut self, submitter: usize, offer: usize, limits: &str) -> Option<(usize, Candidate)> {
        let mut next = 0;
        while let Some((place, cluster)) = self.queues[submitter].heads.range(next..).next() {
            next = place + 1;
            let request = *self.queues[submitter].clusters.get(cluster)?.values().next()?;
            if let Some(candidate) = self.candidate(request, offer)
                && (!self.leftovers.considers_limits || self.limits_text(request, offer) == limits)
            {
                return Some((request, candidate));
            }
        }
        None
    }

    /// Returns a request and an offer as candidates of each other, if the offer as it is now may go to the request.
    fn candidate(&mut self, request: usize, offer: usize) -> Option<Candidate> {
        let ad = &self.cycle.ads[request];
        let offers = &mut self.cycle.offers;
        let candidate = offers.candidates_among(ad, vec![offer]).pop()?;
        let permits = |value: Value| Truth::of(&value, self.cycle.settings.context.dialect) != Truth::False;
        let is_permitted =
            self.leftovers.permits.as_ref().is_none_or(|rule| permits(offers.docking_value(rule, ad, offer)));
        (is_permitted && offers.may_start(ad, offer)).then_some(candidate)
    }

    /// Returns the concurrency limits of a request as a text that can be compared.
    fn limits_text(&mut self, request: usize, offer: usize) -> String {
        let rule = self.policy.limits.as_ref().and_then(|limits| limits.needs.as_ref());
        match rule.map(|rule| self.cycle.offers.docking_value(rule, &self.cycle.ads[request], offer)) {
            Some(Value::String(limits)) => limits.to_str().to_ascii_lowercase(),
            _ => String::new(),
        }
    }

    /// Returns the weight of an offer, or of a part of it, as it is now.
    fn weight_of(&self, offer: usize, portion: Option<&Ad>) -> f64 {
        let Some(share) = self.policy.weighted_share() else { return 0.0 };
        let mut ad = self.cycle.offers.ad(offer).clone();
        for attribute in portion.into_iter().flat_map(Ad::iter) {
            ad = ad.with(attribute.name.clone(), attribute.expression.clone());
        }
        weight(&share.weight, &ad, &self.cycle.settings.context)
    }

    /// Finds the groups that use more than their quotas with what starts. `offers` are those of the cycle's beginning.
    fn find_exceeded(&mut self, submitters: &[Submitter], offers: &[Ad]) {
        let Some(share) = self.policy.weighted_share() else { return };
        let tree = &share.groups;
        if tree.groups().len() == 1 {
            return;
        }
        let accounts = WeightAccounts::new(share, offers, &self.cycle.settings.context);
        let mut usage = accounts.group_usage.clone();
        let mut has_started = vec![false; usage.len()];
        for (submitter, weight) in &self.weights {
            let group = tree.group_of(&submitters[*submitter].name);
            usage[group] += weight;
            has_started[group] = true;
        }
        let allocation = tree.allocation(accounts.total, vec![0.0; usage.len()]);
        // The root has no quota that could be exceeded.
        for group in (1..usage.len()).filter(|group| has_started[*group] && usage[*group] > allocation.quotas[*group]) {
            let (quota, weight) = (allocation.quotas[group], usage[group]);
            self.starts.exceeded.push(ExceededQuota { group: tree.groups()[group].name.clone(), quota, weight });
        }
    }
}
