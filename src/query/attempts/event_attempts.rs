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
        (self.is_closed, self.destination) = (false, None);
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
mod tests {
    use crate::ad::{Dialect, Expression};
    use crate::format::{FileFormat, read};
    use crate::query::JobEvent;

    use super::EventAttempts;

    /// Returns the attempts of a log, each as the values of some attributes. An event is its number, its second and the
    /// rest of its text; the job is 1.0.
    fn attempts(events: &[(u16, i64, &str)], names: &[&str]) -> Vec<String> {
        let line = |(number, second, text): &(u16, i64, &str)| {
            let (minute, second) = (second / 60, second % 60);
            format!("{number:03} (001.000.000) 2026-09-01 10:{minute:02}:{second:02}Z {text}\n...\n")
        };
        let log: String = events.iter().map(line).collect();
        let mut attempts = EventAttempts::default();
        let read: Vec<_> = read(log.as_bytes(), FileFormat::EventLog, Dialect::Condor).flatten().collect();
        let mut ads: Vec<_> = read.iter().filter_map(|entry| attempts.add(&JobEvent::of(&entry.ad)?)).collect();
        ads.extend(attempts.running());
        let value = |value: Option<&Expression>| value.map_or("-".to_owned(), ToString::to_string);
        let row = |ad: &crate::ad::Ad| names.iter().map(|name| value(ad.get_str(name))).collect::<Vec<_>>().join(" ");
        ads.iter().map(row).collect()
    }

    const ON_A: &str = "Job executing on host: <192.0.2.9:9618?addrs=x&alias=a.example>";
    const ON_B: &str =
        "Job executing on host: <[2001:db8::1]:9618>\n\tSlotName: slot1_2@glide@b.example\n\tMemory = 512";
    const EVICTED: &str = "Job was evicted.\n\t(0) Job was not checkpointed.\n\t\tUsr 0 00:00:07, Sys 0 00:00:02  -  Run Remote \
                           Usage\n\tReason: preempted";
    const DONE: &str = "Job terminated.\n\t(1) Normal termination (return value 3)\n\t\tUsr 1 00:00:07, Sys 0 00:00:02  -  \
                        Run Remote Usage";

    #[test]
    fn attempts_are_those_of_condor_userlog() {
        let checkpointed = EVICTED.replace("(0) Job was not", "(1) Job was");
        for (events, expected) in [
            (
                &[(0, 0, "Job submitted from host: <a>"), (1, 10, ON_A), (5, 40, DONE)][..],
                &["1 10 30 30 0 \"terminated\""][..],
            ),
            (
                &[
                    (0, 0, "Job submitted from host: <a>"),
                    (1, 10, ON_A),
                    (4, 40, EVICTED),
                    (1, 45, ON_B),
                    (5, 60, DONE),
                ],
                &["1 10 30 0 30 \"evicted\"", "2 5 15 15 0 \"terminated\""],
            ),
            // What was checkpointed is not lost.
            (&[(1, 10, ON_A), (4, 40, &checkpointed)], &["1 - 30 30 0 \"evicted\""]),
            (
                &[
                    (1, 10, ON_A),
                    (3, 30, "Job was checkpointed.\n\t\tUsr 0 00:00:01, Sys 0 00:00:00  -  Run Remote Usage"),
                    (7, 40, "Shadow exception!"),
                ],
                &["1 - 30 20 10 \"shadow exception\""],
            ),
            // A hold ends an attempt; the time until the release is not waited for a slot.
            (
                &[
                    (0, 0, "Job submitted from host: <a>"),
                    (1, 10, ON_A),
                    (12, 20, "Job was held.\n\tx"),
                    (13, 30, "Job was released."),
                    (1, 32, ON_A),
                    (9, 40, "Job was aborted."),
                ],
                &["1 10 10 0 10 \"held\"", "2 2 8 0 8 \"removed\""],
            ),
            // The eviction of a held job tells the same end; an idle job has none.
            (&[(1, 10, ON_A), (12, 20, "Job was held.\n\tx"), (4, 21, EVICTED)], &["1 - 10 0 10 \"held\""]),
            (
                &[(0, 0, "Job submitted from host: <a>"), (12, 20, "Job was held.\n\tx"), (9, 21, "Job was aborted.")],
                &[],
            ),
            // Old shadows repeat the start. Another host shows that the end is missing.
            (&[(1, 10, ON_A), (1, 20, ON_A), (5, 40, DONE)], &["1 - 30 30 0 \"terminated\""]),
            (
                &[(1, 10, ON_A), (1, 20, ON_B), (24, 40, "Job reconnection failed")],
                &["1 - - - - \"unknown\"", "2 - 20 0 20 \"lost\""],
            ),
            // The beginning of the log is missing, and nothing follows a removal.
            (&[(4, 40, EVICTED), (9, 41, "Job was aborted."), (4, 42, EVICTED)], &["1 - - - - \"evicted\""]),
            // Clocks run backwards.
            (&[(1, 10, ON_A), (5, 5, DONE)], &["1 - - - - \"terminated\""]),
            (
                &[(1, 10, ON_A), (10, 20, "Job was suspended."), (11, 30, "Job was unsuspended.")],
                &["1 - - - - \"running\""],
            ),
        ] {
            let names = ["Attempt", "QueueSeconds", "Seconds", "GoodSeconds", "WastedSeconds", "Outcome"];
            assert_eq!(attempts(events, &names), expected, "{events:?}");
        }
    }

    #[test]
    fn an_attempt_knows_its_host_and_how_it_ended() {
        let names = ["Host", "Slot", "HostAddress", "Memory", "CpuSeconds", "GoodCpuSeconds", "ExitCode", "Reason"];
        let events = [(1, 10, ON_A), (4, 40, EVICTED), (1, 45, ON_B), (5, 60, DONE)];
        let expected = [
            "\"a.example\" - \"192.0.2.9\" - 9 0 - \"preempted\"",
            "\"b.example\" \"slot1_2@glide@b.example\" \"2001:db8::1\" 512 86409 86409 3 -",
        ];
        assert_eq!(attempts(&events, &names), expected);
        // A job that never ran: the host is that to which its files went.
        let events = [
            (40, 10, "Started transferring input files\n\tTransferring to host: <192.0.2.7:1?alias=c.example>"),
            (21, 11, "Error from starter on slot3@d.example:\n\tFailed to transfer files"),
            (4, 40, EVICTED),
        ];
        assert_eq!(attempts(&events[..1], &["Host"]), Vec::<String>::new());
        assert_eq!(attempts(&events, &["Host", "Start", "Outcome"]), ["\"d.example\" - \"evicted\""]);
        let events = [&events[..1], &events[2..]].concat();
        assert_eq!(attempts(&events, &["Host", "Seconds"]), ["\"c.example\" -"]);
    }
}
