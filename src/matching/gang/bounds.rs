//! Branch and bound: compares an upper bound on the gangs that a partial gang can become with the best gang so far.
//!
//! The bound is the scores already decided, followed by the best scores that the open ports could still get.

use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::Participant;

use super::assignment::PortAssignment;
use super::decisions::Decision;
use super::matcher::Gangmatcher;
use super::participants::PortPlace;
use super::port_index::RowBitmap;
use super::score::{CandidateScore, GangScore};
use super::search::GangSearch;
use super::window_query::WindowQuery;

/// The best candidates of a port with their scores, best first.
type TopCandidates = Rc<[(Participant, CandidateScore)]>;

/// Scores of candidates at the ports of the request that hold whatever is docked at its other ports.
#[derive(Default)]
pub struct ScoreBounds {
    /// Score by port index and row. `Unknown` if it depends on other ports.
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
    /// Neither this candidate nor any later one of the decision leads to a better gang.
    PruneRest,
}

impl ScoreBounds {
    /// Clears the cache, as needed when another set of the request's ports is filled.
    pub fn clear(&mut self) {
        self.scores.clear();
        self.tops.clear();
    }
}

impl Gangmatcher {
    /// Whether the candidates `rows` of a port may differ in score.
    pub(super) fn is_ranked(&self, place: PortPlace, rows: &RowBitmap) -> bool {
        self.table.has_docking_vector() || self.table.has_rank(place) || self.port_index.any_has_rank(rows)
    }

    /// Whether the offers have no preferences: there is no docking vector, none of them ranks, and none of them chooses
    /// which of its ports are filled.
    fn offers_have_no_preference(&self) -> bool {
        !self.table.has_docking_vector() && !self.port_index.has_ranking_rows() && !self.table.offers_have_patterns()
    }
}

impl GangSearch<'_> {
    /// Whether the first gang found is the best. This holds if nothing is ranked and all ports are mandatory: the gang
    /// of the earliest candidates is then the best. An offer with several ports breaks this, since it may be tried by
    /// one of its ports before another.
    pub(super) fn first_gang_is_best(&self) -> bool {
        let table = &self.matcher.table;
        self.worse_than.is_none()
            && self.matcher.offers_have_no_preference()
            && table.patterns(0).is_none()
            && !table.offers_have_ports()
            && (0..table.port_count(0)).all(|port| !table.has_rank(PortPlace { participant: 0, port }))
    }

    /// Returns the score of a row at a port, as far as it is known with the ports docked now.
    pub(super) fn candidate_score(&mut self, place: PortPlace, row: usize) -> CandidateScore {
        if place.participant == 0 {
            let alone = self.independent_score(place, row);
            if alone != CandidateScore::Unknown {
                return alone;
            }
        }
        self.matcher.table.candidate_score(place, self.matcher.port_index.place(row))
    }

    /// Returns the best candidates of a port of the request, or `None` if some score depends on other ports. Keeps two
    /// offers for each port of the request, so that one remains when other ports take theirs.
    fn top_candidates(&mut self, place: PortPlace) -> Option<TopCandidates> {
        if let Some(tops) = self.bounds.tops.get(&place.port) {
            return tops.clone();
        }
        let rows = self.probe_independent(place);
        let mut tops = Vec::new();
        let mut is_known = true;
        for row in rows.ones() {
            let worth = self.independent_score(place, row);
            is_known &= worth != CandidateScore::Unknown;
            if worth.is_acceptable() {
                tops.push((self.matcher.port_index.place(row).participant, worth));
            }
        }
        let tops = is_known.then(|| {
            tops.sort_by(|(_, left), (_, right)| right.compare(left).unwrap_or(Ordering::Equal));
            let mut met = FxHashSet::default();
            // Keep each offer once, with its best port.
            tops.retain(|(offer, _)| met.insert(*offer));
            tops.truncate(2 * self.matcher.table.port_count(0));
            tops.into()
        });
        self.bounds.tops.insert(place.port, tops.clone());
        tops
    }

    /// Returns the upper bound of open ports of the request: the lexicographically greatest scores with distinct
    /// offers, ignoring constraints among the ports. `None` if some score is unknown or a port runs out of known
    /// candidates.
    fn upper_bound(&mut self, open: &[PortPlace], taken: &[Participant]) -> Option<Vec<CandidateScore>> {
        let indifferent = self.matcher.offers_have_no_preference();
        let mut ideal = Vec::with_capacity(open.len());
        let (mut wanted, mut given) = (Vec::new(), PortAssignment::default());
        for place in open {
            if indifferent && !self.matcher.table.has_rank(*place) {
                ideal.push(CandidateScore::ZERO);
                continue;
            }
            let tops = self.top_candidates(*place)?;
            let free = tops.iter().filter(|(offer, _)| !taken.contains(offer));
            let mut classes: Vec<(&CandidateScore, Vec<Participant>)> = Vec::new();
            for (offer, worth) in free {
                match classes.last_mut() {
                    Some((last, offers)) if worth.compare(last) == Some(Ordering::Equal) => offers.push(*offer),
                    _ => classes.push((worth, vec![*offer])),
                }
            }
            // Take the best score class that still leaves a system of distinct offers for all earlier ports.
            let found = classes.into_iter().find(|(_, offers)| {
                wanted.push((place.port, offers.clone()));
                let is_left = given.assign(wanted.len() - 1, &wanted).is_none();
                if !is_left {
                    wanted.pop();
                }
                is_left
            });
            ideal.push(found?.0.clone());
        }
        Some(ideal)
    }

    /// Returns the score of a row at a port of the request with nothing else docked at the request.
    fn independent_score(&mut self, place: PortPlace, row: usize) -> CandidateScore {
        let (table, link) = (&mut self.matcher.table, self.matcher.port_index.place(row));
        let alone = self.bounds.scores.entry((place.port, row));
        alone.or_insert_with(|| table.with_undocked(0, |table| table.candidate_score(place, link))).clone()
    }

    /// Returns the rows that the index admits at a port of the request with nothing docked at the request.
    fn probe_independent(&mut self, place: PortPlace) -> RowBitmap {
        self.matcher.statistics.probes += 1;
        let Gangmatcher { table, port_index: links, .. } = &mut *self.matcher;
        table.with_undocked(0, |table| {
            let window = WindowQuery::of(place, &[], table, links);
            links.select(&window, table)
        })
    }

    /// Compares the scores decided before `depth`, followed by `worths`, with those of the gang `against`. `None` if
    /// some score is unknown.
    fn compare_decided(&self, depth: usize, worths: &[CandidateScore], against: &GangScore) -> Option<Ordering> {
        let decided = self.decisions[..depth].iter().flat_map(|level| &level.scores).chain(worths);
        for (step, mine) in decided.enumerate() {
            let order = mine.compare(against.scores.get(step).unwrap_or(&CandidateScore::ZERO))?;
            if order.is_ne() {
                return Some(order);
            }
        }
        Some(Ordering::Equal)
    }

    /// Compares the upper bound of the ports still open with the scores of the gang `against` there. `link` is the
    /// candidate about to be docked, whose offer is no longer free. `None` if some score is unknown.
    fn compare_upper_bound(&mut self, depth: usize, link: Option<PortPlace>, against: &GangScore) -> Option<Ordering> {
        let level = &self.decisions[depth];
        let place = level.filled_port()?;
        let open: Vec<PortPlace> = level.state_before.agenda.remaining_ports().collect();
        let bounds = if place.participant == 0 {
            let taken: Vec<Participant> =
                self.decision_by_offer.keys().copied().chain(link.map(|link| link.participant)).collect();
            self.upper_bound(&open, &taken)?
        } else {
            vec![self.nested_upper_bound()?; open.len()]
        };
        let mut step = self.steps(depth);
        for bound in bounds {
            let order = bound.compare(against.scores.get(step).unwrap_or(&CandidateScore::ZERO))?;
            if order.is_ne() {
                return Some(order);
            }
            step += 1;
        }
        if self.matcher.table.offers_have_ports() {
            let bound = self.nested_upper_bound()?;
            for theirs in against.scores.iter().skip(step) {
                let order = bound.compare(theirs)?;
                if order.is_ne() {
                    return Some(order);
                }
            }
        }
        Some(Ordering::Equal)
    }

    /// Returns the number of scores decided once the decision at `depth` has docked a candidate.
    fn steps(&self, depth: usize) -> usize {
        self.decisions[..depth].iter().map(|level| level.scores.len()).sum::<usize>() + 1
    }

    /// Returns the upper bound of one port of an offer. `None` unless offers have no preferences.
    fn nested_upper_bound(&self) -> Option<CandidateScore> {
        self.matcher.offers_have_no_preference().then_some(CandidateScore::ZERO)
    }

    /// Compares the candidates' positions in the input, up to and including `link`, with those of the gang `against`.
    /// `Less` means earlier, hence preferred.
    fn compare_positions(&self, depth: usize, link: PortPlace, against: &GangScore) -> Ordering {
        let docked = self.decisions[..depth].iter().filter_map(Decision::docked_pair).map(|(_, link)| link);
        docked
            .chain([link])
            .zip(&against.offers)
            .map(|(mine, theirs)| mine.participant.cmp(theirs))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// Runs the bound test: whether the decisions before `depth`, continued with `worths` and `link`, may become a gang
    /// better than the best so far.
    pub(super) fn bound_test(&mut self, depth: usize, worths: &[CandidateScore], link: Option<PortPlace>) -> BoundTest {
        let Some(best) = self.best.take() else { return BoundTest::MayImprove };
        let prospect = match self.compare_decided(depth, worths, &best.0) {
            Some(Ordering::Equal) => {
                let order = |search: &mut Self, taken| match (search.compare_upper_bound(depth, taken, &best.0), link) {
                    (Some(Ordering::Equal), Some(link)) => search.compare_positions(depth, link, &best.0).is_le(),
                    (Some(order), _) => order.is_ge(),
                    (None, _) => true,
                };
                if !order(self, None) {
                    BoundTest::PruneRest
                } else if order(self, link) {
                    BoundTest::MayImprove
                } else {
                    BoundTest::Prune
                }
            }
            Some(Ordering::Less) => BoundTest::PruneRest,
            _ => BoundTest::MayImprove,
        };
        self.best = Some(best);
        prospect
    }

    /// Whether every gang that continues the decisions before `depth` with `link` was already enumerated: it is not
    /// worse than the gang returned last.
    pub(super) fn is_already_enumerated(&mut self, depth: usize, worths: &[CandidateScore], link: PortPlace) -> bool {
        let Some(below) = self.worse_than.take() else { return false };
        let above = match self.compare_decided(depth, worths, &below) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) if self.remaining_scores_are_equal(depth, &below) => {
                self.compare_positions(depth, link, &below).is_lt()
            }
            _ => false,
        };
        self.worse_than = Some(below);
        above
    }

    /// Whether all remaining choices are certain to get the same scores as the gang `against`.
    fn remaining_scores_are_equal(&self, depth: usize, against: &GangScore) -> bool {
        let indifferent = self.matcher.offers_have_no_preference();
        let open = self.decisions[depth].state_before.agenda.remaining_ports();
        indifferent
            && open.into_iter().all(|place| !self.matcher.table.has_rank(place))
            && against.scores.iter().skip(self.steps(depth)).all(|worth| *worth == CandidateScore::ZERO)
    }
}
