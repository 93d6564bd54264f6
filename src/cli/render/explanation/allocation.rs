//! The allocation of offers to requests, one request after the other, for `explain --unmatched`.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::cli::io::parties::Parties;

/// Which requests got which offers.
pub struct Allocation {
    /// Whether a request got an offer or a gang, by index of the request.
    pub is_matched: Vec<bool>,
    /// The first request that holds an offer or a part of it, by index of the offer; [`NOBODY`] if none does.
    first_holder: Vec<usize>,
    /// The further requests that hold parts of an offer. Few offers are divided.
    other_holders: FxHashMap<usize, Vec<usize>>,
}

/// Stands for the holder of an offer that no request holds.
const NOBODY: usize = usize::MAX;

impl Allocation {
    /// Makes an allocation without matches.
    pub fn new(parties: &Parties) -> Self {
        let (requests, offers) = (parties.requests.len(), parties.offers.len());
        Allocation {
            is_matched: vec![false; requests],
            first_holder: vec![NOBODY; offers],
            other_holders: FxHashMap::default(),
        }
    }

    /// Gives offers, or parts of them, to a request.
    pub fn add(&mut self, request: usize, offers: impl IntoIterator<Item = usize>) {
        self.is_matched[request] = true;
        for offer in offers {
            match &mut self.first_holder[offer] {
                first if *first == NOBODY => *first = request,
                _ => self.other_holders.entry(offer).or_default().push(request),
            }
        }
    }

    /// Returns the requests that got an offer or a gang, in ascending order.
    pub fn served(&self) -> Vec<usize> {
        (0..self.is_matched.len()).filter(|request| self.is_matched[*request]).collect()
    }

    /// Returns the offers that a request holds whole or in part, in ascending order. O(n) in the number of offers.
    pub fn offers_of(&self, request: usize) -> Vec<usize> {
        let is_holder = |offer: usize| {
            let others = self.other_holders.get(&offer);
            self.first_holder[offer] == request || others.is_some_and(|others| others.contains(&request))
        };
        (0..self.first_holder.len()).filter(|offer| is_holder(*offer)).collect()
    }

    /// Whether a request holds the offer or a part of it.
    pub fn is_held(&self, offer: usize) -> bool {
        self.first_holder[offer] != NOBODY
    }

    /// Returns the requests that hold any of these offers, in ascending order.
    pub fn holders_of(&self, offers: impl IntoIterator<Item = usize>) -> Vec<usize> {
        // Setting a bit for each holder is faster than sorting, because most requests of a large pool can be holders.
        let mut holders = FixedBitSet::with_capacity(self.is_matched.len());
        for offer in offers {
            let first = self.first_holder[offer];
            if first != NOBODY {
                holders.insert(first);
            }
            if !self.other_holders.is_empty() {
                holders.extend(self.other_holders.get(&offer).into_iter().flatten().copied());
            }
        }
        holders.ones().collect()
    }
}
