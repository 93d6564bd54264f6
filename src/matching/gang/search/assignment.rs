//! Maximum bipartite matching of ports and offers, with Kuhn's algorithm.
//!
//! Each port by itself may have candidates although all ports together have too few: six ports may accept the same five
//! offers (thesis 6.2.2).

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::ad::Participant;

/// A bipartite matching that assigns each port its own offer. The index of a port is the number of ports added before
/// it.
#[derive(Default)]
pub struct PortAssignment {
    /// The offers that each port accepts.
    acceptable: Vec<Vec<Participant>>,
    /// The offer assigned to each port. `None` only while the port is being added.
    offers: Vec<Option<Participant>>,
    /// The port of each assigned offer: the inverse of `offers`.
    ports: FxHashMap<Participant, usize>,
}

impl PortAssignment {
    /// Adds a port and assigns it one of the offers `acceptable`. Moves earlier ports to other offers if necessary.
    /// Searches an augmenting path breadth first, in time linear in the number of acceptable offers of all ports.
    ///
    /// # Errors
    ///
    /// The indices of the ports that compete for too few offers, including the new port. The new port is not added
    /// then.
    pub fn add(&mut self, acceptable: Vec<Participant>) -> Result<(), Vec<usize>> {
        let mut queue = vec![self.acceptable.len()];
        self.acceptable.push(acceptable);
        self.offers.push(None);
        // For each offer reached, the port from which the search reached it.
        let mut reached_from: FxHashMap<Participant, usize> = FxHashMap::default();
        let mut next = 0;
        while let Some(port) = queue.get(next).copied() {
            next += 1;
            for offer in &self.acceptable[port] {
                let Entry::Vacant(unreached) = reached_from.entry(*offer) else { continue };
                unreached.insert(port);
                if let Some(holder) = self.ports.get(offer) {
                    queue.push(*holder);
                    continue;
                }
                let mut offer = Some(*offer);
                while let Some(free) = offer {
                    let port = reached_from[&free];
                    offer = self.offers[port].replace(free);
                    self.ports.insert(free, port);
                }
                return Ok(());
            }
        }
        self.acceptable.pop();
        self.offers.pop();
        Err(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::PortAssignment;
    use crate::ad::Participant;

    #[test]
    fn ports_give_way_as_long_as_they_can() {
        let add = |assignment: &mut PortAssignment, offers: &[usize]| {
            assignment.add(offers.iter().map(|offer| Participant::of_offer(*offer)).collect())
        };
        let mut assignment = PortAssignment::default();
        for offers in [&[1, 2][..], &[1], &[2, 3]] {
            assert_eq!(add(&mut assignment, offers), Ok(()));
        }
        let mut rivals = add(&mut assignment, &[1, 2, 3]).unwrap_err();
        rivals.sort_unstable();
        assert_eq!(rivals, [0, 1, 2, 3]);
        assert_eq!(add(&mut assignment, &[7]), Ok(()));
    }
}
