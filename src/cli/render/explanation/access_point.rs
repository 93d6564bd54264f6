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

#[cfg(test)]
mod tests {
    use classad::syntax::{ParseOptions, parse_ad, parse_expression};

    use super::*;

    fn job(text: &str) -> NamedAd {
        NamedAd::unnamed(parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap())
            .with_name("job".to_owned())
    }

    fn limits(knobs: &[(&str, usize)]) -> JobLimits {
        JobLimits::read(|knob| knobs.iter().find(|(known, _)| *known == knob).map(|(_, most)| *most))
    }

    const RUNNING: &str = "MAX_JOBS_RUNNING";
    const OF_OWNER: &str = "MAX_RUNNING_SCHEDULER_JOBS_PER_OWNER";

    #[test]
    fn a_limit_of_an_owner_is_below_the_limit_of_all_jobs() {
        for (knobs, expected) in [
            (&[][..], [None, None]),
            (&[(RUNNING, 5)], [Some(5), None]),
            (&[(OF_OWNER, 5)], [None, Some(5)]),
            (&[(OF_OWNER, 5), ("MAX_JOBS_PER_OWNER", 5)], [None, None]),
            (&[(OF_OWNER, 5), ("MAX_JOBS_PER_OWNER", 6)], [None, Some(5)]),
        ] {
            let read = limits(knobs);
            assert_eq!([read.in_slots, read.of_owner], expected, "{knobs:?}");
        }
    }

    #[test]
    fn jobs_wait_where_as_many_run_as_may() {
        let context = Context::new(Dialect::Condor);
        let of = |status: i64, universe: i64, owner: &str| {
            job(&format!(
                "[ MyType = \"Job\"; ClusterId = 1; ProcId = 0; JobStatus = {status}; JobUniverse = {universe}; \
                 Owner = \"{owner}\" ]"
            ))
        };
        // Jobs of the grid and of the local universe have no slot.
        let jobs = [
            of(2, 5, "ann"),
            of(2, 9, "ann"),
            of(2, 12, "ann"),
            of(1, 5, "ann"),
            of(2, 7, "ann"),
            of(2, 7, "bob"),
            of(2, 7, "bob"),
        ];
        let in_slots = " of this access point";
        let of_owner = " of its owner in the scheduler universe";
        for (knobs, job, expected) in [
            (&[][..], of(1, 5, "ann"), None),
            (&[(RUNNING, 2)], of(1, 5, "ann"), None),
            (&[(RUNNING, 1)], of(1, 5, "ann"), Some(format!("waits: 1 job{in_slots} runs, and {RUNNING} is 1"))),
            (&[(RUNNING, 0)], of(1, 5, "ann"), Some(format!("waits: 1 job{in_slots} runs, and {RUNNING} is 0"))),
            (&[(RUNNING, 1)], of(2, 5, "ann"), None),
            (&[(RUNNING, 1)], of(1, 7, "bob"), None),
            (&[(OF_OWNER, 2)], of(1, 7, "ann"), None),
            (&[(OF_OWNER, 2)], of(1, 7, "bob"), Some(format!("waits: 2 jobs{of_owner} run, and {OF_OWNER} is 2"))),
            (&[(OF_OWNER, 1)], of(1, 7, "cid"), None),
            (&[(OF_OWNER, 1)], of(1, 5, "bob"), None),
        ] {
            let mut limits = limits(knobs);
            limits.count(&jobs, &context);
            let reached = limits.reached(&job, &context);
            assert!(reached.as_ref().is_none_or(|reached| reached.is_decisive && reached.kind == "max-jobs"));
            assert_eq!(reached.map(|reached| reached.predicate), expected, "{knobs:?}");
        }
    }

    #[test]
    fn what_defragmentation_does_is_told() {
        let offers =
            [job("[ a = 1 ]").with_name("slot1@a".to_owned()), job("[ a = 1 ]").with_name("slot1@b".to_owned())];
        let plan = |slots, candidates: &[usize], obstacle| DrainingPlan {
            slots,
            candidates: candidates.to_vec(),
            per_hour: None,
            max_draining: None,
            obstacle,
        };
        let clause = parse_expression(b"(Cpus > 1)", ParseOptions::new(Dialect::Condor)).unwrap();
        let none = |reason: &str| Some(format!("condor_defrag drains no machine for it: {reason}"));
        let first = |rate: &str, count: &str| {
            Some(format!("condor_defrag {rate}: slot1@b first, of the {count} that DEFRAG_REQUIREMENTS accepts"))
        };
        for (plan, expected) in [
            (plan(0, &[1], None), None),
            (plan(0, &[], Some(DrainingObstacle::NoRate)), None),
            (plan(2, &[], None), None),
            (plan(2, &[1, 0], None), first("may drain", "2 of 2 partitionable slots")),
            (plan(1, &[1], None), first("may drain", "1 of 1 partitionable slot")),
            (
                DrainingPlan { per_hour: Some(0.5), ..plan(2, &[1], None) },
                first("drains 0.5 an hour", "1 of 2 partitionable slots"),
            ),
            (
                DrainingPlan { per_hour: Some(2.0), max_draining: Some(3), ..plan(2, &[1], None) },
                first("drains 2 an hour, at most 3 at once", "1 of 2 partitionable slots"),
            ),
            (plan(2, &[], Some(DrainingObstacle::NoRate)), none("DEFRAG_DRAINING_MACHINES_PER_HOUR is 0")),
            (plan(2, &[], Some(DrainingObstacle::LongInterval)), none("DEFRAG_INTERVAL is above 3600")),
            (
                plan(2, &[], Some(DrainingObstacle::Draining(1))),
                none("1 machine drains already, as many as DEFRAG_MAX_CONCURRENT_DRAINING allows"),
            ),
            (
                plan(2, &[], Some(DrainingObstacle::Draining(2))),
                none("2 machines drain already, as many as DEFRAG_MAX_CONCURRENT_DRAINING allows"),
            ),
            (
                plan(2, &[], Some(DrainingObstacle::Whole(1))),
                none("1 machine is whole, as many as DEFRAG_MAX_WHOLE_MACHINES asks for"),
            ),
            (
                plan(2, &[], Some(DrainingObstacle::Whole(2))),
                none("2 machines are whole, as many as DEFRAG_MAX_WHOLE_MACHINES asks for"),
            ),
            (
                plan(2, &[], Some(DrainingObstacle::Requirements(clause))),
                none("`Cpus > 1` of DEFRAG_REQUIREMENTS is true of none of 2 partitionable slots"),
            ),
            (
                plan(2, &[], Some(DrainingObstacle::NoneLeft)),
                none("all of 2 partitionable slots are whole or drain already"),
            ),
        ] {
            assert_eq!(draining_phrase(&plan, &offers), expected);
        }
    }
}
