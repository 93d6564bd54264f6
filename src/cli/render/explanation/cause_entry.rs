//! What a report contributes to the table of causes.

use classad::explain::{
    GangReport, GangVerdict, JobOutlook, Remedies, RequestChange, RequestReport, RequestVerdict, ShortCause,
};
use classad::matching::gang::Gang;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::case::ExplanationInput;
use super::gangs;
use super::spread_text::text_pieces;
use crate::cli::render::diagnostics::single_line;
use crate::cli::session::Session;

/// Maximum number of subjects that a list names.
pub const MAX_NAMED: usize = 10;

/// What a report contributes to the table. Threads make entries; one of them adds these in order.
#[derive(Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct CauseEntry {
    /// Identifier of the cause. Entries with one identifier are one row of the table.
    pub cause_id: String,
    pub verdict: String,
    /// What can be done about the limit of the accounting that keeps the subjects from offers, or about the reason for
    /// which they are held. Empty without one.
    #[serde(default)]
    pub remedy: String,
    /// What the site says of the cause; empty if nothing.
    #[serde(default)]
    pub of_site: String,
    /// The resources of which divided offers have too little left. Smaller requests may find it.
    #[serde(default)]
    pub scarce: Vec<String>,
    pub matches: bool,
    /// Whether no partner matches the subjects as it is.
    #[serde(default)]
    pub matches_none: bool,
    /// Whether the subjects are held jobs.
    #[serde(default)]
    pub is_held: bool,
    /// Whether a policy does something to the subjects at the next evaluation, or has no value for them.
    #[serde(default)]
    pub has_policy: bool,
    pub text: String,
    pub subjects: usize,
    /// Number of subjects of which the report tells.
    pub told: usize,
    /// The first [`MAX_NAMED`] names.
    pub names: Vec<String>,
    /// The owners, with their numbers of subjects.
    pub owners: Vec<(String, usize)>,
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
        let short = ShortCause { id: report.cause_id(), text: writer.gang_cause(report) };
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
            ..CauseEntry::of_subjects(session, case, group, report.verdict.as_str(), &short)
        }
    }

    /// Makes the entry of a group with a verdict and a cause, without changes.
    fn of_subjects(
        session: &Session,
        case: &ExplanationInput<'_>,
        group: &[usize],
        verdict: &str,
        short: &ShortCause,
    ) -> Self {
        let mut owners: IndexMap<String, usize> = IndexMap::new();
        for owner in group.iter().filter_map(|subject| case.owner_of(session, *subject)) {
            *owners.entry(owner).or_default() += 1;
        }
        CauseEntry {
            cause_id: single_line(&short.id),
            verdict: verdict.to_owned(),
            remedy: String::new(),
            of_site: String::new(),
            scarce: Vec::new(),
            matches: false,
            matches_none: false,
            is_held: false,
            has_policy: false,
            text: single_line(&short.text),
            subjects: group.len(),
            told: group.len(),
            names: group.iter().take(MAX_NAMED).map(|subject| case.subjects[*subject].id().to_owned()).collect(),
            owners: owners.into_iter().collect(),
            changes: Vec::new(),
        }
    }

    /// Makes the entry of a group that has one report. The report tells of the first `told` subjects of the group.
    pub fn new(
        session: &Session,
        case: &ExplanationInput<'_>,
        (group, told): (&[usize], usize),
        report: &RequestReport,
    ) -> Self {
        let entry = |change: &RequestChange| EntryChange {
            text: single_line(&change.text()),
            matches: change.matched.count + change.matched.if_drained,
            free: change.matched.free(),
            is_far_less: change.is_far_less,
        };
        let verdict = if report.is_kept_back() { report.cause().verdict() } else { report.verdict.as_str() };
        let short = case.short_cause(session, report);
        let hold = report.job.as_ref().and_then(|job| job.hold.as_ref());
        let outlook = report.job.as_ref().and_then(|job| job.outlook.as_ref());
        let subject = cause_subject(session, case);
        let writer = case.summary_writer(session, &subject, &group[..1], super::limits::MAX_CLAUSE_CHARS);
        let is_of_job = matches!(report.verdict, RequestVerdict::Limited(_) | RequestVerdict::NotWaiting(_))
            || report.imminent().is_some();
        // Without a change, the table says what the report says.
        let has_remedy = !case.is_reverse && (is_of_job || report.changes.is_empty());
        let remedy = if has_remedy { Remedies(&writer).phrases(report) } else { Vec::new() };
        CauseEntry {
            remedy: remedy.into_iter().next().unwrap_or_default(),
            of_site: case.reasons.and_then(|reasons| reasons.phrase(report.cause(), &short.id)).unwrap_or_default(),
            scarce: report.scarce_in_divided.names(),
            matches: report.verdict == RequestVerdict::Matches && !report.is_kept_back(),
            matches_none: report.matches == 0,
            is_held: hold.is_some(),
            has_policy: outlook.is_some_and(JobOutlook::is_notable),
            told,
            changes: report.changes.iter().map(entry).collect(),
            ..CauseEntry::of_subjects(session, case, group, verdict, &short)
        }
    }
}

/// Replaces the numbers in a sentence by `N`.
pub fn strike_numbers(text: &str) -> String {
    text_pieces(text)
        .map(|(before, number)| if number.is_empty() { before.to_owned() } else { format!("{before}N") })
        .collect()
}

/// Returns the subject of the sentences in the table: `the job`. It is singular for every group, so that groups with one
/// cause share a line.
fn cause_subject(session: &Session, case: &ExplanationInput<'_>) -> String {
    format!("the {}", case.subject_noun(session))
}

#[cfg(test)]
mod tests {
    use super::strike_numbers;

    #[test]
    fn numbers_are_struck_out_of_sentences_and_not_of_names() {
        assert_eq!(
            strike_numbers("no slot has Memory >= 5,000.5; the largest is 64"),
            "no slot has Memory >= N; the largest is N"
        );
        assert_eq!(strike_numbers("Arch == \"x86_64\" in slot1"), "Arch == \"x86_64\" in slot1");
    }
}
