//! Partial results of `query`: its findings in parts of files, and merging them.
//!
//! The findings of a file are kept in its order. Counts, groups and the first ones of an order stand at its end.

use std::collections::HashSet;

use classad::ad::Value;
use classad::eval::Abort;
use classad::format::{FileFormat, StreamBlock, read};
use classad::pool::{ExactSum, NumberCounts};
use classad::syntax::{Style, print_ad};
use serde::{Deserialize, Serialize};

use super::QueryCommand;
use super::columns::{Columns, Row};
use super::constraint_errors::ConstraintErrors;
use super::groups::{Accumulator, Group, GroupedAds};
use super::output::QueryOutput;
use super::print_mask::MaskCell;
use super::scan::{AdScanner, ScanFinding, TruthFilter};
use super::scan_task::{ScanTask, ScannedBlock};
use super::sort::{SortValues, SortedItems};
use super::tables::TableChoice;
use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::block_pipeline::for_each_block;
use crate::cli::io::input;
use crate::cli::io::partial::{Bytes, OrderValue, PartialSet, PartialWriter};
use crate::cli::io::slip_notes::note_slips;
use crate::cli::io::source::{AdSource, SourceText};
use crate::cli::io::unseen_names::{UnseenNames, first_names};
use crate::cli::outcome::{Failure, Status, refuse, refuse_contradictions};
use crate::cli::render::rows::TableCell;
use crate::cli::session::Session;

/// A finding in a partial result. Numbers of ads count from the beginning of the part.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum QueryFinding {
    /// Number of matching ads or rows.
    Present(usize),
    /// A matching ad in the bracketed form.
    Ad {
        ad: Bytes,
        name: Option<String>,
        number: usize,
        order: Vec<OrderValue>,
        failures: u64,
    },
    /// The cells of a row, or those of a print mask.
    Row {
        cells: Vec<TableCell>,
        masked: Vec<MaskCell>,
        order: Vec<OrderValue>,
        failures: u64,
    },
    Groups {
        groups: Vec<GroupRecord>,
        failures: u64,
    },
    /// An ad in which the constraint exceeded a budget: the maximum depth, number of steps, of steps of the run, or of
    /// bytes of values.
    Halted {
        depth: Option<u32>,
        steps: Option<u64>,
        run_steps: Option<u64>,
        value_bytes: Option<u64>,
        number: usize,
    },
}

/// A group: its keys, the number of its ads, and what was computed of each expression.
#[derive(Serialize, Deserialize)]
struct GroupRecord {
    key: Vec<TableCell>,
    ads: usize,
    values: Vec<AccumulatorRecord>,
}

#[derive(Serialize, Deserialize)]
struct AccumulatorRecord {
    /// The parts of an exact sum.
    sum: Vec<String>,
    /// The parts of the numbers with their frequencies.
    #[serde(default)]
    numbers: Vec<u64>,
    count: u64,
    unfit: u64,
    extreme: Option<OrderValue>,
}

/// The messages that a run over all files prints if it finds nothing.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct QueryNotes {
    /// Whether each name of the constraint has occurred.
    seen: Vec<bool>,
    /// Whether each name of the columns has occurred.
    seen_columns: Vec<bool>,
    /// Whether the constraint was no error in some ad, and why it was one in another.
    has_valid_value: bool,
    reason: Option<String>,
    /// The attribute names at the beginning of the first file; `None` if this is unknown.
    names: Option<Vec<String>>,
}

/// What is kept of a file until its end.
struct FileFindings {
    /// Number of findings so far that count toward `--limit`.
    count: usize,
    /// Number of findings that are only counted and have not been written.
    present: usize,
    groups: Option<GroupedAds>,
    sorted: SortedItems<QueryFinding>,
    /// Rows written so far, for `--distinct`.
    rows: HashSet<Vec<TableCell>>,
}

impl QueryCommand {
    /// Scans the sources and writes a partial result.
    pub(super) fn write_partial(
        &self,
        session: &mut Session,
        sources: &mut [AdSource],
        scanner: &AdScanner<'_>,
    ) -> Result<Status, Failure> {
        refuse_contradictions(&[
            (scanner.columns.table.is_some(), "--partial does not work with the tables of HTCondor's tools"),
            (
                self.newest || self.since.is_some() || self.completed_since.is_some(),
                "--partial does not work with --newest, --since and --completed-since",
            ),
            (self.at.is_some(), "--partial does not work with --at"),
            (
                !(self.ads.is_empty() && self.userlog.is_empty()),
                "--partial reads only the files after the constraint, not those of -jobads, -slotads or -userlog",
            ),
        ])?;
        let mut writer = PartialWriter::new(session, sources, &self.input_of_partials().files, self.query.as_slice())?;
        let task = ScanTask { scanner };
        let mut has_found = false;
        for (index, source) in sources.iter_mut().enumerate() {
            writer.begin_file(index)?;
            let mut kept = FileFindings::new(self);
            for_each_block(session, [&mut *source], &task, &mut |_, source, text, scanned: ScannedBlock| {
                let mut goes_on = true;
                for finding in scanned.findings {
                    has_found |= !matches!(finding, ScanFinding::Problem(_) | ScanFinding::Halted { .. });
                    goes_on = kept.add(self, scanner.columns, &mut writer, text, source.ads_read, finding)?;
                    if !goes_on {
                        break;
                    }
                }
                source.ads_read += scanned.ads;
                Ok(goes_on)
            })?;
            kept.finish(scanner.columns, &mut writer)?;
            writer.end_file(source)?;
        }
        let (has_valid_value, reason) = scanner.errors.to_parts();
        let needs_names = !has_found || scanner.has_misspelt_candidates();
        let names = if needs_names { first_names(session, sources) } else { None };
        let (seen, seen_columns) = (scanner.unseen_names.seen(), scanner.unseen_columns.seen());
        let notes = QueryNotes { seen, seen_columns, has_valid_value, reason, names };
        writer.finish(session, &notes)?;
        Ok(Status::Yes)
    }

    /// Returns the files that partial results are of.
    pub fn input_of_partials(&self) -> AdFilesArgs {
        let first = self.first.iter().filter(|first| !self.is_constraint(first));
        AdFilesArgs { files: first.chain(&self.input.files).cloned().collect(), ..self.input.clone() }
    }

    /// Prints what one run over all files of the partial results prints.
    pub fn merge(&self, session: &mut Session, partials: &PartialSet) -> Result<Status, Failure> {
        session.is_about_one_ad = true;
        let (constraints, _) = self.constraints_and_files(session)?;
        let choice = TableChoice::new(&self.condor_table, || None)?;
        let query =
            if self.query.is_some() { input::open_sources(session, self.query.as_slice())? } else { Vec::new() };
        let asked = self.asked(session, query)?;
        let constraint = self.constraint(session, &constraints, &asked, &choice, None)?;
        let columns = Columns::new(session, self, asked, None)?;
        let mut output =
            QueryOutput::new(session, self, &constraint, &columns, self.writes_ads(&columns), partials.form)?;
        let dialect = session.dialect();
        partials.replay(session, &mut |session, file, finding| {
            let text = SourceText::of_block(&file.name, StreamBlock::from_complete_text("", file.form));
            let finding = serde_json::from_value(finding).ok().and_then(|finding| into_scan_findings(finding, dialect));
            let Some(findings) = finding else { return refuse("a partial result is damaged") };
            for finding in findings {
                if !output.add(session, &text, file.ads_before, finding)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        let status = output.finish(session)?;
        let (unseen, errors) = (UnseenNames::of_expressions([&constraint]), ConstraintErrors::default());
        let unseen_columns = columns.names();
        let mut names = None;
        for notes in &partials.notes {
            let notes: QueryNotes = serde_json::from_value(notes.clone()).unwrap_or_default();
            unseen.mark_seen(&notes.seen);
            unseen_columns.mark_seen(&notes.seen_columns);
            errors.add_parts(notes.has_valid_value, notes.reason);
            names = names.or(notes.names);
        }
        let names = names.unwrap_or_default();
        if status == Status::No && self.filter() == TruthFilter::True {
            unseen.report_among(session, &names);
            errors.report(session);
            note_slips(session, &constraint);
            self.note_names(session, &choice);
        } else if status == Status::Yes {
            QueryCommand::note_columns(session, &columns, &unseen_columns, &names);
        }
        Ok(status)
    }
}

impl FileFindings {
    fn new(query: &QueryCommand) -> Self {
        let limit = query.limit.filter(|_| !query.distinct).unwrap_or(usize::MAX);
        FileFindings { count: 0, present: 0, groups: None, sorted: SortedItems::new(limit), rows: HashSet::new() }
    }

    /// Writes a finding, or keeps it for the end of the file. Returns false if no more of the file is needed.
    fn add(
        &mut self,
        query: &QueryCommand,
        columns: &Columns,
        writer: &mut PartialWriter,
        text: &SourceText,
        ads_before: usize,
        finding: ScanFinding,
    ) -> Result<bool, Failure> {
        let is_sorted = !columns.sort.is_empty();
        let (finding, order) = match finding {
            ScanFinding::Problem(problem) => {
                // A limit may end the run in front of the problem.
                self.write_present(writer)?;
                return writer.add_problem(text, problem, ads_before);
            }
            ScanFinding::Halted { halt, number } => {
                let (mut depth, mut steps, mut run_steps, mut value_bytes) = (None, None, None, None);
                match halt {
                    Abort::TooDeep(limit) => depth = Some(limit),
                    Abort::TooManySteps(limit) => steps = Some(limit),
                    Abort::TooManyRunSteps(limit) => run_steps = Some(limit),
                    Abort::TooManyValueBytes(limit) => value_bytes = Some(limit),
                    Abort::Unknown | Abort::Interrupted => {}
                }
                let number = number + ads_before;
                writer.add_finding(&QueryFinding::Halted { depth, steps, run_steps, value_bytes, number })?;
                return Ok(true);
            }
            ScanFinding::Groups(table) => {
                if let Some(group) = &columns.group {
                    self.groups.get_or_insert_default().merge(group, table);
                }
                return Ok(true);
            }
            ScanFinding::Present(count) => {
                self.present += count;
                self.count += count;
                return Ok(self.count < query.limit.unwrap_or(usize::MAX));
            }
            ScanFinding::Ad { ad, name, number, order, failures } => {
                let text = print_ad(&ad, Style::New);
                let records = order.iter().map(OrderValue::from).collect();
                let (ad, number) = (Bytes::from(&text[..]), number + ads_before);
                (QueryFinding::Ad { ad, name, number, order: records, failures }, order)
            }
            ScanFinding::Row(Row { cells, masked, order, failures, .. }) => {
                if query.distinct && !is_sorted && !self.rows.insert(cells.clone()) && failures == 0 {
                    return Ok(true);
                }
                let records = order.iter().map(OrderValue::from).collect();
                (QueryFinding::Row { cells, masked, order: records, failures }, order)
            }
            ScanFinding::Record(_) | ScanFinding::Stop => return Ok(true),
        };
        if is_sorted {
            self.sorted.add(&columns.sort, order, finding);
            return Ok(true);
        }
        writer.add_finding(&finding)?;
        self.count += 1;
        let is_full = !query.distinct && self.count >= query.limit.unwrap_or(usize::MAX);
        Ok(!is_full)
    }

    /// Writes the number of ads since the last one.
    fn write_present(&mut self, writer: &mut PartialWriter) -> Result<(), Failure> {
        match std::mem::take(&mut self.present) {
            0 => Ok(()),
            count => writer.add_finding(&QueryFinding::Present(count)),
        }
    }

    /// Writes what was kept.
    fn finish(mut self, columns: &Columns, writer: &mut PartialWriter) -> Result<(), Failure> {
        self.write_present(writer)?;
        for (_, finding) in self.sorted.take(&columns.sort) {
            writer.add_finding(&finding)?;
        }
        if let Some(table) = self.groups {
            let failures = table.failures;
            let groups = table.groups.into_iter().map(GroupRecord::from).collect();
            writer.add_finding(&QueryFinding::Groups { groups, failures })?;
        }
        Ok(())
    }
}

impl From<(Vec<TableCell>, Group)> for GroupRecord {
    fn from((key, group): (Vec<TableCell>, Group)) -> Self {
        let values = group.values.into_iter().map(|values| AccumulatorRecord {
            sum: values.sum.to_parts(),
            numbers: values.numbers.to_parts(),
            count: values.count,
            unfit: values.unfit,
            extreme: values.extreme.as_ref().map(OrderValue::from),
        });
        GroupRecord { key, ads: group.ads, values: values.collect() }
    }
}

impl GroupRecord {
    /// Returns the group and its keys. `None` if the record is damaged.
    fn into_group(self) -> Option<(Vec<TableCell>, Group)> {
        let values = self.values.into_iter().map(|values| {
            Some(Accumulator {
                sum: ExactSum::from_parts(&values.sum)?,
                numbers: NumberCounts::from_parts(&values.numbers)?,
                count: values.count,
                unfit: values.unfit,
                extreme: values.extreme.map(Value::from),
            })
        });
        Some((self.key, Group { ads: self.ads, values: values.collect::<Option<_>>()? }))
    }
}

/// Returns the findings of a scan that a finding in a partial result stands for. `None` if it is damaged.
fn into_scan_findings(finding: QueryFinding, dialect: classad::ad::Dialect) -> Option<Vec<ScanFinding>> {
    let values = |order: Vec<OrderValue>| order.into_iter().map(Value::from).collect::<SortValues>();
    Some(match finding {
        QueryFinding::Present(count) => vec![ScanFinding::Present(count)],
        QueryFinding::Ad { ad, name, number, order, failures } => {
            let ad = read(&ad.into_bytes(), FileFormat::Bracketed, dialect).next()?.ok()?.ad;
            vec![ScanFinding::Ad { ad, name, number, order: values(order), failures }]
        }
        QueryFinding::Row { cells, masked, order, failures } => {
            vec![ScanFinding::Row(Row { cells, masked, order: values(order), failures, ..Row::default() })]
        }
        QueryFinding::Groups { groups, failures } => {
            let groups = groups.into_iter().map(GroupRecord::into_group).collect::<Option<_>>()?;
            vec![ScanFinding::Groups(GroupedAds { groups, failures })]
        }
        QueryFinding::Halted { depth, steps, run_steps, value_bytes, number } => {
            let steps = steps.map(Abort::TooManySteps).or(run_steps.map(Abort::TooManyRunSteps));
            let spent = depth.map(Abort::TooDeep).or(steps).or(value_bytes.map(Abort::TooManyValueBytes));
            let halt = spent.unwrap_or(Abort::Unknown);
            vec![ScanFinding::Halted { halt, number }]
        }
    })
}
