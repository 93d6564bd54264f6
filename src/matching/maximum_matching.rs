//! The largest number of matched requests (Hopcroft and Karp), over classes of requests with equal lists.

use std::sync::Arc;

use super::request_classes::Preferences;
use super::{Candidate, Match};

/// Matches as many requests as can be matched at once.  Every request that would get an offer when they
/// are served one after the other (`greedy`) gets one; of a class of requests with equal lists the first
/// ones do, and the first gets the best of what the class has.
#[must_use]
pub fn maximum(lists: &[Arc<[Candidate]>]) -> Vec<Match> {
    let preferences = Preferences::new(lists);
    let mut flow = Flow::greedy(&preferences);
    while flow.reach() {
        flow.augment();
    }
    flow.matches()
}

/// Which class holds which offer, and a search for more.
struct Flow<'a> {
    preferences: &'a Preferences<'a>,
    /// The class that holds each offer.
    owner: Vec<Option<usize>>,
    /// How many offers each class holds.
    held: Vec<usize>,
    /// How many times an offer has to change hands until the class can get it; unreached ones have none.
    level: Vec<Option<usize>>,
    /// The place of each list where the search goes on.
    place: Vec<usize>,
}

impl<'a> Flow<'a> {
    /// Each request in turn takes the best offer that is left.
    fn greedy(preferences: &'a Preferences<'a>) -> Self {
        let classes = preferences.lists.len();
        let mut flow = Flow {
            preferences,
            owner: vec![None; preferences.offers],
            held: vec![0; classes],
            level: vec![None; classes],
            place: vec![0; classes],
        };
        for &class in &preferences.class {
            let rest = &preferences.lists[class][flow.place[class]..];
            let free = rest.iter().position(|candidate| flow.owner[candidate.offer].is_none());
            flow.place[class] += free.map_or(rest.len(), |taken| taken + 1);
            if let Some(free) = free {
                flow.owner[rest[free].offer] = Some(class);
                flow.held[class] += 1;
            }
        }
        flow
    }

    fn wants_more(&self, class: usize) -> bool {
        self.held[class] < self.preferences.sizes[class]
    }

    /// Numbers the classes by their distance from one that wants more; whether any reaches a free offer.
    fn reach(&mut self) -> bool {
        let mut frontier: Vec<usize> = (0..self.held.len()).filter(|&class| self.wants_more(class)).collect();
        self.level.fill(None);
        self.place.fill(0);
        for &class in &frontier {
            self.level[class] = Some(0);
        }
        let mut distance = 0;
        let mut reached = false;
        while !frontier.is_empty() && !reached {
            distance += 1;
            let mut next = Vec::new();
            for class in frontier {
                for candidate in self.preferences.lists[class] {
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

    /// Hands offers on, along shortest ways, until none is left.  The way is a list, not the stack: it may
    /// go through every class.
    fn augment(&mut self) {
        for first in 0..self.held.len() {
            while self.wants_more(first) && self.hand_on(first) {}
        }
    }

    /// Gets one more offer for a class, if there is a way.
    fn hand_on(&mut self, first: usize) -> bool {
        let mut way = vec![first];
        while let Some(&class) = way.last() {
            let Some(candidate) = self.preferences.lists[class].get(self.place[class]) else {
                // A dead end for every other way, too.
                self.level[class] = None;
                way.pop();
                if let Some(&before) = way.last() {
                    self.place[before] += 1;
                }
                continue;
            };
            match self.owner[candidate.offer] {
                None => {
                    for &class in &way {
                        let taken = self.preferences.lists[class][self.place[class]].offer;
                        self.owner[taken] = Some(class);
                    }
                    self.held[first] += 1;
                    return true;
                }
                Some(owner) if self.level[class].is_some_and(|level| self.level[owner] == Some(level + 1)) => {
                    way.push(owner);
                }
                Some(_) => self.place[class] += 1,
            }
        }
        false
    }

    /// Deals the offers of each class to its requests.
    fn matches(&self) -> Vec<Match> {
        let mut place = vec![0; self.held.len()];
        let mut matches = Vec::new();
        for (request, &class) in self.preferences.class.iter().enumerate() {
            let rest = &self.preferences.lists[class][place[class]..];
            let own = rest.iter().position(|candidate| self.owner[candidate.offer] == Some(class));
            if let Some(own) = own {
                matches.push(self.preferences.pairing(request, place[class] + own));
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
    use super::super::testing::{random_lists, ranks};
    use super::maximum;

    /// The largest number by trying everything: each request takes any of its offers, or none.
    fn largest(lists: &[Arc<[Candidate]>], taken: u64) -> usize {
        let Some((first, rest)) = lists.split_first() else { return 0 };
        let with = |c: &Candidate| (taken & 1 << c.offer == 0).then(|| 1 + largest(rest, taken | 1 << c.offer));
        first.iter().filter_map(with).fold(largest(rest, taken), usize::max)
    }

    /// Who gets an offer when requests are served one after the other.
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
            let matches = maximum(&lists);
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
            assert_eq!(maximum(&lists), maximum(&apart));
        }
    }

    /// Each request wants its predecessor's offer, and only the last one has another: every offer changes hands.
    #[test]
    fn a_long_way() {
        let count = 20_000;
        let list = |request: usize| {
            let candidate = |offer| Candidate { offer, request_rank: 0.0, offer_rank: 0.0 };
            [request.saturating_sub(1), request].map(candidate).into()
        };
        let mut lists: Vec<Arc<[Candidate]>> = (1..count).map(list).collect();
        lists.extend(ranks(&[&[(0, 0.0, 0.0)]]));
        assert_eq!(maximum(&lists).len(), count);
    }
}
