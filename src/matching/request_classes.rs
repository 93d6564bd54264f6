//! Equivalence classes of requests with equal match lists.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{BilateralMatch, Candidate};

/// Requests grouped into classes by their match lists.
#[derive(Default)]
pub struct RequestClasses<'a> {
    /// Class of each request, an index into `lists`.
    pub class_of_request: Vec<usize>,
    /// The match list of each class, best candidate first.
    pub lists: Vec<&'a [Candidate]>,
    /// Number of requests in each class.
    pub sizes: Vec<usize>,
    /// One more than the greatest offer index in any list: the length of a table that is indexed by offer.
    pub offer_bound: usize,
}

/// Hash key of a list: its contents. Ranks compare by their bits.
struct MatchListKey<'a>(&'a [Candidate]);

impl MatchListKey<'_> {
    fn keys(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        self.0.iter().map(|c| (c.offer, c.request_rank.to_bits(), c.offer_rank.to_bits()))
    }
}

impl PartialEq for MatchListKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.keys().eq(other.keys())
    }
}

impl Eq for MatchListKey<'_> {}

impl Hash for MatchListKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.keys().for_each(|key| key.hash(state));
    }
}

impl<'a> RequestClasses<'a> {
    /// Groups requests by the contents of their lists. The address of a shared list is only a shortcut: the classes
    /// must not depend on which lists are cached.
    pub fn new(lists: &'a [Arc<[Candidate]>]) -> Self {
        let mut shared: FxHashMap<*const Candidate, usize> = FxHashMap::default();
        let mut equal: FxHashMap<MatchListKey<'a>, usize> = FxHashMap::default();
        let mut preferences = RequestClasses::default();
        for list in lists {
            // Empty lists may share one address without being the same allocation, so that they are always looked up by
            // content.
            let known = shared.get(&list.as_ptr()).copied().filter(|_| !list.is_empty());
            let class = known.unwrap_or_else(|| {
                let next = preferences.lists.len();
                let class = *equal.entry(MatchListKey(list)).or_insert(next);
                shared.insert(list.as_ptr(), class);
                class
            });
            if class == preferences.lists.len() {
                preferences.lists.push(list);
                preferences.sizes.push(0);
                let beyond = list.iter().map(|candidate| candidate.offer + 1).max();
                preferences.offer_bound = preferences.offer_bound.max(beyond.unwrap_or(0));
            }
            preferences.sizes[class] += 1;
            preferences.class_of_request.push(class);
        }
        preferences
    }

    /// Returns the match of a request and the candidate at position `place` of the request's list.
    pub fn match_at(&self, request: usize, place: usize) -> BilateralMatch {
        self.lists[self.class_of_request[request]][place].match_with(request)
    }
}
