//! What happened to a job last, and why, as its event log tells it.

use crate::ad::time::local_moment;
use crate::ad::{Ad, Value};
use crate::eval::Context;
use crate::protocol::{JobState, evaluate_attribute};
use crate::query::host_of_address;
use crate::text::{counted, duration};

use super::job_report::JobReport;

/// The ad of a job of an event log, to be explained.
pub struct LoggedJob<'a> {
    ad: &'a Ad,
    context: &'a Context,
    /// State and reasons of the job.
    pub report: JobReport,
}

impl<'a> LoggedJob<'a> {
    /// Reads an ad that [`crate::query::LoggedJobs`] has made; `None` if it has no state.
    #[must_use]
    pub fn new(ad: &'a Ad, context: &'a Context) -> Option<Self> {
        Some(LoggedJob { report: JobReport::new(ad, context)?, ad, context })
    }

    /// Returns the number of an attribute.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i64> {
        match evaluate_attribute(self.ad, &name.into(), self.context)? {
            Value::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the text of an attribute that is not empty.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        match evaluate_attribute(self.ad, &name.into(), self.context)? {
            Value::String(text) => Some(text.to_str().trim().to_owned()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    /// Since when the job has been in its state, in seconds since 1970.
    #[must_use]
    pub fn since(&self) -> Option<i64> {
        self.number("EnteredCurrentStatus")
    }

    /// Returns where the job runs or ran last.
    #[must_use]
    pub fn slot(&self) -> Option<String> {
        let host = || self.text("RemoteHost").or_else(|| self.text("LastRemoteHost"));
        let host = || host().map(|host| host_of_address(&host).0.to_owned());
        self.text("SlotName").or_else(host).filter(|_| self.starts() > 0)
    }

    /// Number of times that the job started.
    #[must_use]
    pub fn starts(&self) -> i64 {
        self.number("NumJobStarts").unwrap_or(0)
    }

    /// Returns why the job is in its state.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self.report.state {
            JobState::Held => self.text("HoldReason"),
            JobState::Removed => self.text("RemoveReason"),
            JobState::Idle if self.was_released() => self.text("ReleaseReason"),
            JobState::Idle => self.text("LastVacateReason"),
            _ => None,
        }
    }

    fn was_released(&self) -> bool {
        self.text("LastEvent").as_deref() == Some("JobReleaseEvent")
    }

    /// Says what happened last, after the name of the job: `is held since ..., after 7 min on slot1@node: reason`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let at = |word: &str| self.since().map_or(String::new(), |time| format!(" {word} {}", local_moment(time)));
        let on = self.slot().map_or(String::new(), |slot| format!(" on {slot}"));
        let ran = self.last_run().map_or(String::new(), |ran| format!(", after {}{on}", duration(ran)));
        let reason = self.reason().map_or(String::new(), |reason| format!(": {}", reason.trim_end_matches('.')));
        let what = match self.report.state {
            JobState::Held => {
                let hold = self.report.hold.as_ref();
                let what = hold.map_or(String::new(), |hold| hold.phrase(usize::MAX));
                let larger = hold.and_then(|hold| hold.exceeded.as_ref()).filter(|exceeded| !exceeded.asks_for_more);
                let larger = larger.map_or(String::new(), |exceeded| {
                    let than = exceeded.limit.as_ref().map_or(String::new(), |limit| format!(" than {limit}"));
                    format!(". It needs a larger {}{than} before it is released", exceeded.request)
                });
                format!("is held{}{ran}{what}{larger}", at("since"))
            }
            JobState::Removed => format!("was removed{}{ran}{reason}", at("at")),
            JobState::Completed => {
                let how = match (self.number("ExitCode"), self.number("ExitSignal")) {
                    (Some(code), _) => format!(" with exit code {code}"),
                    (None, Some(signal)) => format!(" by signal {signal}"),
                    _ => String::new(),
                };
                format!("ended{how}{}{ran}", at("at"))
            }
            JobState::Running if self.text("LastEvent").as_deref() == Some("JobDisconnectedEvent") => {
                let why = self.text("DisconnectReason").map_or(String::new(), |reason| format!(": {reason}"));
                format!("runs{on}{}, but the connection to it is lost{why}", at("since"))
            }
            JobState::Running => format!("runs{on}{}", at("since")),
            JobState::Suspended => format!("is suspended{on}{}", at("since")),
            JobState::Idle if self.was_released() => format!("waits{}: it was released{reason}", at("since")),
            JobState::Idle => match self.text("LastEvent").as_deref() {
                Some("JobEvictedEvent") => format!("waits{}: it was evicted{ran}{reason}", at("since")),
                Some("ShadowExceptionEvent") => format!("waits{}: its shadow failed{ran}{reason}", at("since")),
                Some("JobReconnectFailedEvent") => {
                    format!("waits{}: the connection to it was lost for good{ran}{reason}", at("since"))
                }
                _ if self.starts() == 0 => format!("waits{}: it was submitted and has not started", at("since")),
                _ => format!("waits{}", at("since")),
            },
            state => format!("is {}{}{reason}", state.word(), at("since")),
        };
        what + &self.attempts()
    }

    /// How long the job ran before it came into its state, in seconds; `None` if it did not run.
    fn last_run(&self) -> Option<i64> {
        let ran = matches!(self.number("LastJobStatus"), Some(2 | 6 | 7)).then_some(());
        let started = ran.and_then(|()| self.number("JobCurrentStartDate"))?;
        Some(self.since()? - started).filter(|ran| *ran >= 0)
    }

    /// Says how often the job started, and what of its time was wasted.
    fn attempts(&self) -> String {
        let (starts, wasted) = (self.starts(), self.number("WastedSeconds").unwrap_or(0));
        let all = self.number("WallSeconds").unwrap_or(0);
        if starts < 2 {
            return String::new();
        }
        let starts = counted(usize::try_from(starts).unwrap_or_default(), "time");
        match wasted {
            0 => format!("; it started {starts}"),
            wasted => format!("; it started {starts}, and {} of its {} were wasted", duration(wasted), duration(all)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LoggedJob;
    use crate::ad::Dialect;
    use crate::ad::time::local_moment;
    use crate::eval::Context;
    use crate::explain::tests::ad;

    /// Says what happened to a job.
    fn told(job: &str) -> String {
        let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
        let ad = ad(&format!("MyType = \"Job\"; ClusterId = 1; ProcId = 0; {job}"));
        // The zone is that of the machine.
        LoggedJob::new(&ad, &context).unwrap().sentence().replace(&local_moment(700), "THEN")
    }

    #[test]
    fn what_happened_to_jobs_that_wait() {
        let ran = "NumJobStarts = 1; LastJobStatus = 2; JobCurrentStartDate = 400; SlotName = \"slot1@a\"";
        for (job, expected) in [
            ("EnteredCurrentStatus = 700", "waits since THEN: it was submitted and has not started".to_owned()),
            ("x = 1", "waits: it was submitted and has not started".to_owned()),
            ("NumJobStarts = 1; EnteredCurrentStatus = 700", "waits since THEN".to_owned()),
            ("NumJobStarts = 2", "waits; it started 2 times".to_owned()),
            (
                "NumJobStarts = 2; WastedSeconds = 60; WallSeconds = 3600",
                "waits; it started 2 times, and 1 min of its 1 h were wasted".to_owned(),
            ),
            (
                "LastEvent = \"JobReleaseEvent\"; ReleaseReason = \"by ann.\"; LastVacateReason = \"x\"",
                "waits: it was released: by ann".to_owned(),
            ),
            ("LastEvent = \"JobReleaseEvent\"; ReleaseReason = \" \"", "waits: it was released".to_owned()),
            (
                "LastEvent = \"JobEvictedEvent\"; LastVacateReason = \"pilot\"; EnteredCurrentStatus = 700; RAN",
                "waits since THEN: it was evicted, after 5 min on slot1@a: pilot".to_owned(),
            ),
            (
                "LastEvent = \"JobEvictedEvent\"; EnteredCurrentStatus = 700; RAN; LastJobStatus = 1",
                "waits since THEN: it was evicted".to_owned(),
            ),
            (
                "LastEvent = \"JobEvictedEvent\"; EnteredCurrentStatus = 700; RAN; JobCurrentStartDate = 700",
                "waits since THEN: it was evicted, after 0 s on slot1@a".to_owned(),
            ),
            (
                "LastEvent = \"JobEvictedEvent\"; EnteredCurrentStatus = 700; RAN; JobCurrentStartDate = 701",
                "waits since THEN: it was evicted".to_owned(),
            ),
            (
                "LastEvent = \"ShadowExceptionEvent\"; EnteredCurrentStatus = 700; RAN; NumJobStarts = 0",
                "waits since THEN: its shadow failed, after 5 min".to_owned(),
            ),
            (
                "LastEvent = \"JobReconnectFailedEvent\"; LastVacateReason = \"net\"",
                "waits: the connection to it was lost for good: net".to_owned(),
            ),
        ] {
            assert_eq!(told(&format!("JobStatus = 1; {}", job.replace("RAN", ran))), expected, "{job}");
        }
    }

    #[test]
    fn what_happened_to_other_jobs() {
        let excess = "HoldReasonCode = 34; HoldReasonSubCode = 102; MemoryProvisioned = 100";
        for (job, expected) in [
            ("JobStatus = 5; HoldReasonCode = 1; HoldReason = \"by ann\"", "is held: by ann (code 1)"),
            (
                "JobStatus = 5; EXCESS; RequestMemory = 100",
                "is held (code 34, subcode 102). It needs a larger RequestMemory than 100 before it is released",
            ),
            ("JobStatus = 5; EXCESS; RequestMemory = 200", "is held (code 34, subcode 102)"),
            ("JobStatus = 3; RemoveReason = \"by ann.\"; EnteredCurrentStatus = 700", "was removed at THEN: by ann"),
            ("JobStatus = 3; HoldReason = \"x\"", "was removed"),
            ("JobStatus = 4; ExitCode = 3; ExitSignal = 9", "ended with exit code 3"),
            ("JobStatus = 4; ExitSignal = 9", "ended by signal 9"),
            ("JobStatus = 4; EnteredCurrentStatus = 700", "ended at THEN"),
            ("JobStatus = 2; SlotName = \"slot1@a\"", "runs"),
            ("JobStatus = 2; NumJobStarts = 1; SlotName = \"slot1@a\"", "runs on slot1@a"),
            ("JobStatus = 2; NumJobStarts = 1; RemoteHost = \"b\"; LastRemoteHost = \"c\"", "runs on b"),
            ("JobStatus = 2; NumJobStarts = 1; LastRemoteHost = \"c\"", "runs on c"),
            (
                "JobStatus = 2; LastEvent = \"JobDisconnectedEvent\"; DisconnectReason = \"net\"",
                "runs, but the connection to it is lost: net",
            ),
            ("JobStatus = 2; LastEvent = \"JobDisconnectedEvent\"", "runs, but the connection to it is lost"),
            ("JobStatus = 7; NumJobStarts = 2; SlotName = \"s\"", "is suspended on s; it started 2 times"),
        ] {
            assert_eq!(told(&job.replace("EXCESS", excess)), expected, "{job}");
        }
    }
}
