//! Which offers a request is compatible with, best first: the match list of the 2006 paper (§4.2), kept
//! for every request that was asked about.

use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Frame};
use crate::eval::{Context, Halt};
use crate::protocol::Protocol;

use super::index::{Index, Meeting};
use super::{Match, Pair, Side, Statistics};

/// What is remembered and shared.  Switching any of it off changes the cost, never a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accelerations {
    /// Requests that no offer and no policy can tell apart are considered together (2006 paper §4.1).
    pub autoclusters: bool,
    /// The match list of a request is kept for the next one that is alike (2006 paper §4.2).
    pub match_lists: bool,
    /// Constraints are looked up in an index of the offers (thesis ch. 4).
    pub index: bool,
}

impl Accelerations {
    /// All of them.
    pub const ALL: Accelerations = Accelerations { autoclusters: true, match_lists: true, index: true };
    /// None of them: every pair is evaluated, every time.
    pub const NONE: Accelerations = Accelerations { autoclusters: false, match_lists: false, index: false };
}

/// An offer that a request is compatible with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the offer.
    pub offer: usize,
    /// How the request ranks it.
    pub request_rank: f64,
    /// How it ranks the request.
    pub offer_rank: f64,
}

impl Candidate {
    /// The better one first: the request's rank, then the offer's, then the order of the offers.
    #[must_use]
    pub fn order(&self, other: &Candidate) -> Ordering {
        let by_request = other.request_rank.total_cmp(&self.request_rank);
        by_request.then(other.offer_rank.total_cmp(&self.offer_rank)).then(self.offer.cmp(&other.offer))
    }

    /// The match of a request and this offer.
    #[must_use]
    pub fn of(&self, request: usize) -> Match {
        Match { request, offer: self.offer, request_rank: self.request_rank, offer_rank: self.offer_rank }
    }
}

/// Finds out which offers requests are compatible with.  Whether an offer is taken is not its concern.
pub struct Matchmaker {
    pair: Pair,
    offers: Vec<Arc<Frame>>,
    /// The offers as the index knows them: those that were replaced still stand for others that are alike.
    indexed: Vec<Arc<Frame>>,
    accelerations: Accelerations,
    index: Option<Index>,
    lists: FxHashMap<usize, List>,
    /// The offers that were replaced, in the order of time.
    replaced: Vec<usize>,
    /// What has been counted so far.
    pub statistics: Statistics,
}

/// The candidates of a request.
struct List {
    /// Kept alive, so that no other request gets its identity.
    _request: Ad,
    candidates: Arc<[Candidate]>,
    /// How many of the replacements are in it.
    seen: usize,
}

impl Matchmaker {
    /// A matchmaker with these offers.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context, accelerations: Accelerations) -> Self {
        let index = accelerations.index.then(|| Index::new(offers.to_vec(), protocol.clone(), context.clone()));
        let offers: Vec<Arc<Frame>> = offers.iter().map(|ad| Pair::scope(ad.clone(), Side::Right)).collect();
        Matchmaker {
            pair: Pair::new(Ad::default(), Ad::default(), protocol, context),
            indexed: if index.is_some() { offers.clone() } else { Vec::new() },
            offers,
            accelerations,
            index,
            lists: FxHashMap::default(),
            replaced: Vec::new(),
            statistics: Statistics::default(),
        }
    }

    /// Whether a match list is kept for the next request that is alike.
    #[must_use]
    pub fn keeps_lists(&self) -> bool {
        self.accelerations.match_lists
    }

    /// How many offers there are.
    #[must_use]
    pub fn offers(&self) -> usize {
        self.offers.len()
    }

    /// The offers that a request is compatible with, best first.  Kept for the next call with the same ad
    /// (a clone of it, not one that is merely equal).
    pub fn candidates(&mut self, request: &Ad) -> Arc<[Candidate]> {
        let kept = self.lists.get(&request.identity());
        if let Some(list) = kept.filter(|list| list.seen == self.replaced.len()) {
            return Arc::clone(&list.candidates);
        }
        let mut candidates = match kept {
            Some(list) => {
                let mut changed = self.replaced[list.seen..].to_vec();
                let mut candidates: Vec<Candidate> = list.candidates.to_vec();
                changed.sort_unstable();
                changed.dedup();
                candidates.retain(|candidate| changed.binary_search(&candidate.offer).is_err());
                self.test_each(request, changed, &mut candidates);
                candidates
            }
            None => self.find(request),
        };
        let is_in_order = |pair: &[Candidate]| pair[0].order(&pair[1]).is_le();
        if !candidates.windows(2).all(is_in_order) {
            candidates.sort_unstable_by(Candidate::order);
        }
        let candidates: Arc<[Candidate]> = candidates.into();
        if self.accelerations.match_lists {
            let seen = self.replaced.len();
            let list = List { _request: request.clone(), candidates: Arc::clone(&candidates), seen };
            self.lists.insert(request.identity(), list);
        }
        candidates
    }

    /// An offer is gone for good: lists that are made from now on need not have it.
    pub fn withdraw(&mut self, offer: usize) {
        self.index.iter_mut().for_each(|index| index.withdraw(offer));
    }

    /// Puts another ad in the place of an offer: what remains of it, say.
    pub fn replace(&mut self, offer: usize, ad: Ad) {
        self.offers[offer] = Pair::scope(ad, Side::Right);
        self.replaced.push(offer);
    }

    /// All candidates of a request, in no order.
    fn find(&mut self, request: &Ad) -> Vec<Candidate> {
        let mut found = Vec::new();
        let Some(index) = &mut self.index else {
            self.test_each(request, 0..self.offers.len(), &mut found);
            return found;
        };
        self.pair.replace(Side::Left, &Pair::scope(request.clone(), Side::Left));
        self.statistics.probes += 1;
        let mut meeting = Meeting { pair: &mut self.pair, offers: &self.indexed, evaluations: 0 };
        let answer = index.probe(request, &mut meeting);
        self.statistics.evaluations += meeting.evaluations;
        found = answer.sure;
        let mut unsure = answer.unsure;
        if !self.replaced.is_empty() {
            // The index knows what they were.
            let mut replaced = self.replaced.clone();
            replaced.sort_unstable();
            replaced.dedup();
            found.retain(|candidate| replaced.binary_search(&candidate.offer).is_err());
            unsure.retain(|offer| replaced.binary_search(offer).is_err());
            unsure.extend(replaced);
        }
        if !unsure.is_empty() {
            self.test_each(request, unsure, &mut found);
        }
        found
    }

    /// Evaluates the pairs of a request and some offers.
    fn test_each(&mut self, request: &Ad, offers: impl IntoIterator<Item = usize>, found: &mut Vec<Candidate>) {
        self.pair.replace(Side::Left, &Pair::scope(request.clone(), Side::Left));
        for offer in offers {
            self.pair.replace(Side::Right, &self.offers[offer]);
            match self.test(offer) {
                Ok(candidate) => found.extend(candidate),
                Err(Halt::Interrupted) => return,
                Err(_) => self.statistics.failures += 1,
            }
        }
    }

    fn test(&mut self, offer: usize) -> Result<Option<Candidate>, Halt> {
        self.statistics.tests += 1;
        for side in [Side::Left, Side::Right] {
            self.statistics.evaluations += 1;
            if !self.pair.accepts(side)? {
                return Ok(None);
            }
        }
        self.statistics.evaluations += 2;
        // Zero and minus zero are one rank.
        let request_rank = self.pair.rank(Side::Left)? + 0.0;
        Ok(Some(Candidate { offer, request_rank, offer_rank: self.pair.rank(Side::Right)? + 0.0 }))
    }
}

#[cfg(test)]
mod tests;
