//! The partial results of all shares of one run: whether they belong together, and their events in order.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::BufRead;
use std::sync::Arc;

use classad::ad::Dialect;
use classad::format::Severity;
use classad::text::{counted, join_first};
use serde::de::DeserializeOwned;

use super::scanned::join_faults;
use super::scanned::{ScannedPartial, ScannedPartials, open_at};
use super::{DAMAGED, MergedFile, PartialEvent, PartialFile, form_of};
use crate::cli::clock::utc_text;
use crate::cli::io::part_plan::{PartPlan, shell_word};
use crate::cli::io::share::WorkShare;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Maximum number of shares that a message names.
const MAX_NAMED_SHARES: usize = 20;

/// Partial results that are all shares of one run.
pub struct ShareSet {
    /// The command line that they are of, without the share.
    pub arguments: Vec<String>,
    pub dialect: Dialect,
    /// The lines that all shares have in common.
    common: Vec<u8>,
    /// The partial results, and the byte offsets at which what only they have begins, in the order of the shares.
    shares: Vec<(Arc<str>, u64)>,
    notes: Vec<serde_json::Value>,
}

impl ShareSet {
    /// Puts shares in order.
    ///
    /// # Errors
    ///
    /// They are not of one run, on the same files, or not all shares. The message lists what to run again.
    pub fn new(scanned: ScannedPartials, plan: Option<&PartPlan>) -> Result<Self, Failure> {
        let ScannedPartials { partials, arguments, dialect, mut faults } = scanned;
        let Some(first) = partials.first() else { return refuse("there is no partial result") };
        faults.extend(difference_faults(first, &partials[1..]));
        let first_is_share = first.header.share.is_some();
        let count = first.header.share.map_or(1, |share| share.count);
        let files = first.header.files.clone();
        let mut by_number: BTreeMap<usize, ScannedPartial> = BTreeMap::new();
        for partial in partials {
            let Some(share) = partial.header.share.filter(|share| share.count == count) else { continue };
            match by_number.entry(share.number) {
                Entry::Vacant(free) => drop(free.insert(partial)),
                Entry::Occupied(known) => {
                    faults.push(format!("{} and {} have the same share {share}", partial.path, known.get().path));
                }
            }
        }
        if let Some(plan) = plan {
            faults.extend(plan_faults(plan, count, &files));
        }
        // Partial results of another kind have a fault of their own.
        let missing = if first_is_share { count.saturating_sub(by_number.len()) } else { 0 };
        if missing > 0 {
            let absent = (1..=count).filter(|number| !by_number.contains_key(number)).take(MAX_NAMED_SHARES);
            let absent = absent.map(|number| WorkShare { number, count }.to_string());
            let mut words: Vec<String> = arguments.iter().map(|word| shell_word(word)).collect();
            // After `--` an option would be a file.
            let end = arguments.iter().position(|word| *word == "--").unwrap_or(words.len());
            let named = join_first(absent, missing, MAX_NAMED_SHARES);
            let (what, them, share) = match missing {
                1 => ("a share is", "it", named.clone()),
                _ => ("shares are", "each", format!("K/{count}")),
            };
            words.insert(end, format!("--partial --share {share}"));
            let command = format!("classad {}", words.join(" "));
            faults.push(format!("{what} missing: {named}; run {them} with `{command}`"));
        }
        if !faults.is_empty() {
            return refuse(join_faults(&faults));
        }
        let (mut common, mut shares, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for partial in by_number.into_values() {
            common = partial.common;
            shares.push((partial.path, partial.offset));
            notes.push(partial.notes);
        }
        Ok(ShareSet { arguments, dialect, common, shares, notes })
    }

    /// Reports what all shares say of the input, and returns what they have in common.
    pub fn begin<T: DeserializeOwned>(&self, session: &mut Session) -> Result<T, Failure> {
        for line in self.common.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Ok(event) = serde_json::from_slice::<PartialEvent>(line) else { return refuse(DAMAGED) };
            if let Some(PartialEvent::Common(common)) = report(session, event)? {
                return serde_json::from_value(common).or_else(|_| refuse(DAMAGED));
            }
        }
        refuse(DAMAGED)
    }

    /// Passes what the shares found to `consume`, in the order of the shares, and reports their messages.
    ///
    /// # Errors
    ///
    /// A partial result is damaged or cannot be read again; `consume` fails.
    pub fn replay<T: DeserializeOwned>(
        &self,
        session: &mut Session,
        consume: &mut dyn FnMut(&mut Session, T) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for (path, offset) in &self.shares {
            let lines = open_at(path, *offset).map_err(|error| Failure::unreadable(path, &error))?;
            for line in lines.lines() {
                session.check_interrupt()?;
                let line = line.map_err(|error| Failure::unreadable(path, &error))?;
                let Ok(event) = serde_json::from_str(&line) else { return refuse(DAMAGED) };
                match report(session, event)? {
                    Some(PartialEvent::Finding(finding)) => consume(session, finding)?,
                    Some(PartialEvent::End) => break,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the notes at the ends of the shares.
    pub fn notes<T: DeserializeOwned>(&self) -> Result<Vec<T>, Failure> {
        let notes = self.notes.iter().map(|notes| serde_json::from_value(notes.clone()));
        notes.collect::<Result<_, _>>().or_else(|_| refuse(DAMAGED))
    }
}

/// Reports an event that is a message or a problem; returns any other.
fn report<F>(session: &mut Session, event: PartialEvent<F>) -> Result<Option<PartialEvent<F>>, Failure> {
    match event {
        PartialEvent::Message(kind, text) => session.report_text(kind, &text),
        PartialEvent::PlacedProblem(placed) => {
            let (text, problem) = MergedFile::new(placed.file, form_of(&placed.form)).place(placed.problem);
            session.report_problem(&text, &problem)?;
        }
        PartialEvent::MoreProblems(errors, warnings) => {
            session.count_problems(Severity::Error, errors);
            session.count_problems(Severity::Warning, warnings);
        }
        other => return Ok(Some(other)),
    }
    Ok(None)
}

/// Returns why shares are not of the same run as the first one, as messages.
fn difference_faults(first: &ScannedPartial, others: &[ScannedPartial]) -> Vec<String> {
    let mut faults = Vec::new();
    for other in others {
        let (path, reference) = (&other.path, &first.path);
        let counts = [other, first].map(|partial| partial.header.share.map(|share| share.count));
        if let [Some(own), Some(expected)] = counts
            && own != expected
        {
            let own = counted(own, "share");
            faults.push(format!("{path} is one of {own}, but {reference} is one of {expected}"));
        } else if counts.contains(&None) {
            let [share, parts] = if counts[0].is_some() { [path, reference] } else { [reference, path] };
            faults.push(format!("{share} is from a run with --share, but {parts} is not"));
        } else if let Some(fault) = file_fault(&other.header.files, &first.header.files) {
            faults.push(format!("{path}: {fault}; run all shares again"));
        } else if other.header.now != first.header.now {
            let times = [other, first].map(|partial| match partial.header.now {
                Some(seconds) => utc_text(seconds),
                None => "no time".to_owned(),
            });
            let fault = format!("{path} is evaluated as of {}, {reference} as of {}", times[0], times[1]);
            faults.push(format!("{fault}: give all shares the same --now"));
        } else if other.common != first.common && other.header.arguments == first.header.arguments {
            faults.push(format!("{path} and {reference} read different ads: run all shares again"));
        }
    }
    faults
}

/// Returns in what the files of two shares differ.
fn file_fault(files: &[PartialFile], expected: &[PartialFile]) -> Option<String> {
    if let Some((file, _)) = files.iter().zip(expected).find(|(file, expected)| file != expected) {
        return Some(format!("{} is not the file that another share read", file.file));
    }
    (files.len() != expected.len()).then(|| "its number of files differs from that of another share".to_owned())
}

/// Returns why shares are not those of a plan.
fn plan_faults(plan: &PartPlan, count: usize, files: &[PartialFile]) -> Vec<String> {
    let Some(planned) = plan.shares else {
        return vec!["the plan has parts of files, but the partial results are of shares".to_owned()];
    };
    let mut faults = Vec::new();
    if planned != count {
        let planned = counted(planned, "share");
        faults.push(format!("the plan has {planned}, but the partial results are of {}", counted(count, "share")));
    }
    for (name, parts) in plan.by_file() {
        for expected in parts {
            match files.iter().find(|file| file.file == name) {
                None => faults.push(format!("{name} is in the plan, but no share read a file of this name")),
                Some(file) if Some(file.size) != expected.size || file.inode != expected.inode => {
                    let fault = format!("{name} in the plan is not the file that the shares read");
                    faults.push(format!("{fault}: make a new plan, and run all shares again"));
                }
                Some(_) => {}
            }
        }
    }
    faults
}

#[cfg(test)]
#[path = "share_set_tests.rs"]
mod tests;
