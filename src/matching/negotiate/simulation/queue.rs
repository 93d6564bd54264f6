//! What policies do to requests in the queue: those of the requests themselves and of the configuration hold, release, remove and
//! vacate them, or let them run again.

use std::collections::BTreeMap;

use crate::ad::{Ad, AdExtension, Expression, Name, Value};
use crate::configuration::{JobPolicies, PolicyEffect, PolicyEffectKind};
use crate::eval::Context;
use crate::protocol::evaluate_attribute;

use super::SimulationSettings;
use super::narrow_ads::BoundExpressions;

/// Maximum number of times at which policies are evaluated between two cycles.
const MAX_EVALUATIONS: i64 = 1440;

/// A request for which policies can have an effect.
struct WatchedRequest {
    /// The ad as the access point has it now.
    ad: Ad,
    /// Whether its policies read the clock.
    reads_clock: bool,
    /// Whether its policies had no effect, and have none as long as the ad stays the same.
    is_settled: bool,
}

impl WatchedRequest {
    fn change(&mut self, ad: Ad) {
        (self.ad, self.is_settled) = (ad, false);
    }
}

/// The requests for which policies can have an effect.
pub struct WatchedQueue<'s> {
    policies: &'s JobPolicies,
    /// The requests, by their indexes. One that has left the queue is gone.
    requests: BTreeMap<usize, WatchedRequest>,
    /// The time at which the policies are evaluated next, and the time between two evaluations. `None` for never.
    pub next: Option<(i64, i64)>,
}

impl<'s> WatchedQueue<'s> {
    /// Watches the requests for which policies can have an effect.
    pub fn new<'a>(
        of: &'s SimulationSettings,
        requests: impl Iterator<Item = (usize, &'a Ad)>,
        context: &Context,
    ) -> Self {
        let watched = requests.filter(|(_, ad)| of.policies.watch(ad));
        let new = [("JobStatus", 1), ("NumHolds", 0), ("NumJobStarts", 0), ("NumShadowStarts", 0)];
        let ad = |ad: &Ad| match ad.get_str("JobStatus") {
            Some(_) if !of.begins_idle => ad.clone(),
            Some(_) => with_numbers(ad, &new),
            None => with_numbers(ad, &new[..1]),
        };
        let reads_clock = |own: &Ad| {
            // While a job runs, what it reads of its run moves with the clock.
            let running =
                JobPolicies::evaluated_job(&with_numbers(own, &[("JobStatus", 2), ("ShadowBday", 0)]), context);
            let bound = BoundExpressions::of([own, &running].into_iter(), context.dialect);
            !bound.is_some_and(|bound| bound.keep_values(of.policies.queue_conditions(own)))
        };
        let request = |own: &Ad| WatchedRequest { ad: ad(own), reads_clock: reads_clock(own), is_settled: false };
        let requests: BTreeMap<usize, WatchedRequest> = watched.map(|(index, own)| (index, request(own))).collect();
        let step = of.policy_interval.max(of.interval / MAX_EVALUATIONS);
        let is_ever = of.policy_interval > 0 && !requests.is_empty();
        WatchedQueue { policies: &of.policies, requests, next: is_ever.then(|| (of.begin.saturating_add(step), step)) }
    }

    /// Takes note of a start.
    pub fn start(&mut self, request: usize, at: i64, context: &Context) {
        let Some(watched) = self.requests.get_mut(&request) else { return };
        let next = |name: &str| number(&watched.ad, name, context).saturating_add(1);
        let counts = ["JobRunCount", "NumJobStarts", "NumShadowStarts"].map(|name| (name, next(name)));
        let times = ["EnteredCurrentStatus", "JobCurrentStartDate", "JobCurrentStartExecutingDate", "ShadowBday"];
        let values: Vec<(&str, i64)> =
            counts.into_iter().chain(times.map(|name| (name, at))).chain([("JobStatus", 2)]).collect();
        watched.change(with_numbers(&watched.ad, &values));
    }

    /// Takes note that a request waits again.
    pub fn wait(&mut self, request: usize, at: i64, context: &Context) {
        if let Some(watched) = self.requests.get_mut(&request) {
            let waiting = JobPolicies::job_after_run(&watched.ad, at, context);
            watched.change(with_numbers(&waiting, &[("EnteredCurrentStatus", at), ("JobStatus", 1)]));
        }
    }

    /// Returns what becomes of a request whose run ends by itself; `None` if it leaves the queue.
    pub fn exit(&mut self, request: usize, context: &Context) -> Option<PolicyEffect> {
        let mut ad = self.requests.get(&request)?.ad.clone();
        for (name, value) in [("ExitBySignal", Value::Boolean(false)), ("ExitCode", Value::Integer(0))] {
            if ad.get_str(name).is_none() {
                ad = ad.with(Name::new(name), Expression::literal(value));
            }
        }
        let effect = self.policies.exit_effect(&ad, context);
        if effect.as_ref().is_none_or(|effect| effect.kind == PolicyEffectKind::Removes) {
            self.requests.remove(&request);
        }
        effect
    }

    /// Returns the effects of policies on the requests that have come.
    pub fn effects(&mut self, has_come: impl Fn(usize) -> bool, context: &Context) -> Vec<(usize, PolicyEffect)> {
        let mut effects = Vec::new();
        for (request, watched) in &mut self.requests {
            if has_come(*request) && !watched.is_settled {
                let effect = self.policies.queue_effect(&watched.ad, context);
                watched.is_settled = effect.is_none() && !watched.reads_clock;
                effects.extend(effect.map(|effect| (*request, effect)));
            }
        }
        effects
    }

    /// Takes note of what a policy does.
    pub fn change(&mut self, request: usize, effect: &PolicyEffect, at: i64, context: &Context) {
        let Some(watched) = self.requests.get_mut(&request) else { return };
        match JobPolicies::job_after(effect, &watched.ad, at, context) {
            Some(changed) => watched.change(changed),
            None => drop(self.requests.remove(&request)),
        }
    }
}

fn number(ad: &Ad, name: &str, context: &Context) -> i64 {
    match evaluate_attribute(ad, &Name::new(name), context) {
        Some(Value::Integer(number)) => number,
        _ => 0,
    }
}

/// Returns an ad with these attributes.
fn with_numbers(ad: &Ad, numbers: &[(&str, i64)]) -> Ad {
    let value = |(name, number): &(&str, i64)| (Name::new(name), Expression::literal(Value::Integer(*number)));
    AdExtension::new(numbers.iter().map(value).collect()).extend(ad)
}
