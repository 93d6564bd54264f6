//! Statistics of one attribute over many ads.

use std::fmt;

use indexmap::IndexMap;

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Type, Value};
use crate::eval::compare;
use crate::syntax::{Style, print};

/// Statistics of one attribute: the number of ads that have it and, if values are recorded, its values.
#[derive(Clone, Debug, Default)]
pub struct AttributeSummary {
    ads: usize,
    /// Whether values are recorded, and not only the number of ads.
    has_values: bool,
    contents: Vec<(BindingKind, usize)>,
    /// Number of ads with each value, by text of the value. The hash is seeded, so that nobody can craft a pool whose
    /// values collide.
    counts: IndexMap<Box<str>, usize>,
    more: bool,
    numbers: Option<ObservedRange>,
    absolute_times: Option<ObservedRange>,
    relative_times: Option<ObservedRange>,
    lengths: Option<(usize, usize)>,
}

/// The kind of expression bound to an attribute in one ad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// A literal, a list or an ad. Holds its type.
    Value(Type),
    /// Any other expression, which has to be evaluated.
    Expression,
}

impl BindingKind {
    /// Classifies an expression, ignoring parentheses.
    #[must_use]
    pub fn of(expression: &Expression) -> Self {
        match expression.without_parentheses().kind() {
            ExpressionKind::Literal(value) => BindingKind::Value(value.value_type()),
            ExpressionKind::List(_) => BindingKind::Value(Type::List),
            ExpressionKind::Ad(_) => BindingKind::Value(Type::Ad),
            _ => BindingKind::Expression,
        }
    }

    /// Returns the name of the kind for output: the name of the type, or `expression`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            BindingKind::Value(kind) => kind.as_str(),
            BindingKind::Expression => "expression",
        }
    }
}

/// Number of distinct values of an attribute, as far as they were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistinctCount {
    /// Number of distinct values recorded.
    pub values: usize,
    /// Whether further values were not recorded because the memory limit or the maximum number was reached.
    pub more: bool,
}

impl fmt::Display for DistinctCount {
    /// Writes the number of recorded values, followed by `+` if there are more values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.values, if self.more { "+" } else { "" })
    }
}

/// The least and the greatest value of an attribute among values of one kind, such as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedRange {
    /// The least value.
    pub least: Value,
    /// The greatest value.
    pub greatest: Value,
}

/// The limits up to which a census may still record values.
#[derive(Clone, Copy, Debug)]
pub(super) struct CensusBudget {
    /// Maximum number of distinct values that are recorded for each attribute.
    pub values: usize,
    /// Number of bytes left for recording values of all attributes, including overhead.
    pub bytes: usize,
}

impl Default for CensusBudget {
    fn default() -> Self {
        CensusBudget { values: 10_000, bytes: 128 << 20 }
    }
}

/// Memory that a recorded value takes beside its text, in bytes: for allocation, table entry and count.
const VALUE_OVERHEAD_BYTES: usize = 64;

impl AttributeSummary {
    /// Creates the summary of an attribute that no ad has yet.
    pub(super) fn new(with_values: bool) -> Self {
        AttributeSummary { has_values: with_values, ..AttributeSummary::default() }
    }

    /// Counts the expression that one more ad binds to the attribute.
    pub(super) fn add(&mut self, expression: &Expression, budget: &mut CensusBudget) {
        self.ads += 1;
        if self.has_values {
            self.add_value(expression.without_parentheses(), budget);
        }
    }

    /// Number of ads that have the attribute.
    #[must_use]
    pub fn ads(&self) -> usize {
        self.ads
    }

    /// Returns the kinds of expressions bound to the attribute, each with the number of ads; most frequent first.
    #[must_use]
    pub fn contents(&self) -> Vec<(BindingKind, usize)> {
        let mut contents = self.contents.clone();
        contents.sort_by_key(|(_, ads)| std::cmp::Reverse(*ads));
        contents
    }

    /// Returns the number of distinct values. Values with different printed texts are distinct, so that `1` and `1.0`
    /// count as two.
    #[must_use]
    pub fn distinct(&self) -> DistinctCount {
        DistinctCount { values: self.counts.len(), more: self.more }
    }

    /// Returns the `most` most frequent values as texts, each with the number of ads that have it. Equally frequent
    /// values come in the order of first appearance. The counts are exact. If [`DistinctCount::more`] is set, some
    /// values were not recorded and are missing.
    pub fn most_frequent(&self, most: usize) -> impl Iterator<Item = (&str, usize)> {
        let mut all: Vec<(&str, usize)> = self.counts.iter().map(|(text, ads)| (&**text, *ads)).collect();
        all.sort_by_key(|(_, ads)| std::cmp::Reverse(*ads));
        all.into_iter().take(most)
    }

    /// Returns the ranges of the numbers, of the absolute times and of the relative times. A kind without values has no
    /// range. NaN is ignored.
    pub fn ranges(&self) -> impl Iterator<Item = &ObservedRange> {
        [&self.numbers, &self.absolute_times, &self.relative_times].into_iter().flatten()
    }

    /// Returns the least and the greatest length: strings count bytes, lists count elements. `None` if no string and no
    /// list was recorded.
    #[must_use]
    pub fn lengths(&self) -> Option<(usize, usize)> {
        self.lengths
    }

    fn add_value(&mut self, expression: &Expression, budget: &mut CensusBudget) {
        let content = BindingKind::of(expression);
        match self.contents.iter_mut().find(|(known, _)| *known == content) {
            Some((_, ads)) => *ads += 1,
            None => self.contents.push((content, 1)),
        }
        match expression.kind() {
            ExpressionKind::Literal(value) => self.measure(value),
            ExpressionKind::List(elements) => extend_lengths(&mut self.lengths, elements.len()),
            _ => {}
        }
        let text = print(expression, Style::New);
        let text = String::from_utf8_lossy(&text);
        let bytes = text.len() + VALUE_OVERHEAD_BYTES;
        if let Some(ads) = self.counts.get_mut(&*text) {
            *ads += 1;
        } else if self.counts.len() < budget.values && bytes <= budget.bytes {
            budget.bytes -= bytes;
            self.counts.insert(text.into(), 1);
        } else {
            self.more = true;
        }
    }

    fn measure(&mut self, value: &Value) {
        match value {
            Value::Integer(_) => extend_range(&mut self.numbers, value),
            Value::Real(real) if !real.is_nan() => extend_range(&mut self.numbers, value),
            Value::AbsoluteTime(_) => extend_range(&mut self.absolute_times, value),
            Value::RelativeTime(time) if !time.seconds.is_nan() => extend_range(&mut self.relative_times, value),
            Value::String(text) => extend_lengths(&mut self.lengths, text.as_bytes().len()),
            _ => {}
        }
    }
}

fn extend_range(range: &mut Option<ObservedRange>, value: &Value) {
    let less = |a: &Value, b: &Value| compare(BinaryOperator::Less, a, b, Dialect::Condor) == Some(true);
    match range {
        None => *range = Some(ObservedRange { least: value.clone(), greatest: value.clone() }),
        Some(range) if less(value, &range.least) => range.least = value.clone(),
        Some(range) if less(&range.greatest, value) => range.greatest = value.clone(),
        Some(_) => {}
    }
}

fn extend_lengths(lengths: &mut Option<(usize, usize)>, length: usize) {
    let (least, greatest) = lengths.unwrap_or((length, length));
    *lengths = Some((least.min(length), greatest.max(length)));
}

#[cfg(test)]
mod tests {
    use super::{AttributeSummary, CensusBudget};
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, Style, parse_expression, print_value};

    fn summary(texts: &[&str]) -> AttributeSummary {
        let mut summary = AttributeSummary::new(true);
        for text in texts {
            let expression = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            summary.add(&expression, &mut CensusBudget::default());
        }
        summary
    }

    fn contents(summary: &AttributeSummary) -> String {
        let all = summary.contents().into_iter().map(|(content, ads)| format!("{} {ads}", content.as_str()));
        all.collect::<Vec<_>>().join(", ")
    }

    fn ranges(summary: &AttributeSummary) -> Vec<String> {
        let text = |value| String::from_utf8(print_value(value, Style::New)).unwrap();
        summary.ranges().map(|range| format!("{}..{}", text(&range.least), text(&range.greatest))).collect()
    }

    #[test]
    fn contents_and_distinct_values() {
        for (values, expected, distinct) in [
            (vec!["1", "2", "1.0", "(1)"], "int 3, real 1", 3),
            (vec!["\"a\"", "\"A\"", "'a'", "a", "A"], "expression 3, string 2", 4),
            (vec!["undefined", "error", "TRUE", "true"], "bool 2, undefined 1, error 1", 3),
            (vec!["{ 1 }", "{1}", "[ a = 1 ]", "{ 1.0 }"], "list 3, classad 1", 3),
            (vec!["0.0", "-0.0", "real(\"NaN\")", "real(\"NaN\")"], "real 4", 3),
            (
                vec!["absTime(\"2000-01-01T00:00:00Z\")", "relTime(\"1:00\")", "f(1)", "F(1)"],
                "expression 2, abstime 1, reltime 1",
                4,
            ),
        ] {
            let summary = summary(&values);
            assert_eq!(contents(&summary), expected, "{values:?}");
            assert_eq!(summary.distinct().to_string(), distinct.to_string(), "{values:?}");
            assert_eq!(summary.ads(), values.len());
        }
    }

    #[test]
    fn ranges_of_what_has_an_order() {
        for (values, expected) in [
            (vec!["3", "-1", "2.5", "7.0"], vec!["-1..7.0"]),
            (vec!["9223372036854775807", "9223372036854775806"], vec!["9223372036854775806..9223372036854775807"]),
            (vec!["real(\"NaN\")"], vec![]),
            (vec!["real(\"NaN\")", "1"], vec!["1..1"]),
            (vec!["real(\"-INF\")", "1"], vec!["real(\"-INF\")..1"]),
            (vec!["\"a\"", "true", "{ 1 }", "Cpus"], vec![]),
            (
                vec!["relTime(\"2:00\")", "5", "relTime(\"1:00\")"],
                vec!["5..5", "relTime(\"0+00:01:00\")..relTime(\"0+00:02:00\")"],
            ),
        ] {
            assert_eq!(ranges(&summary(&values)), expected, "{values:?}");
        }
    }

    #[test]
    fn lengths_of_strings_and_lists() {
        assert_eq!(summary(&["\"abc\"", "\"\"", "\"é\""]).lengths(), Some((0, 3)));
        assert_eq!(summary(&["{ 1, 2 }"]).lengths(), Some((2, 2)));
        assert_eq!(summary(&["1"]).lengths(), None);
    }

    #[test]
    fn the_most_frequent_first_then_the_first_seen() {
        let summary = summary(&["2", "1", "3", "1"]);
        assert_eq!(summary.most_frequent(2).collect::<Vec<_>>(), [("1", 2), ("2", 1)]);
    }

    #[test]
    fn room_is_shared_and_runs_out() {
        let mut room = CensusBudget { values: 10, bytes: 200 };
        let mut summaries = [AttributeSummary::new(true), AttributeSummary::new(true)];
        let expression = |text: &str| parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        for text in ["1", "2", "3", "1"] {
            for summary in &mut summaries {
                summary.add(&expression(text), &mut room);
            }
        }
        assert_eq!(summaries.map(|summary| summary.distinct().to_string()), ["2+", "1+"]);
    }
}
