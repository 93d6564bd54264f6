//! A verified change of a request, and the offers that match with it.

use crate::ad::{Ad, Expression, Name};
use crate::explain::slots::SlotTally;

use super::edit::RequestEdit;

/// The offers that match a changed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchingOffers {
    /// Number of offers that match.
    pub count: usize,
    /// Their states; `None` if the states of the offers do not matter.
    pub states: Option<SlotTally>,
    /// Number of full slots that match once their jobs end. Counted only where no change gives a match at once.
    pub if_drained: usize,
}

impl MatchingOffers {
    /// Number of slots among them that a job can have at once; `None` if the states of the offers do not matter.
    #[must_use]
    pub fn free(&self) -> Option<usize> {
        self.states.map(|states| states.available())
    }
}

/// A verified change with which the request matches.
#[derive(Clone, Debug)]
pub struct RequestChange<M = MatchingOffers> {
    /// The edits; all of them are needed.
    pub edits: Vec<RequestEdit>,
    /// The description of each edit, in the order of `edits`.
    pub steps: Vec<String>,
    /// The changed request.
    pub request: Ad,
    /// The result of matching the changed request: the offers that match, or a gang.
    pub matched: M,
    /// Index of an offer. With a second copy of this offer, the request matches without any edit. `None` if the change
    /// edits the request.
    pub duplicate_offer: Option<usize>,
    /// Whether the changed request is for at most half of what the request asks for.
    pub is_far_less: bool,
    /// Whether it is for much less, and told nevertheless where a free slot then matches at once: for more than a quarter, or for
    /// less disk, which jobs ask for by guess.
    pub is_worth_free: bool,
    /// The size of the change, as that of its proposal.
    pub(super) size: f64,
}

impl<M> RequestChange<M> {
    /// Makes a change that asks for a second copy of `offer` and leaves the request as it is.
    pub(in crate::explain) fn of_duplicate(offer: usize, request: Ad, matched: M) -> Self {
        let (edits, steps) = (Vec::new(), Vec::new());
        let duplicate_offer = Some(offer);
        RequestChange {
            edits,
            steps,
            request,
            matched,
            duplicate_offer,
            is_far_less: false,
            is_worth_free: false,
            size: 0.0,
        }
    }

    /// Whether the change corrects a mistake, and gives nothing up.
    #[must_use]
    pub fn is_correction(&self) -> bool {
        self.size <= 0.0 && !self.edits.is_empty()
    }

    /// Whether the change drops a clause, and with it what the job was to have.
    #[must_use]
    pub fn drops_clause(&self) -> bool {
        self.edits.iter().any(|edit| matches!(edit, RequestEdit::Drop { .. }))
    }

    /// Returns the attributes that the change sets in `request`, which it changes, and their new expressions: `None` for an
    /// attribute that it removes.
    #[must_use]
    pub fn assignments(&self, request: &Ad) -> Vec<(Name, Option<Expression>)> {
        let is_kept = |name: &Name, value: &Expression| request.get(name).is_some_and(|old| old.ptr_eq(value));
        let set = self.request.iter().filter(|of| !is_kept(of.name, of.expression));
        let set = set.map(|of| (of.name.clone(), Some(of.expression.clone())));
        let removed = request.iter().filter(|of| self.request.get(of.name).is_none());
        let mut all: Vec<_> = set.chain(removed.map(|of| (of.name.clone(), None))).collect();
        // Ads that were read in part have their attributes in another order.
        all.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
        all
    }

    /// The descriptions of all edits on one line, separated by ` and `.
    #[must_use]
    pub fn text(&self) -> String {
        self.steps.join(" and ")
    }
}
