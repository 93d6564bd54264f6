//! Groups the offers whose own constraints reject a request.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name};
use crate::eval::Mentions;

use super::clauses::Clause;
use super::evaluation::{Outcome, Refusing, Survey};
use super::explainer::Situation;
use super::report::Refusal;

/// Groups the refusals by the text of the first clause that the request does not meet. Groups with most suitable offers
/// come first, then those with most offers.
pub fn refusals(survey: &Survey, situation: &Situation) -> Vec<Refusal> {
    let mut found: IndexMap<Option<String>, Refusal> = IndexMap::new();
    // Offers often share one expression in memory, so texts are cached by its identity.
    let mut texts: FxHashMap<usize, String> = FxHashMap::default();
    for (row, refusing) in situation.refusing.iter().enumerate() {
        let (clause, outcome) = match refusing {
            None => continue,
            Some(Refusing::NoConstraint) => (None, Outcome::Undefined),
            Some(Refusing::Clause(clause, outcome)) => (Some(clause), *outcome),
        };
        let dialect = survey.context.dialect;
        let text = clause.map(|clause| {
            let known = texts.entry(clause.expression.identity());
            known.or_insert_with(|| clause.text(dialect)).clone()
        });
        let is_suitable = situation.failing[row] == 0 && !situation.clauses.is_empty();
        let (weight, example) = (survey.weights[row], survey.first[row]);
        let refusal = found.entry(text).or_insert_with_key(|text| {
            let attributes = clause.map_or_else(IndexSet::new, |clause| asked_of_request(clause, survey, row));
            let lacking = lacking(&attributes, &situation.asking.ad);
            Refusal { clause: text.clone(), outcome, offers: 0, suitable: 0, example, attributes, lacking }
        });
        if is_suitable && refusal.suitable == 0 {
            refusal.example = example;
        }
        refusal.offers += weight;
        refusal.suitable += if is_suitable { weight } else { 0 };
    }
    let mut found: Vec<Refusal> = found.into_values().collect();
    found.sort_by_key(|refusal| std::cmp::Reverse((refusal.suitable, refusal.offers)));
    found
}

/// Returns the names in `attributes` that the request does not define.
pub fn lacking(attributes: &IndexSet<Name>, request: &Ad) -> Vec<Name> {
    attributes.iter().filter(|name| request.get(name).is_none()).cloned().collect()
}

/// Returns the attributes of the request that a clause of an offer reads.
pub fn asked_of_request(clause: &Clause, survey: &Survey, row: usize) -> IndexSet<Name> {
    let mentions = Mentions::of(&clause.expression, survey.context.dialect);
    let fall_through = mentions.either.into_iter().filter(|name| survey.ads[row].get(name).is_none());
    mentions.other.into_iter().chain(fall_through).collect()
}
