//! The picture of a census: for each attribute, bars of the most frequent values, or of the ranges of many numbers.

use std::cmp::Ordering;

use classad::ad::{ByteString, Value};
use classad::pool::{AttributeSummary, Census};
use classad::protocol::{AdvertisedState, StateAttribute};
use classad::text::{counted, with_commas};

use super::CensusEntry;
use super::tables::{OTHER_VALUES, histogram_of};
use crate::cli::render::chart::{HistogramBin, percent};
use crate::cli::render::svg::bars::{Bar, BarGroup, draw_beside};
use crate::cli::render::svg::{Drawing, Fill};

/// Maximum number of values of an attribute that a picture shows, unless `--top` says another.
const DEFAULT_MAX_BARS: usize = 8;

/// Draws the values of some attributes. `top` is the number of values to show of each.
pub fn draw_census(census: &Census, attributes: &[CensusEntry], top: Option<usize>) -> String {
    let title = format!("{} with {}", counted(census.ads(), "ad"), counted(census.attributes().len(), "attribute"));
    let line = match attributes {
        [] => "",
        _ if attributes.iter().all(|(_, summary)| shown_ranges(summary, top).is_empty()) => {
            "each attribute has its own scale; percentages are of all ads"
        }
        _ => "each attribute has its own scale; percentages are of all ads; only the last range includes its end",
    };
    let mut drawing = Drawing::new(&title, line);
    for (name, summary) in attributes {
        let heading = name.to_string();
        let bars = bars(&heading, summary, census, top);
        draw_beside(&mut drawing, &BarGroup { heading, about: about(summary, census), bars });
    }
    drawing.finish()
}

/// Returns the bars of an attribute: its most frequent values and the rest of them, or ranges, if most of the values are
/// numbers and there are many.
fn bars(name: &str, summary: &AttributeSummary, census: &Census, top: Option<usize>) -> Vec<Bar> {
    let most = top.unwrap_or(DEFAULT_MAX_BARS);
    let bar = |label: String, count: usize, fill: Fill| Bar {
        label,
        count,
        share: format!("{} %", percent(count, census.ads(), 1)),
        fill,
        remark: String::new(),
    };
    let ranges = shown_ranges(summary, top);
    let mut bars: Vec<Bar> = if ranges.is_empty() {
        let mut values: Vec<(&str, usize)> = summary.most_frequent(most).collect();
        sort_numbers(&mut values);
        values.into_iter().map(|(value, ads)| bar(value_label(name, value), ads, Fill::Bar)).collect()
    } else {
        ranges.iter().map(|range| bar(range.label(), range.count, Fill::Bar)).collect()
    };
    let rest = summary.ads().saturating_sub(bars.iter().map(|bar| bar.count).sum());
    bars.extend((rest > 0).then(|| bar(OTHER_VALUES.to_owned(), rest, Fill::Rest)));
    bars
}

/// Returns the ranges of numbers that are drawn instead of values; empty if values are drawn.
fn shown_ranges(summary: &AttributeSummary, top: Option<usize>) -> Vec<HistogramBin> {
    if top.is_some() || summary.distinct().values <= DEFAULT_MAX_BARS {
        return Vec::new();
    }
    let ranges = histogram_of(summary);
    let in_ranges: usize = ranges.iter().map(|range| range.count).sum();
    if in_ranges * 2 > summary.ads() { ranges } else { Vec::new() }
}

/// Sorts values that are all numbers by the numbers. Other values stay in their order.
fn sort_numbers(values: &mut [(&str, usize)]) {
    let number = |value: &str| value.parse::<f64>().ok();
    if values.iter().all(|(value, _)| number(value).is_some()) {
        values.sort_by(|(one, _), (other, _)| number(one).partial_cmp(&number(other)).unwrap_or(Ordering::Equal));
    }
}

/// Says how many ads lack the attribute, and how many values it has.
fn about(summary: &AttributeSummary, census: &Census) -> String {
    let missing = census.ads().saturating_sub(summary.ads());
    let missing = if missing > 0 { format!("missing in {}; ", with_commas(missing)) } else { String::new() };
    let distinct = summary.distinct();
    match (distinct.values, distinct.more) {
        (1, false) => format!("{missing}1 value"),
        (values, more) => format!("{missing}{}{} values", with_commas(values), if more { "+" } else { "" }),
    }
}

/// Returns the label of a value: a string without its quotes, a job's status with its word.
fn value_label(name: &str, value: &str) -> String {
    if name.eq_ignore_ascii_case("JobStatus")
        && let Some(word) = status_word(value)
    {
        return format!("{value} ({word})");
    }
    let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    unquoted.filter(|text| !text.is_empty()).unwrap_or(value).to_owned()
}

/// Returns the word for a number of `JobStatus`; `None` if HTCondor does not use the number.
fn status_word(value: &str) -> Option<&'static str> {
    let number: i64 = value.parse().ok().filter(|number| (1..=7).contains(number))?;
    let status = |attribute| (attribute == StateAttribute::JobStatus).then_some(Value::Integer(number));
    match AdvertisedState::of_kind(Some(&ByteString::from("Job")), status) {
        AdvertisedState::Job(state) => Some(state.word()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{sort_numbers, value_label};

    #[test]
    fn numbers_are_sorted_and_other_values_stay() {
        let sorted = |mut values: Vec<(&'static str, usize)>| {
            sort_numbers(&mut values);
            values.into_iter().map(|(value, _)| value).collect::<Vec<_>>()
        };
        assert_eq!(sorted(vec![("10", 9), ("9.5", 2), ("-1", 1)]), ["-1", "9.5", "10"]);
        assert_eq!(sorted(vec![("10", 9), ("\"a\"", 2), ("9", 1)]), ["10", "\"a\"", "9"]);
    }

    #[test]
    fn values_are_labelled_as_people_say_them() {
        for (name, value, label) in [
            ("OpSys", "\"LINUX\"", "LINUX"),
            ("OpSys", "\"\"", "\"\""),
            ("JobStatus", "5", "5 (held)"),
            ("jobstatus", "9", "9"),
            ("Cpus", "5", "5"),
        ] {
            assert_eq!(value_label(name, value), label);
        }
    }
}
