//! Maximum bipartite matching of ports and offers, with Kuhn's algorithm.
//!
//! Each port by itself may have candidates although all ports together have too few: six ports may accept the same five
//! offers (thesis 6.2.2).

use rustc_hash::FxHashMap;

use crate::ad::Participant;

/// A matching of ports and offers, extended port by port.
#[derive(Default)]
pub struct PortAssignment {
    /// Offer of each assigned port, by the port's index into `wanted`.
    offers: FxHashMap<usize, Participant>,
    /// Port of each assigned offer: the inverse of `offers`.
    ports: FxHashMap<Participant, usize>,
}

impl PortAssignment {
    /// Assigns an acceptable offer to the port `wanted[first]`, moving earlier ports to other offers where necessary.
    /// Searches an augmenting path breadth first, in O(edges).
    ///
    /// Each entry of `wanted` holds a number by which the caller identifies the port, which is ignored here, and the
    /// acceptable offers of the port.
    ///
    /// # Errors
    ///
    /// The ports that compete for too few offers, as indices into `wanted`. The matching is then unchanged.
    pub fn assign(&mut self, first: usize, wanted: &[(usize, Vec<Participant>)]) -> Result<(), Vec<usize>> {
        let mut asked_for: FxHashMap<Participant, usize> = FxHashMap::default();
        let mut asking = vec![first];
        let mut next = 0;
        while let Some(port) = asking.get(next).copied() {
            next += 1;
            for offer in &wanted[port].1 {
                if asked_for.contains_key(offer) {
                    continue;
                }
                asked_for.insert(*offer, port);
                if let Some(holder) = self.ports.get(offer) {
                    asking.push(*holder);
                    continue;
                }
                let mut offer = Some(*offer);
                while let Some(free) = offer {
                    let port = asked_for[&free];
                    offer = self.offers.insert(port, free);
                    self.ports.insert(free, port);
                }
                return Ok(());
            }
        }
        Err(asking)
    }
}

#[cfg(test)]
mod tests {
    use super::PortAssignment;
    use crate::ad::Participant;

    #[test]
    fn ports_give_way_as_long_as_they_can() {
        let wanted = [(0, vec![1, 2]), (1, vec![1]), (2, vec![2, 3]), (3, vec![1, 2, 3]), (4, vec![7])];
        let wanted = wanted.map(|(port, offers)| (port, offers.into_iter().map(Participant::of_offer).collect()));
        let mut given = PortAssignment::default();
        assert_eq!([0, 1, 2].map(|port| given.assign(port, &wanted)), [Ok(()), Ok(()), Ok(())]);
        let mut rivals = given.assign(3, &wanted).unwrap_err();
        rivals.sort_unstable();
        assert_eq!(rivals, [0, 1, 2, 3]);
        assert_eq!(given.assign(4, &wanted), Ok(()));
    }
}
