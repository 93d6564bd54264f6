//! The allocation of offers to requests, one request after the other, for `explain --unmatched`.

use classad::ad::Ad;
use classad::eval::Context;
use classad::explain::{RequestVerdict, ScarceResources};
use classad::matching::negotiate::AccountingLimit;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Which requests got which offers.
#[derive(Default)]
pub struct Allocation {
    /// Number of offers, or of gangs, that a request got, by index of the request.
    grants: Vec<usize>,
    /// Number of offers, or of gangs, that a request asks for, by index of the request.
    wanted: Vec<usize>,
    /// The first request that holds an offer or a part of it, by index of the offer; [`NOBODY`] if none does.
    first_holder: Vec<usize>,
    /// The further requests that hold parts of an offer. Few offers are divided.
    other_holders: FxHashMap<usize, Vec<usize>>,
    /// What is left of divided offers, by index of the offer.
    rests: FxHashMap<usize, Ad>,
}

/// Stands for the holder of an offer that no request holds.
const NOBODY: usize = usize::MAX;

impl Allocation {
    /// Makes an allocation without matches.
    ///
    /// `wanted` has the number of offers, or of gangs, that each request asks for.
    pub fn new(wanted: Vec<usize>, offers: usize) -> Self {
        Allocation {
            grants: vec![0; wanted.len()],
            wanted,
            first_holder: vec![NOBODY; offers],
            other_holders: FxHashMap::default(),
            rests: FxHashMap::default(),
        }
    }

    /// Says what is left of a divided offer.
    pub fn add_rest(&mut self, offer: usize, rest: Ad) {
        self.rests.insert(offer, rest);
    }

    /// Gives offers, or parts of them, to a request.
    pub fn add(&mut self, request: usize, offers: impl IntoIterator<Item = usize>) {
        self.grants[request] += 1;
        for offer in offers {
            match &mut self.first_holder[offer] {
                first if *first == NOBODY => *first = request,
                _ => self.other_holders.entry(offer).or_default().push(request),
            }
        }
    }

    /// Returns for each request whether it got all that it asks for.
    pub fn are_served(&self) -> Vec<bool> {
        (0..self.grants.len()).map(|request| self.is_served(request)).collect()
    }

    /// Whether a request got all that it asks for. A request that asks for nothing is served.
    pub fn is_served(&self, request: usize) -> bool {
        self.grants[request] >= self.wanted[request]
    }

    /// Whether a request got some of what it asks for, but not all.
    pub fn is_partly_served(&self, request: usize) -> bool {
        self.grants[request] > 0 && !self.is_served(request)
    }

    /// Returns the requests that got what they ask for, in ascending order.
    pub fn served(&self) -> Vec<usize> {
        let has_all = |request: &usize| self.grants[*request] > 0 && self.is_served(*request);
        (0..self.grants.len()).filter(has_all).collect()
    }

    /// Finds the resources that a request asks for and that divided offers do not have enough of. `matching` has the offers
    /// that match the request. Offers that are taken whole do not count. Neither do offers that nobody took.
    pub fn scarce_resources(&self, request: &Ad, matching: &[usize], context: &Context) -> ScarceResources {
        let rests: Vec<&Ad> = matching.iter().filter_map(|offer| self.rests.get(offer)).collect();
        ScarceResources::of_rests(request, &rests, context)
    }

    /// The verdict on equivalent requests that match offers, but got none, or fewer than they ask for. `matching` has the
    /// offers that match them, and `limit` what keeps the requests from offers.
    pub fn verdict(&self, requests: &[usize], matching: &[usize], limit: Option<AccountingLimit>) -> RequestVerdict {
        let sum = |numbers: &[usize]| requests.iter().map(|request| numbers[*request]).sum::<usize>();
        match (sum(&self.grants), limit) {
            (0, None) => RequestVerdict::Taken(self.holders_of(matching.iter().copied())),
            (0, Some(limit)) => RequestVerdict::Limited(limit),
            (granted, limit) => {
                let others_hold =
                    self.holders_of(matching.iter().copied()).iter().any(|holder| !requests.contains(holder));
                RequestVerdict::PartlyServed { granted, wanted: sum(&self.wanted), limit, others_hold }
            }
        }
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
        let mut holders = FixedBitSet::with_capacity(self.grants.len());
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

#[cfg(test)]
mod tests {
    use super::{Allocation, RequestVerdict};

    /// Request 0 wants two offers and gets both, 1 wants two and gets one, 2 wants one and gets none, 3 wants none.
    fn allocation() -> Allocation {
        let mut allocation = Allocation::new(vec![2, 2, 1, 0], 5);
        allocation.add(0, [0]);
        allocation.add(0, [1, 2]);
        allocation.add(1, [2, 3]);
        allocation
    }

    #[test]
    fn requests_are_served_wholly_or_partly() {
        let allocation = allocation();
        assert_eq!(allocation.are_served(), [true, false, false, true]);
        assert_eq!([0, 1, 2, 3].map(|request| allocation.is_partly_served(request)), [false, true, false, false]);
        assert_eq!(allocation.served(), [0]);
    }

    #[test]
    fn offers_have_their_holders() {
        let allocation = allocation();
        assert_eq!(
            [0, 1, 2, 3].map(|request| allocation.offers_of(request)),
            [vec![0, 1, 2], vec![2, 3], vec![], vec![]]
        );
        assert_eq!([0, 2, 3, 4].map(|offer| allocation.is_held(offer)), [true, true, true, false]);
        for (offers, holders) in
            [(&[][..], &[][..]), (&[4], &[]), (&[0, 1], &[0]), (&[3, 4], &[1]), (&[2], &[0, 1]), (&[3, 0], &[0, 1])]
        {
            assert_eq!(allocation.holders_of(offers.iter().copied()), holders, "{offers:?}");
        }
    }

    #[test]
    fn a_verdict_tells_who_holds_the_offers() {
        let allocation = allocation();
        assert_eq!(allocation.verdict(&[2], &[1, 3], None), RequestVerdict::Taken(vec![0, 1]));
        let partly =
            |granted, wanted, others_hold| RequestVerdict::PartlyServed { granted, wanted, limit: None, others_hold };
        for (requests, matching, expected) in [
            (&[1][..], &[3][..], partly(1, 2, false)),
            (&[1], &[2, 3], partly(1, 2, true)),
            (&[1, 2], &[3, 4], partly(1, 3, false)),
            (&[0, 1], &[0, 2], partly(3, 4, false)),
        ] {
            assert_eq!(allocation.verdict(requests, matching, None), expected, "{requests:?}");
        }
    }
}
