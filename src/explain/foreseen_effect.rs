//! What policies do to a job by the clock alone, one effect after the other.

use crate::ad::{Ad, Expression};
use crate::configuration::{JobPolicies, PolicyEffect};
use crate::constraint::ClockBreaks;
use crate::eval::{Context, Environment};

use super::clause_time::soonest;

/// Maximum number of effects that are followed one after the other.
const MAX_EFFECTS: usize = 3;

/// An effect of a policy at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ForeseenEffect {
    /// The second from which the policy has it, in seconds since 1970.
    pub from: i64,
    /// Whether the time is seen in samples.
    pub is_sampled: bool,
    /// What the policy does.
    pub effect: PolicyEffect,
}

/// Returns what happens to a job by the clock alone, one effect after the other.
pub(super) fn course(policies: &JobPolicies, job: &Ad, now: i64, context: &Context) -> Vec<ForeseenEffect> {
    let (mut found, mut job, mut at): (Vec<ForeseenEffect>, Ad, i64) = (Vec::new(), job.clone(), now);
    while found.len() < MAX_EFFECTS {
        let Some(next) = next_effect(policies, &job, at, context) else { break };
        // A job that is held and released in turns goes on so.
        let is_loop = found.iter().any(|known| known.effect.knob == next.effect.knob);
        let changed = JobPolicies::job_after(&next.effect, &job, next.from, context);
        at = next.from;
        found.push(next);
        match changed.filter(|_| !is_loop) {
            Some(changed) => job = changed,
            None => break,
        }
    }
    found
}

/// Returns the next effect of a policy on a job from a second on.
fn next_effect(policies: &JobPolicies, job: &Ad, at: i64, context: &Context) -> Option<ForeseenEffect> {
    let effect_at = |second: i64| policies.queue_effect(job, &Context { now: Some(second), ..context.clone() });
    if let Some(effect) = effect_at(at) {
        return Some(ForeseenEffect { from: at, is_sampled: false, effect });
    }
    let evaluated = JobPolicies::evaluated_job(job, context);
    let conditions: Vec<Expression> = policies
        .of_job(job, context)
        .into_iter()
        .filter(|policy| policy.applies && !policy.is_at_exit)
        .map(|policy| policy.condition)
        .collect();
    let (environment, frame) = Environment::single(evaluated);
    let find = |length: i64| {
        let span = at..at.saturating_add(length);
        let breaks = conditions.iter().map(|of| ClockBreaks::of(of, &frame, &environment, context, span.clone()));
        let breaks = breaks.reduce(ClockBreaks::and)?;
        let mut found = None;
        let timeline = breaks.timeline(|seconds| {
            (found.is_none() && !context.is_interrupted())
                .then(|| found = Some(seconds.start).zip(effect_at(seconds.start)))
        });
        found.map(|(from, effect)| ForeseenEffect { from, is_sampled: timeline.sampling.is_some(), effect })
    };
    soonest(find, |next| next.is_sampled)
}
