//! The life of a healthy job in HTCondor: which attributes it has when, and the ads of a job at some moments of it.
//!
//! Sources: what `condor_submit -dry-run` of 25.14.1 writes, and HTCondor's manual,
//! `classad-attributes/job-classad-attributes.rst`.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, Name, Value};

/// When HTCondor sets an attribute of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum JobPhase {
    /// When it is submitted.
    Submit,
    /// When it starts.
    Start,
    /// Some time after it starts.
    Update,
    /// When something happens to it that need not happen: a hold, an eviction.
    Incident,
    /// When its run ends.
    End,
}

/// The attributes that HTCondor itself sets and changes, by the phase in which a job gets them.
const PHASES: &[(JobPhase, &str)] = &[
    (
        JobPhase::Submit,
        "CommittedSlotTime CommittedSuspensionTime CommittedTime CumulativeRemoteSysCpu CumulativeRemoteUserCpu CumulativeSlotTime \
         CumulativeSuspensionTime CurrentHosts DiskUsage EnteredCurrentStatus ExitBySignal ExitStatus ImageSize JobStatus \
         LastSuspensionTime NumCkpts NumJobCompletions NumJobStarts NumRestarts NumSystemHolds QDate RemoteSysCpu \
         RemoteUserCpu RemoteWallClockTime TotalSuspensions",
    ),
    (
        JobPhase::Start,
        "ActivationSetupDuration AllRemoteHosts ClaimId CpusProvisioned DiskProvisioned FirstJobMatchDate GPUsProvisioned \
         JobCurrentFinishTransferInputDate JobCurrentStartDate JobCurrentStartExecutingDate \
         JobCurrentStartTransferInputDate JobLastStartDate JobLeaseExpiration JobRunCount JobStartDate LastJobLeaseRenewal \
         LastJobStatus LastMatchTime LastRemoteHost LastRemotePool LastRemoteWallClockTime MemoryProvisioned \
         NumInputTransferStarts NumJobMatches NumShadowStarts PublicClaimId RemoteHost RemoteSlotID ServerTime ShadowBday \
         StartdAddr StartdIpAddr StartdPrincipal StarterIpAddr StarterPrincipal TransferInFinished TransferInQueued \
         TransferInStarted TransferringInput",
    ),
    (
        JobPhase::Update,
        "BlockReadKbytes BlockReads BlockWriteKbytes BlockWrites BytesRecvd BytesSent CpusUsage DiskUsage_RAW \
         ExecutableSize_RAW GPUsAverageUsage GPUsMemoryUsage ImageSize_RAW LastRemoteStatusUpdate MemoryUsage NetworkInputMb \
         NetworkOutputMb NumPids ProportionalSetSizeKb RecentBlockReadKbytes RecentBlockReads RecentBlockWriteKbytes \
         RecentBlockWrites RecentStatsLifetimeStarter ResidentSetSize ResidentSetSize_RAW ScratchDirFileCount \
         StatsLifetimeStarter",
    ),
    (
        JobPhase::Incident,
        "GridJobStatus GridResourceUnavailableTime HoldReason HoldReasonCode HoldReasonSubCode JobCoolDownExpiration \
         JobCurrentReconnectAttempt JobDisconnectedDate LastHoldReason LastHoldReasonCode LastHoldReasonSubCode \
         LastRejMatchReason LastRejMatchTime LastShadowException LastVacateTime NumHolds NumHoldsByReason NumJobCoolDowns \
         NumJobReconnects NumShadowExceptions NumVacates NumVacatesByReason NumVacatesPreExecution ReleaseReason \
         RemoveReason RemoteStatus TotalJobReconnectAttempts VacateReason VacateReasonCode VacateReasonSubCode",
    ),
    (
        JobPhase::End,
        "CompletionDate ExitCode ExitReason ExitSignal JobCoreDumped JobCurrentFinishTransferOutputDate \
         JobCurrentStartTransferOutputDate JobDuration JobFinishedHookDone TerminationPending TransferOutFinished \
         TransferOutQueued TransferOutStarted TransferringOutput",
    ),
];

static PHASE_BY_NAME: LazyLock<FxHashMap<Name, JobPhase>> = LazyLock::new(|| {
    let names = |(phase, names): &(JobPhase, &'static str)| {
        names.split(' ').map(|name| (Name::new(name), *phase)).collect::<Vec<_>>()
    };
    PHASES.iter().flat_map(names).collect()
});

impl JobPhase {
    /// Returns the names of all attributes that HTCondor sets.
    pub(super) fn names<'n>() -> impl Iterator<Item = &'n Name> {
        PHASE_BY_NAME.keys()
    }

    /// Returns the phase in which HTCondor sets an attribute; `None` for one that it does not set.
    pub(super) fn of(name: &Name) -> Option<JobPhase> {
        PHASE_BY_NAME.get(name).copied()
    }
}

/// A moment in the life of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobMoment {
    /// The value of `JobStatus`.
    pub status: i64,
    /// Seconds since the job is in this status.
    pub age: i64,
    /// How often it started, and was held.
    pub starts: i64,
    /// `HoldReasonCode` of a held job.
    pub hold_code: i64,
    /// How its run ended: the attribute and its value. `None` unless it ended.
    pub exit: Option<(&'static str, i64)>,
    /// The last phase whose attributes it has all.
    pub complete: JobPhase,
}

impl JobMoment {
    pub(super) const IDLE: JobMoment =
        JobMoment { status: 1, age: 60, starts: 0, hold_code: 0, exit: None, complete: JobPhase::Submit };
    pub(super) const RUNNING: JobMoment =
        JobMoment { status: 2, age: 60, starts: 1, hold_code: 0, exit: None, complete: JobPhase::Update };
    pub(super) const HELD: JobMoment =
        JobMoment { status: 5, age: 60, starts: 1, hold_code: 13, exit: None, complete: JobPhase::Incident };
    pub(super) const EXITED: JobMoment = JobMoment {
        status: 2,
        age: 600,
        starts: 1,
        hold_code: 0,
        exit: Some(("ExitCode", 0)),
        complete: JobPhase::Update,
    };

    /// Returns the ad of a job at this moment, with the attributes in `reads`, and the time. `submitted` is the time at which it was submitted. Attributes of
    /// HTCondor have values that are usual for a healthy job. The job has all of those that it gets in the phases up to
    /// `assumed`; without this, those that its ad has.
    pub(super) fn ad(&self, job: &Ad, reads: &[Name], submitted: i64, assumed: Option<JobPhase>) -> (Ad, i64) {
        let entered = if self.status == 1 { submitted } else { submitted + 60 };
        let now = entered + self.age;
        let has_now = |name: &Name| assumed.is_none() && job.get(name).is_some();
        let has = |name: &Name, phase: JobPhase| {
            let is_there = match phase {
                JobPhase::Submit => {
                    let is_certain =
                        ["JobStatus", "EnteredCurrentStatus", "QDate"].into_iter().any(|sure| name.is(sure));
                    is_certain || self.starts > 0 && name.is("NumJobStarts") || job.get(name).is_some()
                }
                JobPhase::Start => self.starts > 0,
                JobPhase::Update => self.starts > 0 && self.complete >= JobPhase::Update || has_now(name),
                JobPhase::Incident => self.status == 5,
                JobPhase::End => has_now(name),
            };
            let is_of_exit = || name.is("ExitBySignal") || self.exit.is_some_and(|(exit, _)| name.is(exit));
            is_there || assumed.is_some_and(|last| phase <= last) || self.exit.is_some() && is_of_exit()
        };
        let attribute = |name: &Name| {
            let own = job.get(name);
            let constant = own.and_then(Expression::as_literal);
            let Some(phase) = JobPhase::of(name).filter(|_| own.is_none() || constant.is_some()) else {
                return own.map(|expression| (name.clone(), expression.clone()));
            };
            // A text may be of any kind.
            let text = constant.filter(|known| matches!(known, Value::String(_))).cloned();
            let value = || text.unwrap_or_else(|| self.value(name, [submitted, entered, now]));
            has(name, phase).then(|| (name.clone(), Expression::literal(value())))
        };
        (reads.iter().filter_map(attribute).collect(), now)
    }

    /// The value of an attribute that HTCondor sets.
    fn value(&self, name: &Name, [submitted, entered, now]: [i64; 3]) -> Value {
        let is = |names: &str| names.split(' ').any(|known| name.is(known));
        let text = name.as_str();
        if let Some((_, value)) = self.exit.filter(|(exit, _)| name.is(exit)) {
            return Value::Integer(value);
        }
        match () {
            () if is("JobStatus") => Value::Integer(self.status),
            () if is("LastJobStatus") => Value::Integer(1),
            () if is("QDate FirstJobMatchDate") => Value::Integer(submitted),
            () if is("ServerTime LastRemoteStatusUpdate LastJobLeaseRenewal") => Value::Integer(now),
            () if is("JobLeaseExpiration") => Value::Integer(now + 1200),
            () if is("ExitBySignal") => Value::Boolean(self.exit.is_some_and(|(exit, _)| exit == "ExitSignal")),
            () if is("TransferringInput TransferringOutput TerminationPending JobCoreDumped") => Value::Boolean(false),
            () if is("HoldReasonCode LastHoldReasonCode") => Value::Integer(self.hold_code),
            () if is("NumHolds NumSystemHolds NumShadowExceptions NumVacates") => {
                Value::Integer(if self.status == 5 { self.starts } else { (self.starts - 1).max(0) })
            }
            () if is("NumJobStarts NumShadowStarts JobRunCount NumJobMatches NumInputTransferStarts") => {
                Value::Integer(self.starts)
            }
            () if is("NumJobCompletions NumRestarts") => {
                Value::Integer(self.starts - i64::from(self.exit.is_none()).min(self.starts))
            }
            () if is("CpusUsage") => Value::Real(0.95),
            () if is(
                "RemoteWallClockTime CumulativeSlotTime CommittedTime CommittedSlotTime RemoteUserCpu CumulativeRemoteUserCpu",
            ) && (self.exit.is_some()
                || self.starts > 1
                || self.starts > 0 && name.is("RemoteWallClockTime")) =>
            {
                #[expect(clippy::cast_precision_loss, reason = "the ages of moments are small")]
                Value::Real(self.age as f64)
            }
            () if text.ends_with("Date") || is("EnteredCurrentStatus ShadowBday LastMatchTime") => {
                Value::Integer(entered)
            }
            () if is("TransferInStarted TransferInFinished TransferInQueued") => Value::Integer(entered),
            () if is(
                "DiskUsage DiskUsage_RAW ImageSize ImageSize_RAW ResidentSetSize ResidentSetSize_RAW ProportionalSetSizeKb",
            ) =>
            {
                Value::Integer(1000)
            }
            () if is("MemoryUsage MemoryProvisioned CpusProvisioned") => Value::Integer(1),
            () if is("NumHoldsByReason NumVacatesByReason") => Value::Undefined,
            () if is_text_name(name) => Value::string("x"),
            () => Value::Integer(0),
        }
    }
}

/// Whether an attribute that HTCondor sets is a string.
fn is_text_name(name: &Name) -> bool {
    super::StandardType::of(name) == Some(super::StandardType::String)
}

#[cfg(test)]
mod tests {
    use super::{JobMoment, JobPhase};
    use crate::ad::{Ad, Expression, Name, Value};
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn times_of_runs_are_those_of_the_runs_that_ended() {
        let (idle, running) = (JobMoment::IDLE, JobMoment::RUNNING);
        for (moment, of_all, of_this_run) in [
            (idle, "0", "0"),
            (JobMoment { starts: 2, ..idle }, "60.0", "60.0"),
            (running, "0", "60.0"),
            (JobMoment { starts: 2, ..running }, "60.0", "60.0"),
            (JobMoment::EXITED, "600.0", "600.0"),
        ] {
            for (name, expected) in [
                ("CumulativeSlotTime", of_all),
                ("RemoteUserCpu", of_all),
                ("CommittedTime", of_all),
                ("RemoteWallClockTime", of_this_run),
            ] {
                let name = Name::new(name);
                let job = Ad::default().with(name.clone(), Expression::literal(0));
                let (ad, _) = moment.ad(&job, std::slice::from_ref(&name), 1000, None);
                assert_eq!(ad.get(&name).unwrap().to_string(), expected, "{name} {moment:?}");
            }
        }
    }
    /// Moments, and what a job has then.
    const MOMENTS: &[(&str, JobMoment, Option<JobPhase>, &str)] = &[
        (
            "idle",
            JobMoment::IDLE,
            None,
            "1060: JobStatus 1, QDate 1000, CommittedTime 0, EnteredCurrentStatus 1000, DiskUsage 1000, BytesSent \
                 0, NumVacates MemoryUsage * 2, CompletionDate 1000, Cmd \"x\", Owner \"ann\", RequestMemory \
                MemoryUsage * 2",
        ),
        (
            "running",
            JobMoment::RUNNING,
            None,
            "1120: JobStatus 2, LastJobStatus 1, QDate 1000, FirstJobMatchDate 1000, ServerTime 1120, \
                 LastRemoteStatusUpdate 1120, JobLeaseExpiration 2320, TransferringInput false, NumJobStarts 1, \
                NumShadowStarts 1, CpusUsage 0.95, CommittedTime 0, JobStartDate 1060, EnteredCurrentStatus 1060, \
                ShadowBday 1060, TransferInStarted 1060, DiskUsage 1000, ResidentSetSize 1000, MemoryUsage 1, \
                RemoteHost \"x\", BytesSent 0, NumVacates MemoryUsage * 2, CompletionDate 1060, Cmd \"x\", Owner \
                \"ann\", RequestMemory MemoryUsage * 2",
        ),
        (
            "early",
            JobMoment { complete: JobPhase::Submit, ..JobMoment::RUNNING },
            None,
            "1120: JobStatus 2, LastJobStatus 1, QDate 1000, FirstJobMatchDate 1000, ServerTime 1120, \
                 JobLeaseExpiration 2320, TransferringInput false, NumJobStarts 1, NumShadowStarts 1, CommittedTime \
                0, JobStartDate 1060, EnteredCurrentStatus 1060, ShadowBday 1060, TransferInStarted 1060, DiskUsage \
                1000, RemoteHost \"x\", BytesSent 0, NumVacates MemoryUsage * 2, CompletionDate 1060, Cmd \"x\", \
                Owner \"ann\", RequestMemory MemoryUsage * 2",
        ),
        (
            "held",
            JobMoment::HELD,
            None,
            "1120: JobStatus 5, LastJobStatus 1, QDate 1000, FirstJobMatchDate 1000, ServerTime 1120, \
                 LastRemoteStatusUpdate 1120, JobLeaseExpiration 2320, TransferringInput false, HoldReasonCode 13, \
                NumHolds 1, NumJobStarts 1, NumShadowStarts 1, CpusUsage 0.95, CommittedTime 0, JobStartDate 1060, \
                EnteredCurrentStatus 1060, ShadowBday 1060, TransferInStarted 1060, DiskUsage 1000, ResidentSetSize \
                1000, MemoryUsage 1, NumHoldsByReason undefined, HoldReason \"why\", RemoteHost \"x\", BytesSent 0, \
                NumVacates MemoryUsage * 2, CompletionDate 1060, Cmd \"x\", Owner \"ann\", RequestMemory MemoryUsage \
                * 2",
        ),
        (
            "held twice",
            JobMoment { starts: 2, ..JobMoment::HELD },
            None,
            "1120: JobStatus 5, LastJobStatus 1, QDate 1000, FirstJobMatchDate 1000, ServerTime 1120, \
                 LastRemoteStatusUpdate 1120, JobLeaseExpiration 2320, TransferringInput false, HoldReasonCode 13, \
                NumHolds 2, NumJobStarts 2, NumShadowStarts 2, CpusUsage 0.95, CommittedTime 60.0, JobStartDate 1060, \
                EnteredCurrentStatus 1060, ShadowBday 1060, TransferInStarted 1060, DiskUsage 1000, ResidentSetSize \
                1000, MemoryUsage 1, NumHoldsByReason undefined, HoldReason \"why\", RemoteHost \"x\", BytesSent 0, \
                NumVacates MemoryUsage * 2, CompletionDate 1060, Cmd \"x\", Owner \"ann\", RequestMemory MemoryUsage \
                * 2",
        ),
        (
            "exited",
            JobMoment { exit: Some(("ExitCode", 3)), ..JobMoment::EXITED },
            None,
            "1660: JobStatus 2, LastJobStatus 1, QDate 1000, FirstJobMatchDate 1000, ServerTime 1660, \
                 LastRemoteStatusUpdate 1660, JobLeaseExpiration 2860, ExitBySignal false, ExitCode 3, \
                TransferringInput false, NumJobStarts 1, NumShadowStarts 1, CpusUsage 0.95, CommittedTime 600.0, \
                JobStartDate 1060, EnteredCurrentStatus 1060, ShadowBday 1060, TransferInStarted 1060, DiskUsage \
                1000, ResidentSetSize 1000, MemoryUsage 1, RemoteHost \"x\", BytesSent 0, NumVacates MemoryUsage * 2, \
                CompletionDate 1060, Cmd \"x\", Owner \"ann\", RequestMemory MemoryUsage * 2",
        ),
        (
            "killed",
            JobMoment { exit: Some(("ExitSignal", 3)), ..JobMoment::EXITED },
            None,
            "1660: JobStatus 2, LastJobStatus 1, QDate 1000, FirstJobMatchDate 1000, ServerTime 1660, \
                 LastRemoteStatusUpdate 1660, JobLeaseExpiration 2860, ExitBySignal true, ExitSignal 3, \
                TransferringInput false, NumJobStarts 1, NumShadowStarts 1, CpusUsage 0.95, CommittedTime 600.0, \
                JobStartDate 1060, EnteredCurrentStatus 1060, ShadowBday 1060, TransferInStarted 1060, DiskUsage \
                1000, ResidentSetSize 1000, MemoryUsage 1, RemoteHost \"x\", BytesSent 0, NumVacates MemoryUsage * 2, \
                CompletionDate 1060, Cmd \"x\", Owner \"ann\", RequestMemory MemoryUsage * 2",
        ),
        (
            "idle with all of the submission",
            JobMoment::IDLE,
            Some(JobPhase::Submit),
            "1060: JobStatus 1, QDate 1000, ExitBySignal false, NumJobStarts 0, NumJobCompletions 0, \
                 RemoteWallClockTime 0, CommittedTime 0, EnteredCurrentStatus 1000, DiskUsage 1000, NumVacates \
                MemoryUsage * 2, Cmd \"x\", Owner \"ann\", RequestMemory MemoryUsage * 2",
        ),
        (
            "idle with all",
            JobMoment::IDLE,
            Some(JobPhase::End),
            "1060: JobStatus 1, LastJobStatus 1, QDate 1000, FirstJobMatchDate 1000, ServerTime 1060, \
                 LastRemoteStatusUpdate 1060, JobLeaseExpiration 2260, ExitBySignal false, ExitCode 0, ExitSignal 0, \
                TransferringInput false, HoldReasonCode 0, NumHolds 0, NumJobStarts 0, NumShadowStarts 0, \
                NumJobCompletions 0, CpusUsage 0.95, RemoteWallClockTime 0, CommittedTime 0, JobStartDate 1000, \
                EnteredCurrentStatus 1000, ShadowBday 1000, TransferInStarted 1000, DiskUsage 1000, ResidentSetSize \
                1000, MemoryUsage 1, NumHoldsByReason undefined, HoldReason \"why\", RemoteHost \"x\", BytesSent 0, \
                NumVacates MemoryUsage * 2, CompletionDate 1000, Cmd \"x\", Owner \"ann\", RequestMemory MemoryUsage \
                * 2",
        ),
        (
            "running with all",
            JobMoment { starts: 3, ..JobMoment::RUNNING },
            Some(JobPhase::End),
            "1120: JobStatus 2, LastJobStatus 1, QDate 1000, FirstJobMatchDate 1000, ServerTime 1120, \
                 LastRemoteStatusUpdate 1120, JobLeaseExpiration 2320, ExitBySignal false, ExitCode 0, ExitSignal 0, \
                TransferringInput false, HoldReasonCode 0, NumHolds 2, NumJobStarts 3, NumShadowStarts 3, \
                NumJobCompletions 2, CpusUsage 0.95, RemoteWallClockTime 60.0, CommittedTime 60.0, JobStartDate 1060, \
                EnteredCurrentStatus 1060, ShadowBday 1060, TransferInStarted 1060, DiskUsage 1000, ResidentSetSize \
                1000, MemoryUsage 1, NumHoldsByReason undefined, HoldReason \"why\", RemoteHost \"x\", BytesSent 0, \
                NumVacates MemoryUsage * 2, CompletionDate 1060, Cmd \"x\", Owner \"ann\", RequestMemory MemoryUsage \
                * 2",
        ),
    ];

    /// The attributes of a job at a moment, of those that it reads. A job has some of them already.
    #[test]
    fn a_healthy_job_has_usual_values_at_each_moment_of_its_life() {
        let names = "JobStatus LastJobStatus QDate FirstJobMatchDate ServerTime LastRemoteStatusUpdate \
        JobLeaseExpiration \
                     ExitBySignal ExitCode ExitSignal TransferringInput HoldReasonCode NumHolds NumJobStarts NumShadowStarts \
                     NumJobCompletions CpusUsage RemoteWallClockTime CommittedTime JobStartDate EnteredCurrentStatus \
                     ShadowBday TransferInStarted DiskUsage ResidentSetSize MemoryUsage NumHoldsByReason HoldReason \
                     RemoteHost BytesSent NumVacates CompletionDate Cmd Owner RequestMemory Nothing";
        let reads: Vec<Name> = names.split(' ').map(Name::new).collect();
        let job = [("Cmd", "x"), ("Owner", "ann"), ("LastRemoteHost", "a"), ("HoldReason", "why")];
        let text = |text: &str| Expression::literal(Value::string(text.as_bytes()));
        let job: Ad = job.into_iter().map(|(name, value)| (Name::new(name), text(value))).collect();
        let read = parse_expression(b"MemoryUsage * 2", ParseOptions::default()).unwrap();
        let job = ["DiskUsage", "BytesSent", "CompletionDate", "CommittedTime"]
            .into_iter()
            .fold(job, |job, name| job.with(Name::new(name), Expression::literal(7)));
        let job = job.with(Name::new("RequestMemory"), read.clone()).with(Name::new("NumVacates"), read);
        for &(name, moment, assumed, expected) in MOMENTS {
            let (ad, now) = moment.ad(&job, &reads, 1000, assumed);
            let shown: Vec<String> = ad.iter().map(|one| format!("{} {}", one.name, one.expression)).collect();
            assert_eq!(format!("{now}: {}", shown.join(", ")), expected, "{name}");
        }
    }

    #[test]
    fn an_attribute_is_set_in_its_phase() {
        for (name, expected) in [
            ("QDate", Some(JobPhase::Submit)),
            ("jobstartdate", Some(JobPhase::Start)),
            ("MemoryUsage", Some(JobPhase::Update)),
            ("HoldReason", Some(JobPhase::Incident)),
            ("ExitCode", Some(JobPhase::End)),
            ("Owner", None),
        ] {
            assert_eq!(JobPhase::of(&Name::new(name)), expected, "{name}");
        }
    }
}
