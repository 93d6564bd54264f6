//! The events of a negotiation cycle, for reporting.

use crate::matching::policy::PolicyVector;

/// A request and the offer it got.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Index of the request.
    pub request: usize,
    /// 1-based number of the unit of a resource request; `None` for other requests.
    pub unit: Option<usize>,
    /// Index of the offer.
    pub offer: usize,
    /// 1-based number of the part of the offer: 1 is the offer as advertised, 2 the remainder of the first match, and
    /// so on.
    pub part: usize,
    /// Rank that the request gives the offer.
    pub request_rank: f64,
    /// Rank that the offer gives the request.
    pub offer_rank: f64,
    /// The docking vector; `None` if the policy has none.
    pub vector: Option<PolicyVector>,
    /// The previous user of the offer, who loses it; `None` if there was none.
    pub preempted: Option<String>,
}

/// An event of a negotiation cycle.
#[derive(Clone, Debug)]
pub enum NegotiationEvent<'e> {
    /// A round begins.
    Round {
        /// 1-based number of the round.
        number: usize,
        /// Number of remaining offers.
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
        /// Number of offers that the submitter asks for.
        requests: usize,
    },
    /// A request was matched.
    Matched {
        /// The match.
        grant: &'e Grant,
        /// Name of the submitter.
        submitter: &'e str,
    },
    /// No offer is left for a request.
    Rejected {
        /// Index of the request.
        request: usize,
        /// Name of the submitter.
        submitter: &'e str,
        /// Number of compatible offers, including taken ones.
        compatible: usize,
        /// Number of compatible offers that the docking vector discarded.
        discarded: usize,
    },
    /// A request was skipped, because an equivalent one was rejected before.
    Skipped {
        /// Index of the request.
        request: usize,
        /// Name of the submitter.
        submitter: &'e str,
        /// Number of offers that the request still asked for.
        requests: usize,
    },
}
