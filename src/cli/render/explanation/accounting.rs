//! How requests stand in the accounting of a pool: the limits that keep them from offers, and who precedes whom.

use std::sync::Arc;

use classad::explain::Precedence;
use classad::matching::negotiate::{AccountingLimit, NegotiationOutcome};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// How requests stand in the accounting of a pool.
#[derive(Default)]
pub struct Accounting {
    /// The limit that keeps a request from offers, by index of the request.
    limits: FxHashMap<usize, Arc<AccountingLimit>>,
    /// The name and the priority of each submitter. Empty if there are no shares.
    known: Vec<(String, f64)>,
    /// The index of the submitter of each request.
    submitters: FxHashMap<usize, usize>,
    /// Number of offers whose weight is not a number of at least 0.
    pub without_weight: usize,
}

impl Accounting {
    /// Takes the standing of requests from the outcome of a cycle, which counted requests as in `requests`.
    pub fn new(outcome: &mut NegotiationOutcome, requests: &[usize]) -> Self {
        let limits = std::mem::take(&mut outcome.limits).into_iter();
        let submitters = std::mem::take(&mut outcome.submitter_of).into_iter();
        Accounting {
            limits: limits
                .filter(|(_, reached)| reached.decides)
                .map(|(request, reached)| (requests[request], reached.limit))
                .collect(),
            known: outcome.submitters.iter().map(|of| (of.name.clone(), of.priority)).collect(),
            without_weight: outcome.without_weight,
            submitters: submitters.map(|(request, submitter)| (requests[request], submitter)).collect(),
        }
    }

    /// Returns the names of the submitters.
    pub fn submitters(&self) -> Vec<&str> {
        self.known.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Keeps only the limits that hold without what the cycle gave.
    pub fn before_cycle(mut self) -> Self {
        self.limits.retain(|_, limit| limit.holds_before_cycle());
        self
    }

    /// Returns the limit that keeps one of the requests from offers.
    pub fn limit(&self, requests: &[usize]) -> Option<&AccountingLimit> {
        requests.iter().find_map(|request| self.limits.get(request)).map(|limit| &**limit)
    }

    /// Divides a group of equivalent requests by their limits and submitters.
    pub fn divide(&self, group: Vec<usize>) -> Vec<Vec<usize>> {
        let mut divided: IndexMap<_, Vec<usize>> = IndexMap::new();
        for request in group {
            let limit = self.limits.get(&request).map(ToString::to_string);
            divided.entry((self.submitters.get(&request), limit)).or_default().push(request);
        }
        divided.into_values().collect()
    }

    /// Says why the requests that hold offers were served before `request`.
    pub fn precedence(&self, request: usize, holders: &[usize]) -> Precedence {
        let Some(own) = self.submitters.get(&request) else { return Precedence::default() };
        let priority = |submitter: &usize| self.known.get(*submitter).map_or(0.0, |(_, priority)| *priority);
        let mut precedence = Precedence { priority: priority(own), ..Precedence::default() };
        for holder in holders.iter().filter_map(|holder| self.submitters.get(holder)) {
            precedence.add(holder == own, priority(holder));
        }
        precedence
    }
}
