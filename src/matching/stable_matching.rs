//! Stable matching: no request and offer prefer each other to their partners (Gale and Shapley).
//!
//! According to 2006 paper 3, a negotiator that sees one request at a time cannot find a stable matching.

use std::sync::Arc;

use super::request_classes::RequestClasses;
use super::{BilateralMatch, Candidate};

/// The request that holds an offer for now, and the rank that the offer gives this request.
#[derive(Clone, Copy)]
struct OfferHolder {
    request: usize,
    /// Position of the offer in the match list of the request.
    position: usize,
    rank: f64,
}

/// Matches requests so that no request and offer both rank each other higher than their partners. `lists` holds the
/// candidates of each request, best first.
///
/// Requests propose, so that each request gets the best offer that it has in any stable matching. Positions break ties:
/// a request prefers the earlier offer of its list, and an offer prefers the earlier request.
///
/// Requests with equal lists form a class. If an offer has refused a request, later requests of the class do not
/// propose to the offer. The work therefore grows with the number of matches, not with the number of requests.
#[must_use]
pub fn stable_matching(lists: &[Arc<[Candidate]>]) -> Vec<BilateralMatch> {
    let preferences = RequestClasses::new(lists);
    let mut holders: Vec<Option<OfferHolder>> = vec![None; preferences.offer_bound];
    // For each class, the position in its list of the first candidate to which no request of the class has proposed
    // yet.
    let mut frontier = vec![0; preferences.lists.len()];
    for first in 0..lists.len() {
        let (mut request, mut place) = (first, frontier[preferences.class_of_request[first]]);
        while let Some(candidate) = preferences.lists[preferences.class_of_request[request]].get(place) {
            let asked = &mut frontier[preferences.class_of_request[request]];
            *asked = (*asked).max(place + 1);
            let holder = &mut holders[candidate.offer];
            let prefers = holder
                .is_none_or(|held| candidate.offer_rank.total_cmp(&held.rank).then(held.request.cmp(&request)).is_gt());
            if !prefers {
                place += 1;
                continue;
            }
            match holder.replace(OfferHolder { request, position: place, rank: candidate.offer_rank }) {
                None => break,
                // The request that loses the offer continues with the next candidate of its list.
                Some(loser) => (request, place) = (loser.request, loser.position + 1),
            }
        }
    }
    let held = holders.into_iter().flatten();
    let mut matches: Vec<BilateralMatch> =
        held.map(|holder| preferences.match_at(holder.request, holder.position)).collect();
    matches.sort_unstable_by_key(|pairing| pairing.request);
    matches
}

#[cfg(test)]
mod tests {
    use super::super::tests::{match_lists, random_lists};
    use super::stable_matching;

    #[test]
    fn nobody_prefers_each_other_to_what_they_got() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..2000 {
            let lists = random_lists(&mut random);
            let matches = stable_matching(&lists);
            let of_request = |request: usize| matches.iter().find(|pairing| pairing.request == request);
            let of_offer = |offer: usize| matches.iter().find(|pairing| pairing.offer == offer);
            for (request, list) in lists.iter().enumerate() {
                for candidate in list.iter() {
                    let request_would = of_request(request).is_none_or(|got| candidate.request_rank > got.request_rank);
                    let offer_would = of_offer(candidate.offer).is_none_or(|got| candidate.offer_rank > got.offer_rank);
                    assert!(!(request_would && offer_would), "{request} and {candidate:?}: {lists:?} {matches:?}");
                }
            }
            for pairing in &matches {
                assert_eq!(matches.iter().filter(|other| other.offer == pairing.offer).count(), 1);
                assert!(lists[pairing.request].iter().any(|candidate| candidate.offer == pairing.offer));
            }
        }
    }

    /// The request-optimal matching is unique, so that it does not change if requests share their lists.
    #[test]
    fn sharing_lists_changes_nothing() {
        let mut random = fastrand::Rng::with_seed(12);
        for _ in 0..500 {
            let lists = random_lists(&mut random);
            let apart: Vec<_> = lists.iter().map(|list| list.iter().copied().collect()).collect();
            assert_eq!(stable_matching(&lists), stable_matching(&apart));
        }
    }

    #[test]
    fn an_offer_leaves_for_a_request_that_it_ranks_higher() {
        // Each candidate is a triple: index of the offer, rank that the request gives the offer, rank that the offer
        // gives the request. Both requests rank offer 0 highest. Offer 0 ranks the second request higher.
        let lists = match_lists(&[&[(0, 5.0, 1.0), (1, 3.0, 0.0)], &[(0, 5.0, 2.0), (1, 4.0, 0.0)]]);
        let offers: Vec<usize> = stable_matching(&lists).iter().map(|pairing| pairing.offer).collect();
        assert_eq!(offers, [1, 0]);
    }
}
