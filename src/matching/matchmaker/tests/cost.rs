//! What requests cost. The numbers are exact: an index, a cache and a queue are there to save work.

use std::sync::Arc;

use super::{Accelerations, Ad, Context, Dialect, GreedyMatcher, Matchmaker, ParseOptions, Protocol};
use super::{ad, ad_of_some_kinds, bounded_ad, parse_ad};
use crate::eval::RunBudgets;
use crate::matching::Statistics;

/// Returns a context whose run may take some steps for comparisons and hold some bytes.
fn limited(dialect: Dialect, limits: [Option<u64>; 2]) -> (Context, Arc<RunBudgets>) {
    let budgets = Arc::new(RunBudgets::new([None, limits[0], limits[1]]));
    let context = Context { random: None, run_budgets: Some(Arc::clone(&budgets)), ..Context::new(dialect) };
    (context, budgets)
}

fn counters(statistics: &Statistics) -> String {
    let Statistics { roots, matched, tests, evaluations, probes, failures, .. } = statistics;
    format!("{roots} {matched}, {tests} tests, {evaluations} evaluations, {probes} probes, {failures} failures")
}

/// Returns an ad of a pool of a kind.
fn ad_of(kind: &str, random: &mut fastrand::Rng, rules: ParseOptions) -> Ad {
    match kind {
        "odd" => ad(random, rules),
        "some" => ad_of_some_kinds(random, rules),
        "plain" => bounded_ad(random, rules, 0),
        _ => bounded_ad(random, rules, 8),
    }
}

/// What is told of each row of `lists_cost_what_they_cost`.
const COSTS_OF_LISTS: [&str; 10] = [
    "[12, 12, 12, 6] 1011; 40 3, 521 tests, 811 evaluations, 126 probes, 10 failures; [36297, 264960]",
    "[30, 30, 28, 13] 2013; 40 6, 548 tests, 879 evaluations, 126 probes, 17 failures; [34206, 264960]",
    "[30, 30, 28, 13] 2013; 40 6, 10320 tests, 11724 evaluations, 0 probes, 558 failures; [191804, 0]",
    "[30, 30, 28, 13] 2013; 40 6, 729 tests, 1104 evaluations, 172 probes, 21 failures; [40728, 264960]",
    "[76, 76, 24, 2] 245194; 40 6, 24 tests, 62 evaluations, 126 probes, 0 failures; [21401, 614400]",
    "[20, 20, 20, 4] 2385; 40 9, 22384 tests, 23709 evaluations, 0 probes, 0 failures; [142444, 0]",
    "[96, 96, 54, 16] 105664; 40 12, 134 tests, 438 evaluations, 126 probes, 7 failures; [54462, 1561600]",
    "[542, 542, 148, 93] 229532; 40 33, 24 tests, 1305 evaluations, 126 probes, 0 failures; [40510, 217088]",
    "[3070, 3070, 172, 608] 39540151; 40 36, 24 tests, 8417 evaluations, 126 probes, 0 failures; [244771, 1433600]",
    "[684, 684, 108, 25] 996943; 40 25, 24 tests, 1761 evaluations, 126 probes, 0 failures; [57663, 458752]",
];

#[test]
fn lists_cost_what_they_cost() {
    let without_lists = Accelerations { match_lists: false, ..Accelerations::ALL };
    let rows = [
        (Dialect::Classad, "odd", 60, Accelerations::ALL),
        (Dialect::Condor, "odd", 60, Accelerations::ALL),
        (Dialect::Condor, "odd", 60, Accelerations::NONE),
        (Dialect::Condor, "odd", 60, without_lists),
        (Dialect::Condor, "plain", 400, Accelerations::ALL),
        (Dialect::Condor, "plain", 130, Accelerations::NONE),
        (Dialect::Condor, "mixed", 400, Accelerations::ALL),
        (Dialect::Condor, "some", 64, Accelerations::ALL),
        (Dialect::Condor, "some", 400, Accelerations::ALL),
        (Dialect::Classad, "some", 128, Accelerations::ALL),
    ];
    assert_eq!(rows.len(), COSTS_OF_LISTS.len());
    for ((dialect, kind, size, accelerations), expected) in rows.into_iter().zip(COSTS_OF_LISTS) {
        let (context, budgets) = limited(dialect, [None, None]);
        let (mut found, mut places, mut counted) = ([0; 4], 0, Statistics::default());
        for seed in 0..2 {
            let mut random = fastrand::Rng::with_seed(seed);
            let rules = ParseOptions::new(dialect);
            let offers: Vec<Ad> = (0..size).map(|_| ad_of(kind, &mut random, rules)).collect();
            let requests: Vec<Ad> = (0..10).map(|_| ad_of(kind, &mut random, rules)).collect();
            let mut maker = Matchmaker::new(&offers, Protocol::new(dialect), context.clone(), accelerations);
            for request in requests.iter().chain(&requests) {
                let list = maker.candidates(request);
                found[0] += list.len();
                places += list.iter().enumerate().map(|(place, one)| place * one.offer).sum::<usize>();
                found[1] += maker.count_candidates(request);
                found[2] += maker.best_candidates(request, 5).len();
            }
            for round in 0..3 {
                maker.replace(random.usize(..size), ad_of(kind, &mut random, rules));
                maker.withdraw(random.usize(..size));
                found[3] += maker.candidates(&requests[round]).len();
                found[3] += maker.best_candidates(&requests[round + 3], 3).len();
            }
            counted.add(&maker.statistics);
            let maker = Matchmaker::new(&offers, Protocol::new(dialect), context.clone(), accelerations);
            let mut greedy = GreedyMatcher::from_matchmaker(maker);
            for (index, request) in requests.iter().chain(&requests).enumerate() {
                greedy.consume = index != 3;
                places += greedy.take_best(index, request).map_or(0, |best| best.offer + best.request);
            }
            counted.add(&greedy.statistics());
        }
        let taken = [budgets.comparisons.taken(), budgets.held_bytes.taken()];
        let told = format!("{found:?} {places}; {}; {taken:?}", counters(&counted));
        assert_eq!(told, expected, "{dialect} {kind} {size} {accelerations:?}");
    }
}

/// When the steps or the bytes are spent, lists are empty rather than wrong, and none is kept.
#[test]
fn spent_budgets_leave_nothing() {
    let rules = ParseOptions::new(Dialect::Condor);
    let parsed = |text: String| parse_ad(text.as_bytes(), rules).unwrap();
    let offers: Vec<Ad> = (0..200)
        .map(|at| {
            parsed(format!("[ a = {at}; b = {}; Requirements = TARGET.v > {}; Rank = TARGET.v * a ]", at % 7, at % 5))
        })
        .collect();
    let requests: Vec<Ad> = (0..6)
        .map(|at| {
            parsed(format!("[ v = {at}; Requirements = TARGET.a > {at} && TARGET.b + 0 > 1; Rank = TARGET.a % 9 ]"))
        })
        .collect();
    for (accelerations, limits, expected) in [
        (
            Accelerations::ALL,
            [Some(0), None],
            "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] [None, None, None, None, None, None] true",
        ),
        (
            Accelerations::ALL,
            [Some(500), None],
            "[[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] [None, None, None, None, None, None] true",
        ),
        (
            Accelerations::ALL,
            [Some(3000), None],
            "[[0, 0, 0, 1], [28, 3, 28, 1], [56, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] [None, None, None, None, None, None] true",
        ),
        (
            Accelerations::ALL,
            [Some(9000), None],
            "[[0, 0, 0, 1], [28, 3, 28, 1], [56, 3, 56, 1], [83, 3, 83, 1], [111, 0, 0, 0], [0, 0, 0, 0]] [None, None, None, None, None, None] true",
        ),
        (
            Accelerations::ALL,
            [Some(30_000), None],
            "[[0, 0, 0, 1], [28, 3, 28, 1], [56, 3, 56, 1], [83, 3, 83, 1], [111, 3, 111, 1], [138, 3, 138, 1]] [None, Some(170), Some(125), Some(152), Some(188), Some(179)] false",
        ),
        (
            Accelerations::ALL,
            [None, Some(0)],
            "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] [None, None, None, None, None, None] true",
        ),
        (
            Accelerations::ALL,
            [None, Some(9000)],
            "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] [None, None, None, None, None, None] true",
        ),
        (
            Accelerations::NONE,
            [Some(0), None],
            "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] [None, None, None, None, None, None] true",
        ),
        (
            Accelerations::NONE,
            [Some(3000), None],
            "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] [None, None, None, None, None, None] true",
        ),
        (
            Accelerations::NONE,
            [Some(20_000), None],
            "[[0, 0, 0, 0], [28, 3, 28, 0], [56, 3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]] [None, None, None, None, None, None] true",
        ),
    ] {
        let (context, budgets) = limited(Dialect::Condor, limits);
        let mut maker = Matchmaker::new(&offers, Protocol::new(Dialect::Condor), context.clone(), accelerations);
        let mut found = Vec::new();
        for request in &requests {
            let count = maker.count_candidates(request);
            let best = maker.best_candidates(request, 3).len();
            found.push([count, best, maker.candidates(request).len(), usize::from(maker.has_list(request))]);
        }
        let mut greedy = GreedyMatcher::from_matchmaker(maker);
        let taken: Vec<_> =
            requests.iter().enumerate().map(|(at, one)| greedy.take_best(at, one).map(|best| best.offer)).collect();
        let is_spent = budgets.comparisons.is_spent() || budgets.held_bytes.is_spent();
        assert_eq!(format!("{found:?} {taken:?} {is_spent}"), expected, "{accelerations:?} {limits:?}");
    }
}

/// An evaluation that exceeds a budget is a failure, and the pair no match; a rank that does counts as 0.
#[test]
fn evaluations_that_are_too_long_fail() {
    let rules = ParseOptions::new(Dialect::Condor);
    let parsed = |text: &str| parse_ad(text.as_bytes(), rules).unwrap();
    let long = ["TARGET.v"; 400].join(" + ");
    let offer =
        |constraint: &str, rank: &str| parsed(&format!("[ v = 1; Requirements = {constraint}; Rank = {rank} ]"));
    for (constraint, rank, own, expected) in [
        ("true", "TARGET.v + 1", "5", "[(0, 5.0, 2.0), (1, 5.0, 0.0)] 0"),
        (&*format!("{long} > 0"), "1", "5", "[(1, 5.0, 0.0)] 1"),
        ("true", &*long, "5", "[(0, 5.0, 0.0), (1, 5.0, 0.0)] 1"),
        ("true", "1", &*long, "[(0, 0.0, 1.0), (1, 0.0, 0.0)] 2"),
        ("TARGET.v == 2", &*long, "5", "[(1, 5.0, 0.0)] 0"),
    ] {
        for accelerations in [Accelerations::ALL, Accelerations::NONE] {
            let offers = [offer(constraint, rank), offer("true", "0")];
            let request = parsed(&format!("[ v = 1; Requirements = TARGET.v >= 1; Rank = {own} ]"));
            let context = Context { max_steps: 300, ..Context::new(Dialect::Condor) };
            let mut maker = Matchmaker::new(&offers, Protocol::new(Dialect::Condor), context, accelerations);
            let list = maker.candidates(&request);
            let found: Vec<_> = list.iter().map(|one| (one.offer, one.request_rank, one.offer_rank)).collect();
            assert_eq!(format!("{found:?} {}", maker.statistics.failures), expected, "{constraint} {rank} {own}");
        }
    }
}
