//! What the ads of jobs tell of their runs, at each bound.

use super::{
    JobCircumstance, JobReader, evicted, failed_starts, held_for_runs, kept, lease, not_gone, put_back, spooling,
    suspended, transfer_queue, without_cpu,
};
use crate::ad::Dialect;
use crate::ad::time::local_moment;
use crate::eval::Context;
use crate::explain::tests::ad;

const NOW: i64 = 1_000_000;

/// Says what is found of a job, and behind `->` what to do.
fn told(find: fn(&JobReader) -> Option<JobCircumstance>, job: &str) -> String {
    let context = Context { now: Some(NOW), ..Context::new(Dialect::Condor) };
    let ad = ad(job);
    let Some(found) = find(&JobReader { ad: &ad, context: &context }) else { return String::new() };
    let told = format!("{} -> {}", found.predicate, found.remedy.unwrap_or_default());
    // The zone is that of the machine.
    let moments = [(NOW - 1, "JUST"), (NOW - 1800, "BEFORE"), (NOW - 3600, "LONG")];
    moments.iter().fold(told, |told, (at, word)| told.replace(&local_moment(*at), word))
}

fn assert_told(find: fn(&JobReader) -> Option<JobCircumstance>, jobs: &[(&str, &str)]) {
    for (job, expected) in jobs {
        let found = told(find, job);
        // What to do is the same where the first row has told it.
        let found = if expected.contains(" -> ") || expected.is_empty() {
            found.as_str()
        } else {
            found.split(" -> ").next().unwrap()
        };
        assert_eq!(found, *expected, "{job}");
    }
}

#[test]
fn starts_that_fail() {
    assert_told(
        failed_starts,
        &[
            ("NumJobStarts = 0", ""),
            ("NumShadowStarts = 2", ""),
            (
                "NumShadowStarts = 3",
                "got a slot 3 times, and its program never began -> see why its starts fail: the log of the job, \
                 ShadowLog of the access point, StarterLog of the slot",
            ),
            ("NumShadowStarts = 3; NumJobStarts = 1", "got a slot 3 times, and its program began only once"),
            ("NumShadowStarts = 3; NumJobStarts = 2", ""),
            ("NumShadowStarts = 4; NumJobStarts = 2", "got a slot 4 times, and its program began only 2 times"),
            ("NumShadowStarts = 4; NumJobStarts = 3", ""),
            (
                "NumShadowStarts = 5; NumJobStarts = 2; VacateReason = \" \"",
                "got a slot 5 times, and its program began only 2 times",
            ),
        ],
    );
}

#[test]
fn ends_after_which_jobs_come_back() {
    assert_told(
        put_back,
        &[
            ("OnExitRemove = false", ""),
            ("ExitCode = 1", ""),
            ("OnExitRemove = true; ExitCode = 1", ""),
            ("OnExitRemove = Lost; ExitCode = 1", ""),
            (
                "OnExitRemove = false; ExitCode = 126",
                "has ended, with exit code 126 (a shell may not run its command), and was put back: OnExitRemove is \
                 false (`false`) -> see from its output and error why its program ends so",
            ),
            (
                "OnExitRemove = false; ExitCode = 134",
                "has ended, with exit code 134 (its program aborted), and was put back: OnExitRemove is false (`false`)",
            ),
            (
                "OnExitRemove = false; ExitCode = 137",
                "has ended, with exit code 137 (its program was killed, perhaps for lack of memory), and was put back: \
                 OnExitRemove is false (`false`)",
            ),
            (
                "OnExitRemove = false; ExitCode = 139",
                "has ended, with exit code 139 (its program read or wrote memory that is not its own), and was put \
                 back: OnExitRemove is false (`false`)",
            ),
            (
                "OnExitRemove = false; ExitCode = 2; ExitSignal = 9",
                "has ended, with exit code 2, and was put back: OnExitRemove is false (`false`)",
            ),
            ("OnExitRemove = false; ExitSignal = 9", ""),
            (
                "OnExitRemove = false; ExitBySignal = true; ExitSignal = 9",
                "has ended, with signal 9, and was put back: OnExitRemove is false (`false`)",
            ),
        ],
    );
}

#[test]
fn files_that_wait() {
    assert_told(
        transfer_queue,
        &[
            ("TransferringOutput = true", ""),
            (
                "TransferQueued = true; TransferInputSizeMB = 1",
                "has waited for its access point to transfer its input (1 MB) -> wait, transfer less, or let other \
                 servers transfer it (URLs); the admin can raise MAX_CONCURRENT_UPLOADS",
            ),
            ("TransferQueued = true; TransferInputSizeMB = 0", "has waited for its access point to transfer its input"),
            (
                "TransferQueued = true; TransferringOutput = true; TransferInputSizeMB = 1; TransferOutQueued = 998200; \
                 TransferInQueued = 1",
                "has waited since BEFORE, for 30 min, for its access point to transfer its output -> wait, transfer \
                 less, or let other servers transfer it (URLs); the admin can raise MAX_CONCURRENT_DOWNLOADS",
            ),
        ],
    );
    assert_told(
        spooling,
        &[
            ("EnteredCurrentStatus = 998200", ""),
            ("HoldReasonCode = 15; EnteredCurrentStatus = 998200", ""),
            ("HoldReasonCode = 16; EnteredCurrentStatus = 998201", ""),
            (
                "HoldReasonCode = 16; EnteredCurrentStatus = 998200; ClusterId = 7; ProcId = 1",
                "has waited for its input files since BEFORE, for 30 min -> remove it, and submit it anew, if they do \
                 not come any more (condor_rm 7.1)",
            ),
        ],
    );
}

#[test]
fn slots_that_are_lost() {
    assert_told(
        lease,
        &[
            ("JobLeaseDuration = 9", ""),
            ("LastJobLeaseRenewal = 999000", ""),
            ("LastJobLeaseRenewal = 999000; JobLeaseDuration = 1000", ""),
            (
                "LastJobLeaseRenewal = 999000; JobLeaseDuration = 999",
                "has a lease that ended 1 s ago, at JUST: its slot may run it no more -> see whether its slot and its \
                 shadow are there; without them it runs again",
            ),
            ("LastJobLeaseRenewal = 9223372036854775807; JobLeaseDuration = 1", ""),
        ],
    );
    assert_told(
        not_gone,
        &[
            ("EnteredCurrentStatus = 996401", ""),
            (
                "EnteredCurrentStatus = 996400",
                "is still in the queue 1 h after it was removed -> see that nothing of it runs any more, then condor_rm -forcex",
            ),
            (
                "EnteredCurrentStatus = 996400; GridResource = \"batch slurm\"; ClusterId = 7; ProcId = 1",
                "is still in the queue 1 h after it was removed: batch slurm does not answer -> see that nothing of it \
                 runs any more, then condor_rm -forcex 7.1",
            ),
            (
                "EnteredCurrentStatus = 996400; GridResource = \"x\"; RemoteHost = \"slot1@a\"",
                "is still in the queue 1 h after it was removed: slot1@a does not answer",
            ),
        ],
    );
}

#[test]
fn runs_that_end_early_and_runs_that_do_nothing() {
    let evicted_of = |runs: &str| format!("has run {runs}, and never to its end");
    assert_eq!(told(evicted, "NumJobStarts = 3").split(" -> ").next().unwrap(), evicted_of("3 times"));
    assert_told(
        evicted,
        &[
            ("NumShadowStarts = 9", ""),
            ("NumJobStarts = 2", ""),
            ("NumJobStarts = 3; NumShadowStarts = 6", ""),
            ("NumJobStarts = 3; NumShadowStarts = 5", "has run 3 times, and never to its end"),
            ("NumJobStarts = 3; NumJobCompletions = 1", ""),
            ("NumJobStarts = 3; NumJobCompletions = 0", "has run 3 times, and never to its end"),
            ("NumJobStarts = 3; ExitCode = 0", ""),
            ("NumJobStarts = 4; RemoteWallClockTime = 4", "has run 4 times, about 1 s each, and never to its end"),
            ("NumJobStarts = 4; RemoteWallClockTime = 3", "has run 4 times, and never to its end"),
        ],
    );
    assert_told(
        held_for_runs,
        &[
            (
                "NumJobStarts = 3; HoldReasonCode = 3; HoldReason = \"it Started too often\"",
                "has run 3 times, and never to its end",
            ),
            ("NumJobStarts = 3; HoldReasonCode = 1; HoldReason = \"it Started too often\"", ""),
            ("NumJobStarts = 3; HoldReasonCode = 3; HoldReason = \"too large\"", ""),
            ("NumJobStarts = 3; HoldReasonCode = 3", ""),
        ],
    );
    assert_told(
        without_cpu,
        &[
            ("JobCurrentStartDate = 978401; RemoteUserCpu = 0", ""),
            (
                "JobCurrentStartDate = 978400; RemoteUserCpu = 0; ClusterId = 7; ProcId = 1",
                "has used 0 s of CPU time in 6 h: its program may hang -> look at it (condor_ssh_to_job 7.1, \
                 condor_tail 7.1); run it elsewhere (condor_vacate_job 7.1) or remove it",
            ),
            ("JobCurrentStartDate = 978400; RemoteUserCpu = 216", ""),
            (
                "JobCurrentStartDate = 978400; RemoteUserCpu = 200; RemoteSysCpu = 15.9",
                "has used 3 min 35 s of CPU time in 6 h: its program may hang",
            ),
            ("JobCurrentStartDate = 978400; RemoteUserCpu = 200; RemoteSysCpu = 16", ""),
            ("JobCurrentStartDate = 978400; RemoteSysCpu = 0", ""),
            ("JobCurrentStartDate = 978400; RemoteUserCpu = 0; JobUniverse = 7", ""),
            ("JobCurrentStartDate = 978400; RemoteUserCpu = 0; JobUniverse = 9", ""),
            ("JobCurrentStartDate = 978400; RemoteUserCpu = 0; JobUniverse = 12", ""),
            (
                "JobCurrentStartDate = 978400; RemoteUserCpu = 0; JobUniverse = 5",
                "has used 0 s of CPU time in 6 h: its program may hang",
            ),
        ],
    );
}

#[test]
fn jobs_that_stay() {
    assert_told(
        suspended,
        &[
            ("TotalSuspensions = 2", ""),
            (
                "EnteredCurrentStatus = 998200; TotalSuspensions = 1; CumulativeSuspensionTime = 0",
                "has been suspended since BEFORE, for 30 min -> wait until its slot resumes it, or run it elsewhere \
                 (condor_vacate_job)",
            ),
            (
                "EnteredCurrentStatus = 1; LastSuspensionTime = 996400; TotalSuspensions = 2; CumulativeSuspensionTime = 1",
                "has been suspended since LONG, for 1 h, 2 times in all, and lost 1 s so",
            ),
        ],
    );
    assert_told(
        kept,
        &[
            ("StageInFinish = 5", ""),
            ("LeaveJobInQueue = 1", ""),
            (
                "LeaveJobInQueue = true; ClusterId = 7",
                "stays in the queue as long as LeaveJobInQueue is true -> remove it if it need not stay (condor_rm)",
            ),
            (
                "LeaveJobInQueue = true; StageInFinish = 5; ClusterId = 7; ProcId = 1",
                "stays in the queue as long as LeaveJobInQueue is true -> fetch its output (condor_transfer_data 7.1), \
                 then remove it (condor_rm 7.1)",
            ),
        ],
    );
}
