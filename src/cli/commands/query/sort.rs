//! The order of `--sort`.

use std::cmp::Ordering;

use classad::ad::{BinaryOperator, Dialect, Expression, Type, Value};
use classad::eval::{Context, compare};

use super::columns::evaluate_or_undefined;
use crate::cli::io::input::NamedAd;

/// Sorts ads by the value of an expression: numbers, then strings, then times, then other values. The sort is stable.
pub fn sort_ads(found: &mut [NamedAd], by: &Expression, context: &Context, failures: &mut u64) {
    let rank = |value: &Value| match value.value_type() {
        Type::Boolean | Type::Integer | Type::Real => 0,
        Type::String => 1,
        Type::AbsoluteTime => 2,
        Type::RelativeTime => 3,
        _ => 4,
    };
    found.sort_by_cached_key(|ad| {
        let value = evaluate_or_undefined(&ad.ad, by, context, failures);
        SortKey { rank: rank(&value), value }
    });
}

/// A value with a total order: by `rank`, which groups comparable types, then by value.
struct SortKey {
    rank: u8,
    value: Value,
}

impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let less = |a: &Value, b: &Value| compare(BinaryOperator::Less, a, b, Dialect::Condor) == Some(true);
        self.rank.cmp(&other.rank).then_with(|| {
            if less(&self.value, &other.value) {
                Ordering::Less
            } else if less(&other.value, &self.value) {
                Ordering::Greater
            } else {
                // NaN comes after all numbers, which makes the order total.
                let nan = |v: &Value| matches!(v, Value::Real(real) if real.is_nan());
                nan(&self.value).cmp(&nan(&other.value))
            }
        })
    }
}

impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SortKey {}
