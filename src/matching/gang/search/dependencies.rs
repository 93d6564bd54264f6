//! The dependence relation among the ports of the request (thesis 5.5.1).

use fixedbitset::FixedBitSet;

use crate::ad::Participant;
use crate::matching::gang::participants::{ParticipantTable, PortPlace};

/// Which ports of the request depend on each other. Each field holds, by port
/// index, a set of ports.
pub struct PortDependencies {
    /// Ports whose labels a port mentions.
    pub direct: Vec<FixedBitSet>,
    /// Ports that are connected with a port by mentions in either direction, directly or through other ports.
    pub transitive: Vec<FixedBitSet>,
}

impl PortDependencies {
    /// Computes the dependencies among the ports of the request from the labels that they mention.
    pub fn new(table: &ParticipantTable) -> Self {
        let ports = table.port_count(Participant::REQUEST);
        let mut direct = vec![FixedBitSet::with_capacity(ports); ports];
        let mut group: Vec<usize> = (0..ports).collect();
        for port in 0..ports {
            for label in table.mentioned_ports(PortPlace::of_request(port)) {
                direct[port].insert(label);
                let (from, to) = (group[label], group[port]);
                group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
        let together = |port: usize| (0..ports).filter(|other| group[*other] == group[port]).collect();
        PortDependencies { direct, transitive: (0..ports).map(together).collect() }
    }
}
