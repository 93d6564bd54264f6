//! Finds the offers that a request is compatible with, best first: the match list of 2006 paper 4.2, cached per
//! request.

use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, ScopeFrame};
use crate::eval::{Abort, Context};
use crate::protocol::Protocol;

use super::index::{OfferIndex, PairEvaluator, ProbeResult};
use super::{BilateralMatch, Pair, PairSide, Statistics};

/// Optional caches and indexes. Switching one off changes the cost, never a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accelerations {
    /// Whether requests are grouped into autoclusters (2006 paper 4.1).
    pub autoclusters: bool,
    /// Whether match lists are kept for later equivalent requests (2006 paper 4.2).
    pub match_lists: bool,
    /// Whether constraints are looked up in an index of the offers (thesis 4).
    pub index: bool,
}

impl Accelerations {
    /// All accelerations.
    pub const ALL: Accelerations = Accelerations { autoclusters: true, match_lists: true, index: true };
    /// No acceleration: every pair is evaluated, every time.
    pub const NONE: Accelerations = Accelerations { autoclusters: false, match_lists: false, index: false };
}

/// An offer that is compatible with a request. Holds the ranks that request and offer give each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Index of the offer.
    pub offer: usize,
    /// Rank that the request gives the offer.
    pub request_rank: f64,
    /// Rank that the offer gives the request.
    pub offer_rank: f64,
}

impl Candidate {
    /// Compares two candidates so that the better one sorts first. The request's rank decides, then the offer's rank,
    /// then the offer's index.
    #[must_use]
    pub fn cmp_best_first(&self, other: &Candidate) -> Ordering {
        let by_request = other.request_rank.total_cmp(&self.request_rank);
        by_request.then(other.offer_rank.total_cmp(&self.offer_rank)).then(self.offer.cmp(&other.offer))
    }

    /// Returns the match of this offer with the request at index `request`.
    #[must_use]
    pub fn match_with(&self, request: usize) -> BilateralMatch {
        BilateralMatch { request, offer: self.offer, request_rank: self.request_rank, offer_rank: self.offer_rank }
    }
}

/// Finds the offers that requests are compatible with. Callers must remember which offers are taken.
pub struct Matchmaker {
    pair: Pair,
    pub(super) offers: Vec<Arc<ScopeFrame>>,
    /// The offers as they were when the index was built; empty without an index. The index evaluates one offer of a
    /// class of equivalent offers, and uses the result for the whole class. The index must not evaluate a replacement
    /// of an offer, because the replacement may no longer be equivalent.
    indexed_offers: Vec<Arc<ScopeFrame>>,
    pub(super) accelerations: Accelerations,
    index: Option<OfferIndex>,
    match_lists: FxHashMap<usize, CachedMatchList>,
    /// Indexes of replaced offers in chronological order. An offer that was replaced twice is listed twice.
    replacements: Vec<usize>,
    /// Counters of the work done so far.
    pub statistics: Statistics,
}

/// The cached match list of one request.
struct CachedMatchList {
    /// The request, kept alive because its address is the key of the cache.
    _request: Ad,
    candidates: Arc<[Candidate]>,
    /// Length of [`Matchmaker::replacements`] when the list was computed.
    replacements_seen: usize,
}

impl Matchmaker {
    /// Creates a matchmaker for these offers and, if enabled, builds the index.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context, accelerations: Accelerations) -> Self {
        let index = accelerations.index.then(|| OfferIndex::new(offers, protocol.clone(), context.clone()));
        let scopes = offers.iter().map(|ad| Pair::make_scope(ad.clone(), PairSide::Offer));
        let offers: Vec<Arc<ScopeFrame>> = scopes.collect();
        Matchmaker {
            pair: Pair::new(Ad::default(), Ad::default(), protocol, context),
            indexed_offers: if index.is_some() { offers.clone() } else { Vec::new() },
            offers,
            accelerations,
            index,
            match_lists: FxHashMap::default(),
            replacements: Vec::new(),
            statistics: Statistics::default(),
        }
    }

    /// Returns the offers that a request is compatible with, best first. The list is cached for this ad and its clones,
    /// but not for equal ads. To update a cached list, only offers that were replaced since are tested again. After an
    /// interrupt the list may lack candidates, and is not cached.
    pub fn candidates(&mut self, request: &Ad) -> Arc<[Candidate]> {
        let kept = self.match_lists.get(&request.identity());
        if let Some(list) = kept.filter(|list| list.replacements_seen == self.replacements.len()) {
            return Arc::clone(&list.candidates);
        }
        let (mut candidates, mut untested, replacements_seen) = match (kept, &mut self.index) {
            (Some(list), _) => (list.candidates.to_vec(), Vec::new(), list.replacements_seen),
            (None, Some(index)) => {
                self.pair.replace(PairSide::Request, &Pair::make_scope(request.clone(), PairSide::Request));
                self.statistics.probes += 1;
                let mut evaluator =
                    PairEvaluator { pair: &mut self.pair, offers: &self.indexed_offers, evaluations: 0 };
                let ProbeResult { sure, unsure } = index.probe(request, &mut evaluator);
                self.statistics.evaluations += evaluator.evaluations;
                // The index does not know the replacements, so that all replaced offers are tested below.
                (sure, unsure, 0)
            }
            (None, None) => (Vec::new(), (0..self.offers.len()).collect(), self.replacements.len()),
        };
        let mut replaced = self.replacements[replacements_seen..].to_vec();
        if !replaced.is_empty() {
            replaced.sort_unstable();
            replaced.dedup();
            candidates.retain(|candidate| replaced.binary_search(&candidate.offer).is_err());
            untested.retain(|offer| replaced.binary_search(offer).is_err());
            untested.extend(replaced);
        }
        if !untested.is_empty() {
            self.test_offers(request, untested, &mut candidates);
        }
        if !candidates.is_sorted_by(|one, other| one.cmp_best_first(other).is_le()) {
            candidates.sort_unstable_by(Candidate::cmp_best_first);
        }
        let candidates: Arc<[Candidate]> = candidates.into();
        if self.accelerations.match_lists && !self.pair.is_interrupted() {
            let list = CachedMatchList {
                _request: request.clone(),
                candidates: Arc::clone(&candidates),
                replacements_seen: self.replacements.len(),
            };
            self.match_lists.insert(request.identity(), list);
        }
        candidates
    }

    /// Removes an offer from the index for good. Lists made from now on may omit the offer; cached lists keep it, so
    /// that callers must skip it.
    pub fn withdraw(&mut self, offer: usize) {
        self.index.iter_mut().for_each(|index| index.withdraw(offer));
    }

    /// Replaces an offer by another ad, such as the remainder of the offer.
    pub fn replace(&mut self, offer: usize, ad: Ad) {
        self.offers[offer] = Pair::make_scope(ad, PairSide::Offer);
        self.replacements.push(offer);
    }

    /// Evaluates the pair of the request and each of these offers. Appends the offers that match to `found`.
    fn test_offers(&mut self, request: &Ad, offers: Vec<usize>, found: &mut Vec<Candidate>) {
        self.pair.replace(PairSide::Request, &Pair::make_scope(request.clone(), PairSide::Request));
        for offer in offers {
            self.pair.replace(PairSide::Offer, &self.offers[offer]);
            match self.test_offer(offer) {
                Ok(candidate) => found.extend(candidate),
                Err(Abort::Interrupted) => return,
                Err(_) => self.statistics.failures += 1,
            }
        }
    }

    fn test_offer(&mut self, offer: usize) -> Result<Option<Candidate>, Abort> {
        self.statistics.tests += 1;
        for side in [PairSide::Request, PairSide::Offer] {
            self.statistics.evaluations += 1;
            if !self.pair.accepts(side)? {
                return Ok(None);
            }
        }
        self.statistics.evaluations += 2;
        let request_rank = self.pair.rank(PairSide::Request)?;
        Ok(Some(Candidate { offer, request_rank, offer_rank: self.pair.rank(PairSide::Offer)? }))
    }
}

#[cfg(test)]
mod tests;
