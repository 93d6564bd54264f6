//! What the ad of a job tells of what keeps it from running, beside its constraint and its policies.

use crate::ad::time::local_moment;
use crate::ad::{Ad, Expression, ExpressionKind, Truth, Value};
use crate::configuration::ConfiguredPolicy;
use crate::constraint::conjuncts;
use crate::eval::{Context, Environment, Evaluator, FreeNames};
use crate::lint::is_comparison;
use crate::protocol::{JobState, RESOURCE_ATTRIBUTES, evaluate_attribute};
use crate::text::{counted, duration, join_and};

use super::clauses::text;

/// What to do about requirements that only slots can meet.
pub(super) const DROP_SLOT_REQUIREMENTS: &str = "drop what only slots have from its requirements";

/// Number of starts from which it is told that they fail.
const MIN_FAILED_STARTS: i64 = 3;

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
    }
    if matches!(state, JobState::SchedulerUniverse | JobState::LocalUniverse) {
        found.extend(reader.slot_requirements());
    }
    if state == JobState::GridUniverse {
        found.extend(reader.grid());
    }
    if state == JobState::Running {
        found.extend(reader.lease());
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
        let is_nice = evaluate_attribute(self.ad, &"NiceUser".into(), self.context) == Some(Value::Boolean(true));
        is_nice.then(|| JobCircumstance {
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

/// What an access point says of a job that it runs itself, without a slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScheddAnswer {
    /// It runs the job.
    Accepts,
    /// The requirements of the job refuse it: by a clause, and why.
    RefusedByJob(String),
    /// Its own condition refuses the job: the name, and what decides.
    Refuses(String),
}

impl ScheddAnswer {
    /// Asks the ad of a schedd. `start` is `START_LOCAL_UNIVERSE` or `START_SCHEDULER_UNIVERSE` of its configuration. Without it
    /// that of the ad counts, and then HTCondor's default, if one counts.
    #[must_use]
    pub fn of(job: &Ad, is_local: bool, schedd: &Ad, start: Option<&ConfiguredPolicy>, context: &Context) -> Self {
        let name = if is_local { "StartLocalUniverse" } else { "StartSchedulerUniverse" };
        let of_ad = schedd.get_str(name);
        let start = start.filter(|start| !start.is_default || of_ad.is_none());
        let note = if start.is_some_and(|start| start.is_default) { " (HTCondor's default)" } else { "" };
        if let Some(start) = start.map(|start| &start.expression).or(of_ad)
            && let Some(refusal) = refusal(start, schedd, job, "the job", context)
        {
            return ScheddAnswer::Refuses(format!("{name}{note}: {refusal}"));
        }
        let refused =
            job.get_str("Requirements").and_then(|own| refusal(own, job, schedd, "the ad of the schedd", context));
        refused.map_or(ScheddAnswer::Accepts, ScheddAnswer::RefusedByJob)
    }
}

/// Says which clause of an ad's condition a partner does not meet, and what the partner lacks; `None` if it meets all.
fn refusal(condition: &Expression, own: &Ad, partner: &Ad, noun: &str, context: &Context) -> Option<String> {
    let (environment, [frame, _]) = Environment::pair(own.clone(), partner.clone());
    let outcome = |part: &Expression| {
        let value = Evaluator::new(&environment, context).evaluate(part, &frame).unwrap_or(Value::Undefined);
        Truth::of(&value, context.dialect)
    };
    if outcome(condition) == Truth::True {
        return None;
    }
    let clauses = conjuncts(condition);
    let unmet = clauses.into_iter().find(|clause| outcome(clause) != Truth::True).unwrap_or(condition);
    let names = FreeNames::of(unmet, context.dialect);
    let read = names.theirs.iter().chain(names.unqualified.iter().filter(|name| own.get(name).is_none()));
    let mut lacks: Vec<String> =
        read.filter(|name| partner.get(name).is_none()).map(std::string::ToString::to_string).collect();
    lacks.dedup();
    let lacks = if lacks.is_empty() || outcome(unmet) == Truth::False {
        String::new()
    } else {
        format!(" ({noun} has no {})", join_and(&lacks))
    };
    Some(format!("`{}` is {}{lacks}", text(unmet, context.dialect), outcome(unmet).phrase()))
}

#[cfg(test)]
mod tests {
    use super::{ScheddAnswer, circumstances};
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

    #[test]
    fn an_access_point_answers_for_jobs_without_slots() {
        let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
        let schedd = ad("MyType = \"Scheduler\"; TotalSchedulerJobsRunning = 10; TotalLocalJobsRunning = 3; \
             StartSchedulerUniverse = TotalSchedulerJobsRunning < 500 && TARGET.Owner =!= \"bob\"; StartLocalUniverse = TotalLocalJobsRunning < 3");
        for (job, is_local, expected) in [
            ("Requirements = true || false && TARGET.OpSys == \"LINUX\"", false, "Accepts"),
            (
                "Requirements = (true || false) && TARGET.OpSys == \"LINUX\"",
                false,
                "RefusedByJob(\"`TARGET.OpSys == \\\"LINUX\\\"` is undefined (the ad of the schedd has no OpSys)\")",
            ),
            (
                "Requirements = true; Owner = \"bob\"",
                false,
                "Refuses(\"StartSchedulerUniverse: `TARGET.Owner =!= \\\"bob\\\"` is false\")",
            ),
            ("Requirements = true", true, "Refuses(\"StartLocalUniverse: `TotalLocalJobsRunning < 3` is false\")"),
            ("Owner = \"ann\"", false, "Accepts"),
        ] {
            let answer = ScheddAnswer::of(&ad(job), is_local, &schedd, None, &context);
            assert_eq!(format!("{answer:?}"), expected, "{job}");
        }
    }
}
