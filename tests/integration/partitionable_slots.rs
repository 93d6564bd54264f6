//! Partitionable slots in a cycle of HTCondor: what the negotiator gives, and what starts then (`negotiate --starts`).
//! Scenarios worked by hand from the sources of the negotiator, the schedd and the startd.

use super::binary::{classad, file};
use super::htcondor_policy::{FREE, Slot, accounts, cycle, jobs, slot, slots};

/// Jobs of a user, one for each number.
fn equal_jobs<'j>(count: u32, user: &'j str, more: &'j str) -> Vec<(u32, &'j str, &'j str)> {
    (1..=count).map(|number| (number, user, more)).collect()
}

/// The negotiator gives a partitionable slot away once in a cycle. Then the schedd fills it with jobs of its submitter
/// (`CLAIM_PARTITIONABLE_LEFTOVERS`). By the startd's `MODIFY_REQUEST_EXPR_...` a job takes whole units of 128 MB.
#[test]
fn partitionable_slots_are_given_whole_and_filled_afterwards() {
    let offered = [slot("p", 4, "PartitionableSlot = true")];
    let asking = equal_jobs(4, "ann", "RequestMemory = 1300");
    assert_eq!(cycle("parts", &asking, &offered, "", &[]), ["1 p"]);
    // 1300 MB become 1408: of 4000 MB two jobs leave 1184.
    assert_eq!(cycle("parts", &asking, &offered, "", &["--starts"]), ["1 p", "2 p#2"]);
    let exact = "MODIFY_REQUEST_EXPR_REQUESTMEMORY = RequestMemory\n";
    assert_eq!(cycle("exact", &asking, &offered, exact, &["--starts"]), ["1 p", "2 p#2", "3 p#3"]);
    for none in [
        "CLAIM_PARTITIONABLE_LEFTOVERS = false\n",
        "NEGOTIATOR_USE_SLOT_WEIGHTS = false\n",
        "SCHEDD.CLAIM_PARTITIONABLE_LEFTOVERS = false\n",
        "STARTD.CLAIM_PARTITIONABLE_LEFTOVERS = no\n",
    ] {
        assert_eq!(cycle("no-rest", &asking, &offered, none, &["--starts"]), ["1 p"], "{none}");
    }
    let again = "NEGOTIATOR_USE_SLOT_WEIGHTS = false\nCLAIM_PARTITIONABLE_LEFTOVERS = true\n";
    assert_eq!(cycle("rest-again", &asking, &offered, again, &["--starts"]), ["1 p", "2 p#2"]);
}

/// `claimedStartd`: while the schedd waits for one slot, it claims the rest of the other, so that the slots take turns.
/// `FindRunnableJob`: the jobs are those of the submitter, in the order of its queue.
#[test]
fn rests_take_turns_and_stay_with_their_submitters() {
    let offered = [
        slot("p", 3, "PartitionableSlot = true"),
        slot("q", 3, "PartitionableSlot = true"),
        slot("r", 3, "PartitionableSlot = true"),
    ];
    let mut asking = equal_jobs(6, "ann", "");
    asking.extend((7..=9).map(|number| (number, "bob", "")));
    let accounts = accounts("htc-turns.long", &[("ann@x", 500.0), ("bob@x", 1000.0)]);
    let with = ["--userprio", &accounts, "--starts"];
    assert_eq!(
        cycle("turns", &asking, &offered, "", &with),
        ["1 p", "2 q", "7 r", "3 p#2", "4 q#2", "8 r#2", "5 p#3", "6 q#3", "9 r#3"]
    );
}

/// `FindRunnableJob`: no job with concurrency limits, none that the slot ranks below the claim's `CurrentRank`, and none that
/// `START_VANILLA_UNIVERSE` does not let start.
#[test]
fn rests_are_not_for_every_job() {
    let limited = "ConcurrencyLimits = \"db\"";
    let ranked = "PartitionableSlot = true\nRank = TARGET.Worth ?: 0\nCurrentRank = 0.0";
    let offered = [slot("p", 4, ranked)];
    for (name, second, config, expected) in [
        ("free", "", "", &["1 p", "2 p#2", "3 p#3"][..]),
        ("limited", limited, "", &["1 p", "3 p#2"]),
        ("all-limited", limited, "CLAIM_RECYCLING_CONSIDER_LIMITS = false\n", &["1 p", "2 p#2", "3 p#3"]),
        ("ranked", "Worth = -1", "", &["1 p", "3 p#2"]),
        ("ranked-alike", "Worth = 0", "", &["1 p", "2 p#2", "3 p#3"]),
        ("kept", "JobPrio = -5", "START_VANILLA_UNIVERSE = JOB.JobPrio > -3\n", &["1 p", "3 p#2"]),
        ("kept-off", "", "START_VANILLA_UNIVERSE = SLOT.SlotID > 1\n", &[]),
        ("not-kept", "", "START_VANILLA_UNIVERSE = OWNER.JobsRunning < 5\n", &["1 p", "2 p#2", "3 p#3"]),
    ] {
        let asking = [(1, "ann", ""), (2, "ann", second), (3, "ann", "")];
        assert_eq!(cycle(name, &asking, &offered, config, &["--starts"]), expected, "{name}");
    }
    // A match of a job with a limit is for that job; the rest is for those without.
    let asking = [(1, "ann", limited), (2, "ann", limited), (3, "ann", "")];
    assert_eq!(cycle("limited-first", &asking, &offered, "", &["--starts"]), ["1 p", "3 p#2"]);
}

/// One start for each slot and cycle, whatever the limit allows.
#[test]
fn jobs_with_a_limit_start_once_in_a_partitionable_slot() {
    let offered = [slot("p", 8, "PartitionableSlot = true"), slot("q", 8, "PartitionableSlot = true")];
    let asking = equal_jobs(5, "ann", "ConcurrencyLimits = \"db\"");
    for (config, expected) in [("", &["1 p", "2 q"][..]), ("DB_LIMIT = 1\n", &["1 p"])] {
        assert_eq!(cycle("one-limit", &asking, &offered, config, &[]), expected);
        assert_eq!(cycle("one-limit", &asking, &offered, config, &["--starts"]), expected);
    }
}

/// A job that preempts starts when the job before has left; what starts now are the others.
#[test]
fn a_job_that_preempts_starts_later() {
    let used = "RemoteOwner = \"bob\"\nRemoteUser = \"bob@x\"\nCurrentRank = 0.0";
    let offered = [slot("s", 1, FREE), slot("t", 1, used)];
    let asking = [(1, "ann", "Favoured = true"), (2, "ann", "Favoured = true")];
    assert_eq!(cycle("later", &asking, &offered, "", &[]), ["1 s", "2 t -bob@x"]);
    assert_eq!(cycle("later", &asking, &offered, "", &["--starts"]), ["1 s"]);
}

/// `GetSlotWeight`: a match costs the weight of the whole slot. `cp_deduct_assets`: with a consumption policy it costs the
/// part.
#[test]
fn a_match_costs_the_whole_slot() {
    let consumption = "MachineResources = \"Cpus Memory Disk\"\nConsumptionCpus = TARGET.RequestCpus\n\
        ConsumptionMemory = quantize(TARGET.RequestMemory, { 128 })\nConsumptionDisk = TARGET.RequestDisk\n";
    for (number, (job, slot_lines, config, used)) in [
        ("RequestMemory = 100", "", "", "4"),
        ("RequestMemory = 4000", "SlotWeight = 2.5", "", "2.5"),
        ("RequestMemory = 100", "SlotWeight = undefined", "", "4"),
        ("RequestMemory = 100", "SlotWeight = undefined", "SLOT_WEIGHT = 2 * Cpus\n", "8"),
        ("RequestMemory = 100", "", "SLOT_WEIGHT = 7\nFORCE_NEGOTIATOR_SLOT_WEIGHT = true\n", "7"),
        ("RequestMemory = 100", "", "NEGOTIATOR_USE_SLOT_WEIGHTS = false\n", "1"),
        ("RequestMemory = 100", consumption, "", "1"),
        ("RequestCpus = 3", consumption, "", "3"),
    ]
    .into_iter()
    .enumerate()
    {
        let jobs = jobs(&format!("htc-whole-jobs-{number}.long"), &[(1, "ann", job)]);
        let more = format!("PartitionableSlot = true\n{slot_lines}");
        let slots = slots(&format!("htc-whole-slots-{number}.long"), &[slot("p", 4, &more)]);
        let config = file(&format!("htc-whole-{number}.dump"), config);
        let arguments = ["negotiate", &jobs, "--pool", &slots, "--policy", "htcondor", "--config", &config];
        let (status, out, errors) = classad(&[&arguments[..], &["--by-submitter", "-o", "tsv"]].concat());
        assert_eq!(status, Some(0), "{errors}");
        let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split('\t').collect()).collect();
        let column = rows[0].iter().position(|title| *title == "used_weight").expect("there is such a column");
        assert_eq!(rows[1][column], used, "{job} {slot_lines} {config}: {out}");
    }
}

/// `insert_candidate`: a slot with a consumption policy is divided within the cycle. While jobs of one autocluster follow
/// each other, it goes behind the slots that are worse now, and stays before one that is better.
#[test]
fn slots_with_consumption_policies_are_divided_and_put_back() {
    let consumption = "PartitionableSlot = true\nMachineResources = \"Cpus Memory Disk\"\nConsumptionCpus = TARGET.RequestCpus\n\
        ConsumptionMemory = quantize(TARGET.RequestMemory, { 128 })\nConsumptionDisk = TARGET.RequestDisk\n";
    let offered = [slot("big", 6, consumption), slot("small", 3, consumption), slot("one", 1, FREE)];
    // Default ranks prefer small slots. `small` with one core less is better than `big`, and goes behind it; `big` with one
    // core less is worse than `small`, and stays.
    let asking = equal_jobs(6, "ann", "");
    for more in [&[][..], &["--no-index"], &["--no-matchlist"], &["--no-autocluster"]] {
        let rows = cycle("consumption", &asking, &offered, "", more);
        assert_eq!(rows, ["1 one", "2 small", "3 big", "4 big#2", "5 big#3", "6 big#4"], "{more:?}");
    }
    // What the slot would consume counts, not what the job requests: 1,000 MB become 1,024.
    let tight = [slot("small", 3, consumption)];
    let asking = equal_jobs(3, "ann", "RequestMemory = 1000");
    assert_eq!(cycle("assets", &asking, &tight, "", &[]), ["1 small", "2 small#2"]);
    // Another autocluster begins with the best slot.
    let asking = [(1, "ann", ""), (2, "ann", ""), (3, "ann", "RequestMemory = 200"), (4, "ann", "")];
    for more in [&[][..], &["--no-index"], &["--no-matchlist"], &["--no-autocluster"]] {
        let rows = cycle("consumption-again", &asking, &offered[..2], "", more);
        assert_eq!(rows, ["1 small", "2 big", "3 small#2", "4 small#3"], "{more:?}");
    }
}

/// `Matchmaker::negotiate`: a slot with `WantAdRevaluate` stays on offer, at its whole weight each time.
#[test]
fn slots_that_are_evaluated_again_stay_on_offer() {
    let offered = [slot("s", 2, "WantAdRevaluate = true"), slot("t", 2, "WantAdRevaluate = false")];
    let asking = [(1, "ann", ""), (2, "ann", "RequestMemory = 200"), (3, "ann", "")];
    assert_eq!(cycle("stays", &asking, &offered, "", &[]), ["1 s", "2 s#2"]);
}

/// `jobsInSlot`: with `NEGOTIATOR_DEPTH_FIRST`, as many jobs of a run are passed over as the slot has room for.
#[test]
fn depth_first_leaves_jobs_to_the_schedd() {
    let offered: Vec<Slot<'_>> = ["p", "q", "r"].map(|name| slot(name, 3, "PartitionableSlot = true")).into();
    let asking = equal_jobs(8, "ann", "");
    assert_eq!(cycle("wide", &asking, &offered, "", &[]), ["1 p", "2 q", "3 r"]);
    let deep = "NEGOTIATOR_DEPTH_FIRST = true\n";
    assert_eq!(cycle("deep", &asking[..6], &offered, deep, &[]), ["1 p", "4 q"]);
    assert_eq!(cycle("deep", &asking, &offered, deep, &[]), ["1 p", "4 q", "7 r"]);
}

/// `hgq_assign_quotas`: by default a group has the quotas of its subgroups, too. `GROUP_SORT_EXPR` orders the groups.
#[test]
fn groups_share_the_quotas_of_their_subgroups() {
    let names: Vec<String> = (1..=8).map(|number| format!("s{number}")).collect();
    let offered: Vec<Slot<'_>> = names.iter().map(|name| slot(name, 1, FREE)).collect();
    let asking: Vec<(u32, &str, &str)> =
        (1..=12).map(|number| (number, if number % 2 == 0 { "a.ann" } else { "a.b.bob" }, "")).collect();
    let groups = "GROUP_NAMES = a, a.b\nGROUP_QUOTA_a = 4\nGROUP_QUOTA_a.b = 3\n";
    // Without surplus, the quota of `a` holds for both: a.b gets nothing of it any more.
    assert_eq!(cycle("shared", &asking, &offered, groups, &[]), ["2 s1", "4 s2", "6 s3", "8 s4"]);
    let strict = format!("{groups}NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION = false\n");
    assert_eq!(cycle("strict", &asking, &offered, &strict, &[]), ["2 s1", "1 s2", "3 s3", "5 s4"]);
    let reversed = format!("{groups}GROUP_SORT_EXPR = AccountingGroup == \"a.b\" ? 1 : 2\n");
    assert_eq!(cycle("reversed", &asking, &offered, &reversed, &[]), ["1 s1", "3 s2", "5 s3", "2 s4"]);
}

/// What starts in rests does not count against quotas, and the summary says so.
#[test]
fn what_starts_beyond_a_quota_is_told() {
    let jobs = jobs("htc-beyond-jobs.long", &equal_jobs(5, "a.ann", ""));
    let slots = slots("htc-beyond-slots.long", &[slot("p", 4, "PartitionableSlot = true")]);
    let config = file("htc-beyond.dump", "GROUP_NAMES = a\nGROUP_QUOTA_a = 2\n");
    let arguments = ["negotiate", &jobs, "--pool", &slots, "--policy", "htcondor", "--config", &config, "--starts"];
    let (_, _, told) = classad(&arguments);
    for text in [
        "1 match; 4 requests start, 3 of them in the rest of a slot that their submitter got\n",
        "the group a uses 4 when these requests run, more than its quota of 2: ",
    ] {
        assert!(told.contains(text), "{told}");
    }
}

/// The order of the input decides between equal slots; the summary counts that.
#[test]
fn ties_are_counted() {
    let tied = "SlotID = 1";
    for (offered, expected) in [
        (&[slot("s", 1, tied), slot("t", 1, tied), slot("u", 2, FREE)][..], Some("1 of 2 matches was a tie")),
        (&[slot("s", 1, FREE), slot("t", 1, FREE)], None),
        (&[slot("s", 1, tied), slot("t", 1, tied), slot("u", 1, tied)], Some("2 of 2 matches were ties")),
    ] {
        let jobs = jobs("htc-ties-jobs.long", &equal_jobs(2, "ann", ""));
        let slots = slots("htc-ties-slots.long", offered);
        let (_, out, told) = classad(&["negotiate", &jobs, "--pool", &slots, "--policy", "htcondor"]);
        assert_eq!(told.lines().find(|line| line.contains("tie")).is_some(), expected.is_some(), "{told}");
        assert!(expected.is_none_or(|expected| told.contains(expected)) && out.contains("1.0\ts\t"), "{out}{told}");
    }
}

/// GPUs are given away by their identities: a job gets the first ones of `AvailableGPUs` that meet its `RequireGPUs`.
#[test]
fn gpus_are_given_away_by_their_identities() {
    let gpus = "PartitionableSlot = true\nGPUs = 3\nAvailableGPUs = { GPUs_a, GPUs_b, GPUs_c }\n\
                GPUs_a = [ Id = \"a\"; Capability = 7.0 ]\nGPUs_b = [ Id = \"b\"; Capability = 8.0 ]\n\
                GPUs_c = [ Id = \"c\"; Capability = 7.5 ]";
    let offered = [slot("p", 8, gpus)];
    let needs = "Requirements = countMatches(MY.RequireGPUs, TARGET.AvailableGPUs) >= RequestGPUs;RequestGPUs = 1";
    let new = format!("{needs};RequireGPUs = Capability >= 7.5");
    let newest = format!("{needs};RequireGPUs = Capability >= 8.0");
    let any = format!("{needs};RequireGPUs = Capability > 0");
    // Job 1 gets b, the first GPU that is new enough; job 2 finds no newest one any more; 3 gets a, 4 gets c, 5
    // nothing.
    let asking = [(1, "ann", new.as_str()), (2, "ann", &newest), (3, "ann", &any), (4, "ann", &new), (5, "ann", &any)];
    assert_eq!(cycle("gpus", &asking, &offered, "", &["--starts"]), ["1 p", "3 p#2", "4 p#3"]);
    // Without RequireGPUs the first GPU is taken.
    let plain = "Requirements = TARGET.GPUs >= RequestGPUs;RequestGPUs = 1";
    let asking = [(1, "ann", plain), (2, "ann", &newest), (3, "ann", &newest), (4, "ann", plain)];
    assert_eq!(cycle("plain-gpus", &asking, &offered, "", &["--starts"]), ["1 p", "2 p#2", "4 p#3"]);
}
