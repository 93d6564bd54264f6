//! What keeps many of the slots from a job that matches no free one.

use super::clause_report::ClauseReport;
use super::clause_slips::find_slip;
use super::clauses::ExplainedClause;
use super::evaluation::OfferTable;
use super::failure_reason::FailureReason;
use super::own_expression::RequestExpression;
use super::report::{Narrowing, RefusalGroup, RequestReport, RequestVerdict};
use super::request_analysis::RequestAnalysis;

/// Finds a mistake in a clause that some offers meet, and with whose correction more do; with the index of the clause. `None`
/// if there is none.
pub fn find_partial_slip(analysis: &RequestAnalysis, table: &OfferTable) -> Option<(usize, FailureReason)> {
    let is_partial = |clause: &ClauseReport| (1..table.offer_count()).contains(&clause.counts.is_true);
    let mut clauses = analysis.clauses.iter().enumerate().filter(|(_, clause)| is_partial(clause));
    clauses.find_map(|(place, clause)| {
        // What an offer has by chance under that name does not count.
        if let Some(behind) = RequestExpression::without_value(&clause.analysis.clause, table, &analysis.request) {
            return Some((place, FailureReason::NoValue(behind)));
        }
        let fault = find_slip(&clause.analysis, table, &analysis.request, clause.counts.is_true + 1)?;
        is_of_use(&fault, place, analysis, table).then_some((place, fault))
    })
}

/// Whether some offer matches with a clause corrected that does not match as it is.
fn is_of_use(fault: &FailureReason, place: usize, analysis: &RequestAnalysis, table: &OfferTable) -> bool {
    let FailureReason::Slip { corrected, .. } = fault else { return true };
    let clause = ExplainedClause { expression: corrected.clone(), ..analysis.clauses[place].analysis.clause.clone() };
    let corrected = table.clause_results(&analysis.request, &clause);
    let unmet_alone = analysis.failures.sets.iter().filter(|set| set.mask == 1 << place);
    let accepting = &analysis.acceptance.accepting;
    let mut gained = unmet_alone.flat_map(|set| set.rows.intersection(&corrected.true_rows));
    gained.any(|row| accepting.contains(row))
}

/// A cause is left out if it excludes fewer than one in this many offers.
const MIN_NARROWING_SHARE: usize = 5;

/// Finds out what keeps many of the offers from a request. `None` if nothing does.
pub fn narrowing(report: &RequestReport, analysis: &RequestAnalysis) -> Option<Narrowing> {
    if let Some((clause, fault)) = &analysis.slip {
        return Some(Narrowing::Slip { clause: *clause, fault: fault.clone() });
    }
    let clauses = analysis.clauses.iter().enumerate();
    let refusing = report.slots.map_or(0, |slots| slots.rejecting_request);
    let (place, ruled_out) =
        clauses.map(|(place, clause)| (place, clause.sole_blocker)).max_by_key(|(_, offers)| *offers)?;
    // A refused request has its refusals in the report in any case.
    let is_refused = report.verdict == RequestVerdict::Refused;
    // What refuses now is closer to a match than what one clause rules out.
    let has_free = !is_refused && report.refusals.first().is_some_and(RefusalGroup::has_close_slot);
    let narrowing = if has_free || refusing > ruled_out { Narrowing::Refusals } else { Narrowing::Clause(place) };
    let is_much = has_free || refusing.max(ruled_out) * MIN_NARROWING_SHARE >= report.offers;
    (is_much && !(is_refused && narrowing == Narrowing::Refusals)).then_some(narrowing)
}
