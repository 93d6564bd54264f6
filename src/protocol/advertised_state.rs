//! What ads of HTCondor say of their own state: whether a job waits for a slot, and whether a slot can be given away.
//!
//! | attribute | in ads of | meaning | effect |
//! |---|---|---|---|
//! | `MyType` | all | the kind of the ad | only ads of the kinds `Job` and `Machine` have a state, and ads without a kind that have `ProcId` and `JobStatus` |
//! | `JobStatus` | jobs | 1 idle, 2 running, 3 removed, 4 completed, 5 held, 6 transferring output, 7 suspended | only an idle job waits, and one without the attribute |
//! | `JobUniverse` | jobs | 7 scheduler, 9 grid, 12 local; the others run in slots | an idle job of these three does not wait for a slot |
//! | `Managed` | jobs | `External`: another manager has the job, such as the job router | such an idle job does not wait for a slot |
//! | `JobCoolDownExpiration` | jobs | the last second of a pause after a failed run | an idle job is matched from the next second on |
//! | `Offline` | slots | the machine hibernates | an offline slot is never given away |
//! | `Draining` | slots | the machine starts no new jobs | a draining slot is never given away |
//! | `State` | slots | `Owner`, `Drained`; `Claimed`, `Matched`, `Preempting`; `Unclaimed`, `Backfill` | a slot in `Owner` or `Drained` is never given away; one of the next three only by preemption |
//! | `Activity` | slots | `Retiring`: jobs end, and no new ones start | a slot in `Drained` drains as long as its jobs retire |
//! | `RemoteUser` | slots | the user whose job runs there | a slot without `State` that has a user is claimed |
//!
//! The numbers are those of HTCondor's manual, appendix "Job ClassAd Attributes"; the states are those of its section
//! "Policy Configuration for Execution Points".

use crate::ad::{ByteString, Value};

/// The state of an ad, as the ad itself tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AdvertisedState {
    /// The ad has no state: it is of none of the kinds below, as the ads of the papers are.
    #[default]
    Stateless,
    /// The ad of a job of HTCondor.
    Job(JobState),
    /// The ad of a slot of HTCondor.
    Slot(SlotState),
    /// The ad of a daemon of HTCondor, or a record that a daemon keeps. It is neither a request nor an offer.
    Daemon,
}

/// The state of a job: [`JobState::Idle`] waits for a slot, the others do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum JobState {
    /// The job waits for a slot.
    Idle,
    /// The job runs.
    Running,
    /// The job was removed.
    Removed,
    /// The job has ended.
    Completed,
    /// The job waits to be released.
    Held,
    /// The job has ended, and its output is on the way.
    TransferringOutput,
    /// The job is suspended in its slot.
    Suspended,
    /// `JobStatus` is a number that HTCondor does not use.
    Unknown,
    /// The job is idle, but the access point itself runs it at once.
    SchedulerUniverse,
    /// The job is idle, and waits for another system than this pool.
    GridUniverse,
    /// The job is idle, but the access point itself runs it.
    LocalUniverse,
    /// The job is idle, but another manager has it: the job router has made another job of it.
    ManagedElsewhere,
    /// The ad is no job: the access point makes the jobs of the cluster of it, one after the other (late materialization).
    Factory,
}

/// The numbers in `JobStatus`.
const JOB_STATUSES: [(i64, JobState); 7] = [
    (1, JobState::Idle),
    (2, JobState::Running),
    (3, JobState::Removed),
    (4, JobState::Completed),
    (5, JobState::Held),
    (6, JobState::TransferringOutput),
    (7, JobState::Suspended),
];

/// The state of a slot: a free one can be given away, and one that does not tell its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SlotState {
    /// The slot waits for a job. A partitionable slot waits as long as it is not wholly divided.
    Free,
    /// The slot runs backfill work, which makes way for a job at once.
    Backfill,
    /// The slot is held by a user.
    Claimed,
    /// The slot is matched, and about to be claimed.
    Matched,
    /// The slot ends the job in it.
    Preempting,
    /// The slot serves the owner of the machine.
    Owner,
    /// The slot starts no new jobs.
    Draining,
    /// The slot starts no new jobs, and has none.
    Drained,
    /// The machine of the slot is not running.
    Offline,
    /// The ad does not tell the state.
    Untold,
}

/// The attributes of a job that a report on it tells: who submitted it, why it does not wait or how it ended, and what
/// the negotiator said last.
pub const JOB_REPORT_ATTRIBUTES: [&str; 83] = [
    "ClusterId",
    "Owner",
    "User",
    "HoldReason",
    "HoldReasonCode",
    "HoldReasonSubCode",
    "RemoveReason",
    "ExitSignal",
    "ExitCode",
    "RemoteHost",
    "LastRejMatchReason",
    "LastRejMatchTime",
    "LastMatchTime",
    "AutoClusterId",
    "ConcurrencyLimits",
    "JobStatus",
    "RequestMemory",
    "MemoryProvisioned",
    "MemoryUsage",
    "ResidentSetSize",
    "RequestDisk",
    "DiskProvisioned",
    "DiskUsage",
    "RequestCpus",
    "CpusProvisioned",
    "CpusUsage",
    "JobMaterializePaused",
    "JobMaterializePauseReason",
    "JobMaterializeLimit",
    "JobMaterializeMaxIdle",
    "TotalSubmitProcs",
    "JobCoolDownExpiration",
    "x509UserProxyExpiration",
    "VacateReason",
    "LastRemoteHost",
    "NumShadowStarts",
    "NumJobStarts",
    "NiceUser",
    "LastJobLeaseRenewal",
    "JobLeaseDuration",
    "MinHosts",
    "JobUniverse",
    "Scheduler",
    "GridResource",
    "GridJobStatus",
    "GridResourceUnavailableTime",
    "Requirements",
    "DAG_Status",
    "DAG_NodesTotal",
    "DAG_NodesDone",
    "DAG_NodesFailed",
    "DAG_NodesQueued",
    "DAG_NodesReady",
    "DAG_NodesUnready",
    "DAG_JobsRunning",
    "DAG_JobsIdle",
    "DAG_JobsHeld",
    "RoutedToJobId",
    "TransferQueued",
    "TransferringInput",
    "TransferringOutput",
    "TransferInQueued",
    "TransferOutQueued",
    "TransferInputSizeMB",
    "OnExitRemove",
    "ExitBySignal",
    "ExitStatus",
    "NumJobCompletions",
    "LeaveJobInQueue",
    "StageInFinish",
    "CompletionDate",
    "ProcId",
    "JobCurrentStartDate",
    "JobStartDate",
    "NumHolds",
    "EnteredCurrentStatus",
    "RemoteWallClockTime",
    "RemoteUserCpu",
    "RemoteSysCpu",
    "LastSuspensionTime",
    "TotalSuspensions",
    "CumulativeSuspensionTime",
    "GridJobId",
];

/// The value of `MyType` in the ad of a submitter.
pub const SUBMITTER_TYPE: &str = "Submitter";

/// The kinds of ads (`MyType`) that HTCondor's daemons advertise of themselves and of users, in lower case (HTCondor's
/// `condor_adtypes.h`).
const DAEMON_KINDS: [&str; 22] = [
    "accounting",
    "ckptserver",
    "cluster",
    "collector",
    "credd",
    "daemonmaster",
    "defrag",
    "gateway",
    "grid",
    "had",
    "job_router",
    "jobset",
    "leasemanager",
    "machineprivate",
    "negotiator",
    "owner",
    "placementd",
    "project",
    "replication",
    "scheduler",
    "startd",
    "submitter",
];

impl AdvertisedState {
    /// Determines the state of an ad of the kind `kind` (its `MyType`). `value` returns the value of an attribute of
    /// the ad; `None` if it is absent. An ad without a kind is of a job if it has the numbers `ProcId` and `JobStatus`:
    /// projections often lack `MyType`.
    #[must_use]
    pub fn of_kind(kind: Option<&ByteString>, value: impl Fn(StateAttribute) -> Option<Value>) -> Self {
        let Some(kind) = kind.map(ByteString::to_str) else {
            let is_number = |attribute| matches!(value(attribute), Some(Value::Integer(_)));
            let is_job = is_number(StateAttribute::ProcId) && is_number(StateAttribute::JobStatus);
            return if is_job { AdvertisedState::Job(JobState::new(value)) } else { AdvertisedState::Stateless };
        };
        if kind.eq_ignore_ascii_case("Machine") {
            return AdvertisedState::Slot(SlotState::new(value));
        }
        if kind.eq_ignore_ascii_case("Job") {
            return AdvertisedState::Job(JobState::new(value));
        }
        let is_daemon = DAEMON_KINDS.iter().any(|daemon| kind.eq_ignore_ascii_case(daemon));
        if is_daemon { AdvertisedState::Daemon } else { AdvertisedState::Stateless }
    }
}

/// An attribute that tells the state of an ad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateAttribute {
    /// The number of the job in its cluster.
    ProcId,
    /// What the job does at present.
    JobStatus,
    /// The kind of environment in which the job runs.
    JobUniverse,
    /// Whether another manager than the access point has the job.
    Managed,
    /// The number of the job that a factory of jobs makes next.
    JobMaterializeNextProcId,
    /// What the slot does at present.
    State,
    /// What the slot does within its state.
    Activity,
    /// Whether the machine hibernates.
    Offline,
    /// Whether the machine starts no new jobs.
    Draining,
    /// Who holds the slot.
    RemoteUser,
}

impl JobState {
    fn new(value: impl Fn(StateAttribute) -> Option<Value>) -> Self {
        let number = |attribute| match value(attribute) {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        };
        // Jobs that a factory has made share its attributes.
        let is_made = value(StateAttribute::ProcId).is_some();
        if !is_made && number(StateAttribute::JobMaterializeNextProcId).is_some() {
            return JobState::Factory;
        }
        // The schedd compares so: 25.14.1 negotiates for a job with `external`, and whatever `WantMatching` says.
        let is_managed =
            || matches!(value(StateAttribute::Managed), Some(Value::String(text)) if text.to_str() == "External");
        let state = number(StateAttribute::JobStatus).map_or(Some(JobState::Idle), JobState::of_status);
        match (state, number(StateAttribute::JobUniverse)) {
            (Some(JobState::Idle), Some(9)) => JobState::GridUniverse,
            (Some(JobState::Idle), _) if is_managed() => JobState::ManagedElsewhere,
            (Some(JobState::Idle), Some(7)) => JobState::SchedulerUniverse,
            (Some(JobState::Idle), Some(12)) => JobState::LocalUniverse,
            (state, _) => state.unwrap_or(JobState::Unknown),
        }
    }

    /// Returns the state that a number in `JobStatus` means.
    fn of_status(status: i64) -> Option<Self> {
        JOB_STATUSES.iter().find(|(number, _)| *number == status).map(|(_, state)| *state)
    }

    /// Returns the number in `JobStatus` that means a state, by the word for it: 1 for `Idle`. Blanks and `_` do not count.
    #[must_use]
    pub fn status_of_word(word: &str) -> Option<i64> {
        let letters = |text: &str| text.to_ascii_lowercase().replace([' ', '_'], "");
        let wanted = letters(word);
        JOB_STATUSES.iter().find(|(_, state)| letters(state.word()) == wanted).map(|(number, _)| *number)
    }

    /// Whether the access point runs the job itself, without a slot.
    #[must_use]
    pub fn is_of_access_point(self) -> bool {
        matches!(self, JobState::SchedulerUniverse | JobState::LocalUniverse)
    }

    /// The state in a word or a few, as in `2 held`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            JobState::Idle => "idle",
            JobState::Running => "running",
            JobState::Removed => "removed",
            JobState::Completed => "completed",
            JobState::Held => "held",
            JobState::TransferringOutput => "transferring output",
            JobState::Suspended => "suspended",
            JobState::Unknown => "of unknown status",
            JobState::SchedulerUniverse => "of the scheduler universe",
            JobState::GridUniverse => "of the grid universe",
            JobState::LocalUniverse => "of the local universe",
            JobState::ManagedElsewhere => "managed elsewhere",
            JobState::Factory => "factory of jobs",
        }
    }
}

impl SlotState {
    fn new(value: impl Fn(StateAttribute) -> Option<Value>) -> Self {
        let is_true = |attribute| matches!(value(attribute), Some(Value::Boolean(true)));
        if is_true(StateAttribute::Offline) {
            return SlotState::Offline;
        }
        let state = value(StateAttribute::State);
        let is = |value: &Option<Value>, word: &str| matches!(value, Some(Value::String(text)) if text.to_str().eq_ignore_ascii_case(word));
        let drains = if is(&state, "drained") {
            is(&value(StateAttribute::Activity), "retiring")
        } else {
            is_true(StateAttribute::Draining)
        };
        if drains {
            return SlotState::Draining;
        }
        let Some(Value::String(state)) = state else {
            let has_user = matches!(value(StateAttribute::RemoteUser), Some(Value::String(_)));
            return if has_user { SlotState::Claimed } else { SlotState::Untold };
        };
        match state.to_str().to_ascii_lowercase().as_str() {
            "backfill" => SlotState::Backfill,
            "claimed" => SlotState::Claimed,
            "matched" => SlotState::Matched,
            "preempting" => SlotState::Preempting,
            "owner" => SlotState::Owner,
            "drained" => SlotState::Drained,
            _ => SlotState::Free,
        }
    }

    /// Whether a job can have the slot at once.
    #[must_use]
    pub fn is_available(self) -> bool {
        matches!(self, SlotState::Free | SlotState::Backfill | SlotState::Untold)
    }

    /// Whether a user has the slot, gets it, or loses it: only a preemption gives it to another one.
    #[must_use]
    pub fn is_taken(self) -> bool {
        matches!(self, SlotState::Claimed | SlotState::Matched | SlotState::Preempting)
    }

    /// The state in a word or a few, as in `2 claimed`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            SlotState::Free => "free",
            SlotState::Backfill => "in backfill",
            SlotState::Claimed => "claimed",
            SlotState::Matched => "matched",
            SlotState::Preempting => "preempting",
            SlotState::Owner => "in use by the owner",
            SlotState::Draining => "draining",
            SlotState::Drained => "drained",
            SlotState::Offline => "offline",
            SlotState::Untold => "of unknown state",
        }
    }
}
