//! An offer for each port: six ports may accept the same five (thesis §6.2.2).

use rustc_hash::FxHashMap;

use crate::ad::Participant;

/// Which ports have been given which offers.
#[derive(Default)]
pub struct Given {
    offers: FxHashMap<usize, Participant>,
    ports: FxHashMap<Participant, usize>,
}

impl Given {
    /// Gives an offer to a port, others giving up theirs where they can have another (Kuhn's algorithm); if that
    /// cannot be, the ports that compete for too few offers.
    pub fn give(&mut self, first: usize, wanted: &[(usize, Vec<Participant>)]) -> Option<Vec<usize>> {
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
                return None;
            }
        }
        Some(asking)
    }
}

#[cfg(test)]
mod tests {
    use super::Given;

    #[test]
    fn ports_give_way_as_long_as_they_can() {
        let wanted = [(0, vec![1, 2]), (1, vec![1]), (2, vec![2, 3]), (3, vec![1, 2, 3]), (4, vec![7])];
        let mut given = Given::default();
        assert_eq!([0, 1, 2].map(|port| given.give(port, &wanted)), [None, None, None]);
        let mut rivals = given.give(3, &wanted).unwrap();
        rivals.sort_unstable();
        assert_eq!(rivals, [0, 1, 2, 3]);
        assert_eq!(given.give(4, &wanted), None);
    }
}
