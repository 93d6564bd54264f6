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

#[cfg(test)]
mod tests {
    use super::{AttemptOutcome, JobAttempt, JobNumber, host_of_address, host_of_slot, iso_moment};
    use crate::ad::{Expression, Name};
    use crate::syntax::{Style, print_ad};

    #[test]
    fn an_attempt_is_an_ad_with_what_is_known() {
        let job = JobNumber { cluster: 7, process: 1 };
        let others = [("Host", 1_i64), ("JOB", 2), ("Owner", 3)]
            .map(|(name, value)| (Name::new(name), Expression::literal(value)));
        let shown = |attempt: &JobAttempt| {
            let ad = attempt.to_ad(others.iter().map(|(name, expression)| (name, expression)));
            String::from_utf8(print_ad(&ad, Style::New)).unwrap()
        };
        let mut attempt = JobAttempt::new(job, 3, AttemptOutcome::Held);
        assert_eq!(attempt.wasted_seconds(), None);
        let known = "[ MyType = \"Attempt\"; Job = \"7.1\"; ClusterId = 7; ProcId = 1; Attempt = 3; Outcome = \
        \"held\"; Owner = 3 ]";
        assert_eq!(shown(&attempt), known);
        (attempt.start, attempt.end, attempt.seconds, attempt.good_seconds) = (Some(60), Some(100), Some(40), Some(30));
        (attempt.cpu_seconds, attempt.good_cpu_seconds) = (Some(20), Some(10));
        (attempt.queue_seconds, attempt.earlier_seconds) = (Some(5), Some(6));
        attempt.host = Some("h".to_owned());
        (attempt.slot, attempt.address) = (Some("s".to_owned()), Some("a".to_owned()));
        let [start, end] = [60, 100].map(iso_moment);
        let times = format!("Start = 60; StartTime = \"{start}\"; End = 100; EndTime = \"{end}\"; ");
        let rest = "Host = \"h\"; Slot = \"s\"; HostAddress = \"a\"; Outcome = \"held\"; Seconds = 40; GoodSeconds = 30; \
                    WastedSeconds = 10; CpuSeconds = 20; GoodCpuSeconds = 10; QueueSeconds = 5; EarlierSeconds = 6; \
                    Owner = 3 ]";
        let known = "[ MyType = \"Attempt\"; Job = \"7.1\"; ClusterId = 7; ProcId = 1; Attempt = 3; ";
        assert_eq!(shown(&attempt), format!("{known}{times}{rest}"));
    }

    #[test]
    fn an_address_has_a_host_and_a_number() {
        for (text, expected) in [
            ("<192.0.2.9:9618>", ("192.0.2.9", Some("192.0.2.9"))),
            ("<192.0.2.9:9618?alias=node>", ("node", Some("192.0.2.9"))),
            ("<192.0.2.9:9618?a=b&alias=node&c=d>", ("node", Some("192.0.2.9"))),
            ("<192.0.2.9>", ("192.0.2.9", Some("192.0.2.9"))),
            ("<[2001:db8::1]:9618?addrs=x>", ("2001:db8::1", Some("2001:db8::1"))),
            ("<192.0.2.9:9618?noUDP> and more", ("192.0.2.9", Some("192.0.2.9"))),
            ("<192.0.2.9:9618", ("192.0.2.9", Some("192.0.2.9"))),
            ("node", ("node", None)),
            ("", ("", None)),
        ] {
            assert_eq!(host_of_address(text), expected, "{text}");
        }
        for (slot, host) in [("slot1@node", "node"), ("slot1_2@glide@node", "node"), ("node", "node"), ("a@", "")] {
            assert_eq!(host_of_slot(slot), host);
        }
    }

    #[test]
    fn an_outcome_has_a_word() {
        use AttemptOutcome::{
            Evicted, ExecutableError, Held, Lost, Removed, Running, ShadowException, Terminated, Unknown,
        };
        let all = [Terminated, Evicted, Held, Removed, ShadowException, ExecutableError, Lost, Running, Unknown];
        let words = "terminated,evicted,held,removed,shadow exception,executable error,lost,running,unknown";
        assert_eq!(all.map(AttemptOutcome::word).join(","), words);
    }
}
