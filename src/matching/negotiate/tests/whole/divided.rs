//! Cycles in which offers are divided, and what starts after them.

use super::whole;

#[test]
fn remainders_are_offered_again() {
    let cpus = "set: { Cpus: Cpus - TARGET.C }, while: Cpus > 0";
    let better = "docking: [ label.Cpus ]\n";
    for (policy, requests, offers, expected) in [
        (
            format!("residual: {{ {cpus} }}"),
            &["C = 1"; 3][..],
            &["Cpus = 2", "Cpus = 1"][..],
            "round 1 of 2; turn of  1 None for 3;  r0 o0 {Cpus 1} not o1/1 by InputOrder;  r1 o0/2 {Cpus 1} not o1/1 by InputOrder;  r2 o1 {Cpus 1} | 3 3 1 skipped 0 failed 0;  1 3 3 3; rests o0 Cpus 0, o1 Cpus 0; starts r0 o0 {Cpus 1} not o1/1 by InputOrder, r1 o0/2 {Cpus 1} not o1/1 by InputOrder, r2 o1 {Cpus 1}",
        ),
        (
            format!("residual: {{ {cpus} }}"),
            &["C = 1; Rank = TARGET.Cpus"; 4],
            &["Cpus = 2", "Cpus = 3"],
            "round 1 of 2; turn of  1 None for 4;  r0 o1 (3 0) {Cpus 1} not o0/1 by RequestRank([3.0, 2.0]);  r1 o0 (2 0) {Cpus 1} not o1/2 by InputOrder;  r2 o1/2 (2 0) {Cpus 1} not o0/2 by RequestRank([2.0, 1.0]);  r3 o0/2 (1 0) {Cpus 1} not o1/3 by InputOrder | 4 4 1 skipped 0 failed 0;  1 4 4 4; rests o0 Cpus 0, o1 Cpus 1; starts r0 o1 (3 0) {Cpus 1} not o0/1 by RequestRank([3.0, 2.0]), r1 o0 (2 0) {Cpus 1} not o1/2 by InputOrder, r2 o1/2 (2 0) {Cpus 1} not o0/2 by RequestRank([2.0, 1.0]), r3 o0/2 (1 0) {Cpus 1} not o1/3 by InputOrder",
        ),
        (
            format!("residual: {{ {cpus} }}"),
            &["C = 2; Requirements = TARGET.Cpus >= 2"; 3],
            &["Cpus = 3", "Cpus = 4"],
            "round 1 of 2; turn of  1 None for 3;  r0 o0 {Cpus 2} not o1/1 by InputOrder;  r1 o1 {Cpus 2};  r2 o1/2 {Cpus 2} | 3 3 1 skipped 0 failed 0;  1 3 3 3; rests o0 Cpus 1, o1 Cpus 0; starts r0 o0 {Cpus 2} not o1/1 by InputOrder, r1 o1 {Cpus 2}, r2 o1/2 {Cpus 2}",
        ),
        (
            format!("residual: {{ when: P, {cpus} }}"),
            &["C = 1"; 3],
            &["Cpus = 4", "Cpus = 4; P = true"],
            "round 1 of 2; turn of  1 None for 3;  r0 o0 not o1/1 by InputOrder;  r1 o1 {Cpus 1};  r2 o1/2 {Cpus 1} | 3 3 1 skipped 0 failed 0;  1 3 3 3; rests o1 Cpus 2; starts r0 o0 {}, r1 o1 {Cpus 1}, r2 o1/2 {Cpus 1}; left o0 Cpus 4",
        ),
        (
            format!("residual: {{ {cpus}, keep: K }}"),
            &["C = 1"; 3],
            &["Cpus = 4; K = true", "Cpus = 1"],
            "round 1 of 2; turn of  1 None for 3;  r0 o0 {Cpus 1} not o1/1 by InputOrder;  r1 o0/2 {Cpus 1} not o1/1 by InputOrder;  r2 o0/3 {Cpus 1} not o1/1 by InputOrder | 3 3 1 skipped 0 failed 0;  1 3 3 3; rests o0 Cpus 1; starts r0 o0 {Cpus 1} not o1/1 by InputOrder, r1 o0/2 {Cpus 1} not o1/1 by InputOrder, r2 o0/3 {Cpus 1} not o1/1 by InputOrder",
        ),
        (
            "residual: { when: false, keep: K }".to_owned(),
            &["C = 1"; 4],
            &["n = 4; K = true", "n = 1", "n = 2; K = true"],
            "round 1 of 3; turn of  1 None for 4;  r0 o0 not o1/1 by InputOrder;  r1 o0/2 not o1/1 by InputOrder;  r2 o0/3 not o1/1 by InputOrder;  r3 o0/4 not o1/1 by InputOrder | 4 4 1 skipped 0 failed 0;  1 4 4 4; rests o0 n 4; starts r0 o0 {}, r1 o0/2 {}, r2 o0/3 {}, r3 o0/4 {}; left o0 n 4",
        ),
        (
            "docking: [ 1 ]\nresidual: { when: false, keep: K }".to_owned(),
            &["C = 1"; 5],
            &["n = 4; K = true", "n = 1", "n = 2; K = true"],
            "round 1 of 3; turn of  1 None for 5;  r0 o0 not o1/1 by InputOrder;  r1 o1 not o2/1 by InputOrder;  r2 o2 not o0/2 by InputOrder;  r3 o0/2 not o2/2 by InputOrder;  r4 o2/2 not o0/3 by InputOrder | 5 5 1 skipped 0 failed 0;  1 5 5 5; ties 5; rests o0 n 4, o2 n 2; starts r0 o0 {}, r1 o1 {}, r2 o2 {}, r3 o0/2 {}, r4 o2/2 {}; left o0 n 4, o1 n 1, o2 n 2",
        ),
        (
            format!("{better}residual: {{ {cpus} }}"),
            &["C = 1"; 4],
            &["Cpus = 3", "Cpus = 3"],
            "round 1 of 2; turn of  1 None for 4;  r0 o0 {Cpus 1} not o1/1 by InputOrder;  r1 o1 {Cpus 1} not o0/2 by Component(0, [Integer(3), Integer(2)]);  r2 o0/2 {Cpus 1} not o1/2 by InputOrder;  r3 o1/2 {Cpus 1} not o0/3 by Component(0, [Integer(2), Integer(1)]) | 4 4 1 skipped 0 failed 0;  1 4 4 4; ties 2; rests o0 Cpus 1, o1 Cpus 1; starts r0 o0 {Cpus 1} not o1/1 by InputOrder, r1 o1 {Cpus 1} not o0/2 by Component(0, [Integer(3), Integer(2)]), r2 o0/2 {Cpus 1} not o1/2 by InputOrder, r3 o1/2 {Cpus 1} not o0/3 by Component(0, [Integer(2), Integer(1)])",
        ),
        (
            format!("{better}residual: {{ {cpus}, after-worse: true }}"),
            &["C = 1"; 5],
            &["Cpus = 4", "Cpus = 2", "Cpus = 3"],
            "round 1 of 3; turn of  1 None for 5;  r0 o0 {Cpus 1} not o2/1 by Component(0, [Integer(4), Integer(3)]);  r1 o0/2 {Cpus 1} not o2/1 by InputOrder;  r2 o2 {Cpus 1} not o0/3 by Component(0, [Integer(3), Integer(2)]);  r3 o0/3 {Cpus 1} not o1/1 by InputOrder;  r4 o1 {Cpus 1} not o2/2 by InputOrder | 5 5 1 skipped 0 failed 0;  1 5 5 5; ties 3; rests o0 Cpus 1, o1 Cpus 1, o2 Cpus 2; starts r0 o0 {Cpus 1} not o2/1 by Component(0, [Integer(4), Integer(3)]), r1 o0/2 {Cpus 1} not o2/1 by InputOrder, r2 o2 {Cpus 1} not o0/3 by Component(0, [Integer(3), Integer(2)]), r3 o0/3 {Cpus 1} not o1/1 by InputOrder, r4 o1 {Cpus 1} not o2/2 by InputOrder",
        ),
        (
            format!("{better}residual: {{ {cpus}, after-worse: true }}"),
            &["C = 1", "C = 1", "C = 2", "C = 1", "C = 1"],
            &["Cpus = 4", "Cpus = 2", "Cpus = 3"],
            "round 1 of 3; turn of  1 None for 5;  r0 o0 {Cpus 1} not o2/1 by Component(0, [Integer(4), Integer(3)]);  r1 o0/2 {Cpus 1} not o2/1 by InputOrder;  r2 o2 {Cpus 2} not o0/3 by Component(0, [Integer(3), Integer(2)]);  r3 o0/3 {Cpus 1} not o1/1 by InputOrder;  r4 o1 {Cpus 1} not o0/4 by Component(0, [Integer(2), Integer(1)]) | 5 5 2 skipped 0 failed 0;  1 5 5 5; ties 2; rests o0 Cpus 1, o1 Cpus 1, o2 Cpus 1; starts r0 o0 {Cpus 1} not o2/1 by Component(0, [Integer(4), Integer(3)]), r1 o0/2 {Cpus 1} not o2/1 by InputOrder, r2 o2 {Cpus 2} not o0/3 by Component(0, [Integer(3), Integer(2)]), r3 o0/3 {Cpus 1} not o1/1 by InputOrder, r4 o1 {Cpus 1} not o0/4 by Component(0, [Integer(2), Integer(1)])",
        ),
        (
            format!("docking: [ 'label.Cpus > 1 ? 1 : 0', -label.n ]\nresidual: {{ {cpus} }}"),
            &["C = 1"; 5],
            &["Cpus = 3; n = 3", "Cpus = 2; n = 1", "Cpus = 3; n = 2"],
            "round 1 of 3; turn of  1 None for 5;  r0 o1 {Cpus 1} not o2/1 by Component(1, [Integer(-1), Integer(-2)]);  r1 o2 {Cpus 1} not o0/1 by Component(1, [Integer(-2), Integer(-3)]);  r2 o2/2 {Cpus 1} not o0/1 by Component(1, [Integer(-2), Integer(-3)]);  r3 o0 {Cpus 1} not o1/2 by Component(0, [Integer(1), Integer(0)]);  r4 o0/2 {Cpus 1} not o1/2 by Component(0, [Integer(1), Integer(0)]) | 5 5 1 skipped 0 failed 0;  1 5 5 5; rests o0 Cpus 1 n 3, o1 Cpus 1 n 1, o2 Cpus 1 n 2; starts r0 o1 {Cpus 1} not o2/1 by Component(1, [Integer(-1), Integer(-2)]), r1 o2 {Cpus 1} not o0/1 by Component(1, [Integer(-2), Integer(-3)]), r2 o2/2 {Cpus 1} not o0/1 by Component(1, [Integer(-2), Integer(-3)]), r3 o0 {Cpus 1} not o1/2 by Component(0, [Integer(1), Integer(0)]), r4 o0/2 {Cpus 1} not o1/2 by Component(0, [Integer(1), Integer(0)])",
        ),
        (
            format!("docking: [ 'label.Cpus > 1 ? 1 : 0', -label.n ]\nresidual: {{ {cpus} }}"),
            &["C = 1", "C = 2", "C = 1", "C = 2"],
            &["Cpus = 3; n = 3", "Cpus = 2; n = 1", "Cpus = 3"],
            "round 1 of 3; turn of  1 None for 4;  r0 o1 {Cpus 1} not o0/1 by Component(1, [Integer(-1), Integer(-3)]);  r1 o0 {Cpus 2} not o1/2 by Component(0, [Integer(1), Integer(0)]);  r2 o1/2 {Cpus 1} not o0/2 by Component(1, [Integer(-1), Integer(-3)]);  r3 o0/2 {Cpus 2} | 4 4 2 skipped 0 failed 0;  1 4 4 4; rests o0 Cpus -1 n 3, o1 Cpus 0 n 1; starts r0 o1 {Cpus 1} not o0/1 by Component(1, [Integer(-1), Integer(-3)]), r1 o0 {Cpus 2} not o1/2 by Component(0, [Integer(1), Integer(0)]), r2 o1/2 {Cpus 1} not o0/2 by Component(1, [Integer(-1), Integer(-3)]), r3 o0/2 {Cpus 2}",
        ),
        (
            format!("docking: [ label.Cpus, 'label.Cpus > 1 ? 1 : missing' ]\nresidual: {{ {cpus} }}"),
            &["C = 1"; 3],
            &["Cpus = 3", "Cpus = 1"],
            "round 1 of 2; turn of  1 None for 3;  r0 o0 {Cpus 1};  r1 o0/2 {Cpus 1};  r2 in 0 none of 2, 2 discarded, 0 over None, 0 not beyond, keeps free false | 3 2 1 skipped 0 failed 0;  1 3 2 2; rests o0 Cpus 1; starts r0 o0 {Cpus 1}, r1 o0/2 {Cpus 1}",
        ),
        (
            format!("docking: [ 'label.Cpus < 3 ? \"s\" : 1' ]\nresidual: {{ {cpus} }}"),
            &["C = 1"; 3],
            &["Cpus = 4", "Cpus = 3"],
            "round 1 of 2; turn of  1 None for 3;  r0 o0 {Cpus 1} not o1/1 by InputOrder;  r1 o0/2 {Cpus 1} not o1/1 by InputOrder | component 1 of `docking` is an integer for some ads, but a string for others",
        ),
        (
            format!("docking: [ 1, 'label.Cpus < 3 ? \"s\" : 1' ]\nresidual: {{ {cpus} }}"),
            &["C = 1"; 3],
            &["Cpus = 4", "Cpus = 3"],
            "round 1 of 2; turn of  1 None for 3;  r0 o0 {Cpus 1} not o1/1 by InputOrder;  r1 o0/2 {Cpus 1} not o1/1 by InputOrder | component 2 of `docking` is an integer for some ads, but a string for others",
        ),
    ] {
        assert_eq!(whole(&policy, requests, offers), expected, "{policy} {requests:?} {offers:?}");
    }
}

#[test]
fn divided_offers_cost_what_they_lose() {
    let share = "share: { by: User, weight: Cpus, in-use-by: RemoteUser }\n";
    let cpus = "set: { Cpus: Cpus - TARGET.C }";
    let [a, b] = ["User = \"a\"; C = 1", "User = \"b\"; C = 1"];
    for (residual, requests, offers, expected) in [
        (
            format!("residual: {{ {cpus}, while: Cpus > 0 }}"),
            &[a, a, b, b][..],
            &["Cpus = 4"][..],
            "spin 1 of 4; turn of a 1000 to 2 beside 0 for 2; a r0 o0 {Cpus 1} weighs 1; a r1 o0/2 {Cpus 1} weighs 1; turn of b 1000 to 2 beside 0 for 2; b r2 o0/3 {Cpus 1} weighs 1; b r3 o0/4 {Cpus 1} weighs 1 | 4 4 1 skipped 0 failed 0; a 1000 2 2 2; b 1000 2 2 2; a uses 2; b uses 2; tied {\"a\", \"b\"}; rests o0 Cpus 0; starts r0 o0 {Cpus 1}, r1 o0/2 {Cpus 1}, r2 o0/3 {Cpus 1}, r3 o0/4 {Cpus 1}; of r0 0 r1 0 r2 1 r3 1",
        ),
        (
            format!("residual: {{ {cpus}, while: Cpus > 2 }}"),
            &[a, a, b, b],
            &["Cpus = 4"],
            "spin 1 of 4; turn of a 1000 to 2 beside 0 for 2; a r0 o0 {Cpus 1} weighs 1; a r1 o0/2 {Cpus 1} weighs 1; turn of b 1000 to 2 beside 0 for 2 | 2 2 1 skipped 0 failed 0; a 1000 2 2 2; b 1000 2 0 0; a uses 2; tied {\"a\", \"b\"}; rests o0 Cpus 2; starts r0 o0 {Cpus 1}, r1 o0/2 {Cpus 1}; limits r2 waits: b has used 0 of its share of 2, by its priority 1,000 beside others, wait, r3 waits: b has used 0 of its share of 2, by its priority 1,000 beside others, wait; of r0 0 r1 0 r2 1 r3 1",
        ),
        (
            format!("residual: {{ {cpus}, while: false }}"),
            &[a, b],
            &["Cpus = 4", "Cpus = 4"],
            "spin 1 of 8; turn of a 1000 to 4 beside 0 for 1; a r0 o0 {Cpus 1} not o1/1 by InputOrder weighs 1; turn of b 1000 to 4 beside 0 for 1; b r1 o1 {Cpus 1} weighs 1 | 2 2 1 skipped 0 failed 0; a 1000 1 1 1; b 1000 1 1 1; a uses 1; b uses 1; tied {\"a\", \"b\"}; rests o0 Cpus 3, o1 Cpus 3; starts r0 o0 {Cpus 1} not o1/1 by InputOrder, r1 o1 {Cpus 1}; of r0 0 r1 1",
        ),
        (
            "residual: { when: false }".to_owned(),
            &[a, b, a],
            &["Cpus = 4", "Cpus = 2"],
            "spin 1 of 6; turn of a 1000 to 3 beside 0 for 2; a r0 o0 not o1/1 by InputOrder weighs 4; turn of b 1000 to 2 beside 0 for 1; b r1 o1 weighs 2 | 3 2 1 skipped 0 failed 0; a 1000 2 1 1; b 1000 1 1 1; a uses 4; b uses 2; tied {\"a\", \"b\"}; starts r0 o0 {}, r1 o1 {}; left o0 Cpus 4, o1 Cpus 2; limits r2 waits: a has used 4 of its share of 3, by its priority 1,000, 4 of it by requests served before beside others, wait; of r0 0 r1 1 r2 0",
        ),
        (
            "residual: { set: { Cpus: Cpus + 1 }, while: Cpus < 4 }".to_owned(),
            &[a, a, b],
            &["Cpus = 2"],
            "spin 1 of 2; turn of a 1000 to 1 beside 0 for 2; a r0 o0 {Cpus -1} weighs 0; a r1 o0/2 {Cpus -1} weighs 3; turn of b 1000 to -1 beside 0 for 1 | 2 2 1 skipped 0 failed 0; a 1000 2 2 2; b 1000 1 0 0; a uses 3; tied {\"a\", \"b\"}; rests o0 Cpus 4; starts r0 o0 {Cpus -1}, r1 o0/2 {Cpus -1}; limits r2 waits: b has used 0 of its share of 1, by its priority 1,000 beside others, wait; of r0 0 r1 0 r2 1",
        ),
        (
            "residual: { set: { Cpus: Cpus }, while: false }".to_owned(),
            &[a, b],
            &["Cpus = 2", "Cpus = 2"],
            "spin 1 of 4; turn of a 1000 to 2 beside 0 for 1; a r0 o0 {} not o1/1 by InputOrder weighs 2; turn of b 1000 to 2 beside 0 for 1; b r1 o1 {} weighs 2 | 2 2 1 skipped 0 failed 0; a 1000 1 1 1; b 1000 1 1 1; a uses 2; b uses 2; tied {\"a\", \"b\"}; rests o0 Cpus 2, o1 Cpus 2; starts r0 o0 {} not o1/1 by InputOrder, r1 o1 {}; of r0 0 r1 1",
        ),
        (
            "residual: { when: false, keep: true }".to_owned(),
            &[a, a, b],
            &["Cpus = 2"],
            "spin 1 of 2; turn of a 1000 to 1 beside 0 for 2; a r0 o0 weighs 2; turn of b 1000 to 0 beside 0 for 1; spin 2 of 1; a has 0 of 2; b has 1 of 2 | 3 1 1 skipped 0 failed 0; a 1000 2 1 1; b 1000 1 0 0; a uses 2; tied {\"a\", \"b\"}; rests o0 Cpus 2; starts r0 o0 {}; left o0 Cpus 2; limits r1 waits: a has used 2 of its share of 1, by its priority 1,000, 2 of it by requests served before, wait, r2 waits: b has used 0 of its share of 1, by its priority 1,000, wait; of r0 0 r1 0 r2 1",
        ),
        (
            format!("residual: {{ {cpus}, while: Cpus > 0 }}"),
            &[a, b, a],
            &["Cpus = 3; RemoteUser = \"b\"", "Cpus = 1"],
            "spin 1 of 2; turn of a 1000 to 2 beside 0 for 2; a r0 o0 {Cpus 1} of b not o1/1 by InputOrder weighs 1; a r2 o0/2 {Cpus 1} not o1/1 by InputOrder weighs 1; turn of b 1000 to 0 beside 0 for 1; spin 2 of 2; turn of b 1000 to 2 beside 0 for 1; b r1 o0/3 {Cpus 1} not o1/1 by InputOrder weighs 1 | 4 3 1 skipped 0 failed 0; a 1000 2 2 2; b 1000 1 1 1; a uses 2; b uses 1; rests o0 Cpus 0; starts r2 o0/2 {Cpus 1} not o1/1 by InputOrder, r1 o0/3 {Cpus 1} not o1/1 by InputOrder; preempting 1; of r0 0 r1 1 r2 0",
        ),
    ] {
        assert_eq!(
            whole(&format!("{share}{residual}"), requests, offers),
            expected,
            "{residual} {requests:?} {offers:?}"
        );
    }
}

/// What is told of each row of `requests_start_in_rests`.
const RESTS: [&str; 15] = [
    "round 1 of 2; turn of  1 None for 4;  r0 o0 not o1/1 by InputOrder;  r1 o1 | 2 2 1 skipped 0 failed 0;  1 4 2 2; starts r0 o0 {Cpus 1}, r1 o1; in rests r2 o0/2 {Cpus 1}, r3 o0/3 {Cpus 1}; left o0 Cpus 0",
    "round 1 of 2; turn of  1 None for 4;  r0 o0 not o1/1 by InputOrder;  r1 o1 | 2 2 1 skipped 0 failed 0;  1 4 2 2; starts r0 o0 {Cpus 1}, r1 o1; left o0 Cpus 2",
    "round 1 of 1; turn of  1 None for 4;  r0 o0 | 1 1 2 skipped 0 failed 0;  1 4 1 1; starts r0 o0 {Cpus 2}; in rests r1 o0/2 {Cpus 1}, r2 o0/3 {Cpus 1}; left o0 Cpus 0",
    "round 1 of 1; turn of  1 None for 4;  r0 o0 | 1 1 1 skipped 0 failed 0;  1 4 1 1; starts r0 o0 {Cpus 1}; in rests r1 o0/2 {Cpus 1}; left o0 Cpus 2",
    "round 1 of 1; turn of  1 None for 3;  r0 o0 | 1 1 1 skipped 0 failed 0;  1 3 1 1; starts r0 o0 {Cpus 1}; in rests r1 o0/2 {Cpus 1}, r2 o0/3 {Cpus 1}; left o0 Cpus 1",
    "round 1 of 2; turn of a 1000 Some(1) for 2; a r0 o0 not o1/1 by InputOrder; turn of b 1000 Some(1) for 2; b r1 o1 | 2 2 1 skipped 0 failed 0; a 1000 2 1 1; b 1000 2 1 1; starts r0 o0 {Cpus 1}, r1 o1 {Cpus 1}; in rests r2 o0/2 {Cpus 1}, r3 o1/2 {Cpus 1}; left o0 Cpus 2, o1 Cpus 2; of r0 0 r1 1 r2 0 r3 1",
    "round 1 of 2; turn of  1 None for 4;  r0 o0 not o1/1 by InputOrder;  r1 o1 | 2 2 2 skipped 0 failed 0;  1 4 2 2; starts r0 o0 {Cpus 1}, r1 o1 {Cpus 1}; in rests r3 o0/2 {Cpus 1}; left o0 Cpus 1, o1 Cpus 1",
    "round 1 of 2; turn of  1 None for 4;  r0 o0 not o1/1 by InputOrder;  r1 o1 | 2 2 2 skipped 0 failed 0;  1 4 2 2; starts r0 o0 {Cpus 1}, r1 o1 {Cpus 1}; in rests r2 o0/2 {Cpus 1}, r3 o1/2 {Cpus 1}; left o0 Cpus 1, o1 Cpus 0",
    "round 1 of 1; turn of  1 None for 3;  r0 o0 | 1 1 2 skipped 0 failed 0;  1 3 1 1; starts r0 o0 {Cpus 1}; in rests r2 o0/2 {Cpus 1}; left o0 Cpus 1",
    "round 1 of 1; turn of  1 None for 4;  r0 o0 | 1 1 1 skipped 0 failed 0;  1 4 1 1; starts r0 o0 {Cpus 1}; in rests r1 o0/2 {Cpus 1}; left o0 Cpus 1",
    "round 1 of 1; turn of  1 None for 4;  r0.1 o0 | 1 1 1 skipped 0 failed 0;  1 2 1 1; starts r0 o0 {Cpus 1}; in rests r0 o0/2 {Cpus 1}, r0 o0/3 {Cpus 1}, r1 o0/4 {Cpus 1}; left o0 Cpus 1",
    "round 1 of 1; turn of  1 None for 4;  r0 o0 {Cpus 1};  r1 o0/2 {Cpus 1} | 2 2 1 skipped 0 failed 0;  1 4 2 2; rests o0 Cpus 1; starts r0 o0 {Cpus 1}, r1 o0/2 {Cpus 1}; in rests r2 o0/2 {Cpus 1}, r3 o0/3 {Cpus 1}; left o0 Cpus 0",
    "quotas <none> 7 0 1, g 1 0 2; group g 1 1 0; spin 1 of 1; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 4; quota 1 reached by 4; group <none> 7 7 0; spin 1 of 7; turn of z@s 1000 to 7 beside 0 for 1; z@s r2 o1 weighs 4 | 3 2 1 skipped 0 failed 0; g.x@s 1000 2 1 1; z@s 1000 1 1 1; g.x@s uses 4; z@s uses 4; starts r0 o0 {Cpus 1}, r2 o1 {Cpus 1}; in rests r1 o0/2 {Cpus 1}; left o0 Cpus 2, o1 Cpus 3; exceeded [ExceededQuota { group: \"g\", quota: 1.0, weight: 2.0 }]; limits r1 waits: the group g has used 4 of its quota of 1, 4 of it by requests served before, wait, or raise the quota of g; of r0 0 r1 0 r2 1",
    "quotas <none> 1 1 1, g 1 1 1; group g 1 1 1; spin 1 of 0; turn of g.x@s 1000 to 0 beside 1 for 1; group <none> 1 1 1; spin 1 of 0; turn of z@s 1000 to 0 beside 1 for 1 | 2 0 1 skipped 0 failed 0; g.x@s 1000 1 0 0; z@s 1000 1 0 0; g.x@s uses 1; z@s uses 1; limits r0 waits: the group g has used 1 of its quota of 1, wait, or raise the quota of g, r1 waits: the group <none> has used 1 of its quota of 1, wait, or raise the quota of <none>; of r0 0 r1 1",
    "quotas <none> 3 0 1, g 1 0 1; group g 1 1 0; spin 1 of 1; turn of g.x@s 1000 to 1 beside 0 for 1; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; quota 1 reached by 1; group <none> 3 3 0; spin 1 of 3; turn of z@s 1000 to 3 beside 0 for 1; z@s r1 o1 weighs 3 | 2 2 1 skipped 0 failed 0; g.x@s 1000 1 1 1; z@s 1000 1 1 1; g.x@s uses 1; z@s uses 3; starts r0 o0 {}, r1 o1 {}; left o0 Cpus 1, o1 Cpus 3; of r0 0 r1 1",
];

/// After the cycle, the access point fills the slots.
#[test]
fn requests_start_in_rests() {
    let divide = "divide: { when: P, set: { Cpus: Cpus - TARGET.C }, while: Cpus > 0 }";
    let [one, two] = [
        "User = \"a\"; C = 1; Requirements = TARGET.Cpus >= MY.C",
        "User = \"a\"; C = 2; Requirements = TARGET.Cpus >= MY.C",
    ];
    let other = "User = \"b\"; C = 1; Requirements = TARGET.Cpus >= MY.C";
    let limited = "User = \"a\"; C = 1; Requirements = TARGET.Cpus >= MY.C; L = \"SW\"";
    let limits = "limits: { needs: L, max: { sw: 1 } }\n";
    let share = "share: { by: User, weight: Cpus, in-use-by: RemoteUser, groups: { g: 1 } }\n";
    let rows = [
        (format!("leftovers: {{ {divide} }}"), &[one; 4][..], &["Cpus = 3; P = true", "Cpus = 2"][..]),
        (format!("leftovers: {{ use: false, {divide} }}"), &[one; 4], &["Cpus = 3; P = true", "Cpus = 2"]),
        (format!("leftovers: {{ {divide} }}"), &[two, one, one, two], &["Cpus = 4; P = true"]),
        (format!("leftovers: {{ if: label.Cpus > 2, {divide} }}"), &[one; 4], &["Cpus = 4; P = true"]),
        (format!("leftovers: {{ if: missing, {divide} }}"), &[one; 3], &["Cpus = 4; P = true"]),
        (
            format!("share: {{ by: User }}\nleftovers: {{ {divide} }}"),
            &[one, other, one, other],
            &["Cpus = 4; P = true", "Cpus = 4; P = true"],
        ),
        (
            format!("{limits}leftovers: {{ {divide} }}"),
            &[one, limited, limited, one],
            &["Cpus = 3; P = true", "Cpus = 2; P = true"],
        ),
        (
            format!("{limits}leftovers: {{ same-limits: false, {divide} }}"),
            &[one, limited, limited, one],
            &["Cpus = 3; P = true", "Cpus = 2; P = true"],
        ),
        (format!("{limits}leftovers: {{ {divide} }}"), &[limited, limited, one], &["Cpus = 3; P = true"]),
        (format!("start: SLOT.Cpus > 1\nleftovers: {{ {divide} }}"), &[one; 4], &["Cpus = 3; P = true"]),
        (
            format!("leftovers: {{ {divide} }}"),
            &["User = \"a\"; C = 1; ResourceRequestCount = 3; Requirements = TARGET.Cpus >= MY.C", one],
            &["Cpus = 5; P = true"],
        ),
        (
            format!(
                "residual: {{ when: P, set: {{ Cpus: Cpus - TARGET.C }}, while: Cpus > 1 }}\nleftovers: {{ {divide} }}"
            ),
            &[one; 4],
            &["Cpus = 3; P = true"],
        ),
        (
            format!("{share}leftovers: {{ {divide} }}"),
            &["User = \"g.x@s\"; C = 1", "User = \"g.x@s\"; C = 1", "User = \"z@s\"; C = 1"],
            &["Cpus = 4; P = true", "Cpus = 4; P = true"],
        ),
        (
            format!("{share}leftovers: {{ {divide} }}"),
            &["User = \"g.x@s\"; C = 1", "User = \"z@s\"; C = 1"],
            &["Cpus = 1; P = true; RemoteUser = \"z@s\"", "Cpus = 1; RemoteUser = \"g.x@s\""],
        ),
        (share.to_owned(), &["User = \"g.x@s\"; C = 1", "User = \"z@s\"; C = 1"], &["Cpus = 1", "Cpus = 3"]),
    ];
    assert_eq!(rows.len(), RESTS.len());
    for ((policy, requests, offers), expected) in rows.into_iter().zip(RESTS) {
        assert_eq!(whole(&policy, requests, offers), expected, "{policy} {requests:?} {offers:?}");
    }
}
