//! Requests with and without ports in one negotiation cycle.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use classad::ad::{Ad, Dialect};
use classad::eval::Context;
use classad::matching::negotiate::{
    GangSettings, NegotiationEvent, NegotiationOutcome, NegotiationSettings, PortUse, negotiate,
};
use classad::matching::policy::Policy;
use classad::matching::{Accelerations, GreedyMatcher};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};
use fastrand::Rng;

use super::binary::{classad, file};
use super::random::seeds;

fn ad(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(0..from.len())]
}

/// A request with up to three ports, or without.
fn request(random: &mut Rng, ports_in_ten: u8) -> Ad {
    let own = format!(
        "Owner = \"{}\"; Prio = {}; Size = {}; Site = {}; Args = {};",
        pick(random, &["alice", "bob", "carol"]),
        random.i32(0..3),
        random.i32(1..4),
        random.i32(0..2),
        random.i32(0..3)
    );
    let count = pick(random, &["", "", "", "ResourceRequestCount = 2;"]);
    if random.u8(0..10) >= ports_in_ten {
        let constraint = pick(random, &["other.Size >= Size", "true", "other.Kind == \"cpu\"", "other.Site == Site"]);
        let rank = pick(random, &["", "Rank = other.Size;", "Rank = -other.Size;"]);
        return ad(&format!("[ {own} {count} Constraint = {constraint}; {rank} ]"));
    }
    let constraints = [
        "{l}.Size >= Size",
        "{l}.Kind == \"cpu\"",
        "{l}.Kind == \"lic\" && {l}.Site == Site",
        "{l}.Site == a.Site",
        "{l}.Size > a.Size",
        "true",
    ];
    let labels = &["a", "b", "c"][..random.usize(1..4)];
    let ports: Vec<String> = labels
        .iter()
        .enumerate()
        .map(|(place, label)| {
            let usable = if place == 0 { &constraints[..3] } else { &constraints[..] };
            let constraint = pick(random, usable).replace("{l}", label);
            let rank = pick(random, &["", "Rank = {l}.Size;", "Rank = -{l}.Site;"]).replace("{l}", label);
            format!("[ Label = {label}; Constraint = {constraint}; {rank} ]")
        })
        .collect();
    ad(&format!("[ {own} {count} Ports = {{ {} }} ]", ports.join(", ")))
}

/// An offer; some have a port for a request and one for another offer.
fn offer(random: &mut Rng, ports_in_ten: u8) -> Ad {
    let own = format!(
        "Kind = \"{}\"; Size = {}; Site = {}; Split = {};",
        pick(random, &["cpu", "cpu", "lic"]),
        random.i32(1..6),
        random.i32(0..2),
        random.bool()
    );
    let user = pick(random, &["", "", "RemoteUser = \"dave\";"]);
    let constraint = pick(random, &["true", "other.Size <= Size", "other.Owner == \"alice\"", "other.Site == Site"]);
    let rank = pick(random, &["", "Rank = other.Size;", "Rank = other.Prio;"]);
    if random.u8(0..10) >= ports_in_ten {
        return ad(&format!("[ {own} {user} Constraint = {constraint}; {rank} ]"));
    }
    let constraint = pick(random, &["true", "job.Size <= 2", "job.Owner == \"bob\""]);
    let needs = pick(random, &["more.Kind == \"lic\"", "more.Size < Size", "more.Site == Site"]);
    ad(&format!(
        "[ {own} {user} Ports = {{ [ Label = job; Constraint = {constraint} ], [ Label = more; Constraint = {needs} ] }} ]"
    ))
}

fn policy(random: &mut Rng, with_share: bool) -> Policy {
    let mut text = String::from("roots: Args < 2\n");
    let mut part = |chance: u8, lines: &[&str]| {
        if random.u8(0..10) < chance {
            text.push_str(pick(random, lines));
        }
    };
    part(6, &["order: Prio\n", "order: [ Owner, -Size ]\n"]);
    part(4, &["docking: -label.Size\n", "docking: [ 'label.RemoteUser is undefined', 'label.Size' ]\n"]);
    part(6, &["residual: { when: Split, set: { Size: Size - 1, Last: other.Owner }, while: Size > 0 }\n"]);
    if with_share {
        part(10, &["share: { by: Owner, priorities: { alice: 1, bob: 3 } }\n", "share: { by: Site }\n"]);
    }
    Policy::parse(text.as_bytes(), Dialect::Classad).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

fn run(settings: &NegotiationSettings, requests: &[Ad], offers: &[Ad]) -> NegotiationOutcome {
    negotiate(settings, requests, offers, &|_| None, &mut |_| ControlFlow::Continue(())).expect("numbers compare")
}

fn settings(policy: &Policy, accelerations: Accelerations, ports: PortUse) -> NegotiationSettings {
    let settings =
        NegotiationSettings::new(policy.clone(), Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
    NegotiationSettings { accelerations, gangs: GangSettings { ports, ..GangSettings::default() }, ..settings }
}

/// The requests, their units, and the parts of offers that they got.
fn matches(outcome: &NegotiationOutcome) -> Vec<(usize, Option<usize>, Vec<(usize, usize)>)> {
    let offers = |grant: &classad::matching::negotiate::Grant| {
        grant.offers.iter().map(|granted| (granted.offer, granted.part)).collect()
    };
    outcome.grants.iter().map(|grant| (grant.request, grant.unit, offers(grant))).collect()
}

#[test]
fn accelerations_change_no_match() {
    let (mut gangs, mut pairs, mut skipped) = (0, 0, 0);
    for seed in seeds() {
        let mut random = Rng::with_seed(seed);
        let ports = pick(&mut random, &["0", "5", "9"]).parse().expect("a number");
        let requests: Vec<Ad> = (0..random.usize(0..14)).map(|_| request(&mut random, ports)).collect();
        let offered = if random.bool() { 0 } else { 3 };
        let offers: Vec<Ad> = (0..random.usize(0..10)).map(|_| offer(&mut random, offered)).collect();
        let policy = policy(&mut random, true);
        let plain = run(&settings(&policy, Accelerations::NONE, PortUse::Needed), &requests, &offers);
        for switches in 1..8 {
            let [autoclusters, match_lists, index] = [1, 2, 4].map(|bit| switches & bit != 0);
            let accelerations = Accelerations { autoclusters, match_lists, index };
            let outcome = run(&settings(&policy, accelerations, PortUse::Needed), &requests, &offers);
            assert_eq!(plain.grants, outcome.grants, "seed {seed}, {accelerations:?}");
            assert_eq!(plain.submitters, outcome.submitters, "seed {seed}, {accelerations:?}");
            skipped += outcome.statistics.skipped;
        }
        let granted: usize = plain.grants.iter().map(|grant| grant.offers.len()).sum();
        assert_eq!(granted, plain.submitters.iter().map(|(_, offers)| offers).sum::<usize>(), "seed {seed}");
        let parts: BTreeSet<(usize, usize)> = matches(&plain).into_iter().flat_map(|(_, _, parts)| parts).collect();
        assert_eq!(parts.len(), granted, "seed {seed}: a part of an offer is given away once");
        gangs += plain.grants.iter().filter(|grant| grant.offers.len() > 1).count();
        pairs += plain.grants.iter().filter(|grant| grant.gang.is_none()).count();
    }
    assert!(gangs > 100 && pairs > 300 && skipped > 500, "{gangs} {pairs} {skipped}");
}

/// `negotiate` searches a gang only where one is needed, `gangmatch` for each request, `match` for none.
#[test]
fn all_commands_make_the_same_matches() {
    let (mut compared, mut without_ports) = (0, 0);
    for seed in seeds() {
        let mut random = Rng::with_seed(seed);
        let ports = if random.bool() { 0 } else { 5 };
        let requests: Vec<Ad> = (0..random.usize(0..14)).map(|_| request(&mut random, ports)).collect();
        let offers: Vec<Ad> = (0..random.usize(0..10)).map(|_| offer(&mut random, ports / 2)).collect();
        let policy = policy(&mut random, false);
        let needed = run(&settings(&policy, Accelerations::ALL, PortUse::Needed), &requests, &offers);
        let always = run(&settings(&policy, Accelerations::NONE, PortUse::Always), &requests, &offers);
        assert_eq!(matches(&needed), matches(&always), "seed {seed}");
        if ports == 0 {
            let ignored = run(&settings(&policy, Accelerations::ALL, PortUse::Ignored), &requests, &offers);
            assert_eq!(matches(&needed), matches(&ignored), "seed {seed}");
            without_ports += ignored.grants.len();
        }
        compared += needed.grants.len();
    }
    assert!(compared > 1000 && without_ports > 500, "{compared} {without_ports}");
}
