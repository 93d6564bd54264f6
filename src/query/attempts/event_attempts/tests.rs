use crate::ad::{Dialect, Expression};
use crate::format::{FileFormat, read};
use crate::query::{JobEvent, JobNumber};

use super::EventAttempts;

/// Returns the attempts of a log, each as the values of some attributes. An event is its number, its second and the
/// rest of its text; the job is 1.0.
fn attempts(events: &[(u16, i64, &str)], names: &[&str]) -> Vec<String> {
    let line = |(number, second, text): &(u16, i64, &str)| {
        let (minute, second) = (second / 60, second % 60);
        format!("{number:03} (001.000.000) 2026-09-01 10:{minute:02}:{second:02}Z {text}\n...\n")
    };
    let log: String = events.iter().map(line).collect();
    let mut attempts = EventAttempts::default();
    let read: Vec<_> = read(log.as_bytes(), FileFormat::EventLog, Dialect::Condor).flatten().collect();
    let mut ads: Vec<_> = read.iter().filter_map(|entry| attempts.add(&JobEvent::of(&entry.ad)?)).collect();
    ads.extend(attempts.running());
    let value = |value: Option<&Expression>| value.map_or("-".to_owned(), ToString::to_string);
    let row = |ad: &crate::ad::Ad| names.iter().map(|name| value(ad.get_str(name))).collect::<Vec<_>>().join(" ");
    ads.iter().map(row).collect()
}

const SUBMITTED: &str = "Job submitted from host: <a>";
const ON_A: &str = "Job executing on host: <192.0.2.9:9618?addrs=x&alias=a.example>";
const ON_B: &str = "Job executing on host: <[2001:db8::1]:9618>\n\tSlotName: slot1_2@glide@b.example\n\tMemory = 512";
const EVICTED: &str = "Job was evicted.\n\t(0) Job was not checkpointed.\n\t\tUsr 0 00:00:07, Sys 0 00:00:02  -  Run Remote \
                       Usage\n\tReason: preempted";
const DONE: &str = "Job terminated.\n\t(1) Normal termination (return value 3)\n\t\tUsr 1 00:00:07, Sys 0 00:00:02  -  \
                    Run Remote Usage";

#[test]
fn attempts_are_those_of_condor_userlog() {
    let checkpointed = EVICTED.replace("(0) Job was not", "(1) Job was");
    for (events, expected) in [
        (
            &[(0, 0, "Job submitted from host: <a>"), (1, 10, ON_A), (5, 40, DONE)][..],
            &["1 10 30 30 0 \"terminated\""][..],
        ),
        (
            &[(0, 0, "Job submitted from host: <a>"), (1, 10, ON_A), (4, 40, EVICTED), (1, 45, ON_B), (5, 60, DONE)],
            &["1 10 30 0 30 \"evicted\"", "2 5 15 15 0 \"terminated\""],
        ),
        // What was checkpointed is not lost.
        (&[(1, 10, ON_A), (4, 40, &checkpointed)], &["1 - 30 30 0 \"evicted\""]),
        (
            &[
                (1, 10, ON_A),
                (3, 30, "Job was checkpointed.\n\t\tUsr 0 00:00:01, Sys 0 00:00:00  -  Run Remote Usage"),
                (7, 40, "Shadow exception!"),
            ],
            &["1 - 30 20 10 \"shadow exception\""],
        ),
        // A hold ends an attempt; the time until the release is not waited for a slot.
        (
            &[
                (0, 0, "Job submitted from host: <a>"),
                (1, 10, ON_A),
                (12, 20, "Job was held.\n\tx"),
                (13, 30, "Job was released."),
                (1, 32, ON_A),
                (9, 40, "Job was aborted."),
            ],
            &["1 10 10 0 10 \"held\"", "2 2 8 0 8 \"removed\""],
        ),
        // The eviction of a held job tells the same end; an idle job has none.
        (&[(1, 10, ON_A), (12, 20, "Job was held.\n\tx"), (4, 21, EVICTED)], &["1 - 10 0 10 \"held\""]),
        (&[(0, 0, "Job submitted from host: <a>"), (12, 20, "Job was held.\n\tx"), (9, 21, "Job was aborted.")], &[]),
        // Old shadows repeat the start. Another host shows that the end is missing.
        (&[(1, 10, ON_A), (1, 20, ON_A), (5, 40, DONE)], &["1 - 30 30 0 \"terminated\""]),
        (
            &[(1, 10, ON_A), (1, 20, ON_B), (24, 40, "Job reconnection failed")],
            &["1 - - - - \"unknown\"", "2 - 20 0 20 \"lost\""],
        ),
        // The beginning of the log is missing, and nothing follows a removal.
        (&[(4, 40, EVICTED), (9, 41, "Job was aborted."), (4, 42, EVICTED)], &["1 - - - - \"evicted\""]),
        (&[(0, 10, SUBMITTED), (1, 10, ON_A), (5, 10, DONE)], &["1 0 0 0 0 \"terminated\""]),
        (&[(0, 10, SUBMITTED), (1, 9, ON_A), (5, 20, DONE)], &["1 - 11 11 0 \"terminated\""]),
        (&[(1, 10, ON_A), (2, 20, "(1) Job not properly linked for Condor.")], &["1 - 10 0 10 \"executable error\""]),
        (
            &[(1, 10, ON_A), (22, 15, "Job disconnected, attempting to reconnect"), (5, 20, DONE)],
            &["1 - 10 10 0 \"terminated\""],
        ),
        // What is told of a job behind its end is late, unless it starts anew.
        (&[(1, 10, ON_A), (5, 20, DONE), (4, 21, EVICTED)], &["1 - 10 10 0 \"terminated\""]),
        (
            &[(1, 10, ON_A), (5, 20, DONE), (1, 30, ON_B), (4, 35, EVICTED)],
            &["1 - 10 10 0 \"terminated\"", "1 - 5 0 5 \"evicted\""],
        ),
        (
            &[(0, 0, SUBMITTED), (1, 10, ON_A), (0, 20, SUBMITTED), (1, 25, ON_B)],
            &["1 10 - - - \"unknown\"", "1 5 - - - \"running\""],
        ),
        (
            &[(1, 10, ON_A), (4, 20, EVICTED), (4, 21, EVICTED), (1, 30, ON_A)],
            &["1 - 10 0 10 \"evicted\"", "2 - - - - \"evicted\"", "3 9 - - - \"running\""],
        ),
        (
            &[(1, 10, ON_A), (12, 20, "Job was held.\n\tx"), (1, 30, ON_A), (4, 31, EVICTED), (4, 32, EVICTED)],
            &["1 - 10 0 10 \"held\"", "2 - 1 0 1 \"evicted\"", "3 - - - - \"evicted\""],
        ),
        (
            &[(1, 10, ON_A), (12, 20, "Job was held.\n\tx"), (4, 21, EVICTED), (4, 22, EVICTED), (1, 30, ON_A)],
            &["1 - 10 0 10 \"held\"", "2 - - - - \"evicted\"", "3 8 - - - \"running\""],
        ),
        // Clocks run backwards.
        (&[(1, 10, ON_A), (5, 5, DONE)], &["1 - - - - \"terminated\""]),
        (
            &[(1, 10, ON_A), (10, 20, "Job was suspended."), (11, 30, "Job was unsuspended.")],
            &["1 - - - - \"running\""],
        ),
    ] {
        let names = ["Attempt", "QueueSeconds", "Seconds", "GoodSeconds", "WastedSeconds", "Outcome"];
        assert_eq!(attempts(events, &names), expected, "{events:?}");
    }
}

#[test]
fn an_attempt_knows_its_host_and_how_it_ended() {
    let names = ["Host", "Slot", "HostAddress", "Memory", "CpuSeconds", "GoodCpuSeconds", "ExitCode", "Reason"];
    let events = [(1, 10, ON_A), (4, 40, EVICTED), (1, 45, ON_B), (5, 60, DONE)];
    let expected = [
        "\"a.example\" - \"192.0.2.9\" - 9 0 - \"preempted\"",
        "\"b.example\" \"slot1_2@glide@b.example\" \"2001:db8::1\" 512 86409 86409 3 -",
    ];
    assert_eq!(attempts(&events, &names), expected);
    // A job that never ran: the host is that to which its files went.
    let events = [
        (40, 10, "Started transferring input files\n\tTransferring to host: <192.0.2.7:1?alias=c.example>"),
        (21, 11, "Error from starter on slot3@d.example:\n\tFailed to transfer files"),
        (4, 40, EVICTED),
    ];
    assert_eq!(attempts(&events[..1], &["Host"]), Vec::<String>::new());
    assert_eq!(attempts(&events, &["Host", "Start", "Outcome"]), ["\"d.example\" - \"evicted\""]);
    let events = [&events[..1], &events[2..]].concat();
    assert_eq!(attempts(&events, &["Host", "Seconds"]), ["\"c.example\" -"]);
}
/// What the processors did until a checkpoint is not lost, if the checkpoint is of this attempt.
#[test]
fn a_checkpoint_keeps_what_was_done_before_it() {
    let used = "Job was checkpointed.\n\t\tUsr 0 00:00:01, Sys 0 00:00:02  -  Run Remote Usage";
    for (second, checkpoint, expected) in [
        (15, used, "10 5 9 3"),
        (10, used, "10 0 9 3"),
        (9, used, "10 0 9 0"),
        (15, "Job was checkpointed.", "10 0 9 0"),
    ] {
        let names = ["Seconds", "GoodSeconds", "CpuSeconds", "GoodCpuSeconds"];
        let found = attempts(&[(1, 10, ON_A), (3, second, checkpoint), (4, 20, EVICTED)], &names);
        assert_eq!(found, [expected], "{second} {checkpoint}");
    }
}

/// An ad of an attempt has the attributes of its job, of its slot and of its end, the first ones first.
#[test]
fn an_attempt_has_the_attributes_of_its_job() {
    let learned = "Job ad information event triggered.\nA = 1\nOwner = \"ann\"";
    let again = "Job ad information event triggered.\nA = 2";
    let held = "Job was held.\n\tno disk\n\tCode 21 Subcode 3";
    let names = ["QDate", "A", "Owner", "Memory", "Reason", "ReasonCode", "ReasonSubCode", "HoldReason", "ExitSignal"];
    for (events, expected) in [
        (
            &[(0, 5, SUBMITTED), (28, 6, learned), (1, 10, ON_B), (28, 11, again), (12, 20, held)][..],
            "1788256805 2 \"ann\" 512 \"no disk\" 21 3 \"no disk\" -",
        ),
        (
            &[
                (28, 6, learned),
                (1, 10, ON_A),
                (0, 11, SUBMITTED),
                (1, 12, ON_A),
                (7, 20, "Shadow exception!\n\tlost it"),
            ],
            "- 1 \"ann\" - - - - - -; 1788256811 - - - \"lost it\" - - - -",
        ),
        (&[(1, 10, ON_A), (5, 20, "Job terminated.\n\t(0) Abnormal termination (signal 9)")], "- - - - - - - - 9"),
    ] {
        assert_eq!(attempts(events, &names).join("; "), expected, "{:?}", events[0].0);
    }
    // What is transferred tells the host of an attempt that never ran.
    let to = "Started transferring input files\n\tTransferring to host: <192.0.2.7:1?alias=c.example>";
    for (events, expected) in [
        (&[(40, 10, to), (24, 20, "Job reconnection failed")][..], &["\"c.example\" - \"192.0.2.7\""][..]),
        (
            &[(40, 10, to), (40, 11, "Finished transferring input files"), (4, 20, EVICTED)],
            &["\"c.example\" - \"192.0.2.7\""],
        ),
        (&[(40, 10, to), (4, 20, EVICTED), (4, 21, EVICTED)], &["\"c.example\" - \"192.0.2.7\"", "- - -"]),
        (
            &[(40, 10, to), (1, 11, ON_B), (4, 20, EVICTED), (4, 21, EVICTED)],
            &["\"b.example\" \"slot1_2@glide@b.example\" \"2001:db8::1\"", "- - -"],
        ),
    ] {
        assert_eq!(attempts(events, &["Host", "Slot", "HostAddress"]), expected, "{events:?}");
    }
}

#[test]
fn the_last_1024_jobs_are_remembered() {
    let ad = crate::ad::Ad::default();
    let event = |cluster, number| {
        let job = JobNumber { cluster, process: 0 };
        JobEvent { ad: &ad, job, number, time: Some(cluster) }
    };
    for (others, is_forgotten) in [(0, false), (1023, false), (1024, true)] {
        let mut attempts = EventAttempts::default();
        for cluster in 0..=others {
            assert!(attempts.add(&event(cluster, 1)).is_none() && attempts.add(&event(cluster, 9)).is_some());
        }
        assert_eq!(attempts.add(&event(0, 4)).is_some(), is_forgotten, "{others}");
    }
    // Jobs that run are told in their order.
    let mut attempts = EventAttempts::default();
    for cluster in [3, 1, 2] {
        assert!(attempts.add(&event(cluster, 1)).is_none());
    }
    assert!(attempts.add(&event(2, 4)).is_some() && attempts.add(&event(5, 0)).is_none());
    let running: Vec<String> = attempts.running().iter().map(|ad| ad.get_str("Job").unwrap().to_string()).collect();
    assert_eq!(running, ["\"1.0\"", "\"3.0\""]);
    assert!(attempts.running().is_empty());
}
