//! Gangmatching: one request and all the ads that its ports, and theirs, need (thesis chapter 3).

mod agenda;
mod assignment;
mod bounds;
mod cached_column;
mod candidate_classes;
mod decisions;
mod failed_clauses;
mod failed_conditions;
mod failure;
mod forward_checking;
mod matcher;
mod participants;
mod port_index;
mod residual;
mod score;
mod search;
mod strategy;
mod symbolic;
#[cfg(test)]
pub(crate) mod tests;
mod window_query;

pub use failed_clauses::{Bound, Hindered, Meeting, Obstacles, Part, Wish, Written};
pub use failed_conditions::{Condition, Definition};
pub use failure::{Impasse, Prospect, Stuck};
pub use matcher::{GangFault, Gangmatcher, Gangs};
pub(super) use participants::member;
pub use strategy::{Algorithm, Order, Strategy};

use crate::protocol::PortFault;

/// A request and the tree of offers docked at its ports.
#[derive(Clone, Debug, PartialEq)]
pub struct Gang {
    /// Index of the request.
    pub request: usize,
    /// What is docked at each of its ports.
    pub ports: Vec<Docked>,
}

/// An offer in a gang.
#[derive(Clone, Debug, PartialEq)]
pub struct Docked {
    /// The label of the port that it is docked to.
    pub label: String,
    /// Index of the offer.
    pub offer: usize,
    /// Which part of the offer it is, if what remained of it was offered again: 1 is the whole.
    pub part: usize,
    /// Which of the offer's own ports is its link to the port above.
    pub link: usize,
    /// How the port ranks the offer.
    pub rank: f64,
    /// How the offer's link ranks the port.
    pub offer_rank: f64,
    /// What is docked at the offer's other ports.
    pub ports: Vec<Docked>,
}

impl Drop for Docked {
    /// A gang may be chained a long way: it is taken apart without recursion.
    fn drop(&mut self) {
        let mut pending = std::mem::take(&mut self.ports);
        while let Some(mut docked) = pending.pop() {
            pending.append(&mut docked.ports);
        }
    }
}

impl Gang {
    /// All offers of the gang: that of each port followed by its own subgang, in port order.
    #[must_use]
    pub fn members(&self) -> Vec<&Docked> {
        let mut members = Vec::new();
        let mut pending: Vec<&Docked> = self.ports.iter().rev().collect();
        while let Some(docked) = pending.pop() {
            members.push(docked);
            pending.extend(docked.ports.iter().rev());
        }
        members
    }
}

/// An ad whose ports cannot be used, among the requests or the offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPorts {
    /// Index of the ad.
    pub index: usize,
    /// What is wrong with them.
    pub fault: PortFault,
}
