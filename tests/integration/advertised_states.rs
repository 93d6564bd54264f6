//! What jobs and slots of HTCondor say of their states, and what the commands make of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value as Json;

use crate::binary::{file, run, words};

fn printed(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A job that any of the slots of [`slot`] accepts; `more` are further lines.
fn job(number: u32, more: &str) -> String {
    let fixed = "MyType = \"Job\"\nClusterId = 7\nOwner = \"ann\"\nUser = \"ann@pool\"\nRequestMemory = 1000\n";
    format!(
        "{fixed}ProcId = {number}\nGlobalJobId = \"ap#7.{number}#1\"\nRequirements = TARGET.Arch == \"X86_64\"\n{more}\n\n"
    )
}

/// A slot of 4000 MB.
fn slot(name: &str, more: &str) -> String {
    let limits =
        "WithinResourceLimits = MY.Memory >= TARGET.RequestMemory\nRequirements = START && WithinResourceLimits";
    format!(
        "MyType = \"Machine\"\nName = \"{name}\"\nArch = \"X86_64\"\nMemory = 4000\nSTART = true\n{limits}\n{more}\n\n"
    )
}

/// One slot in each state, and an ad of a daemon.
fn pool() -> String {
    [
        slot("free@a", "State = \"Unclaimed\""),
        slot("backfill@a", "State = \"Backfill\""),
        slot("claimed@a", "State = \"Claimed\"\nRemoteUser = \"bob@pool\""),
        slot("own@a", "State = \"Claimed\"\nRemoteUser = \"ann@pool\""),
        slot("owner@a", "State = \"Owner\""),
        slot("drained@a", "State = \"Drained\""),
        slot("draining@a", "State = \"Unclaimed\"\nDraining = true"),
        slot("offline@a", "State = \"Unclaimed\"\nOffline = true"),
        "MyType = \"DaemonMaster\"\nName = \"a\"\nRequirements = true\nArch = \"X86_64\"\n".to_owned(),
    ]
    .concat()
}

fn matched(arguments: &[&str], jobs: &str) -> Vec<String> {
    let output = run(&[&["match", "--no-header"], arguments].concat(), jobs.as_bytes());
    let rows = printed(&output);
    rows.lines().map(|row| row.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_clause_that_rules_out_most_says_how_much_it_asks_for() {
    let drained = "State = \"Unclaimed\"\nPartitionableSlot = true\nTotalSlotMemory = 4000\nDisk = 99999999999";
    let small: String =
        (0..4).map(|slot_of| slot(&format!("s{slot_of}@a"), "State = \"Unclaimed\"\nDisk = 1000")).collect();
    let large = slot("large@a", drained).replace("Memory = 4000\n", "Memory = 0\n");
    let pool = file("states-amount", small + &large);
    for (clause, bound) in [
        ("TARGET.Disk >= RequestDisk", " (RequestDisk is 20000000000, 18.6 TiB)"),
        ("TARGET.Disk >= 20000000000", " (18.6 TiB)"),
        ("TARGET.Disk =!= 1000", ""),
    ] {
        let job = job(0, "RequestDisk = 20000000000").replace("TARGET.Arch ==", &format!("{clause} && TARGET.Arch =="));
        let output = run(&["explain", "--pool", &pool, "-o", "json"], job.as_bytes());
        let document: Json = serde_json::from_slice(&output.stdout).unwrap();
        let summary = document["reports"][0]["summary"].as_str().unwrap();
        assert!(summary.ends_with(&format!("; `{clause}`{bound} alone rules out 4 slots")), "{summary}");
        // A line of text has at most 160 characters, and what decides comes first.
        let text = printed(&run(&["explain", "--pool", &pool], job.as_bytes()));
        let line = text.lines().next().unwrap();
        assert!(line.chars().count() <= 160 && summary.starts_with(line), "{line}");
    }
}

#[test]
fn nothing_is_given_up_for_a_single_slot_that_another_job_holds() {
    let changes = |state: &str| {
        let large = slot("large@a", &format!("State = \"{state}\"")).replace("Memory = 4000", "Memory = 8000");
        let pool =
            file(&format!("states-one-{state}"), large + &slot("own@a", "State = \"Owner\"").replace("X86_64", "ppc"));
        let job = job(0, "").replace("RequestMemory = 1000", "RequestMemory = 9000");
        let output = run(&["explain", "--pool", &pool, "-o", "json"], job.as_bytes());
        let report: Json = serde_json::from_str(&printed(&output)).unwrap();
        report["reports"][0]["changes"].as_array().unwrap().len()
    };
    assert_eq!(["Unclaimed", "Claimed"].map(changes), [1, 0]);
}

#[test]
fn only_idle_jobs_get_only_free_slots() {
    let jobs: String = (1..=7).map(|status| job(status, &format!("JobStatus = {status}"))).collect();
    let jobs = jobs
        + &job(8, "JobUniverse = 7\nJobStatus = 1")
        + &job(9, "JobUniverse = 9\nJobStatus = 1")
        + &job(10, "JobUniverse = 12\nJobStatus = 1")
        + &job(11, "JobUniverse = 5")
        // The schedd compares the word as it is.
        + &job(12, "Managed = \"External\"\nJobStatus = 1")
        + &job(13, "Managed = \"external\"\nJobStatus = 1");
    let offers = file("states-pool", pool());
    let all = &["--all", "--pool", &offers];
    assert_eq!(
        matched(all, &jobs),
        ["7.1 free@a", "7.1 backfill@a", "7.11 free@a", "7.11 backfill@a", "7.13 free@a", "7.13 backfill@a"]
    );
    assert_eq!(matched(&[all, &["--all-states"][..]].concat(), &jobs).len(), 13 * 9);
    for command in ["match", "negotiate", "gangmatch"] {
        let output = run(&[command, "--pool", &offers], jobs.as_bytes());
        let text = printed(&output);
        assert!(text.contains("free@a") && text.contains("7.11"), "{command}: {text}");
        for other in ["own@a", "claimed@a", "owner@a", "drained@a", "draining@a", "offline@a", "7.2", "7.5", "7.8"] {
            assert!(!text.contains(other), "{command}: {other} in {text}");
        }
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(notes.contains("10 of 13 requests left out"), "{command}: {notes}");
        assert!(
            notes.contains("7 of 9 offers left out: 2 claimed, 1 in use by the owner, 1 drained, 1 draining"),
            "{command}: {notes}"
        );
    }
}

#[test]
fn a_docking_vector_may_preempt_and_never_takes_what_no_job_gets() {
    let offers = file("states-preempted", pool());
    let docked = matched(&["--pool", &offers, "--dock", "label.RemoteUser =?= \"bob@pool\""], &job(1, "JobStatus = 1"));
    assert_eq!(docked, ["7.1 claimed@a"]);
    let all = matched(&["--pool", &offers, "--dock", "1", "--best", "20"], &job(1, "JobStatus = 1"));
    assert_eq!(all.len(), 4, "{all:?}");
}

#[test]
fn ads_of_other_kinds_have_no_state() {
    let of_papers = "[ Type = \"Machine\"; Name = \"m\"; State = \"Owner\"; Requirements = true ]";
    let offers = file("states-papers", of_papers);
    let output = run(&["match", "--pool", &offers], b"[ Type = \"Job\"; JobStatus = 5; Requirements = true ]");
    assert!(printed(&output).contains("m\t"), "{}", String::from_utf8_lossy(&output.stderr));
    // A job of HTCondor without MyType, as in a projection.
    let held = b"[ ClusterId = 7; ProcId = 0; JobStatus = 5; Requirements = true ]";
    let output = run(&["match", "--pool", &offers, "--dialect", "condor"], held);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("1 of 1 request left out: 1 held"), "{told}");
}

/// Explains jobs against [`pool`] and partitionable slots. Returns the first lines, each with the sentence that follows for
/// want of room, and the exit status.
fn first_lines(jobs: &str, more_slots: &str, options: &[&str]) -> (Vec<String>, i32) {
    // Tests run at once: each file has a name of its own.
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let offers = file(&format!("states-explained-{number}"), pool() + more_slots);
    let output = run(&[&["explain", "--pool", &offers], options].concat(), jobs.as_bytes());
    let text = printed(&output).replace(".\n", ". ");
    let lines = text.lines().filter(|line| line.starts_with("7.")).map(str::to_owned).collect();
    (lines, output.status.code().unwrap())
}

#[test]
fn a_report_says_which_slots_are_free() {
    let all = "7.0 matches 8 of 8 slots: 1 is free, 1 is in backfill, 1 is claimed by bob@pool, 1 is claimed by the same \
               user, 1 is in use by the owner, 1 is draining, 1 is drained and 1 is offline";
    assert_eq!(first_lines(&job(0, "JobStatus = 1"), "", &[]), (vec![all.to_owned()], 0));
}

#[test]
fn slots_that_match_and_are_not_free_are_no_match() {
    let wanted = job(0, "JobStatus = 1")
        .replace("TARGET.Arch ==", "regexp(\"^(claimed|own|offline)@\", TARGET.Name) && TARGET.Arch ==");
    let expected = "7.0 matches 3 of 8 slots, but none is free: 1 is claimed by bob@pool, 1 is claimed by the same user and 1 is \
                    offline";
    assert_eq!(first_lines(&wanted, "", &[]), (vec![expected.to_owned()], 1));
    let (lines, status) = first_lines(&wanted, "", &["--all-states"]);
    assert_eq!((lines[0].as_str(), status), ("7.0 matches 3 of 9 offers", 0));
}

#[test]
fn a_partitionable_slot_would_match_if_drained() {
    let divided = "State = \"Unclaimed\"\nPartitionableSlot = true\nTotalSlotMemory = 64000\n";
    let slots = slot("slot1@b", divided) + &slot("slot1@c", &format!("{divided}MachineResources = \"Cpus Disk\""));
    let big = job(0, "JobStatus = 1").replace("RequestMemory = 1000", "RequestMemory = 32000");
    let expected = "7.0 matches none of 10 slots as they are; 1 partitionable slot is full: it does not have enough \
                    Memory left";
    assert_eq!(first_lines(&big, &slots, &[]), (vec![expected.to_owned()], 1));
    let output = run(&["explain", "--pool", &file("states-drained", pool() + &slots), "-o", "json"], big.as_bytes());
    let document: Json = serde_json::from_slice(&output.stdout).unwrap();
    let report = &document["reports"][0];
    assert_eq!(report["verdict"], "claimed");
    assert_eq!((&report["slots"]["if_drained"], &report["slots"]["rejecting_request"]), (&1.into(), &9.into()));
}

#[test]
fn a_gpu_that_a_job_uses_is_there_if_the_slot_is_drained() {
    let gpus = "State = \"Unclaimed\"\nPartitionableSlot = true\nMachineResources = \"Cpus Memory GPUs\"\nGPUs = 0\n\
                TotalSlotGPUs = 2\nAssignedGPUs = \"GPU-a, GPU-b\"\nOfflineGPUs = \"GPU-b\"\nAvailableGPUs = {}\n\
                GPUs_GPU_a = [ Capability = 8.6 ]\nGPUs_GPU_b = [ Capability = 9.0 ]";
    for (least, drained) in [(8.0, true), (9.0, false)] {
        let wanted = job(0, &format!("JobStatus = 1\nRequireGPUs = Capability >= {least:.1}"));
        let counted = "countMatches(MY.RequireGPUs, TARGET.AvailableGPUs) >= 1 && TARGET.Arch ==";
        let (lines, status) = first_lines(&wanted.replace("TARGET.Arch ==", counted), &slot("slot1@g", gpus), &[]);
        assert_eq!((lines[0].contains("would match once its jobs end"), status), (drained, 1), "{lines:?}");
    }
}

#[test]
fn a_job_that_does_not_wait_is_told_first() {
    let held = "JobStatus = 5\nHoldReason = \"memory usage exceeded request_memory.\"\nHoldReasonCode = 34\n";
    for (lines, expected, status) in [
        (
            held,
            "7.0 is held: memory usage exceeded request_memory (code 34). It needs a larger RequestMemory first. \
             Released as it is, it matches 8 of 8",
            1,
        ),
        (
            "JobStatus = 5\nHoldReason = \"no token.\"\nHoldReasonCode = 4",
            "7.0 is held: no token (code 4). Once the cause is fixed and it is released, it matches 8 of 8",
            1,
        ),
        (
            &format!("{held}HoldReasonSubCode = 102"),
            "7.0 is held: memory usage exceeded request_memory (code 34, subcode 102). It needs a larger RequestMemory \
             first. Released as it is, it matches 8 of 8",
            1,
        ),
        ("JobStatus = 5\nHoldReasonCode = 1\nHoldReasonSubCode = 2", "7.0 is held (code 1, subcode 2). Once", 1),
        ("JobStatus = 2\nRemoteHost = \"slot1@x\"", "7.0 is running in slot1@x, and waits for no slot", 1),
        ("JobStatus = 4\nExitCode = 3", "7.0 is completed: exit code 3", 1),
        ("JobStatus = 3\nRemoveReason = \"via condor_rm\"", "7.0 is removed: via condor_rm", 1),
        ("JobStatus = 4", "7.0 is completed, and waits for no slot", 1),
        ("JobStatus = 3", "7.0 is removed, and waits for no slot", 1),
        ("JobStatus = 1\nJobUniverse = 12", "7.0 is of the local universe: the access point runs it", 1),
        ("JobStatus = 1\nJobUniverse = 7", "7.0 is of the scheduler universe: the access point runs it", 1),
        ("JobStatus = 1\nJobUniverse = 9", "7.0 is of the grid universe: a system outside this pool runs it", 1),
    ] {
        let (first, code) = first_lines(&job(0, lines), "", &[]);
        assert!(first[0].starts_with(expected) && code == status, "{code}: {first:?}, expected {expected}");
    }
    // A job that waits decides the status.
    let (first, code) = first_lines(&(job(0, held) + &job(1, "JobStatus = 1")), "", &["-v"]);
    assert_eq!((first.len(), code), (2, 0), "{first:?}");
}

/// A job that was held for memory is not advised to ask for more if it does so by now.
#[test]
fn the_request_of_a_held_job_is_compared_with_its_limit() {
    let limited = "JobStatus = 5\nHoldReasonCode = 34\nHoldReasonSubCode = 102\nHoldReason = \"Error from slot1_2@w: Job has \
        gone over cgroup memory limit of 900 megabytes. Last measured usage: 899 megabytes.\"\n";
    let provided = "JobStatus = 5\nHoldReasonCode = 34\nHoldReasonSubCode = 102\nHoldReason = \"memory usage exceeded request_memory\"\n";
    for (held, more, expected) in [
        (
            limited,
            "MemoryProvisioned = 900",
            "asks for more by now: RequestMemory is 1000, the limit was 900. Once released, it",
        ),
        (
            provided,
            "MemoryProvisioned = 900",
            "asks for more by now: RequestMemory is 1000, the limit was 900. Once released, it",
        ),
        (
            provided,
            "MemoryProvisioned = 1000",
            "needs a larger RequestMemory first, above 1000. Released with 2000, it",
        ),
        (
            provided,
            "ResidentSetSize = 2000000\nMemoryUsage = (ResidentSetSize + 1023) / 1024",
            "needs a larger RequestMemory first, above 1954. Released with 3908, it",
        ),
    ] {
        let (lines, _) = first_lines(&job(0, &format!("{held}{more}")), "", &[]);
        assert!(lines[0].contains(&format!("It {expected} matches 8 of 8 slots")), "{lines:?}");
    }
    // A job that asks for more by now has another cause than one that does not, whatever the numbers.
    let grown = job(0, limited);
    let same = job(1, &limited.replace("900", "1000"));
    let text = printed(&run(&["explain", "--pool", &file("states-held-pool", pool())], (grown + &same).as_bytes()));
    assert!(!text.contains("the same cause"), "{text}");
    // Jobs of one reason that ask for different amounts have different reports.
    let jobs = job(0, limited) + &job(1, limited).replace("RequestMemory = 1000", "RequestMemory = 800");
    let (lines, _) = first_lines(&jobs, "", &["-v"]);
    assert!(lines.len() == 2 && lines[1].contains("needs a larger RequestMemory first, above 900"), "{lines:?}");
}

/// Where jobs compete, held jobs of one kind have one report: that of the first. Each report of a pool without
/// competition tells of all jobs that have it.
#[test]
fn held_jobs_of_one_kind_have_one_report() {
    let held = "JobStatus = 5\nHoldReasonCode = 34\nHoldReasonSubCode = 102\nHoldReason = \"memory usage exceeded request_memory\"\n";
    let idle = job(2, "JobStatus = 1").replace("RequestMemory = 1000", "RequestMemory = 9000");
    let offers = file("states-kinds", pool());
    let told = |second: &str, more: &[&str]| {
        let jobs = job(0, held) + second + &idle;
        let text = printed(&run(&[&["explain", "--pool", &offers], more].concat(), jobs.as_bytes()));
        let lines = text.lines().filter_map(|line| match line.split_once(": ") {
            Some(("the same cause", _)) => Some(line),
            Some((start, _)) => Some(start).filter(|start| start.ends_with(" held")),
            None => None,
        });
        lines.collect::<Vec<_>>().join("; ")
    };
    let other = job(1, held).replace("RequestMemory = 1000", "RequestMemory = 800");
    assert_eq!(told(&other, &["--unmatched"]), "7.0 is held; the same cause: 7.1");
    assert_eq!(told(&other, &[]), "7.0 is held; the same cause: 7.1");
    assert_eq!(told(&job(1, held), &["--unmatched"]), "7.0 is held; the same cause: 7.1");
    assert_eq!(told(&job(1, held), &[]), "7.0 and 7.1 are held");
}

#[test]
fn what_the_negotiator_said_and_shared_limits_are_told() {
    let remarks = "JobStatus = 1\nLastRejMatchReason = \"submitter limit exceeded\"\nConcurrencyLimits = \"matlab\"";
    let offers = file("states-remarks", pool());
    let jobs = job(0, remarks) + &job(1, "JobStatus = 1");
    let text = printed(&run(&["explain", "--pool", &offers], jobs.as_bytes()));
    assert!(text.contains("last failed match for this autocluster, reason: submitter limit exceeded\n"), "{text}");
    assert!(text.contains("concurrency limits: matlab"), "{text}");
    let jobs = job(0, "JobStatus = 1\nConcurrencyLimits = \"MatLab:2, tape\"");
    let text = printed(&run(&["explain", "--pool", &offers], jobs.as_bytes()));
    let words = words(&text);
    let wait = "until jobs with the concurrency limit matlab end if it is reached (condor_config_val -negotiator MATLAB_LIMIT)";
    assert!(words.contains(&format!("wait for the next negotiation cycle, or {wait}")), "{text}");
}

#[test]
fn jobs_are_called_by_their_numbers_in_and_out() {
    let offers = file("states-names", pool());
    let jobs = job(0, "JobStatus = 1") + &job(1, "JobStatus = 1").replace("\"ann\"", "\"bea\"");
    for (wanted, found) in
        [("7.0", vec!["7.0"]), ("ap#7.1#1", vec!["7.1"]), ("7", vec!["7.0", "7.1"]), ("bea", vec!["7.1"])]
    {
        let output = run(&["explain", "--pool", &offers, "--request", wanted, "-o", "json"], jobs.as_bytes());
        let document: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["reports"][0]["requests"], Json::from(found), "{wanted}");
    }
    // Jobs of two access points that have one number are called by their global identities.
    let twins = job(0, "JobStatus = 1") + &job(0, "JobStatus = 1").replace("\"ap#", "\"ap2#");
    let rows = matched(&["--pool", &offers], &twins);
    assert_eq!(rows, ["ap#7.0#1 free@a", "ap2#7.0#1 backfill@a"]);
}

#[test]
fn old_ads_are_evaluated_as_of_their_newest_time() {
    let offers = file("states-old", slot("a", "State = \"Unclaimed\"\nLastHeardFrom = 1000\nClassAdLifetime = 900"));
    let wanted =
        job(0, "JobStatus = 1\nServerTime = 1500").replace("TARGET.Arch ==", "time() == 1500 && TARGET.Arch ==");
    let output = run(&["match", "--pool", &offers], wanted.as_bytes());
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{notes}");
    assert_eq!(notes.matches("the newest ad is from 1970-01-01T00:25:00").count(), 1, "{notes}");
    let output = run(&["match", "--pool", &offers, "--now", "1400"], wanted.as_bytes());
    assert_eq!((output.status.code(), output.stderr.is_empty()), (Some(1), true));
    // Commands that stream keep the clock, unless they are asked.
    let ads = file("states-dump", format!("{}{}", wanted, slot("a", "LastHeardFrom = 1600")));
    let printed_time = |options: &[&str]| printed(&run(&[&["eval", "--each", "time()", &ads], options].concat(), b""));
    assert!(!printed_time(&[]).contains("1600"));
    assert_eq!(printed_time(&["--now", "dump"]), "7.0\t1600\na\t1600\n");
    let refused = run(&["query", "true", "--now", "dump"], wanted.as_bytes());
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
}

/// Random pools: each slot is counted by itself, by plain arithmetic, and the sums are those that `explain` tells.
#[test]
fn slots_are_counted_as_one_by_one() {
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let wanted = random.u32(1..8);
        let mut expected = std::collections::BTreeMap::<&str, u64>::new();
        let mut pool = String::new();
        let slots = random.usize(1..30);
        for number in 0..slots {
            let (memory, total) = (random.u32(0..8), random.u32(0..10));
            let (arch, state) = (["X", "Y"][random.usize(0..2)], random.usize(0..10));
            let is_partitionable = random.bool();
            let state_lines = [
                "State = \"Unclaimed\"",
                "State = \"Claimed\"\nRemoteUser = \"bob\"",
                "State = \"Claimed\"\nRemoteUser = \"ann\"",
                "State = \"Owner\"",
                "State = \"Drained\"",
                "State = \"Unclaimed\"\nOffline = true",
                "State = \"Unclaimed\"\nDraining = true",
                "State = \"Matched\"",
                "State = \"Preempting\"\nRemoteUser = \"bob\"",
                "State = \"Backfill\"",
            ][state];
            let total_lines = if is_partitionable {
                format!("PartitionableSlot = true\nTotalSlotMemory = {total}\n")
            } else {
                String::new()
            };
            let slot = format!(
                "MyType = \"Machine\"\nName = \"s{number}@h\"\nArch = \"{arch}\"\nMemory = {memory}\n{state_lines}\n\
                 {total_lines}Requirements = MY.Memory >= TARGET.RequestMemory\n\n"
            );
            pool.push_str(&slot);
            let suits = arch == "X";
            let matches = suits && memory >= wanted;
            let would_match =
                suits && is_partitionable && [0, 4, 6, 9].contains(&state) && total >= wanted && total != memory;
            let count = match () {
                () if !suits => "rejected_by_request",
                () if matches => [
                    "free",
                    "claimed_by_others",
                    "claimed_by_user",
                    "owner",
                    "drained",
                    "offline",
                    "draining",
                    "matched",
                    "preempting",
                    "backfill",
                ][state],
                () if would_match => "if_drained",
                () => "rejecting_request",
            };
            *expected.entry(count).or_default() += 1;
        }
        let asked = format!(
            "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nUser = \"ann\"\nRequestMemory = {wanted}\nRequirements = \
             TARGET.Arch == \"X\"\n"
        );
        let offers = file(&format!("states-random-{seed}"), &pool);
        let output = run(&["explain", "--pool", &offers, "-o", "json"], asked.as_bytes());
        let document: Json = serde_json::from_slice(&output.stdout).unwrap();
        let report = &document["reports"][0];
        let counts = report["slots"].as_object().unwrap();
        assert_eq!(counts["slots"], slots, "seed {seed}: {pool}");
        for (name, count) in counts.iter().filter(|(name, _)| *name != "slots") {
            let expected = expected.get(name.as_str()).copied().unwrap_or_default();
            assert_eq!(count.as_u64(), Some(expected), "seed {seed}: {name} of {pool}");
        }
        let is_free = ["free", "backfill"].iter().any(|state| counts[*state].as_u64() > Some(0));
        assert_eq!(output.status.code(), Some(i32::from(!is_free)), "seed {seed}");
        assert_eq!(report["verdict"] == "matches", is_free, "seed {seed}");
    }
}
