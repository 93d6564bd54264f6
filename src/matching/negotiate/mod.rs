//! A negotiation cycle: submitters take turns, and each request gets the best remaining offer (thesis 3.8, 2006 paper
//! 2.2 and 4).

mod event;
mod match_list;
mod offers;
mod policy_candidates;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Name, Value};
use crate::eval::{Context, Mentions};
use crate::pool::Clusters;
use crate::protocol::{Protocol, RESOURCE_COUNT, resource_count};

use super::policy::{Policy, PolicyFault, Rule, UNKNOWN_PRIORITY};
use super::{Accelerations, Statistics};

pub use event::{Event, Grant};
use match_list::{Ranked, Standing};
use offers::Offers;
pub use policy_candidates::Ranking;

/// The settings of a cycle.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The administrative policy.
    pub policy: Policy,
    /// The attributes that hold constraint and rank.
    pub protocol: Protocol,
    /// The evaluation context.
    pub context: Context,
    /// Optional caches and indexes; they change the cost, never a match.
    pub accelerations: Accelerations,
}

/// The result of a cycle.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The matches, in the order in which they were made.
    pub grants: Vec<Grant>,
    /// Counters of the cycle.
    pub statistics: Statistics,
    /// The submitters, best priority first, each with the number of offers it got.
    pub submitters: Vec<(String, usize)>,
    /// Indexes of the components of the docking vector that discarded every candidate, for example because they are
    /// always undefined.
    pub unplaced: Vec<usize>,
}

/// Runs a negotiation cycle. `priority` returns the priority of a submitter that the policy does not name, or `None`
/// if it is unknown; larger is worse. `tell` gets each event as it happens.
///
/// Without a policy, each request in turn gets the offer that it ranks highest, then that ranks it highest, then the
/// first: the matches of [`super::Greedy`].
///
/// # Errors
///
/// Fails if values of the policy's vectors cannot be compared.
pub fn negotiate(
    settings: &Settings,
    requests: &[Ad],
    offers: &[Ad],
    priority: &dyn Fn(&str) -> Option<f64>,
    tell: &mut dyn FnMut(&Event<'_>),
) -> Result<Outcome, PolicyFault> {
    let mut cycle = Cycle::new(settings, requests, offers);
    let (roots, failures) = settings.policy.roots(requests, &settings.context)?;
    cycle.outcome.statistics.failures += failures;
    let mut submitters = cycle.submitters(&roots, priority);
    cycle.rounds(&mut submitters, tell)?;
    cycle.outcome.statistics.add(&cycle.offers.statistics());
    cycle.outcome.unplaced = cycle.offers.unplaced();
    cycle.outcome.submitters = submitters.into_iter().map(|submitter| (submitter.name, submitter.got)).collect();
    Ok(cycle.outcome)
}

/// Returns the names that a cycle reads from ads in addition to constraints, ranks and the names that these read.
#[must_use]
pub fn mentions(policy: &Policy, dialect: Dialect) -> Mentions {
    let mut mentions = policy.mentions(dialect);
    mentions.names.extend(offers::USERS.map(Name::new));
    mentions.names.insert(Name::new(RESOURCE_COUNT));
    mentions
}

/// A submitter during a cycle.
struct Submitter {
    name: String,
    priority: f64,
    /// Indexes of its requests, in the order in which they are considered.
    requests: Vec<usize>,
    got: usize,
}

/// The progress of one request.
#[derive(Clone, Copy)]
struct Request {
    /// Numbers of offers that it still asks for, and that it has got.
    left: usize,
    got: usize,
    /// Whether it is a resource request, with a count.
    counts: bool,
    /// Number of divisions of offers at the time when no offer was left for it; `None` if that has not happened.
    failed: Option<usize>,
}

struct Cycle<'c> {
    settings: &'c Settings,
    ads: &'c [Ad],
    requests: Vec<Request>,
    clusters: Option<Clusters>,
    offers: Offers,
    /// The match list of each autocluster.
    lists: FxHashMap<usize, Ranked>,
    /// For each failed autocluster the number of divisions at the time of the failure.
    failed: FxHashMap<usize, usize>,
    outcome: Outcome,
}

impl<'c> Cycle<'c> {
    fn new(settings: &'c Settings, ads: &'c [Ad], offers: &[Ad]) -> Self {
        let Settings { policy, protocol, context, accelerations } = settings;
        let clusters =
            accelerations.autoclusters.then(|| Clusters::new(ads, offers, &policy.of_matches(), protocol, context));
        // Without autoclusters no two requests are known to be equivalent, and cached lists would only cost memory.
        let match_lists = accelerations.match_lists && accelerations.autoclusters;
        let mut outcome = Outcome::default();
        outcome.statistics.autoclusters = clusters.as_ref().map_or(0, |clusters| clusters.clusters.len() as u64);
        let request = |ad| {
            let count = resource_count(ad, context);
            Request { left: count.unwrap_or(1), got: 0, counts: count.is_some(), failed: None }
        };
        Cycle {
            settings,
            ads,
            requests: ads.iter().map(request).collect(),
            clusters,
            offers: Offers::new(offers, settings, Accelerations { match_lists, ..*accelerations }),
            lists: FxHashMap::default(),
            failed: FxHashMap::default(),
            outcome,
        }
    }

    /// Evaluates a rule in a request; undefined if it exceeds a budget.
    fn value(&self, rule: &Rule, request: usize) -> Value {
        rule.value(&self.ads[request], &self.settings.context).unwrap_or(Value::Undefined)
    }

    /// Groups requests by submitter; best priority first, then by name.
    fn submitters(&self, roots: &[usize], priority: &dyn Fn(&str) -> Option<f64>) -> Vec<Submitter> {
        let Some(share) = &self.settings.policy.share else {
            return vec![Submitter { name: String::new(), priority: 1.0, requests: roots.to_vec(), got: 0 }];
        };
        let mut by_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for root in roots {
            by_name.entry(name_of(&self.value(&share.by, *root))).or_default().push(*root);
        }
        let submitter = |(name, requests): (String, Vec<usize>)| {
            let priority = share.priority(&name).or_else(|| priority(&name)).unwrap_or(UNKNOWN_PRIORITY);
            Submitter { name, priority, requests, got: 0 }
        };
        let mut submitters: Vec<Submitter> = by_name.into_iter().map(submitter).collect();
        submitters.sort_by(|a, b| a.priority.total_cmp(&b.priority).then_with(|| a.name.cmp(&b.name)));
        submitters
    }

    /// Whether a request still asks for offers and has not failed since the last division of an offer.
    fn is_left(&self, request: usize) -> bool {
        let request = &self.requests[request];
        request.left > 0 && request.failed != Some(self.offers.divided())
    }

    /// Returns the number of offers that a submitter still asks for.
    fn left(&self, submitter: &Submitter) -> usize {
        let left = submitter.requests.iter().filter(|request| self.is_left(**request));
        left.map(|request| self.requests[*request].left).sum()
    }

    /// Runs rounds until one makes no match.
    fn rounds(&mut self, submitters: &mut [Submitter], tell: &mut dyn FnMut(&Event<'_>)) -> Result<(), PolicyFault> {
        for round in 1.. {
            let before = self.outcome.grants.len();
            let asking: Vec<usize> = submitters.iter().map(|submitter| self.left(submitter)).collect();
            let free = self.offers.free();
            if free == 0 || asking.iter().all(|left| *left == 0) {
                break;
            }
            tell(&Event::Round { number: round, offers: free });
            let waiting = submitters.iter().zip(&asking).filter(|(_, left)| **left > 0);
            let whole: f64 = waiting.map(|(submitter, _)| 1.0 / submitter.priority).sum();
            for (submitter, left) in submitters.iter_mut().zip(asking) {
                if left == 0 || self.offers.free() == 0 {
                    continue;
                }
                let slice = self.settings.policy.share.as_ref().map(|_| slice(free, 1.0 / submitter.priority / whole));
                tell(&Event::Turn { submitter: &submitter.name, priority: submitter.priority, slice, requests: left });
                let before = self.outcome.grants.len();
                self.turn(submitter, slice.unwrap_or(usize::MAX), tell)?;
                submitter.got += self.outcome.grants.len() - before;
            }
            if self.outcome.grants.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// Considers the requests of a submitter until its slice is used up.
    fn turn(
        &mut self,
        submitter: &Submitter,
        mut slice: usize,
        tell: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(), PolicyFault> {
        for request in submitter.requests.iter().copied() {
            while slice > 0 && self.is_left(request) && self.offers.free() > 0 {
                if self.consider(request, &submitter.name, tell)? {
                    slice -= 1;
                }
            }
        }
        Ok(())
    }

    /// Considers a request once. Returns whether it got an offer.
    fn consider(
        &mut self,
        request: usize,
        submitter: &str,
        tell: &mut dyn FnMut(&Event<'_>),
    ) -> Result<bool, PolicyFault> {
        let divided = self.offers.divided();
        let cluster = self.clusters.as_ref().map(|clusters| clusters.of[request]);
        let hopeless = cluster.is_some_and(|cluster| self.failed.get(&cluster) == Some(&divided));
        if hopeless {
            let left = self.requests[request].left;
            self.outcome.statistics.skipped += left as u64;
            self.requests[request].failed = Some(divided);
            tell(&Event::Skipped { request, submitter, requests: left });
            return Ok(false);
        }
        self.outcome.statistics.roots += 1;
        let alike = match (&self.clusters, cluster) {
            (Some(clusters), Some(cluster)) => clusters.clusters[cluster].representative.clone(),
            _ => self.ads[request].clone(),
        };
        let mut ranked = cluster.and_then(|cluster| self.lists.remove(&cluster)).unwrap_or_default();
        ranked.refresh(&mut self.offers, &alike)?;
        let best = ranked.best(&self.offers);
        if best.is_none() {
            let (compatible, discarded) = (ranked.compatible(), ranked.discarded());
            tell(&Event::Rejected { request, submitter, compatible, discarded });
            // The remaining units of a resource request would fail too.
            self.outcome.statistics.skipped += self.requests[request].left as u64 - 1;
            self.requests[request].failed = Some(divided);
            self.failed.extend(cluster.map(|cluster| (cluster, divided)));
        }
        if let Some(cluster) = cluster.filter(|_| self.settings.accelerations.match_lists) {
            self.lists.insert(cluster, ranked);
        }
        let found = best.is_some();
        if let Some(standing) = best {
            self.grant(request, submitter, standing, tell);
        }
        Ok(found)
    }

    fn grant(&mut self, request: usize, submitter: &str, standing: Standing, tell: &mut dyn FnMut(&Event<'_>)) {
        let state = &mut self.requests[request];
        state.left -= 1;
        state.got += 1;
        let candidate = standing.candidate;
        let grant = Grant {
            request,
            unit: state.counts.then_some(state.got),
            offer: candidate.offer,
            part: self.offers.part(candidate.offer),
            request_rank: candidate.request_rank,
            offer_rank: candidate.offer_rank,
            vector: standing.vector,
            preempted: self.offers.user(candidate.offer),
        };
        self.offers.take(candidate.offer, &self.ads[request]);
        self.outcome.statistics.matched += 1;
        tell(&Event::Matched { grant: &grant, submitter });
        self.outcome.grants.push(grant);
    }
}

/// Returns the slice of a submitter as a number of offers: its share rounded down, but at least one, so that no
/// submitter starves. Remaining offers are left for the next round.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // of a count
fn slice(offers: usize, share: f64) -> usize {
    // 1e-9 absorbs rounding errors just below a whole number. A share that is NaN means no limit.
    if share.is_nan() { offers } else { (offers as f64 * share + 1e-9).floor().max(1.0) as usize }
}

/// Returns the name of a submitter.
fn name_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_str().into_owned(),
        value => String::from_utf8_lossy(&crate::syntax::print_value(value, crate::syntax::Style::New)).into_owned(),
    }
}

#[cfg(test)]
mod tests;
