//! Which request of a submitter starts in what the access point has claimed.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Truth, Value};
use crate::matching::Candidate;
use crate::matching::policy::{Leftovers, Policy};

use super::offers::CycleOffers;

/// The requests of a submitter that wait, in the submitter's order.
#[derive(Default)]
pub struct WaitingRequests {
    /// The requests of each autocluster, by their places in the order.
    clusters: FxHashMap<usize, BTreeMap<usize, usize>>,
    /// The autocluster of each request that is the first of its autocluster, by its place.
    heads: BTreeMap<usize, usize>,
    /// Each request: its place, its autocluster, and the number of starts for which it still waits.
    requests: FxHashMap<usize, (usize, usize, usize)>,
}

impl WaitingRequests {
    /// Whether a request waits.
    pub fn contains(&self, request: usize) -> bool {
        self.requests.contains_key(&request)
    }

    /// Whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Sets the number of starts for which a request waits. It has a place in the order, and an autocluster.
    pub fn set(&mut self, request: usize, (place, cluster, units): (usize, usize, usize)) {
        let before = if units > 0 {
            self.requests.insert(request, (place, cluster, units))
        } else {
            self.requests.remove(&request)
        };
        if before.is_some() == (units > 0) {
            return;
        }
        let others = self.clusters.entry(cluster).or_default();
        if let Some((head, _)) = others.first_key_value() {
            self.heads.remove(head);
        }
        if units > 0 {
            others.insert(place, request);
        } else {
            others.remove(&place);
        }
        if let Some((head, _)) = others.first_key_value() {
            self.heads.insert(*head, cluster);
        }
    }

    /// Takes one start of a request away.
    pub fn start(&mut self, request: usize) {
        if let Some((place, cluster, units)) = self.requests.get(&request).copied() {
            self.set(request, (place, cluster, units - 1));
        }
    }
}

/// Requests in their order, each with its autocluster and the number of its starts.
impl FromIterator<(usize, usize, usize)> for WaitingRequests {
    fn from_iter<I: IntoIterator<Item = (usize, usize, usize)>>(requests: I) -> Self {
        let mut waiting = WaitingRequests::default();
        for (place, (request, cluster, units)) in requests.into_iter().enumerate() {
            waiting.set(request, (place, cluster, units));
        }
        waiting
    }
}

/// The rules by which the access point gives what it has claimed to further requests (`FindRunnableJob` in HTCondor's
/// `qmgmt.cpp`).
pub struct ClaimRules {
    pub policy: Policy,
    pub leftovers: Leftovers,
}

impl ClaimRules {
    /// Returns the first request of a queue that matches an offer as it is now, may have it and has these concurrency limits or
    /// none. If a request does not match, none of its autocluster does.
    pub fn find_runnable<'a>(
        &self,
        queue: &WaitingRequests,
        ad_of: impl Fn(usize) -> &'a Ad,
        offers: &mut CycleOffers,
        offer: usize,
        limits: &str,
    ) -> Option<(usize, Candidate)> {
        queue.heads.values().find_map(|cluster| {
            let request = *queue.clusters.get(cluster)?.values().next()?;
            let candidate = self.candidate(ad_of(request), offers, offer)?;
            let has_limits = !self.leftovers.considers_limits || {
                // A request without limits takes those of the claim.
                let own = self.limits_text(ad_of(request), offers, offer);
                own.is_empty() || own == limits
            };
            has_limits.then_some((request, candidate))
        })
    }

    /// Returns a request and an offer as candidates of each other, if the offer as it is now may go to the request.
    fn candidate(&self, request: &Ad, offers: &mut CycleOffers, offer: usize) -> Option<Candidate> {
        let candidate = offers.candidates_among(request, vec![offer]).pop()?;
        let dialect = offers.context.dialect;
        let permits = |value: Value| Truth::of(&value, dialect) != Truth::False;
        let is_permitted =
            self.leftovers.permits.as_ref().is_none_or(|rule| permits(offers.docking_value(rule, request, offer)));
        (is_permitted && offers.may_start(request, offer)).then_some(candidate)
    }

    /// Returns the concurrency limits of a request as a text that can be compared.
    pub fn limits_text(&self, request: &Ad, offers: &mut CycleOffers, offer: usize) -> String {
        let rule = self.policy.limits.as_ref().and_then(|limits| limits.needs.as_ref());
        match rule.map(|rule| offers.docking_value(rule, request, offer)) {
            Some(Value::String(limits)) => limits.to_str().to_ascii_lowercase(),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WaitingRequests;

    /// Returns the first request of each autocluster, by place, and all that wait with their units.
    fn told(waiting: &WaitingRequests) -> String {
        let head = |(place, cluster): (&usize, &usize)| format!("{place}:{cluster}");
        let heads: Vec<String> = waiting.heads.iter().map(head).collect();
        let mut requests: Vec<_> = waiting.requests.iter().map(|(request, of)| (*request, of.2)).collect();
        requests.sort_unstable();
        let in_clusters: usize = waiting.clusters.values().map(std::collections::BTreeMap::len).sum();
        format!("{} {requests:?} {in_clusters}", heads.join(" "))
    }

    #[test]
    fn each_autocluster_has_its_first_request() {
        let mut waiting: WaitingRequests = [(10, 0, 1), (11, 1, 2), (12, 0, 1), (13, 1, 0)].into_iter().collect();
        assert_eq!(told(&waiting), "0:0 1:1 [(10, 1), (11, 2), (12, 1)] 3");
        assert!(waiting.contains(11) && !waiting.contains(13) && !waiting.is_empty());
        for (request, expected) in [
            (10, "1:1 2:0 [(11, 2), (12, 1)] 2"),
            (10, "1:1 2:0 [(11, 2), (12, 1)] 2"),
            (11, "1:1 2:0 [(11, 1), (12, 1)] 2"),
            (11, "2:0 [(12, 1)] 1"),
            (99, "2:0 [(12, 1)] 1"),
            (12, " [] 0"),
        ] {
            waiting.start(request);
            assert_eq!(told(&waiting), expected, "{request}");
        }
        assert!(waiting.is_empty() && WaitingRequests::default().is_empty());
        for (request, of, expected) in [
            (11, (1, 1, 3), "1:1 [(11, 3)] 1"),
            (10, (0, 1, 1), "0:1 [(10, 1), (11, 3)] 2"),
            (11, (1, 1, 4), "0:1 [(10, 1), (11, 4)] 2"),
            (10, (0, 1, 0), "1:1 [(11, 4)] 1"),
            (10, (0, 1, 0), "1:1 [(11, 4)] 1"),
            (12, (2, 5, 0), "1:1 [(11, 4)] 1"),
            (11, (1, 1, 0), " [] 0"),
        ] {
            waiting.set(request, of);
            assert_eq!(told(&waiting), expected, "{request} {of:?}");
        }
    }
}
