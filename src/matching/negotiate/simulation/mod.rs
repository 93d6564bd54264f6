//! Simulation of a pool over consecutive cycles: what a cycle leaves is what the next one finds.
//!
//! A request that starts uses its offers until its run time is over, or until another request takes one of them. Its claim may go
//! to the next request of its submitter.

mod beginning;
mod between_cycles;
mod claims;
mod lasting;
mod narrow_ads;
mod queue;
mod report;
mod request;
mod run_time;
mod runs;
mod settings;
mod slots;

use std::ops::ControlFlow;

use crate::ad::Ad;
use crate::constraint::with_moving_clock;
use crate::matching::policy::{Account, Accountant, PolicyFault, with_attributes};

use super::event::Grant;
use super::{NegotiationOutcome, NegotiationSettings, negotiate_known, submitter_name};
use beginning::{EarlierRun, claimed_since, earlier_runs, is_held, is_open_claim, is_running};
use claims::{ClaimReuse, SlotClaim};
use lasting::{LastingFacts, NamesOfCycles};
use narrow_ads::NarrowAds;
use queue::WatchedQueue;
pub use report::{SimulatedCycle, SimulatedEffect, SimulatedGrant, SimulationTotals, SubmitterState};
use request::SimulatedRequest;
pub use run_time::RunTime;
use runs::{SimulatedRun, SimulatedRuns};
pub use settings::{SIMULATION_ATTRIBUTES, SPACING, SimulationSettings};
use slots::SimulatedSlots;

/// Runs cycles. Offers have names. `accountant` has the priorities in the beginning, and those of the end afterwards. `tell` is
/// called with each cycle as it ends; if it returns [`ControlFlow::Break`], the simulation ends.
///
/// # Errors
///
/// Fails if values of the policy's vectors cannot be compared.
pub fn simulate(
    settings: &NegotiationSettings,
    of: &SimulationSettings,
    (requests, offers): (&[Ad], &[(String, Ad)]),
    accountant: &mut Accountant,
    tell: &mut dyn FnMut(&SimulatedCycle) -> ControlFlow<()>,
) -> Result<SimulationTotals, PolicyFault> {
    let settings = NegotiationSettings { finds_starts: true, ..settings.clone() };
    let mut simulation = Simulation::new(settings, of, requests, offers, accountant)?;
    let mut number = 1;
    while number <= of.cycles {
        // What a cycle lists of its offers ends with it.
        let context = simulation.settings.context.clone();
        let cycle = context.with_held_bytes_of(|| simulation.run_cycle(number))?;
        if tell(&cycle).is_break() || context.is_interrupted() || context.has_spent_comparisons() {
            break;
        }
        number += if of.skips_quiet { simulation.cycles_to_change(&cycle).max(1 + number / SPACING) } else { 1 };
    }
    Ok(simulation.end())
}

struct Simulation<'s> {
    settings: NegotiationSettings,
    of: &'s SimulationSettings,
    /// Whether the clock may change which requests and offers are compatible.
    moves: bool,
    requests: Vec<SimulatedRequest>,
    /// `None` if nothing stays from cycle to cycle.
    lasting: Option<LastingFacts>,
    slots: SimulatedSlots,
    /// `None` if claims end with their requests.
    claims: Option<ClaimReuse>,
    queue: WatchedQueue<'s>,
    runs: SimulatedRuns,
    accountant: &'s mut Accountant,
    totals: SimulationTotals,
}

impl<'s> Simulation<'s> {
    fn new(
        settings: NegotiationSettings,
        of: &'s SimulationSettings,
        requests: &[Ad],
        offers: &[(String, Ad)],
        accountant: &'s mut Accountant,
    ) -> Result<Self, PolicyFault> {
        let submitter = |ad: &Ad| {
            let share = settings.policy.share.as_ref();
            share.map_or_else(String::new, |share| submitter_name(share, ad, &settings.context))
        };
        let prepared = with_attributes(requests, &settings.policy.request_attributes);
        let moving = |ad: &Ad| with_moving_clock(ad, &settings.context).unwrap_or_else(|| ad.clone());
        let offers: Vec<(String, Ad)> = offers.iter().map(|(name, ad)| (name.clone(), moving(ad))).collect();
        let names = NamesOfCycles::of(&settings, &prepared, offers.iter().map(|(_, offer)| offer));
        let mut narrowing = NarrowAds::new(names.all.clone(), &[]);
        let prepared: Vec<Ad> = prepared.iter().map(|ad| narrowing.narrow(ad)).collect();
        let request = |(ad, prepared): (&Ad, &Ad)| SimulatedRequest::new(ad, prepared, submitter(prepared), &settings);
        let requests: Vec<SimulatedRequest> = requests.iter().zip(&prepared).map(request).collect();
        let narrowing = NarrowAds::new(names.all.clone(), &settings.policy.offer_attributes);
        let mut slots = SimulatedSlots::new(&offers, narrowing, &settings);
        let (order, _) = settings.policy.roots(&prepared, &settings.context)?;
        let moves = names.moves;
        let lasting = LastingFacts::new(&settings, &requests, (&slots.narrow_ads(), order.clone()), names);
        let clusters = lasting.as_ref().map(LastingFacts::clusters);
        let claims = ClaimReuse::new((&settings, of), &requests, (&order, clusters));
        let single = requests.iter().enumerate().filter(|(_, request)| !request.is_counted);
        let queue = WatchedQueue::new(of, single.map(|(index, request)| (index, &request.ad)), &settings.context);
        let mut simulation = Simulation {
            of,
            moves,
            requests,
            lasting,
            slots,
            claims,
            queue,
            runs: SimulatedRuns::default(),
            accountant,
            totals: SimulationTotals::default(),
            settings,
        };
        if of.begins_idle {
            simulation.slots.release_all(of.begin, &simulation.settings.context);
        } else {
            simulation.begin_runs();
        }
        // A clock before the accounts charges no time.
        simulation.accountant.accounted_until = Some(of.begin);
        simulation.accountant.assign_all([]);
        for (submitter, weight) in simulation.slots.all_uses() {
            simulation.charge(&submitter, weight);
        }
        Ok(simulation)
    }

    /// Records what runs before the first cycle.
    fn begin_runs(&mut self) {
        let context = &self.settings.context;
        for request in &mut self.requests {
            request.is_held = is_held(&request.ad, context);
            if request.is_held || is_running(&request.ad, context) {
                request.waiting = 0;
            }
        }
        let others = self.requests.iter().enumerate().filter(|(_, request)| request.waiting == 0);
        let running = others.filter(|(_, request)| !request.is_held && is_running(&request.ad, context));
        let running = running.map(|(index, request)| (index, &request.ad));
        let runs = earlier_runs(running, &self.slots.used(context), context);
        for EarlierRun { request, job, slots, since } in runs {
            let number = self.runs.next;
            let since = since.unwrap_or(self.of.begin);
            let of_slot = slots.first().and_then(|slot| self.slots.submitter(*slot)).map(str::to_owned);
            let of_request = || request.map(|request| self.requests[request].submitter.clone());
            let submitter = of_slot.or_else(of_request).unwrap_or_default();
            let context = &self.settings.context;
            let is_open = request.is_none() && slots.iter().all(|slot| is_open_claim(self.slots.ad(*slot), context));
            for slot in &slots {
                self.slots.occupy(*slot, number, [since, self.of.begin], self.settings.context.dialect);
            }
            let context = &self.settings.context;
            let of_slot = slots.first().and_then(|slot| claimed_since(self.slots.ad(*slot), context));
            let (claimed, keep) = (of_slot.unwrap_or(since), ClaimReuse::keep(&job, context));
            let claim = SlotClaim { since: claimed, first: request, keep };
            if is_open && self.claims.is_some() {
                // No ad tells for how long it is open: the first look decides.
                let run = SimulatedRun { request, submitter, slots, claim, end: None };
                self.keep_open(&run, self.of.begin);
                continue;
            }
            // What ran for longer than its run time is still there in the first cycle.
            let end = self.end_of_run(&job, &slots, since).map(|end| end.max(self.of.begin.saturating_add(1)));
            self.runs.add(SimulatedRun { request, submitter, slots, claim, end });
        }
    }

    /// Returns the time at which a request ends that runs in slots since a time.
    fn end_of_run(&mut self, request: &Ad, slots: &[usize], since: i64) -> Option<i64> {
        let rule = self.of.run_time.as_ref()?;
        let slot = slots.first().map(|slot| self.slots.ad(*slot));
        let elapsed = self.settings.context.now.map_or(0, |now| now.saturating_sub(since).max(0));
        let seconds = rule.seconds(request, slot, elapsed, &self.settings.context);
        self.totals.without_run_time += usize::from(seconds.is_none());
        Some(since.saturating_add(seconds?))
    }

    /// Runs the cycle with a 1-based number.
    fn run_cycle(&mut self, number: u64) -> Result<SimulatedCycle, PolicyFault> {
        let passed = i64::try_from(number.saturating_sub(1)).unwrap_or(i64::MAX).saturating_mul(self.of.interval);
        let time = self.of.begin.saturating_add(passed);
        let mut cycle = SimulatedCycle::new(number, time);
        self.advance(&mut cycle);
        self.accountant.advance(time);
        self.settings.context.now = Some(time);
        if let Some(claims) = &mut self.claims {
            claims.advance(time, &self.requests);
        }
        let is_waiting = |request: &SimulatedRequest| request.waiting > 0 && request.arrival <= time;
        let asking: Vec<usize> = (0..self.requests.len()).filter(|of| is_waiting(&self.requests[*of])).collect();
        let ads: Vec<Ad> = asking.iter().map(|request| self.requests[*request].asking_ad()).collect();
        let (slots, offers) = self.slots.offers();
        let outcome = self.negotiate(&asking, [ads, offers])?;
        cycle.add_submitters(&outcome);
        for grant in &outcome.grants {
            let names = grant.offers.iter().map(|granted| self.slots.part_name(slots[granted.offer], granted.part));
            cycle.matches.push(SimulatedGrant::new(time, asking[grant.request], grant, names.collect()));
        }
        self.totals.matches += cycle.matches.len();
        let preempting = outcome.grants.iter().filter(|grant| grant.offers.iter().any(|of| of.preempted.is_some()));
        let starting = outcome.starts.iter().flat_map(|starts| &starts.grants);
        let before = self.totals.started;
        for grant in starting.chain(preempting) {
            self.start(grant, (&asking, &slots), &mut cycle);
        }
        self.look(time, self.totals.started > before, &mut cycle);
        for run in self.runs.all() {
            cycle.submitter(&run.submitter).running += 1;
        }
        for (name, state) in &mut cycle.submitters {
            state.used = self.accountant.submitters.get(name).map_or(0.0, |account| account.resources);
            if state.waiting == 0 {
                state.priority = self.accountant.effective_priority(name);
            }
        }
        Ok(cycle)
    }

    /// Returns the number of cycles from a cycle to the next one that can differ from it. After a cycle without matches and
    /// starts, this needs an end or an arrival, unless the clock may do it.
    fn cycles_to_change(&self, cycle: &SimulatedCycle) -> u64 {
        if self.moves || !cycle.matches.is_empty() || !cycle.starts.is_empty() {
            return 1;
        }
        let comes_later = |request: &&SimulatedRequest| request.waiting > 0 && request.arrival > cycle.time;
        let arrival = self.requests.iter().filter(comes_later).map(|request| request.arrival).min();
        let look = self.claims.as_ref().and_then(ClaimReuse::next_look);
        let next = self.runs.next_end().into_iter().chain(arrival).chain(look).min();
        let passed = next.map(|next| next.saturating_sub(cycle.time).max(1));
        // The first cycle at that time or after it.
        passed.map_or(u64::MAX / 2, |passed| (passed.unsigned_abs()).div_ceil(self.of.interval.unsigned_abs().max(1)))
    }

    /// Records that a request starts in claimed slots.
    fn record_start(
        &mut self,
        started: SimulatedGrant,
        (slots, claim): (Vec<usize>, SlotClaim),
        cycle: &mut SimulatedCycle,
    ) {
        let request = started.request;
        self.set_waiting(request, self.requests[request].waiting.saturating_sub(1));
        self.queue.start(request, started.time, &self.settings.context);
        let job = self.requests[request].ad.clone();
        let end = self.end_of_run(&job, &slots, started.time);
        let submitter = self.requests[request].submitter.clone();
        cycle.submitter(&submitter).started += 1;
        cycle.starts.push(SimulatedGrant { end, ..started });
        self.totals.started += 1;
        self.runs.add(SimulatedRun { request: Some(request), submitter, slots, claim, end });
    }

    fn negotiate(&mut self, asking: &[usize], ads: [Vec<Ad>; 2]) -> Result<NegotiationOutcome, PolicyFault> {
        let share = self.settings.policy.weighted_share();
        let priority = |name: &str| self.accountant.priority(name, share);
        let known = self
            .lasting
            .as_mut()
            .map(|lasting| lasting.of_cycle((&self.requests, asking), &ads[1], &self.settings.context));
        negotiate_known(&self.settings, ads, known.unwrap_or_default(), &priority, &mut |_| ControlFlow::Continue(()))
    }

    /// Starts a request in its offers. Requests that run there wait again.
    fn start(&mut self, grant: &Grant, (asking, slots): (&[usize], &[usize]), cycle: &mut SimulatedCycle) {
        let request = asking[grant.request];
        if !grant.offers.iter().all(|granted| self.slots.has(slots[granted.offer], granted, &self.settings.context)) {
            return;
        }
        let submitter = self.requests[request].submitter.clone();
        let (mut taken, mut evicted) = (Vec::new(), None);
        for granted in &grant.offers {
            let slot = slots[granted.offer];
            if let Some(number) = self.slots.run_in(slot).filter(|_| granted.portion.is_none()) {
                evicted = self.evict(number, slot, cycle);
            } else if let Some((user, weight)) = self.slots.take_use(slot) {
                self.charge(&user, -weight);
                self.claims.as_mut().and_then(|claims| claims.take_open(slot));
            }
            let ad = self.requests[request].ad.clone();
            let claimed = self.slots.claim(slot, granted, (&ad, self.runs.next), cycle.time, &self.settings);
            let weight = self.slots.set_use(claimed, &submitter, &self.settings);
            self.charge(&submitter, weight);
            taken.push(claimed);
        }
        let names = taken.iter().map(|slot| self.slots.name(*slot).to_owned()).collect();
        let started = SimulatedGrant { evicted, ..SimulatedGrant::new(cycle.time, request, grant, names) };
        let keep = ClaimReuse::keep(&self.requests[request].ad, &self.settings.context);
        let claim = SlotClaim { since: cycle.time, first: Some(request), keep };
        self.record_start(started, (taken, claim), cycle);
    }

    /// Takes the offers of a run away. Its request waits again. One of its slots is `taken` by another request.
    /// Returns the index of the request.
    fn evict(&mut self, number: usize, taken: usize, cycle: &mut SimulatedCycle) -> Option<usize> {
        let run = self.runs.take(number)?;
        self.free(&run.slots, cycle.time, Some(taken));
        cycle.submitter(&run.submitter).evicted += 1;
        self.totals.evicted += 1;
        let request = run.request?;
        self.set_waiting(request, self.requests[request].waiting + 1);
        self.queue.wait(request, cycle.time, &self.settings.context);
        Some(request)
    }

    /// Sets how many units of a request wait.
    fn set_waiting(&mut self, request: usize, units: usize) {
        self.requests[request].waiting = units;
        if let Some(claims) = &mut self.claims {
            claims.renew(request, &self.requests[request]);
        }
    }

    /// Frees slots, but for one that is taken by another request.
    fn free(&mut self, slots: &[usize], at: i64, taken: Option<usize>) {
        for slot in slots {
            if let Some((submitter, weight)) = self.slots.take_use(*slot) {
                self.charge(&submitter, -weight);
            }
            if taken != Some(*slot) {
                self.slots.release(*slot, at, &self.settings.context);
            }
        }
    }

    fn new_factor(&self, submitter: &str) -> Option<f64> {
        self.settings.policy.weighted_share().and_then(|share| share.new_factor(submitter))
    }

    /// Adds weight to what a submitter uses from now on.
    fn charge(&mut self, submitter: &str, weight: f64) {
        if !self.accountant.knows(submitter) {
            let account = self.new_factor(submitter).map(|factor| Account { factor, ..Account::default() });
            self.accountant.submitters.insert(submitter.to_owned(), account.unwrap_or_default());
        }
        if let Some(account) = self.accountant.submitters.get_mut(submitter) {
            account.resources = (account.resources + weight).max(0.0);
        }
    }

    fn end(mut self) -> SimulationTotals {
        let now = self.settings.context.now.unwrap_or(self.of.begin);
        for request in &self.requests {
            *(if request.arrival <= now { &mut self.totals.waiting } else { &mut self.totals.future }) +=
                request.waiting;
        }
        self.totals.running = self.runs.all().len();
        self.totals.held = self.requests.iter().filter(|request| request.is_held).count();
        self.totals
    }
}

#[cfg(test)]
mod tests;
