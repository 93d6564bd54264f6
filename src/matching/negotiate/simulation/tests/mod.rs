mod beginning;
mod claims;
mod lasting;
mod narrow_ads;
mod queue;
mod whole;

use std::ops::ControlFlow;

use super::{RunTime, SimulatedCycle, SimulationSettings, SimulationTotals, simulate};
use crate::ad::{Ad, Dialect};
use crate::configuration::{Configuration, JobPolicies};
use crate::eval::Context;
use crate::matching::Accelerations;
use crate::matching::negotiate::NegotiationSettings;
use crate::matching::policy::{Accountant, CycleTimes, Policy, ready_policy};
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, parse_ad, parse_expression};

fn ads(texts: &[&str]) -> Vec<Ad> {
    texts.iter().map(|text| parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()).collect()
}

/// Simulates cycles with the policy `htcondor`, from the time 1000 on. The offers are called `s0`, `s1` and so on, but for
/// partitionable ones, which have their names.
fn run(requests: &[&str], offers: &[&str], times: (u64, i64), run_time: Option<&str>) -> Outcome {
    let name_of = |(place, text): (usize, &&str)| {
        if text.contains("Name =") { "slot1@h".to_owned() } else { format!("s{place}") }
    };
    let names: Vec<String> = offers.iter().enumerate().map(name_of).collect();
    let offers: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(offers.iter().copied()).collect();
    run_configured("", (requests, &offers), times, run_time)
}

/// Simulates six cycles at intervals of a minute. The offers have names.
fn run_named(requests: &[&str], offers: &[(&str, &str)], run_time: Option<&str>) -> Outcome {
    run_configured("", (requests, offers), (6, 60), run_time)
}

/// Simulates cycles as HTCondor with a configuration.
fn run_configured(
    configuration: &str,
    ads: (&[&str], &[(&str, &str)]),
    times: (u64, i64),
    run_time: Option<&str>,
) -> Outcome {
    run_accelerated(Accelerations::ALL, configuration, ads, times, run_time)
}

fn run_accelerated(
    accelerations: Accelerations,
    configuration: &str,
    (requests, offers): (&[&str], &[(&str, &str)]),
    (cycles, interval): (u64, i64),
    run_time: Option<&str>,
) -> Outcome {
    let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
    let (configuration, _) = Configuration::read(configuration.as_bytes());
    let text = ready_policy("htcondor").unwrap().as_bytes();
    let Ok(policy) = Policy::parse_configured(text, &configuration, &context) else { panic!("it is a policy") };
    let settings = NegotiationSettings::new(policy, Protocol::new(Dialect::Condor), context.clone());
    let settings = NegotiationSettings { accelerations, ..settings };
    let run_time = run_time.map(|text| {
        RunTime::Expression(parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap())
    });
    let (policies, _) = JobPolicies::read(&configuration, &context);
    let of = SimulationSettings {
        cycles,
        interval,
        begin: 1000,
        run_time,
        begins_idle: false,
        policies,
        policy_interval: 60,
        claim_interval: CycleTimes::read(&configuration, &context).unwrap().claims,
        skips_quiet: false,
    };
    let names = offers.iter().map(|(name, _)| (*name).to_owned());
    let offers: Vec<(String, Ad)> = names.zip(ads(&offers.iter().map(|(_, text)| *text).collect::<Vec<_>>())).collect();
    let mut accountant = Accountant::default();
    let mut all = Vec::new();
    let mut tell = |cycle: &SimulatedCycle| {
        all.push(cycle.clone());
        ControlFlow::Continue(())
    };
    let totals = simulate(&settings, &of, (&ads(requests), &offers), &mut accountant, &mut tell).unwrap();
    Outcome { cycles: all, totals, accountant }
}

struct Outcome {
    cycles: Vec<SimulatedCycle>,
    totals: SimulationTotals,
    accountant: Accountant,
}

impl Outcome {
    /// Returns the starts as `cycle:request@slot`.
    fn starts(&self) -> Vec<String> {
        let of = |cycle: &SimulatedCycle| {
            let number = cycle.number;
            cycle
                .starts
                .iter()
                .map(move |start| format!("{number}:{}@{}", start.request, start.offers.join("+")))
                .collect::<Vec<_>>()
        };
        self.cycles.iter().flat_map(of).collect()
    }
}

const STATIC: &str = "[ Cpus = 1; Memory = 1024; Requirements = true ]";
const PARTITIONABLE: &str = "[ Name = \"slot1@h\"; PartitionableSlot = true; SlotType = \"Partitionable\"; \
    State = \"Unclaimed\"; Cpus = 4; Memory = 4096; Disk = 100000; TotalSlotCpus = 4; Requirements = Cpus >= TARGET.RequestCpus ]";

fn job(user: &str, more: &str) -> String {
    format!(
        "[ User = \"{user}@d\"; Owner = \"{user}\"; Requirements = true; RequestCpus = 1; RequestMemory = 128; RequestDisk = 1; {more} ]"
    )
}

#[test]
fn a_slot_is_free_when_its_job_has_run() {
    let jobs = ["QDate = 1", "QDate = 2", "QDate = 3"].map(|more| job("ann", more));
    let jobs = jobs.each_ref().map(String::as_str);
    for (interval, run_time, expected) in [
        (60, None, vec!["1:0@s0"]),
        (60, Some("60"), vec!["1:0@s0", "2:1@s0", "3:2@s0"]),
        (60, Some("61"), vec!["1:0@s0", "3:1@s0", "4:2@s0"]),
        (60, Some("59.5"), vec!["1:0@s0", "2:1@s0", "3:2@s0"]),
        (60, Some("TARGET.Memory > 1000 ? 120 : 1"), vec!["1:0@s0", "3:1@s0", "5:2@s0"]),
        (60, Some("QDate * 60"), vec!["1:0@s0", "2:1@s0", "4:2@s0"]),
        (60, Some("0"), vec!["1:0@s0", "2:1@s0", "2:2@s0"]),
        // What is no number of at least 0 runs until the end.
        (60, Some("-1"), vec!["1:0@s0"]),
        (60, Some("NoSuch"), vec!["1:0@s0"]),
        (60, Some("\"soon\""), vec!["1:0@s0"]),
        (i64::MAX, Some("60"), vec!["1:0@s0", "2:1@s0", "2:2@s0"]),
        (60, Some("9223372036854775807"), vec!["1:0@s0"]),
    ] {
        let outcome = run(&jobs, &[STATIC], (6, interval), run_time);
        assert_eq!(outcome.starts(), expected, "{run_time:?}");
        let lacking = matches!(run_time, Some("-1" | "NoSuch" | "\"soon\""));
        assert_eq!(outcome.totals.without_run_time, usize::from(lacking), "{run_time:?}");
    }
}

#[test]
fn a_job_waits_from_its_date_on() {
    let jobs = ["QDate = 1070", "QDate = 1000", "QDate = 5000"].map(|more| job("ann", more));
    let outcome = run(&jobs.each_ref().map(String::as_str), &[STATIC, STATIC], (4, 60), None);
    assert_eq!(outcome.starts(), ["1:1@s0", "3:0@s1"]);
    assert_eq!((outcome.totals.running, outcome.totals.waiting, outcome.totals.future), (2, 0, 1));
}

#[test]
fn the_clock_of_jobs_and_slots_goes_on() {
    let slot = |more: &str| format!("[ Cpus = 1; Memory = 1024; Requirements = true; {more} ]");
    // The first cycle is at 00:16:40.
    let clock = "MyCurrentTime = 1000; ClockMin = 16; ClockDay = 4;";
    for (of_job, of_slot, expected) in [
        ("", "", &["1:0@s0"][..]),
        ("Requirements = time() > 1120", "", &["4:0@s0"]),
        ("", "Requirements = time() > 1120", &["4:0@s0"]),
        ("JobCoolDownExpiration = 999", "", &["1:0@s0"]),
        ("JobCoolDownExpiration = 1000", "", &["2:0@s0"]),
        ("JobCoolDownExpiration = 1120; QDate = 1", "", &["4:0@s0"]),
        ("JobCoolDownExpiration = 1000; QDate = 1120", "", &["3:0@s0"]),
        ("", &format!("{clock} Requirements = ClockMin >= 19"), &["4:0@s0"]),
        ("Requirements = TARGET.ClockMin == 18", clock, &["3:0@s0"]),
        ("Requirements = TARGET.ClockDay == 4", clock, &["1:0@s0"]),
        ("Requirements = TARGET.ClockDay == 5", clock, &[]),
    ] {
        let outcome = run(&[&job("ann", of_job)], &[&slot(of_slot)], (5, 60), None);
        assert_eq!(outcome.starts(), expected, "{of_job} {of_slot}");
    }
}

#[test]
fn a_partitionable_slot_is_divided_and_whole_again() {
    let jobs = ["", "", "RequestCpus = 2;", "RequestCpus = 4;"].map(|more| job("ann", &format!("{more} JobPrio = 0")));
    let jobs = jobs.each_ref().map(String::as_str);
    let outcome = run(&jobs, &[PARTITIONABLE], (3, 60), Some("60"));
    assert_eq!(outcome.starts(), ["1:0@slot1_1@h", "1:1@slot1_2@h", "1:2@slot1_3@h", "2:3@slot1_1@h"]);
    let used: Vec<f64> = outcome.cycles.iter().map(|cycle| cycle.submitters["ann@d"].used).collect();
    assert_eq!(used, [4.0, 4.0, 0.0]);
    // Four cores for 120 seconds.
    assert!((outcome.accountant.submitters["ann@d"].usage - 480.0).abs() < 1e-6, "{:?}", outcome.accountant);
    assert_eq!((outcome.totals.matches, outcome.totals.started, outcome.totals.ended), (2, 4, 4));
}

/// The jobs 1 and 2 are of one autocluster: the first starts where it matched, the second leaves its match to the first job that
/// may have it.
#[test]
fn the_access_point_chooses_for_matches_behind_the_first_of_a_run() {
    let jobs = ["ConcurrencyLimits = \"sw\"; JobPrio = 0", "JobPrio = 0", "JobPrio = 0"].map(|more| job("ann", more));
    let jobs = jobs.each_ref().map(String::as_str);
    for (considers_limits, expected) in [(true, ["1:1@s0", "1:2@s1"]), (false, ["1:1@s0", "1:0@s1"])] {
        let configuration =
            format!("CONCURRENCY_LIMIT_DEFAULT = 0\nCLAIM_RECYCLING_CONSIDER_LIMITS = {considers_limits}\n");
        let outcome = run_configured(&configuration, (&jobs, &[("s0", STATIC), ("s1", STATIC)]), (1, 60), None);
        assert_eq!(outcome.starts(), expected, "{configuration}");
    }
}

#[test]
fn a_job_that_the_slot_prefers_evicts_another_which_waits_again() {
    let slot = "[ Cpus = 1; Memory = 1024; Requirements = true; Rank = TARGET.Owner == \"bob\" ? 1 : 0 ]";
    let jobs = [job("ann", "QDate = 1"), job("bob", "QDate = 1050")];
    let outcome = run(&jobs.each_ref().map(String::as_str), &[slot], (5, 60), Some("120"));
    assert_eq!(outcome.starts(), ["1:0@s0", "2:1@s0", "4:0@s0"]);
    let start = &outcome.cycles[1].starts[0];
    assert_eq!((start.preempted.as_deref(), start.evicted, start.end), (Some("ann@d"), Some(0), Some(1180)));
    assert_eq!((outcome.totals.evicted, outcome.totals.ended, outcome.totals.running), (1, 1, 1));
    // A slot that lets jobs retire keeps them until then.
    let slot = slot.replace(" ]", "; MaxJobRetirementTime = 110 ]");
    let outcome = run(&jobs.each_ref().map(String::as_str), &[&slot], (3, 60), None);
    assert_eq!(outcome.starts(), ["1:0@s0", "3:1@s0"]);
}

#[test]
fn a_slot_never_gives_more_than_it_has() {
    // The startd divides memory by 128 and disk by 1024 units.
    let small = PARTITIONABLE.replace("Memory = 4096", "Memory = 200");
    let jobs = ["", "", ""].map(|more| job("ann", more));
    let outcome = run(&jobs.each_ref().map(String::as_str), &[&small], (4, 60), Some("60"));
    assert_eq!(outcome.starts(), ["1:0@slot1_1@h", "2:1@slot1_1@h", "3:2@slot1_1@h"]);
    let smaller = PARTITIONABLE.replace("Memory = 4096", "Memory = 100");
    let outcome = run(&jobs.each_ref().map(String::as_str), &[&smaller], (4, 60), Some("60"));
    assert!(outcome.starts().is_empty(), "{:?}", outcome.starts());
}

#[test]
fn priorities_follow_usage() {
    // Ann uses the slot for a day. Then bob is served first, and after his day ann.
    let jobs: Vec<String> = ["ann", "ann", "bob", "bob"].map(|user| job(user, "QDate = 1")).into();
    let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
    let outcome = run(&jobs, &[STATIC], (4, 86_400), Some("86400"));
    assert_eq!(outcome.starts(), ["1:0@s0", "2:2@s0", "3:1@s0", "4:3@s0"]);
    let ann = outcome.accountant.submitters["ann@d"];
    assert!((ann.usage - 2.0 * 86_400.0).abs() < 1.0 && ann.resources < 0.5, "{ann:?}");
}

#[test]
fn nothing_is_lost_and_nothing_is_used_twice() {
    let jobs: Vec<String> = (0..60)
        .map(|number| {
            let more =
                format!("RequestCpus = {}; QDate = {}; Seconds = {}", number % 3 + 1, number * 40, number * 17 % 200);
            job(["ann", "bob", "eve"][number % 3], &more)
        })
        .collect();
    let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
    let outcome = run(&jobs, &[PARTITIONABLE, STATIC, STATIC], (80, 30), Some("Seconds"));
    for cycle in &outcome.cycles {
        let used: f64 = cycle.submitters.values().map(|state| state.used).sum();
        assert!((0.0..=6.0).contains(&used), "{cycle:?}");
    }
    let starts = outcome.cycles.iter().flat_map(|cycle| &cycle.starts);
    let mut uses: Vec<(&str, i64, i64)> =
        starts.map(|start| (start.offers[0].as_str(), start.time, start.end.unwrap_or(i64::MAX))).collect();
    uses.sort_unstable();
    for [before, after] in uses.array_windows() {
        assert!(before.0 != after.0 || before.2 <= after.1, "{before:?} {after:?}");
    }
    let SimulationTotals { started, ended, evicted, running, waiting, future, .. } = outcome.totals;
    assert_eq!((started, running, waiting, future, evicted), (ended, 0, 0, 0, 0));
    assert_eq!(started, 60);
}
