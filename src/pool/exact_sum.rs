//! Exact sums of numbers: the result does not depend on the order of the numbers, or on how they are divided.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Number of binary digits of a chunk of an exact sum.
const CHUNK_BITS: i32 = 32;

/// Exponent of two of the least digit of a real: that of the least subnormal number.
const LEAST_EXPONENT: i32 = -1074;

/// The exact sum of integers and reals.
///
/// Reals are added as integers, in chunks of 32 binary digits of their range of exponents (a sparse superaccumulator,
/// as Neal 2015 describes the dense one). The sum is rounded once, when it is asked for. A chunk holds 2^42 additions.
/// The memory is that of the chunks in use: one to three for numbers of like size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExactSum {
    /// The sum of the integers.
    integers: i128,
    /// The sum of the finite reals: the number of units of 2^(-1074 + 32 k) by k.
    chunks: BTreeMap<u8, i128>,
    /// Whether any number is a real, so that the sum is one.
    is_real: bool,
    /// Whether NaN, infinity and negative infinity are among the numbers.
    specials: [bool; 3],
}

/// The value of a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Total {
    /// The sum of integers.
    Integer(i128),
    /// A sum with a real in it, rounded once.
    Real(f64),
}

impl Total {
    /// Returns the nearest real.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // the nearest real is wanted
    pub fn as_real(self) -> f64 {
        match self {
            Total::Integer(integer) => integer as f64,
            Total::Real(real) => real,
        }
    }
}

impl ExactSum {
    /// Adds an integer.
    pub fn add_integer(&mut self, integer: i64) {
        self.integers += i128::from(integer);
    }

    /// Adds a real.
    pub fn add_real(&mut self, real: f64) {
        self.is_real = true;
        if !real.is_finite() {
            let kinds = [real.is_nan(), real == f64::INFINITY, real == f64::NEG_INFINITY];
            self.add_specials(kinds);
        } else if real != 0.0 {
            let bits = real.to_bits();
            let (exponent, fraction) = (i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0), bits & ((1 << 52) - 1));
            let digits = if exponent == 0 { fraction } else { fraction | 1 << 52 };
            let place = exponent.max(1) - 1;
            let units = i128::from(digits) << (place % CHUNK_BITS);
            let chunk = u8::try_from(place / CHUNK_BITS).unwrap_or(u8::MAX);
            *self.chunks.entry(chunk).or_default() += if real < 0.0 { -units } else { units };
        }
    }

    fn add_specials(&mut self, kinds: [bool; 3]) {
        self.specials.iter_mut().zip(kinds).for_each(|(has, more)| *has |= more);
    }

    /// Adds the numbers of another sum.
    pub fn merge(&mut self, other: &ExactSum) {
        self.integers += other.integers;
        self.is_real |= other.is_real;
        for (chunk, units) in &other.chunks {
            *self.chunks.entry(*chunk).or_default() += units;
        }
        self.add_specials(other.specials);
    }

    /// Returns the sum. Reals are rounded to the nearest, ties to even; a sum beyond the range of reals is infinite.
    #[must_use]
    pub fn total(&self) -> Total {
        match self.specials {
            _ if !self.is_real => Total::Integer(self.integers),
            [false, false, false] => Total::Real(self.rounded()),
            [false, true, false] => Total::Real(f64::INFINITY),
            [false, false, true] => Total::Real(f64::NEG_INFINITY),
            _ => Total::Real(f64::NAN),
        }
    }

    /// Returns the sum of integers and reals as the nearest real.
    fn rounded(&self) -> f64 {
        // The integers begin at the digit of 2^0.
        let (place, mut rest) = (-LEAST_EXPONENT, self.integers);
        let mut chunks = self.chunks.clone();
        let mut chunk = place / CHUNK_BITS;
        let mut shift = place % CHUNK_BITS;
        while rest != 0 {
            let digits = rest & ((1 << (CHUNK_BITS - shift)) - 1);
            *chunks.entry(u8::try_from(chunk).unwrap_or(u8::MAX)).or_default() += digits << shift;
            rest >>= CHUNK_BITS - shift;
            (chunk, shift) = (chunk + 1, 0);
            if rest == -1 {
                *chunks.entry(u8::try_from(chunk).unwrap_or(u8::MAX)).or_default() -= 1;
                break;
            }
        }
        let (digits, is_negative) = magnitude(&chunks);
        let Some(top) = digits.iter().rposition(|digit| *digit != 0) else { return 0.0 };
        let low = top.saturating_sub(2);
        let mut leading =
            digits[low..=top].iter().rev().fold(0_u128, |sum, digit| sum << CHUNK_BITS | u128::from(*digit));
        // Digits that are left out only break ties.
        leading = leading << 1 | u128::from(digits[..low].iter().any(|digit| *digit != 0));
        let exponent = LEAST_EXPONENT + CHUNK_BITS * i32::try_from(low).unwrap_or(0) - 1;
        let sum = scaled(leading, exponent);
        if is_negative { -sum } else { sum }
    }
}

/// Returns the digits of a sum without its sign, 32 binary digits each, the least first, and whether it is negative.
fn magnitude(chunks: &BTreeMap<u8, i128>) -> (Vec<u32>, bool) {
    let digits = |sign: i128| {
        let Some((last, _)) = chunks.last_key_value() else { return (Vec::new(), 0) };
        // The carry of the last chunk has at most four digits more.
        let mut carry = 0_i128;
        let digits = (0..=usize::from(*last) + 4).map(|chunk| {
            let units = u8::try_from(chunk).ok().and_then(|chunk| chunks.get(&chunk)).map_or(0, |units| sign * units);
            let sum = units + carry;
            carry = sum >> CHUNK_BITS;
            u32::try_from(sum & 0xffff_ffff).unwrap_or_default()
        });
        (digits.collect::<Vec<u32>>(), carry)
    };
    match digits(1) {
        (_, carry) if carry < 0 => (digits(-1).0, true),
        (digits, _) => (digits, false),
    }
}

/// Returns `digits` * 2^`exponent`, rounded to the nearest real, ties to even.
fn scaled(digits: u128, exponent: i32) -> f64 {
    let length = 128 - i32::try_from(digits.leading_zeros()).unwrap_or(0);
    // A real has 53 digits, and none below the least exponent.
    let shift = (length - 53).max(LEAST_EXPONENT - exponent).max(0);
    let (kept, dropped) = (digits >> shift, digits & ((1_u128 << shift) - 1));
    let half = if shift == 0 { u128::MAX } else { 1 << (shift - 1) };
    let rounds_up = dropped > half || dropped == half && kept & 1 == 1;
    #[allow(clippy::cast_precision_loss)] // at most 2^53
    let real = (kept + u128::from(rounds_up)) as f64;
    let power = |exponent: i32| f64::from_bits(u64::try_from(exponent + 1023).unwrap_or(0) << 52);
    let (exponent, most) = (exponent + shift, 1000);
    if exponent > most {
        return real * power(most) * power((exponent - most).min(1023));
    }
    // The first product is exact, the second one is the result.
    real * power(exponent / 2) * power(exponent - exponent / 2)
}

#[cfg(test)]
#[allow(clippy::float_cmp, clippy::needless_for_each)] // sums are exact
mod tests {
    use proptest::prelude::*;

    use super::{ExactSum, Total};

    fn sum(reals: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        reals.iter().for_each(|real| sum.add_real(*real));
        sum
    }

    fn read_again(sum: &ExactSum) -> ExactSum {
        serde_json::from_str(&serde_json::to_string(sum).unwrap()).unwrap()
    }

    fn real(reals: &[f64]) -> f64 {
        sum(reals).total().as_real()
    }

    #[test]
    fn sums_are_rounded_once() {
        assert_eq!(real(&[0.1; 10]).to_bits(), 1.0_f64.to_bits());
        assert_eq!(real(&[1e308, 1e308, -1e308]), 1e308);
        assert_eq!(real(&[1e100, 1.0, -1e100]), 1.0);
        assert_eq!(real(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(real(&[-f64::MAX, -f64::MAX]), f64::NEG_INFINITY);
        assert_eq!(real(&[f64::MAX, f64::from_bits(1)]), f64::MAX);
        assert_eq!(real(&[f64::from_bits(1); 3]).to_bits(), 3);
        assert_eq!(real(&[f64::MIN_POSITIVE, -f64::from_bits(1)]).to_bits(), f64::MIN_POSITIVE.to_bits() - 1);
        // A tie goes to the even number, unless anything is above it.
        assert_eq!(real(&[9_007_199_254_740_992.0, 1.0]), 9_007_199_254_740_992.0);
        assert_eq!(real(&[9_007_199_254_740_992.0, 1.0, 1e-300]), 9_007_199_254_740_994.0);
        assert_eq!(real(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(real(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
    }

    #[test]
    fn what_is_written_is_read() {
        for reals in [
            &[f64::INFINITY, 2.0][..],
            &[f64::NEG_INFINITY, 2.0],
            &[f64::NAN],
            &[f64::INFINITY, f64::NEG_INFINITY],
            &[0.1, 1e308],
            &[-0.0],
            &[],
        ] {
            let (sum, read) = (sum(reals), read_again(&sum(reals)));
            assert_eq!(format!("{:?}", read.total()), format!("{:?}", sum.total()), "{reals:?}");
        }
    }

    #[test]
    fn integers_stay_integers() {
        let mut sum = ExactSum::default();
        [i64::MAX, i64::MAX, -5].into_iter().for_each(|integer| sum.add_integer(integer));
        assert_eq!(sum.total(), Total::Integer(2 * i128::from(i64::MAX) - 5));
        for integer in [-1_i64, -7_000_000_000, 1 << 40, i64::MIN] {
            let mut sum = ExactSum::default();
            sum.add_integer(integer);
            sum.add_real(0.5);
            #[allow(clippy::cast_precision_loss)]
            let expected = integer as f64 + 0.5;
            assert_eq!(sum.total(), Total::Real(expected));
        }
    }

    proptest! {
        #[test]
        fn the_order_and_the_division_do_not_count(
            bits in prop::collection::vec(any::<u64>(), 0..40),
            integers in prop::collection::vec(any::<i64>(), 0..5),
            at in any::<prop::sample::Index>(),
        ) {
            let reals: Vec<f64> = bits.iter().map(|bits| f64::from_bits(*bits)).filter(|real| real.is_finite()).collect();
            let mut whole = sum(&reals);
            integers.iter().for_each(|integer| whole.add_integer(*integer));
            let (first, second) = reals.split_at(at.index(reals.len() + 1));
            let mut parts = sum(&second.iter().rev().copied().collect::<Vec<_>>());
            integers.iter().for_each(|integer| parts.add_integer(*integer));
            parts.merge(&sum(first));
            prop_assert_eq!(whole.total(), parts.total());
            let read = read_again(&whole);
            prop_assert_eq!(read.total(), whole.total());
            // What is added and taken away leaves the rest.
            reals.iter().for_each(|real| whole.add_real(-real));
            integers.iter().for_each(|integer| whole.add_integer(integer.wrapping_neg()));
            whole.add_real(0.75);
            if !integers.contains(&i64::MIN) {
                prop_assert_eq!(whole.total(), Total::Real(0.75));
            }
        }

        #[test]
        fn sums_of_two_are_those_of_the_processor(a in any::<f64>(), b in any::<f64>()) {
            let (expected, found) = (a + b, real(&[a, b]));
            prop_assert!(expected == found || expected.is_nan() && found.is_nan(), "{expected} {found}");
        }
    }
}
