//! `classad census`: statistics of the attributes of a pool.

use std::cmp::Reverse;
use std::io::{self, Write};

use clap::{Args, ValueEnum};
use classad::ad::{self, Dialect, Name};
use classad::format::{AdEntry, AdText};
use classad::pool::{AttributeSummary, Census, CensusPart, CensusRecord, ObservedRange, TextCensusCounter};
use indexmap::IndexSet;
use serde_json::{Value, json};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::global::time;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::args::partial_result::PartialResultArgs;
use crate::cli::io::ad_blocks::{AdBlockTask, for_each_ad_block};
use crate::cli::io::held_ads::read_held_ads;
use crate::cli::io::input;
use crate::cli::io::partial::{PartialSet, PartialWriter, ScanStep};
use crate::cli::io::source::AdSource;
use crate::cli::render::chart::{BarChart, histogram};
use crate::cli::render::diagnostics;
use crate::cli::render::json::{value_json, write_json_document};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::ResultTable;
use crate::cli::session::Session;
use crate::cli::{Failure, Status, refuse};

const EXAMPLES: &str = "\
Examples:
  classad census samples/pool/machines.long
  classad census samples/pool/machines.long --attr State,Memory
  condor_status -long | classad census --sort distinct --top 3

A distinct count such as `10000+` says that there are more values than were remembered: at most 10000 of each attribute,
and fewer if they take too much memory, the long ones first. Those are a random sample of all values, the same in each
run and for any order of the ads. Their counts are exact, but a value outside of the sample may be more frequent. Types,
ranges and lengths are those of all values. A text of more than 4096 bytes is cut and ends in an ellipsis.

JSON: {\"version\":1,\"ads\",\"attributes\":[{\"name\",\"ads\",\"types\":{TYPE:ads},\"distinct\",\"more\",\
\"ranges\":[{\"least\",\"greatest\"}],\"lengths\":[least,greatest],\"top\":[{\"value\",\"ads\"}]}]}
`more` is true if `distinct` is only a lower bound; values are texts of the language, the numbers of ranges \
numbers; `lengths`, of strings in bytes and of lists in elements, is null if there are none. With jsonl each line \
is one of the `attributes`.";

/// Count the attributes of ads: how many ads have them, types, values, ranges
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CensusCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Describe only these attributes, in detail
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    attr: Vec<String>,
    /// Show the N most frequent values of each attribute [default: 1; with --attr: 10]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Count only the ads that a collector holds at TIME: the latest of each name, if it has not expired
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    at: Option<i64>,
    /// Count the attributes of nested ads too, as `Outer.Inner`
    #[arg(long)]
    nested: bool,
    /// The order of the attributes
    #[arg(long, value_name = "ORDER", default_value = "count")]
    sort: AttributeOrder,
    #[command(flatten)]
    partial: PartialResultArgs,
    #[command(flatten)]
    output: TableOutputArgs,
}

/// The order in which attributes are printed, for `--sort`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AttributeOrder {
    /// By the alphabet
    Name,
    /// Most frequent attributes first
    Count,
    /// Attributes with the most distinct values first
    Distinct,
}

/// Number of bytes of values in one record of a partial result, so that memory is bounded.
const MAX_RECORD_BYTES: usize = 64 << 20;

/// Text in the last row, which counts the ads with any value that is not listed.
const OTHER_VALUES: &str = "(other values)";

/// An attribute's name and its statistics.
type CensusEntry<'a> = (&'a Name, &'a AttributeSummary);

impl CensusCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        session.partial_host = self.partial.host().map(str::to_owned);
        let mut sources = input::open_decided(session, &self.input.paths()?)?;
        let mut census = self.empty_census();
        if self.partial.is_given() {
            return self.write_partial(session, &mut sources, census);
        }
        let census = match self.at {
            Some(at) => {
                let held = read_held_ads(session, &mut sources, at)?;
                for (_, entry) in &held {
                    census.add(&entry.ad);
                }
                census
            }
            None => count_ads(session, &mut sources, census)?,
        };
        self.print(session, &census)
    }

    /// Scans the sources and writes a partial result.
    fn write_partial(
        &self,
        session: &mut Session,
        sources: &mut [AdSource],
        census: Census,
    ) -> Result<Status, Failure> {
        if self.at.is_some() {
            return refuse("--partial: what a collector holds has no partial results");
        }
        let mut writer = PartialWriter::new(session, sources, &self.input.files)?;
        let mut census = census.of_all_values();
        let task = CensusTask::new(&census, session);
        writer.scan(session, sources, None, &task, &mut |writer, step: ScanStep<'_, CensusPart>| {
            let is_end = matches!(step, ScanStep::FileEnd);
            if let ScanStep::Block(_, part) = step {
                census.merge(part);
            }
            if is_end || census.value_bytes() > MAX_RECORD_BYTES {
                writer.add_finding(&census.take_record())?;
            }
            Ok(())
        })?;
        writer.finish(session, &())?;
        Ok(Status::Yes)
    }

    /// Prints what one run over all files of the partial results prints.
    pub fn merge(&self, session: &mut Session, partials: &PartialSet) -> Result<Status, Failure> {
        let mut census = self.empty_census();
        partials.replay(session, &mut |_, _, finding| {
            let Ok(record) = serde_json::from_value::<CensusRecord>(finding) else {
                return refuse("a partial result is damaged");
            };
            census.merge(record.into());
            Ok(true)
        })?;
        self.print(session, &census)
    }

    /// Returns the files that partial results are of.
    pub fn input_of_partials(&self) -> AdFilesArgs {
        self.input.clone()
    }

    fn names(&self) -> IndexSet<Name> {
        self.attr.iter().map(|name| Name::new(name.trim())).collect()
    }

    fn empty_census(&self) -> Census {
        let names = self.names();
        let is_nested = self.nested || names.iter().any(|name| name.as_str().contains('.'));
        let census = if names.is_empty() { Census::values() } else { Census::values_of(names) };
        if is_nested { census.nested() } else { census }
    }

    /// Prints the census in the form that the options select.
    fn print(&self, session: &Session, census: &Census) -> Result<Status, Failure> {
        let names = self.names();
        let attributes =
            if names.is_empty() { self.sorted(census) } else { requested_attributes(session, census, &names) };
        if !session.options.quiet {
            let mut out = out();
            let form =
                self.output.form.unwrap_or(if Session::is_terminal() { OutputForm::Table } else { OutputForm::Tsv });
            match form {
                OutputForm::Json | OutputForm::Jsonl => {
                    let records = attributes.iter().map(|attribute| self.attribute_json(*attribute));
                    write_json_document(&mut out, form, &[("ads", census.ads())], "attributes", records)?;
                }
                OutputForm::Table if !self.attr.is_empty() => self.write_details(&mut out, census, &attributes)?,
                OutputForm::Table => {
                    self.terminal_table(census, &attributes).write(&mut out, Some(form), !self.output.no_header)?;
                }
                form => self.attribute_table(form, census, &attributes).write(
                    &mut out,
                    Some(form),
                    !self.output.no_header,
                )?,
            }
            // Flush the results, so that the note on standard error comes after them.
            out.flush()?;
            session.note(&format!("{} ads with {} attributes", census.ads(), census.attributes().len()));
            if attributes.iter().any(|(_, summary)| summary.distinct().more) {
                session.note("a + after a number of distinct values: there were more than could be remembered");
            }
        }
        let missing = attributes.len() < names.len();
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

    /// Returns one row for each attribute. With `--attr`, returns one row for each frequent value instead, except in
    /// the form `-o names`.
    fn attribute_table(&self, form: OutputForm, census: &Census, attributes: &[CensusEntry]) -> ResultTable {
        if !self.attr.is_empty() && form != OutputForm::Names {
            let rows = attributes.iter().flat_map(|(name, summary)| {
                summary.most_frequent(self.max_values()).map(|(value, ads)| {
                    vec![name.to_string().into(), value.into(), ads.into(), percent(ads, census, 1).into()]
                })
            });
            return ResultTable::with_rows(&["attribute", "value", "ads", "%"], rows);
        }
        let rows = attributes.iter().map(|(name, summary)| {
            vec![
                name.to_string().into(),
                summary.ads().into(),
                percent(summary.ads(), census, 1).into(),
                types_text(summary).into(),
                summary.distinct().to_string().into(),
                summary.ranges().map(|range| range_text(&range)).collect::<Vec<_>>().join(", ").into(),
                self.frequent_values(summary).join(", ").into(),
            ]
        });
        ResultTable::with_rows(&["attribute", "ads", "%", "types", "distinct", "range", "most frequent"], rows)
    }

    /// Returns one row for each attribute. Cuts the values so that a row fits the width of the terminal.
    fn terminal_table(&self, census: &Census, attributes: &[CensusEntry]) -> ResultTable {
        const COLUMN_GAP: usize = 2;
        const MIN_VALUES_WIDTH: usize = 8;
        let mut rows = ResultTable::new(&["attribute", "ads", "%", "types", "distinct", "values"]);
        for (name, summary) in attributes {
            let kinds: Vec<&str> = summary.contents().into_iter().map(|(content, _)| content.as_str()).collect();
            rows.rows.push(vec![
                name.to_string().into(),
                summary.ads().into(),
                percent(summary.ads(), census, 0).into(),
                kinds.join("|").into(),
                summary.distinct().to_string().into(),
            ]);
        }
        let width = |column: usize| {
            let cells = rows.rows.iter().map(|row| row[column].text.chars().count());
            cells.fold(rows.header[column].len(), usize::max) + COLUMN_GAP
        };
        let used: usize = (0..rows.header.len() - 1).map(width).sum();
        let room = diagnostics::terminal_width().saturating_sub(used + COLUMN_GAP).max(MIN_VALUES_WIDTH);
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
    fn write_details(&self, out: &mut dyn Write, census: &Census, attributes: &[CensusEntry]) -> io::Result<()> {
        for (position, (name, summary)) in attributes.iter().enumerate() {
            let (ads, all) = (summary.ads(), census.ads());
            if position > 0 {
                writeln!(out)?;
            }
            let name = diagnostics::single_line(name.as_str());
            writeln!(out, "{name}: in {ads} of {all} ads ({}%), missing in {}", percent(ads, census, 1), all - ads)?;
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
}

/// Adds the ads of the sources to a census. Several threads count them.
fn count_ads(session: &mut Session, sources: &mut [AdSource], mut census: Census) -> Result<Census, Failure> {
    let task = CensusTask::new(&census, session);
    for_each_ad_block(session, sources, None, &task, &mut |_, _, part| census.merge(part))?;
    Ok(census)
}

/// Counts the ads of a block.
struct CensusTask {
    /// An empty census, which creates the counters.
    census: Census,
    dialect: Dialect,
}

impl CensusTask {
    fn new(census: &Census, session: &Session) -> Self {
        CensusTask { census: census.clone(), dialect: session.dialect() }
    }
}

impl AdBlockTask for CensusTask {
    type State = TextCensusCounter;
    type Output = CensusPart;

    fn new_state(&self) -> TextCensusCounter {
        TextCensusCounter::new(self.census.counter(), self.dialect)
    }

    fn take_text(&self, counter: &mut TextCensusCounter, text: AdText) -> Option<usize> {
        counter.take_text(text)
    }

    fn add(&self, counter: &mut TextCensusCounter, entry: AdEntry) {
        counter.add(&entry.ad);
    }

    fn finish(&self, counter: &mut TextCensusCounter) -> CensusPart {
        counter.take()
    }
}

/// Writes a histogram of the numeric values of an attribute. Writes nothing if the census did not keep all values,
/// because the bars would be too short.
fn write_histogram(out: &mut dyn Write, summary: &AttributeSummary, census: &Census) -> io::Result<()> {
    const HISTOGRAM_BINS: usize = 8;
    if summary.distinct().more {
        return Ok(());
    }
    let values = summary.most_frequent(usize::MAX).filter_map(|(value, ads)| Some((value.parse().ok()?, ads)));
    let bins = histogram(&values.collect::<Vec<(f64, usize)>>(), HISTOGRAM_BINS);
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
        writeln!(out, "  {ads:>width$}  {:>5}  {}  {text}", percent(*ads, census, 1), bars.padded_bar(*ads))?;
    }
    Ok(())
}

/// Returns the attributes of `--attr` that some ad has. Prints a note on standard error for each attribute that no ad
/// has.
fn requested_attributes<'a>(session: &Session, census: &'a Census, names: &IndexSet<Name>) -> Vec<CensusEntry<'a>> {
    let attributes = names.iter().filter_map(|name| {
        let attribute = census.attributes().find(|(known, _)| *known == name);
        if attribute.is_none() && census.ads() > 0 {
            input::note_unknown_attribute(session, census.attributes().map(|(known, _)| known.as_str()), name);
        }
        attribute
    });
    attributes.collect()
}

/// Formats `ads` as a percentage of all ads, with 0 or 1 decimals. A share above 0 that rounds to 0 becomes `<1` or
/// `<0.1`. A share below 100 that rounds to 100 becomes `>99` or `>99.9`.
fn percent(ads: usize, census: &Census, decimals: u32) -> String {
    let (all, parts) = (census.ads(), 100 * 10_usize.pow(decimals));
    let text = |share: usize| if decimals == 0 { share.to_string() } else { format!("{}.{}", share / 10, share % 10) };
    match (ads.saturating_mul(2 * parts) / all.max(1)).div_ceil(2) {
        0 if ads > 0 => format!("<{}", text(1)),
        share if share == parts && ads < all => format!(">{}", text(parts - 1)),
        share => text(share),
    }
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
