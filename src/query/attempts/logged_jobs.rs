//! The jobs of event logs, as `condor_q -userlog` makes their ads (HTCondor's `userlog_to_classads.cpp`).

use indexmap::IndexMap;

use crate::ad::{Ad, Expression, Name, Value};

use super::event_attempts::{EventAttempts, attributes};
use super::job_event::{JobEvent, JobNumber, integer};

/// The numbers of `JobStatus` after events.
const STATUS_AFTER: [(i64, i64); 11] =
    [(0, 1), (1, 2), (4, 1), (5, 4), (7, 1), (9, 3), (10, 7), (11, 2), (12, 5), (13, 1), (24, 1)];

/// `JobStatus` of a job that waits.
const IDLE: i64 = 1;

/// `HoldReasonCode` of a job that someone held.
const USER_REQUEST: i64 = 1;

/// What a job has from its submission on, until later events change it.
const AT_SUBMISSION: [(&str, i64); 8] = [
    ("LastJobStatus", 0),
    ("JobPrio", 0),
    ("ImageSize", 0),
    ("LastSuspensionTime", 0),
    ("CompletionDate", 0),
    ("NumJobStarts", 0),
    ("TotalSuspensions", 0),
    ("NumSystemHolds", 0),
];

/// Times of processors at submission, and what an event of the end of a job tells of them.
const CPU_TIMES: [(&str, &str, usize); 4] = [
    ("LocalUserCpu", "LocalUsage", 0),
    ("RemoteUserCpu", "RemoteUsage", 0),
    ("LocalSysCpu", "LocalUsage", 1),
    ("RemoteSysCpu", "RemoteUsage", 1),
];

/// Attributes that say which event triggered the ad in an event.
const OF_TRIGGER: [&str; 2] = ["TriggerEventTypeNumber", "TriggerEventTypeName"];

/// Follows the events of logs, and has an ad for each of their jobs.
///
/// Beside the attributes of `condor_q -userlog`, a job has those of its events, of which the last ones count, and
/// `WallSeconds` and `WastedSeconds` of its attempts, and the type of the last event that changed its state (`LastEvent`). A job whose submission is in no log is kept, too.
#[derive(Default)]
pub struct LoggedJobs {
    jobs: IndexMap<JobNumber, JobRecord>,
    attempts: EventAttempts,
    /// The time of evaluation, in seconds since 1970.
    now: i64,
}

/// The ad of a job so far.
#[derive(Default)]
struct JobRecord(IndexMap<Name, Expression>);

impl LoggedJobs {
    /// Has no jobs yet. `now` is the time of evaluation, in seconds since 1970.
    #[must_use]
    pub fn at(now: i64) -> Self {
        LoggedJobs { now, ..LoggedJobs::default() }
    }

    /// Takes the next event, of a log of this name.
    pub fn add(&mut self, event: &JobEvent<'_>, log: &str) {
        let ended = self.attempts.add(event);
        let job = self.jobs.entry(event.job).or_insert_with(|| JobRecord::new(event.job));
        if event.number == 0 {
            *job = JobRecord::submitted(event, log, self.now);
        }
        job.merge(event);
        job.follow(event);
        for (total, part) in [("WallSeconds", "Seconds"), ("WastedSeconds", "WastedSeconds")] {
            if let Some(seconds) = ended.as_ref().and_then(|attempt| integer(attempt, part)) {
                job.put(total, job.integer(total).unwrap_or(0).saturating_add(seconds));
            }
        }
    }

    /// Returns the jobs in the order of their first events.
    pub fn into_ads(self) -> impl Iterator<Item = Ad> {
        self.jobs.into_values().map(|job| job.0.into_iter().collect())
    }
}

impl JobRecord {
    fn new(job: JobNumber) -> Self {
        let mut new = JobRecord::default();
        new.put_text("MyType", "Job");
        new.put_text("TargetType", "Machine");
        new.put("ClusterId", job.cluster);
        new.put("ProcId", job.process);
        new
    }

    /// Returns a job after its submission.
    fn submitted(event: &JobEvent<'_>, log: &str, now: i64) -> Self {
        let mut job = JobRecord::new(event.job);
        job.put_text("UserLog", log);
        if let Some(time) = event.time {
            job.put("QDate", time);
            job.put_text("GlobalJobId", &format!("localhost#{}#{time}", event.job));
        }
        job.put("ServerTime", now);
        // HTCondor's values for what a log does not tell.
        job.put_text("Owner", "???");
        job.put_text("Cmd", "???");
        for (name, value) in AT_SUBMISSION {
            job.put(name, value);
        }
        for (name, ..) in CPU_TIMES {
            job.put_real(name, 0.0);
        }
        job.put_real("RemoteWallClockTime", 0.0);
        job
    }

    /// Takes over the attributes of an event.
    fn merge(&mut self, event: &JobEvent<'_>) {
        for (name, expression) in attributes(event.ad) {
            if !OF_TRIGGER.iter().any(|of_trigger| name.is(of_trigger)) {
                self.0.insert(name, expression);
            }
        }
        if let Some(time) = event.ad.get_str("EventTime") {
            self.0.insert(Name::new("EventTime"), time.clone());
        }
    }

    /// Changes the ad as the schedd changes that of its job.
    fn follow(&mut self, event: &JobEvent<'_>) {
        // Sizes and ads tell nothing that happened to the job.
        if let Some(kind) = event.text("MyType").filter(|_| !matches!(event.number, 6 | 28 | 33 | 40)) {
            self.put_text("LastEvent", &kind);
        }
        let before = self.integer("JobStatus").unwrap_or(IDLE);
        if let Some((_, status)) = STATUS_AFTER.iter().find(|(number, _)| *number == event.number) {
            if event.number != 0 {
                self.put("LastJobStatus", before);
            }
            self.put("JobStatus", *status);
            self.put_time("EnteredCurrentStatus", event);
        }
        let reason = |name: &str| event.text(name).unwrap_or_default();
        match event.number {
            1 => {
                self.put_time("JobCurrentStartDate", event);
                self.count("NumJobStarts");
                self.put_text("StartdIpAddr", &reason("ExecuteHost"));
                self.put_text("RemoteHost", &reason("ExecuteHost"));
            }
            4 => self.vacate(event, Some(reason("Reason"))),
            5 => self.terminate(event),
            6 => {
                // What HTCondor takes for a size that the event does not have differs.
                for (name, from, absent) in [
                    ("ImageSize", "Size", -1),
                    ("ResidentSetSize", "ResidentSetSize", 0),
                    ("ProportionalSetSize", "ProportionalSetSize", -1),
                ] {
                    self.put(name, event.integer(from).unwrap_or(absent));
                }
            }
            // HTCondor does not take the time of this event for that of an eviction.
            7 => self.put_text("LastVacateReason", &reason("Message")),
            9 => self.put_reason("RemoveReason", &reason("Reason")),
            10 => {
                self.put_time("LastSuspensionTime", event);
                self.count("TotalSuspensions");
            }
            12 => {
                let reason = reason("HoldReason");
                if before != IDLE {
                    self.vacate(event, Some(reason.clone()).filter(|reason| !reason.is_empty()));
                }
                self.put_text("HoldReason", &reason);
                if event.integer("HoldReasonCode") != Some(USER_REQUEST) {
                    self.count("NumSystemHolds");
                }
            }
            13 => self.put_reason("ReleaseReason", &reason("Reason")),
            24 => self.vacate(event, Some(reason("Reason")).filter(|reason| !reason.is_empty())),
            _ => {}
        }
    }

    /// Notes that the job has left its slot.
    fn vacate(&mut self, event: &JobEvent<'_>, reason: Option<String>) {
        self.put_time("LastVacateTime", event);
        if let Some(reason) = reason {
            self.put_text("LastVacateReason", &reason);
        }
    }

    /// Notes how the job ended.
    fn terminate(&mut self, event: &JobEvent<'_>) {
        if let Some(host) = self.0.shift_remove(&Name::new("RemoteHost")) {
            self.0.insert(Name::new("LastRemoteHost"), host);
        }
        self.put_time("CompletionDate", event);
        let is_normal = event.is_true("TerminatedNormally");
        self.0.insert(Name::new("ExitBySignal"), Expression::literal(!is_normal));
        let (name, from) = if is_normal { ("ExitCode", "ReturnValue") } else { ("ExitSignal", "TerminatedBySignal") };
        if let Some(value) = event.integer(from) {
            self.put(name, value);
        }
        for (name, usage, part) in CPU_TIMES {
            for (prefix, scope) in [("Last", "Run"), ("", "Total")] {
                if let Some(times) = event.usage(&format!("{scope}{usage}")) {
                    self.put_seconds(&format!("{prefix}{name}"), times[part]);
                }
            }
        }
        let started = self.integer("JobCurrentStartDate");
        if let Some(length) = event.time.zip(started).map(|(end, start)| end.saturating_sub(start)) {
            self.put_seconds("LastRemoteWallClockTime", length);
            let all = self.integer("RemoteWallClockTime").unwrap_or(0).saturating_add(length);
            self.put_seconds("RemoteWallClockTime", all);
        }
    }

    fn integer(&self, name: &str) -> Option<i64> {
        match self.0.get(&Name::new(name)).and_then(Expression::as_literal)? {
            Value::Integer(integer) => Some(*integer),
            #[allow(clippy::cast_possible_truncation)] // it was an integer
            Value::Real(real) => Some(*real as i64),
            _ => None,
        }
    }

    fn put(&mut self, name: &str, value: i64) {
        self.0.insert(Name::new(name), Expression::literal(value));
    }

    fn put_real(&mut self, name: &str, value: f64) {
        self.0.insert(Name::new(name), Expression::literal(value));
    }

    #[allow(clippy::cast_precision_loss)] // seconds are far below 2^53
    fn put_seconds(&mut self, name: &str, value: i64) {
        self.put_real(name, value as f64);
    }

    fn put_text(&mut self, name: &str, text: &str) {
        self.0.insert(Name::new(name), Expression::literal(Value::string(text.as_bytes())));
    }

    /// Sets a reason that is not empty.
    fn put_reason(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.put_text(name, text);
        }
    }

    fn put_time(&mut self, name: &str, event: &JobEvent<'_>) {
        if let Some(time) = event.time {
            self.put(name, time);
        }
    }

    fn count(&mut self, name: &str) {
        self.put(name, self.integer(name).unwrap_or(0) + 1);
    }
}

#[cfg(test)]
mod tests;
