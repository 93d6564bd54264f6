//! What is known of the access point of jobs: its policies, its ad, its limits.

use std::collections::HashMap;

use classad::ad::Dialect;
use classad::configuration::{
    Configuration, ConfiguredPolicy, Defragmentation, DrainingObstacle, DrainingPlan, JobPolicies,
};
use classad::eval::Context;
use classad::explain::{JobCircumstance, ScheddAnswer};
use classad::matching::policy::CycleTimes;
use classad::protocol::{AdvertisedState, JobState, evaluate_attribute};
use classad::syntax::{Style, expression_text};
use classad::text::counted;

use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

/// The variables with the conditions under which an access point runs jobs itself: those of the scheduler universe, of the local
/// one. The attributes of its ad are called alike.
const START_CONDITIONS: [&str; 2] = ["START_SCHEDULER_UNIVERSE", "START_LOCAL_UNIVERSE"];

/// The attributes of its ad with these conditions.
pub const START_ATTRIBUTES: [&str; 2] = ["StartSchedulerUniverse", "StartLocalUniverse"];

/// The universes whose jobs run in no slot, by number.
const SCHEDULER_UNIVERSE: i64 = 7;
const GRID_UNIVERSE: i64 = 9;
const LOCAL_UNIVERSE: i64 = 12;

/// What is known of the access point of jobs.
#[derive(Default)]
pub struct AccessPoint {
    /// The policies of jobs in the queue.
    pub policies: JobPolicies,
    /// Seconds between two evaluations of the policies.
    pub interval: i64,
    /// The ads of schedds that were among the offers.
    schedds: Vec<NamedAd>,
    /// The settings of `condor_defrag`; `None` if the configuration does not run it.
    defragmentation: Option<Defragmentation>,
    /// Which of the offers it drains, or why none.
    pub draining: Option<String>,
    /// The conditions of [`START_CONDITIONS`] in a configuration.
    starts: [Option<ConfiguredPolicy>; 2],
    limits: JobLimits,
}

/// How many jobs an access point runs at once, and may run.
#[derive(Default)]
struct JobLimits {
    /// Maximum number of jobs in slots (`MAX_JOBS_RUNNING`).
    in_slots: Option<usize>,
    /// Maximum number of jobs of an owner in the scheduler universe (`MAX_RUNNING_SCHEDULER_JOBS_PER_OWNER`). It counts if it is
    /// below the number of jobs that an owner may have (`MAX_JOBS_PER_OWNER`).
    of_owner: Option<usize>,
    /// Number of jobs that run in slots.
    running: usize,
    /// Number of jobs in the scheduler universe that run, by owner.
    running_of: HashMap<String, usize>,
}

impl JobLimits {
    fn read(maximum: impl Fn(&str) -> Option<usize>) -> Self {
        let most = maximum("MAX_JOBS_PER_OWNER").unwrap_or(usize::MAX);
        let of_owner = maximum("MAX_RUNNING_SCHEDULER_JOBS_PER_OWNER").filter(|of_owner| *of_owner < most);
        JobLimits { in_slots: maximum("MAX_JOBS_RUNNING"), of_owner, ..JobLimits::default() }
    }

    /// Counts the jobs that run.
    fn count(&mut self, jobs: &[NamedAd], context: &Context) {
        if self.in_slots.is_none() && self.of_owner.is_none() {
            return;
        }
        for job in jobs.iter().filter(|job| job.state(context) == AdvertisedState::Job(JobState::Running)) {
            match evaluate_attribute(&job.ad, &"JobUniverse".into(), context).and_then(|value| value.as_integer()) {
                Some(SCHEDULER_UNIVERSE) => *self.running_of.entry(owner(job, context)).or_default() += 1,
                Some(GRID_UNIVERSE | LOCAL_UNIVERSE) => {}
                _ => self.running += 1,
            }
        }
    }

    /// Says that as many jobs run as may, so that a job waits; `None` if fewer do.
    fn reached(&self, job: &NamedAd, context: &Context) -> Option<JobCircumstance> {
        let (running, knob, max, whose) = match job.state(context) {
            AdvertisedState::Job(JobState::Idle) => {
                (self.running, "MAX_JOBS_RUNNING", self.in_slots?, " of this access point")
            }
            AdvertisedState::Job(JobState::SchedulerUniverse) => {
                let running = self.running_of.get(&owner(job, context)).copied().unwrap_or_default();
                let whose = " of its owner in the scheduler universe";
                (running, "MAX_RUNNING_SCHEDULER_JOBS_PER_OWNER", self.of_owner?, whose)
            }
            _ => return None,
        };
        let run = if running == 1 { "runs" } else { "run" };
        (running >= max).then(|| JobCircumstance {
            kind: "max-jobs",
            predicate: format!("waits: {}{whose} {run}, and {knob} is {max}", counted(running, "job")),
            remedy: Some(format!("wait until jobs{whose} end")),
            is_decisive: true,
        })
    }
}

/// Returns who owns a job.
fn owner(job: &NamedAd, context: &Context) -> String {
    let owner = evaluate_attribute(&job.ad, &"Owner".into(), context);
    owner.and_then(|owner| owner.as_text().map(std::borrow::Cow::into_owned)).unwrap_or_default()
}

impl AccessPoint {
    /// Reads the configuration of an access point, if there is one.
    pub fn read(session: &mut Session, loaded: Option<&LoadedConfiguration>) -> Result<Self, Failure> {
        let nothing = Configuration::default();
        let (read, context) = (loaded.map_or(&nothing, |loaded| &loaded.configuration), session.context());
        let (policies, problems) = JobPolicies::read(read, &context);
        for problem in &problems {
            loaded.map_or(Ok(()), |loaded| loaded.report(session, problem))?;
        }
        let start = |knob: &str| ConfiguredPolicy::find(read, knob, &context).ok().flatten();
        // Values that are no numbers are told where the configuration is checked.
        let maximum = |knob: &str| read.maximum(knob, &context).ok().flatten();
        let defragmentation = match Defragmentation::read(read, &context) {
            Ok(found) => found,
            Err(problem) => loaded.map_or(Ok(()), |loaded| loaded.report(session, &problem)).map(|()| None)?,
        };
        Ok(AccessPoint {
            policies,
            defragmentation,
            // Times that are no numbers are told where cycles need them.
            interval: CycleTimes::read(read, &context).unwrap_or_default().policies,
            starts: START_CONDITIONS.map(start),
            limits: JobLimits::read(maximum),
            ..AccessPoint::default()
        })
    }

    /// Takes the ads of schedds, counts the jobs that run, and finds the slots that are drained for others.
    pub fn take_ads(&mut self, [requests, offers]: [&[NamedAd]; 2], schedds: Vec<NamedAd>, context: &Context) {
        self.schedds = schedds;
        let plan = self.defragmentation.as_ref().map(|of| of.plan(offers.iter().map(|offer| &offer.ad), context));
        self.draining = plan.and_then(|plan| draining_phrase(&plan, offers));
        self.limits.count(requests, context);
    }

    /// Returns what the access point says of a job that it runs itself; `None` without its ad.
    pub fn answer(&self, job: &NamedAd, context: &Context) -> Option<ScheddAnswer> {
        let is_local = match job.state(context) {
            AdvertisedState::Job(JobState::LocalUniverse) => true,
            AdvertisedState::Job(JobState::SchedulerUniverse) => false,
            _ => return None,
        };
        // The identity of a job begins with the name of its schedd.
        let is_own = |schedd: &&NamedAd| {
            job.header(context)
                .identity
                .as_ref()
                .is_some_and(|id| id.to_str().starts_with(&format!("{}#", schedd.id())))
        };
        let schedd =
            self.schedds.iter().find(is_own).or_else(|| self.schedds.first().filter(|_| self.schedds.len() == 1))?;
        Some(ScheddAnswer::of(&job.ad, is_local, &schedd.ad, self.starts[usize::from(is_local)].as_ref(), context))
    }

    /// Says that the access point runs as many jobs as it may, so that a job waits; `None` if it does not.
    pub fn full(&self, job: &NamedAd, context: &Context) -> Option<JobCircumstance> {
        self.limits.reached(job, context)
    }
}

/// Says which of the slots `condor_defrag` drains, or why it drains none. `None` without partitionable slots.
fn draining_phrase(plan: &DrainingPlan, offers: &[NamedAd]) -> Option<String> {
    let all = counted(plan.slots, "partitionable slot");
    let many = |count: usize, one: &str, several: &str| {
        format!("{} {}", counted(count, "machine"), if count == 1 { one } else { several })
    };
    let obstacle = match &plan.obstacle {
        _ if plan.slots == 0 => return None,
        None => {
            let first = offers.get(*plan.candidates.first()?)?.id();
            let most = plan.max_draining.map_or_else(String::new, |most| format!(", at most {most} at once"));
            let rate = plan.per_hour.map_or_else(|| "may drain".to_owned(), |rate| format!("drains {rate} an hour"));
            let count = plan.candidates.len();
            let accepted = format!("{first} first, of the {count} of {all} that DEFRAG_REQUIREMENTS accepts");
            return Some(format!("condor_defrag {rate}{most}: {accepted}"));
        }
        Some(DrainingObstacle::NoRate) => "DEFRAG_DRAINING_MACHINES_PER_HOUR is 0".to_owned(),
        Some(DrainingObstacle::LongInterval) => "DEFRAG_INTERVAL is above 3600".to_owned(),
        Some(DrainingObstacle::Draining(count)) => {
            let drain = many(*count, "drains", "drain");
            format!("{drain} already, as many as DEFRAG_MAX_CONCURRENT_DRAINING allows")
        }
        Some(DrainingObstacle::Whole(count)) => {
            format!("{} whole, as many as DEFRAG_MAX_WHOLE_MACHINES asks for", many(*count, "is", "are"))
        }
        Some(DrainingObstacle::Requirements(clause)) => {
            let clause = expression_text(clause.without_parentheses(), Style::of(Dialect::Condor));
            format!("`{clause}` of DEFRAG_REQUIREMENTS is true of none of {all}")
        }
        Some(DrainingObstacle::NoneLeft) => format!("all of {all} are whole or drain already"),
    };
    Some(format!("condor_defrag drains no machine for it: {obstacle}"))
}
