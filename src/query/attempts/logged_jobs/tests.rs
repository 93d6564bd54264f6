use crate::ad::{Ad, Dialect};
use crate::format::{FileFormat, read};
use crate::query::JobEvent;

use super::LoggedJobs;

/// The number of an event, which is also its second, its job and the rest of its text.
type Event<'t> = (u16, &'t str, &'t str);

/// Returns the jobs of a log `my.log` that is read at second 9.
fn jobs(events: &[Event<'_>]) -> Vec<Ad> {
    let line = |(number, job, text): &Event<'_>| {
        format!("{number:03} ({job}.000) 2026-09-01 10:00:{number:02}Z {text}\n...\n")
    };
    let log: String = events.iter().map(line).collect();
    let mut jobs = LoggedJobs::at(9);
    for entry in read(log.as_bytes(), FileFormat::EventLog, Dialect::Condor).flatten() {
        jobs.add(&JobEvent::of(&entry.ad).unwrap(), "my.log");
    }
    jobs.into_ads().collect()
}

#[test]
fn a_job_has_what_its_submission_tells_and_what_htcondor_takes_for_the_rest() {
    let names =
        "ClusterId ProcId UserLog QDate ServerTime Owner Cmd JobStatus JobPrio RemoteUserCpu RemoteWallClockTime";
    let shown = |ad: &Ad| {
        let value = |name| ad.get_str(name).map_or("-".to_owned(), ToString::to_string);
        names.split(' ').map(value).collect::<Vec<_>>().join(" ")
    };
    let submitted = (0, "001.000", "Job submitted from host: <a>");
    for (events, expected) in [
        (&[submitted][..], &["1 0 \"my.log\" 1788256800 9 \"???\" \"???\" 1 0 0.0 0.0"][..]),
        (&[submitted, (12, "001.000", "Job was held.")], &["1 0 \"my.log\" 1788256800 9 \"???\" \"???\" 5 0 0.0 0.0"]),
        // The submission of the second job is in another log.
        (
            &[submitted, (9, "001.001", "Job was aborted.")],
            &["1 0 \"my.log\" 1788256800 9 \"???\" \"???\" 1 0 0.0 0.0", "1 1 - - - - - 3 - - -"],
        ),
        (&[], &[]),
    ] {
        assert_eq!(jobs(events).iter().map(shown).collect::<Vec<_>>(), expected, "{events:?}");
    }
}

/// Returns what the last event changes in the ad of a job: what is new or has another value.
fn changed(events: &[Event<'_>]) -> String {
    let before = jobs(&events[..events.len() - 1]);
    let (before, after) = (before.first().cloned().unwrap_or_default(), jobs(events).remove(0));
    let new = after.iter().filter(|one| before.get(one.name) != Some(one.expression));
    let new = new.map(|one| format!("{} = {}", one.name, one.expression));
    let gone = before.iter().filter(|one| after.get(one.name).is_none()).map(|one| format!("-{}", one.name));
    new.chain(gone).collect::<Vec<_>>().join("; ")
}

const JOB: &str = "001.000";
const SUBMITTED: Event<'_> = (0, JOB, "Job submitted from host: <a>");
const STARTED: Event<'_> = (1, JOB, "Job executing on host: <b>");
const HELD: Event<'_> = (12, JOB, "Job was held.\n\tno disk\n\tCode 21 Subcode 3");
const ENDED: &str = "Job terminated.\n\t(1) Normal termination (return value 3)\n\t\tUsr 0 00:00:07, Sys 0 \
00:00:02  -  \
                     Run Remote Usage\n\t\tUsr 0 00:01:07, Sys 0 00:00:03  -  Total Remote Usage";

#[test]
fn starts_and_ends_change_the_job_as_the_schedd_does() {
    for (events, expected) in [
        (
            &[SUBMITTED][..],
            "MyType = \"Job\"; TargetType = \"Machine\"; ClusterId = 1; ProcId = 0; UserLog = \"my.log\"; QDate = \
             1788256800; GlobalJobId = \"localhost#1.0#1788256800\"; ServerTime = 9; Owner = \"???\"; Cmd = \
            \"???\"; LastJobStatus = 0; JobPrio = 0; ImageSize = 0; LastSuspensionTime = 0; CompletionDate = 0; \
            NumJobStarts = 0; TotalSuspensions = 0; NumSystemHolds = 0; LocalUserCpu = 0.0; RemoteUserCpu = 0.0; \
            LocalSysCpu = 0.0; RemoteSysCpu = 0.0; RemoteWallClockTime = 0.0; SubmitHost = \"<a>\"; EventTime = \
            \"2026-09-01T10:00:00Z\"; LastEvent = \"SubmitEvent\"; JobStatus = 1; EnteredCurrentStatus = \
            1788256800",
        ),
        (
            &[SUBMITTED, STARTED],
            "LastJobStatus = 1; NumJobStarts = 1; EventTime = \"2026-09-01T10:00:01Z\"; LastEvent = \
             \"ExecuteEvent\"; JobStatus = 2; EnteredCurrentStatus = 1788256801; ExecuteHost = \"<b>\"; \
            JobCurrentStartDate = 1788256801; StartdIpAddr = \"<b>\"; RemoteHost = \"<b>\"",
        ),
        (
            &[SUBMITTED, STARTED, (4, JOB, "Job was evicted.\n\t(0) Job was not checkpointed.\n\tReason: preempted")],
            "LastJobStatus = 2; EventTime = \"2026-09-01T10:00:04Z\"; LastEvent = \"JobEvictedEvent\"; JobStatus \
             = 1; EnteredCurrentStatus = 1788256804; Checkpointed = false; TerminatedAndRequeued = false; \
            TerminatedNormally = false; Reason = \"preempted\"; LastVacateTime = 1788256804; LastVacateReason = \
            \"preempted\"; WallSeconds = 3; WastedSeconds = 3",
        ),
        (
            &[SUBMITTED, STARTED, (4, JOB, "Job was evicted.\n\t(0) Job was not checkpointed.")],
            "LastJobStatus = 2; EventTime = \"2026-09-01T10:00:04Z\"; LastEvent = \"JobEvictedEvent\"; JobStatus \
             = 1; EnteredCurrentStatus = 1788256804; Checkpointed = false; TerminatedAndRequeued = false; \
            TerminatedNormally = false; LastVacateTime = 1788256804; LastVacateReason = \"\"; WallSeconds = 3; \
            WastedSeconds = 3",
        ),
        (
            &[SUBMITTED, STARTED, (5, JOB, ENDED)],
            "LastJobStatus = 2; CompletionDate = 1788256805; RemoteUserCpu = 67.0; RemoteSysCpu = 3.0; \
             RemoteWallClockTime = 4.0; EventTime = \"2026-09-01T10:00:05Z\"; LastEvent = \"JobTerminatedEvent\"; \
            JobStatus = 4; EnteredCurrentStatus = 1788256805; TerminatedNormally = true; ReturnValue = 3; \
            RunRemoteUsage = \"Usr 0 00:00:07, Sys 0 00:00:02\"; TotalRemoteUsage = \"Usr 0 00:01:07, Sys 0 \
            00:00:03\"; LastRemoteHost = \"<b>\"; ExitBySignal = false; ExitCode = 3; LastRemoteUserCpu = 7.0; \
            LastRemoteSysCpu = 2.0; LastRemoteWallClockTime = 4.0; WallSeconds = 4; WastedSeconds = 0; -RemoteHost",
        ),
        (
            &[SUBMITTED, STARTED, (5, JOB, "Job terminated.\n\t(0) Abnormal termination (signal 9)")],
            "LastJobStatus = 2; CompletionDate = 1788256805; RemoteWallClockTime = 4.0; EventTime = \
             \"2026-09-01T10:00:05Z\"; LastEvent = \"JobTerminatedEvent\"; JobStatus = 4; EnteredCurrentStatus = \
            1788256805; TerminatedNormally = false; TerminatedBySignal = 9; LastRemoteHost = \"<b>\"; \
            ExitBySignal = true; ExitSignal = 9; LastRemoteWallClockTime = 4.0; WallSeconds = 4; WastedSeconds = \
            0; -RemoteHost",
        ),
        (
            &[SUBMITTED, (5, JOB, ENDED)],
            "LastJobStatus = 1; CompletionDate = 1788256805; RemoteUserCpu = 67.0; RemoteSysCpu = 3.0; EventTime \
             = \"2026-09-01T10:00:05Z\"; LastEvent = \"JobTerminatedEvent\"; JobStatus = 4; EnteredCurrentStatus \
            = 1788256805; TerminatedNormally = true; ReturnValue = 3; RunRemoteUsage = \"Usr 0 00:00:07, Sys 0 \
            00:00:02\"; TotalRemoteUsage = \"Usr 0 00:01:07, Sys 0 00:00:03\"; ExitBySignal = false; ExitCode = \
            3; LastRemoteUserCpu = 7.0; LastRemoteSysCpu = 2.0",
        ),
        (
            &[
                SUBMITTED,
                STARTED,
                (
                    6,
                    JOB,
                    "Image size of job updated: 70\n\t3  -  MemoryUsage of job (MB)\n\t2500  -  ResidentSetSize \
                     of job (KB)",
                ),
            ],
            "ImageSize = 70; EventTime = \"2026-09-01T10:00:06Z\"; Size = 70; MemoryUsage = 3; ResidentSetSize = \
             2500; ProportionalSetSize = -1",
        ),
        (
            &[SUBMITTED, STARTED, (6, JOB, "Image size of job updated: 70")],
            "ImageSize = 70; EventTime = \"2026-09-01T10:00:06Z\"; Size = 70; ResidentSetSize = 0; \
             ProportionalSetSize = -1",
        ),
    ] {
        let last = events[events.len() - 1].2;
        assert_eq!(changed(events), expected, "{:?}", (events.len(), last));
    }
}

/// Events, and what the last one changes.
const OTHER_EVENTS: &[(&[Event<'_>], &str)] = &[
    (
        &[SUBMITTED, STARTED, (7, JOB, "Shadow exception!\n\tlost it")],
        "LastJobStatus = 2; EventTime = \"2026-09-01T10:00:07Z\"; LastEvent = \"ShadowExceptionEvent\"; \
             JobStatus = 1; EnteredCurrentStatus = 1788256807; Message = \"lost it\"; LastVacateReason = \"lost \
            it\"; WallSeconds = 6; WastedSeconds = 6",
    ),
    (
        &[SUBMITTED, (9, JOB, "Job was aborted.\n\tby ann")],
        "LastJobStatus = 1; EventTime = \"2026-09-01T10:00:09Z\"; LastEvent = \"JobAbortedEvent\"; JobStatus \
             = 3; EnteredCurrentStatus = 1788256809; Reason = \"by ann\"; RemoveReason = \"by ann\"",
    ),
    (
        &[SUBMITTED, (9, JOB, "Job was aborted.")],
        "LastJobStatus = 1; EventTime = \"2026-09-01T10:00:09Z\"; LastEvent = \"JobAbortedEvent\"; JobStatus \
             = 3; EnteredCurrentStatus = 1788256809",
    ),
    (
        &[SUBMITTED, STARTED, (10, JOB, "Job was suspended.\n\tNumber of processes actually suspended: 2")],
        "LastJobStatus = 2; LastSuspensionTime = 1788256810; TotalSuspensions = 1; EventTime = \
             \"2026-09-01T10:00:10Z\"; LastEvent = \"JobSuspendedEvent\"; JobStatus = 7; EnteredCurrentStatus = \
            1788256810; NumberOfPIDs = 2",
    ),
    (
        &[SUBMITTED, STARTED, (11, JOB, "Job was unsuspended.")],
        "LastJobStatus = 2; EventTime = \"2026-09-01T10:00:11Z\"; LastEvent = \"JobUnsuspendedEvent\"; \
             EnteredCurrentStatus = 1788256811",
    ),
    (
        &[SUBMITTED, HELD],
        "LastJobStatus = 1; NumSystemHolds = 1; EventTime = \"2026-09-01T10:00:12Z\"; LastEvent = \
             \"JobHeldEvent\"; JobStatus = 5; EnteredCurrentStatus = 1788256812; HoldReasonCode = 21; \
            HoldReasonSubCode = 3; HoldReason = \"no disk\"",
    ),
    (
        &[SUBMITTED, STARTED, HELD],
        "LastJobStatus = 2; NumSystemHolds = 1; EventTime = \"2026-09-01T10:00:12Z\"; LastEvent = \
             \"JobHeldEvent\"; JobStatus = 5; EnteredCurrentStatus = 1788256812; HoldReasonCode = 21; \
            HoldReasonSubCode = 3; HoldReason = \"no disk\"; LastVacateTime = 1788256812; LastVacateReason = \"no \
            disk\"; WallSeconds = 11; WastedSeconds = 11",
    ),
    (
        &[SUBMITTED, STARTED, (12, JOB, "Job was held.\n\tby ann\n\tCode 1 Subcode 0")],
        "LastJobStatus = 2; EventTime = \"2026-09-01T10:00:12Z\"; LastEvent = \"JobHeldEvent\"; JobStatus = \
             5; EnteredCurrentStatus = 1788256812; HoldReasonCode = 1; HoldReasonSubCode = 0; HoldReason = \"by \
            ann\"; LastVacateTime = 1788256812; LastVacateReason = \"by ann\"; WallSeconds = 11; WastedSeconds = \
            11",
    ),
    (
        &[SUBMITTED, HELD, (13, JOB, "Job was released.\n\tby ann")],
        "LastJobStatus = 5; EventTime = \"2026-09-01T10:00:13Z\"; LastEvent = \"JobReleaseEvent\"; JobStatus \
             = 1; EnteredCurrentStatus = 1788256813; Reason = \"by ann\"; ReleaseReason = \"by ann\"",
    ),
    (
        &[SUBMITTED, HELD, (13, JOB, "Job was released.")],
        "LastJobStatus = 5; EventTime = \"2026-09-01T10:00:13Z\"; LastEvent = \"JobReleaseEvent\"; JobStatus \
             = 1; EnteredCurrentStatus = 1788256813",
    ),
    (
        &[
            SUBMITTED,
            STARTED,
            (
                22,
                JOB,
                "Job disconnected, attempting to reconnect\n    Socket closed\n    Trying to reconnect to \
                     slot1@b <b>",
            ),
        ],
        "EventTime = \"2026-09-01T10:00:22Z\"; LastEvent = \"JobDisconnectedEvent\"; EventDescription = \"Job \
             disconnected, attempting to reconnect\"; DisconnectReason = \"Socket closed\"; StartdName = \
            \"slot1@b\"; StartdAddr = \"<b>\"",
    ),
    (
        &[
            SUBMITTED,
            STARTED,
            (
                24,
                JOB,
                "Job reconnection failed\n    lease expired\n    Can not reconnect to slot1@b, rescheduling \
                     job",
            ),
        ],
        "LastJobStatus = 2; EventTime = \"2026-09-01T10:00:24Z\"; LastEvent = \"JobReconnectFailedEvent\"; \
             JobStatus = 1; EnteredCurrentStatus = 1788256824; EventDescription = \"Job reconnect impossible: \
            rescheduling job\"; Reason = \"lease expired\"; StartdName = \"slot1@b\"; LastVacateTime = \
            1788256824; LastVacateReason = \"lease expired\"; WallSeconds = 23; WastedSeconds = 23",
    ),
    (
        &[SUBMITTED, STARTED, (28, JOB, "Job ad information event triggered.\nA = 1\nTriggerEventTypeNumber = 1")],
        "EventTime = \"2026-09-01T10:00:28Z\"; A = 1",
    ),
    (
        &[SUBMITTED, STARTED, (24, JOB, "Job reconnection failed"), STARTED, (4, JOB, "Job was evicted.")],
        "LastJobStatus = 2; EventTime = \"2026-09-01T10:00:04Z\"; LastEvent = \"JobEvictedEvent\"; JobStatus \
             = 1; EnteredCurrentStatus = 1788256804; LastVacateTime = 1788256804; WallSeconds = 26; WastedSeconds \
            = 26; LastVacateReason = \"\"",
    ),
    (
        &[HELD],
        "MyType = \"Job\"; TargetType = \"Machine\"; ClusterId = 1; ProcId = 0; HoldReasonCode = 21; \
             HoldReasonSubCode = 3; HoldReason = \"no disk\"; EventTime = \"2026-09-01T10:00:12Z\"; LastEvent = \
            \"JobHeldEvent\"; LastJobStatus = 1; JobStatus = 5; EnteredCurrentStatus = 1788256812; NumSystemHolds \
            = 1",
    ),
];

#[test]
fn other_events_change_the_job_as_the_schedd_does() {
    for &(events, expected) in OTHER_EVENTS {
        let last = events[events.len() - 1].2;
        assert_eq!(changed(events), expected, "{:?}", (events.len(), last));
    }
}
