//! A negotiation cycle: submitters take turns, and each request gets the best remaining offer (thesis 3.8, 2006 paper
//! 2.2 and 4).

mod event;
mod match_list;
mod offers;
mod policy_candidates;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Name, Value};
use crate::eval::{Context, FreeNames};
use crate::pool::RequestClusters;
use crate::protocol::{Protocol, RESOURCE_COUNT, USER_ATTRIBUTES, resource_count};

use super::policy::{Policy, PolicyFault, UNKNOWN_PRIORITY};
use super::{Accelerations, Statistics};

pub use event::{Grant, NegotiationEvent};
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
}

/// Runs a negotiation cycle and returns its matches. `priority` returns the priority of a submitter that the policy
/// does not name; larger is worse, and `None` means unknown. `tell` is called with each event as it happens.
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
    tell: &mut dyn FnMut(&NegotiationEvent<'_>),
) -> Result<NegotiationOutcome, PolicyFault> {
    let mut cycle = NegotiationCycle::new(settings, requests, offers, tell);
    let (roots, failures) = settings.policy.roots(requests, &settings.context)?;
    cycle.outcome.statistics.failures += failures;
    let mut submitters = cycle.submitters(&roots, priority);
    cycle.run_rounds(&mut submitters)?;
    cycle.outcome.statistics.add(&cycle.offers.statistics());
    cycle.outcome.unordered_components = cycle.offers.unordered_components();
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
    outcome: NegotiationOutcome,
    /// Called with each event as it happens.
    tell: &'c mut dyn FnMut(&NegotiationEvent<'_>),
}

impl<'c> NegotiationCycle<'c> {
    fn new(
        settings: &'c NegotiationSettings,
        ads: &'c [Ad],
        offers: &[Ad],
        tell: &'c mut dyn FnMut(&NegotiationEvent<'_>),
    ) -> Self {
        let NegotiationSettings { policy, protocol, context, accelerations } = settings;
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
            offers: CycleOffers::new(offers, settings, Accelerations { match_lists, ..*accelerations }),
            lists: FxHashMap::default(),
            failed_clusters: FxHashMap::default(),
            outcome,
            tell,
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

    /// Runs rounds until a round makes no match, no offer is left, or no request asks for an offer.
    fn run_rounds(&mut self, submitters: &mut [Submitter]) -> Result<(), PolicyFault> {
        for round in 1.. {
            let before = self.outcome.grants.len();
            let asking: Vec<usize> = submitters.iter().map(|submitter| self.open_demand(submitter)).collect();
            let free = self.offers.free_count;
            if free == 0 || asking.iter().all(|left| *left == 0) {
                break;
            }
            (self.tell)(&NegotiationEvent::Round { number: round, offers: free });
            let waiting = submitters.iter().zip(&asking).filter(|(_, left)| **left > 0);
            let whole: f64 = waiting.map(|(submitter, _)| 1.0 / submitter.priority).sum();
            for (submitter, left) in submitters.iter_mut().zip(asking) {
                if left == 0 || self.offers.free_count == 0 {
                    continue;
                }
                let slice =
                    self.settings.policy.share.as_ref().map(|_| slice_size(free, 1.0 / submitter.priority / whole));
                let (name, priority) = (&submitter.name, submitter.priority);
                (self.tell)(&NegotiationEvent::Turn { submitter: name, priority, slice, requests: left });
                let before = self.outcome.grants.len();
                self.run_turn(submitter, slice.unwrap_or(usize::MAX))?;
                submitter.granted += self.outcome.grants.len() - before;
            }
            if self.outcome.grants.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// Tries to match the requests of a submitter until the submitter has got `slice` offers.
    fn run_turn(&mut self, submitter: &Submitter, mut slice: usize) -> Result<(), PolicyFault> {
        for request in submitter.requests.iter().copied() {
            while slice > 0 && self.is_open(request) && self.offers.free_count > 0 {
                slice -= usize::from(self.consider(request, &submitter.name)?);
            }
        }
        Ok(())
    }

    /// Gives a request the best remaining offer. Returns false if no compatible offer remains.
    fn consider(&mut self, request: usize, submitter: &str) -> Result<bool, PolicyFault> {
        let divided = self.offers.divisions.len();
        // Without autoclusters each request counts as an autocluster.
        let (cluster, representative) = match &self.clusters {
            Some(clusters) => {
                let cluster = clusters.cluster_of[request];
                (cluster, &clusters.clusters[cluster].representative)
            }
            None => (request, &self.ads[request]),
        };
        if self.failed_clusters.get(&cluster) == Some(&divided) {
            let requests = self.requests[request].remaining;
            self.outcome.statistics.skipped += requests as u64;
            self.requests[request].failed_at_division = Some(divided);
            (self.tell)(&NegotiationEvent::Skipped { request, submitter, requests });
            return Ok(false);
        }
        self.outcome.statistics.roots += 1;
        let mut list = self.lists.remove(&cluster).unwrap_or_default();
        list.refresh(&mut self.offers, representative)?;
        let best = list.best(&self.offers);
        let (compatible, discarded) = list.counts();
        if self.settings.accelerations.match_lists && self.clusters.is_some() {
            self.lists.insert(cluster, list);
        }
        if let Some(best) = best {
            self.grant(request, submitter, best);
            return Ok(true);
        }
        (self.tell)(&NegotiationEvent::Rejected { request, submitter, compatible, discarded });
        // Only the first unit of a resource request was tried. The other units would fail too and count as skipped.
        self.outcome.statistics.skipped += self.requests[request].remaining as u64 - 1;
        self.requests[request].failed_at_division = Some(divided);
        self.failed_clusters.insert(cluster, divided);
        Ok(false)
    }

    fn grant(&mut self, request: usize, submitter: &str, best: RankedCandidate) {
        let state = &mut self.requests[request];
        state.remaining -= 1;
        state.granted += 1;
        let candidate = best.candidate;
        let grant = Grant {
            request,
            unit: state.is_counted.then_some(state.granted),
            offer: candidate.offer,
            part: self.offers.parts[candidate.offer],
            request_rank: candidate.request_rank,
            offer_rank: candidate.offer_rank,
            vector: best.vector,
            preempted: self.offers.user(candidate.offer),
        };
        self.offers.take(candidate.offer, &self.ads[request]);
        self.outcome.statistics.matched += 1;
        (self.tell)(&NegotiationEvent::Matched { grant: &grant, submitter });
        self.outcome.grants.push(grant);
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
