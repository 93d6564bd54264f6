//! Finds the decisive reason why a request matches or does not match, and the attributes that it involves.

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;

use crate::ad::Name;
use crate::constraint::inconsistencies;

use super::cause::Cause;
use super::clause_report::ClauseReport;
use super::evaluation::OfferTable;
use super::failure_reason::{FailureReason, own_values};
use super::refusals::Refusals;
use super::report::{RequestReport, RequestVerdict};
use super::request_analysis::RequestAnalysis;
use super::unranked_offers::unranked_verdict;

/// Finds the verdict on a request of which `report` has the counts. `matching` are the rows that match it.
pub fn find_verdict(
    report: &RequestReport,
    analysis: &RequestAnalysis,
    matching: &FixedBitSet,
    table: &OfferTable,
) -> RequestVerdict {
    if report.matches > 0 && report.slots.is_some_and(|slots| slots.matching.available() == 0) {
        return RequestVerdict::Claimed;
    }
    if report.matches > 0 {
        let available = |row: &usize| table.states.as_ref().is_none_or(|states| states.free.contains(*row));
        return unranked_verdict(table, &analysis.request, matching.ones().filter(available))
            .unwrap_or(RequestVerdict::Matches);
    }
    let verdict = unmatched_verdict(report, analysis, table);
    if report.slots.is_some_and(|slots| slots.if_drained > 0) {
        RequestVerdict::IfDrained(Box::new(verdict))
    } else {
        verdict
    }
}

/// The verdict on a request that matches no offer even without a docking vector.
fn unmatched_verdict(report: &RequestReport, analysis: &RequestAnalysis, table: &OfferTable) -> RequestVerdict {
    let clauses = &analysis.clauses;
    if clauses.is_empty() {
        return RequestVerdict::NoConstraint;
    }
    let residues: Vec<_> = clauses.iter().map(|clause| &clause.analysis.residue).collect();
    let telling = inconsistencies(&residues, table.context.dialect).into_iter().filter(|found| {
        // A single clause can contradict itself. Report such a contradiction only if the clause is not a comparison
        // with a constant and its failure reason is vague. Otherwise the comparison or the failure reason says more.
        let is_telling = match found.clauses.as_slice() {
            [only] => {
                let ClauseReport { analysis, failure, .. } = &clauses[*only];
                let is_vague = matches!(failure, Some(FailureReason::NoSuchValue | FailureReason::NeverTrue(_)));
                is_vague && analysis.comparison.is_none()
            }
            _ => true,
        };
        is_telling && table.dependencies(&analysis.request, &found.subject).is_some()
    });
    // Constants contradict each other whatever the request's attributes are.
    let is_changeable = |place: &&usize| !clauses[**place].analysis.request_attributes.is_empty();
    if let Some(found) = telling.min_by_key(|found| found.clauses.iter().filter(is_changeable).count()) {
        let expressions = found.clauses.iter().map(|place| &clauses[*place].analysis.clause.expression);
        return RequestVerdict::Contradiction {
            own_values: own_values(expressions, table, &analysis.request),
            clauses: found.clauses,
            subject: found.subject,
            clash: found.kind,
        };
    }
    if report.offers == 0 {
        return RequestVerdict::NoOffers;
    }
    let failures = clauses.iter().enumerate();
    let failures = failures.filter_map(|(place, clause)| Some((place, clause.failure.as_ref()?)));
    // The first clause on a feature that no slot has comes before what else its slots would tell.
    let has_feature = clauses.iter().any(|clause| clause.cause() == Some(Cause::Feature));
    let rank = |clause: &ClauseReport, fault: &FailureReason| match (clause.cause(), fault) {
        (_, FailureReason::MissingAttribute { near, .. }) if near.is_empty() && has_feature => Some(Cause::Feature),
        (cause, _) => cause,
    };
    if let Some((clause, fault)) =
        failures.min_by_key(|(clause, fault)| (rank(&clauses[*clause], fault), clauses[*clause].is_met_if_drained()))
    {
        return RequestVerdict::Unmet { clause, fault: fault.clone() };
    }
    match report.conflicts.sets.first() {
        // Slots that would do once their jobs end, and refuse, tell more than what is left of them.
        Some(conflict) if report.suitable == 0 && report.refusing() == 0 => RequestVerdict::Conflict(conflict.clone()),
        // A mistake comes before the offers that refuse in spite of it.
        _ => match &analysis.slip {
            Some((clause, fault)) => RequestVerdict::Unmet { clause: *clause, fault: fault.clone() },
            None => RequestVerdict::Refused,
        },
    }
}

/// The attributes that the decisive clauses and refusals read.
pub fn decisive_attributes(
    verdict: &RequestVerdict,
    clauses: &[ClauseReport],
    refusals: &Refusals<'_>,
) -> IndexSet<Name> {
    let verdict = if let RequestVerdict::IfDrained(as_they_are) = verdict { as_they_are } else { verdict };
    let mut places = verdict.clauses();
    // For these two verdicts, also include every other clause that no offer meets.
    if matches!(verdict, RequestVerdict::Unmet { .. } | RequestVerdict::Contradiction { .. }) {
        let never = clauses.iter().enumerate().filter(|(_, clause)| clause.failure.is_some());
        places.extend(never.map(|(place, _)| place));
    }
    let mut names = IndexSet::new();
    match verdict {
        RequestVerdict::Unmet {
            fault: FailureReason::MissingAttribute { name, .. } | FailureReason::MissingOwnAttribute(name, _),
            ..
        } => names.extend([name.clone()]),
        RequestVerdict::Refused => names.extend(refusals.attributes_of_suitable()),
        _ => {}
    }
    for place in places {
        let clause = &clauses[place].analysis;
        let read = [&clause.offer_attributes, &clause.missing_own, &clause.request_attributes];
        names.extend(read.into_iter().flatten().cloned());
    }
    names
}
