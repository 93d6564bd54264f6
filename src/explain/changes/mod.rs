//! Proposes changes of a request with which it matches. Every change returned has been verified by matching.

mod clause_fixes;
mod edit;
mod offer_demands;
mod search;

use crate::ad::{Ad, Name};

use super::conflicts::{minimal, positions};
use super::evaluation::Survey;
use super::explainer::Situation;

pub(super) use clause_fixes::{asks_no_more, beyond, like, of_other_type};
pub use edit::Edit;
pub(super) use edit::rewritten;
pub(super) use offer_demands::{is_fixed, meeting, prefer};
use search::Trials;

/// A verified change with which the request matches.
#[derive(Clone, Debug)]
pub struct Change {
    /// The edits; all of them are needed.
    pub edits: Vec<Edit>,
    /// The description of each edit.
    pub steps: Vec<String>,
    /// Number of offers that match the changed request.
    pub matches: usize,
    /// The changed request.
    pub request: Ad,
}

impl Change {
    /// The description on one line.
    #[must_use]
    pub fn text(&self) -> String {
        self.steps.join(", ")
    }
}

/// A change that has not been verified.
pub struct Proposal {
    pub edits: Vec<Edit>,
    /// The size of the change: 0 for corrected slips, up to 1 for each changed value, 2 for each dropped clause.
    pub size: f64,
}

/// Maximum number of clause sets considered for the offers that accept the request, and again for all offers.
const MOST_SETS: usize = 12;

/// Maximum number of clauses in such a set, unless every set is larger.
const MOST_CLAUSES: u32 = 3;

/// Maximum number of changes returned.
const MOST_TOLD: usize = 10;

/// Maximum number of rounds that extend the most promising insufficient changes.
const MOST_ADDED: usize = 3;

/// Returns the changes with which the request matches, fewest and smallest first.
pub fn changes(survey: &mut Survey, situation: &Situation, names: &[Name]) -> Vec<Change> {
    let mut trials = Trials::new(situation);
    let single = proposals(survey, situation, names);
    trials.run(survey, single);
    for _ in 0..MOST_ADDED {
        if trials.has_found() {
            break;
        }
        let continued = trials.continued(survey, names);
        trials.run(survey, continued);
    }
    trials.told(MOST_TOLD)
}

/// Proposes changes for a request that matches nothing. A proposal need not suffice.
fn proposals(survey: &mut Survey, situation: &Situation, names: &[Name]) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    if situation.clauses.is_empty() {
        return proposals;
    }
    let accepting: Vec<usize> = (0..survey.rows()).filter(|row| situation.refusing[*row].is_none()).collect();
    let of_accepting = minimal(accepting.iter().map(|row| situation.failing[*row]));
    let fewest = situation.least.iter().chain(&of_accepting).filter(|mask| **mask != 0).map(|mask| mask.count_ones());
    let most = fewest.min().unwrap_or_default().max(MOST_CLAUSES);
    for (masks, is_accepting) in [(&of_accepting, true), (&situation.least, false)] {
        let masks = masks.iter().copied().filter(|mask| *mask != 0 && mask.count_ones() <= most);
        for mask in masks.take(MOST_SETS) {
            let rows: Vec<usize> = if is_accepting {
                accepting.iter().copied().filter(|row| situation.failing[*row] == mask).collect()
            } else {
                (0..survey.rows()).filter(|row| situation.failing[*row] == mask).collect()
            };
            proposals.extend(of_set(survey, situation, names, &positions(mask), rows));
        }
    }
    proposals.extend(offer_demands::proposals(survey, situation));
    proposals
}

/// Proposes changes for a set of clauses, given the rows that fail exactly these. Several clauses are changed together.
fn of_set(
    survey: &mut Survey,
    situation: &Situation,
    names: &[Name],
    places: &[usize],
    mut rows: Vec<usize>,
) -> Vec<Proposal> {
    let dropped = |place: &usize| Edit::Drop { clause: *place };
    #[allow(clippy::cast_precision_loss)] // three or so
    let all_dropped = Proposal { edits: places.iter().map(dropped).collect(), size: 2.0 * places.len() as f64 };
    if let [place] = places {
        let mut proposals = clause_fixes::mends(survey, situation, names, *place, &rows);
        proposals.push(all_dropped);
        return proposals;
    }
    let mut together = Proposal { edits: Vec::new(), size: 0.0 };
    for place in places {
        if let Some(mend) = clause_fixes::mends(survey, situation, names, *place, &rows).into_iter().next() {
            rows = clause_fixes::reached(survey, situation, *place, &mend, rows);
            together.edits.extend(mend.edits);
            together.size += mend.size;
        } else {
            together.edits.push(dropped(place));
            together.size += 2.0;
        }
    }
    vec![together, all_dropped]
}
