//! Candidates of a request and matches, with the ranks that both sides give.

use std::cmp::Ordering;

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

/// A request and the offer it got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BilateralMatch {
    /// Index of the request.
    pub request: usize,
    /// Index of the offer.
    pub offer: usize,
    /// Rank that the request gives the offer.
    pub request_rank: f64,
    /// Rank that the offer gives the request.
    pub offer_rank: f64,
}
