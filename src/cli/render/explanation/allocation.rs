//! The allocation of offers to requests, one request after the other, for `explain --unmatched`.

use crate::cli::io::parties::Parties;

/// Which requests got which offers.
pub struct Allocation {
    /// Whether a request got an offer or a gang, by index of the request.
    pub is_matched: Vec<bool>,
    /// Requests that hold an offer or a part of it, by index of the offer.
    holders: Vec<Vec<usize>>,
}

impl Allocation {
    /// Makes an allocation without matches.
    pub fn new(parties: &Parties) -> Self {
        let (requests, offers) = (parties.requests.len(), parties.offers.len());
        Allocation { is_matched: vec![false; requests], holders: vec![Vec::new(); offers] }
    }

    /// Gives offers, or parts of them, to a request.
    pub fn add(&mut self, request: usize, offers: impl IntoIterator<Item = usize>) {
        self.is_matched[request] = true;
        for offer in offers {
            self.holders[offer].push(request);
        }
    }

    /// Returns the requests that hold any of these offers, in ascending order.
    pub fn holders_of(&self, offers: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut holders: Vec<usize> = offers.into_iter().flat_map(|offer| &self.holders[offer]).copied().collect();
        holders.sort_unstable();
        holders.dedup();
        holders
    }
}
