//! Cycles with gangs.

use super::{Dialect, whole_in};

fn gangs(policy: &str, requests: &[&str], offers: &[&str]) -> String {
    whole_in(Dialect::Classad, policy, requests, offers)
}

const TWO: &str = "User = \"a\"; Ports = { [ Label = cpu; Constraint = cpu.T is 1; Rank = cpu.n ], [ Label = key; Constraint = key.T is 2 ] }";
const OPTIONAL: &str = "User = \"a\"; Ports = { [ Label = cpu; Constraint = cpu.T is 1 ], [ Min = 0; Ports = { [ Label = key; Constraint = key.T is 2 ] } ] }";
const SERVICE: &str =
    "T = 1; Ports = { [ Label = user; Constraint = true ], [ Label = disk; Constraint = disk.T is 3; Rank = disk.n ] }";

/// What is told of each row of `requests_with_ports_get_gangs`.
const GANGS: [&str; 22] = [
    "round 1 of 3; turn of  1 None for 2;  r0 o1 (2 0) + o2 at cpu key not o0/1 o2/1 by RequestRank([2.0, 1.0]) at cpu;  r1 o0 | 2 2 2 skipped 0 failed 0;  1 2 2 3; starts r0 o1 (2 0) + o2 at cpu key not o0/1 o2/1 by RequestRank([2.0, 1.0]) at cpu, r1 o0 {}; left o0 n 1",
    "round 1 of 3; turn of  1 None for 2;  r0 o1 (2 0) + o2 at cpu key not o0/1 o2/1 by RequestRank([2.0, 1.0]) at cpu;  r1 no gang | 2 1 1 skipped 0 failed 0;  1 2 1 2; starts r0 o1 (2 0) + o2 at cpu key not o0/1 o2/1 by RequestRank([2.0, 1.0]) at cpu",
    "round 1 of 3; turn of  1 None for 2;  r0 o0 + o2 at cpu key not o1/1 o2/1 by InputOrder;  r1 o1 at cpu | 2 2 1 skipped 0 failed 0;  1 2 2 3; starts r0 o0 + o2 at cpu key not o1/1 o2/1 by InputOrder, r1 o1 at cpu",
    "round 1 of 5; turn of  1 None for 2;  r0 o0 + o4 (5 0) at other other.disk not o0/1 o3/1 by RequestRank([5.0, 1.0]) at other.disk;  r1 o1 (2 0) + o2 at cpu key | 2 2 2 skipped 0 failed 0;  1 2 2 4; starts r0 o0 + o4 (5 0) at other other.disk not o0/1 o3/1 by RequestRank([5.0, 1.0]) at other.disk, r1 o1 (2 0) + o2 at cpu key",
    "round 1 of 2; turn of  1 None for 2;  r0 o0 + o1 at other other.disk | 1 1 1 skipped 0 failed 0;  1 2 1 2; starts r0 o0 + o1 at other other.disk",
    "round 1 of 2; turn of  1 None for 2;  r0 o1;  r1 in 0 none of 1, 0 discarded, 0 over None, 0 not beyond, keeps free false | 2 1 1 skipped 0 failed 0;  1 2 1 1; starts r0 o1 {}; left o1 ",
    "round 1 of 1; turn of  1 None for 2;  r0 o0 | 1 1 2 skipped 0 failed 0;  1 2 1 1; starts r0 o0 {}; left o0 ",
    "round 1 of 2; turn of  1 None for 1;  r0 o1 | 1 1 1 skipped 0 failed 0;  1 1 1 1; starts r0 o1 {}; left o1 ",
    "round 1 of 2; turn of  1 None for 5;  r0: a Label must be a name or a string;  r1: a Label must be a name or a string;  r2 o0 | 1 1 2 skipped 0 failed 0;  1 3 1 1; bad ports 1; starts r2 o0 {}; left o0 ",
    "spin 1 of 2; turn of a 1000 to 2 beside 0 for 3; a r0: a Label must be a name or a string; a r1 o0 + o1 at cpu key weighs 2 | 1 1 2 skipped 0 failed 0; a 1000 3 1 2; a uses 2; without weight 2; starts r1 o0 + o1 at cpu key; limits r2 waits: a has used 2 of its share of 2, by its priority 1,000, 2 of it by requests served before beside others, wait; of r0 0 r1 0 r2 0",
    "round 1 of 2; turn of  1 None for 1; r0 rank Some(0) other List;  r0 o1 (0 2) at c not o0/1 by OfferRank([2.0, 0.0]) at c | 1 1 1 skipped 0 failed 0;  1 1 1 1; starts r0 o1 (0 2) at c not o0/1 by OfferRank([2.0, 0.0]) at c",
    "round 1 of 4; turn of  1 None for 1;  r0 o1 (2 0) + o2 at cpu key not o0/1 o2/1 by Component(0, [Integer(2), Integer(1)]) at cpu | 1 1 1 skipped 0 failed 0;  1 1 1 2; starts r0 o1 (2 0) + o2 at cpu key not o0/1 o2/1 by Component(0, [Integer(2), Integer(1)]) at cpu",
    "round 1 of 3; turn of  1 None for 1 | component 1 of `docking` is an integer for some ads, but a string for others",
    "round 1 of 1; turn of  1 None for 1;  r0 o1 at c | 1 1 1 skipped 0 failed 0;  1 1 1 1; starts r0 o1 at c",
    "round 1 of 6; turn of a 1000 Some(3) for 2; a r0 o1 (2 0) + o2 at cpu key not o1/1 o3/1 by InputOrder; a r1 waits: 2 of weight 0, 1 offers left; turn of b 1000 Some(3) for 2; b r2 o0 not o4/1 by InputOrder; b r3 o4 not o5/1 by InputOrder; round 2 of 2; turn of a 1000 Some(2) for 1; a r1 o5 + o3 at cpu key | 4 4 2 skipped 0 failed 0; a 1000 2 2 4; b 1000 2 2 2; starts r0 o1 (2 0) + o2 at cpu key not o1/1 o3/1 by InputOrder, r2 o0 {}, r3 o4 {}, r1 o5 + o3 at cpu key; left o0 n 1, o4 ; of r0 0 r1 0 r2 1 r3 1",
    "round 1 of 5; turn of b 1 Some(3) for 1; b r2 o0 not o1/1 by InputOrder; turn of a 3 Some(1) for 2; a r0 o1 (2 0) + o2 at cpu key not o1/1 o3/1 by InputOrder; round 2 of 2; turn of a 3 Some(2) for 1; a r1 o4 + o3 at cpu key | 3 3 2 skipped 0 failed 0; b 1 1 1 1; a 3 2 2 4; starts r2 o0 {}, r0 o1 (2 0) + o2 at cpu key not o1/1 o3/1 by InputOrder, r1 o4 + o3 at cpu key; left o0 n 1; of r0 1 r1 1 r2 0",
    "spin 1 of 7; turn of a 1000 to 3.5 beside 0 for 2; a r0 o1 (2 0) + o2 at cpu key not o1/1 o3/1 by InputOrder weighs 2; a r1 waits: 2 of weight 3, weight 1.5 left; turn of b 1000 to 3.5 beside 0 for 1; b r2 o0 not o4/1 by InputOrder weighs 2; spin 2 of 5; turn of a 1000 to 5 beside 2 for 1; a r1 o4 + o3 at cpu key weighs 3 | 3 3 2 skipped 0 failed 0; a 1000 2 2 4; b 1000 1 1 1; a uses 5; b uses 2; tied {\"a\", \"b\"}; starts r0 o1 (2 0) + o2 at cpu key not o1/1 o3/1 by InputOrder, r2 o0 {}, r1 o4 + o3 at cpu key; left o0 n 1; of r0 0 r1 0 r2 1",
    "spin 1 of 4; turn of a 1000 to 3 beside 0 for 1; a r0 o0 (1 0) of b + o1 at cpu key not o2/1 o1/1 by RequestRank([1.0, 0.0]) at cpu weighs 3; turn of b 1000 to 1 beside 0 for 1; b r1 o2 weighs 3 | 2 2 2 skipped 0 failed 0; a 1000 1 1 2; b 1000 1 1 1; a uses 3; b uses 3; starts r1 o2 {}; preempting 1; left o2 ; of r0 0 r1 1",
    "round 1 of 4; turn of  1 None for 2;  r0 o0 + o2 at cpu key not o0/1 o3/1 by InputOrder;  r1 in 0 none of 2, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 1 of 1 in use, 1 of them by requests served before; the request needs 1, keeps free true; round 2 of 2; turn of  1 None for 1;  r1 in 0 none of 2, 0 discarded, 0 over None, 0 not beyond, concurrency limit sw: 1 of 1 in use, 1 of them by requests served before; the request needs 1, keeps free true | 1 1 1 skipped 0 failed 0;  1 2 1 2; starts r0 o0 + o2 at cpu key not o0/1 o3/1 by InputOrder; limits r1 waits for concurrency limit sw: 1 of 1 in use, 1 of them by requests served before; the request needs 1, wait, or raise the limit",
    "round 1 of 3; turn of  1 None for 2;  r0 o0 (2 0) {n 1} + o1 {n 1} at cpu key not o0/1 o2/1 by InputOrder;  r1 o0/2 (1 0) {n 1} + o1/2 {n 1} at cpu key not o0/2 o2/1 by InputOrder | 2 2 1 skipped 0 failed 0;  1 2 2 4; rests o1 n 1; starts r0 o0 (2 0) {n 1} + o1 {n 1} at cpu key not o0/1 o2/1 by InputOrder, r1 o0/2 (1 0) {n 1} + o1/2 {n 1} at cpu key not o0/2 o2/1 by InputOrder",
    "round 1 of 4; turn of  1 None for 3;  r0 o0 {n 1} + o1 {n -2} at other other.disk not o0/1 o2/1 by InputOrder;  r1 o3 {n 1} at other;  r2 no gang | 3 2 1 skipped 0 failed 0;  1 3 2 3; starts r0 o0 {n 1} + o1 {n -2} at other other.disk not o0/1 o2/1 by InputOrder, r1 o3 {n 1} at other",
    "spin 1 of 9; turn of a 1000 to 9 beside 0 for 2; a r0 o3 (3 0) {n 1} + o1 {n 1} at cpu key not o3/1 o2/1 by InputOrder weighs 2; a r1 o0 (2 0) {n 1} + o1/2 {n 1} at cpu key not o0/1 o2/1 by InputOrder weighs 4 | 2 2 1 skipped 0 failed 0; a 1000 2 2 4; a uses 6; rests o3 n 2; starts r0 o3 (3 0) {n 1} + o1 {n 1} at cpu key not o3/1 o2/1 by InputOrder, r1 o0 (2 0) {n 1} + o1/2 {n 1} at cpu key not o0/1 o2/1 by InputOrder; of r0 0 r1 0",
];

#[test]
fn requests_with_ports_get_gangs() {
    let single = "User = \"b\"; Constraint = other.T is 1";
    let rows = [
        ("order: [ 1 ]", &[TWO, single][..], &["T = 1; n = 1", "T = 1; n = 2", "T = 2"][..]),
        ("order: [ 1 ]", &[TWO, TWO], &["T = 1; n = 1", "T = 1; n = 2", "T = 2"]),
        ("order: [ 1 ]", &[OPTIONAL, OPTIONAL], &["T = 1; n = 1", "T = 1; n = 2", "T = 2"]),
        ("order: [ 1 ]", &[single, TWO], &[SERVICE, "T = 1; n = 2", "T = 2", "T = 3; n = 1", "T = 3; n = 5"]),
        ("order: [ 1 ]", &[single, single], &[SERVICE, "T = 3"]),
        ("order: [ 1 ]", &["User = \"b\"; Constraint = other.T is 3"; 2], &[SERVICE, "T = 3"]),
        ("order: [ 1 ]", &["User = \"a\"; Ports = 5", single], &["T = 1"]),
        ("order: [ 1 ]", &[single], &["Ports = 5", "T = 1"]),
        (
            "order: [ 1 ]",
            &[
                "User = \"a\"; Ports = { [ Label = 5 ] }",
                "User = \"a\"; Ports = { [ Label = 5 ] }; ResourceRequestCount = 3",
                single,
            ],
            &["T = 1", "Ports = { [ Label = 5 ] }"],
        ),
        ("share: { by: User, weight: W }", &["User = \"a\"; Ports = { [ Label = 5 ] }", TWO, TWO], &["T = 1", "T = 2"]),
        (
            "order: [ 1 ]",
            &["User = \"a\"; Ports = { [ Label = c; Constraint = true; Rank = \"x\" ] }"],
            &["T = 1; Rank = { 1 }", "T = 2; Rank = 2"],
        ),
        ("docking: [ label.n ]", &[TWO], &["T = 1; n = 1", "T = 1; n = 2", "T = 2; n = 0", "T = 2"]),
        ("docking: [ label.n ]", &[TWO], &["T = 1; n = 1", "T = 1; n = \"s\"", "T = 2; n = 0"]),
        (
            "roots: Go",
            &["User = \"a\"; Go = true; Ports = { [ Label = c; Constraint = true ] }"],
            &["T = 1; Go = true", "T = 2"],
        ),
        (
            "share: { by: User }",
            &[TWO, TWO, single, single],
            &["T = 1; n = 1", "T = 1; n = 2", "T = 2", "T = 2", "T = 1", "T = 1"],
        ),
        (
            "share: { by: User, priorities: { a: 3, b: 1 } }",
            &[TWO, TWO, single],
            &["T = 1; n = 1", "T = 1; n = 2", "T = 2", "T = 2", "T = 1"],
        ),
        (
            "share: { by: User, weight: W, in-use-by: RemoteUser }",
            &[TWO, TWO, single],
            &["T = 1; n = 1; W = 2", "T = 1; n = 2; W = 1", "T = 2; W = 1", "T = 2; W = 1", "T = 1; W = 2"],
        ),
        (
            "share: { by: User, weight: W, in-use-by: RemoteUser }",
            &[TWO, single],
            &["T = 1; n = 1; W = 2; RemoteUser = \"b\"", "T = 2; W = 1", "T = 1; W = 3"],
        ),
        (
            "limits: { needs: L, max: { sw: 1 } }",
            &[&*format!("L = \"sw\"; {TWO}"), &*format!("L = \"sw\"; {TWO}")],
            &["T = 1", "T = 1", "T = 2", "T = 2"],
        ),
        (
            "residual: { set: { n: n - 1 }, while: n > 0 }",
            &[TWO, TWO],
            &["T = 1; n = 2", "T = 2; n = 3", "T = 2; n = 1"],
        ),
        (
            "residual: { when: n > 1, set: { n: n - 1, Ports: R }, while: n > 0 }",
            &[single, single, single],
            &[&*format!("n = 3; {SERVICE}"), "T = 3", "T = 3", "T = 1; n = 2"],
        ),
        (
            "share: { by: User, weight: n, in-use-by: RemoteUser }\nresidual: { set: { n: n - 1 }, while: n > 1 }",
            &[TWO, TWO],
            &["T = 1; n = 2", "T = 2; n = 3", "T = 2; n = 1", "T = 1; n = 3"],
        ),
    ];
    assert_eq!(rows.len(), GANGS.len());
    for ((policy, requests, offers), expected) in rows.into_iter().zip(GANGS) {
        assert_eq!(gangs(policy, requests, offers), expected, "{policy} {requests:?} {offers:?}");
    }
}
