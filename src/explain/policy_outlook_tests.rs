//! What policies will do to jobs, in words.

use super::job_outlook::{JobOutlook, OutlookKind};
use super::report_tests::assert_document;
use super::{AdReference, SummaryWriter};
use crate::ad::Dialect;
use crate::configuration::{Configuration, JobPolicies};
use crate::eval::Context;
use crate::syntax::{ParseOptions, parse_ad};

/// Returns what is said of a job at the second 1000, of 1970 in UTC.
fn told(job: &str) -> String {
    let (configuration, _) = Configuration::read(b"SYSTEM_PERIODIC_HOLD = Big && NumJobStarts > 2\n");
    let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
    let (policies, _) = JobPolicies::read(&configuration, &context);
    let ad = parse_ad(format!("[ {job} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let names = |ad: AdReference| format!("{ad:?}");
    let writer = SummaryWriter {
        subject: "job",
        is_plural: false,
        nouns: ["slot", "slots"],
        names: &names,
        dialect: Dialect::Condor,
        max_clause_chars: 60,
        brevity: 0,
    };
    let writer = writer.policies();
    let Some(outlook) = JobOutlook::new(&policies, &ad, 60, &context) else { return String::new() };
    let imminent = writer.imminent(&outlook).into_iter();
    let told: Vec<String> = imminent.chain(writer.lines(&outlook, false)).chain(writer.remedies(&outlook)).collect();
    // The zone is that of the machine.
    told.join(" | ")
        .replace(&crate::ad::time::local_moment(1600), "AT")
        .replace(&crate::ad::time::local_moment(1300), "THEN")
        .replace(&crate::ad::time::local_moment(1001), "SOON")
        .replace(&crate::ad::time::local_moment(1000), "NOW")
}

/// Jobs that no policy watches any more have one kind.
#[test]
fn kinds_of_outlooks() {
    let (configuration, _) = Configuration::read(b"SYSTEM_PERIODIC_HOLD = Big && NumJobStarts > 2\n");
    let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
    let (policies, _) = JobPolicies::read(&configuration, &context);
    let kind = |job: &str| {
        let ad = parse_ad(format!("[ {job} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        JobOutlook::kind(&policies, &ad, &context)
    };
    let removed = kind("JobStatus = 3; PeriodicHold = true");
    assert_eq!(removed, kind("JobStatus = 3"));
    assert_eq!(removed, OutlookKind::default());
    let held = kind("JobStatus = 1; PeriodicHold = true");
    assert_ne!(held, removed);
    assert_eq!(held, kind("JobStatus = 1; PeriodicHold = 1 < 2"));
    assert_ne!(held, kind("JobStatus = 1; PeriodicHold = false"));
    assert_ne!(held, kind("JobStatus = 1; PeriodicRemove = true"));
    // A policy without a value is another kind than one that is false.
    assert_ne!(kind("JobStatus = 1; PeriodicHold = x > 1"), kind("JobStatus = 1; PeriodicHold = false"));
}

#[test]
fn what_policies_will_do() {
    let quiet = "SYSTEM_PERIODIC_HOLD is not true, and not by the clock alone";
    for (job, expected) in [
        ("JobStatus = 3; PeriodicHold = true", ""),
        ("JobStatus = 1; PeriodicHold = false; PeriodicRemove = false; OnExitRemove = true", quiet),
        (
            "JobStatus = 1; NumJobStarts = 1; PeriodicHold = JobStatus == 2 || NumJobStarts >= 1 && JobStatus == 1",
            "job will be held within 1 min (code 3): PeriodicHold is true: `NumJobStarts >= 1 && JobStatus == 1` | QUIET | \
             change PeriodicHold to keep it from being held",
        ),
        (
            "JobStatus = 1; NumJobStarts = 3; Big = true",
            "job will be held within 1 min (code 26): SYSTEM_PERIODIC_HOLD is true: `Big && NumJobStarts > 2` | ask the \
             administrator of the access point about SYSTEM_PERIODIC_HOLD, line 1 of the configuration",
        ),
        (
            "JobStatus = 1; QDate = 1000; PeriodicRemove = Old || time() - QDate >= 600; Old = NumJobStarts > 9; NumJobStarts = 0",
            "PeriodicRemove is true from AT on, in 10 min: `time() - QDate >= 600`: it will be removed then | QUIET",
        ),
        (
            "JobStatus = 2; PeriodicRemove = JobStatus == 2 && Usage > 5; Usage = ResidentSetSize / 1024",
            "PeriodicRemove is undefined, as ResidentSetSize is not defined, and counts as false (HTCondor before 9.5 held such a \
             job) | QUIET",
        ),
        // A week has too many pieces of ten seconds: it is sampled, but the near ones are exact.
        (
            "JobStatus = 1; QDate = 1000; PeriodicRemove = time() - QDate > 295 && time() % 10 < 1",
            "PeriodicRemove is true from THEN on, in 5 min: `time() - QDate > 295 && time() % 10 < 1`: it will be removed then | \
             QUIET",
        ),
        (
            "JobStatus = 2; QDate = 1000; PeriodicRemove = Usage > 5 && time() - QDate >= 600; Usage = ResidentSetSize / 1024",
            "PeriodicRemove depends on ResidentSetSize from AT on, in 10 min: not defined in this ad | QUIET",
        ),
        (
            "JobStatus = 2; PeriodicHold = \"a\" * 2 > 1",
            "PeriodicHold is an error (`\"a\" * 2 > 1`) and counts as false | QUIET",
        ),
        (
            "JobStatus = 5; HoldReasonCode = 3; EnteredCurrentStatus = 900; PeriodicRelease = time() - EnteredCurrentStatus > 60; \
             PeriodicHold = true",
            "job will be released within 1 min: PeriodicRelease is true: `time() - EnteredCurrentStatus > 60` | then it will be \
             held at the evaluation after that, by PeriodicHold (code 3) | then it will be released again 1 min 1 s later, by \
             PeriodicRelease, and so on | wait: PeriodicRelease releases it within 1 min",
        ),
        ("JobStatus = 5; HoldReasonCode = 1; PeriodicRelease = true", ""),
        (
            "JobStatus = 2; ShadowBday = 700; AllowedJobDuration = 600",
            "AllowedJobDuration is over from THEN on, in 5 min: it will be held then (code 46) | QUIET",
        ),
        (
            "JobStatus = 2; OnExitHold = NumJobStarts < 3 && ExitCode != 0; NumJobStarts = 1; ExitBySignal = false",
            "OnExitHold: it will be held when its run ends, if `ExitCode != 0` | QUIET",
        ),
        (
            "JobStatus = 2; OnExitRemove = ExitCode == 0; TimerRemove = NoSuchTime",
            "job will be held within 1 min (code 5): TimerRemove has no value | OnExitRemove: it runs again when its run ends, unless \
             `ExitCode == 0` | QUIET | change TimerRemove to keep it from being held",
        ),
    ] {
        let expected = expected.replace("QUIET", quiet);
        assert_eq!(told(job), expected, "{job}");
    }
}

#[test]
fn what_policies_will_do_is_as_the_document_has_it() {
    let tell = |job: &str, _: &[&str]| format!("| {}\n", told(job));
    assert_document("policy_outlook_tests.txt", include_str!("policy_outlook_tests.txt"), tell);
}
