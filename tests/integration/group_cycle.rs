//! Cycles with groups, floors, ceilings and limits, checked by an accountant of the test's own.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use classad::ad::{Ad, Dialect, Value};
use classad::eval::Context;
use classad::matching::negotiate::{Grant, NegotiationEvent, NegotiationOutcome, NegotiationSettings, negotiate};
use classad::matching::policy::Policy;
use classad::matching::{Accelerations, Pair, PairSide};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};
use fastrand::Rng;

use super::random::seeds;

fn ad(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

const USERS: [&str; 6] = ["a.ann@x", "a.bob@x", "a.b.cid@x", "c.dan@x", "eve@x", "fay@x"];

fn request(random: &mut Rng) -> Ad {
    let user = USERS[random.usize(0..USERS.len())];
    let limits = ["", "", "Limits = \"sw\";", "Limits = \"sw:2, db.x\";", "Limits = \"db.y\";"][random.usize(0..5)];
    let own = format!("User = \"{user}\"; Prio = {}; Size = {}; {limits}", random.i32(0..3), random.i32(1..4));
    if random.u8(0..4) == 0 {
        return ad(&format!(
            "[ {own} Ports = {{ [ Label = cpu; Constraint = cpu.Kind == \"cpu\" && cpu.Size >= Size ], \
             [ Label = lic; Constraint = lic.Kind == \"lic\" ] }} ]"
        ));
    }
    ad(&format!("[ {own} Constraint = other.Kind == \"cpu\" && other.Size >= Size; Rank = -other.Size ]"))
}

fn offer(random: &mut Rng) -> Ad {
    let kind = if random.u8(0..5) == 0 { "lic" } else { "cpu" };
    let user = if random.u8(0..4) == 0 {
        format!("UsedBy = \"{}\"; InUse = \"sw\";", USERS[random.usize(0..USERS.len())])
    } else {
        String::new()
    };
    ad(&format!(
        "[ Kind = \"{kind}\"; Size = {}; Weight = {}; {user} Constraint = true ]",
        random.i32(1..5),
        random.i32(1..4)
    ))
}

fn policy(random: &mut Rng) -> Policy {
    let pick = |random: &mut Rng, from: &[&str]| from[random.usize(0..from.len())].to_owned();
    let docking = pick(random, &["", "docking: [ 'label.UsedBy is undefined ? 1 : 0', -label.Size ]\n"]);
    let claimed = if docking.is_empty() { "" } else { "  beyond: label.Size > 3\n" };
    let groups = pick(
        random,
        &[
            "  groups: { a: 6, a.b: 2, c: 25% }\n",
            "  groups: { a: { quota: 4, surplus: true }, a.b: { quota: 50%, surplus: true }, c: { quota: 3, regroup: true } }\n",
            "",
        ],
    );
    let bounds = pick(random, &["", "  floors: { fay@x: 3 }\n  ceilings: { eve@x: 2, a.ann@x: 4 }\n"]);
    let priorities = pick(random, &["", "  priorities: { eve@x: 1, fay@x: 2, a.ann@x: 0.5 }\n"]);
    let preempts = random.bool();
    let text = format!(
        "order: Prio\n{docking}share:\n  by: User\n  weight: Weight\n  demand: Size\n  in-use-by: UsedBy\n  preempts: {preempts}\n\
         {claimed}{groups}{bounds}{priorities}limits:\n  needs: Limits\n  in-use: InUse\n  max: {{ sw: 5, db.*: 1 }}\n"
    );
    Policy::parse(text.as_bytes(), Dialect::Classad).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

/// What the test knows of a cycle: its own count of usage and limits, from the ads and the matches alone.
struct Auditor<'a> {
    requests: &'a [Ad],
    offers: &'a [Ad],
    policy: &'a Policy,
    free: BTreeSet<usize>,
    usage: BTreeMap<String, f64>,
    limits: BTreeMap<String, f64>,
    /// The quota of the group that negotiates now.
    group: Option<(String, f64)>,
    /// The weight that a submitter got in its turn, and the most that it may get.
    turn: (f64, f64),
    rejections: usize,
    limited: usize,
}

fn text(ad: &Ad, name: &str) -> Option<String> {
    match ad.get_str(name)?.as_literal()? {
        Value::String(text) => Some(text.to_str().into_owned()),
        _ => None,
    }
}

fn number(ad: &Ad, name: &str) -> f64 {
    match ad.get_str(name).and_then(|number| number.as_literal()) {
        Some(Value::Integer(number)) => f64::from(i32::try_from(*number).expect("it is small")),
        other => panic!("{name}: {other:?}"),
    }
}

fn limits(ad: &Ad, name: &str) -> Vec<(String, f64)> {
    let list = text(ad, name).unwrap_or_default();
    let limit = |limit: &str| {
        let (name, units) = limit.trim().split_once(':').unwrap_or((limit.trim(), "1"));
        (name.to_owned(), units.parse().expect("a number"))
    };
    list.split(',').filter(|limit| !limit.trim().is_empty()).map(limit).collect()
}

impl<'a> Auditor<'a> {
    fn new(requests: &'a [Ad], offers: &'a [Ad], policy: &'a Policy) -> Self {
        let mut auditor = Auditor {
            requests,
            offers,
            policy,
            free: (0..offers.len()).collect(),
            usage: BTreeMap::new(),
            limits: BTreeMap::new(),
            group: None,
            turn: (0.0, 0.0),
            rejections: 0,
            limited: 0,
        };
        for offer in offers {
            if let Some(user) = text(offer, "UsedBy") {
                *auditor.usage.entry(user).or_default() += number(offer, "Weight");
            }
            for (name, units) in limits(offer, "InUse") {
                *auditor.limits.entry(name).or_default() += units;
            }
        }
        auditor
    }

    /// The group of a submitter, by the dots of its name and the groups that there are.
    fn group_of(&self, user: &str) -> &str {
        let groups = self.policy.weighted_share().expect("there is one").groups.groups();
        let before = user.split('@').next().unwrap_or_default();
        let names = groups.iter().skip(1).map(|group| group.name.as_str());
        let above = names.filter(|name| before.strip_prefix(*name).is_some_and(|rest| rest.starts_with('.')));
        above.max_by_key(|name| name.len()).unwrap_or("<none>")
    }

    fn group_usage(&self, group: &str) -> f64 {
        self.usage.iter().filter(|(user, _)| self.group_of(user) == group).map(|(_, usage)| usage).sum()
    }

    fn matched(&mut self, grant: &Grant, submitter: &str) {
        assert_eq!(text(&self.requests[grant.request], "User").as_deref(), Some(submitter));
        let share = self.policy.weighted_share().expect("there is one");
        for granted in &grant.offers {
            assert!(self.free.remove(&granted.offer), "offer {} is given away once", granted.offer);
            let offer = &self.offers[granted.offer];
            if let Some(user) = text(offer, "UsedBy") {
                *self.usage.entry(user).or_default() -= number(offer, "Weight");
            }
            for (name, units) in limits(offer, "InUse") {
                *self.limits.entry(name).or_default() -= units;
            }
        }
        let weight: f64 = grant.offers.iter().map(|granted| number(&self.offers[granted.offer], "Weight")).sum();
        let before = self.usage.get(submitter).copied().unwrap_or(0.0);
        *self.usage.entry(submitter.to_owned()).or_default() += weight;
        if let Some(ceiling) = share.ceilings.get(submitter) {
            assert!(before < *ceiling, "{submitter} has reached its ceiling {ceiling} with {before}");
        }
        // The first offer of a turn may be heavier than the limit. Afterwards the limit holds.
        let (used, limit) = self.turn;
        assert!(share.preempts || used <= 0.0 || used < limit, "{submitter} got {used} of {limit} already");
        self.turn.0 += weight;
        for (name, units) in limits(&self.requests[grant.request], "Limits") {
            let used = self.limits.entry(name.clone()).or_default();
            *used += units;
            let most = if name.starts_with("db.") { 1.0 } else { 5.0 };
            assert!(*used <= most, "{name}: {used} of {most}");
        }
    }

    /// Whether a free offer is compatible with a request that has no ports.
    fn has_candidate(&self, request: usize) -> bool {
        let protocol = Protocol::new(Dialect::Classad);
        self.free.iter().any(|offer| {
            let pair = Pair::new(
                self.requests[request].clone(),
                self.offers[*offer].clone(),
                protocol.clone(),
                Context::new(Dialect::Classad),
            );
            [PairSide::Request, PairSide::Offer].into_iter().all(|side| pair.accepts(side) == Ok(true))
        })
    }

    fn observe(&mut self, event: &NegotiationEvent<'_>) {
        match event {
            NegotiationEvent::Group { name, quota, usage, .. } => {
                assert!((self.group_usage(name) - usage).abs() < 1e-9, "{name} uses {usage}");
                self.group = Some(((*name).to_owned(), *quota));
            }
            NegotiationEvent::GroupSkipped { name, quota, usage } => {
                assert!((self.group_usage(name) - usage).abs() < 1e-9, "{name} uses {usage}");
                assert!(*quota >= 0.0, "{name} has quota {quota}");
            }
            NegotiationEvent::WeightedTurn { submitter, usage, limit, .. } => {
                let known = self.usage.get(*submitter).copied().unwrap_or(0.0);
                assert!((known - usage).abs() < 1e-9, "{submitter} uses {usage}, not {known}");
                self.turn = (0.0, *limit);
                // Where nothing is preempted, a group that has its quota gets no further turn. As in HTCondor's
                // `negotiateWithGroup`, its last turn may pass the quota. The root group has no quota where groups
                // that regroup share what is left.
                let share = self.policy.weighted_share().expect("there is one");
                let regroups = |group: &str| group == "<none>" && share.groups.groups()[0].regroups;
                if let Some((group, quota)) =
                    self.group.clone().filter(|(group, _)| !share.preempts && !regroups(group))
                    && self.group_of(submitter) == group
                {
                    assert!(self.group_usage(&group) < quota, "{group} has {quota} already");
                }
            }
            NegotiationEvent::Matched { grant, submitter, .. } => self.matched(grant, submitter),
            NegotiationEvent::Rejected { request, refusals, .. } if refusals.limit.is_some() => {
                self.limited += 1;
                let needed = limits(&self.requests[*request], "Limits");
                let is_reached = |(name, units): &(String, f64)| {
                    let most = if name.starts_with("db.") { 1.0 } else { 5.0 };
                    self.limits.get(name).copied().unwrap_or(0.0) + units > most
                };
                assert!(needed.iter().any(is_reached), "a limit of {needed:?} is reached");
            }
            NegotiationEvent::Rejected { request, refusals, discarded, .. } => {
                self.rejections += 1;
                let has_candidate = self.has_candidate(*request);
                assert_eq!(has_candidate, refusals.over_share > 0 || *discarded > 0 && has_candidate, "{refusals:?}");
            }
            _ => {}
        }
    }
}

fn run(
    policy: &Policy,
    accelerations: Accelerations,
    requests: &[Ad],
    offers: &[Ad],
    observe: &mut dyn FnMut(&NegotiationEvent<'_>),
) -> NegotiationOutcome {
    let settings =
        NegotiationSettings::new(policy.clone(), Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
    let settings = NegotiationSettings { accelerations, ..settings };
    let outcome = negotiate(&settings, requests, offers, &|_| None, &mut |event| {
        observe(&event);
        ControlFlow::Continue(())
    });
    outcome.expect("numbers compare")
}

#[test]
fn cycles_with_groups_are_consistent() {
    let (mut matched, mut gangs, mut rejections, mut limited) = (0, 0, 0, 0);
    for seed in seeds() {
        let mut random = Rng::with_seed(seed);
        let requests: Vec<Ad> = (0..random.usize(0..30)).map(|_| request(&mut random)).collect();
        let offers: Vec<Ad> = (0..random.usize(0..16)).map(|_| offer(&mut random)).collect();
        let policy = policy(&mut random);
        let mut auditor = Auditor::new(&requests, &offers, &policy);
        let plain = run(&policy, Accelerations::NONE, &requests, &offers, &mut |event| auditor.observe(event));
        (rejections, limited) = (rejections + auditor.rejections, limited + auditor.limited);
        let granted: usize = plain.grants.iter().map(|grant| grant.offers.len()).sum();
        assert_eq!(offers.len() - auditor.free.len(), granted, "seed {seed}");
        // Each combination of accelerations has its turn.
        for switches in [1 + seed % 7, 1 + (seed + 3) % 7] {
            let [autoclusters, match_lists, index] = [1, 2, 4].map(|bit| switches & bit != 0);
            let accelerations = Accelerations { autoclusters, match_lists, index };
            let mut auditor = Auditor::new(&requests, &offers, &policy);
            let outcome = run(&policy, accelerations, &requests, &offers, &mut |event| auditor.observe(event));
            assert_eq!(plain.grants, outcome.grants, "seed {seed}, {accelerations:?}");
        }
        matched += plain.grants.len();
        gangs += plain.grants.iter().filter(|grant| grant.gang.is_some()).count();
    }
    assert!(
        matched > 1000 && gangs > 100 && rejections > 200 && limited > 100,
        "{matched} {gangs} {rejections} {limited}"
    );
}

/// One large cycle: ten times as many requests without ports as with them, 300 submitters in 20 groups, four times as many
/// requests as offers. `CLASSAD_CASES` sets the number of requests.
#[test]
fn a_large_cycle_is_consistent() {
    let mut random = Rng::with_seed(1);
    let requests: Vec<Ad> = seeds()
        .map(|number| {
            let user = format!("g{}.u{}@x", number % 20, number % 300);
            let limits = ["", "", "", "", "Limits = \"sw\";"][random.usize(..5)];
            let (size, prio) = (random.i32(1..6), random.i32(0..3));
            let own = format!("User = \"{user}\"; Prio = {prio}; Size = {size}; {limits}");
            if number % 11 > 0 {
                return ad(&format!(
                    "[ {own} Constraint = other.Kind == \"cpu\" && other.Size >= Size; Rank = other.Speed ]"
                ));
            }
            ad(&format!(
                "[ {own} Ports = {{ [ Label = cpu; Constraint = cpu.Kind == \"cpu\" && cpu.Size >= Size; \
                 Rank = cpu.Speed ], [ Label = lic; Constraint = lic.Kind == \"lic\" ] }} ]"
            ))
        })
        .collect();
    let offers: Vec<Ad> = (0..requests.len() / 4)
        .map(|number| {
            let kind = if number % 11 == 0 { "lic" } else { "cpu" };
            let (size, weight, speed) = (random.i32(1..5), random.i32(1..4), random.i32(0..1000));
            ad(&format!("[ Kind = \"{kind}\"; Size = {size}; Weight = {weight}; Speed = {speed}; Constraint = true ]"))
        })
        .collect();
    let groups: Vec<String> = (0..20).map(|group| format!("g{group}: {{ quota: 4%, surplus: true }}")).collect();
    let policy = format!(
        "order: Prio\nshare:\n  by: User\n  weight: Weight\n  demand: Size\n  in-use-by: UsedBy\n  preempts: false\n  \
         groups: {{ {} }}\n  floors: {{ g1.u1@x: 4 }}\n  ceilings: {{ g2.u2@x: 3 }}\nlimits:\n  needs: Limits\n  \
         in-use: InUse\n  max: {{ sw: 5, db.*: 1 }}\n",
        groups.join(", ")
    );
    let policy = Policy::parse(policy.as_bytes(), Dialect::Classad).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut plain = None;
    for (autoclusters, match_lists, index) in
        [(true, true, true), (true, false, true), (false, true, true), (true, true, false)]
    {
        let accelerations = Accelerations { autoclusters, match_lists, index };
        let mut auditor = Auditor::new(&requests, &offers, &policy);
        let outcome = run(&policy, accelerations, &requests, &offers, &mut |event| auditor.observe(event));
        let gangs = outcome.grants.iter().filter(|grant| grant.gang.is_some()).count();
        println!("{} matches, {gangs} gangs, {} rejections", outcome.grants.len(), auditor.rejections);
        assert!(gangs > 0 && outcome.grants.len() > 2 * gangs && auditor.rejections > 0 && auditor.limited > 0);
        let grants = plain.get_or_insert_with(|| outcome.grants.clone());
        assert_eq!(*grants, outcome.grants, "{accelerations:?}");
    }
}
