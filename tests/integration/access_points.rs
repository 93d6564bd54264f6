//! What the configuration of an access point and of a pool says of jobs: limits of running jobs, and machines that are drained.

use crate::binary::{file, run, words};

/// A job of an owner in a universe and a state.
fn job(number: u32, owner: &str, universe: u32, status: u32) -> String {
    format!(
        "MyType = \"Job\"\nClusterId = {number}\nProcId = 0\nOwner = \"{owner}\"\nJobUniverse = {universe}\nJobStatus = {status}\n\
         RequestMemory = 3000\nRequirements = TARGET.Memory >= RequestMemory\n\n"
    )
}

/// A partitionable slot with so much of 4,000 MB left.
fn slot(name: &str, memory: u32) -> String {
    format!(
        "MyType = \"Machine\"\nName = \"slot1@{name}\"\nMachine = \"{name}\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\n\
         PartitionableSlot = true\nMachineResources = \"Cpus Memory\"\nCpus = {}\nTotalSlotCpus = 4\nMemory = {memory}\n\
         TotalSlotMemory = 4000\nRequirements = true\n\n",
        memory / 1000
    )
}

/// Explains jobs with a configuration; `name` is that of the test's files.
fn explain(name: &str, [jobs, slots]: [&str; 2], settings: &str, arguments: &[&str]) -> String {
    let settings = format!("DAEMON_LIST = MASTER, SCHEDD, DEFRAG\n{settings}\n");
    let configuration = file(&format!("{name}.conf"), settings);
    let pool = file(&format!("{name}.slots"), slots);
    let output = run(&[&["explain", "--pool", &pool, "--config", &configuration], arguments].concat(), jobs.as_bytes());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn jobs_wait_at_the_limits_of_their_access_point() {
    let jobs = [
        job(1, "ann", 5, 1),
        job(2, "ann", 5, 2),
        job(3, "ann", 7, 1),
        job(4, "bob", 7, 1),
        job(5, "ann", 7, 2),
        job(6, "ann", 12, 2),
    ]
    .concat();
    let free = slot("a", 4000);
    let of_owner = "MAX_RUNNING_SCHEDULER_JOBS_PER_OWNER";
    for (request, slots, settings, expected) in [
        ("1", &free, "MAX_JOBS_RUNNING = 2", "1.0 matches 1 of 1 slot"),
        (
            "1",
            &free,
            "MAX_JOBS_RUNNING = 1",
            "1.0 waits: 1 job of this access point runs, and MAX_JOBS_RUNNING is 1; it matches",
        ),
        ("1", &free, "ONE = 1\nMAX_JOBS_RUNNING = 3 - 2 * $(ONE)", "1.0 waits: 1 job of this access point runs"),
        // What keeps the job from all slots comes first.
        ("1", &slot("a", 1000).replace("4000", "2000"), "MAX_JOBS_RUNNING = 1", "1.0 matches none of 1 slot"),
        (
            "3",
            &free,
            &format!("{of_owner} = 1"),
            &format!("3.0 waits: 1 job of its owner in the scheduler universe runs, and {of_owner} is 1"),
        ),
        ("4", &free, &format!("{of_owner} = 1"), "4.0 is of the scheduler universe"),
        ("3", &free, &format!("{of_owner} = 2"), "3.0 is of the scheduler universe"),
        // A limit above that of all jobs of an owner does not count.
        ("3", &free, &format!("{of_owner} = 1\nMAX_JOBS_PER_OWNER = 1"), "3.0 is of the scheduler universe"),
    ] {
        let told = explain("limits", [&jobs, slots], settings, &["--request", request]).replace('\n', " ");
        assert!(told.starts_with(expected), "{settings}: {told}");
    }
    let table = explain(
        "limits",
        [&jobs, &free],
        &format!("MAX_JOBS_RUNNING = 1\n{of_owner} = 1"),
        &["--summary", "--all-causes"],
    );
    let cause = "its access point runs as many";
    assert_eq!(table.lines().filter(|line| line.contains(cause)).count(), 1, "{table}");
}

#[test]
fn the_settings_of_defragmentation_say_what_is_drained() {
    let (jobs, full) = (job(1, "ann", 5, 1), slot("a", 1000) + &slot("b", 2000));
    let rate = "DEFRAG_DRAINING_MACHINES_PER_HOUR = 6.0";
    for (slots, settings, expected) in [
        (
            full.clone(),
            format!("{rate}\nDEFRAG_RANK = Memory"),
            "condor_defrag drains 6 an hour: slot1@b first, of the 2 of 2 partitionable slots",
        ),
        (
            full.clone(),
            format!("{rate}\nDEFRAG_REQUIREMENTS = Memory > 1000\nDEFRAG_MAX_CONCURRENT_DRAINING = 3"),
            "condor_defrag drains 6 an hour, at most 3 at once: slot1@b first, of the 1 of 2 partitionable slots",
        ),
        (
            full.clone(),
            format!("{rate}\nDEFRAG_REQUIREMENTS = PartitionableSlot && HasFoo"),
            "condor_defrag drains no machine for it: `HasFoo` of DEFRAG_REQUIREMENTS is true of none of 2",
        ),
        (
            full.clone(),
            "DEFRAG_REQUIREMENTS = Cpus > 1".to_owned(),
            "condor_defrag may drain: slot1@b first, of the 1 of 2 partitionable slots",
        ),
        (
            full.clone(),
            "DEFRAG_DRAINING_MACHINES_PER_HOUR = 0".to_owned(),
            "condor_defrag drains no machine for it: DEFRAG_DRAINING_MACHINES_PER_HOUR is 0",
        ),
        (
            full.clone(),
            format!("{rate}\nDEFRAG_WHOLE_MACHINE_EXPR = Memory > 1000\nDEFRAG_MAX_WHOLE_MACHINES = 1"),
            "condor_defrag drains no machine for it: 1 machine is whole, as many as DEFRAG_MAX_WHOLE_MACHINES asks for",
        ),
        (
            full.clone() + &slot("c", 2000).replace("PartitionableSlot", "Draining = true\nPartitionableSlot"),
            format!("{rate}\nDEFRAG_MAX_CONCURRENT_DRAINING = 1"),
            "condor_defrag drains no machine for it: 1 machine drains already, as many as DEFRAG_MAX_CONCURRENT_DRAINING",
        ),
    ] {
        let told = explain("drained", [&jobs, &slots], &settings, &["--request", "1.0"]);
        let told = words(&told);
        assert!(told.contains(expected), "{settings}: {told}");
    }
}

#[test]
fn a_job_that_gets_a_slot_and_will_be_held_is_told() {
    let fires = "PeriodicHold = NumJobStarts >= 3\nNumJobStarts = 3\nJobUniverse = 5";
    let [first, second] = [1, 2].map(|number| job(number, "ann", 5, 1).replace("JobUniverse = 5", fires));
    let jobs = [first, second, job(3, "bob", 5, 1)].concat();
    let slots = slot("a", 3000) + &slot("b", 4000);
    let told = explain("held", [&jobs, &slots], "", &["--unmatched"]);
    assert!(told.contains("\n1 of 3 jobs gets no slot") && told.contains("will be held by PeriodicHold"), "{told}");
    let told = explain("held", [&jobs, &slots], "", &["--unmatched", "-o", "json"]);
    let document: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(document["totals"]["causes"][0]["cause_id"], "policy:PeriodicHold");
    assert_eq!(document["totals"]["causes"][0]["requests"], 2);
}
