//! The events of a negotiation cycle, for reporting.

use crate::matching::policy::PolicyVector;

/// A request and the offer it got.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Index of the request.
    pub request: usize,
    /// 1-based number of the unit that got the offer, if the request is a resource request; `None` for other requests.
    pub unit: Option<usize>,
    /// Index of the offer.
    pub offer: usize,
    /// 1-based number of the part of the offer. Part 1 is the offer as advertised, part 2 the remainder after the first
    /// match, and so on.
    pub part: usize,
    /// Rank that the request gives the offer.
    pub request_rank: f64,
    /// Rank that the offer gives the request.
    pub offer_rank: f64,
    /// Docking vector of the request for the offer; `None` if the policy has no docking vector.
    pub vector: Option<PolicyVector>,
    /// User who loses the offer to the request; `None` if the offer had no user.
    pub preempted: Option<String>,
}

/// An event of a negotiation cycle.
#[derive(Clone, Debug)]
pub enum NegotiationEvent<'e> {
    /// A round begins.
    Round {
        /// 1-based number of the round.
        number: usize,
        /// Number of offers that are not taken yet.
        offers: usize,
    },
    /// The turn of a submitter begins.
    Turn {
        /// Name of the submitter; empty if the policy has no fair share.
        submitter: &'e str,
        /// Priority of the submitter; larger is worse.
        priority: f64,
        /// Maximum number of offers that the submitter may get in this round; `None` if the policy has no fair share.
        slice: Option<usize>,
        /// Number of offers that the submitter's requests still ask for.
        requests: usize,
    },
    /// A request was matched.
    Matched {
        /// The request and the offer that were matched.
        grant: &'e Grant,
        /// Name of the submitter of the request.
        submitter: &'e str,
    },
    /// A request got no offer, because no compatible offer is left.
    Rejected {
        /// Index of the request.
        request: usize,
        /// Name of the submitter of the request.
        submitter: &'e str,
        /// Number of offers that are compatible with the request, including taken offers.
        compatible: usize,
        /// Number of compatible offers that the docking vector discarded.
        discarded: usize,
    },
    /// A request was skipped, because an equivalent request was rejected before.
    Skipped {
        /// Index of the request.
        request: usize,
        /// Name of the submitter of the request.
        submitter: &'e str,
        /// Number of offers that the request still asked for.
        requests: usize,
    },
}
