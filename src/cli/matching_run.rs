//! The runs of bilateral matching behind `match`: choice of the algorithm, progress, results.

use std::sync::Arc;

use clap::ValueEnum;
use classad::ad::Ad;
use classad::matching::negotiate::{Event, Ranking, Settings, negotiate};
use classad::matching::policy::PolicyFault;
use classad::matching::{Candidate, Greedy, Match as Pairing, Matchmaker, Statistics, maximum, stable};
use classad::pool::{Clusters, Policies};
use classad::protocol::resource_count;

use super::render::{output, progress};

/// How offers are given to requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Requests in order, each takes its best offer
    Greedy,
    /// No request and offer rank each other higher than what they got
    Stable,
    /// As many requests as possible get an offer
    Max,
}

/// The options that say which pairs of requests and offers to list.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub strategy: Strategy,
    /// Whether to list every compatible pair.
    pub all: bool,
    /// Maximum number of candidates listed for each request, the best first.
    pub best: Option<usize>,
    /// Whether a match takes its offer, so that later requests cannot have it.
    pub consume: bool,
    /// Whether to stop at the first pair, as the caller only needs to know that there is one.
    pub one_will_do: bool,
}

impl Wanted {
    /// Whether candidates are listed rather than matches made, so that no offer is taken.
    pub fn takes_nothing(&self) -> bool {
        self.all || self.best.is_some()
    }

    /// Makes the pairs from the candidate lists of all requests, and counts them in the statistics.
    fn of_lists(&self, lists: &[Arc<[Candidate]>], statistics: &mut Statistics) -> Vec<Pairing> {
        let (pairings, matched) = match self.strategy {
            Strategy::Greedy => {
                let mut pairings = Vec::new();
                for (request, list) in lists.iter().enumerate() {
                    pairings.extend(self.shown(list).into_iter().map(|candidate| candidate.of(request)));
                }
                (pairings, lists.iter().filter(|list| !list.is_empty()).count())
            }
            Strategy::Stable => counted(stable(lists)),
            Strategy::Max => counted(maximum(lists)),
        };
        statistics.roots += lists.len() as u64;
        statistics.matched += matched as u64;
        pairings
    }

    /// Returns the candidates of a request to list: the best ones, or with `--all` all in the order of the offers.
    fn shown(&self, list: &[Candidate]) -> Vec<Candidate> {
        let most = match (self.all, self.best) {
            (true, _) => usize::MAX,
            (false, best) => best.unwrap_or(1),
        };
        let mut candidates = list[..list.len().min(most)].to_vec();
        if self.all {
            candidates.sort_by_key(|candidate| candidate.offer);
        }
        candidates
    }
}

/// The result of a run.
#[derive(Default)]
pub struct Found {
    pub pairings: Vec<Pairing>,
    /// For each pairing the unit of the request and the part of the offer; empty if no request has a resource count and
    /// no offer is divided.
    pub parts: Vec<(Option<usize>, usize)>,
    pub statistics: Statistics,
    /// Indexes of the components of the docking vector that discarded every candidate.
    pub unplaced: Vec<usize>,
}

impl Found {
    pub fn new(pairings: Vec<Pairing>, statistics: Statistics) -> Self {
        Found { pairings, statistics, ..Found::default() }
    }

    /// Returns the unit of the request, `None` without a resource count, and the part of the offer of a pairing.
    pub fn part(&self, pairing: usize) -> (Option<usize>, usize) {
        self.parts.get(pairing).copied().unwrap_or((None, 1))
    }
}

fn counted(pairings: Vec<Pairing>) -> (Vec<Pairing>, usize) {
    let count = pairings.len();
    (pairings, count)
}

/// Label of the progress bar.
const MATCHING: &str = "matching";

/// The progress of a negotiation cycle: number of requests considered, of all.
pub struct Considered {
    done: usize,
    all: usize,
}

impl Considered {
    /// The beginning of a cycle with `all` requests.
    pub fn of(all: usize) -> Self {
        Considered { done: 0, all }
    }

    /// Counts an event of the cycle and updates the progress bar.
    pub fn note(&mut self, event: &Event<'_>) {
        if let Event::Matched { .. } | Event::Rejected { .. } = event {
            self.done += 1;
            // Requests with a resource count are considered several times, so that the total may be exceeded.
            progress::step(MATCHING, self.done, (self.done <= self.all).then_some(self.all));
        }
    }
}

/// The settings of a run.
pub struct Task {
    pub wanted: Wanted,
    pub settings: Settings,
    /// Whether matching has to follow the policy or resource counts, instead of constraints and ranks alone.
    pub has_rules: bool,
    /// Whether equivalent requests already share one ad, as they were read selectively; then `distinct` is the number
    /// of these ads.
    pub is_clustered: bool,
    pub distinct: u64,
}

impl Task {
    /// Finds the pairs.
    ///
    /// # Errors
    ///
    /// The policy cannot be followed.
    pub fn find(&self, ads: &[Vec<Ad>; 2]) -> Result<Found, PolicyFault> {
        if self.has_rules {
            return ruled(&self.wanted, &self.settings, ads);
        }
        let [requests, offers] = ads;
        if self.is_clustered || !self.settings.accelerations.autoclusters {
            return Ok(self.unruled(requests, offers, self.distinct));
        }
        let (requests, clusters) = alike(&self.settings, requests, offers, &Policies::default());
        Ok(self.unruled(&requests, offers, clusters))
    }

    fn unruled(&self, requests: &[Ad], offers: &[Ad], clusters: u64) -> Found {
        let Settings { protocol, context, accelerations, .. } = &self.settings;
        let mut matcher = Matchmaker::new(offers, protocol.clone(), context.clone(), *accelerations);
        matcher.statistics.autoclusters = if accelerations.autoclusters { clusters } else { 0 };
        if self.wanted.strategy == Strategy::Greedy && !self.wanted.takes_nothing() {
            let mut matcher = Greedy::with(matcher);
            matcher.consume = self.wanted.consume;
            let mut found: Vec<Pairing> = Vec::new();
            for (index, request) in requests.iter().enumerate() {
                progress::step(MATCHING, index, Some(requests.len()));
                found.extend(matcher.best(index, request));
                if self.wanted.one_will_do && !found.is_empty() {
                    break;
                }
            }
            let statistics = matcher.statistics();
            output::leave(matcher);
            return Found::new(found, statistics);
        }
        let mut lists = Vec::new();
        for (index, request) in requests.iter().enumerate() {
            progress::step(MATCHING, index, Some(requests.len()));
            lists.push(matcher.candidates(request));
            if self.wanted.one_will_do && lists.last().is_some_and(|list| !list.is_empty()) {
                break;
            }
        }
        let found = self.wanted.of_lists(&lists, &mut matcher.statistics);
        Found::new(found, matcher.statistics)
    }
}

/// Finds the pairs under a policy, or for requests with resource counts.
fn ruled(wanted: &Wanted, settings: &Settings, [requests, offers]: &[Vec<Ad>; 2]) -> Result<Found, PolicyFault> {
    if wanted.strategy == Strategy::Greedy && !wanted.takes_nothing() && wanted.consume {
        let mut considered = Considered::of(requests.len());
        let outcome = negotiate(settings, requests, offers, &|_| None, &mut |event| considered.note(event))?;
        let (statistics, unplaced) = (outcome.statistics, outcome.unplaced);
        let mut found = Found { statistics, unplaced, ..Found::default() };
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
        let (representatives, clusters) = alike(settings, requests, offers, &settings.policy.of_matches());
        statistics.autoclusters = clusters;
        representatives
    } else {
        requests.clone()
    };
    let mut ranking = Ranking::new(settings, offers);
    // For each candidate list its request, and the unit of the request.
    let (mut units, mut lists) = (Vec::new(), Vec::new());
    let all = roots.len();
    for (index, root) in roots.into_iter().enumerate() {
        progress::step(MATCHING, index, Some(all));
        let count = resource_count(&requests[root], &settings.context).filter(|_| !wanted.takes_nothing());
        let list = ranking.candidates(&representatives[root])?;
        let of_root = count.map_or(0..1, |count| 1..count + 1).map(|unit| (root, count.map(|_| unit)));
        for unit in of_root {
            units.push(unit);
            lists.push(list.clone());
        }
    }
    let mut found = Found::default();
    for pairing in wanted.of_lists(&lists, &mut statistics) {
        let (request, unit) = units[pairing.request];
        found.pairings.push(Pairing { request, ..pairing });
        found.parts.push((unit, 1));
    }
    statistics.add(&ranking.statistics());
    Ok(Found { statistics, unplaced: ranking.unplaced(), ..found })
}

/// Replaces each request by the representative of its autocluster. Also returns the number of autoclusters.
fn alike(settings: &Settings, requests: &[Ad], offers: &[Ad], policies: &Policies) -> (Vec<Ad>, u64) {
    let clusters = Clusters::new(requests, offers, policies, &settings.protocol, &settings.context);
    let representative = |cluster: &usize| clusters.clusters[*cluster].representative.clone();
    (clusters.of.iter().map(representative).collect(), clusters.clusters.len() as u64)
}
