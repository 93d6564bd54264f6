//! Requests with and without ports in one negotiation cycle.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use classad::ad::{Ad, Dialect, Name};
use classad::eval::Context;
use classad::matching::Accelerations;
use classad::matching::gang::Gangmatcher;
use classad::matching::negotiate::{
    DecidingDifference, GangSettings, Grant, NegotiationOutcome, NegotiationSettings, PortUse, negotiate,
};
use classad::matching::policy::Policy;
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad, parse_expression};
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

/// A request, the number of its unit, and the parts of offers that it got.
#[derive(Debug, PartialEq)]
struct Matched {
    request: usize,
    unit: Option<usize>,
    offers: Vec<(usize, usize)>,
}

fn matches(outcome: &NegotiationOutcome) -> Vec<Matched> {
    let matched = |grant: &Grant| Matched {
        request: grant.request,
        unit: grant.unit,
        offers: grant.offers.iter().map(|granted| (granted.offer, granted.part)).collect(),
    };
    outcome.grants.iter().map(matched).collect()
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
        // Each combination of accelerations has its turn.
        for switches in [1 + seed % 7, 1 + (seed + 3) % 7] {
            let [autoclusters, match_lists, index] = [1, 2, 4].map(|bit| switches & bit != 0);
            let accelerations = Accelerations { autoclusters, match_lists, index };
            let outcome = run(&settings(&policy, accelerations, PortUse::Needed), &requests, &offers);
            assert_eq!(plain.grants, outcome.grants, "seed {seed}, {accelerations:?}");
            assert_eq!(plain.submitters, outcome.submitters, "seed {seed}, {accelerations:?}");
            skipped += outcome.statistics.skipped;
        }
        let granted: usize = plain.grants.iter().map(|grant| grant.offers.len()).sum();
        assert_eq!(granted, plain.submitters.iter().map(|of| of.offers).sum::<usize>(), "seed {seed}");
        let given: BTreeSet<(usize, usize)> = matches(&plain).into_iter().flat_map(|matched| matched.offers).collect();
        assert_eq!(given.len(), granted, "seed {seed}: a part of an offer is given away once");
        gangs += plain.grants.iter().filter(|grant| grant.offers.len() > 1).count();
        pairs += plain.grants.iter().filter(|grant| grant.gang.is_none()).count();
    }
    assert!(gangs > 100 && pairs > 300 && skipped > 150, "{gangs} {pairs} {skipped}");
}

/// An expression over attributes that both sides have, through labels and without.
fn shared_names(random: &mut Rng, subjects: &[&str]) -> String {
    let name = |random: &mut Rng| {
        let subject = pick(random, subjects);
        format!("{subject}{}", pick(random, &["A", "B", "C", "D"]))
    };
    let (left, right) = (name(random), name(random));
    let operator = pick(random, &[">=", "==", "<", "isnt"]);
    let number = random.u8(0..3);
    if random.bool() { format!("{left} {operator} {right}") } else { format!("{left} {operator} {number}") }
}

/// An ad in which attributes of the other side have expressions, too. `subjects` may stand before a name.
fn ad_of_shared_names(random: &mut Rng, labels: &[&str], is_request: bool) -> Ad {
    let mut text = String::from("[ ");
    let outside = if labels.is_empty() { &["", "other.", "self."][..] } else { &["", "x."] };
    for name in ["A", "B", "C", "D"] {
        let attribute = match random.u8(0..12) {
            0 => format!("{name} = {}; ", shared_names(random, outside)),
            1..4 => String::new(),
            _ => format!("{name} = {}; ", random.u8(0..3)),
        };
        text.push_str(&attribute);
    }
    if random.u8(0..12) == 0 {
        // An attribute hides the label.
        text.push_str("x = [ A = 1; B = 2 ]; ");
    }
    if labels.is_empty() {
        let constraint = shared_names(random, outside);
        return ad(&format!("{text} Constraint = ({constraint}) is true || B is undefined ]"));
    }
    let mut ports = Vec::new();
    for (place, label) in labels.iter().enumerate() {
        let subjects = [&["", "x.", "x."][..], &["", "x.", "y."]][usize::from(place > 0)];
        let own = pick(random, &["", "", "C = 1;", "D = A;"]);
        let constraint =
            if is_request || place > 0 || random.bool() { shared_names(random, subjects) } else { "true".to_owned() };
        ports.push(format!("[ Label = {label}; {own} Constraint = {constraint} ]"));
    }
    let last = ports.pop().filter(|_| is_request && random.u8(0..4) == 0);
    let group = last.map(|port| format!("[ Min = 0; B = 2; Ports = {{ {port} }} ]"));
    ports.extend(group);
    ad(&format!("{text} Ports = {{ {} }} ]", ports.join(", ")))
}

/// What a cluster gets is what its requests get one by one, also where both sides have attributes of the same names.
#[test]
fn gangs_by_autocluster_are_gangs_one_by_one() {
    let (mut gangs, mut saved) = (0, 0);
    for seed in seeds() {
        let mut random = Rng::with_seed(seed ^ 0x6a09_e667);
        let kinds: [&[&str]; 3] = [&["x", "y"], &["x"], &[]];
        let mut ads = |number: usize, is_request: bool| -> Vec<Ad> {
            let of = |random: &mut Rng| {
                let labels =
                    kinds[if is_request { random.usize(0..2) } else { 2 - usize::from(random.u8(0..5) == 0) * 2 }];
                ad_of_shared_names(random, labels, is_request)
            };
            (0..number).map(|_| of(&mut random)).collect()
        };
        let (some, offers) = (ads(4, true), ads(8, false));
        // Requests that differ in one attribute only.
        let mut requests = Vec::new();
        for request in &some {
            let name = pick(&mut random, &["A", "B", "C", "D", "E"]);
            let value = random.u8(0..3).to_string();
            let value = parse_expression(value.as_bytes(), ParseOptions::default()).expect("a number");
            requests.extend([request.clone(), request.with(Name::new(name), value)]);
        }
        let policy = Policy::default();
        let plain = run(&settings(&policy, Accelerations::NONE, PortUse::Needed), &requests, &offers);
        let clustered = run(&settings(&policy, Accelerations::ALL, PortUse::Needed), &requests, &offers);
        assert_eq!(plain.grants, clustered.grants, "seed {seed}");
        gangs += plain.grants.len();
        saved += requests.len() - usize::try_from(clustered.statistics.autoclusters).expect("few");
    }
    assert!(gangs > 200 && saved > 200, "{gangs} {saved}");
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

/// The runner-up is the offer, or the gang, that the request would get if the winner did not exist.
#[test]
fn the_runner_up_is_the_next_best() {
    let (mut of_offers, mut of_gangs) = ([0; 4], [0; 4]);
    for seed in seeds() {
        let mut random = Rng::with_seed(seed);
        let requests = [request(&mut random, 5)];
        let offers: Vec<Ad> = (0..random.usize(1..10)).map(|_| offer(&mut random, 2)).collect();
        let mut policy = policy(&mut random, false);
        policy.residual = None;
        let settings = settings(&policy, Accelerations::ALL, PortUse::Needed);
        let outcome = run(&NegotiationSettings { finds_runner_up: true, ..settings.clone() }, &requests, &offers);
        let Some(grant) = outcome.grants.first() else { continue };
        let runner_up: Vec<usize> =
            grant.choice.iter().flat_map(|choice| choice.runner_up.iter().map(|(offer, _)| *offer)).collect();
        let expected: Vec<usize> = if grant.gang.is_some() {
            let (matcher, _) = Gangmatcher::new(&offers, settings.protocol, settings.context);
            let mut matcher = matcher.with_docking_vector(policy.docking.clone());
            let next = matcher.gangs(0, &requests[0]).expect("the ports are sound").nth(1);
            next.iter().flat_map(|gang| gang.members()).map(|docked| docked.offer).collect()
        } else {
            let winner = grant.offers[0].offer;
            let others: Vec<usize> = (0..offers.len()).filter(|offer| *offer != winner).collect();
            let left: Vec<Ad> = others.iter().map(|offer| offers[*offer].clone()).collect();
            let next = run(&settings, &requests, &left);
            next.grants.iter().filter(|next| next.unit == grant.unit).map(|next| others[next.offers[0].offer]).collect()
        };
        assert_eq!(runner_up, expected, "seed {seed}");
        if let Some(choice) = &grant.choice {
            let kind = match &choice.difference {
                DecidingDifference::Component(_, [winner, loser]) => {
                    assert_ne!(winner, loser, "seed {seed}");
                    0
                }
                DecidingDifference::RequestRank([winner, loser]) | DecidingDifference::OfferRank([winner, loser]) => {
                    assert!(winner > loser, "seed {seed}: {winner} {loser}");
                    1
                }
                DecidingDifference::FilledPorts(_) => 2,
                DecidingDifference::InputOrder => 3,
            };
            let kinds = if grant.gang.is_some() { &mut of_gangs } else { &mut of_offers };
            kinds[kind] += 1;
        }
    }
    assert!(of_offers[0] > 10 && of_offers[1] > 10 && of_offers[3] > 10, "{of_offers:?}");
    assert!(of_gangs[0] > 10 && of_gangs[1] > 10 && of_gangs[3] > 10, "{of_gangs:?}");
}

/// A gang that is wider than the rest of a share waits for the next round, and comes first then.
#[test]
fn a_wide_gang_waits_for_its_round() {
    let ports = |count: usize| {
        let port = |place: usize| format!("[ Label = p{place}; Constraint = true ]");
        (0..count).map(port).collect::<Vec<_>>().join(", ")
    };
    let request = |name: &str, owner: &str, count: usize| {
        format!("[ Name = \"{name}\"; Owner = \"{owner}\"; Ports = {{ {} }} ]\n", ports(count))
    };
    let requests = [request("small", "ann", 1), request("wide", "ann", 3), request("last", "ann", 1)].concat();
    let other = "[ Name = \"plain\"; Owner = \"bob\"; Constraint = true ]\n";
    let requests = file("one-cycle-wide.ad", &(requests + other));
    let offers: Vec<String> = (0..6).map(|number| format!("[ Name = \"m{number}\"; Constraint = true ]\n")).collect();
    let offers = file("one-cycle-offers.ad", offers.concat());
    let policy = file("one-cycle-share.yaml", "share: { by: Owner, priorities: { ann: 1, bob: 1 } }\n");
    let (status, out, errors) =
        classad(&["negotiate", &requests, "--pool", &offers, "--policy", &policy, "--transcript"]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let events: Vec<&str> = out.lines().filter(|line| !line.contains("next best")).collect();
    assert_eq!(
        events,
        [
            "round 1: 6 offers",
            "ann: priority 1, up to 3 offers for 3 requests",
            "  small gets p0: m0",
            "  wide waits for the next round: its gang needs 3 offers, but ann can get only 2 more in this round",
            "  last gets p0: m1",
            "bob: priority 1, up to 3 offers for 1 request",
            "  plain gets m2",
            "round 2: 3 offers",
            "ann: priority 1, up to 3 offers for 1 request",
            "  wide gets p0: m3; p1: m4; p2: m5",
        ]
    );
    // Where offers have weights, so does the gang.
    let weighted = "share: { by: Owner, weight: 1.5, priorities: { ann: 1, bob: 1 } }\n";
    let weighted = file("one-cycle-weights.yaml", weighted);
    let arguments = ["negotiate", &requests, "--pool", &offers, "--policy", &weighted, "--transcript"];
    let (_, out, _) = classad(&arguments);
    assert!(
        out.contains("wide waits for the next round: its gang needs weight 4.5, but ann can get only 3 more"),
        "{out}"
    );
    let (_, out, _) = classad(&["negotiate", &requests, "--pool", &offers, "--policy", &policy, "--why"]);
    assert!(
        out.starts_with("request\toffer\trequest_rank\toffer_rank\tpreempted\tport\trunner_up\tdecided_by\n"),
        "{out}"
    );
    assert!(out.contains("small\tm0\t0\t0\t\tp0\tm1\tinput order\n"), "{out}");
    assert!(out.contains("wide\tm5\t0\t0\t\tp2\t\t\n"), "{out}");
}

#[test]
fn ports_that_cannot_be_used_are_reported() {
    let good = "[ Name = \"good\"; Constraint = true ]";
    let requests = file("one-cycle-bad.ad", format!("[ Name = \"bad\"; Ports = 3 ] {good}"));
    let offers = file("one-cycle-bad-offers.ad", format!("[ Name = \"broken\"; Ports = {{ 1 }} ] {good}"));
    let (status, out, errors) = classad(&["negotiate", &requests, "--pool", &offers]);
    assert_eq!(status, Some(2), "{errors}");
    assert_eq!(out.lines().skip(1).collect::<Vec<_>>(), ["good\tgood\t0\t0\t"]);
    assert!(
        errors.contains("Ports must be a list of records") && errors.contains("a port must be a record"),
        "{errors}"
    );
}
