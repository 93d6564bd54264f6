//! Stable matching: no request and offer prefer each other to what they got (Gale and Shapley).
//!
//! The 2006 paper (§3) names it as what a negotiator cannot do that sees one request at a time.

use std::sync::Arc;

use super::request_classes::Preferences;
use super::{Candidate, Match};

/// Who holds an offer, and how the offer ranks it.
#[derive(Clone, Copy)]
struct Holder {
    request: usize,
    /// Where the offer stands in the request's list.
    place: usize,
    rank: f64,
}

/// Matches requests, whose candidates are given best first, so that no request and offer both rank each
/// other higher than what they got.  Requests propose: each gets the best offer that it has in any stable
/// matching.  A request prefers, among offers that it ranks alike, the one first in its list; an offer
/// the first request.
///
/// Requests that share a list are a class: whatever one of them was refused is not asked for again by a
/// later one, so that the work is in proportion to what is matched rather than to the number of requests.
#[must_use]
pub fn stable(lists: &[Arc<[Candidate]>]) -> Vec<Match> {
    let preferences = Preferences::new(lists);
    let mut holders: Vec<Option<Holder>> = vec![None; preferences.offers];
    // The first place of each list that no request of the class has asked for yet.
    let mut frontier = vec![0; preferences.lists.len()];
    for first in 0..lists.len() {
        let (mut request, mut place) = (first, frontier[preferences.class[first]]);
        while let Some(candidate) = preferences.lists[preferences.class[request]].get(place) {
            let asked = &mut frontier[preferences.class[request]];
            *asked = (*asked).max(place + 1);
            let holder = &mut holders[candidate.offer];
            let prefers = holder
                .is_none_or(|held| candidate.offer_rank.total_cmp(&held.rank).then(held.request.cmp(&request)).is_gt());
            if !prefers {
                place += 1;
                continue;
            }
            match holder.replace(Holder { request, place, rank: candidate.offer_rank }) {
                None => break,
                // Whoever loses the offer goes on where it stood.
                Some(loser) => (request, place) = (loser.request, loser.place + 1),
            }
        }
    }
    let held = holders.into_iter().flatten();
    let mut matches: Vec<Match> = held.map(|holder| preferences.pairing(holder.request, holder.place)).collect();
    matches.sort_unstable_by_key(|pairing| pairing.request);
    matches
}

#[cfg(test)]
mod tests {
    use super::super::testing::{random_lists, ranks};
    use super::stable;

    #[test]
    fn nobody_prefers_each_other_to_what_they_got() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..2000 {
            let lists = random_lists(&mut random);
            let matches = stable(&lists);
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

    /// Requests that propose get, all of them, the best that any stable matching has for them.
    #[test]
    fn sharing_lists_changes_nothing() {
        let mut random = fastrand::Rng::with_seed(12);
        for _ in 0..500 {
            let lists = random_lists(&mut random);
            let apart: Vec<_> = lists.iter().map(|list| list.iter().copied().collect()).collect();
            assert_eq!(stable(&lists), stable(&apart));
        }
    }

    #[test]
    fn an_offer_leaves_for_a_request_that_it_ranks_higher() {
        // Both requests want offer 0 most; it wants the second request.
        let lists = ranks(&[&[(0, 5.0, 1.0), (1, 3.0, 0.0)], &[(0, 5.0, 2.0), (1, 4.0, 0.0)]]);
        let offers: Vec<usize> = stable(&lists).iter().map(|pairing| pairing.offer).collect();
        assert_eq!(offers, [1, 0]);
    }
}
