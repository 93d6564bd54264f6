//! What cases ask, and what comes of them.

use super::{code, expressions, json, outcomes, run};

#[test]
fn values_are_compared_by_type_and_meaning() {
    for (expression, expected, passes) in [
        ("1 + 1", "2", true),
        ("1 + 1", "2.0", false),
        ("2.0", "2", false),
        ("2.0", "2.0", true),
        ("4 / 2.0", "!expr 1.0 + 1", true),
        ("\"LINUX\"", "LINUX", true),
        ("\"LINUX\"", "'LINUX'", true),
        ("\"LINUX\"", "linux", false),
        ("\"LINUX\"", "'\"LINUX\"'", false),
        ("\"1\"", "1", false),
        ("\"1\"", "'1'", true),
        ("true", "true", true),
        ("true", "'true'", false),
        ("1", "true", false),
        ("nothing", "undefined", true),
        ("nothing", "~", true),
        ("nothing", "error", false),
        ("\"undefined\"", "undefined", false),
        ("\"undefined\"", "!expr '\"undefined\"'", true),
        ("1 + \"a\"", "error", true),
        ("{ 1, 1 + 1, { nothing } }", "[1, 2, [undefined]]", true),
        ("{ 1, 2 }", "[2, 1]", false),
        ("[ a = 1; b = a + 1 ]", "{ B: 2, a: 1 }", true),
        ("[ a = 1; b = a + 1 ]", "{ a: 1 }", false),
        ("{ }", "[]", true),
        ("real(\"NaN\")", ".nan", true),
        ("real(\"INF\")", ".inf", true),
        ("absTime(\"2026-01-15T00:00:00Z\")", "!expr 'absTime(\"2026-01-15T00:00:00Z\")'", true),
    ] {
        let spec = expressions(&[(expression, expected)]);
        for dialect in ["classad", "condor"] {
            let output = run(&["--dialect", dialect], &spec);
            let shown = String::from_utf8_lossy(&output.stdout);
            assert_eq!(
                output.status.code(),
                Some(i32::from(!passes)),
                "{dialect}: {expression} is {expected}: {shown}"
            );
        }
    }
}

#[test]
fn every_question_has_its_answer() {
    let spec = r#"
dialect: condor
ads:
  machine: { Name: m1, Cpus: 4, LoadAvg: 0.9, Requirements: !expr LoadAvg < 0.3 && TARGET.Cpus <= MY.Cpus }
  idle: { like: machine, with: { Name: m2, LoadAvg: 0.1 } }
  bare: { like: machine, without: [ Requirements, Name ] }
  job: |
    Cpus = 2
    Requirements = TARGET.Cpus >= 2
  pool: [ machine, idle, "[ Cpus = 1; Requirements = true ]" ]
cases:
  - { name: refused, request: job, offer: machine, match: false, refused-by: offer, clause: LoadAvg<0.3 }
  - { name: other clause, request: job, offer: machine, match: false, clause: LoadAvg < 0.4 }
  - { name: accepted, request: job, offer: idle, match: true, refused-by: none, clause: none }
  - { name: no constraint, request: job, offer: bare, match: false, refused-by: offer }
  - name: both
    request: { like: job, with: { Cpus: 9, Requirements: false } }
    offer: idle
    match: false
    refused-by: both
  - { name: found, query: Cpus >= 4, pool: pool, ids: [ m2, m1 ], count: 2 }
  - { name: none found, query: Cpus > 4, pool: pool, ids: none, count: 0 }
  - { name: by place, query: Cpus == 1, pool: pool, ids: "\x233" }
  - { name: by name, query: Cpus == 2, pool: [ job, bare ], ids: job }
  - name: cycle
    requests: [ { like: job, with: { Name: a } }, { like: job, with: { Name: b } }, { like: job, with: { Name: c } } ]
    offers: pool
    matches: { a: m2, b: none }
  - name: divided
    policy: { residual: { set: { Cpus: Cpus - other.Cpus }, while: Cpus > 0 }, order: Prio }
    requests: [ { like: job, with: { Name: a, Prio: 1 } }, { like: job, with: { Name: b, Prio: 2 } } ]
    offers: idle
    matches: { b: m2, a: m2#2 }
  - name: residue
    specialize: LoadAvg < 0.3 && TARGET.Cpus <= MY.Cpus
    my: idle
    residue: TARGET.Cpus <= 4
    verdict: depends
  - { name: attribute, specialize: Requirements, my: machine, residue: "false", verdict: never }
  - { name: met, specialize: Requirements, my: idle, target: job, residue: "true", verdict: always }
"#;
    let found = outcomes(&[], spec);
    let failed: Vec<&String> = found.iter().filter(|outcome| !outcome.ends_with(": passed")).collect();
    assert_eq!(failed, ["other clause: failed, clause LoadAvg < 0.3"], "{found:?}");
    assert_eq!(found.len(), 14);
}

#[test]
fn gangs_are_expected_by_port_or_by_member() {
    let ads = "
ads:
  offers:
    - { file: samples/rendering/service.ad }
    - { file: samples/rendering/machines.ad }
    - { file: samples/rendering/licenses.ad }
  client: { file: samples/rendering/client.ad }
cases:
";
    let case =
        |name: &str, gang: &str| format!("  - {{ name: {name}, request: client, offers: offers, gang: {gang} }}\n");
    // The first case tells what the gang is, in both of its forms.
    let found = outcomes(&[], &(ads.to_owned() + &case("a", "none") + &case("b", "[]")));
    let by_port = found[0].strip_prefix("a: failed, gang ").unwrap();
    let members = found[1].strip_prefix("b: failed, gang ").unwrap();
    assert!(by_port.contains(": voxel") && members.contains("voxel") && by_port.contains('.'), "{found:?}");
    let spec = ads.to_owned()
        + &case("a", &format!("{{ {by_port} }}"))
        + &case("b", &format!("[ {members} ]"))
        + &case(
            "c",
            &format!(
                "[ {} ]",
                members.split(", ").collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(", ")
            ),
        )
        + "  - { name: d, request: client, offers: { file: samples/rendering/machines.ad }, gang: none }\n";
    let found = outcomes(&[], &spec);
    assert_eq!(found.iter().map(|outcome| outcome.contains("passed")).collect::<Vec<_>>(), [true, true, false, true]);
}

#[test]
fn time_chance_and_dialect_are_those_of_the_case() {
    let spec = "now: 1000\nseed: 7\ncases:\n\
                - { name: a, expression: int(random() * 1000000), expect: 0 }\n\
                - { name: b, expression: int(random() * 1000000), expect: 0 }\n\
                - { name: c, seed: 8, expression: int(random() * 1000000), expect: 0 }\n\
                - { name: d, expression: time(), expect: 1000 }\n\
                - { name: e, now: '1970-01-01T00:00:05Z', expression: time(), expect: 5 }\n\
                - { name: f, dialect: condor, expression: true || error, expect: true }\n\
                - { name: g, dialect: classad, expression: true || error, expect: error }\n";
    let all = outcomes(&[], spec);
    // Each case has chance of its own: whether others run does not matter, nor what the command line says.
    assert_eq!(all[0].split_once(':').unwrap().1, all[1].split_once(':').unwrap().1);
    assert_ne!(all[0].split_once(':').unwrap().1, all[2].split_once(':').unwrap().1);
    assert!(all[3..].iter().all(|outcome| outcome.ends_with(": passed")), "{all:?}");
    assert_eq!(outcomes(&["--filter", "B", "--seed", "9", "--now", "5"], spec), all[1..2]);
    // What the spec leaves open is as asked.
    assert_eq!(code(&["--now", "77"], "cases: [ { name: a, expression: time(), expect: 77 } ]"), 0);
    assert_eq!(code(&["--dialect", "condor"], "cases: [ { name: a, expression: true || error, expect: true } ]"), 0);
    // Else an ad in a form of HTCondor's decides, even one that is not used.
    let plain = "cases: [ { name: a, expression: true || error, expect: true } ]\n";
    assert_eq!(code(&[], plain), 1);
    assert_eq!(code(&[], &format!("ads: {{ a: 'x = 1' }}\n{plain}")), 0);
    assert_eq!(code(&[], &format!("ads: {{ a: {{ file: samples/pool/jobs.long }} }}\n{plain}")), 0);
    assert_eq!(code(&[], &format!("ads: {{ a: '[ x = 1 ]' }}\n{plain}")), 1);
}

/// A gang or a match that does not come is told why, not only what came instead.
#[test]
fn what_does_not_come_about_has_reasons() {
    let spec = r#"
dialect: condor
ads:
  m1: { Name: m1, Cpus: 4, Requirements: !expr TARGET.RequestCpus <= MY.Cpus }
  m2: { Name: m2, Cpus: 2, Requirements: !expr TARGET.RequestCpus <= MY.Cpus }
  big: { Name: big, RequestCpus: 8, Requirements: true }
  first: { Name: first, RequestCpus: 1, Requirements: !expr TARGET.Cpus >= 3 }
  second: { like: first, with: { Name: second } }
  host: { Name: host, Memory: 5, Requirements: true }
  gang: "[ Name = \"gang\"; Prio = 1; Ports = { [ Label = cpu; Constraint = cpu.Memroy > 10 ] } ]"
cases:
  - name: cycle
    requests: [ big, first, second ]
    offers: [ m1, m2 ]
    matches: { big: m1, first: m2, second: m1, third: m1 }
  - { name: ports, dialect: classad, request: gang, offers: [ host ], gang: { cpu: host } }
  - { name: members, dialect: classad, request: gang, offers: [ host ], gang: [ host ] }
  - name: roots
    dialect: classad
    policy: { roots: Prio > 3 }
    request: "[ Name = \"idle\"; Prio = 1; Ports = { [ Label = cpu; Constraint = cpu.Memory > 1 ] } ]"
    offers: [ host ]
    gang: [ host ]
  - { name: neither, dialect: classad, policy: { roots: Prio > 3 }, request: gang, offers: [ host ], gang: [ host ] }
"#;
    let report = json(&[], spec);
    let cases = report["files"][0]["cases"].as_array().unwrap();
    let reasons = |case: usize| {
        let reasons = cases[case]["reasons"].as_array().unwrap().iter();
        reasons.map(|reason| reason.as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(
        reasons(0),
        [
            "m1 does not accept big: `TARGET.RequestCpus <= MY.Cpus` is false (MY.Cpus is 4, TARGET.RequestCpus is 8)",
            "first does not accept m2: `TARGET.Cpus >= 3` is false (TARGET.Cpus is 2)",
            "second and m1 accept each other, but first got m1",
            "there is no request called third",
        ]
    );
    let misspelt = "gang gets no gang: cpu stays empty: no offer has Memroy (did you mean Memory? 1 offer has it)";
    assert_eq!([reasons(1), reasons(2)], [[misspelt], [misspelt]]);
    assert_eq!(reasons(3), ["idle is not served: `roots` of the policy is not true for it"]);
    // The policy decides before any offer does.
    assert_eq!(reasons(4), ["gang is not served: `roots` of the policy is not true for it"]);
}
