//! The attempts to run a job: when and where each began, how it ended, and how much of its time was wasted.
//!
//! An event log tells them all, as `condor_userlog` counts them. The ad of a job in a history tells the first start, the
//! last attempt, and the wall time of all attempts together.

mod event_attempts;
mod job_attempts;
mod job_event;
mod logged_jobs;

pub use event_attempts::EventAttempts;
pub use job_attempts::attempts_of_job;
pub use job_event::{JobEvent, JobNumber};
pub use logged_jobs::LoggedJobs;

use crate::ad::time::iso_moment;
use crate::ad::{Ad, Expression, Name, Value};

/// The attributes of an attempt that rows show, in their order.
pub const ATTEMPT_COLUMNS: [&str; 19] = [
    "Job",
    "Attempt",
    "Start",
    "StartTime",
    "End",
    "EndTime",
    "Host",
    "Slot",
    "HostAddress",
    "Outcome",
    "Reason",
    "ExitCode",
    "Seconds",
    "GoodSeconds",
    "WastedSeconds",
    "CpuSeconds",
    "GoodCpuSeconds",
    "QueueSeconds",
    "EarlierSeconds",
];

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The job ended by itself, or by a signal.
    Terminated,
    /// The job was taken from its slot, and waits again.
    Evicted,
    /// The job was put on hold.
    Held,
    /// The job was removed.
    Removed,
    /// The shadow failed.
    ShadowException,
    /// The program cannot be run.
    ExecutableError,
    /// The connection to the slot was lost.
    Lost,
    /// It has not ended.
    Running,
    /// Nothing tells how it ended.
    Unknown,
}

/// An attempt to run a job. Times are in seconds since 1970, lengths in seconds; `None` if they are unknown.
#[derive(Clone, Debug)]
pub struct JobAttempt {
    /// The job.
    pub job: JobNumber,
    /// The number of the attempt among those of its job, from 1.
    pub number: i64,
    /// When the job began to run.
    pub start: Option<i64>,
    /// When it stopped.
    pub end: Option<i64>,
    /// The host that ran it.
    pub host: Option<String>,
    /// The slot that ran it.
    pub slot: Option<String>,
    /// The address of the host, without its port.
    pub address: Option<String>,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// Wall time.
    pub seconds: Option<i64>,
    /// The part of the wall time that was not lost: all of it if the job terminated, else until the last checkpoint.
    pub good_seconds: Option<i64>,
    /// Time of processors, user and system.
    pub cpu_seconds: Option<i64>,
    /// The part of `cpu_seconds` that was not lost.
    pub good_cpu_seconds: Option<i64>,
    /// How long the job had been idle before.
    pub queue_seconds: Option<i64>,
    /// Wall time of the earlier attempts together, if nothing tells that of each.
    pub earlier_seconds: Option<i64>,
}

impl AttemptOutcome {
    /// Returns the word for the outcome.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            AttemptOutcome::Terminated => "terminated",
            AttemptOutcome::Evicted => "evicted",
            AttemptOutcome::Held => "held",
            AttemptOutcome::Removed => "removed",
            AttemptOutcome::ShadowException => "shadow exception",
            AttemptOutcome::ExecutableError => "executable error",
            AttemptOutcome::Lost => "lost",
            AttemptOutcome::Running => "running",
            AttemptOutcome::Unknown => "unknown",
        }
    }
}

impl JobAttempt {
    /// Creates an attempt of which nothing more is known.
    #[must_use]
    pub fn new(job: JobNumber, number: i64, outcome: AttemptOutcome) -> Self {
        JobAttempt {
            job,
            number,
            start: None,
            end: None,
            host: None,
            slot: None,
            address: None,
            outcome,
            seconds: None,
            good_seconds: None,
            cpu_seconds: None,
            good_cpu_seconds: None,
            queue_seconds: None,
            earlier_seconds: None,
        }
    }

    /// Returns the part of the wall time that was lost.
    #[must_use]
    pub fn wasted_seconds(&self) -> Option<i64> {
        Some(self.seconds? - self.good_seconds?)
    }

    /// Returns the attempt as an ad: first its own attributes, then `others` that it does not have.
    #[must_use]
    pub fn to_ad<'a>(&self, others: impl IntoIterator<Item = (&'a Name, &'a Expression)>) -> Ad {
        let JobNumber { cluster, process } = self.job;
        let number = |number: Option<i64>| number.map(Value::Integer);
        let text = |text: Option<&str>| text.map(|text| Value::string(text.as_bytes()));
        let time = |time: Option<i64>| time.map(|time| Value::string(iso_moment(time).as_bytes()));
        let own = [
            ("MyType", text(Some("Attempt"))),
            ("Job", text(Some(&self.job.to_string()))),
            ("ClusterId", Some(Value::Integer(cluster))),
            ("ProcId", Some(Value::Integer(process))),
            ("Attempt", Some(Value::Integer(self.number))),
            ("Start", number(self.start)),
            ("StartTime", time(self.start)),
            ("End", number(self.end)),
            ("EndTime", time(self.end)),
            ("Host", text(self.host.as_deref())),
            ("Slot", text(self.slot.as_deref())),
            ("HostAddress", text(self.address.as_deref())),
            ("Outcome", text(Some(self.outcome.word()))),
            ("Seconds", number(self.seconds)),
            ("GoodSeconds", number(self.good_seconds)),
            ("WastedSeconds", number(self.wasted_seconds())),
            ("CpuSeconds", number(self.cpu_seconds)),
            ("GoodCpuSeconds", number(self.good_cpu_seconds)),
            ("QueueSeconds", number(self.queue_seconds)),
            ("EarlierSeconds", number(self.earlier_seconds)),
        ];
        let is_own = |name: &Name| own.iter().any(|(own, _)| name.is(own));
        let others: Vec<_> = others.into_iter().filter(|(name, _)| !is_own(name)).collect();
        let own = own.iter().filter_map(|(name, value)| Some((Name::new(name), Expression::literal(value.clone()?))));
        own.chain(others.into_iter().map(|(name, expression)| (name.clone(), expression.clone()))).collect()
    }
}

/// Returns the host of an address of HTCondor, such as `node` of `<192.0.2.9:9618?alias=node>`: its name, else its number.
/// Also returns the number; `None` if the text is not such an address.
#[must_use]
pub fn host_of_address(text: &str) -> (&str, Option<&str>) {
    let Some(inner) = text.strip_prefix('<') else { return (text, None) };
    let inner = inner.split('>').next().unwrap_or(inner);
    let (address, options) = inner.split_once('?').unwrap_or((inner, ""));
    let number = match address.strip_prefix('[').and_then(|address| address.split_once(']')) {
        Some((number, _)) => number,
        None => address.split(':').next().unwrap_or(address),
    };
    let alias = options.split('&').find_map(|option| option.strip_prefix("alias="));
    (alias.unwrap_or(number), Some(number))
}

/// Returns the host of a slot, such as `node` of `slot1_2@glidein_7@node`.
pub(super) fn host_of_slot(slot: &str) -> &str {
    slot.rsplit_once('@').map_or(slot, |(_, host)| host)
}
