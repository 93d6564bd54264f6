//! Searches for changes that suffice: verifies single proposals first, then extends the most promising ones.

use std::mem::discriminant;

use crate::ad::{Ad, Name};
use crate::explain::closest_offers::nearest;
use crate::explain::distance::number;
use crate::explain::evaluation::{Asking, Survey};
use crate::explain::explainer::Situation;

use super::edit::{Edit, apply};
use super::{Change, Proposal, proposals};

/// Maximum number of changes verified by matching.
const MOST_TRIED: usize = 60;

/// Maximum number of insufficient changes analysed for the remaining obstacles, per round.
const MOST_LOOKED_AT: usize = 12;

/// Maximum number of insufficient changes extended per round.
const MOST_CONTINUED: usize = 3;

/// Changes with this many edits are not extended: longer ones are of no use to people.
const MOST_STEPS: usize = 5;

/// The state of the search for one request.
pub struct Trials<'s> {
    situation: &'s Situation,
    tried: Vec<String>,
    /// The changes that suffice, each with its size.
    found: Vec<(f64, Change)>,
    /// The insufficient changes of the last round, each with the changed request.
    failed: Vec<(Proposal, Ad)>,
}

impl<'s> Trials<'s> {
    pub fn new(situation: &'s Situation) -> Self {
        Trials { situation, tried: Vec::new(), found: Vec::new(), failed: Vec::new() }
    }

    pub fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// Verifies a round of proposals, fewest and smallest edits first.
    pub fn run(&mut self, survey: &mut Survey, mut proposals: Vec<Proposal>) {
        self.failed.clear();
        proposals.sort_by(|a, b| a.edits.len().cmp(&b.edits.len()).then(a.size.total_cmp(&b.size)));
        for proposal in proposals {
            match self.attempt(survey, &proposal.edits) {
                Some(change) if change.matches > 0 => {
                    let change = self.pared(survey, change);
                    self.found.push((proposal.size, change));
                }
                Some(change) => self.failed.push((proposal, change.request)),
                None => {}
            }
        }
    }

    /// Applies edits and counts the matches. `None` if the edits cannot be applied or were tried before, if the limit
    /// is reached, or on an interrupt.
    fn attempt(&mut self, survey: &mut Survey, edits: &[Edit]) -> Option<Change> {
        let Situation { asking, clauses, .. } = self.situation;
        let dialect = survey.context.dialect;
        let steps: Vec<String> = edits.iter().map(|edit| edit.text(clauses, dialect)).collect();
        let text = steps.join(", ");
        if self.tried.len() >= MOST_TRIED || self.tried.contains(&text) || survey.context.is_interrupted() {
            return None;
        }
        self.tried.push(text);
        let request = apply(&asking.ad, clauses, edits)?;
        let rows = survey.matching(&Asking::new(&request));
        let matches = survey.weight(rows.ones());
        Some(Change { edits: edits.to_vec(), steps, matches, request })
    }

    /// Removes the edits without which the change still suffices.
    fn pared(&mut self, survey: &mut Survey, mut change: Change) -> Change {
        let mut place = 0;
        while change.edits.len() > 1 && place < change.edits.len() {
            let mut fewer = change.edits.clone();
            fewer.remove(place);
            match self.attempt(survey, &fewer) {
                Some(less) if less.matches > 0 => change = less,
                _ => place += 1,
            }
        }
        change
    }

    /// Extends those changes of the last round that leave the fewest unmet clauses, each with the proposals for the
    /// changed request.
    pub fn continued(&mut self, survey: &mut Survey, names: &[Name]) -> Vec<Proposal> {
        let is_far = |failing: &u128| failing.count_ones() as usize > MOST_STEPS;
        if self.situation.least.iter().all(is_far) {
            return Vec::new();
        }
        let mut measured = Vec::new();
        let failed = self.failed.drain(..).filter(|(proposal, _)| proposal.edits.len() < MOST_STEPS);
        for (proposal, request) in failed.take(MOST_LOOKED_AT) {
            let reached = Situation::of(&request, survey);
            if let Some(near) = nearest(survey, &reached).first() {
                measured.push((near.fails.len() + near.refuses.len(), proposal, reached));
            }
        }
        measured.sort_by(|(a_left, a, _), (b_left, b, _)| a_left.cmp(b_left).then(a.size.total_cmp(&b.size)));
        let mut continued = Vec::new();
        for (_, done, reached) in measured.into_iter().take(MOST_CONTINUED) {
            let places = self.places(&done.edits, &reached);
            for more in proposals(survey, &reached, names) {
                if let Some(edits) = joined(&done.edits, more.edits, &places) {
                    continued.push(Proposal { edits, size: done.size + more.size });
                }
            }
        }
        continued
    }

    /// Maps the clauses of a changed request to those of the original. Empty if they do not correspond one to one.
    fn places(&self, edits: &[Edit], reached: &Situation) -> Vec<usize> {
        let is_dropped = |place: &usize| edits.iter().any(|edit| *edit == Edit::Drop { clause: *place });
        let left: Vec<usize> = (0..self.situation.clauses.len()).filter(|place| !is_dropped(place)).collect();
        if left.len() == reached.clauses.len() { left } else { Vec::new() }
    }

    /// Returns the changes that suffice, fewest and smallest first, at most `most` of them.
    pub fn told(mut self, most: usize) -> Vec<Change> {
        self.found.sort_by(|(a_size, a), (b_size, b)| {
            let fewest = a.edits.len().cmp(&b.edits.len());
            let least = || added(&a.edits).total_cmp(&added(&b.edits));
            fewest.then(a_size.total_cmp(b_size)).then(b.matches.cmp(&a.matches)).then_with(least)
        });
        let mut told: Vec<Change> = Vec::new();
        for (_, change) in self.found {
            // Of changes with several edits that differ in their values only, keep the first.
            if change.edits.len() == 1 || !told.iter().any(|known| are_alike(&known.edits, &change.edits)) {
                told.push(change);
            }
        }
        told.truncate(most);
        told
    }
}

/// Appends edits to edits. `places` maps the clauses of the appended ones to those of the original request. An edit
/// with a target already edited replaces the earlier one. `None` if a clause has no counterpart.
fn joined(edits: &[Edit], more: Vec<Edit>, places: &[usize]) -> Option<Vec<Edit>> {
    let mut joined = edits.to_vec();
    for edit in more {
        let edit = match edit {
            Edit::Drop { clause } => Edit::Drop { clause: *places.get(clause)? },
            Edit::Rewrite { clause, to } => Edit::Rewrite { clause: *places.get(clause)?, to },
            set @ Edit::Set { .. } => set,
        };
        match joined.iter_mut().find(|known| known.place() == edit.place()) {
            Some(Edit::Set { to: known, .. }) => {
                if let Edit::Set { to, .. } = edit {
                    *known = to;
                }
            }
            Some(known) => *known = edit,
            None => joined.push(edit),
        }
    }
    joined.sort_by(|a, b| a.place().cmp(&b.place()));
    Some(joined)
}

/// The sum of the absolute numbers that the edits give to attributes which the request lacks.
fn added(edits: &[Edit]) -> f64 {
    let numbers = edits.iter().filter_map(|edit| match edit {
        Edit::Set { from: None, to, .. } => number(to),
        _ => None,
    });
    numbers.map(f64::abs).sum()
}

/// Whether two lists of edits differ in their values only.
fn are_alike(some: &[Edit], others: &[Edit]) -> bool {
    let is_alike = |a: &Edit, b: &Edit| discriminant(a) == discriminant(b) && a.place() == b.place();
    some.len() == others.len() && some.iter().zip(others).all(|(a, b)| is_alike(a, b))
}
