//! The order of `--sort`.

use std::cmp::Ordering;

use classad::ad::{BinaryOperator, Dialect, Expression, Type, Value};
use classad::eval::{Context, compare};

use super::columns::evaluate_or_undefined;
use crate::cli::io::input::NamedAd;

/// Sorts ads by the value of an expression: numbers, then strings, then times, then other values. The sort is stable.
pub fn sort_ads(ads: Vec<NamedAd>, by: &Expression, context: &Context, failures: &mut u64) -> Vec<NamedAd> {
    // Fewer than two ads need no sorting: do not evaluate the expression.
    if ads.len() < 2 {
        return ads;
    }
    let key = |ad: NamedAd| (evaluate_or_undefined(&ad.ad, by, context, failures), ad);
    let mut keyed: Vec<(Value, NamedAd)> = ads.into_iter().map(key).collect();
    keyed.sort_by(|(a, _), (b, _)| order(a, b));
    keyed.into_iter().map(|(_, ad)| ad).collect()
}

/// Compares values in a total order: by groups of comparable types, then by value.
fn order(a: &Value, b: &Value) -> Ordering {
    let group = |value: &Value| match value.value_type() {
        Type::Boolean | Type::Integer | Type::Real => 0,
        Type::String => 1,
        Type::AbsoluteTime => 2,
        Type::RelativeTime => 3,
        _ => 4,
    };
    let less = |a, b| compare(BinaryOperator::Less, a, b, Dialect::Condor) == Some(true);
    let is_nan = |value: &Value| matches!(value, Value::Real(real) if real.is_nan());
    group(a).cmp(&group(b)).then_with(|| match (less(a, b), less(b, a)) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        // NaN comes after all numbers, which makes the order total.
        _ => is_nan(a).cmp(&is_nan(b)),
    })
}
