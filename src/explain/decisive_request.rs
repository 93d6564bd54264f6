//! The request for a resource that keeps many offers from a request because an expression asks for so much.

use super::clause_report::ClauseReport;
use super::evaluation::OfferTable;
use super::own_expression::RequestExpression;
use super::report::RequestReport;
use super::request_analysis::RequestAnalysis;

/// A request is told of if fewer than one in this many offers have as much, or if it alone keeps more of them away.
const MIN_REFUSED_SHARE: usize = 5;

/// Finds the expression that keeps many offers from a request that no free offer matches: in a clause that few offers
/// meet, or in one by which offers refuse. `None` if there is none, or if it reads nothing but what is not defined
/// and still has a value.
pub fn decisive_request(
    report: &RequestReport,
    analysis: &RequestAnalysis,
    table: &OfferTable,
) -> Option<RequestExpression> {
    let decisive = report.verdict.clauses();
    let is_told = |(place, clause): &(usize, &ClauseReport)| {
        let are_few = clause.counts.is_true.saturating_mul(MIN_REFUSED_SHARE) < report.offers;
        decisive.contains(place) || are_few || clause.sole_blocker > clause.counts.is_true
    };
    let clauses = analysis.clauses.iter().enumerate().filter(is_told);
    let of_clauses = clauses.filter_map(|(_, clause)| clause.own_expression.clone());
    let refusing = report.refusals.iter().filter(|group| group.suitable > 0);
    let names = refusing.flat_map(|group| &group.attributes);
    let of_refusals = names.filter_map(|name| RequestExpression::of(name, table, &analysis.request));
    of_clauses.chain(of_refusals).find(|found| found.reads_values || found.missing.is_some())
}
