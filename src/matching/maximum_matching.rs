//! Maximum bipartite matching (Hopcroft and Karp) over classes of requests with equal lists.

use std::sync::Arc;

use super::request_classes::RequestClasses;
use super::{BilateralMatch, Candidate};

/// Returns matches for as many requests as possible. `lists` holds the candidates of each request, best first.
///
/// Every request that greedy matching would serve is matched. Requests with equal lists form a class. If not all
/// requests of a class can be matched, the first ones are matched. An earlier request of a class gets a better offer
/// than a later one.
#[must_use]
pub fn maximum_matching(lists: &[Arc<[Candidate]>]) -> Vec<BilateralMatch> {
    let preferences = RequestClasses::new(lists);
    let mut flow = HopcroftKarp::from_greedy(&preferences);
    while flow.find_levels() {
        for class in 0..preferences.lists.len() {
            while flow.wants_more(class) && flow.augment_from(class) {}
        }
    }
    flow.matches()
}

/// The matching of classes with offers that was found so far, and the state of the search for augmenting paths.
struct HopcroftKarp<'a> {
    classes: &'a RequestClasses<'a>,
    /// The class that holds each offer; `None` if the offer is free.
    owner: Vec<Option<usize>>,
    /// Number of offers that each class holds.
    held_count: Vec<usize>,
    /// Level of each class in the breadth-first search: its distance from a class that wants more offers. `None` if the
    /// search did not reach the class, or if no shortest path leads through the class.
    level: Vec<Option<usize>>,
    /// Position in the list of each class at which the depth-first search continues.
    position: Vec<usize>,
}

impl<'a> HopcroftKarp<'a> {
    /// Starts from the greedy matching: one after the other, each request takes its best free offer.
    fn from_greedy(preferences: &'a RequestClasses<'a>) -> Self {
        let classes = preferences.lists.len();
        let mut flow = HopcroftKarp {
            classes: preferences,
            owner: vec![None; preferences.offer_bound],
            held_count: vec![0; classes],
            level: vec![None; classes],
            position: vec![0; classes],
        };
        for &class in &preferences.class_of_request {
            let rest = &preferences.lists[class][flow.position[class]..];
            let free = rest.iter().position(|candidate| flow.owner[candidate.offer].is_none());
            flow.position[class] += free.map_or(rest.len(), |taken| taken + 1);
            if let Some(free) = free {
                flow.owner[rest[free].offer] = Some(class);
                flow.held_count[class] += 1;
            }
        }
        flow
    }

    fn wants_more(&self, class: usize) -> bool {
        self.held_count[class] < self.classes.sizes[class]
    }

    /// The breadth-first phase: sets the level of each class. Returns whether an augmenting path exists, which means
    /// that a free offer was reached.
    fn find_levels(&mut self) -> bool {
        let mut frontier: Vec<usize> = (0..self.held_count.len()).filter(|&class| self.wants_more(class)).collect();
        self.level.fill(None);
        self.position.fill(0);
        for &class in &frontier {
            self.level[class] = Some(0);
        }
        let mut distance = 0;
        let mut reached = false;
        while !frontier.is_empty() && !reached {
            distance += 1;
            let mut next = Vec::new();
            for class in frontier {
                for candidate in self.classes.lists[class] {
                    match self.owner[candidate.offer] {
                        None => reached = true,
                        Some(owner) if self.level[owner].is_none() => {
                            self.level[owner] = Some(distance);
                            next.push(owner);
                        }
                        Some(_) => {}
                    }
                }
            }
            frontier = next;
        }
        reached
    }

    /// The depth-first phase: finds a shortest augmenting path from a class and applies it. Returns false if there is
    /// no such path. The path is kept in a list, because it may be too long for recursion.
    fn augment_from(&mut self, first: usize) -> bool {
        let mut path = vec![first];
        while let Some(&class) = path.last() {
            let Some(candidate) = self.classes.lists[class].get(self.position[class]) else {
                // All candidates of the class were tried, so that no shortest path leads through the class.
                self.level[class] = None;
                path.pop();
                if let Some(&before) = path.last() {
                    self.position[before] += 1;
                }
                continue;
            };
            match self.owner[candidate.offer] {
                None => {
                    for &class in &path {
                        let offer = self.classes.lists[class][self.position[class]].offer;
                        self.owner[offer] = Some(class);
                    }
                    self.held_count[first] += 1;
                    return true;
                }
                Some(owner) if self.level[class].is_some_and(|level| self.level[owner] == Some(level + 1)) => {
                    path.push(owner);
                }
                Some(_) => self.position[class] += 1,
            }
        }
        false
    }

    /// Returns the matches of the requests. The first request of a class gets the best offer that the class holds, and
    /// so on.
    fn matches(&self) -> Vec<BilateralMatch> {
        let mut place = vec![0; self.held_count.len()];
        let mut matches = Vec::new();
        for (request, &class) in self.classes.class_of_request.iter().enumerate() {
            let rest = &self.classes.lists[class][place[class]..];
            let own = rest.iter().position(|candidate| self.owner[candidate.offer] == Some(class));
            if let Some(own) = own {
                matches.push(self.classes.match_at(request, place[class] + own));
            }
            place[class] += own.map_or(rest.len(), |own| own + 1);
        }
        matches
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Candidate;
    use super::super::tests::{match_lists, random_lists};
    use super::maximum_matching;

    /// Returns the size of a maximum matching by exhaustive search: each request takes any free candidate, or none.
    /// `taken` has a bit for each taken offer.
    fn largest(lists: &[Arc<[Candidate]>], taken: u64) -> usize {
        let Some((first, rest)) = lists.split_first() else { return 0 };
        let with = |c: &Candidate| (taken & 1 << c.offer == 0).then(|| 1 + largest(rest, taken | 1 << c.offer));
        first.iter().filter_map(with).fold(largest(rest, taken), usize::max)
    }

    /// Returns the requests that greedy matching serves.
    fn served(lists: &[Arc<[Candidate]>]) -> Vec<usize> {
        let mut taken = Vec::new();
        let mut served = Vec::new();
        for (request, list) in lists.iter().enumerate() {
            if let Some(best) = list.iter().find(|candidate| !taken.contains(&candidate.offer)) {
                taken.push(best.offer);
                served.push(request);
            }
        }
        served
    }

    #[test]
    fn as_many_as_can_be() {
        let mut random = fastrand::Rng::with_seed(13);
        let mut more_than_greedy = 0;
        for _ in 0..2000 {
            let lists = random_lists(&mut random);
            let matches = maximum_matching(&lists);
            assert_eq!(matches.len(), largest(&lists, 0), "{lists:?} {matches:?}");
            for pairing in &matches {
                assert_eq!(matches.iter().filter(|other| other.offer == pairing.offer).count(), 1);
                assert_eq!(matches.iter().filter(|other| other.request == pairing.request).count(), 1);
                assert!(lists[pairing.request].iter().any(|candidate| candidate.offer == pairing.offer));
            }
            let greedy = served(&lists);
            assert!(greedy.iter().all(|request| matches.iter().any(|pairing| pairing.request == *request)));
            more_than_greedy += usize::from(matches.len() > greedy.len());
        }
        assert!(more_than_greedy > 50, "{more_than_greedy}: the pools put it to no test");
    }

    #[test]
    fn sharing_lists_changes_nothing() {
        let mut random = fastrand::Rng::with_seed(14);
        for _ in 0..500 {
            let lists = random_lists(&mut random);
            let apart: Vec<_> = lists.iter().map(|list| list.iter().copied().collect()).collect();
            assert_eq!(maximum_matching(&lists), maximum_matching(&apart));
        }
    }

    /// Greedy matching gives each request but the last its first candidate. The last request has only offer 0, so that
    /// the augmenting path moves all other requests to their second candidates.
    #[test]
    fn a_long_path() {
        let count = 20_000;
        let list = |request: usize| {
            let candidate = |offer| Candidate { offer, request_rank: 0.0, offer_rank: 0.0 };
            [request.saturating_sub(1), request].map(candidate).into()
        };
        let mut lists: Vec<Arc<[Candidate]>> = (1..count).map(list).collect();
        lists.extend(match_lists(&[&[(0, 0.0, 0.0)]]));
        assert_eq!(maximum_matching(&lists).len(), count);
    }
}
