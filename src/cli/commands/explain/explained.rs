//! Explains groups of requests, one after the other or on several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use classad::ad::{Expression, Value};
use classad::explain::{Explainer, GangVerdict, RequestVerdict};
use classad::query::do_in_order;

use super::groups::explain_bilateral;
use super::page::ExplainedGroup;
use super::share::ExplanationNotes;
use crate::cli::outcome::Failure;
use crate::cli::render::explanation::{Allocation, CauseEntry, ExplanationInput, GangExplainer, ReportRenderer};
use crate::cli::render::progress;
use crate::cli::session::Session;

/// Explains groups of requests.
pub struct GroupExplainer<'g> {
    pub case: &'g ExplanationInput<'g>,
    pub explainer: &'g Explainer,
    /// Explains requests that need gangs. `None` if none does.
    pub gangs: Option<GangExplainer<'g>>,
    /// What other requests have taken. `None` if it does not matter.
    pub allocation: Option<Allocation>,
    pub renderer: ReportRenderer<'g>,
    /// Whether each request is a row of a table.
    pub is_listed: bool,
    /// Whether the causes are printed without the reports.
    pub only_causes: bool,
    /// Whether requests that match some offer are left out.
    pub leaves_out_matching: bool,
}

impl GroupExplainer<'_> {
    /// Explains groups, and passes what is said of them to `take` in their order.
    ///
    /// # Errors
    ///
    /// The run is interrupted, or `take` fails.
    pub fn explain(
        &mut self,
        session: &mut Session,
        groups: &[Vec<usize>],
        take: &mut dyn FnMut(&Session, ExplainedGroup) -> Result<(), Failure>,
    ) -> Result<ExplanationNotes, Failure> {
        let (is_listed, only_causes, leaves_out_matching) =
            (self.is_listed, self.only_causes, self.leaves_out_matching);
        let GroupExplainer { case, explainer, gangs, allocation, renderer, .. } = self;
        let (case, explainer, renderer, allocation) = (*case, *explainer, *renderer, allocation.as_ref());
        let total = Some(groups.len());
        let mut outcome = ExplanationNotes::default();
        let is_pair = |group: &Vec<usize>| !case.needs_gang(group[0]);
        // The search for a gang needs the matcher for itself. Reports about gangs therefore come from this thread.
        let has_taken = AtomicBool::new(false);
        let unexplained = AtomicUsize::new(0);
        let mut next = 0;
        while next < groups.len() {
            if let Some(gangs) = gangs.as_mut().filter(|_| !is_pair(&groups[next])) {
                progress::report_step("explaining", next, total);
                if let Some(report) = gangs.explain(session, groups[next][0], allocation)? {
                    outcome.has_unmatched |= !matches!(report.verdict, GangVerdict::Matches);
                    outcome.failures += u64::from(matches!(report.verdict, GangVerdict::Undecided(_)));
                    let entry = Box::new(CauseEntry::of_gang(session, case, &groups[next], &report));
                    if only_causes {
                        take(session, ExplainedGroup::Report(entry, String::new()))?;
                    } else if !session.options.quiet {
                        let text = renderer.gang(session, &groups[next], &report);
                        take(session, ExplainedGroup::Gang(entry, text))?;
                    }
                }
                next += 1;
                continue;
            }
            let pairs = &groups[next..][..groups[next..].iter().take_while(|group| is_pair(group)).count()];
            let session = &*session;
            let explain = |place: usize| {
                let group = &pairs[place];
                if session.context().has_spent_run() {
                    unexplained.fetch_add(group.len(), Ordering::Relaxed);
                    return Ok((None, false));
                }
                let report = explain_bilateral(session, case, group, explainer, allocation);
                if report.is_incomplete {
                    unexplained.fetch_add(group.len(), Ordering::Relaxed);
                    return Ok((None, false));
                }
                let matches = matches!(report.verdict, RequestVerdict::Matches | RequestVerdict::NotWaiting(_));
                let is_taken = matches!(report.verdict, RequestVerdict::Taken(_) | RequestVerdict::PartlyServed { .. });
                has_taken.fetch_or(is_taken, Ordering::Relaxed);
                if session.options.quiet || (leaves_out_matching && report.matches > 0) {
                    return Ok((None, matches));
                }
                if is_listed {
                    return Ok((Some(ExplainedGroup::Rows(case.rows(session, group, &report))), matches));
                }
                let text = if only_causes { String::new() } else { renderer.report(session, group, &report)? };
                let entry = Box::new(CauseEntry::new(session, case, group, &report));
                Ok((Some(ExplainedGroup::Report(entry, text)), matches))
            };
            do_in_order(session.options.threads(), pairs.len(), explain, |place, explained: Result<_, Failure>| {
                progress::report_step("explaining", next + place, total);
                let (content, matches) = explained?;
                outcome.has_unmatched |= !matches;
                content.map_or(Ok(()), |content| take(session, content))
            })?;
            next += pairs.len();
        }
        outcome.gives_whole_slots = has_taken.into_inner() && self.gives_whole_slots();
        outcome.has_stopped = session.has_stopped_evaluations();
        outcome.unexplained = unexplained.into_inner();
        outcome.failures += self.gangs.as_ref().map_or(0, GangExplainer::budget_failures);
        Ok(outcome)
    }

    /// Whether a request holds a partitionable slot whole, as the policy says nothing of what remains.
    fn gives_whole_slots(&self) -> bool {
        let is_partitionable = |offer: &usize| {
            self.case.partners[*offer].ad.get_str("PartitionableSlot").and_then(Expression::as_literal)
                == Some(&Value::Boolean(true))
        };
        let Some(allocation) = self.allocation.as_ref().filter(|_| self.case.policy.policy.residual.is_none()) else {
            return false;
        };
        (0..self.case.partners.len()).filter(|offer| allocation.is_held(*offer)).any(|offer| is_partitionable(&offer))
    }
}
