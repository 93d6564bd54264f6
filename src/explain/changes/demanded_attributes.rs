//! Proposes to define attributes that offers demand, and to do without those for which they refuse the request.

use rustc_hash::FxHashSet;

use crate::ad::{Name, Truth};
use crate::explain::decisive_part::ClauseInPair;
use crate::explain::evaluation::OfferTable;
use crate::explain::missing_attribute::MissingAttribute;
use crate::explain::refusals::request_attributes_read;
use crate::explain::request_analysis::RequestAnalysis;
use crate::explain::setting_slips::setting_slips;
use crate::matching::PairSide;
use crate::protocol::requested_resource;

use super::demanded_values::is_fixed;
use super::edit::RequestEdit;
use super::search::Proposal;

/// Maximum number of rows whose unmet clauses lead to proposals to define or to drop attributes.
const MAX_ATTRIBUTE_ROWS: usize = 20;

/// Proposes to define attributes that the request lacks and to which clauses of offers owe that they are not met, and to
/// do without attributes that such clauses read, unless `is_set` says that other values of them are proposed. Considers
/// the offers that [`propose_demanded_values`](super::offer_demands::propose_demanded_values) considers.
pub fn propose_attributes(
    table: &OfferTable,
    analysis: &RequestAnalysis,
    is_set: impl Fn(&Name) -> bool,
) -> Vec<Proposal> {
    let request = &analysis.request;
    let constraints = table.offer_constraints();
    let near = analysis.failures.rows_failing(&analysis.minimal_failures);
    let (mut edits, mut seen) = (Vec::<RequestEdit>::new(), FxHashSet::default());
    for row in near.ones().take(MAX_ATTRIBUTE_ROWS) {
        if analysis.acceptance.accepting.contains(row) {
            continue;
        }
        let pair = ClauseInPair { table, request, side: PairSide::Offer, row };
        let outcomes = analysis.acceptance.row_outcomes(table, request, row);
        for (clause, _) in outcomes.filter(|(_, outcome)| *outcome != Truth::True) {
            let place = (clause, table.group_of_clause(request, &constraints.clauses[clause].clause, row));
            if !seen.insert(place) {
                continue;
            }
            let clause = &constraints.clauses[clause];
            let names = request_attributes_read(clause, table, row);
            // An offer that misspells an attribute of the request should be corrected itself.
            let missing = pair.missing_attributes(&clause.clause.expression, &names).into_iter();
            let missing = missing.filter(|missing| missing.near.is_empty() && !is_of_slots(table, missing));
            let defined = missing.map(|missing| RequestEdit::Define { name: missing.name });
            let dropped = names.into_iter().filter_map(|name| {
                let from = request.ad.get(&name)?.clone();
                let slips = setting_slips(&request.ad, &name, &from, table);
                Some(match slips.first().and_then(|slip| slip.corrected(&from)) {
                    Some(to) => RequestEdit::Set { name, from: Some(from), to },
                    None => RequestEdit::Remove { name, from },
                })
            });
            for edit in defined.chain(dropped) {
                let is_allowed = match &edit {
                    RequestEdit::Define { name } | RequestEdit::Remove { name, .. } => {
                        !is_fixed(name) && requested_resource(name).is_none() && !is_set(name)
                    }
                    _ => true,
                };
                if is_allowed && !edits.contains(&edit) {
                    edits.push(edit);
                }
            }
        }
    }
    // The correction of a mistake gives nothing up.
    let size = |edit: &RequestEdit| if matches!(edit, RequestEdit::Set { .. }) { 0.0 } else { 1.0 };
    edits.into_iter().map(|edit| (size(&edit), edit)).map(|(size, edit)| Proposal::new(edit, size)).collect()
}

/// Whether a missing attribute is for the offers to define: slots have it, or other offers.
pub fn is_of_slots(table: &OfferTable, missing: &MissingAttribute) -> bool {
    missing.is_of_slots() || missing.is_of_neither && table.offers_with(&missing.name) > 0
}
