//! Equivalence classes of requests with equal match lists.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Candidate, Match};

/// The distinct match lists of requests.
pub struct Preferences<'a> {
    /// Class of each request, an index into `lists`.
    pub class: Vec<usize>,
    /// The match list of each class, best candidate first.
    pub lists: Vec<&'a [Candidate]>,
    /// Number of requests in each class.
    pub sizes: Vec<usize>,
    /// One more than the greatest offer index in any list.
    pub offers: usize,
}

/// Hash key of a list: its contents. Ranks compare by their bits.
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
    /// Groups requests by the contents of their lists. The address of a shared list is only a shortcut: the classes
    /// must not depend on which lists are cached.
    pub fn new(lists: &'a [Arc<[Candidate]>]) -> Self {
        let mut shared: FxHashMap<*const Candidate, usize> = FxHashMap::default();
        let mut equal: FxHashMap<Contents<'a>, usize> = FxHashMap::default();
        let mut preferences = Preferences { class: Vec::new(), lists: Vec::new(), sizes: Vec::new(), offers: 0 };
        for list in lists {
            // Empty lists may share one address without being the same allocation.
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

    /// Returns the match of a request and the candidate at position `place` of its list.
    pub fn pairing(&self, request: usize, place: usize) -> Match {
        self.lists[self.class[request]][place].of(request)
    }
}
