//! The attempts that the events of a log tell.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, ExpressionKind, Name};

use super::job_event::{JobEvent, JobNumber};
use super::{AttemptOutcome, JobAttempt, host_of_address, host_of_slot};

/// Number of jobs that are remembered after they have left the queue, so that a late event of one is not taken for an
/// attempt whose start is missing.
const REMEMBERED_JOBS: usize = 1024;

/// Attributes of an event that are not those of its job.
const OF_EVENT: [&str; 7] = ["MyType", "EventTypeNumber", "EventTime", "Cluster", "Proc", "Subproc", "ToE"];

/// Follows the events of a log, and makes an ad of each attempt when it ends. Keeps only the jobs that have not left the
/// queue.
#[derive(Default)]
pub struct EventAttempts {
    jobs: FxHashMap<JobNumber, JobProgress>,
    /// The jobs that left the queue last.
    finished: VecDeque<JobNumber>,
}

/// What is known of a job between two of its events.
#[derive(Default)]
struct JobProgress {
    /// Since when the job has been idle.
    idle_since: Option<i64>,
    /// Number of attempts so far.
    attempts: i64,
    running: Option<RunningAttempt>,
    /// The time of the last checkpoint, and the seconds of the processors until then.
    checkpoint: Option<(i64, i64)>,
    /// The slot or the address to which files were transferred, if nothing else tells the host.
    destination: Option<String>,
    /// Whether the job was held or removed while it ran, so that an eviction tells the same end once more.
    is_closed: bool,
    /// Attributes of the job.
    known: Vec<(Name, Expression)>,
}

/// An attempt that has not ended.
struct RunningAttempt {
    attempt: JobAttempt,
    execute_host: String,
    /// What the slot tells of itself.
    properties: Vec<(Name, Expression)>,
}

impl EventAttempts {
    /// Takes the next event. Returns the attempt that it ends.
    pub fn add(&mut self, event: &JobEvent<'_>) -> Option<Ad> {
        let may_be_late = !matches!(event.number, 0 | 1) && !self.jobs.contains_key(&event.job);
        if may_be_late && self.finished.contains(&event.job) {
            return None;
        }
        let job = self.jobs.entry(event.job).or_default();
        let ended = job.add(event);
        // A job that is terminated or removed has left the queue.
        if matches!(event.number, 5 | 9) {
            self.jobs.remove(&event.job);
            self.finished.push_back(event.job);
            if self.finished.len() > REMEMBERED_JOBS {
                self.finished.pop_front();
            }
        }
        ended
    }

    /// Returns the attempts that have not ended, in the order of jobs.
    pub fn running(&mut self) -> Vec<Ad> {
        let jobs = std::mem::take(&mut self.jobs);
        let mut running: Vec<_> = jobs.into_iter().filter(|(_, job)| job.running.is_some()).collect();
        running.sort_unstable_by_key(|(number, _)| *number);
        running.into_iter().filter_map(|(_, mut job)| job.give_up(AttemptOutcome::Running)).collect()
    }
}

impl JobProgress {
    /// Takes an event. Returns the attempt that it ends.
    fn add(&mut self, event: &JobEvent<'_>) -> Option<Ad> {
        let outcome = match event.number {
            0 => {
                let lost = self.give_up(AttemptOutcome::Unknown);
                *self = JobProgress { idle_since: event.time, ..JobProgress::default() };
                self.learn(event);
                return lost;
            }
            1 => return self.start(event),
            3 => {
                self.checkpoint = event.time.zip(event.usage("RunRemoteUsage").map(|usage| usage.iter().sum()));
                return None;
            }
            13 => {
                self.idle_since = event.time;
                return None;
            }
            21 | 40 => {
                let slot = event.text("ExecuteHost").or_else(|| slot_of_error(&event.text("EventHead")?));
                self.destination = slot.or_else(|| event.text("Host")).or(self.destination.take());
                return None;
            }
            28 => {
                self.learn(event);
                return None;
            }
            2 => AttemptOutcome::ExecutableError,
            4 => AttemptOutcome::Evicted,
            5 => AttemptOutcome::Terminated,
            7 => AttemptOutcome::ShadowException,
            9 => AttemptOutcome::Removed,
            12 => AttemptOutcome::Held,
            24 => AttemptOutcome::Lost,
            _ => return None,
        };
        self.end(event, outcome)
    }

    /// Begins an attempt. Returns the one before if nothing told its end.
    fn start(&mut self, event: &JobEvent<'_>) -> Option<Ad> {
        let execute_host = event.text("ExecuteHost").unwrap_or_default();
        // Shadows of old versions repeat the event.
        if self.running.as_ref().is_some_and(|running| running.execute_host == execute_host) {
            return None;
        }
        let lost = self.give_up(AttemptOutcome::Unknown);
        self.attempts += 1;
        let mut attempt = JobAttempt::new(event.job, self.attempts, AttemptOutcome::Running);
        attempt.start = event.time;
        attempt.queue_seconds =
            event.time.zip(self.idle_since).map(|(start, idle)| start - idle).filter(|wait| *wait >= 0);
        attempt.set_address(&execute_host);
        attempt.set_slot(event.text("SlotName"));
        let properties = match event.ad.get_str("ExecuteProps").map(Expression::kind) {
            Some(ExpressionKind::Ad(properties)) => attributes(properties),
            _ => Vec::new(),
        };
        self.running = Some(RunningAttempt { attempt, execute_host, properties });
        lost
    }

    /// Ends an attempt, of which the start may be unknown.
    fn end(&mut self, event: &JobEvent<'_>, outcome: AttemptOutcome) -> Option<Ad> {
        let takes_job = matches!(outcome, AttemptOutcome::Held | AttemptOutcome::Removed);
        let destination = self.destination.take();
        let Some(running) = self.running.take() else {
            self.idle_since = if takes_job { None } else { event.time };
            // An idle job was held or removed, or its end was told before.
            if takes_job || std::mem::take(&mut self.is_closed) {
                return None;
            }
            // The job was sent to a slot and never ran, or the beginning of the log is missing.
            self.attempts += 1;
            let mut attempt = JobAttempt::new(event.job, self.attempts, outcome);
            attempt.end = event.time;
            match destination {
                Some(address) if address.starts_with('<') => attempt.set_address(&address),
                slot => attempt.set_slot(slot),
            }
            return Some(self.ad(&attempt, &[], Some(event)));
        };
        let RunningAttempt { mut attempt, properties, .. } = running;
        (attempt.end, attempt.outcome) = (event.time, outcome);
        attempt.seconds = event.time.zip(attempt.start).map(|(end, start)| end - start).filter(|length| *length >= 0);
        let used = event.usage("RunRemoteUsage").map(|usage| usage.iter().sum());
        let is_good = outcome == AttemptOutcome::Terminated
            || outcome == AttemptOutcome::Evicted && event.is_true("Checkpointed");
        let (good, good_cpu) = match (is_good, self.checkpoint.zip(attempt.start)) {
            (true, _) => (attempt.seconds, used),
            (false, Some(((time, cpu), start))) if time >= start => (Some(time - start), Some(cpu)),
            _ => (Some(0), Some(0)),
        };
        attempt.good_seconds = attempt.seconds.and(good);
        (attempt.cpu_seconds, attempt.good_cpu_seconds) = (used, good_cpu);
        self.idle_since = if takes_job { None } else { event.time };
        self.is_closed = takes_job;
        Some(self.ad(&attempt, &properties, Some(event)))
    }

    /// Ends the attempt whose end nothing tells.
    fn give_up(&mut self, outcome: AttemptOutcome) -> Option<Ad> {
        let RunningAttempt { attempt, properties, .. } = self.running.take()?;
        Some(self.ad(&JobAttempt { outcome, ..attempt }, &properties, None))
    }

    /// Remembers the attributes that an event tells of the job.
    fn learn(&mut self, event: &JobEvent<'_>) {
        for (name, expression) in attributes(event.ad) {
            match self.known.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = expression,
                None => self.known.push((name, expression)),
            }
        }
        if let Some(time) = event.time.filter(|_| event.number == 0) {
            self.known.push((Name::new("QDate"), Expression::literal(time)));
        }
    }

    /// Makes the ad of an attempt: its own attributes, those of the event that ended it, of the slot and of the job.
    fn ad(&self, attempt: &JobAttempt, properties: &[(Name, Expression)], end: Option<&JobEvent<'_>>) -> Ad {
        let mut others = self.known.clone();
        others.extend_from_slice(properties);
        others.extend(end.into_iter().flat_map(|event| attributes(event.ad)));
        let mut renamed = |from: &str, to: &str| {
            let value = end.and_then(|event| event.ad.get_str(from));
            others.extend(value.map(|value| (Name::new(to), value.clone())));
        };
        renamed("ReturnValue", "ExitCode");
        renamed("TerminatedBySignal", "ExitSignal");
        renamed("HoldReason", "Reason");
        renamed("HoldReasonCode", "ReasonCode");
        renamed("HoldReasonSubCode", "ReasonSubCode");
        renamed("Message", "Reason");
        attempt.to_ad(others.iter().map(|(name, expression)| (name, expression)))
    }
}

impl JobAttempt {
    /// Sets the slot, and the host by it.
    pub(super) fn set_slot(&mut self, slot: Option<String>) {
        let Some(slot) = slot else { return };
        self.host = Some(host_of_slot(&slot).to_owned());
        self.slot = Some(slot);
    }

    /// Sets the address of the host, such as `<192.0.2.9:9618?alias=node>`, and the host by it.
    fn set_address(&mut self, text: &str) {
        let (host, address) = host_of_address(text);
        self.host = Some(host.to_owned()).filter(|host| !host.is_empty());
        self.address = address.map(ToOwned::to_owned);
    }
}

/// Returns the slot of `Error from starter on slot1@node:`.
fn slot_of_error(text: &str) -> Option<String> {
    let (_, slot) = text.split_once(" on ")?;
    Some(slot.trim_end_matches(':').to_owned())
}

/// Returns the attributes of an ad that are not those of an event.
pub(super) fn attributes(ad: &Ad) -> Vec<(Name, Expression)> {
    let is_of_event = |name: &Name| OF_EVENT.iter().any(|known| name.is(known));
    let own = ad.iter().filter(|attribute| !is_of_event(attribute.name));
    own.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect()
}

#[cfg(test)]
mod tests;
