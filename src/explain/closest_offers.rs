//! Finds the offers that come closest to a match.

use std::collections::BinaryHeap;

use indexmap::IndexSet;
use rustc_hash::FxHashSet;

use crate::ad::{Truth, Value};
use crate::matching::PairSide;

use super::clause_report::ClauseReport;
use super::conflicts::bit_positions;
use super::decisive_part::ClauseInPair;
use super::distance::relative_distance;
use super::evaluation::{GroupMeasures, OfferTable};
use super::refusals::request_attributes_read;
use super::report::ClosestOffer;
use super::request_analysis::RequestAnalysis;

/// Maximum number of offers returned.
const MAX_CLOSEST_OFFERS: usize = 3;

/// Maximum number of rows whose constraints are evaluated for the request.
const MAX_EVALUATED_ROWS: usize = 100;

/// A row with its distance. Rows are compared by all fields; the least comes closest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NearRow {
    /// Whether the row's constraint is `false`, which no request can meet.
    takes_nothing: bool,
    /// Number of unmet clauses.
    unmet: usize,
    /// The sum of the distances of the row's values from the bounds, as the bits of a non-negative float. The bits,
    /// read as an integer, sort as the float does.
    distance: u64,
    row: usize,
}

/// Returns the offers with the fewest unmet clauses on both sides. Ties are broken by the distance of the offers'
/// values from the bounds, then by position.
pub fn closest_offers(table: &OfferTable, analysis: &RequestAnalysis) -> Vec<ClosestOffer> {
    let found = closest_rows(table, analysis).into_iter().take(MAX_CLOSEST_OFFERS);
    found.map(|near| closest_offer(table, analysis, near.row)).collect()
}

/// Returns those of `offers`, given by index, with the fewest unmet clauses on both sides. Ties are broken by position. Of
/// equal offers, the first counts, and only the first 100 different offers are evaluated.
pub fn closest_of(table: &OfferTable, analysis: &RequestAnalysis, offers: &[usize]) -> Vec<ClosestOffer> {
    let mut rows = FxHashSet::default();
    let different = offers.iter().filter(|offer| rows.insert(table.row_of[**offer]));
    let described = different.take(MAX_EVALUATED_ROWS).map(|offer| {
        let of_row = closest_offer(table, analysis, table.row_of[*offer] as usize);
        ClosestOffer { offer: *offer, ..of_row }
    });
    let mut found: Vec<ClosestOffer> = described.collect();
    found.sort_by_key(ClosestOffer::reasons);
    found.truncate(MAX_CLOSEST_OFFERS);
    found
}

/// Returns the number of unmet clauses of both sides for the offer that comes closest to a match; `None` if there are
/// no offers.
pub fn fewest_unmet_clauses(table: &OfferTable, analysis: &RequestAnalysis) -> Option<usize> {
    closest_rows(table, analysis).first().map(|near| near.unmet)
}

/// Returns the rows that come closest to a match, by the unmet clauses of both sides.
fn closest_rows(table: &OfferTable, analysis: &RequestAnalysis) -> Vec<NearRow> {
    let clauses = &table.offer_constraints().clauses;
    let is_false = |clause: usize| {
        matches!(clauses[clause].clause.expression.without_parentheses().as_literal(), Some(Value::Boolean(false)))
    };
    let with_demands = |near: NearRow| {
        let outcomes = analysis.acceptance.row_outcomes(table, &analysis.request, near.row);
        let unmet: Vec<_> = outcomes.map(|(clause, outcome)| (clause, outcome != Truth::True)).collect();
        // A row without a constraint accepts nothing, which counts as one unmet clause.
        let demands = if unmet.is_empty() { 1 } else { unmet.iter().filter(|(_, is_unmet)| *is_unmet).count() };
        let takes_nothing = unmet.iter().any(|(clause, is_unmet)| *is_unmet && is_false(*clause));
        NearRow { takes_nothing, unmet: near.unmet + demands, ..near }
    };
    let nearest = nearest_rows(table, analysis).into_iter();
    let mut found: Vec<NearRow> = nearest.map(with_demands).collect();
    found.sort_unstable();
    found
}

/// Returns the rows that come closest to meeting the request's constraint, in no particular order.
fn nearest_rows(table: &OfferTable, analysis: &RequestAnalysis) -> BinaryHeap<NearRow> {
    let sets = &analysis.failures.sets;
    let fewest = sets.iter().map(|set| set.mask.count_ones()).min().unwrap_or_default();
    // The distances of each clause, computed on first use. A clause that is not a comparison with a constant counts as
    // distance 1.
    let mut measures: Vec<Option<Option<GroupMeasures>>> = analysis.clauses.iter().map(|_| None).collect();
    let measure = |clause: &ClauseReport| {
        let comparison = clause.analysis.comparison.as_ref()?;
        let values = table.expression_values(&analysis.request, &comparison.operand);
        Some(values.measured(|value| relative_distance(value, &comparison.bound)))
    };
    // The farthest of the rows is at the top, where a nearer one replaces it.
    let mut nearest = BinaryHeap::with_capacity(MAX_EVALUATED_ROWS + 1);
    for set in sets.iter().filter(|set| set.mask.count_ones() <= fewest + 1) {
        let places = bit_positions(set.mask);
        for place in &places {
            measures[*place].get_or_insert_with(|| measure(&analysis.clauses[*place]));
        }
        let of_set: Vec<_> = places.iter().filter_map(|place| measures[*place].as_ref()).collect();
        for row in set.rows.rows() {
            let of_clauses = of_set.iter().map(|measure| measure.as_ref().map_or(1.0, |measure| measure.of_row(row)));
            let distance = of_clauses.fold(0.0, |sum, distance| sum + distance).to_bits();
            let near = NearRow { takes_nothing: false, unmet: places.len(), distance, row };
            if nearest.len() < MAX_EVALUATED_ROWS {
                nearest.push(near);
            } else if let Some(mut farthest) = nearest.peek_mut()
                && near < *farthest
            {
                *farthest = near;
            }
        }
    }
    nearest
}

/// Describes what keeps an offer from a match.
pub fn closest_offer(table: &OfferTable, analysis: &RequestAnalysis, row: usize) -> ClosestOffer {
    let request = &analysis.request;
    let constraints = table.offer_constraints();
    let demands: Vec<_> = analysis.acceptance.row_outcomes(table, request, row).collect();
    let pair = ClauseInPair { table, request, side: PairSide::Offer, row };
    let no_constraint =
        demands.is_empty().then(|| pair.unmet_clause(None, Truth::Undefined, None, &IndexSet::default()));
    let unmet = demands.into_iter().filter(|(_, outcome)| *outcome != Truth::True).map(|(clause, outcome)| {
        let clause = &constraints.clauses[clause];
        let names = request_attributes_read(clause, table, row);
        pair.unmet_clause(
            Some(constraints.texts[clause.text].clone()),
            outcome,
            Some(&clause.clause.expression),
            &names,
        )
    });
    let unmet_demands = unmet.chain(no_constraint).collect();
    let failed = bit_positions(analysis.failures.mask_of(row)).into_iter().map(|place| {
        let results = table.clause_results(request, &analysis.clauses[place].analysis.clause);
        (place, results.outcome(row))
    });
    ClosestOffer { offer: table.first_offer[row], failed_clauses: failed.collect(), unmet_demands }
}
