//! The events of a negotiation cycle, for reporting.

use super::allowance::{RefusalReasons, RemainingAllowance};
use super::choice::Choice;
use super::granted_offer::GrantedOffer;
use crate::matching::gang::{Gang, Gangmatcher, NonNumericRank};
use crate::protocol::PortFault;

/// A request and the offers that it got: one offer, or a gang.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Index of the request.
    pub request: usize,
    /// 1-based number of the unit that got the offers, if the request is a resource request; `None` for other requests.
    pub unit: Option<usize>,
    /// The offers. Those of a gang are in preorder: each is followed by the offers docked at its own ports.
    pub offers: Vec<GrantedOffer>,
    /// The gang of a request that has ports, or that an offer with ports serves; `None` for a single offer.
    pub gang: Option<Gang>,
    /// The runner-up, and what decided against it; `None` if there is none, or if it was not asked for.
    pub choice: Option<Box<Choice>>,
}

/// What a group has and asks for before a cycle. All numbers but the last are weights.
#[derive(Clone, Copy, Debug)]
pub struct GroupBalance<'e> {
    /// Name of the group.
    pub name: &'e str,
    /// Weight that the quota gives the group itself, without its children.
    pub quota: f64,
    /// Weight that the group uses.
    pub usage: f64,
    /// Number of offers that the requests of the group ask for.
    pub requests: usize,
}

/// An event of a negotiation cycle.
#[non_exhaustive]
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
        /// Weight of the offers that counts against the share; `None` unless submitters share by weight.
        weight: Option<f64>,
    },
    /// A request got no gang: its ports cannot all be filled with offers that are left.
    NoGang {
        /// Index of the request.
        request: usize,
        /// Name of the submitter of the request.
        submitter: &'e str,
        /// The matchmaker of the gangs, which can explain the failure by [`Gangmatcher::gang_failure`]. It must not be
        /// used to take offers.
        matchmaker: &'e mut Gangmatcher,
    },
    /// A request waits for the next round: its gang has more offers, or a greater weight, than the submitter may still
    /// get in this round.
    Deferred {
        /// Index of the request.
        request: usize,
        /// Name of the submitter of the request.
        submitter: &'e str,
        /// Number of offers in the gang.
        offers: usize,
        /// Weight of the offers in the gang. 0 if the policy has no weights.
        weight: f64,
        /// What the submitter may still get in this round.
        left: RemainingAllowance,
    },
    /// While a gang was searched, a rank had a value that is not a number, which counts as 0.
    NonNumericRank {
        /// Index of the request.
        request: usize,
        /// The rank.
        rank: NonNumericRank,
    },
    /// A request is left out, because its ports cannot be used.
    BadPorts {
        /// Index of the request.
        request: usize,
        /// Name of the submitter of the request.
        submitter: &'e str,
        /// Why its ports cannot be used.
        fault: &'e PortFault,
    },
    /// A request got no offer, because no compatible offer is left.
    Rejected {
        /// Index of the request.
        request: usize,
        /// Index of its autocluster.
        cluster: usize,
        /// Name of the submitter of the request.
        submitter: &'e str,
        /// Number of offers that are compatible with the request, including taken offers.
        compatible: usize,
        /// Number of compatible offers that the docking vector discarded.
        discarded: usize,
        /// Why the request may not get offers that are free; if there is any such reason, it is considered again later.
        refusals: &'e RefusalReasons,
    },
    /// The groups before the first round, if there are quotas. The root comes first.
    Quotas {
        /// A balance for each group.
        groups: &'e [GroupBalance<'e>],
    },
    /// The groups are allocated once more what others could not use.
    Allocation {
        /// 1-based number of the allocation, from 2.
        number: usize,
    },
    /// The negotiation with a group begins.
    Group {
        /// Name of the group.
        name: &'e str,
        /// Weight that the quota gives the group.
        own: f64,
        /// Weight that the group may use, with surplus of other groups, and with what it uses already.
        quota: f64,
        /// Weight that the group uses already.
        usage: f64,
    },
    /// No round of the cycle negotiated with a group that has requests.
    GroupSkipped {
        /// Name of the group.
        name: &'e str,
        /// Weight that the group may use, with what it uses already.
        quota: f64,
        /// Weight that the group uses already.
        usage: f64,
    },
    /// The weight that is left is divided among the submitters of a group.
    Spin {
        /// 1-based number of the division.
        number: usize,
        /// Maximum weight that the submitters can get together.
        weight: f64,
    },
    /// The group uses all the weight that it may use. Its submitters get nothing more in this round.
    QuotaReached {
        /// Weight that the group may use.
        quota: f64,
        /// Weight that the group uses.
        usage: f64,
    },
    /// The turn of a submitter begins, where submitters share by weight.
    WeightedTurn {
        /// Name of the submitter.
        submitter: &'e str,
        /// Priority of the submitter; larger is worse.
        priority: f64,
        /// Maximum weight that the submitter may get in this turn.
        limit: f64,
        /// Weight that the submitter uses already.
        usage: f64,
        /// Number of offers that the submitter's requests still ask for.
        requests: usize,
    },
    /// A submitter gets no further turn in this round, because its share is smaller than the weight of each offer.
    ShareTooSmall {
        /// Name of the submitter.
        submitter: &'e str,
        /// Maximum weight that the submitter may get.
        limit: f64,
        /// The weight of the lightest offer.
        smallest: f64,
    },
    /// A submitter gets no further turn, because it uses as much as its ceiling allows.
    CeilingReached {
        /// Name of the submitter.
        submitter: &'e str,
        /// Maximum weight that the submitter may use.
        ceiling: f64,
    },
    /// A request was skipped, because an equivalent request was rejected before.
    Skipped {
        /// Index of the request.
        request: usize,
        /// Index of its autocluster.
        cluster: usize,
        /// Name of the submitter of the request.
        submitter: &'e str,
        /// Number of offers that the request still asked for.
        requests: usize,
    },
}
