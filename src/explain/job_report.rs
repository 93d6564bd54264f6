//! What the ad of a job tells of the job itself.

use crate::ad::{Ad, ByteString, Value};
use crate::eval::Context;
use crate::protocol::{AdvertisedState, Advertisement, JobState, evaluate_attribute};
use crate::text::{shorten_words, with_commas};

use super::circumstances::circumstances;
use super::hold_reason::HoldReason;
use super::job_circumstance::JobCircumstance;
use super::job_outlook::JobOutlook;
use super::last_rejection::LastRejection;
use super::schedd_answer::ScheddAnswer;

/// `JobUniverse` of the jobs that never run in slots: scheduler, grid and local.
const WITHOUT_SLOTS: [i64; 3] = [7, 9, 12];

/// What the ad of a job tells of the job itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobReport {
    /// State of the job.
    pub state: JobState,
    /// The user, as slots name the one who has claimed them (`User`).
    pub user: Option<ByteString>,
    /// Why the job is held, and the codes of the reason; `None` for a job in another state.
    pub hold: Option<HoldReason>,
    /// How a completed job ended, or why a job was removed; `None` for a job in another state.
    pub ending: Option<String>,
    /// Name of the slot in which a running job runs (`RemoteHost`); `None` for a job in another state.
    pub slot: Option<String>,
    /// What a factory of jobs makes, or why it does not; `None` for a job.
    pub factory: Option<JobFactory>,
    /// Why the negotiator found no slot for the job last; `None` for a job that does not wait, and if it was matched since.
    pub last_rejection: Option<LastRejection>,
    /// The limits that the job shares with others (`ConcurrencyLimits`); `None` for a job that does not wait.
    pub concurrency_limits: Option<String>,
    /// What else keeps the job from running, or delays it.
    pub circumstances: Vec<JobCircumstance>,
    /// Whether the job never runs in a slot: the access point runs it itself, or another system.
    pub is_without_slot: bool,
    /// What the access point says of a job that it runs itself; `None` for another job, and without its ad. [`JobReport::new`]
    /// does not set this.
    pub schedd: Option<ScheddAnswer>,
    /// What the policies of the job will do; `None` if it has none. [`JobReport::new`] does not set this.
    pub outlook: Option<JobOutlook>,
}

/// The factory of a cluster, whose jobs the access point makes one after the other (late materialization).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobFactory {
    /// Whether it makes jobs.
    pub mode: FactoryMode,
    /// Why it makes none (`JobMaterializePauseReason`).
    pub reason: Option<String>,
    /// Number of jobs that it has made (`JobMaterializeNextProcId`).
    pub made: i64,
    /// Number of all jobs of the cluster (`TotalSubmitProcs`).
    pub total: Option<i64>,
    /// Maximum number of jobs in the queue at a time (`JobMaterializeLimit`, of `max_materialize`).
    pub limit: Option<i64>,
    /// Maximum number of its jobs that are idle or held (`JobMaterializeMaxIdle`, of `max_idle`).
    pub max_idle: Option<i64>,
}

/// Whether a factory of jobs makes jobs: `JobMaterializePaused`, HTCondor's `MaterializeMode` (`qmgmt.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FactoryMode {
    /// Its submit digest or its items cannot be read (-1).
    Faulty,
    /// It makes jobs (0).
    Running,
    /// Someone, or an error of a job, holds it (1).
    Held,
    /// It has made all its jobs (2).
    Done,
    /// The cluster was removed (3).
    Removed,
}

impl JobFactory {
    /// Says what the factory does, with the reason cut to `most` characters in all: `is held: via condor_hold (by user ann)`.
    pub(super) fn phrase(&self, most: usize) -> String {
        let state = self.mode.phrase();
        match &self.reason {
            Some(reason) if matches!(self.mode, FactoryMode::Faulty | FactoryMode::Held) => {
                let room = most.saturating_sub(state.chars().count() + 2);
                format!("{state}: {}", shorten_words(reason.trim_end_matches('.'), room))
            }
            _ => state.to_owned(),
        }
    }

    /// Says how many jobs the factory has made, and how many it may make: `it made 5 of 20 jobs, at most 3 are idle`.
    pub(super) fn progress(&self) -> String {
        let number = |number: i64| with_commas(usize::try_from(number).unwrap_or_default());
        let of_all = self.total.map(|total| format!(" of {}", number(total))).unwrap_or_default();
        let at_once = self.limit.map(|most| format!("at most {} may be in the queue", number(most)));
        let idle = self.max_idle.map(|most| format!("at most {} may be idle", number(most)));
        let jobs = if (self.made, self.total) == (1, None) { "job" } else { "jobs" };
        let made = format!("it made {}{of_all} {jobs}", number(self.made));
        let is_limited = self.mode == FactoryMode::Running;
        [Some(made), at_once.filter(|_| is_limited), idle.filter(|_| is_limited)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Says what to do about the factory. `None` if there is nothing to do.
    pub(super) fn remedy(&self) -> Option<&'static str> {
        match self.mode {
            FactoryMode::Faulty => Some("remove the cluster, and submit the jobs that it has not made anew"),
            FactoryMode::Held if self.reason.as_ref().is_none_or(|reason| reason.starts_with("via condor_hold")) => {
                Some("release it")
            }
            FactoryMode::Held => Some("mend the cause, then release it"),
            FactoryMode::Running => Some("wait: it makes more jobs when its jobs start or end"),
            FactoryMode::Done | FactoryMode::Removed => None,
        }
    }
}

impl FactoryMode {
    /// The mode that a number in `JobMaterializePaused` means.
    fn of_number(number: i64) -> Self {
        match number {
            0 => FactoryMode::Running,
            1 => FactoryMode::Held,
            2 => FactoryMode::Done,
            number if number < 0 => FactoryMode::Faulty,
            _ => FactoryMode::Removed,
        }
    }

    /// The mode in a word, as it stands in JSON and in identifiers of causes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            FactoryMode::Faulty => "faulty",
            FactoryMode::Running => "running",
            FactoryMode::Held => "held",
            FactoryMode::Done => "done",
            FactoryMode::Removed => "removed",
        }
    }

    /// The mode as the predicate of a sentence.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            FactoryMode::Faulty => "cannot make jobs",
            FactoryMode::Running => "makes jobs",
            FactoryMode::Held => "is held",
            FactoryMode::Done => "has made all its jobs",
            FactoryMode::Removed => "was removed",
        }
    }
}

impl JobReport {
    /// Reads the ad of a job; `None` if the ad is of no job of HTCondor.
    #[must_use]
    pub fn new(ad: &Ad, context: &Context) -> Option<Self> {
        let AdvertisedState::Job(state) = Advertisement::new(ad, context).state() else { return None };
        let value = |name: &str| evaluate_attribute(ad, &name.into(), context);
        let text = |name: &str| match value(name) {
            Some(Value::String(text)) => Some(text.to_str().trim().to_owned()).filter(|text| !text.is_empty()),
            _ => None,
        };
        let number = |name: &str| match value(name) {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        };
        let is_in = |wanted: &[JobState]| wanted.contains(&state);
        let ending = || match state {
            JobState::Removed => text("RemoveReason"),
            JobState::Completed => match (number("ExitSignal"), number("ExitCode")) {
                (Some(signal), _) => Some(format!("ended by signal {signal}")),
                (None, code) => code.map(|code| format!("exit code {code}")),
            },
            _ => None,
        };
        let factory = || JobFactory {
            mode: FactoryMode::of_number(number("JobMaterializePaused").unwrap_or_default()),
            reason: text("JobMaterializePauseReason"),
            made: number("JobMaterializeNextProcId").unwrap_or_default(),
            total: number("TotalSubmitProcs"),
            limit: number("JobMaterializeLimit"),
            max_idle: number("JobMaterializeMaxIdle"),
        };
        let waits = state == JobState::Idle;
        Some(JobReport {
            user: text("User").map(Into::into),
            hold: is_in(&[JobState::Held]).then(|| HoldReason::new(ad, context)),
            ending: ending(),
            factory: is_in(&[JobState::Factory]).then(factory),
            slot: text("RemoteHost").filter(|_| is_in(&[JobState::Running, JobState::Suspended])),
            last_rejection: if waits { LastRejection::of_job(ad, context) } else { None }
                .filter(|last| !last.is_outdated(ad, context)),
            concurrency_limits: text("ConcurrencyLimits").filter(|_| waits),
            is_without_slot: number("JobUniverse").is_some_and(|universe| WITHOUT_SLOTS.contains(&universe)),
            circumstances: circumstances(ad, state, context),
            schedd: None,
            outlook: None,
            state,
        })
    }

    /// Why the job does not wait; `None` for a job that does. Jobs with one reason can share an explanation.
    #[must_use]
    pub fn reason(&self) -> Option<(JobState, Option<&HoldReason>, Option<&JobFactory>)> {
        (self.state != JobState::Idle).then_some((self.state, self.hold.as_ref(), self.factory.as_ref()))
    }

    /// The reason that someone or something has given for holding the job or its factory.
    #[must_use]
    pub fn given_reason(&self) -> Option<&str> {
        let of_factory = self.factory.as_ref().and_then(|factory| factory.reason.as_deref());
        self.hold.as_ref().map(|hold| hold.text.as_str()).or(of_factory)
    }
}

#[cfg(test)]
mod tests {
    use super::JobReport;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn what_a_factory_of_jobs_does() {
        let done = "mend the cause, then release it";
        for (attributes, expected) in [
            ("", "makes jobs; it made 3 jobs", "wait: it makes more jobs when its jobs start or end"),
            (
                "JobMaterializePaused = 0; TotalSubmitProcs = 20000; JobMaterializeLimit = 5; JobMaterializeMaxIdle = 2",
                "makes jobs; it made 3 of 20,000 jobs, at most 5 may be in the queue, at most 2 may be idle",
                "wait: it makes more jobs when its jobs start or end",
            ),
            ("JobMaterializePaused = 1; JobMaterializeLimit = 5", "is held; it made 3 jobs", "release it"),
            (
                "JobMaterializePaused = 1; JobMaterializePauseReason = \"via condor_hold (by user ann)\"",
                "is held: via condor_hold (by user ann); it made 3 jobs",
                "release it",
            ),
            (
                "JobMaterializePaused = 1; JobMaterializePauseReason = \"failed to create ClassAd for Job 1.3 : no such file a.dat in spool\"",
                "is held: failed to create ClassAd for Job 1.3 : no such...; it made 3 jobs",
                done,
            ),
            (
                "JobMaterializePaused = -1; JobMaterializePauseReason = \"JobMaterializeNextRow is undefined\"",
                "cannot make jobs: JobMaterializeNextRow is undefined; it made 3 jobs",
                "remove the cluster, and submit the jobs that it has not made anew",
            ),
            ("JobMaterializePaused = 2", "has made all its jobs; it made 3 jobs", ""),
            ("JobMaterializePaused = 3", "was removed; it made 3 jobs", ""),
        ]
        .map(|(attributes, told, remedy)| (attributes, format!("{told}. {remedy}")))
        {
            let text = format!("[ MyType = \"Job\"; ClusterId = 1; JobMaterializeNextProcId = 3; JobStatus = 1; {attributes} ]");
            let ad = parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let job = JobReport::new(&ad, &Context::new(Dialect::Condor)).unwrap();
            let factory = job.factory.unwrap();
            let told = format!("{}; {}. {}", factory.phrase(60), factory.progress(), factory.remedy().unwrap_or_default());
            assert_eq!(told, expected, "{attributes}");
        }
    }

    #[test]
    fn what_the_ad_of_a_job_tells() {
        for (attributes, expected) in [
            ("JobStatus = 1", "Idle"),
            ("JobStatus = 1; LastRejMatchReason = \"no match\"; ConcurrencyLimits = \"sw\"", "Idle no match sw"),
            ("JobStatus = 1; LastRejMatchReason = \"old\"; LastRejMatchTime = 5; LastMatchTime = 6", "Idle"),
            ("JobStatus = 1; LastRejMatchReason = \"\"; ConcurrencyLimits = \"  \"", "Idle"),
            ("JobStatus = 1; LastRejMatchReason = \" late \"; RemoteHost = \"h\"; RemoveReason = \"r\"", "Idle late"),
            ("JobStatus = 1; LastRejMatchReason = 5; User = \" ann \"", "Idle ann"),
            (
                "JobStatus = 2; RemoteHost = \"slot1@h\"; LastRejMatchReason = \"x\"; ConcurrencyLimits = \"sw\"",
                "Running slot1@h",
            ),
            ("JobStatus = 2; RemoteHost = \" \"", "Running"),
            ("JobStatus = 7; RemoteHost = \"slot1@h\"", "Suspended slot1@h"),
            ("JobStatus = 3; RemoveReason = \"by ann\"; ExitCode = 1", "Removed by ann"),
            ("JobStatus = 3; RemoveReason = \"  \"", "Removed"),
            ("JobStatus = 4; ExitCode = 0", "Completed exit code 0"),
            ("JobStatus = 4; ExitSignal = 9; ExitCode = 0", "Completed ended by signal 9"),
            ("JobStatus = 4; RemoveReason = \"x\"; RemoteHost = \"h\"", "Completed"),
            ("JobStatus = 5; RemoteHost = \"h\"", "Held (held)"),
            // A job that a factory has made.
            ("JobStatus = 1; JobMaterializeNextProcId = 3; JobMaterializePaused = 1", "Idle"),
        ] {
            let text = format!("[ MyType = \"Job\"; ClusterId = 1; ProcId = 0; {attributes} ]");
            let ad = parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let job = JobReport::new(&ad, &Context::new(Dialect::Condor)).unwrap();
            let held = job.hold.as_ref().map(|_| "(held)".to_owned());
            let rejection = job.last_rejection.map(|last| last.reason);
            let facts = [held, job.ending, job.slot, rejection, job.concurrency_limits];
            let user = job.user.map(|user| user.to_str().into_owned());
            let told: Vec<String> =
                [Some(format!("{:?}", job.state)), user].into_iter().chain(facts).flatten().collect();
            assert_eq!(told.join(" "), expected, "{attributes}");
        }
    }
}
