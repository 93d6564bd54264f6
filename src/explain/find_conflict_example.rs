//! Finds the offer that comes closest to meeting clauses that no offer meets together.

use crate::matching::PairSide;

use super::conflict_example::ConflictExample;
use super::conflicts::bit_positions;
use super::decisive_part::ClauseInPair;
use super::distance::relative_distance;
use super::evaluation::OfferTable;
use super::report::RequestVerdict;
use super::request_analysis::RequestAnalysis;
use super::unmet_offer_clause::ReadValue;

/// Maximum number of rows that are compared.
const MAX_ROWS: usize = 100;

/// Finds the offer. `None` if the verdict is no conflict, or if the offer tells nothing.
pub fn find_conflict_example(
    verdict: &RequestVerdict,
    analysis: &RequestAnalysis,
    table: &OfferTable,
) -> Option<ConflictExample> {
    let RequestVerdict::Conflict(conflict) = verdict else { return None };
    let request = &analysis.request;
    let clause = *conflict.iter().min_by_key(|place| analysis.clauses[**place].counts.is_true)?;
    let met = table.clause_results(request, &analysis.clauses[clause].analysis.clause);
    let failed = |row: usize| {
        let failed = bit_positions(analysis.failures.mask_of(row)).into_iter();
        failed.filter(|place| conflict.contains(place)).map(|place| &analysis.clauses[place].analysis)
    };
    let distance = |row: usize| -> f64 {
        let of_clause = failed(row).map(|of| {
            let measured = of.comparison.as_ref().map(|comparison| {
                let values = table.expression_values(request, &comparison.operand);
                relative_distance(values.value(row), &comparison.bound)
            });
            measured.unwrap_or(1.0)
        });
        of_clause.sum()
    };
    let rows = met.true_rows.ones().take(MAX_ROWS);
    let is_used = |row: usize| table.states.as_ref().is_some_and(|states| !states.free.contains(row));
    let of_row = |row: usize| (row, (failed(row).count(), is_used(row)), distance(row));
    let (row, ..) = rows.map(of_row).min_by(|one, other| one.1.cmp(&other.1).then(one.2.total_cmp(&other.2)))?;
    let pair = ClauseInPair { table, request, side: PairSide::Request, row };
    // Of a slot that is the only one, everything that it lacks is told.
    let all = bit_positions(analysis.failures.mask_of(row)).into_iter().map(|place| &analysis.clauses[place].analysis);
    let reads = all.flat_map(|of| pair.describe(&of.clause.expression).reads);
    let reads: Vec<ReadValue> = reads.filter(|read| read.is_partners).collect();
    let (offers, offer) = (analysis.clauses[clause].counts.is_true, table.first_offer[row]);
    (!reads.is_empty()).then_some(ConflictExample { clause, offers, offer, reads })
}
