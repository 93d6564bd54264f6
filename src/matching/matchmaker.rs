//! Finds the offers that a request is compatible with, best first: the match list of 2006 paper 4.2, cached per
//! request.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, ScopeFrame, Truth};
use crate::eval::{Abort, Context, Work};
use crate::pool::Store;
use crate::protocol::Protocol;

use super::candidate_queue::CandidateQueue;
use super::index::{OfferIndex, PairEvaluator, ProbeResult, RemainingOffers};
use super::{Candidate, Pair, PairSide, Statistics};

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
    /// No acceleration: every pair is tested, every time. A clause of a request is evaluated once for all offers that agree
    /// in what it reads.
    pub const NONE: Accelerations = Accelerations { autoclusters: false, match_lists: false, index: false };
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
    /// Without an index: the offers as they were in the beginning, as columns; `None` until needed.
    columns: Option<Store>,
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
            columns: None,
            match_lists: FxHashMap::default(),
            replacements: Vec::new(),
            statistics: Statistics::default(),
        }
    }

    /// Returns the offers that a request is compatible with, best first. The list is cached for this ad and its clones,
    /// but not for equal ads. To update a cached list, only offers that were replaced since are tested again. After an
    /// interrupt the list may lack candidates, and is not cached. Once the steps for comparisons are spent, a list that is
    /// not complete is empty, and not cached.
    pub fn candidates(&mut self, request: &Ad) -> Arc<[Candidate]> {
        let kept = self.match_lists.get(&request.identity());
        if let Some(list) = kept.filter(|list| list.replacements_seen == self.replacements.len()) {
            return Arc::clone(&list.candidates);
        }
        if self.has_spent_comparisons() {
            return Arc::default();
        }
        let mut accepted = FixedBitSet::new();
        let (mut candidates, mut untested, replacements_seen) = match (kept, &mut self.index) {
            (Some(list), _) => (list.candidates.to_vec(), Vec::new(), list.replacements_seen),
            (None, Some(index)) => {
                self.statistics.probes += 1;
                let mut evaluator = request_evaluator(&mut self.pair, request, &self.indexed_offers);
                let ProbeResult { sure, unsure } = index.probe(request, &mut evaluator);
                self.statistics.evaluations += evaluator.take_evaluations();
                // The index does not know the replacements, so that all replaced offers are tested below.
                (sure, unsure, 0)
            }
            (None, None) => {
                let untested;
                (untested, accepted) = self.accepted_offers(request);
                // The columns do not know the replacements, either.
                (Vec::new(), untested, 0)
            }
        };
        let mut replaced = self.replacements[replacements_seen..].to_vec();
        if !replaced.is_empty() {
            replaced.sort_unstable();
            replaced.dedup();
            candidates.retain(|candidate| replaced.binary_search(&candidate.offer).is_err());
            untested.retain(|offer| replaced.binary_search(offer).is_err());
            accepted = accepted.ones().filter(|offer| replaced.binary_search(offer).is_err()).collect();
            untested.extend(replaced);
        }
        if !untested.is_empty() {
            self.test_offers(request, untested, &accepted, &mut candidates);
        }
        if !candidates.is_sorted_by(|one, other| one.cmp_best_first(other).is_le()) {
            candidates.sort_unstable_by(Candidate::cmp_best_first);
        }
        self.pair.context().charge(Work::Candidate, candidates.len() as u64);
        if self.has_spent_comparisons() {
            return Arc::default();
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

    /// Whether the list of a request is cached.
    pub(super) fn has_list(&self, request: &Ad) -> bool {
        self.match_lists.contains_key(&request.identity())
    }

    /// Caches the list of a request, best first, which is known from elsewhere. It has the offers as they were in the beginning.
    pub(super) fn keep_list(&mut self, request: &Ad, candidates: Arc<[Candidate]>) {
        let list = CachedMatchList { _request: request.clone(), candidates, replacements_seen: 0 };
        self.match_lists.insert(request.identity(), list);
    }

    /// Returns the best offers that a request is compatible with, best first: all of them, or `most`. The list is not
    /// cached.
    pub fn best_candidates(&mut self, request: &Ad, most: usize) -> Vec<Candidate> {
        let mut queue = self.queue(request);
        if queue.ranked.is_empty() {
            queue.batch = most;
            self.rank_more(&mut queue);
        }
        queue.ranked.truncate(most);
        self.pair.context().charge(Work::Candidate, queue.ranked.len() as u64);
        if self.has_spent_comparisons() {
            return Vec::new();
        }
        queue.ranked.shrink_to_fit();
        queue.ranked
    }

    /// Counts the offers that a request is compatible with, without a list of them.
    pub fn count_candidates(&mut self, request: &Ad) -> usize {
        self.queue(request).len()
    }

    /// Returns the candidates of a request for taking one after the other. Without an index all of them are ranked; with
    /// one only those that need evaluation of the pair, if any do. After an interrupt candidates may be missing.
    pub(super) fn queue(&mut self, request: &Ad) -> CandidateQueue {
        if self.has_spent_comparisons() {
            return CandidateQueue::of_ranked(request.clone(), Vec::new());
        }
        let Some(index) = &mut self.index else {
            return CandidateQueue::of_ranked(request.clone(), self.candidates(request).to_vec());
        };
        let mut replaced = self.replacements.clone();
        replaced.sort_unstable();
        replaced.dedup();
        self.statistics.probes += 1;
        let mut evaluator = request_evaluator(&mut self.pair, request, &self.indexed_offers);
        let mut left = index.compatible(request, &mut evaluator);
        if !replaced.is_empty() {
            let mut known = FixedBitSet::with_capacity(self.offers.len());
            known.extend(replaced.iter().copied());
            left.difference_with(&known);
        }
        let ranked = left.into_sure().map_err(|left| index.rank(request, left, &mut evaluator));
        self.statistics.evaluations += evaluator.take_evaluations();
        let mut queue = match ranked {
            Ok(offers) => CandidateQueue::of_unranked(request.clone(), offers),
            Err(ranked) => CandidateQueue::of_ranked(request.clone(), self.test_unsure(request, ranked)),
        };
        queue.replaced = self.candidates_among(request, replaced);
        queue.replaced.sort_unstable_by(Candidate::cmp_best_first);
        if !queue.ranked.is_empty() {
            let ranked = std::mem::take(&mut queue.ranked);
            queue.refill(ranked);
        }
        if self.has_spent_comparisons() {
            // Some candidates are missing, so that another one may be the best.
            return CandidateQueue::of_ranked(request.clone(), Vec::new());
        }
        queue
    }

    /// Replaces the ranked candidates of a queue by the next best ones.
    pub(super) fn rank_more(&mut self, queue: &mut CandidateQueue) {
        let Some(index) = self.index.as_mut().filter(|_| !queue.unranked.is_clear()) else {
            return queue.refill(Vec::new());
        };
        self.pair.context().count_comparisons(queue.unranked.count_ones(..) as u64);
        let mut evaluator = request_evaluator(&mut self.pair, &queue.request, &self.indexed_offers);
        let best = index.best(&queue.request, &queue.unranked, queue.batch, &mut evaluator);
        self.statistics.evaluations += evaluator.take_evaluations();
        if evaluator.pair.context().has_spent_comparisons() {
            return queue.refill(Vec::new());
        }
        if let Some(best) = best {
            return queue.refill(best);
        }
        let all = queue.unranked.clone();
        queue.unranked.clear();
        let ranked = index.rank(&queue.request, RemainingOffers::all_of(all), &mut evaluator);
        self.statistics.evaluations += evaluator.take_evaluations();
        let ranked = self.test_unsure(&queue.request, ranked);
        queue.refill(if self.has_spent_comparisons() { Vec::new() } else { ranked });
    }

    /// Returns the candidates of a probe, best first. Evaluates the pairs of those that are unsure.
    fn test_unsure(&mut self, request: &Ad, ProbeResult { mut sure, unsure }: ProbeResult) -> Vec<Candidate> {
        self.test_offers(request, unsure, &FixedBitSet::new(), &mut sure);
        sure.sort_unstable_by(Candidate::cmp_best_first);
        sure
    }

    /// Removes an offer from the index for good. Lists made from now on may omit the offer; cached lists keep it, so
    /// that callers must skip it.
    pub fn withdraw(&mut self, offer: usize) {
        self.index.iter_mut().for_each(|index| index.withdraw(offer));
    }

    /// Whether the steps for comparisons are spent, so that candidates are missing.
    fn has_spent_comparisons(&self) -> bool {
        self.pair.context().has_spent_comparisons()
    }

    /// Whether an interrupt is raised, so that candidates may be missing.
    pub(super) fn is_interrupted(&self) -> bool {
        self.pair.is_interrupted()
    }

    /// Replaces an offer by another ad, such as the remainder of the offer.
    pub fn replace(&mut self, offer: usize, ad: Ad) {
        self.offers[offer] = Pair::make_scope(ad, PairSide::Offer);
        self.replacements.push(offer);
    }

    /// Returns those of some offers that a request is compatible with, in their order. Evaluates each pair.
    pub(super) fn candidates_among(&mut self, request: &Ad, offers: Vec<usize>) -> Vec<Candidate> {
        let mut found = Vec::new();
        self.test_offers(request, offers, &FixedBitSet::new(), &mut found);
        found
    }

    /// Evaluates the constraint of a request for all offers as they were in the beginning. Returns the offers that it does
    /// not refuse, and those of them that it accepts; the pair has to tell of the others.
    fn accepted_offers(&mut self, request: &Ad) -> (Vec<usize>, FixedBitSet) {
        let context = self.pair.context();
        let store = || Store::new(self.offers.iter().map(|offer| offer.ad.clone()).collect(), context.dialect);
        let columns = self.columns.get_or_insert_with(store);
        let constraint = self.pair.protocol().constraint_name(request);
        let Some(truths) = constraint.and_then(|name| columns.truths_for(request, name, context)) else {
            return ((0..self.offers.len()).collect(), FixedBitSet::new());
        };
        let (mut untested, mut accepted) = (Vec::new(), FixedBitSet::with_capacity(truths.len()));
        for (offer, truth) in truths.iter().enumerate() {
            match truth {
                Some(Truth::True) => accepted.insert(offer),
                Some(_) => continue,
                None => {}
            }
            untested.push(offer);
        }
        let refused = (truths.len() - untested.len()) as u64;
        context.charge(Work::Pair, refused);
        self.statistics.tests += refused;
        self.statistics.evaluations += refused + accepted.count_ones(..) as u64;
        (untested, accepted)
    }

    /// Evaluates the pair of the request and each of these offers. Appends the offers that match to `found`. The request's
    /// constraint is known to be true for the offers in `accepted`.
    fn test_offers(&mut self, request: &Ad, offers: Vec<usize>, accepted: &FixedBitSet, found: &mut Vec<Candidate>) {
        self.pair.replace(PairSide::Request, &Pair::make_scope(request.clone(), PairSide::Request));
        for offer in offers {
            self.pair.context().charge(Work::Pair, 1);
            if !self.pair.count_comparisons() {
                return;
            }
            self.pair.replace(PairSide::Offer, &self.offers[offer]);
            let sides: &[PairSide] =
                if accepted.contains(offer) { &[PairSide::Offer] } else { &[PairSide::Request, PairSide::Offer] };
            match self.test_offer(offer, sides) {
                Ok(candidate) => found.extend(candidate),
                Err(Abort::Interrupted) => return,
                Err(_) => self.statistics.failures += 1,
            }
        }
    }

    /// `sides` are those whose constraints are to be evaluated.
    fn test_offer(&mut self, offer: usize, sides: &[PairSide]) -> Result<Option<Candidate>, Abort> {
        self.statistics.tests += 1;
        for side in sides {
            self.statistics.evaluations += 1;
            if !self.pair.accepts(*side)? {
                return Ok(None);
            }
        }
        self.statistics.evaluations += 2;
        let request_rank = self.rank(PairSide::Request)?;
        Ok(Some(Candidate { offer, request_rank, offer_rank: self.rank(PairSide::Offer)? }))
    }

    /// Returns the rank that one side gives the partner. A rank that exceeds a budget has no value, and counts as 0 like
    /// one that is undefined.
    fn rank(&mut self, side: PairSide) -> Result<f64, Abort> {
        match self.pair.rank(side) {
            Err(abort) if abort != Abort::Interrupted => {
                self.statistics.failures += 1;
                Ok(0.0)
            }
            rank => rank,
        }
    }
}

/// Puts a request into a pair, for evaluations with the offers.
fn request_evaluator<'m>(pair: &'m mut Pair, request: &Ad, offers: &'m [Arc<ScopeFrame>]) -> PairEvaluator<'m> {
    pair.replace(PairSide::Request, &Pair::make_scope(request.clone(), PairSide::Request));
    PairEvaluator { pair, offers, evaluations: 0, last_expression: 0 }
}

#[cfg(test)]
mod tests;
