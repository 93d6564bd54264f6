//! Proposes to define attributes that offers demand, and to do without those for which they refuse the request.

use rustc_hash::FxHashSet;

use crate::ad::{Expression, Name, Truth, Value};
use crate::explain::decisive_part::ClauseInPair;
use crate::explain::evaluation::{OfferClause, OfferTable, RequestContext};
use crate::explain::missing_attribute::MissingAttribute;
use crate::explain::refusals::request_attributes_read;
use crate::explain::request_analysis::RequestAnalysis;
use crate::explain::setting_slips::setting_slips;
use crate::matching::PairSide;
use crate::protocol::{requested_resource, words};

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
    let near = analysis.failures.rows_failing(&analysis.minimal_failures);
    let (mut found, mut seen) = (Vec::<(RequestEdit, f64)>::new(), FxHashSet::default());
    for row in near.ones().take(MAX_ATTRIBUTE_ROWS) {
        if analysis.acceptance.accepting.contains(row) {
            continue;
        }
        let outcomes = analysis.acceptance.row_outcomes(table, request, row);
        for (place, _) in outcomes.filter(|(_, outcome)| *outcome != Truth::True) {
            let clause = &table.offer_constraints().clauses[place];
            if !seen.insert((place, table.group_of_clause(request, &clause.clause, row))) {
                continue;
            }
            for (edit, size) in edits_for_clause(table, request, clause, row) {
                let is_allowed = match &edit {
                    RequestEdit::Define { name } | RequestEdit::Remove { name, .. } => {
                        !is_fixed(name) && requested_resource(name).is_none() && !is_set(name)
                    }
                    _ => true,
                };
                if is_allowed && !found.iter().any(|(known, _)| *known == edit) {
                    found.push((edit, size));
                }
            }
        }
    }
    found.into_iter().map(|(edit, size)| Proposal::new(edit, size)).collect()
}

/// Returns the edits of the attributes of the request that an unmet clause of an offer reads, each with its size. The correction of
/// a mistake gives nothing up.
fn edits_for_clause(
    table: &OfferTable,
    request: &RequestContext,
    clause: &OfferClause,
    row: usize,
) -> Vec<(RequestEdit, f64)> {
    let pair = ClauseInPair { table, request, side: PairSide::Offer, row };
    let names = request_attributes_read(clause, table, row);
    // An offer that misspells an attribute of the request should be corrected itself.
    let missing = pair.missing_attributes(&clause.clause.expression, &names).into_iter();
    let missing = missing.filter(|missing| missing.near.is_empty() && !is_of_slots(table, missing));
    let defined = missing.map(|missing| (RequestEdit::Define { name: missing.name }, 1.0));
    let dropped = names.into_iter().flat_map(|name| {
        let Some(from) = request.ad.get(&name).cloned() else { return Vec::new() };
        let slips = setting_slips(&request.ad, &name, &from, table);
        let set = |to| RequestEdit::Set { name: name.clone(), from: Some(from.clone()), to };
        if let Some(to) = slips.first().and_then(|slip| slip.corrected(&from)) {
            return vec![(set(to), 0.0)];
        }
        let others = without_one(&name, &from);
        if others.is_empty() {
            return vec![(RequestEdit::Remove { name, from }, 1.0)];
        }
        others.into_iter().map(|to| (set(to), 1.0)).collect()
    });
    defined.chain(dropped).collect()
}

/// Maximum number of places of which one is left out.
const MAX_UNWANTED_PLACES: usize = 10;

/// Returns the lists of places that a job avoids, each without one of them. Empty for any other attribute, and for a list with a
/// single place.
fn without_one(name: &Name, list: &Expression) -> Vec<Expression> {
    let Some(Value::String(list)) = list.as_literal().filter(|_| name.starts_with("UNDESIRED_")) else {
        return Vec::new();
    };
    let list = list.to_str();
    let places: Vec<&str> = words(&list).collect();
    if !(2..=MAX_UNWANTED_PLACES).contains(&places.len()) {
        return Vec::new();
    }
    let without = |left_out: usize| {
        let kept = places.iter().enumerate().filter(|(place, _)| *place != left_out).map(|(_, name)| *name);
        Expression::literal(Value::string(kept.collect::<Vec<_>>().join(",")))
    };
    (0..places.len()).map(without).collect()
}

/// Whether a missing attribute is for the offers to define: slots have it, or other offers.
pub fn is_of_slots(table: &OfferTable, missing: &MissingAttribute) -> bool {
    missing.is_of_slots() || missing.is_of_neither && table.offers_with(&missing.name) > 0
}
