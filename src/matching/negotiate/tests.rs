//! Cycles of small pools: who gets what, in which order, and what is used.

mod forecasts;
mod whole;

use std::ops::ControlFlow;

use super::{NegotiationEvent, NegotiationSettings, negotiate};
use crate::ad::{Ad, Dialect};
use crate::eval::Context;
use crate::matching::policy::Policy;
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, parse_ad};

fn ads(texts: &[&str]) -> Vec<Ad> {
    let ad = |text: &&str| {
        let text = format!("[ Requirements = true; {text} ]");
        parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    texts.iter().map(ad).collect()
}

/// Returns the events of a cycle, and what each submitter uses after it.
fn cycle(policy: &str, requests: &[&str], offers: &[&str]) -> String {
    cycle_with(policy, f64::INFINITY, requests, offers)
}

/// Returns the events of a cycle in which groups take turns at this rate, and what each submitter uses after it.
fn cycle_with(policy: &str, round_robin_rate: f64, requests: &[&str], offers: &[&str]) -> String {
    let mut policy =
        Policy::parse(policy.as_bytes(), Dialect::Condor).unwrap_or_else(|problems| panic!("{policy}: {problems:?}"));
    if let Some(share) = policy.share.as_mut().and_then(|share| share.weighted.as_mut()) {
        share.round_robin_rate = round_robin_rate;
    }
    let settings = NegotiationSettings::new(policy, Protocol::new(Dialect::Condor), Context::new(Dialect::Condor));
    let mut events = Vec::new();
    let mut tell = |event: NegotiationEvent<'_>| {
        events.extend(text(&event));
        ControlFlow::Continue(())
    };
    let outcome = negotiate(&settings, &ads(requests), &ads(offers), &|_| None, &mut tell).unwrap();
    let used = outcome.used_weight.into_iter().flatten().map(|(name, weight)| format!("{name} uses {weight}"));
    events.into_iter().chain(used).collect::<Vec<_>>().join("; ")
}

fn text(event: &NegotiationEvent<'_>) -> Option<String> {
    let text = match event {
        NegotiationEvent::Round { number, offers } => format!("round {number} of {offers}"),
        NegotiationEvent::Turn { submitter, slice: Some(slice), requests, .. } => {
            format!("{submitter} {slice} for {requests}")
        }
        NegotiationEvent::Matched { grant, weight, .. } => {
            let preempted = grant.offers[0].preempted.as_ref().map(|user| format!(" of {user}")).unwrap_or_default();
            let weight = weight.map(|weight| format!(" ({weight})")).unwrap_or_default();
            format!("r{} gets o{}{preempted}{weight}", grant.request, grant.offers[0].offer)
        }
        NegotiationEvent::Rejected { request, compatible, refusals, .. } => {
            let limit = refusals.limit.as_ref().map(|limit| format!(", {limit}")).unwrap_or_default();
            let over = refusals
                .lightest_over_share
                .map(|weight| format!(", {} over the share from {weight}", refusals.over_share));
            format!("r{request} gets none of {compatible}{}{limit}", over.unwrap_or_default())
        }
        NegotiationEvent::Quotas { groups } => {
            let balance = |group: &super::GroupBalance| {
                format!("{} {} {} {}", group.name, group.quota, group.usage, group.requests)
            };
            format!("quotas {}", groups.iter().map(balance).collect::<Vec<_>>().join(", "))
        }
        NegotiationEvent::Allocation { number } => format!("allocation {number}"),
        NegotiationEvent::Group { name, own, quota, usage } => format!("group {name} {own} {quota} {usage}"),
        NegotiationEvent::GroupSkipped { name, quota, usage } => format!("no turn of {name} {quota} {usage}"),
        NegotiationEvent::Spin { number, weight } => format!("spin {number} of {weight}"),
        NegotiationEvent::QuotaReached { quota, usage } => format!("quota {quota} reached by {usage}"),
        NegotiationEvent::WeightedTurn { submitter, limit, usage, requests, .. } => {
            format!("{submitter} {limit} beside {usage} for {requests}")
        }
        NegotiationEvent::ShareTooSmall { submitter, limit, smallest } => {
            format!("{submitter} has {limit} of {smallest}")
        }
        NegotiationEvent::CeilingReached { submitter, ceiling } => format!("{submitter} has its {ceiling}"),
        NegotiationEvent::Skipped { request, requests, .. } => format!("r{request} skipped with {requests}"),
        _ => return None,
    };
    Some(text)
}

#[test]
fn shares_of_a_number() {
    let by = "share: { by: User }";
    for (policy, requests, offers, expected) in [
        ("order: [ 1 ]", &["", ""][..], &["", "", ""][..], "round 1 of 3; r0 gets o0; r1 gets o1"),
        ("order: [ 1 ]", &["", ""], &["Requirements = false", ""], "round 1 of 2; r0 gets o1; r1 gets none of 1"),
        ("order: [ Prio ]", &["Prio = 1", "Prio = 2"], &[""], "round 1 of 1; r1 gets o0"),
        ("roots: Go", &["Go = false", "Go = true"], &["", ""], "round 1 of 2; r1 gets o0"),
        ("roots: true", &[""], &[""], ""),
        (
            "docking: [ label.Speed ]",
            &["", ""],
            &["Speed = 1", "Speed = 2", "x = 1"],
            "round 1 of 3; r0 gets o1; r1 gets o0",
        ),
        (
            by,
            &["User = \"a\"", "User = \"a\"", "User = \"a\"", "User = \"b\""],
            &["", "", "", ""],
            "round 1 of 4; a 2 for 3; r0 gets o0; r1 gets o1; b 2 for 1; r3 gets o2; round 2 of 1; a 1 for 1; r2 gets o3",
        ),
        (
            "share: { by: User, priorities: { a: 1, b: 3 } }",
            &["User = \"b\"", "User = \"a\"", "User = \"b\"", "User = \"a\"", "User = \"a\""],
            &["", "", "", ""],
            "round 1 of 4; a 3 for 3; r1 gets o0; r3 gets o1; r4 gets o2; b 1 for 2; r0 gets o3",
        ),
        (
            by,
            &["User = \"a\"; ResourceRequestCount = 2", "User = 5"],
            &["", "", ""],
            "round 1 of 3; 5 1 for 1; r1 gets o0; a 1 for 2; r0 gets o1; round 2 of 1; a 1 for 1; r0 gets o2",
        ),
    ] {
        let found = cycle(policy, requests, offers);
        assert_eq!(found, expected, "{policy}: {requests:?} {offers:?}");
    }
}

#[test]
fn shares_by_weight() {
    let [a, b] = ["User = \"a\"", "User = \"b\""];
    let weighed = "weight: W, in-use-by: RemoteUser, demand: \"1\"";
    for (more, requests, offers, expected) in [
        (
            "",
            &[a, a, b][..],
            &["W = 1", "W = 1", "W = 1"][..],
            "spin 1 of 3; a 1.5 beside 0 for 2; r0 gets o0 (1); r1 gets none of 3, 2 over the share from 1; b 1.5 beside 0 for 1; r2 gets o1 (1); spin 2 of 2; a 2 beside 1 for 1; r1 gets o2 (1); a uses 2; b uses 1",
        ),
        (
            "",
            &[a, a, b, b],
            &["W = 4", "W = 4", "W = 4"],
            "spin 1 of 12; a 6 beside 0 for 2; r0 gets o0 (4); r1 gets none of 3, 2 over the share from 4; b 6 beside 0 for 2; r2 gets o1 (4); r3 gets none of 3, 1 over the share from 4; spin 2 of 4; a has 2 of 4; b has 2 of 4; a uses 4; b uses 4",
        ),
        (
            "",
            &[a, b],
            &["W = 3", "W = 1; RemoteUser = \"a\""],
            "spin 1 of 3; b 2 beside 0 for 1; r1 gets o0 (3); a 0 beside 1 for 1; spin 2 of 1; a 1 beside 1 for 1; r0 gets o1 of a (1); a uses 1; b uses 3",
        ),
        (
            "",
            &[a, a, a, a, b, b, b, b],
            &["W = 2", "W = 2", "W = 1"],
            "spin 1 of 5; a 2.5 beside 0 for 4; r0 gets o0 (2); r1 gets none of 3, 2 over the share from 1; b 2.5 beside 0 for 4; r4 gets o1 (2); r5 gets none of 3, 1 over the share from 1; spin 2 of 1; a has 0.5 of 1; b has 0.5 of 1; a uses 2; b uses 2",
        ),
        (
            "",
            &[a, b],
            &["W = 1; RemoteUser = \"b\"", "W = 1; RemoteUser = \"b\""],
            "spin 1 of 1; a 1 beside 0 for 1; r0 gets o0 of b (1); b 0 beside 1 for 1; spin 2 of 0; b has 0 of 1; spin 3 of 1; b 1 beside 1 for 1; r1 gets o1 of b (1); a uses 1; b uses 1",
        ),
        (
            "preempts: false",
            &[a, b],
            &["W = 1", "W = 1; RemoteUser = \"b\""],
            "spin 1 of 1; a 1 beside 0 for 1; r0 gets o0 (1); b 0 beside 1 for 1; spin 2 of 1; b 1 beside 1 for 1; r1 gets o1 of b (1); a uses 1; b uses 1",
        ),
        (
            "beyond: label.Likes",
            &[a, a],
            &["W = 1; RemoteUser = \"a\"; Likes = true", "W = 1; RemoteUser = \"b\""],
            "spin 1 of 1; a 1 beside 1 for 2; r0 gets o0 of a (1); spin 2 of 1; a 1 beside 1 for 1; r1 gets o1 of b (1); a uses 2; b uses 0",
        ),
        (
            "ceilings: { a: 1 }",
            &[a, a, b],
            &["W = 1", "W = 1", "W = 1"],
            "spin 1 of 3; a 1 beside 0 for 2; r0 gets o0 (1); b 1.5 beside 0 for 1; r2 gets o1 (1); spin 2 of 2; a has its 1; a uses 1; b uses 1",
        ),
        (
            "ceilings: { a: 1 }",
            &[a, b],
            &["W = 1; RemoteUser = \"a\"", "W = 1"],
            "spin 1 of 1; b 1 beside 0 for 1; r1 gets o0 of a (1); a 0 beside 0 for 1; spin 2 of 1; a 1 beside 0 for 1; r0 gets o1 (1); a uses 1; b uses 1",
        ),
        (
            "floors: { b: 2 }",
            &[a, a, a, b, b, b],
            &["W = 1", "W = 1", "W = 1", "W = 1"],
            "spin 1 of 4; b 2 beside 0 for 3; r3 gets o0 (1); r4 gets o1 (1); spin 1 of 2; a 2 beside 0 for 3; r0 gets o2 (1); r1 gets o3 (1); b 0 beside 2 for 1; a uses 2; b uses 2",
        ),
        (
            "preempts: false",
            &[a, a, b, b],
            &["W = 1", "W = 0", "W = \"x\"", "W = 0.5"],
            "spin 1 of 2.5; a 1.25 beside 0 for 2; r0 gets o0 (1); r1 gets o1 (0); b 1.25 beside 0 for 2; r2 gets o2 (1); r3 gets none of 4, 1 over the share from 0.5; spin 2 of 1.5; b 1.5 beside 1 for 1; r3 gets o3 (0.5); a uses 1; b uses 1.5",
        ),
    ] {
        let comma = if more.is_empty() { "" } else { ", " };
        let found = cycle(&format!("share: {{ by: User, {weighed}{comma}{more} }}"), requests, offers);
        assert_eq!(found, expected, "{more}: {requests:?} {offers:?}");
    }
}

#[test]
fn quotas_of_groups() {
    let [x, y, z] = ["User = \"g.x@s\"", "User = \"h.y@s\"", "User = \"z@s\""];
    for (groups, requests, offers, expected) in [
        (
            "g: 1, h: 1",
            &[x, x, y, z][..],
            &[""; 4][..],
            "quotas <none> 2 0 1, g 1 0 2, h 1 0 1; group g 1 1 0; spin 1 of 1; g.x@s 1 beside 0 for 2; r0 gets o0 (1); quota 1 reached by 1; group h 1 1 0; spin 1 of 1; h.y@s 1 beside 0 for 1; r2 gets o1 (1); quota 1 reached by 1; group <none> 2 2 0; spin 1 of 2; z@s 2 beside 0 for 1; r3 gets o2 (1); g.x@s uses 1; h.y@s uses 1; z@s uses 1",
        ),
        (
            "g: 50%, h: 25%",
            &[x, x, x, y],
            &[""; 4],
            "quotas <none> 1 0 0, g 2 0 3, h 1 0 1; group g 2 2 0; spin 1 of 2; g.x@s 2 beside 0 for 3; r0 gets o0 (1); r1 gets o1 (1); quota 2 reached by 2; group h 1 1 0; spin 1 of 1; h.y@s 1 beside 0 for 1; r3 gets o2 (1); quota 1 reached by 1; g.x@s uses 2; h.y@s uses 1",
        ),
        (
            "g: { quota: 1, surplus: true }, h: 2",
            &[x, x, x],
            &[""; 4],
            "quotas <none> 1 0 0, g 1 0 3, h 2 0 0; group g 1 3 0; spin 1 of 3; g.x@s 3 beside 0 for 3; r0 gets o0 (1); r1 gets o1 (1); r2 gets o2 (1); quota 3 reached by 3; g.x@s uses 3",
        ),
        (
            "g: { quota: 1, surplus: true }, h: { quota: 1, surplus: true }",
            &[x, x, x, y, y, y],
            &[""; 4],
            "quotas <none> 2 0 0, g 1 0 3, h 1 0 3; group g 1 2 0; spin 1 of 2; g.x@s 2 beside 0 for 3; r0 gets o0 (1); r1 gets o1 (1); quota 2 reached by 2; group h 1 2 0; spin 1 of 2; h.y@s 2 beside 0 for 3; r3 gets o2 (1); r4 gets o3 (1); g.x@s uses 2; h.y@s uses 2",
        ),
        (
            "g: 2, h: 2",
            &[x, x, x],
            &["RemoteUser = \"g.x@s\"", "RemoteUser = \"g.x@s\"", "", ""],
            "quotas <none> 0 0 0, g 2 2 3, h 2 0 0; no turn of g 2 2; g.x@s uses 2",
        ),
        (
            "g: { quota: 1, regroup: true }",
            &[x, x, z],
            &[""; 3],
            "quotas <none> 2 0 1, g 1 0 2; group g 1 1 0; spin 1 of 1; g.x@s 1 beside 0 for 2; r0 gets o0 (1); quota 1 reached by 1; group <none> 3 3 0; spin 1 of 2; z@s 1.5 beside 0 for 1; r2 gets o1 (1); g.x@s 0.5 beside 1 for 1; r1 gets o2 (1); g.x@s uses 2; z@s uses 1",
        ),
    ] {
        let policy = format!("share: {{ by: User, in-use-by: RemoteUser, preempts: false, groups: {{ {groups} }} }}");
        let found = cycle(&policy, requests, offers);
        assert_eq!(found, expected, "{groups}: {requests:?} {offers:?}");
    }
}

/// As in HTCondor, a group to which no slot is allocated has no turn, also if it could preempt.
#[test]
fn a_group_without_slots_is_skipped() {
    let [x, y] = ["User = \"g.x@s\"", "User = \"h.y@s\""];
    let used = "RemoteUser = \"g.x@s\"";
    for (groups, preempts, offers, skipped) in [
        ("g: 1, h: 0", false, &[""; 2][..], &["h 0 0"][..]),
        ("g: 1, h: 0", true, &[""; 2], &["h 0 0"]),
        ("g: 0, h: 0", true, &[""; 2], &["g 0 0", "h 0 0"]),
        ("g: 1, h: 1", true, &[""; 2], &[]),
        // A group that uses all of its slots has a turn only if it may preempt.
        ("g: 1, h: 1", false, &["", used], &["g 1 1"]),
        ("g: 1, h: 1", true, &["", used], &[]),
    ] {
        let policy =
            format!("share: {{ by: User, in-use-by: RemoteUser, preempts: {preempts}, groups: {{ {groups} }} }}");
        let found = cycle(&policy, &[x, y], offers);
        let of = found.split("; ").filter_map(|event| event.strip_prefix("no turn of "));
        assert_eq!(of.collect::<Vec<_>>(), skipped, "{policy} {offers:?}: {found}");
    }
}

/// The turns of groups: what each may use, with what it uses already, and what it gets.
#[test]
fn groups_take_turns_at_a_finite_rate() {
    let [x, y] = ["User = \"g.x@s\"", "User = \"h.y@s\""];
    let (equal, used) = ("g: 2, h: 2", &["RemoteUser = \"g.x@s\"", "", "", ""][..]);
    for (rate, groups, requests, offers, expected) in [
        (
            f64::INFINITY,
            equal,
            &[x, x, y, y][..],
            &[""; 4][..],
            "group g 2 2 0; r0 gets o0 (1); r1 gets o1 (1); group h 2 2 0; r2 gets o2 (1); r3 gets o3 (1)",
        ),
        (
            1.0,
            equal,
            &[x, x, y, y],
            &[""; 4],
            "group g 2 1 0; r0 gets o0 (1); group h 2 1 0; r2 gets o1 (1); group g 2 2 1; r1 gets o2 (1); group h 2 2 1; r3 gets o3 (1)",
        ),
        (
            2.0,
            equal,
            &[x, x, y, y],
            &[""; 4],
            "group g 2 2 0; r0 gets o0 (1); r1 gets o1 (1); group h 2 2 0; r2 gets o2 (1); r3 gets o3 (1)",
        ),
        (
            1.5,
            equal,
            &[x, x, y, y],
            &[""; 4],
            "group g 2 1 0; r0 gets o0 (1); group h 2 1 0; r2 gets o1 (1); group g 2 2 1; r1 gets o2 (1); group h 2 2 1; r3 gets o3 (1)",
        ),
        (
            1.0,
            "g: 1, h: 3",
            &[x, x, y, y, y, y],
            &[""; 4],
            "group g 1 0 0; group h 3 1 0; r2 gets o0 (1); group g 1 0 0; group h 3 2 1; r3 gets o1 (1); group g 1 1 0; r0 gets o2 (1); group h 3 3 2; r4 gets o3 (1)",
        ),
        (
            1.0,
            "g: { quota: 1, surplus: true }, h: { quota: 1, surplus: true }",
            &[x, x, x, y, y, y],
            &[""; 4],
            "group g 1 1 0; r0 gets o0 (1); group h 1 1 0; r3 gets o1 (1); group g 1 2 1; r1 gets o2 (1); group h 1 2 1; r4 gets o3 (1)",
        ),
        (
            1.0,
            equal,
            &[x, x, y, y],
            used,
            "group h 2 1 0; r2 gets o0 of g.x@s (1); group g 2 1 0; r0 gets o1 (1); group h 2 2 1; r3 gets o2 (1); group g 2 2 1; r1 gets o3 (1)",
        ),
    ] {
        let policy = format!("share: {{ by: User, in-use-by: RemoteUser, preempts: false, groups: {{ {groups} }} }}");
        let found = cycle_with(&policy, rate, requests, offers);
        let is_of_turns = |event: &&str| event.starts_with("group ") || event.contains(" gets ");
        let turns: Vec<&str> = found.split("; ").filter(is_of_turns).collect();
        assert_eq!(turns.join("; "), expected, "{rate} {groups}: {requests:?} {offers:?}");
    }
}

#[test]
fn concurrency_limits() {
    for (limits, requests, offers, expected) in [
        (
            "max: { sw: 2 }",
            &["L = \"sw\""; 3][..],
            &[""; 4][..],
            "round 1 of 4; r0 gets o0; r1 gets o1; r2 gets none of 4, concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1; round 2 of 2; r2 gets none of 4, concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1",
        ),
        (
            "max: { sw: 2 }",
            &["L = \"sw:2\"", "L = \"sw\"", "x = 1"],
            &[""; 4],
            "round 1 of 4; r0 gets o0; r1 gets none of 4, concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1; r2 gets o1; round 2 of 2; r1 gets none of 4, concurrency limit sw: 2 of 2 in use, 2 of them by requests served before; the request needs 1",
        ),
        (
            "max: { sw: 2 }",
            &["L = \"sw:3\""],
            &[""],
            "round 1 of 1; r0 gets none of 1, concurrency limit sw, which allows 2; the request needs 3",
        ),
        (
            "max: { sw: 2 }",
            &["L = \"sw\"", "L = \"sw\""],
            &["Used = \"sw\"", ""],
            "round 1 of 2; r0 gets o0; r1 gets o1",
        ),
        (
            "max: { db.*: 1 }, default: 1",
            &["L = \"db.a\"", "L = \"db.b\"", "L = \"db.a\"", "L = \"t\"", "L = \"t\""],
            &[""; 5],
            "round 1 of 5; r0 gets o0; r1 gets o1; r2 gets none of 5, concurrency limit db.a: 1 of 1 in use, 1 of them by requests served before; the request needs 1; r3 gets o2; r4 gets none of 5, concurrency limit t: 1 of 1 in use, 1 of them by requests served before; the request needs 1; round 2 of 2; r2 gets none of 5, concurrency limit db.a: 1 of 1 in use, 1 of them by requests served before; the request needs 1; r4 gets none of 5, concurrency limit t: 1 of 1 in use, 1 of them by requests served before; the request needs 1",
        ),
        (
            "max: { sw: 1, t: 2 }",
            &["L = \"sw, t\"", "L = \"t:2\"", "L = \"t\""],
            &[""; 3],
            "round 1 of 3; r0 gets o0; r1 gets none of 3, concurrency limit t: 1 of 2 in use, 1 of them by requests served before; the request needs 2; r2 gets o1; round 2 of 1; r1 gets none of 3, concurrency limit t: 2 of 2 in use, 2 of them by requests served before; the request needs 2",
        ),
        (
            "max: { sw: 1 }",
            &["L = TARGET.Needs"; 2],
            &["Needs = \"sw\"", "Needs = \"sw\"", "Needs = \"other\""],
            "round 1 of 3; r0 gets o0; r1 gets o2",
        ),
    ] {
        let found = cycle(&format!("limits: {{ needs: L, in-use: Used, {limits} }}"), requests, offers);
        assert_eq!(found, expected, "{limits}: {requests:?} {offers:?}");
    }
}
