//! How long simulated requests run.

use std::sync::Arc;

use crate::ad::{Ad, Expression, Value};
use crate::eval::{Context, Environment, Evaluator};
use crate::matching::negotiate::run_history::{CompletedRun, RunHistory, RunKind};

/// What tells how long requests run.
#[derive(Clone, Debug)]
pub enum RunTime {
    /// An expression of seconds. It is evaluated in the request, with the slot as the other ad.
    Expression(Expression),
    /// A quantile of the runs that stand for the request in a history.
    Quantile(Arc<RunHistory>, f64),
}

impl RunTime {
    /// Returns the run of a job of a history. `None` if the job is not completed, or ran in no slot, or for an unknown time.
    #[must_use]
    pub fn completed_run(&self, job: &Ad, context: &Context) -> Option<CompletedRun> {
        CompletedRun::new(job, self.seconds(job, None, 0, context)?, context)
    }

    /// Returns the whole seconds that a request runs in a slot, rounded up, if it has run there for some `elapsed` seconds.
    /// `None` if the expression is no number of at least 0, or the history has no runs.
    pub(super) fn seconds(&self, request: &Ad, slot: Option<&Ad>, elapsed: i64, context: &Context) -> Option<i64> {
        let expression = match self {
            RunTime::Expression(expression) => expression,
            RunTime::Quantile(history, part) => {
                return Some(history.sample(&RunKind::of(request, context))?.quantile(*part, elapsed));
            }
        };
        let (environment, [left, _]) = Environment::pair(request.clone(), slot.cloned().unwrap_or_default());
        #[allow(clippy::cast_possible_truncation)] // it saturates
        match Evaluator::new(&environment, context).evaluate(expression, &left).ok()? {
            Value::Integer(seconds) => Some(seconds),
            Value::Real(seconds) => {
                Some(seconds).filter(|seconds| !seconds.is_nan()).map(|seconds| seconds.ceil() as i64)
            }
            Value::RelativeTime(time) => Some(time.seconds.ceil() as i64),
            _ => None,
        }
        .filter(|seconds| *seconds >= 0)
    }
}

#[cfg(test)]
mod tests {
    use super::RunTime;
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::matching::negotiate::{HISTORY_RUN_TIME, RunHistory, RunKind};
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    #[test]
    fn which_jobs_of_a_history_are_completed_runs() {
        let options = ParseOptions::new(Dialect::Condor);
        let run_time = RunTime::Expression(parse_expression(HISTORY_RUN_TIME.as_bytes(), options).unwrap());
        let context = Context::new(Dialect::Condor);
        for (text, expected) in [
            ("JobStatus = 4; RemoteWallClockTime = 90.0", Some(90)),
            ("JobStatus = 4; RemoteWallClockTime = 0.4", Some(1)),
            ("JobStatus = 4; JobStartDate = 100; CompletionDate = 130", Some(30)),
            ("JobStatus = 4; JobStartDate = 100; JobCurrentStartDate = 120; CompletionDate = 130", Some(10)),
            ("JobStatus = 4; JobStartDate = 100; EnteredCurrentStatus = 130", Some(30)),
            ("JobStatus = 3; RemoteWallClockTime = 90.0", None),
            ("JobStatus = 4; RemoteWallClockTime = 90.0; JobUniverse = 7", None),
            ("JobStatus = 4; RemoteWallClockTime = 90.0; JobUniverse = 5", Some(90)),
            ("JobStatus = 4; CompletionDate = 130", None),
            ("JobStatus = 4; JobStartDate = 150; CompletionDate = 130", None),
        ] {
            let job = parse_ad(format!("[{text}]").as_bytes(), options).unwrap();
            let history = RunHistory::new(run_time.completed_run(&job, &context));
            let seconds = history.sample(&RunKind::default()).map(|sample| sample.quantile(0.5, 0));
            assert_eq!(seconds, expected, "{text}");
        }
    }
}
