//! The tables of a census: one row for each attribute, or a paragraph for each attribute of `--attr`.

use std::io::{self, Write};

use classad::ad;
use classad::pool::{AttributeSummary, Census, ObservedRange};
use classad::text::counted;
use serde_json::{Value, json};

use super::{CensusCommand, CensusEntry};
use crate::cli::render::chart::{BarChart, HistogramBin, histogram, percent};
use crate::cli::render::diagnostics;
use crate::cli::render::json::value_json;
use crate::cli::render::output::OutputForm;
use crate::cli::render::rows::ResultTable;

/// Text in the last row, which counts the ads with any value that is not listed.
pub const OTHER_VALUES: &str = "(other values)";

impl CensusCommand {
    /// Returns one row for each attribute. With `--attr`, returns one row for each frequent value instead, except in
    /// the form `-o names`.
    pub(super) fn attribute_table(&self, form: OutputForm, census: &Census, attributes: &[CensusEntry]) -> ResultTable {
        if !self.attr.is_empty() && form != OutputForm::Names {
            let rows = attributes.iter().flat_map(|(name, summary)| {
                summary.most_frequent(self.max_values()).map(|(value, ads)| {
                    vec![name.to_string().into(), value.into(), ads.into(), percent(ads, census.ads(), 1).into()]
                })
            });
            return ResultTable::with_rows(&["attribute", "value", "ads", "%"], rows);
        }
        let rows = attributes.iter().map(|(name, summary)| {
            vec![
                name.to_string().into(),
                summary.ads().into(),
                percent(summary.ads(), census.ads(), 1).into(),
                types_text(summary).into(),
                summary.distinct().to_string().into(),
                summary.ranges().map(|range| range_text(&range)).collect::<Vec<_>>().join(", ").into(),
                self.frequent_values(summary).join(", ").into(),
            ]
        });
        ResultTable::with_rows(&["attribute", "ads", "%", "types", "distinct", "range", "most frequent"], rows)
    }

    /// Returns one row for each attribute. Cuts the values so that a row fits the width of the terminal.
    pub(super) fn terminal_table(&self, census: &Census, attributes: &[CensusEntry]) -> ResultTable {
        const COLUMN_GAP: usize = 2;
        const MIN_VALUES_WIDTH: usize = 8;
        let mut rows = ResultTable::new(&["attribute", "ads", "%", "types", "distinct", "values"]);
        for (name, summary) in attributes {
            let kinds: Vec<&str> = summary.contents().into_iter().map(|(content, _)| content.as_str()).collect();
            rows.rows.push(vec![
                name.to_string().into(),
                summary.ads().into(),
                percent(summary.ads(), census.ads(), 0).into(),
                kinds.join("|").into(),
                summary.distinct().to_string().into(),
            ]);
        }
        let width = |column: usize| {
            let cells = rows.rows.iter().map(|row| row[column].text.chars().count());
            cells.fold(rows.header[column].len(), usize::max) + COLUMN_GAP
        };
        let used: usize = (0..rows.header.len() - 1).map(width).sum();
        let width = diagnostics::table_width().unwrap_or(usize::MAX);
        let room = width.saturating_sub(used + COLUMN_GAP).max(MIN_VALUES_WIDTH);
        for (row, (_, summary)) in rows.rows.iter_mut().zip(attributes) {
            row.push(truncated(&self.values_summary(summary), room).into());
        }
        rows
    }

    /// Summarizes the values of an attribute: the value if there is only one, else the ranges, else the most frequent
    /// values. With `--top` the most frequent values follow the ranges.
    fn values_summary(&self, summary: &AttributeSummary) -> String {
        let distinct = summary.distinct();
        if distinct.values == 1 && !distinct.more {
            return summary.most_frequent(1).map(|(value, _)| value).collect();
        }
        let wide = |range: &ObservedRange| range.least != range.greatest;
        let mut parts: Vec<String> = summary.ranges().filter(wide).map(|range| range_text(&range)).collect();
        if parts.is_empty() || self.top.is_some() {
            parts.extend(self.frequent_values(summary));
        }
        parts.join(", ")
    }

    /// Returns the most frequent values of an attribute, each with the number of ads that have it, such as `true (12)`.
    fn frequent_values(&self, summary: &AttributeSummary) -> Vec<String> {
        summary.most_frequent(self.max_values()).map(|(value, ads)| format!("{value} ({ads})")).collect()
    }

    /// Writes a paragraph for each attribute of `--attr`: the number of ads that have it, the types, the ranges, and
    /// the most frequent values.
    pub(super) fn write_details(
        &self,
        out: &mut dyn Write,
        census: &Census,
        attributes: &[CensusEntry],
    ) -> io::Result<()> {
        for (position, (name, summary)) in attributes.iter().enumerate() {
            let (ads, all) = (summary.ads(), census.ads());
            if position > 0 {
                writeln!(out)?;
            }
            let name = diagnostics::single_line(name.as_str());
            writeln!(
                out,
                "{name}: in {ads} of {} ({}%), missing in {}",
                counted(all, "ad"),
                percent(ads, census.ads(), 1),
                all - ads
            )?;
            writeln!(out, "  types     {}", types_text(summary))?;
            writeln!(out, "  distinct  {}", summary.distinct())?;
            for range in summary.ranges().map(|range| range_text(&range)) {
                writeln!(out, "  range     {range}")?;
            }
            if let Some((least, greatest)) = summary.lengths() {
                writeln!(out, "  lengths   {least}..{greatest}")?;
            }
            let values = summary.most_frequent(self.max_values());
            let mut rows: Vec<_> = values.map(|(value, ads)| (diagnostics::single_line(value), ads)).collect();
            let (width, widest) = column_widths(&rows);
            let bars = BarChart::new(ads, width + widest.max(OTHER_VALUES.len()) + "      100.0    ".len());
            let others = ads.saturating_sub(rows.iter().map(|(_, ads)| ads).sum());
            rows.extend((others > 0).then(|| (OTHER_VALUES.to_owned(), others)));
            write_bars(out, "value", width, &bars, &rows, census)?;
            if others > 0 {
                write_histogram(out, summary, census)?;
            }
        }
        Ok(())
    }

    pub(super) fn attribute_json(&self, (name, summary): CensusEntry) -> Value {
        let types = summary.contents().into_iter().map(|(content, ads)| (content.as_str(), ads));
        let ranges = summary
            .ranges()
            .map(|range| json!({ "least": value_json(&range.least), "greatest": value_json(&range.greatest) }));
        let top = summary.most_frequent(self.max_values()).map(|(value, ads)| json!({ "value": value, "ads": ads }));
        json!({
            "name": name.as_str(),
            "ads": summary.ads(),
            "types": types.collect::<Value>(),
            "distinct": summary.distinct().values,
            "more": summary.distinct().more,
            "ranges": ranges.collect::<Value>(),
            "lengths": summary.lengths(),
            "top": top.collect::<Value>(),
        })
    }
}

/// Returns a histogram of the numeric values of an attribute. It is empty if the census did not keep all values,
/// because the bars would be too short.
pub fn histogram_of(summary: &AttributeSummary) -> Vec<HistogramBin> {
    const HISTOGRAM_BINS: usize = 8;
    if summary.distinct().more {
        return Vec::new();
    }
    let values = summary.most_frequent(usize::MAX).filter_map(|(value, ads)| Some((value.parse().ok()?, ads)));
    histogram(&values.collect::<Vec<(f64, usize)>>(), HISTOGRAM_BINS)
}

/// Writes a histogram of the numeric values of an attribute. Writes nothing if the histogram is
/// empty.
fn write_histogram(out: &mut dyn Write, summary: &AttributeSummary, census: &Census) -> io::Result<()> {
    let bins = histogram_of(summary);
    let rows: Vec<(String, usize)> = bins.iter().map(|bin| (bin.label(), bin.count)).collect();
    let (width, widest) = column_widths(&rows);
    let most = rows.iter().map(|(_, ads)| *ads).max().unwrap_or(0);
    let bars = BarChart::new(most, widest + "      100.0    ads".len());
    if rows.is_empty() { Ok(()) } else { write_bars(out, "range", width, &bars, &rows, census) }
}

/// Returns the widths, in characters, of the column `ads`, which holds numbers of ads, and of the column of texts.
fn column_widths(rows: &[(String, usize)]) -> (usize, usize) {
    let numbers = rows.iter().map(|(_, ads)| ads.to_string().len());
    let texts = rows.iter().map(|(text, _)| text.chars().count());
    (numbers.fold("ads".len(), usize::max), texts.max().unwrap_or(0))
}

/// Writes a line for each row: the number of ads, the percentage, a bar and the text. `width` is the width of the first
/// column, in characters.
fn write_bars(
    out: &mut dyn Write,
    heading: &str,
    width: usize,
    bars: &BarChart,
    rows: &[(String, usize)],
    census: &Census,
) -> io::Result<()> {
    writeln!(out, "  {:>width$}  {:>5}  {heading}", "ads", "%")?;
    for (text, ads) in rows {
        writeln!(out, "  {ads:>width$}  {:>5}  {}  {text}", percent(*ads, census.ads(), 1), bars.padded_bar(*ads))?;
    }
    Ok(())
}

/// Lists the types of the values: a single type as `int`, several with their numbers of ads as
/// `int 1230, undefined 6`.
fn types_text(summary: &AttributeSummary) -> String {
    match summary.contents().as_slice() {
        [(content, _)] => content.as_str().to_owned(),
        several => {
            let each = several.iter().map(|(content, ads)| format!("{} {ads}", content.as_str()));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

fn range_text(range: &ObservedRange) -> String {
    let text = |value: &ad::Value| match value {
        ad::Value::AbsoluteTime(time) => time.to_string(),
        ad::Value::RelativeTime(time) => time.to_string(),
        value => value.to_string(),
    };
    format!("{}..{}", text(&range.least), text(&range.greatest))
}

/// Cuts `text` to `room` characters. A text that was cut ends in an ellipsis.
fn truncated(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::{column_widths, truncated};

    #[test]
    fn a_text_that_has_no_room_ends_in_an_ellipsis() {
        for (text, room, expected) in [
            ("", 1, ""),
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("äöü", 3, "äöü"),
            ("äöüß", 3, "äö…"),
            ("abcd", 1, "…"),
        ] {
            assert_eq!(truncated(text, room), expected);
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_cells_and_the_heading() {
        let row = |text: &str, ads: usize| (text.to_owned(), ads);
        assert_eq!(column_widths(&[]), (3, 0));
        assert_eq!(column_widths(&[row("a", 5)]), (3, 1));
        assert_eq!(column_widths(&[row("äö", 1), row("a", 1000)]), (4, 2));
    }
}
