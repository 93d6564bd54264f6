//! Finds the offers that come closest to a match.

use super::clauses::ExplainedClause;
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
pub fn closest_offers(survey: &mut OfferTable, situation: &RequestAnalysis) -> Vec<ClosestOffer> {
    let mut measured: Vec<(u32, f64, usize)> = Vec::with_capacity(survey.row_count());
    let fewest = situation.failed_clauses.iter().map(|failing| failing.count_ones()).min().unwrap_or_default();
    for row in 0..survey.row_count() {
        let unmet = situation.failed_clauses[row].count_ones();
        if unmet <= fewest + 1 {
            measured.push((unmet, total_distance(survey, situation, row), row));
        }
    }
    let order =
        |a: &(u32, f64, usize), b: &(u32, f64, usize)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2));
    measured.sort_by(order);
    measured.truncate(MAX_EVALUATED_ROWS);
    let mut found: Vec<((u32, f64, usize), ClosestOffer)> = Vec::new();
    for (unmet, far, row) in measured {
        let dialect = survey.context.dialect;
        let demanding = survey.offer_clause_outcomes(&situation.request, row);
        let no_constraint =
            demanding.is_empty().then(|| UnmetOfferClause { clause: String::new(), missing: Vec::new() });
        let refuses = demanding.into_iter().filter(|(_, is)| *is != ClauseOutcome::True).map(|(clause, _)| {
            let attributes = request_attributes_read(&clause, survey, row);
            UnmetOfferClause {
                clause: clause.expression_text(dialect),
                missing: missing_attributes(&attributes, &situation.request.ad),
            }
        });
        let refuses: Vec<UnmetOfferClause> = refuses.chain(no_constraint).collect();
        let fails = bit_positions(situation.failed_clauses[row]).into_iter().map(|place| {
            let clause = &situation.clauses[place].analysis.clause;
            (place, survey.clause_results(&situation.request, clause).outcome(row).unwrap_or(ClauseOutcome::Error))
        });
        let fails = fails.collect();
        let refusing = u32::try_from(refuses.len()).unwrap_or(u32::MAX);
        found.push((
            (unmet + refusing, far, row),
            ClosestOffer { offer: survey.first_offer[row], failed_clauses: fails, unmet_demands: refuses },
        ));
    }
    found.sort_by(|(a, _), (b, _)| order(a, b));
    found.into_iter().take(MAX_CLOSEST_OFFERS).map(|(_, near)| near).collect()
}

/// The sum of the distances of a row's values from the bounds of the clauses that it does not meet. A clause that is no
/// comparison with a constant counts as distance 1.
fn total_distance(survey: &mut OfferTable, situation: &RequestAnalysis, row: usize) -> f64 {
    let mut far = 0.0;
    for place in bit_positions(situation.failed_clauses[row]) {
        let asked = situation.clauses[place].analysis.comparison.as_ref();
        far += asked.map_or(1.0, |asked| {
            let answers = survey.clause_results(&situation.request, &ExplainedClause::detached(asked.operand.clone()));
            relative_distance(&answers.values[answers.group_of(row)], &asked.bound)
        });
    }
    far
}
