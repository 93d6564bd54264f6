//! What is known of the access point of jobs: its policies, its ad, its limits.

use classad::ad::{Dialect, Expression, Value};
use classad::configuration::{Configuration, ConfiguredPolicy, JobPolicies};
use classad::constraint::conjuncts;
use classad::eval::{Context, Environment, Evaluator};
use classad::explain::{JobCircumstance, ScheddAnswer};
use classad::matching::policy::CycleTimes;
use classad::protocol::{AdvertisedState, JobState};
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

/// What is known of the access point of jobs.
#[derive(Default)]
pub struct AccessPoint {
    /// The policies of jobs in the queue.
    pub policies: JobPolicies,
    /// Seconds between two evaluations of the policies.
    pub interval: i64,
    /// The ads of schedds that were among the offers.
    schedds: Vec<NamedAd>,
    /// The machines that `condor_defrag` may drain (`DEFRAG_REQUIREMENTS`), and how many at once.
    defrag: Option<(Expression, Option<String>)>,
    /// Which of the offers `condor_defrag` would drain; `None` if the configuration does not run it.
    pub draining: Option<String>,
    /// The conditions of [`START_CONDITIONS`] in a configuration.
    starts: [Option<Expression>; 2],
    /// Maximum number of jobs that run at once (`MAX_JOBS_RUNNING`).
    max_running: Option<usize>,
    /// Number of jobs that run.
    running: usize,
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
        let start =
            |knob: &str| ConfiguredPolicy::find(read, knob, &context).ok().flatten().map(|found| found.expression);
        let number = |knob: &str| read.raw_value(read.entry(knob)?).trim().parse().ok();
        let raw = |knob: &str| Some(read.raw_value(read.entry(knob)?).trim().to_owned());
        let runs = raw("DAEMON_LIST").is_none_or(|daemons| daemons.to_ascii_uppercase().contains("DEFRAG"));
        let most = raw("DEFRAG_MAX_CONCURRENT_DRAINING").filter(|most| most.parse::<u32>().is_ok());
        let defrag = start("DEFRAG_REQUIREMENTS").filter(|_| runs).map(|condition| (condition, most));
        Ok(AccessPoint {
            policies,
            defrag,
            // Times that are no numbers are told where cycles need them.
            interval: CycleTimes::read(read, &context).unwrap_or_default().policies,
            starts: START_CONDITIONS.map(start),
            max_running: number("MAX_JOBS_RUNNING"),
            ..AccessPoint::default()
        })
    }

    /// Takes the ads of schedds, counts the jobs that run, and finds the slots that are drained for others.
    pub fn take_ads(&mut self, [requests, offers]: [&[NamedAd]; 2], schedds: Vec<NamedAd>, context: &Context) {
        self.schedds = schedds;
        self.draining = self
            .defrag
            .as_ref()
            .and_then(|(condition, most)| draining_phrase(condition, most.as_deref(), offers, context));
        let runs = |job: &&NamedAd| matches!(job.state(context), AdvertisedState::Job(JobState::Running));
        self.running = if self.max_running.is_some() { requests.iter().filter(runs).count() } else { 0 };
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

    /// Says that the access point runs as many jobs as it may; `None` if it does not.
    pub fn full(&self) -> Option<JobCircumstance> {
        let max = self.max_running.filter(|max| *max <= self.running)?;
        Some(JobCircumstance {
            kind: "max-jobs",
            predicate: format!("waits: its access point runs {} jobs of MAX_JOBS_RUNNING {max}", self.running),
            remedy: Some("wait until jobs of this access point end".to_owned()),
            is_decisive: true,
        })
    }
}

/// Says which of the slots `condor_defrag` drains, or which clause keeps it from all of them. `None` without partitionable slots.
fn draining_phrase(
    condition: &Expression,
    most: Option<&str>,
    offers: &[NamedAd],
    context: &Context,
) -> Option<String> {
    let is_true = |part: &Expression, slot: &NamedAd| {
        let (environment, frame) = Environment::single(slot.ad.clone());
        matches!(Evaluator::new(&environment, context).evaluate(part, &frame), Ok(Value::Boolean(true)))
    };
    let whole = Expression::attribute("PartitionableSlot");
    let slots: Vec<&NamedAd> = offers.iter().filter(|offer| is_true(&whole, offer)).collect();
    let all = counted(slots.len(), "partitionable slot");
    let drained: Vec<&&NamedAd> = slots.iter().filter(|slot| is_true(condition, slot)).collect();
    if let Some(first) = drained.first() {
        let most = most.map_or_else(String::new, |most| format!(", at most {most} at once"));
        let of = format!("DEFRAG_REQUIREMENTS is true of {} of {all}, such as {}", drained.len(), first.id());
        return Some(format!("condor_defrag may drain machines for it: {of}{most}"));
    }
    let unmet = conjuncts(condition).into_iter().find(|clause| !slots.iter().any(|slot| is_true(clause, slot)));
    let unmet = expression_text(unmet.unwrap_or(condition).without_parentheses(), Style::of(Dialect::Condor));
    let of = format!("`{unmet}` of DEFRAG_REQUIREMENTS is true of none of {all}");
    (!slots.is_empty()).then(|| format!("condor_defrag drains no machine for it: {of}"))
}
