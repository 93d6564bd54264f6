//! Proposes changes of a request with which it matches. Every change returned has been verified by matching.

mod clause_fixes;
mod edit;
mod offer_demands;
mod search;

use crate::ad::{Ad, Name};

use super::conflicts::{bit_positions, minimal_masks};
use super::evaluation::OfferTable;
use super::explainer::RequestAnalysis;

pub(super) use clause_fixes::{closest_bound, convert_to_bound_type, convert_type, relaxed_comparison};
pub use edit::RequestEdit;
pub(super) use edit::rewrite_expression;
pub(super) use offer_demands::{is_identity_attribute, sort_by_preference, value_meeting};
use search::ChangeSearch;

/// A verified change with which the request matches.
#[derive(Clone, Debug)]
pub struct RequestChange {
    /// The edits; all of them are needed.
    pub edits: Vec<RequestEdit>,
    /// The description of each edit.
    pub steps: Vec<String>,
    /// Number of offers that match the changed request.
    pub match_count: usize,
    /// The changed request.
    pub request: Ad,
}

impl RequestChange {
    /// The description on one line.
    #[must_use]
    pub fn text(&self) -> String {
        self.steps.join(", ")
    }
}

/// A change that has not been verified.
pub struct Proposal {
    pub edits: Vec<RequestEdit>,
    /// The size of the change: 0 for corrected slips, up to 1 for each changed value, 2 for each dropped clause.
    pub size: f64,
}

/// Maximum number of clause sets considered for the offers that accept the request, and again for all offers.
const MAX_CLAUSE_SETS: usize = 12;

/// Maximum number of clauses in such a set, unless every set is larger.
const MAX_CLAUSES_PER_SET: u32 = 3;

/// Maximum number of changes returned.
const MAX_CHANGES: usize = 10;

/// Maximum number of rounds that extend the most promising insufficient changes.
const MAX_EXTENSION_ROUNDS: usize = 3;

/// Returns the changes with which the request matches, fewest and smallest first.
pub fn find_changes(survey: &mut OfferTable, situation: &RequestAnalysis, names: &[Name]) -> Vec<RequestChange> {
    let mut trials = ChangeSearch::new(situation);
    let single = propose(survey, situation, names);
    trials.verify(survey, single);
    for _ in 0..MAX_EXTENSION_ROUNDS {
        if trials.has_found() {
            break;
        }
        let continued = trials.extensions(survey, names);
        trials.verify(survey, continued);
    }
    trials.into_changes(MAX_CHANGES)
}

/// Proposes changes for a request that matches nothing. A proposal need not suffice.
fn propose(survey: &mut OfferTable, situation: &RequestAnalysis, names: &[Name]) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    if situation.clauses.is_empty() {
        return proposals;
    }
    let accepting: Vec<usize> = (0..survey.row_count()).filter(|row| situation.refusals[*row].is_none()).collect();
    let of_accepting = minimal_masks(accepting.iter().map(|row| situation.failed_clauses[*row]));
    let fewest =
        situation.minimal_failures.iter().chain(&of_accepting).filter(|mask| **mask != 0).map(|mask| mask.count_ones());
    let most = fewest.min().unwrap_or_default().max(MAX_CLAUSES_PER_SET);
    for (masks, is_accepting) in [(&of_accepting, true), (&situation.minimal_failures, false)] {
        let masks = masks.iter().copied().filter(|mask| *mask != 0 && mask.count_ones() <= most);
        for mask in masks.take(MAX_CLAUSE_SETS) {
            let rows: Vec<usize> = if is_accepting {
                accepting.iter().copied().filter(|row| situation.failed_clauses[*row] == mask).collect()
            } else {
                (0..survey.row_count()).filter(|row| situation.failed_clauses[*row] == mask).collect()
            };
            proposals.extend(propose_for_set(survey, situation, names, &bit_positions(mask), rows));
        }
    }
    proposals.extend(offer_demands::propose_demanded_values(survey, situation));
    proposals
}

/// Proposes changes for a set of clauses, given the rows that fail exactly these. Several clauses are changed together.
fn propose_for_set(
    survey: &mut OfferTable,
    situation: &RequestAnalysis,
    names: &[Name],
    places: &[usize],
    mut rows: Vec<usize>,
) -> Vec<Proposal> {
    let dropped = |place: &usize| RequestEdit::Drop { clause: *place };
    #[allow(clippy::cast_precision_loss)] // three or so
    let all_dropped = Proposal { edits: places.iter().map(dropped).collect(), size: 2.0 * places.len() as f64 };
    if let [place] = places {
        let mut proposals = clause_fixes::propose_fixes(survey, situation, names, *place, &rows);
        proposals.push(all_dropped);
        return proposals;
    }
    let mut together = Proposal { edits: Vec::new(), size: 0.0 };
    for place in places {
        if let Some(mend) = clause_fixes::propose_fixes(survey, situation, names, *place, &rows).into_iter().next() {
            rows = clause_fixes::rows_meeting_fix(survey, situation, *place, &mend, rows);
            together.edits.extend(mend.edits);
            together.size += mend.size;
        } else {
            together.edits.push(dropped(place));
            together.size += 2.0;
        }
    }
    vec![together, all_dropped]
}
