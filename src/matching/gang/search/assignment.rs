//! Maximum bipartite matching of ports and offers, or of ports and values, with Kuhn's algorithm.
//!
//! Each port by itself may have candidates although all ports together have too few: six ports may accept the same five
//! offers (thesis 6.2.2).

use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A bipartite matching that assigns each port its own item: an offer or a value. The index of a port is the number of
/// ports added before it.
#[derive(Clone)]
pub struct PortAssignment<T> {
    /// The items that each port accepts.
    acceptable: Vec<Vec<T>>,
    /// The item assigned to each port. `None` only while the port is being added.
    items: Vec<Option<T>>,
    /// The port of each assigned item: the inverse of `items`.
    ports: FxHashMap<T, usize>,
}

impl<T> Default for PortAssignment<T> {
    fn default() -> Self {
        PortAssignment { acceptable: Vec::new(), items: Vec::new(), ports: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> PortAssignment<T> {
    /// Adds a port and assigns it one of the items `acceptable`. Moves earlier ports to other items if necessary.
    /// Searches an augmenting path breadth first, in time linear in the number of acceptable items of all ports.
    ///
    /// # Errors
    ///
    /// The indices of the ports that compete for too few items, including the new port. The new port is not added then.
    pub fn add(&mut self, acceptable: Vec<T>) -> Result<(), Vec<usize>> {
        let mut queue = vec![self.acceptable.len()];
        self.acceptable.push(acceptable);
        self.items.push(None);
        // For each item reached, the port from which the search reached it.
        let mut reached_from: FxHashMap<T, usize> = FxHashMap::default();
        let mut next = 0;
        while let Some(port) = queue.get(next).copied() {
            next += 1;
            for item in &self.acceptable[port] {
                let Entry::Vacant(unreached) = reached_from.entry(item.clone()) else { continue };
                unreached.insert(port);
                if let Some(holder) = self.ports.get(item) {
                    queue.push(*holder);
                    continue;
                }
                let mut item = Some(item.clone());
                while let Some(free) = item {
                    let port = reached_from[&free];
                    item = self.items[port].replace(free.clone());
                    self.ports.insert(free, port);
                }
                return Ok(());
            }
        }
        self.acceptable.pop();
        self.items.pop();
        Err(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::PortAssignment;

    #[test]
    fn ports_give_way_as_long_as_they_can() {
        let add = |assignment: &mut PortAssignment<usize>, offers: &[usize]| assignment.add(offers.to_vec());
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
