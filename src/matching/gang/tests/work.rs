//! How much searches do. The numbers are exact: what saves work is there for nothing else.

use super::{GangAdGenerator, parse_ad};
use crate::ad::{Ad, Dialect};
use crate::eval::Context;
use crate::matching::Statistics;
use crate::matching::gang::{Algorithm, Gang, Gangmatcher};
use crate::matching::policy::Policy;
use crate::protocol::Protocol;
use crate::syntax::ParseOptions;

/// What searches found and did.
#[derive(Default)]
struct Work {
    gangs: usize,
    /// The sum of what tells the gangs apart: their offers, links and parts, each times its place.
    places: usize,
    faults: usize,
    counted: Statistics,
    visits: u64,
}

impl Work {
    fn add_gang(&mut self, gang: &Gang) {
        self.gangs += 1;
        for (place, docked) in gang.members().iter().enumerate() {
            self.places += (place + 1) * (docked.offer + docked.link + docked.part);
        }
    }

    fn told(&self) -> String {
        let Statistics { tests, evaluations, probes, backtracks, failures, cut_off_searches: cut_off, .. } =
            self.counted;
        let Work { gangs, places, faults, visits, .. } = self;
        format!(
            "{gangs} gangs {places}, {faults} faults; {tests} tests, {evaluations} evaluations, {probes} probes, \
             {backtracks} backtracks, {visits} visits, {failures} failures, {cut_off} cut off"
        )
    }
}

/// Returns some offers of a few kinds.
fn offers(writer: &mut GangAdGenerator, most: usize) -> Vec<Ad> {
    let mut offers: Vec<Ad> = (0..writer.0.usize(2..most)).map(|_| writer.offer()).collect();
    if writer.chance(50) {
        let kinds = writer.0.usize(1..=offers.len().min(5));
        (kinds..offers.len()).for_each(|offer| offers[offer] = offers[writer.0.usize(..kinds)].clone());
    }
    offers
}

fn matcher(offers: &[Ad], policy: &str, max_search_tests: Option<u64>) -> Gangmatcher {
    let policy = match policy {
        "" => Policy::default(),
        text => Policy::parse(text.as_bytes(), Dialect::Classad).unwrap(),
    };
    let mut context = Context::new(Dialect::Classad);
    context.max_search_tests = max_search_tests.unwrap_or(context.max_search_tests);
    let (matcher, _) = Gangmatcher::new(offers, Protocol::new(Dialect::Classad), context);
    matcher.with_docking_vector(policy.docking.clone()).with_residual(policy.residual)
}

/// Marshals gangs for four requests in each of some pools. Returns what was found and done.
fn work(algorithm: Algorithm, policy: &str, (pools, most): (u64, usize), max_search_tests: Option<u64>) -> String {
    let mut work = Work::default();
    for seed in 0..pools {
        let mut writer = GangAdGenerator(fastrand::Rng::with_seed(seed));
        let offers = offers(&mut writer, most);
        let mut matcher = matcher(&offers, policy, max_search_tests).with_algorithm(algorithm, seed);
        for _ in 0..4 {
            match matcher.marshal(0, &writer.request(4)) {
                Ok(gang) => gang.iter().for_each(|gang| work.add_gang(gang)),
                Err(_) => work.faults += 1,
            }
        }
        work.counted.add(&matcher.statistics());
        work.visits += matcher.symbolic_visits();
    }
    work.told()
}

#[test]
fn algorithms_do_what_they_do() {
    let small = (30, 9);
    for (algorithm, expected) in [
        (
            Algorithm::Best,
            "30 gangs 301, 0 faults; 638 tests, 871 evaluations, 863 probes, 478 backtracks, 12300 visits, 0 failures, 0 cut off",
        ),
        (
            Algorithm::Naive,
            "30 gangs 283, 0 faults; 6578 tests, 8165 evaluations, 0 probes, 727 backtracks, 692 visits, 0 failures, 0 cut off",
        ),
        (
            Algorithm::Lr,
            "30 gangs 283, 0 faults; 1164 tests, 1999 evaluations, 848 probes, 727 backtracks, 5245 visits, 0 failures, 0 cut off",
        ),
        (
            Algorithm::Rl,
            "30 gangs 259, 0 faults; 1367 tests, 3545 evaluations, 1184 probes, 1063 backtracks, 12697 visits, 0 failures, 0 cut off",
        ),
        (
            Algorithm::Lrc,
            "30 gangs 283, 0 faults; 1090 tests, 1863 evaluations, 1044 probes, 638 backtracks, 6425 visits, 0 failures, 0 cut off",
        ),
        (
            Algorithm::Rlc,
            "30 gangs 259, 0 faults; 1082 tests, 2821 evaluations, 1210 probes, 804 backtracks, 10830 visits, 0 failures, 0 cut off",
        ),
        (
            Algorithm::Dyn,
            "30 gangs 280, 0 faults; 1075 tests, 1865 evaluations, 1036 probes, 630 backtracks, 6515 visits, 0 failures, 0 cut off",
        ),
        (
            Algorithm::Dyns,
            "30 gangs 280, 0 faults; 1050 tests, 1832 evaluations, 1028 probes, 622 backtracks, 6482 visits, 0 failures, 0 cut off",
        ),
        (
            Algorithm::Dynsr,
            "30 gangs 289, 0 faults; 1055 tests, 1823 evaluations, 1046 probes, 627 backtracks, 6683 visits, 0 failures, 0 cut off",
        ),
    ] {
        assert_eq!(work(algorithm, "", small, None), expected, "{algorithm:?}");
    }
    // In a large pool, what is equal stands for each other.
    assert_eq!(
        work(Algorithm::Best, "", (3, 60), None),
        "7 gangs 390, 0 faults; 93 tests, 273 evaluations, 57 probes, 0 backtracks, 1700 visits, 0 failures, 0 cut off",
        "best"
    );
}

#[test]
fn policies_and_limits_cost_what_they_cost() {
    let small = (30, 9);
    let one = "docking: [ 'label.A is undefined ? 0 : 1', '-(label.B is 2 ? 1 : 0)' ]";
    // Offers without a number have no order; those with a string and a number have none together.
    let partial = "docking: [ label.B + 0, 'self.X ?: 0' ]";
    let mixed = "docking: [ label.A ]";
    let rests = "residual: { when: A > 0, set: { A: A - 1 }, while: A > 0 }";
    let unoffered = "residual: { when: B >= 1, set: { B: B - other.X }, while: A is undefined }";
    for (policy, limit, expected) in [
        (
            one,
            None,
            "30 gangs 289, 0 faults; 680 tests, 1431 evaluations, 871 probes, 477 backtracks, 12347 visits, 0 failures, 0 cut off",
        ),
        (
            partial,
            None,
            "25 gangs 166, 1 faults; 803 tests, 3025 evaluations, 981 probes, 622 backtracks, 14499 visits, 0 failures, 0 cut off",
        ),
        (
            mixed,
            None,
            "28 gangs 254, 6 faults; 661 tests, 1061 evaluations, 869 probes, 503 backtracks, 12400 visits, 0 failures, 0 cut off",
        ),
        (
            rests,
            None,
            "36 gangs 389, 0 faults; 681 tests, 1122 evaluations, 874 probes, 472 backtracks, 13769 visits, 0 failures, 0 cut off",
        ),
        (
            unoffered,
            None,
            "30 gangs 301, 0 faults; 638 tests, 922 evaluations, 863 probes, 478 backtracks, 12300 visits, 0 failures, 0 cut off",
        ),
        (
            "",
            Some(0),
            "30 gangs 291, 0 faults; 312 tests, 589 evaluations, 526 probes, 127 backtracks, 9652 visits, 5 failures, 5 cut off",
        ),
        (
            "",
            Some(3),
            "30 gangs 301, 0 faults; 298 tests, 562 evaluations, 522 probes, 132 backtracks, 9337 visits, 2 failures, 2 cut off",
        ),
        (
            "",
            Some(30),
            "30 gangs 301, 0 faults; 346 tests, 633 evaluations, 566 probes, 180 backtracks, 9762 visits, 1 failures, 1 cut off",
        ),
        (
            one,
            Some(3),
            "30 gangs 289, 0 faults; 275 tests, 1017 evaluations, 485 probes, 100 backtracks, 9213 visits, 3 failures, 3 cut off",
        ),
    ] {
        assert_eq!(work(Algorithm::Best, policy, small, limit), expected, "{policy} {limit:?}");
    }
}

#[test]
fn further_gangs_are_listed_from_the_last_one_on() {
    for (policy, expected) in [
        (
            "",
            "62 gangs 614, 0 faults; 470 tests, 886 evaluations, 399 probes, 27 backtracks, 6419 visits, 0 failures, 0 cut off; 10 gangs 87, 0 faults; 0 tests, 0 evaluations, 0 probes, 0 backtracks, 1868 visits, 0 failures, 0 cut off",
        ),
        (
            "docking: [ 'label.A is 1 ? 1 : 0', 'label.B is 2 ? 1 : 0' ]",
            "62 gangs 621, 0 faults; 438 tests, 1748 evaluations, 368 probes, 16 backtracks, 7502 visits, 0 failures, 0 cut off; 10 gangs 89, 0 faults; 0 tests, 0 evaluations, 0 probes, 0 backtracks, 2314 visits, 0 failures, 0 cut off",
        ),
    ] {
        let (mut work, mut runners) = (Work::default(), Work::default());
        for seed in 0..25 {
            let mut writer = GangAdGenerator(fastrand::Rng::with_seed(seed));
            let offers = offers(&mut writer, 8);
            let request = writer.request(3);
            let mut listing = matcher(&offers, policy, None);
            listing.gangs(0, &request).unwrap().take(12).for_each(|gang| work.add_gang(&gang));
            work.counted.add(&listing.statistics());
            work.visits += listing.symbolic_visits();
            let mut finding = matcher(&offers, policy, None);
            let before = finding.find_gang(7, &request).unwrap();
            let counted = finding.statistics();
            let next = before.as_ref().and_then(|gang| finding.find_runner_up(gang).unwrap());
            assert_eq!(finding.statistics(), counted, "seed {seed}");
            assert!(next.iter().all(|gang| gang.request == 7 && before.as_ref() != Some(gang)));
            if let Some(gang) = &next {
                runners.add_gang(gang);
            }
            runners.visits += finding.symbolic_visits();
            // A runner-up is found once.
            assert_eq!(before.as_ref().and_then(|gang| finding.find_runner_up(gang).unwrap()), None);
        }
        assert_eq!(format!("{}; {}", work.told(), runners.told()), expected, "{policy}");
    }
}

/// Offers are used up and offered again in the middle of many others.
#[test]
fn a_pool_changes_from_request_to_request() {
    let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
    let mut work = Work::default();
    for seed in 0..8 {
        let mut writer = GangAdGenerator(fastrand::Rng::with_seed(seed));
        let offers = offers(&mut writer, 30);
        let mut matcher = matcher(&offers, "", None);
        for round in 0..12 {
            let request = writer.request(3);
            matcher.marshal(0, &request).unwrap().iter().for_each(|gang| work.add_gang(gang));
            let offer = writer.0.usize(..offers.len());
            if round % 3 == 0 {
                matcher.withdraw(offer);
            } else {
                matcher.withdraw(offer);
                let rest = match round % 4 {
                    0 => ad(
                        "[ A = 1; B = 2; Ports = { [ Label = job; Constraint = job.X < 3 ], [ Label = sub; Constraint = sub.A is 1 ] } ]",
                    ),
                    1 => ad("[ A = 1; B = 2; Constraint = other.X < 3; Rank = 2 ]"),
                    _ => writer.offer(),
                };
                matcher.offer_remainder(offer, &rest).unwrap();
            }
            work.faults += matcher.unused_offers();
            let taken = fixedbitset::FixedBitSet::from_iter([offer]);
            work.places += usize::from(matcher.may_dock(&request, &taken).unwrap());
        }
        work.counted.add(&matcher.statistics());
        work.visits += matcher.symbolic_visits();
    }
    assert_eq!(
        work.told(),
        "38 gangs 980, 921 faults; 516 tests, 979 evaluations, 407 probes, 146 backtracks, 11419 visits, 0 failures, 0 cut off",
        "a changing pool"
    );
}
