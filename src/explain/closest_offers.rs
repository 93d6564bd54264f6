//! Finds the offers that come closest to a match.

use super::clauses::text;
use super::conflicts::bit_positions;
use super::distance::relative_distance;
use super::evaluation::{ClauseOutcome, OfferTable};
use super::explainer::RequestAnalysis;
use super::refusals::{missing_attributes, request_attributes_read};
use super::report::{ClosestOffer, UnmetOfferClause};

/// Maximum number of offers returned.
const MAX_CLOSEST_OFFERS: usize = 3;

/// Maximum number of rows whose constraints are evaluated for the request.
const MAX_EVALUATED_ROWS: usize = 100;

/// Returns the offers with the fewest unmet clauses on both sides. Ties are broken by the distance of the offers'
/// values from the bounds, then by position.
pub fn closest_offers(table: &mut OfferTable, analysis: &RequestAnalysis) -> Vec<ClosestOffer> {
    let fewest = analysis.failed_clauses.iter().map(|failed| failed.count_ones()).min().unwrap_or_default();
    let mut candidates: Vec<(u32, u64, usize)> = Vec::new();
    for (row, failed) in analysis.failed_clauses.iter().enumerate() {
        if failed.count_ones() <= fewest + 1 {
            // The bits of a non-negative float, read as an integer, sort as the float does.
            candidates.push((failed.count_ones(), total_distance(table, analysis, row).to_bits(), row));
        }
    }
    candidates.sort_unstable();
    candidates.truncate(MAX_EVALUATED_ROWS);
    let mut found = Vec::new();
    for (_, distance, row) in candidates {
        let near = closest_offer(table, analysis, row);
        found.push((near.failed_clauses.len() + near.unmet_demands.len(), distance, row, near));
    }
    found.sort_by_key(|(unmet, distance, row, _)| (*unmet, *distance, *row));
    found.into_iter().map(|(.., near)| near).take(MAX_CLOSEST_OFFERS).collect()
}

fn closest_offer(table: &mut OfferTable, analysis: &RequestAnalysis, row: usize) -> ClosestOffer {
    let request = &analysis.request;
    let demands = table.offer_outcomes(request, row);
    let no_constraint = demands.is_empty().then(UnmetOfferClause::default);
    let unmet = demands.into_iter().filter(|(_, outcome)| *outcome != ClauseOutcome::True).map(|(clause, _)| {
        let missing = missing_attributes(&request_attributes_read(&clause, table, row), &request.ad);
        UnmetOfferClause { clause: text(&clause.expression, table.context.dialect), missing }
    });
    let unmet_demands = unmet.chain(no_constraint).collect();
    let failed = bit_positions(analysis.failed_clauses[row]).into_iter().map(|place| {
        let results = table.clause_results(request, &analysis.clauses[place].analysis.clause);
        (place, results.outcome(row).unwrap_or(ClauseOutcome::Error))
    });
    let failed_clauses = failed.collect();
    ClosestOffer { offer: table.first_offer[row], failed_clauses, unmet_demands }
}

/// The sum of the distances of a row's values from the bounds of the clauses that the row fails. A clause that is no
/// comparison with a constant counts as distance 1.
fn total_distance(table: &mut OfferTable, analysis: &RequestAnalysis, row: usize) -> f64 {
    let distances = bit_positions(analysis.failed_clauses[row]).into_iter().map(|place| {
        let comparison = analysis.clauses[place].analysis.comparison.as_ref();
        comparison.map_or(1.0, |comparison| {
            let results = table.expression_results(&analysis.request, &comparison.operand);
            relative_distance(results.value(row), &comparison.bound)
        })
    });
    distances.fold(0.0, |sum, distance| sum + distance)
}
