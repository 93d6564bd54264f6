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
    let (row, _) = rows.map(|row| (row, distance(row))).min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let pair = ClauseInPair { table, request, side: PairSide::Request, row };
    let reads = failed(row).flat_map(|of| pair.describe(&of.clause.expression).reads);
    let reads: Vec<ReadValue> = reads.filter(|read| read.is_partners).collect();
    let (offers, offer) = (analysis.clauses[clause].counts.is_true, table.first_offer[row]);
    (!reads.is_empty()).then_some(ConflictExample { clause, offers, offer, reads })
}
