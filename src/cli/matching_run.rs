//! The runs of bilateral matching behind `match`: choice of the algorithm, progress, results.

use std::sync::Arc;

use clap::ValueEnum;
use classad::ad::Ad;
use classad::matching::negotiate::{NegotiationEvent, NegotiationSettings, PolicyCandidates, negotiate};
use classad::matching::policy::PolicyFault;
use classad::matching::{
    BilateralMatch as Pairing, Candidate, GreedyMatcher, Matchmaker, Statistics, maximum_matching, stable_matching,
};
use classad::pool::{PolicyExpressions, RequestClusters};
use classad::protocol::resource_count;

use super::render::{output, progress};

/// How offers are given to requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MatchStrategy {
    /// Requests in order, each takes its best offer
    Greedy,
    /// No request and offer rank each other higher than what they got
    Stable,
    /// As many requests as possible get an offer
    Max,
}

/// The options that say which pairs of requests and offers to list.
#[derive(Clone, Copy, Debug)]
pub struct PairSelection {
    pub strategy: MatchStrategy,
    /// Whether to list every compatible pair.
    pub all_pairs: bool,
    /// Maximum number of candidates listed for each request, the best first.
    pub max_per_request: Option<usize>,
    /// Whether a match takes its offer, so that later requests cannot have it.
    pub consume: bool,
    /// Whether to stop at the first pair, as the caller only needs to know that there is one.
    pub stops_at_first: bool,
}

impl PairSelection {
    /// Whether candidates are listed rather than matches made, so that no offer is taken.
    pub fn lists_candidates(&self) -> bool {
        self.all_pairs || self.max_per_request.is_some()
    }

    /// Makes the pairs from the candidate lists, one list for each request or unit of a request. Adds the numbers of
    /// lists and of matched lists to the statistics.
    fn pairs_of_lists(&self, lists: &[Arc<[Candidate]>], statistics: &mut Statistics) -> Vec<Pairing> {
        let (pairings, matched) = match self.strategy {
            MatchStrategy::Greedy => {
                let mut pairings = Vec::new();
                for (request, list) in lists.iter().enumerate() {
                    pairings.extend(
                        self.listed_candidates(list).into_iter().map(|candidate| candidate.match_with(request)),
                    );
                }
                (pairings, lists.iter().filter(|list| !list.is_empty()).count())
            }
            MatchStrategy::Stable => with_count(stable_matching(lists)),
            MatchStrategy::Max => with_count(maximum_matching(lists)),
        };
        statistics.roots += lists.len() as u64;
        statistics.matched += matched as u64;
        pairings
    }

    /// Returns the candidates of a request to list: the best ones, or with `--all` all in the order of the offers.
    fn listed_candidates(&self, list: &[Candidate]) -> Vec<Candidate> {
        let most = match (self.all_pairs, self.max_per_request) {
            (true, _) => usize::MAX,
            (false, best) => best.unwrap_or(1),
        };
        let mut candidates = list[..list.len().min(most)].to_vec();
        if self.all_pairs {
            candidates.sort_by_key(|candidate| candidate.offer);
        }
        candidates
    }
}

/// The pairs that a run has found, and the statistics of the run.
#[derive(Default)]
pub struct PairingResult {
    pub pairings: Vec<Pairing>,
    /// For each pairing the unit of the request and the part of the offer. Empty for a run without a policy and
    /// resource counts, which has neither units nor parts.
    pub parts: Vec<(Option<usize>, usize)>,
    pub statistics: Statistics,
    /// Indexes of the components of the docking vector that discarded every candidate.
    pub discarding_components: Vec<usize>,
}

impl PairingResult {
    pub fn new(pairings: Vec<Pairing>, statistics: Statistics) -> Self {
        PairingResult { pairings, statistics, ..PairingResult::default() }
    }

    /// Returns the unit of the request, `None` without a resource count, and the part of the offer of a pairing.
    pub fn unit_and_part(&self, pairing: usize) -> (Option<usize>, usize) {
        self.parts.get(pairing).copied().unwrap_or((None, 1))
    }
}

fn with_count(pairings: Vec<Pairing>) -> (Vec<Pairing>, usize) {
    let count = pairings.len();
    (pairings, count)
}

/// Text in front of the progress bar.
const PROGRESS_LABEL: &str = "matching";

/// The number of requests that a negotiation cycle has considered so far, for the progress bar.
pub struct CycleProgress {
    done: usize,
    total: usize,
}

impl CycleProgress {
    /// Makes the progress of a cycle with `total` requests, none of them considered yet.
    pub fn new(total: usize) -> Self {
        CycleProgress { done: 0, total }
    }

    /// Counts an event of the cycle and updates the progress bar.
    pub fn count_event(&mut self, event: &NegotiationEvent<'_>) {
        if let NegotiationEvent::Matched { .. } | NegotiationEvent::Rejected { .. } = event {
            self.done += 1;
            // Requests with a resource count are considered several times, so that the total may be exceeded.
            progress::report_step(PROGRESS_LABEL, self.done, (self.done <= self.total).then_some(self.total));
        }
    }
}

/// The settings of one run of `match`.
pub struct MatchingRun {
    pub selection: PairSelection,
    pub settings: NegotiationSettings,
    /// Whether matching has to follow the policy or resource counts, instead of constraints and ranks alone.
    pub follows_policy: bool,
    /// Whether the requests were read selectively, so that equivalent requests already share one ad. Then
    /// `distinct_requests` is the number of these ads.
    pub has_shared_ads: bool,
    pub distinct_requests: u64,
}

impl MatchingRun {
    /// Finds the pairs that `selection` asks for.
    ///
    /// # Errors
    ///
    /// The policy cannot be followed.
    pub fn find_pairs(&self, ads: &[Vec<Ad>; 2]) -> Result<PairingResult, PolicyFault> {
        if self.follows_policy {
            return match_with_policy(&self.selection, &self.settings, ads);
        }
        let [requests, offers] = ads;
        if self.has_shared_ads || !self.settings.accelerations.autoclusters {
            return Ok(self.match_without_policy(requests, offers, self.distinct_requests));
        }
        let (requests, clusters) =
            cluster_representatives(&self.settings, requests, offers, &PolicyExpressions::default());
        Ok(self.match_without_policy(&requests, offers, clusters))
    }

    fn match_without_policy(&self, requests: &[Ad], offers: &[Ad], clusters: u64) -> PairingResult {
        let NegotiationSettings { protocol, context, accelerations, .. } = &self.settings;
        let mut matcher = Matchmaker::new(offers, protocol.clone(), context.clone(), *accelerations);
        matcher.statistics.autoclusters = if accelerations.autoclusters { clusters } else { 0 };
        if self.selection.strategy == MatchStrategy::Greedy && !self.selection.lists_candidates() {
            let mut matcher = GreedyMatcher::from_matchmaker(matcher);
            matcher.consume = self.selection.consume;
            let mut found: Vec<Pairing> = Vec::new();
            for (index, request) in requests.iter().enumerate() {
                progress::report_step(PROGRESS_LABEL, index, Some(requests.len()));
                found.extend(matcher.take_best(index, request));
                if self.selection.stops_at_first && !found.is_empty() {
                    break;
                }
            }
            let statistics = matcher.statistics();
            output::leak_on_exit(matcher);
            return PairingResult::new(found, statistics);
        }
        let mut lists = Vec::new();
        for (index, request) in requests.iter().enumerate() {
            progress::report_step(PROGRESS_LABEL, index, Some(requests.len()));
            lists.push(matcher.candidates(request));
            if self.selection.stops_at_first && lists.last().is_some_and(|list| !list.is_empty()) {
                break;
            }
        }
        let found = self.selection.pairs_of_lists(&lists, &mut matcher.statistics);
        PairingResult::new(found, matcher.statistics)
    }
}

/// Finds the pairs under a policy, or for requests with resource counts.
fn match_with_policy(
    wanted: &PairSelection,
    settings: &NegotiationSettings,
    [requests, offers]: &[Vec<Ad>; 2],
) -> Result<PairingResult, PolicyFault> {
    if wanted.strategy == MatchStrategy::Greedy && !wanted.lists_candidates() && wanted.consume {
        let mut considered = CycleProgress::new(requests.len());
        let outcome = negotiate(settings, requests, offers, &|_| None, &mut |event| considered.count_event(event))?;
        let (statistics, unplaced) = (outcome.statistics, outcome.unordered_components);
        let mut found = PairingResult { statistics, discarding_components: unplaced, ..PairingResult::default() };
        for grant in outcome.grants {
            let (request_rank, offer_rank) = (grant.request_rank, grant.offer_rank);
            found.pairings.push(Pairing { request: grant.request, offer: grant.offer, request_rank, offer_rank });
            found.parts.push((grant.unit, grant.part));
        }
        return Ok(found);
    }
    let (roots, failures) = settings.policy.roots(requests, &settings.context)?;
    let mut statistics = Statistics { failures, ..Statistics::default() };
    let representatives = if settings.accelerations.autoclusters {
        let (representatives, clusters) =
            cluster_representatives(settings, requests, offers, &settings.policy.match_policies());
        statistics.autoclusters = clusters;
        representatives
    } else {
        requests.clone()
    };
    let mut ranking = PolicyCandidates::new(settings, offers);
    // `lists` has one candidate list per unit of a request; `units` has the request and the unit of each list.
    let (mut units, mut lists) = (Vec::new(), Vec::new());
    let all = roots.len();
    for (index, root) in roots.into_iter().enumerate() {
        progress::report_step(PROGRESS_LABEL, index, Some(all));
        let count = resource_count(&requests[root], &settings.context).filter(|_| !wanted.lists_candidates());
        let list = ranking.candidates(&representatives[root])?;
        let of_root = count.map_or(0..1, |count| 1..count + 1).map(|unit| (root, count.map(|_| unit)));
        for unit in of_root {
            units.push(unit);
            lists.push(list.clone());
        }
    }
    let mut found = PairingResult::default();
    for pairing in wanted.pairs_of_lists(&lists, &mut statistics) {
        let (request, unit) = units[pairing.request];
        found.pairings.push(Pairing { request, ..pairing });
        found.parts.push((unit, 1));
    }
    statistics.add(&ranking.statistics());
    Ok(PairingResult { statistics, discarding_components: ranking.unordered_components(), ..found })
}

/// Replaces each request by the representative of its autocluster. Also returns the number of autoclusters.
fn cluster_representatives(
    settings: &NegotiationSettings,
    requests: &[Ad],
    offers: &[Ad],
    policies: &PolicyExpressions,
) -> (Vec<Ad>, u64) {
    let clusters = RequestClusters::new(requests, offers, policies, &settings.protocol, &settings.context);
    let representative = |cluster: &usize| clusters.clusters[*cluster].representative.clone();
    (clusters.cluster_of.iter().map(representative).collect(), clusters.clusters.len() as u64)
}
