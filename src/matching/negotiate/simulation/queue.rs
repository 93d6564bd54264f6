//! What policies do to requests in the queue: those of the requests themselves and of the configuration hold, release, remove and
//! vacate them, or let them run again.

use std::collections::BTreeMap;

use crate::ad::{Ad, AdExtension, Expression, Name, Value};
use crate::configuration::{JobPolicies, PolicyEffect, PolicyEffectKind};
use crate::eval::Context;
use crate::protocol::evaluate_attribute;

use super::report::{SimulatedCycle, SimulatedEffect};
use super::{Simulation, SimulationSettings};

/// Maximum number of times at which policies are evaluated between two cycles.
const MAX_EVALUATIONS: i64 = 1440;

/// `HoldReasonCode` of a job that its own policy holds (`JobPolicy`), and one of the configuration (`SystemPolicy`).
const HOLD_CODES: [i64; 2] = [3, 26];

/// The requests for which policies can have an effect.
pub struct WatchedQueue<'s> {
    policies: &'s JobPolicies,
    /// The ads as the access point has them now, by the index of the request. One that has left the queue has none.
    ads: BTreeMap<usize, Ad>,
    /// The time at which the policies are evaluated next, and the time between two evaluations. `None` for never.
    next: Option<(i64, i64)>,
}

impl<'s> WatchedQueue<'s> {
    /// Watches the requests for which policies can have an effect.
    pub fn new<'a>(of: &'s SimulationSettings, requests: impl Iterator<Item = (usize, &'a Ad)>) -> Self {
        let watched = requests.filter(|(_, ad)| of.policies.watch(ad));
        let new = [("JobStatus", 1), ("NumHolds", 0), ("NumJobStarts", 0), ("NumShadowStarts", 0)];
        let ad = |ad: &Ad| match ad.get_str("JobStatus") {
            Some(_) if !of.begins_idle => ad.clone(),
            Some(_) => with_numbers(ad, &new),
            None => with_numbers(ad, &new[..1]),
        };
        let ads: BTreeMap<usize, Ad> = watched.map(|(request, own)| (request, ad(own))).collect();
        let step = of.policy_interval.max(of.interval / MAX_EVALUATIONS);
        let is_ever = of.policy_interval > 0 && !ads.is_empty();
        WatchedQueue { policies: &of.policies, ads, next: is_ever.then(|| (of.begin.saturating_add(step), step)) }
    }

    /// Takes note of a start.
    pub fn start(&mut self, request: usize, at: i64, context: &Context) {
        let Some(ad) = self.ads.get_mut(&request) else { return };
        let next = |name: &str| number(ad, name, context).saturating_add(1);
        let counts = ["JobRunCount", "NumJobStarts", "NumShadowStarts"].map(|name| (name, next(name)));
        let times = ["EnteredCurrentStatus", "JobCurrentStartDate", "JobCurrentStartExecutingDate", "ShadowBday"];
        let values: Vec<(&str, i64)> =
            counts.into_iter().chain(times.map(|name| (name, at))).chain([("JobStatus", 2)]).collect();
        *ad = with_numbers(ad, &values);
    }

    /// Takes note that a request waits again.
    pub fn wait(&mut self, request: usize, at: i64) {
        if let Some(ad) = self.ads.get_mut(&request) {
            *ad = with_numbers(ad, &[("EnteredCurrentStatus", at), ("JobStatus", 1)]);
        }
    }

    /// Returns what becomes of a request whose run ends by itself; `None` if it leaves the queue.
    fn exit(&mut self, request: usize, context: &Context) -> Option<PolicyEffect> {
        let mut ad = self.ads.get(&request)?.clone();
        for (name, value) in [("ExitBySignal", Value::Boolean(false)), ("ExitCode", Value::Integer(0))] {
            if ad.get_str(name).is_none() {
                ad = ad.with(Name::new(name), Expression::literal(value));
            }
        }
        let effect = self.policies.exit_effect(&ad, context);
        if effect.as_ref().is_none_or(|effect| effect.kind == PolicyEffectKind::Removes) {
            self.ads.remove(&request);
        }
        effect
    }

    /// Takes note of what a policy does.
    fn change(&mut self, request: usize, effect: &PolicyEffect, at: i64, context: &Context) {
        match effect.kind {
            PolicyEffectKind::Removes => drop(self.ads.remove(&request)),
            PolicyEffectKind::Holds => {
                let Some(ad) = self.ads.get_mut(&request) else { return };
                let holds = number(ad, "NumHolds", context).saturating_add(1);
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
                *ad = with_numbers(ad, &numbers).with(Name::new("HoldReason"), reason);
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
        let (context, requests) = (&self.settings.context, &self.requests);
        let has_come = |(request, _): &(&usize, &Ad)| requests[**request].arrival <= at;
        let effect = |(request, ad): (&usize, &Ad)| Some((*request, self.queue.policies.queue_effect(ad, context)?));
        let effects: Vec<(usize, PolicyEffect)> = self.queue.ads.iter().filter(has_come).filter_map(effect).collect();
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
