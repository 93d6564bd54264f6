//! Searches for changes with which a request matches: verifies proposals, then adds edits to the most promising ones.

use crate::ad::{Ad, Dialect, Expression};
use crate::explain::distance::as_number;

use super::edit::RequestEdit;
use super::request_change::RequestChange;

/// A change that has not been verified.
#[derive(Default)]
pub struct Proposal {
    pub edits: Vec<RequestEdit>,
    /// The size of the change: 0 for corrected mistakes such as misspelt names, up to 1 for each changed value, 2 for
    /// each dropped clause, 4 for each dropped port or group.
    pub size: f64,
}

impl Proposal {
    /// Makes a proposal of a single edit. `size` is the size of the edit.
    pub fn new(edit: RequestEdit, size: f64) -> Self {
        Proposal { edits: vec![edit], size }
    }

    /// Makes a proposal that drops all of `clauses`.
    pub fn drop_clauses<'c>(clauses: impl Iterator<Item = &'c Expression>) -> Self {
        let mut proposal = Proposal::default();
        clauses.for_each(|clause| proposal.add(Proposal::new(RequestEdit::Drop { clause: clause.clone() }, 2.0)));
        proposal
    }

    /// Adds the edits and the size of another proposal.
    pub fn add(&mut self, other: Proposal) {
        self.edits.extend(other.edits);
        self.size += other.size;
    }
}

/// Two counts of obstacles that still prevent a match. Lower counts are better; the second count decides if the first
/// counts are equal.
pub type ObstacleCount = (usize, usize);

/// A kind of matching for which changes are searched: with single offers or with gangs.
pub trait ChangeProblem {
    /// Whether changes that set one attribute to different values are alternatives, of which only the best is returned.
    const KEEPS_BEST_VALUE: bool;

    /// The result of matching a request that matches.
    type Match;
    /// The analysis of a request that does not match.
    type Failure;
    /// An error that ends the search.
    type Fault;

    /// The dialect in which edits are described.
    fn dialect(&self) -> Dialect;

    /// Whether the user interrupted the run, or its steps are spent. Either ends the verification of changes.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Matches a changed request. `None` if the request does not match.
    fn find_match(&mut self, request: &Ad) -> Result<Option<Self::Match>, Self::Fault>;

    /// Number of offers that match; 1 for a gang. Among changes of equal size, the one with the most offers comes
    /// first.
    fn match_count(_found: &Self::Match) -> usize {
        1
    }

    /// Analyses why a changed request does not match. `None` if no further edits can be proposed.
    fn failure(&mut self, request: &Ad) -> Option<Self::Failure>;

    /// Counts the obstacles that still prevent a match. `failure` is the analysis of the request.
    fn obstacles(&mut self, failure: &Self::Failure) -> ObstacleCount;

    /// Proposes changes of a request that does not match. A proposal alone need not suffice for a match.
    fn propose(&mut self, request: &Ad, failure: &Self::Failure) -> Result<Vec<Proposal>, Self::Fault>;

    /// Whether a match is of less use than another one, whatever the changes are.
    fn is_worse(_found: &Self::Match, _than: &Self::Match) -> bool {
        false
    }

    /// Returns the largest request for the resource of `edit` with which `request` matches, if it is larger than that of
    /// `edit`. `request` has all other edits of the change.
    fn largest_matching_request(&mut self, _request: &Ad, _edit: &RequestEdit) -> Option<RequestEdit> {
        None
    }

    /// Sorts the edits of a change into the order in which they are described.
    fn sort_edits(&self, _edits: &mut [RequestEdit]) {}
}

/// Maximum number of changes verified by matching.
const MAX_VERIFIED_CHANGES: usize = 60;

/// Maximum number of insufficient changes per round whose remaining obstacles are counted.
const MAX_ANALYZED_CHANGES: usize = 12;

/// Maximum number of insufficient changes per round to which edits are added.
const MAX_EXTENDED_CHANGES: usize = 3;

/// Maximum number of rounds that add edits to the most promising insufficient changes.
const MAX_EXTENSION_ROUNDS: usize = 3;

/// A change with this many edits gets no further edits, because longer changes are of no use to people.
pub const MAX_EDITS: usize = 5;

/// Maximum number of changes returned.
const MAX_CHANGES: usize = 10;

/// Searches for changes with which the request would match. Changes with fewer edits come first, then smaller changes.
/// With `is_extended`, edits are added to the proposals if no proposal suffices by itself.
pub fn search_changes<P: ChangeProblem>(
    problem: &mut P,
    request: &Ad,
    failure: &P::Failure,
    is_extended: bool,
) -> Result<Vec<RequestChange<P::Match>>, P::Fault> {
    let mut search = ChangeSearch { problem, request, tried: Vec::new(), sufficient: Vec::new() };
    let proposals = search.problem.propose(request, failure)?;
    let mut insufficient = search.verify(proposals)?;
    if is_extended && search.sufficient.is_empty() {
        for _ in 0..MAX_EXTENSION_ROUNDS {
            let extended = search.extend(insufficient)?;
            insufficient = search.verify(extended)?;
            if !search.sufficient.is_empty() {
                break;
            }
        }
    }
    let mut changes = search.into_changes();
    for change in changes.iter_mut().filter(|change| change.edits.len() > 1) {
        soften(problem, request, change)?;
    }
    Ok(changes)
}

/// Returns the edits with which a request matches, each as a change of its own, in the order of [`search_changes`].
pub fn verify_edits<P: ChangeProblem>(
    problem: &mut P,
    request: &Ad,
    edits: Vec<Vec<RequestEdit>>,
) -> Result<Vec<RequestChange<P::Match>>, P::Fault> {
    let mut search = ChangeSearch { problem, request, tried: Vec::new(), sufficient: Vec::new() };
    search.verify(edits.into_iter().map(|edits| Proposal { edits, size: 1.0 }).collect())?;
    Ok(search.into_changes())
}

/// Replaces edits of a change of `request` by milder ones with which the request still matches. An edit was proposed
/// when others were missing, which may have asked for more than the offers that match in the end.
fn soften<P: ChangeProblem>(
    problem: &mut P,
    request: &Ad,
    change: &mut RequestChange<P::Match>,
) -> Result<(), P::Fault> {
    for place in 0..change.edits.len() {
        if problem.is_interrupted() {
            break;
        }
        let others = change.edits.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, edit)| edit);
        let Some(base) = others.cloned().try_fold(request.clone(), |request, edit| edit.apply(&request)) else {
            continue;
        };
        let Some(milder) = problem.largest_matching_request(&base, &change.edits[place]) else { continue };
        let Some(softened) = milder.apply(&base) else { continue };
        if let Some(matched) = problem.find_match(&softened)?.filter(|matched| !P::is_worse(matched, &change.matched)) {
            change.steps[place] = milder.text(problem.dialect());
            change.edits[place] = milder;
            (change.request, change.matched) = (softened, matched);
        }
    }
    Ok(())
}

/// The search for changes of one request: the changes tried, and the changes that suffice.
struct ChangeSearch<'s, P: ChangeProblem> {
    problem: &'s mut P,
    request: &'s Ad,
    tried: Vec<String>,
    sufficient: Vec<RequestChange<P::Match>>,
}

impl<P: ChangeProblem> ChangeSearch<'_, P> {
    /// Verifies proposals by matching. Starts with the fewest and smallest edits, because the number of verifications
    /// is limited. Returns the proposals that do not suffice, each with the changed request.
    fn verify(&mut self, mut proposals: Vec<Proposal>) -> Result<Vec<(Proposal, Ad)>, P::Fault> {
        let mut insufficient = Vec::new();
        proposals.sort_by(|a, b| a.edits.len().cmp(&b.edits.len()).then(a.size.total_cmp(&b.size)));
        for proposal in proposals {
            let Some((steps, request)) = self.apply(&proposal.edits) else { continue };
            match self.problem.find_match(&request)? {
                Some(matched) => {
                    let Proposal { edits, size, .. } = proposal;
                    let (duplicate_offer, is_far_less, is_worth_free) = (None, false, false);
                    let change = RequestChange {
                        edits,
                        steps,
                        request,
                        matched,
                        duplicate_offer,
                        is_far_less,
                        is_worth_free,
                        size,
                    };
                    let change = self.minimized(change)?;
                    self.sufficient.push(change);
                }
                None => insufficient.push((proposal, request)),
            }
        }
        Ok(insufficient)
    }

    /// Describes edits and applies them to the original request. `None` if an edit cannot be applied, if one is about a private
    /// attribute, if the same edits were tried before, if [`MAX_VERIFIED_CHANGES`] is reached, or if [`ChangeProblem::is_interrupted`].
    fn apply(&mut self, edits: &[RequestEdit]) -> Option<(Vec<String>, Ad)> {
        if edits.iter().any(|edit| edit.reads_private(self.problem.dialect())) {
            return None;
        }
        let steps: Vec<String> = edits.iter().map(|edit| edit.text(self.problem.dialect())).collect();
        let text = steps.join(", ");
        if self.tried.len() >= MAX_VERIFIED_CHANGES || self.tried.contains(&text) || self.problem.is_interrupted() {
            return None;
        }
        self.tried.push(text);
        let request = edits.iter().try_fold(self.request.clone(), |request, edit| edit.apply(&request))?;
        Some((steps, request))
    }

    /// Removes each edit without which the change still suffices. Each removal is verified by matching.
    fn minimized(&mut self, mut change: RequestChange<P::Match>) -> Result<RequestChange<P::Match>, P::Fault> {
        let mut place = 0;
        while change.edits.len() > 1 && place < change.edits.len() {
            let mut edits = change.edits.clone();
            edits.remove(place);
            if let Some((steps, request)) = self.apply(&edits)
                && let Some(matched) = self.problem.find_match(&request)?
            {
                change = RequestChange { edits, steps, request, matched, ..change };
            } else {
                place += 1;
            }
        }
        Ok(change)
    }

    /// Adds edits to the proposals with the fewest remaining obstacles. The added edits are proposals for the changed
    /// request. A proposal that removed no obstacle is extended, too, because a further edit can replace the value that
    /// the proposal sets.
    fn extend(&mut self, insufficient: Vec<(Proposal, Ad)>) -> Result<Vec<Proposal>, P::Fault> {
        let mut closer = Vec::new();
        let short = insufficient.into_iter().filter(|(proposal, _)| proposal.edits.len() < MAX_EDITS);
        for (proposal, request) in short.take(MAX_ANALYZED_CHANGES) {
            if self.problem.is_interrupted() {
                break;
            }
            let Some(failure) = self.problem.failure(&request) else { continue };
            let left = self.problem.obstacles(&failure);
            closer.push((left, proposal, request, failure));
        }
        closer.sort_by(|(a_left, a, ..), (b_left, b, ..)| a_left.cmp(b_left).then(a.size.total_cmp(&b.size)));
        closer.truncate(MAX_EXTENDED_CHANGES);
        let mut extended = Vec::new();
        for (_, proposal, request, failure) in closer {
            if self.problem.is_interrupted() {
                break;
            }
            for more in self.problem.propose(&request, &failure)? {
                let mut edits = proposal.edits.clone();
                for edit in more.edits {
                    if !edits.iter_mut().any(|known| known.join(&edit)) {
                        edits.push(edit);
                    }
                }
                self.problem.sort_edits(&mut edits);
                extended.push(Proposal { edits, size: proposal.size + more.size });
            }
        }
        Ok(extended)
    }

    /// Returns the changes that suffice. Changes with fewer edits come first, then smaller changes.
    fn into_changes(mut self) -> Vec<RequestChange<P::Match>> {
        self.sufficient.sort_by(|a, b| {
            let fewest = a.edits.len().cmp(&b.edits.len());
            let most_matches = P::match_count(&b.matched).cmp(&P::match_count(&a.matched));
            let least = || added_magnitude(&a.edits).total_cmp(&added_magnitude(&b.edits));
            fewest.then(a.size.total_cmp(&b.size)).then(most_matches).then_with(least)
        });
        // Where a mistake can be corrected, nothing cruder is done to the same part.
        let corrections = self.sufficient.iter().filter(|change| change.is_correction() && change.edits.len() == 1);
        let corrected: Vec<Expression> = corrections.filter_map(|change| change.edits[0].replaced().cloned()).collect();
        let is_cruder = |change: &RequestChange<P::Match>| {
            let mut replaced = change.edits.iter().filter_map(RequestEdit::replaced);
            !change.is_correction() && replaced.any(|part| corrected.iter().any(|of| of.ptr_eq(part)))
        };
        self.sufficient.retain(|change| !is_cruder(change));
        let mut kept: Vec<RequestChange<P::Match>> = Vec::new();
        for change in self.sufficient {
            // Of changes that differ only in the values that they set, keep the first, which is the best. Changes with
            // a single edit are all kept if `KEEPS_BEST_VALUE` is false.
            let is_single_value = matches!(change.edits.as_slice(), [RequestEdit::Set { .. }]);
            let is_comparable = change.edits.len() > 1 || (P::KEEPS_BEST_VALUE && is_single_value);
            if kept.iter().any(|known| is_proper_subset(&known.edits, &change.edits)) {
                continue;
            }
            if !is_comparable || !kept.iter().any(|known| differ_in_values_only(&known.edits, &change.edits)) {
                kept.push(change);
            }
        }
        kept.truncate(MAX_CHANGES);
        kept
    }
}

/// The sum of the absolute values of the numbers that the edits set. Only attributes that the request lacks count. Of
/// otherwise equal changes, the one with the lowest sum comes first.
fn added_magnitude(edits: &[RequestEdit]) -> f64 {
    let numbers = edits.iter().filter_map(|edit| match edit {
        RequestEdit::Set { from: None, to, .. } => as_number(to.as_literal()?),
        _ => None,
    });
    numbers.map(f64::abs).sum()
}

/// Whether some edits are a proper subset of others.
fn is_proper_subset(some: &[RequestEdit], others: &[RequestEdit]) -> bool {
    some.len() < others.len() && some.iter().all(|edit| others.contains(edit))
}

/// Whether two changes edit the same parts of the request and differ only in the new values.
fn differ_in_values_only(some: &[RequestEdit], others: &[RequestEdit]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(a, b)| a.differs_in_value_only(b))
}

#[cfg(test)]
mod tests;
