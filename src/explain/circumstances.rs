//! What the ad of a job tells of what keeps it from running, beside its constraint and its policies.

use crate::ad::time::local_moment;
use crate::ad::{Ad, Expression, ExpressionKind};
use crate::constraint::conjuncts;
use crate::eval::{Context, FreeNames};
use crate::lint::is_comparison;
use crate::protocol::{JobState, RESOURCE_ATTRIBUTES, cool_down_end};
use crate::text::{counted, duration, join_and};

use super::clauses::text;
use super::job_circumstance::JobCircumstance;
use super::job_reader::JobReader;
use super::runs;

/// What to do about requirements that only slots can meet.
pub(super) const DROP_SLOT_REQUIREMENTS: &str = "drop what only slots have from its requirements";

/// The universes that HTCondor has given up, by `JobUniverse`: `condor_submit` 25 refuses them.
const FORMER_UNIVERSES: [(i64, &str); 3] = [(1, "standard"), (4, "PVM"), (6, "PVM")];

/// Finds a circumstance in the ad of a job.
type CircumstanceFinder = fn(&JobReader) -> Option<JobCircumstance>;

/// The states of jobs that run at their access points.
const AT_ACCESS_POINT: [JobState; 2] = [JobState::SchedulerUniverse, JobState::LocalUniverse];

/// The states of jobs that wait to run, in a slot or at their access points.
const WAITING: [JobState; 3] = [JobState::Idle, JobState::SchedulerUniverse, JobState::LocalUniverse];

/// What is told of jobs in which states, in the order in which it is told.
const FINDERS: [(&[JobState], CircumstanceFinder); 20] = [
    (&WAITING, cool_down),
    (&WAITING, runs::failed_starts),
    (&WAITING, runs::put_back),
    (&WAITING, runs::evicted),
    (&[JobState::Held], runs::held_for_runs),
    (&[JobState::Held], runs::spooling),
    (&AT_ACCESS_POINT, slot_requirements),
    (&[JobState::GridUniverse], grid),
    (&[JobState::ManagedElsewhere], routed),
    (&[JobState::Running, JobState::TransferringOutput], runs::lease),
    (&[JobState::Running, JobState::TransferringOutput], runs::transfer_queue),
    (&[JobState::Running], runs::without_cpu),
    (&[JobState::Suspended], runs::suspended),
    (&[JobState::Completed], runs::kept),
    (&[JobState::Removed], runs::not_gone),
    (&[JobState::Idle], universe),
    (&[JobState::Idle], proxy),
    (&[JobState::Idle], parallel),
    (&[JobState::Idle], nice_user),
    (&[JobState::Idle, JobState::Running, JobState::SchedulerUniverse], dagman),
];

/// Reads the ad of a job in a state.
pub(super) fn circumstances(ad: &Ad, state: JobState, context: &Context) -> Vec<JobCircumstance> {
    let job = JobReader { ad, context };
    FINDERS.iter().filter(|(states, _)| states.contains(&state)).filter_map(|(_, find)| find(&job)).collect()
}

/// The access point offers the job to nobody until a time.
fn cool_down(job: &JobReader) -> Option<JobCircumstance> {
    let (until, now) = (cool_down_end(job.ad, job.context)?, job.context.now?);
    let reason = job.text("VacateReason").map_or_else(String::new, |reason| format!(" after \"{reason}\""));
    Some(JobCircumstance {
        kind: "cool-down",
        predicate: format!(
            "is in cool-down{reason} until {}, in {}",
            local_moment(until),
            duration(until.saturating_sub(now))
        ),
        remedy: Some(format!("wait until {}, in {}", local_moment(until), duration(until.saturating_sub(now)))),
        is_decisive: true,
    })
}

/// The job runs at its access point, and its requirements ask for what only slots have.
fn slot_requirements(job: &JobReader) -> Option<JobCircumstance> {
    let requirements = job.ad.get_str("Requirements")?;
    let reads_resource = |clause: &&Expression| {
        let is_comparison = matches!(clause.without_parentheses().kind(), ExpressionKind::Binary(operator, ..) if is_comparison(*operator));
        let theirs = FreeNames::of(clause, job.context.dialect).theirs;
        is_comparison && theirs.iter().any(|name| RESOURCE_ATTRIBUTES.iter().any(|known| name.is(known)))
    };
    let clause = conjuncts(requirements).into_iter().find(reads_resource)?;
    Some(JobCircumstance {
        kind: "slot-requirements",
        predicate: format!("asks with `{}` for what only slots have", text(clause, job.context.dialect)),
        remedy: Some(DROP_SLOT_REQUIREMENTS.to_owned()),
        is_decisive: false,
    })
}

/// The tools that tell of jobs in systems of batch jobs, by the name of the system in `GridResource`.
const BATCH_TOOLS: [(&str, &str); 4] =
    [("slurm", "squeue -j"), ("pbs", "qstat -f"), ("sge", "qstat -j"), ("lsf", "bjobs -l")];

/// The job goes to a system outside the pool: what is known of it there.
fn grid(job: &JobReader) -> Option<JobCircumstance> {
    // `condor schedd.example.org collector.example.org:9618`, `batch slurm ann@login.example.org`
    let resource = job.text("GridResource")?;
    let words: Vec<&str> = resource.split_whitespace().collect();
    let tool = words.get(1).and_then(|system| BATCH_TOOLS.iter().find(|(known, _)| known.eq_ignore_ascii_case(system)));
    let place = match words.as_slice() {
        ["batch", system, host, ..] => format!("{host} ({system})"),
        [kind, host, ..] => format!("{host} ({kind})"),
        _ => resource.clone(),
    };
    let unavailable = job.number("GridResourceUnavailableTime").zip(job.context.now).map(|(since, now)| {
        format!(
            "waits: {place} has not answered since {}, for {}",
            local_moment(since),
            duration(now.saturating_sub(since))
        )
    });
    let status = || job.text("GridJobStatus").map(|status| format!("is {status} at {place}"));
    // `batch slurm ... slurm/20260705/884213`
    let number = job.text("GridJobId").and_then(|id| Some(id.rsplit_once('/')?.1.to_owned()));
    let tool = tool.zip(number).map(|((_, tool), number)| format!("{tool} {number}, "));
    let tool = tool.unwrap_or_default();
    Some(JobCircumstance {
        kind: "grid",
        predicate: unavailable.or_else(status).unwrap_or_else(|| format!("goes to {place}")),
        remedy: Some(format!("see what became of it there: {tool}condor_q -grid, GridmanagerLog of the access point")),
        is_decisive: false,
    })
}

/// The job router has made another job of the job.
fn routed(job: &JobReader) -> Option<JobCircumstance> {
    let other = job.text("RoutedToJobId")?;
    Some(JobCircumstance {
        kind: "routed",
        predicate: format!("has become {other}"),
        remedy: Some(format!("explain {other} instead, or see what became of it: condor_q {other} -long")),
        is_decisive: false,
    })
}

/// The job is of a universe that HTCondor has given up.
fn universe(job: &JobReader) -> Option<JobCircumstance> {
    let number = job.number("JobUniverse")?;
    let (_, universe) = FORMER_UNIVERSES.iter().find(|(known, _)| *known == number)?;
    Some(JobCircumstance {
        kind: "universe",
        predicate: format!("is of the {universe} universe, which HTCondor has no more"),
        remedy: Some("submit it anew in the vanilla universe".to_owned()),
        is_decisive: true,
    })
}

/// The credential of the job has expired.
fn proxy(job: &JobReader) -> Option<JobCircumstance> {
    let (end, now) = (job.number("x509UserProxyExpiration")?, job.context.now?);
    (end <= now).then(|| JobCircumstance {
        kind: "proxy",
        predicate: format!(
            "has a proxy that expired at {}, {} ago",
            local_moment(end),
            duration(now.saturating_sub(end))
        ),
        remedy: Some("renew the proxy".to_owned()),
        is_decisive: false,
    })
}

/// The job needs several slots at once.
fn parallel(job: &JobReader) -> Option<JobCircumstance> {
    let hosts = job.number("MinHosts").filter(|_| job.number("JobUniverse") == Some(11))?;
    let scheduler = job.text("Scheduler").map_or_else(String::new, |scheduler| format!(" of {scheduler}"));
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

fn nice_user(job: &JobReader) -> Option<JobCircumstance> {
    job.is_true("NiceUser").then(|| JobCircumstance {
        kind: "nice-user",
        predicate: "is of a nice user: it gets slots that no other job takes".to_owned(),
        remedy: Some("take nice_user out of the submit file if it is not to wait for all others".to_owned()),
        is_decisive: false,
    })
}

/// `DAG_Status` of a DAG that is halted (HTCondor's `dag_status`).
const DAG_STATUS_HALTED: i64 = 6;

/// The job is `DAGMan`: what its nodes do.
fn dagman(job: &JobReader) -> Option<JobCircumstance> {
    let total = job.number("DAG_NodesTotal")?;
    let nodes = [
        ("Done", "done"),
        ("Failed", "failed"),
        ("Futile", "futile after failed ones"),
        ("Queued", "queued"),
        ("Ready", "ready"),
        ("Unready", "waiting"),
    ];
    let jobs = [("Running", "running"), ("Idle", "idle"), ("Held", "held")];
    let told = |prefix: &str, of: &[(&str, &str)]| -> Vec<String> {
        let count = |(name, word): &(&str, &str)| {
            let count = job.number(&format!("DAG_{prefix}{name}")).filter(|count| *count > 0)?;
            Some(format!("{count} {word}"))
        };
        of.iter().filter_map(count).collect()
    };
    let (nodes, jobs) = (told("Nodes", &nodes), told("Jobs", &jobs));
    let jobs = if jobs.is_empty() { String::new() } else { format!("; of its jobs {}", join_and(&jobs)) };
    let nodes = if nodes.is_empty() { "none begun".to_owned() } else { join_and(&nodes) };
    let is = |name: &str| job.number(name).is_some_and(|count| count > 0);
    let is_halted = job.number("DAG_Status") == Some(DAG_STATUS_HALTED);
    let halted = if is_halted { "; it is halted, and submits no node" } else { "" };
    let remedy = if is_halted {
        Some("remove its halt file (.dag.halt)".to_owned())
    } else if is("DAG_JobsHeld") {
        let id = job.number("ClusterId").map_or_else(|| "its number".to_owned(), |id| id.to_string());
        Some(format!("see why its jobs are held: condor_q -hold -constraint 'DAGManJobId == {id}'"))
    } else {
        is("DAG_NodesFailed").then(|| "see from the output of the failed nodes and from the file .dagman.out why they failed, and mend them; the rescue DAG goes on from there".to_owned())
    };
    let predicate = format!("is DAGMan: of {} {nodes}{jobs}{halted}", counted(usize::try_from(total).ok()?, "node"));
    Some(JobCircumstance { kind: "dagman", predicate, remedy, is_decisive: false })
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

    /// The schema of reports in JSON, which names the kinds.
    const SCHEMA: &str = include_str!("../cli/commands/help/schemas/explain.json");

    /// Says what is told of a job at the time 1000; a decisive circumstance ends with `!`.
    fn told(job: &str) -> String {
        let context = Context { now: Some(1000), ..Context::new(Dialect::Condor) };
        let ad = ad(&format!("MyType = \"Job\"; ClusterId = 1; ProcId = 0; {job}"));
        let AdvertisedState::Job(state) = Advertisement::new(&ad, &context).state() else { panic!("{job}") };
        let found = circumstances(&ad, state, &context);
        for known in &found {
            assert!(SCHEMA.contains(&format!("\"{}\"", known.kind)), "the schema has no {}", known.kind);
        }
        let told = found.iter().map(|known| format!("{}{}", known.predicate, if known.is_decisive { "!" } else { "" }));
        let told = told.collect::<Vec<_>>().join(" | ");
        told.replace(&local_moment(1300), "THEN")
            .replace(&local_moment(700), "BEFORE")
            .replace(&local_moment(-9000), "LONG BEFORE")
    }

    #[test]
    fn what_keeps_jobs_from_running() {
        for (job, expected) in [
            ("JobStatus = 1; JobCoolDownExpiration = 999", ""),
            ("JobStatus = 2; JobCoolDownExpiration = 1300", ""),
            ("JobStatus = 1; JobCoolDownExpiration = 1300", "is in cool-down until THEN, in 5 min!"),
            (
                "JobStatus = 1; JobUniverse = 7; VacateReason = \"no scratch\"; JobCoolDownExpiration = 1300",
                "is in cool-down after \"no scratch\" until THEN, in 5 min!",
            ),
            ("JobStatus = 1; NumShadowStarts = 2; NumJobStarts = 0", ""),
            ("JobStatus = 1; NumShadowStarts = 12; NumJobStarts = 11", "has run 11 times, and never to its end"),
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
                "JobStatus = 1; JobUniverse = 9; GridResource = \"batch slurm ann@hpc\"; GridJobStatus = \"IDLE\"",
                "is IDLE at ann@hpc (slurm)",
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
            assert_eq!(told(job), expected, "{job}");
        }
    }

    #[test]
    fn what_the_runs_of_jobs_tell() {
        for (job, expected) in [
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
            ("JobStatus = 5; HoldReasonCode = 16; EnteredCurrentStatus = 900", ""),
            (
                "JobStatus = 5; HoldReasonCode = 16; EnteredCurrentStatus = -9000",
                "has waited for its input files since LONG BEFORE, for 2 h 46 min",
            ),
            ("JobStatus = 5; HoldReasonCode = 26; NumJobStarts = 9; HoldReason = \"too large\"", ""),
            (
                "JobStatus = 5; HoldReasonCode = 26; NumJobStarts = 9; HoldReason = \"restarted too often\"",
                "has run 9 times, and never to its end",
            ),
            (
                "JobStatus = 1; OnExitRemove = false; ExitCode = 127",
                "has ended, with exit code 127 (a shell finds no such command), and was put back: OnExitRemove is false (`false`)",
            ),
            (
                "JobStatus = 1; OnExitRemove = false; ExitCode = 1; NumJobCompletions = 1",
                "has ended, with exit code 1, and was put back: OnExitRemove is false (`false`)",
            ),
            (
                "JobStatus = 1; OnExitRemove = false; ExitCode = 1; NumJobCompletions = 2",
                "has ended 2 times, last with exit code 1, and was put back: OnExitRemove is false (`false`)",
            ),
            ("JobStatus = 1; TransferQueued = true", ""),
            (
                "JobStatus = 2; TransferQueued = true; TransferringInput = true; TransferInQueued = 700; TransferInputSizeMB = 41210",
                "has waited since BEFORE, for 5 min, for its access point to transfer its input (41,210 MB)",
            ),
            (
                "JobStatus = 2; TransferQueued = true; TransferringInput = true; TransferInputSizeMB = 0",
                "has waited for its access point to transfer its input",
            ),
            (
                "JobStatus = 2; TransferQueued = true; TransferringOutput = true",
                "has waited for its access point to transfer its output",
            ),
            ("JobStatus = 1; NumJobStarts = 2", ""),
            ("JobStatus = 1; NumJobStarts = 8; NumJobCompletions = 8", ""),
            (
                "JobStatus = 1; NumShadowStarts = 8; NumJobStarts = 8; RemoteWallClockTime = 28800.0",
                "has run 8 times, about 1 h each, and never to its end",
            ),
            (
                "JobStatus = 1; NumShadowStarts = 8; NumJobStarts = 8; RemoteWallClockTime = 8.0",
                "has run 8 times, about 1 s each, and never to its end",
            ),
            (
                "JobStatus = 1; NumShadowStarts = 8; NumJobStarts = 8; RemoteWallClockTime = 7.0",
                "has run 8 times, and never to its end",
            ),
            (
                "JobStatus = 1; NumJobStarts = 3; VacateReason = \"pilot ends\"",
                "has run 3 times, and never to its end: pilot ends",
            ),
            ("JobStatus = 2; JobCurrentStartDate = 700; RemoteUserCpu = 0.0", ""),
            (
                "JobStatus = 2; JobCurrentStartDate = -9223372036854775807; RemoteUserCpu = 0.0",
                "has used 0 s of CPU time in 106751991167300 days 15 h: its program may hang",
            ),
            ("JobStatus = 2; JobCurrentStartDate = -99000; RemoteUserCpu = 5000.0", ""),
            ("JobStatus = 2; JobUniverse = 12; JobCurrentStartDate = -99000; RemoteUserCpu = 0.0", ""),
            (
                "JobStatus = 2; JobCurrentStartDate = -99000; RemoteUserCpu = 14.0; RemoteSysCpu = 3.0",
                "has used 17 s of CPU time in 1 day 3 h: its program may hang",
            ),
            (
                "JobStatus = 7; LastSuspensionTime = 700; TotalSuspensions = 7; CumulativeSuspensionTime = 17900",
                "has been suspended since BEFORE, for 5 min, 7 times in all, and lost 4 h 58 min so",
            ),
            ("JobStatus = 3; EnteredCurrentStatus = 900", ""),
            (
                "JobStatus = 3; EnteredCurrentStatus = -99000; RemoteHost = \"slot1@h\"",
                "is still in the queue 1 day 3 h after it was removed: slot1@h does not answer",
            ),
            ("JobStatus = 4; LeaveJobInQueue = false", ""),
            (
                "JobStatus = 4; LeaveJobInQueue = JobStatus == 4",
                "stays in the queue as long as LeaveJobInQueue is true",
            ),
        ] {
            assert_eq!(told(job), expected, "{job}");
        }
    }
}
