//! A negotiation cycle: submitters take turns, and each request gets the best remaining offer (thesis 3.8, 2006 paper
//! 2.2 and 4).

mod allowance;
mod choice;
mod event;
mod granted_offer;
mod group_rounds;
mod limit_counts;
mod match_list;
mod offers;
mod permission;
mod policy_candidates;
mod priority_attributes;
mod rounds;
mod weight_accounts;

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Name, Value};
use crate::eval::{Context, FreeNames};
use crate::pool::RequestClusters;
use crate::protocol::{PortFault, Protocol, RESOURCE_COUNT, USER_ATTRIBUTES, resource_count};

use super::gang::{Algorithm, BadPorts, GangFault, Gangmatcher};
use super::policy::{Policy, PolicyFault, Share, UNKNOWN_PRIORITY, with_attributes};
use super::{Accelerations, Statistics};

use allowance::Allowance;
pub use allowance::Refusals;
pub use choice::{Choice, DecidingDifference};
pub use event::{Grant, NegotiationEvent};
pub use granted_offer::GrantedOffer;
use limit_counts::LimitCounts;
use match_list::{ClusterMatchList, RankedCandidate};
use offers::CycleOffers;
pub use policy_candidates::PolicyCandidates;
use priority_attributes::PriorityAttributes;
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
    /// The submitters, best priority first, each with the number of offers it got.
    pub submitters: Vec<(String, usize)>,
    /// Indexes of the components of the docking vector whose values could never be ordered, for example because they
    /// are always undefined. Such a component discards every candidate.
    pub unordered_components: Vec<usize>,
    /// The offers that were left out because their ports cannot be used.
    pub bad_ports: Vec<BadPorts>,
}

/// The function that a cycle calls with each event. The cycle ends when it returns [`ControlFlow::Break`].
pub type CycleObserver<'o> = dyn FnMut(NegotiationEvent<'_>) -> ControlFlow<()> + 'o;

/// Runs a negotiation cycle and returns its matches. `priority` returns the priority of a submitter that the policy
/// does not name; larger is worse, and `None` means unknown. `tell` is called with each event as it happens. If
/// it returns [`ControlFlow::Break`], the cycle ends.
///
/// A request with ports gets a gang, and so does a request at which an offer with ports may dock (see [`PortUse`]). All
/// offers of a gang count for the share of its submitter. If a submitter may get fewer offers in a round than a gang has,
/// the request waits for the next round, unless the submitter got no offer yet in this round.
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
    let [requests, offers] = prepared_ads(settings, requests, offers, priority);
    let mut cycle = NegotiationCycle::new(settings, &requests, &offers, tell);
    let (roots, failures) = settings.policy.roots(&requests, &settings.context)?;
    cycle.outcome.statistics.failures += failures;
    let mut submitters = cycle.submitters(&roots, priority);
    match settings.policy.weighted_share() {
        Some(share) => cycle.run_groups(&mut submitters, share)?,
        None => cycle.run_rounds(&mut submitters)?,
    }
    cycle.outcome.statistics.add(&cycle.offers.statistics());
    cycle.outcome.unordered_components = cycle.offers.unordered_components();
    cycle.outcome.bad_ports = std::mem::take(&mut cycle.offers.bad_ports);
    cycle.outcome.submitters = submitters.into_iter().map(|submitter| (submitter.name, submitter.granted)).collect();
    Ok(cycle.outcome)
}

/// Returns requests and offers with the attributes that the policy adds.
fn prepared_ads(
    settings: &NegotiationSettings,
    requests: &[Ad],
    offers: &[Ad],
    priority: &dyn Fn(&str) -> Option<f64>,
) -> [Vec<Ad>; 2] {
    let NegotiationSettings { policy, context, .. } = settings;
    let ads =
        [with_attributes(requests, &policy.request_attributes), with_attributes(offers, &policy.offer_attributes)];
    PriorityAttributes::new(policy, context).add(ads, priority)
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

/// The progress of one request.
#[derive(Clone, Copy)]
struct RequestProgress {
    /// Number of offers that the request still asks for.
    remaining: usize,
    /// Number of offers that the request has got.
    granted: usize,
    /// Whether the request is a resource request, which asks for a number of offers.
    is_counted: bool,
    /// Length of [`CycleOffers::divisions`] at the time when the request got no offer; `None` if it never failed. The
    /// request would fail again until another offer is divided.
    failed_at_division: Option<usize>,
}

struct NegotiationCycle<'c> {
    settings: &'c NegotiationSettings,
    ads: &'c [Ad],
    requests: Vec<RequestProgress>,
    clusters: Option<RequestClusters>,
    /// The autocluster of each request, also where autoclusters accelerate nothing, if a rule depends on them.
    cluster_of: Vec<usize>,
    offers: CycleOffers,
    /// The match list of each autocluster, by index of the autocluster.
    lists: FxHashMap<usize, ClusterMatchList>,
    /// Length of [`CycleOffers::divisions`] at the time when an autocluster got no offer, by index of the autocluster.
    failed_clusters: FxHashMap<usize, usize>,
    /// Whether the requests of an autocluster get gangs, by index of the autocluster, and the length of
    /// [`CycleOffers::divisions`] when this was found out.
    gang_clusters: FxHashMap<usize, (bool, usize)>,
    outcome: NegotiationOutcome,
    /// Called with each event as it happens.
    tell: &'c mut CycleObserver<'c>,
    /// Whether the observer has ended the cycle.
    is_ended: bool,
    /// What submitters use, if they share by weight.
    weights: Option<WeightAccounts>,
    /// How much of the concurrency limits is in use, if there are any.
    limits: Option<LimitCounts>,
}

/// What came of considering a request once.
enum Consideration {
    /// The request got an offer or a gang.
    Granted,
    /// The request got nothing now, but may get something in a later round.
    Deferred,
    /// The request got nothing, and gets nothing until another offer is divided.
    Failed,
}

impl<'c> NegotiationCycle<'c> {
    fn new(settings: &'c NegotiationSettings, ads: &'c [Ad], offers: &[Ad], tell: &'c mut CycleObserver<'c>) -> Self {
        let NegotiationSettings { policy, protocol, context, accelerations, .. } = settings;
        let policies = policy.match_policies();
        let mut clusters = None;
        // The rule `beyond` depends on autoclusters, so that they are needed also where they accelerate nothing.
        let has_beyond = policy.weighted_share().is_some_and(|share| share.beyond.is_some());
        if accelerations.autoclusters || has_beyond {
            clusters = Some(RequestClusters::new(ads, offers, &policies, protocol, context));
        }
        let cluster_of = clusters.as_ref().map_or_else(|| (0..ads.len()).collect(), |found| found.cluster_of.clone());
        let clusters = clusters.filter(|_| accelerations.autoclusters);
        // Without autoclusters no two requests are known to be equivalent, so that match lists are not cached.
        let match_lists = accelerations.match_lists && accelerations.autoclusters;
        let mut outcome = NegotiationOutcome::default();
        outcome.statistics.autoclusters = clusters.as_ref().map_or(0, |clusters| clusters.clusters.len() as u64);
        let request = |ad| {
            let count = resource_count(ad, context);
            let (remaining, is_counted) = (count.unwrap_or(1), count.is_some());
            RequestProgress { remaining, granted: 0, is_counted, failed_at_division: None }
        };
        NegotiationCycle {
            settings,
            ads,
            cluster_of,
            requests: ads.iter().map(request).collect(),
            clusters,
            offers: CycleOffers::new(ads, offers, settings, Accelerations { match_lists, ..*accelerations }),
            lists: FxHashMap::default(),
            failed_clusters: FxHashMap::default(),
            gang_clusters: FxHashMap::default(),
            outcome,
            tell,
            is_ended: false,
            weights: policy.weighted_share().map(|share| WeightAccounts::new(share, offers, context)),
            limits: policy.limits.as_ref().map(|limits| LimitCounts::new(limits, offers, context)),
        }
    }

    /// Groups requests by submitter. Submitters are sorted by priority, best first, then by name. Without fair share,
    /// all requests belong to one submitter without a name.
    fn submitters(&self, roots: &[usize], priority: &dyn Fn(&str) -> Option<f64>) -> Vec<Submitter> {
        let Some(share) = &self.settings.policy.share else {
            return vec![Submitter { name: String::new(), priority: 1.0, requests: roots.to_vec(), granted: 0 }];
        };
        let mut by_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for root in roots {
            let name = submitter_name(share, &self.ads[*root], &self.settings.context);
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

    /// Whether a request still asks for offers. A request that got no offer stops asking until another offer is
    /// divided.
    fn is_open(&self, request: usize) -> bool {
        let request = &self.requests[request];
        request.remaining > 0 && request.failed_at_division != Some(self.offers.divisions.len())
    }

    /// Returns the number of offers for which the requests of a submitter still ask.
    fn open_demand(&self, submitter: &Submitter) -> usize {
        let left = submitter.requests.iter().filter(|request| self.is_open(**request));
        left.map(|request| self.requests[*request].remaining).sum()
    }

    /// Returns the accounts of weight. Panics without shares by weight.
    fn accounts(&self) -> &WeightAccounts {
        self.weights.as_ref().expect("submitters share by weight")
    }

    /// Reports an event to the observer.
    fn report(&mut self, event: NegotiationEvent<'_>) {
        self.is_ended |= (self.tell)(event).is_break();
    }

    /// Whether there is nothing left to give away, or the observer has ended the cycle. Where all requests get gangs, the
    /// failure of each is reported, also when no offer is left.
    fn is_over(&self) -> bool {
        self.is_ended || self.offers.free_count == 0 && self.settings.gangs.ports != PortUse::Always
    }

    /// Returns the index of the autocluster of a request. Without autoclusters each request counts as an autocluster.
    fn cluster_of(&self, request: usize) -> usize {
        self.clusters.as_ref().map_or(request, |clusters| clusters.cluster_of[request])
    }

    /// Gives a request the best remaining offer or gang that its submitter may get.
    fn consider(
        &mut self,
        request: usize,
        submitter: &str,
        allowance: &mut Allowance,
    ) -> Result<Consideration, PolicyFault> {
        let divided = self.offers.divisions.len();
        let cluster = self.cluster_of(request);
        if self.failed_clusters.get(&cluster) == Some(&divided) {
            let requests = self.requests[request].remaining;
            self.outcome.statistics.skipped += requests as u64;
            self.requests[request].failed_at_division = Some(divided);
            self.report(NegotiationEvent::Skipped { request, submitter, requests });
            return Ok(Consideration::Failed);
        }
        let representative = match &self.clusters {
            Some(clusters) => clusters.clusters[cluster].representative.clone(),
            None => self.ads[request].clone(),
        };
        let needs_gang = match self.gang_clusters.get(&cluster) {
            Some((needs_gang, known_at)) if *known_at == divided => Ok(*needs_gang),
            _ => self.offers.needs_gang(&representative),
        };
        let considered = match needs_gang {
            Ok(needs_gang) => {
                self.gang_clusters.insert(cluster, (needs_gang, divided));
                if needs_gang {
                    self.consider_gang(request, &representative, submitter, allowance)?
                } else {
                    self.consider_offer(request, &representative, submitter, allowance)?
                }
            }
            Err(fault) => self.reject_ports(request, &fault),
        };
        if matches!(considered, Consideration::Failed) && self.requests[request].remaining > 0 {
            // Only the first unit of a resource request was tried. The other units would fail too and count as skipped.
            self.outcome.statistics.skipped += self.requests[request].remaining as u64 - 1;
            self.requests[request].failed_at_division = Some(divided);
            self.failed_clusters.insert(cluster, divided);
        }
        Ok(considered)
    }

    /// Keeps the match list of an autocluster for its next request, if lists are kept.
    fn keep_list(&mut self, cluster: usize, list: ClusterMatchList) {
        if self.settings.accelerations.match_lists && self.clusters.is_some() {
            self.lists.insert(cluster, list);
        }
    }

    /// Gives a request the best remaining offer without ports that its submitter may get.
    fn consider_offer(
        &mut self,
        request: usize,
        representative: &Ad,
        submitter: &str,
        allowance: &mut Allowance,
    ) -> Result<Consideration, PolicyFault> {
        let cluster = self.cluster_of(request);
        self.outcome.statistics.roots += 1;
        let mut list = self.lists.remove(&cluster).unwrap_or_default();
        list.refresh(&mut self.offers, representative)?;
        list.skip_taken(&self.offers);
        let mut refusals = Refusals::default();
        let needs = self.limits_of(representative, None);
        let reached = self.limits.as_ref().zip(needs.as_ref()).and_then(|(limits, needs)| limits.first_reached(needs));
        if let Some(limit) = reached {
            let (compatible, discarded) = list.counts();
            self.keep_list(cluster, list);
            let refusals = Refusals { limit: Some(limit), ..refusals };
            self.report(NegotiationEvent::Rejected { request, submitter, compatible, discarded, refusals: &refusals });
            return Ok(Consideration::Deferred);
        }
        let is_repeated = allowance.begin(self.cluster_of[request]);
        let mut best = None;
        let mut position = 0;
        while let Some(candidate) = list.free_from(&mut position, &self.offers) {
            if self.is_permitted(
                representative,
                candidate.candidate.offer,
                needs.as_ref(),
                (allowance, is_repeated),
                &mut refusals,
            ) {
                best = Some(candidate);
                break;
            }
        }
        let next = match &best {
            Some(_) if self.settings.finds_runner_up => list.free_from(&mut position, &self.offers),
            _ => None,
        };
        let (compatible, discarded) = list.counts();
        self.keep_list(cluster, list);
        let Some(best) = best else {
            let is_final = refusals.is_none();
            if !refusals.is_silent() {
                self.report(NegotiationEvent::Rejected {
                    request,
                    submitter,
                    compatible,
                    discarded,
                    refusals: &refusals,
                });
            }
            allowance.note(&refusals);
            return Ok(if is_final { Consideration::Failed } else { Consideration::Deferred });
        };
        let granted = |RankedCandidate { candidate, vector }: RankedCandidate| GrantedOffer {
            part: self.offers.parts[candidate.offer],
            vector,
            preempted: self.offers.user(candidate.offer),
            ..GrantedOffer::of_candidate(candidate)
        };
        let offer = granted(best);
        let choice = next.map(|next| Choice::between_offers(&offer, &granted(next)));
        let needs = match needs {
            Some(needs) => needs,
            None => self.limits_of(representative, Some(offer.offer)).unwrap_or_default(),
        };
        self.offers.take(offer.offer, &self.ads[request]);
        self.settle(submitter, &[offer.offer], &needs, allowance);
        self.grant(submitter, Grant { request, unit: None, offers: vec![offer], gang: None, choice });
        Ok(Consideration::Granted)
    }

    /// Gives a request its best remaining gang, if its submitter may get it.
    fn consider_gang(
        &mut self,
        request: usize,
        representative: &Ad,
        submitter: &str,
        allowance: &mut Allowance,
    ) -> Result<Consideration, PolicyFault> {
        let found = self.offers.find_gang(request, representative);
        for rank in self.offers.gangs().map(Gangmatcher::take_non_numeric_ranks).unwrap_or_default() {
            self.report(NegotiationEvent::NonNumericRank { request, rank });
        }
        let gang = match found {
            Ok(gang) => gang,
            Err(GangFault::Ports(fault)) => return Ok(self.reject_ports(request, &fault)),
            Err(GangFault::Policy(fault)) => return Err(fault),
        };
        let Some(gang) = gang else {
            self.outcome.statistics.roots += 1;
            if let Some(matchmaker) = self.offers.gangs() {
                let event = NegotiationEvent::NoGang { request, submitter, matchmaker };
                self.is_ended |= (self.tell)(event).is_break();
            }
            return Ok(Consideration::Failed);
        };
        let members: Vec<usize> = gang.members().iter().map(|docked| docked.offer).collect();
        let weight = |accounts: &WeightAccounts| members.iter().map(|offer| accounts.weights[*offer]).sum();
        if !allowance.permits_gang(members.len(), self.weights.as_ref().map(weight)) {
            let slice = allowance.offers_left();
            self.report(NegotiationEvent::Deferred { request, submitter, offers: members.len(), slice });
            return Ok(Consideration::Deferred);
        }
        let needs = self.limits_of(representative, None).unwrap_or_default();
        if let Some(limit) = self.limits.as_ref().and_then(|limits| limits.first_reached(&needs)) {
            let refusals = Refusals { limit: Some(limit), ..Refusals::default() };
            self.report(NegotiationEvent::Rejected {
                request,
                submitter,
                compatible: members.len(),
                discarded: 0,
                refusals: &refusals,
            });
            return Ok(Consideration::Deferred);
        }
        self.outcome.statistics.roots += 1;
        let granted = gang.members().into_iter().map(|docked| GrantedOffer {
            offer: docked.offer,
            part: docked.part,
            request_rank: docked.rank,
            offer_rank: docked.offer_rank,
            vector: docked.vector.clone(),
            preempted: self.offers.user(docked.offer),
        });
        let offers = granted.collect();
        let next = match self.offers.gangs().filter(|_| self.settings.finds_runner_up) {
            Some(matchmaker) => matchmaker.find_runner_up(&gang)?,
            None => None,
        };
        let choice = next.map(|next| Choice::between_gangs(&gang, &next));
        self.offers.take_gang(&gang);
        self.settle(submitter, &members, &needs, allowance);
        self.grant(submitter, Grant { request, unit: None, offers, gang: Some(gang), choice });
        Ok(Consideration::Granted)
    }

    /// Leaves out a request for good, because its ports cannot be used.
    fn reject_ports(&mut self, request: usize, fault: &PortFault) -> Consideration {
        self.requests[request].remaining = 0;
        self.report(NegotiationEvent::BadPorts { request, fault });
        Consideration::Failed
    }

    /// Records that a request got offers, which are taken already. Sets the unit of the grant.
    fn grant(&mut self, submitter: &str, grant: Grant) {
        let state = &mut self.requests[grant.request];
        state.remaining -= 1;
        state.granted += 1;
        let grant = Grant { unit: state.is_counted.then_some(state.granted), ..grant };
        self.outcome.statistics.matched += 1;
        self.report(NegotiationEvent::Matched { grant: &grant, submitter });
        self.outcome.grants.push(grant);
    }
}

/// Returns the name of the submitter of a request. A string is the name itself; any other value is printed.
fn submitter_name(share: &Share, request: &Ad, context: &Context) -> String {
    match share.by.evaluate(request, context).unwrap_or(Value::Undefined) {
        Value::String(text) => text.to_str().into_owned(),
        value => value.to_string(),
    }
}

/// Returns the priority of a submitter: that of the policy, or else that of `priority`.
fn submitter_priority(share: &Share, name: &str, priority: &dyn Fn(&str) -> Option<f64>) -> f64 {
    share.priority(name).or_else(|| priority(name)).unwrap_or(UNKNOWN_PRIORITY)
}
