use super::{STATIC, job, run_configured};

/// Cycles are at 1000, 1060 and so on, and policies are evaluated at 1060, 1120 and so on. Jobs run for 100 seconds. Shown are the
/// starts and what policies do.
#[test]
fn policies_hold_release_remove_and_vacate() {
    for (configuration, ad, expected) in [
        ("", "PeriodicHold = true", "start 1000, holds 1060 by PeriodicHold"),
        ("", "PeriodicHold = false; PeriodicRemove = undefined", "start 1000"),
        ("", "PeriodicHold = JobStatus == 1", "start 1000"),
        ("", "QDate = 1050; Requirements = false; PeriodicHold = JobStatus == 1", "holds 1060 by PeriodicHold"),
        ("", "QDate = 1100; Requirements = false; PeriodicHold = JobStatus == 1", "holds 1120 by PeriodicHold"),
        (
            "",
            "PeriodicHold = JobStatus == 2 && time() - JobCurrentStartDate > 50",
            "start 1000, holds 1060 by PeriodicHold",
        ),
        ("", "AllowedJobDuration = 60", "start 1000, holds 1060 by AllowedJobDuration"),
        ("", "AllowedExecuteDuration = 60", "start 1000, holds 1100 by AllowedExecuteDuration"),
        ("", "TimerRemove = 1059", "start 1000, removes 1060 by TimerRemove"),
        ("", "TimerRemove = 5000", "start 1000"),
        (
            "",
            "PeriodicRemove = NumJobStarts > 0; PeriodicHold = NumJobStarts > 0",
            "start 1000, holds 1060 by PeriodicHold, removes 1120 by PeriodicRemove",
        ),
        (
            "",
            "PeriodicHold = NumHolds =!= 1; PeriodicHoldReason = \"mine\"; PeriodicRelease = HoldReasonCode == 3 && HoldReason == \"mine\" && time() - EnteredCurrentStatus > 60",
            "start 1000, holds 1060 by PeriodicHold, releases 1180 by PeriodicRelease, start 1180",
        ),
        ("", "PeriodicVacate = NumJobStarts == 1", "start 1000, vacates 1060 by PeriodicVacate, start 1060"),
        // Policies of the configuration come after the job's own.
        ("SYSTEM_PERIODIC_REMOVE = NumJobStarts >= 1\n", "", "start 1000, removes 1060 by SYSTEM_PERIODIC_REMOVE"),
        (
            "SYSTEM_PERIODIC_HOLD = true\nSYSTEM_PERIODIC_RELEASE = HoldReasonCode == 26 && NumHolds == 1\n",
            "",
            "start 1000, holds 1060 by SYSTEM_PERIODIC_HOLD, releases 1120 by SYSTEM_PERIODIC_RELEASE, start 1120, holds 1180 by SYSTEM_PERIODIC_HOLD",
        ),
        ("SYSTEM_PERIODIC_HOLD = true\n", "PeriodicHold = true", "start 1000, holds 1060 by PeriodicHold"),
        // When the run ends at 1100.
        ("", "OnExitHold = ExitCode == 0", "start 1000, holds 1100 by OnExitHold"),
        ("", "OnExitHold = ExitCode != 0; ExitCode = 3", "start 1000, holds 1100 by OnExitHold"),
        ("", "OnExitHold = ExitBySignal; OnExitRemove = true", "start 1000"),
        ("", "OnExitRemove = NumJobStarts >= 2", "start 1000, requeues 1100 by OnExitRemove, start 1120"),
        ("", "OnExitRemove = undefined", "start 1000"),
        ("", "OnExitRemove = false; OnExitHold = NumJobStarts == 1", "start 1000, holds 1100 by OnExitHold"),
        ("", "PeriodicRemove = time() > 1070 && JobStatus == 2", "start 1000, removes 1100 by PeriodicRemove"),
        ("", "PeriodicVacate = time() > 1070", "start 1000"),
        (
            "",
            "RemoteWallClockTime = 0.0; PeriodicRemove = RemoteWallClockTime > 80",
            "start 1000, removes 1100 by PeriodicRemove",
        ),
        (
            "",
            "RemoteWallClockTime = 0.0; PeriodicVacate = NumJobStarts == 1; PeriodicHold = RemoteWallClockTime > 120",
            "start 1000, vacates 1060 by PeriodicVacate, start 1060, holds 1160 by PeriodicHold",
        ),
        // What is held in the beginning.
        ("", "MyType = \"Job\"; JobStatus = 5; HoldReasonCode = 13", ""),
        (
            "",
            "MyType = \"Job\"; JobStatus = 5; HoldReasonCode = 13; PeriodicRelease = true",
            "releases 1060 by PeriodicRelease, start 1060",
        ),
        ("", "MyType = \"Job\"; JobStatus = 5; HoldReasonCode = 1; PeriodicRelease = true", ""),
    ] {
        let whole = job("ann", &format!("{ad};")).replace("; ; ]", " ]").replace(";; ]", "; ]");
        let whole = if ad.contains("Requirements") { whole.replace("Requirements = true; ", "") } else { whole };
        let outcome = run_configured(configuration, (&[&whole], &[("s0", STATIC)]), (4, 60), Some("100"));
        let mut events = Vec::new();
        for cycle in &outcome.cycles {
            events.extend(cycle.starts.iter().map(|start| (start.time, 1, format!("start {}", start.time))));
            let text = |effect: &super::super::SimulatedEffect| {
                format!("{} {} by {}", effect.effect.kind.as_str(), effect.time, effect.effect.knob)
            };
            events.extend(cycle.effects.iter().map(|effect| (effect.time, 0, text(effect))));
        }
        events.sort();
        let events: Vec<&str> = events.iter().map(|(.., text)| text.as_str()).collect();
        assert_eq!(events.join(", "), expected, "{configuration}{ad}");
        let totals = outcome.totals;
        let is_held = expected.rsplit(", ").next().is_some_and(|last| last.starts_with("holds"));
        assert_eq!(totals.held, usize::from(is_held || expected.is_empty()), "{ad}");
    }
}

/// A slot whose job a policy takes away is free for others.
#[test]
fn the_slot_of_a_held_job_is_free() {
    let held = job("ann", "QDate = 1; PeriodicHold = JobStatus == 2");
    let other = job("bob", "QDate = 2");
    let outcome = run_configured("", (&[&held, &other], &[("s0", STATIC)]), (3, 60), None);
    assert_eq!(outcome.starts(), ["1:0@s0", "2:1@s0"]);
    assert!(outcome.accountant.submitters["ann@d"].resources < 0.5, "{:?}", outcome.accountant);
    assert_eq!((outcome.totals.held, outcome.totals.running, outcome.totals.waiting), (1, 1, 0));
}

/// However long an interval is, it has an end.
#[test]
fn long_intervals_end() {
    let jobs = [job("ann", "QDate = 1; PeriodicHold = time() > 10000000")];
    let outcome = run_configured("", (&[&jobs[0]], &[("s0", STATIC)]), (2, i64::MAX), None);
    assert_eq!(outcome.totals.held, 1);
}
