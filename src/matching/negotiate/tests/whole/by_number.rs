//! Cycles in which submitters share the number of offers.

use super::{Accelerations, Dialect, ads, cycle, whole};

/// What is told of each row of `requests_get_their_best_offers`.
const BEST_OFFERS: [&str; 24] = [
    "round 1 of 3; turn of  1 None for 1;  r0 o1 (3 0) not o2/1 by RequestRank([3.0, 2.0]) | 1 1 1 skipped 0 failed 0;  1 1 1 1; starts r0 o1 (3 0) {}; left o1 n 3",
    "round 1 of 3; turn of  1 None for 2;  r0 o1 (0 2) not o2/1 by InputOrder;  r1 o2 (0 2) not o0/1 by OfferRank([2.0, 1.0]) | 2 2 1 skipped 0 failed 0;  1 2 2 2; starts r0 o1 (0 2) {}, r1 o2 (0 2) {}; left o1 , o2 ",
    "round 1 of 2; turn of  1 None for 1;  r0 o0 (0 2) not o1/1 by InputOrder | 1 1 1 skipped 0 failed 0;  1 1 1 1; starts r0 o0 (0 2) {}; left o0 ",
    "round 1 of 2; turn of  1 None for 2;  r0 o0;  r1 in 0 none of 1, 0 discarded, 0 over None, 0 not beyond, keeps free false | 2 1 1 skipped 0 failed 0;  1 2 1 1; starts r0 o0 {}; left o0 n 2",
    "round 1 of 2; turn of  1 None for 4;  r0.1 o0 not o1/1 by InputOrder;  r0.2 o1 | 2 2 1 skipped 0 failed 0;  1 2 2 2; starts r0 o0 {}, r0 o1 {}; left o0 n 1, o1 n 2",
    "round 1 of 2; turn of  1 None for 2;  r1.1 o0 not o1/1 by InputOrder;  r1.2 o1 | 2 2 1 skipped 0 failed 0;  1 2 2 2; starts r1 o0 {}, r1 o1 {}; left o0 n 1, o1 n 2",
    "round 1 of 2; turn of  1 None for 3;  r1 o0 not o1/1 by InputOrder;  r2 o1 | 2 2 1 skipped 0 failed 0;  1 3 2 2; starts r1 o0 {}, r2 o1 {}; left o0 n 1, o1 n 2",
    "round 1 of 1; turn of  1 None for 1;  r0 o1 | 1 1 1 skipped 0 failed 0;  1 1 1 1; starts r0 o1 {}; left o1 n 1",
    "round 1 of 5; turn of  1 None for 1;  r0 o2 not o1/1 by Component(1, [Integer(-4), Integer(-5)]) | 1 1 1 skipped 0 failed 0;  1 1 1 1; starts r0 o2 {}; left o2 n 2 A 4",
    "round 1 of 3; turn of  1 None for 3;  r0 o0 not o1/1 by InputOrder;  r1 o1;  r2 in 0 none of 3, 1 discarded, 0 over None, 0 not beyond, keeps free false | 3 2 1 skipped 0 failed 0;  1 3 2 2; ties 1; starts r0 o0 {}, r1 o1 {}; left o0 n 1 A 3, o1 n 1 A 3",
    "round 1 of 2; turn of  1 None for 2;  r0 in 0 none of 2, 2 discarded, 0 over None, 0 not beyond, keeps free false;  r1 in 0 skipped with 1 | 1 0 1 skipped 1 failed 0;  1 2 0 0; unordered [0]",
    "round 1 of 2; turn of  1 None for 1 | component 1 of `docking` is an integer for some ads, but a string for others",
    "round 1 of 2; turn of  1 None for 1 | component 2 of `docking` is an integer for some ads, but a string for others",
    "round 1 of 3; turn of  1 None for 2;  r0 o2 not o1/1 by Component(0, [Integer(3), Integer(2)]);  r1 in 1 none of 3, 2 discarded, 0 over None, 0 not beyond, keeps free false | 2 1 2 skipped 0 failed 0;  1 2 1 1; starts r0 o2 {}; left o2 n 3",
    "round 1 of 2; turn of  1 None for 2;  r0 o0 not o1/1 by InputOrder;  r1 o1 | 2 2 2 skipped 0 failed 0;  1 2 2 2; starts r0 o0 {}, r1 o1 {}; left o0 n 1, o1 n 2",
    "round 1 of 1; turn of  1 None for 2;  r1 o0 | 1 1 1 skipped 0 failed 0;  1 2 1 1; starts r1 o0 {}; left o0 n 1",
    "round 1 of 5; turn of a 1000 Some(2) for 3; a r0 o0 not o1/1 by InputOrder; a r1 o1 not o2/1 by InputOrder; turn of b 1000 Some(2) for 3; b r3 o2 not o3/1 by InputOrder; b r4 o3 not o4/1 by InputOrder; round 2 of 1; turn of a 1000 Some(1) for 1; a r2 o4 | 5 5 1 skipped 0 failed 0; a 1000 3 3 3; b 1000 3 2 2; starts r0 o0 {}, r1 o1 {}, r3 o2 {}, r4 o3 {}, r2 o4 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1, o4 n 1; of r0 0 r1 0 r2 0 r3 1 r4 1 r5 1",
    "round 1 of 5; turn of a 4 Some(4) for 3; a r0 o0 not o1/1 by InputOrder; a r1 o1 not o2/1 by InputOrder; a r2 o2 not o3/1 by InputOrder; turn of b 1000 Some(1) for 3; b r3 o3 not o4/1 by InputOrder; round 2 of 1; turn of b 1000 Some(1) for 2; b r4 o4 | 5 5 1 skipped 0 failed 0; a 4 3 3 3; b 1000 3 2 2; starts r0 o0 {}, r1 o1 {}, r2 o2 {}, r3 o3 {}, r4 o4 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1, o4 n 1; of r0 0 r1 0 r2 0 r3 1 r4 1 r5 1",
    "round 1 of 3; turn of a 1 Some(1) for 1; a r1 o0 not o1/1 by InputOrder; turn of b 1 Some(1) for 1; b r2 o1 not o2/1 by InputOrder; turn of known x 20 Some(1) for 1; known x r0 o2 | 3 3 1 skipped 0 failed 0; a 1 1 1 1; b 1 1 1 1; known x 20 1 1 1; undefined 1000 1 0 0; starts r1 o0 {}, r2 o1 {}, r0 o2 {}; left o0 n 1, o1 n 1, o2 n 1; of r0 2 r1 0 r2 1 r3 3",
    "round 1 of 4; turn of a 1000 Some(2) for 4; a r0.1 o0 not o1/1 by InputOrder; a r0.2 o1 not o2/1 by InputOrder; turn of b 1000 Some(2) for 1; b r1 o2 not o3/1 by InputOrder; round 2 of 1; turn of a 1000 Some(1) for 2; a r0.3 o3 | 4 4 1 skipped 0 failed 0; a 1000 1 3 3; b 1000 1 1 1; starts r0 o0 {}, r0 o1 {}, r1 o2 {}, r0 o3 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1; of r0 0 r1 1",
    "round 1 of 2; turn of a 1000 Some(1) for 2; a r0 o0 not o1/1 by InputOrder; turn of b 1000 Some(1) for 1; b r2 o1 | 2 2 2 skipped 0 failed 0; a 1000 2 1 1; b 1000 1 1 1; starts r0 o0 {}, r2 o1 {}; left o0 n 1, o1 n 1; of r0 0 r1 0 r2 1",
    "round 1 of 1; turn of a 1000 Some(1) for 2; a r0 in 0 none of 0, 0 discarded, 0 over None, 0 not beyond, keeps free false; a r1 in 0 skipped with 1 | 1 0 1 skipped 1 failed 0; a 1000 2 0 0; of r0 0 r1 0",
    " | 0 0 0 skipped 0 failed 0",
    " | 0 0 1 skipped 0 failed 0; a 1000 1 0 0; of r0 0",
];

#[test]
fn requests_get_their_best_offers() {
    let [a, b] = ["User = \"a\"", "User = \"b\""];
    let rows = [
        ("order: [ 1 ]", &["Rank = TARGET.n"][..], &["n = 1", "n = 3", "n = 2"][..]),
        ("order: [ 1 ]", &["x = 1", "x = 1"], &["Rank = 1", "Rank = 2", "Rank = 2"]),
        ("order: [ 1 ]", &["x = 1"], &["Rank = 2", "Rank = TARGET.x + 1"]),
        ("order: [ 1 ]", &["Requirements = TARGET.n > 1", "Requirements = TARGET.n > 1"], &["n = 2", "n = 1"]),
        ("order: [ 1 ]", &["ResourceRequestCount = 3; x = 1", "x = 1"], &["n = 1", "n = 2"]),
        ("order: [ 1 ]", &["ResourceRequestCount = 0", "ResourceRequestCount = 2"], &["n = 1", "n = 2"]),
        ("order: [ -P ]", &["P = 3", "P = 1", "P = 2"], &["n = 1", "n = 2"]),
        ("roots: Job", &["Job = true", "x = 1"], &["Job = true", "n = 1"]),
        (
            "docking: [ label.n, -label.A ]",
            &["x = 1"],
            &["n = 1; A = 3", "n = 2; A = 5", "n = 2; A = 4", "n = 3", "A = 1"],
        ),
        ("docking: [ label.n, -label.A ]", &["x = 1", "x = 1", "x = 1"], &["n = 1; A = 3", "n = 1; A = 3", "n = 1"]),
        ("docking: [ label.missing ]", &["x = 1", "x = 1"], &["n = 1", "n = 2"]),
        ("docking: [ label.n ]", &["x = 1"], &["n = 1", "n = \"s\""]),
        ("docking: [ 0, label.n ]", &["x = 1"], &["n = 1", "n = \"s\""]),
        ("docking: [ label.n ]\nstart: SLOT.n > JOB.x", &["x = 1", "x = 2"], &["n = 1", "n = 2", "n = 3"]),
        ("start: SLOT.n > JOB.x", &["x = 1", "x = undefined"], &["n = 1", "n = 2"]),
        ("order: [ User ]", &[a, b], &["n = 1"]),
        ("share: { by: User }", &[a, a, a, b, b, b], &["n = 1"; 5]),
        ("share: { by: User, priorities: { a: 4 } }", &[a, a, a, b, b, b], &["n = 1"; 5]),
        ("share: { by: User, priorities: { a: 1, b: 1 } }", &["User = \"known x\"", a, b, "x = 1"], &["n = 1"; 3]),
        ("share: { by: User }", &["User = \"a\"; ResourceRequestCount = 4", b], &["n = 1"; 4]),
        ("share: { by: User }", &[a, "User = \"a\"; Requirements = false", b], &["n = 1"; 2]),
        (
            "share: { by: User }",
            &["User = \"a\"; Requirements = false", "User = \"a\"; Requirements = false; y = 1"],
            &["n = 1"],
        ),
        ("share: { by: User }", &[], &["n = 1"]),
        ("share: { by: User }", &[a], &[]),
    ];
    assert_eq!(rows.len(), BEST_OFFERS.len());
    for ((policy, requests, offers), expected) in rows.into_iter().zip(BEST_OFFERS) {
        assert_eq!(whole(policy, requests, offers), expected, "{policy} {requests:?} {offers:?}");
    }
}

/// More offers than are ranked at first.
#[test]
fn many_offers_are_ranked_as_they_are_needed() {
    let offers: Vec<String> = (0..150).map(|at| format!("n = {at}; A = {}; Rank = {}", at * 37 % 50, at % 3)).collect();
    let offers: Vec<&str> = offers.iter().map(String::as_str).collect();
    let requests = ["Rank = TARGET.A; Requirements = TARGET.n >= 10 && TARGET.n < 140"; 135];
    let divided = "residual: { when: n % 10 is 3, set: { n: n + 4 }, while: n < 120 }";
    for (policy, expected) in [
        (
            "order: [ 1 ]",
            "130 437179  r100 o103 (11 1) not o80/1 by RequestRank([11.0, 10.0])  r134 in 0 skipped with 1",
        ),
        (
            divided,
            "135 484528  r100 o72 (14 0) not o49/1 by RequestRank([14.0, 13.0])  r134 o23 (1 2) {n -4} not o73/1 by OfferRank([2.0, 1.0])",
        ),
        (
            "docking: [ label.A % 7, -label.n ]",
            "130 608419  r100 o84 (8 0) not o89/1 by Component(1, [Integer(-84), Integer(-89)])  r134 in 0 skipped with 1",
        ),
    ] {
        let ads = [ads(Dialect::Condor, &requests), ads(Dialect::Condor, &offers)];
        let [quick, slow] = [Accelerations::ALL, Accelerations::NONE]
            .map(|accelerations| cycle(Dialect::Condor, policy, accelerations, [&ads[0], &ads[1]], usize::MAX));
        let got = |told: &str| {
            told.split(" | ")
                .next()
                .unwrap_or_default()
                .split("; ")
                .filter(|event| event.starts_with(" r"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        // Without autoclusters, a request is a cluster by itself.
        let is_grant = |event: &&String| !event.contains(" in ");
        let grants: Vec<String> = got(&quick).iter().filter(is_grant).cloned().collect();
        assert_eq!(got(&slow).iter().filter(is_grant).cloned().collect::<Vec<_>>(), grants, "{policy}");
        let places: usize = grants.iter().enumerate().map(|(place, text)| (place + 1) * text.len()).sum();
        let last = got(&quick).last().cloned().unwrap_or_default();
        assert_eq!(format!("{} {places} {} {last}", grants.len(), grants[100]), expected, "{policy}");
    }
}

#[test]
fn concurrency_limits_are_those_of_requests_or_of_pairs() {
    let limits = "limits: { needs: L, in-use: U, max: { sw: 2, t: 1 }, default: 9 }";
    for (policy, requests, offers, expected) in [
        (
            limits,
            &["L = \"sw\""; 3][..],
            &["n = 1"; 4][..],
            "round 1 of 4; turn of  1 None for 3;  r0 o0 not o1/1 by InputOrder;  r1 o1 not o2/1 by InputOrder;  r2 in 0 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1, keeps free true; round 2 of 2; turn of  1 None for 1;  r2 in 0 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1, keeps free true | 4 2 1 skipped 0 failed 0;  1 3 2 2; starts r0 o0 {}, r1 o1 {}; left o0 n 1, o1 n 1; limits r2 waits for concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1, wait, or raise the limit",
        ),
        (
            limits,
            &["L = \"sw:2\"", "L = \"sw\"", "x = 1"],
            &["n = 1"; 4],
            "round 1 of 4; turn of  1 None for 3;  r0 o0 not o1/1 by InputOrder;  r1 in 1 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1, keeps free true;  r2 o1 not o2/1 by InputOrder; round 2 of 2; turn of  1 None for 1;  r1 in 1 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1, keeps free true | 4 2 3 skipped 0 failed 0;  1 3 2 2; starts r0 o0 {}, r2 o1 {}; left o0 n 1, o1 n 1; limits r1 waits for concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1, wait, or raise the limit",
        ),
        (
            limits,
            &["L = \"sw:5\"", "L = \"sw:5\"; y = 1"],
            &["n = 1"],
            "round 1 of 1; turn of  1 None for 2;  r0 in 0 none of 1, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw, which allows 2; the request needs 5, keeps free true;  r1 in 0 none of 1, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw, which allows 2; the request needs 5, keeps free true | 2 0 1 skipped 0 failed 0;  1 2 0 0; limits r0 never starts: concurrency limit sw, which allows 2; the request needs 5, raise the limit, r1 never starts: concurrency limit sw, which allows 2; the request needs 5, raise the limit",
        ),
        (
            limits,
            &["L = \"t\"", "L = \"t\""],
            &["U = \"sw\"; RemoteUser = \"x\"", "n = 1"],
            "round 1 of 2; turn of  1 None for 2;  r0 o0 of x not o1/1 by InputOrder;  r1 in 0 none of 2, 0 discarded, 0 over None, 0 not beyond, concurrency limit t: 1 of 1 in use, 1 of them by requests served before; the request needs 1, keeps free true; round 2 of 1; turn of  1 None for 1;  r1 in 0 none of 2, 0 discarded, 0 over None, 0 not beyond, concurrency limit t: 1 of 1 in use, 1 of them by requests served before; the request needs 1, keeps free true | 3 1 1 skipped 0 failed 0;  1 2 1 1; preempting 1; limits r1 waits for concurrency limit t: 1 of 1 in use, 1 of them by requests served before; the request needs 1, wait, or raise the limit",
        ),
        (
            limits,
            &["L = \"sw\"; Requirements = TARGET.n > 5", "L = \"sw\""],
            &["U = \"sw\"", "U = \"SW\"", "n = 1"],
            "round 1 of 3; turn of  1 None for 2;  r0 in 0 none of 0, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 2 of 2 in use; the request needs 1, keeps free false;  r1 in 1 none of 3, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 2 of 2 in use; the request needs 1, keeps free true | 2 0 2 skipped 0 failed 0;  1 2 0 0; limits r0 waits for concurrency limit sw: 2 of 2 in use; the request needs 1, wait, or raise the limit, r1 waits for concurrency limit sw: 2 of 2 in use; the request needs 1, wait, or raise the limit",
        ),
        (
            limits,
            &["L = \"sw\"", "L = 5", "L = \"\""],
            &["U = \"sw, sw\"", "n = 1", "n = 2"],
            "round 1 of 3; turn of  1 None for 3;  r0 in 0 none of 3, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 2 of 2 in use; the request needs 1, keeps free true;  r1 o0 not o1/1 by InputOrder;  r2 o1 not o2/1 by InputOrder; round 2 of 1; turn of  1 None for 1;  r0 o2 | 4 3 3 skipped 0 failed 0;  1 3 3 3; starts r1 o0 {}, r2 o1 {}, r0 o2 {}; left o0 , o1 n 1, o2 n 2",
        ),
        (
            limits,
            &["L = TARGET.N", "L = TARGET.N", "L = TARGET.N"],
            &["N = \"t\"", "N = \"t\"", "N = \"sw:2\"", "N = \"sw\""],
            "round 1 of 4; turn of  1 None for 3;  r0 o0 not o1/1 by InputOrder;  r1 o2 not o3/1 by InputOrder;  r2 in 0 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit t: 1 of 1 in use, 1 of them by requests served before; the request needs 1, keeps free true; round 2 of 2; turn of  1 None for 1;  r2 in 0 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit t: 1 of 1 in use, 1 of them by requests served before; the request needs 1, keeps free true | 4 2 1 skipped 0 failed 0;  1 3 2 2; starts r0 o0 {}, r1 o2 {}; left o0 , o2 ; limits r2 waits for concurrency limit t: 1 of 1 in use, 1 of them by requests served before; the request needs 1, wait, or raise the limit",
        ),
        (
            limits,
            &["L = \"sw:2\"; Requirements = TARGET.n == 1", "L = \"sw\"; Requirements = TARGET.n == 1"],
            &["n = 1", "n = 2"],
            "round 1 of 2; turn of  1 None for 2;  r0 o0;  r1 in 1 none of 1, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1, keeps free false; round 2 of 1; turn of  1 None for 1;  r1 in 1 none of 1, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1, keeps free false | 3 1 2 skipped 0 failed 0;  1 2 1 1; starts r0 o0 {}; left o0 n 1; limits r1 waits for concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1 beside others, wait, or raise the limit",
        ),
        (
            "limits: { in-use: U, max: { sw: 0 } }",
            &["L = \"sw\""],
            &["U = \"sw\""],
            "round 1 of 1; turn of  1 None for 1;  r0 o0 | 1 1 1 skipped 0 failed 0;  1 1 1 1; starts r0 o0 {}; left o0 ",
        ),
        (
            "share: { by: User }\nlimits: { needs: L, max: { sw: 1 } }",
            &["User = \"a\"; L = \"sw\"", "User = \"b\"; L = \"sw\"", "User = \"b\""],
            &["n = 1"; 3],
            "round 1 of 3; turn of a 1000 Some(1) for 1; a r0 o0 not o1/1 by InputOrder; turn of b 1000 Some(1) for 2; b r1 in 0 none of 3, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 1 of 1 in use, 1 of them by requests served before; the request needs 1, keeps free true; b r2 o1 not o2/1 by InputOrder; round 2 of 1; turn of b 1000 Some(1) for 1; b r1 in 0 none of 3, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 1 of 1 in use, 1 of them by requests served before; the request needs 1, keeps free true | 4 2 2 skipped 0 failed 0; a 1000 1 1 1; b 1000 2 1 1; starts r0 o0 {}, r2 o1 {}; left o0 n 1, o1 n 1; limits r1 waits for concurrency limit sw: 1 of 1 in use, 1 of them by requests served before; the request needs 1, wait, or raise the limit; of r0 0 r1 1 r2 1",
        ),
    ] {
        assert_eq!(whole(policy, requests, offers), expected, "{policy} {requests:?} {offers:?}");
    }
}

/// An observer can end a cycle after each event.
#[test]
fn a_cycle_ends_when_its_observer_says_so() {
    let policy = "share: { by: User }\nlimits: { needs: L, max: { sw: 1 } }";
    let requests = ads(
        Dialect::Condor,
        &["User = \"a\"", "User = \"a\"; L = \"sw:2\"", "User = \"a\"; L = \"sw:2\"", "User = \"b\""],
    );
    let offers = ads(Dialect::Condor, &["n = 1"; 4]);
    for (most, expected) in [
        (1, "round 1 of 4 | 0 0 2 skipped 0 failed 0; a 1000 3 0 0; b 1000 1 0 0; of r0 0 r1 0 r2 0 r3 1"),
        (
            2,
            "round 1 of 4; turn of a 1000 Some(2) for 3 | 0 0 2 skipped 0 failed 0; a 1000 3 0 0; b 1000 1 0 0; of r0 0 r1 0 r2 0 r3 1",
        ),
        (
            3,
            "round 1 of 4; turn of a 1000 Some(2) for 3; a r0 o0 not o1/1 by InputOrder | 1 1 2 skipped 0 failed 0; a 1000 3 1 1; b 1000 1 0 0; starts r0 o0 {}; left o0 n 1; of r0 0 r1 0 r2 0 r3 1",
        ),
        (
            4,
            "round 1 of 4; turn of a 1000 Some(2) for 3; a r0 o0 not o1/1 by InputOrder; a r1 in 1 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw, which allows 1; the request needs 2, keeps free true | 2 1 2 skipped 0 failed 0; a 1000 3 1 1; b 1000 1 0 0; starts r0 o0 {}; left o0 n 1; limits r1 never starts: concurrency limit sw, which allows 1; the request needs 2, raise the limit, r2 never starts: concurrency limit sw, which allows 1; the request needs 2, raise the limit; of r0 0 r1 0 r2 0 r3 1",
        ),
        (
            5,
            "round 1 of 4; turn of a 1000 Some(2) for 3; a r0 o0 not o1/1 by InputOrder; a r1 in 1 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw, which allows 1; the request needs 2, keeps free true; a r2 in 1 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw, which allows 1; the request needs 2, keeps free true | 3 1 2 skipped 0 failed 0; a 1000 3 1 1; b 1000 1 0 0; starts r0 o0 {}; left o0 n 1; limits r1 never starts: concurrency limit sw, which allows 1; the request needs 2, raise the limit, r2 never starts: concurrency limit sw, which allows 1; the request needs 2, raise the limit; of r0 0 r1 0 r2 0 r3 1",
        ),
        (
            6,
            "round 1 of 4; turn of a 1000 Some(2) for 3; a r0 o0 not o1/1 by InputOrder; a r1 in 1 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw, which allows 1; the request needs 2, keeps free true; a r2 in 1 none of 4, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw, which allows 1; the request needs 2, keeps free true; turn of b 1000 Some(2) for 1 | 3 1 2 skipped 0 failed 0; a 1000 3 1 1; b 1000 1 0 0; starts r0 o0 {}; left o0 n 1; limits r1 never starts: concurrency limit sw, which allows 1; the request needs 2, raise the limit, r2 never starts: concurrency limit sw, which allows 1; the request needs 2, raise the limit; of r0 0 r1 0 r2 0 r3 1",
        ),
    ] {
        let found = cycle(Dialect::Condor, policy, Accelerations::ALL, [&requests, &offers], most);
        assert_eq!(found, expected, "{most}");
    }
}
