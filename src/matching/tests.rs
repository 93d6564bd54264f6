//! Match lists for the tests of the strategies, and tests of what the strategies share.

use std::sync::Arc;

use super::{Candidate, Statistics};

/// Makes match lists from `(offer, request rank, offer rank)`, best first.
pub fn match_lists(lists: &[&[(usize, f64, f64)]]) -> Vec<Arc<[Candidate]>> {
    let mut sorted = Vec::new();
    for list in lists {
        let candidates = list.iter();
        let candidates =
            candidates.map(|&(offer, request_rank, offer_rank)| Candidate { offer, request_rank, offer_rank });
        let mut candidates: Vec<Candidate> = candidates.collect();
        candidates.sort_by(Candidate::cmp_best_first);
        sorted.push(candidates.into());
    }
    sorted
}

/// Makes random lists for up to seven requests and six offers, with many equal ranks. Some requests share a list.
pub fn random_lists(random: &mut fastrand::Rng) -> Vec<Arc<[Candidate]>> {
    let offers = random.usize(0..=6);
    let most = random.u8(1..=4);
    let mut lists: Vec<Arc<[Candidate]>> = Vec::new();
    for _ in 0..random.usize(0..=7) {
        if !lists.is_empty() && random.bool() {
            lists.push(Arc::clone(&lists[random.usize(0..lists.len())]));
            continue;
        }
        let list: Vec<(usize, f64, f64)> =
            (0..offers).map(|offer| (offer, f64::from(random.u8(0..most)), f64::from(random.u8(0..most)))).collect();
        let list: Vec<_> = list.into_iter().filter(|_| random.u8(0..5) < 3).collect();
        lists.extend(match_lists(&[&list]));
    }
    lists
}

#[test]
fn counters_of_two_runs_add_up() {
    let one = Statistics {
        roots: 1,
        matched: 2,
        tests: 3,
        evaluations: 4,
        probes: 5,
        backtracks: 6,
        autoclusters: 7,
        skipped: 8,
        failures: 9,
        cut_off_searches: 10,
    };
    let mut all = one;
    all.add(&Statistics { roots: 100, cut_off_searches: 1000, ..Statistics::default() });
    all.add(&one);
    let expected = Statistics {
        roots: 102,
        matched: 4,
        tests: 6,
        evaluations: 8,
        probes: 10,
        backtracks: 12,
        autoclusters: 14,
        skipped: 16,
        failures: 18,
        cut_off_searches: 1020,
    };
    assert_eq!(all, expected);
}
