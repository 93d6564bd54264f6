//! The slots that the dedicated scheduler of a job of the parallel universe has for it.

use classad::ad::{Ad, Name, Value};
use classad::eval::Context;
use classad::explain::{Explainer, JobCircumstance, TOO_FEW_SLOTS};
use classad::protocol::{AdvertisedState, SlotState, evaluate_attribute};
use classad::text::join_with;
use indexmap::{IndexMap, IndexSet};

use crate::cli::io::named_ad::NamedAd;

/// The kind of a job's circumstance that needs several slots at once.
pub const PARALLEL: &str = "parallel";

/// The dedicated scheduler of a job, with the slots of the pool.
pub struct DedicatedScheduler<'c> {
    job: &'c NamedAd,
    slots: &'c [NamedAd],
    explainer: &'c Explainer,
    context: Context,
    /// Its name; `None` if the job has none yet.
    name: Option<String>,
}

/// The numbers of slots of a scheduler, for one job.
struct SlotNumbers {
    matching: usize,
    /// Number of matching slots that are free.
    free: usize,
    /// Number of slots that the job needs at once.
    needed: usize,
}

impl<'c> DedicatedScheduler<'c> {
    pub fn new(job: &'c NamedAd, slots: &'c [NamedAd], explainer: &'c Explainer, context: Context) -> Self {
        let name = text(job.advertisement(), "Scheduler", &context);
        Self { job, slots, explainer, context, name }
    }

    /// Whether fewer slots are free than the job needs.
    pub fn is_short(&self) -> bool {
        let SlotNumbers { needed, free, .. } = self.numbers();
        needed > free
    }

    /// Adds to the circumstance of the job how many slots match it and are free, and what to do if they are too few.
    pub fn tell(&self, parallel: &mut JobCircumstance) {
        let SlotNumbers { matching, free, needed } = self.numbers();
        let are = if free == 1 { "is" } else { "are" };
        let told = match matching {
            0 => self.what_keeps_away(),
            matching => format!(": the pool has {matching} of these that match, {free} {are} free"),
        };
        parallel.predicate += &told;
        if needed > free {
            parallel.kind = TOO_FEW_SLOTS;
            parallel.remedy = Some(self.remedy(matching, free, needed));
        }
    }

    /// Says what to do about a job that needs more slots than are free.
    fn remedy(&self, matching: usize, free: usize, needed: usize) -> String {
        let ask = "ask the admin for more slots of this scheduler";
        let wait = format!("wait until {needed} of them are free at once");
        let others = if matching == 0 { self.other_schedulers() } else { Vec::new() };
        match (matching, free) {
            (0, _) if !others.is_empty() => {
                format!("submit it where {} runs, which the slots of the pool serve", join_with(&others, "or"))
            }
            (0, _) if self.name.is_some() && self.own_slots().next().is_none() => {
                "ask the admin for slots of this scheduler, or run it on one machine: universe = vanilla with \
                 request_cpus"
                    .to_owned()
            }
            (0, _) => format!("ask for no more than a slot of this scheduler has, or {ask}"),
            (most, _) if most < needed => format!("ask for at most {most} with machine_count, or {ask}"),
            (_, 0) => wait,
            (_, free) => format!("{wait}, or ask for {free} with machine_count"),
        }
    }

    /// Returns the scheduler that a slot serves.
    fn served_by(&self, slot: usize) -> Option<String> {
        text(&self.slots[slot].ad, "DedicatedScheduler", &self.context)
    }

    fn numbers(&self) -> SlotNumbers {
        let mut matching = self.explainer.matching_offers(&self.job.ad);
        matching.retain(|slot| self.name.is_none() || self.served_by(*slot) == self.name);
        let is_free = |slot: &&usize| self.slots[**slot].state(&self.context) == AdvertisedState::Slot(SlotState::Free);
        let needed = evaluate_attribute(self.job.advertisement(), &Name::new("MinHosts"), &self.context);
        let needed = needed.and_then(|hosts| hosts.as_integer()).and_then(|hosts| usize::try_from(hosts).ok());
        let free = matching.iter().filter(is_free).count();
        SlotNumbers { matching: matching.len(), free, needed: needed.unwrap_or_default() }
    }

    /// Returns the slots that serve the scheduler of the job.
    fn own_slots(&self) -> impl Iterator<Item = usize> {
        (0..self.slots.len()).filter(|slot| self.name.is_some() && self.served_by(*slot) == self.name)
    }

    /// Says which clause keeps the job from the scheduler's slots, of which none matches.
    fn what_keeps_away(&self) -> String {
        let slots: Vec<usize> = self.own_slots().collect();
        let mut unmet: IndexMap<String, usize> = IndexMap::new();
        for slot in &slots {
            let pair = self.explainer.explain_pair(&self.job.ad, *slot);
            pair.unmet().for_each(|(_, clause)| *unmet.entry(clause.text.clone()).or_default() += 1);
        }
        let all = slots.len();
        // Of equal numbers, the first clause: those of the job come first.
        match unmet.iter().rev().max_by_key(|(_, slots)| **slots) {
            Some((clause, keeps)) if *keeps == all => format!(": none of the {all} that there are meets `{clause}`"),
            Some((clause, keeps)) => format!(": {keeps} of the {all} that there are do not meet `{clause}`"),
            None if self.name.is_some() => ": the pool has none of these".to_owned(),
            None => ": none matches".to_owned(),
        }
    }

    /// Returns the schedulers that the slots serve; none if they serve that of the job.
    fn other_schedulers(&self) -> Vec<String> {
        let served: IndexSet<String> = (0..self.slots.len()).filter_map(|slot| self.served_by(slot)).collect();
        let is_own = self.name.as_ref().is_none_or(|name| served.contains(name));
        if is_own { Vec::new() } else { served.into_iter().collect() }
    }
}

/// Returns an attribute that is a string.
fn text(ad: &Ad, name: &str, context: &Context) -> Option<String> {
    match evaluate_attribute(ad, &Name::new(name), context)? {
        Value::String(text) => Some(text.to_str().into_owned()),
        _ => None,
    }
}
