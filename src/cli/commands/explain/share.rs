//! Partial results of `explain`: the reports on a share of the groups, and merging them.

use classad::text::counted;
use serde::{Deserialize, Serialize};

use super::page::{CauseTableChoice, ExplainedGroup, ExplanationFrame, ExplanationPage};
use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::partial::ShareSet;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::session::Session;

/// What a run or a share says beside its reports.
#[derive(Default, Serialize, Deserialize)]
pub struct ExplanationNotes {
    /// Whether some group matches nothing.
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

impl ExplanationNotes {
    /// Prints what a run says, or what its shares say together.
    pub fn report(notes: &[Self], session: &mut Session) {
        if notes.iter().any(|notes| notes.gives_whole_slots) {
            session.note("each job takes a whole slot, even a partitionable one; `--policy htcondor` divides slots");
        }
        let unexplained = notes.iter().map(|notes| notes.unexplained).sum();
        if unexplained > 0 {
            session.report_exceeded_budget(&format!("{} not explained", counted(unexplained, "request")));
        }
        session.report_budget_failures(notes.iter().map(|notes| notes.failures).sum());
        session.report_stopped_evaluations(notes.iter().any(|notes| notes.has_stopped));
    }
}

/// Prints what one run prints whose shares these are.
pub fn merge_shares(
    session: &mut Session,
    shares: &ShareSet,
    output: TableOutputArgs,
    choice: CauseTableChoice,
) -> Result<Status, Failure> {
    let frame: ExplanationFrame = shares.begin(session)?;
    if frame.form != form_name(output) {
        return refuse("the shares have another output format; give all shares and merge the same -o");
    }
    let all_served = frame.all_served;
    let mut page = ExplanationPage::begin(frame, output, choice, session.options.quiet)?;
    shares.replay(session, &mut |_, group: ExplainedGroup| page.add(group))?;
    page.finish()?;
    let notes: Vec<ExplanationNotes> = shares.notes()?;
    ExplanationNotes::report(&notes, session);
    Ok(Status::of(all_served && !notes.iter().any(|notes| notes.has_unmatched)))
}

/// Returns what a frame calls the form of the output.
pub fn form_name(output: TableOutputArgs) -> String {
    output.form.map_or_else(String::new, |form| format!("{form:?}"))
}
