//! Tests that the index changes no answer: random pools are searched with the index and without it.

mod cost;

use std::fmt::Write;

use super::super::GreedyMatcher;
use super::{Accelerations, Candidate, Matchmaker, Pair, PairSide};
use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::eval::{Context, Interrupt};
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, parse_ad};

#[test]
fn an_interrupted_list_is_not_kept() {
    let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
    let offers = [ad("[ Memory = 64; Constraint = other.Size > 0 ]"), ad("[ Memory = 32; Constraint = true ]")];
    let request = ad("[ Size = 1; Constraint = other.Memory + 0 >= Size ]");
    for index in [true, false] {
        let interrupt = Interrupt::default();
        let context = Context { interrupt: Some(interrupt.clone()), ..Context::new(Dialect::Classad) };
        let accelerations = Accelerations { index, ..Accelerations::ALL };
        let mut matchmaker = Matchmaker::new(&offers, Protocol::new(Dialect::Classad), context, accelerations);
        interrupt.raise();
        assert_eq!(matchmaker.candidates(&request).len(), 0);
        interrupt.lower();
        assert_eq!(matchmaker.candidates(&request).len(), 2);
        interrupt.raise();
        assert_eq!(matchmaker.candidates(&request).len(), 2, "a whole list is kept");
    }
}

/// An offer that redefines `target` agrees with another in all attributes that the other's rank mentions. The rank has
/// another value in it, so that it must not stand for the other.
#[test]
fn an_offer_that_redefines_target_stands_for_no_other() {
    let rules = ParseOptions::new(Dialect::Condor);
    let ad = |text: &str| parse_ad(text.as_bytes(), rules).unwrap();
    let offers = [
        ad(
            "[ a = 0; b = 4; c = 2; s = 3; Requirements = (s + 0) isnt (TARGET.b + 0) && other.s && TARGET.d is undefined; \
            Rank = TARGET.s ]",
        ),
        ad("[ a = 4; c = \"X\"; d = 1; e = c; s = 3; target = [ a = 3 ]; START = START; Requirements = TARGET.START; \
            Rank = 5 ]"),
    ];
    let requests = [
        ad("[ a = 0; b = b + 1; c = -1; d = 3; e = 0; s = 3; START = time() > 0 && \"x\" <= (e + 0); \
            Requirements = 1 && stringListMember(s, \"y\"); Rank = 1 ]"),
        ad("[ a = 1; c = -1; s = 5; Requirements = \"x\" != \"5\" ]"),
    ];
    let mut matchmaker =
        Matchmaker::new(&offers, Protocol::new(Dialect::Condor), Context::new(Dialect::Condor), Accelerations::ALL);
    matchmaker.candidates(&requests[0]);
    let found: Vec<(usize, f64)> =
        matchmaker.candidates(&requests[1]).iter().map(|candidate| (candidate.offer, candidate.offer_rank)).collect();
    assert_eq!(found, [(0, 5.0)]);
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "s"];

fn pick<'a>(random: &mut fastrand::Rng, among: &[&'a str]) -> &'a str {
    among[random.usize(..among.len())]
}

/// Returns a random attribute value: mostly a small number, sometimes another value or an expression.
fn value(random: &mut fastrand::Rng) -> String {
    match random.u8(..20) {
        0 => {
            pick(random, &["undefined", "error", "true", "false", "{ 1, 2 }", "[ x = 1 ]", "relTime(\"5\")"]).to_owned()
        }
        1 => pick(random, &["\"x\"", "\"X\"", "\"y\"", "\"\"", "\"5\""]).to_owned(),
        2 => pick(random, &["9007199254740993", "9007199254740992.0", "-0.0", "real(\"NaN\")", "2.5", "1e300"])
            .to_owned(),
        3 => pick(random, &["b + 1", "other.a", "c", "MY.d * 2", "TARGET.b + a", "s", "START", "random(3)"]).to_owned(),
        4 => (random.u8(..2) == 0).to_string(),
        _ => random.i8(-1..6).to_string(),
    }
}

fn name(random: &mut fastrand::Rng) -> String {
    let side = pick(random, &["", "", "MY.", "TARGET.", "TARGET.", "other.", "other."]);
    format!("{side}{}", pick(random, &NAMES))
}

fn operand(random: &mut fastrand::Rng) -> String {
    match random.u8(..8) {
        0..4 => name(random),
        4 => format!("({} + {})", name(random), random.u8(..3)),
        5 => format!("\"{}\"", pick(random, &["x", "X", "y"])),
        _ => value(random),
    }
}

/// Returns a random clause, in which clauses are nested at most `depth` deep.
fn part(random: &mut fastrand::Rng, depth: u8) -> String {
    match random.u8(..14) {
        0 if depth > 0 => format!("({} || {})", part(random, depth - 1), part(random, depth - 1)),
        1 if depth > 0 => format!("!({})", part(random, depth - 1)),
        2 if depth > 0 => format!("({} && {})", part(random, depth - 1), part(random, depth - 1)),
        3 => name(random),
        4 => pick(random, &["START", "MY.START", "true", "TARGET.START", "member(TARGET.a, { 1, 2, b })", "1"])
            .to_owned(),
        5 => pick(random, &["isUndefined(TARGET.a)", "(TARGET.b ?: 3) > 2", "TARGET.Requirements", "time() > 0"])
            .to_owned(),
        6 => pick(random, &["eval(\"a > 1\")", "size(s) > 0", "TARGET.Rank > 0", "MY.Rank == 0", "START is true"])
            .to_owned(),
        7 => format!("TARGET.{} =?= undefined", pick(random, &NAMES)),
        8 => format!(
            "stringListMember({}, \"{}\")",
            name(random),
            pick(random, &["x, X", "y", "", "5 x,,1", "x\\ty", "true"])
        ),
        _ => {
            let operator = pick(random, &["<", "<=", "==", "!=", ">=", ">", "is", "isnt"]);
            format!("{} {operator} {}", operand(random), operand(random))
        }
    }
}

fn ad(random: &mut fastrand::Rng, rules: ParseOptions) -> Ad {
    let mut text = String::from("[ ");
    for name in NAMES {
        if random.u8(..5) > 0 {
            let _ = write!(text, "{name} = {}; ", value(random));
        }
    }
    if random.u8(..40) == 0 {
        text.push_str("target = [ a = 3 ]; ");
    }
    if random.bool() {
        let start: Vec<String> = (0..random.u8(1..3)).map(|_| part(random, 1)).collect();
        let _ = write!(text, "START = {}; ", start.join(" && "));
    }
    if random.u8(..10) > 0 {
        let parts: Vec<String> = (0..random.u8(1..5)).map(|_| part(random, 2)).collect();
        let _ = write!(text, "Requirements = {}; ", parts.join(" && "));
    }
    if random.bool() {
        let _ = write!(text, "Rank = {}; ", operand(random));
    }
    text.push(']');
    parse_ad(text.as_bytes(), rules).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// The candidates found with the index are the candidates found without it. Some requests must have candidates, so that
/// the test means something.
#[test]
fn the_index_is_evaluation() {
    let pools: u64 = std::env::var("CLASSAD_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    let first: u64 = std::env::var("CLASSAD_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut matched = 0;
    for dialect in [Dialect::Classad, Dialect::Condor] {
        for seed in first..first + pools {
            let mut random = fastrand::Rng::with_seed(seed);
            let rules = ParseOptions::new(dialect);
            let offers: Vec<Ad> = (0..random.usize(1..90)).map(|_| ad(&mut random, rules)).collect();
            let requests: Vec<Ad> = (0..12).map(|_| ad(&mut random, rules)).collect();
            // `random()` has no value without a seed, so that both matchmakers find the same candidates.
            let context = Context { random: None, ..Context::new(dialect) };
            let maker =
                |accelerations| Matchmaker::new(&offers, Protocol::new(dialect), context.clone(), accelerations);
            let (mut quick, mut slow) = (maker(Accelerations::ALL), maker(Accelerations::NONE));
            matched += same_candidates(&mut quick, &mut slow, &requests, &format!("{dialect}, seed {seed}"));
            // Greedy matching withdraws each taken offer from the index, so that withdrawal is tested, too.
            let greedy = |accelerations| {
                let mut greedy = GreedyMatcher::from_matchmaker(maker(accelerations));
                let twice = requests.iter().chain(&requests).enumerate();
                twice.map(|(index, request)| greedy.take_best(index, request)).collect::<Vec<_>>()
            };
            let without_lists = Accelerations { match_lists: false, ..Accelerations::ALL };
            let expected = greedy(Accelerations::NONE);
            assert_eq!(greedy(Accelerations::ALL), expected, "{dialect}, seed {seed}, greedy");
            assert_eq!(greedy(without_lists), expected, "{dialect}, seed {seed}, greedy without lists");
            let replaced = random.usize(..offers.len());
            let ad = ad(&mut random, rules);
            quick.replace(replaced, ad.clone());
            slow.replace(replaced, ad);
            for request in &requests {
                let (case, failures) = (format!("{dialect}, seed {seed}, replaced"), slow.statistics.failures);
                let expected = slow.candidates(request);
                let has_failures = slow.statistics.failures > failures;
                assert_eq!(quick.candidates(request), expected, "{case}");
                same_summary(&mut quick, request, (&expected, has_failures), &case);
            }
        }
    }
    assert!(matched > 100, "{matched}");
}

/// Without an index the candidates are those of each pair alone, also if evaluations exceed budgets.
#[test]
fn without_an_index_the_pairs_decide() {
    let mut matched = 0;
    for (dialect, seed) in
        [Dialect::Classad, Dialect::Condor].into_iter().flat_map(|of| (0..40).map(move |seed| (of, seed)))
    {
        let mut random = fastrand::Rng::with_seed(seed);
        let rules = ParseOptions::new(dialect);
        let odd = if seed % 4 < 2 { 100 } else { 3 };
        let offers: Vec<Ad> = (0..random.usize(1..90)).map(|_| bounded_ad(&mut random, rules, odd)).collect();
        let mut context = Context { random: None, ..Context::new(dialect) };
        if seed % 2 == 1 {
            (context.max_steps, context.max_depth) = (20 + seed, 12);
        }
        let protocol = Protocol::new(dialect);
        let mut matchmaker = Matchmaker::new(&offers, protocol.clone(), context.clone(), Accelerations::NONE);
        for number in 0..12 {
            let request = bounded_ad(&mut random, rules, odd);
            let (mut expected, mut failures) = (Vec::new(), matchmaker.statistics.failures);
            for offer in 0..offers.len() {
                let ad = matchmaker.offers[offer].ad.clone();
                let pair = Pair::new(request.clone(), ad, protocol.clone(), context.clone());
                let accepts = |side| pair.accepts(side);
                match accepts(PairSide::Request).and_then(|is| Ok(is && accepts(PairSide::Offer)?)) {
                    Ok(true) => {
                        let ranks = [PairSide::Request, PairSide::Offer].map(|side| pair.rank(side));
                        failures += ranks.iter().filter(|rank| rank.is_err()).count() as u64;
                        let [request_rank, offer_rank] = ranks.map(Result::unwrap_or_default);
                        expected.push(Candidate { offer, request_rank, offer_rank });
                    }
                    Ok(false) => {}
                    Err(_) => failures += 1,
                }
            }
            expected.sort_by(Candidate::cmp_best_first);
            matched += expected.len();
            assert_eq!(*matchmaker.candidates(&request), expected, "{dialect}, seed {seed}, request {number}");
            assert_eq!(matchmaker.statistics.failures, failures, "{dialect}, seed {seed}, request {number}");
            if number % 4 == 3 {
                matchmaker.replace(random.usize(..offers.len()), bounded_ad(&mut random, rules, odd));
            }
        }
    }
    assert!(matched > 50, "{matched}");
}

/// Returns an ad of a large pool: numbers, sometimes absent, and bounds on the numbers of the partner. `odd` is the
/// percentage of values and clauses that an index cannot order.
fn bounded_ad(random: &mut fastrand::Rng, rules: ParseOptions, odd: u8) -> Ad {
    let mut text = String::from("[ ");
    let is_odd = |random: &mut fastrand::Rng| random.u8(..100) < odd;
    for name in NAMES {
        if random.u8(..12) > 0 {
            let value = if is_odd(random) { value(random) } else { random.i8(-2..40).to_string() };
            let _ = write!(text, "{name} = {value}; ");
        }
    }
    let clause = |random: &mut fastrand::Rng| {
        if is_odd(random) {
            return part(random, 1);
        }
        let (name, bound) = (pick(random, &NAMES), random.i8(-2..40));
        let operator = pick(random, &["<", "<=", ">=", ">", "<=", ">=", "<=", ">=", "=="]);
        format!("other.{name} {operator} {bound}{}", pick(random, &["", "", ".0", ".5"]))
    };
    let clauses: Vec<String> = (0..random.u8(2..7)).map(|_| clause(random)).collect();
    let _ = write!(text, "Requirements = {}; ", clauses.join(" && "));
    if is_odd(random) {
        let _ = write!(text, "Rank = {}; ", operand(random));
    }
    text.push(']');
    parse_ad(text.as_bytes(), rules).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// In a pool so large that the index tests the last offers one by one, the candidates are those of evaluation, too.
#[test]
fn the_index_is_evaluation_in_large_pools() {
    let mut matched = 0;
    for dialect in [Dialect::Classad, Dialect::Condor] {
        for (seed, odd) in [0, 0, 1, 6].into_iter().enumerate() {
            let mut random = fastrand::Rng::with_seed(seed as u64);
            let rules = ParseOptions::new(dialect);
            let offers: Vec<Ad> = (0..700).map(|_| bounded_ad(&mut random, rules, odd)).collect();
            let requests: Vec<Ad> = (0..20).map(|_| bounded_ad(&mut random, rules, odd)).collect();
            let context = Context { random: None, ..Context::new(dialect) };
            let maker =
                |accelerations| Matchmaker::new(&offers, Protocol::new(dialect), context.clone(), accelerations);
            let (mut quick, mut slow) = (maker(Accelerations::ALL), maker(Accelerations::NONE));
            matched += same_candidates(&mut quick, &mut slow, &requests, &format!("{dialect}, seed {seed}"));
        }
    }
    assert!(matched > 100, "{matched}");
}

/// The last offer of a large pool is tested alone, and has its rank of the request.
#[test]
fn an_offer_that_alone_remains_gives_its_rank() {
    let rules = ParseOptions::new(Dialect::Condor);
    for (rank, expected) in [("2", 2.0), ("TARGET.v", 3.0), ("TARGET.v + MY.a", 10.0), ("TARGET.none", 0.0)] {
        let offer = |a: usize| format!("[ a = {a}; Requirements = true; Rank = {rank} ]");
        let offers: Vec<Ad> = (0..256).map(|a| parse_ad(offer(a).as_bytes(), rules).unwrap()).collect();
        let request = parse_ad(b"[ v = 3; Requirements = TARGET.a == 7; Rank = 5 ]", rules).unwrap();
        let (protocol, context) = (Protocol::new(Dialect::Condor), Context::new(Dialect::Condor));
        let mut matchmaker = Matchmaker::new(&offers, protocol, context, Accelerations::ALL);
        let found = matchmaker.candidates(&request);
        let found: Vec<_> = found.iter().map(|one| (one.offer, one.request_rank, one.offer_rank)).collect();
        assert_eq!(found, [(7, 5.0, expected)], "{rank}");
    }
}

/// Returns an ad of a large pool with all, some or none of: values, bounds, sets of values, clauses that are no condition,
/// a rank. What an ad lacks altogether decides the way that the index takes.
fn ad_of_some_kinds(random: &mut fastrand::Rng, rules: ParseOptions) -> Ad {
    let mut text = String::from("[ ");
    for name in NAMES.iter().filter(|_| random.u8(..8) > 0).collect::<Vec<_>>() {
        let _ = write!(text, "{name} = {}; ", random.i8(-2..40));
    }
    let mut clauses = Vec::new();
    if random.bool() {
        clauses.extend((0..random.u8(1..3)).map(|_| {
            let (name, bound) = (pick(random, &NAMES), random.i8(-2..40));
            format!("other.{name} {} {bound}", pick(random, &["<", "<=", ">", ">=", "=="]))
        }));
    }
    if random.u8(..4) == 0 {
        let (name, value) = (pick(random, &NAMES), random.i8(-2..30));
        clauses.push(format!("(other.{name} == {value} || other.{name} == {})", value + 3));
    }
    if random.u8(..4) == 0 {
        clauses.push(format!("other.{} + other.{} > {}", pick(random, &NAMES), pick(random, &NAMES), random.i8(0..60)));
    }
    let constraint = if clauses.is_empty() { "true".to_owned() } else { clauses.join(" && ") };
    let _ = write!(text, "Requirements = {constraint}; ");
    if random.bool() {
        let _ = write!(
            text,
            "Rank = {}other.{} * {}; ",
            pick(random, &["", "-"]),
            pick(random, &NAMES),
            pick(random, &NAMES)
        );
    }
    text.push(']');
    parse_ad(text.as_bytes(), rules).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// Pools of each size that the index treats differently, with offers that have no bounds of their own as a whole, with
/// bounds, and mixed: the candidates of some requests, and those that remain after withdrawals, are those of evaluation.
#[test]
fn the_index_is_evaluation_whatever_kinds_of_clauses_the_ads_have() {
    let mut matched = 0;
    let pools =
        [(5, 51), (5, 24), (5, 54), (5, 44), (700, 6259), (700, 6751), (700, 5129), (5000, 29_490), (20_000, 17_892)];
    let mut counted = Vec::new();
    for (seed, (size, _)) in pools.into_iter().enumerate() {
        let mut random = fastrand::Rng::with_seed(seed as u64);
        let rules = ParseOptions::new(Dialect::Condor);
        // In every second pool no offer has a constraint of its own.
        let accepts_all = |ad: Ad| ad.with(Name::new("Requirements"), Expression::literal(Value::Boolean(true)));
        let offer = |random: &mut fastrand::Rng| {
            let ad = ad_of_some_kinds(random, rules);
            if seed % 2 == 0 { accepts_all(ad) } else { ad }
        };
        let offers: Vec<Ad> = (0..size).map(|_| offer(&mut random)).collect();
        let requests: Vec<Ad> =
            (0..if size > 5000 { 6 } else { 20 }).map(|_| ad_of_some_kinds(&mut random, rules)).collect();
        let context = Context { random: None, ..Context::new(Dialect::Condor) };
        let maker =
            |accelerations| Matchmaker::new(&offers, Protocol::new(Dialect::Condor), context.clone(), accelerations);
        let (mut quick, mut slow) = (maker(Accelerations::ALL), maker(Accelerations::NONE));
        matched += same_candidates(&mut quick, &mut slow, &requests, &format!("{size} offers, seed {seed}"));
        assert!(size < 700 || quick.statistics.evaluations < slow.statistics.evaluations / 2, "{size}, seed {seed}");
        counted.push((size, quick.statistics.evaluations));
    }
    // The index is there to save evaluations: their number is exact.
    assert_eq!(counted, pools);
    assert!(matched > 1000, "{matched}");
}

/// Checks that two matchmakers find the same candidates for each request. Returns the number of candidates.
fn same_candidates(quick: &mut Matchmaker, slow: &mut Matchmaker, requests: &[Ad], case: &str) -> usize {
    let mut matched = 0;
    for (number, request) in requests.iter().enumerate() {
        let failures = slow.statistics.failures;
        let expected = slow.candidates(request);
        let has_failures = slow.statistics.failures > failures;
        assert_eq!(quick.candidates(request), expected, "{case}, request {number}");
        same_summary(quick, request, (&expected, has_failures), &format!("{case}, request {number}"));
        matched += expected.len();
    }
    matched
}

/// Checks that the best candidates and the number of candidates are those of the whole list.
///
/// `has_failures` says whether an evaluation of the request with an offer has no value, such as that of a random rank.
/// The offer is no candidate then. The number of candidates does not depend on ranks, and so may be greater.
fn same_summary(
    matchmaker: &mut Matchmaker,
    request: &Ad,
    (candidates, has_failures): (&[Candidate], bool),
    case: &str,
) {
    let count = matchmaker.count_candidates(request);
    assert!(count == candidates.len() || (has_failures && count > candidates.len()), "{case}: {count}");
    for most in [1, 3, 40] {
        let best = matchmaker.best_candidates(request, most);
        assert_eq!(best, candidates[..most.min(candidates.len())], "{case}, the best {most}");
    }
}
