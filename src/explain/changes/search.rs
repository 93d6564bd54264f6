//! Searches for changes that suffice: verifies single proposals first, then extends the most promising ones.

use std::mem::discriminant;

use crate::ad::{Ad, Name};
use crate::explain::closest_offers::closest_offers;
use crate::explain::distance::as_number;
use crate::explain::evaluation::{OfferTable, RequestContext};
use crate::explain::explainer::RequestAnalysis;

use super::edit::{RequestEdit, apply_edits};
use super::{Proposal, RequestChange, propose};

/// Maximum number of changes verified by matching.
const MAX_VERIFIED_CHANGES: usize = 60;

/// Maximum number of insufficient changes analysed for the remaining obstacles, per round.
const MAX_ANALYZED_CHANGES: usize = 12;

/// Maximum number of insufficient changes extended per round.
const MAX_EXTENDED_CHANGES: usize = 3;

/// Changes with this many edits are not extended: longer ones are of no use to people.
const MAX_EDITS: usize = 5;

/// The state of the search for one request.
pub struct ChangeSearch<'s> {
    situation: &'s RequestAnalysis,
    tried: Vec<String>,
    /// The changes that suffice, each with its size.
    sufficient: Vec<(f64, RequestChange)>,
    /// The insufficient changes of the last round, each with the changed request.
    insufficient: Vec<(Proposal, Ad)>,
}

impl<'s> ChangeSearch<'s> {
    pub fn new(situation: &'s RequestAnalysis) -> Self {
        ChangeSearch { situation, tried: Vec::new(), sufficient: Vec::new(), insufficient: Vec::new() }
    }

    pub fn has_found(&self) -> bool {
        !self.sufficient.is_empty()
    }

    /// Verifies a round of proposals, fewest and smallest edits first.
    pub fn verify(&mut self, survey: &mut OfferTable, mut proposals: Vec<Proposal>) {
        self.insufficient.clear();
        proposals.sort_by(|a, b| a.edits.len().cmp(&b.edits.len()).then(a.size.total_cmp(&b.size)));
        for proposal in proposals {
            match self.verify_one(survey, &proposal.edits) {
                Some(change) if change.match_count > 0 => {
                    let change = self.minimized(survey, change);
                    self.sufficient.push((proposal.size, change));
                }
                Some(change) => self.insufficient.push((proposal, change.request)),
                None => {}
            }
        }
    }

    /// Applies edits and counts the matches. `None` if the edits cannot be applied or were tried before, if the limit
    /// is reached, or on an interrupt.
    fn verify_one(&mut self, survey: &mut OfferTable, edits: &[RequestEdit]) -> Option<RequestChange> {
        let RequestAnalysis { request: asking, clauses, .. } = self.situation;
        let dialect = survey.context.dialect;
        let steps: Vec<String> = edits.iter().map(|edit| edit.text(clauses, dialect)).collect();
        let text = steps.join(", ");
        if self.tried.len() >= MAX_VERIFIED_CHANGES || self.tried.contains(&text) || survey.context.is_interrupted() {
            return None;
        }
        self.tried.push(text);
        let request = apply_edits(&asking.ad, clauses, edits)?;
        let rows = survey.matching_rows(&RequestContext::new(&request));
        let matches = survey.offers_in(rows.ones());
        Some(RequestChange { edits: edits.to_vec(), steps, match_count: matches, request })
    }

    /// Removes the edits without which the change still suffices.
    fn minimized(&mut self, survey: &mut OfferTable, mut change: RequestChange) -> RequestChange {
        let mut place = 0;
        while change.edits.len() > 1 && place < change.edits.len() {
            let mut fewer = change.edits.clone();
            fewer.remove(place);
            match self.verify_one(survey, &fewer) {
                Some(less) if less.match_count > 0 => change = less,
                _ => place += 1,
            }
        }
        change
    }

    /// Extends those changes of the last round that leave the fewest unmet clauses, each with the proposals for the
    /// changed request.
    pub fn extensions(&mut self, survey: &mut OfferTable, names: &[Name]) -> Vec<Proposal> {
        let is_far = |failing: &u128| failing.count_ones() as usize > MAX_EDITS;
        if self.situation.minimal_failures.iter().all(is_far) {
            return Vec::new();
        }
        let mut measured = Vec::new();
        let failed = self.insufficient.drain(..).filter(|(proposal, _)| proposal.edits.len() < MAX_EDITS);
        for (proposal, request) in failed.take(MAX_ANALYZED_CHANGES) {
            let reached = RequestAnalysis::new(&request, survey);
            if let Some(near) = closest_offers(survey, &reached).first() {
                measured.push((near.failed_clauses.len() + near.unmet_demands.len(), proposal, reached));
            }
        }
        measured.sort_by(|(a_left, a, _), (b_left, b, _)| a_left.cmp(b_left).then(a.size.total_cmp(&b.size)));
        let mut continued = Vec::new();
        for (_, done, reached) in measured.into_iter().take(MAX_EXTENDED_CHANGES) {
            let places = self.original_positions(&done.edits, &reached);
            for more in propose(survey, &reached, names) {
                if let Some(edits) = merge_edits(&done.edits, more.edits, &places) {
                    continued.push(Proposal { edits, size: done.size + more.size });
                }
            }
        }
        continued
    }

    /// Maps the clauses of a changed request to those of the original. Empty if they do not correspond one to one.
    fn original_positions(&self, edits: &[RequestEdit], reached: &RequestAnalysis) -> Vec<usize> {
        let is_dropped = |place: &usize| edits.iter().any(|edit| *edit == RequestEdit::Drop { clause: *place });
        let left: Vec<usize> = (0..self.situation.clauses.len()).filter(|place| !is_dropped(place)).collect();
        if left.len() == reached.clauses.len() { left } else { Vec::new() }
    }

    /// Returns the changes that suffice, fewest and smallest first, at most `most` of them.
    pub fn into_changes(mut self, most: usize) -> Vec<RequestChange> {
        self.sufficient.sort_by(|(a_size, a), (b_size, b)| {
            let fewest = a.edits.len().cmp(&b.edits.len());
            let least = || added_magnitude(&a.edits).total_cmp(&added_magnitude(&b.edits));
            fewest.then(a_size.total_cmp(b_size)).then(b.match_count.cmp(&a.match_count)).then_with(least)
        });
        let mut told: Vec<RequestChange> = Vec::new();
        for (_, change) in self.sufficient {
            // Of changes with several edits that differ in their values only, keep the first.
            if change.edits.len() == 1 || !told.iter().any(|known| differ_in_values_only(&known.edits, &change.edits)) {
                told.push(change);
            }
        }
        told.truncate(most);
        told
    }
}

/// Appends edits to edits. `places` maps the clauses of the appended ones to those of the original request. An edit
/// with a target already edited replaces the earlier one. `None` if a clause has no counterpart.
fn merge_edits(edits: &[RequestEdit], more: Vec<RequestEdit>, places: &[usize]) -> Option<Vec<RequestEdit>> {
    let mut joined = edits.to_vec();
    for edit in more {
        let edit = match edit {
            RequestEdit::Drop { clause } => RequestEdit::Drop { clause: *places.get(clause)? },
            RequestEdit::Rewrite { clause, to } => RequestEdit::Rewrite { clause: *places.get(clause)?, to },
            set @ RequestEdit::Set { .. } => set,
        };
        match joined.iter_mut().find(|known| known.target() == edit.target()) {
            Some(RequestEdit::Set { to: known, .. }) => {
                if let RequestEdit::Set { to, .. } = edit {
                    *known = to;
                }
            }
            Some(known) => *known = edit,
            None => joined.push(edit),
        }
    }
    joined.sort_by(|a, b| a.target().cmp(&b.target()));
    Some(joined)
}

/// The sum of the absolute numbers that the edits give to attributes which the request lacks.
fn added_magnitude(edits: &[RequestEdit]) -> f64 {
    let numbers = edits.iter().filter_map(|edit| match edit {
        RequestEdit::Set { from: None, to, .. } => as_number(to),
        _ => None,
    });
    numbers.map(f64::abs).sum()
}

/// Whether two lists of edits differ in their values only.
fn differ_in_values_only(some: &[RequestEdit], others: &[RequestEdit]) -> bool {
    let is_alike = |a: &RequestEdit, b: &RequestEdit| discriminant(a) == discriminant(b) && a.target() == b.target();
    some.len() == others.len() && some.iter().zip(others).all(|(a, b)| is_alike(a, b))
}
