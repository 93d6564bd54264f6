//! What would let a request match: changes that were tried.

mod edit;
mod mends;
mod wishes;

use crate::ad::Ad;

use super::conflicts::{minimal, positions};
use super::explainer::Situation;
use super::report::Report;
use super::survey::{Asking, Survey};

pub use edit::Edit;
use edit::apply;
pub(super) use edit::rewritten;
pub(super) use mends::{asks_no_more, beyond, like, of_other_type};
pub(super) use wishes::{is_fixed, meeting, prefer};

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

/// So many changes are tried, and so many told.
const MOST_TRIED: usize = 60;
const MOST_TOLD: usize = 10;

/// The changes that let a request match, fewest and smallest first.
pub fn changes(survey: &mut Survey, situation: &Situation, report: &Report) -> Vec<Change> {
    let mut proposals = proposals(survey, situation, report);
    proposals.sort_by(|a, b| a.edits.len().cmp(&b.edits.len()).then(a.size.total_cmp(&b.size)));
    let mut found: Vec<(f64, Change)> = Vec::new();
    let mut tried: Vec<String> = Vec::new();
    for Proposal { edits, size } in proposals {
        let steps: Vec<String> =
            edits.iter().map(|edit| edit.text(&situation.clauses, survey.context.dialect)).collect();
        let text = steps.join(", ");
        if tried.len() >= MOST_TRIED || tried.contains(&text) || survey.context.is_interrupted() {
            continue;
        }
        let changed = apply(&situation.asking.ad, &situation.clauses, &edits);
        tried.push(text);
        let Some(request) = changed else { continue };
        let rows = survey.matching(&Asking::new(&request));
        let matches = survey.weight(rows.ones());
        if matches > 0 {
            found.push((size, Change { edits, steps, matches, request }));
        }
    }
    found.sort_by(|(a_size, a), (b_size, b)| {
        let fewest = a.edits.len().cmp(&b.edits.len());
        fewest.then(a_size.total_cmp(b_size)).then(b.matches.cmp(&a.matches))
    });
    found.into_iter().take(MOST_TOLD).map(|(_, change)| change).collect()
}

fn proposals(survey: &mut Survey, situation: &Situation, report: &Report) -> Vec<Proposal> {
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
            proposals.extend(of_set(survey, situation, report, &positions(mask), rows));
        }
    }
    proposals.extend(wishes::proposals(survey, situation));
    proposals
}

/// What can be done about a set of clauses that some rows do not meet, and no others.
fn of_set(
    survey: &mut Survey,
    situation: &Situation,
    report: &Report,
    places: &[usize],
    mut rows: Vec<usize>,
) -> Vec<Proposal> {
    let dropped = |place: &usize| Edit::Drop { clause: *place };
    #[allow(clippy::cast_precision_loss)] // three or so
    let all_dropped = Proposal { edits: places.iter().map(dropped).collect(), size: 2.0 * places.len() as f64 };
    if let [place] = places {
        let mut proposals = mends::mends(survey, situation, report, *place, &rows);
        proposals.push(all_dropped);
        return proposals;
    }
    let mut together = Proposal { edits: Vec::new(), size: 0.0 };
    for place in places {
        if let Some(mend) = mends::mends(survey, situation, report, *place, &rows).into_iter().next() {
            rows = mends::reached(survey, situation, *place, &mend, rows);
            together.edits.extend(mend.edits);
            together.size += mend.size;
        } else {
            together.edits.push(dropped(place));
            together.size += 2.0;
        }
    }
    vec![together, all_dropped]
}
