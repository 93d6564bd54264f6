//! What a policy of a job is at moments of a healthy job's life.

use crate::ad::{Ad, Expression, Name, Value};
use crate::eval::{Context, Environment, Evaluator};

use super::job_life::{JobMoment, JobPhase};
use super::missing_names::{MissingNames, missing_names, read_names};

/// A time at which a job was submitted, for policies that read no time of the job.
const USUAL_SUBMIT_TIME: i64 = 1_750_000_000;

/// A policy of a job, to be evaluated at moments of the job's life.
pub(super) struct PolicyTrial<'a> {
    pub job: &'a Ad,
    pub context: &'a Context,
    submitted: i64,
    /// The names that the policy reads, directly or through attributes of the job.
    reads: Vec<Name>,
}

/// What a policy is at a moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PolicyTruth {
    True,
    False,
    /// Undefined, or anything that is no number.
    Nothing,
}

impl<'a> PolicyTrial<'a> {
    /// Prepares to evaluate a policy. `submitted` is the time at which the job was submitted; `None` for any.
    pub(super) fn new(job: &'a Ad, expression: &Expression, submitted: Option<i64>, context: &'a Context) -> Self {
        let reads = read_names(job, expression, context.dialect);
        PolicyTrial { job, context, submitted: submitted.unwrap_or(USUAL_SUBMIT_TIME), reads }
    }

    /// Returns what a policy is at a moment. The job has all attributes of the phases up to `assumed`.
    pub(super) fn truth(&self, expression: &Expression, moment: &JobMoment, assumed: Option<JobPhase>) -> PolicyTruth {
        let (ad, now) = moment.ad(self.job, &self.reads, self.submitted, assumed);
        let context = Context { now: Some(now), ..self.context.clone() };
        let (environment, frame) = Environment::single(ad);
        match Evaluator::new(&environment, &context).evaluate(expression, &frame) {
            Ok(Value::Boolean(true)) => PolicyTruth::True,
            Ok(Value::Boolean(false)) => PolicyTruth::False,
            Ok(Value::Integer(number)) => [PolicyTruth::False, PolicyTruth::True][usize::from(number != 0)],
            Ok(Value::Real(number)) => [PolicyTruth::False, PolicyTruth::True][usize::from(number.trunc() != 0.0)],
            _ => PolicyTruth::Nothing,
        }
    }

    /// Returns the names that an expression reads without a guard, directly or through attributes of the job, and that the job
    /// has not at a moment, as [`PolicyTrial::truth`] assumes it.
    pub(super) fn missing(
        &self,
        expression: &Expression,
        moment: &JobMoment,
        assumed: Option<JobPhase>,
    ) -> MissingNames {
        let (ad, _) = moment.ad(self.job, &self.reads, self.submitted, assumed);
        missing_names(&ad, expression, self.context.dialect)
    }
}
