//! What a report contributes to the table of causes.

use classad::explain::{GangReport, GangVerdict, RequestChange, RequestReport, RequestVerdict};
use classad::matching::gang::Gang;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::case::ExplanationInput;
use super::gangs;
use crate::cli::render::diagnostics::single_line;
use crate::cli::session::Session;

/// Maximum number of subjects that a list names.
pub const MAX_NAMED: usize = 10;

/// What a report contributes to the table. Threads make entries; one of them adds these in order.
#[derive(Serialize, Deserialize)]
pub struct CauseEntry {
    pub verdict: String,
    /// What can be done about the limit of the accounting that keeps the subjects from offers. Empty without one.
    #[serde(default)]
    pub remedy: String,
    /// Whether smaller requests may find what is left of divided offers.
    #[serde(default)]
    pub has_scarce_resources: bool,
    pub matches: bool,
    pub text: String,
    pub subjects: usize,
    /// The first [`MAX_NAMED`] names.
    pub names: Vec<String>,
    pub users: Vec<String>,
    pub changes: Vec<EntryChange>,
}

/// A change that helps the subjects of an entry.
#[derive(Serialize, Deserialize)]
pub struct EntryChange {
    pub text: String,
    /// Number of partners that match after the change.
    pub matches: usize,
    /// Number of those that are free; `None` if it is not known.
    pub free: Option<usize>,
    /// Whether the subjects would ask for much less.
    #[serde(default)]
    pub is_far_less: bool,
}

impl CauseEntry {
    /// Makes the entry of a group of requests that need a gang.
    pub fn of_gang(session: &Session, case: &ExplanationInput<'_>, group: &[usize], report: &GangReport) -> Self {
        let subject = cause_subject(session, case);
        let writer = case.summary_writer(session, &subject, &group[..1], super::limits::MAX_CLAUSE_CHARS);
        let change = |change: &RequestChange<Gang>| EntryChange {
            text: single_line(&gangs::change_steps(change, case.parties).join("; ")),
            matches: group.len(),
            free: None,
            is_far_less: false,
        };
        CauseEntry {
            remedy: if let GangVerdict::Limited(limit) = &report.verdict { limit.remedy() } else { String::new() },
            matches: matches!(report.verdict, GangVerdict::Matches),
            changes: report.changes.iter().map(change).collect(),
            ..CauseEntry::of_subjects(session, case, group, report.verdict.as_str(), &writer.gang_summary(report))
        }
    }

    /// Makes the entry of a group with a verdict and a cause, without changes.
    fn of_subjects(session: &Session, case: &ExplanationInput<'_>, group: &[usize], verdict: &str, text: &str) -> Self {
        let users: FxHashSet<String> = group.iter().filter_map(|subject| case.owner_of(session, *subject)).collect();
        CauseEntry {
            verdict: verdict.to_owned(),
            remedy: String::new(),
            has_scarce_resources: false,
            matches: false,
            text: single_line(text),
            subjects: group.len(),
            names: group.iter().take(MAX_NAMED).map(|subject| case.subjects[*subject].id().to_owned()).collect(),
            users: users.into_iter().collect(),
            changes: Vec::new(),
        }
    }

    /// Makes the entry of a group that has one report.
    pub fn new(session: &Session, case: &ExplanationInput<'_>, group: &[usize], report: &RequestReport) -> Self {
        let subject = cause_subject(session, case);
        let writer = case.summary_writer(session, &subject, &group[..1], super::limits::MAX_CLAUSE_CHARS);
        let entry = |change: &RequestChange| EntryChange {
            text: single_line(&change.text()),
            matches: change.matched.count + change.matched.if_drained,
            free: change.matched.free(),
            is_far_less: change.is_far_less,
        };
        CauseEntry {
            remedy: if let RequestVerdict::Limited(limit) = &report.verdict { limit.remedy() } else { String::new() },
            has_scarce_resources: !report.scarce_in_divided.is_empty(),
            matches: report.verdict == RequestVerdict::Matches,
            changes: report.changes.iter().map(entry).collect(),
            ..CauseEntry::of_subjects(session, case, group, report.verdict.as_str(), &writer.cause_phrase(report))
        }
    }
}

/// Returns the subject of the sentences in the table: `the job`. It is singular for every group, so that groups with one
/// cause share a line.
fn cause_subject(session: &Session, case: &ExplanationInput<'_>) -> String {
    format!("the {}", case.subject_noun(session))
}
