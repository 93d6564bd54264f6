use super::{Outcome, job, run, run_configured};

/// Bob's job and its slot are free again after 30 seconds, between two cycles. What starts then is of the claim's submitter.
#[test]
fn the_next_job_of_a_submitter_starts_in_the_claim() {
    let first = "QDate = 1; Seconds = 30";
    for (slot, jobs, expected) in [
        ("", vec![("bob", first), ("bob", "QDate = 2")], "1000 0, 1030 1+"),
        // The negotiator gives nothing of the claim to eve, who comes first.
        ("", vec![("bob", first), ("eve", "QDate = 1010"), ("bob", "QDate = 1020")], "1000 0, 1030 2+"),
        ("", vec![("bob", first), ("eve", "QDate = 2")], "1000 0, 1060 1"),
        ("", vec![("bob", first), ("bob", "QDate = 1030")], "1000 0, 1030 1+"),
        ("", vec![("bob", first), ("bob", "QDate = 1031")], "1000 0, 1060 1"),
        // The order is that of the submitter's jobs.
        ("", vec![("bob", first), ("bob", "QDate = 3"), ("bob", "QDate = 4; JobPrio = 5")], "1000 2"),
        ("", vec![("bob", first), ("bob", "QDate = 3; RequestCpus = 8"), ("bob", "QDate = 4")], "1000 0, 1030 2+"),
        // A claim is for the limits of its first job, and for jobs without limits.
        (
            "",
            vec![
                ("bob", "QDate = 1; Seconds = 30; ConcurrencyLimits = \"SW\""),
                ("bob", "QDate = 2; Seconds = 20"),
                ("bob", "QDate = 3; ConcurrencyLimits = \"db\""),
                ("bob", "QDate = 4; ConcurrencyLimits = \"sw\""),
            ],
            "1000 0, 1030 1+, 1050 3+",
        ),
        ("", vec![("bob", first), ("bob", "QDate = 2; ConcurrencyLimits = \"sw\"")], "1000 0, 1060 1"),
        // No job that the slot ranks below the first.
        (
            "Rank = TARGET.JobPrio;",
            vec![("bob", "JobPrio = 3; Seconds = 30"), ("bob", "JobPrio = 2")],
            "1000 0, 1060 1",
        ),
        (
            "Rank = TARGET.Prio;",
            vec![("bob", "Prio = 2; QDate = 1; Seconds = 30"), ("bob", "Prio = 2; QDate = 2")],
            "1000 0, 1030 1+",
        ),
        ("Requirements = TARGET.ClusterId =!= 2;", vec![("bob", first), ("bob", "QDate = 2; ClusterId = 2")], "1000 0"),
        // The slot starts jobs only until 1020.
        ("Requirements = time() < 1020;", vec![("bob", first), ("bob", "QDate = 2")], "1000 0"),
        ("", vec![("bob", first), ("bob", "QDate = 2; JobUniverse = 11")], "1000 0, 1060 1"),
        ("", vec![("bob", "QDate = 1; Seconds = 30; JobUniverse = 11"), ("bob", "QDate = 2")], "1000 0, 1060 1"),
    ] {
        let slot = format!("[ {slot} Cpus = 1; Memory = 1024; Requirements = TARGET.RequestCpus <= MY.Cpus ]");
        let slot = if slot.matches("Requirements").count() > 1 {
            slot.replace("; Requirements = TARGET.RequestCpus <= MY.Cpus ]", " ]")
        } else {
            slot
        };
        let jobs: Vec<String> = jobs.into_iter().map(|(user, more)| job(user, more)).collect();
        let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
        let outcome = run(&jobs, &[&slot], (2, 60), Some("Seconds ?: 100000"));
        assert_eq!(times(&outcome), expected, "{slot} {jobs:?}");
        assert_eq!(outcome.totals.reused, expected.matches('+').count());
    }
}

/// The claim is 610 and 1220 seconds old when the first two jobs end, and 1830 when the third does.
#[test]
fn a_claim_serves_until_it_is_too_old() {
    let jobs: Vec<String> = (0..6).map(|number| job("bob", &format!("QDate = {number}"))).collect();
    let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
    for (slot, worklife, expected) in [
        ("", "1220", vec![1000, 1610, 2220, 2860, 3470]),
        ("", "1219", vec![1000, 1610, 2260, 2870, 3520]),
        ("", "610", vec![1000, 1610, 2260, 2870, 3520]),
        ("", "0", vec![1000, 1660, 2320, 2980, 3640]),
        ("", "-1", vec![1000, 1610, 2220, 2830, 3440]),
        ("", "undefined", vec![1000, 1610, 2220, 2830, 3440]),
        ("Kind = 7;", "Kind == 7 ? 609 : 99999", vec![1000, 1660, 2320, 2980, 3640]),
    ] {
        let slot = format!("[ {slot} Cpus = 1; Memory = 1024; Requirements = true ]");
        let configuration = format!("CLAIM_WORKLIFE = {worklife}\n");
        let outcome = run_configured(&configuration, (&jobs, &[("s0", &slot)]), (51, 60), Some("610"));
        let starts = outcome.cycles.iter().flat_map(|cycle| &cycle.starts);
        assert_eq!(starts.map(|start| start.time).collect::<Vec<_>>(), expected, "{worklife}");
    }
}

/// Returns the starts: the time, the job, and `+` in a claim of an earlier job.
fn times(outcome: &Outcome) -> String {
    let starts = outcome.cycles.iter().flat_map(|cycle| &cycle.starts);
    let mark = |reuses| if reuses { "+" } else { "" };
    let starts = starts.map(|start| format!("{} {}{}", start.time, start.request, mark(start.reuses_claim)));
    starts.collect::<Vec<_>>().join(", ")
}

/// Compares the starts with those of a table: configuration, attributes of the slot, jobs of bob (or of `eve`), and the starts.
fn check(table: &[(&str, &str, &[&str], &str)]) {
    for (configuration, slot, jobs, expected) in table {
        let slot =
            format!("[ Name = \"s0\"; {slot} Cpus = 1; Memory = 1024; Requirements = TARGET.RequestCpus <= MY.Cpus ]");
        let user = |text: &&str| if text.starts_with("eve ") { "eve" } else { "bob" };
        let jobs: Vec<String> = jobs.iter().map(|text| job(user(text), text.trim_start_matches("eve "))).collect();
        let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
        let outcome = run_configured(configuration, (&jobs, &[("s0", &slot)]), (4, 100), Some("Seconds ?: 100000"));
        assert_eq!(times(&outcome), *expected, "{configuration}{jobs:?}");
    }
}

/// The first job of bob has the claim of a slot from 1000 on, and ends at 1030. Cycles are every 100 seconds.
#[test]
fn a_claim_stays_open_for_keep_claim_idle() {
    let first = "QDate = 1; Seconds = 30";
    let sixty = "QDate = 1; Seconds = 30; KeepClaimIdle = 60";
    check(&[
        ("", "", &[first, "QDate = 1040"], "1000 0, 1100 1"),
        ("", "", &[sixty, "QDate = 1040"], "1000 0, 1040 1+"),
        ("", "", &[sixty, "QDate = 1090"], "1000 0, 1090 1+"),
        ("", "", &[sixty, "QDate = 1091"], "1000 0, 1100 1"),
        // Of the values, numbers greater than 0 count. The job runs when they are evaluated.
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = 0", "QDate = 1040"], "1000 0, 1100 1"),
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = -5", "QDate = 1040"], "1000 0, 1100 1"),
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = 0", "QDate = 1031"], "1000 0, 1100 1"),
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = -5", "QDate = 1031"], "1000 0, 1100 1"),
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = true", "QDate = 1031"], "1000 0, 1031 1+"),
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = false", "QDate = 1031"], "1000 0, 1100 1"),
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = \"60\"", "QDate = 1040"], "1000 0, 1100 1"),
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = undefined", "QDate = 1040"], "1000 0, 1100 1"),
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = 20.9", "QDate = 1050"], "1000 0, 1050 1+"),
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = 20.9", "QDate = 1051"], "1000 0, 1100 1"),
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = 2 * Seconds", "QDate = 1090"], "1000 0, 1090 1+"),
        (
            "",
            "",
            &["QDate = 1; Seconds = 30; JobStatus = 1; KeepClaimIdle = JobStatus == 2 ? 60 : 0", "QDate = 1090"],
            "1000 0, 1090 1+",
        ),
        // It is for its submitter, and for a job that matches and has its limits.
        ("", "", &[sixty, "eve QDate = 1040"], "1000 0, 1100 1"),
        ("", "", &[sixty, "QDate = 1040; RequestCpus = 2", "QDate = 1050"], "1000 0, 1050 2+"),
        ("", "", &[sixty, "QDate = 1040; ConcurrencyLimits = \"sw\""], "1000 0, 1100 1"),
        (
            "",
            "",
            &[
                "QDate = 1; Seconds = 30; KeepClaimIdle = 60; ConcurrencyLimits = \"SW\"",
                "QDate = 1040; ConcurrencyLimits = \"db\"",
                "QDate = 1050; Seconds = 9; ConcurrencyLimits = \"sw\"",
            ],
            "1000 0, 1050 2+, 1100 1",
        ),
        (
            "",
            "",
            &["QDate = 1; Seconds = 30; KeepClaimIdle = 60; ConcurrencyLimits = \"SW\"", "QDate = 1040"],
            "1000 0, 1040 1+",
        ),
        (
            "CLAIM_RECYCLING_CONSIDER_LIMITS = False\n",
            "",
            &[sixty, "QDate = 1040; ConcurrencyLimits = \"sw\""],
            "1000 0, 1040 1+",
        ),
        (
            "",
            "Rank = TARGET.Level;",
            &[
                "QDate = 1; Seconds = 30; KeepClaimIdle = 60; Level = 2",
                "QDate = 1040; Level = 1",
                "QDate = 1050; Level = 2",
            ],
            "1000 0, 1050 2+",
        ),
        // Two jobs come at once.
        ("", "", &[sixty, "QDate = 1040; Seconds = 5", "QDate = 1040"], "1000 0, 1040 1+, 1045 2+"),
        // One that is started from the open claim has its own time, one that follows at once that of the first.
        ("", "", &[sixty, "QDate = 1040; Seconds = 5", "QDate = 1060"], "1000 0, 1040 1+, 1100 2"),
        ("", "", &[sixty, "QDate = 1040; Seconds = 5; KeepClaimIdle = 15", "QDate = 1060"], "1000 0, 1040 1+, 1060 2+"),
        ("", "", &[sixty, "QDate = 2; Seconds = 10", "QDate = 1060"], "1000 0, 1030 1+, 1060 2+"),
        ("", "", &[first, "QDate = 2; Seconds = 10; KeepClaimIdle = 60", "QDate = 1060"], "1000 0, 1030 1+, 1100 2"),
        // The age of the claim ends it, when the job ends and later.
        ("CLAIM_WORKLIFE = 50\n", "", &[sixty, "QDate = 1050"], "1000 0, 1050 1+"),
        ("CLAIM_WORKLIFE = 50\n", "", &[sixty, "QDate = 1051"], "1000 0, 1100 1"),
        ("CLAIM_WORKLIFE = 20\n", "", &[sixty, "QDate = 1040"], "1000 0, 1100 1"),
        ("CLAIM_PARTITIONABLE_LEFTOVERS = False\n", "", &[sixty, "QDate = 1040"], "1000 0, 1040 1+"),
        // The access point looks only at times, and when other jobs start.
        ("SCHEDD_INTERVAL = 25\n", "", &[sixty, "QDate = 1040"], "1000 0, 1050 1+"),
        ("SCHEDD_INTERVAL = 25\n", "", &[sixty, "QDate = 1095"], "1000 0, 1100 1+"),
        ("SCHEDD_INTERVAL = 300\n", "", &[sixty, "QDate = 1040"], "1000 0, 1300 1+"),
    ]);
}

/// As above.
#[test]
fn policies_and_preemption_end_claims_or_leave_them_open() {
    check(&[
        // Jobs that are held or wait again give the claim up, one that is removed does not.
        ("", "", &["QDate = 1; Seconds = 30; KeepClaimIdle = 60; OnExitHold = true", "QDate = 1040"], "1000 0, 1100 1"),
        (
            "",
            "",
            &["QDate = 1; Seconds = 30; KeepClaimIdle = 60; OnExitRemove = false", "QDate = 1040; JobPrio = 9"],
            "1000 0, 1100 1",
        ),
        (
            "",
            "",
            &["QDate = 1; KeepClaimIdle = 60; PeriodicRemove = JobStatus == 2", "QDate = 1070"],
            "1000 0, 1070 1+",
        ),
        ("", "", &["QDate = 1; KeepClaimIdle = 60; PeriodicRemove = JobStatus == 2", "QDate = 2"], "1000 0, 1060 1+"),
        ("", "", &["QDate = 1; PeriodicRemove = JobStatus == 2", "QDate = 2"], "1000 0, 1060 1+"),
        ("", "", &["QDate = 1; PeriodicHold = JobStatus == 2", "QDate = 2"], "1000 0, 1100 1"),
        ("", "", &["QDate = 1; PeriodicVacate = NumJobStarts == 1", "QDate = 2; JobPrio = -1"], "1000 0, 1100 0"),
        // Another submitter gets it in a cycle, where the policy lets him.
        (
            "",
            "Rank = TARGET.Owner == \"eve\" ? 1 : 0;",
            &["QDate = 1; Seconds = 30; KeepClaimIdle = 600", "eve QDate = 1040", "QDate = 1110"],
            "1000 0, 1100 1",
        ),
        (
            "PREEMPTION_REQUIREMENTS = False\n",
            "",
            &["QDate = 1; Seconds = 30; KeepClaimIdle = 600", "eve QDate = 1040", "QDate = 1110"],
            "1000 0, 1110 2+",
        ),
    ]);
}

/// While a claim is open, its submitter uses the slot, and it is no part of its partitionable slot.
#[test]
fn an_open_claim_is_in_use() {
    let slot = "[ MyType = \"Machine\"; Name = \"slot1@h\"; SlotID = 1; PartitionableSlot = true; SlotType = \"Partitionable\"; \
                State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 4; Memory = 4096; Disk = 100000; SlotWeight = Cpus; \
                Requirements = TARGET.RequestCpus <= MY.Cpus ]";
    let jobs = [
        job("bob", "QDate = 1; RequestCpus = 3; Seconds = 30; KeepClaimIdle = 130"),
        job("eve", "QDate = 1040; RequestCpus = 2"),
        job("bob", "QDate = 1110; RequestCpus = 1; Seconds = 5"),
    ];
    let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
    let outcome = run_configured("", (&jobs, &[("slot1@h", slot)]), (4, 100), Some("Seconds ?: 100000"));
    let starts = outcome.cycles.iter().flat_map(|cycle| &cycle.starts);
    let starts: Vec<_> = starts.map(|start| (start.time, start.request, start.offers[0].as_str())).collect();
    assert_eq!(starts, [(1000, 0, "slot1_1@h"), (1110, 2, "slot1_1@h"), (1200, 1, "slot1_1@h")]);
    let used = |cycle: usize| outcome.cycles[cycle].submitters["bob@d"].used;
    assert_eq!(format!("{:?}", [used(0), used(1), used(2)]), "[3.0, 3.0, 0.0]");
}

/// A slot that is claimed without a job in the beginning is for its submitter, and soon free.
#[test]
fn claims_without_jobs_in_the_beginning() {
    for (activity, more, jobs, expected) in [
        ("Idle", "", vec![("bob", "QDate = 1")], "1000 0+"),
        ("Idle", "", vec![("eve", "QDate = 1")], "1060 0"),
        ("Idle", "", vec![("bob", "QDate = 1020")], "1060 0"),
        ("Idle", "JobId = \"7.0\";", vec![("bob", "QDate = 1")], ""),
        ("Busy", "", vec![("bob", "QDate = 1")], ""),
    ] {
        let slot = format!(
            "[ MyType = \"Machine\"; Name = \"s0\"; SlotID = 1; State = \"Claimed\"; Activity = \"{activity}\"; RemoteUser = \"bob@d\"; \
             RemoteOwner = \"bob\"; EnteredCurrentState = 900; {more} Cpus = 1; Memory = 1024; Requirements = true ]"
        );
        let jobs: Vec<String> = jobs.into_iter().map(|(user, more)| job(user, more)).collect();
        let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
        let outcome = run_configured("", (&jobs, &[("s0", &slot)]), (3, 60), None);
        assert_eq!(times(&outcome), expected, "{activity} {more} {jobs:?}");
    }
}
