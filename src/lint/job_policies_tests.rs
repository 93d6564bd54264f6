//! Policies and requests of jobs that are undefined or hit every job, and those that are right.

use super::tests::checker;
use super::{LintFinding, check_system_policy};
use crate::ad::{Dialect, Name};
use crate::eval::Context;
use crate::syntax::{ParseOptions, Style, expression_text, parse_ad, parse_expression};

/// What `condor_submit` of 25.14.1 writes into each job.
const SUBMITTED: &str = "MyType = \"Job\"; ClusterId = 1; JobUniverse = 5; JobStatus = 1; QDate = 1750000000; \
    EnteredCurrentStatus = 1750000000; NumJobStarts = 0; NumRestarts = 0; NumSystemHolds = 0; NumJobCompletions = 0; \
    RemoteWallClockTime = 0.0; RemoteUserCpu = 0.0; RemoteSysCpu = 0.0; CumulativeRemoteUserCpu = 0.0; DiskUsage = 47; \
    ImageSize = 47; ExitStatus = 0; ExitBySignal = false; RequestMemory = 2048; RequestCpus = 1; Requirements = true; ";

fn found(job: &str) -> Vec<LintFinding> {
    let ad = parse_ad(format!("[ {SUBMITTED}{job} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let found = checker(Dialect::Condor).check(&ad).into_iter().map(|(_, finding)| finding);
    let rules = ["policy-of-all", "undefined-policy", "early-policy", "undefined-request", "zero-request"];
    found.filter(|finding| rules.contains(&finding.rule.name)).collect()
}

#[test]
fn policies_that_hit_every_job_are_found() {
    for (job, expected) in [
        ("PeriodicHold = true", "PeriodicHold is true for every job that waits: each is held"),
        ("PeriodicRemove = JobStatus == 1", "PeriodicRemove is true for every job that waits: each is removed"),
        ("PeriodicHold = JobStatus == 2", "PeriodicHold is true for every job that runs: each is held"),
        (
            "PeriodicHold = JobStatus =?= 2 && NumJobStarts > 0",
            "PeriodicHold is true for every job that runs: each is held",
        ),
        ("PeriodicRemove = NumJobStarts >= 1", "PeriodicRemove is true for every job that runs: each is removed"),
        (
            "PeriodicRemove = time() - EnteredCurrentStatus > 0",
            "PeriodicRemove is true for every job that waits: each is removed",
        ),
        ("PeriodicRemove = Limit > 3; Limit = 5", "PeriodicRemove is true for every job that waits: each is removed"),
        (
            "PeriodicVacate = time() - JobCurrentStartDate >= 60",
            "PeriodicVacate is true for every job that runs: each is taken from its slot, again and again",
        ),
        ("PeriodicRelease = true", "PeriodicRelease is true for every held job: no hold lasts but that of its owner"),
        (
            "PeriodicRelease = JobStatus == 5",
            "PeriodicRelease is true for every held job: no hold lasts but that of its owner",
        ),
        ("OnExitRemove = false", "OnExitRemove is false for a job that succeeds: it runs again each time"),
        ("OnExitRemove = ExitCode =!= 0", "OnExitRemove is false for a job that succeeds: it runs again each time"),
        ("OnExitHold = ExitCode =?= 0", "OnExitHold is true for a job that succeeds: each is held at its end"),
        ("OnExitHold = true", "OnExitHold is true for a job that succeeds: each is held at its end"),
    ] {
        let messages: Vec<String> = found(job).into_iter().map(|finding| finding.message).collect();
        assert_eq!(messages, [expected], "{job}");
    }
}

#[test]
fn undefined_policies_and_requests_are_found() {
    for (job, rule, message, help) in [
        (
            "PeriodicRemove = MaxHours * 3600 < time() - QDate",
            "undefined-policy",
            "PeriodicRemove is undefined, which counts as false: this job has no MaxHours",
            "set MaxHours when the job is submitted, or write `isUndefined(MaxHours)` for a job without it",
        ),
        (
            "PeriodicHold = JobStatus == 5 || JobStatus == 2 && MemoryUsag > 4096",
            "undefined-policy",
            "PeriodicHold is undefined, which counts as false: this job has no MemoryUsag",
            "did you mean MemoryUsage?",
        ),
        (
            "PeriodicRelease = HoldReasonCode == 34 && TARGET.NumHolds < 3",
            "undefined-policy",
            "PeriodicRelease is evaluated without a slot, so that TARGET.NumHolds is undefined",
            "write `NumHolds`",
        ),
        (
            "PeriodicRelease = HoldReasonCode == 34 && Retry < 3",
            "undefined-policy",
            "PeriodicRelease is undefined, which counts as false: this job has no Retry",
            "set Retry when the job is submitted, or write `isUndefined(Retry)` for a job without it",
        ),
        (
            "PeriodicHold = MemoryUsage > Memory",
            "undefined-policy",
            "PeriodicHold is undefined, which counts as false: this job has no Memory",
            "Memory is an attribute of slots; `job_machine_attrs` copies it to the job",
        ),
        (
            "OnExitHold = ExitCode != 0",
            "undefined-policy",
            "OnExitHold is undefined for a job that a signal ends, which has no ExitCode: the job is not held",
            "write `ExitCode =!= 0`",
        ),
        (
            "OnExitRemove = ExitCode == 0 || NumJobStarts > 3",
            "undefined-policy",
            "OnExitRemove is undefined for a job that a signal ends, which has no ExitCode: the job leaves the queue",
            "write `ExitCode =?= 0`",
        ),
        (
            "PeriodicHold = JobStatus == 2 && MemoryUsage > RequestMemory",
            "early-policy",
            "PeriodicHold is undefined, which counts as false, until the job has MemoryUsage",
            "HTCondor sets it with the first update of a run, and before 9.5 held such jobs; to be exact, write `(MemoryUsage ?: 0)`",
        ),
        (
            "PeriodicRemove = JobStatus == 2 && ResidentSetSize > 1e6",
            "early-policy",
            "PeriodicRemove is undefined, which counts as false, until the job has ResidentSetSize",
            "HTCondor sets it with the first update of a run, and before 9.5 held such jobs; to be exact, write `(ResidentSetSize ?: 0)`",
        ),
        (
            "PeriodicRemove = CompletionDate > 0",
            "early-policy",
            "PeriodicRemove is undefined, which counts as false, until the job has CompletionDate",
            "HTCondor sets it when a run ends, and before 9.5 held such jobs; to be exact, write `(CompletionDate ?: 0)`",
        ),
        (
            "RequestMemory = MemoryUsage * 3 / 2",
            "undefined-request",
            "RequestMemory is undefined: this job has no MemoryUsage",
            "give it a value without MemoryUsage, as in `(...) ?: 2048`",
        ),
        (
            "JobUniverse = 9; RequestCpus = TARGET.TotalCpus",
            "undefined-request",
            "RequestCpus is undefined: a job of the grid universe gets no slot with TotalCpus",
            "give it a value without a slot, as in `(...) ?: 1`",
        ),
        (
            "RequestMemory = NumJobStarts * 1024",
            "zero-request",
            "RequestMemory is 0 in this job: ask for as much as the job needs",
            "ask for as much as the job needs",
        ),
    ] {
        let found: Vec<LintFinding> = found(job);
        let shown: Vec<[&str; 3]> = found.iter().map(|one| [one.rule.name, &*one.message, &*one.help]).collect();
        assert_eq!(shown, [[rule, message, help]], "{job}");
    }
}

/// Usual policies: of the manual, CRAB, `WMCore`, HTCondor-CE, `PyCBC` and Pegasus.
#[test]
fn healthy_policies_are_left_alone() {
    for job in [
        "PeriodicHold = false; PeriodicRelease = false; PeriodicRemove = false; OnExitHold = false; OnExitRemove = true",
        "PeriodicHold = NumJobStarts >= 1 && JobStatus == 1",
        "PeriodicHold = NumJobStarts > 3",
        "PeriodicRelease = HoldReasonCode == 13",
        "PeriodicRelease = (HoldReasonCode =?= 34) && (RequestMemory < 100)",
        "PeriodicRelease = (NumJobStarts < 5) && ((CurrentTime - EnteredCurrentStatus) > 180)",
        "PeriodicRelease = NumHolds < 5",
        "PeriodicRemove = (JobStatus == 2) && (time() - EnteredCurrentStatus > 3600)",
        "PeriodicRemove = JobStatus == 5 && time() - EnteredCurrentStatus > 600",
        "PeriodicRemove = JobStatus == 5",
        "PeriodicRemove = (time() - QDate) > 7 * 86400",
        "PeriodicRemove = JobStatus == 1 && NumJobStarts > 0",
        "PeriodicRemove = time() - JobCurrentStartDate > 86400",
        "PeriodicRemove = NumJobStarts > 5 || NumHolds > 3",
        "PeriodicRemove = x509UserProxyExpiration =!= undefined && time() > x509UserProxyExpiration; x509UserProxyExpiration = 1750090000",
        "PeriodicRemove = JobStatus =?= 2 && (DiskUsage > 100000000 || MaxWallTimeMins * 60 < time() - EnteredCurrentStatus); MaxWallTimeMins = 1300",
        "PeriodicHold = (MemoryUsage ?: 0) > 4096 || isUndefined(MemoryUsage) && false",
        "PeriodicHold = MemoryUsage =!= undefined && MemoryUsage > 4096",
        "PeriodicHold = MemoryUsage > 4096; MemoryUsage = ((ResidentSetSize ?: 0) + 1023) / 1024",
        "PeriodicVacate = time() - JobCurrentStartDate > 86400",
        "OnExitRemove = (ExitBySignal == false) && (ExitCode == 0)",
        "OnExitRemove = (ExitBySignal == false) && (ExitCode == 0 || NumJobStarts > 3)",
        "OnExitRemove = NumJobCompletions > JobMaxRetries || ExitCode =?= 0; JobMaxRetries = 3",
        "OnExitRemove = ExitCode =?= JobSuccessExitCode; JobSuccessExitCode = 3",
        "OnExitRemove = (ExitSignal =?= 11 || (ExitCode =!= undefined && ExitCode >= 0 && ExitCode <= 2))",
        "OnExitRemove = false; CronMinute = \"0\"",
        "OnExitHold = (ExitBySignal == true) || (ExitCode != 0)",
        "OnExitHold = ExitCode =!= 0",
        "OnExitHold = ExitSignal == 11",
        "RequestMemory = ifThenElse(MemoryUsage isnt undefined, MemoryUsage * 3 / 2, 2048)",
        "RequestCpus = TARGET.TotalCpus",
        "RequestCpus = ifThenElse(NumJobStarts > 0, 2, 1)",
        "RequestDisk = DiskUsage",
        "JobUniverse = 9; RequestCpus = 8; RequestMemory = OriginalMemory; OriginalMemory = 16000",
        "RequestGPUs = 1 - RequestCpus",
        "MyType = \"Machine\"; PeriodicHold = true; RequestMemory = Foo",
    ] {
        let found: Vec<String> = found(job).into_iter().map(|finding| finding.message).collect();
        assert_eq!(found, [""; 0], "{job}");
    }
}

#[test]
fn policies_are_corrected() {
    for (job, name, expected) in [
        (
            "PeriodicHold = JobStatus == 2 && MemoryUsage > 5",
            "PeriodicHold",
            "JobStatus == 2 && (MemoryUsage ?: 0) > 5",
        ),
        ("OnExitHold = ExitCode != 0", "OnExitHold", "ExitCode =!= 0"),
        ("OnExitRemove = ExitCode =!= 0", "OnExitRemove", "!(ExitCode =!= 0)"),
        (
            "PeriodicRelease = HoldReasonCode == 34 && TARGET.NumHolds < 3",
            "PeriodicRelease",
            "HoldReasonCode == 34 && NumHolds < 3",
        ),
        // With 0 for what is missing, the policy would be true.
        ("PeriodicHold = JobStatus == 2 && MemoryUsage < 5", "PeriodicHold", ""),
        ("PeriodicHold = true", "PeriodicHold", ""),
    ] {
        let found = found(job);
        let ad = parse_ad(format!("[ {job} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let whole = ad.get_str(name).unwrap();
        let fixed = found.iter().find_map(|finding| {
            let fix = finding.fix.as_ref().filter(|fix| !fix.keeps_values)?;
            let of = |text: &str| {
                parse_ad(format!("[ {SUBMITTED}{text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
            };
            let job = of(job);
            let again =
                super::AdChecker::new(crate::protocol::Protocol::new(Dialect::Condor), &Context::new(Dialect::Condor))
                    .check(&job);
            let fix = again.iter().find(|one| one.message == finding.message)?.fix.clone().or(Some(fix.clone()))?;
            fix.corrected(job.get_str(name)?)
        });
        let fixed = fixed.map(|fixed| expression_text(&fixed, Style::Long)).unwrap_or_default();
        assert_eq!(fixed, expected, "{job}: {whole:?}");
    }
}

#[test]
fn policies_of_a_configuration_that_hit_every_job_are_found() {
    for (knob, policy, is_found) in [
        ("SYSTEM_PERIODIC_HOLD", "JobStatus == 2", true),
        ("SYSTEM_PERIODIC_REMOVE", "time() - QDate > 0", true),
        ("SYSTEM_PERIODIC_RELEASE_a", "JobStatus == 5", true),
        ("SYSTEM_PERIODIC_HOLD", "MemoryUsage > 1.2 * RequestMemory", false),
        ("SYSTEM_PERIODIC_HOLD", "JobStatus != 3 && x509UserProxyExpiration < time()", false),
        ("SYSTEM_PERIODIC_RELEASE", "NumJobStarts < 3", false),
        // What a job may have or not.
        (
            "SYSTEM_PERIODIC_HOLD",
            "x509userproxysubject =?= UNDEFINED || x509UserProxyExpiration =!= UNDEFINED && time() > x509UserProxyExpiration",
            false,
        ),
        ("SYSTEM_PERIODIC_HOLD", "Site != \"a\" || isUndefined(Site)", false),
        (
            "SYSTEM_PERIODIC_REMOVE",
            "EnteredCurrentStatus - JobCurrentStartDate > maxWalltime is undefined ? 4320 * 60 : maxWalltime * 60",
            true,
        ),
        ("SYSTEM_PERIODIC_HOLD_REASON", "true", false),
        ("START", "true", false),
    ] {
        let expression = parse_expression(policy.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let found = check_system_policy(&Name::new(knob), &expression, &Context::new(Dialect::Condor));
        assert_eq!(found.is_some(), is_found, "{knob} = {policy}: {found:?}");
    }
}
