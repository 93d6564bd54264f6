//! Requests that have the same candidates, considered together.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Candidate, Match};

/// The match lists of requests, each distinct one once.
pub struct Preferences<'a> {
    /// For each request, which list is its own.
    pub class: Vec<usize>,
    /// The lists, best candidate first.
    pub lists: Vec<&'a [Candidate]>,
    /// How many requests have each list.
    pub sizes: Vec<usize>,
    /// How many offers there are.
    pub offers: usize,
}

/// A list by what is in it.
struct Contents<'a>(&'a [Candidate]);

impl Contents<'_> {
    fn keys(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        self.0.iter().map(|c| (c.offer, c.request_rank.to_bits(), c.offer_rank.to_bits()))
    }
}

impl PartialEq for Contents<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.keys().eq(other.keys())
    }
}

impl Eq for Contents<'_> {}

impl Hash for Contents<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.keys().for_each(|key| key.hash(state));
    }
}

impl<'a> Preferences<'a> {
    /// Finds the requests that have equal lists, whether they share them or not: what is made of the classes
    /// must not depend on what is remembered where.
    pub fn new(lists: &'a [Arc<[Candidate]>]) -> Self {
        let mut shared: FxHashMap<*const Candidate, usize> = FxHashMap::default();
        let mut equal: FxHashMap<Contents<'a>, usize> = FxHashMap::default();
        let mut preferences = Preferences { class: Vec::new(), lists: Vec::new(), sizes: Vec::new(), offers: 0 };
        for list in lists {
            // Empty lists may have one address with others.
            let known = shared.get(&list.as_ptr()).copied().filter(|_| !list.is_empty());
            let class = known.unwrap_or_else(|| {
                let next = preferences.lists.len();
                let class = *equal.entry(Contents(list)).or_insert(next);
                shared.insert(list.as_ptr(), class);
                class
            });
            if class == preferences.lists.len() {
                preferences.lists.push(list);
                preferences.sizes.push(0);
                let beyond = list.iter().map(|candidate| candidate.offer + 1).max();
                preferences.offers = preferences.offers.max(beyond.unwrap_or(0));
            }
            preferences.sizes[class] += 1;
            preferences.class.push(class);
        }
        preferences
    }

    /// The match of a request and the candidate at a place of its list.
    pub fn pairing(&self, request: usize, place: usize) -> Match {
        self.lists[self.class[request]][place].of(request)
    }
}
