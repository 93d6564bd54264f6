//! What remains of offers.

use crate::ad::{Ad, Dialect, Name};
use crate::eval::{Context, Environment};
use crate::matching::policy::Policy;
use crate::syntax::{ParseOptions, parse_ad};

fn ad(text: &str) -> Ad {
    parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
}

fn shown(ad: &Ad) -> String {
    ad.iter().map(|of| format!("{} = {}", of.name, of.expression)).collect::<Vec<_>>().join("; ")
}

/// Returns what a request leaves of an offer, and whether it is offered again and kept.
fn rest(policy: &str, request: &str, offer: &str, max_steps: Option<u64>) -> String {
    let policy = format!("residual:\n{policy}");
    let residual = Policy::parse(policy.as_bytes(), Dialect::Condor).unwrap().residual.unwrap();
    let mut context = Context::new(Dialect::Condor);
    context.max_steps = max_steps.unwrap_or(context.max_steps);
    let (environment, [_, frame]) = Environment::pair(ad(request), ad(offer));
    let names: Vec<&str> = residual.names().map(Name::as_str).collect();
    let keeps = residual.keeps(&ad(offer), &context).ok();
    match residual.rest(&frame, &environment, &context) {
        Ok(Some(rest)) => {
            let is_offered = residual.is_offered(&rest, &context).ok();
            format!("{} | {names:?} offered {is_offered:?}, keeps {keeps:?}", shown(&rest))
        }
        Ok(None) => format!("all | keeps {keeps:?}"),
        Err(abort) => format!("{abort} | keeps {keeps:?}"),
    }
}

const GPUS: &str =
    "AvailableGPUs = { GPUs_a, GPUs_b, GPUs_c }; GPUs_a = [ m = 8 ]; GPUs_b = [ m = 16 ]; GPUs_c = [ m = 8 ]";

/// Policies, requests and offers, and what the request leaves.
const RESTS: &[(&str, &str, &str, &str)] = &[
    (
        "  set: { Cpus: Cpus - TARGET.RequestCpus }",
        "RequestCpus = 3",
        "Cpus = 8; Name = \"s\"",
        "Cpus = 5; Name = \"s\" | [\"Cpus\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  set: { Cpus: Cpus - TARGET.RequestCpus }\n  while: Cpus > 0",
        "RequestCpus = 8",
        "Cpus = 8",
        "Cpus = 0 | [\"Cpus\"] offered Some(false), keeps Some(false)",
    ),
    (
        "  set: { Cpus: Cpus - TARGET.RequestCpus }\n  while: Cpus > 0",
        "x = 1",
        "Cpus = 8",
        "Cpus = undefined | [\"Cpus\"] offered Some(false), keeps Some(false)",
    ),
    (
        "  when: Whole\n  set: { Cpus: 0 }",
        "Whole = false",
        "Cpus = 8; Whole = true",
        "Cpus = 0; Whole = true | [\"Cpus\"] offered Some(true), keeps Some(false)",
    ),
    ("  when: Whole\n  set: { Cpus: 0 }", "Whole = true", "Cpus = 8; Whole = false", "all | keeps Some(false)"),
    ("  when: Whole\n  set: { Cpus: 0 }", "x = 1", "Cpus = 8", "all | keeps Some(false)"),
    (
        "  when: Whole\n  set: { Cpus: 0 }",
        "x = 1",
        "Cpus = 8; Whole = 1",
        "Cpus = 0; Whole = 1 | [\"Cpus\"] offered Some(true), keeps Some(false)",
    ),
    ("  keep: Stays\n  when: false", "x = 1", "Cpus = 8; Stays = true", "all | keeps Some(true)"),
    ("  keep: Stays\n  when: false", "x = 1", "Cpus = 8; Stays = 0", "all | keeps Some(false)"),
    // An attribute is that of the offer before the match.
    (
        "  set: { A: A - 1, B: A * 10, C: missing, D: 1 / 0 }",
        "A = 7",
        "A = 4",
        "A = 3; B = 40; C = undefined; D = error | [\"A\", \"B\", \"C\", \"D\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  set: { A: \"{ 1, other.x, { my.y } }\" }",
        "x = 2",
        "y = 3",
        "y = 3; A = { 1, 2, { 3 } } | [\"A\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  set: { A: \"[ x = 1 ]\", B: \"{ [ x = 1 ] }\" }",
        "x = 2",
        "y = 3",
        "y = 3; A = error; B = { error } | [\"A\", \"B\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { AvailableGPUs: 2 }",
        "x = 1",
        GPUS,
        "AvailableGPUs = { GPUs_c }; GPUs_a = [ m = 8 ]; GPUs_b = [ m = 16 ]; GPUs_c = [ m = 8 ] | [\"AvailableGPUs\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { AvailableGPUs: 3 }",
        "x = 1",
        GPUS,
        "AvailableGPUs = { }; GPUs_a = [ m = 8 ]; GPUs_b = [ m = 16 ]; GPUs_c = [ m = 8 ] | [\"AvailableGPUs\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { AvailableGPUs: 4 }",
        "x = 1",
        GPUS,
        "AvailableGPUs = { }; GPUs_a = [ m = 8 ]; GPUs_b = [ m = 16 ]; GPUs_c = [ m = 8 ] | [\"AvailableGPUs\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { AvailableGPUs: 0 }",
        "x = 1",
        GPUS,
        "AvailableGPUs = { GPUs_a, GPUs_b, GPUs_c }; GPUs_a = [ m = 8 ]; GPUs_b = [ m = 16 ]; GPUs_c = [ m = 8 ] | [\"AvailableGPUs\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { AvailableGPUs: -1 }",
        "x = 1",
        GPUS,
        "AvailableGPUs = { GPUs_a, GPUs_b, GPUs_c }; GPUs_a = [ m = 8 ]; GPUs_b = [ m = 16 ]; GPUs_c = [ m = 8 ] | [\"AvailableGPUs\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { AvailableGPUs: 1.5 }",
        "x = 1",
        GPUS,
        "AvailableGPUs = { GPUs_a, GPUs_b, GPUs_c }; GPUs_a = [ m = 8 ]; GPUs_b = [ m = 16 ]; GPUs_c = [ m = 8 ] | [\"AvailableGPUs\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { AvailableGPUs: TARGET.n }",
        "n = 1",
        GPUS,
        "AvailableGPUs = { GPUs_b, GPUs_c }; GPUs_a = [ m = 8 ]; GPUs_b = [ m = 16 ]; GPUs_c = [ m = 8 ] | [\"AvailableGPUs\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { AvailableGPUs: TARGET.n }",
        "m = 1",
        GPUS,
        "AvailableGPUs = { GPUs_a, GPUs_b, GPUs_c }; GPUs_a = [ m = 8 ]; GPUs_b = [ m = 16 ]; GPUs_c = [ m = 8 ] | [\"AvailableGPUs\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { Others: 1 }",
        "n = 1",
        GPUS,
        "AvailableGPUs = { GPUs_a, GPUs_b, GPUs_c }; GPUs_a = [ m = 8 ]; GPUs_b = [ m = 16 ]; GPUs_c = [ m = 8 ] | [\"Others\"] offered Some(true), keeps Some(false)",
    ),
    ("  take: { Number: 1 }", "n = 1", "Number = 4", "Number = 4 | [\"Number\"] offered Some(true), keeps Some(false)"),
    (
        "  take: { L: { count: 1, if: TARGET.Need } }",
        "Need = m > 10",
        "L = { [ m = 8 ], [ m = 16 ], [ m = 32 ] }",
        "L = { [ m = 8 ], [ m = 32 ] } | [\"L\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { L: { count: 2, if: TARGET.Need } }",
        "Need = m > 10",
        "L = { [ m = 8 ], [ m = 16 ], [ m = 32 ] }",
        "L = { [ m = 8 ] } | [\"L\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { L: { count: 3, if: TARGET.Need } }",
        "Need = m > 10",
        "L = { [ m = 8 ], [ m = 16 ], [ m = 32 ] }",
        "L = { [ m = 8 ] } | [\"L\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { L: { count: 1, if: TARGET.Need } }",
        "Need = m > 99",
        "L = { [ m = 8 ], [ m = 16 ] }",
        "L = { [ m = 16 ] } | [\"L\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  take: { L: { count: 1, if: TARGET.Need } }",
        "x = 1",
        "L = ({ [ m = 8 ], [ m = 16 ] })",
        "L = { [ m = 16 ] } | [\"L\"] offered Some(true), keeps Some(false)",
    ),
    (
        "  set: { L: \"{ 1, 2 }\" }\n  take: { L: 1, K: 1 }",
        "x = 1",
        "L = { 7 }; K = { 8, 9 }",
        "L = { 2 }; K = { 9 } | [\"L\", \"L\", \"K\"] offered Some(true), keeps Some(false)",
    ),
];

#[test]
fn rests_have_what_the_request_leaves() {
    for &(policy, request, offer, expected) in RESTS {
        assert_eq!(rest(policy, request, offer, None), expected, "{policy} | {request} | {offer}");
    }
}

#[test]
fn rests_that_take_too_long_are_not_known() {
    let long = ["TARGET.x"; 200].join(" + ");
    for (policy, expected) in [
        (format!("  when: {long} > 0"), "evaluation took more than 100 steps | keeps Some(false)"),
        (format!("  set: {{ A: {long} }}"), "evaluation took more than 100 steps | keeps Some(false)"),
        (format!("  set: {{ A: '{{ {long} }}' }}"), "evaluation took more than 100 steps | keeps Some(false)"),
        (format!("  take: {{ L: {long} }}"), "evaluation took more than 100 steps | keeps Some(false)"),
        (
            format!("  take: {{ L: {{ count: 1, if: {long} }} }}"),
            "evaluation took more than 100 steps | keeps Some(false)",
        ),
        (
            format!("  set: {{ A: 1 }}\n  while: {long}\n  keep: {long}"),
            "L = { [ m = 1 ], [ m = 2 ] }; A = 1 | [\"A\"] offered None, keeps None",
        ),
    ] {
        assert_eq!(rest(&policy, "x = 1", "L = { [ m = 1 ], [ m = 2 ] }", Some(100)), expected, "{policy}");
    }
}

/// Lists in lists are evaluated, up to a depth.
#[test]
fn lists_of_rests_are_nested_so_deep() {
    for (depth, is_whole) in [(1, true), (31, true), (32, true), (33, false), (34, false)] {
        let list = format!("{}other.x{}", "{ ".repeat(depth), " }".repeat(depth));
        let found = rest(&format!("  set: {{ A: \"{list}\" }}"), "x = 2", "y = 3", None);
        assert_eq!((found.contains('2'), found.contains("error")), (is_whole, !is_whole), "{depth}: {found}");
    }
}
