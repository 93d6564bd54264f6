//! The last rejection of a job's autocluster: HTCondor records it in one job, and it holds for all.

use serde_json::Value as Json;

use crate::binary::{classad, classad_on, file};

const JOBS: &str = "tests/pool/settled/jobs.long.xz";
const SLOTS: &str = "tests/pool/settled/slots.long.xz";

/// A text without the breaks that fold its lines.
fn unwrapped(text: &str) -> String {
    text.replace("\n    ", " ")
}

/// What `explain` says of the last rejection of one job.
fn told(jobs: &str, slots: &str, job: &str, options: &[&str]) -> Option<String> {
    let arguments = [&["explain", jobs, "--pool", slots, "--request", job, "--now", "1795813644"], options].concat();
    let (_, out, errors) = classad(&arguments);
    assert!(!out.is_empty(), "{job}: {errors}");
    let out = unwrapped(&out);
    out.lines().find(|line| line.starts_with("last failed match")).map(str::to_owned)
}

#[test]
fn the_rejection_of_one_job_is_told_for_its_whole_autocluster() {
    let at = "last failed match for this autocluster: 2026-11-27T21:07:18Z, reason: ";
    for (job, expected) in [
        // HTCondor records it in the first of four jobs.
        ("62.0", Some("concurrency limit db reached")),
        ("62.3", Some("concurrency limit db reached")),
        ("37.3", Some("no match found")),
        // A running job was matched since.
        ("46.0", None),
    ] {
        let expected = expected.map(|reason| format!("{at}{reason}"));
        for options in [&[][..], &["--constraint", "ProcId == 3 || ClusterId != 62"], &["--policy", "htcondor"]] {
            if options.is_empty() || job.ends_with(".3") {
                assert_eq!(told(JOBS, SLOTS, job, options), expected, "{job} {options:?}");
            }
        }
    }
    let (_, out, _) =
        classad(&["explain", JOBS, "--pool", SLOTS, "--request", "62.3", "-o", "json", "--now", "1795813644"]);
    let document: Json = serde_json::from_str(&out).expect("this is JSON");
    let job = &document["reports"][0]["job"];
    assert_eq!(job["last_rejection"], "concurrency limit db reached");
    assert_eq!(job["last_rejection_time"], 1_795_813_638);
}

#[test]
fn jobs_that_tell_no_autocluster_share_the_rejection_of_those_that_match_alike() {
    let job = |number: usize, lines: &str| {
        format!(
            "MyType = \"Job\"\nClusterId = 1\nProcId = {number}\nJobStatus = 1\nRequirements = TARGET.Memory >= RequestMemory\n{lines}\n\n"
        )
    };
    let small = "RequestMemory = 100\n";
    let rejected = "LastRejMatchReason = \"no match found\"\nLastRejMatchTime = 1700000000\n";
    let text = "last failed match for this autocluster: 2023-11-14T22:13:20Z, reason: no match found";
    let slots =
        file("rejections-slots", "MyType = \"Machine\"\nName = \"slot1@a\"\nMemory = 50\nRequirements = true\n");
    for (name, queue, expected) in [
        (
            "alike",
            [job(0, &format!("{small}{rejected}")), job(1, small), job(2, "RequestMemory = 200")],
            [true, true, false],
        ),
        // The numbers of autoclusters decide, if jobs have them.
        (
            "numbers",
            [
                job(0, &format!("{small}{rejected}AutoClusterId = 1")),
                job(1, &format!("{small}AutoClusterId = 2")),
                job(2, "RequestMemory = 200\nAutoClusterId = 1"),
            ],
            [true, false, true],
        ),
        (
            "matched since",
            [
                job(0, &format!("{small}{rejected}AutoClusterId = 1")),
                job(1, &format!("{small}AutoClusterId = 1\nLastMatchTime = 1700000001")),
                job(2, &format!("{small}AutoClusterId = 1\nLastMatchTime = 1699999999")),
            ],
            [true, false, true],
        ),
    ] {
        let jobs = file(&format!("rejections-{}", name.replace(' ', "-")), queue.concat());
        for (number, expected) in expected.into_iter().enumerate() {
            let found = told(&jobs, &slots, &format!("1.{number}"), &[]);
            assert_eq!(found.as_deref(), expected.then_some(text), "{name}: job {number}");
        }
        let (_, all, _) = classad_on(&["explain", "--pool", &slots], queue.concat().as_bytes());
        assert!(unwrapped(&all).contains(text), "{name}: {all}");
    }
}
