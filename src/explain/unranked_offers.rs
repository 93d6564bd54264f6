//! Requests that match offers and to which the policy gives none of them, because it ranks none.

use crate::eval::FreeNames;

use super::clauses::text;
use super::evaluation::{OfferTable, RequestContext};
use super::report::RequestVerdict;

/// The verdict on a request for which the policy's docking vector has no comparable value in any of `rows`, which match;
/// `None` if it has values for one of them, and if there are no rows.
pub fn unranked_verdict(
    table: &OfferTable,
    request: &RequestContext,
    rows: impl Iterator<Item = usize>,
) -> Option<RequestVerdict> {
    if table.docking.is_empty() {
        return None;
    }
    let mut counts = vec![0; table.docking.len()];
    for row in rows {
        counts[table.unranked_component(request, row)?] += table.weights.of_row(row);
    }
    // `max_by_key` returns the last of several maxima. In reverse order this is the first component.
    let component = (0..counts.len()).rev().max_by_key(|component| counts[*component])?;
    if counts[component] == 0 {
        return None;
    }
    let rule = &table.docking[component];
    let mut mentions = FreeNames::default();
    mentions.add_policy_expression(&rule.expression, table.context.dialect);
    let missing = mentions.theirs.into_iter().find(|name| table.offers_with(name) == 0);
    let missing = missing.map(|name| {
        let near = table.similar_attributes(&name);
        (name, near)
    });
    let written = || text(&rule.expression, table.context.dialect);
    let rule = rule.name.as_ref().map_or_else(written, ToString::to_string);
    Some(RequestVerdict::Unranked { rule, missing })
}
