//! Partial results of `query`: its findings in parts of files, and merging them.
//!
//! Findings keep the order of the file. Groups and the top of a sort come last.

use classad::query::{ScanItem, ScannedBlock};
use serde::{Deserialize, Serialize};

use super::QueryCommand;
use super::arguments::{constraints_and_files, is_constraint};
use super::finding::{FindingSink, QueryFinding};
use super::notes::note_mistakes;
use super::output::QueryOutput;
use super::plan::QueryPlan;
use super::scan::QueryScanner;
use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::block_pipeline::for_each_block;
use crate::cli::io::input;
use crate::cli::io::partial::{PartialSet, PartialWriter};
use crate::cli::io::slip_notes::note_certain_slips;
use crate::cli::io::source::AdSource;
use crate::cli::io::source_text::SourceText;
use crate::cli::io::unseen_names::first_names;
use crate::cli::outcome::{Failure, Status, refuse_contradictions};
use crate::cli::session::Session;

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

/// What is found in a block.
type QueryBlock = ScannedBlock<QueryFinding>;

/// Writes the findings of a file.
struct FileFindings<'q> {
    sink: FindingSink<'q>,
    /// Number of matching ads since the last finding that was written.
    present: usize,
}

impl QueryCommand {
    /// Scans the sources and writes a partial result.
    pub(super) fn write_partial(
        &self,
        session: &mut Session,
        sources: &mut [AdSource],
        (plan, scanner): (&QueryPlan, &QueryScanner<'_>),
    ) -> Result<Status, Failure> {
        refuse_contradictions(&[
            (plan.columns.table.is_some(), "--partial does not work with the tables of HTCondor's tools"),
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
        let mut has_found = false;
        for (index, source) in sources.iter_mut().enumerate() {
            writer.begin_file(index)?;
            let mut file = FileFindings { sink: FindingSink::new(self, &plan.columns, true), present: 0 };
            for_each_block(session, [&mut *source], scanner, &mut |_, source, text, scanned: QueryBlock| {
                let before = source.ads_read;
                source.ads_read += scanned.ads;
                for item in scanned.items {
                    if !file.add(&mut writer, text, before, item)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            })?;
            has_found |= file.sink.has_found;
            file.finish(&mut writer)?;
            writer.end_file(source)?;
        }
        let (has_valid_value, reason) = scanner.errors.to_parts();
        let needs_names = !has_found || plan.has_misspelt_candidates(scanner);
        let names = if needs_names { first_names(session, sources) } else { None };
        let (seen, seen_columns) = (scanner.constraint_names.seen(), scanner.selected_names.seen());
        let notes = QueryNotes { seen, seen_columns, has_valid_value, reason, names };
        writer.finish(session, &notes)?;
        Ok(Status::Yes)
    }

    /// Returns the files that partial results are of.
    pub fn input_of_partials(&self) -> AdFilesArgs {
        let first = self.first.iter().filter(|first| !is_constraint(self, first));
        AdFilesArgs { files: first.chain(&self.input.files).cloned().collect(), ..self.input.clone() }
    }

    /// Prints what one run over all files of the partial results prints.
    pub fn merge(&self, session: &mut Session, partials: &PartialSet) -> Result<Status, Failure> {
        session.is_about_one_ad = true;
        let (constraints, _) = constraints_and_files(self, session)?;
        let query =
            if self.query.is_some() { input::open_sources(session, self.query.as_slice())? } else { Vec::new() };
        let plan = QueryPlan::new(session, self, &constraints, query, None)?;
        let mut output = QueryOutput::new(session, self, &plan, partials.form)?;
        let scanner = plan.scanner(session, self, output.needed_part());
        partials.replay(session, &mut |session, file, finding: QueryFinding| {
            output.add(session, &file.name, finding.after_ads(file.ads_before))
        })?;
        let status = output.finish(session)?;
        let mut names = None;
        for notes in &partials.notes {
            let notes: QueryNotes = serde_json::from_value(notes.clone()).unwrap_or_default();
            scanner.constraint_names.mark_seen(&notes.seen);
            scanner.selected_names.mark_seen(&notes.seen_columns);
            scanner.errors.add_parts(notes.has_valid_value, notes.reason);
            names = names.or(notes.names);
        }
        plan.columns.af().for_each(|expression| note_certain_slips(session, expression));
        note_mistakes(self, session, status, &plan, &scanner, &mut |_| names.clone().unwrap_or_default());
        Ok(status)
    }
}

impl FileFindings<'_> {
    /// Adds what the scan of `text` has found. Returns false if no more of the file is needed.
    fn add(
        &mut self,
        writer: &mut PartialWriter,
        text: &SourceText,
        ads_before: usize,
        item: ScanItem<QueryFinding>,
    ) -> Result<bool, Failure> {
        let FileFindings { sink, present } = self;
        match item {
            ScanItem::Found(finding) => {
                let finding = finding.after_ads(ads_before);
                sink.add(finding, &mut |finding| write(writer, present, Some(finding)))
            }
            ScanItem::Problem(problem) => {
                // A limit may end the run in front of the problem.
                write(writer, present, None)?;
                writer.add_problem(text, problem, ads_before)
            }
            ScanItem::Halted(halt, number) => {
                let halted = QueryFinding::Halted { halt, number: number + ads_before };
                write(writer, present, Some(halted)).map(|()| true)
            }
            ScanItem::Stop => Ok(false),
        }
    }

    /// Writes what waited for the end of the file.
    fn finish(mut self, writer: &mut PartialWriter) -> Result<(), Failure> {
        let FileFindings { sink, present } = &mut self;
        sink.finish(&mut |finding| write(writer, present, Some(finding)))?;
        write(writer, present, None)
    }
}

/// Writes a finding, if any, after the number of ads before it. Such numbers are added up.
fn write(writer: &mut PartialWriter, present: &mut usize, finding: Option<QueryFinding>) -> Result<(), Failure> {
    if let Some(QueryFinding::Present(count)) = finding {
        *present += count;
        return Ok(());
    }
    if *present > 0 {
        writer.add_finding(&QueryFinding::Present(std::mem::take(present)))?;
    }
    finding.map_or(Ok(()), |finding| writer.add_finding(&finding))
}
