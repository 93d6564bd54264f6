//! What happens in a negotiation cycle, as it is told.

use crate::matching::policy::Vector;

/// A request and the offer it got.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Index of the request.
    pub request: usize,
    /// Which one of those that a resource request counts; the first is 1.  None if it counts none.
    pub unit: Option<usize>,
    /// Index of the offer.
    pub offer: usize,
    /// Which part of the offer: 1 as it was advertised, 2 what remained after the first match, and so on.
    pub part: usize,
    /// How the request ranks the offer.
    pub request_rank: f64,
    /// How the offer ranks the request.
    pub offer_rank: f64,
    /// The docking vector, if the policy has one.
    pub vector: Option<Vector>,
    /// Who has used the offer so far and loses it.
    pub preempted: Option<String>,
}

/// What happens in a negotiation cycle.
#[derive(Clone, Debug)]
pub enum Event<'e> {
    /// A round begins.
    Round {
        /// The first is 1.
        number: usize,
        /// How many offers are left.
        offers: usize,
    },
    /// It is a submitter's turn.
    Turn {
        /// Its name; empty if the policy shares nothing.
        submitter: &'e str,
        /// Its priority; the larger the worse.
        priority: f64,
        /// How many offers it may get in this round; all if the policy shares nothing.
        slice: Option<usize>,
        /// How many it asks for.
        requests: usize,
    },
    /// A request was matched.
    Matched {
        /// With what.
        grant: &'e Grant,
        /// Whose request it is.
        submitter: &'e str,
    },
    /// No offer is left for a request.
    Rejected {
        /// Index of the request.
        request: usize,
        /// Whose request it is.
        submitter: &'e str,
        /// How many offers it is compatible with, those that others got included.
        compatible: usize,
        /// How many of these the docking vector discarded.
        discarded: usize,
    },
    /// A request was not considered, because one like it was rejected before.
    Skipped {
        /// Index of the request.
        request: usize,
        /// Whose request it is.
        submitter: &'e str,
        /// How many offers it asked for.
        requests: usize,
    },
}
