//! The slots of a simulation: which are in use, and what is left of those that are divided.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, AdExtension, Dialect, Expression, Name, Value};
use crate::eval::{Context, Environment, Evaluator};
use crate::matching::notification::part_name;
use crate::matching::policy::with_attributes;
use crate::protocol::{
    AdvertisedState, Advertisement, claimed_offer, divided_offer, dynamic_slot, dynamic_slot_name, evaluate_attribute,
    has_child, idle_claim, is_partitionable, parent_slot_name, portion_of_child, rank_value, released_offer,
    with_child, with_portion, without_child, without_portion,
};
use crate::syntax::{ParseOptions, parse_expression};

use super::super::NegotiationSettings;
use super::super::granted_offer::GrantedOffer;
use super::super::weight_accounts::WeightAccounts;
use super::narrow_ads::NarrowAds;

/// A slot, or a part of one.
struct SimulatedSlot {
    name: String,
    /// The ad now.
    ad: Ad,
    /// What cycles read of the ad; `None` until a cycle asks for it.
    narrow: Option<Ad>,
    /// The ad when nobody uses the slot. `None` for a part of a slot, which is gone then.
    free_ad: Option<Ad>,
    /// The slot of which this is a part, and what it has of it.
    part_of: Option<(usize, Ad)>,
    /// Whether it is offered. Parts that are no dynamic slots are not, and parts that were given back.
    is_offered: bool,
    /// Number of the run that uses the slot.
    run: Option<usize>,
    /// The submitter who uses the slot, and the weight.
    usage: Option<(String, f64)>,
}

impl SimulatedSlot {
    fn set_ad(&mut self, ad: Ad) {
        (self.ad, self.narrow) = (ad, None);
    }
}

/// All slots, by index.
pub struct SimulatedSlots {
    slots: Vec<SimulatedSlot>,
    narrowing: NarrowAds,
    names: FxHashSet<String>,
    /// The indexes of parts that went back to their slots. New parts get them, so that as many slots are kept as there ever were
    /// at once.
    unused: Vec<usize>,
    /// Those that went back since the offers of the cycle were listed. The cycle may still name them.
    just_unused: Vec<usize>,
    /// Whether slots in use are offered, too.
    offers_used: bool,
}

impl SimulatedSlots {
    /// Creates the slots of named ads. Those that are in use stay so until a request takes them.
    pub fn new(offers: &[(String, Ad)], narrowing: NarrowAds, settings: &NegotiationSettings) -> Self {
        let context = &settings.context;
        let ads: Vec<Ad> = offers.iter().map(|(_, ad)| ad.clone()).collect();
        let uses = uses(&ads, settings);
        let index: FxHashMap<&str, usize> =
            offers.iter().enumerate().map(|(index, (name, _))| (name.as_str(), index)).collect();
        let slot = |((name, ad), usage): (&(String, Ad), Option<(String, f64)>)| {
            let parent = parent_slot_name(ad, name, context).and_then(|parent| index.get(parent.as_str()).copied());
            let part_of = parent.map(|parent| (parent, portion_of_child(&offers[parent].1, ad, None, context)));
            let free_ad = match (&part_of, &usage) {
                (Some(_), _) => None,
                (None, None) => Some(ad.clone()),
                (None, Some(_)) => Some(released_offer(ad, context.now.unwrap_or_default(), context)),
            };
            let (name, ad) = (name.clone(), ad.clone());
            SimulatedSlot { name, ad, narrow: None, free_ad, part_of, is_offered: true, run: None, usage }
        };
        SimulatedSlots {
            slots: offers.iter().zip(uses).map(slot).collect(),
            narrowing,
            names: offers.iter().map(|(name, _)| name.clone()).collect(),
            unused: Vec::new(),
            just_unused: Vec::new(),
            offers_used: !settings.policy.docking.is_empty(),
        }
    }

    /// Frees all slots that are in use.
    pub fn release_all(&mut self, at: i64, context: &Context) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].usage.take().is_some() {
                self.release(slot, at, context);
            }
        }
    }

    /// Returns the slots that are on offer: their indexes, and what cycles read of their ads.
    pub fn offers(&mut self) -> (Vec<usize>, Vec<Ad>) {
        self.unused.append(&mut self.just_unused);
        let offers_used = self.offers_used;
        self.narrow(|slot| slot.is_offered && (slot.usage.is_none() || offers_used)).unzip()
    }

    /// Returns what cycles read of all ads.
    pub fn narrow_ads(&mut self) -> Vec<Ad> {
        self.narrow(|_| true).map(|(_, ad)| ad).collect()
    }

    fn narrow(&mut self, is_asked: impl Fn(&SimulatedSlot) -> bool) -> impl Iterator<Item = (usize, Ad)> {
        let asked = self.slots.iter_mut().enumerate().filter(move |(_, slot)| is_asked(slot));
        asked.map(|(index, SimulatedSlot { ad, narrow, .. })| {
            (index, narrow.get_or_insert_with(|| self.narrowing.narrow(ad)).clone())
        })
    }

    /// Returns who uses what, as submitter and weight.
    pub fn all_uses(&self) -> Vec<(String, f64)> {
        self.slots.iter().filter_map(|slot| slot.usage.clone()).collect()
    }

    pub fn ad(&self, slot: usize) -> &Ad {
        &self.slots[slot].ad
    }

    pub fn name(&self, slot: usize) -> &str {
        &self.slots[slot].name
    }

    /// Returns the name of a part that a cycle gave of a slot.
    pub fn part_name(&self, slot: usize, part: usize) -> String {
        part_name(self.name(slot), part)
    }

    /// Returns the slots that are in use as a whole: their indexes and ads. What is used of partitionable slots are their parts.
    pub fn used(&self, context: &Context) -> Vec<(usize, &Ad)> {
        let is_whole = |slot: &SimulatedSlot| slot.usage.is_some() && !is_partitionable(&slot.ad, context);
        let slots = self.slots.iter().enumerate().filter(|(_, slot)| is_whole(slot));
        slots.map(|(index, slot)| (index, &slot.ad)).collect()
    }

    /// Returns the name of the submitter who uses a slot.
    pub fn submitter(&self, slot: usize) -> Option<&str> {
        self.slots[slot].usage.as_ref().map(|(submitter, _)| submitter.as_str())
    }

    /// Records that the run with a number uses a slot since a time. What the slot's ad says of the time was true at `now`.
    pub fn occupy(&mut self, slot: usize, run: usize, [since, now]: [i64; 2], dialect: Dialect) {
        let slot = &mut self.slots[slot];
        slot.run = Some(run);
        let retirement = match slot.ad.get_str("RetirementTimeRemaining").and_then(Expression::as_literal) {
            Some(Value::Integer(seconds)) => *seconds,
            _ => 0,
        };
        slot.set_ad(with_clocks(&slot.ad, since, (retirement > 0).then(|| now.saturating_add(retirement)), dialect));
    }

    /// Returns the number of the run that uses a slot.
    pub fn run_in(&self, slot: usize) -> Option<usize> {
        self.slots[slot].run
    }

    /// Ends the use of a slot. Returns the submitter and the weight.
    pub fn take_use(&mut self, slot: usize) -> Option<(String, f64)> {
        self.slots[slot].usage.take()
    }

    /// Records that a submitter uses a slot. Returns the weight.
    pub fn set_use(&mut self, slot: usize, submitter: &str, settings: &NegotiationSettings) -> f64 {
        let weight = match settings.policy.weighted_share() {
            Some(_) => accounts(&[self.ad(slot).clone()], settings).weights.first().copied().unwrap_or(1.0),
            None => 1.0,
        };
        self.slots[slot].usage = Some((submitter.to_owned(), weight));
        weight
    }

    /// Whether a slot has what was granted of it. The negotiator and the access point do not know the units in which the startd
    /// divides memory and disk, which can be more than a request asks for.
    pub fn has(&self, slot: usize, granted: &GrantedOffer, context: &Context) -> bool {
        granted.portion.as_ref().is_none_or(|part| without_portion(&self.slots[slot].ad, part, context).is_ok())
    }

    /// Lets the run with a number claim a slot, or what it got of the slot. Returns the index of what it has claimed.
    pub fn claim(
        &mut self,
        slot: usize,
        granted: &GrantedOffer,
        (request, run): (&Ad, usize),
        at: i64,
        settings: &NegotiationSettings,
    ) -> usize {
        let (context, rank) = (&settings.context, granted.offer_rank);
        let Some(portion) = &granted.portion else {
            let before = &self.slots[slot];
            let claimed = claimed_offer(before.free_ad.as_ref().unwrap_or(&before.ad), request, rank, at, context);
            self.slots[slot].set_ad(with_run_attributes(&claimed, request, at, context));
            self.slots[slot].run = Some(run);
            return slot;
        };
        let parent = &self.slots[slot];
        let number = self.free_number(slot);
        let part = dynamic_slot(&parent.ad, &parent.name, portion, number, context);
        let part = with_run_attributes(&claimed_offer(&part, request, rank, at, context), request, at, context);
        // Only a slot of HTCondor can say that it is a claimed part of another one.
        let is_slot = matches!(Advertisement::new(&part, context).state(), AdvertisedState::Slot(_));
        let rest = without_portion(&parent.ad, portion, context).unwrap_or_else(|_| parent.ad.clone());
        let rest = if is_slot { with_child(&rest, &part, at, context) } else { rest };
        let name = dynamic_slot_name(&parent.name, number);
        let rest = divided_offer(&rest, &parent.ad, at, context);
        self.slots[slot].set_ad(rest);
        self.names.insert(name.clone());
        let part_of = Some((slot, portion.clone()));
        let (run, is_offered) = (Some(run), is_slot);
        let part = SimulatedSlot { name, ad: part, narrow: None, free_ad: None, part_of, is_offered, run, usage: None };
        if let Some(index) = self.unused.pop() {
            self.slots[index] = part;
            return index;
        }
        self.slots.push(part);
        self.slots.len() - 1
    }

    /// Returns a claimed slot as the access point knows it: as it was when it was free, but for the rank of the claim.
    pub fn as_matched(&self, slot: usize, at: i64, context: &Context) -> Ad {
        let ad = &self.slots[slot].ad;
        let rank = Expression::literal(Value::Real(claim_rank(ad, context)));
        released_offer(ad, at, context).with(Name::new("CurrentRank"), rank)
    }

    /// Records that the request in a slot has ended, and that the claim goes on.
    pub fn open(&mut self, slot: usize, at: i64, context: &Context) {
        let slot = &mut self.slots[slot];
        slot.run = None;
        let retirement = (Name::new("RetirementTimeRemaining"), Expression::literal(Value::Integer(0)));
        slot.set_ad(AdExtension::new(vec![retirement]).extend(&idle_claim(&slot.ad, at, context)));
    }

    /// Lets the run with a number have a slot that is claimed already. The claim keeps its age, its rank and its concurrency
    /// limits.
    pub fn reclaim(&mut self, slot: usize, (request, run): (&Ad, usize), at: i64, context: &Context) {
        let slot = &mut self.slots[slot];
        let rank =
            evaluate_attribute(&slot.ad, &Name::new("CurrentRank"), context).map_or(0.0, |rank| rank_value(&rank));
        let claimed = with_run_attributes(&claimed_offer(&slot.ad, request, rank, at, context), request, at, context);
        let of_claim = ["EnteredCurrentState", "ConcurrencyLimits"].into_iter();
        let of_claim = of_claim.filter_map(|name| Some((Name::new(name), slot.ad.get_str(name)?.clone())));
        slot.set_ad(AdExtension::new(of_claim.collect()).extend(&claimed));
        slot.run = Some(run);
    }

    /// Frees a slot. A part goes back to its slot.
    pub fn release(&mut self, slot: usize, at: i64, context: &Context) {
        self.slots[slot].run = None;
        if let Some(free) = &self.slots[slot].free_ad {
            let free = released_offer(free, at, context);
            self.slots[slot].set_ad(free);
            return;
        }
        let Some((parent, portion)) = self.slots[slot].part_of.clone() else { return };
        self.slots[slot].is_offered = false;
        self.just_unused.push(slot);
        self.names.remove(&self.slots[slot].name);
        let before = &self.slots[parent].ad;
        let whole = without_child(&with_portion(before, &portion, context), &self.slots[slot].name, at, context);
        let whole = divided_offer(&whole, before, at, context);
        self.slots[parent].set_ad(whole);
    }

    /// Returns the smallest number that no dynamic slot of a slot has.
    fn free_number(&self, slot: usize) -> i64 {
        let of = &self.slots[slot];
        let is_taken =
            |number: i64| self.names.contains(&dynamic_slot_name(&of.name, number)) || has_child(&of.ad, "", number);
        (1..i64::MAX).find(|number| !is_taken(*number)).unwrap_or(i64::MAX)
    }
}

/// Returns the rank that a claimed slot gives the request for which it was claimed.
fn claim_rank(slot: &Ad, context: &Context) -> f64 {
    evaluate_attribute(slot, &Name::new("CurrentRank"), context).map_or(0.0, |rank| rank_value(&rank))
}

/// Returns who uses each ad, as submitter and weight.
fn uses(ads: &[Ad], settings: &NegotiationSettings) -> Vec<Option<(String, f64)>> {
    if settings.policy.weighted_share().is_none() {
        let user = |ad: &Ad| Advertisement::new(ad, &settings.context).user();
        return ads.iter().map(|ad| user(ad).map(|user| (user, 1.0))).collect();
    }
    let WeightAccounts { users, weights, .. } = accounts(ads, settings);
    users.into_iter().zip(weights).map(|(user, weight)| user.map(|user| (user, weight))).collect()
}

fn accounts(ads: &[Ad], settings: &NegotiationSettings) -> WeightAccounts {
    let prepared = with_attributes(ads, &settings.policy.offer_attributes);
    let share = settings.policy.weighted_share();
    share.map(|share| WeightAccounts::new(share, &prepared, &settings.context)).unwrap_or_default()
}

/// Returns a claimed slot with what the startd tells of a job that runs there since `at`: for how long it has run, and how long
/// it may still run before it can be preempted.
fn with_run_attributes(slot: &Ad, request: &Ad, at: i64, context: &Context) -> Ad {
    let name = Name::new("MaxJobRetirementTime");
    let (environment, [frame, _]) = Environment::pair(slot.clone(), request.clone());
    let of_slot =
        slot.get(&name).and_then(|expression| Evaluator::new(&environment, context).evaluate(expression, &frame).ok());
    let seconds = [of_slot, evaluate_attribute(request, &name, context)].into_iter().flatten();
    let seconds = seconds.filter_map(|value| if let Value::Integer(seconds) = value { Some(seconds) } else { None });
    // A job may ask for less than the slot allows.
    let retirement = slot.get(&name).and(seconds.min()).filter(|seconds| *seconds > 0);
    with_clocks(slot, at, retirement.map(|seconds| at.saturating_add(seconds)), context.dialect)
}

/// Returns a claimed slot whose job runs since a time, and cannot be preempted until another. Without that time, slots stay
/// alike: they have no clock of their own for the retirement.
fn with_clocks(slot: &Ad, since: i64, until: Option<i64>, dialect: Dialect) -> Ad {
    let retirement = until.map_or("0".to_owned(), |until| format!("ifThenElse(time() < {until}, {until} - time(), 0)"));
    let attribute = |(name, text): (&str, String)| {
        Some((Name::new(name), parse_expression(text.as_bytes(), ParseOptions::new(dialect)).ok()?))
    };
    let attributes = [("RetirementTimeRemaining", retirement), ("TotalJobRunTime", format!("time() - {since}"))];
    AdExtension::new(attributes.into_iter().filter_map(attribute).collect()).extend(slot)
}

#[cfg(test)]
mod tests;
