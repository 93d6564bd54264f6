//! How long jobs of a history ran, and what that tells of other jobs.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Value};
use crate::eval::Context;
use crate::protocol::evaluate_attribute;

/// The seconds that a job of a history ran.
pub const HISTORY_RUN_TIME: &str = "(RemoteWallClockTime ?: 0) > 0 ? RemoteWallClockTime \
                                    : ((CompletionDate ?: 0) > 0 ? CompletionDate : EnteredCurrentStatus) \
                                    - (JobCurrentStartDate ?: JobStartDate)";

/// The attributes of a job of a history that a [`RunHistory`] reads besides those of [`HISTORY_RUN_TIME`].
pub const HISTORY_ATTRIBUTES: [&str; 4] = ["Cmd", "JobStatus", "JobUniverse", "Owner"];

/// The universes whose jobs run in no slot: scheduler, grid and local (HTCondor's manual).
const UNIVERSES_WITHOUT_SLOT: [i64; 3] = [7, 9, 12];

/// The state of completed jobs (`JobStatus`).
const COMPLETED: i64 = 4;

/// Minimum number of runs that tell something of their owner and command, or of their owner.
const MIN_RUNS: usize = 5;

/// Whether a job needs a slot.
#[must_use]
pub fn runs_in_slot(job: &Ad, context: &Context) -> bool {
    !integer(job, "JobUniverse", context).is_some_and(|universe| UNIVERSES_WITHOUT_SLOT.contains(&universe))
}

fn integer(ad: &Ad, name: &str, context: &Context) -> Option<i64> {
    match evaluate_attribute(ad, &name.into(), context) {
        Some(Value::Integer(number)) => Some(number),
        _ => None,
    }
}

/// What a run belongs to: an owner and a command. Either is `None` if the job does not tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RunKind {
    owner: Option<String>,
    command: Option<String>,
}

impl RunKind {
    /// Returns the kind of the runs of a job.
    #[must_use]
    pub fn of(job: &Ad, context: &Context) -> Self {
        let text = |name: &str| match evaluate_attribute(job, &name.into(), context) {
            Some(Value::String(text)) => Some(text.to_str().into_owned()),
            _ => None,
        };
        RunKind { owner: text("Owner"), command: text("Cmd") }
    }

    fn is_whole(&self) -> bool {
        self.owner.is_some() && self.command.is_some()
    }

    /// Returns the kind of the runs of the same owner, whatever the command.
    fn of_owner(&self) -> Self {
        RunKind { owner: self.owner.clone(), command: None }
    }
}

/// A completed run.
#[derive(Clone, Debug)]
pub struct CompletedRun {
    kind: RunKind,
    seconds: i64,
}

impl CompletedRun {
    /// Returns the run of a job of a history that took some seconds. `None` if the job is not completed, or ran in no slot.
    #[must_use]
    pub fn new(job: &Ad, seconds: i64, context: &Context) -> Option<Self> {
        let is_completed = integer(job, "JobStatus", context) == Some(COMPLETED) && runs_in_slot(job, context);
        is_completed.then(|| CompletedRun { kind: RunKind::of(job, context), seconds })
    }
}

/// Which runs of a history stand for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunBasis {
    /// Those of its owner and its command.
    OwnerAndCommand,
    /// Those of its owner.
    Owner,
    /// All.
    All,
}

/// The runs of a history that stand for a job.
#[derive(Clone, Copy, Debug)]
pub struct RunSample<'h> {
    /// Which runs these are.
    pub basis: RunBasis,
    /// Their seconds, in ascending order. There is at least one.
    seconds: &'h [i64],
}

/// The completed runs of a history.
#[derive(Clone, Debug, Default)]
pub struct RunHistory {
    /// The seconds of the runs, in ascending order: of each owner and command, of each owner, and under the empty kind of all.
    runs: FxHashMap<RunKind, Vec<i64>>,
}

impl RunHistory {
    /// Collects runs.
    #[must_use]
    pub fn new(completed: impl IntoIterator<Item = CompletedRun>) -> Self {
        let mut runs: FxHashMap<RunKind, Vec<i64>> = FxHashMap::default();
        for CompletedRun { kind, seconds } in completed {
            // A job without an owner or a command counts only with those above it.
            let above = [Some(kind.of_owner()).filter(|of| of.owner.is_some()), Some(RunKind::default())];
            for kind in [Some(kind).filter(RunKind::is_whole)].into_iter().chain(above).flatten() {
                runs.entry(kind).or_default().push(seconds);
            }
        }
        for seconds in runs.values_mut() {
            seconds.sort_unstable();
        }
        RunHistory { runs }
    }

    /// Returns the runs that stand for a job: those of its owner and command if there are enough, else those of its owner, else
    /// all. `None` if there are no runs at all.
    #[must_use]
    pub fn sample(&self, kind: &RunKind) -> Option<RunSample<'_>> {
        let of = |basis, kind: &RunKind, least: usize| {
            let seconds = self.runs.get(kind).filter(|seconds| seconds.len() >= least)?;
            Some(RunSample { basis, seconds })
        };
        let own = || of(RunBasis::OwnerAndCommand, kind, MIN_RUNS).filter(|_| kind.is_whole());
        let of_owner = || of(RunBasis::Owner, &kind.of_owner(), MIN_RUNS).filter(|_| kind.owner.is_some());
        own().or_else(of_owner).or_else(|| of(RunBasis::All, &RunKind::default(), 1))
    }

    /// Returns which runs stand for how many of some jobs.
    #[must_use]
    pub fn uses<'a>(&self, jobs: impl IntoIterator<Item = &'a Ad>, context: &Context) -> Vec<RunBasisUse> {
        let mut uses: BTreeMap<RunBasis, RunBasisUse> = BTreeMap::new();
        let mut counted = FxHashSet::default();
        for job in jobs {
            let Some(sample) = self.sample(&RunKind::of(job, context)) else { continue };
            let of = uses.entry(sample.basis).or_insert(RunBasisUse { basis: sample.basis, jobs: 0, runs: 0 });
            of.jobs += 1;
            of.runs += if counted.insert(sample.seconds.as_ptr()) { sample.runs() } else { 0 };
        }
        uses.into_values().collect()
    }

    /// Whether there are no runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

/// How many jobs some runs stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunBasisUse {
    /// Which runs these are.
    pub basis: RunBasis,
    /// Number of jobs.
    pub jobs: usize,
    /// Number of runs.
    pub runs: usize,
}

impl RunSample<'_> {
    /// Returns the number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.seconds.len()
    }

    /// Returns a quantile of the seconds that a job runs in all, if it has run for some `elapsed` seconds: of those runs that took
    /// longer. If none did, the job runs longer by this part of the time that it has run.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // a place in the list
    pub fn quantile(&self, part: f64, elapsed: i64) -> i64 {
        let part = part.clamp(0.0, 1.0);
        let longer = &self.seconds[self.seconds.partition_point(|seconds| *seconds <= elapsed)..];
        match longer.len() {
            0 => elapsed.saturating_add((elapsed as f64 * part).ceil() as i64),
            runs => longer[((runs as f64 * part).ceil() as usize).clamp(1, runs) - 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CompletedRun, RunBasis, RunHistory, RunKind};
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    fn job(text: &str) -> Ad {
        parse_ad(format!("[{text}]").as_bytes(), ParseOptions::new(Dialect::Condor)).expect("it is an ad")
    }

    fn run(text: &str, seconds: i64) -> Option<CompletedRun> {
        CompletedRun::new(&job(&format!("JobStatus = 4; {text}")), seconds, &Context::new(Dialect::Condor))
    }

    #[test]
    fn the_runs_that_stand_for_a_job() {
        let of = |owner: &str, command: &str, seconds: i64| run(&format!("{owner}; {command}"), seconds);
        let (ann, fit, scan) = ("Owner = \"ann\"", "Cmd = \"/bin/fit\"", "Cmd = \"/bin/scan\"");
        let runs = (1..=6).map(|run| of(ann, fit, run * 10)).chain([of(ann, scan, 500), of("", "", 700)]);
        let history = RunHistory::new(runs.flatten());
        for (owner, command, expected) in [
            (ann, fit, (RunBasis::OwnerAndCommand, 6, 30)),
            (ann, scan, (RunBasis::Owner, 7, 40)),
            (ann, "", (RunBasis::Owner, 7, 40)),
            ("Owner = \"bob\"", fit, (RunBasis::All, 8, 40)),
            ("", "", (RunBasis::All, 8, 40)),
        ] {
            let kind = RunKind::of(&job(&format!("{owner}; {command}; A = 1")), &Context::new(Dialect::Condor));
            let sample = history.sample(&kind).expect("there are runs");
            assert_eq!((sample.basis, sample.runs(), sample.quantile(0.5, 0)), expected, "{owner} {command}");
        }
        assert!(RunHistory::default().sample(&RunKind::default()).is_none());
    }

    #[test]
    fn quantiles_are_of_the_runs_that_took_longer() {
        let history = RunHistory::new((1..=10).filter_map(|number| run("", number * 10)));
        let sample = history.sample(&RunKind::default()).expect("there are runs");
        for (part, elapsed, expected) in [
            (0.0, 0, 10),
            (0.1, 0, 10),
            (0.11, 0, 20),
            (0.5, 0, 50),
            (0.9, 0, 90),
            (1.0, 0, 100),
            (0.5, 9, 50),
            (0.5, 10, 60),
            (0.9, 80, 100),
            (0.5, 99, 100),
            (0.5, 100, 150),
            (0.9, 200, 380),
            (7.0, 0, 100),
        ] {
            assert_eq!(sample.quantile(part, elapsed), expected, "{part} after {elapsed}");
        }
    }
}
