use std::ops::ControlFlow;

use super::{RunTime, SimulatedCycle, SimulationSettings, SimulationTotals, simulate};
use crate::ad::{Ad, Dialect};
use crate::eval::Context;
use crate::matching::negotiate::NegotiationSettings;
use crate::matching::policy::{Accountant, Policy, ready_policy};
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
    run_for(requests, &offers, times, run_time)
}

/// Simulates six cycles at intervals of a minute. The offers have names.
fn run_named(requests: &[&str], offers: &[(&str, &str)], run_time: Option<&str>) -> Outcome {
    run_for(requests, offers, (6, 60), run_time)
}

fn run_for(
    requests: &[&str],
    offers: &[(&str, &str)],
    (cycles, interval): (u64, i64),
    run_time: Option<&str>,
) -> Outcome {
    let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
    let policy = Policy::parse(ready_policy("htcondor").unwrap().as_bytes(), Dialect::Condor).unwrap();
    let settings = NegotiationSettings::new(policy, Protocol::new(Dialect::Condor), context);
    let run_time = run_time.map(|text| RunTime {
        expression: parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap(),
    });
    let of = SimulationSettings { cycles, interval, begin: 1000, run_time, begins_idle: false };
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
        (60, Some("61"), vec!["1:0@s0", "3:1@s0", "5:2@s0"]),
        (60, Some("59.5"), vec!["1:0@s0", "2:1@s0", "3:2@s0"]),
        (60, Some("TARGET.Memory > 1000 ? 120 : 1"), vec!["1:0@s0", "3:1@s0", "5:2@s0"]),
        (60, Some("QDate * 60"), vec!["1:0@s0", "2:1@s0", "4:2@s0"]),
        (60, Some("0"), vec!["1:0@s0", "2:1@s0", "3:2@s0"]),
        // What is no number of at least 0 runs until the end.
        (60, Some("-1"), vec!["1:0@s0"]),
        (60, Some("NoSuch"), vec!["1:0@s0"]),
        (60, Some("\"soon\""), vec!["1:0@s0"]),
        (i64::MAX, Some("60"), vec!["1:0@s0", "2:1@s0", "3:2@s0"]),
        (60, Some("9223372036854775807"), vec!["1:0@s0"]),
    ] {
        let outcome = run(&jobs, &[STATIC], (6, interval), run_time);
        assert_eq!(outcome.starts(), expected, "{run_time:?}");
        let lacking = matches!(run_time, Some("-1" | "NoSuch" | "\"soon\""));
        assert_eq!(outcome.totals.without_run_time, usize::from(lacking), "{run_time:?}");
    }
}

#[test]
fn what_runs_already_ends_at_its_time_after_its_start() {
    let dynamic = |name: &str, more: &str| {
        format!(
            "[ MyType = \"Machine\"; Name = \"{name}\"; DynamicSlot = true; SlotType = \"Dynamic\"; State = \"Claimed\"; \
             Activity = \"Busy\"; RemoteUser = \"bob@d\"; Cpus = 4; Memory = 4096; Disk = 100000; Requirements = false; {more} ]"
        )
    };
    let full = PARTITIONABLE
        .replace("Cpus = 4; Memory = 4096; Disk = 100000; TotalSlotCpus = 4", "Cpus = 0; Memory = 0; Disk = 0");
    let waiting = job("ann", "QDate = 1");
    let running = |more: &str| {
        job(
            "bob",
            &format!(
                "MyType = \"Job\"; JobStatus = 2; ClusterId = 7; ProcId = 0; GlobalJobId = \"x#7.0\"; Seconds = 200; {more}"
            ),
        )
    };
    let since = "EnteredCurrentActivity = 880";
    // Cycles are at 1000, 1060, 1120 and so on. Bob's job began at 900 by its own ad, and at 880 by the ad of its slot.
    for (slot, queue, run_time, expected) in [
        (since, Some("JobCurrentStartDate = 900; RemoteHost = \"slot1_1@h\""), Some("Seconds"), vec!["3:1@slot1_1@h"]),
        ("GlobalJobId = \"x#7.0\"", Some("JobCurrentStartDate = 900"), Some("Seconds"), vec!["3:1@slot1_1@h"]),
        ("JobId = \"7.0\"", Some("JobCurrentStartDate = 900"), Some("Seconds"), vec!["3:1@slot1_1@h"]),
        (&format!("{since}; JobId = \"7.0\""), Some(""), Some("Seconds"), vec!["3:1@slot1_1@h"]),
        (
            "JobStart = 960; EnteredCurrentActivity = 100; JobId = \"7.0\"",
            Some(""),
            Some("Seconds"),
            vec!["4:1@slot1_1@h"],
        ),
        // Without the job, its slot tells of it.
        (since, None, Some("240"), vec!["3:1@slot1_1@h"]),
        (since, None, Some("Owner == \"bob\" && RequestCpus == 4 ? 181 : 0"), vec!["3:1@slot1_1@h"]),
        ("", None, Some("60"), vec!["2:1@slot1_1@h"]),
        // It outlives its run time until the first cycle is over.
        (since, None, Some("1"), vec!["2:1@slot1_1@h"]),
        ("EnteredCurrentActivity = -5", None, Some("60"), vec!["2:1@slot1_1@h"]),
        (since, None, Some("Nothing"), vec![]),
        (since, Some("JobCurrentStartDate = 900; RemoteHost = \"slot1_1@h\""), None, vec![]),
    ] {
        let queue = queue.map_or_else(|| job("eve", "QDate = 99999"), running);
        let part = dynamic("slot1_1@h", slot);
        let outcome = run_named(&[&queue, &waiting], &[("slot1@h", &full), ("slot1_1@h", &part)], run_time);
        assert_eq!(outcome.starts(), expected, "{slot} {run_time:?}");
        let bob = &outcome.cycles[0].submitters["bob@d"];
        assert_eq!((bob.running, bob.waiting, bob.used), (1, 0, 4.0), "{slot}");
        assert_eq!(outcome.totals.ended > 0, !expected.is_empty());
    }
    // A job of two slots frees both. One whose slots are unknown runs nonetheless, and does not wait.
    let slots = ["s0", "s1"].map(|name| {
        format!("[ MyType = \"Machine\"; Name = \"{name}\"; State = \"Claimed\"; GlobalJobId = \"x#7.0\"; RemoteUser = \"bob@d\"; Cpus = 1; Memory = 1024; Requirements = TARGET.Owner != \"bob\" ]")
    });
    let other = running("JobCurrentStartDate = 1000").replace("x#7.0", "x#8.0");
    let jobs = [running("JobCurrentStartDate = 1000"), other, job("ann", "QDate = 1"), job("ann", "QDate = 2")];
    let outcome = run_named(&jobs.each_ref().map(String::as_str), &[("s0", &slots[0]), ("s1", &slots[1])], Some("100"));
    assert_eq!(outcome.starts(), ["3:2@s0", "3:3@s1"]);
    assert_eq!(outcome.cycles[0].submitters["bob@d"].running, 2);
    assert_eq!((outcome.totals.ended, outcome.totals.waiting), (4, 0));
}

#[test]
fn what_runs_already_waits_again_when_it_is_evicted() {
    let slot = "[ MyType = \"Machine\"; Name = \"s0\"; State = \"Claimed\"; RemoteUser = \"ann@d\"; GlobalJobId = \"g\"; Cpus = 1; \
                Memory = 1024; Requirements = true; Rank = TARGET.Owner == \"bob\" ? 1 : 0; CurrentRank = 0.0 ]";
    let running = job("ann", "MyType = \"Job\"; JobStatus = 2; GlobalJobId = \"g\"; JobCurrentStartDate = 990");
    let preferred = job("bob", "QDate = 1");
    let outcome = run_named(&[&running, &preferred], &[("s0", slot)], Some("120"));
    assert_eq!(outcome.starts(), ["1:1@s0", "3:0@s0"]);
    assert_eq!((outcome.totals.evicted, outcome.cycles[0].starts[0].evicted), (1, Some(0)));
}

#[test]
fn a_job_waits_from_its_date_on() {
    let jobs = ["QDate = 1070", "QDate = 1000", "QDate = 5000"].map(|more| job("ann", more));
    let outcome = run(&jobs.each_ref().map(String::as_str), &[STATIC, STATIC], (4, 60), None);
    assert_eq!(outcome.starts(), ["1:1@s0", "3:0@s1"]);
    assert_eq!((outcome.totals.running, outcome.totals.waiting, outcome.totals.future), (2, 0, 1));
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
        let mut taken: Vec<&String> = cycle.starts.iter().flat_map(|start| &start.offers).collect();
        let count = taken.len();
        taken.sort();
        taken.dedup();
        assert_eq!(taken.len(), count, "{cycle:?}");
    }
    let SimulationTotals { started, ended, evicted, running, waiting, future, .. } = outcome.totals;
    assert_eq!((started, running, waiting, future, evicted), (ended, 0, 0, 0, 0));
    assert_eq!(started, 60);
}
