//! Which pairs of requests and offers `match` finds.

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

/// Which pairs of requests and offers are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub strategy: Strategy,
    /// Every pair that is compatible.
    pub all: bool,
    /// So many of the best for each request.
    pub best: Option<usize>,
    /// Whether a matched offer is gone.
    pub consume: bool,
    /// Whether nobody looks at more than the first.
    pub one_will_do: bool,
}

impl Wanted {
    /// Whether offers are found that a request could have, rather than matches.
    pub fn takes_nothing(&self) -> bool {
        self.all || self.best.is_some()
    }

    /// The pairs, from the candidates of each request.
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

    /// What is shown of the offers that a request could have: the best, or all, in the order of the offers.
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

/// What was found.
#[derive(Default)]
pub struct Found {
    pub pairings: Vec<Pairing>,
    /// For each pairing which one it is of those that the request counts, and which part of the offer; empty if no
    /// request counts and no offer is divided.
    pub parts: Vec<(Option<usize>, usize)>,
    pub statistics: Statistics,
    /// The components of the docking vector that discarded every candidate.
    pub unplaced: Vec<usize>,
}

impl Found {
    pub fn new(pairings: Vec<Pairing>, statistics: Statistics) -> Self {
        Found { pairings, statistics, ..Found::default() }
    }

    /// Which one of those that the request counts it is, and which part of the offer.
    pub fn part(&self, pairing: usize) -> (Option<usize>, usize) {
        self.parts.get(pairing).copied().unwrap_or((None, 1))
    }
}

fn counted(pairings: Vec<Pairing>) -> (Vec<Pairing>, usize) {
    let count = pairings.len();
    (pairings, count)
}

/// What is being done, to whoever waits for it.
const MATCHING: &str = "matching";

/// How many requests of a cycle have been considered.
pub struct Considered {
    done: usize,
    all: usize,
}

impl Considered {
    /// None of so many.
    pub fn of(all: usize) -> Self {
        Considered { done: 0, all }
    }

    /// Notes what happens in the cycle, and shows how far it has come.
    pub fn note(&mut self, event: &Event<'_>) {
        if let Event::Matched { .. } | Event::Rejected { .. } = event {
            self.done += 1;
            // Who asks for several of a kind is considered several times.
            progress::step(MATCHING, self.done, (self.done <= self.all).then_some(self.all));
        }
    }
}

/// What is to be done with some requests and offers.
pub struct Task {
    pub wanted: Wanted,
    pub settings: Settings,
    /// Whether a policy decides, or requests may count what they ask for.
    pub has_rules: bool,
    /// Whether requests that nothing tells apart are one ad already, and how many ads they are.
    pub is_clustered: bool,
    pub distinct: u64,
}

impl Task {
    /// The pairs that are asked for.
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

/// The pairs that are wanted under a policy, or of requests that ask for the same thing several times.
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
    // Each request, and which one of those that it counts.
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

/// The requests with one ad for all that are alike, and how many ads these are.
fn alike(settings: &Settings, requests: &[Ad], offers: &[Ad], policies: &Policies) -> (Vec<Ad>, u64) {
    let clusters = Clusters::new(requests, offers, policies, &settings.protocol, &settings.context);
    let representative = |cluster: &usize| clusters.clusters[*cluster].representative.clone();
    (clusters.of.iter().map(representative).collect(), clusters.clusters.len() as u64)
}
