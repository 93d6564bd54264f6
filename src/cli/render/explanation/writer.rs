//! Writing of reports to standard output, as text or as JSON.

use std::fmt::Write as _;

use classad::explain::{
    AdNames, ClauseRemark, ClosestOffer, FailureReason, GangReport, JobReport, LastRejection, RefusalGroup,
    RequestReport, RequestVerdict, SlotCounts, UnmetOfferClause,
};
use classad::protocol::SlotState;
use classad::text::{counted, join_and, shorten, with_commas};
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::cli::clock::utc_text;
use crate::cli::outcome::Failure;
use crate::cli::render::diagnostics::{self, sentence_line, single_line};
use crate::cli::render::output::OutputForm;
use crate::cli::render::table::TableLayout;
use crate::cli::session::Session;

use super::case::ExplanationInput;
use super::gangs::ListedParties;
use super::limits::{DEFAULT_MAX_ITEMS, MAX_CLAUSE_CHARS, MAX_EVIDENCE_ITEMS, MAX_LISTED_OFFERS};
use super::listing::{first_lines, push_rest, push_wrapped, two_column_listing, wrapped};
use super::pair;
use super::remedies::what_to_do;
use super::value_listing::values_listing;
use super::{diagram, gangs};

/// Renders reports as text or as JSON. Threads can share a renderer.
#[derive(Clone, Copy)]
pub struct ReportRenderer<'c> {
    case: &'c ExplanationInput<'c>,
    form: OutputForm,
    /// Maximum number of elements in lists of offers of a JSON report.
    max_offers: usize,
}

/// Whether reports in this form are written for programs.
pub fn is_data(form: OutputForm) -> bool {
    matches!(form, OutputForm::Json | OutputForm::Jsonl)
}

impl<'c> ReportRenderer<'c> {
    /// Makes the renderer. With `all_offers`, JSON reports list all offers.
    pub fn new(case: &'c ExplanationInput<'c>, form: Option<OutputForm>, all_offers: bool) -> Self {
        let max_offers = if all_offers { usize::MAX } else { MAX_LISTED_OFFERS };
        ReportRenderer { case, form: form.unwrap_or(OutputForm::Table), max_offers }
    }

    /// Renders the report about a group of equivalent requests or, with `--reverse`, offers.
    pub fn report(&self, session: &Session, group: &[usize], report: &RequestReport) -> Result<String, Failure> {
        if self.is_data() {
            let summary = self.case.summary(session, group, report, usize::MAX);
            return Ok(self.json(&super::json::report_json(session, self.case, group, report, &summary)));
        }
        let is_known = report.verdict.is_told_by_summary() && self.case.evidence_level == 0;
        let is_brief = is_known || report.verdict == RequestVerdict::NoOffers;
        let summary = self.case.summary(session, group, report, MAX_CLAUSE_CHARS);
        let mut text = first_lines(&summary);
        let behind = report.own_expression.as_ref().map(|behind| single_line(&behind.phrase));
        let is_told = matches!(report.verdict, RequestVerdict::Unmet { fault: FailureReason::NoValue(_), .. });
        let behind = behind.filter(|behind| !is_told && !summary.contains(behind));
        text.extend(behind.map(|behind| sentence_line(&behind)));
        let given = report.job.as_ref().and_then(JobReport::given_reason).map(single_line);
        if let Some(reason) = given.filter(|reason| !summary.contains(reason.trim_end_matches('.'))) {
            text.push_str(&sentence_line(&format!("hold reason: {reason}")));
        }
        let told = self.case.summary_writer(session, self.case.subjects[group[0]].id(), &group[..1], MAX_CLAUSE_CHARS);
        let circumstances = report.job.iter().flat_map(|job| &job.circumstances).filter(|known| !known.is_decisive);
        text.extend(circumstances.map(|known| wrapped(&single_line(&told.circumstance(known)))));
        text.push_str(&self.policies(session, group, report));
        text.push_str(&self.job_remarks(session, group, &report.verdict));
        if is_brief {
            text.push_str(&what_to_do(session, self.case, group, report));
        } else {
            text.push_str(&self.sections(session, group, report)?);
        }
        Ok(text)
    }

    /// Renders the report about the gang of a group of requests.
    pub fn gang(&self, session: &Session, group: &[usize], report: &GangReport) -> String {
        let subject = self.case.group_name(group);
        let longest = if self.is_data() { usize::MAX } else { MAX_CLAUSE_CHARS };
        let writer = self.case.summary_writer(session, &subject, group, longest);
        let summary = single_line(&writer.gang_summary(report));
        if self.is_data() {
            let requests: Vec<&str> = group.iter().map(|at| self.case.subjects[*at].id()).collect();
            let parties = ListedParties { parties: self.case.parties, max_offers: self.max_offers };
            let not_examined = &self.case.not_examined;
            return self.json(&gangs::gang_report_json(report, &requests, &summary, parties, not_examined));
        }
        gangs::gang_report_text(report, &writer, self.case.evidence_level > 0)
    }

    /// Whether reports are written for programs.
    pub fn is_data(&self) -> bool {
        is_data(self.form)
    }

    /// Renders a report as JSON: on one line, or indented as an element of a document.
    fn json(&self, report: &Json) -> String {
        match self.form {
            OutputForm::Jsonl => format!("{report}\n"),
            // JSON text has no line breaks within strings, so that each line can be indented.
            _ => format!("{report:#}").replace('\n', "\n    "),
        }
    }
    /// Returns the sections below the summary sentence.
    fn sections(&self, session: &Session, group: &[usize], report: &RequestReport) -> Result<String, Failure> {
        let has_all = self.case.evidence_level > 0;
        let decisive = report.told_clauses();
        let never = |place: usize| report.clauses[place].counts.is_true == 0;
        let is_labelled = |place: usize| has_all || decisive.contains(&place) || never(place);
        let mut sections = vec![what_to_do(session, self.case, group, report)];
        if (0..report.clauses.len()).any(is_labelled) {
            let attribute = report.clauses[0].analysis.clause.path.first();
            let attribute = attribute.map(ToString::to_string).unwrap_or_default();
            let name = format!("{attribute} of {}", self.case.subjects[group[0]].id());
            sections.push(diagram::draw_clauses(session, &name, report, is_labelled, has_all));
        }
        sections.push(self.offered_values(report));
        if let Some(slots) = report.slots.filter(|_| has_all) {
            sections.push(slot_table(&slots));
        }
        if has_all && !report.clauses.is_empty() {
            sections.push(clause_table(report));
        }
        if has_all {
            sections.extend([conflicts(report), self.refusals(session, group, report, MAX_EVIDENCE_ITEMS)]);
        } else if report.tells_refusals() || report.verdict == RequestVerdict::Claimed && report.refusing() > 0 {
            sections.push(self.refusals(session, group, report, DEFAULT_MAX_ITEMS));
        }
        // Where it says no more than the sections above, it is left out.
        let tells_more = |near: &ClosestOffer| {
            near.failed_clauses.iter().any(|(place, _)| !is_labelled(*place)) || near.unmet_demands.len() > 1
        };
        if has_all || report.near_offer().is_some_and(tells_more) {
            sections.push(self.nearest(session, group, report, if has_all { DEFAULT_MAX_ITEMS } else { 1 }));
        }
        sections.push(findings(report, has_all));
        if has_all {
            sections.push(wrapped(&format!("not examined: {}", self.case.not_examined.join(", "))));
        }
        if self.case.evidence_level > 1
            && let Some(near) = report.closest.first()
        {
            sections.push(pair::evaluation_trees(session, self.case, group[0], near.offer)?);
        }
        let sections = sections.iter().filter(|section| !section.is_empty());
        Ok(sections.flat_map(|section| [section.trim_end(), "\n"]).collect())
    }

    /// Says what the policies of jobs will do.
    fn policies(&self, session: &Session, group: &[usize], report: &RequestReport) -> String {
        let Some(outlook) = report.job.as_ref().and_then(|job| job.outlook.as_ref()) else { return String::new() };
        let writer = self.case.summary_writer(session, "it", group, MAX_CLAUSE_CHARS);
        let is_held = report.job.as_ref().is_some_and(|job| job.hold.is_some());
        let is_told =
            !is_held && matches!(report.verdict, RequestVerdict::NotWaiting(_)) && outlook.imminent().is_none();
        let lines = writer.policies().lines(outlook, is_told);
        let first = self.case.subjects[group[0]].id();
        let heading = if group.len() > 1 { format!("policies, of {first}:") } else { "policies:".to_owned() };
        if lines.is_empty() {
            return String::new();
        }
        if let [only] = lines.as_slice() {
            return wrapped(&single_line(&format!("{heading} {only}")));
        }
        let mut text = format!("{heading}\n");
        for line in &lines {
            push_wrapped(&mut text, "  ", &single_line(line));
        }
        text
    }

    /// Returns what the ads of waiting jobs tell beside their constraints: why the negotiator found no slot last, and
    /// which limits they share with other jobs.
    fn job_remarks(&self, session: &Session, group: &[usize], verdict: &RequestVerdict) -> String {
        let (mut rejections, mut limits) = (IndexMap::<String, usize>::new(), IndexMap::<String, usize>::new());
        for job in group {
            let Some(report) = self.case.job_report(session, *job) else { continue };
            let rejection = self.case.last_rejection(session, *job).as_ref().map(rejection_text);
            if let Some(text) = rejection {
                *rejections.entry(text).or_default() += 1;
            }
            report.concurrency_limits.into_iter().for_each(|names| *limits.entry(names).or_default() += 1);
        }
        let remarks = |counts: IndexMap<String, usize>, opening: &str, ending: &str| -> String {
            let of_all = |jobs: usize| match group.len() {
                all if jobs == all => String::new(),
                all => format!(" ({} of {} jobs)", with_commas(jobs), with_commas(all)),
            };
            let shown = counts.iter().take(DEFAULT_MAX_ITEMS);
            shown
                .map(|(text, jobs)| wrapped(&single_line(&format!("{opening}{text}{}{ending}", of_all(*jobs)))))
                .collect()
        };
        // The verdict says how much of the limit is in use.
        if verdict.limit().is_some() {
            limits.clear();
        }
        let is_applied = self.case.policy.policy.limits.is_some();
        let ending = if is_applied { "" } else { "; the ads do not say how much of each limit is in use" };
        remarks(rejections, "last failed match for this autocluster", "")
            + &remarks(limits, "concurrency limits: ", ending)
    }

    fn refusals(&self, session: &Session, group: &[usize], report: &RequestReport, most: usize) -> String {
        let has_suitable = report.suitable_refusal_count > 0;
        let all = if has_suitable { report.suitable_refusal_count } else { report.refusal_count };
        let count = |refusal: &RefusalGroup| if has_suitable { refusal.suitable } else { refusal.offers };
        let subject = self.case.group_name(group);
        let writer = self.case.summary_writer(session, &subject, group, MAX_CLAUSE_CHARS);
        // The groups with suitable offers come first.
        let rows = report.refusals.iter().take(all.min(most)).map(|refusal| {
            let example = self.named_with_state(session, group, refusal.example);
            let clause = match &refusal.demand.clause {
                Some(_) => single_line(&writer.demand_phrase(&refusal.demand, count(refusal) > 1)),
                None => "no constraint".to_owned(),
            };
            let offers = match count(refusal) {
                1 => format!("1: {example}"),
                several => format!("{}, such as {example}", with_commas(several)),
            };
            let further = refusal.further.iter().map(|demand| writer.demand_phrase(demand, false));
            let further = further.map(|demand| single_line(&demand));
            ([clause].into_iter().chain(further).collect(), offers)
        });
        let rows: Vec<(Vec<String>, String)> = rows.collect();
        let partners = self.case.nouns[1];
        let heading = match (has_suitable, group.len()) {
            (true, 1) => format!("why {partners} that it accepts refuse it:"),
            (true, _) => format!("why {partners} that they accept refuse them:"),
            (false, 1) => format!("why {partners} that it does not accept refuse it, too:"),
            (false, _) => format!("why {partners} that they do not accept refuse them, too:"),
        };
        let mut text = two_column_listing(&heading, &rows);
        push_rest(&mut text, all, most, "reason");
        text
    }

    /// Lists the values that the offers have where the clauses of the summary ask for others, or the places of offers where the
    /// request wants others.
    fn offered_values(&self, report: &RequestReport) -> String {
        let told = report.told_clauses().into_iter().map(|place| &report.clauses[place]);
        let of_clauses = told.filter_map(|clause| Some((clause.offered()?, clause.closest_value.is_some())));
        let all = of_clauses.chain(report.places.iter().map(|places| (places, false)));
        all.map(|(offered, has_bound)| values_listing(self.case, offered, has_bound)).collect()
    }

    /// Returns the name of an offer, with its state if it is a slot that is not free.
    fn named_with_state(&self, session: &Session, group: &[usize], offer: usize) -> String {
        let user = self.case.user_of(session, group);
        let name = self.case.partners[offer].id();
        match self.case.slot_state(offer, user.as_ref()).filter(|state| state != SlotState::Free.word()) {
            Some(state) => format!("{name} ({})", single_line(&state)),
            None => name.to_owned(),
        }
    }

    fn nearest(&self, session: &Session, group: &[usize], report: &RequestReport, most: usize) -> String {
        let nearest = report.closest.iter().take(most);
        nearest
            .map(|near| wrapped(&format!("nearest: {}", self.near_offer_text(session, group, report, near))))
            .collect()
    }

    /// Returns the reasons why one of the nearest offers does not match, such as ``slot1@node003: `Memory > 4` is
    /// false; it refuses by `Owner == "a"` ``.
    fn near_offer_text(
        &self,
        session: &Session,
        group: &[usize],
        report: &RequestReport,
        near: &ClosestOffer,
    ) -> String {
        let quoted = |text: &str| format!("`{}`", shorten(text, MAX_CLAUSE_CHARS));
        let mut reasons: Vec<String> = near
            .failed_clauses
            .iter()
            .map(|(clause, outcome)| format!("{} is {}", quoted(&report.clauses[*clause].text), outcome.phrase()))
            .collect();
        let subject = self.case.group_name(group);
        let writer = self.case.summary_writer(session, &subject, group, MAX_CLAUSE_CHARS);
        let refuses = |demand: &UnmetOfferClause| {
            let opening = if demand.clause.is_some() { "it refuses: " } else { "" };
            single_line(&format!("{opening}{}", writer.demand_phrase(demand, false)))
        };
        reasons.extend(near.unmet_demands.iter().map(refuses));
        format!("{}: {}", self.named_with_state(session, group, near.offer), reasons.join("; "))
    }
}

/// When the negotiator found no slot last, and why.
fn rejection_text(last: &LastRejection) -> String {
    match last.time {
        Some(time) => format!(": {}, reason: {}", utc_text(time), last.reason),
        None => format!(", reason: {}", last.reason),
    }
}

fn conflicts(report: &RequestReport) -> String {
    let sets: Vec<&Vec<usize>> = report.conflicts.sets.iter().filter(|set| set.len() > 1).collect();
    let mut text = String::new();
    for set in sets.iter().take(MAX_EVIDENCE_ITEMS) {
        let clauses: Vec<String> = set.iter().map(|place| (place + 1).to_string()).collect();
        let _ = writeln!(text, "clauses {} are never met together", join_and(&clauses));
    }
    push_rest(&mut text, sets.len(), MAX_EVIDENCE_ITEMS, "conflict");
    if report.conflicts.is_truncated {
        text.push_str("  the list of conflicts is not complete: there are too many\n");
    }
    text
}

/// Returns remarks on clauses of the report. Leaves out remarks that say nothing beyond the summary sentence, unless
/// `has_all`.
fn findings(report: &RequestReport, has_all: bool) -> String {
    let told = report.told_clauses();
    let is_shown = |finding: &&ClauseRemark| {
        let is_never = report.clauses[finding.clause].counts.is_true == 0;
        has_all || (!told.contains(&finding.clause) && is_never && finding.kind != "fall-through")
    };
    let findings = report.remarks.iter().filter(is_shown);
    findings.map(|finding| wrapped(&format!("{}: {}", finding.kind, finding.text))).collect()
}

/// Returns the table of slots, as `condor_q -better-analyze` has it.
fn slot_table(slots: &SlotCounts) -> String {
    let rejecting = [
        (slots.rejected_by_request, "rejected by the requirements of the job"),
        (slots.rejecting_request, "accepted by the job, now or if empty, but with requirements that reject it"),
    ];
    let matching = slots.matching.words().into_iter().map(|(number, words)| (number, format!("matching, {words}")));
    let full = (slots.if_drained, "matching once their jobs end: full".to_owned());
    let rows = rejecting.map(|(number, what)| (number, what.to_owned())).into_iter().chain(matching).chain([full]);
    let width = with_commas(slots.slots).len();
    let mut text = format!("of {}\n", counted(slots.slots, "slot"));
    for (number, what) in rows.filter(|(number, _)| *number > 0) {
        let _ = writeln!(text, "  {:>width$} {what}", with_commas(number));
    }
    text
}

/// Returns the table of all clauses with their counts.
fn clause_table(report: &RequestReport) -> String {
    let header = ["#", "clause", "true", "false", "undef", "error", "left", "only", "best"];
    let mut grid =
        TableLayout::new(&header).with_number_columns(&[2, 3, 4, 5, 6, 7]).with_expendable_columns(&[8, 7, 6]);
    for (place, clause) in report.clauses.iter().enumerate() {
        let counts = &clause.counts;
        let numbers =
            [counts.is_true, counts.is_false, counts.undefined, counts.error, clause.remaining, clause.sole_blocker];
        let best = clause.closest_value.as_ref().map(|best| crate::cli::render::rows::value_text(best, true));
        let best = best.map(|best| single_line(&String::from_utf8_lossy(&best))).unwrap_or_default();
        let texts = [(place + 1).to_string(), single_line(&clause.text)];
        grid.push_row(texts.into_iter().chain(numbers.map(with_commas)).chain([best]));
    }
    grid.render(diagnostics::table_width())
}
