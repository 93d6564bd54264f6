//! What policies do to requests in the queue: those of the requests themselves and of the configuration hold, release, remove and
//! vacate them, or let them run again.

use std::collections::BTreeMap;

use crate::ad::{Ad, AdExtension, Expression, Name, Value};
use crate::configuration::{JobPolicies, PolicyEffect, PolicyEffectKind};
use crate::eval::Context;
use crate::protocol::evaluate_attribute;

use super::narrow_ads::BoundExpressions;
use super::report::{SimulatedCycle, SimulatedEffect};
use super::{Simulation, SimulationSettings};

/// Maximum number of times at which policies are evaluated between two cycles.
const MAX_EVALUATIONS: i64 = 1440;

/// `HoldReasonCode` of a job that its own policy holds (`JobPolicy`), and one of the configuration (`SystemPolicy`).
const HOLD_CODES: [i64; 2] = [3, 26];

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
    next: Option<(i64, i64)>,
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
            let bound = BoundExpressions::of(std::iter::once(own), context.dialect);
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
    pub fn wait(&mut self, request: usize, at: i64) {
        if let Some(watched) = self.requests.get_mut(&request) {
            watched.change(with_numbers(&watched.ad, &[("EnteredCurrentStatus", at), ("JobStatus", 1)]));
        }
    }

    /// Returns what becomes of a request whose run ends by itself; `None` if it leaves the queue.
    fn exit(&mut self, request: usize, context: &Context) -> Option<PolicyEffect> {
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

    /// Takes note of what a policy does.
    fn change(&mut self, request: usize, effect: &PolicyEffect, at: i64, context: &Context) {
        match effect.kind {
            PolicyEffectKind::Removes => drop(self.requests.remove(&request)),
            PolicyEffectKind::Holds => {
                let Some(watched) = self.requests.get_mut(&request) else { return };
                let holds = number(&watched.ad, "NumHolds", context).saturating_add(1);
                let code = HOLD_CODES[usize::from(effect.line.is_some())];
                let subcode = effect.subcode.unwrap_or(0);
                let numbers = [
                    ("EnteredCurrentStatus", at),
                    ("HoldReasonCode", code),
                    ("HoldReasonSubCode", subcode),
                    ("JobStatus", 5),
                    ("NumHolds", holds),
                ];
                let reason = Expression::literal(Value::string(effect.reason.clone()));
                watched.change(with_numbers(&watched.ad, &numbers).with(Name::new("HoldReason"), reason));
            }
            _ => self.wait(request, at),
        }
    }
}

impl Simulation<'_> {
    /// Ends runs and evaluates policies until the time of a cycle, in the order of their times.
    pub(super) fn advance(&mut self, cycle: &mut SimulatedCycle) {
        while let Some((at, step)) = self.queue.next.filter(|(at, _)| *at <= cycle.time) {
            self.end_runs(at, cycle);
            self.settings.context.now = Some(at);
            self.accountant.advance(at);
            self.evaluate_policies(at, cycle);
            self.queue.next = at.checked_add(step).map(|next| (next, step));
            if self.settings.context.is_interrupted() {
                return;
            }
        }
        self.end_runs(cycle.time, cycle);
    }

    fn evaluate_policies(&mut self, at: i64, cycle: &mut SimulatedCycle) {
        let (context, policies) = (&self.settings.context, self.queue.policies);
        let mut effects = Vec::new();
        for (request, watched) in &mut self.queue.requests {
            if self.requests[*request].arrival <= at && !watched.is_settled {
                let effect = policies.queue_effect(&watched.ad, context);
                watched.is_settled = effect.is_none() && !watched.reads_clock;
                effects.extend(effect.map(|effect| (*request, effect)));
            }
        }
        if effects.is_empty() {
            return;
        }
        let running: BTreeMap<usize, usize> = self.runs.by_request();
        for (request, effect) in effects {
            if let Some(run) = running.get(&request).and_then(|number| self.runs.take(*number)) {
                self.free(&run, at, None);
            }
            self.apply(request, effect, at, cycle);
        }
    }

    /// Does to a request that runs no more what a policy says.
    fn apply(&mut self, request: usize, effect: PolicyEffect, at: i64, cycle: &mut SimulatedCycle) {
        let waits = !matches!(effect.kind, PolicyEffectKind::Holds | PolicyEffectKind::Removes);
        self.queue.change(request, &effect, at, &self.settings.context);
        self.requests[request].is_held = effect.kind == PolicyEffectKind::Holds;
        self.set_waiting(request, usize::from(waits));
        cycle.effects.push(SimulatedEffect { request, time: at, effect });
    }

    /// Lets a request whose run has ended leave the queue, unless a policy keeps it. Returns whether it leaves.
    pub(super) fn leave(&mut self, request: Option<usize>, at: i64, cycle: &mut SimulatedCycle) -> bool {
        let Some((request, effect)) =
            request.and_then(|request| Some((request, self.queue.exit(request, &self.settings.context)?)))
        else {
            return true;
        };
        self.apply(request, effect, at, cycle);
        false
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
