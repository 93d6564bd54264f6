//! The strings that offers have where a clause asks for others, the most similar first.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::ad::{Expression, ExpressionKind, Name, Value};
use crate::constraint::ClauseOperand;

use super::clause_analysis::ClauseAnalysis;
use super::evaluation::{OfferTable, RequestContext};

/// Maximum number of values that are kept.
const MAX_VALUES: usize = 8;

/// Maximum number of different values whose similarity is measured.
const MAX_MEASURED_VALUES: usize = 2000;

/// A string that offers have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedValue {
    /// The string.
    pub value: String,
    /// Number of offers that have it.
    pub offers: usize,
    /// Index of one of them.
    pub example: usize,
}

/// The strings that offers have in an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedValues {
    /// The attribute.
    pub name: Name,
    /// The first values, the most similar to what the clause asks for first.
    pub values: Vec<OfferedValue>,
    /// Number of all values.
    pub value_count: usize,
    /// Number of offers that lack the attribute.
    pub absent: usize,
    /// Number of offers in which the attribute has no string.
    pub other: usize,
}

impl OfferedValues {
    /// Finds the strings in the first attribute that a clause reads and that has some. `None` if there is none, or if the
    /// clause compares nothing with a string.
    pub fn find(analysis: &ClauseAnalysis, table: &OfferTable, request: &RequestContext) -> Option<Self> {
        let expression = &analysis.clause.expression;
        let subject = expression.parts().find(|part| {
            let name = offered_name(part, request);
            name.is_some_and(|name| table.offers_with(name) > 0 && !name.is_secret())
        })?;
        let name = offered_name(subject, request)?.clone();
        // The type of a slot is no choice of the job.
        if name.is("SlotType") {
            return None;
        }
        let wanted = wanted_strings(&analysis.residue);
        if wanted.is_empty() {
            return None;
        }
        let is_list = is_list_argument(expression, subject);
        let values = table.expression_values(request, subject);
        let mut counter = ValueCounter::default();
        let (mut absent, mut other) = (0, 0);
        for row in 0..table.row_count() {
            let weight = table.weights.of_row(row);
            match values.value(row) {
                Value::String(text) => counter.add(&text.to_str(), is_list, weight, table.first_offer[row]),
                _ if table.ads[row].get(&name).is_none() => absent += weight,
                _ => other += weight,
            }
        }
        counter.finish(name, &wanted, [absent, other])
    }
}

/// Counter of the offers that have each value.
#[derive(Default)]
pub struct ValueCounter {
    values: IndexMap<String, (usize, usize), FxBuildHasher>,
}

impl ValueCounter {
    /// Counts the offers of a row. With `is_list`, the text is a list of several values.
    pub fn add(&mut self, text: &str, is_list: bool, offers: usize, example: usize) {
        let mut count = |value: &str| {
            if let Some((count, _)) = self.values.get_mut(value) {
                *count += offers;
            } else {
                self.values.insert(value.to_owned(), (offers, example));
            }
        };
        if is_list {
            let items: FxHashSet<&str> = text.split([',', ' ']).filter(|item| !item.is_empty()).collect();
            let mut items: Vec<&str> = items.into_iter().collect();
            items.sort_unstable();
            items.into_iter().for_each(count);
        } else {
            count(text);
        }
    }

    /// Sorts the values. `None` if there are none.
    pub fn finish(self, name: Name, wanted: &[String], [absent, other]: [usize; 2]) -> Option<OfferedValues> {
        let value_count = self.values.len();
        let measured = self.values.into_iter().take(MAX_MEASURED_VALUES).map(|(value, (offers, example))| {
            let similarity = wanted.iter().map(|wanted| similarity(wanted, &value)).fold(0.0, f64::max);
            (similarity, OfferedValue { value, offers, example })
        });
        let mut values: Vec<(f64, OfferedValue)> = measured.collect();
        values.sort_by(|(one, first), (other, second)| {
            other.total_cmp(one).then(second.offers.cmp(&first.offers)).then_with(|| first.value.cmp(&second.value))
        });
        let values: Vec<OfferedValue> = values.into_iter().take(MAX_VALUES).map(|(_, value)| value).collect();
        (!values.is_empty()).then_some(OfferedValues { name, values, value_count, absent, other })
    }
}

/// Returns the attribute of the offers that an expression refers to. `None` for any other expression.
fn offered_name<'e>(expression: &'e Expression, request: &RequestContext) -> Option<&'e Name> {
    match ClauseOperand::of(expression)? {
        ClauseOperand::Other(name) => Some(name),
        ClauseOperand::Unqualified(name) if request.ad.get(name).is_none() => Some(name),
        _ => None,
    }
}

/// Returns the strings in an expression, item by item if they are lists.
pub fn wanted_strings(expression: &Expression) -> Vec<String> {
    let strings = expression.parts().filter_map(|part| match part.as_literal() {
        Some(Value::String(text)) => Some(text.to_str().into_owned()),
        _ => None,
    });
    strings.flat_map(|text| text.split(',').map(|item| item.trim().to_owned()).collect::<Vec<_>>()).collect()
}

/// Whether an expression calls a function of lists in strings with `subject` as the list.
fn is_list_argument(expression: &Expression, subject: &Expression) -> bool {
    expression.parts().any(|part| match part.kind() {
        ExpressionKind::Call(function, arguments) => {
            ["stringListMember", "stringListIMember"].iter().any(|known| function.is(known))
                && arguments.get(1).is_some_and(|list| list.without_parentheses().ptr_eq(subject))
        }
        _ => false,
    })
}

/// The Dice coefficient of the pairs of adjacent letters of two texts, ignoring case.
#[expect(clippy::cast_precision_loss, reason = "a measure of similarity")]
fn similarity(one: &str, other: &str) -> f64 {
    let pairs = |text: &str| -> FxHashSet<(char, char)> {
        let letters: Vec<char> = text.to_lowercase().chars().collect();
        letters.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    // A name that goes on is the most similar: `NVIDIA H100 80GB HBM3` for `NVIDIA H100`.
    if !one.is_empty() && other.to_lowercase().contains(&one.to_lowercase()) {
        return 1.0;
    }
    let [one, other] = [pairs(one), pairs(other)];
    let common = one.intersection(&other).count();
    2.0 * common as f64 / (one.len() + other.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::ValueCounter;
    use crate::ad::Name;

    #[test]
    fn the_most_similar_values_come_first() {
        for (wanted, values, expected) in [
            ("ARM64", "X86_64;X86_64;aarch64", "aarch64 1; X86_64 2"),
            ("NVIDIA H100", "NVIDIA A100;NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3 1; NVIDIA A100 1"),
            ("Milwaukee", "Madison;Madison;Chicago", "Madison 2; Chicago 1"),
        ] {
            let mut counter = ValueCounter::default();
            values.split(';').enumerate().for_each(|(offer, value)| counter.add(value, false, 1, offer));
            let found = counter.finish(Name::new("x"), &[wanted.to_owned()], [0, 0]).unwrap();
            let shown: Vec<String> =
                found.values.iter().map(|found| format!("{} {}", found.value, found.offers)).collect();
            assert_eq!(shown.join("; "), expected, "{wanted}");
        }
        let mut counter = ValueCounter::default();
        counter.add("osdf, https,osdf", true, 3, 0);
        let found = counter.finish(Name::new("x"), &["rclone".to_owned()], [1, 2]).unwrap();
        assert_eq!((found.value_count, found.values[0].offers, found.absent, found.other), (2, 3, 1, 2));
    }
}
