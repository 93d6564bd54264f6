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

    use super::{SortKey, SortedItems, compare_naturally, compare_values, order, sort_values};
    use crate::ad::{AbsoluteTime, Ad, Expression, RelativeTime, Value};
    use crate::eval::Context;
    use crate::query::AdLookup;
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    fn expression(text: &str) -> Expression {
        parse_expression(text.as_bytes(), ParseOptions::default()).unwrap()
    }

    #[test]
    fn a_minus_before_a_key_reverses_its_order() {
        for (text, key, ascending, reversed) in [
            ("a", "a", false, true),
            ("-a", "a", true, false),
            ("(-a)", "a", true, false),
            ("-(a + 1)", "(a + 1)", true, false),
            ("--a", "-a", true, false),
            ("a - 1", "a - 1", false, true),
            ("!a", "!a", false, true),
        ] {
            for (is_reversed, is_descending) in [(false, ascending), (true, reversed)] {
                let found = SortKey::new(&expression(text), is_reversed);
                assert_eq!(
                    (found.expression.to_string().as_str(), found.is_descending),
                    (key, is_descending),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn values_are_in_groups_of_types_and_those_without_an_order_are_last() {
        let time = |seconds| Value::AbsoluteTime(AbsoluteTime { seconds, offset: 0 });
        let length = |seconds| Value::RelativeTime(RelativeTime::new(seconds));
        let ascending = [
            Value::Integer(-5),
            Value::Boolean(false),
            Value::Real(0.5),
            Value::Boolean(true),
            Value::Integer(2),
            Value::Real(2.5),
            Value::Real(f64::NAN),
            Value::string("a"),
            Value::string("B"),
            Value::string("b2"),
            Value::string("b10"),
            time(1),
            time(2),
            length(1.0),
            length(2.0),
            Value::Undefined,
        ];
        for (place, one) in ascending.iter().enumerate() {
            for (other_place, other) in ascending.iter().enumerate() {
                assert_eq!(order(one, other), place.cmp(&other_place), "{one:?} {other:?}");
                for is_descending in [false, true] {
                    let keys = [SortKey { expression: expression("a"), is_descending }];
                    let last = ascending.len() - 1;
                    let is_turned = is_descending && place != last && other_place != last;
                    let expected = if is_turned { other_place.cmp(&place) } else { place.cmp(&other_place) };
                    let found = compare_values(&keys, std::slice::from_ref(one), std::slice::from_ref(other));
                    assert_eq!(found, expected, "{one:?} {other:?} {is_descending}");
                }
            }
        }
        for (one, other) in [
            (Value::Integer(1), Value::Real(1.0)),
            (Value::Boolean(true), Value::Integer(1)),
            (Value::Real(f64::NAN), Value::Real(f64::NAN)),
            (Value::Undefined, Value::error(crate::ad::Span::default(), "no")),
        ] {
            assert_eq!(order(&one, &other), Ordering::Equal, "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_tie_goes_to_the_next_key_and_then_to_the_ad_before() {
        let ads: Vec<Ad> = ["a = 2; b = 1", "a = 1; b = 1", "a = 2; b = 2", "a = 1; b = 1", "b = 0", "a = 1; b = 3"]
            .iter()
            .map(|text| parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::default()).unwrap())
            .collect();
        let context = Context::new(crate::ad::Dialect::Condor);
        for (keys, limit, expected) in [
            (&["a"][..], 9, &[1, 3, 5, 0, 2, 4][..]),
            (&["a", "b"], 9, &[1, 3, 5, 0, 2, 4]),
            (&["a", "-b"], 9, &[5, 1, 3, 2, 0, 4]),
            (&["-a", "b"], 9, &[0, 2, 1, 3, 5, 4]),
            (&["b", "a"], 9, &[4, 1, 3, 0, 2, 5]),
            (&[], 9, &[0, 1, 2, 3, 4, 5]),
            (&["a", "-b"], 3, &[5, 1, 3]),
            (&["a"], 1, &[1]),
            (&["a"], 0, &[]),
        ] {
            let keys: Vec<SortKey> = keys.iter().map(|key| SortKey::new(&expression(key), false)).collect();
            let mut sorted = SortedItems::new(limit);
            for (number, ad) in ads.iter().enumerate() {
                sorted.add(&keys, sort_values(&keys, &mut AdLookup::new(ad, &context)), number);
            }
            let found = sorted.take(&keys);
            assert_eq!(found.iter().map(|(_, number)| *number).collect::<Vec<_>>(), expected);
            assert!(found.iter().all(|(values, _)| values.len() == keys.len()));
            assert!(sorted.take(&keys).is_empty());
        }
    }

    /// Not more than twice as many items are held as are kept, and at least 1024.
    #[test]
    fn the_first_ones_of_many_are_kept() {
        for limit in [0_usize, 1, 511, 512, 513, 2000, usize::MAX] {
            let keys = [SortKey { expression: expression("a"), is_descending: false }];
            let (mut sorted, mut most) = (SortedItems::new(limit), 0);
            for number in 0..5000_i64 {
                let item = number * 7919 % 5000;
                sorted.add(&keys, vec![Value::Integer(item)], item);
                most = most.max(sorted.items.len());
            }
            let found: Vec<i64> = sorted.take(&keys).into_iter().map(|(_, item)| item).collect();
            let kept = i64::try_from(limit.min(5000)).unwrap();
            assert_eq!(found, (0..kept).collect::<Vec<_>>(), "{limit}");
            let expected = if limit == usize::MAX { 5000 } else { (2 * limit).max(1024) - 1 };
            assert_eq!(most, expected, "{limit}");
        }
    }

    #[test]
    fn numbers_in_texts_are_compared_as_numbers() {
        for [less, greater] in [
            ["slot1_2@a", "slot1_10@a"],
            ["node9", "node10"],
            ["slot1@node1", "slot1_1@node1"],
            ["a", "B"],
            ["b7", "b007a"],
            ["", "a"],
            ["a01", "a2"],
            ["a2", "a10b"],
            ["a0", "a00"],
            ["a", "a0"],
            ["a01", "a1"],
            ["A", "a"],
            ["AB1", "ab2"],
            ["a", "b"],
            ["0", "1"],
            ["00", "1"],
            ["9", "a"],
            ["a9b2", "a9b10"],
            ["a 1", "a1"],
        ] {
            assert_eq!(compare_naturally(less.as_bytes(), greater.as_bytes()), Ordering::Less, "{less} {greater}");
            assert_eq!(compare_naturally(greater.as_bytes(), less.as_bytes()), Ordering::Greater);
        }
    }
}
