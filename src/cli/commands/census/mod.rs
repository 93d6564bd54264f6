//! `classad census`: statistics of the attributes of a pool.

mod main_attributes;
mod picture;
mod tables;

use std::cmp::Reverse;
use std::io::Write;

use clap::{Args, ValueEnum};
use classad::ad::{Dialect, Name};
use classad::format::{AdEntry, AdText};
use classad::pool::{AttributeSummary, Census, CensusPart, TextCensusCounter};
use classad::query::AdBlockTask;
use classad::text::counted;
use indexmap::IndexSet;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::global::time;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::args::partial_result::PartialResultArgs;
use crate::cli::io::ad_blocks::for_each_ad_block;
use crate::cli::io::argument_text;
use crate::cli::io::collector_snapshot::read_latest_ads;
use crate::cli::io::input;
use crate::cli::io::partial::{PartialFinding, PartialSet, PartialWriter, ScanStep};
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::json::write_json_document;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::session::Session;
use main_attributes::place_of;

const EXAMPLES: &str = "\
Examples:
  classad census samples/pool/machines.long
  classad census samples/pool/machines.long --attr State,Memory
  classad census samples/pool/machines.long -o svg
  condor_status -long | classad census --sort distinct --top 3

A distinct count such as `10000+` is a lower bound: at most 10,000 values of each attribute are kept. The kept values
are then a random sample, in which frequent values can be missing. Types, ranges and lengths take all values into
account. Values of more than 4,096 bytes are cut.

`classad help schema census` describes the output of -o json. Each `value` in JSON is a text in the ClassAd language; a
cut value ends with `…`. With jsonl, each line describes one attribute.";

/// Summarize the attributes of ads: number of ads, types, values, ranges
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CensusCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Summarize only these attributes, with their values
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    attr: Vec<String>,
    /// Show the N most frequent values of each attribute [default: 1; with --attr: 10; in a picture: 8, or ranges]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Count only the last ad of each name, as a collector keeps it, unless it has expired by TIME
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    at: Option<i64>,
    /// Also summarize the attributes of nested ads, as `Outer.Inner`
    #[arg(long)]
    nested: bool,
    /// Order of the attributes without --attr [default: main; in JSON: count]
    #[arg(long, value_name = "ORDER")]
    sort: Option<AttributeOrder>,
    #[command(flatten)]
    partial: PartialResultArgs,
    #[command(flatten)]
    output: TableOutputArgs,
}

/// The order in which attributes are printed, for `--sort`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AttributeOrder {
    /// Usual attributes first, such as State and Owner; then the most frequent
    Main,
    /// In alphabetical order
    Name,
    /// Most frequent attributes first
    Count,
    /// Attributes with the most distinct values first
    Distinct,
    /// Attributes whose values have the most types first
    Types,
}

/// Number of bytes of values in one record of a partial result, so that memory is bounded.
const MAX_RECORD_BYTES: usize = 64 << 20;

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
                let latest = read_latest_ads(session, &mut sources, at)?;
                for (_, entry) in &latest {
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
            return refuse("--partial does not work with --at");
        }
        let mut writer = PartialWriter::new(session, sources, &self.input.files, &[])?;
        let mut census = census.of_all_values();
        let task = CensusTask::new(&census, session);
        writer.scan(session, sources, None, &task, &mut |writer, step: ScanStep<'_, CensusPart>| {
            let is_end = matches!(step, ScanStep::FileEnd);
            if let ScanStep::Block(_, part) = step {
                census.merge(part);
            }
            if is_end || census.value_bytes() > MAX_RECORD_BYTES {
                writer.add_finding(&census.take_part())?;
            }
            Ok(())
        })?;
        writer.finish(session, &())?;
        Ok(Status::Yes)
    }

    /// Prints what one run over all files of the partial results prints.
    pub fn merge(&self, session: &mut Session, partials: &PartialSet) -> Result<Status, Failure> {
        let mut census = self.empty_census();
        partials.replay(session, &mut |_, _, part: CensusPart| {
            census.merge(part);
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
        let form = self.output.form.unwrap_or(if Session::is_terminal() { OutputForm::Table } else { OutputForm::Tsv });
        let attributes = match (names.is_empty(), form) {
            (true, OutputForm::Svg) => main_attributes::drawn(&self.sorted(census, form), census),
            (true, _) => self.sorted(census, form),
            (false, _) => requested_attributes(session, census, &names),
        };
        if !session.options.quiet {
            let mut out = out();
            match form {
                OutputForm::Svg => {
                    out.write_all(picture::draw_census(census, &attributes, self.top).as_bytes())?;
                }
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
            session.note(&format!(
                "{} with {}",
                counted(census.ads(), "ad"),
                counted(census.attributes().len(), "attribute")
            ));
            let shows_more = form != OutputForm::Svg && (names.is_empty() || !form.has_lines_of_cells());
            if shows_more && attributes.iter().any(|(_, summary)| summary.distinct().more) {
                session.note("`+` (in JSON: `more`) means that there are more distinct values");
            }
        }
        let missing = attributes.len() < names.len();
        Ok(Status::of(census.ads() > 0 && !missing))
    }

    /// Returns the attributes in the order of `--sort`.
    fn sorted<'a>(&self, census: &'a Census, form: OutputForm) -> Vec<CensusEntry<'a>> {
        let is_json = matches!(form, OutputForm::Json | OutputForm::Jsonl);
        let order = self.sort.unwrap_or(if is_json { AttributeOrder::Count } else { AttributeOrder::Main });
        let mut attributes: Vec<CensusEntry> = census.attributes().collect();
        attributes.sort_by_cached_key(|(name, summary)| {
            let (place, weight) = match order {
                AttributeOrder::Main => (place_of(name), summary.ads()),
                AttributeOrder::Name => (0, 0),
                AttributeOrder::Count => (0, summary.ads()),
                AttributeOrder::Distinct => (0, summary.distinct().values),
                AttributeOrder::Types => (0, summary.contents().len()),
            };
            (place, Reverse(weight), (*name).clone())
        });
        attributes
    }

    /// Returns the maximum number of frequent values to print per attribute.
    fn max_values(&self) -> usize {
        self.top.unwrap_or(if self.attr.is_empty() { 1 } else { 10 })
    }
}

impl PartialFinding for CensusPart {
    fn ads(&self) -> usize {
        CensusPart::ads(self)
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

/// Returns the attributes of `--attr` that some ad has. Prints a note on standard error for each attribute that no ad
/// has.
fn requested_attributes<'a>(session: &Session, census: &'a Census, names: &IndexSet<Name>) -> Vec<CensusEntry<'a>> {
    let attributes = names.iter().filter_map(|name| {
        let attribute = census.attributes().find(|(known, _)| *known == name);
        if attribute.is_none() && census.ads() > 0 {
            argument_text::note_unknown_attribute(session, census.attributes().map(|(known, _)| known.as_str()), name);
        }
        attribute
    });
    attributes.collect()
}
