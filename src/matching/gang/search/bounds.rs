//! Branch and bound: prunes partial gangs that cannot become better than the best gang so far.
//!
//! The upper bound of a partial gang consists of the scores already decided, followed by the best scores that the open
//! ports could still get. A partial gang is pruned if its upper bound is lower than the score of the best gang.

use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::Participant;
use crate::matching::gang::Gang;
use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::PortPlace;

use super::assignment::PortAssignment;
use super::decisions::DecisionStack;
use super::score::{CandidateScore, GangScore};

/// The best candidates of a port with their scores, best first.
type TopCandidates = Rc<[(Participant, CandidateScore)]>;

/// The best gang so far, and the tests of which alternatives can still improve on it.
pub struct BranchAndBound<'m> {
    /// Scores cached from one test to the next.
    pub scores: ScoreBounds,
    /// The best gang so far, with its score.
    pub best: Option<(GangScore, Gang)>,
    /// If set, only gangs with a lower score are wanted, because all others have already been enumerated.
    worse_than: Option<&'m GangScore>,
}

/// Cached scores of candidates at the ports of the request. A known score is valid whatever is docked at the other
/// ports.
#[derive(Default)]
pub struct ScoreBounds {
    /// Score for each pair of a port index and a row. `Unknown` if the score depends on other ports.
    scores: FxHashMap<(usize, usize), CandidateScore>,
    /// The best candidates of each port, by port index. `None` if the score of some candidate depends on other ports.
    tops: FxHashMap<usize, Option<TopCandidates>>,
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

impl ScoreBounds {
    /// Returns the score of a row at a port, given the current dockings. `Unknown` if the score depends on open ports.
    pub fn candidate_score(&mut self, pool: &mut OfferPool, place: PortPlace, row: usize) -> CandidateScore {
        if place.participant.is_request() {
            let alone = self.independent_score(pool, place, row);
            if alone != CandidateScore::Unknown {
                return alone;
            }
        }
        let link = pool.index.place(row);
        pool.table.candidate_score(place, link)
    }

    /// Returns the score of a row at a port of the request with nothing else docked at the request. Caches the score.
    fn independent_score(&mut self, pool: &mut OfferPool, place: PortPlace, row: usize) -> CandidateScore {
        let link = pool.index.place(row);
        let score = self.scores.entry((place.port, row)).or_insert_with(|| {
            pool.table.with_undocked(Participant::REQUEST, |table| table.candidate_score(place, link))
        });
        score.clone()
    }

    /// Returns the best candidates of a port of the request. `None` if some score depends on other ports.
    ///
    /// Keeps twice as many offers as the request has ports. Enough offers then remain when other ports take some of
    /// them.
    fn top_candidates(&mut self, pool: &mut OfferPool, place: PortPlace) -> Option<TopCandidates> {
        if let Some(tops) = self.tops.get(&place.port) {
            return tops.clone();
        }
        let rows = pool.probe_independent(place);
        let mut tops = Vec::new();
        let mut is_known = true;
        for row in rows.ones() {
            let score = self.independent_score(pool, place, row);
            is_known &= score != CandidateScore::Unknown;
            if score.is_acceptable() {
                tops.push((pool.index.place(row).participant, score));
            }
        }
        let tops = is_known.then(|| {
            tops.sort_by(|(_, left), (_, right)| right.compare(left).unwrap_or(Ordering::Equal));
            let mut seen = FxHashSet::default();
            // Keep each offer once, with the link that scores best.
            tops.retain(|(offer, _)| seen.insert(*offer));
            tops.truncate(2 * pool.table.port_count(Participant::REQUEST));
            tops.into()
        });
        self.tops.insert(place.port, tops.clone());
        tops
    }

    /// Returns an upper bound on the scores of the ports `open` of the request: the lexicographically greatest scores
    /// that they can get with distinct offers outside `taken`. Ignores constraints between the ports. `None` if some
    /// score is unknown or a port runs out of known candidates.
    fn upper_bound(
        &mut self,
        pool: &mut OfferPool,
        open: &[PortPlace],
        taken: &[Participant],
    ) -> Option<Vec<CandidateScore>> {
        let indifferent = pool.offers_have_no_preference();
        let mut ideal = Vec::with_capacity(open.len());
        let mut assignment = PortAssignment::default();
        for place in open {
            if indifferent && !pool.table.has_rank(*place) {
                ideal.push(CandidateScore::ZERO);
                continue;
            }
            let tops = self.top_candidates(pool, *place)?;
            let free = tops.iter().filter(|(offer, _)| !taken.contains(offer));
            let free: Vec<&(Participant, CandidateScore)> = free.collect();
            // Group the candidates by equal score, best first. Take the score of the first group from which this port
            // can get an offer while the ports before it still get distinct offers.
            let mut classes = free.chunk_by(|(_, left), (_, right)| left.compare(right) == Some(Ordering::Equal));
            let class = classes.find(|class| {
                let offers = class.iter().map(|(offer, _)| *offer).collect();
                assignment.add(offers).is_ok()
            });
            let (_, score) = class?[0];
            ideal.push(score.clone());
        }
        Some(ideal)
    }
}

impl<'m> BranchAndBound<'m> {
    /// Returns the bounds before a gang has been found. With `worse_than`, only gangs with a lower score are wanted.
    pub fn new(worse_than: Option<&'m GangScore>) -> Self {
        BranchAndBound { scores: ScoreBounds::default(), best: None, worse_than }
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
            let held = decisions.holders().keys().copied();
            let taken: Vec<Participant> = held.chain(link.map(|link| link.participant)).collect();
            best.compare_steps(first, &self.scores.upper_bound(pool, &open, &taken)?)?
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
