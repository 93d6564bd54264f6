//! Partial results of `explain`: the reports on a share of the groups, and merging them.

use serde::{Deserialize, Serialize};

use super::matched::note_whole_slots;
use super::page::{ExplainedGroup, ExplanationFrame, ExplanationPage};
use super::report_unexplained;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::partial::ShareSet;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::session::Session;

/// What a share says beside its reports.
#[derive(Serialize, Deserialize)]
pub struct ExplanationNotes {
    pub has_unmatched: bool,
    /// Whether slots are given whole, where a request matches only what others have taken.
    pub gives_whole_slots: bool,
    /// Number of requests that are not explained, because the steps of the run are spent.
    pub unexplained: usize,
    /// Number of evaluations and searches that exceeded their budgets.
    pub failures: u64,
    /// Whether evaluations were stopped at a limit.
    #[serde(default)]
    pub has_stopped: bool,
}

/// Prints what one run prints whose shares these are.
pub fn merge_shares(
    session: &mut Session,
    shares: &ShareSet,
    output: TableOutputArgs,
    is_summary: bool,
) -> Result<Status, Failure> {
    let frame: ExplanationFrame = shares.begin(session)?;
    if frame.form != form_name(output) {
        return refuse("the shares have another output format; give all shares and merge the same -o");
    }
    let is_well = frame.is_well;
    let mut page = ExplanationPage::begin(frame, output, is_summary, session.options.quiet)?;
    shares.replay(session, &mut |_, group: ExplainedGroup| page.add(group))?;
    page.finish()?;
    let notes: Vec<ExplanationNotes> = shares.notes()?;
    if notes.iter().any(|notes| notes.gives_whole_slots) {
        note_whole_slots(session);
    }
    report_unexplained(session, notes.iter().map(|notes| notes.unexplained).sum());
    session.report_budget_failures(notes.iter().map(|notes| notes.failures).sum());
    session.report_stopped_evaluations(notes.iter().any(|notes| notes.has_stopped));
    Ok(Status::of(is_well && !notes.iter().any(|notes| notes.has_unmatched)))
}

/// Returns what a frame calls the form of the output.
pub fn form_name(output: TableOutputArgs) -> String {
    output.form.map_or_else(String::new, |form| format!("{form:?}"))
}
