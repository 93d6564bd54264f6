//! Branch and bound: prunes partial gangs that cannot become better than the best gang so far.
//!
//! The upper bound of a partial gang consists of the scores already decided, followed by the best scores that the open
//! ports could still get. A partial gang is pruned if its upper bound is lower than the score of the best gang.

use std::cmp::Ordering;

use crate::ad::Participant;
use crate::matching::gang::Gang;
use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::PortPlace;

use super::decisions::DecisionStack;
use super::score::{CandidateScore, GangScore};
use super::upper_bound::ScoreBounds;

/// The best gang so far, and the tests of which alternatives can still improve on it.
pub struct BranchAndBound<'m> {
    /// Scores cached from one test to the next.
    pub scores: ScoreBounds,
    /// The best gang so far, with its score.
    pub best: Option<(GangScore, Gang)>,
    /// If set, only gangs with a lower score are wanted, because all others have already been enumerated.
    worse_than: Option<&'m GangScore>,
}

/// Result of the bound test for one alternative of a decision: a candidate or a pattern of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundTest {
    /// The alternative may lead to a gang that is better than the best gang so far.
    MayImprove,
    /// The alternative leads to no better gang. A later alternative may.
    Prune,
    /// Neither the alternative nor any later alternative of the decision leads to a better gang.
    PruneRest,
}

impl<'m> BranchAndBound<'m> {
    /// Returns the bounds before a gang has been found. With `worse_than`, only gangs with a lower score are wanted.
    pub fn new(worse_than: Option<&'m GangScore>) -> Self {
        BranchAndBound { scores: ScoreBounds::default(), best: None, worse_than }
    }

    /// Whether the best of all gangs is wanted, and not the best of those that have not been enumerated yet.
    pub fn wants_best_only(&self) -> bool {
        self.worse_than.is_none()
    }

    /// Whether a complete gang with this score is to be the best gang: all its offers may dock, its score is lower than
    /// `worse_than`, and it is better than the best gang so far.
    pub fn is_improvement(&self, score: &GangScore) -> bool {
        score.scores.iter().all(CandidateScore::is_acceptable)
            && self.worse_than.is_none_or(|above| score.compare(above).is_lt())
            && self.best.as_ref().is_none_or(|(best, _)| score.compare(best).is_gt())
    }

    /// Tests whether the decisions before `depth` and one more alternative may lead to a gang that is better than the
    /// best gang. `scores` are the scores of the alternative. `link` is its candidate, `None` for a pattern of ports.
    pub fn test(
        &mut self,
        pool: &mut OfferPool,
        decisions: &DecisionStack,
        depth: usize,
        scores: &[CandidateScore],
        link: Option<PortPlace>,
    ) -> BoundTest {
        let Some((best, _)) = &self.best else { return BoundTest::MayImprove };
        match decisions.compare_scores(depth, scores, best) {
            Some(Ordering::Equal) => {}
            Some(Ordering::Less) => return BoundTest::PruneRest,
            _ => return BoundTest::MayImprove,
        }
        // Of two gangs with equal scores, the gang with the earlier offers is better.
        let is_earlier = link.is_none_or(|link| decisions.compare_positions(depth, link, best).is_le());
        let mut may_improve = |taken| match self.compare_upper_bound(pool, decisions, depth, taken) {
            Some(Ordering::Equal) => is_earlier,
            order => order.is_none_or(Ordering::is_gt),
        };
        if !may_improve(None) {
            BoundTest::PruneRest
        } else if may_improve(link) {
            BoundTest::MayImprove
        } else {
            BoundTest::Prune
        }
    }

    /// Compares an upper bound on the scores of the open ports with the scores of the same ports in the best gang. The
    /// open ports are the ports still to be filled after the decision at `depth`. `Greater` means that the upper bound
    /// is better. `None` if the upper bound is unknown, no gang has been found, or the decision fills no port.
    ///
    /// `link` is the candidate about to be docked, which other ports cannot get.
    fn compare_upper_bound(
        &mut self,
        pool: &mut OfferPool,
        decisions: &DecisionStack,
        depth: usize,
        link: Option<PortPlace>,
    ) -> Option<Ordering> {
        let place = decisions[depth].filled_port()?;
        let open: Vec<PortPlace> = decisions[depth].state_before.agenda.remaining_ports().collect();
        // The upper bound of a port of an offer: zero if offers have no preference, otherwise unknown.
        let nested = pool.offers_have_no_preference().then_some(&CandidateScore::ZERO);
        let first = decisions.score_count(depth);
        let (best, _) = self.best.as_ref()?;
        let order = if place.participant.is_request() {
            let docked: Vec<(PortPlace, PortPlace)> =
                decisions.docked_pairs().chain(link.map(|link| (place, link))).collect();
            best.compare_steps(first, &self.scores.upper_bound(pool, &open, &docked, &decisions[depth].state_before)?)?
        } else {
            best.compare_steps(first, std::iter::repeat_n(nested?, open.len()))?
        };
        if order.is_ne() || !pool.table.offers_have_ports {
            return Some(order);
        }
        let rest = first + open.len();
        best.compare_steps(rest, std::iter::repeat_n(nested?, best.scores.len().saturating_sub(rest)))
    }

    /// Whether the best gang so far is certain to be the best of all, so that the search can stop.
    ///
    /// Without ranks and optional ports, the gang of the earliest candidates is the best. Candidates are tried in input
    /// order, so that this gang is found first. The result is false if some offer has several ports, because its ports
    /// may be tried in another order.
    pub fn is_best_certain(&self, pool: &OfferPool) -> bool {
        let table = &pool.table;
        self.best.is_some()
            && self.worse_than.is_none()
            && pool.offers_have_no_preference()
            && table.patterns(Participant::REQUEST).is_none()
            && !table.offers_have_ports
            && table.request_ports().all(|place| !table.has_rank(place))
    }

    /// Whether all gangs with the decisions before `depth` and the candidate `link` have already been enumerated: none
    /// of them is worse than the last gang enumerated.
    pub fn is_already_enumerated(
        &self,
        pool: &OfferPool,
        decisions: &DecisionStack,
        depth: usize,
        scores: &[CandidateScore],
        link: PortPlace,
    ) -> bool {
        let Some(last) = self.worse_than else { return false };
        match decisions.compare_scores(depth, scores, last) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) if remaining_scores_are_equal(pool, decisions, depth, last) => {
                decisions.compare_positions(depth, link, last).is_lt()
            }
            _ => false,
        }
    }
}

/// Whether the open ports are certain to get the same scores as in the gang `against`.
fn remaining_scores_are_equal(pool: &OfferPool, decisions: &DecisionStack, depth: usize, against: &GangScore) -> bool {
    let mut open = decisions[depth].state_before.agenda.remaining_ports();
    pool.offers_have_no_preference()
        && open.all(|place| !pool.table.has_rank(place))
        && against.scores.iter().skip(decisions.score_count(depth)).all(|score| *score == CandidateScore::ZERO)
}
