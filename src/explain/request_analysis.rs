//! The analysis of a request against all offers, on which the verdict, the changes and the nearest offers rest.

use std::sync::Arc;

use fixedbitset::FixedBitSet;

use crate::ad::Ad;

use super::clause_analysis::ClauseAnalyzer;
use super::clause_report::ClauseReport;
use super::clauses::{ExplainedClause, text};
use super::distance::closest_offered_value;
use super::evaluation::{Acceptance, OfferTable, RequestContext};
use super::failure_reason::FailureReason;
use super::failure_sets::FailureSets;
use super::offered_values::OfferedValues;
use super::own_expression::RequestExpression;

/// The analysis of one request: results per clause and per row, from which a verdict is derived. A row is a distinct ad
/// of the offers, as in [`OfferTable`].
pub struct RequestAnalysis {
    pub request: RequestContext,
    pub clauses: Vec<ClauseReport>,
    /// The rows, grouped by the clauses that they do not meet.
    pub failures: FailureSets,
    /// The minimal masks in `failures`: no other row's mask is a proper subset.
    pub minimal_failures: Vec<u128>,
    /// The rows that meet the request's constraint. There are none if the request has no constraint.
    pub suitable: FixedBitSet,
    /// Which rows accept the request.
    pub acceptance: Arc<Acceptance>,
    /// A mistake in a clause that some offers meet, with the index of the clause; `None` if there is none, or none was sought.
    pub slip: Option<(usize, FailureReason)>,
    /// Whether clauses are left out, because the steps of the run were spent.
    pub is_incomplete: bool,
}

impl RequestAnalysis {
    /// Analyses a request against all rows.
    pub fn new(request: &Ad, table: &OfferTable) -> Self {
        Self::of(request, table, None)
    }

    /// Analyses a changed request. What is known of a clause that the change leaves as it is counts further.
    pub fn of_changed(request: &Ad, table: &OfferTable, before: &RequestAnalysis) -> Self {
        Self::of(request, table, Some(before))
    }

    fn of(request: &Ad, table: &OfferTable, before: Option<&RequestAnalysis>) -> Self {
        let analyzer = ClauseAnalyzer::new(request, &table.context);
        let request = RequestContext::new(request);
        let dialect = table.context.dialect;
        let (mut clauses, mut results_of_all) = (Vec::new(), Vec::new());
        let mut is_incomplete = false;
        for clause in table.request_clauses(&request) {
            is_incomplete = table.context.has_spent_run();
            if is_incomplete {
                break;
            }
            let results = table.clause_results(&request, &clause);
            if let Some(known) = before.and_then(|before| before.unchanged(&clause, &request, table)) {
                clauses.push(ClauseReport { remaining: 0, sole_blocker: 0, closest_if_drained: None, ..known.clone() });
                results_of_all.push(results);
                continue;
            }
            let analysis = analyzer.analyze(&clause);
            let comparison = analysis.comparison.as_ref();
            let [written, residue] = [&clause.expression, &analysis.residue].map(|part| text(part, dialect));
            let is_unmet = results.counts.is_true == 0;
            clauses.push(ClauseReport {
                offered: if is_unmet { OfferedValues::find(&analysis, table, &request) } else { None },
                own_expression: RequestExpression::in_clause(&clause.expression, table, &request),
                residue: (residue != written).then_some(residue),
                text: written,
                counts: results.counts,
                remaining: 0,
                sole_blocker: 0,
                closest_value: comparison.and_then(|comparison| closest_offered_value(comparison, &request, table)),
                closest_if_drained: None,
                failure: is_unmet.then(|| FailureReason::find(&analysis, table, &request)),
                analysis,
            });
            results_of_all.push(results);
        }
        let failures = FailureSets::new(table.row_count(), &results_of_all);
        for set in &failures.sets {
            let offers = set.offers(&table.weights);
            let first = set.mask.trailing_zeros() as usize;
            clauses.iter_mut().take(first).for_each(|clause| clause.remaining += offers);
            if set.mask.is_power_of_two() {
                clauses[first].sole_blocker += offers;
            }
        }
        RequestAnalysis {
            minimal_failures: failures.minimal(),
            suitable: failures.rows_failing(if clauses.is_empty() { &[] } else { &[0] }),
            acceptance: table.acceptance(&request),
            request,
            clauses,
            failures,
            slip: None,
            is_incomplete,
        }
    }

    /// Returns what is known of a clause that a changed request has, too, with the same values. `None` if it has other values, or
    /// if its time depends on other clauses.
    fn unchanged(
        &self,
        clause: &ExplainedClause,
        changed: &RequestContext,
        table: &OfferTable,
    ) -> Option<&ClauseReport> {
        let known = self.clauses.iter().find(|known| known.analysis.clause.expression.ptr_eq(&clause.expression))?;
        let is_same = !known.analysis.reads_clock && table.reads_the_same([&self.request, changed], clause);
        is_same.then_some(known)
    }

    /// Why no offer meets the clause at index `place`, or which mistake it has although some do.
    pub fn fault(&self, place: usize) -> Option<&FailureReason> {
        let slip = self.slip.as_ref().filter(|(of, _)| *of == place).map(|(_, fault)| fault);
        self.clauses[place].failure.as_ref().or(slip)
    }

    /// Returns the analysis as if the offers were only those of `rows`. The counts of the clauses remain those of all rows.
    pub fn within(&self, rows: &FixedBitSet) -> Self {
        let failures = self.failures.within(rows);
        let mut suitable = self.suitable.clone();
        suitable.intersect_with(rows);
        RequestAnalysis {
            request: RequestContext::new(&self.request.ad),
            clauses: self.clauses.clone(),
            minimal_failures: failures.minimal(),
            suitable,
            acceptance: self.acceptance.clone(),
            failures,
            slip: self.slip.clone(),
            is_incomplete: self.is_incomplete,
        }
    }
}
