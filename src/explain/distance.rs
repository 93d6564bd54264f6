//! Measures how far the offers' values are from the bound of a comparison.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::ad::{BinaryOperator, ByteString, Dialect, Expression, Value};
use crate::eval::compare;
use crate::lint::differs_in_case;
use crate::pool::ValueKey;
use crate::text::closest_name;

use super::evaluation::{OfferTable, RequestContext};
use super::similarity::model_words;
use crate::constraint::ClauseComparison;

/// Maximum number of strings compared by edit distance.
const MAX_COMPARED_STRINGS: usize = 5000;

/// Returns the offers' value that comes closest to meeting the comparison. For `>` this is the greatest value, for `<`
/// the least, for `==` the nearest number. For `==` with a string it is a similarly spelt string, or else the most
/// frequent value, if most offers have it. `None` if there is no such value, as for `!=`.
pub fn closest_offered_value(
    comparison: &ClauseComparison,
    request: &RequestContext,
    table: &OfferTable,
) -> Option<Value> {
    let ClauseComparison { operand, operator, bound, .. } = comparison;
    let criterion = |intern: &mut dyn FnMut(&Expression) -> usize| {
        // An inequality compares the values with each other. Of its bound only the type matters.
        let is_number = as_number(bound).is_some();
        let class = if is_number { Value::Integer(0) } else { Value::string(bound.value_type().phrase()) };
        let of_bound = if comparison.bound_is_amount() { class } else { bound.clone() };
        [*operator as usize, intern(&Expression::literal(of_bound))]
    };
    table.closest_value(request, operand, criterion, |values| {
        closest_value(*operator, bound, values.weighted_values(), table.context.dialect)
    })
}

/// Returns the value in `rows` that comes closest to meeting the comparison, by the criteria of
/// [`closest_offered_value`].
pub fn closest_row_value(
    comparison: &ClauseComparison,
    request: &RequestContext,
    rows: &[usize],
    table: &OfferTable,
) -> Option<Value> {
    let values = table.expression_values(request, &comparison.operand);
    let values = values.weighted_values_in(rows, &table.weights);
    closest_value(comparison.operator, &comparison.bound, values, table.context.dialect)
}

/// Returns the value that comes closest to meeting the comparison, by the criteria of [`closest_offered_value`].
/// `values` are pairs of a value and the number of offers that have it.
pub fn closest_value<'v>(
    operator: BinaryOperator,
    bound: &Value,
    values: impl Iterator<Item = (&'v Value, usize)>,
    dialect: Dialect,
) -> Option<Value> {
    let comparable: Vec<(&Value, usize)> = values.filter(|(value, _)| is_comparable(value, bound)).collect();
    let extreme = |beats: BinaryOperator| {
        let values = comparable.iter().map(|(value, _)| *value);
        values.reduce(|best, value| if compare(beats, value, best, dialect) == Some(true) { value } else { best })
    };
    match operator {
        BinaryOperator::Greater | BinaryOperator::GreaterEqual => extreme(BinaryOperator::Greater).cloned(),
        BinaryOperator::Less | BinaryOperator::LessEqual => extreme(BinaryOperator::Less).cloned(),
        BinaryOperator::Equal | BinaryOperator::Is => match as_number(bound) {
            Some(bound) => nearest_number(&comparable, bound),
            None => similar_string(&comparable, bound).or_else(|| most_frequent_value(&comparable)),
        },
        _ => None,
    }
}

/// Returns the offers' strings that differ from the bound in case only, each with the number of offers. Empty if the
/// operator is not `=?=` or the bound is not a string.
pub fn other_spellings(
    comparison: &ClauseComparison,
    table: &OfferTable,
    request: &RequestContext,
) -> Vec<(ByteString, usize)> {
    let (BinaryOperator::Is, Value::String(bound)) = (comparison.operator, &comparison.bound) else {
        return Vec::new();
    };
    let values = table.expression_values(request, &comparison.operand);
    let other = values.weighted_values().filter_map(|(value, offers)| match value {
        Value::String(theirs) if differs_in_case(theirs, bound) => Some((theirs.clone(), offers)),
        _ => None,
    });
    other.collect()
}

/// The relative distance of a value from a bound: 0 if equal, at most 1. Values that are not both numbers have distance
/// 1.
pub fn relative_distance(value: &Value, bound: &Value) -> f64 {
    match (as_number(value), as_number(bound)) {
        (Some(value), Some(bound)) => ((value - bound).abs() / bound.abs().max(1.0)).min(1.0),
        _ => 1.0,
    }
}

/// Converts a number to a float. `None` for NaN and for anything but an integer or a real.
#[allow(clippy::cast_precision_loss)] // a measure of distance
pub fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Real(real) if !real.is_nan() => Some(*real),
        _ => None,
    }
}

fn is_comparable(value: &Value, bound: &Value) -> bool {
    let is_number = |value: &Value| as_number(value).is_some();
    (is_number(value) && is_number(bound)) || (value.value_type() == bound.value_type() && !value.is_exceptional())
}

fn nearest_number(values: &[(&Value, usize)], bound: f64) -> Option<Value> {
    let measured = values.iter().filter_map(|(value, _)| Some(((as_number(value)? - bound).abs(), *value)));
    let nearest = measured.min_by(|(a, _), (b, _)| a.total_cmp(b));
    nearest.map(|(_, value)| value.clone())
}

/// Whether a value could stand for a bound: a number of at least half and at most twice its size, or a string that is spelt
/// similarly.
pub fn is_near(value: &Value, bound: &Value) -> bool {
    match as_number(value).zip(as_number(bound)) {
        Some((value, bound)) => value.abs() * 2.0 >= bound.abs() && value.abs() <= bound.abs() * 2.0,
        None => similar_string(&[(value, 1)], bound).is_some(),
    }
}

/// Names of architectures that others use, and HTCondor's.
const ARCHITECTURES: [(&str, &str); 7] = [
    ("arm64", "aarch64"),
    ("armv8", "aarch64"),
    ("amd64", "X86_64"),
    ("x86-64", "X86_64"),
    ("x64", "X86_64"),
    ("INTEL", "X86_64"),
    ("i686", "X86_64"),
];

/// Whether a name has a word of letters and digits, such as the model in `NVIDIA A100-PCIE-40GB`.
fn has_model(name: &str, model: &str) -> bool {
    let has = |is_of: fn(&char) -> bool| model.chars().any(|letter| is_of(&letter));
    let is_model = model.len() > 2 && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    is_model && name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case(model))
}

/// Returns the full name of the host whose short name the bound is, else the string that is spelt most similarly to the
/// bound. Of versions that are equally similar, it is the most frequent one. `None` if no string is similar, or if the
/// bound is not a string.
pub fn similar_string(values: &[(&Value, usize)], bound: &Value) -> Option<Value> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.to_str().into_owned()),
        _ => None,
    };
    let texts = values.iter().filter_map(|(value, offers)| Some((text(value)?, *offers)));
    let texts: Vec<(String, usize)> = texts.take(MAX_COMPARED_STRINGS).collect();
    let wanted = text(bound)?;
    // The name of a device goes on with its size: `NVIDIA H100 80GB HBM3`.
    let is_device = wanted.contains(' ');
    let is_full_name = |name: &str| {
        let rest = name.strip_prefix(&wanted);
        rest.is_some_and(|rest| rest.starts_with('.') || (is_device && rest.starts_with([' ', '-'])))
    };
    let alias = ARCHITECTURES.iter().find(|(alias, _)| wanted.eq_ignore_ascii_case(alias)).map(|(_, known)| *known);
    let is_other_name = |name: &str| alias.is_some_and(|known| name.eq_ignore_ascii_case(known));
    let meant = texts.iter().find(|(name, _)| is_full_name(name) || is_other_name(name));
    if let Some((name, _)) = meant.or_else(|| texts.iter().find(|(name, _)| has_model(name, &wanted))) {
        return Some(Value::string(name));
    }
    let is_same_model = |name: &&str| !is_device || model_words(name).eq(model_words(&wanted));
    let nearest = closest_name(&wanted, texts.iter().map(|(text, _)| text.as_str()).filter(is_same_model))?;
    Some(Value::string(most_frequent_version(&wanted, nearest, &texts)))
}

/// Returns the string of the most offers among `nearest` and those that differ from `wanted` as little and in digits
/// only. `texts` are strings, each with a number of offers that have it.
fn most_frequent_version<'t>(wanted: &str, nearest: &'t str, texts: &'t [(String, usize)]) -> &'t str {
    // The number of digits in which a version differs from `wanted`; `None` if anything else differs.
    let differing_digits = |text: &str| {
        let pairs = || text.chars().zip(wanted.chars()).filter(|(one, other)| !one.eq_ignore_ascii_case(other));
        let is_version = pairs().all(|(one, other)| one.is_ascii_digit() && other.is_ascii_digit());
        (is_version && text.chars().count() == wanted.chars().count()).then(|| pairs().count())
    };
    let Some(distance) = differing_digits(nearest) else { return nearest };
    let mut versions: IndexMap<&str, usize, FxBuildHasher> = IndexMap::default();
    versions.insert(nearest, 0);
    for (text, offers) in texts.iter().filter(|(text, _)| differing_digits(text) == Some(distance)) {
        *versions.entry(text).or_default() += offers;
    }
    let most = versions.values().copied().max();
    versions.into_iter().find(|(_, offers)| Some(*offers) == most).map_or(nearest, |(text, _)| text)
}

/// Returns the value that more than half of the offers have; `None` if there is none.
fn most_frequent_value(values: &[(&Value, usize)]) -> Option<Value> {
    let mut counts: IndexMap<ValueKey, (usize, &Value), FxBuildHasher> = IndexMap::default();
    for (value, weight) in values {
        counts.entry(ValueKey::of(value)).or_insert((0, value)).0 += weight;
    }
    let all: usize = values.iter().map(|(_, weight)| weight).sum();
    let most = counts.into_values().find(|(weight, _)| weight * 2 > all && *weight > 1);
    most.map(|(_, value)| value.clone())
}

#[cfg(test)]
mod tests {
    use super::{most_frequent_value, similar_string};
    use crate::ad::Value;

    #[test]
    fn strings_that_are_meant() {
        for (wanted, values, meant) in [
            ("NVIDIA A100", &["NVIDIA V100", "NVIDIA A100-SXM4-40GB"][..], Some("NVIDIA A100-SXM4-40GB")),
            ("NVIDIA A100", &["NVIDIA V100"], None),
            ("NVIDIA GeForce RTX 3080", &["NVIDIA GeForce RTX 3060"], None),
            ("NVIDIA Geforc RTX 3060", &["NVIDIA GeForce RTX 3060"], Some("NVIDIA GeForce RTX 3060")),
            ("Tesla T4", &["Tesla L4"], None),
            ("RHEL 8", &["RHEL 9"], Some("RHEL 9")),
            ("A100", &["NVIDIA A100-PCIE-40GB"], Some("NVIDIA A100-PCIE-40GB")),
            ("c218", &["c219", "c218.example.org"], Some("c218.example.org")),
            ("AlmaLinux8", &["AlmaLinux9", "Debian12"], Some("AlmaLinux9")),
            ("amd64", &["aarch64", "X86_64"], Some("X86_64")),
            ("arm64", &["aarch64", "X86_64"], Some("aarch64")),
            ("Paris", &["Madison"], None),
        ] {
            let values: Vec<Value> = values.iter().map(Value::string).collect();
            let weighted: Vec<(&Value, usize)> = values.iter().map(|value| (value, 1)).collect();
            let found = similar_string(&weighted, &Value::string(wanted));
            assert_eq!(found, meant.map(Value::string), "{wanted}");
        }
    }

    #[test]
    fn the_value_of_more_than_half_of_several_offers_is_the_most_frequent() {
        for (values, expected) in [
            (&[][..], None),
            (&[(1, 1)], None),
            (&[(1, 2)], Some(1)),
            (&[(1, 2), (2, 2)], None),
            (&[(1, 2), (2, 3)], Some(2)),
            (&[(1, 1), (2, 1), (1, 1)], Some(1)),
            (&[(1, 2), (2, 1), (3, 1)], None),
        ] {
            let values: Vec<(Value, usize)> =
                values.iter().map(|(value, offers)| (Value::Integer(*value), *offers)).collect();
            let values: Vec<(&Value, usize)> = values.iter().map(|(value, offers)| (value, *offers)).collect();
            assert_eq!(most_frequent_value(&values), expected.map(Value::Integer), "{values:?}");
        }
    }
}
