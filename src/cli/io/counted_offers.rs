//! Which slots count as those that a job could get: all but dynamic slots, which are parts of partitionable slots.

use classad::eval::Context;
use classad::protocol::{is_dynamic, is_partitionable, parent_slot_name};
use classad::text::{counted, with_commas};
use rustc_hash::FxHashSet;

use super::named_ad::NamedAd;
/// The offers that count, as `condor_q -better-analyze` counts slots.
///
/// A dynamic slot is carved out of a partitionable slot for the job in it, and goes back to it. In a pool without
/// partitionable slots the dynamic ones count, because nothing else stands for them.
#[derive(Default)]
pub struct CountedOffers {
    /// Number of the offers that count. They come before the others.
    pub number: usize,
    /// The indexes of those that do not count although nothing stands for them: their partitionable slots are not in the pool.
    pub orphans: Vec<usize>,
    /// The offers in the order of the input, by index. Empty if it is the order that they have.
    input_order: Vec<usize>,
}

impl CountedOffers {
    /// All of some offers count.
    pub fn all(number: usize) -> Self {
        CountedOffers { number, ..CountedOffers::default() }
    }

    /// Moves the dynamic slots among the offers behind the others. A dynamic slot counts if `is_named` accepts its name.
    /// Also returns a note on what does not count, if anything.
    pub fn move_dynamic_last(
        offers: &mut Vec<NamedAd>,
        is_named: impl Fn(&str) -> bool,
        context: &Context,
    ) -> (Self, Option<String>) {
        let are_dynamic: Vec<bool> = offers.iter().map(|offer| is_dynamic(&offer.ad, context)).collect();
        let dynamic = are_dynamic.iter().filter(|is_dynamic| **is_dynamic).count();
        if dynamic == 0 {
            return (CountedOffers::all(offers.len()), None);
        }
        let partitionable: FxHashSet<&str> =
            offers.iter().filter(|offer| is_partitionable(&offer.ad, context)).map(NamedAd::id).collect();
        if partitionable.is_empty() {
            let slots = counted(dynamic, "dynamic slot");
            let count = if dynamic == 1 { "counts as a slot" } else { "count as slots" };
            let note = format!("{slots} {count}: the pool has no partitionable slots");
            return (CountedOffers::all(offers.len()), Some(note));
        }
        let left_out = |place: &usize| are_dynamic[*place] && !is_named(offers[*place].id());
        let (behind, before): (Vec<usize>, Vec<usize>) = (0..offers.len()).partition(left_out);
        if behind.is_empty() {
            return (CountedOffers::all(offers.len()), None);
        }
        let is_orphan = |place: &usize| is_orphan(&offers[behind[*place]], &partitionable, context);
        let orphans: Vec<usize> = (0..behind.len()).filter(is_orphan).map(|place| before.len() + place).collect();
        let of_none = match orphans.len() {
            0 => String::new(),
            1 => "; the partitionable slot of 1 of them is not in the pool".to_owned(),
            some => format!("; the partitionable slots of {} of them are not in the pool", with_commas(some)),
        };
        let note = format!(
            "{} of {} not counted: dynamic slots, which are parts of partitionable slots (--all-slots counts them){of_none}",
            with_commas(behind.len()),
            counted(offers.len(), "offer"),
        );
        let number = before.len();
        let mut input_order = vec![0; offers.len()];
        let mut moved = Vec::with_capacity(offers.len());
        for (place, from) in before.into_iter().chain(behind).enumerate() {
            input_order[from] = place;
            moved.push(std::mem::take(&mut offers[from]));
        }
        *offers = moved;
        (CountedOffers { number, orphans, input_order }, Some(note))
    }

    /// Returns the indexes of `all` offers, in the order of the input.
    pub fn in_input_order(&self, all: usize) -> Vec<usize> {
        if self.input_order.is_empty() { (0..all).collect() } else { self.input_order.clone() }
    }
}

/// Whether a dynamic slot is a part of a slot that is not in the pool. `partitionable` has the names of those in the pool.
fn is_orphan(slot: &NamedAd, partitionable: &FxHashSet<&str>, context: &Context) -> bool {
    let parent = parent_slot_name(&slot.ad, slot.id(), context);
    parent.is_some_and(|parent| !partitionable.contains(parent.as_str()))
}
