//! Upper bounds on the scores that open ports of the request can still get.

use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Participant, Value};
use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::{
    AttributeTranslation, ParticipantTable, PortPlace, SymbolicEvaluator, SymbolicValue,
};
use crate::matching::gang::port_index::DistinctValue;

use super::all_different::AllDifferent;
use super::assignment::PortAssignment;
use super::decisions::SearchState;
use super::score::CandidateScore;
use super::value_assignments::ValueAssignments;

/// The candidates of a port with their scores, best first.
type ScoredRows = Rc<[ScoredRow]>;

/// A candidate of a port, with its score.
struct ScoredRow {
    row: usize,
    offer: Participant,
    score: CandidateScore,
    /// The value of the candidate under each all-different constraint. Empty if no constraint concerns the port.
    values: Vec<DistinctValue>,
}

/// Where the index holds the ranks of a port and of its candidates.
#[derive(Clone)]
struct IndexedRanks {
    /// The rank of the port.
    port: PortRank,
    /// Column of the candidates' ranks. Holds no rank that depends on the port.
    offers: usize,
}

/// The rank of a port for its candidates.
#[derive(Clone)]
enum PortRank {
    /// The port has this rank for every candidate.
    Constant(Value),
    /// The ranks are the values of this column of the index.
    Column(usize),
}

/// Cached scores of candidates at the ports of the request. A known score is valid whatever is docked at the other
/// ports.
#[derive(Default)]
pub struct ScoreBounds {
    /// The indexed ranks of each port, by port index. `None` if the index has none: candidates are evaluated.
    ranks: FxHashMap<usize, Option<IndexedRanks>>,
    /// Score for each pair of a port index and a row. `Unknown` if the score depends on other ports.
    scores: FxHashMap<(usize, usize), CandidateScore>,
    /// The best candidates of each port, by port index. `None` if the score of some candidate depends on other ports.
    tops: FxHashMap<usize, Option<ScoredRows>>,
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

    /// Returns the score of a row at a port of the request with nothing else docked at the request. Takes the score
    /// from the index, or evaluates and caches it.
    fn independent_score(&mut self, pool: &mut OfferPool, place: PortPlace, row: usize) -> CandidateScore {
        let ranks = self.ranks.entry(place.port).or_insert_with(|| indexed_ranks(pool, place)).clone();
        if let Some(score) = ranks.and_then(|ranks| indexed_score(pool, place, ranks, row)) {
            return score;
        }
        let link = pool.index.place(row);
        let score = self.scores.entry((place.port, row)).or_insert_with(|| {
            pool.table.with_undocked(Participant::REQUEST, |table| table.candidate_score(place, link))
        });
        score.clone()
    }

    /// Returns the best candidates of a port of the request. `None` if some score depends on other ports.
    ///
    /// Keeps twice as many offers as the request has ports. Enough offers then remain when other ports take some of
    /// them. Keeps all candidates if an all-different constraint concerns the port, because other ports may take the
    /// values of many candidates at once.
    fn top_candidates(
        &mut self,
        pool: &mut OfferPool,
        place: PortPlace,
        constraints: &[AllDifferent],
    ) -> Option<ScoredRows> {
        if let Some(tops) = self.tops.get(&place.port) {
            return tops.clone();
        }
        let is_constrained = constraints.iter().any(|constraint| constraint.concerns(place));
        let rows = pool.probe_independent(place);
        let mut tops = Vec::new();
        let mut is_known = true;
        for row in rows.ones() {
            let score = self.independent_score(pool, place, row);
            is_known &= score != CandidateScore::Unknown;
            if score.is_acceptable() {
                let offer = pool.index.place(row).participant;
                tops.push(ScoredRow { row, offer, score, values: Vec::new() });
            }
        }
        let tops = is_known.then(|| {
            tops.sort_by(|left, right| right.score.compare(&left.score).unwrap_or(Ordering::Equal));
            if is_constrained {
                for top in &mut tops {
                    let value = |constraint: &AllDifferent| constraint.value(pool, place, top.row);
                    top.values = constraints.iter().map(value).collect();
                }
            } else {
                let mut seen = FxHashSet::default();
                // Keep each offer once, with the link that scores best.
                tops.retain(|top| seen.insert(top.offer));
                tops.truncate(2 * pool.table.port_count(Participant::REQUEST));
            }
            tops.into()
        });
        self.tops.insert(place.port, tops.clone());
        tops
    }

    /// Returns an upper bound on the scores of the ports `open` of the request, given the ports `docked` with their
    /// links: the lexicographically greatest scores that they can get with distinct offers, and with distinct values
    /// where an all-different constraint demands it. Ignores other constraints between the ports. `None` if some score
    /// is unknown or a port runs out of known candidates.
    ///
    /// `state` may be earlier than the last of the `docked` pairs.
    pub fn upper_bound(
        &mut self,
        pool: &mut OfferPool,
        open: &[PortPlace],
        docked: &[(PortPlace, PortPlace)],
        state: &SearchState,
    ) -> Option<Vec<CandidateScore>> {
        let indifferent = pool.offers_have_no_preference();
        let is_unranked = |pool: &OfferPool, place: PortPlace| indifferent && !pool.table.has_rank(place);
        if open.iter().all(|place| is_unranked(pool, *place)) {
            return Some(vec![CandidateScore::ZERO; open.len()]);
        }
        let mut ideal = Vec::with_capacity(open.len());
        let mut offers = PortAssignment::default();
        let mut values = ValueAssignments::new(pool, open, docked, state);
        for (number, place) in open.iter().enumerate() {
            if is_unranked(pool, *place) {
                if !values.assign_any(number) {
                    return None;
                }
                ideal.push(CandidateScore::ZERO);
                continue;
            }
            let tops = self.top_candidates(pool, *place, &state.all_different)?;
            // A candidate outside the domain fits no gang. Only complete lists may be narrowed by the domain.
            let is_constrained = tops.first().is_some_and(|top| !top.values.is_empty());
            let domain = state.domains.iter().find(|domain| is_constrained && domain.place == *place);
            let is_free = |top: &ScoredRow, values: &ValueAssignments| {
                !docked.iter().any(|(_, link)| link.participant == top.offer)
                    && domain.is_none_or(|domain| domain.rows.contains(top.row))
                    && values.is_free(&top.values)
            };
            // Group the candidates by equal score, best first. Take the score of the first group from which this port
            // can get an offer while the ports before it still get distinct offers.
            let mut classes = tops.chunk_by(|left, right| left.score.compare(&right.score) == Some(Ordering::Equal));
            let score = classes.find_map(|class| {
                let free: Vec<&ScoredRow> = class.iter().filter(|top| is_free(top, &values)).collect();
                let score = free.first()?.score.clone();
                let mut with_port = offers.clone();
                with_port.add(free.iter().map(|top| top.offer).collect()).ok()?;
                if !values.assign(number, &free.iter().map(|top| top.values.as_slice())) {
                    return None;
                }
                offers = with_port;
                Some(score)
            });
            ideal.push(score?);
        }
        Some(ideal)
    }
}

/// Returns where the index holds the ranks of a port of the request and of its candidates. `None` if the score is a
/// docking vector, or if the port's rank is not a function of a single attribute of the candidate.
fn indexed_ranks(pool: &mut OfferPool, place: PortPlace) -> Option<IndexedRanks> {
    if !pool.table.docking_vector.is_empty() {
        return None;
    }
    let index = &mut pool.index;
    pool.table.with_undocked(Participant::REQUEST, |table| {
        let rank = SymbolicEvaluator::new(table).rank(place);
        let port = match rank {
            None => PortRank::Constant(Value::Real(0.0)),
            Some(SymbolicValue::Known(value)) => PortRank::Constant(table.ordered_value(place, value)),
            Some(SymbolicValue::Function(of, translation)) if of == place => {
                PortRank::Column(index.column(&translation, table))
            }
            Some(SymbolicValue::Function(..) | SymbolicValue::Opaque) => return None,
        };
        let offer_rank = AttributeTranslation::identity(table.protocol.rank_name());
        Some(IndexedRanks { port, offers: index.column(&offer_rank, table) })
    })
}

/// Returns the score of a row at a port with an indexed rank. `None` if the index does not know a value of the row,
/// such as a rank of the candidate that depends on the port.
fn indexed_score(pool: &mut OfferPool, place: PortPlace, ranks: IndexedRanks, row: usize) -> Option<CandidateScore> {
    let OfferPool { table, index, .. } = pool;
    let rank_in = |column: usize, place: PortPlace, table: &mut ParticipantTable| {
        index.column_value(column, row).map(|value| table.ordered_value(place, value))
    };
    let rank = match ranks.port {
        PortRank::Constant(rank) => rank,
        PortRank::Column(column) => rank_in(column, place, table)?,
    };
    let link = index.place(row);
    let offer_rank = if table.has_rank(link) { rank_in(ranks.offers, link, table)? } else { Value::Real(0.0) };
    Some(CandidateScore::of_ranks([rank, offer_rank], table.context.dialect))
}
