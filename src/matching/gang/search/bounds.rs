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

use super::assignment::PortAssignment;
use super::decisions::DecisionStack;
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
    /// Clears the cached scores, as needed when another pattern of ports is chosen: a score may depend on which ports
    /// are unfilled.
    pub fn clear(&mut self) {
        self.scores.clear();
        self.tops.clear();
    }

    /// Returns the score of a row at a port with what is docked now. `Unknown` if it depends on open ports.
    pub fn candidate_score(&mut self, pool: &mut OfferPool, place: PortPlace, row: usize) -> CandidateScore {
        if place.participant.is_request() {
            let alone = self.independent_score(pool, place, row);
            if alone != CandidateScore::Unknown {
                return alone;
            }
        }
        let link = pool.index().place(row);
        pool.table_mut().candidate_score(place, link)
    }

    /// Returns the score of a row at a port of the request with nothing else docked at the request, from the cache if
    /// possible.
    fn independent_score(&mut self, pool: &mut OfferPool, place: PortPlace, row: usize) -> CandidateScore {
        let link = pool.index().place(row);
        let alone = self.scores.entry((place.port, row)).or_insert_with(|| {
            pool.table_mut().with_undocked(Participant::REQUEST, |table| table.candidate_score(place, link))
        });
        alone.clone()
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
                tops.push((pool.index().place(row).participant, score));
            }
        }
        let tops = is_known.then(|| {
            tops.sort_by(|(_, left), (_, right)| right.compare(left).unwrap_or(Ordering::Equal));
            let mut met = FxHashSet::default();
            // Keep each offer once, with the link that scores best.
            tops.retain(|(offer, _)| met.insert(*offer));
            tops.truncate(2 * pool.table().port_count(Participant::REQUEST));
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
        let (mut wanted, mut given) = (Vec::new(), PortAssignment::default());
        for place in open {
            if indifferent && !pool.table().has_rank(*place) {
                ideal.push(CandidateScore::ZERO);
                continue;
            }
            let tops = self.top_candidates(pool, *place)?;
            let free = tops.iter().filter(|(offer, _)| !taken.contains(offer));
            let mut classes: Vec<(&CandidateScore, Vec<Participant>)> = Vec::new();
            for (offer, score) in free {
                match classes.last_mut() {
                    Some((last, offers)) if score.compare(last) == Some(Ordering::Equal) => offers.push(*offer),
                    _ => classes.push((score, vec![*offer])),
                }
            }
            // Take the best score at which this port and all earlier ports can still get distinct offers.
            let found = classes.into_iter().find(|(_, offers)| {
                wanted.push((place.port, offers.clone()));
                let is_left = given.assign(wanted.len() - 1, &wanted).is_ok();
                if !is_left {
                    wanted.pop();
                }
                is_left
            });
            ideal.push(found?.0.clone());
        }
        Some(ideal)
    }

    /// Compares the upper bound of the ports still open with the scores that the gang `against` has at these positions.
    /// `link` is the candidate about to be docked, whose offer is no longer free. `None` if some score is unknown.
    fn compare_upper_bound(
        &mut self,
        pool: &mut OfferPool,
        decisions: &DecisionStack,
        depth: usize,
        link: Option<PortPlace>,
        against: &GangScore,
    ) -> Option<Ordering> {
        let decision = decisions.at(depth);
        let place = decision.filled_port()?;
        let open: Vec<PortPlace> = decision.state_before.agenda.remaining_ports().collect();
        // The upper bound of each port of an offer: zero if offers have no preference, otherwise unknown.
        let nested = pool.offers_have_no_preference().then_some(&CandidateScore::ZERO);
        let step = decisions.score_count(depth);
        let order = if place.participant.is_request() {
            let held = decisions.holders().map(|(offer, _)| offer);
            let taken: Vec<Participant> = held.chain(link.map(|link| link.participant)).collect();
            against.compare_steps(step, &self.upper_bound(pool, &open, &taken)?)?
        } else {
            against.compare_steps(step, std::iter::repeat_n(nested?, open.len()))?
        };
        if order.is_ne() || !pool.table().offers_have_ports() {
            return Some(order);
        }
        let step = step + open.len();
        against.compare_steps(step, std::iter::repeat_n(nested?, against.scores.len().saturating_sub(step)))
    }

    /// Runs the bound test: whether the decisions before `depth`, continued with `scores` and `link`, may become a gang
    /// better than `best`.
    pub fn test(
        &mut self,
        pool: &mut OfferPool,
        decisions: &DecisionStack,
        depth: usize,
        (scores, link): (&[CandidateScore], Option<PortPlace>),
        best: &GangScore,
    ) -> BoundTest {
        match decisions.compare_scores(depth, scores, best) {
            Some(Ordering::Equal) => {}
            Some(Ordering::Less) => return BoundTest::PruneRest,
            _ => return BoundTest::MayImprove,
        }
        let mut may_improve = |taken| match (self.compare_upper_bound(pool, decisions, depth, taken, best), link) {
            (Some(Ordering::Equal), Some(link)) => decisions.compare_positions(depth, link, best).is_le(),
            (Some(order), _) => order.is_ge(),
            (None, _) => true,
        };
        if !may_improve(None) {
            BoundTest::PruneRest
        } else if may_improve(link) {
            BoundTest::MayImprove
        } else {
            BoundTest::Prune
        }
    }
}

/// Whether the first gang found is the best, so that the search can stop. If nothing is ranked and all ports are
/// mandatory, the gang of the earliest candidates is the best, and candidates are tried in input order. No offer may
/// have several ports, since the search may try such an offer by one of its ports before another.
pub fn first_gang_is_best(pool: &OfferPool) -> bool {
    let table = pool.table();
    pool.offers_have_no_preference()
        && table.patterns(Participant::REQUEST).is_none()
        && !table.offers_have_ports()
        && table.request_ports().all(|place| !table.has_rank(place))
}

/// Whether no gang that continues the decisions before `depth` with `link` is worse than `below`, the gang returned
/// last. All such gangs have already been enumerated.
pub fn is_already_enumerated(
    pool: &OfferPool,
    decisions: &DecisionStack,
    depth: usize,
    (scores, link): (&[CandidateScore], PortPlace),
    below: &GangScore,
) -> bool {
    match decisions.compare_scores(depth, scores, below) {
        Some(Ordering::Greater) => true,
        Some(Ordering::Equal) if remaining_scores_are_equal(pool, decisions, depth, below) => {
            decisions.compare_positions(depth, link, below).is_lt()
        }
        _ => false,
    }
}

/// Whether all remaining choices are certain to get the same scores as the gang `against`.
fn remaining_scores_are_equal(pool: &OfferPool, decisions: &DecisionStack, depth: usize, against: &GangScore) -> bool {
    let mut open = decisions.at(depth).state_before.agenda.remaining_ports();
    pool.offers_have_no_preference()
        && open.all(|place| !pool.table().has_rank(place))
        && against.scores.iter().skip(decisions.score_count(depth)).all(|score| *score == CandidateScore::ZERO)
}
