//! Groups the offers whose own constraints reject a request.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name};
use crate::eval::FreeNames;

use super::clauses::ExplainedClause;
use super::evaluation::{ClauseOutcome, OfferTable, RefusalReason};
use super::explainer::RequestAnalysis;
use super::report::RefusalGroup;

/// Groups the refusals by the text of the first clause that the request does not meet. Groups with most suitable offers
/// come first, then those with most offers.
pub fn group_refusals(survey: &OfferTable, situation: &RequestAnalysis) -> Vec<RefusalGroup> {
    let mut found: IndexMap<Option<String>, RefusalGroup> = IndexMap::new();
    // Offers often share one expression in memory, so texts are cached by the identity of the expression.
    let mut texts: FxHashMap<usize, String> = FxHashMap::default();
    for (row, refusing) in situation.refusals.iter().enumerate() {
        let (clause, outcome) = match refusing {
            None => continue,
            Some(RefusalReason::NoConstraint) => (None, ClauseOutcome::Undefined),
            Some(RefusalReason::Clause(clause, outcome)) => (Some(clause), *outcome),
        };
        let dialect = survey.context.dialect;
        let text = clause.map(|clause| {
            let known = texts.entry(clause.expression.identity());
            known.or_insert_with(|| clause.expression_text(dialect)).clone()
        });
        let is_suitable = situation.failed_clauses[row] == 0 && !situation.clauses.is_empty();
        let (weight, example) = (survey.weights[row], survey.first_offer[row]);
        let refusal = found.entry(text).or_insert_with_key(|text| {
            let attributes = clause.map_or_else(IndexSet::new, |clause| request_attributes_read(clause, survey, row));
            let lacking = missing_attributes(&attributes, &situation.request.ad);
            RefusalGroup {
                clause: text.clone(),
                outcome,
                offers: 0,
                suitable: 0,
                example,
                attributes,
                missing: lacking,
            }
        });
        if is_suitable && refusal.suitable == 0 {
            refusal.example = example;
        }
        refusal.offers += weight;
        refusal.suitable += if is_suitable { weight } else { 0 };
    }
    let mut found: Vec<RefusalGroup> = found.into_values().collect();
    found.sort_by_key(|refusal| std::cmp::Reverse((refusal.suitable, refusal.offers)));
    found
}

/// Returns the names in `attributes` that the request does not define.
pub fn missing_attributes(attributes: &IndexSet<Name>, request: &Ad) -> Vec<Name> {
    attributes.iter().filter(|name| request.get(name).is_none()).cloned().collect()
}

/// Returns the attributes of the request that a clause of an offer reads.
pub fn request_attributes_read(clause: &ExplainedClause, survey: &OfferTable, row: usize) -> IndexSet<Name> {
    let mentions = FreeNames::of(&clause.expression, survey.context.dialect);
    let fall_through = mentions.unqualified.into_iter().filter(|name| survey.store.ads()[row].get(name).is_none());
    mentions.theirs.into_iter().chain(fall_through).collect()
}
