//! `--fix` and `--fix-scripts`: the best change of each report as a diff of the ads, and as commands in scripts. Nothing is run.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use classad::explain::{RequestChange, RequestReport, RequestVerdict};
use classad::query::do_in_order;
use classad::text::{TextEdit, apply_edits};
use indexmap::IndexMap;

use super::explained::GroupExplainer;
use super::groups::explain_bilateral;
use crate::cli::io::source_text::SourceText;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::diagnostics::single_line;
use crate::cli::render::explanation::case::best_change;
use crate::cli::render::explanation::remedies::{self, MAX_COMMANDED_JOBS};
use crate::cli::render::output::out;
use crate::cli::render::progress;
use crate::cli::render::text_diff::write_diff;
use crate::cli::session::Session;

/// Where the changes go.
pub enum FixTarget<'p> {
    /// Standard output, as a diff of each file.
    Diff,
    /// A script for each cause and owner in this directory.
    Scripts(&'p Path),
}

/// The edits of each file, by the blocks of its text.
type FileEdits = IndexMap<String, Vec<(SourceText, Vec<TextEdit>)>>;

/// What the reports on groups want to be changed.
#[derive(Default)]
struct Fixes {
    edits: FileEdits,
    /// Name and text of each script.
    scripts: IndexMap<String, String>,
    /// Remarks that stand before the diffs.
    remarks: String,
    has_unmatched: bool,
}

/// Explains groups, and writes the best change of each. Requests that need gangs are left out.
///
/// # Errors
///
/// The run is interrupted, a file is no text in which an ad can be changed, or a script cannot be written.
pub fn write_fixes(
    session: &Session,
    explainer: &GroupExplainer<'_>,
    groups: &[Vec<usize>],
    target: &FixTarget<'_>,
) -> Result<Status, Failure> {
    let case = explainer.case;
    let taken = (explainer.allocation.as_ref(), &explainer.accounting);
    let groups: Vec<&Vec<usize>> = groups.iter().filter(|group| !case.needs_gang(group[0])).collect();
    let explain = |place: usize| explain_bilateral(session, case, groups[place], explainer.explainer, taken);
    let mut fixes = Fixes::default();
    do_in_order(session.options.threads(), groups.len(), explain, |place, report: RequestReport| {
        progress::report_step("explaining", place, Some(groups.len()));
        fixes.has_unmatched |= !matches!(report.verdict, RequestVerdict::Matches | RequestVerdict::NotWaiting(_));
        match target {
            FixTarget::Diff => fixes.add_edits(session, explainer, groups[place], &report),
            FixTarget::Scripts(_) => {
                fixes.add_commands(session, explainer, groups[place], &report);
                Ok(())
            }
        }
    })?;
    match target {
        FixTarget::Diff => fixes.write_diffs()?,
        FixTarget::Scripts(directory) => fixes.write_scripts(directory)?,
    }
    Ok(Status::of(!fixes.has_unmatched))
}

impl Fixes {
    /// Adds the edits that change the ads of a group.
    fn add_edits(
        &mut self,
        session: &Session,
        explainer: &GroupExplainer<'_>,
        group: &[usize],
        report: &RequestReport,
    ) -> Result<(), Failure> {
        let case = explainer.case;
        let Some(change) = change_of(report) else { return Ok(()) };
        let remark = single_line(&format!("{}: {}", case.group_name(group), change.text()));
        let _ = writeln!(self.remarks, "# {remark}");
        for subject in group {
            let subject = &case.subjects[*subject];
            let assignments = remedies::assignments(change, &case.subjects[group[0]].ad);
            let Some((text, edits)) = subject.edits(session, &assignments) else {
                let name = single_line(subject.id());
                return refuse(format!("--fix changes files in the long form or in brackets, and {name} is in none"));
            };
            let of_file = self.edits.entry(text.name.to_string()).or_default();
            match of_file.last_mut().filter(|(last, _)| last.is_same(text)) {
                Some((_, known)) => known.extend(edits),
                None => of_file.push((text.clone(), edits)),
            }
        }
        Ok(())
    }

    /// Adds the commands that change or release the jobs of a group.
    fn add_commands(
        &mut self,
        session: &Session,
        explainer: &GroupExplainer<'_>,
        group: &[usize],
        report: &RequestReport,
    ) {
        let case = explainer.case;
        let held = report.job.as_ref().and_then(|job| job.hold.as_ref());
        let change = change_of(report);
        let mut of_owner: IndexMap<String, Vec<usize>> = IndexMap::new();
        for job in group {
            of_owner.entry(case.owner_of(session, *job).unwrap_or_default()).or_default().push(*job);
        }
        for (owner, jobs) in of_owner {
            let mut commands = String::new();
            for jobs in jobs.chunks(MAX_COMMANDED_JOBS) {
                let change = change.and_then(|change| remedies::change_command(session, case, jobs, change));
                let release = held.map_or_else(Vec::new, |hold| remedies::release_commands(case, jobs, hold));
                for command in change.into_iter().chain(release) {
                    commands.push_str(&command);
                    commands.push('\n');
                }
            }
            if commands.is_empty() {
                continue;
            }
            let name = format!("{}-{}.sh", report.cause().identifier(), file_word(&owner));
            let script = self.scripts.entry(name).or_insert_with(|| {
                let owner = single_line(&owner);
                format!("#!/bin/sh\n# Jobs of {owner}, by `classad explain`: read this before you run it.\n")
            });
            let sentence = case.summary(session, &jobs, report, usize::MAX);
            // A line break would end the comment.
            let _ = write!(script, "\n# {}\n{commands}", single_line(&sentence));
        }
    }

    /// Prints a diff of each file.
    fn write_diffs(&mut self) -> Result<(), Failure> {
        let mut files = Vec::new();
        for (name, blocks) in &mut self.edits {
            let has = |text: &Vec<u8>| blocks.iter().all(|(block, _)| block.offset_in(text).is_some());
            let Some(old) = fs::read(name).ok().filter(has) else {
                return refuse(format!(
                    "--fix writes a diff of files, and {} is compressed or no file",
                    single_line(name)
                ));
            };
            let shifted = blocks.iter_mut().flat_map(|(block, edits)| {
                let start = block.offset_in(&old).unwrap_or_default();
                std::mem::take(edits).into_iter().map(move |(at, with)| (start + at.start..start + at.end, with))
            });
            let new = apply_edits(&old, shifted.collect());
            files.push((name, old, new));
        }
        write!(out(), "{}", self.remarks)?;
        for (name, old, new) in files {
            write_diff(&mut out(), name, &old, &new)?;
        }
        out().flush()?;
        Ok(())
    }

    /// Writes the scripts, and prints the name of each.
    fn write_scripts(&self, directory: &Path) -> Result<(), Failure> {
        let refused = |path: &Path, error: &io::Error| refuse(format!("{}: {error}", path.display()));
        if let Err(error) = fs::create_dir_all(directory) {
            return refused(directory, &error);
        }
        for (name, text) in &self.scripts {
            let path: PathBuf = directory.join(name);
            // A script that someone may have changed is not replaced.
            if let Err(error) = File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes())) {
                if error.kind() == io::ErrorKind::AlreadyExists {
                    let path = path.display();
                    return refuse(format!(
                        "{path} exists, and may have been changed: remove it, or name another folder"
                    ));
                }
                return refused(&path, &error);
            }
            writeln!(out(), "{}", path.display())?;
        }
        if self.scripts.is_empty() {
            writeln!(out(), "no report has a change that a command makes")?;
        }
        out().flush()?;
        Ok(())
    }
}

/// Returns the best change of a report. `None` for a job that does not wait. Whether a job can do with much less, or without a
/// clause, is for its owner to say.
fn change_of(report: &RequestReport) -> Option<&RequestChange> {
    let waits = !matches!(report.verdict, RequestVerdict::NotWaiting(_));
    best_change(report.changes.iter().filter(|change| waits && !change.is_far_less && !change.drops_clause()))
}

/// Returns a name as a part of a file name.
fn file_word(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-@.".contains(letter);
    let word: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    if word.is_empty() { "unknown".to_owned() } else { word }
}
