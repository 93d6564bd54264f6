//! Groups the offers whose own constraints reject a request.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name};
use crate::eval::FreeNames;

use super::clauses::{ExplainedClause, text};
use super::evaluation::{OfferTable, Refusal};
use super::explainer::RequestAnalysis;
use super::report::RefusalGroup;

/// Groups the refusals by the text of the first clause that the request does not meet. Sorts the groups by the number
/// of suitable offers, then by the number of all offers, both in descending order.
pub fn group_refusals(table: &OfferTable, analysis: &RequestAnalysis) -> Vec<RefusalGroup> {
    let mut found: IndexMap<Option<String>, RefusalGroup> = IndexMap::new();
    // Offers often share one expression in memory, so texts are cached by the identity of the expression.
    let mut texts: FxHashMap<usize, String> = FxHashMap::default();
    for (row, refusal) in analysis.refusals.iter().enumerate() {
        let Some(Refusal { clause, outcome }) = refusal else { continue };
        let clause = clause.as_ref();
        let text = clause.map(|clause| {
            let known = texts.entry(clause.expression.identity());
            known.or_insert_with(|| text(&clause.expression, table.context.dialect)).clone()
        });
        let is_suitable = analysis.is_suitable(row);
        let (weight, example) = (table.weights[row], table.first_offer[row]);
        let group = found.entry(text).or_insert_with_key(|text| {
            let attributes = clause.map_or_else(IndexSet::new, |clause| request_attributes_read(clause, table, row));
            let missing = missing_attributes(&attributes, &analysis.request.ad);
            RefusalGroup {
                clause: text.clone(),
                outcome: *outcome,
                offers: 0,
                suitable: 0,
                example,
                attributes,
                missing,
            }
        });
        group.offers += weight;
        if is_suitable {
            if group.suitable == 0 {
                group.example = example;
            }
            group.suitable += weight;
        }
    }
    let mut found: Vec<RefusalGroup> = found.into_values().collect();
    found.sort_by_key(|group| std::cmp::Reverse((group.suitable, group.offers)));
    found
}

/// Returns the names in `attributes` that the request does not define.
pub fn missing_attributes(attributes: &IndexSet<Name>, request: &Ad) -> Vec<Name> {
    attributes.iter().filter(|name| request.get(name).is_none()).cloned().collect()
}

/// Returns the attributes of the request that a clause of an offer reads.
pub fn request_attributes_read(clause: &ExplainedClause, table: &OfferTable, row: usize) -> IndexSet<Name> {
    let mentions = FreeNames::of(&clause.expression, table.context.dialect);
    let fall_through = mentions.unqualified.into_iter().filter(|name| table.store.ads()[row].get(name).is_none());
    mentions.theirs.into_iter().chain(fall_through).collect()
}
