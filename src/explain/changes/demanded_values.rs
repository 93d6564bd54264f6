//! The values that offers demand of the request's attributes, and the proposals to set them.

use std::collections::hash_map::Entry;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::ad::{BinaryOperator, Expression, Name, OperatorGroup, Value};
use crate::explain::distance::{as_number, relative_distance};
use crate::lint;
use crate::protocol::{requested_resource, words};

use super::edit::RequestEdit;
use super::search::Proposal;

/// Attributes that identify the user, the job, or where it was submitted, and those that HTCondor itself sets. Changes
/// of these attributes are never proposed.
const FIXED_ATTRIBUTES: [&str; 3] = [
    "Owner, User, OsUser, AcctGroup, AcctGroupUser, AccountingGroup, ClusterId, ProcId, GlobalJobId",
    "FileSystemDomain, UidDomain, JobUniverse, JobStatus",
    "MyType, TargetType, QDate, CurrentTime",
];

pub fn is_fixed(name: &Name) -> bool {
    FIXED_ATTRIBUTES.into_iter().flat_map(words).any(|fixed| name.is(fixed))
}

/// Whether two strings differ in case only.
fn differs_in_case(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => lint::differs_in_case(one, other),
        _ => false,
    }
}

/// Whether a value must not be proposed for an attribute: a job that asks for a resource needs some of it, and one that
/// asks for no GPUs, and reads nothing of those of slots, needs none.
pub fn is_false_request(name: &Name, from: Option<&Expression>, to: &Value, reads_gpus: bool) -> bool {
    let is_none = as_number(to).is_some_and(|amount| amount <= 0.0);
    requested_resource(name).is_some_and(|resource| is_none || !reads_gpus && from.is_none() && resource.is("GPUs"))
}

/// Maximum number of values proposed for each pair of attribute and operator.
const MAX_VALUES: usize = 4;

/// The values that offers demand of the request's attributes: 1024 for `TARGET.RequestMemory <= 1024`. The key is the
/// name of an attribute, the identity of the attribute's current expression in memory, and the operator. Each entry
/// holds this expression, and the demanded values.
#[derive(Default)]
pub struct DemandedValues(IndexMap<DemandKey, (Option<Expression>, CountedValues)>);

type DemandKey = (Name, Option<usize>, BinaryOperator);

/// A value with the number of offers that have it or ask for it.
pub type WeightedValue = (Value, usize);

/// Distinct values with the numbers of their offers.
#[derive(Default)]
struct CountedValues {
    values: Vec<WeightedValue>,
    /// The places of the integers in `values`. There can be thousands of them.
    integers: FxHashMap<i64, usize>,
}

impl CountedValues {
    fn add(&mut self, value: &Value, offers: usize) {
        let Value::Integer(integer) = value else { return add_value(&mut self.values, value, offers) };
        match self.integers.entry(*integer) {
            Entry::Occupied(known) => self.values[*known.get()].1 += offers,
            Entry::Vacant(vacant) => {
                vacant.insert(self.values.len());
                self.values.push((value.clone(), offers));
            }
        }
    }
}

/// Adds `offers` to the count of a value in a list of distinct values.
pub fn add_value(values: &mut Vec<WeightedValue>, value: &Value, offers: usize) {
    match values.iter_mut().find(|(known, _)| known == value) {
        Some((_, count)) => *count += offers,
        None => values.push((value.clone(), offers)),
    }
}

impl DemandedValues {
    /// Records that `offers` offers demand `name operator value`, where `name` is an attribute of the request. `from`
    /// is the current expression of the attribute; `None` if the request lacks the attribute.
    pub fn add(
        &mut self,
        name: &Name,
        from: Option<&Expression>,
        operator: BinaryOperator,
        value: &Value,
        offers: usize,
    ) {
        let key = (name.clone(), from.map(Expression::identity), operator);
        let (_, values) = self.0.entry(key).or_insert_with(|| (from.cloned(), CountedValues::default()));
        values.add(value, offers);
    }

    /// Proposes to set each attribute to values that the offers demand: at most `max_bounds` values for an inequality,
    /// else at most `MAX_VALUES`. With `reads_gpus`, the request may ask for GPUs. The loosest bound comes first, as the smallest change. If the request lacks the
    /// attribute, the strictest bound comes first, because it suits the most offers.
    pub fn propose(self, max_bounds: usize, reads_gpus: bool) -> Vec<Proposal> {
        let mut proposals = Vec::new();
        for ((name, _, operator), (from, CountedValues { mut values, .. })) in self.0 {
            // How much a job needs that asks for nothing, no offer knows.
            let is_nothing = from.as_ref().and_then(Expression::as_literal) == Some(&Value::Integer(0));
            if is_nothing && requested_resource(&name).is_some() {
                continue;
            }
            // Without a current value to stay close to, prefer the strictest bound, which suits the most offers.
            let order = if from.is_some() { Some(operator) } else { operator.converse() };
            sort_by_preference(&mut values, order.unwrap_or(operator));
            let old = from.as_ref().and_then(Expression::as_literal);
            let is_bound = values.iter().all(|(value, _)| as_number(value).is_some())
                && operator.group() == OperatorGroup::Comparison
                && operator != BinaryOperator::Equal;
            let most = if is_bound { max_bounds } else { MAX_VALUES };
            // What the request meets already helps nothing: memory below an upper bound need not be raised to it.
            values.retain(|(value, _)| old.is_none_or(|old| !meets_bound(old, operator, value)));
            // Slots that have none left demand a request for 0.
            let values = values.into_iter().filter_map(|(value, _)| value_meeting(operator, value));
            // The name of a group may have been written in another case.
            let is_allowed = |to: &Value| !is_fixed(&name) || old.is_some_and(|old| differs_in_case(old, to));
            let values = values.filter(is_allowed);
            let sensible = values.filter(|to| !is_false_request(&name, from.as_ref(), to, reads_gpus)).take(most);
            for to in sensible.filter(|to| Some(to) != old) {
                let is_respelt = old.is_some_and(|old| differs_in_case(old, &to));
                let size = if is_respelt { 0.0 } else { old.map_or(1.0, |old| relative_distance(&to, old)) };
                let set = RequestEdit::Set { name: name.clone(), from: from.clone(), to: Expression::literal(to) };
                proposals.push(Proposal::new(set, size));
            }
        }
        proposals
    }
}

/// Whether a number meets an upper or a lower bound.
fn meets_bound(number: &Value, operator: BinaryOperator, bound: &Value) -> bool {
    use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
    as_number(number).zip(as_number(bound)).is_some_and(|(number, bound)| match operator {
        Less => number < bound,
        LessEqual => number <= bound,
        Greater => number > bound,
        GreaterEqual => number >= bound,
        _ => false,
    })
}

/// Sorts values by preference. The bounds of an inequality are sorted by strictness, the loosest first, because the
/// loosest bound requires the smallest change. Other values are sorted by frequency, the most frequent first.
pub fn sort_by_preference(values: &mut [WeightedValue], operator: BinaryOperator) {
    values.sort_by(|(a, a_count), (b, b_count)| match (operator, as_number(a), as_number(b)) {
        (BinaryOperator::Less | BinaryOperator::LessEqual, Some(a), Some(b)) => b.total_cmp(&a),
        (BinaryOperator::Greater | BinaryOperator::GreaterEqual, Some(a), Some(b)) => a.total_cmp(&b),
        _ => b_count.cmp(a_count),
    });
}

/// Returns a value `v` for which `v operator bound` is true. `None` if no such value is obvious for the operator and
/// the bound.
fn value_meeting(operator: BinaryOperator, bound: Value) -> Option<Value> {
    match (operator, &bound) {
        (BinaryOperator::Less, Value::Integer(bound)) => bound.checked_sub(1).map(Value::Integer),
        (BinaryOperator::Greater, Value::Integer(bound)) => bound.checked_add(1).map(Value::Integer),
        (BinaryOperator::Less, Value::Real(bound)) => next_real(*bound, -1.0),
        (BinaryOperator::Greater, Value::Real(bound)) => next_real(*bound, 1.0),
        (BinaryOperator::Less | BinaryOperator::Greater | BinaryOperator::NotEqual | BinaryOperator::Isnt, _) => None,
        _ => Some(bound),
    }
}

/// Returns the next number in a direction: a whole MiB or KiB from a whole one, else a whole number.
fn next_real(bound: f64, direction: f64) -> Option<Value> {
    let unit = [1_048_576.0, 1024.0].into_iter().find(|unit| bound != 0.0 && bound % unit == 0.0).unwrap_or(1.0);
    let next = if direction < 0.0 { (bound / unit).ceil() - 1.0 } else { (bound / unit).floor() + 1.0 };
    (bound.abs() < 9_007_199_254_740_992.0).then_some(Value::Real(next * unit))
}

#[cfg(test)]
mod tests {
    use super::{DemandedValues, is_false_request, sort_by_preference};
    use crate::ad::BinaryOperator::{Equal, Greater, GreaterEqual, Is, Less, LessEqual, NotEqual};
    use crate::ad::{BinaryOperator, Dialect, Expression, Name, Value};
    use crate::syntax::{ParseOptions, parse_expression};

    fn value(text: &str) -> Value {
        let expression = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        expression.as_literal().expect("it is a literal").clone()
    }

    /// Returns the changes, with at most two bounds, of an attribute that offers demand to be in these relations to values. The
    /// number behind a value is that of the offers.
    fn proposed(name: &str, from: Option<&str>, demands: &[(BinaryOperator, &str, usize)]) -> Vec<String> {
        let (name, from) = (Name::new(name), from.map(|from| Expression::literal(value(from))));
        let mut demanded = DemandedValues::default();
        for (operator, bound, offers) in demands {
            demanded.add(&name, from.as_ref(), *operator, &value(bound), *offers);
        }
        let proposals = demanded.propose(2, false).into_iter();
        proposals.map(|proposal| proposal.edits[0].text(Dialect::Condor)).collect()
    }

    #[test]
    fn values_meet_what_offers_demand() {
        for (name, from, demands, expected) in [
            ("Prio", Some("1"), &[(Greater, "5", 1)][..], &["Prio 1 -> 6"][..]),
            ("Prio", Some("9"), &[(Less, "5", 1)], &["Prio 9 -> 4"]),
            ("Prio", Some("9"), &[(LessEqual, "5", 1)], &["Prio 9 -> 5"]),
            ("Prio", Some("1"), &[(Greater, "2.5", 1)], &["Prio 1 -> 3.0"]),
            ("Prio", Some("9"), &[(Less, "2.5", 1)], &["Prio 9 -> 2.0"]),
            ("Prio", Some("-1"), &[(Greater, "0.0", 1)], &["Prio -1 -> 1.0"]),
            ("Prio", Some("9"), &[(Less, "0.0", 1)], &["Prio 9 -> -1.0"]),
            // Whole MiB and KiB stay whole.
            ("Size", Some("9000000"), &[(Less, "2097152.0", 1)], &["Size 9000000 -> 1048576.0"]),
            ("Size", Some("9000"), &[(Less, "3072.0", 1)], &["Size 9000 -> 2048.0"]),
            ("Size", Some("1"), &[(Greater, "1024.0", 1)], &["Size 1 -> 2048.0"]),
            // What is met already helps nothing.
            ("Prio", Some("9"), &[(GreaterEqual, "9", 1)], &[]),
            ("Prio", Some("9"), &[(Greater, "9", 1)], &["Prio 9 -> 10"]),
            ("Prio", Some("9"), &[(LessEqual, "9", 1), (LessEqual, "8", 1)], &["Prio 9 -> 8"]),
            // The loosest bounds come first, or the strictest if the request has none.
            (
                "Prio",
                Some("1"),
                &[(GreaterEqual, "7", 9), (GreaterEqual, "5", 1), (GreaterEqual, "6", 1)],
                &["Prio 1 -> 5", "Prio 1 -> 6"],
            ),
            (
                "Prio",
                None,
                &[(GreaterEqual, "7", 1), (GreaterEqual, "5", 9), (GreaterEqual, "6", 1)],
                &["Prio = 7", "Prio = 6"],
            ),
            // Of other values, the most frequent ones: at most four.
            (
                "Dept",
                Some("\"a\""),
                &[(Equal, "\"b\"", 1), (Equal, "\"c\"", 2), (Equal, "\"b\"", 2), (Equal, "\"a\"", 9)],
                &["Dept \"a\" -> \"b\"", "Dept \"a\" -> \"c\""],
            ),
            (
                "Dept",
                None,
                &[(Is, "1", 5), (Is, "2", 4), (Is, "3", 3), (Is, "4", 2), (Is, "5", 1)],
                &["Dept = 1", "Dept = 2", "Dept = 3", "Dept = 4"],
            ),
            ("Dept", Some("\"a\""), &[(NotEqual, "\"b\"", 1)], &[]),
            // Nobody but the pool's admin gives a job another owner; the case of its name may be wrong.
            ("Owner", Some("\"ann\""), &[(Equal, "\"bob\"", 1)], &[]),
            ("Owner", Some("\"ann\""), &[(Equal, "\"Ann\"", 1)], &["Owner \"ann\" -> \"Ann\""]),
            // A job that asks for a resource needs some of it.
            ("RequestCpus", Some("4"), &[(LessEqual, "0", 1)], &[]),
            ("RequestCpus", Some("4"), &[(LessEqual, "2", 1)], &["RequestCpus 4 -> 2"]),
            ("RequestCpus", Some("0"), &[(GreaterEqual, "2", 1)], &[]),
            ("RequestGPUs", None, &[(GreaterEqual, "1", 1)], &[]),
        ] {
            assert_eq!(proposed(name, from, demands), expected, "{name} {from:?} {demands:?}");
        }
    }

    #[test]
    fn requests_for_nothing_are_false() {
        for (name, from, to, reads_gpus, is_false) in [
            ("RequestMemory", Some("4"), "0", false, true),
            ("RequestMemory", Some("4"), "1", false, false),
            ("RequestMemory", None, "1", false, false),
            ("RequestGPUs", None, "1", false, true),
            ("RequestGPUs", None, "1", true, false),
            ("RequestGPUs", Some("2"), "1", false, false),
            ("Prio", Some("4"), "0", false, false),
        ] {
            let from = from.map(|from| Expression::literal(value(from)));
            let found = is_false_request(&Name::new(name), from.as_ref(), &value(to), reads_gpus);
            assert_eq!(found, is_false, "{name} {to}");
        }
    }

    #[test]
    fn the_loosest_bound_and_the_most_frequent_value_come_first() {
        for (operator, expected) in [(Less, [3, 2, 1]), (GreaterEqual, [1, 2, 3]), (Equal, [2, 3, 1])] {
            let mut values = vec![(Value::Integer(1), 1), (Value::Integer(2), 9), (Value::Integer(3), 4)];
            sort_by_preference(&mut values, operator);
            let order: Vec<Value> = values.into_iter().map(|(value, _)| value).collect();
            assert_eq!(order, expected.map(Value::Integer), "{operator:?}");
        }
    }
}
