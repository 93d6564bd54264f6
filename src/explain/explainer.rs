//! The entry point: computes the [`RequestReport`] of a request.

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name};
use crate::constraint::inconsistencies;
use crate::eval::{Context, FreeNames};
use crate::matching::policy::PolicyRule;
use crate::protocol::{PORTS, Protocol};

use super::changes::find_changes;
use super::clause_analysis::ClauseAnalyzer;
use super::clauses::text;
use super::closest_offers::closest_offers;
use super::conflicts::{Conflicts, minimal_masks};
use super::distance::closest_row_value;
use super::evaluation::{OfferTable, Refusal, RequestContext};
use super::failure_reason::FailureReason;
use super::findings::clause_remarks;
use super::pair::PairReport;
use super::refusals::group_refusals;
use super::report::{ClauseReport, RequestReport, RequestVerdict};

/// Explains requests against a fixed set of offers. Evaluation results are cached across requests.
pub struct Explainer(OfferTable);

/// The analysis of one request: results per clause and per row, from which a verdict is derived. A row is a distinct ad
/// of the offers, as in [`OfferTable`].
pub struct RequestAnalysis {
    pub request: RequestContext,
    pub clauses: Vec<ClauseReport>,
    /// For each row the clauses that the row does not meet, as a bit mask over `clauses`.
    pub failed_clauses: Vec<u128>,
    /// The minimal masks in `failed_clauses`: no other row's mask is a proper subset.
    pub minimal_failures: Vec<u128>,
    /// The reason why each row refuses the request; `None` for a row that accepts the request.
    pub refusals: Vec<Option<Refusal>>,
}

impl RequestAnalysis {
    /// Analyses a request against all rows.
    pub fn new(request: &Ad, table: &mut OfferTable) -> Self {
        let analyzer = ClauseAnalyzer::new(request, &table.context);
        let request = RequestContext::new(request);
        let dialect = table.context.dialect;
        let mut failed_clauses = vec![0_u128; table.row_count()];
        let mut clauses = Vec::new();
        for (place, clause) in table.request_clauses(&request).iter().enumerate() {
            let analysis = analyzer.analyze(clause);
            let results = table.clause_results(&request, clause);
            for (row, failed) in failed_clauses.iter_mut().enumerate() {
                *failed |= u128::from(!results.true_rows.contains(row)) << place;
            }
            let comparison = analysis.comparison.as_ref();
            let rows = 0..table.row_count();
            let [written, residue] = [&clause.expression, &analysis.residue].map(|part| text(part, dialect));
            clauses.push(ClauseReport {
                residue: (residue != written).then_some(residue),
                text: written,
                counts: results.counts,
                remaining: 0,
                sole_blocker: 0,
                closest_value: comparison.and_then(|comparison| closest_row_value(comparison, &request, rows, table)),
                failure: (results.counts.is_true == 0).then(|| FailureReason::find(&analysis, table, &request)),
                analysis,
            });
        }
        let mut offers_by_mask: FxHashMap<u128, usize> = FxHashMap::default();
        for (row, failed) in failed_clauses.iter().enumerate() {
            *offers_by_mask.entry(*failed).or_default() += table.weights[row];
        }
        for (failed, offers) in &offers_by_mask {
            let first = failed.trailing_zeros() as usize;
            clauses.iter_mut().take(first).for_each(|clause| clause.remaining += offers);
            if failed.is_power_of_two() {
                clauses[first].sole_blocker += offers;
            }
        }
        let refusals = (0..table.row_count()).map(|row| table.refusal(&request, row)).collect();
        let minimal_failures = minimal_masks(offers_by_mask.into_keys());
        RequestAnalysis { request, clauses, failed_clauses, minimal_failures, refusals }
    }

    /// Whether a row meets the request's constraint. No row does if the request has no constraint.
    pub fn is_suitable(&self, row: usize) -> bool {
        self.failed_clauses[row] == 0 && !self.clauses.is_empty()
    }
}

impl Explainer {
    /// Prepares the explanation of requests against `offers`.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> Self {
        Explainer(OfferTable::new(offers, protocol, context))
    }

    /// Sets the docking vector of the policy. If a component of the vector has no comparable value for a candidate, the
    /// vector discards the candidate.
    #[must_use]
    pub fn with_docking(mut self, docking: Vec<PolicyRule>) -> Self {
        self.0.docking = docking;
        self
    }

    /// Returns the indices of the offers that match a request.
    pub fn matching_offers(&mut self, request: &Ad) -> Vec<usize> {
        let rows = self.0.matching_rows(&RequestContext::new(request));
        let offers = self.0.row_of.iter().enumerate();
        offers.filter(|(_, row)| rows.contains(**row as usize)).map(|(offer, _)| offer).collect()
    }

    /// The number of expressions evaluated so far.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        self.0.evaluations
    }

    /// Explains why a request and one offer match or do not match. `offer` is an index into the offers.
    pub fn explain_pair(&mut self, request: &Ad, offer: usize) -> PairReport {
        PairReport::new(&mut self.0, request, offer)
    }

    /// Explains why a request matches some offers or none.
    pub fn explain(&mut self, request: &Ad) -> RequestReport {
        let table = &mut self.0;
        let analysis = RequestAnalysis::new(request, table);
        let suitable: Vec<usize> = (0..table.row_count()).filter(|row| analysis.is_suitable(*row)).collect();
        let mut report = RequestReport {
            offers: table.offer_count(),
            suitable: table.offers_in(suitable.iter().copied()),
            ..RequestReport::default()
        };
        if request.get(&PORTS).is_some() {
            report.verdict = RequestVerdict::NeedsGang;
            return report;
        }
        let matching: Vec<usize> = suitable.into_iter().filter(|row| analysis.refusals[*row].is_none()).collect();
        let discarding = |row: &usize| Some((*row, table.discarding_component(&analysis.request, *row)?));
        let discarded: Vec<(usize, usize)> = matching.iter().filter_map(discarding).collect();
        report.discarded = table.offers_in(discarded.iter().map(|(row, _)| *row));
        report.matches = table.offers_in(matching) - report.discarded;
        report.refusals = group_refusals(table, &analysis);
        report.conflicts = Conflicts::from_failures(&analysis.minimal_failures);
        if report.matches == 0 && report.discarded == 0 && report.offers > 0 && !analysis.clauses.is_empty() {
            report.closest = closest_offers(table, &analysis);
            report.changes = find_changes(table, &analysis);
        }
        report.clauses = analysis.clauses;
        report.verdict = if report.matches > 0 {
            RequestVerdict::Matches
        } else if report.discarded > 0 {
            discarded_verdict(table, &discarded)
        } else {
            unmatched_verdict(&report, table, &analysis.request)
        };
        report.attributes = decisive_attributes(&report);
        report.remarks = clause_remarks(&report, table, &analysis.request);
        report
    }
}

/// The verdict on a request for which the docking vector discards each row that would match. `discarded` has these
/// rows, each with the index of the component that discards it.
fn discarded_verdict(table: &OfferTable, discarded: &[(usize, usize)]) -> RequestVerdict {
    let mut counts = vec![0; table.docking.len()];
    for (row, component) in discarded {
        counts[*component] += table.weights[*row];
    }
    // `max_by_key` returns the last of several maxima. In reverse order this is the first component.
    let component = (0..counts.len()).rev().max_by_key(|component| counts[*component]).unwrap_or_default();
    let expression = &table.docking[component].expression;
    let dialect = table.context.dialect;
    let mut mentions = FreeNames::default();
    mentions.add_policy_expression(expression, dialect);
    let missing = mentions.theirs.into_iter().find(|name| table.offers_with(name) == 0);
    let missing = missing.map(|name| {
        let near = table.similar_attributes(&name);
        (name, near)
    });
    RequestVerdict::Discarded { component, text: text(expression, dialect), missing }
}

/// The verdict on a request that matches no offer even without a docking vector.
fn unmatched_verdict(report: &RequestReport, table: &mut OfferTable, request: &RequestContext) -> RequestVerdict {
    if report.clauses.is_empty() {
        return RequestVerdict::NoConstraint;
    }
    let residues: Vec<_> = report.clauses.iter().map(|clause| &clause.analysis.residue).collect();
    let decisive = inconsistencies(&residues, table.context.dialect).into_iter().find(|found| {
        // A single clause can contradict itself. Report such a contradiction only if the clause is no comparison with a
        // constant and its failure reason is vague. Otherwise the comparison or the failure reason says more.
        let is_telling = match found.clauses.as_slice() {
            [only] => {
                let ClauseReport { analysis, failure, .. } = &report.clauses[*only];
                let is_vague = matches!(failure, Some(FailureReason::NoSuchValue | FailureReason::NeverTrue));
                is_vague && analysis.comparison.is_none()
            }
            _ => true,
        };
        is_telling && table.dependencies(request, &found.subject).is_some()
    });
    if let Some(found) = decisive {
        return RequestVerdict::Contradiction { clauses: found.clauses, subject: found.subject, clash: found.kind };
    }
    if report.offers == 0 {
        return RequestVerdict::NoOffers;
    }
    let failures = report.clauses.iter().enumerate();
    let failures = failures.filter_map(|(place, clause)| Some((place, clause.failure.as_ref()?)));
    if let Some((clause, fault)) = failures.min_by_key(|(_, failure)| failure.priority()) {
        let near = match fault {
            FailureReason::MissingAttribute(name) => table.similar_attributes(name),
            _ => Vec::new(),
        };
        return RequestVerdict::Unmet { clause, fault: fault.clone(), near };
    }
    match report.conflicts.sets.first() {
        Some(conflict) if report.suitable == 0 => RequestVerdict::Conflict(conflict.clone()),
        _ => RequestVerdict::Refused,
    }
}

/// The attributes that the decisive clauses and refusals read.
fn decisive_attributes(report: &RequestReport) -> IndexSet<Name> {
    let mut places = report.verdict.clauses();
    // For these two verdicts, also include every other clause that no offer meets.
    if matches!(report.verdict, RequestVerdict::Unmet { .. } | RequestVerdict::Contradiction { .. }) {
        let never = report.clauses.iter().enumerate().filter(|(_, clause)| clause.failure.is_some());
        places.extend(never.map(|(place, _)| place));
    }
    let mut names = IndexSet::new();
    match &report.verdict {
        RequestVerdict::Unmet {
            fault: FailureReason::MissingAttribute(name) | FailureReason::MissingOwnAttribute(name, _),
            ..
        } => names.extend([name.clone()]),
        RequestVerdict::Refused => {
            let suitable = report.refusals.iter().filter(|refusal| refusal.suitable > 0);
            names.extend(suitable.flat_map(|refusal| refusal.attributes.iter().cloned()));
        }
        _ => {}
    }
    for place in places {
        let clause = &report.clauses[place].analysis;
        let read = [&clause.offer_attributes, &clause.missing_own, &clause.request_attributes];
        names.extend(read.into_iter().flatten().cloned());
    }
    names
}
