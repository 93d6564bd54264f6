//! Explains groups of requests, one after the other or on several threads.

use classad::ad::{Ad, Expression, Value};
use classad::explain::{Explainer, GangReport, GangVerdict, RequestReport, RequestVerdict};
use classad::query::do_in_order;

use super::ExplainCommand;
use super::groups::explain_bilateral;
use super::page::ExplainedGroup;
use super::share::ExplanationNotes;
use crate::cli::outcome::Failure;
use crate::cli::render::explanation::{
    Accounting, Allocation, CauseEntry, ExplanationInput, GangExplainer, ReportRenderer,
};
use crate::cli::render::output::OutputForm;
use crate::cli::render::progress;
use crate::cli::session::Session;

/// What is printed of each group.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum GroupOutput {
    /// A report, and perhaps a table of the causes.
    Report,
    /// A row of a table for each request.
    Rows,
    /// Nothing: the causes are printed without the reports.
    Nothing,
}

/// Explains groups of requests.
pub struct GroupExplainer<'g> {
    pub case: &'g ExplanationInput<'g>,
    pub explainer: &'g Explainer,
    /// What other requests have taken. `None` if it does not matter.
    pub allocation: Option<Allocation>,
    /// How the requests stand in the accounting of the pool.
    pub accounting: Accounting,
    pub renderer: ReportRenderer<'g>,
    pub output: GroupOutput,
    /// Whether requests that match some offer are left out.
    pub leaves_out_matching: bool,
    /// Whether jobs that do not wait are grouped by kind: see [`group_requests`](super::groups::group_requests).
    pub tells_kinds: bool,
}

/// What comes of explaining a group by bilateral matching.
#[derive(Default)]
struct ExplainedPairs {
    /// What is said of the group; `None` if nothing is.
    content: Option<ExplainedGroup>,
    /// Whether nothing is to be done for the group.
    matches: bool,
    /// Whether other requests took its offers.
    is_taken: bool,
    /// Whether the steps of the run were spent before the group was explained.
    is_incomplete: bool,
}

impl<'g> GroupExplainer<'g> {
    /// Explains as `command` asks for. With `lists_reports`, the report of each group is printed.
    pub fn new(
        command: &ExplainCommand,
        (case, explainer): (&'g ExplanationInput<'g>, &'g Explainer),
        (allocation, accounting): (Option<Allocation>, Accounting),
        lists_reports: bool,
    ) -> Self {
        let form = command.ads.common.output.form;
        let has_rows = form.is_some_and(OutputForm::has_lines_of_cells);
        GroupExplainer {
            case,
            explainer,
            allocation,
            accounting,
            renderer: ReportRenderer::new(case, form, command.all_offers),
            output: match form {
                _ if has_rows && !command.summary => GroupOutput::Rows,
                Some(form) if has_rows || form == OutputForm::Svg => GroupOutput::Nothing,
                _ => GroupOutput::Report,
            },
            leaves_out_matching: command.unmatchable,
            tells_kinds: !lists_reports,
        }
    }

    /// Explains groups, and passes what is said of them to `take` in their order. `gangs` explains requests that need
    /// gangs; `None` if none does.
    ///
    /// # Errors
    ///
    /// The run is interrupted, or `take` fails.
    pub fn explain(
        &self,
        session: &mut Session,
        mut gangs: Option<GangExplainer<'_>>,
        groups: &[Vec<usize>],
        take: &mut dyn FnMut(&Session, ExplainedGroup) -> Result<(), Failure>,
    ) -> Result<ExplanationNotes, Failure> {
        let case = self.case;
        let total = Some(groups.len());
        let mut outcome = ExplanationNotes::default();
        let is_pair = |group: &Vec<usize>| !case.needs_gang(group[0]);
        // The search for a gang needs the matcher for itself. Reports about gangs therefore come from this thread.
        let mut has_taken = false;
        let mut next = 0;
        while next < groups.len() {
            let taken = self.allocation.as_ref().map(|allocation| (allocation, &self.accounting));
            if let Some(gangs) = gangs.as_mut().filter(|_| !is_pair(&groups[next])) {
                progress::report_step("explaining", next, total);
                if let Some(report) = gangs.explain(session, groups[next][0], taken)? {
                    outcome.has_unmatched |= !matches!(report.verdict, GangVerdict::Matches);
                    outcome.failures += u64::from(matches!(report.verdict, GangVerdict::Undecided(_)));
                    if let Some(content) = self.gang_content(session, &groups[next], &report) {
                        take(session, content)?;
                    }
                }
                next += 1;
                continue;
            }
            let pairs = &groups[next..][..groups[next..].iter().take_while(|group| is_pair(group)).count()];
            let session = &*session;
            let explain = |place: usize| self.explain_pairs(session, &pairs[place]);
            do_in_order(session.options.threads(), pairs.len(), explain, |place, explained: Result<_, Failure>| {
                progress::report_step("explaining", next + place, total);
                let explained: ExplainedPairs = explained?;
                outcome.has_unmatched |= !explained.matches;
                outcome.unexplained += if explained.is_incomplete { pairs[place].len() } else { 0 };
                has_taken |= explained.is_taken;
                explained.content.map_or(Ok(()), |content| take(session, content))
            })?;
            next += pairs.len();
        }
        outcome.gives_whole_slots = has_taken && self.gives_whole_slots();
        outcome.has_stopped = session.has_stopped_evaluations();
        outcome.failures += gangs.as_ref().map_or(0, GangExplainer::budget_failures);
        Ok(outcome)
    }

    /// Returns what is said of a group of requests that need gangs; `None` if nothing is.
    fn gang_content(&self, session: &Session, group: &[usize], report: &GangReport) -> Option<ExplainedGroup> {
        let entry = || Box::new(CauseEntry::of_gang(session, self.case, group, report));
        if self.output == GroupOutput::Nothing {
            return Some(ExplainedGroup::Report(entry(), String::new()));
        }
        (!session.options.quiet).then(|| ExplainedGroup::Gang(entry(), self.renderer.gang(session, group, report)))
    }

    /// Explains a group of requests by bilateral matching.
    fn explain_pairs(&self, session: &Session, group: &[usize]) -> Result<ExplainedPairs, Failure> {
        let incomplete = ExplainedPairs { is_incomplete: true, ..ExplainedPairs::default() };
        if session.context().has_spent_run() {
            return Ok(incomplete);
        }
        let taken = (self.allocation.as_ref(), &self.accounting);
        let told = &group[..self.told(session, group)];
        let report = explain_bilateral(session, self.case, told, self.explainer, taken);
        if report.is_incomplete {
            return Ok(incomplete);
        }
        let explained = ExplainedPairs {
            matches: matches!(report.verdict, RequestVerdict::Matches | RequestVerdict::NotWaiting(_)),
            is_taken: matches!(report.verdict, RequestVerdict::Taken(_) | RequestVerdict::PartlyServed { .. }),
            ..ExplainedPairs::default()
        };
        if session.options.quiet || (self.leaves_out_matching && report.matches > 0) {
            return Ok(explained);
        }
        let content = if self.output == GroupOutput::Rows {
            ExplainedGroup::Rows(self.case.rows(session, group, &report))
        } else {
            let is_silent = self.output == GroupOutput::Nothing;
            let text = if is_silent { String::new() } else { self.renderer.report(session, told, &report)? };
            ExplainedGroup::Report(Box::new(CauseEntry::new(session, self.case, (group, told.len()), &report)), text)
        };
        Ok(ExplainedPairs { content: Some(content), ..explained })
    }

    /// Reports on the requests that the policy does not serve. Also returns what they contribute to the table of causes.
    pub fn report_unserved(&self, session: &Session, unserved: &[usize]) -> Result<(Box<CauseEntry>, String), Failure> {
        let report = RequestReport { verdict: RequestVerdict::NotServed, ..self.explainer.explain(&Ad::default()) };
        let text = if self.output == GroupOutput::Nothing {
            String::new()
        } else {
            self.renderer.report(session, unserved, &report)?
        };
        let entry = CauseEntry::new(session, self.case, (unserved, unserved.len()), &report);
        Ok((Box::new(entry), text))
    }

    /// Number of members of a group of which its report tells: of held jobs of one kind, the first. The others match other
    /// slots once released.
    pub fn told(&self, session: &Session, group: &[usize]) -> usize {
        let is_kind = self.tells_kinds && self.allocation.is_some() && self.case.is_not_waiting(session, group[0]);
        if is_kind { 1 } else { group.len() }
    }

    /// Whether a request holds a partitionable slot whole, as the policy says nothing of what remains.
    fn gives_whole_slots(&self) -> bool {
        let is_partitionable = |offer: &usize| {
            self.case.parties.offers[*offer].ad.get_str("PartitionableSlot").and_then(Expression::as_literal)
                == Some(&Value::Boolean(true))
        };
        let Some(allocation) = self.allocation.as_ref().filter(|_| self.case.policy.policy.residual.is_none()) else {
            return false;
        };
        (0..self.case.parties.offers.len())
            .filter(|offer| allocation.is_held(*offer))
            .any(|offer| is_partitionable(&offer))
    }
}
