//! The order of ads by the values of expressions in them, and the first ones of an order.

use std::cmp::Ordering;

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Type, UnaryOperator, Value};
use crate::eval::compare;

use super::ad_lookup::AdLookup;

/// An expression by whose values ads are sorted.
#[derive(Clone)]
pub struct SortKey {
    /// The expression.
    pub expression: Expression,
    /// Whether the greatest value comes first.
    pub is_descending: bool,
}

/// The values of the keys in an ad.
pub type SortValues = Vec<Value>;

impl SortKey {
    /// Makes a key of an expression: a `-` before it means that the order is descending.
    /// `is_reversed` turns the order round.
    #[must_use]
    pub fn new(expression: &Expression, is_reversed: bool) -> Self {
        match expression.without_parentheses().kind() {
            ExpressionKind::Unary(UnaryOperator::Minus, operand) => {
                SortKey { expression: operand.clone(), is_descending: !is_reversed }
            }
            _ => SortKey { expression: expression.clone(), is_descending: is_reversed },
        }
    }
}

/// Evaluates the keys in an ad.
pub fn sort_values(keys: &[SortKey], lookup: &mut AdLookup) -> SortValues {
    keys.iter().map(|key| lookup.value(&key.expression)).collect()
}

/// Compares two ads by the values of the keys in them.
#[must_use]
pub fn compare_values(keys: &[SortKey], a: &[Value], b: &[Value]) -> Ordering {
    let parts = keys.iter().zip(a.iter().zip(b)).map(|(key, (a, b))| match order(a, b) {
        // What has no order stays last.
        ordering if key.is_descending && group(a) < 4 && group(b) < 4 => ordering.reverse(),
        ordering => ordering,
    });
    parts.fold(Ordering::Equal, Ordering::then)
}

/// Items with the values of the keys, of which only the first ones in the order are kept. Items with equal values keep
/// the order in which they came. O(log n) for each item, with memory for twice the number that is kept.
pub struct SortedItems<T> {
    items: Vec<(SortValues, T)>,
    limit: usize,
}

impl<T> SortedItems<T> {
    /// Minimum number of items that are held before the last ones are dropped.
    const MIN_HELD: usize = 1024;

    /// Keeps the first `limit` items.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        SortedItems { items: Vec::new(), limit }
    }

    /// Adds an item with the values of the keys.
    pub fn add(&mut self, keys: &[SortKey], values: SortValues, item: T) {
        self.items.push((values, item));
        if self.items.len() >= self.limit.saturating_mul(2).max(Self::MIN_HELD) {
            self.cut(keys);
        }
    }

    fn cut(&mut self, keys: &[SortKey]) {
        self.items.sort_by(|(a, _), (b, _)| compare_values(keys, a, b));
        self.items.truncate(self.limit);
    }

    /// Returns the items in their order, with the values of the keys.
    pub fn take(&mut self, keys: &[SortKey]) -> Vec<(SortValues, T)> {
        self.cut(keys);
        std::mem::take(&mut self.items)
    }
}

/// The group of types whose values can be compared.
fn group(value: &Value) -> u8 {
    match value.value_type() {
        Type::Boolean | Type::Integer | Type::Real => 0,
        Type::String => 1,
        Type::AbsoluteTime => 2,
        Type::RelativeTime => 3,
        _ => 4,
    }
}

/// Compares values in a total order: by groups of comparable types, then by value.
#[must_use]
pub fn order(a: &Value, b: &Value) -> Ordering {
    if let (Value::String(a), Value::String(b)) = (a, b) {
        return compare_naturally(a.as_bytes(), b.as_bytes());
    }
    let less = |a, b| compare(BinaryOperator::Less, a, b, Dialect::Condor) == Some(true);
    let is_nan = |value: &Value| matches!(value, Value::Real(real) if real.is_nan());
    group(a).cmp(&group(b)).then_with(|| match (less(a, b), less(b, a)) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        // NaN comes after all numbers, which makes the order total.
        _ => is_nan(a).cmp(&is_nan(b)),
    })
}

/// Compares texts by their characters and the numbers in them: `slot1_2` comes before `slot1_10`. Letters are compared
/// without case first.
#[must_use]
pub fn compare_naturally(a: &[u8], b: &[u8]) -> Ordering {
    let (mut left, mut right) = (a, b);
    while let (Some(first), Some(second)) = (left.first(), right.first()) {
        if first.is_ascii_digit() && second.is_ascii_digit() {
            let [(one, rest_of_left), (other, rest_of_right)] = [left, right].map(split_number);
            match one.len().cmp(&other.len()).then_with(|| one.cmp(other)) {
                Ordering::Equal => (left, right) = (rest_of_left, rest_of_right),
                ordering => return ordering,
            }
            continue;
        }
        match first.to_ascii_lowercase().cmp(&second.to_ascii_lowercase()) {
            Ordering::Equal => (left, right) = (&left[1..], &right[1..]),
            ordering => return ordering,
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// Splits off the digits at the beginning, without leading zeros.
fn split_number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let zeros = text[..end].iter().take_while(|byte| **byte == b'0').count().min(end.saturating_sub(1));
    (&text[zeros..end], &text[end..])
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::compare_naturally;

    #[test]
    fn numbers_in_texts_are_compared_as_numbers() {
        for [less, greater] in [
            ["slot1_2@a", "slot1_10@a"],
            ["node9", "node10"],
            ["slot1@node1", "slot1_1@node1"],
            ["a", "B"],
            ["b7", "b007a"],
            ["", "a"],
        ] {
            assert_eq!(compare_naturally(less.as_bytes(), greater.as_bytes()), Ordering::Less, "{less} {greater}");
            assert_eq!(compare_naturally(greater.as_bytes(), less.as_bytes()), Ordering::Greater);
        }
    }
}
