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
    use classad::ad::Dialect;
    use classad::pool::Census;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::{CensusEntry, Fill, about, bars, draw_census, shown_ranges, sort_numbers, value_label};
    use crate::cli::commands::census::main_attributes::drawn;

    fn counted(mut census: Census, ads: &[String]) -> Census {
        for text in ads {
            census.add(&parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap());
        }
        census
    }

    /// One ad for each value of `x`; an empty one for no value.
    fn ads_of(values: &[&str]) -> Vec<String> {
        let ad = |value: &&str| if value.is_empty() { "y = 1".to_owned() } else { format!("x = {value}") };
        values.iter().map(ad).collect()
    }

    #[test]
    fn lacking_ads_and_values_are_counted() {
        for (values, most, expected) in [
            (&["1"][..], 9, "1 value"),
            (&["1", "1"], 9, "1 value"),
            (&["1", ""], 9, "missing in 1; 1 value"),
            (&["1", "2", "", ""], 9, "missing in 2; 2 values"),
            (&["1", "2"], 2, "2 values"),
            (&["1", "2", "3"], 2, "2+ values"),
            (&["1", "2"], 1, "1+ values"),
        ] {
            let census = counted(Census::values().with_max_values(most), &ads_of(values));
            let summary = census.attributes().find(|(name, _)| name.is("x")).unwrap().1;
            assert_eq!(about(summary, &census), expected, "{values:?}");
        }
    }

    /// The bars of some values of `x`, each as label, number and share; a `+` marks the rest.
    fn bars_of(values: &[&str], top: Option<usize>) -> Vec<String> {
        let census = counted(Census::values(), &ads_of(values));
        let summary = census.attributes().find(|(name, _)| name.is("x")).unwrap().1;
        let ranges = !shown_ranges(summary, top).is_empty();
        let found = bars("x", summary, &census, top);
        let shown = found.iter().map(|bar| {
            let rest = if matches!(bar.fill, Fill::Rest) { "+" } else { "" };
            format!("{rest}{}: {} = {}{}", bar.label, bar.count, bar.share, bar.remark)
        });
        ranges.then(|| "ranges".to_owned()).into_iter().chain(shown).collect()
    }

    #[test]
    fn bars_are_values_or_ranges() {
        assert_eq!(bars_of(&["2", "2", "1", ""], None), ["1: 1 = 25.0 %", "2: 2 = 50.0 %"]);
        assert_eq!(bars_of(&["2", "2", "1", ""], Some(1)), ["2: 2 = 50.0 %", "+(other values): 1 = 25.0 %"]);
        assert_eq!(bars_of(&["2", "1"], Some(0)), ["+(other values): 2 = 100.0 %"]);
        assert_eq!(bars_of(&["\"b\"", "\"b\"", "\"a\""], None), ["b: 2 = 66.7 %", "a: 1 = 33.3 %"]);
        // Up to eight values are shown one by one.
        let numbers: Vec<String> = (0..9).map(|number| number.to_string()).collect();
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
        assert_eq!(bars_of(&numbers[..8], None).first().map(String::as_str), Some("0: 1 = 12.5 %"));
        let nine = bars_of(&numbers, None);
        assert_eq!((nine.len(), nine[0].as_str(), nine[1].as_str()), (9, "ranges", "0.0..1.0: 1 = 11.1 %"));
        assert_eq!(nine.last().map(String::as_str), Some("7.0..8.0: 2 = 22.2 %"));
        assert_eq!(bars_of(&numbers, Some(9)).len(), 9);
        // Ranges are for most of the values.
        let texts: Vec<String> = (0..9).map(|number| format!("\"{number}x\"")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mixed = |count: usize| [&numbers[..], &texts[..count]].concat();
        assert_eq!(bars_of(&mixed(8), None)[0], "ranges");
        assert_eq!(bars_of(&mixed(8), None).last().map(String::as_str), Some("+(other values): 8 = 47.1 %"));
        assert_eq!(bars_of(&mixed(9), None).len(), 9);
    }

    #[test]
    fn a_picture_says_what_its_scales_are() {
        let ranges: Vec<String> = (0..9).map(|number| format!("x = {number}; y = 1")).collect();
        let census = counted(Census::values(), &ranges);
        let all: Vec<CensusEntry> = census.attributes().collect();
        let said = |attributes: &[CensusEntry], top: Option<usize>| {
            let picture = draw_census(&census, attributes, top);
            assert!(picture.contains("9 ads with 2 attributes"), "{picture}");
            ["scale", "includes"].map(|part| picture.contains(part))
        };
        assert_eq!(said(&[], None), [false, false]);
        assert_eq!(said(&all, None), [true, true]);
        assert_eq!(said(&all, Some(2)), [true, false]);
        assert_eq!(said(&all[1..], None), [true, false]);
    }

    #[test]
    fn main_attributes_are_drawn_or_else_those_that_ads_share() {
        let names = |ads: &[&str]| {
            let ads: Vec<String> = ads.iter().map(|ad| (*ad).to_owned()).collect();
            let census = counted(Census::values(), &ads);
            let all: Vec<CensusEntry> = census.attributes().collect();
            drawn(&all, &census).iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>().join(" ")
        };
        for (ads, expected) in [
            (&["State = 1; Name = 2; x = 3", "x = 3"][..], "State"),
            (&["Name = 2; x = 3", "Name = 4; x = 3"], "x"),
            (&["Name = 2; x = 3", "Name = 4; x = 5"], ""),
            (&["Name = 2; x = 3"], "Name x"),
            (&["a = 1; b = 1; c = 1; d = 1; e = 1; f = 1; g = 1; h = 1; i = 1"], "a b c d e f g h"),
        ] {
            assert_eq!(names(ads), expected, "{ads:?}");
        }
    }

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
            ("JobStatus", "1", "1 (idle)"),
            ("JobStatus", "0", "0"),
            ("JobStatus", "8", "8"),
            ("JobStatus", "\"x\"", "x"),
            ("x", "\"", "\""),
            ("x", "\"a", "\"a"),
            ("jobstatus", "9", "9"),
            ("Cpus", "5", "5"),
        ] {
            assert_eq!(value_label(name, value), label);
        }
    }
}
