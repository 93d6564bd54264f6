//! Numbers with their frequencies, for medians and percentiles.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The numbers of a group of ads, each with the number of ads that have it.
///
/// The result does not depend on the order of the numbers, or on how they are divided. The memory is that of the distinct
/// numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<(u64, u64)>", try_from = "Vec<(u64, u64)>")]
pub struct NumberCounts {
    /// Number of occurrences by [`order_key`].
    counts: BTreeMap<u64, u64>,
    /// Number of all occurrences.
    total: u64,
}

/// The bit of the sign of a real.
const SIGN: u64 = 1 << 63;

/// Returns a key that is less for a lesser number. Both zeros have one key.
fn order_key(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn number_of_key(key: u64) -> f64 {
    f64::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN })
}

impl NumberCounts {
    /// Adds an occurrence of a number, which must not be NaN.
    pub fn add(&mut self, number: f64) {
        self.add_key(order_key(number), 1);
    }

    fn add_key(&mut self, key: u64, count: u64) {
        let known = self.counts.entry(key).or_default();
        *known = known.saturating_add(count);
        self.total = self.total.saturating_add(count);
    }

    /// Adds the numbers of another group.
    pub fn merge(&mut self, other: &NumberCounts) {
        other.counts.iter().for_each(|(key, count)| self.add_key(*key, *count));
    }

    /// Returns a percentile, in hundredths of a percent: 0 is the least number, 5000 the median, 10,000 the greatest.
    /// Between two numbers, interpolates linearly, as `percentile_cont` of SQL does. `None` if there are no numbers.
    /// O(distinct numbers).
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most the total
    pub fn percentile(&self, hundredths: u16) -> Option<f64> {
        const WHOLE: u128 = 10_000;
        // In integers, so that the result is exact where the numbers are not too large.
        let place = u128::from(hundredths).min(WHOLE) * u128::from(self.total.checked_sub(1)?);
        let (below, part) = ((place / WHOLE) as u64, place % WHOLE);
        let lower = self.at(below)?;
        if part == 0 {
            return Some(lower);
        }
        let (upper, whole) = (self.at(below + 1)?, WHOLE as f64);
        let [of_lower, of_upper] = [(WHOLE - part) as f64, part as f64];
        let is_exact = [lower, upper].iter().all(|number| number.fract() == 0.0 && number.abs() < 1e11);
        let between = if is_exact {
            (lower * of_lower + upper * of_upper) / whole
        } else {
            lower * (of_lower / whole) + upper * (of_upper / whole)
        };
        Some(between.clamp(lower, upper))
    }

    /// Returns the number of occurrences.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of occurrences that are at most `number`.
    #[must_use]
    pub fn count_up_to(&self, number: f64) -> u64 {
        self.counts.range(..=order_key(number)).map(|(_, count)| count).sum()
    }

    /// Returns the number at a place of the ascending order, from 0. `None` beyond the last one.
    #[must_use]
    pub fn at(&self, place: u64) -> Option<f64> {
        let mut seen = 0;
        let (key, _) = self.counts.iter().find(|(_, count)| {
            seen += **count;
            seen > place
        })?;
        Some(number_of_key(*key))
    }
}

/// The keys of the numbers with their frequencies.
impl From<NumberCounts> for Vec<(u64, u64)> {
    fn from(numbers: NumberCounts) -> Self {
        numbers.counts.into_iter().collect()
    }
}

impl TryFrom<Vec<(u64, u64)>> for NumberCounts {
    type Error = &'static str;

    fn try_from(pairs: Vec<(u64, u64)>) -> Result<Self, &'static str> {
        let mut numbers = NumberCounts::default();
        for (key, count) in pairs {
            numbers.add_key(key, count);
        }
        if numbers.counts.keys().any(|key| number_of_key(*key).is_nan()) {
            Err("NaN is not a number")
        } else {
            Ok(numbers)
        }
    }
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few numbers
mod tests {
    use proptest::prelude::*;

    use super::NumberCounts;

    fn counts(numbers: &[f64]) -> NumberCounts {
        let mut counts = NumberCounts::default();
        for number in numbers {
            counts.add(*number);
        }
        counts
    }

    #[test]
    fn quantiles_are_interpolated() {
        let numbers = counts(&[4.0, -1.0, 2.0, 2.0]);
        for (hundredths, expected) in [(0, -1.0), (5000, 2.0), (10_000, 4.0), (2500, 1.25), (9000, 3.4)] {
            assert_eq!(numbers.percentile(hundredths), Some(expected), "{hundredths}");
        }
        assert_eq!(counts(&[]).percentile(5000), None);
        assert_eq!(counts(&[f64::NEG_INFINITY, f64::INFINITY]).percentile(10_000), Some(f64::INFINITY));
        assert_eq!(counts(&[f64::MAX, f64::MAX]).percentile(9500), Some(f64::MAX));
        assert_eq!(counts(&[0.0, -0.0]).counts.len(), 1);
        assert_eq!(numbers.percentile(10_001), Some(4.0));
        assert_eq!(counts(&[0.1, 0.2]).percentile(5000), Some(0.1 * 0.5 + 0.2 * 0.5));
        assert_eq!(counts(&[1.0, 2.0]).percentile(1), Some(1.0001));
    }

    #[test]
    fn places_and_counts_of_numbers() {
        let numbers = counts(&[4.0, -1.0, 2.0, 2.0]);
        assert_eq!(numbers.total(), 4);
        let places: Vec<Option<f64>> = (0..5).map(|place| numbers.at(place)).collect();
        assert_eq!(places, [Some(-1.0), Some(2.0), Some(2.0), Some(4.0), None]);
        for (number, expected) in [(-1.5, 0), (-1.0, 1), (1.9, 1), (2.0, 3), (3.0, 3), (4.0, 4), (9.0, 4)] {
            assert_eq!(numbers.count_up_to(number), expected, "{number}");
        }
        assert_eq!(counts(&[0.0]).count_up_to(-0.0), 1);
        let read = |text: &str| serde_json::from_str::<NumberCounts>(text).is_ok();
        // The first key is that of a NaN.
        assert_eq!([read("[[0, 1]]"), read("[[13835058055282163712, 2]]")], [false, true]);
    }

    proptest! {
        #[test]
        fn the_division_does_not_matter(numbers in prop::collection::vec(-50.0..50.0f64, 1..40), cut in 0..40usize, hundredths in 0..=10_000_u16) {
            let (first, rest) = numbers.split_at(cut.min(numbers.len()));
            let mut merged = counts(rest);
            merged.merge(&counts(first));
            prop_assert_eq!(&merged, &counts(&numbers));
            let written = serde_json::to_string(&merged).unwrap();
            prop_assert_eq!(&serde_json::from_str::<NumberCounts>(&written).unwrap(), &merged);
            let mut sorted = numbers.clone();
            sorted.sort_by(f64::total_cmp);
            let place = f64::from(hundredths) / 10_000.0 * (sorted.len() - 1) as f64;
            let [lower, upper] = [place.floor(), place.ceil()].map(|at| sorted[at as usize]);
            let expected = lower + (upper - lower) * place.fract();
            let found = merged.percentile(hundredths).unwrap();
            prop_assert!((lower..=upper).contains(&found));
            prop_assert!((found - expected).abs() < 1e-9, "{} {}", found, expected);
        }
    }
}
