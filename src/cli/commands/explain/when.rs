//! `explain --when`: when jobs and slots accept each other.

use clap::Args;
use classad::ad::time::local_moment;
use classad::constraint::{MAX_SPAN_SECONDS, Timeline};
use classad::explain::MatchTimes;
use classad::matching::Query;
use serde_json::{Value as Json, json};

use super::ExplainCommand;
use super::job_results::write_job_results;
use super::selection::{select_subjects, served_and_unserved};
use crate::cli::args::global;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::diagnostics::terminal_width;
use crate::cli::render::explanation::ExplanationInput;
use crate::cli::render::explanation::times::{TIME_COLUMNS, TIMES_SCHEMA, TimesGroup, TimesWriter};
use crate::cli::render::progress;
use crate::cli::render::table::TableLayout;
use crate::cli::session::Session;

/// Number of seconds over which times are sought without `--until`.
const USUAL_SECONDS: i64 = 86_400;

/// Maximum number of slots that are listed for a job without `--all-offers`.
const MAX_LISTED_SLOTS: usize = 5;

/// The options about times.
#[derive(Args, Clone)]
pub struct WhenArgs {
    /// Print when the requirements of a job and of slots are true for each other, over the next 24 hours
    ///
    /// First come the numbers of slots that match, then the slots that match first. Other jobs do not count.
    #[arg(long, conflicts_with_all = ["reverse", "offer", "summary", "unmatched", "unmatchable", "fix", "fix_scripts", "when_start"])]
    pub when: bool,
    /// Seek times up to TIME, or over a duration such as 7d, at most 366 days ahead
    #[arg(long, value_name = "TIME", requires = "when", value_parser = global::moment, allow_hyphen_values = true)]
    until: Option<global::Moment>,
}

impl WhenArgs {
    /// Prints when jobs and slots accept each other.
    pub fn explain(
        &self,
        session: &mut Session,
        command: &ExplainCommand,
        case: &ExplanationInput<'_>,
        filter: Option<&Query>,
    ) -> Result<Status, Failure> {
        if (0..case.subjects.len()).any(|request| case.needs_gang(request)) {
            return refuse("--when knows nothing of gangs, and some ads have Ports");
        }
        let context = session.context();
        let now = context.now.unwrap_or_default();
        let end = self.until.unwrap_or(global::Moment::After(USUAL_SECONDS)).seconds(now);
        if end <= now {
            let [end, now] = [end, now].map(local_moment);
            return refuse(format!("--until {end} is not after {now}, the time of the evaluations (--now)"));
        }
        if end - now > MAX_SPAN_SECONDS {
            session.note(&format!("times are sought up to {}", local_moment(now.saturating_add(MAX_SPAN_SECONDS))));
        }
        let (roots, unserved) = served_and_unserved(command, session, case)?;
        let subjects = select_subjects(command, session, case, filter, [roots, unserved], None)?;
        let mut asked = [subjects.left, subjects.unserved].concat();
        asked.sort_unstable();
        if !subjects.are_named {
            asked.retain(|job| !case.is_not_waiting(session, *job));
        }
        let offers = case.partners;
        let (mut groups, mut done) = (Vec::new(), 0);
        for group in case.group_equivalent(session, &asked) {
            let ads = offers.iter().map(|offer| &offer.ad);
            let times = MatchTimes::of(&case.subjects[group[0]].ad, ads, &case.protocol, &context, now..end);
            session.check_interrupt()?;
            done += group.len();
            progress::report_step("seeking times", done, Some(asked.len()));
            groups.push(TimesGroup { group, times });
        }
        note_bounds(session, &groups, end.min(now.saturating_add(MAX_SPAN_SECONDS)));
        let most_listed = if command.all_offers { usize::MAX } else { MAX_LISTED_SLOTS };
        let writer = TimesWriter { case, now, slots: offers.len(), most_listed };
        write_times(session, &writer, &groups, (end, command.ads.common.output))?;
        Ok(Status::of(!groups.is_empty() && groups.iter().all(|of| !of.times.offers.is_empty())))
    }
}

/// Prints notes of what is not exact.
fn note_bounds(session: &Session, groups: &[TimesGroup], end: i64) {
    let counts = || groups.iter().map(|of| &of.times.counts);
    if let Some(seconds) = counts().filter_map(|counts| counts.sampling).max() {
        session.note(&format!("some bounds are seen in samples every {seconds} s"));
    }
    if let Some(first) = counts().filter_map(Timeline::end).min().filter(|first| *first < end) {
        session.note(&format!("some expressions take too many steps: the search looked up to {}", local_moment(first)));
    }
}

/// Writes when jobs and slots accept each other.
fn write_times(
    session: &Session,
    writer: &TimesWriter<'_>,
    groups: &[TimesGroup],
    (end, output): (i64, TableOutputArgs),
) -> Result<(), Failure> {
    let document = |reports: Vec<Json>| json!({ "schema": TIMES_SCHEMA, "time": writer.now, "end": end, "offers": writer.slots, "reports": reports });
    let text = || match groups {
        [] => "no selected job waits\n".to_owned(),
        [only] => writer.report(session, only, terminal_width()),
        groups => {
            let header = ["jobs", "slots now", "at most", "next change"];
            let mut table = TableLayout::new(&header).with_number_columns(&[1, 2]);
            for of in groups {
                table.push_row(writer.table_row(of));
            }
            table.render(Some(terminal_width()))
        }
    };
    let rows = || groups.iter().flat_map(|of| writer.rows(of)).collect();
    let reports = || groups.iter().flat_map(|of| writer.json(session, of)).collect();
    write_job_results(output, (&TIME_COLUMNS, rows), (reports, document), text)
}
