//! Whole simulations: all that is told of each cycle.

use std::ops::ControlFlow;

use super::super::{SimulatedCycle, SimulatedGrant, SimulationSettings, simulate};
use super::{PARTITIONABLE, STATIC, ads, job};
use crate::ad::{Ad, Dialect};
use crate::configuration::{Configuration, JobPolicies};
use crate::eval::Context;
use crate::matching::negotiate::{NegotiationSettings, RunTime};
use crate::matching::policy::{Accountant, CycleTimes, Policy, ready_policy};
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, parse_expression};

/// What a simulation is of: its policy, the configuration, the number of cycles and the seconds between them, and the run time.
struct Simulated<'t> {
    policy: &'t str,
    configuration: &'t str,
    times: (u64, i64),
    run_time: Option<&'t str>,
    begins_idle: bool,
    skips_quiet: bool,
    policy_interval: i64,
}

const PLAIN: Simulated<'static> = Simulated {
    policy: "",
    configuration: "",
    times: (4, 60),
    run_time: Some("Seconds ?: 100"),
    begins_idle: false,
    skips_quiet: false,
    policy_interval: 60,
};

fn grant_text(grant: &SimulatedGrant) -> String {
    let end = grant.end.map(|end| format!("-{end}")).unwrap_or_default();
    let reused = if grant.reuses_claim { " reused" } else { "" };
    let ranks = if grant.ranks.iter().all(|rank| *rank == 0.0) { String::new() } else { format!(" {:?}", grant.ranks) };
    let preempted = grant.preempted.as_ref().map(|user| format!(" of {user}")).unwrap_or_default();
    let evicted = grant.evicted.map(|request| format!(" evicts r{request}")).unwrap_or_default();
    format!("r{}@{} {}{end}{reused}{ranks}{preempted}{evicted}", grant.request, grant.offers.join("+"), grant.time)
}

fn cycle_text(cycle: &SimulatedCycle) -> String {
    let listed = |grants: &[SimulatedGrant]| grants.iter().map(grant_text).collect::<Vec<_>>().join(", ");
    let mut parts = vec![format!("{}@{}", cycle.number, cycle.time)];
    if !cycle.matches.is_empty() {
        parts.push(format!("matches {}", listed(&cycle.matches)));
    }
    if !cycle.starts.is_empty() {
        parts.push(format!("starts {}", listed(&cycle.starts)));
    }
    for effect in &cycle.effects {
        parts.push(format!(
            "r{} {} {} by {}",
            effect.request,
            effect.effect.kind.as_str(),
            effect.time,
            effect.effect.knob
        ));
    }
    for (name, of) in &cycle.submitters {
        let counts = [of.waiting, of.matches, of.started, of.ended, of.evicted, of.running];
        parts.push(format!("{name} {:.1} {counts:?} {}", of.priority, of.used));
    }
    parts.join("; ")
}

fn told(of: &Simulated<'_>, jobs: &[&str], slots: &[(&str, &str)]) -> String {
    let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
    let (configuration, _) = Configuration::read(of.configuration.as_bytes());
    let text = if of.policy.is_empty() { ready_policy("htcondor").unwrap() } else { of.policy };
    let Ok(policy) = Policy::parse_configured(text.as_bytes(), &configuration, &context) else { panic!("a policy") };
    let settings = NegotiationSettings::new(policy, Protocol::new(Dialect::Condor), context.clone());
    let run_time = of.run_time.map(|text| {
        RunTime::Expression(parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap())
    });
    let simulated = SimulationSettings {
        cycles: of.times.0,
        interval: of.times.1,
        begin: 1000,
        run_time,
        begins_idle: of.begins_idle,
        policies: JobPolicies::read(&configuration, &context).0,
        policy_interval: of.policy_interval,
        claim_interval: CycleTimes::read(&configuration, &context).unwrap().claims,
        skips_quiet: of.skips_quiet,
    };
    let names = slots.iter().map(|(name, _)| (*name).to_owned());
    let offers: Vec<(String, Ad)> = names.zip(ads(&slots.iter().map(|(_, text)| *text).collect::<Vec<_>>())).collect();
    let (mut accountant, mut cycles) = (Accountant::default(), Vec::new());
    let mut tell = |cycle: &SimulatedCycle| {
        cycles.push(cycle_text(cycle));
        ControlFlow::Continue(())
    };
    let totals = simulate(&settings, &simulated, (&ads(jobs), &offers), &mut accountant, &mut tell).unwrap();
    let accounts: Vec<String> = accountant
        .submitters
        .iter()
        .map(|(name, of)| format!("{name} {:.3} {} {} {:.0}", of.real_priority, of.factor, of.resources, of.usage))
        .collect();
    format!("{} | {totals:?} | {}", cycles.join(" | "), accounts.join(", "))
}

fn jobs(texts: &[(&str, &str)]) -> Vec<String> {
    texts.iter().map(|(user, more)| job(user, more)).collect()
}

const SLOT: &str = "[ MyType = \"Machine\"; Name = \"s0\"; SlotID = 1; State = \"Claimed\"; Activity = \"Busy\"; RemoteUser = \"bob@d\"; \
    RemoteOwner = \"bob\"; EnteredCurrentState = 900; EnteredCurrentActivity = 950; Cpus = 2; Memory = 2048; Disk = 1000; SlotWeight = 2; \
    CurrentRank = 1.0; Rank = TARGET.Level ?: 0; Requirements = true; More = 1 ]";

/// What is told of each row of `simulations_tell_what_happens`.
const WHAT_HAPPENS: [&str; 14] = [
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1100; ann@d 500.0 [1, 1, 1, 0, 0, 1] 1; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 2@1060; ann@d 500.2 [0, 0, 0, 0, 0, 1] 1; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 3@1120; starts r2@s0 1100-1200 reused; ann@d 500.5 [0, 0, 1, 1, 0, 1] 1; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 4@1180; ann@d 500.7 [0, 0, 0, 0, 0, 1] 1; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | SimulationTotals { matches: 1, started: 2, reused: 1, ended: 1, evicted: 0, running: 1, held: 0, waiting: 1, future: 0, without_run_time: 0 } | ann@d 0.501 1000 1 180",
    "1@1000; matches r0@s0 1000, r1@s1 1000; starts r0@s0 1000, r1@s1 1000; ann@d 500.0 [1, 1, 1, 0, 0, 1] 1; bob@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 2@1060; ann@d 500.2 [0, 0, 0, 0, 0, 1] 1; bob@d 500.2 [0, 0, 0, 0, 0, 1] 1 | 3@1120; ann@d 500.5 [0, 0, 0, 0, 0, 1] 1; bob@d 500.5 [0, 0, 0, 0, 0, 1] 1 | 4@1180; ann@d 500.7 [0, 0, 0, 0, 0, 1] 1; bob@d 500.7 [0, 0, 0, 0, 0, 1] 1 | SimulationTotals { matches: 2, started: 2, reused: 0, ended: 0, evicted: 0, running: 2, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.501 1000 1 180, bob@d 0.501 1000 1 180",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1500; ann@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 2@1060; matches r1@s0 1060 [0.0, 2.0] of ann@d; starts r1@s0 1060-1160 [0.0, 2.0] of ann@d evicts r0; ann@d 500.2 [0, 0, 0, 0, 1, 0] 0; eve@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 3@1120; ann@d 500.0 [1, 0, 0, 0, 0, 0] 0; eve@d 500.2 [0, 0, 0, 0, 0, 1] 1 | 4@1180; matches r0@s0 1180; starts r0@s0 1180-1680; ann@d 500.0 [1, 1, 1, 0, 0, 1] 1; eve@d 500.3 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 3, started: 3, reused: 0, ended: 1, evicted: 1, running: 1, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.500 1000 1 60, eve@d 0.500 1000 0 100",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1500; ann@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 2@1060; ann@d 500.2 [0, 0, 0, 0, 0, 1] 1; eve@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 3@1120; ann@d 500.5 [0, 0, 0, 0, 0, 1] 1; eve@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 4@1180; ann@d 500.7 [0, 0, 0, 0, 0, 1] 1; eve@d 500.0 [1, 0, 0, 0, 0, 0] 0 | SimulationTotals { matches: 1, started: 1, reused: 0, ended: 0, evicted: 0, running: 1, held: 0, waiting: 1, future: 0, without_run_time: 0 } | ann@d 0.501 1000 1 180",
    "1@1000; matches r0@s0 1000, r0@s1 1000; starts r0@s0 1000-1100, r0@s1 1000-1100; ann@d 500.0 [1, 2, 2, 0, 0, 2] 2 | 2@1060; ann@d 500.7 [1, 0, 0, 0, 0, 2] 2; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 3@1120; matches r1@s1 1120; starts r0@s0 1100-1200 reused, r1@s1 1120-1220; ann@d 501.3 [0, 0, 1, 2, 0, 1] 1; bob@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 4@1180; ann@d 501.5 [0, 0, 0, 0, 0, 1] 1; bob@d 500.2 [0, 0, 0, 0, 0, 1] 1 | SimulationTotals { matches: 3, started: 4, reused: 1, ended: 2, evicted: 0, running: 2, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.502 1000 1 280, bob@d 0.500 1000 1 60",
    "1@1000; matches r0@slot1@h 1000, r2@s1 1000; starts r0@slot1_1@h 1000-1100, r2@s1 1000-1100; ann@d 500.0 [2, 1, 1, 0, 0, 1] 3; bob@d 500.0 [2, 1, 1, 0, 0, 1] 1 | 2@1060; matches r3@slot1@h 1060; starts r3@slot1_2@h 1060-1160; ann@d 501.2 [1, 0, 0, 0, 0, 1] 3; bob@d 500.2 [1, 1, 1, 0, 0, 2] 2 | 3@1120; starts r1@slot1_1@h 1100-1200 reused; ann@d 502.4 [0, 0, 1, 1, 0, 1] 3; bob@d 500.8 [0, 0, 0, 1, 0, 1] 1 | 4@1180; ann@d 503.6 [0, 0, 0, 0, 0, 1] 3; bob@d 500.9 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 3, started: 4, reused: 1, ended: 3, evicted: 0, running: 1, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.504 1000 3 540, bob@d 0.501 1000 0 200",
    "1@1000; matches r0@slot1@h 1000; starts r0@slot1_1@h 1000-1100, r2@slot1_2@h 1000-1100; ann@d 500.0 [3, 1, 2, 0, 0, 2] 2 | 2@1060; matches r1@slot1@h 1060; ann@d 500.7 [1, 1, 0, 0, 0, 2] 2 | 3@1120; starts r1@slot1_1@h 1100-1200 reused; ann@d 501.3 [0, 0, 1, 2, 0, 1] 1 | 4@1180; ann@d 501.5 [0, 0, 0, 0, 0, 1] 1 | SimulationTotals { matches: 2, started: 3, reused: 1, ended: 2, evicted: 0, running: 1, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.502 1000 1 280",
    "1@1000; matches r0@slot1@h 1000; starts r0@slot1_1@h 1000-1030, r1@slot1_2@h 1000-1050, r2@slot1_3@h 1000-1070; ann@d 500.0 [4, 1, 3, 0, 0, 3] 3 | 2@1040; ann@d 500.7 [1, 0, 0, 1, 0, 2] 2 | 3@1080; matches r3@slot1@h 1080; starts r3@slot1_1@h 1080-1100; ann@d 500.9 [1, 1, 1, 2, 0, 1] 4 | 4@1120; ann@d 501.4 [0, 0, 0, 1, 0, 0] 0 | 5@1160 | 6@1200 | SimulationTotals { matches: 2, started: 4, reused: 0, ended: 4, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.501 1000 0 230",
    "1@1000; ann@d 500.0 [1, 0, 0, 0, 0, 0] 0; bob@d 500.0 [0, 0, 0, 0, 0, 1] 2 | 2@1060; matches r0@s0 1060; starts r0@s0 1060-1160; ann@d 500.0 [1, 1, 1, 0, 0, 1] 2; bob@d 500.6 [0, 0, 0, 1, 0, 0] 0 | 3@1120; ann@d 500.7 [0, 0, 0, 0, 0, 1] 2 | 4@1180; ann@d 501.1 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 1, started: 1, reused: 0, ended: 2, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.501 1000 0 200, bob@d 0.500 1000 0 100",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1100; ann@d 500.0 [1, 1, 1, 0, 0, 1] 2; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 2@1060; ann@d 500.7 [0, 0, 0, 0, 0, 1] 2; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 3@1120; matches r1@s0 1120; starts r1@s0 1120-1220; ann@d 501.1 [0, 0, 0, 1, 0, 0] 0; bob@d 500.0 [1, 1, 1, 0, 0, 1] 2 | 4@1180; bob@d 500.7 [0, 0, 0, 0, 0, 1] 2 | SimulationTotals { matches: 2, started: 2, reused: 0, ended: 1, evicted: 0, running: 1, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.501 1000 0 200, bob@d 0.501 1000 2 120",
    "1@1000; matches r0@s0 1000 [0.0, 5.0] of bob@d; starts r0@s0 1000-1100 [0.0, 5.0] of bob@d evicts r1; ann@d 500.0 [1, 1, 1, 0, 0, 1] 2; bob@d 500.0 [0, 0, 0, 0, 1, 0] 0 | 2@1060; ann@d 500.7 [0, 0, 0, 0, 0, 1] 2; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 3@1120; matches r1@s0 1120; starts r1@s0 1120-1420; ann@d 501.1 [0, 0, 0, 1, 0, 0] 0; bob@d 500.0 [1, 1, 1, 0, 0, 1] 2 | 4@1180; bob@d 500.7 [0, 0, 0, 0, 0, 1] 2 | SimulationTotals { matches: 2, started: 2, reused: 0, ended: 1, evicted: 1, running: 1, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.501 1000 0 200, bob@d 0.501 1000 2 120",
    "1@1000; ann@d 500.0 [1, 0, 0, 0, 0, 0] 0; bob@d 500.0 [0, 0, 0, 0, 0, 1] 2 | 2@1060; matches r0@s0 1060 [0.0, 5.0]; starts r0@s0 1060-1160 [0.0, 5.0]; ann@d 500.0 [1, 1, 1, 0, 0, 1] 2; bob@d 500.6 [0, 0, 0, 1, 0, 0] 0 | 3@1120; ann@d 500.7 [0, 0, 0, 0, 0, 1] 2 | 4@1180; ann@d 501.1 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 1, started: 1, reused: 0, ended: 2, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.501 1000 0 200, bob@d 0.500 1000 0 100",
    "1@1000; ann@d 500.0 [1, 0, 0, 0, 0, 0] 0; bob@d 500.0 [1, 0, 0, 0, 0, 0] 2 | 2@1060; matches r0@s0 1060; starts r0@s0 1060-1160; ann@d 500.0 [1, 1, 1, 0, 0, 1] 2; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 3@1120; ann@d 500.7 [0, 0, 0, 0, 0, 1] 2; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 4@1180; matches r1@s0 1180; starts r1@s0 1180-1280; ann@d 501.1 [0, 0, 0, 1, 0, 0] 0; bob@d 500.0 [1, 1, 1, 0, 0, 1] 2 | SimulationTotals { matches: 2, started: 2, reused: 0, ended: 1, evicted: 0, running: 1, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.501 1000 0 200, bob@d 0.500 1000 2 2",
    "1@1000; matches r3@s1 1000; starts r3@s1 1000-1100; bob@d 500.0 [1, 1, 1, 0, 0, 3] 3 | 2@1060; bob@d 501.0 [0, 0, 0, 1, 0, 2] 1 | 3@1120; bob@d 501.1 [0, 0, 0, 2, 0, 0] 0 | 4@1180 | SimulationTotals { matches: 1, started: 1, reused: 0, ended: 3, evicted: 0, running: 0, held: 1, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.501 1000 0 200",
];

#[test]
fn simulations_tell_what_happens() {
    let prefers_eve = STATIC.replace(" ]", "; Rank = TARGET.Owner == \"eve\" ? 2 : 0 ]");
    let gpus = PARTITIONABLE.replace(
        "Cpus = 4;",
        "Cpus = 4; GPUs = 2; AvailableGPUs = { a, b }; MachineResources = \"Cpus Memory Disk GPUs\";",
    );
    let rows = [
        (PLAIN, &[("ann", "QDate = 1"), ("bob", "QDate = 1"), ("ann", "QDate = 1100")][..], &[("s0", STATIC)][..]),
        (
            Simulated { run_time: None, ..PLAIN },
            &[("ann", "QDate = 1"), ("bob", "QDate = 1")],
            &[("s0", STATIC), ("s1", STATIC)],
        ),
        (PLAIN, &[("ann", "QDate = 1; Seconds = 500"), ("eve", "QDate = 1050")], &[("s0", &prefers_eve)]),
        (
            Simulated { configuration: "NEGOTIATOR_CONSIDER_PREEMPTION = False\n", ..PLAIN },
            &[("ann", "QDate = 1; Seconds = 500"), ("eve", "QDate = 1050")],
            &[("s0", &prefers_eve)],
        ),
        (PLAIN, &[("ann", "ResourceRequestCount = 3"), ("bob", "QDate = 1030")], &[("s0", STATIC), ("s1", STATIC)]),
        (
            PLAIN,
            &[
                ("ann", "RequestCpus = 3"),
                ("ann", "RequestCpus = 2"),
                ("bob", "RequestCpus = 1"),
                ("bob", "RequestCpus = 1; RequestMemory = 2000"),
            ],
            &[("slot1@h", PARTITIONABLE), ("s1", STATIC)],
        ),
        (
            PLAIN,
            &[("ann", "RequestGPUs = 1"), ("ann", "RequestGPUs = 2"), ("ann", "RequestGPUs = 1")],
            &[("slot1@h", &gpus)],
        ),
        (
            Simulated { times: (6, 40), ..PLAIN },
            &[
                ("ann", "Seconds = 30"),
                ("ann", "Seconds = 50"),
                ("ann", "Seconds = 70"),
                ("ann", "Seconds = 20; RequestCpus = 4"),
            ],
            &[("slot1@h", PARTITIONABLE)],
        ),
        // What is in use before the first cycle.
        (PLAIN, &[("ann", "QDate = 1")], &[("s0", SLOT)]),
        (
            Simulated { begins_idle: true, ..PLAIN },
            &[("ann", "QDate = 1"), ("bob", "MyType = \"Job\"; JobStatus = 2; NumJobStarts = 4")],
            &[("s0", SLOT)],
        ),
        (
            PLAIN,
            &[
                ("ann", "QDate = 1; Level = 5"),
                (
                    "bob",
                    "MyType = \"Job\"; JobStatus = 2; RemoteHost = \"s0\"; JobCurrentStartDate = 940; Seconds = 300",
                ),
            ],
            &[("s0", SLOT)],
        ),
        (
            PLAIN,
            &[("ann", "QDate = 1; Level = 5")],
            &[("s0", &SLOT.replace("More = 1", "RetirementTimeRemaining = 70"))],
        ),
        (PLAIN, &[("ann", "QDate = 1"), ("bob", "QDate = 2")], &[("s0", &SLOT.replace("\"Busy\"", "\"Idle\""))]),
        (
            PLAIN,
            &[
                ("bob", "MyType = \"Job\"; JobStatus = 5"),
                ("bob", "MyType = \"Job\"; JobStatus = 7"),
                ("bob", "MyType = \"Job\"; JobStatus = 6; RemoteHost = \"s0\""),
                ("bob", "MyType = \"Job\"; JobStatus = 1"),
            ],
            &[("s0", SLOT), ("s1", STATIC)],
        ),
    ];
    assert_eq!(rows.len(), WHAT_HAPPENS.len());
    for ((of, texts, slots), expected) in rows.into_iter().zip(WHAT_HAPPENS) {
        assert_happens(&of, texts, slots, expected);
    }
}

/// What is told of each row of `simulations_follow_policies`.
const OF_POLICIES: [&str; 10] = [
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1100; ann@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 2@1060; ann@d 500.2 [0, 0, 0, 0, 0, 1] 1 | 3@1120; r0 holds 1100 by PeriodicHold; ann@d 500.3 [0, 0, 0, 1, 0, 0] 0 | 4@1180 | SimulationTotals { matches: 1, started: 1, reused: 0, ended: 1, evicted: 0, running: 0, held: 1, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.500 1000 0 100",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1100; ann@d 500.0 [2, 1, 1, 0, 0, 1] 1 | 2@1060; starts r1@s0 1050-1150 reused; r0 removes 1050 by PeriodicRemove; ann@d 500.2 [0, 0, 1, 0, 0, 1] 1 | 3@1120; ann@d 500.5 [0, 0, 0, 0, 0, 1] 1 | 4@1180; ann@d 500.5 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 1, started: 2, reused: 1, ended: 1, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.500 1000 0 150",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1100; ann@d 500.0 [2, 1, 1, 0, 0, 1] 1 | 2@15400; r0 holds 1020 by PeriodicHold; ann@d 500.0 [1, 0, 0, 0, 0, 0] 0 | SimulationTotals { matches: 1, started: 1, reused: 0, ended: 0, evicted: 0, running: 0, held: 1, waiting: 1, future: 0, without_run_time: 0 } | ann@d 0.500 1000 0 20",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1030; ann@d 500.0 [2, 1, 1, 0, 0, 1] 1 | 2@1060; matches r0@s0 1060; starts r0@s0 1060-1090; r0 requeues 1030 by OnExitRemove; ann@d 500.0 [2, 1, 1, 1, 0, 1] 1 | 3@1120; starts r1@s0 1090-1190 reused; ann@d 500.2 [0, 0, 1, 1, 0, 1] 1 | 4@1180; ann@d 500.5 [0, 0, 0, 0, 0, 1] 1 | SimulationTotals { matches: 2, started: 3, reused: 1, ended: 2, evicted: 0, running: 1, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.500 1000 1 150",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-2000; ann@d 500.0 [2, 1, 1, 0, 0, 1] 1 | 2@1060; ann@d 500.2 [1, 0, 0, 0, 0, 1] 1 | 18@2020; starts r2@s0 2000-2100 reused; ann@d 504.1 [0, 0, 1, 1, 0, 1] 1 | 19@2080; ann@d 504.3 [0, 0, 0, 0, 0, 1] 1 | 20@2140; ann@d 504.2 [0, 0, 0, 1, 0, 0] 0 | 135@9040; matches r1@s0 9040; starts r1@s0 9040-9140; bob@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 136@9100; bob@d 500.2 [0, 0, 0, 0, 0, 1] 1 | 137@9160; bob@d 500.3 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 2, started: 3, reused: 1, ended: 3, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.500 1000 0 1100, bob@d 0.500 1000 0 100",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1007; ann@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 2@1001; ann@d 500.0 [0, 0, 0, 0, 0, 1] 1 | 8@1007; ann@d 500.0 [0, 0, 0, 1, 0, 0] 0 | 301@1300; matches r1@s0 1300; starts r1@s0 1300-1303; bob@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 303@1302; bob@d 500.0 [1, 0, 0, 0, 0, 1] 1 | 305@1304; starts r2@s0 1303-1306 reused; bob@d 500.0 [0, 0, 1, 1, 0, 1] 1 | 307@1306; bob@d 500.0 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 2, started: 3, reused: 1, ended: 3, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann@d 0.500 1000 0 7, bob@d 0.500 1000 0 6",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000; ann@d 500.0 [2, 1, 1, 0, 0, 1] 1 | 2@1060; ann@d 500.2 [1, 0, 0, 0, 0, 1] 1 | SimulationTotals { matches: 1, started: 1, reused: 0, ended: 0, evicted: 0, running: 1, held: 0, waiting: 1, future: 0, without_run_time: 0 } | ann@d 0.500 1000 1 60",
    "1@1000; matches r0@s0 1000; starts r0@s0_1 1000-1050;  1.0 [3, 1, 1, 0, 0, 1] 1; bob@d 500.0 [0, 0, 0, 0, 0, 1] 1 | 2@1060; matches r1@s0 1060, r2@s1 1060; starts r1@s0_1 1060-1160, r2@s1_1 1060-1160;  1.0 [2, 2, 2, 1, 0, 2] 2; bob@d 500.2 [0, 0, 0, 1, 0, 0] 0 | 3@1120;  500.9 [0, 0, 0, 0, 0, 2] 2 | 4@1180;  501.3 [0, 0, 0, 2, 0, 0] 0 | SimulationTotals { matches: 3, started: 3, reused: 0, ended: 4, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } |  0.501 1000 0 250, bob@d 0.500 1000 0 50",
    "1@1000; matches r0@s1 1000 of bob@d, r1@s0 1000; starts r1@s0_1 1000-1100, r0@s1 1000-1100 of bob@d; ann 500.0 [1, 1, 1, 0, 0, 1] 1; bob 500.0 [1, 1, 1, 0, 0, 1] 1; bob@d 500.0 [0, 0, 0, 0, 1, 0] 0 | 2@1060; ann 500.2 [0, 0, 0, 0, 0, 1] 1; bob 500.2 [0, 0, 0, 0, 0, 1] 1 | 3@1120; ann 500.3 [0, 0, 0, 1, 0, 0] 0; bob 500.3 [0, 0, 0, 1, 0, 0] 0 | 4@1180 | SimulationTotals { matches: 2, started: 2, reused: 0, ended: 2, evicted: 1, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | ann 0.500 1000 0 100, bob 0.500 1000 0 100, bob@d 0.500 1000 0 0",
    "1@1000; matches r0@s0 1000, r1@s0#2 1000; starts r0@s0_1 1000-1100, r1@s0_2 1000-1100;  1.0 [3, 2, 2, 0, 0, 2] 2 | 2@1060; matches r2@s0 1060;  1.0 [1, 1, 0, 0, 0, 2] 2 | 3@1120; matches r2@s0 1120; starts r2@s0_1 1120-1220;  1.0 [1, 1, 1, 2, 0, 1] 1 | 4@1180;  501.4 [0, 0, 0, 0, 0, 1] 1 | SimulationTotals { matches: 4, started: 3, reused: 0, ended: 2, evicted: 0, running: 1, held: 0, waiting: 0, future: 0, without_run_time: 0 } |  0.501 1000 1 260",
];

#[test]
fn simulations_follow_policies() {
    let rows = [
        (
            Simulated { policy_interval: 0, ..PLAIN },
            &[("ann", "PeriodicHold = true; OnExitHold = true")][..],
            &[("s0", STATIC)][..],
        ),
        (
            Simulated { policy_interval: 25, ..PLAIN },
            &[("ann", "PeriodicRemove = time() > 1049"), ("ann", "QDate = 2")],
            &[("s0", STATIC)],
        ),
        (
            Simulated { policy_interval: 1, times: (2, 14_400), ..PLAIN },
            &[
                ("ann", "PeriodicHold = time() > 1014"),
                ("ann", "Requirements = false; PeriodicRemove = time() % 10 == 1"),
            ],
            &[("s0", STATIC)],
        ),
        (
            PLAIN,
            &[
                ("ann", "OnExitRemove = NumJobStarts > 1; Seconds = 30"),
                ("ann", "PeriodicHold = NumHolds < 1 && JobRunCount > 0; PeriodicRelease = true; QDate = 2"),
            ],
            &[("s0", STATIC)],
        ),
        // Quiet cycles are left out.
        (
            Simulated { skips_quiet: true, times: (1000, 60), ..PLAIN },
            &[("ann", "Seconds = 1000"), ("bob", "QDate = 9000"), ("ann", "QDate = 2")],
            &[("s0", STATIC)],
        ),
        (
            Simulated { skips_quiet: true, times: (1000, 1), ..PLAIN },
            &[("ann", "Seconds = 7"), ("bob", "QDate = 1300; Seconds = 3"), ("bob", "QDate = 1301; Seconds = 3")],
            &[("s0", STATIC)],
        ),
        (
            Simulated { skips_quiet: true, times: (50, 60), run_time: None, ..PLAIN },
            &[("ann", "x = 1"), ("ann", "x = 2")],
            &[("s0", STATIC)],
        ),
        // Other policies.
        (
            Simulated { policy: "order: [ 1 ]", ..PLAIN },
            &[("ann", "Seconds = 50"), ("bob", "x = 1"), ("bob", "x = 1")],
            &[("s0", STATIC), ("s1", SLOT)],
        ),
        (
            Simulated { policy: "share: { by: Owner }\ndocking: [ label.Cpus ]", ..PLAIN },
            &[("ann", "x = 1"), ("bob", "x = 1")],
            &[("s0", STATIC), ("s1", SLOT)],
        ),
        (
            Simulated {
                policy: "residual: { when: P, set: { Cpus: Cpus - 1, Memory: Memory - 100 }, while: Cpus > 0 }",
                ..PLAIN
            },
            &[("ann", "x = 1"), ("bob", "x = 1"), ("bob", "x = 2")],
            &[("s0", "[ Cpus = 2; Memory = 500; P = true; Requirements = true ]")],
        ),
    ];
    assert_eq!(rows.len(), OF_POLICIES.len());
    for ((of, texts, slots), expected) in rows.into_iter().zip(OF_POLICIES) {
        assert_happens(&of, texts, slots, expected);
    }
}

fn assert_happens(of: &Simulated, texts: &[(&str, &str)], slots: &[(&str, &str)], expected: &str) {
    let texts = jobs(texts);
    let jobs: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(told(of, &jobs, slots), expected, "{jobs:?} {slots:?}");
}

/// What is told of each row of `simulations_tell_of_claims`.
const OF_CLAIMS: [&str; 13] = [
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1030; bob@d 500.0 [3, 1, 1, 0, 0, 1] 1 | 2@1060; starts r1@s0 1030-1080 reused; bob@d 500.2 [1, 0, 1, 1, 0, 1] 1 | 3@1120; starts r2@s0 1080-1180 reused; bob@d 500.5 [0, 0, 1, 1, 0, 1] 1 | 4@1180; bob@d 500.7 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 1, started: 3, reused: 2, ended: 3, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.501 1000 0 180",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1030; bob@d 500.0 [3, 1, 1, 0, 0, 1] 1 | 2@1060; matches r2@s0 1060; starts r1@s0 1030-1035 reused, r2@s0 1060-1160; bob@d 500.0 [1, 1, 2, 2, 0, 1] 1 | 3@1120; bob@d 500.3 [0, 0, 0, 0, 0, 1] 1 | 4@1180; bob@d 500.4 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 2, started: 3, reused: 1, ended: 3, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.500 1000 0 135",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1030; bob@d 500.0 [3, 1, 1, 0, 0, 1] 1 | 2@1060; matches r1@s0 1060; starts r1@s0 1060-1065; bob@d 500.0 [2, 1, 1, 1, 0, 1] 1 | 3@1120; starts r2@s0 1065-1165 reused; bob@d 500.2 [0, 0, 1, 1, 0, 1] 1 | 4@1180; bob@d 500.4 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 2, started: 3, reused: 1, ended: 3, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.500 1000 0 135",
    "1@1000; matches r0@s0 1000, r1@s1 1000; starts r0@s0 1000-1030, r1@s1 1000-1030; bob@d 500.0 [2, 2, 2, 0, 0, 2] 2 | 2@1060; matches r3@s0 1060; starts r2@s0 1040-1048 reused, r3@s0 1060-1160; bob@d 500.6 [0, 0, 1, 3, 0, 0] 1; eve@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 3@1120; eve@d 500.2 [0, 0, 0, 0, 0, 1] 1 | 4@1180; eve@d 500.3 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 3, started: 4, reused: 1, ended: 4, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.500 1000 0 129, eve@d 0.500 1000 0 100",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1030; bob@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 2@1060; matches r2@s0 1060; starts r1@s0 1040-1048 reused, r2@s0 1060-1068; bob@d 500.1 [1, 1, 2, 2, 0, 1] 1 | 3@1120; matches r3@s0 1120; starts r3@s0 1120-1220; bob@d 500.0 [1, 1, 1, 1, 0, 1] 1 | 4@1180; bob@d 500.2 [0, 0, 0, 0, 0, 1] 1 | SimulationTotals { matches: 3, started: 4, reused: 1, ended: 3, evicted: 0, running: 1, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.500 1000 1 116",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1030; bob@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 2@1060; matches r2@s0 1060; starts r1@s0 1035-1043 reused, r2@s0 1060-1068; bob@d 500.1 [1, 1, 2, 2, 0, 1] 1 | 3@1120; bob@d 500.0 [0, 0, 0, 1, 0, 0] 0 | 4@1180 | SimulationTotals { matches: 2, started: 3, reused: 1, ended: 3, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.500 1000 0 51",
    "1@1000; matches r0@s0 1000, r1@s1 1000; starts r0@s0 1000-1030, r1@s1 1000-1030; bob@d 500.0 [2, 2, 2, 0, 0, 2] 2 | 2@1060; bob@d 500.7 [0, 0, 0, 2, 0, 0] 2; eve@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 3@1120; matches r2@s0 1120; starts r2@s0 1120-1128; eve@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 4@1180; starts r3@s1 1140-1148 reused; bob@d 501.0 [0, 0, 1, 1, 0, 0] 0; eve@d 500.0 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 3, started: 4, reused: 1, ended: 4, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.501 1000 0 218, eve@d 0.500 1000 0 8",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1030; bob@d 500.0 [1, 1, 1, 0, 0, 1] 1 | 2@1060; matches r1@s0 1060; starts r1@s0 1060-1068; bob@d 500.1 [1, 1, 1, 1, 0, 1] 1 | 3@1120; bob@d 500.0 [0, 0, 0, 1, 0, 0] 0 | 4@1180 | SimulationTotals { matches: 2, started: 2, reused: 0, ended: 2, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.500 1000 0 54",
    "1@1000; bob@d 500.0 [2, 0, 0, 0, 0, 0] 2 | 2@1060; matches r0@s0 1060; starts r0@s0 1060-1069; bob@d 500.0 [2, 1, 1, 0, 0, 1] 2 | 3@1120; starts r1@s0 1069-1078 reused; bob@d 500.0 [0, 0, 1, 2, 0, 0] 0 | 4@1180 | SimulationTotals { matches: 1, started: 2, reused: 1, ended: 2, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.500 1000 0 38",
    "1@1000; bob@d 500.0 [1, 0, 0, 0, 0, 0] 2; eve@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 2@1060; matches r0@s0 1060; starts r0@s0 1060-1069; bob@d 500.0 [1, 1, 1, 0, 0, 1] 2; eve@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 3@1120; matches r1@s0 1120; starts r1@s0 1120-1129; bob@d 500.0 [0, 0, 0, 1, 0, 0] 0; eve@d 500.0 [1, 1, 1, 0, 0, 1] 2 | 4@1180; eve@d 500.0 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 2, started: 2, reused: 0, ended: 2, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.500 1000 0 20, eve@d 0.500 1000 0 18",
    "1@1000; matches r0@slot1@h 1000; starts r0@slot1_1@h 1000-1030, r1@slot1_2@h 1000-1030; bob@d 500.0 [4, 1, 2, 0, 0, 2] 3 | 2@1060; matches r3@slot1@h 1060; starts r2@slot1_1@h 1030-1060 reused, r3@slot1_1@h 1060-1160; bob@d 501.0 [1, 1, 2, 3, 0, 1] 4 | 3@1120; bob@d 502.6 [0, 0, 0, 0, 0, 1] 4 | 4@1180; bob@d 503.7 [0, 0, 0, 1, 0, 0] 0 | SimulationTotals { matches: 2, started: 4, reused: 1, ended: 4, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.504 1000 0 550",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1020; bob@d 500.0 [2, 1, 1, 0, 0, 1] 1 | 2@1060; starts r0@s0 1020-1040 reused, r0@s0 1040-1060 reused, r1@s0 1060-1080 reused; bob@d 500.2 [0, 0, 3, 3, 0, 1] 1 | 3@1120; bob@d 500.2 [0, 0, 0, 1, 0, 0] 0 | 4@1180 | SimulationTotals { matches: 1, started: 4, reused: 3, ended: 4, evicted: 0, running: 0, held: 0, waiting: 0, future: 0, without_run_time: 0 } | bob@d 0.500 1000 0 80",
    "1@1000; matches r0@s0 1000; starts r0@s0 1000-1030; bob@d 500.0 [3, 1, 1, 0, 0, 1] 1 | 2@1060; starts r2@s0 1030-1050 reused; bob@d 500.2 [1, 0, 1, 2, 0, 0] 0 | 3@1120; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | 4@1180; bob@d 500.0 [1, 0, 0, 0, 0, 0] 0 | SimulationTotals { matches: 1, started: 2, reused: 1, ended: 2, evicted: 0, running: 0, held: 0, waiting: 1, future: 0, without_run_time: 0 } | bob@d 0.500 1000 0 50",
];

/// A claim goes from job to job.
#[test]
fn simulations_tell_of_claims() {
    let first = ("bob", "QDate = 1; Seconds = 30");
    let keeps = ("bob", "QDate = 1; Seconds = 30; KeepClaimIdle = 50");
    let idle = SLOT.replace("\"Busy\"", "\"Idle\"").replace("More = 1", "ConcurrencyLimits = \"SW\"");
    let rows = [
        (
            "",
            &[first, ("bob", "QDate = 2; Seconds = 50"), ("bob", "QDate = 3; MaxJobRetirementTime = 20")][..],
            &[("s0", STATIC)][..],
        ),
        ("CLAIM_WORKLIFE = 30\n", &[first, ("bob", "QDate = 2; Seconds = 5"), ("bob", "QDate = 3")], &[("s0", STATIC)]),
        ("CLAIM_WORKLIFE = 29\n", &[first, ("bob", "QDate = 2; Seconds = 5"), ("bob", "QDate = 3")], &[("s0", STATIC)]),
        (
            "",
            &[keeps, keeps, ("bob", "QDate = 1040; Seconds = 8"), ("eve", "QDate = 1010")],
            &[("s0", STATIC), ("s1", STATIC)],
        ),
        (
            "",
            &[
                keeps,
                ("bob", "QDate = 1040; Seconds = 8"),
                ("bob", "QDate = 1049; Seconds = 8"),
                ("bob", "QDate = 1100"),
            ],
            &[("s0", STATIC)],
        ),
        (
            "SCHEDD_INTERVAL = 35\n",
            &[keeps, ("bob", "QDate = 1031; Seconds = 8"), ("bob", "QDate = 1050; Seconds = 8")],
            &[("s0", STATIC)],
        ),
        (
            "SCHEDD_INTERVAL = 35\n",
            &[
                ("bob", "QDate = 1; Seconds = 30; KeepClaimIdle = 20"),
                ("bob", "QDate = 1; Seconds = 30; KeepClaimIdle = 300"),
                ("eve", "QDate = 1011; Seconds = 8"),
                ("bob", "QDate = 1130; Seconds = 8"),
            ],
            &[("s0", STATIC), ("s1", STATIC)],
        ),
        (
            "SCHEDD_INTERVAL = 35\nCLAIM_WORKLIFE = 45\n",
            &[keeps, ("bob", "QDate = 1041; Seconds = 8")],
            &[("s0", STATIC)],
        ),
        ("", &[("bob", "ConcurrencyLimits = \"sw\"; Seconds = 9"), ("bob", "x = 1; Seconds = 9")], &[("s0", &idle)]),
        ("", &[("bob", "ConcurrencyLimits = \"db\"; Seconds = 9"), ("eve", "x = 1; Seconds = 9")], &[("s0", &idle)]),
        (
            "",
            &[
                ("bob", "RequestCpus = 2; Seconds = 30"),
                ("bob", "QDate = 5; RequestCpus = 1; Seconds = 30"),
                ("bob", "QDate = 6; RequestCpus = 2; Seconds = 30"),
                ("bob", "QDate = 7; RequestCpus = 4"),
            ],
            &[("slot1@h", PARTITIONABLE)],
        ),
        (
            "",
            &[("bob", "ResourceRequestCount = 3; Seconds = 20"), ("bob", "QDate = 1; Seconds = 20")],
            &[("s0", STATIC)],
        ),
        (
            "START_VANILLA_UNIVERSE = JobPrio isnt 3\n",
            &[first, ("bob", "QDate = 2; JobPrio = 3"), ("bob", "QDate = 3; Seconds = 20")],
            &[("s0", STATIC)],
        ),
    ];
    assert_eq!(rows.len(), OF_CLAIMS.len());
    for ((configuration, texts, slots), expected) in rows.into_iter().zip(OF_CLAIMS) {
        let texts = jobs(texts);
        let jobs: Vec<&str> = texts.iter().map(String::as_str).collect();
        let of = Simulated { configuration, ..PLAIN };
        assert_eq!(told(&of, &jobs, slots), expected, "{configuration} {jobs:?} {slots:?}");
    }
}
