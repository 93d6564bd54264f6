//! The values that offers have where a clause asks for others: strings and numbers, the most similar first, and ranges.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Name, OperatorGroup, Value};
use crate::constraint::{ClauseComparison, ClauseOperand};
use crate::protocol::evaluate_attribute;

use super::clause_analysis::ClauseAnalysis;
use super::distance::as_number;
use super::evaluation::{OfferTable, RequestContext};
use super::places::{names_place, names_wanted_place};
use super::similarity::similarity;
use super::unmet_offer_clause::UnmetOfferClause;

/// Maximum number of values that are kept.
const MAX_VALUES: usize = 8;

/// Similarity below which a value is not called similar.
const MIN_SIMILARITY: f64 = 0.2;

/// Maximum number of different values whose similarity is measured.
const MAX_MEASURED_VALUES: usize = 2000;

/// A string that offers have.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedValue {
    /// The string.
    pub value: String,
    /// Number of offers that have it.
    pub offers: usize,
    /// Number of those that are free slots; `None` if the states do not matter.
    pub free: Option<usize>,
    /// Index of one of them, a free one if there is any.
    pub example: usize,
    /// The clauses by which that offer refuses the request, for the first value only.
    pub refusals: Vec<UnmetOfferClause>,
}

/// The range of the numbers that offers have.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedRange {
    /// The least and the greatest number.
    pub bounds: [Value; 2],
    /// Number of offers that have a number.
    pub offers: usize,
    /// Index of an offer with the greatest number.
    pub example: usize,
}

/// The strings or numbers that offers have in an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedValues {
    /// The attribute.
    pub name: Name,
    /// The first values, the most similar to what the clause asks for first.
    pub values: Vec<OfferedValue>,
    /// Whether the values are strings, which are shown in quotes. Otherwise they are numbers, or pairs of any values.
    pub are_strings: bool,
    /// Number of all values.
    pub value_count: usize,
    /// Whether the first value is similar to what the clause asks for. Otherwise the most frequent comes first.
    pub is_similar: bool,
    /// Number of the first values that go on as the wanted string does, or are the only ones like it.
    pub likely: usize,
    /// The range of the numbers of slots, without those of machines that hibernate; `None` if there is none.
    pub range: Option<OfferedRange>,
    /// The range of the numbers of slots of machines that hibernate.
    pub offline: Option<OfferedRange>,
    /// Number of offers that lack the attribute.
    pub absent: usize,
    /// Number of offers in which the attribute has no value.
    pub undefined: usize,
    /// Number of offers in which the attribute has a value of another type.
    pub other: usize,
}

impl OfferedValues {
    /// The values of an attribute, of which none is counted yet.
    #[must_use]
    pub fn of(name: Name) -> Self {
        let (values, range, offline) = (Vec::new(), None, None);
        OfferedValues {
            name,
            values,
            are_strings: true,
            value_count: 0,
            is_similar: false,
            likely: 0,
            range,
            offline,
            absent: 0,
            undefined: 0,
            other: 0,
        }
    }

    /// Finds the values in the first attribute that a clause reads and that has some: the strings if it compares with a
    /// string, the numbers if with a number, and their range if it asks for more or less; the pairs of values if it compares
    /// two attributes of the offers. `None` if there are none, or if the clause compares with anything else.
    pub fn find(analysis: &ClauseAnalysis, table: &OfferTable, request: &RequestContext) -> Option<Self> {
        let expression = &analysis.clause.expression;
        if let Some(pairs) = Self::find_pairs(expression, table, request) {
            return Some(pairs);
        }
        let subject = expression.parts().find(|part| {
            let name = offered_name(part, request);
            name.is_some_and(|name| table.offers_with(name) > 0 && !name.is_secret())
        })?;
        let name = offered_name(subject, request)?.clone();
        // The type of a slot is no choice of the job.
        if name.is("SlotType") {
            return None;
        }
        let number = analysis.comparison.as_ref().filter(|comparison| comparison.attribute() == Some(&name));
        let number = number.filter(|comparison| as_number(&comparison.bound).is_some());
        let wanted = match number {
            Some(comparison) => vec![comparison.bound.to_string()],
            None => wanted_strings(&analysis.residue),
        };
        if wanted.is_empty() {
            return None;
        }
        let is_list = is_list_argument(expression, subject);
        let is_amount = number.is_some_and(ClauseComparison::bound_is_amount);
        let values = table.expression_values(request, compared_operand(expression, subject));
        let mut counter = ValueCounter::new(is_list);
        let mut found = OfferedValues { are_strings: number.is_none(), ..OfferedValues::of(name.clone()) };
        for row in 0..table.row_count() {
            let value = values.value(row);
            match value {
                Value::String(text) if number.is_none() => counter.add(&text.to_str(), table, row),
                _ if number.is_some() && as_number(value).is_some() => {
                    if is_amount {
                        found.extend_range(value, table, row);
                    } else {
                        counter.add(&value.to_string(), table, row);
                    }
                }
                _ if table.ads[row].get(&name).is_none() => found.absent += table.weights.of_row(row),
                Value::Undefined => found.undefined += table.weights.of_row(row),
                _ => found.other += table.weights.of_row(row),
            }
        }
        let found = counter.finish(found, &wanted);
        (found.value_count > 0 || found.range.is_some() || found.offline.is_some()).then_some(found)
    }

    /// Finds the places where offers are that refuse a request because it wants others (`DESIRED_Sites`). `None` if they refuse for
    /// another reason.
    pub fn of_places(demand: &UnmetOfferClause, table: &OfferTable) -> Option<Self> {
        let reads = &demand.part.as_ref()?.reads;
        let wanted = reads.iter().find(|read| read.is_partners && names_wanted_place(&read.name))?;
        let place = reads.iter().find(|read| !read.is_partners && names_place(&read.name))?;
        let mut counter = ValueCounter::new(false);
        let mut found = OfferedValues::of(place.name.clone());
        for row in 0..table.row_count() {
            match evaluate_attribute(&table.ads[row], &place.name, &table.context) {
                Some(Value::String(text)) => counter.add(&text.to_str(), table, row),
                _ => found.absent += table.weights.of_row(row),
            }
        }
        Some(counter.finish(found, &wanted_strings(&Expression::literal(wanted.value.clone()))))
    }

    /// Finds the pairs of values of two attributes of the offers that a clause compares with each other. `None` if the clause
    /// compares anything else.
    fn find_pairs(expression: &Expression, table: &OfferTable, request: &RequestContext) -> Option<Self> {
        let ExpressionKind::Binary(operator, left, right) = expression.without_parentheses().kind() else {
            return None;
        };
        let operands = [left, right];
        let names = operands.map(|operand| offered_name(operand, request).filter(|name| table.offers_with(name) > 0));
        let [Some(one), Some(other)] = names else { return None };
        if !is_comparison(*operator) || one.is_secret() || other.is_secret() {
            return None;
        }
        let values = operands.map(|operand| table.expression_values(request, operand));
        let mut counter = ValueCounter::new(false);
        let mut found =
            OfferedValues { are_strings: false, ..OfferedValues::of(Name::new(&format!("{one} and {other}"))) };
        for row in 0..table.row_count() {
            let [one_value, other_value] = values.each_ref().map(|values| values.value(row));
            if !one_value.is_exceptional() && !other_value.is_exceptional() {
                counter.add(&format!("{one_value} and {other_value}"), table, row);
            } else if [one, other].iter().any(|name| table.ads[row].get(name).is_none()) {
                found.absent += table.weights.of_row(row);
            } else {
                found.undefined += table.weights.of_row(row);
            }
        }
        let found = counter.finish(found, &[]);
        (found.value_count > 0).then_some(found)
    }

    /// Returns a value as a sentence shows it: a string in quotes.
    #[must_use]
    pub fn shown(&self, value: &str) -> String {
        if self.are_strings { format!("\"{value}\"") } else { value.to_owned() }
    }

    /// Counts the offers of a row that has a number.
    pub fn extend_range(&mut self, number: &Value, table: &OfferTable, row: usize) {
        let is_offline = table.states.as_ref().is_some_and(|states| states.offline.contains(row));
        let range = if is_offline { &mut self.offline } else { &mut self.range };
        let (offers, example) = (table.weights.of_row(row), table.first_offer[row]);
        let Some(range) = range else {
            *range = Some(OfferedRange { bounds: [number.clone(), number.clone()], offers, example });
            return;
        };
        range.offers += offers;
        if as_number(number) < as_number(&range.bounds[0]) {
            range.bounds[0] = number.clone();
        }
        if as_number(number) > as_number(&range.bounds[1]) {
            range.bounds[1] = number.clone();
            range.example = example;
        }
    }
}

/// Counter of the offers that have each value.
pub struct ValueCounter {
    values: IndexMap<String, OfferedValue, FxBuildHasher>,
    /// Whether a text is a list of several values.
    is_list: bool,
}

impl ValueCounter {
    pub fn new(is_list: bool) -> Self {
        ValueCounter { values: IndexMap::default(), is_list }
    }

    /// Counts the offers of a row.
    pub fn add(&mut self, text: &str, table: &OfferTable, row: usize) {
        self.add_if_free(text, table, row, true);
    }

    /// Counts the offers of a row. They count as free slots only if `is_left` too: no job has what the text tells of.
    pub fn add_if_free(&mut self, text: &str, table: &OfferTable, row: usize, is_left: bool) {
        let is_free = table.states.as_ref().map(|states| is_left && states.free.contains(row));
        self.count(text, table.weights.of_row(row), is_free, table.first_offer[row]);
    }

    /// Counts offers with a text. `is_free` tells whether they are free slots.
    fn count(&mut self, text: &str, offers: usize, is_free: Option<bool>, example: usize) {
        let free = is_free.map(|is_free| if is_free { offers } else { 0 });
        let mut count = |value: &str| {
            if let Some(known) = self.values.get_mut(value) {
                if known.free == Some(0) && free > Some(0) {
                    known.example = example;
                }
                known.offers += offers;
                known.free = known.free.zip(free).map(|(known, free)| known + free);
            } else {
                let value = value.to_owned();
                let found = OfferedValue { value: value.clone(), offers, free, example, refusals: Vec::new() };
                self.values.insert(value, found);
            }
        };
        if self.is_list {
            let items: FxHashSet<&str> = text.split([',', ' ']).filter(|item| !item.is_empty()).collect();
            let mut items: Vec<&str> = items.into_iter().collect();
            items.sort_unstable();
            items.into_iter().for_each(count);
        } else {
            count(text);
        }
    }

    /// Puts the values into `found`, the most similar to one of `wanted` first.
    pub fn finish(self, found: OfferedValues, wanted: &[String]) -> OfferedValues {
        let value_count = self.values.len();
        let measured = self
            .values
            .into_values()
            .take(MAX_MEASURED_VALUES)
            .map(|value| (wanted.iter().map(|wanted| similarity(wanted, &value.value)).fold(0.0, f64::max), value));
        let mut values: Vec<(f64, OfferedValue)> = measured.collect();
        values.sort_by(|(one, first), (other, second)| {
            other.total_cmp(one).then(second.offers.cmp(&first.offers)).then_with(|| first.value.cmp(&second.value))
        });
        let is_similar = values.first().is_some_and(|(similarity, _)| *similarity >= MIN_SIMILARITY);
        if !is_similar {
            values.sort_by_key(|(_, value)| std::cmp::Reverse(value.offers));
        }
        let likely = values.iter().take_while(|(similarity, _)| *similarity >= 1.0).count();
        let values: Vec<OfferedValue> = values.into_iter().take(MAX_VALUES).map(|(_, value)| value).collect();
        OfferedValues { values, value_count, is_similar, likely, ..found }
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

/// Whether an operator compares two values.
fn is_comparison(operator: BinaryOperator) -> bool {
    matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity)
}

/// Returns the operand with which a clause compares `subject`: `split(TARGET.CondorVersion)[1]` of a comparison of versions. It
/// is `subject` itself where the clause compares nothing, or reads something else in the operand.
fn compared_operand<'e>(expression: &'e Expression, subject: &'e Expression) -> &'e Expression {
    let is_operand = |operand: &&'e Expression| {
        let is_name = |part: &&Expression| !matches!(ClauseOperand::of(part), None | Some(ClauseOperand::Literal(_)));
        let mut names = operand.without_parentheses().parts().filter(is_name);
        names.next().is_some_and(|name| name.ptr_eq(subject)) && names.next().is_none()
    };
    let operand = expression.parts().find_map(|part| match part.kind() {
        ExpressionKind::Call(function, arguments) if function.as_str().to_ascii_lowercase().starts_with("version") => {
            arguments.iter().find(is_operand)
        }
        ExpressionKind::Binary(operator, left, right) if is_comparison(*operator) => {
            [left, right].into_iter().find(is_operand)
        }
        _ => None,
    });
    operand.unwrap_or(subject)
}

/// Returns the strings in an expression, item by item if they are lists.
pub fn wanted_strings(expression: &Expression) -> Vec<String> {
    let strings = expression.parts().filter_map(|part| match part.as_literal() {
        Some(Value::String(text)) => Some(text.to_str().into_owned()),
        _ => None,
    });
    strings.flat_map(|text| text.split(',').map(|item| item.trim().to_owned()).collect::<Vec<_>>()).collect()
}

/// The functions that seek an item in a list.
pub const LIST_FUNCTIONS: [&str; 3] = ["stringListMember", "stringListIMember", "member"];

/// Returns the string that a list is split from; the list itself if it is none.
pub fn split_list(list: &Expression) -> &Expression {
    match list.without_parentheses().kind() {
        ExpressionKind::Call(function, arguments) if function.is("split") => arguments.first().unwrap_or(list),
        _ => list,
    }
}

/// Whether an expression calls a function of lists in strings with `subject` as the list.
fn is_list_argument(expression: &Expression, subject: &Expression) -> bool {
    expression.parts().any(|part| match part.kind() {
        ExpressionKind::Call(function, arguments) => {
            LIST_FUNCTIONS.iter().any(|known| function.is(known))
                && arguments.get(1).is_some_and(|list| split_list(list).without_parentheses().ptr_eq(subject))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{OfferedValues, ValueCounter, compared_operand};
    use crate::ad::{Dialect, ExpressionKind, Name};
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn what_is_made_of_an_attribute_alone_is_compared_with() {
        for (clause, expected) in [
            ("TARGET.A == 1", "TARGET.A"),
            ("1 < (TARGET.A)", "(TARGET.A)"),
            ("size(TARGET.A) >= 2 && TARGET.B", "size(TARGET.A)"),
            ("versionGE(split(TARGET.A)[1], \"9.0\")", "split(TARGET.A)[1]"),
            // What reads something else, too, tells nothing of the attribute.
            ("TARGET.A + TARGET.B >= 2", "TARGET.A"),
            ("TARGET.B == 2 && TARGET.A", "TARGET.A"),
            ("regexp(\"a\", TARGET.A)", "TARGET.A"),
        ] {
            let clause = parse_expression(clause.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let is_subject = |part: &ExpressionKind| matches!(part, ExpressionKind::Select(_, name) if name.is("A"));
            let subject = clause.parts().find(|part| is_subject(part.kind())).unwrap();
            assert_eq!(compared_operand(&clause, subject).to_string(), expected, "{clause}");
        }
    }

    #[test]
    fn the_most_similar_values_come_first() {
        for (wanted, values, expected, likely) in [
            ("ARM64", "X86_64;X86_64;aarch64", "aarch64 1 0; X86_64 2 2", 0),
            ("NVIDIA H100", "NVIDIA A100;NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3 1 1; NVIDIA A100 1 0", 1),
            ("Milwaukee", "Madison;Madison;Chicago", "Madison 2 2; Chicago 1 0", 0),
            ("10", "7;9;9", "9 2 1; 7 1 0", 0),
            ("25.12.0", "9.12.0;25.2.1;25.11.3;25.2.1", "25.11.3 1 0; 25.2.1 2 2; 9.12.0 1 0", 0),
        ] {
            let mut counter = ValueCounter::new(false);
            let values = values.split(';').enumerate();
            // Each second slot is free.
            values.for_each(|(offer, value)| {
                counter.count(value, 1, Some(offer % 2 == 1 || value == "X86_64" || value == "Madison"), offer);
            });
            let found = counter.finish(OfferedValues::of(Name::new("x")), &[wanted.to_owned()]);
            let shown = found.values.iter();
            let shown: Vec<String> =
                shown.map(|found| format!("{} {} {}", found.value, found.offers, found.free.unwrap())).collect();
            assert_eq!((shown.join("; ").as_str(), found.likely), (expected, likely), "{wanted}");
        }
        let mut counter = ValueCounter::new(true);
        counter.count("osdf, https,osdf", 3, None, 0);
        let found = counter.finish(OfferedValues::of(Name::new("x")), &["rclone".to_owned()]);
        assert_eq!((found.value_count, found.values[0].offers, found.values[0].free), (2, 3, None));
    }
}
