//! Gangmatching: matches a request with offers for all of its ports, and for the offers' own ports (thesis 3).

mod environment_ad;
mod failure;
mod fallback_search;
mod gang_fault;
mod gang_iter;
mod matcher;
mod member_trials;
mod offer_pool;
mod participants;
mod port_index;
mod search;
#[cfg(test)]
pub(crate) mod tests;

pub use environment_ad::environment_ad;
pub use failure::{
    BlockedPort, FailedClauses, FailedCondition, GangFailure, MemberCause, MemberFailure, OfferDemand, PortCandidates,
    PortClause, ReadAttribute, RejectedOffer, TrialDocking, UnmetClause,
};
pub use gang_fault::GangFault;
pub use gang_iter::GangIter;
pub use matcher::Gangmatcher;
pub use participants::OpenPorts;
pub(super) use participants::build_member;
pub use search::{Algorithm, PortOrder, SearchStrategy};

use crate::ad::Type;
use crate::matching::policy::PolicyVector;
use crate::protocol::PortFault;

/// A request and the tree of offers docked at its ports.
#[derive(Clone, Debug, PartialEq)]
pub struct Gang {
    /// Index of the request, as passed to [`Gangmatcher::marshal`].
    pub request: usize,
    /// Offers docked at the request's ports, in the order of the port list. An unfilled port has no entry.
    pub ports: Vec<DockedOffer>,
}

/// An offer docked in a gang, with the offers docked at its own ports.
#[derive(Clone, Debug, PartialEq)]
pub struct DockedOffer {
    /// Label of the port at which the offer is docked.
    pub label: String,
    /// 0-based index of the offer.
    pub offer: usize,
    /// 1-based number of the docked part of the offer: 1 is the whole offer, 2 its remainder after one gang, and so on.
    pub part: usize,
    /// 0-based index of the offer's own port that is docked, its link.
    pub link: usize,
    /// Value of the rank of the port at which the offer is docked: how much this port prefers the offer.
    pub rank: f64,
    /// Value of the offer's rank: how much the offer prefers the participant at whose port it is docked.
    pub offer_rank: f64,
    /// Docking vector of the port for the offer, which decides instead of the ranks; `None` if the policy has none.
    pub vector: Option<PolicyVector>,
    /// Offers docked at the offer's other ports, in the order of the port list. An unfilled port has no entry.
    pub ports: Vec<DockedOffer>,
}

impl Drop for DockedOffer {
    /// Drops without recursion: recursion along a chain of docked offers could overflow the stack.
    fn drop(&mut self) {
        let mut pending = std::mem::take(&mut self.ports);
        while let Some(mut docked) = pending.pop() {
            pending.append(&mut docked.ports);
        }
    }
}

impl Gang {
    /// Returns all offers of the gang in preorder: each offer is followed by the offers docked at its own ports.
    #[must_use]
    pub fn members(&self) -> Vec<&DockedOffer> {
        let mut members = Vec::new();
        let mut pending: Vec<&DockedOffer> = self.ports.iter().rev().collect();
        while let Some(docked) = pending.pop() {
            members.push(docked);
            pending.extend(docked.ports.iter().rev());
        }
        members
    }

    /// Returns the paths of the ports at which [`Gang::members`] are docked: `cpu` for a port of the request,
    /// `service.machine` for a port of the offer docked at `service`.
    #[must_use]
    pub fn port_paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        let mut pending: Vec<(String, &DockedOffer)> =
            self.ports.iter().rev().map(|docked| (docked.label.clone(), docked)).collect();
        while let Some((path, docked)) = pending.pop() {
            pending.extend(docked.ports.iter().rev().map(|below| (format!("{path}.{}", below.label), below)));
            paths.push(path);
        }
        paths
    }
}

/// A rank that had a value other than a number, which counts as 0 (1998 paper 3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonNumericRank {
    /// 0-based index of the offer that has the rank. `None` if the request has it.
    pub offer: Option<usize>,
    /// Label of the port that has the rank.
    pub label: String,
    /// The type of the value.
    pub value_type: Type,
}

/// An offer that is left out because its ports cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPorts {
    /// 0-based index into the offers of [`Gangmatcher::new`].
    pub index: usize,
    /// Why the ports of the ad cannot be used.
    pub fault: PortFault,
}
