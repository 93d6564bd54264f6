//! An offer that a request got in a cycle.

use crate::ad::Ad;
use crate::matching::Candidate;
use crate::matching::policy::PolicyVector;

/// An offer that a request got.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantedOffer {
    /// Index of the offer.
    pub offer: usize,
    /// 1-based number of the part of the offer. Part 1 is the offer as advertised, part 2 the remainder after the first
    /// match, and so on.
    pub part: usize,
    /// Rank that the offer gets: from the request, or from the port at which it is docked.
    pub request_rank: f64,
    /// Rank that the offer gives the request, or the ad at whose port it is docked.
    pub offer_rank: f64,
    /// Docking vector of the request, or of the port, for the offer; `None` if the policy has no docking vector.
    pub vector: Option<PolicyVector>,
    /// User who loses the offer to the request; `None` if the offer had no user.
    pub preempted: Option<String>,
    /// Whether the offer had a user and the rule `beyond` of the policy's share is true, so that it may exceed the share.
    pub is_beyond: bool,
    /// What the request takes of the offer, if the policy divides it; `None` if the request gets the whole offer. See
    /// [`crate::protocol::taken_portion`].
    pub portion: Option<Ad>,
}

impl GrantedOffer {
    /// Returns a candidate as a whole offer, which has no user.
    #[must_use]
    pub fn of_candidate(candidate: Candidate) -> Self {
        let Candidate { offer, request_rank, offer_rank } = candidate;
        GrantedOffer {
            offer,
            part: 1,
            request_rank,
            offer_rank,
            vector: None,
            preempted: None,
            is_beyond: false,
            portion: None,
        }
    }
}
