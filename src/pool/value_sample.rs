//! Sample of the distinct values of an attribute: the values with the smallest hashes.

use std::cmp::Reverse;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use twox_hash::XxHash3_64;

use super::chunked_text::ChunkedText;

/// Maximum length of a text in the first length class, in bytes. Each further class has twice the length.
const FIRST_CLASS_BYTES: usize = 16;

/// Number of length classes. Texts longer than those of the last class are in the last class and are cut.
const LENGTH_CLASSES: usize = 9;

/// Maximum length of a recorded text, in bytes. Longer texts are cut.
pub(super) const MAX_TEXT_BYTES: usize = FIRST_CLASS_BYTES << (LENGTH_CLASSES - 1);

/// Memory that a recorded value takes beside its text, in bytes: its slot in the table, and free slots.
const VALUE_OVERHEAD_BYTES: usize = 48;

/// The inverse of the share of values that a sample may have too many before it is cut. So a cut is rare.
const SURPLUS_DIVISOR: usize = 8;

/// Number of bytes of texts that are allocated at once.
const TEXT_CHUNK_BYTES: usize = 8192;

/// Hashes a text with XXH3. The hash is the same in each run, so that equal ads have equal samples, also in parts
/// that were counted by programs of several builds. The values of a sample are told apart by their hashes alone.
pub(super) fn text_hash(text: &[u8]) -> u64 {
    XxHash3_64::oneshot(text)
}

/// The numbers of values that the sample of one attribute may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleLimit {
    /// Maximum number of values.
    values: usize,
    /// Maximum number of bytes that the values of one length class may take.
    class_bytes: usize,
}

impl SampleLimit {
    /// Creates the limit of a number of values of any length.
    pub(super) fn of_values(values: usize) -> Self {
        SampleLimit { values, class_bytes: values.saturating_mul(class_cost(LENGTH_CLASSES - 1)) }
    }

    /// Returns the limit with half the bytes. Long values are limited first.
    pub(super) fn halved(self) -> Self {
        SampleLimit { class_bytes: self.class_bytes / 2, ..self }
    }

    /// Whether no sample may have a value.
    pub(super) fn is_empty(self) -> bool {
        self.values_of_class(0) == 0
    }

    /// Returns the maximum number of values in a length class.
    fn values_of_class(self, class: usize) -> usize {
        self.values.min(self.class_bytes / class_cost(class))
    }
}

/// Returns the maximum number of bytes that a value of a length class takes.
fn class_cost(class: usize) -> usize {
    VALUE_OVERHEAD_BYTES + (FIRST_CLASS_BYTES << class)
}

/// Returns the length class of a text.
fn class_of(length: usize) -> usize {
    let ratio = length.div_ceil(FIRST_CLASS_BYTES).max(1).next_power_of_two();
    (ratio.trailing_zeros() as usize).min(LENGTH_CLASSES - 1)
}

/// The values of smallest hash, with the exact number of ads that have each of them.
///
/// Each length class has its own limit. So the sample depends only on the set of values, not on their order, and its
/// memory is bounded. A value that was left out once is never added again.
#[derive(Clone, Debug)]
pub(super) struct ValueSample {
    limit: SampleLimit,
    /// The values by hash. There may be a few more than the limit admits.
    values: HashTable<SampledValue>,
    /// The texts of the values, in the order of first appearance.
    texts: ChunkedText<TEXT_CHUNK_BYTES>,
    classes: [LengthClass; LENGTH_CLASSES],
}

#[derive(Clone, Copy, Debug)]
struct SampledValue {
    hash: u64,
    /// Offset in the texts.
    start: u32,
    /// Length in bytes.
    length: u32,
    ads: usize,
}

impl SampledValue {
    fn class(&self) -> usize {
        class_of(self.length as usize)
    }

    /// Returns the rank in the order of first appearance. The empty text begins where the next one does.
    fn rank(&self) -> (u32, u32) {
        (self.start, self.length)
    }
}

/// The values of one length class.
#[derive(Clone, Copy, Debug)]
struct LengthClass {
    /// Number of values in the sample.
    values: usize,
    /// Hash from which on values are left out. `u64::MAX` if none was left out.
    end: u64,
}

impl ValueSample {
    /// Creates an empty sample.
    pub(super) fn new(limit: SampleLimit) -> Self {
        ValueSample {
            limit,
            values: HashTable::new(),
            texts: ChunkedText::new(),
            classes: [LengthClass { values: 0, end: u64::MAX }; LENGTH_CLASSES],
        }
    }

    /// Counts ads that have a value.
    pub(super) fn add(&mut self, hash: u64, text: &[u8], ads: usize) {
        // The greatest hash is the mark of a class from which nothing was left out.
        let hash = hash.min(u64::MAX - 1);
        let entry = self.values.entry(hash, |known| known.hash == hash, |known| known.hash);
        let vacant = match entry {
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.ads = known.ads.saturating_add(ads);
                return;
            }
            Entry::Vacant(vacant) => vacant,
        };
        let number = class_of(text.len());
        if hash >= self.classes[number].end {
            return;
        }
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        vacant.insert(SampledValue { hash, start: self.texts.push(text), length, ads });
        self.classes[number].values += 1;
        let most = self.limit.values_of_class(number);
        if self.classes[number].values > most + most / SURPLUS_DIVISOR {
            self.cut();
        }
    }

    /// Returns the values in the order of first appearance.
    fn in_order(&self) -> Vec<&SampledValue> {
        let mut values: Vec<&SampledValue> = self.values.iter().collect();
        values.sort_unstable_by_key(|value| value.rank());
        values
    }

    /// Lowers the limit.
    pub(super) fn set_limit(&mut self, limit: SampleLimit) {
        self.limit = limit;
        if (0..LENGTH_CLASSES).any(|class| self.classes[class].values > limit.values_of_class(class)) {
            self.cut();
        }
    }

    /// Returns the hash of each class from which on values are left out.
    fn ends(&self) -> [u64; LENGTH_CLASSES] {
        std::array::from_fn(|class| {
            let most = self.limit.values_of_class(class);
            if self.classes[class].values <= most {
                return self.classes[class].end;
            }
            let of_class = self.values.iter().filter(|value| value.class() == class);
            smallest_end(of_class.map(|value| value.hash).collect(), most)
        })
    }

    /// Leaves out all values beyond the limit.
    fn cut(&mut self) {
        let ends = self.ends();
        let before = std::mem::replace(self, ValueSample::new(self.limit));
        self.classes = ends.map(|end| LengthClass { values: 0, end });
        for (hash, text, ads) in before.iter() {
            self.add(hash, text, ads);
        }
    }

    /// Returns the number of bytes that the sample may take. It depends only on the set of values that were added and
    /// on the limit.
    pub(super) fn cost(&self) -> usize {
        let of_class = |class| self.values_of_class(class) * class_cost(class);
        (0..LENGTH_CLASSES).map(of_class).sum()
    }

    /// Returns the number of values of a class within the limit.
    fn values_of_class(&self, class: usize) -> usize {
        self.classes[class].values.min(self.limit.values_of_class(class))
    }

    /// Returns the hashes, texts and numbers of ads of all values, in the order of first appearance.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &[u8], usize)> {
        self.in_order().into_iter().map(|value| (value.hash, self.texts.get(value.start, value.length), value.ads))
    }

    /// Number of values in the sample.
    pub(super) fn len(&self) -> usize {
        (0..LENGTH_CLASSES).map(|class| self.values_of_class(class)).sum::<usize>().min(self.limit.values)
    }

    /// Whether values were left out.
    pub(super) fn is_partial(&self) -> bool {
        let is_cut = |class: &LengthClass| class.end < u64::MAX;
        self.classes.iter().any(is_cut) || self.len() < self.values.len()
    }

    /// Returns at most `most` values, each with the number of ads that have it: the most frequent first, and of equally
    /// frequent values those that appeared first.
    pub(super) fn most_frequent(&self, most: usize) -> Vec<(&str, usize)> {
        let mut ends = self.ends();
        if self.values.len() > self.len() {
            let hashes = self.values.iter().filter(|value| value.hash < ends[value.class()]).map(|value| value.hash);
            let hashes: Vec<u64> = hashes.collect();
            if hashes.len() > self.limit.values {
                let end = smallest_end(hashes, self.limit.values);
                ends = ends.map(|of_class| of_class.min(end));
            }
        }
        let within = self.values.iter().filter(|value| value.hash < ends[value.class()]);
        let mut found: Vec<&SampledValue> = within.collect();
        let order = |value: &&SampledValue| (Reverse(value.ads), value.rank());
        if most < found.len() {
            found.select_nth_unstable_by_key(most, order);
            found.truncate(most);
        }
        found.sort_unstable_by_key(order);
        let text = |value: &SampledValue| {
            let text = self.texts.get(value.start, value.length);
            (str::from_utf8(text).unwrap_or_default(), value.ads)
        };
        found.into_iter().map(text).collect()
    }
}

/// Returns the smallest hash behind the `count` smallest hashes. `hashes` has more than `count` hashes.
fn smallest_end(mut hashes: Vec<u64>, count: usize) -> u64 {
    *hashes.select_nth_unstable(count).1
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{LENGTH_CLASSES, SampleLimit, ValueSample, class_cost, class_of, text_hash};

    fn sample(limit: SampleLimit, texts: &[String]) -> ValueSample {
        let mut sample = ValueSample::new(limit);
        for text in texts {
            sample.add(text_hash(text.as_bytes()), text.as_bytes(), 1);
        }
        sample
    }

    /// Parts that programs of several builds counted are merged.
    #[test]
    fn a_text_has_its_hash_for_ever() {
        for (text, hash) in [("", 0x2d06_8005_38d3_94c2), ("x86_64", 0xa0e9_8392_7a68_3a36)] {
            assert_eq!(text_hash(text.as_bytes()), hash, "{text}");
        }
    }

    #[test]
    fn classes_of_lengths() {
        let lengths = [(0, 0), (16, 0), (17, 1), (32, 1), (33, 2), (4096, 8), (4097, 8), (1 << 20, 8)];
        for (length, class) in lengths {
            assert_eq!(class_of(length), class, "{length}");
        }
    }

    #[test]
    fn a_limit_without_place_for_a_short_value_is_empty() {
        let of_bytes = |class_bytes: usize| SampleLimit { values: 5, class_bytes };
        for (limit, expected) in [
            (SampleLimit::of_values(0), true),
            (SampleLimit::of_values(1), false),
            (SampleLimit::of_values(2).halved(), false),
            (of_bytes(class_cost(0) - 1), true),
            (of_bytes(class_cost(0)), false),
        ] {
            assert_eq!(limit.is_empty(), expected, "{limit:?}");
        }
    }

    proptest! {
        #[test]
        fn a_sample_has_the_smallest_hashes_of_each_class(
            texts in prop::collection::vec((0_u8..60, prop::sample::select(vec![1_usize, 20, 70, 1500])), 0..300),
            most in 0_usize..12,
            halvings in 0_usize..8,
            halved_after in 0_usize..300,
        ) {
            let texts: Vec<String> = texts.iter().map(|(number, length)| format!("{number}").repeat(*length)).collect();
            let limit = (0..halvings).fold(SampleLimit::of_values(most), |limit, _| limit.halved());
            // The order of the values and the time at which the limit is lowered do not matter.
            let mut early = sample(SampleLimit::of_values(most), &texts[..halved_after.min(texts.len())]);
            early.set_limit(limit);
            for text in &texts[halved_after.min(texts.len())..] {
                early.add(text_hash(text.as_bytes()), text.as_bytes(), 1);
            }
            let mut reversed = texts.clone();
            reversed.reverse();
            let mut late = sample(SampleLimit::of_values(most), &reversed);
            late.set_limit(limit);

            let mut counts: BTreeMap<u64, (&str, usize)> = BTreeMap::new();
            for text in &texts {
                counts.entry(text_hash(text.as_bytes())).or_insert((text, 0)).1 += 1;
            }
            let mut kept: BTreeMap<u64, (&str, usize)> = BTreeMap::new();
            let mut cost = 0;
            for class in 0..LENGTH_CLASSES {
                let of_class = counts.iter().filter(|(_, (text, _))| class_of(text.len()) == class);
                let of_class: Vec<_> = of_class.take(limit.values_of_class(class)).collect();
                cost += of_class.len() * class_cost(class);
                kept.extend(of_class);
            }
            let expected: BTreeMap<&str, usize> = kept.into_values().take(most).collect();
            for sample in [&early, &late] {
                prop_assert_eq!(sample.most_frequent(usize::MAX).into_iter().collect::<BTreeMap<_, _>>(), expected.clone());
                prop_assert_eq!(sample.len(), expected.len());
                prop_assert_eq!(sample.is_partial(), expected.len() < counts.len());
                prop_assert_eq!(sample.cost(), cost);
            }
            let mut order: Vec<(&str, usize)> = Vec::new();
            for text in texts.iter().filter(|text| expected.contains_key(text.as_str())) {
                if order.iter().all(|(known, _)| known != text) {
                    order.push((text, expected[text.as_str()]));
                }
            }
            order.sort_by_key(|(_, ads)| std::cmp::Reverse(*ads));
            for count in [0, 1, 3, usize::MAX] {
                prop_assert_eq!(early.most_frequent(count), order[..count.min(order.len())].to_vec());
            }
        }
    }
}
