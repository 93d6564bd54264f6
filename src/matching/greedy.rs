//! Greedy bilateral matching: each request in turn takes the best offer that is left.

use std::sync::Arc;

use crate::ad::{Ad, Frame};
use crate::constraint::Protocol;
use crate::eval::{Context, Halt};

use super::{Pair, Side, Statistics};

/// A request and the offer it got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// Index of the request.
    pub request: usize,
    /// Index of the offer.
    pub offer: usize,
    /// How the request ranks the offer.
    pub request_rank: f64,
    /// How the offer ranks the request.
    pub offer_rank: f64,
}

/// Matches requests, one after the other, by evaluating both constraints for every pair.
///
/// The best offer is the one that the request ranks highest, then the one that ranks the request
/// highest, then the first (1998 paper §3.2).
pub struct Greedy {
    pair: Pair,
    offers: Vec<Arc<Frame>>,
    taken: Vec<bool>,
    /// Whether a matched offer is gone for later requests.
    pub consume: bool,
    /// What has been counted so far.
    pub statistics: Statistics,
}

impl Greedy {
    /// A matchmaker with these offers.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> Self {
        Greedy {
            pair: Pair::new(Ad::default(), Ad::default(), protocol, context),
            offers: offers.iter().map(|ad| Pair::scope(ad.clone(), Side::Right)).collect(),
            taken: vec![false; offers.len()],
            consume: true,
            statistics: Statistics::default(),
        }
    }

    /// The best offer for a request, which is then taken.
    pub fn best(&mut self, index: usize, request: &Ad) -> Option<Match> {
        let mut best: Option<Match> = None;
        self.each_compatible(index, request, |found| {
            let better = best.is_none_or(|best| {
                let by_request = found.request_rank.total_cmp(&best.request_rank);
                by_request.then(found.offer_rank.total_cmp(&best.offer_rank)).is_gt()
            });
            if better {
                best = Some(found);
            }
        });
        self.statistics.roots += 1;
        self.statistics.matched += u64::from(best.is_some());
        if let Some(best) = best.filter(|_| self.consume) {
            self.taken[best.offer] = true;
        }
        best
    }

    /// Every offer that is left and compatible with a request, in input order.
    pub fn each_compatible(&mut self, index: usize, request: &Ad, mut found: impl FnMut(Match)) {
        self.pair.replace(Side::Left, &Pair::scope(request.clone(), Side::Left));
        for offer in 0..self.offers.len() {
            if self.taken[offer] {
                continue;
            }
            self.pair.replace(Side::Right, &self.offers[offer]);
            match self.test(index, offer) {
                Ok(Some(compatible)) => found(compatible),
                Ok(None) => {}
                Err(_) => self.statistics.failures += 1,
            }
        }
    }

    fn test(&mut self, request: usize, offer: usize) -> Result<Option<Match>, Halt> {
        self.statistics.tests += 1;
        for side in [Side::Left, Side::Right] {
            self.statistics.evaluations += 1;
            if !self.pair.accepts(side)? {
                return Ok(None);
            }
        }
        self.statistics.evaluations += 2;
        let (request_rank, offer_rank) = (self.pair.rank(Side::Left)?, self.pair.rank(Side::Right)?);
        // Zero and minus zero are one rank.
        Ok(Some(Match { request, offer, request_rank: request_rank + 0.0, offer_rank: offer_rank + 0.0 }))
    }
}
