use super::{PARTITIONABLE, job, run_named};

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
