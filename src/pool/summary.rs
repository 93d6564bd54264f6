//! Statistics of one attribute over many ads.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Type, Value};
use crate::eval::compare;
use crate::syntax::decimal_integer;

use super::value_sample::{SampleLimit, ValueSample};

/// Statistics of one attribute: the number of ads that have it and, if values are recorded, its values.
#[derive(Clone, Debug, Default)]
pub struct AttributeSummary {
    ads: usize,
    /// `None` if values are not recorded, but only the number of ads.
    values: Option<Box<ValueStatistics>>,
}

/// Statistics of the values of one attribute.
#[derive(Clone, Debug)]
struct ValueStatistics {
    measures: ValueMeasures,
    sample: ValueSample,
}

/// The kinds of the expressions bound to an attribute, and the ranges of their values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ValueMeasures {
    kinds: Vec<(BindingKind, usize)>,
    integers: Option<(i64, i64)>,
    #[serde(serialize_with = "write_reals", deserialize_with = "read_reals")]
    reals: Option<(f64, f64)>,
    absolute_times: Option<ObservedRange>,
    relative_times: Option<ObservedRange>,
    lengths: Option<(usize, usize)>,
}

/// The kind of expression bound to an attribute in one ad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// Whether there are further values. The recorded values are then a random sample of all: those with the smallest
    /// hashes.
    pub more: bool,
}

impl fmt::Display for DistinctCount {
    /// Writes the number of recorded values, followed by `+` if there are more values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.values, if self.more { "+" } else { "" })
    }
}

/// The least and the greatest value of an attribute among values of one kind, such as numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservedRange {
    /// The least value.
    pub least: Value,
    /// The greatest value.
    pub greatest: Value,
}

impl AttributeSummary {
    /// Creates the summary of an attribute that no ad has yet. `limit` bounds the values that are recorded; with `None`,
    /// no values are recorded.
    pub(super) fn new(limit: Option<SampleLimit>) -> Self {
        let statistics =
            |limit| Box::new(ValueStatistics { measures: ValueMeasures::default(), sample: ValueSample::new(limit) });
        AttributeSummary { ads: 0, values: limit.map(statistics) }
    }

    /// Adds ads that have the attribute, with the measures of their values.
    pub(super) fn add(&mut self, ads: usize, measures: ValueMeasures) {
        self.ads += ads;
        if let Some(values) = &mut self.values {
            values.measures.merge(measures);
        }
    }

    /// Returns the sample of values; `None` if values are not recorded.
    pub(super) fn sample(&self) -> Option<&ValueSample> {
        self.values.as_ref().map(|values| &values.sample)
    }

    /// Returns the sample of values; `None` if values are not recorded.
    pub(super) fn sample_mut(&mut self) -> Option<&mut ValueSample> {
        self.values.as_mut().map(|values| &mut values.sample)
    }

    /// Returns the measures of the values; none if values are not recorded.
    pub(super) fn measures(&self) -> ValueMeasures {
        self.values.as_ref().map(|values| values.measures.clone()).unwrap_or_default()
    }

    /// Number of ads that have the attribute.
    #[must_use]
    pub fn ads(&self) -> usize {
        self.ads
    }

    /// Returns the kinds of expressions bound to the attribute, each with the number of ads; most frequent first.
    #[must_use]
    pub fn contents(&self) -> Vec<(BindingKind, usize)> {
        let mut kinds = self.values.as_ref().map_or_else(Vec::new, |values| values.measures.kinds.clone());
        kinds.sort_by_key(|(_, ads)| std::cmp::Reverse(*ads));
        kinds
    }

    /// Returns the number of distinct values. Values with different printed texts are distinct, so that `1` and `1.0`
    /// count as two.
    #[must_use]
    pub fn distinct(&self) -> DistinctCount {
        self.sample().map_or(DistinctCount { values: 0, more: false }, |sample| DistinctCount {
            values: sample.len(),
            more: sample.is_partial(),
        })
    }

    /// Returns the `most` most frequent recorded values as texts, each with the number of ads that have it. Equally
    /// frequent values come in the order of first appearance. The counts are exact. If [`DistinctCount::more`] is set,
    /// a value that was not recorded may be more frequent. A text of more than 4096 bytes is cut and ends in an
    /// ellipsis.
    pub fn most_frequent(&self, most: usize) -> impl Iterator<Item = (&str, usize)> {
        self.sample().map_or_else(Vec::new, |sample| sample.most_frequent(most)).into_iter()
    }

    /// Returns the ranges of the numbers, of the absolute times and of the relative times. A kind without values has no
    /// range. NaN is ignored. Of an integer and a real that are equal, the range has the integer.
    pub fn ranges(&self) -> impl Iterator<Item = ObservedRange> {
        let measures = self.values.as_ref().map(|values| &values.measures);
        let of_measures = |measures: &ValueMeasures| {
            [measures.numbers(), measures.absolute_times.clone(), measures.relative_times.clone()]
        };
        measures.map(of_measures).into_iter().flatten().flatten()
    }

    /// Returns the least and the greatest length: strings count bytes, lists count elements. `None` if no string and no
    /// list was recorded.
    #[must_use]
    pub fn lengths(&self) -> Option<(usize, usize)> {
        self.values.as_ref()?.measures.lengths
    }
}

impl ValueMeasures {
    /// Adds an expression without parentheses, which is bound to the attribute in a number of ads.
    pub(super) fn add(&mut self, expression: &Expression, ads: usize) {
        self.add_kind(BindingKind::of(expression), ads);
        match expression.kind() {
            ExpressionKind::Literal(value) => self.measure(value),
            ExpressionKind::List(elements) => extend(&mut self.lengths, (elements.len(), elements.len())),
            _ => {}
        }
    }

    /// Adds a [plain literal](crate::syntax::LiteralText::is_plain), which is bound to the attribute in a number of ads.
    pub(super) fn add_plain_literal(&mut self, literal: &[u8], ads: usize) {
        let kind = match literal {
            [b'"', inside @ .., b'"'] => {
                // Only quotes are escaped.
                let length = inside.len() - memchr::memchr_iter(b'\\', inside).count();
                extend(&mut self.lengths, (length, length));
                Type::String
            }
            [b't' | b'f', ..] => Type::Boolean,
            number => {
                if let Some(integer) = decimal_integer(number) {
                    extend(&mut self.integers, (integer, integer));
                    Type::Integer
                } else {
                    let real = str::from_utf8(number).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
                    extend(&mut self.reals, (real, real));
                    Type::Real
                }
            }
        };
        self.add_kind(BindingKind::Value(kind), ads);
    }

    fn add_kind(&mut self, kind: BindingKind, ads: usize) {
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += ads,
            None => self.kinds.push((kind, ads)),
        }
    }

    fn measure(&mut self, value: &Value) {
        match value {
            Value::Integer(integer) => extend(&mut self.integers, (*integer, *integer)),
            Value::Real(real) if !real.is_nan() => extend(&mut self.reals, (*real, *real)),
            Value::AbsoluteTime(_) => extend_times(&mut self.absolute_times, ObservedRange::of(value)),
            Value::RelativeTime(time) if !time.seconds.is_nan() => {
                extend_times(&mut self.relative_times, ObservedRange::of(value));
            }
            Value::String(text) => extend(&mut self.lengths, (text.as_bytes().len(), text.as_bytes().len())),
            _ => {}
        }
    }

    /// Adds the measures of later ads.
    fn merge(&mut self, later: ValueMeasures) {
        later.kinds.into_iter().for_each(|(kind, ads)| self.add_kind(kind, ads));
        later.integers.into_iter().for_each(|range| extend(&mut self.integers, range));
        later.reals.into_iter().for_each(|range| extend(&mut self.reals, range));
        later.absolute_times.into_iter().for_each(|range| extend_times(&mut self.absolute_times, range));
        later.relative_times.into_iter().for_each(|range| extend_times(&mut self.relative_times, range));
        later.lengths.into_iter().for_each(|range| extend(&mut self.lengths, range));
    }

    /// Returns the range of all numbers. Integers and reals are joined only here: they compare as reals, which is no
    /// order among large integers.
    fn numbers(&self) -> Option<ObservedRange> {
        let integers = self.integers.map(|(least, greatest)| [Value::Integer(least), Value::Integer(greatest)]);
        let reals = self.reals.map(|(least, greatest)| [Value::Real(least), Value::Real(greatest)]);
        let [mut least, mut greatest] = integers.clone().or_else(|| reals.clone())?;
        if let Some([low, high]) = reals {
            least = if is_less(&low, &least) { low } else { least };
            greatest = if is_less(&greatest, &high) { high } else { greatest };
        }
        Some(ObservedRange { least, greatest })
    }
}

/// Writes a range of reals as their bits, so that infinity is kept.
#[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn write_reals<S: Serializer>(range: &Option<(f64, f64)>, serializer: S) -> Result<S::Ok, S::Error> {
    range.map(|(least, greatest)| (least.to_bits(), greatest.to_bits())).serialize(serializer)
}

fn read_reals<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<(f64, f64)>, D::Error> {
    let bits = Option::<(u64, u64)>::deserialize(deserializer)?;
    Ok(bits.map(|(least, greatest)| (f64::from_bits(least), f64::from_bits(greatest))))
}

impl ObservedRange {
    /// Returns the range of one value.
    fn of(value: &Value) -> Self {
        ObservedRange { least: value.clone(), greatest: value.clone() }
    }
}

fn is_less(one: &Value, other: &Value) -> bool {
    compare(BinaryOperator::Less, one, other, Dialect::Condor) == Some(true)
}

/// Extends a range of times. Of equal times the first stays.
fn extend_times(range: &mut Option<ObservedRange>, later: ObservedRange) {
    let Some(range) = range else {
        *range = Some(later);
        return;
    };
    if is_less(&later.least, &range.least) {
        range.least = later.least;
    }
    if is_less(&range.greatest, &later.greatest) {
        range.greatest = later.greatest;
    }
}

/// Extends the range of a least and a greatest value. Of equal values the first stays.
fn extend<T: Copy + PartialOrd>(range: &mut Option<(T, T)>, (low, high): (T, T)) {
    let (least, greatest) = range.unwrap_or((low, high));
    *range = Some((if low < least { low } else { least }, if high > greatest { high } else { greatest }));
}

#[cfg(test)]
mod tests {
    use super::AttributeSummary;
    use crate::ad::{Ad, Dialect, Name, Value};
    use crate::pool::Census;
    use crate::syntax::{ParseOptions, Style, parse_expression, print_value};

    fn summary(texts: &[&str]) -> AttributeSummary {
        let mut census = Census::values();
        for text in texts {
            let expression = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            census.add(&Ad::from_iter([(Name::new("a"), expression)]));
        }
        census.attribute(&Name::new("a")).cloned().unwrap()
    }

    fn contents(summary: &AttributeSummary) -> String {
        let all = summary.contents().into_iter().map(|(content, ads)| format!("{} {ads}", content.as_str()));
        all.collect::<Vec<_>>().join(", ")
    }

    fn ranges(summary: &AttributeSummary) -> Vec<String> {
        let text = |value: &Value| String::from_utf8(print_value(value, Style::New)).unwrap();
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
            (vec!["1.0", "2", "1", "2.0"], vec!["1..2"]),
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
        assert_eq!(summary(&["{ 1, 2 }", "\"a\"", "{}"]).lengths(), Some((0, 2)));
        assert_eq!(summary(&["\"a\"", "{ 1, 2 }", "\"ab\""]).lengths(), Some((1, 2)));
        assert_eq!(summary(&["1"]).lengths(), None);
    }

    #[test]
    fn the_most_frequent_first_then_the_first_seen() {
        let summary = summary(&["2", "1", "3", "1"]);
        assert_eq!(summary.most_frequent(2).collect::<Vec<_>>(), [("1", 2), ("2", 1)]);
    }
}
