//! The requests that start after a cycle, as HTCondor's access point starts jobs: those that got an offer, and further ones in
//! what these leave of partitionable slots (`Scheduler::claimedStartd` and `FindRunnableJob` of HTCondor).

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::Ad;
use crate::matching::Candidate;
use crate::matching::policy::Leftovers;

use super::Submitter;
use super::cycle::NegotiationCycle;
use super::event::Grant;
use super::granted_offer::GrantedOffer;
use super::runnable::{ClaimRules, WaitingRequests};
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
    let queue = |submitter: &Submitter| {
        let of = |request: &usize| (*request, cycle.cluster_of[*request], cycle.requests[*request].asked());
        submitter.requests.iter().map(of).collect()
    };
    let queues = submitters.iter().map(queue).collect();
    let rules = ClaimRules { policy, leftovers };
    let mut filling = SlotFilling { cycle, rules, queues, starts: RequestStarts::default(), weights: Vec::new() };
    filling.start_matches(submitters);
    filling.fill_rests();
    filling.find_exceeded(submitters, offers);
    filling.starts
}

/// A slot of a submitter whose rest can be filled.
struct Rest {
    /// Index of the submitter.
    submitter: usize,
    offer: usize,
}

struct SlotFilling<'f, 'c> {
    cycle: &'f mut NegotiationCycle<'c>,
    rules: ClaimRules,
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
        let request = grant.request;
        if grant.offers.iter().any(|granted| granted.preempted.is_some()) {
            self.queues[submitter].start(request);
            self.starts.preempting += 1;
            return;
        }
        let single = grant.offers.first().filter(|granted| grant.gang.is_none() && granted.portion.is_none());
        let Some(granted) = single else {
            // A gang, or a part of a slot that the cycle divided.
            self.queues[submitter].start(request);
            let weight =
                grant.offers.iter().map(|granted| self.weight_of(granted.offer, granted.portion.as_ref())).sum();
            self.weights.push((submitter, weight));
            self.starts.grants.push(grant.clone());
            return;
        };
        let is_chosen = !self.cycle.chosen_later.contains(index) && self.queues[submitter].contains(request);
        let limits = self.rules.limits_text(&self.cycle.ads[request], &mut self.cycle.offers, granted.offer);
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
        if !self.rules.leftovers.are_used {
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
        self.queues[submitter].start(request);
        let division = &self.rules.leftovers.division;
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

    /// Returns the first request of a submitter that may start in an offer as it is now.
    fn find_runnable(&mut self, submitter: usize, offer: usize, limits: &str) -> Option<(usize, Candidate)> {
        let ads = self.cycle.ads;
        self.rules.find_runnable(
            &self.queues[submitter],
            |request| &ads[request],
            &mut self.cycle.offers,
            offer,
            limits,
        )
    }

    /// Returns the weight of an offer, or of a part of it, as it is now.
    fn weight_of(&self, offer: usize, portion: Option<&Ad>) -> f64 {
        let Some(share) = self.rules.policy.weighted_share() else { return 0.0 };
        let mut ad = self.cycle.offers.ad(offer).clone();
        for attribute in portion.into_iter().flat_map(Ad::iter) {
            ad = ad.with(attribute.name.clone(), attribute.expression.clone());
        }
        weight(&share.weight, &ad, &self.cycle.settings.context)
    }

    /// Finds the groups that use more than their quotas with what starts. `offers` are those of the cycle's beginning.
    fn find_exceeded(&mut self, submitters: &[Submitter], offers: &[Ad]) {
        let Some(share) = self.rules.policy.weighted_share() else { return };
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
