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
    /// One more than the greatest offer index in any list. A table with an entry for each offer has this length.
    pub offer_bound: usize,
}

/// A match list as a hash key. Two lists are equal if they have the same offers with the same bits in all ranks.
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
    /// Groups requests by the contents of their lists. Lists with the same address are known to be equal without a
    /// comparison. Equal lists with different addresses are recognised, too, so that the classes do not depend on
    /// caching.
    pub fn new(lists: &'a [Arc<[Candidate]>]) -> Self {
        let mut shared: FxHashMap<*const Candidate, usize> = FxHashMap::default();
        let mut equal: FxHashMap<MatchListKey<'a>, usize> = FxHashMap::default();
        let mut preferences = RequestClasses::default();
        for list in lists {
            // An empty list takes no memory of its own, so that its address does not identify it.
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

    /// Returns the match of a request with the candidate at position `place` of its list.
    pub fn match_at(&self, request: usize, place: usize) -> BilateralMatch {
        self.lists[self.class_of_request[request]][place].match_with(request)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::RequestClasses;
    use crate::matching::Candidate;
    use crate::matching::tests::match_lists;

    #[test]
    fn requests_with_equal_lists_are_one_class() {
        let lists = match_lists(&[
            &[(0, 2.0, 1.0), (4, 1.0, 1.0)],
            &[],
            &[(0, 2.0, 1.0), (4, 1.0, 1.0)],
            &[(0, 2.0, 1.0)],
            &[(0, 2.0, 2.0), (4, 1.0, 1.0)],
            &[(0, 3.0, 1.0), (4, 1.0, 1.0)],
            &[(1, 2.0, 1.0), (4, 1.0, 1.0)],
            &[],
            &[(0, 0.0, 0.0)],
            &[(0, -0.0, 0.0)],
        ]);
        let mut all: Vec<Arc<[Candidate]>> = lists;
        all.push(Arc::clone(&all[3]));
        let classes = RequestClasses::new(&all);
        assert_eq!(classes.class_of_request, [0, 1, 0, 2, 3, 4, 5, 1, 6, 7, 2]);
        assert_eq!(classes.sizes, [2, 2, 2, 1, 1, 1, 1, 1]);
        assert_eq!(classes.lists.iter().map(|list| list.len()).collect::<Vec<_>>(), [2, 0, 1, 2, 2, 2, 1, 1]);
        assert_eq!(classes.offer_bound, 5);
        let second = classes.match_at(2, 1);
        assert_eq!((second.request, second.offer, second.request_rank.to_bits()), (2, 4, 1_f64.to_bits()));
        let none = [Arc::from([])];
        assert_eq!((RequestClasses::new(&none).offer_bound, RequestClasses::new(&[]).sizes.len()), (0, 0));
    }
}
