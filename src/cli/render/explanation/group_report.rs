//! The report of a group of equivalent subjects: what the explainer finds, and what the ads of jobs tell of the jobs.

use classad::ad::{Ad, Expression, Name, Value};
use classad::explain::{Explainer, JobCircumstance, LastRejection, RequestReport, RequestVerdict};
use classad::matching::{Pair, PairSide};
use classad::protocol::{JobState, evaluate_attribute};
use classad::syntax::{Style, expression_text};
use classad::text::shorten;

use super::case::ExplanationInput;
use super::limits::MAX_CLAUSE_CHARS;
use super::verdict_codes::needs_change;
use crate::cli::rank_warnings::wrong_rank;
use crate::cli::session::Session;

/// Explains a group of equivalent subjects. A job that does not wait for a slot has the verdict `NotWaiting`.
pub fn explain_group(
    session: &Session,
    case: &ExplanationInput<'_>,
    group: &[usize],
    explainer: &Explainer,
) -> RequestReport {
    let subject = &case.subjects[group[0]].ad;
    let report = explainer.explain_for(subject, case.user_of(session, group).as_ref());
    let report = with_job(session, case, group, report);
    let report = case.with_dedicated(session, group[0], report, explainer);
    let mut report = with_orphans(session, case, group[0], report);
    let has_place = report.verdict == RequestVerdict::Matches || report.verdict.is_of_states();
    let waits = has_place && report.job.is_some() && !case.is_reverse;
    let rank = if waits { useless_rank(session, case, group[0], explainer) } else { None };
    report.job.iter_mut().for_each(|job| job.circumstances.extend(rank.clone()));
    with_raised(session, case, group, report, explainer)
}

/// Returns that the rank of a job is no number for the first slot that it matches and may have, or for the first of all. `None` if
/// it is one.
fn useless_rank(
    session: &Session,
    case: &ExplanationInput<'_>,
    subject: usize,
    explainer: &Explainer,
) -> Option<JobCircumstance> {
    let (job, name) = (&case.subjects[subject].ad, case.protocol.rank_name());
    let is_number = |value: &Value| matches!(value, Value::Integer(_) | Value::Real(_) | Value::Boolean(_));
    job.get(name).filter(|rank| !rank.as_literal().is_some_and(is_number))?;
    let offer = explainer.matching_offers(job).first().copied().unwrap_or_default();
    let slot = case.partners.get(offer)?.ad.clone();
    let pair = Pair::new(job.clone(), slot, case.protocol.clone(), session.context());
    let value = pair.evaluate_attribute(PairSide::Request, name).ok()?;
    let kind = wrong_rank(&value, session.dialect())?;
    // The innermost part that is an error tells where it comes from.
    let is_error =
        |part: &Expression| pair.evaluate(PairSide::Request, part).is_ok_and(|value| matches!(value, Value::Error(_)));
    let is_source = |part: &&Expression| is_error(part) && !part.parts().skip(1).any(is_error);
    let source = job.get(name).and_then(|rank| rank.parts().find(is_source));
    let source = source.map(|part| {
        format!(": `{}` is an error", shorten(&expression_text(part, Style::of(session.dialect())), MAX_CLAUSE_CHARS))
    });
    Some(JobCircumstance {
        kind: "rank",
        predicate: format!("has a {name} that is {kind} and counts as 0{}", source.unwrap_or_default()),
        remedy: Some(format!("correct {name}: it is to be a number, and no slot is preferred so")),
        is_decisive: false,
    })
}

/// Returns the report with the number of dynamic slots that meet all clauses, where no slot meets one. They do not count
/// although nothing stands for them.
fn with_orphans(
    session: &Session,
    case: &ExplanationInput<'_>,
    subject: usize,
    mut report: RequestReport,
) -> RequestReport {
    if matches!(report.verdict, RequestVerdict::Unmet { .. }) && !case.is_reverse {
        let job = case.subjects[subject].ad.clone();
        let mut pair = Pair::new(job, Ad::default(), case.protocol.clone(), session.context());
        let meets = |orphan: &&usize| {
            let slot = case.parties.offers[**orphan].ad.clone();
            pair.replace(PairSide::Offer, &Pair::make_scope(slot, PairSide::Offer));
            pair.accepts(PairSide::Request).unwrap_or_default()
        };
        report.orphans = case.counted.orphans.iter().filter(meets).count();
        report.orphan_spelling = orphan_spelling(session, case, &report);
    }
    report
}

/// Returns how dynamic slots that do not count spell the string with which the decisive clause compares, and how many do.
fn orphan_spelling(session: &Session, case: &ExplanationInput<'_>, report: &RequestReport) -> Option<(String, usize)> {
    let RequestVerdict::Unmet { clause, .. } = &report.verdict else { return None };
    let comparison = report.clauses[*clause].analysis.comparison.as_ref()?;
    let (Value::String(wanted), name) = (&comparison.bound, comparison.attribute()?) else { return None };
    let wanted = wanted.to_str();
    let spelled = case.counted.orphans.iter().filter_map(|orphan| {
        let value = evaluate_attribute(&case.parties.offers[*orphan].ad, name, &session.context())?;
        let Value::String(text) = &value else { return None };
        let is_other_case = text.to_str() != wanted && text.to_str().eq_ignore_ascii_case(&wanted);
        is_other_case.then(|| value.to_string())
    });
    let spelled: Vec<String> = spelled.collect();
    Some((spelled.first()?.clone(), spelled.len()))
}

/// Returns the report of a job that is held because it used too much, with what it matches if it asks for more, or that no slot
/// that it matches has more.
fn with_raised(
    session: &Session,
    case: &ExplanationInput<'_>,
    group: &[usize],
    mut report: RequestReport,
    explainer: &Explainer,
) -> RequestReport {
    let is_matched = |report: &RequestReport| report.matches > 0 || report.slots.is_some_and(|of| of.if_drained > 0);
    let is_placed = is_matched(&report);
    let user = case.user_of(session, group);
    let hold = report.job.as_mut().and_then(|job| job.hold.as_mut());
    let exceeded = hold.and_then(|hold| hold.exceeded.as_mut()).filter(|exceeded| !exceeded.asks_for_more);
    let Some(exceeded) = exceeded.filter(|_| is_placed) else { return report };
    let name = Name::new(&exceeded.request);
    let raised = |amount: i64| {
        let ad = case.subjects[group[0]].ad.with(name.clone(), Expression::literal(Value::Integer(amount)));
        Some(explainer.explain_for(&ad, user.as_ref())).filter(is_matched)
    };
    let found = exceeded.larger().find_map(|amount| Some((amount, raised(amount)?)));
    if let Some((amount, of_raised)) = found {
        exceeded.enough = Some(amount);
        report.raised = Some(Box::new(of_raised));
    } else if let Some(least) = exceeded.least() {
        exceeded.is_most = raised(least).is_none();
    }
    report
}

/// Returns the report of a group with what the ads of jobs tell of the jobs.
pub fn with_job(
    session: &Session,
    case: &ExplanationInput<'_>,
    group: &[usize],
    mut report: RequestReport,
) -> RequestReport {
    report.job = case.job_report(session, group[0]);
    if let Some(job) = &mut report.job {
        job.outlook = case.job_outlook(session, group[0]);
        if let Some(access_point) = case.access_point {
            job.schedd = access_point.answer(&case.subjects[group[0]], &session.context());
            let full = access_point.full(&case.subjects[group[0]], &session.context());
            let is_decisive = job.state != JobState::Idle || !needs_change(report.verdict.as_str());
            job.circumstances.extend(full.map(|full| JobCircumstance { is_decisive, ..full }));
        }
        // Jobs of a group have slots and endings of their own.
        let is_single = group.len() == 1;
        job.slot = job.slot.take().filter(|_| is_single);
        job.ending = job.ending.take().filter(|_| is_single);
        let rejections = group.iter().map(|job| case.last_rejection(session, *job));
        job.last_rejection = rejections.reduce(LastRejection::later).flatten();
    }
    if case.is_not_waiting(session, group[0]) {
        report.verdict = RequestVerdict::NotWaiting(Box::new(report.verdict));
    }
    // What slots would match is of no interest.
    if report.job.as_ref().is_some_and(|job| job.is_without_slot) {
        report.changes.clear();
        report.choices.clear();
    }
    report
}
