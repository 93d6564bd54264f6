//! Branch and bound: compares an upper bound on the gangs that a partial gang can become with the best gang so far.
//!
//! The upper bound consists of the scores already decided, followed by the best scores that the open ports could still
//! get. A branch whose upper bound is lower than the best gang is pruned.

use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::Participant;
use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::PortPlace;

use super::GangSearch;
use super::assignment::PortAssignment;
use super::score::{CandidateScore, GangScore};

/// The best candidates of a port with their scores, best first.
type TopCandidates = Rc<[(Participant, CandidateScore)]>;

/// Cached scores of candidates at the ports of the request. They are valid whatever is docked at the other ports.
#[derive(Default)]
pub struct ScoreBounds {
    /// Score by port index and row. `Unknown` if the score depends on other ports.
    scores: FxHashMap<(usize, usize), CandidateScore>,
    /// The best candidates by port index. `None` if the score of some candidate depends on other ports.
    tops: FxHashMap<usize, Option<TopCandidates>>,
}

/// Result of the bound test for the next candidate or pattern of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundTest {
    /// A gang at least as good as the best may follow.
    MayImprove,
    /// This candidate leads to no better gang.
    Prune,
    /// Neither this candidate nor any later candidate of the decision leads to a better gang.
    PruneRest,
}

impl ScoreBounds {
    /// Returns the score of a row at a port with what is docked now. `Unknown` if it depends on open ports.
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

    /// Returns the score of a row at a port of the request with nothing else docked at the request, from the cache if
    /// possible.
    fn independent_score(&mut self, pool: &mut OfferPool, place: PortPlace, row: usize) -> CandidateScore {
        let link = pool.index.place(row);
        let score = self.scores.entry((place.port, row)).or_insert_with(|| {
            pool.table.with_undocked(Participant::REQUEST, |table| table.candidate_score(place, link))
        });
        score.clone()
    }

    /// Returns the best candidates of a port of the request, or `None` if some score depends on other ports. Keeps two
    /// offers for each port of the request, so that one remains when other ports take theirs.
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

    /// Returns the upper bound of the ports `open` of the request: the lexicographically greatest scores that they can
    /// get with distinct offers outside `taken`. Constraints among the ports are ignored. `None` if some score is
    /// unknown or a port runs out of known candidates.
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
            // Take the best score at which this port and all earlier ports can still get distinct offers.
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

impl GangSearch<'_> {
    /// Runs the bound test: whether the decisions before `depth`, continued with `scores` and `link`, may become a gang
    /// better than the best gang. `link` is the candidate; `None` if the alternative is a pattern of ports.
    pub fn bound_test(&mut self, depth: usize, scores: &[CandidateScore], link: Option<PortPlace>) -> BoundTest {
        let Some((best, _)) = &self.best else { return BoundTest::MayImprove };
        match self.compare_scores(depth, scores, best) {
            Some(Ordering::Equal) => {}
            Some(Ordering::Less) => return BoundTest::PruneRest,
            _ => return BoundTest::MayImprove,
        }
        // The earlier of two equally good gangs is better.
        let is_earlier = link.is_none_or(|link| self.compare_positions(depth, link, best).is_le());
        let mut may_improve = |taken| match self.compare_upper_bound(depth, taken) {
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

    /// Compares the upper bound of the ports still open with the scores that the best gang has at these positions.
    /// `link` is the candidate about to be docked, whose offer is no longer free. `None` if some score is unknown or no
    /// gang has been found.
    fn compare_upper_bound(&mut self, depth: usize, link: Option<PortPlace>) -> Option<Ordering> {
        let place = self.decisions[depth].filled_port()?;
        let open: Vec<PortPlace> = self.decisions[depth].state_before.agenda.remaining_ports().collect();
        // The upper bound of each port of an offer: zero if offers have no preference, otherwise unknown.
        let nested = self.pool.offers_have_no_preference().then_some(&CandidateScore::ZERO);
        let first = self.score_count(depth);
        let (best, _) = self.best.as_ref()?;
        let order = if place.participant.is_request() {
            let taken: Vec<Participant> =
                self.holders.keys().copied().chain(link.map(|link| link.participant)).collect();
            best.compare_steps(first, &self.bounds.upper_bound(self.pool, &open, &taken)?)?
        } else {
            best.compare_steps(first, std::iter::repeat_n(nested?, open.len()))?
        };
        if order.is_ne() || !self.pool.table.offers_have_ports {
            return Some(order);
        }
        let rest = first + open.len();
        best.compare_steps(rest, std::iter::repeat_n(nested?, best.scores.len().saturating_sub(rest)))
    }

    /// Whether the first gang found is the best, so that the search can stop. If nothing is ranked and all ports are
    /// mandatory, the gang of the earliest candidates is the best, and candidates are tried in input order. No offer
    /// may have several ports, since the search may try such an offer by one of its ports before another.
    pub fn first_gang_is_best(&self) -> bool {
        let table = &self.pool.table;
        self.pool.offers_have_no_preference()
            && table.patterns(Participant::REQUEST).is_none()
            && !table.offers_have_ports
            && table.request_ports().all(|place| !table.has_rank(place))
    }

    /// Whether no gang that continues the decisions before `depth` with `link` is worse than the gang enumerated last.
    /// All such gangs have already been enumerated.
    pub fn is_already_enumerated(&self, depth: usize, scores: &[CandidateScore], link: PortPlace) -> bool {
        let Some(last) = self.worse_than else { return false };
        match self.compare_scores(depth, scores, last) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) if self.remaining_scores_are_equal(depth, last) => {
                self.compare_positions(depth, link, last).is_lt()
            }
            _ => false,
        }
    }

    /// Whether all remaining choices are certain to get the same scores as the gang `against`.
    fn remaining_scores_are_equal(&self, depth: usize, against: &GangScore) -> bool {
        let mut open = self.decisions[depth].state_before.agenda.remaining_ports();
        self.pool.offers_have_no_preference()
            && open.all(|place| !self.pool.table.has_rank(place))
            && against.scores.iter().skip(self.score_count(depth)).all(|score| *score == CandidateScore::ZERO)
    }
}
