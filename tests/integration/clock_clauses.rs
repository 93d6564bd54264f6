//! `explain` tells when clauses that read the clock come true, and proposes no change of them.

use crate::binary::{classad, file};

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
             `TARGET.ClockDay >= 1` is not true before",
            "wait until 2026-07-06 18:00:00 UTC, in 20 h 40 min",
        ),
        (
            "time() - QDate > 7500\nQDate = 1783286000".to_owned(),
            "not before 2026-07-05 23:18:21 UTC, in 1 h 58 min: `time() - QDate > 7500` is not true before",
            "wait until 2026-07-05 23:18:21 UTC, in 1 h 58 min",
        ),
        (
            "time() < 1783286000".to_owned(),
            "not any more since 2026-07-05 21:13:20 UTC, 6 min 28 s ago: `time() < 1783286000` is not true",
            "no change found",
        ),
        (
            "Name == \"slot1@b\"".to_owned(),
            "1 slot would do, but it refuses: `ClockMin < 1000` is false (ClockMin is 1279), but true from \
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
