//! What would let a request match: changes that were tried.

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

/// A change of a request that lets it match.
#[derive(Clone, Debug)]
pub struct Change {
    /// What is to be changed, all of it.
    pub edits: Vec<Edit>,
    /// The same in words, each step by itself.
    pub steps: Vec<String>,
    /// How many offers match the changed request: it was matched.
    pub matches: usize,
    /// The changed request.
    pub request: Ad,
}

impl Change {
    /// The same in words.
    #[must_use]
    pub fn text(&self) -> String {
        self.steps.join(", ")
    }
}

/// What may be tried, and how much of a change it is.
pub struct Proposal {
    pub edits: Vec<Edit>,
    /// 0 where only a slip is mended, up to 1 for each value that is another, 2 for each clause that is dropped.
    pub size: f64,
}

/// So many sets of clauses are looked at.
const MOST_SETS: usize = 12;

/// In larger sets of clauses nothing is changed.
const MOST_CLAUSES: u32 = 3;

/// So many changes are told.
const MOST_TOLD: usize = 10;

/// So many times more is added to changes of which none suffices.
const MOST_ADDED: usize = 3;

/// The changes that let a request match, fewest and smallest first.
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

/// What can be done about a request that matches nothing, by itself enough or not.
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

/// What can be done about a set of clauses that some rows do not meet, and no others.
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
