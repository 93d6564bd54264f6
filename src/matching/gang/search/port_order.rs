//! The order in which a search fills the ports of an ad: as listed, from right to left, or by the number of candidates.

/// The order in which the ports of an ad are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortOrder {
    /// In the order of the port list.
    Listed,
    /// In the reverse order of the port list (thesis 5.6.1).
    Reversed,
    /// By the number of candidates before the first port is filled, fewest first (thesis 5.5). A strategy that
    /// summarizes counts classes of equivalent candidates (thesis 5.8).
    FewestFirst,
}

impl PortOrder {
    /// Sorts ports, given in the order of the port list, as far as that needs no candidates.
    pub fn sort_listed<P>(self, ports: &mut [P]) {
        if self == PortOrder::Reversed {
            ports.reverse();
        }
    }

    /// Sorts ports by their numbers of candidates, if the order depends on them. Ports with equally many keep their
    /// order.
    pub fn sort_by_candidates<P>(self, ports: &mut [(usize, P)]) {
        if self == PortOrder::FewestFirst {
            ports.sort_by_key(|(candidates, _)| *candidates);
        }
    }
}
