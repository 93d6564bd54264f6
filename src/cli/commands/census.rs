//! `classad census`: statistics of the attributes of a pool.

use std::cmp::Reverse;
use std::io::{self, Write};

use clap::{Args, ValueEnum};
use classad::ad::{self, Name};
use classad::pool::{AttributeSummary, Census, ObservedRange};
use indexmap::IndexSet;
use serde_json::{Value, json};

use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::input;
use crate::cli::render::chart::{BarChart, histogram};
use crate::cli::render::diagnostics;
use crate::cli::render::json::{value_json, write_json_array};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{self, ResultTable};
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad census samples/pool/machines.long
  classad census samples/pool/machines.long --attr State,Memory
  condor_status -long | classad census --sort distinct --top 3

A distinct count such as `10000+` says that there are more values than were remembered.

JSON: {\"version\":1,\"ads\",\"attributes\":[{\"name\",\"ads\",\"types\":{TYPE:ads},\"distinct\",\"more\",\
\"ranges\":[{\"least\",\"greatest\"}],\"lengths\":[least,greatest],\"top\":[{\"value\",\"ads\"}]}]}
`more` is true if `distinct` is only a lower bound; values are texts of the language, the numbers of ranges \
numbers; `lengths`, of strings in bytes and of lists in elements, is null if there are none. With jsonl each line \
is one of the `attributes`.";

/// Count the attributes of ads: how many ads have them, types, values, ranges
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CensusCommand {
    /// Files of ads; standard input if there are none
    files: Vec<String>,
    /// Only these attributes, in detail
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    attr: Vec<String>,
    /// Show so many of the most frequent values [default: 1, with --attr 10]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Count the attributes of nested ads too, as `Outer.Inner`
    #[arg(long)]
    nested: bool,
    /// The order of the attributes
    #[arg(long, value_name = "ORDER", default_value = "count")]
    sort: AttributeOrder,
    #[command(flatten)]
    output: TableOutputArgs,
}

/// An order of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AttributeOrder {
    /// By the alphabet
    Name,
    /// Those that most ads have first
    Count,
    /// Those with most distinct values first
    Distinct,
}

/// Text that stands for all values not listed, in the row with their total.
const OTHER_VALUES: &str = "(other values)";

/// An attribute's name and its statistics.
type CensusEntry<'a> = (&'a Name, &'a AttributeSummary);

impl CensusCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let mut sources = input::open_decided(session, &self.files)?;
        let asked: IndexSet<Name> = self.attr.iter().map(|name| Name::new(name.trim())).collect();
        let mut census = if asked.is_empty() { Census::values() } else { Census::values_of(asked.iter().cloned()) };
        if self.nested || asked.iter().any(|name| name.as_str().contains('.')) {
            census = census.nested();
        }
        input::for_each_ad(session, &mut sources, |_, _, entry| {
            census.add(&entry.ad);
            Ok(true)
        })?;
        let attributes =
            if asked.is_empty() { self.sorted(&census) } else { requested_attributes(session, &census, &asked) };
        if !session.options.quiet {
            self.write(&mut out(), &census, &attributes)?;
            Self::note_totals(session, &census, &attributes);
        }
        let missing = attributes.len() < asked.len();
        Ok(Status::of(census.ads() > 0 && !missing))
    }

    fn sorted<'a>(&self, census: &'a Census) -> Vec<CensusEntry<'a>> {
        let mut attributes: Vec<CensusEntry> = census.attributes().collect();
        attributes.sort_by_cached_key(|(name, summary)| {
            let weight = match self.sort {
                AttributeOrder::Name => 0,
                AttributeOrder::Count => summary.ads(),
                AttributeOrder::Distinct => summary.distinct().values,
            };
            (Reverse(weight), (*name).clone())
        });
        attributes
    }

    /// Returns the maximum number of frequent values to print per attribute.
    fn max_values(&self) -> usize {
        self.top.unwrap_or(if self.attr.is_empty() { 1 } else { 10 })
    }

    fn write(&self, out: &mut dyn Write, census: &Census, attributes: &[CensusEntry]) -> Result<(), Failure> {
        let form = self.output.form.unwrap_or(if Session::is_terminal() { OutputForm::Table } else { OutputForm::Tsv });
        let json = attributes.iter().map(|attribute| self.attribute_json(*attribute));
        match form {
            OutputForm::Json => {
                write!(out, "{{\"version\":1,\"ads\":{},\"attributes\":", census.ads())?;
                write_json_array(out, form, json)?;
                writeln!(out, "}}")?;
            }
            OutputForm::Jsonl => write_json_array(out, form, json)?,
            OutputForm::Table if !self.attr.is_empty() => self.write_details(out, census, attributes)?,
            OutputForm::Table => {
                self.terminal_table(census, attributes).write(out, Some(form), !self.output.no_header)?;
            }
            form => self.attribute_table(form, census, attributes).write(out, Some(form), !self.output.no_header)?,
        }
        Ok(())
    }

    /// Returns one row for each attribute, or with `--attr`, except under `-o names`, one for each frequent value.
    fn attribute_table(&self, form: OutputForm, census: &Census, attributes: &[CensusEntry]) -> ResultTable {
        if !self.attr.is_empty() && form != OutputForm::Names {
            let mut rows = ResultTable::new(&["attribute", "value", "ads", "%"]);
            for (name, summary) in attributes {
                rows.rows.extend(summary.most_frequent(self.max_values()).map(|(value, ads)| {
                    vec![name.to_string().into(), value.to_owned().into(), ads.into(), percent(ads, census).into()]
                }));
            }
            return rows;
        }
        let mut rows = ResultTable::new(&["attribute", "ads", "%", "types", "distinct", "range", "most frequent"]);
        for (name, summary) in attributes {
            rows.rows.push(vec![
                name.to_string().into(),
                summary.ads().into(),
                percent(summary.ads(), census).into(),
                types_text(summary).into(),
                summary.distinct().to_string().into(),
                summary.ranges().map(range_text).collect::<Vec<_>>().join(", ").into(),
                self.frequent_values(summary).join(", ").into(),
            ]);
        }
        rows
    }

    /// Returns one row for each attribute. Cuts the values so that a row fits the width of the terminal.
    fn terminal_table(&self, census: &Census, attributes: &[CensusEntry]) -> ResultTable {
        const COLUMN_GAP: usize = 2;
        const MIN_VALUES_WIDTH: usize = 8;
        let mut rows = ResultTable::new(&["attribute", "ads", "%", "types", "distinct", "values"]);
        let mut values = Vec::new();
        for (name, summary) in attributes {
            let kinds: Vec<&str> = summary.contents().into_iter().map(|(content, _)| content.as_str()).collect();
            rows.rows.push(vec![
                name.to_string().into(),
                summary.ads().into(),
                whole_percent(summary.ads(), census).into(),
                kinds.join("|").into(),
                summary.distinct().to_string().into(),
            ]);
            values.push(self.values_summary(summary));
        }
        let width = |column: usize| {
            let cells = rows.rows.iter().map(|row| row[column].text.chars().count());
            cells.fold(rows.header[column].len(), usize::max) + COLUMN_GAP
        };
        let used: usize = (0..rows.header.len() - 1).map(width).sum();
        let room = diagnostics::terminal_width().saturating_sub(used + COLUMN_GAP).max(MIN_VALUES_WIDTH);
        for (row, values) in rows.rows.iter_mut().zip(values) {
            row.push(truncated(&values, room).into());
        }
        rows
    }

    /// Summarizes the values of an attribute: the only value, else the ranges, else the most frequent values. With
    /// `--top` the most frequent values follow the ranges.
    fn values_summary(&self, summary: &AttributeSummary) -> String {
        let distinct = summary.distinct();
        if distinct.values == 1 && !distinct.more {
            return summary.most_frequent(1).map(|(value, _)| value).collect();
        }
        let wide = |range: &&ObservedRange| range.least != range.greatest;
        let mut parts: Vec<String> = summary.ranges().filter(wide).map(range_text).collect();
        if parts.is_empty() || self.top.is_some() {
            parts.extend(self.frequent_values(summary));
        }
        parts.join(", ")
    }

    /// Returns the most frequent values, each with its number of ads.
    fn frequent_values(&self, summary: &AttributeSummary) -> Vec<String> {
        summary.most_frequent(self.max_values()).map(|(value, ads)| format!("{value} ({ads})")).collect()
    }

    /// Writes a paragraph for each attribute of `--attr`: numbers of ads, types, ranges, and the most frequent values.
    fn write_details(&self, out: &mut dyn Write, census: &Census, attributes: &[CensusEntry]) -> io::Result<()> {
        for (position, (name, summary)) in attributes.iter().enumerate() {
            let (ads, all) = (summary.ads(), census.ads());
            if position > 0 {
                writeln!(out)?;
            }
            let name = diagnostics::single_line(name.as_str());
            writeln!(out, "{name}: in {ads} of {all} ads ({}%), missing in {}", percent(ads, census), all - ads)?;
            writeln!(out, "  types     {}", types_text(summary))?;
            writeln!(out, "  distinct  {}", summary.distinct())?;
            for range in summary.ranges().map(range_text) {
                writeln!(out, "  range     {range}")?;
            }
            if let Some((least, greatest)) = summary.lengths() {
                writeln!(out, "  lengths   {least}..{greatest}")?;
            }
            let top: Vec<(&str, usize)> = summary.most_frequent(self.max_values()).collect();
            let width = top.iter().map(|(_, ads)| ads.to_string().len()).max().unwrap_or(0).max("ads".len());
            let widest =
                top.iter().map(|(value, _)| diagnostics::single_line(value).chars().count()).max().unwrap_or(0);
            let bars = BarChart::new(ads, width + widest.max(OTHER_VALUES.len()) + "      100.0    ".len());
            writeln!(out, "  {:>width$}  {:>5}  value", "ads", "%")?;
            let row = |out: &mut dyn Write, value: &str, ads: usize| {
                let (percent, bar) = (percent(ads, census), bars.padded_bar(ads));
                writeln!(out, "  {ads:>width$}  {percent:>5}  {bar}  {value}")
            };
            for (value, ads) in &top {
                row(out, &diagnostics::single_line(value), *ads)?;
            }
            let shown: usize = top.iter().map(|(_, ads)| ads).sum();
            if shown < ads {
                row(out, OTHER_VALUES, ads - shown)?;
                write_histogram(out, summary, census)?;
            }
        }
        Ok(())
    }

    fn attribute_json(&self, (name, summary): CensusEntry) -> Value {
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

    /// Prints the numbers of ads and of attributes on standard error. Explains the `+` if a distinct count ends in one.
    fn note_totals(session: &Session, census: &Census, attributes: &[CensusEntry]) {
        session.note(&format!("{} ads with {} attributes", census.ads(), census.attributes().len()));
        if attributes.iter().any(|(_, summary)| summary.distinct().more) {
            session.note("a + behind a number of distinct values: there were more than could be remembered");
        }
    }
}

/// Writes a histogram of the numeric values. Writes nothing if the census did not keep all values, because the bars
/// would be too short.
fn write_histogram(out: &mut dyn Write, summary: &AttributeSummary, census: &Census) -> io::Result<()> {
    const HISTOGRAM_BINS: usize = 8;
    if summary.distinct().more {
        return Ok(());
    }
    let values = summary.most_frequent(usize::MAX).filter_map(|(value, ads)| Some((value.parse().ok()?, ads)));
    let bins = histogram(&values.collect::<Vec<(f64, usize)>>(), HISTOGRAM_BINS);
    let rows: Vec<(String, usize)> = bins.iter().map(|bin| (bin.label(), bin.count)).collect();
    let widest = rows.iter().map(|(range, _)| range.len()).max().unwrap_or(0);
    let most = rows.iter().map(|(_, ads)| *ads).max().unwrap_or(0);
    let (width, bars) =
        (most.to_string().len().max("ads".len()), BarChart::new(most, widest + "      100.0    ads".len()));
    if !rows.is_empty() {
        writeln!(out, "  {:>width$}  {:>5}  range", "ads", "%")?;
    }
    for (range, ads) in rows {
        let (percent, bar) = (percent(ads, census), bars.padded_bar(ads));
        writeln!(out, "  {ads:>width$}  {percent:>5}  {bar}  {range}")?;
    }
    Ok(())
}

/// Returns the attributes of `--attr` that some ad has. Reports the others on standard error.
fn requested_attributes<'a>(session: &Session, census: &'a Census, asked: &IndexSet<Name>) -> Vec<CensusEntry<'a>> {
    let mut found = Vec::new();
    for name in asked {
        let attribute = census.attributes().find(|(known, _)| *known == name);
        if attribute.is_none() && census.ads() > 0 {
            input::note_unknown_attribute(session, census, name);
        }
        found.extend(attribute);
    }
    found
}

/// Formats `ads` as a percentage of all ads, with one decimal. A share above 0 that rounds to 0 becomes `<0.1`; a share
/// below 100 that rounds to 100 becomes `>99.9`.
fn percent(ads: usize, census: &Census) -> String {
    match fraction_of_ads(ads, census, 1000) {
        0 if ads > 0 => "<0.1".to_owned(),
        1000 if ads < census.ads() => ">99.9".to_owned(),
        tenths => format!("{}.{}", tenths / 10, tenths % 10),
    }
}

/// Formats `ads` as a percentage of all ads like [`percent`], without decimals.
fn whole_percent(ads: usize, census: &Census) -> String {
    match fraction_of_ads(ads, census, 100) {
        0 if ads > 0 => "<1".to_owned(),
        100 if ads < census.ads() => ">99".to_owned(),
        percent => percent.to_string(),
    }
}

/// Returns `ads` divided by all ads, in units of 1/`parts`, rounded to the nearest.
fn fraction_of_ads(ads: usize, census: &Census, parts: usize) -> usize {
    let all = census.ads().max(1);
    (ads.saturating_mul(2 * parts) / all).div_ceil(2)
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
        value => value_text(value),
    };
    format!("{}..{}", text(&range.least), text(&range.greatest))
}

fn value_text(value: &ad::Value) -> String {
    String::from_utf8_lossy(&rows::value_text(value, false)).into_owned()
}

/// Cuts `text` to `room` characters. A text that was cut ends in an ellipsis.
fn truncated(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room - 1).chain(['…']).collect()
}
