//! What can be done about clauses that no offer meets, and for which no change is known.

use crate::constraint::{ClauseComparison, ClauseOperand};
use crate::protocol::requested_resource;
use crate::text::{join_and, join_with, shorten};

use super::changes::{demands_amount, is_system_attribute};
use super::clauses::text;
use super::corrected_slot::CorrectedSlot;
use super::failure_reason::FailureReason;
use super::features::{feature_remedy, is_of_feature};
use super::report::{RequestReport, RequestVerdict};
use super::summary::SummaryWriter;

/// Maximum number of characters of a corrected clause, which goes on in further lines.
const MAX_CORRECTED_CHARS: usize = 300;

/// Says what to do about the clauses to which a verdict is due. `None` if they do not tell.
pub(super) fn clause_remedy(
    writer: &SummaryWriter<'_>,
    report: &RequestReport,
    verdict: &RequestVerdict,
) -> Option<String> {
    one_of_two(writer, report, verdict)
        .or_else(|| of_near_name(writer, report, verdict))
        .or_else(|| of_feature(report, verdict))
        .or_else(|| of_system(writer, report, verdict))
        .or_else(|| of_correction(writer, report, verdict))
        .or_else(|| of_amount(writer, report, verdict))
}

/// Says which of two parts of a request to leave out, because they contradict each other. `None` if none do.
fn one_of_two(writer: &SummaryWriter<'_>, report: &RequestReport, verdict: &RequestVerdict) -> Option<String> {
    if let RequestVerdict::Contradiction { clauses, subject, .. } = verdict
        && let [one, other] = clauses.as_slice()
        && let [Some(one_side), Some(other_side)] =
            [one, other].map(|place| report.clauses[*place].analysis.comparison.as_ref())
        && one_side.bound_is_amount()
        && other_side.bound_is_amount()
        && one_side.asks_for_less() != other_side.asks_for_less()
        && let Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) = ClauseOperand::of(subject)
        && name.is("ClockMin")
    {
        let [one, other] = [one, other].map(|place| &report.clauses[*place].text);
        let either = writer.quoted(&format!("({one} || {other})"));
        return Some(format!("write {either} for a time across midnight"));
    }
    let parts: Vec<&str> = match verdict {
        RequestVerdict::Contradiction { clauses, .. } => {
            clauses.iter().map(|place| report.clauses[*place].text.as_str()).collect()
        }
        RequestVerdict::Unmet { fault: FailureReason::Nested(nested), .. } => {
            nested.clashing.iter().map(String::as_str).collect()
        }
        _ => Vec::new(),
    };
    let parts: Vec<String> = parts.iter().map(|part| writer.quoted(part)).collect();
    (parts.len() > 1).then(|| format!("leave out {}, whichever is not meant", join_with(&parts, "or")))
}

/// Says which name to write for one that no slot has, where another clause keeps all slots away, too. `None` if no name is
/// similar.
fn of_near_name(writer: &SummaryWriter<'_>, report: &RequestReport, verdict: &RequestVerdict) -> Option<String> {
    let RequestVerdict::Unmet { clause: first, fault: FailureReason::MissingAttribute { name, near, meeting } } =
        verdict
    else {
        return None;
    };
    let (near, _) = near.first()?;
    if *meeting == 0 {
        let is_amount =
            report.clauses[*first].analysis.comparison.as_ref().is_some_and(ClauseComparison::bound_is_amount);
        return is_amount.then(|| format!("write {near} for {name}, with an amount that {} have", writer.nouns[1]));
    }
    let is_other = |place: &usize| place != first && report.clauses[*place].failure.is_some();
    let others: Vec<String> =
        (0..report.clauses.len()).filter(is_other).map(|place| writer.quoted(&report.clauses[place].text)).collect();
    let too = if others.is_empty() { String::new() } else { format!(", and mend {}, too", join_and(&others)) };
    Some(format!("write {near} for {name}{too}"))
}

/// Says who provides the features of slots that none has. `None` if the unmet clauses are not all of features.
fn of_feature(report: &RequestReport, verdict: &RequestVerdict) -> Option<String> {
    let clauses = verdict.clauses();
    let mut unmet = clauses.iter().flat_map(|place| &report.clauses[*place].analysis.offer_attributes);
    if let Some(named) = feature_remedy(unmet.clone()) {
        return Some(named.to_owned());
    }
    let is_feature = clauses.iter().all(|place| is_of_feature(&report.clauses[*place].analysis));
    let name = unmet.next().filter(|_| is_feature)?;
    Some(format!("ask the admin for slots with {name}, or bring it along in an image"))
}

/// Says for which system a program can be had where no slot has the one that is asked for. `None` if something else is met by
/// no slot either.
fn of_system(writer: &SummaryWriter<'_>, report: &RequestReport, verdict: &RequestVerdict) -> Option<String> {
    let RequestVerdict::Unmet { clause, .. } = verdict else { return None };
    if report.clauses.iter().filter(|clause| clause.counts.is_true == 0).count() > 1 {
        return None;
    }
    let offered = report.clauses[*clause].offered().filter(|offered| is_system_attribute(&offered.name))?;
    let most = offered.values.iter().max_by_key(|value| value.offers)?;
    let (it, shown) = (writer.verb("it", "them"), offered.shown(&most.value));
    Some(format!(
        "give {it} a program for {} {shown}, which most {} have, and ask for that",
        offered.name, writer.nouns[1]
    ))
}

/// Says what a corrected clause is still for nothing without. `None` if no correction is known.
fn of_correction(writer: &SummaryWriter<'_>, report: &RequestReport, verdict: &RequestVerdict) -> Option<String> {
    if let Some(CorrectedSlot { correction, offer, unmet, demands }) = &report.corrected_slot {
        let (slot, correction) = (writer.offer_name(*offer), writer.quoted(correction));
        let demand = demands.iter().find(|demand| demand.admits.is_some()).or(demands.first());
        let but = match (unmet.first(), demand) {
            (None, Some(demand)) if demand.admits.is_some() => writer.demand_phrase(demand, false),
            (None, Some(demand)) => format!("it refuses: {}", writer.demand_phrase(demand, false)),
            (Some(unmet), _) => format!("it does not meet {}", writer.quoted(unmet)),
            (None, None) => return None,
        };
        return Some(format!("with {correction}, {slot} comes closest, but {but}"));
    }
    let RequestVerdict::Unmet { fault: FailureReason::Slip { corrected, then: Some(then), .. }, .. } = verdict else {
        return None;
    };
    let corrected = format!("`{}`", shorten(&text(corrected, writer.dialect), MAX_CORRECTED_CHARS));
    let value = match then.failure {
        Some(FailureReason::TypeMismatch { .. } | FailureReason::CaseMismatch { .. }) => " and mend that, too",
        _ if then.offered().is_some() => " with a value that slots have",
        _ => "",
    };
    Some(format!("write {corrected}{value}"))
}

/// Says what to do where no slot has nearly as much as is asked for. `None` if something else keeps slots away.
fn of_amount(writer: &SummaryWriter<'_>, report: &RequestReport, verdict: &RequestVerdict) -> Option<String> {
    let RequestVerdict::Unmet { clause, fault: FailureReason::NoSuchValue } = verdict else { return None };
    let comparison =
        report.clauses[*clause].analysis.comparison.as_ref().filter(|comparison| demands_amount(comparison))?;
    let (request, _) = comparison.bound_holder.as_ref().filter(|(name, _)| requested_resource(name).is_some())?;
    let (resource, several) = (comparison.attribute()?, writer.nouns[1]);
    Some(format!("ask for less of {request}, in smaller jobs, or ask the admin for {several} with more {resource}"))
}
