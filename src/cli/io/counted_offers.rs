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

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::*;

    #[test]
    fn dynamic_slots_go_behind_the_others() {
        let context = Context::new(Dialect::Condor);
        let slot = |word: &str| {
            let (name, kind) = word.split_once(':').unwrap_or((word, "PartitionableSlot"));
            let text = format!("[ Name = \"{name}\"; {kind} = true ]");
            NamedAd::unnamed(parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap())
                .with_name(name.to_owned())
        };
        let left_out = "not counted: dynamic slots, which are parts of partitionable slots (--all-slots counts them)";
        let of = |counts: &str, rest: &str| Some(format!("{counts} {left_out}{rest}"));
        let none = "the pool has no partitionable slots";
        for (slots, named, order, number, orphans, note) in [
            ("", "", "", 0, &[][..], None),
            ("a b", "", "a b", 2, &[], None),
            ("a:DynamicSlot", "", "a", 1, &[], Some(format!("1 dynamic slot counts as a slot: {none}"))),
            ("a:DynamicSlot b:DynamicSlot", "", "a b", 2, &[], Some(format!("2 dynamic slots count as slots: {none}"))),
            ("s1_1@h:DynamicSlot s1@h", "", "s1@h s1_1@h", 1, &[], of("1 of 2 offers", "")),
            ("s1_1@h:DynamicSlot s1@h", "s1_1@h", "s1_1@h s1@h", 2, &[], None),
            (
                "s1_1@h:DynamicSlot s1@h s1_2@h:DynamicSlot s2@h",
                "s1_2@h",
                "s1@h s1_2@h s2@h s1_1@h",
                3,
                &[],
                of("1 of 4 offers", ""),
            ),
            (
                "s2_1@h:DynamicSlot s1@h s1_1@h:DynamicSlot",
                "",
                "s1@h s2_1@h s1_1@h",
                1,
                &[1],
                of("2 of 3 offers", "; the partitionable slot of 1 of them is not in the pool"),
            ),
            (
                "s1@h s1_1@i:DynamicSlot s2_1@h:DynamicSlot",
                "",
                "s1@h s1_1@i s2_1@h",
                1,
                &[1, 2],
                of("2 of 3 offers", "; the partitionable slots of 2 of them are not in the pool"),
            ),
        ] {
            let mut offers: Vec<NamedAd> = slots.split_whitespace().map(slot).collect();
            let before: Vec<String> = offers.iter().map(|offer| offer.id().to_owned()).collect();
            let (counted, told) = CountedOffers::move_dynamic_last(&mut offers, |name| name == named, &context);
            let after: Vec<&str> = offers.iter().map(NamedAd::id).collect();
            assert_eq!((after.join(" ").as_str(), counted.number), (order, number), "{slots}");
            assert_eq!((counted.orphans.as_slice(), told), (orphans, note), "{slots}");
            let places = counted.in_input_order(offers.len());
            assert_eq!(places.iter().map(|place| after[*place]).collect::<Vec<_>>(), before, "{slots}");
        }
    }
}
