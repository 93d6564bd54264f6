//! What the ad of a job tells of what keeps it from running, beside its constraint and its policies.

use crate::ad::time::local_moment;
use crate::ad::{Ad, Expression, ExpressionKind, Value};
use crate::constraint::conjuncts;
use crate::eval::{Context, FreeNames};
use crate::lint::is_comparison;
use crate::protocol::{JobState, RESOURCE_ATTRIBUTES, evaluate_attribute};
use crate::text::{counted, duration, join_and, shorten, with_commas};

use super::clauses::text;

/// What to do about requirements that only slots can meet.
pub(super) const DROP_SLOT_REQUIREMENTS: &str = "drop what only slots have from its requirements";

/// Number of starts from which it is told that they fail.
const MIN_FAILED_STARTS: i64 = 3;

/// Maximum number of characters of a policy in a sentence.
const MAX_POLICY_CHARS: usize = 60;

/// The universes that HTCondor has given up, by `JobUniverse`: `condor_submit` 25 refuses them.
const FORMER_UNIVERSES: [(i64, &str); 3] = [(1, "standard"), (4, "PVM"), (6, "PVM")];

/// Something in the ad of a job that keeps it from running, or delays it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobCircumstance {
    /// What it is about: `cool-down`.
    pub kind: &'static str,
    /// What it is, as it stands after the subject: `is in cool-down until ...`.
    pub predicate: String,
    /// What can be done; `None` if nothing.
    pub remedy: Option<String>,
    /// Whether the job runs in no slot as long as it lasts.
    pub is_decisive: bool,
}

/// Reads the ad of a job in a state.
pub(super) fn circumstances(ad: &Ad, state: JobState, context: &Context) -> Vec<JobCircumstance> {
    let reader = JobReader { ad, context };
    let waits = matches!(state, JobState::Idle | JobState::SchedulerUniverse | JobState::LocalUniverse);
    let mut found = Vec::new();
    if waits {
        found.extend(reader.cool_down());
        found.extend(reader.failed_starts());
        found.extend(reader.put_back());
    }
    if matches!(state, JobState::SchedulerUniverse | JobState::LocalUniverse) {
        found.extend(reader.slot_requirements());
    }
    if state == JobState::GridUniverse {
        found.extend(reader.grid());
    }
    if state == JobState::ManagedElsewhere {
        found.extend(reader.routed());
    }
    if matches!(state, JobState::Running | JobState::TransferringOutput) {
        found.extend(reader.lease());
        found.extend(reader.transfer_queue());
    }
    if state == JobState::Completed {
        found.extend(reader.kept());
    }
    if state == JobState::Idle {
        found.extend(reader.universe());
        found.extend(reader.proxy());
        found.extend(reader.parallel());
        found.extend(reader.nice_user());
    }
    found.extend(reader.dagman());
    found
}

/// Reads the ad of a job.
struct JobReader<'r> {
    ad: &'r Ad,
    context: &'r Context,
}

impl JobReader<'_> {
    fn number(&self, name: &str) -> Option<i64> {
        match evaluate_attribute(self.ad, &name.into(), self.context) {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        match evaluate_attribute(self.ad, &name.into(), self.context) {
            Some(Value::String(text)) => Some(text.to_str().trim().to_owned()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    fn is_true(&self, name: &str) -> bool {
        evaluate_attribute(self.ad, &name.into(), self.context) == Some(Value::Boolean(true))
    }

    /// The access point offers the job to nobody until a time.
    fn cool_down(&self) -> Option<JobCircumstance> {
        let (until, now) = (self.number("JobCoolDownExpiration")?, self.context.now?);
        let reason = self.text("VacateReason").map_or_else(String::new, |reason| format!(" after \"{reason}\""));
        (until >= now).then(|| JobCircumstance {
            kind: "cool-down",
            predicate: format!("is in cool-down{reason} until {}, in {}", local_moment(until), duration(until - now)),
            remedy: Some(format!("wait until {}, in {}", local_moment(until), duration(until - now))),
            is_decisive: true,
        })
    }

    /// The job runs at its access point, and its requirements ask for what only slots have.
    fn slot_requirements(&self) -> Option<JobCircumstance> {
        let requirements = self.ad.get_str("Requirements")?;
        let reads_resource = |clause: &&Expression| {
            let is_comparison = matches!(clause.without_parentheses().kind(), ExpressionKind::Binary(operator, ..) if is_comparison(*operator));
            let theirs = FreeNames::of(clause, self.context.dialect).theirs;
            is_comparison && theirs.iter().any(|name| RESOURCE_ATTRIBUTES.iter().any(|known| name.is(known)))
        };
        let clause = conjuncts(requirements).into_iter().find(reads_resource)?;
        Some(JobCircumstance {
            kind: "slot-requirements",
            predicate: format!("asks with `{}` for what only slots have", text(clause, self.context.dialect)),
            remedy: Some(DROP_SLOT_REQUIREMENTS.to_owned()),
            is_decisive: false,
        })
    }

    /// The job goes to a system outside the pool: what is known of it there.
    fn grid(&self) -> Option<JobCircumstance> {
        // `condor schedd.example.org collector.example.org:9618`
        let resource = self.text("GridResource")?;
        let resource = match resource.split_whitespace().collect::<Vec<_>>().as_slice() {
            [kind, host, ..] => format!("{host} ({kind})"),
            _ => resource,
        };
        let unavailable = self.number("GridResourceUnavailableTime").zip(self.context.now).map(|(since, now)| {
            format!("waits: {resource} has not answered since {}, for {}", local_moment(since), duration(now - since))
        });
        let status = || self.text("GridJobStatus").map(|status| format!("is {status} at {resource}"));
        Some(JobCircumstance {
            kind: "grid",
            predicate: unavailable.or_else(status).unwrap_or_else(|| format!("goes to {resource}")),
            remedy: Some("see what became of it there: condor_q -grid, GridmanagerLog of the access point".to_owned()),
            is_decisive: false,
        })
    }

    /// The job got slots, and its program did not begin there.
    fn failed_starts(&self) -> Option<JobCircumstance> {
        let (shadows, starts) = (self.number("NumShadowStarts")?, self.number("NumJobStarts").unwrap_or(0));
        if shadows < MIN_FAILED_STARTS || starts.saturating_mul(2) > shadows {
            return None;
        }
        let began =
            if starts == 0 { "never began".to_owned() } else { format!("began only {}", counted_times(starts)) };
        let host = self.text("LastRemoteHost").map_or_else(String::new, |host| format!(", last on {host}"));
        let reason = self.text("VacateReason").map_or_else(String::new, |reason| format!(": {reason}"));
        Some(JobCircumstance {
            kind: "failed-starts",
            predicate: format!("got a slot {}{host}, and its program {began}{reason}", counted_times(shadows)),
            remedy: Some(
                "see why its starts fail: the log of the job, ShadowLog of the access point, StarterLog of the slot"
                    .to_owned(),
            ),
            is_decisive: false,
        })
    }

    /// The access point has lost the slot of the job.
    fn lease(&self) -> Option<JobCircumstance> {
        let (renewed, length) = (self.number("LastJobLeaseRenewal")?, self.number("JobLeaseDuration")?);
        let (end, now) = (renewed.checked_add(length)?, self.context.now?);
        (end < now).then(|| JobCircumstance {
            kind: "lease",
            predicate: format!(
                "has a lease that ended {} ago, at {}: its slot may run it no more",
                duration(now - end),
                local_moment(end)
            ),
            remedy: Some("see whether its slot and its shadow are there; without them it runs again".to_owned()),
            is_decisive: false,
        })
    }

    /// The job ended, and its policy put it back into the queue.
    fn put_back(&self) -> Option<JobCircumstance> {
        let end = match (self.number("ExitSignal"), self.number("ExitCode")) {
            (Some(signal), _) if self.is_true("ExitBySignal") => format!("signal {signal}"),
            (_, Some(code)) => format!("exit code {code}"),
            _ => return None,
        };
        let remove = self.ad.get_str("OnExitRemove")?;
        let is_put_back =
            evaluate_attribute(self.ad, &"OnExitRemove".into(), self.context) == Some(Value::Boolean(false));
        is_put_back.then(|| {
            let ends = self.number("NumJobCompletions").filter(|ends| *ends > 1);
            let ends = ends.map_or_else(String::new, |ends| format!(" {}", counted_times(ends)));
            let last = if ends.is_empty() { "" } else { " last" };
            let rule = shorten(&text(remove, self.context.dialect), MAX_POLICY_CHARS);
            JobCircumstance {
                kind: "put-back",
                predicate: format!(
                    "has ended{ends},{last} with {end}, and was put back: OnExitRemove is false (`{rule}`)"
                ),
                remedy: Some("see from its output and error why its program ends so".to_owned()),
                is_decisive: false,
            }
        })
    }

    /// The job has a slot, and waits until the access point transfers its files.
    fn transfer_queue(&self) -> Option<JobCircumstance> {
        if !self.is_true("TransferQueued") {
            return None;
        }
        let (files, since, limit) = if self.is_true("TransferringOutput") {
            ("output", "TransferOutQueued", "MAX_CONCURRENT_DOWNLOADS")
        } else {
            ("input", "TransferInQueued", "MAX_CONCURRENT_UPLOADS")
        };
        let since = self.number(since).zip(self.context.now).map_or_else(String::new, |(since, now)| {
            format!(" since {}, for {},", local_moment(since), duration(now - since))
        });
        let size = self.number("TransferInputSizeMB").filter(|size| files == "input" && *size > 0);
        let size = size.map_or_else(String::new, |size| {
            format!(" ({} MB)", with_commas(usize::try_from(size).unwrap_or_default()))
        });
        Some(JobCircumstance {
            kind: "transfer-queue",
            predicate: format!("has waited{since} until its access point transfers its {files}{size}"),
            remedy: Some(format!(
                "wait, transfer less, or let other servers transfer it (URLs); the admin can raise {limit}"
            )),
            is_decisive: false,
        })
    }

    /// The job has ended, and stays in the queue.
    fn kept(&self) -> Option<JobCircumstance> {
        let is_kept =
            evaluate_attribute(self.ad, &"LeaveJobInQueue".into(), self.context) == Some(Value::Boolean(true));
        let id = match (self.number("ClusterId"), self.number("ProcId")) {
            (Some(cluster), Some(process)) => format!(" {cluster}.{process}"),
            _ => String::new(),
        };
        let fetch = if self.number("StageInFinish").is_some() {
            format!("fetch its output (condor_transfer_data{id}), then remove it")
        } else {
            "remove it if it need not stay".to_owned()
        };
        is_kept.then(|| JobCircumstance {
            kind: "kept",
            predicate: "stays in the queue as long as LeaveJobInQueue is true".to_owned(),
            remedy: Some(format!("{fetch} (condor_rm{id})")),
            is_decisive: false,
        })
    }

    /// The job router has made another job of the job.
    fn routed(&self) -> Option<JobCircumstance> {
        let other = self.text("RoutedToJobId")?;
        Some(JobCircumstance {
            kind: "routed",
            predicate: format!("has become {other}"),
            remedy: Some(format!("explain {other} instead, or see what became of it: condor_q {other} -long")),
            is_decisive: false,
        })
    }

    /// The job is of a universe that HTCondor has given up.
    fn universe(&self) -> Option<JobCircumstance> {
        let number = self.number("JobUniverse")?;
        let (_, universe) = FORMER_UNIVERSES.iter().find(|(known, _)| *known == number)?;
        Some(JobCircumstance {
            kind: "universe",
            predicate: format!("is of the {universe} universe, which HTCondor has no more"),
            remedy: Some("submit it anew in the vanilla universe".to_owned()),
            is_decisive: true,
        })
    }

    /// The credential of the job has expired.
    fn proxy(&self) -> Option<JobCircumstance> {
        let (end, now) = (self.number("x509UserProxyExpiration")?, self.context.now?);
        (end <= now).then(|| JobCircumstance {
            kind: "proxy",
            predicate: format!("has a proxy that expired at {}, {} ago", local_moment(end), duration(now - end)),
            remedy: Some("renew the proxy".to_owned()),
            is_decisive: false,
        })
    }

    /// The job needs several slots at once.
    fn parallel(&self) -> Option<JobCircumstance> {
        let hosts = self.number("MinHosts").filter(|_| self.number("JobUniverse") == Some(11))?;
        let scheduler = self.text("Scheduler").map_or_else(String::new, |scheduler| format!(" of {scheduler}"));
        Some(JobCircumstance {
            kind: "parallel",
            predicate: format!(
                "needs {}{scheduler} at once (parallel universe)",
                counted(usize::try_from(hosts).ok()?, "slot")
            ),
            remedy: None,
            is_decisive: true,
        })
    }

    fn nice_user(&self) -> Option<JobCircumstance> {
        self.is_true("NiceUser").then(|| JobCircumstance {
            kind: "nice-user",
            predicate: "is of a nice user: it gets slots that no other job takes".to_owned(),
            remedy: None,
            is_decisive: false,
        })
    }

    /// The job is `DAGMan`: what its nodes do.
    fn dagman(&self) -> Option<JobCircumstance> {
        let total = self.number("DAG_NodesTotal")?;
        let nodes =
            [("Done", "done"), ("Failed", "failed"), ("Queued", "queued"), ("Ready", "ready"), ("Unready", "waiting")];
        let jobs = [("Running", "running"), ("Idle", "idle"), ("Held", "held")];
        let told = |prefix: &str, of: &[(&str, &str)]| -> Vec<String> {
            let count = |(name, word): &(&str, &str)| {
                let count = self.number(&format!("DAG_{prefix}{name}")).filter(|count| *count > 0)?;
                Some(format!("{count} {word}"))
            };
            of.iter().filter_map(count).collect()
        };
        let (nodes, jobs) = (told("Nodes", &nodes), told("Jobs", &jobs));
        let jobs = if jobs.is_empty() { String::new() } else { format!("; of its jobs {}", join_and(&jobs)) };
        let nodes = if nodes.is_empty() { "none begun".to_owned() } else { join_and(&nodes) };
        let is = |name: &str| self.number(name).is_some_and(|count| count > 0);
        let remedy = if is("DAG_JobsHeld") {
            let id = self.number("ClusterId").map_or_else(|| "its number".to_owned(), |id| id.to_string());
            Some(format!("see why its jobs are held: condor_q -hold -constraint 'DAGManJobId == {id}'"))
        } else {
            is("DAG_NodesFailed").then(|| "mend the failed nodes; the rescue DAG goes on from there".to_owned())
        };
        let predicate = format!("is DAGMan: of {} {nodes}{jobs}", counted(usize::try_from(total).ok()?, "node"));
        Some(JobCircumstance { kind: "dagman", predicate, remedy, is_decisive: false })
    }
}

/// Writes `once`, or `12 times`.
fn counted_times(number: i64) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

#[cfg(test)]
mod tests {
    use super::circumstances;
    use crate::ad::time::local_moment;
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::protocol::{AdvertisedState, Advertisement};
    use crate::syntax::{ParseOptions, parse_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
    }

    #[test]
    fn what_keeps_jobs_from_running() {
        let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
        for (job, expected) in [
            ("JobStatus = 1; JobCoolDownExpiration = 999", ""),
            ("JobStatus = 2; JobCoolDownExpiration = 1300", ""),
            ("JobStatus = 1; JobCoolDownExpiration = 1300", "is in cool-down until THEN, in 5 min!"),
            (
                "JobStatus = 1; JobUniverse = 7; VacateReason = \"no scratch\"; JobCoolDownExpiration = 1300",
                "is in cool-down after \"no scratch\" until THEN, in 5 min!",
            ),
            ("JobStatus = 1; NumShadowStarts = 2; NumJobStarts = 0", ""),
            ("JobStatus = 1; NumShadowStarts = 12; NumJobStarts = 11", ""),
            ("JobStatus = 5; NumShadowStarts = 12; NumJobStarts = 0", ""),
            (
                "JobStatus = 1; NumShadowStarts = 12; NumJobStarts = 0",
                "got a slot 12 times, and its program never began",
            ),
            (
                "JobStatus = 1; NumShadowStarts = 12; NumJobStarts = 1; LastRemoteHost = \"slot1@h\"; VacateReason = \"no disk\"",
                "got a slot 12 times, last on slot1@h, and its program began only once: no disk",
            ),
            (
                "JobStatus = 2; LastJobLeaseRenewal = 100; JobLeaseDuration = 600",
                "has a lease that ended 5 min ago, at BEFORE: its slot may run it no more",
            ),
            ("JobStatus = 2; LastJobLeaseRenewal = 900; JobLeaseDuration = 600", ""),
            ("JobStatus = 1; MinHosts = 8; JobUniverse = 5", ""),
            ("JobStatus = 1; MinHosts = 8; JobUniverse = 11", "needs 8 slots at once (parallel universe)!"),
            (
                "JobStatus = 1; JobUniverse = 12; Requirements = TARGET.HasX && TARGET.Memory >= 5",
                "asks with `TARGET.Memory >= 5` for what only slots have",
            ),
            ("JobStatus = 1; JobUniverse = 12; Requirements = TARGET.Arch == \"X86_64\"", ""),
            ("JobStatus = 1; OnExitRemove = ExitCode == 0", ""),
            ("JobStatus = 1; OnExitRemove = ExitCode == 0; ExitCode = 0", ""),
            (
                "JobStatus = 1; OnExitRemove = ExitCode == 0; ExitCode = 1",
                "has ended, with exit code 1, and was put back: OnExitRemove is false (`ExitCode == 0`)",
            ),
            (
                "JobStatus = 1; OnExitRemove = !ExitBySignal; ExitBySignal = true; ExitSignal = 11; NumJobCompletions = 4",
                "has ended 4 times, last with signal 11, and was put back: OnExitRemove is false (`!ExitBySignal`)",
            ),
            ("JobStatus = 1; TransferQueued = true", ""),
            (
                "JobStatus = 2; TransferQueued = true; TransferringInput = true; TransferInQueued = 700; TransferInputSizeMB = 41210",
                "has waited since BEFORE, for 5 min, until its access point transfers its input (41,210 MB)",
            ),
            (
                "JobStatus = 2; TransferQueued = true; TransferringOutput = true",
                "has waited until its access point transfers its output",
            ),
            ("JobStatus = 4; LeaveJobInQueue = false", ""),
            (
                "JobStatus = 4; LeaveJobInQueue = JobStatus == 4",
                "stays in the queue as long as LeaveJobInQueue is true",
            ),
            ("JobStatus = 1; Managed = \"External\"; RoutedToJobId = \"7.0\"", "has become 7.0"),
            ("JobStatus = 1; Managed = \"Schedd\"; RoutedToJobId = \"7.0\"", ""),
            (
                "JobStatus = 1; JobUniverse = 9; GridResource = \"condor ce\"; GridJobStatus = \"IDLE\"",
                "is IDLE at ce (condor)",
            ),
            ("JobStatus = 1; NiceUser = true", "is of a nice user: it gets slots that no other job takes"),
            (
                "JobStatus = 2; JobUniverse = 7; DAG_NodesTotal = 9; DAG_NodesDone = 4; DAG_NodesFailed = 1; DAG_NodesReady = 0; \
                 DAG_NodesQueued = 4; DAG_JobsHeld = 3; DAG_JobsIdle = 1",
                "is DAGMan: of 9 nodes 4 done, 1 failed and 4 queued; of its jobs 1 idle and 3 held",
            ),
        ] {
            let ad = ad(&format!("MyType = \"Job\"; ClusterId = 1; ProcId = 0; {job}"));
            let AdvertisedState::Job(state) = Advertisement::new(&ad, &context).state() else { panic!("{job}") };
            let found = circumstances(&ad, state, &context);
            let told =
                found.iter().map(|known| format!("{}{}", known.predicate, if known.is_decisive { "!" } else { "" }));
            let told = told.collect::<Vec<_>>().join(" | ");
            let told = told.replace(&local_moment(1300), "THEN").replace(&local_moment(700), "BEFORE");
            assert_eq!(told, expected, "{job}");
        }
    }
}
