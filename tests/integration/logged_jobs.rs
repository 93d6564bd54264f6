//! `explain JOB.log`: what happened to the jobs of an event log last, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, UNIX_EPOCH};

use crate::binary::{classad, file};

const LOG: &str = "samples/pool/job.log";

#[test]
fn the_last_event_of_a_job_says_why_it_is_where_it_is() {
    let (status, out, errors) = classad(&["explain", LOG]);
    assert_eq!((status, &*errors), (Some(0), ""));
    let expected = [
        "1001.0 is held since 2026-09-01 10:12:00 UTC, after 7 min on slot1_1@wn1.example.org: Error from \
         slot1_1@wn1.example.org: Job has gone over cgroup memory limit of 2048 megabytes. Last measured usage: 2046 \
         megabytes.  Consider resubmitting with a higher request_memory (code 34, subcode 102). It needs a larger \
         RequestMemory than 2048 before it is released",
        "1001.1 ended with exit code 0 at 2026-09-01 15:55:35 UTC, after 4 h 25 min on slot1_1@wn3.example.org; it started 3 \
         times, and 1 h 6 min of its 5 h 32 min were wasted",
        "1002.0 was removed at 2026-09-01 12:00:00 UTC, after 1 h 54 min on 192.0.2.9: The job \
         attribute PeriodicRemove expression '(MemoryUsage > RequestMemory)' evaluated to TRUE",
    ];
    assert_eq!(out.lines().collect::<Vec<_>>(), expected);
    let events: Vec<&str> =
        std::str::from_utf8(include_bytes!("../../samples/pool/job.log")).unwrap().split("...\n").collect();
    // What is said after each event of the second job.
    let of_job: Vec<usize> = (0..events.len()).filter(|at| events[*at].contains("(1001.001")).collect();
    for (event, expected) in [
        (0, "waits since 2026-09-01 10:00:00 UTC: it was submitted and has not started"),
        (1, "runs on slot1_2@wn1.example.org since 2026-09-01 10:05:10 UTC"),
        (3, "waits since 2026-09-01 10:20:00 UTC: it was released: via condor_release (by user ann)"),
        (
            5,
            "waits since 2026-09-01 11:21:00 UTC: it was evicted, after 1 h on slot1_1@wn2.example.org; it started 2 times, \
             and 1 h 6 min of its 1 h 6 min were wasted",
        ),
    ] {
        let log = file("explained.log", events[..=of_job[event]].join("...\n") + "...\n");
        let out = classad(&["explain", &log, "--request", "1001.1"]).1;
        assert_eq!(out, format!("1001.1 {expected}\n"), "{event}");
    }
    let lost = "022 (1001.001.000) 2026-09-01 10:06:00 Job disconnected, attempting to reconnect\n    Socket closed\n    Trying \
                to reconnect to slot1_2@wn1.example.org <a>\n...\n";
    let log = file("disconnected.log", events[..=of_job[1]].join("...\n") + "...\n" + lost);
    let out = classad(&["explain", &log, "-constraint", "ProcId == 1"]).1;
    assert!(out.ends_with("since 2026-09-01 10:05:10 UTC, but the connection to it is lost: Socket closed\n"), "{out}");
    let signal = "005 (2.0.0) 2026-09-01 10:06:00 Job terminated.\n\t(0) Abnormal termination (signal 9)\n...\n";
    let out = classad(&["explain", &file("signal.log", signal)]).1;
    assert_eq!(out, "2.0 ended by signal 9 at 2026-09-01 10:06:00 UTC\n");
}

#[test]
fn rows_have_the_facts_and_other_inputs_need_a_pool() {
    let (_, out, _) = classad(&["explain", LOG, "-o", "json", "--request", "1001.0"]);
    let rows: serde_json::Value = serde_json::from_str(&out).expect("it is JSON");
    let row = &rows[0];
    assert!(
        row["state"] == "held" && row["code"] == 34 && row["since"] == 1_788_257_520 && row["starts"] == 1,
        "{row}"
    );
    assert!(row["since_time"] == "2026-09-01T10:12:00Z" && row["exit_code"].is_null(), "{row}");
    for file in ["tests/pool/dumps/events.xml", "tests/cases/history/EventLog.json"] {
        let (status, out, errors) = classad(&["explain", file]);
        assert!(status == Some(0) && out.contains(" UTC"), "{file}: {out}{errors}");
    }
    let (status, out, errors) =
        classad(&["explain", LOG, "--pool", "samples/pool/machines.long", "--request", "1001.0"]);
    assert!(
        status == Some(0) && out.starts_with("1001.0 is held") && errors.contains("slots do not count"),
        "{errors}"
    );
    for (arguments, expected) in [
        (&[LOG, "--request", "7.0"][..], "there is no job 7.0 in the log"),
        (&["samples/pool/jobs.long"], "explain needs the offers"),
    ] {
        let (status, out, errors) = classad(&[&["explain"], arguments].concat());
        assert!(status == Some(2) && out.is_empty() && errors.contains(expected), "{errors}");
    }
}

/// The folder of event logs, with the ads that `condor_q -userlog` makes of them. `tests/userlogs/run` asks it.
const USERLOGS: &str = "tests/userlogs";

/// The lines of each ad of a text in the long form, by cluster and process.
fn ads_by_job(text: &str) -> BTreeMap<(String, String), BTreeSet<&str>> {
    let value =
        |ad: &str, name: &str| ad.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned();
    let ads = text.split("\n\n").filter(|ad| !ad.trim().is_empty());
    ads.map(|ad| ((value(ad, "ClusterId = "), value(ad, "ProcId = ")), ad.lines().collect())).collect()
}

#[test]
fn jobs_of_event_logs_are_those_of_condor_q() {
    let (mut jobs, mut missing) = (0, Vec::new());
    for name in ["concatenated", "life", "mixed", "yearless"] {
        let answer = std::fs::read_to_string(format!("{USERLOGS}/answers/{name}")).expect("there is an answer");
        let log = std::fs::read(format!("{USERLOGS}/{name}.log")).expect("there is a log");
        // Rotated in the middle: an event of the first part and all that follows.
        let text = String::from_utf8_lossy(&log).into_owned();
        let middle = text.len() / 2 + text[text.len() / 2..].find("...\n").expect("there are events") + 4;
        let whole = file(&format!("{name}.userlog"), &text);
        let rotated = file(&format!("{name}.rotated.old"), &text[..middle]);
        let current = file(&format!("{name}.rotated"), &text[middle..]);
        // Years follow from the time of the file.
        let written = UNIX_EPOCH + Duration::from_secs(1_796_000_000);
        for path in [&whole, &rotated, &current] {
            let file = std::fs::File::options().append(true).open(path).expect("it is there");
            file.set_modified(written).expect("its time can be set");
        }
        for logs in [&["--userlog", &*whole][..], &["--userlog", &current, "--userlog", &rotated]] {
            let out = classad(&[&["query", "-long"], logs].concat()).1;
            let ours = ads_by_job(&out);
            for (job, ad) in ads_by_job(&answer) {
                jobs += 1;
                let own = ours.get(&job).unwrap_or_else(|| panic!("{name}: {job:?} is in {out}"));
                missing.extend(ad.difference(own).map(|line| format!("{name} {job:?}: {line}")));
            }
        }
    }
    assert!(jobs == 68 && missing.is_empty(), "{jobs}: {}", missing.join("\n"));
    // HTCondor reads no further than an event that lacks a line, and keeps no job whose submission is in no log.
    let submitted = "000 (1.0.0) 2026-09-01 10:00:00 Job submitted from host: <a>\n...\n";
    let ended = |cluster| {
        format!(
            "005 ({cluster}.0.0) 2026-09-01 10:06:00 Job terminated.\n\t(1) Normal termination (return value 1)\n...\n"
        )
    };
    let log = file("lacking.userlog", format!("{submitted}{}{}", ended(1), ended(2)));
    let names = "ClusterId,JobStatus,ExitCode,QDate,CompletionDate";
    let out = classad(&["query", "--userlog", &log, "true", "--af", names]).1;
    assert_eq!(out, "1\t4\t1\t1788256800\t1788257160\n2\t4\t1\tundefined\t1788257160\n");
}
