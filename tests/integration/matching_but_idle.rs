//! Why jobs are idle that match slots: concurrency limits, requests for several slots, slots in use, missing requests.

use serde_json::Value as Json;

use crate::binary::{classad, file, words};

/// A slot of 4 Cpus; `more` are further lines.
fn slot(name: &str, more: &str) -> String {
    format!(
        "MyType = \"Machine\"\nName = \"{name}\"\nMachine = \"{name}\"\nArch = \"X86_64\"\nCpus = 4\nMemory = 4000\nDisk = 100000\n\
         Start = TARGET.RequestCpus <= MY.Cpus\nRequirements = Start\n{more}\n\n"
    )
}

fn free_slots(number: usize) -> String {
    (1..=number)
        .map(|slot_number| slot(&format!("s{slot_number}"), "State = \"Unclaimed\"\nActivity = \"Idle\""))
        .collect()
}

/// A waiting job; `more` are further lines.
fn job(process: usize, more: &str) -> String {
    format!(
        "MyType = \"Job\"\nClusterId = 1\nProcId = {process}\nJobStatus = 1\nUser = \"ann@x\"\nOwner = \"ann\"\nRequestMemory = 100\n\
         RequestDisk = 100\nRequirements = TARGET.Arch == \"X86_64\"\n{more}\n\n"
    )
}

/// Explains unmatched jobs under HTCondor's policy, as text and as JSON.
fn unmatched(name: &str, jobs: &str, slots: &str, configuration: &str) -> (String, Json) {
    let [jobs, slots, dump] = [("jobs", jobs), ("slots", slots), ("dump", configuration)]
        .map(|(kind, text)| file(&format!("idle-{name}.{kind}"), text));
    let arguments =
        ["explain", &jobs, "--pool", &slots, "--policy", "htcondor", "--config", &dump, "--unmatched", "--now", "1"];
    let (status, text, errors) = classad(&arguments);
    assert_eq!(status, Some(1), "{name}: {text}{errors}");
    let (status, json, errors) = classad(&[&arguments[..], &["-o", "json"]].concat());
    assert_eq!(status, Some(1), "{name}: {errors}");
    (text, serde_json::from_str(&json).expect("it is JSON"))
}

/// The verdicts of the reports.
fn verdicts(report: &Json) -> Vec<&str> {
    let reports = report["reports"].as_array().expect("there are reports");
    reports.iter().filter_map(|report| report["verdict"].as_str()).collect()
}

#[test]
fn a_concurrency_limit_is_the_cause() {
    let jobs: String = (0..5).map(|process| job(process, "RequestCpus = 1\nConcurrencyLimits = \"sw:2\"")).collect();
    let (text, json) = unmatched("limit", &jobs, &free_slots(5), "SW_LIMIT = 5\n");
    assert!(
        text.contains("wait for concurrency limit sw: 4 of 5 in use, 4 of them by requests served before"),
        "{text}"
    );
    assert_eq!(verdicts(&json), ["limited"]);
    // Without the limit, each job gets a slot.
    let (jobs, slots) = (file("idle-no-limit.jobs", jobs), file("idle-no-limit.slots", free_slots(5)));
    let (status, text, _) = classad(&["explain", &jobs, "--pool", &slots, "--policy", "htcondor", "--unmatched"]);
    assert_eq!((status, text.as_str()), (Some(0), "all 5 jobs get a slot\n"));
}

#[test]
fn a_request_for_several_slots_that_gets_fewer_is_explained() {
    let several = job(0, "RequestCpus = 4\nResourceRequestCount = 3");
    let (text, json) = unmatched("units", &several, &free_slots(2), "");
    assert!(text.contains("1.0 gets 2 of 3 slots; nothing else that matches is left"), "{text}");
    assert_eq!(verdicts(&json), ["partly-served"]);
    let other = job(0, "RequestCpus = 4");
    let several = job(1, "RequestCpus = 4\nResourceRequestCount = 3");
    let (text, _) = unmatched("units-of-others", &(other + &several), &free_slots(3), "");
    assert!(text.contains("1.1 gets 2 of 3 slots; other requests take the other slots that match"), "{text}");
}

#[test]
fn slots_that_the_policy_leaves_to_others_are_in_use() {
    let used =
        slot("used", "State = \"Claimed\"\nActivity = \"Busy\"\nRemoteUser = \"bob@x\"\nRemoteOwner = \"bob@x\"");
    let jobs = job(0, "RequestCpus = 1");
    let (text, json) = unmatched("in-use", &jobs, &used, "");
    assert!(text.contains("1.0 matches 1 of 1 slot, which is claimed by bob@x"), "{text}");
    assert_eq!(verdicts(&json), ["claimed"]);
}

#[test]
fn slots_that_would_match_if_drained_are_listed_beside_free_ones() {
    let full = slot(
        "full",
        "State = \"Unclaimed\"\nActivity = \"Idle\"\nPartitionableSlot = true\nTotalSlotCpus = 8\nTotalSlotMemory = 8000",
    );
    let slots = file("idle-drained.slots", full.replace("Cpus = 4\n", "Cpus = 0\n") + &free_slots(1));
    let jobs = file("idle-drained.jobs", job(0, "RequestCpus = 1"));
    let arguments = ["explain", &jobs, "--pool", &slots, "--now", "1"];
    let (_, json, errors) = classad(&[&arguments[..], &["-o", "json"]].concat());
    let json: Json = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["reports"][0]["if_drained"], serde_json::json!(["full"]), "{json}{errors}");
    let (_, text, _) = classad(&[&arguments[..], &["-v"]].concat());
    assert!(text.contains("wait for the next negotiation cycle, or until jobs end on full"), "{text}");
}

#[test]
fn a_missing_request_for_a_resource_is_proposed() {
    // A slot without Cpus demands a request for 0, which is no advice.
    let slots = file(
        "idle-missing.slots",
        slot("none", "State = \"Unclaimed\"").replace("Cpus = 4\n", "Cpus = 0\n") + &free_slots(2),
    );
    let jobs = file("idle-missing.jobs", job(0, ""));
    let (_, text, _) = classad(&["explain", &jobs, "--pool", &slots, "--now", "1"]);
    assert!(text.contains("RequestCpus = 4  2 slots, all free"), "{text}");
}

/// The reasons why requests of the papers' form are unmatched, as rows.
fn rows(name: &str, requests: &str, offers: &str, policy: &str) -> Vec<String> {
    let [requests, offers, policy] = [("requests", requests), ("offers", offers), ("yaml", policy)]
        .map(|(kind, text)| file(&format!("idle-{name}.{kind}"), text));
    let arguments = ["explain", &requests, "--pool", &offers, "--policy", &policy, "--unmatched", "-o", "tsv"];
    let (_, rows, errors) = classad(&[&arguments[..], &["--no-header"]].concat());
    let cells = |row: &str| row.split('\t').take(2).collect::<Vec<_>>().join(" ");
    assert!(!errors.contains("error"), "{name}: {errors}");
    rows.lines().map(cells).collect()
}

const LIMITS: &str = "limits: { needs: Limits, max: { sw: 1 } }\n";

#[test]
fn a_limit_is_the_cause_only_if_a_free_offer_matches() {
    let request = |name: &str, of: &str| {
        format!(
            "[ Name = \"{name}\"; Limits = \"sw\"; Constraint = other.Name == \"{of}\"; Requirements = Constraint ]\n"
        )
    };
    let offers = "[ Name = \"s1\"; Requirements = true ]\n[ Name = \"s2\"; Requirements = true ]\n";
    let requests = request("first", "s1") + &request("same", "s1") + &request("other", "s2");
    assert_eq!(rows("free", &requests, offers, LIMITS), ["same taken", "other limited"]);
}

#[test]
fn gangs_wait_for_limits_and_need_no_second_gang() {
    let request = |name: &str, more: &str| {
        format!(
            "[ Name = \"{name}\"; {more} Ports = {{ [ Label = cpu; Constraint = cpu.Kind == 1 ], \
             [ Label = lic; Constraint = lic.Kind == 2 ] }} ]\n"
        )
    };
    let offer = |kind: u8| format!("[ Kind = {kind}; Constraint = true; Requirements = true ]\n");
    let offers = [offer(1), offer(1), offer(2), offer(2)].concat();
    let limited = request("first", "Limits = \"sw\";") + &request("second", "Limits = \"sw\";");
    let found = rows("gang-limit", &limited, &offers, LIMITS);
    assert!(found.len() == 1 && found[0].contains("but waits for concurrency limit sw: 1 of 1 in use"), "{found:?}");
    assert_eq!(rows("gang-units", &request("three", "ResourceRequestCount = 3;"), &offers, LIMITS), [""; 0]);
}

#[test]
fn each_request_for_several_offers_has_its_own_numbers() {
    let request = |name: &str, count: &str| {
        format!("[ Name = \"{name}\"; {count} Constraint = other.Size > 0; Requirements = Constraint ]\n")
    };
    let requests = [
        request("two", "ResourceRequestCount = 2;"),
        request("part", "ResourceRequestCount = 2;"),
        request("none", ""),
        request("nothing", "ResourceRequestCount = 0;"),
    ];
    let offers = "[ Size = 1; Constraint = true; Requirements = true ]\n".repeat(3);
    assert_eq!(rows("units-rows", &requests.concat(), &offers, LIMITS), ["part partly-served", "none taken"]);
}

/// Whether the ads accept each other is one question, and who has the slot another one. A policy answers neither.
#[test]
fn reports_are_the_same_with_and_without_a_policy() {
    let state = |state: &str| format!("State = \"{state}\"\nHasSingularity = true\nTotalSlotCpus = 8\n");
    let partitionable = "PartitionableSlot = true\nTotalSlotMemory = 8000";
    let used = [
        slot("claimed", &(state("Claimed") + "RemoteUser = \"bob@x\"")),
        slot("own", &(state("Claimed") + "RemoteUser = \"ann@x\"")),
        slot("matched", &state("Matched")),
        slot("preempting", &state("Preempting")),
        slot("owner", &state("Owner")),
        slot("drained", &(state("Drained") + "DrainReason = \"update\"")),
        slot("offline", &(state("Unclaimed") + "Offline = true")),
        slot("full", &(state("Unclaimed") + partitionable)).replace("Cpus = 4\n", "Cpus = 0\n"),
    ];
    let free = [slot("backfill", &state("Backfill")), slot("small", &state("Unclaimed")).replace("4000", "1000")];
    let wish = |process: usize, lines: &str, clause: &str| {
        let requirements = format!("Requirements = TARGET.Arch == \"X86_64\" && {clause}");
        job(process, lines).replace("Requirements = TARGET.Arch == \"X86_64\"", &requirements)
    };
    let jobs = [
        wish(0, "RequestCpus = 1", "TARGET.HasSingularty"),
        wish(1, "RequestCpus = 1", "TARGET.Memory >= 2000"),
        wish(2, "RequestCpus = 1", "TARGET.Memory >= 6000"),
        wish(3, "RequestCpus = 6", "TARGET.Cpus >= RequestCpus"),
        wish(4, "RequestCpus = 1", "TARGET.Name == \"drainde\""),
        wish(5, "RequestCpus = 8", "TARGET.Memory >= 3000"),
    ];
    let jobs = file("idle-questions.jobs", jobs.concat());
    for (name, slots) in [("full", used.concat()), ("free", used.concat() + &free.concat())] {
        let slots = file(&format!("idle-questions-{name}.slots"), slots);
        let reports = |policy: &[&str]| {
            let arguments = ["explain", &jobs, "--pool", &slots, "--now", "1", "-o", "json"];
            let (_, json, errors) = classad(&[&arguments[..], policy].concat());
            let document: Json = serde_json::from_str(&json).expect(&errors);
            let of = |report: &Json| {
                ["requests", "summary", "verdict", "slots", "changes", "far_less"].map(|key| report[key].clone())
            };
            document["reports"].as_array().expect("reports").iter().map(of).collect::<Vec<_>>()
        };
        let without = reports(&[]);
        assert_eq!(reports(&["--policy", "htcondor"]), without, "{name}");
        let has_change = |report: &&[Json; 6]| report[4].as_array().is_some_and(|changes| !changes.is_empty());
        assert!(without.iter().filter(has_change).count() >= 3, "{name}: {without:?}");
    }
}

#[test]
fn a_policy_that_ranks_nothing_is_told_in_plain_words() {
    let [jobs, slots] = [("jobs", job(0, "RequestCpus = 1")), ("slots", free_slots(2))]
        .map(|(kind, text)| file(&format!("idle-unranked.{kind}"), text));
    let arguments = ["explain", &jobs, "--pool", &slots, "--now", "1", "--dock"];
    let (status, text, _) = classad(&[&arguments[..], &["label.Memory > 9000 ? 1 : error"]].concat());
    let expected = "1.0 matches 2 of 2 slots, all of them free; the policy gives it none: its rule";
    assert!(text.starts_with(expected) && !text.contains("no change found"), "{text}");
    assert_eq!(status, Some(1));
    // One that ranks some slots is silent.
    let (status, text, _) = classad(&[&arguments[..], &["label.Name == \"s1\" ? 1 : error"]].concat());
    assert_eq!((status, text.lines().next()), (Some(0), Some("1.0 matches 2 of 2 slots, all of them free")));
}

/// The words for slots that match are those for slots that refuse.
#[test]
fn slots_that_refuse_have_their_states_told() {
    let refusing =
        |name: &str, lines: &str| slot(name, lines).replace("TARGET.RequestCpus <= MY.Cpus", "TARGET.Owner == \"bob\"");
    for (name, lines, state) in [
        ("claimed", "State = \"Claimed\"\nRemoteUser = \"bob@x\"", "claimed by bob@x"),
        ("own", "State = \"Claimed\"\nRemoteUser = \"ann@x\"", "claimed by the same user"),
        ("matched", "State = \"Matched\"", "matched"),
        ("preempting", "State = \"Preempting\"\nRemoteUser = \"bob@x\"", "preempting the job of bob@x"),
        ("owner", "State = \"Owner\"", "in use by the owner"),
        ("drained", "State = \"Drained\"\nDraining = true\nDrainReason = \"update\"", "drained (update)"),
        (
            "draining",
            "State = \"Claimed\"\nDraining = true\nDrainReason = \"update\"\nExpectedMachineGracefulDrainingCompletion = 1783286388",
            "draining until 2026-07-05 21:19:48 UTC (update)",
        ),
        ("offline", "State = \"Unclaimed\"\nOffline = true", "offline"),
        ("backfill", "State = \"Backfill\"", "in backfill"),
    ] {
        let slots = file(&format!("idle-words-{name}.slots"), refusing(name, lines));
        let jobs = file("idle-words.jobs", job(0, "RequestCpus = 1"));
        let (_, text, _) = classad(&["explain", &jobs, "--pool", &slots, "--now", "1"]);
        assert!(text.contains(&format!("1: {name} ({state})")), "{text}");
    }
}

#[test]
fn a_limit_that_is_too_small_and_one_that_was_met_first_are_named() {
    // The first job takes all of the limit while three slots are free; others take these later.
    let limited = |name: &str, units: &str| {
        format!("[ Name = \"{name}\"; Limits = \"sw:{units}\"; Constraint = true; Requirements = Constraint ]\n")
    };
    let free = |name: &str| format!("[ Name = \"{name}\"; Constraint = true; Requirements = Constraint ]\n");
    let requests =
        [limited("one", "2"), limited("waits", "1"), limited("large", "3"), free("two"), free("three")].concat();
    let offers = "[ Constraint = true; Requirements = true ]\n".repeat(3);
    let policy = "limits: { needs: Limits, max: { sw: 2 } }\n";
    assert_eq!(rows("late", &requests, &offers, policy), ["waits limited", "large limited"]);
    let [requests, offers, policy] = [("requests", requests.as_str()), ("offers", &offers), ("yaml", policy)]
        .map(|(kind, text)| file(&format!("idle-late.{kind}"), text));
    let arguments = ["explain", &requests, "--pool", &offers, "--policy", &policy, "--unmatched", "--summary"];
    let (_, text, _) = classad(&arguments);
    let has_row = |cause: &str, help: &str| text.lines().any(|line| line.contains(cause) && line.ends_with(help));
    assert!(has_row("sw: 2 of 2 in use, 2 of", "  wait, or raise the limit"), "{text}");
    assert!(has_row("sw, which allows 2;", "  raise the limit"), "{text}");
}

const MEMORY_JOB: &str = "RequestCpus = 1\nRequestMemory = 1500\nRequirements = TARGET.Memory >= RequestMemory";

#[test]
fn the_resource_that_runs_out_is_named() {
    let divided = "State = \"Unclaimed\"\nActivity = \"Idle\"\nPartitionableSlot = true\nTotalSlotCpus = 4\n\
                   TotalSlotMemory = 4000\nTotalSlotDisk = 100000";
    let jobs: String = (0..6).map(|process| job(process, MEMORY_JOB)).collect();
    let slots = slot("one", divided) + &slot("two", divided);
    let (text, json) = unmatched("scarce", &jobs, &slots, "");
    assert_eq!(verdicts(&json), ["taken"]);
    let expected =
        "all of them go to 1.0, 1.1, 1.2 and 1 more (earlier in their own queue); none has enough Memory left\n";
    assert!(text.contains(expected), "{text}");
    // Of the other slot, more is left.
    let small = slot("two", divided).replace("Memory = 4000", "Memory = 3000").replace("Cpus = 4\n", "Cpus = 1\n");
    let (text, _) = unmatched("scarce-in-one", &jobs, &(slot("one", divided) + &small), "");
    assert!(text.contains("none has enough Memory left, 1 does not have enough Cpus left\n"), "{text}");
    let summary = ["explain", "--pool", &file("idle-scarce-pool", slots), "--policy", "htcondor", "--unmatched"];
    let jobs = file("idle-scarce-jobs", jobs);
    let (_, text, _) = classad(&[&summary[..], &[&jobs, "--summary"]].concat());
    let words = words(&text);
    assert!(words.contains("--what-if: Memory runs out"), "{text}");
}

#[test]
fn reasons_of_refusals_add_up_to_the_slots_that_refuse() {
    let slot_of = |name: &str, cpus: u8, start: &str| {
        slot(name, "State = \"Unclaimed\"\nPartitionableSlot = true\nTotalSlotCpus = 8\nTotalSlotMemory = 4000")
            .replace("Cpus = 4\n", &format!("Cpus = {cpus}\n"))
            .replace("TARGET.RequestCpus <= MY.Cpus", start)
    };
    let by_cpus = "TARGET.RequestCpus <= MY.Cpus";
    let by_owner = "TARGET.Owner == \"bob\"";
    // Two would match if drained, one refuses as it is, two would refuse if drained.
    let slots = [
        slot_of("drains", 1, by_cpus),
        slot_of("drains-too", 0, by_cpus),
        slot_of("refuses", 8, by_owner),
        slot_of("would-refuse", 0, by_owner),
        slot_of("would-refuse-too", 1, by_owner),
    ]
    .concat();
    let asks = "RequestCpus = 2\nRequirements = TARGET.Cpus >= RequestCpus";
    let jobs = [
        job(0, asks),
        // This one accepts slots that are full.
        job(1, "RequestCpus = 2"),
    ];
    for job in &jobs {
        let arguments =
            ["explain", &file("idle-sums.jobs", job), "--pool", &file("idle-sums.slots", &slots), "--now", "1"];
        let (_, json, errors) = classad(&[&arguments[..], &["-o", "json"]].concat());
        let json: Json = serde_json::from_str(&json).expect(&errors);
        let report = &json["reports"][0];
        assert_eq!(report["slots"]["if_drained"], 2, "{report:#}");
        assert_eq!(report["slots"]["rejecting_request"], 3, "{report:#}");
        let groups = report["refusals"].as_array().expect("there are refusals");
        let suitable: Vec<(&Json, &Json)> = groups
            .iter()
            .filter(|group| group["suitable"] != 0)
            .map(|group| (&group["clause"], &group["suitable"]))
            .collect();
        assert_eq!(suitable, [(&Json::from(by_owner), &Json::from(3))], "{report:#}");
    }
    let (_, text, _) =
        classad(&["explain", &file("idle-sums.job", &jobs[0]), "--pool", &file("idle-sums.pool", &slots)]);
    assert!(text.contains("admit only jobs with Owner bob"), "{text}");
}

#[test]
fn a_slot_that_misspells_an_attribute_of_the_job_is_not_served_by_defining_it() {
    let start = "TARGET.RequestMemroy <= 4000 && TARGET.MyProject =?= true";
    let slots = slot("s", "State = \"Unclaimed\"").replace("TARGET.RequestCpus <= MY.Cpus", start);
    let arguments =
        ["explain", &file("idle-slip.jobs", job(0, "RequestCpus = 1")), "--pool", &file("idle-slip.slots", slots)];
    let (_, text, _) = classad(&arguments);
    assert!(text.contains("(1.0 has no RequestMemroy; did you mean RequestMemory?)"), "{text}");
    assert!(!text.contains("RequestMemroy ="), "{text}");
}

#[test]
fn changes_for_a_free_slot_are_sought_although_used_ones_match() {
    let used = slot("used", "State = \"Claimed\"\nActivity = \"Busy\"\nRemoteUser = \"bob@x\"");
    let free = slot("free", "State = \"Unclaimed\"\nActivity = \"Idle\"").replace("Disk = 100000", "Disk = 900");
    let asks = "RequestCpus = 1\nRequestDisk = 1000\nRequirements = TARGET.Disk >= RequestDisk";
    let jobs = file("idle-for-free.jobs", job(0, asks).replace("RequestDisk = 100\n", ""));
    let matches = "1.0 matches 1 of 2 slots, which is claimed by bob@x";
    for policy in [&[][..], &["--policy", "htcondor"]] {
        let slots = file("idle-for-free.slots", used.clone() + &free);
        let arguments = [&["explain", &jobs, "--pool", &slots, "--now", "1"], policy].concat();
        let (_, text, _) = classad(&arguments);
        assert!(text.contains(matches), "{text}");
        assert!(text.contains("is free\n  RequestDisk 1000 -> 900  "), "{text}");
        let (_, table, _) = classad(&[&arguments[..], &["--summary"]].concat());
        let words = words(&table);
        assert!(words.contains("wait, or RequestDisk 1000 -> 900"), "{table}");
    }
}

#[test]
fn the_states_of_slots_that_refuse_are_named() {
    let refusing =
        |name: &str, more: &str| slot(name, more).replace("TARGET.RequestCpus <= MY.Cpus", "TARGET.Owner == \"bob\"");
    let slots = refusing("used", "State = \"Claimed\"\nRemoteUser = \"bob@x\"")
        + &refusing("free", "State = \"Unclaimed\"")
        + &refusing("free-too", "State = \"Unclaimed\"");
    let slots = file("idle-states.slots", slots);
    let (_, text, _) = classad(&["explain", &file("idle-states.jobs", job(0, "")), "--pool", &slots, "--now", "1"]);
    assert!(text.contains("3 slots would do (2 free, 1 claimed by another user), but all of them refuse: "), "{text}");
}
