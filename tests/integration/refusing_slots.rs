//! Which unmet clause of a slot decides that it refuses a job, and what is said if all slots lack a resource.

use serde_json::Value as Json;

use crate::binary::{classad, classad_on, file};

const SETTLED: [&str; 4] =
    ["tests/pool/settled/jobs.long.xz", "--pool", "tests/pool/settled/slots.long.xz", "--now=1795813644"];

/// A job of HTCondor 25.12 or later leaves the disk to new slots.
const JOB: &str = "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nOwner = \"ann\"\nRequestCpus = 1\n\
    RequestMemory = 100\nRequestDisk = 5000000\nRequirements = (versionGE(split(TARGET.CondorVersion)[1], \"25.12.0\") || \
    (TARGET.Disk >= RequestDisk)) && (TARGET.Memory >= RequestMemory)\n";

/// A slot: its name, its START, and further lines.
fn slot(name: &str, start: &str, lines: &str) -> String {
    format!(
        "MyType = \"Machine\"\nName = \"{name}\"\nState = \"Unclaimed\"\nCpus = 4\nMemory = 1000\n\
        CondorVersion = \"$CondorVersion: 25.14.1 2026-10-16 $\"\nStart = {start}\nRequirements = Start && WithinResourceLimits\n\
        WithinResourceLimits = MY.Cpus > 0 && TARGET.RequestCpus <= MY.Cpus && MY.Memory > 0 && \
        TARGET.RequestMemory <= MY.Memory && MY.Disk > 0 && TARGET.RequestDisk <= MY.Disk\n{lines}\n\n"
    )
}

/// The first line that `explain` prints of the job in a pool, and the suitable slots of each reason of refusal.
fn told(name: &str, pool: &[String], options: &[&str]) -> (String, Vec<(String, u64)>) {
    let pool = file(&format!("refusing-{name}"), pool.concat());
    let (_, out, _) = classad_on(&[&["explain", "--pool", &pool], options].concat(), JOB.as_bytes());
    let (_, json, errors) = classad_on(&["explain", "--pool", &pool, "-o", "json"], JOB.as_bytes());
    let document: Json = serde_json::from_str(&json).expect(&errors);
    let groups = document["reports"][0]["refusals"].as_array().expect("there are refusals").iter();
    let group = |group: &Json| {
        (group["clause"].as_str().unwrap_or("none").to_owned(), group["suitable"].as_u64().expect("a number"))
    };
    (
        out.lines().next().unwrap_or_default().to_owned(),
        groups.map(group).filter(|(_, suitable)| *suitable > 0).collect(),
    )
}

#[test]
fn a_slot_counts_at_the_clause_that_decides() {
    const DISK: &str = "TARGET.RequestDisk <= MY.Disk";
    const BOB: &str = "TARGET.Owner == \"bob\"";
    const MANY: &str = "TARGET.RequestCpus >= 2";
    let none = |wanted: &str, largest: &str| format!("1.0 matches none of {wanted}; the largest has {largest}");
    let disk = "no slot has 4.8 GiB of disk (RequestDisk is 5000000)";
    let whole = |disk: u32| format!("PartitionableSlot = true\nTotalSlotDisk = 9000000\nDisk = {disk}");
    for (name, pool, line, groups) in [
        // The limit decides before START, wherever they stand.
        (
            "limit",
            vec![slot("a", BOB, "Disk = 1000000"), slot("b", MANY, "Disk = 2000000"), slot("c", "true", "Disk = 100")],
            none(&format!("3 slots: {disk}"), "1.9 GiB"),
            vec![(DISK, 3)],
        ),
        // What all slots have is the cause, even beside a slot that takes nothing.
        (
            "closed",
            vec![slot("a", "false", "Disk = 1000000"), slot("b", "true", "Disk = 2000000")],
            none(&format!("2 slots: {disk}"), "1.9 GiB"),
            vec![(DISK, 2)],
        ),
        (
            "closed alone",
            vec![slot("a", "false", "Disk = 1000000"), slot("b", "false", "Disk = 9000000")],
            "1.0 matches none of 2 slots: 2 slots would do, but all of them refuse: `Start` is false".to_owned(),
            vec![("Start", 2)],
        ),
        (
            "common",
            vec![
                slot("a", &format!("{MANY} && {BOB}"), "Disk = 9000000"),
                slot("b", BOB, "Disk = 9000000"),
                slot("c", &format!("{BOB} && {MANY}"), "Disk = 9000000"),
            ],
            "1.0 matches none of 3 slots: 3 slots would do, but all of them refuse: their owners admit only jobs with Owner bob (Owner is \"ann\")".to_owned(),
            vec![(BOB, 3)],
        ),
        // A slot decides for itself where nothing is common.
        (
            "apart",
            vec![slot("a", BOB, "Disk = 9000000"), slot("b", BOB, "Disk = 9000000"), slot("c", BOB, "Disk = 1000")],
            "1.0 matches none of 3 slots: 3 slots would do, but all of them refuse: their owners admit only jobs with Owner bob (Owner is \"ann\")".to_owned(),
            vec![(BOB, 3)],
        ),
        (
            "two reasons",
            vec![slot("a", BOB, "Disk = 9000000"), slot("b", BOB, "Disk = 9000000"), slot("c", "true", "Disk = 1000")],
            "1.0 matches none of 3 slots: 3 slots would do, but all of them refuse: the owners of 2 of them admit only jobs with Owner \
            bob"
                .to_owned(),
            vec![(BOB, 2), (DISK, 1)],
        ),
        // The size of a partitionable slot is that of the whole slot: only START keeps the job from it.
        (
            "whole",
            vec![slot("a", BOB, &whole(1000))],
            "1.0 matches none of 1 slot: a would do, but its owner admits only jobs with Owner bob (Owner is \"ann\")".to_owned(),
            vec![(BOB, 1)],
        ),
        (
            "whole and small",
            vec![slot("a", BOB, &whole(1000).replace("9000000", "4000000"))],
            none(&format!("1 slot: {disk}"), "1000 KiB (3.8 GiB if drained)"),
            vec![(DISK, 1)],
        ),
        // A slot that the job itself rejects has enough.
        (
            "unsuitable",
            vec![slot("a", "true", "Disk = 9000000").replace("Memory = 1000", "Memory = 10"), slot("b", "true", "Disk = 1000")],
            "1.0 matches none of 2 slots: 1 slot would do, but does not have 4.8 GiB of disk (RequestDisk is 5000000): \
            it has 1000 KiB"
                .to_owned(),
            vec![(DISK, 1)],
        ),
        // Old and new slots: the job rejects the old one, the new one refuses.
        (
            "versions",
            vec![slot("a", "true", "Disk = 2000000").replace("25.14.1", "24.0.1"), slot("b", "true", "Disk = 1000000")],
            none(&format!("2 slots: {disk}"), "1.9 GiB"),
            vec![(DISK, 1)],
        ),
        // The limit is not what the amounts say: then nothing is said of amounts.
        (
            "reserve",
            vec![slot("a", "true", "Disk = 5000000").replace("TARGET.RequestDisk <= MY.Disk", "TARGET.RequestDisk * 2 <= MY.Disk")],
            "1.0 matches none of 1 slot: 1 slot would do, but it refuses: `TARGET.RequestDisk * 2 <= MY.Disk` is false (Disk is \
            5000000, RequestDisk is 5000000)"
                .to_owned(),
            vec![("TARGET.RequestDisk * 2 <= MY.Disk", 1)],
        ),
    ] {
        let (found, refusals) = told(&name.replace(' ', "-"), &pool, &[]);
        let groups: Vec<(String, u64)> = groups.into_iter().map(|(clause, slots)| (clause.to_owned(), slots)).collect();
        assert_eq!((found, refusals), (line, groups), "{name}");
    }
    let pool = [slot("a", BOB, "Disk = 1000000")];
    let (pair, _) = told("pair", &pool, &["--offer", "a"]);
    assert!(pair.starts_with("a does not accept 1.0: `TARGET.RequestDisk <= MY.Disk` is false"), "{pair}");
}

/// A real pool of 25.14.1, and a job that asks for 300 GB.
#[test]
fn no_slot_of_a_real_pool_has_as_much_disk() {
    let cause = "no slot has 300 GiB of disk (RequestDisk is 314572800); the largest has 190.7 GiB";
    for options in [&[][..], &["--unmatched"], &["--policy", "htcondor"]] {
        let (_, out, _) = classad(&[&["explain"], &SETTLED[..], &["--request", "56.0"], options].concat());
        let first = out.lines().next().unwrap_or_default();
        assert_eq!(first, format!("56.0 matches none of 8 slots: {cause}"), "{options:?}");
    }
    let (_, causes, _) = classad(&[&["explain"], &SETTLED[..], &["--summary", "-o", "csv"]].concat());
    assert!(causes.contains("no slot has 300 GiB of disk (at most 190.7 GiB)"), "{causes}");
}

/// No larger request where a smaller one suffices, and no giving up of GPUs.
#[test]
fn changes_of_a_real_pool_help_somebody() {
    let (_, json, errors) = classad(&[&["explain"], &SETTLED[..], &["-o", "json"]].concat());
    let document: Json = serde_json::from_str(&json).expect(&errors);
    let reports = document["reports"].as_array().expect("there are reports");
    let changes = |report: &Json| -> Vec<String> {
        let lists = ["changes", "far_less"].map(|key| report[key].as_array().expect("a list").clone());
        lists.concat().iter().map(|change| change["change"].as_str().expect("a text").to_owned()).collect()
    };
    let all: Vec<String> = reports.iter().flat_map(changes).collect();
    // `WantBig` claims a purpose for which a slot is kept: it is not proposed.
    assert!(all.iter().any(|change| change == "RequestMemory 1024 -> 4096"), "{all:?}");
    assert!(!all.iter().any(|change| change.contains("WantBig")), "{all:?}");
    for bad in ["-> 36864", "GPUs >= 0", "drop `GPUs > 0`"] {
        let large = |change: &String| change.contains("100000 ->");
        let found: Vec<&String> = all.iter().filter(|change| change.contains(bad) && !large(change)).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}
