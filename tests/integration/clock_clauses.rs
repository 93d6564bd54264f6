//! `explain` tells when clauses that read the clock come true, and proposes no change of them.

use crate::binary::{classad, file, words};

/// 2026-07-05 21:19:48 UTC, a Sunday.
const NOW: &str = "1783286388";

const SLOTS: &str = "MyType = \"Machine\"\nName = \"slot1@a\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\nMemory = 1000\n\
    Cpus = 4\nClockMin = 1279\nClockDay = 0\nMyCurrentTime = 1783286388\nGLIDEIN_ToDie = 1783372788\nSTART = true\n\
    Requirements = START\n\nMyType = \"Machine\"\nName = \"slot1@b\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\n\
    Memory = 1000\nCpus = 4\nClockMin = 1279\nClockDay = 0\nSTART = ClockMin < 1000\nRequirements = START\n";

const DEFERRAL: &str =
    "((time() + ScheddInterval) >= (DeferralTime - DeferralPrepTime))\nDeferralPrepTime = 300\nScheddInterval = 60\n";

/// What `explain` says of a job with these requirements, in JSON.
fn explained(name: &str, requirements: &str) -> serde_json::Value {
    let job = format!(
        "ClusterId = 7\nProcId = 0\nJobStatus = 1\nJobUniverse = 5\nOwner = \"al\"\nRequestMemory = 100\n\
         Requirements = (TARGET.Memory >= RequestMemory) && {requirements}\n"
    );
    let (jobs, slots) = (file(&format!("{name}.jobs"), job), file(&format!("{name}.slots"), SLOTS));
    let (_, text, told) = classad(&["explain", &jobs, "--pool", &slots, "--now", NOW, "-o", "json"]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{fault}: {told}"));
    document["reports"][0].clone()
}

#[test]
fn clauses_come_true_at_a_time() {
    for (requirements, summary, to_do) in [
        (
            format!("{DEFERRAL}DeferralTime = 1783372788"),
            "not before 2026-07-06 21:13:48 UTC, in 23 h 54 min: it starts at 2026-07-06 21:19:48 UTC (deferral_time)",
            "wait until 2026-07-06 21:13:48 UTC, in 23 h 54 min",
        ),
        (
            format!("{DEFERRAL}DeferralTime = 1783303200\nCronHour = \"2\""),
            "not before 2026-07-06 01:54:00 UTC, in 4 h 34 min: it starts at 2026-07-06 02:00:00 UTC (cron job)",
            "wait until 2026-07-06 01:54:00 UTC, in 4 h 34 min",
        ),
        (
            "TARGET.ClockDay >= 1 && TARGET.ClockDay <= 5 && TARGET.ClockMin >= 1080".to_owned(),
            "not before 2026-07-06 18:00:00 UTC, in 20 h 40 min, up to 2026-07-07 00:00:00 UTC: \
             `TARGET.ClockDay >= 1` is not true yet; ClockDay is 0 on Sunday and 6 on Saturday",
            "wait until 2026-07-06 18:00:00 UTC, in 20 h 40 min",
        ),
        (
            "time() - QDate > 7500\nQDate = 1783286000".to_owned(),
            "not before 2026-07-05 23:18:21 UTC, in 1 h 58 min: `time() - QDate > 7500` is not true yet",
            "wait until 2026-07-05 23:18:21 UTC, in 1 h 58 min",
        ),
        (
            "time() < 1783286000".to_owned(),
            "not any more since 2026-07-05 21:13:20 UTC, 6 min 28 s ago: `time() < 1783286000` is not true",
            "no change found",
        ),
        (
            "Name == \"slot1@b\"".to_owned(),
            "1 slot would do, but it refuses: `ClockMin < 1000` is false (ClockMin is 1279, 21:19), but true from \
             2026-07-06 00:00:00 UTC to 2026-07-06 16:40:00 UTC, in 2 h 40 min; `Name == \"slot1@b\"` alone rules out 1 slot",
            "wait until 2026-07-06 00:00:00 UTC, in 2 h 40 min, when slot1@b takes jobs",
        ),
    ] {
        let report = explained("timed", &requirements);
        assert_eq!(report["summary"], format!("7.0 matches none of 2 slots: {summary}"), "{requirements}");
        let phrases = report["what_to_do"].as_array().unwrap();
        assert_eq!(
            phrases.first().map_or("no change found", |phrase| phrase.as_str().unwrap()),
            to_do,
            "{requirements}: {report:#}"
        );
        assert_eq!(report["changes"], serde_json::json!([]), "{requirements}");
        assert_eq!(report["far_less"], serde_json::json!([]), "{requirements}");
    }
    let deferred = explained("timed", &format!("{DEFERRAL}DeferralTime = 1783372788"));
    let expected = serde_json::json!({ "seconds": 1_783_372_428, "time": "2026-07-06T21:13:48Z" });
    assert_eq!(deferred["clauses"][1]["not_before"], expected);
}

/// What else keeps the job from slots comes first; the time stands beside it, and changes count from then on.
#[test]
fn clauses_that_wait_beside_others() {
    let soon = "not before 2026-07-06 20:33:20 UTC, in 23 h 13 min";
    let then = "the changes help from 2026-07-06 20:33:20 UTC on, in 23 h 13 min";
    for (requirements, summary, to_do, changes) in [
        (
            "time() >= 1783370000 && TARGET.Cpuss >= 2",
            "no slot defines Cpuss (did you mean Cpus? 2 slots have it); and {soon}",
            vec![then],
            vec![("`TARGET.Cpuss >= 2` -> `TARGET.Cpus >= 2`", 1)],
        ),
        (
            "time() >= 1783370000 && TARGET.Cpus >= 8 && TARGET.KFlops > 1",
            "no slot defines KFlops; no slot has Cpus >= 8 (at most 4); and {soon}",
            vec![
                then,
                "ask for `TARGET.Cpus >= 4` and do without `TARGET.KFlops > 1` (1 slot, free), if it may run without",
            ],
            vec![],
        ),
        (
            "TARGET.Arch == \"ARM64\" && time() >= 1783370000",
            "no slot defines Arch; and {soon}",
            vec!["no change found that keeps Arch and OpSys"],
            vec![],
        ),
    ] {
        let report = explained("beside", requirements);
        let summary = summary.replace("{soon}", soon);
        assert_eq!(report["summary"], format!("7.0 matches none of 2 slots: {summary}"), "{requirements}");
        assert_eq!(report["what_to_do"], serde_json::json!(to_do), "{requirements}");
        let told = report["changes"].as_array().unwrap().iter();
        let told: Vec<_> = told.map(|of| (of["change"].as_str().unwrap(), of["matches"].as_u64().unwrap())).collect();
        assert_eq!(told, changes, "{requirements}");
    }
}

/// A clause that a time does not make true is no matter of time.
#[test]
fn other_causes_stay() {
    for (requirements, summary) in [
        ("TARGET.Memory > 5000 && time() > 5", "no slot has Memory > 5000; the largest is 1000"),
        ("(TARGET.Memory > 5000 || TARGET.Cpus - time() > 5)", "no slot has Memory > 5000; the largest is 1000"),
        ("time() > MY.Missing", "reads Missing, which its own ad does not have"),
    ] {
        let report = explained("untimed", requirements);
        let told = report["summary"].as_str().unwrap();
        assert!(told.contains(summary) && !told.contains("not before"), "{told}");
    }
}

/// A slot whose time comes, but that refuses the job then, too, is nothing to wait for.
#[test]
fn what_refuses_at_its_time_is_not_awaited() {
    let job = "ClusterId = 7\nProcId = 0\nJobStatus = 1\nJobUniverse = 5\nOwner = \"al\"\nRequestMemory = 100\n\
               Requirements = TARGET.Name == \"slot1@b\"\n";
    for (start, awaited) in
        [("ClockMin < 1000 && TARGET.Owner =?= \"al\"", true), ("ClockMin < 1000 && TARGET.Owner =?= \"Al\"", false)]
    {
        let slots = SLOTS.replace("START = ClockMin < 1000", &format!("START = {start}"));
        let files = [file("awaited.jobs", job), file("awaited.slots", slots)];
        let (_, text, told) = classad(&["explain", &files[0], "--pool", &files[1], "--now", NOW]);
        let words = words(&text);
        assert_eq!(words.contains("when slot1@b takes jobs"), awaited, "{start}: {text}{told}");
    }
}

/// A query that reads the clock notes that its ads are old, whichever of its expressions reads it.
#[test]
fn a_query_that_reads_the_clock_notes_old_ads() {
    let old = file("old.long", "QDate = 1600000000\nx = 1\nAge = time() - QDate\n");
    let new = file("new.long", "QDate = 4000000000\nx = 1\n");
    let notes = |path: &str, more: &[&str]| {
        let (_, _, errors) = classad(&[&["query", path, "-o", "tsv"], more].concat());
        errors.contains("the ads seem to be from 2020-09-13T12:26:40Z; --now dump uses that time")
    };
    for (more, expected) in [
        (&["-constraint", "time() > 5"][..], true),
        (&["-constraint", "time() > 5", "--af", "x"], true),
        (&["-constraint", "x == 1", "--af", "x,time()"], true),
        (&["-constraint", "Age > 5", "--af", "x"], true),
        (&["-constraint", "x == 1", "--af", "x"], false),
        (&["-constraint", "time() > 5", "--now", "1700000000"], false),
    ] {
        assert_eq!(notes(&old, more), expected, "{more:?}");
    }
    assert!(!notes(&new, &["-constraint", "time() > 5"]));
}
