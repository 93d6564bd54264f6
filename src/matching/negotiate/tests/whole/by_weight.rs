//! Cycles in which submitters share by weight.

use super::{Accelerations, Dialect, ads, cycle, whole};

const WEIGHED: &str = "by: User, weight: W, in-use-by: RemoteUser";

/// What is told of each row of `submitters_get_their_shares`.
const SHARES: [&str; 31] = [
    "spin 1 of 4; turn of a 1000 to 2 beside 0 for 3; a r0 o0 not o1/1 by InputOrder weighs 1; a r1 o1 not o2/1 by InputOrder weighs 1; turn of b 1000 to 2 beside 0 for 1; b r3 o2 not o3/1 by InputOrder weighs 1; spin 2 of 2; turn of a 1000 to 2 beside 2 for 1; a r2 o3 weighs 1 | 5 4 1 skipped 0 failed 0; a 1000 3 3 3; b 1000 1 1 1; a uses 3; b uses 1; tied {\"a\", \"b\"}; starts r0 o0 {}, r1 o1 {}, r3 o2 {}, r2 o3 {}; left o0 , o1 , o2 , o3 ; of r0 0 r1 0 r2 0 r3 1",
    "spin 1 of 4; turn of a 1000 to 2 beside 0 for 3; a r0 o0 not o1/1 by InputOrder weighs 1; a r1 o1 not o2/1 by InputOrder weighs 1; turn of b 1000 to 2 beside 0 for 1; b r3 o2 not o3/1 by InputOrder weighs 1; spin 2 of 2; turn of a 1000 to 2 beside 2 for 1; a r2 o3 weighs 1 | 4 4 1 skipped 0 failed 0; a 1000 3 3 3; b 1000 1 1 1; a uses 3; b uses 1; tied {\"a\", \"b\"}; starts r0 o0 {}, r1 o1 {}, r3 o2 {}, r2 o3 {}; left o0 , o1 , o2 , o3 ; of r0 0 r1 0 r2 0 r3 1",
    "spin 1 of 4; turn of a 1 to 3 beside 0 for 4; a r0 o0 not o1/1 by InputOrder weighs 1; a r1 o1 not o2/1 by InputOrder weighs 1; a r2 o2 not o3/1 by InputOrder weighs 1; turn of b 3 to 1 beside 0 for 3; b r4 o3 weighs 1 | 5 4 1 skipped 0 failed 0; a 1 4 3 3; b 3 3 1 1; a uses 3; b uses 1; starts r0 o0 {}, r1 o1 {}, r2 o2 {}, r4 o3 {}; left o0 , o1 , o2 , o3 ; limits r3 waits: a has used 3 of its share of 3, by its priority 1, 3 of it by requests served before beside others, wait, r5 waits: b has used 1 of its share of 1, by its priority 3, 1 of it by requests served before beside others, wait, r6 waits: b has used 1 of its share of 1, by its priority 3, 1 of it by requests served before beside others, wait; of r0 0 r1 0 r2 0 r3 0 r4 1 r5 1 r6 1",
    "spin 1 of 5; turn of a 1 to 3.75 beside 0 for 4; a r0 o0 not o1/1 by InputOrder weighs 1; a r1 o1 not o2/1 by InputOrder weighs 1; a r2 o2 not o3/1 by InputOrder weighs 1; a r3 in 0 none of 5, 0 discarded, 2 over Some(1.0), 0 not beyond, keeps free false; turn of b 3 to 1.25 beside 0 for 3; b r4 o3 not o4/1 by InputOrder weighs 1; b r5 in 0 none of 5, 0 discarded, 1 over Some(1.0), 0 not beyond, keeps free false; spin 2 of 1; a has 0.75 of 1; b has 0.25 of 1 | 6 4 1 skipped 0 failed 0; a 1 4 3 3; b 3 3 1 1; a uses 3; b uses 1; starts r0 o0 {}, r1 o1 {}, r2 o2 {}, r4 o3 {}; left o0 , o1 , o2 , o3 ; limits r3 waits: a has used 3 of its share of 3.75, by its priority 1, 3 of it by requests served before, wait, r5 waits: b has used 1 of its share of 1.25, by its priority 3, 1 of it by requests served before, wait, r6 waits: b has used 1 of its share of 1.25, by its priority 3, 1 of it by requests served before, wait; of r0 0 r1 0 r2 0 r3 0 r4 1 r5 1 r6 1",
    "spin 1 of 9; turn of a 1000 to 3 beside 0 for 1; a r0 o0 not o1/1 by InputOrder weighs 5; turn of b 1000 to 3 beside 0 for 1; b r1 o1 not o2/1 by InputOrder weighs 1; turn of c 1000 to 3 beside 0 for 1; c r2 o2 weighs 3 | 3 3 1 skipped 0 failed 0; a 1000 1 1 1; b 1000 1 1 1; c 1000 1 1 1; a uses 5; b uses 1; c uses 3; tied {\"a\", \"b\", \"c\"}; starts r0 o0 {}, r1 o1 {}, r2 o2 {}; left o0 , o1 , o2 ; of r0 0 r1 1 r2 2",
    "spin 1 of 0; turn of a 1000 to 0 beside 0 for 1; turn of b 1000 to 0 beside 0 for 1 | 2 0 1 skipped 0 failed 0; a 1000 1 0 0; b 1000 1 0 0; tied {\"a\", \"b\"}; of r0 0 r1 1",
    "spin 1 of 4; turn of a 1000 to 2 beside 0 for 1; a r0 o0 not o1/1 by InputOrder weighs 1; turn of b 1000 to 2 beside 0 for 1; b r1 o1 not o2/1 by InputOrder weighs 1 | 2 2 1 skipped 0 failed 0; a 1000 1 1 1; b 1000 1 1 1; a uses 1; b uses 1; without weight 2; tied {\"a\", \"b\"}; starts r0 o0 {}, r1 o1 {}; left o0 , o1 ; of r0 0 r1 1",
    "spin 1 of 0 | 0 0 0 skipped 0 failed 0",
    "spin 1 of 0; turn of a 1000 to 0 beside 0 for 1 | 0 0 1 skipped 0 failed 0; a 1000 1 0 0; of r0 0",
    "spin 1 of 4; turn of a 1000 to 2 beside 0 for 3; a r0.1 o0 not o1/1 by InputOrder weighs 1; a r0.2 o1 not o2/1 by InputOrder weighs 1; turn of b 1000 to 2 beside 0 for 1; b r1 o2 not o3/1 by InputOrder weighs 1; spin 2 of 2; turn of a 1000 to 2 beside 2 for 1; a r0.3 o3 weighs 1 | 5 4 1 skipped 0 failed 0; a 1000 1 3 3; b 1000 1 1 1; a uses 3; b uses 1; tied {\"a\", \"b\"}; starts r0 o0 {}, r0 o1 {}, r1 o2 {}, r0 o3 {}; left o0 , o1 , o2 , o3 ; of r0 0 r1 1",
    "spin 1 of 2; turn of a 1000 to 1 beside 0 for 2; a r0 in 0 none of 0, 0 discarded, 0 over None, 0 not beyond, keeps free false; a r1 in 0 skipped with 1; turn of b 1000 to 1 beside 0 for 1; b r2 o0 not o1/1 by InputOrder weighs 1; spin 2 of 1 | 2 1 2 skipped 1 failed 0; a 1000 2 0 0; b 1000 1 1 1; b uses 1; tied {\"a\", \"b\"}; starts r2 o0 {}; left o0 ; of r0 0 r1 0 r2 1",
    "spin 1 of 1.5; turn of a 1000 to 1.5 beside 0 for 2; a r0 o0 of b not o1/1 by InputOrder weighs 1; a r1 o1 of b not o2/1 by InputOrder weighs 1; turn of b 1000 to -0.5 beside 0 for 1; spin 2 of 1.5; turn of b 1000 to 1.5 beside 0 for 1; b r2 o2 weighs 1 | 4 3 1 skipped 0 failed 0; a 1000 2 2 2; b 1000 1 1 1; a uses 2; b uses 1; starts r2 o2 {}; preempting 2; left o2 ; of r0 0 r1 0 r2 1",
    "spin 1 of 1.5; turn of a 1000 to 1.5 beside 0 for 2; a r0 o0 of b not o1/1 by InputOrder weighs 1; a r1 o1 of b not o2/1 by InputOrder weighs 1; turn of b 1000 to -0.5 beside 0 for 1; spin 2 of 3; turn of b 1000 to 3 beside 0 for 1; b r2 o2 weighs 1 | 3 3 1 skipped 0 failed 0; a 1000 2 2 2; b 1000 1 1 1; a uses 2; b uses 1; starts r2 o2 {}; preempting 2; left o2 ; of r0 0 r1 0 r2 1",
    "spin 1 of 2; turn of a 1000 to 1 beside 0 for 1; a r0 o0 of  not o1/1 by InputOrder weighs 1; turn of b 1000 to 1 beside 0 for 1; b r1 o1 of 5 weighs 1 | 2 2 1 skipped 0 failed 0; a 1000 1 1 1; b 1000 1 1 1; a uses 1; b uses 1; tied {\"a\", \"b\"}; preempting 2; of r0 0 r1 1",
    "spin 1 of 4; turn of a 1000 to 4 beside 1 for 1; a r0 o0 of b not o1/1 by InputOrder weighs 3 | 1 1 1 skipped 0 failed 0; a 1000 1 1 1; a uses 4; b uses 0; c uses 1; preempting 1; of r0 0",
    "spin 1 of 2; turn of a 1000 to 2 beside 1 for 3; a r0 o0 of a beyond not o1/1 by InputOrder weighs 1; a r1 o1 of b beyond not o2/1 by InputOrder weighs 1; spin 2 of 1; turn of a 1000 to 1 beside 2 for 1; a r2 o2 of b weighs 1 | 4 3 1 skipped 0 failed 0; a 1000 3 3 3; a uses 3; b uses 0; preempting 3; of r0 0 r1 0 r2 0",
    "spin 1 of 2; turn of a 1000 to 2 beside 0 for 1; a r0 o0 of b not o1/1 by InputOrder weighs 2; turn of b 1000 to 0 beside 0 for 1; spin 2 of 2; turn of b 1000 to 2 beside 0 for 1; b r1 o1 weighs 2 | 3 2 1 skipped 0 failed 0; a 1000 1 1 1; b 1000 1 1 1; a uses 2; b uses 2; starts r1 o1 {}; preempting 1; left o1 ; of r0 0 r1 1",
    "spin 1 of 2; turn of a 1000 to 2 beside 0 for 2; a r0 o0 of b beyond not o1/1 by InputOrder weighs 1; a r1 o1 of b beyond weighs 1 | 2 2 1 skipped 0 failed 0; a 1000 2 2 2; a uses 2; b uses 0; preempting 2; of r0 0 r1 0",
    "spin 1 of 5; turn of a 1000 to 2 beside 0 for 3; a r0 o0 not o1/1 by InputOrder weighs 1; a r1 o1 not o2/1 by InputOrder weighs 1; turn of b 1000 to 2.5 beside 0 for 1; b r3 o2 not o3/1 by InputOrder weighs 1; spin 2 of 3; a has its 2 | 3 3 1 skipped 0 failed 0; a 1000 3 2 2; b 1000 1 1 1; a uses 2; b uses 1; tied {\"a\", \"b\"}; starts r0 o0 {}, r1 o1 {}, r3 o2 {}; left o0 , o1 , o2 ; limits r2 waits: a has used 2 of its ceiling of 2, 2 of it by requests served before, wait, or raise the ceiling of a; of r0 0 r1 0 r2 0 r3 1",
    "spin 1 of 4; turn of a 1000 to 1.5 beside 0 for 3; a r0 o0 not o1/1 by InputOrder weighs 1; a r1 o1 not o2/1 by InputOrder weighs 1; spin 2 of 2; a has its 1.5 | 2 2 1 skipped 0 failed 0; a 1000 3 2 2; a uses 2; starts r0 o0 {}, r1 o1 {}; left o0 , o1 ; limits r2 waits: a has used 2 of its ceiling of 1.5, 2 of it by requests served before, wait, or raise the ceiling of a; of r0 0 r1 0 r2 0",
    "spin 1 of 2; a has its 0; turn of b 1000 to 1 beside 0 for 1; b r1 o0 not o1/1 by InputOrder weighs 1; spin 2 of 1 | 1 1 1 skipped 0 failed 0; a 1000 1 0 0; b 1000 1 1 1; b uses 1; tied {\"a\", \"b\"}; starts r1 o0 {}; left o0 ; limits r0 never starts: a has used 0 of its ceiling of 0, raise the ceiling of a; of r0 0 r1 1",
    "spin 1 of 5; a has its 1; turn of b 1000 to 2.5 beside 0 for 1; b r1 o0 not o1/1 by InputOrder weighs 2 | 1 1 1 skipped 0 failed 0; a 1000 1 0 0; b 1000 1 1 1; b uses 2; tied {\"a\", \"b\"}; starts r1 o0 {}; left o0 ; limits r0 never starts: a has used 0 of its ceiling of 1; the smallest slot weighs 2, raise the ceiling of a; of r0 0 r1 1",
    "spin 1 of 2; turn of a 1000 to 1 beside 1.5 for 2; a r0 o0 of a not o1/1 by InputOrder weighs 1.5; spin 2 of 2; turn of a 1000 to 1 beside 1.5 for 1; a r1 o1 not o2/1 by InputOrder weighs 1 | 2 2 1 skipped 0 failed 0; a 1000 2 2 2; a uses 2.5; starts r1 o1 {}; preempting 1; left o1 ; of r0 0 r1 0",
    "spin 1 of 3; turn of b 1000 to 1 beside 0 for 2; b r2 o0 not o1/1 by InputOrder weighs 1; spin 1 of 2; turn of a 1000 to 1.5 beside 0 for 2; a r0 o1 not o2/1 by InputOrder weighs 1; a r1 in 0 none of 3, 0 discarded, 1 over Some(1.0), 0 not beyond, keeps free false; turn of b 1000 to 0.5 beside 1 for 1; b r3 o2 weighs 1 | 5 3 1 skipped 0 failed 0; a 1000 2 1 1; b 1000 2 2 2; a uses 1; b uses 2; starts r2 o0 {}, r0 o1 {}, r3 o2 {}; left o0 , o1 , o2 ; limits r1 waits: a has used 1 of its share of 1.5, by its priority 1,000, 1 of it by requests served before beside others, wait; of r0 0 r1 0 r2 1 r3 1",
    "spin 1 of 3; turn of a 1000 to 1 beside 0 for 2; a r0 o0 not o1/1 by InputOrder weighs 1; turn of b 1000 to 1.5 beside 0 for 2; b r2 o1 not o2/1 by InputOrder weighs 1; b r3 in 0 none of 3, 0 discarded, 1 over Some(1.0), 0 not beyond, keeps free false; spin 1 of 1; turn of a 1000 to 0.5 beside 1 for 1; a r1 o2 weighs 1; turn of b 1000 to 0 beside 1 for 1 | 5 3 1 skipped 0 failed 0; a 1000 2 2 2; b 1000 2 1 1; a uses 2; b uses 1; tied {\"a\", \"b\"}; starts r0 o0 {}, r2 o1 {}, r1 o2 {}; left o0 , o1 , o2 ; limits r3 waits: b has used 1 of its share of 1.5, by its priority 1,000, 1 of it by requests served before beside others, wait; of r0 0 r1 0 r2 1 r3 1",
    "spin 1 of 2; turn of b 1000 to 2 beside 1 for 2; b r1 o0 of b not o1/1 by InputOrder weighs 1; b r2 o1 not o2/1 by InputOrder weighs 1; spin 1 of 1.5; turn of a 1000 to 1.5 beside 0 for 1; a r0 o2 weighs 1 | 3 3 1 skipped 0 failed 0; a 1000 1 1 1; b 1000 2 2 2; a uses 1; b uses 2; starts r2 o1 {}, r0 o2 {}; preempting 1; left o1 , o2 ; of r0 0 r1 1 r2 1",
    "spin 1 of 3; turn of b 1000 to 1 beside 0 for 2; b r1 o0 not o1/1 by InputOrder weighs 1; spin 1 of 2; turn of a 1000 to 1.5 beside 0 for 1; a r0 o1 not o2/1 by InputOrder weighs 1; b has its 1 | 2 2 1 skipped 0 failed 0; a 1000 1 1 1; b 1000 2 1 1; a uses 1; b uses 1; starts r1 o0 {}, r0 o1 {}; left o0 , o1 ; limits r2 waits: b has used 1 of its ceiling of 1, 1 of it by requests served before, wait, or raise the ceiling of b; of r0 0 r1 1 r2 1",
    "spin 1 of 4; turn of a 1000 to 4 beside 0 for 4; a r0 o0 not o1/1 by InputOrder weighs 1; a r2 o1 not o2/1 by InputOrder weighs 1 | 2 2 1 skipped 0 failed 0; a 1000 4 2 2; a uses 2; starts r0 o0 {}, r1 o1 {}; left o0 , o1 ; of r0 0 r1 0 r2 0 r3 0",
    "spin 1 of 3; turn of a 1000 to 3 beside 0 for 6; a r0.1 o0 not o1/1 by InputOrder weighs 1; a r0.2 o1 not o2/1 by InputOrder weighs 1; a r0.3 o2 weighs 1 | 3 3 1 skipped 0 failed 0; a 1000 2 3 3; a uses 3; starts r0 o0 {}, r0 o1 {}, r0 o2 {}; left o0 , o1 , o2 ; limits r0 waits: a has used 3 of its share of 3, by its priority 1,000, 3 of it by requests served before beside others, wait, r1 waits: a has used 3 of its share of 3, by its priority 1,000, 3 of it by requests served before beside others, wait; of r0 0 r1 0",
    "spin 1 of 4; turn of a 1000 to 4 beside 0 for 3; a r0 o0 not o1/1 by InputOrder weighs 1; a r1 o1 not o2/1 by InputOrder weighs 1; a r2 o2 not o3/1 by InputOrder weighs 1 | 3 3 2 skipped 0 failed 0; a 1000 3 3 3; a uses 3; starts r0 o0 {}, r1 o1 {}, r2 o2 {}; left o0 , o1 , o2 ; of r0 0 r1 0 r2 0",
    "spin 1 of 3; turn of a 1000 to 3 beside 0 for 2; a r0 o0 not o1/1 by InputOrder weighs 1; a r1 o1 not o2/1 by InputOrder weighs 1 | 2 2 1 skipped 0 failed 0; a 1000 2 2 2; a uses 2; starts r0 o0 {}, r1 o1 {}; left o0 , o1 ; of r0 0 r1 0",
];

#[test]
fn submitters_get_their_shares() {
    let [a, b, c] = ["User = \"a\"", "User = \"b\"", "User = \"c\""];
    let rows = [
        ("preempts: true", &[a, a, a, b][..], &["W = 1"; 4][..]),
        ("preempts: false", &[a, a, a, b], &["W = 1"; 4]),
        ("priorities: { a: 1, b: 3 }", &[a, a, a, a, b, b, b], &["W = 1"; 4]),
        ("priorities: { a: 1, b: 3 }, preempts: false", &[a, a, a, a, b, b, b], &["W = 1"; 5]),
        ("preempts: true", &[a, b, c], &["W = 5", "W = 1", "W = 3"]),
        ("preempts: true", &[a, b], &["W = 0", "W = 0"]),
        ("preempts: true", &[a, b], &["W = -1", "x = 1", "W = 2"]),
        ("preempts: true", &[], &["W = 1"]),
        ("preempts: true", &[a], &[]),
        ("preempts: true", &["User = \"a\"; ResourceRequestCount = 3", b], &["W = 1"; 4]),
        (
            "preempts: true",
            &["User = \"a\"; Requirements = false", "User = \"a\"; Requirements = false", b],
            &["W = 1"; 2],
        ),
        // What is in use.
        ("preempts: true", &[a, a, b], &["W = 1; RemoteUser = \"b\"", "W = 1; RemoteUser = \"b\"", "W = 1"]),
        ("preempts: false", &[a, a, b], &["W = 1; RemoteUser = \"b\"", "W = 1; RemoteUser = \"b\"", "W = 1"]),
        ("preempts: true", &[a, b], &["W = 1; RemoteUser = \"\"", "W = 1; RemoteUser = 5"]),
        (
            "preempts: true",
            &[a],
            &["W = 3; RemoteUser = \"b\"", "W = 1; RemoteUser = \"c\"", "W = 1; RemoteUser = \"a\""],
        ),
        (
            "beyond: label.Likes",
            &[a, a, a],
            &[
                "W = 1; RemoteUser = \"a\"; Likes = true",
                "W = 1; RemoteUser = \"b\"; Likes = true",
                "W = 1; RemoteUser = \"b\"",
            ],
        ),
        ("beyond: label.Likes", &[a, b], &["W = 2; RemoteUser = \"b\"; Likes = 1", "W = 2; Likes = true"]),
        (
            "beyond: label.Likes, preempts: false",
            &[a, a],
            &["W = 1; RemoteUser = \"b\"; Likes = true", "W = 1; RemoteUser = \"b\"; Likes = true"],
        ),
        // Ceilings and floors.
        ("ceilings: { a: 2 }", &[a, a, a, b], &["W = 1"; 5]),
        ("ceilings: { a: 1.5 }", &[a, a, a], &["W = 1"; 4]),
        ("ceilings: { a: 0 }", &[a, b], &["W = 1"; 2]),
        ("ceilings: { a: 1 }", &[a, b], &["W = 2", "W = 3"]),
        ("ceilings: { a: 2 }", &[a, a], &["W = 1.5; RemoteUser = \"a\"", "W = 1", "W = 1"]),
        ("floors: { b: 1 }", &[a, a, b, b], &["W = 1"; 3]),
        ("floors: { b: 3, a: 1 }", &[a, a, b, b], &["W = 1"; 3]),
        ("floors: { b: 2 }", &[a, b, b], &["W = 1; RemoteUser = \"b\"", "W = 1", "W = 1"]),
        ("floors: { b: 2 }, ceilings: { b: 1 }", &[a, b, b], &["W = 1"; 3]),
        // Runs of requests of one autocluster.
        ("covers: label.N", &[a, a, a, a], &["W = 1; N = 2"; 4]),
        ("covers: label.N", &["User = \"a\"; ResourceRequestCount = 5", a], &["W = 1; N = 3", "W = 1", "W = 1"]),
        ("covers: label.N", &[a, "User = \"a\"; R = 1; Requirements = TARGET.N > MY.R", a], &["W = 1; N = 3"; 4]),
        ("covers: label.N", &[a, a], &["W = 1; N = 0", "W = 1; N = 1.5", "W = 1; N = -3"]),
    ];
    assert_eq!(rows.len(), SHARES.len());
    for ((more, requests, offers), expected) in rows.into_iter().zip(SHARES) {
        let found = whole(&format!("share: {{ {WEIGHED}, {more} }}"), requests, offers);
        assert_eq!(found, expected, "{more}: {requests:?} {offers:?}");
    }
}

/// What is told of each row of `groups_have_their_quotas`.
const QUOTAS: [&str; 25] = [
    "quotas <none> 2 0 2, g 1 0 2, h 1 0 1; group g 1 1 0; spin 1 of 1; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; quota 1 reached by 1; group h 1 1 0; spin 1 of 1; turn of h.y@s 1000 to 1 beside 0 for 1; h.y@s r2 o1 not o2/1 by InputOrder weighs 1; quota 1 reached by 1; group <none> 2 2 0; spin 1 of 2; turn of z@s 1000 to 2 beside 0 for 2; z@s r3 o2 not o3/1 by InputOrder weighs 1; z@s r4 o3 weighs 1 | 4 4 1 skipped 0 failed 0; g.x@s 1000 2 1 1; h.y@s 1000 1 1 1; z@s 1000 2 2 2; g.x@s uses 1; h.y@s uses 1; z@s uses 2; starts r0 o0 {}, r2 o1 {}, r3 o2 {}, r4 o3 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1; limits r1 waits: the group g has used 1 of its quota of 1, 1 of it by requests served before, wait, or raise the quota of g; of r0 0 r1 0 r2 1 r3 2 r4 2",
    "quotas <none> 2 0 2, g 1 0 2, h 1 0 1; group g 1 1 0; spin 1 of 1; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; quota 1 reached by 1; group h 1 1 0; spin 1 of 1; turn of h.y@s 1000 to 1 beside 0 for 1; h.y@s r2 o1 not o2/1 by InputOrder weighs 1; quota 1 reached by 1; group <none> 2 2 0; spin 1 of 2; turn of z@s 1000 to 2 beside 0 for 2; z@s r3 o2 not o3/1 by InputOrder weighs 1; z@s r4 o3 weighs 1 | 5 4 1 skipped 0 failed 0; g.x@s 1000 2 1 1; h.y@s 1000 1 1 1; z@s 1000 2 2 2; g.x@s uses 1; h.y@s uses 1; z@s uses 2; starts r0 o0 {}, r2 o1 {}, r3 o2 {}, r4 o3 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1; limits r1 waits: the group g has used 1 of its quota of 1, 1 of it by requests served before, wait, or raise the quota of g; of r0 0 r1 0 r2 1 r3 2 r4 2",
    "quotas <none> 3 0 1, g 1 0 3, h 1 0 2; group g 1 3 0; spin 1 of 3; turn of g.x@s 1000 to 3 beside 0 for 3; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; g.x@s r1 o1 not o2/1 by InputOrder weighs 1; g.x@s r2 o2 not o3/1 by InputOrder weighs 1; quota 3 reached by 3; group h 1 1 0; spin 1 of 1; turn of h.y@s 1000 to 1 beside 0 for 2; h.y@s r3 o3 not o4/1 by InputOrder weighs 1; quota 1 reached by 1; group <none> 3 3 0; spin 1 of 3; turn of z@s 1000 to 3 beside 0 for 1; z@s r5 o4 weighs 1 | 5 5 1 skipped 0 failed 0; g.x@s 1000 3 3 3; h.y@s 1000 2 1 1; z@s 1000 1 1 1; g.x@s uses 3; h.y@s uses 1; z@s uses 1; starts r0 o0 {}, r1 o1 {}, r2 o2 {}, r3 o3 {}, r5 o4 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1, o4 n 1; exceeded [ExceededQuota { group: \"g\", quota: 1.0, weight: 3.0 }]; limits r4 waits: the group h has used 1 of its quota of 1, 1 of it by requests served before, wait, or raise the quota of h; of r0 0 r1 0 r2 0 r3 1 r4 1 r5 2",
    "quotas <none> 5 0 1, g 1 0 4, h 1 0 3; group g 1 3 0; spin 1 of 3; turn of g.x@s 1000 to 3 beside 0 for 4; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; g.x@s r1 o1 not o2/1 by InputOrder weighs 1; g.x@s r2 o2 not o3/1 by InputOrder weighs 1; quota 3 reached by 3; group h 1 3 0; spin 1 of 3; turn of h.y@s 1000 to 3 beside 0 for 3; h.y@s r4 o3 not o4/1 by InputOrder weighs 1; h.y@s r5 o4 not o5/1 by InputOrder weighs 1; h.y@s r6 o5 not o6/1 by InputOrder weighs 1; quota 3 reached by 3; group <none> 5 5 0; spin 1 of 5; turn of z@s 1000 to 5 beside 0 for 1; z@s r7 o6 weighs 1 | 7 7 1 skipped 0 failed 0; g.x@s 1000 4 3 3; h.y@s 1000 3 3 3; z@s 1000 1 1 1; g.x@s uses 3; h.y@s uses 3; z@s uses 1; starts r0 o0 {}, r1 o1 {}, r2 o2 {}, r4 o3 {}, r5 o4 {}, r6 o5 {}, r7 o6 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1, o4 n 1, o5 n 1, o6 n 1; exceeded [ExceededQuota { group: \"g\", quota: 1.0, weight: 3.0 }, ExceededQuota { group: \"h\", quota: 1.0, weight: 3.0 }]; limits r3 waits: the group g has used 3 of 3, its quota of 1 and 2 of surplus, 3 of it by requests served before, wait, or raise the quota of g; of r0 0 r1 0 r2 0 r3 0 r4 1 r5 1 r6 1 r7 2",
    "quotas <none> 0 0 0, g 1 0 4, h 3 0 0; group g 1 4 0; spin 1 of 4; turn of g.x@s 1000 to 4 beside 0 for 4; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; g.x@s r1 o1 not o2/1 by InputOrder weighs 1; g.x@s r2 o2 not o3/1 by InputOrder weighs 1; g.x@s r3 o3 weighs 1 | 4 4 1 skipped 0 failed 0; g.x@s 1000 4 4 4; g.x@s uses 4; starts r0 o0 {}, r1 o1 {}, r2 o2 {}, r3 o3 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1; exceeded [ExceededQuota { group: \"g\", quota: 1.0, weight: 4.0 }]; of r0 0 r1 0 r2 0 r3 0",
    "quotas <none> 0 0 1, g 1.5 0 2, h 1.5 0 2; group g 1.5 1 0; spin 1 of 1; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; quota 1 reached by 1; group h 1.5 1 0; spin 1 of 1; turn of h.y@s 1000 to 1 beside 0 for 2; h.y@s r2 o1 not o2/1 by InputOrder weighs 1; quota 1 reached by 1; allocation 2; group <none> 0 1 0; spin 1 of 1; turn of z@s 1000 to 1 beside 0 for 1; z@s r4 o2 weighs 1 | 3 3 1 skipped 0 failed 0; g.x@s 1000 2 1 1; h.y@s 1000 2 1 1; z@s 1000 1 1 1; g.x@s uses 1; h.y@s uses 1; z@s uses 1; starts r0 o0 {}, r2 o1 {}, r4 o2 {}; left o0 n 1, o1 n 1, o2 n 1; limits r1 waits: the group g has used 1 of its quota of 1.5, 1 of it by requests served before, wait, or raise the quota of g, r3 waits: the group h has used 1 of its quota of 1.5, 1 of it by requests served before, wait, or raise the quota of h; of r0 0 r1 0 r2 1 r3 1 r4 2",
    "quotas <none> 2 0 0, g 1.5 0 2, h 0.5 0 1; group g 1.5 1 0; spin 1 of 1; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; quota 1 reached by 1; group h 0.5 0 0; quota 0 reached by 0; allocation 2 | 1 1 1 skipped 0 failed 0; g.x@s 1000 2 1 1; h.y@s 1000 1 0 0; g.x@s uses 1; starts r0 o0 {}; left o0 n 1; limits r1 waits: the group g has used 1 of its quota of 1.5, 1 of it by requests served before, wait, or raise the quota of g, r2 never starts: the group h has used 0 of its quota of 0.5, raise the quota of h; of r0 0 r1 0 r2 1",
    "quotas <none> 2 0 0, g 1 0 2, g.u 1 0 2; group g 1 1 0; spin 1 of 1; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; quota 1 reached by 1; group g.u 1 1 0; spin 1 of 1; turn of g.u.w@s 1000 to 1 beside 0 for 2; g.u.w@s r2 o1 not o2/1 by InputOrder weighs 1; quota 1 reached by 1 | 2 2 1 skipped 0 failed 0; g.u.w@s 1000 2 1 1; g.x@s 1000 2 1 1; g.u.w@s uses 1; g.x@s uses 1; starts r0 o0 {}, r2 o1 {}; left o0 n 1, o1 n 1; limits r1 waits: the group g has used 1 of its quota of 1, 1 of it by requests served before, wait, or raise the quota of g, r3 waits: the group g.u has used 1 of its quota of 1, 1 of it by requests served before, wait, or raise the quota of g.u; of r0 1 r1 1 r2 0 r3 0",
    "quotas <none> 2 0 0, g 2 0 2, g.u 1 0 2; group g 2 2 0; spin 1 of 2; turn of g.x@s 1000 to 2 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; g.x@s r1 o1 not o2/1 by InputOrder weighs 1; quota 2 reached by 2; group g.u 1 0 0; quota 0 reached by 0; allocation 2 | 2 2 1 skipped 0 failed 0; g.u.w@s 1000 2 0 0; g.x@s 1000 2 2 2; g.x@s uses 2; starts r0 o0 {}, r1 o1 {}; left o0 n 1, o1 n 1; limits r2 waits: the group g.u has used 0 of its quota of 1, wait, or raise the quota of g.u, r3 waits: the group g.u has used 0 of its quota of 1, wait, or raise the quota of g.u; of r0 1 r1 1 r2 0 r3 0",
    "quotas <none> 2 0 0, g 1 0 0, g.u 1 0 3; group g.u 1 2 0; spin 1 of 2; turn of g.u.w@s 1000 to 2 beside 0 for 3; g.u.w@s r0 o0 not o1/1 by InputOrder weighs 1; g.u.w@s r1 o1 not o2/1 by InputOrder weighs 1; quota 2 reached by 2 | 2 2 1 skipped 0 failed 0; g.u.w@s 1000 3 2 2; g.u.w@s uses 2; starts r0 o0 {}, r1 o1 {}; left o0 n 1, o1 n 1; exceeded [ExceededQuota { group: \"g.u\", quota: 1.0, weight: 2.0 }]; limits r2 waits: the group g.u has used 2 of 2, its quota of 1 and 1 of surplus, 2 of it by requests served before, wait, or raise the quota of g.u; of r0 0 r1 0 r2 0",
    "quotas <none> 4 0 1, g 1 0 2, h 1 0 2; group g 1 1 0; spin 1 of 1; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; quota 1 reached by 1; group h 1 1 0; spin 1 of 1; turn of h.y@s 1000 to 1 beside 0 for 2; h.y@s r2 o1 not o2/1 by InputOrder weighs 1; quota 1 reached by 1; group <none> 6 6 0; spin 1 of 5; turn of z@s 1000 to 3 beside 0 for 1; z@s r4 o2 not o3/1 by InputOrder weighs 1; turn of g.x@s 1000 to 2 beside 1 for 1; g.x@s r1 o3 not o4/1 by InputOrder weighs 1; allocation 2; allocation 3 | 4 4 1 skipped 0 failed 0; g.x@s 1000 2 2 2; h.y@s 1000 2 1 1; z@s 1000 1 1 1; g.x@s uses 2; h.y@s uses 1; z@s uses 1; starts r0 o0 {}, r2 o1 {}, r4 o2 {}, r1 o3 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1; exceeded [ExceededQuota { group: \"g\", quota: 1.0, weight: 2.0 }]; limits r3 waits: the group h has used 1 of its quota of 1, 1 of it by requests served before, wait, or raise the quota of h; of r0 0 r1 0 r2 1 r3 1 r4 2",
    "quotas <none> 3 0 1, g 1 0 2, h 1 0 2; group g 1 1 0; spin 1 of 1; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; quota 1 reached by 1; group h 1 1 0; spin 1 of 1; turn of h.y@s 1000 to 1 beside 0 for 2; h.y@s r2 o1 not o2/1 by InputOrder weighs 1; quota 1 reached by 1; group <none> 5 5 0; spin 1 of 4; turn of z@s 1000 to 2.5 beside 0 for 1; z@s r4 o2 not o3/1 by InputOrder weighs 1; turn of h.y@s 1000 to 1.5 beside 1 for 1; h.y@s r3 o3 not o4/1 by InputOrder weighs 1; allocation 2; group g 1 1 1; spin 1 of 0; turn of g.x@s 1000 to 0 beside 1 for 1; group h 1 1 2; spin 1 of 0; allocation 3; group g 1 1 1; spin 1 of 0; turn of g.x@s 1000 to 0 beside 1 for 1 | 8 4 1 skipped 0 failed 0; g.x@s 1000 2 1 1; h.y@s 1000 2 2 2; z@s 1000 1 1 1; g.x@s uses 1; h.y@s uses 2; z@s uses 1; starts r0 o0 {}, r2 o1 {}, r4 o2 {}, r3 o3 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1; exceeded [ExceededQuota { group: \"h\", quota: 1.0, weight: 2.0 }]; limits r1 waits: the group g has used 1 of its quota of 1, 1 of it by requests served before, wait, or raise the quota of g; of r0 0 r1 0 r2 1 r3 1 r4 2",
    "quotas <none> 0 0 0, g 2 2 1, h 2 0 2; group h 2 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 2; h.y@s r1 o0 of g.x@s not o1/1 by InputOrder weighs 1; h.y@s r2 o1 of g.x@s not o2/1 by InputOrder weighs 1; quota 2 reached by 2; allocation 2; no turn of g 2 0 | 2 2 1 skipped 0 failed 0; g.x@s 1000 1 0 0; h.y@s 1000 2 2 2; g.x@s uses 0; h.y@s uses 2; preempting 2; limits r0 waits: the group g has used 0 of its quota of 2, wait, or raise the quota of g; of r0 0 r1 1 r2 1",
    "quotas <none> 0 0 0, g 2 3 1, h 2 0 2; group h 2 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 2; h.y@s r1 o0 of g.x@s not o1/1 by InputOrder weighs 1; h.y@s r2 o1 of g.x@s not o2/1 by InputOrder weighs 1; quota 2 reached by 2; group g 2 2 1; spin 1 of 1; turn of g.x@s 1000 to 1 beside 1 for 1; g.x@s r0 o2 of g.x@s not o3/1 by InputOrder weighs 1; spin 2 of 1; allocation 2; group h 2 2 2; spin 1 of 0 | 3 3 1 skipped 0 failed 0; g.x@s 1000 1 1 1; h.y@s 1000 2 2 2; g.x@s uses 1; h.y@s uses 2; preempting 3; of r0 0 r1 1 r2 1",
    "quotas <none> 0 0 0, g 0.75 2 1, h 2.25 0 2; group h 2.25 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 2; h.y@s r1 o0 of g.x@s not o1/1 by InputOrder weighs 1; h.y@s r2 o1 of g.x@s not o2/1 by InputOrder weighs 1; quota 2 reached by 2; group g 0.75 0 0; spin 1 of 0; turn of g.x@s 1000 to 0 beside 0 for 1; allocation 2; group h 2.25 2 2; spin 1 of 0 | 3 2 1 skipped 0 failed 0; g.x@s 1000 1 0 0; h.y@s 1000 2 2 2; g.x@s uses 0; h.y@s uses 2; preempting 2; limits r0 never starts: the group g has used 0 of its quota of 0.75, raise the quota of g; of r0 0 r1 1 r2 1",
    "quotas <none> 0 0 0, g 3 0 1, h 0 0 2; group g 3 3 0; spin 1 of 3; turn of g.x@s 1000 to 3 beside 0 for 1; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; no turn of h 0 0 | 1 1 1 skipped 0 failed 0; g.x@s 1000 1 1 1; h.y@s 1000 2 0 0; g.x@s uses 1; starts r0 o0 {}; left o0 n 1; limits r1 never starts: the group h has used 0 of its quota of 0, raise the quota of h, r2 never starts: the group h has used 0 of its quota of 0, raise the quota of h; of r0 0 r1 1 r2 1",
    "quotas <none> 2 0 1, g 2 0 1, h 2 0 1; group h 2 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 1; h.y@s r1 o0 not o1/1 by InputOrder weighs 1; group <none> 2 2 0; spin 1 of 2; turn of z@s 1000 to 2 beside 0 for 1; z@s r2 o1 not o2/1 by InputOrder weighs 1; group g 2 2 0; spin 1 of 2; turn of g.x@s 1000 to 2 beside 0 for 1; g.x@s r0 o2 not o3/1 by InputOrder weighs 1 | 3 3 1 skipped 0 failed 0; g.x@s 1000 1 1 1; h.y@s 1000 1 1 1; z@s 1000 1 1 1; g.x@s uses 1; h.y@s uses 1; z@s uses 1; starts r1 o0 {}, r2 o1 {}, r0 o2 {}; left o0 n 1, o1 n 1, o2 n 1; of r0 0 r1 1 r2 2",
    "quotas <none> 1 0 1, g 3 0 1, h 2 0 2; group h 2 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 2; h.y@s r1 o0 not o1/1 by InputOrder weighs 1; h.y@s r2 o1 not o2/1 by InputOrder weighs 1; quota 2 reached by 2; group <none> 1 1 0; spin 1 of 1; turn of z@s 1000 to 1 beside 0 for 1; z@s r3 o2 not o3/1 by InputOrder weighs 1; quota 1 reached by 1; group g 3 3 0; spin 1 of 3; turn of g.x@s 1000 to 3 beside 0 for 1; g.x@s r0 o3 not o4/1 by InputOrder weighs 1 | 4 4 1 skipped 0 failed 0; g.x@s 1000 1 1 1; h.y@s 1000 2 2 2; z@s 1000 1 1 1; g.x@s uses 1; h.y@s uses 2; z@s uses 1; starts r1 o0 {}, r2 o1 {}, r3 o2 {}, r0 o3 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1; of r0 0 r1 1 r2 1 r3 2",
    "quotas <none> 2 0 1, g 2 0 1, h 2 0 1; group <none> 2 2 0; spin 1 of 2; turn of z@s 1000 to 2 beside 0 for 1; z@s r2 o0 not o1/1 by InputOrder weighs 1; group g 2 2 0; spin 1 of 2; turn of g.x@s 1000 to 2 beside 0 for 1; g.x@s r0 o1 not o2/1 by InputOrder weighs 1; group h 2 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 1; h.y@s r1 o2 not o3/1 by InputOrder weighs 1 | 3 3 1 skipped 0 failed 0; g.x@s 1000 1 1 1; h.y@s 1000 1 1 1; z@s 1000 1 1 1; g.x@s uses 1; h.y@s uses 1; z@s uses 1; starts r2 o0 {}, r0 o1 {}, r1 o2 {}; left o0 n 1, o1 n 1, o2 n 1; of r0 0 r1 1 r2 2",
    "quotas <none> 2 0 1, g 2 0 3, h 2 0 1; group g 2 2 0; spin 1 of 2; turn of g.x@s 1000 to 2 beside 0 for 3; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; g.x@s r1 o1 not o2/1 by InputOrder weighs 1; quota 2 reached by 2; group h 2 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 1; h.y@s r3 o2 not o3/1 by InputOrder weighs 1; group <none> 6 6 0; spin 1 of 4; turn of z@s 1000 to 3 beside 0 for 1; z@s r4 o3 not o4/1 by InputOrder weighs 1; turn of g.x@s 1000 to 1 beside 2 for 1; g.x@s r2 o4 not o5/1 by InputOrder weighs 1; allocation 2; allocation 3 | 5 5 1 skipped 0 failed 0; g.x@s 1000 3 3 3; h.y@s 1000 1 1 1; z@s 1000 1 1 1; g.x@s uses 3; h.y@s uses 1; z@s uses 1; starts r0 o0 {}, r1 o1 {}, r3 o2 {}, r4 o3 {}, r2 o4 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1, o4 n 1; exceeded [ExceededQuota { group: \"g\", quota: 2.0, weight: 3.0 }]; of r0 0 r1 0 r2 0 r3 1 r4 2",
    "quotas <none> 2 0 0, g 2 0 1, h 2 0 1; group g 2 2 0; spin 1 of 2; turn of g.x@s 1000 to 2 beside 0 for 1; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; group h 2 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 1; h.y@s r1 o1 not o2/1 by InputOrder weighs 1; allocation 2 | 2 2 1 skipped 0 failed 0; g.x@s 1000 1 1 1; h.y@s 1000 1 1 1; g.x@s uses 1; h.y@s uses 1; starts r0 o0 {}, r1 o1 {}; left o0 n 1, o1 n 1; of r0 0 r1 1",
    "quotas <none> 6 0 0, g 1 0 2, h 1 0 2; group g 1 6 0; spin 1 of 6; turn of g.x@s 1000 to 6 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; g.x@s r1 o1 not o2/1 by InputOrder weighs 1; group h 1 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 2; h.y@s r2 o2 not o3/1 by InputOrder weighs 1; h.y@s r3 o3 not o4/1 by InputOrder weighs 1; quota 2 reached by 2; allocation 2 | 4 4 1 skipped 0 failed 0; g.x@s 1000 2 2 2; h.y@s 1000 2 2 2; g.x@s uses 2; h.y@s uses 2; starts r0 o0 {}, r1 o1 {}, r2 o2 {}, r3 o3 {}; left o0 n 1, o1 n 1, o2 n 1, o3 n 1; exceeded [ExceededQuota { group: \"g\", quota: 1.0, weight: 2.0 }, ExceededQuota { group: \"h\", quota: 1.0, weight: 2.0 }]; of r0 0 r1 0 r2 1 r3 1",
    "quotas <none> 1 0 0, g 1 0 3, h 2 0 2; group g 1 2 0; spin 1 of 2; turn of g.x@s 1000 to 2 beside 0 for 3; g.x@s r2 o0 not o1/1 by InputOrder weighs 1; g.x@s r3 o1 not o2/1 by InputOrder weighs 1; quota 2 reached by 2; group h 2 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 2; h.y@s r0 in 0 none of 0, 0 discarded, 0 over None, 0 not beyond, keeps free false; h.y@s r1 in 0 skipped with 1 | 3 2 2 skipped 1 failed 0; g.x@s 1000 3 2 2; h.y@s 1000 2 0 0; g.x@s uses 2; starts r2 o0 {}, r3 o1 {}; left o0 n 1, o1 n 1; exceeded [ExceededQuota { group: \"g\", quota: 1.0, weight: 2.0 }]; limits r4 waits: the group g has used 2 of 2, its quota of 1 and 1 of surplus, 2 of it by requests served before, wait, or raise the quota of g; of r0 1 r1 1 r2 0 r3 0 r4 0",
    "quotas <none> 1 0 0, g 1 0 3, h 2 0 2; group g 1 2 0; spin 1 of 2; turn of g.x@s 1000 to 2 beside 0 for 3; g.x@s r2 o0 not o1/1 by InputOrder weighs 1; g.x@s r3 o1 not o2/1 by InputOrder weighs 1; quota 2 reached by 2; group h 2 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 2; h.y@s r0 in 0 none of 0, 0 discarded, 0 over None, 0 not beyond, keeps free false; h.y@s r1 in 0 skipped with 1; allocation 2; group g 1 3 2; spin 1 of 1; turn of g.x@s 1000 to 1 beside 2 for 1; g.x@s r4 o2 not o3/1 by InputOrder weighs 1; quota 3 reached by 3 | 4 3 2 skipped 1 failed 0; g.x@s 1000 3 3 3; h.y@s 1000 2 0 0; g.x@s uses 3; starts r2 o0 {}, r3 o1 {}, r4 o2 {}; left o0 n 1, o1 n 1, o2 n 1; exceeded [ExceededQuota { group: \"g\", quota: 1.0, weight: 3.0 }]; of r0 1 r1 1 r2 0 r3 0 r4 0",
    "quotas <none> 2 0 0, g 1 0 1, h 1 0 2; group g 1 1 0; spin 1 of 1; g.x@s has its 0; group h 1 1 0; spin 1 of 1; turn of h.y@s 1000 to 1 beside 0 for 2; h.y@s r1 o0 not o1/1 by InputOrder weighs 1; quota 1 reached by 1; allocation 2 | 1 1 1 skipped 0 failed 0; g.x@s 1000 1 0 0; h.y@s 1000 2 1 1; h.y@s uses 1; starts r1 o0 {}; left o0 n 1; limits r0 never starts: g.x@s has used 0 of its ceiling of 0, raise the ceiling of g.x@s, r2 waits: the group h has used 1 of its quota of 1, 1 of it by requests served before, wait, or raise the quota of h; of r0 0 r1 1 r2 1",
];

#[test]
fn groups_have_their_quotas() {
    let [x, y, z, xx] = ["User = \"g.x@s\"", "User = \"h.y@s\"", "User = \"z@s\"", "User = \"g.u.w@s\""];
    let used = "RemoteUser = \"g.x@s\"";
    let rows = [
        ("g: 1, h: 1", "preempts: false", &[x, x, y, z, z][..], &["n = 1"; 4][..]),
        ("g: 1, h: 1", "preempts: true", &[x, x, y, z, z], &["n = 1"; 4]),
        ("g: { quota: 1, surplus: true }, h: 1", "preempts: false", &[x, x, x, y, y, z], &["n = 1"; 5]),
        (
            "g: { quota: 1, surplus: true }, h: { quota: 1, surplus: true }",
            "preempts: false",
            &[x, x, x, x, y, y, y, z],
            &["n = 1"; 7],
        ),
        ("g: { quota: 1, surplus: true }, h: 3", "preempts: true", &[x, x, x, x], &["n = 1"; 4]),
        ("g: 50%, h: 50%", "preempts: false", &[x, x, y, y, z], &["n = 1"; 3]),
        ("g: 1.5, h: 0.5", "preempts: false", &[x, x, y], &["n = 1"; 4]),
        ("g: 2, g.u: 1", "preempts: false", &[x, x, xx, xx], &["n = 1"; 4]),
        ("g: 2, g.u: 1", "preempts: false, oversubscribe: true", &[x, x, xx, xx], &["n = 1"; 4]),
        ("g: 2, g.u: { quota: 1, surplus: true }", "preempts: false", &[xx, xx, xx], &["n = 1"; 4]),
        ("g: { quota: 1, regroup: true }, h: 1", "preempts: false", &[x, x, y, y, z], &["n = 1"; 6]),
        ("g: 1, h: { quota: 1, regroup: true }", "preempts: true", &[x, x, y, y, z], &["n = 1"; 5]),
        ("g: 2, h: 2", "preempts: false", &[x, y, y], &[used, used, "n = 1", "n = 1"]),
        ("g: 2, h: 2", "preempts: true", &[x, y, y], &[used, used, used, "n = 1"]),
        ("g: 1, h: 3", "preempts: true", &[x, y, y], &[used, used, "n = 1"]),
        ("g: 4, h: 0", "preempts: false", &[x, y, y], &["n = 1"; 3]),
        (
            "g: 2, h: 2",
            "preempts: false, group-order: '-GroupQuota + (AccountingGroup is \"h\" ? -9 : 0)'",
            &[x, y, z],
            &["n = 1"; 6],
        ),
        (
            "g: 3, h: 2",
            "preempts: false, group-order: GroupResourcesInUse - GroupResourcesAllocated",
            &[x, y, y, z],
            &["n = 1"; 6],
        ),
        ("g: 2, h: 2", "preempts: false, group-order: missing", &[x, y, z], &["n = 1"; 6]),
        ("g: { quota: 2, regroup: true }, h: 2", "preempts: false, group-order: -1", &[x, x, x, y, z], &["n = 1"; 6]),
        ("g: 2, h: 2", "preempts: false, demand: D", &["User = \"g.x@s\"; D = 5", y], &["n = 1"; 6]),
        (
            "g: { quota: 1, surplus: true }, h: { quota: 1, surplus: true }",
            "preempts: false, demand: D",
            &["User = \"g.x@s\"; D = 5", "User = \"g.x@s\"; D = 5", y, y],
            &["n = 1"; 8],
        ),
        (
            "g: { quota: 1, surplus: true }, h: 2",
            "preempts: false, rounds: 1",
            &["User = \"h.y@s\"; Requirements = false", "User = \"h.y@s\"; Requirements = false", x, x, x],
            &["n = 1"; 4],
        ),
        (
            "g: { quota: 1, surplus: true }, h: 2",
            "preempts: false, rounds: 2",
            &["User = \"h.y@s\"; Requirements = false", "User = \"h.y@s\"; Requirements = false", x, x, x],
            &["n = 1"; 4],
        ),
        ("g: 1, h: 1", "preempts: false, ceilings: { g.x@s: 0 }, floors: { h.y@s: 1 }", &[x, y, y], &["n = 1"; 4]),
    ];
    assert_eq!(rows.len(), QUOTAS.len());
    for ((groups, more, requests, offers), expected) in rows.into_iter().zip(QUOTAS) {
        let policy = format!("share: {{ by: User, in-use-by: RemoteUser, {more}, groups: {{ {groups} }} }}");
        assert_eq!(whole(&policy, requests, offers), expected, "{policy}: {requests:?} {offers:?}");
    }
}

/// What the policy can read of priorities and usage.
#[test]
fn attributes_of_priorities_are_added() {
    let share = "share: { by: User, in-use-by: RemoteUser, priorities: { g.x@s: 5 }, groups: { g: 2, h: 1 } }\n";
    let requests = ["User = \"g.x@s\"", "User = \"z@s\"", "User = \"h.y@s\""];
    let offers = ["RemoteUser = \"g.x@s\"; n = 1", "RemoteUser = \"z@s\"; n = 2", "n = 3", "n = 4"];
    for (docking, expected) in [
        (
            "SubmitterUserPrio",
            "h.y@s r2 o3 not o2/1 by Component(0, [Real(4000.0), Real(3000.0)]) weighs 1; g.x@s r0 o2 not o1/1 by Component(0, [Real(15.0), Real(10.0)]) weighs 1",
        ),
        (
            "SubmitterUserResourcesInUse",
            "h.y@s r2 o0 of g.x@s not o1/1 by InputOrder weighs 1; g.x@s r0 o3 not o2/1 by Component(0, [Real(4.0), Real(3.0)]) weighs 1; z@s r1 o2 not o1/1 by Component(0, [Real(3.0), Real(2.0)]) weighs 1",
        ),
        (
            "SubmitterGroup is \"g\" ? 3 : SubmitterGroup is undefined ? 1 : 2",
            "h.y@s r2 o3 not o2/1 by Component(0, [Integer(8), Integer(6)]) weighs 1; g.x@s r0 o2 not o1/1 by Component(0, [Integer(9), Integer(6)]) weighs 1",
        ),
        (
            "SubmitterGroupQuota ?: -1",
            "h.y@s r2 o3 not o2/1 by Component(0, [Real(4.0), Real(3.0)]) weighs 1; g.x@s r0 o2 not o1/1 by Component(0, [Real(6.0), Real(4.0)]) weighs 1",
        ),
        (
            "SubmitterGroupResourcesInUse ?: -1",
            "h.y@s r2 o0 of g.x@s not o1/1 by InputOrder weighs 1; g.x@s r0 o3 not o2/1 by Component(0, [Real(4.0), Real(3.0)]) weighs 1; z@s r1 o1 of z@s not o2/1 by Component(0, [Integer(-2), Integer(-3)]) weighs 1",
        ),
        (
            "label.RemoteUserPrio ?: -1",
            "h.y@s r2 o1 of z@s not o0/1 by Component(0, [Real(2000.0), Real(5.0)]) weighs 1; g.x@s r0 o0 of g.x@s not o2/1 by Component(0, [Real(5.0), Integer(-3)]) weighs 1; z@s r1 o2 not o3/1 by Component(0, [Integer(-3), Integer(-4)]) weighs 1",
        ),
        (
            "label.RemoteUserResourcesInUse ?: -1",
            "h.y@s r2 o1 of z@s not o0/1 by Component(0, [Real(2.0), Real(1.0)]) weighs 1; g.x@s r0 o0 of g.x@s not o2/1 by Component(0, [Real(1.0), Integer(-3)]) weighs 1; z@s r1 o2 not o3/1 by Component(0, [Integer(-3), Integer(-4)]) weighs 1",
        ),
        (
            "label.RemoteGroup is \"g\" ? 3 : label.RemoteGroup is undefined ? 1 : 2",
            "h.y@s r2 o3 not o0/1 by Component(0, [Integer(4), Integer(3)]) weighs 1; g.x@s r0 o0 of g.x@s not o2/1 by InputOrder weighs 1; z@s r1 o2 not o1/1 by Component(0, [Integer(3), Integer(2)]) weighs 1",
        ),
        (
            "label.RemoteGroupQuota ?: -1",
            "h.y@s r2 o0 of g.x@s not o1/1 by Component(0, [Real(2.0), Integer(-2)]) weighs 1; g.x@s r0 o1 of z@s not o2/1 by Component(0, [Integer(-2), Integer(-3)]) weighs 1; z@s r1 o2 not o3/1 by Component(0, [Integer(-3), Integer(-4)]) weighs 1",
        ),
        (
            "label.RemoteGroupResourcesInUse ?: -1",
            "h.y@s r2 o0 of g.x@s not o1/1 by Component(0, [Real(1.0), Integer(-2)]) weighs 1; g.x@s r0 o1 of z@s not o2/1 by Component(0, [Integer(-2), Integer(-3)]) weighs 1; z@s r1 o2 not o3/1 by Component(0, [Integer(-3), Integer(-4)]) weighs 1",
        ),
        (
            "eval(\"label.RemoteUserPrio + SubmitterUserPrio\") ?: -1",
            "h.y@s r2 o1 of z@s not o0/1 by Component(0, [Real(4000.0), Real(1005.0)]) weighs 1; g.x@s r0 o0 of g.x@s not o2/1 by Component(0, [Real(10.0), Integer(-3)]) weighs 1; z@s r1 o2 not o3/1 by Component(0, [Integer(-3), Integer(-4)]) weighs 1",
        ),
    ] {
        let policy = format!("{share}docking: [ 'label.n * ({docking})' ]\n");
        let found = whole(&policy, &requests, &offers);
        let grants: Vec<&str> = found.split("; ").filter(|event| event.contains(" weighs ")).collect();
        assert_eq!(grants.join("; "), expected, "{docking}");
    }
}

#[test]
fn cycles_by_weight_end_when_the_observer_says_so() {
    let policy =
        "share: { by: User, in-use-by: RemoteUser, preempts: false, groups: { g: 2, h: { quota: 1, surplus: true } } }";
    let requests = [
        "User = \"g.x@s\"",
        "User = \"g.x@s\"",
        "User = \"g.y@s\"",
        "User = \"h.y@s\"",
        "User = \"h.y@s\"",
        "User = \"z@s\"",
    ];
    let [requests, offers] = [ads(Dialect::Condor, &requests), ads(Dialect::Condor, &["n = 1"; 5])];
    for (most, expected) in [
        (
            1,
            "quotas <none> 2 0 1, g 2 0 3, h 1 0 2; group g 2 2 0; spin 1 of 2; group h 1 2 0; spin 1 of 2; group <none> 2 2 0; spin 1 of 2 | 0 0 1 skipped 0 failed 0; g.x@s 1000 2 0 0; g.y@s 1000 1 0 0; h.y@s 1000 2 0 0; z@s 1000 1 0 0; tied {\"g.x@s\", \"g.y@s\"}; of r0 0 r1 0 r2 1 r3 2 r4 2 r5 3",
        ),
        (
            2,
            "quotas <none> 2 0 1, g 2 0 3, h 1 0 2; group g 2 2 0; spin 1 of 2; group h 1 2 0; spin 1 of 2; group <none> 2 2 0; spin 1 of 2 | 0 0 1 skipped 0 failed 0; g.x@s 1000 2 0 0; g.y@s 1000 1 0 0; h.y@s 1000 2 0 0; z@s 1000 1 0 0; tied {\"g.x@s\", \"g.y@s\"}; of r0 0 r1 0 r2 1 r3 2 r4 2 r5 3",
        ),
        (
            3,
            "quotas <none> 2 0 1, g 2 0 3, h 1 0 2; group g 2 2 0; spin 1 of 2; group h 1 2 0; spin 1 of 2; group <none> 2 2 0; spin 1 of 2 | 0 0 1 skipped 0 failed 0; g.x@s 1000 2 0 0; g.y@s 1000 1 0 0; h.y@s 1000 2 0 0; z@s 1000 1 0 0; tied {\"g.x@s\", \"g.y@s\"}; of r0 0 r1 0 r2 1 r3 2 r4 2 r5 3",
        ),
        (
            4,
            "quotas <none> 2 0 1, g 2 0 3, h 1 0 2; group g 2 2 0; spin 1 of 2; turn of g.x@s 1000 to 1 beside 0 for 2; group h 1 2 0; spin 1 of 2; group <none> 2 2 0; spin 1 of 2 | 0 0 1 skipped 0 failed 0; g.x@s 1000 2 0 0; g.y@s 1000 1 0 0; h.y@s 1000 2 0 0; z@s 1000 1 0 0; tied {\"g.x@s\", \"g.y@s\"}; of r0 0 r1 0 r2 1 r3 2 r4 2 r5 3",
        ),
        (
            6,
            "quotas <none> 2 0 1, g 2 0 3, h 1 0 2; group g 2 2 0; spin 1 of 2; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; turn of g.y@s 1000 to 1 beside 0 for 1; group h 1 2 0; spin 1 of 2; group <none> 2 2 0; spin 1 of 2 | 1 1 1 skipped 0 failed 0; g.x@s 1000 2 1 1; g.y@s 1000 1 0 0; h.y@s 1000 2 0 0; z@s 1000 1 0 0; g.x@s uses 1; tied {\"g.x@s\", \"g.y@s\"}; starts r0 o0 {}; left o0 n 1; limits r1 waits: g.x@s has used 1 of its share of 1, by its priority 1,000, 1 of it by requests served before beside others, wait; of r0 0 r1 0 r2 1 r3 2 r4 2 r5 3",
        ),
        (
            8,
            "quotas <none> 2 0 1, g 2 0 3, h 1 0 2; group g 2 2 0; spin 1 of 2; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; turn of g.y@s 1000 to 1 beside 0 for 1; g.y@s r2 o1 not o2/1 by InputOrder weighs 1; quota 2 reached by 2; group h 1 2 0; spin 1 of 2; group <none> 2 2 0; spin 1 of 2 | 2 2 1 skipped 0 failed 0; g.x@s 1000 2 1 1; g.y@s 1000 1 1 1; h.y@s 1000 2 0 0; z@s 1000 1 0 0; g.x@s uses 1; g.y@s uses 1; tied {\"g.x@s\", \"g.y@s\"}; starts r0 o0 {}, r2 o1 {}; left o0 n 1, o1 n 1; limits r1 waits: the group g has used 2 of its quota of 2, 2 of it by requests served before, wait, or raise the quota of g; of r0 0 r1 0 r2 1 r3 2 r4 2 r5 3",
        ),
        (
            11,
            "quotas <none> 2 0 1, g 2 0 3, h 1 0 2; group g 2 2 0; spin 1 of 2; turn of g.x@s 1000 to 1 beside 0 for 2; g.x@s r0 o0 not o1/1 by InputOrder weighs 1; turn of g.y@s 1000 to 1 beside 0 for 1; g.y@s r2 o1 not o2/1 by InputOrder weighs 1; quota 2 reached by 2; group h 1 2 0; spin 1 of 2; turn of h.y@s 1000 to 2 beside 0 for 2; group <none> 2 2 0; spin 1 of 2 | 2 2 1 skipped 0 failed 0; g.x@s 1000 2 1 1; g.y@s 1000 1 1 1; h.y@s 1000 2 0 0; z@s 1000 1 0 0; g.x@s uses 1; g.y@s uses 1; tied {\"g.x@s\", \"g.y@s\"}; starts r0 o0 {}, r2 o1 {}; left o0 n 1, o1 n 1; limits r1 waits: the group g has used 2 of its quota of 2, 2 of it by requests served before, wait, or raise the quota of g; of r0 0 r1 0 r2 1 r3 2 r4 2 r5 3",
        ),
    ] {
        let found = cycle(Dialect::Condor, policy, Accelerations::ALL, [&requests, &offers], most);
        assert_eq!(found, expected, "{most}");
    }
}
