//! What the policies of a job in the queue, its own and those of the configuration, will do to it.

use crate::ad::{Ad, AdExtension, Expression, Name, Value};
use crate::configuration::{JobPolicies, JobPolicy, PolicyEffect, PolicyEffectKind};
use crate::eval::Context;

use super::foreseen_effect::{ForeseenEffect, course};
use super::policy_outlook::{PolicyMoment, PolicyOutlook, PolicyView};

/// What the policies of a job will do to it if nothing else happens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobOutlook {
    /// The present, in seconds since 1970.
    pub now: i64,
    /// Seconds between two evaluations of the policies.
    pub interval: i64,
    /// The policies that HTCondor evaluates in the state of the job, in the order in which it tries them. One that can never have
    /// an effect is left out.
    pub policies: Vec<PolicyOutlook>,
    /// What happens by the clock alone, one effect after the other. The first is that of one of `policies`.
    pub course: Vec<ForeseenEffect>,
    /// What becomes of a running job if its program ends now and returns 0; `None` if it leaves the queue.
    pub after_success: Option<PolicyEffect>,
}

/// What jobs with one outlook have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OutlookKind {
    /// The policy that does something at the next evaluation, and what it does.
    imminent: Option<(String, PolicyEffectKind)>,
    /// The names of the policies, each with whether it has a value.
    policies: Vec<(bool, String)>,
}

impl JobOutlook {
    /// Looks at the policies of a job. `None` if none can ever have an effect, or the time is unknown.
    #[must_use]
    pub fn new(policies: &JobPolicies, job: &Ad, interval: i64, context: &Context) -> Option<Self> {
        let now = context.now.filter(|_| policies.watch(job))?;
        let evaluated = JobPolicies::evaluated_job(job, context);
        let applying: Vec<JobPolicy> =
            policies.of_job(job, context).into_iter().filter(|policy| policy.applies).collect();
        if applying.is_empty() {
            return None;
        }
        let course = course(policies, job, now, context);
        let first = course.first();
        let outlooks = applying.iter().map(|policy| {
            let is_first = first.is_some_and(|first| first.effect.knob == policy.name && !policy.is_at_exit);
            PolicyView::new(policy, &evaluated, context).outlook(now, first.filter(|_| is_first))
        });
        let outlooks = outlooks.collect();
        let after_success = applying.iter().any(|policy| policy.is_at_exit).then(|| {
            let succeeded = [("ExitBySignal", Value::Boolean(false)), ("ExitCode", Value::Integer(0))];
            let succeeded = succeeded.map(|(name, value)| (Name::new(name), Expression::literal(value)));
            policies.exit_effect(&AdExtension::new(succeeded.into()).extend(&evaluated), context)
        });
        Some(JobOutlook { now, interval, policies: outlooks, course, after_success: after_success.flatten() })
    }

    /// What happens at the next evaluation; `None` if nothing does.
    #[must_use]
    pub fn imminent(&self) -> Option<&ForeseenEffect> {
        self.course.first().filter(|first| first.from <= self.now)
    }

    /// The policy that holds or removes the job by the clock alone; `None` if none does, or if one releases it later.
    #[must_use]
    pub fn end(&self) -> Option<&ForeseenEffect> {
        use PolicyEffectKind::{Holds, Releases, Removes};
        let is_released = self.course.iter().any(|next| next.effect.kind == Releases);
        self.course.first().filter(|first| matches!(first.effect.kind, Holds | Removes) && !is_released)
    }

    /// Whether something happens at the next evaluation, or a policy has no value.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        self.imminent().is_some() || self.faulty().is_some()
    }

    /// The first policy of the job itself without a value. Those of a configuration are often undefined for most jobs.
    #[must_use]
    pub fn faulty(&self) -> Option<&PolicyOutlook> {
        self.policies.iter().find(|policy| policy.is_faulty())
    }

    /// Returns what jobs with one outlook have in common, but for times: what happens at the next evaluation, and the policies
    /// with those that have no value.
    #[must_use]
    pub fn kind(policies: &JobPolicies, job: &Ad, context: &Context) -> OutlookKind {
        if !policies.watch(job) {
            return OutlookKind::default();
        }
        let evaluated = JobPolicies::evaluated_job(job, context);
        let has_value = |policy: &JobPolicy| {
            let now = context.now.unwrap_or_default();
            PolicyView::new(policy, &evaluated, context).fault(&policy.expression, now).is_none()
        };
        let applying = policies.of_job(job, context).into_iter().filter(|policy| policy.applies);
        OutlookKind {
            imminent: policies.queue_effect(job, context).map(|effect| (effect.knob, effect.kind)),
            policies: applying.map(|policy| (policy.is_at_exit || has_value(&policy), policy.name)).collect(),
        }
    }

    /// The policy that has the first effect.
    #[must_use]
    pub fn first(&self) -> Option<&PolicyOutlook> {
        let first = self.course.first()?;
        self.policies.iter().find(|policy| policy.name == first.effect.knob && policy.moment != PolicyMoment::AtExit)
    }
}
