//! What happens between two cycles: runs end, policies have effects, and claims get further requests.

use std::collections::BTreeMap;

use crate::ad::Ad;
use crate::configuration::{PolicyEffect, PolicyEffectKind};

use super::Simulation;
use super::claims::{ClaimReuse, OpenClaim};
use super::report::{SimulatedCycle, SimulatedEffect, SimulatedGrant};
use super::runs::SimulatedRun;

/// What becomes of the claim of a run.
#[derive(Clone, Copy)]
enum ClaimFate {
    /// It ends, because its request waits again or is held.
    Ends,
    /// The next request takes the place of one that has ended.
    IsReused,
    /// It is empty, because its request was removed.
    IsEmptied,
}

impl Simulation<'_> {
    /// Ends runs and evaluates policies until the time of a cycle, in the order of their times.
    pub(super) fn advance(&mut self, cycle: &mut SimulatedCycle) {
        while let Some((at, step)) = self.queue.next.filter(|(at, _)| *at <= cycle.time) {
            self.end_runs(at, cycle);
            self.set_time(at);
            self.evaluate_policies(at, cycle);
            self.queue.next = at.checked_add(step).map(|next| (next, step));
            if self.settings.context.is_interrupted() {
                return;
            }
        }
        self.end_runs(cycle.time, cycle);
    }

    /// Ends the runs whose time is over by a time, in the order of their ends, and starts what comes for open claims.
    fn end_runs(&mut self, until: i64, cycle: &mut SimulatedCycle) {
        loop {
            let end = self.runs.next_end();
            let look = self.claims.as_ref().and_then(ClaimReuse::next_look);
            let Some(at) = end.into_iter().chain(look).min().filter(|at| *at <= until) else { return };
            self.set_time(at);
            let mut open = Vec::new();
            for run in self.runs.take_ended(at) {
                cycle.submitter(&run.submitter).ended += 1;
                self.totals.ended += 1;
                let fate = self.leave(run.request, at, cycle);
                open.extend(self.end_run(&run, fate, at));
            }
            self.reuse(open, at, cycle);
            if look.is_some_and(|look| look <= at) {
                self.look(at, false, cycle);
            }
        }
    }

    fn set_time(&mut self, at: i64) {
        self.accountant.advance(at);
        self.settings.context.now = Some(at);
        if let Some(claims) = &mut self.claims {
            claims.advance(at, &self.requests);
        }
    }

    /// Ends a run. Returns its claim if that goes on, else frees its slots.
    fn end_run(&mut self, run: &SimulatedRun, fate: ClaimFate, at: i64) -> Option<OpenClaim> {
        let open = self.open_claim(run, at).filter(|_| !matches!(fate, ClaimFate::Ends));
        if open.is_none() {
            self.free(&run.slots, at, None);
        }
        open.map(|open| OpenClaim { passes_keep: matches!(fate, ClaimFate::IsReused), ..open })
    }

    /// Returns the claim of a run that is over. `None` if it is too old for another request.
    fn open_claim(&self, run: &SimulatedRun, at: i64) -> Option<OpenClaim> {
        let (Some(claims), [slot]) = (&self.claims, run.slots.as_slice()) else { return None };
        let (slot, claim) = (*slot, run.claim);
        let closes = claims.closing(self.slots.ad(slot), claim, run.request, &self.settings.context);
        let until = if claim.keep > 0 { at.saturating_add(claim.keep) } else { i64::MIN };
        let submitter = run.submitter.clone();
        (at < closes).then_some(OpenClaim { slot, submitter, claim, until, closes, passes_keep: false })
    }

    /// Keeps the claim of a run that is over open until a time.
    pub(super) fn keep_open(&mut self, run: &SimulatedRun, until: i64) {
        let open = self.open_claim(run, until);
        if let (Some(open), Some(claims)) = (open, &mut self.claims) {
            self.slots.open(open.slot, until, &self.settings.context);
            claims.add_open(OpenClaim { until, ..open });
        }
    }

    /// Uses the open claims for what has come for them, and ends those that were open long enough. The access point also looks
    /// at them when it starts other requests.
    pub(super) fn look(&mut self, at: i64, starts_others: bool, cycle: &mut SimulatedCycle) {
        let due = self.claims.as_mut().map(|claims| claims.take_due(at, starts_others)).unwrap_or_default();
        self.reuse(due, at, cycle);
    }

    /// Starts the next requests in claims without requests. Those that get none stay open, or their slots are free.
    fn reuse(&mut self, open: Vec<OpenClaim>, at: i64, cycle: &mut SimulatedCycle) {
        let Some(mut claims) = self.claims.take_if(|_| !open.is_empty()) else { return };
        let context = &self.settings.context;
        let is_tried = |open: &&OpenClaim| at < open.closes && claims.has_waiting(&open.submitter);
        let slots: Vec<Ad> =
            open.iter().filter(is_tried).map(|open| self.slots.as_matched(open.slot, at, context)).collect();
        let tried: Vec<bool> = open.iter().map(|open| is_tried(&open)).collect();
        let mut offers = (!slots.is_empty()).then(|| ClaimReuse::offers(&slots, &self.settings));
        let mut places = 0..slots.len();
        for (mut open, is_tried) in open.into_iter().zip(tried) {
            let place = if is_tried { places.next() } else { None };
            let next = offers.as_mut().zip(place).and_then(|(offers, place)| {
                claims.next((self.slots.ad(open.slot), &open), (offers, place), &self.requests)
            });
            let Some((request, candidate)) = next else {
                if at < open.closes && at <= open.until {
                    self.slots.open(open.slot, at, &self.settings.context);
                    claims.add_open(OpenClaim { passes_keep: false, ..open });
                } else {
                    self.free(&[open.slot], at, None);
                }
                continue;
            };
            let (ad, context) = (&self.requests[request].ad, &self.settings.context);
            if !open.passes_keep {
                open.claim.keep = ClaimReuse::keep(ad, context);
            }
            self.slots.reclaim(open.slot, (ad, self.runs.next), at, context);
            let started = SimulatedGrant {
                ranks: [candidate.request_rank, candidate.offer_rank],
                reuses_claim: true,
                ..SimulatedGrant::at(at, request, vec![self.slots.name(open.slot).to_owned()])
            };
            self.record_start(started, (vec![open.slot], open.claim), cycle);
            claims.renew(request, &self.requests[request]);
            self.totals.reused += 1;
        }
        self.claims = Some(claims);
    }

    fn evaluate_policies(&mut self, at: i64, cycle: &mut SimulatedCycle) {
        let effects = self.queue.effects(|request| self.requests[request].arrival <= at, &self.settings.context);
        if effects.is_empty() {
            return;
        }
        let running: BTreeMap<usize, usize> = self.runs.by_request();
        let mut open = Vec::new();
        for (request, effect) in effects {
            let run = running.get(&request).and_then(|number| self.runs.take(*number));
            let fate = self.apply(request, effect, at, cycle);
            open.extend(run.and_then(|run| self.end_run(&run, fate, at)));
        }
        self.reuse(open, at, cycle);
    }

    /// Does to a request that runs no more what a policy says.
    fn apply(&mut self, request: usize, effect: PolicyEffect, at: i64, cycle: &mut SimulatedCycle) -> ClaimFate {
        let waits = !matches!(effect.kind, PolicyEffectKind::Holds | PolicyEffectKind::Removes);
        let fate = if effect.kind == PolicyEffectKind::Removes { ClaimFate::IsEmptied } else { ClaimFate::Ends };
        self.queue.change(request, &effect, at, &self.settings.context);
        self.requests[request].is_held = effect.kind == PolicyEffectKind::Holds;
        self.set_waiting(request, usize::from(waits));
        cycle.effects.push(SimulatedEffect { request, time: at, effect });
        fate
    }

    /// Lets a request whose run has ended leave the queue, unless a policy keeps it.
    fn leave(&mut self, request: Option<usize>, at: i64, cycle: &mut SimulatedCycle) -> ClaimFate {
        let effect = request.and_then(|request| Some((request, self.queue.exit(request, &self.settings.context)?)));
        match effect {
            Some((request, effect)) => self.apply(request, effect, at, cycle),
            None => ClaimFate::IsReused,
        }
    }
}
