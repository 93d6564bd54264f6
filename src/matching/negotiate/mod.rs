//! A negotiation cycle: submitters take turns, and each request gets the best remaining offer (thesis 3.8, 2006 paper
//! 2.2 and 4).

mod choice;
mod event;
mod granted_offer;
mod match_list;
mod offers;
mod policy_candidates;

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Name, Value};
use crate::eval::{Context, FreeNames};
use crate::pool::RequestClusters;
use crate::protocol::{PortFault, Protocol, RESOURCE_COUNT, USER_ATTRIBUTES, resource_count};

use super::gang::{Algorithm, BadPorts, GangFault, Gangmatcher};
use super::policy::{Policy, PolicyFault, UNKNOWN_PRIORITY};
use super::{Accelerations, Statistics};

pub use choice::{Choice, DecidingDifference};
pub use event::{Grant, NegotiationEvent};
pub use granted_offer::GrantedOffer;
use match_list::{ClusterMatchList, RankedCandidate};
use offers::CycleOffers;
pub use policy_candidates::PolicyCandidates;

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
    let mut cycle = NegotiationCycle::new(settings, requests, offers, tell);
    let (roots, failures) = settings.policy.roots(requests, &settings.context)?;
    cycle.outcome.statistics.failures += failures;
    let mut submitters = cycle.submitters(&roots, priority);
    cycle.run_rounds(&mut submitters)?;
    cycle.outcome.statistics.add(&cycle.offers.statistics());
    cycle.outcome.unordered_components = cycle.offers.unordered_components();
    cycle.outcome.bad_ports = std::mem::take(&mut cycle.offers.bad_ports);
    cycle.outcome.submitters = submitters.into_iter().map(|submitter| (submitter.name, submitter.granted)).collect();
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
}

/// What came of considering a request once.
enum Consideration {
    /// The request got this number of offers.
    Granted(usize),
    /// The request waits for the next round.
    Deferred,
    /// The request got nothing.
    Failed,
}

impl<'c> NegotiationCycle<'c> {
    fn new(settings: &'c NegotiationSettings, ads: &'c [Ad], offers: &[Ad], tell: &'c mut CycleObserver<'c>) -> Self {
        let NegotiationSettings { policy, protocol, context, accelerations, .. } = settings;
        let policies = policy.match_policies();
        let clusters =
            accelerations.autoclusters.then(|| RequestClusters::new(ads, offers, &policies, protocol, context));
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
            requests: ads.iter().map(request).collect(),
            clusters,
            offers: CycleOffers::new(ads, offers, settings, Accelerations { match_lists, ..*accelerations }),
            lists: FxHashMap::default(),
            failed_clusters: FxHashMap::default(),
            gang_clusters: FxHashMap::default(),
            outcome,
            tell,
            is_ended: false,
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
            let name = share.by.evaluate(&self.ads[*root], &self.settings.context).unwrap_or(Value::Undefined);
            by_name.entry(submitter_name(&name)).or_default().push(*root);
        }
        let submitter = |(name, requests): (String, Vec<usize>)| {
            let priority = share.priority(&name).or_else(|| priority(&name)).unwrap_or(UNKNOWN_PRIORITY);
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

    /// Reports an event to the observer.
    fn report(&mut self, event: NegotiationEvent<'_>) {
        self.is_ended |= (self.tell)(event).is_break();
    }

    /// Whether there is nothing left to give away, or the observer has ended the cycle. Where all requests get gangs, the
    /// failure of each is reported, also when no offer is left.
    fn is_over(&self) -> bool {
        self.is_ended || self.offers.free_count == 0 && self.settings.gangs.ports != PortUse::Always
    }

    /// Runs rounds until a round makes no match, no offer is left, or no request asks for an offer.
    fn run_rounds(&mut self, submitters: &mut [Submitter]) -> Result<(), PolicyFault> {
        for round in 1.. {
            let before = self.outcome.grants.len();
            let asking: Vec<usize> = submitters.iter().map(|submitter| self.open_demand(submitter)).collect();
            let free = self.offers.free_count;
            if self.is_over() || asking.iter().all(|left| *left == 0) {
                break;
            }
            self.report(NegotiationEvent::Round { number: round, offers: free });
            let waiting = submitters.iter().zip(&asking).filter(|(_, left)| **left > 0);
            let whole: f64 = waiting.map(|(submitter, _)| 1.0 / submitter.priority).sum();
            for (submitter, left) in submitters.iter_mut().zip(asking) {
                if left == 0 || self.is_over() {
                    continue;
                }
                let slice =
                    self.settings.policy.share.as_ref().map(|_| slice_size(free, 1.0 / submitter.priority / whole));
                let (name, priority) = (&submitter.name, submitter.priority);
                self.report(NegotiationEvent::Turn { submitter: name, priority, slice, requests: left });
                submitter.granted += self.run_turn(submitter, slice.unwrap_or(usize::MAX))?;
            }
            if self.outcome.grants.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// Tries to match the requests of a submitter until the submitter has got `slice` offers. Returns the number of
    /// offers that it got.
    fn run_turn(&mut self, submitter: &Submitter, slice: usize) -> Result<usize, PolicyFault> {
        let mut granted = 0;
        for request in submitter.requests.iter().copied() {
            while granted < slice && self.is_open(request) && !self.is_over() {
                match self.consider(request, &submitter.name, slice - granted, granted == 0)? {
                    Consideration::Granted(offers) => granted += offers,
                    Consideration::Deferred => break,
                    Consideration::Failed => {}
                }
            }
        }
        Ok(granted)
    }

    /// Gives a request the best remaining offer or gang. A gang has at most `slice` offers, unless `is_first`.
    fn consider(
        &mut self,
        request: usize,
        submitter: &str,
        slice: usize,
        is_first: bool,
    ) -> Result<Consideration, PolicyFault> {
        let divided = self.offers.divisions.len();
        // Without autoclusters each request counts as an autocluster.
        let cluster = self.clusters.as_ref().map_or(request, |clusters| clusters.cluster_of[request]);
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
        let granted = match needs_gang {
            Ok(needs_gang) => {
                self.gang_clusters.insert(cluster, (needs_gang, divided));
                if needs_gang {
                    self.consider_gang(request, &representative, submitter, slice, is_first)?
                } else {
                    self.consider_offer(request, &representative, cluster, submitter)?
                }
            }
            Err(fault) => self.reject_ports(request, &fault),
        };
        if matches!(granted, Consideration::Failed) && self.requests[request].remaining > 0 {
            // Only the first unit of a resource request was tried. The other units would fail too and count as skipped.
            self.outcome.statistics.skipped += self.requests[request].remaining as u64 - 1;
            self.requests[request].failed_at_division = Some(divided);
            self.failed_clusters.insert(cluster, divided);
        }
        Ok(granted)
    }

    /// Gives a request the best remaining offer without ports.
    fn consider_offer(
        &mut self,
        request: usize,
        representative: &Ad,
        cluster: usize,
        submitter: &str,
    ) -> Result<Consideration, PolicyFault> {
        self.outcome.statistics.roots += 1;
        let mut list = self.lists.remove(&cluster).unwrap_or_default();
        list.refresh(&mut self.offers, representative)?;
        let best = list.best(&self.offers);
        let next = if self.settings.finds_runner_up { list.runner_up(&self.offers) } else { None };
        let (compatible, discarded) = list.counts();
        if self.settings.accelerations.match_lists && self.clusters.is_some() {
            self.lists.insert(cluster, list);
        }
        let Some(best) = best else {
            self.report(NegotiationEvent::Rejected { request, submitter, compatible, discarded });
            return Ok(Consideration::Failed);
        };
        let granted = |RankedCandidate { candidate, vector }: RankedCandidate| GrantedOffer {
            part: self.offers.parts[candidate.offer],
            vector,
            preempted: self.offers.user(candidate.offer),
            ..GrantedOffer::of_candidate(candidate)
        };
        let offer = granted(best);
        let choice = next.map(|next| Choice::between_offers(&offer, &granted(next)));
        self.offers.take(offer.offer, &self.ads[request]);
        Ok(self.grant(submitter, Grant { request, unit: None, offers: vec![offer], gang: None, choice }))
    }

    /// Gives a request its best remaining gang.
    fn consider_gang(
        &mut self,
        request: usize,
        representative: &Ad,
        submitter: &str,
        slice: usize,
        is_first: bool,
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
        let width = gang.members().len();
        if width > slice && !is_first {
            self.report(NegotiationEvent::Deferred { request, submitter, offers: width, slice });
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
        Ok(self.grant(submitter, Grant { request, unit: None, offers, gang: Some(gang), choice }))
    }

    /// Leaves out a request for good, because its ports cannot be used.
    fn reject_ports(&mut self, request: usize, fault: &PortFault) -> Consideration {
        self.requests[request].remaining = 0;
        self.report(NegotiationEvent::BadPorts { request, fault });
        Consideration::Failed
    }

    /// Records that a request got offers, which are taken already. Sets the unit of the grant.
    fn grant(&mut self, submitter: &str, grant: Grant) -> Consideration {
        let state = &mut self.requests[grant.request];
        state.remaining -= 1;
        state.granted += 1;
        let grant = Grant { unit: state.is_counted.then_some(state.granted), ..grant };
        self.outcome.statistics.matched += 1;
        self.report(NegotiationEvent::Matched { grant: &grant, submitter });
        let granted = grant.offers.len();
        self.outcome.grants.push(grant);
        Consideration::Granted(granted)
    }
}

/// Returns the maximum number of offers that a submitter may get in a round: its share of `offers`, rounded down. The
/// number is at least one, so that no submitter starves. Offers left over by rounding are given away in the next round.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // of a count
fn slice_size(offers: usize, share: f64) -> usize {
    // Adding 1e-9 compensates rounding errors just below a whole number. If the share is NaN, there is no limit.
    if share.is_nan() { offers } else { (offers as f64 * share + 1e-9).floor().max(1.0) as usize }
}

/// Converts the value of `share.by` to the name of a submitter. A string is the name itself; any other value is
/// printed.
fn submitter_name(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_str().into_owned(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests;
