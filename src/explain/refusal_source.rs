//! The offers of one table that refuse a request, by the text of the clause that they leave unmet.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::Truth;
use crate::matching::PairSide;
use crate::pool::bit_rows;

use super::decisive_part::ClauseInPair;
use super::drained_slots::{DrainedOutcome, DrainedSlots};
use super::evaluation::{Acceptance, OfferTable, RequestContext, RowWeights};
use super::request_analysis::RequestAnalysis;

/// The offers of one table that refuse a request.
pub struct RefusalSource<'r> {
    pub table: &'r OfferTable,
    pub request: &'r RequestContext,
    pub acceptance: Arc<Acceptance>,
    /// The suitable rows whose refusals count.
    pub suitable: FixedBitSet,
    /// Number of offers of each row that can be suitable, if it is not that of the table.
    pub own_weights: Option<RowWeights>,
    /// The suitable rows with slots that a job can have at once, as they are.
    pub free: FixedBitSet,
}

/// The offers that refuse by clauses with one text.
#[derive(Clone, Copy)]
pub struct RefusalTally {
    /// Number of suitable offers.
    pub suitable: usize,
    /// Number of offers.
    pub offers: usize,
    /// The first row, and the index of its unmet clause; `None` if it has no constraint.
    pub first: RefusingRow,
    /// The first suitable row, a free one if there is any.
    pub first_suitable: Option<RefusingRow>,
    /// Whether a suitable offer is a free slot.
    pub has_free: bool,
}

/// A row that refuses a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusingRow {
    /// Whether the row is one of the drained slots.
    pub is_drained: bool,
    pub row: usize,
    /// Index of the unmet clause; `None` if the row has no constraint.
    pub clause: Option<usize>,
}

impl<'r> RefusalSource<'r> {
    /// The offers as they are. A slot that would match if `drained` is not counted as suitable, and neither is one that would
    /// refuse if drained.
    pub fn as_they_are(
        table: &'r OfferTable,
        analysis: &'r RequestAnalysis,
        drained: Option<(&DrainedSlots, &DrainedOutcome)>,
    ) -> Self {
        let mut suitable = analysis.suitable.clone();
        let mut free = suitable.clone();
        match &table.states {
            Some(states) => free.intersect_with(&states.free),
            None => free.clear(),
        }
        // Of equal slots, those that are not free are not looked at as if drained.
        let mut if_drained: FxHashMap<usize, usize> = FxHashMap::default();
        if let Some((slots, outcome)) = drained {
            let rows = [&outcome.matching, &outcome.refusing].map(|found| slots.rows_as_they_are(found));
            rows.into_iter().flatten().for_each(|row| *if_drained.entry(row).or_default() += 1);
        }
        let mut own_weights = None;
        for (row, slots) in if_drained {
            if slots == table.weights.of_row(row) {
                suitable.set(row, false);
            } else {
                own_weights.get_or_insert_with(|| table.weights.to_vec())[row] -= slots;
            }
        }
        let own_weights = own_weights.map(RowWeights::new);
        let (request, acceptance) = (&analysis.request, analysis.acceptance.clone());
        RefusalSource { table, request, acceptance, suitable, own_weights, free }
    }

    /// The slots that would refuse if drained. Those are free that are free as they are.
    pub fn if_drained(slots: &'r DrainedSlots, outcome: &'r DrainedOutcome, as_they_are: &RefusalSource<'_>) -> Self {
        let (suitable, weights) = slots.drained_rows(&outcome.refusing);
        let (table, request) = (&slots.table, &outcome.request);
        let acceptance = table.acceptance(request);
        let mut free = suitable.clone();
        let is_free = |slot: &usize| as_they_are.free.contains(slots.row(*slot));
        let not_free: Vec<usize> = outcome.refusing.iter().copied().filter(|slot| !is_free(slot)).collect();
        free.difference_with(&slots.drained_rows(&not_free).0);
        RefusalSource { table, request, acceptance, suitable, own_weights: Some(weights), free }
    }

    /// Counts the offers that refuse, by the text of the clause. The order is arbitrary. If `common` is given, all suitable
    /// offers refuse by clauses with this text.
    pub fn tallies(&self, is_drained: bool, common: Option<&str>) -> Vec<RefusalTally> {
        let constraints = self.table.offer_constraints();
        // The last entry is that of the rows without a constraint.
        let mut by_text: Vec<Option<RefusalTally>> = vec![None; constraints.texts.len() + 1];
        let mut add = |text: usize, tally: Option<RefusalTally>| {
            let Some(tally) = tally else { return };
            by_text[text] = Some(by_text[text].map_or(tally, |known| known.with(tally)));
        };
        let common = common.and_then(|common| constraints.texts.iter().position(|text| text == common));
        for (clause, rows) in self.acceptance.refused() {
            let text = clause.map_or(constraints.texts.len(), |clause| constraints.clauses[clause].text);
            let Some(common) = common.filter(|common| *common != text) else {
                add(text, self.tally(clause, rows, is_drained));
                continue;
            };
            let is_suitable = |position: usize| self.suitable.as_slice()[position];
            let part = |mask: &dyn Fn(usize) -> usize| -> Vec<(usize, usize)> {
                let words = rows.iter().map(|(position, word)| (*position, word & mask(*position)));
                words.filter(|(_, word)| *word != 0).collect()
            };
            let [moved, rest] = [part(&is_suitable), part(&|position| !is_suitable(position))];
            add(text, self.tally(clause, &rest, is_drained));
            if let Some(first) = moved.first().and_then(|(position, word)| bit_rows(*position, *word).next()) {
                let clause = self.unmet_with_text(first, &constraints.texts[common]);
                add(common, self.tally(clause, &moved, is_drained));
            }
        }
        by_text.into_iter().flatten().collect()
    }

    /// Whether all suitable offers that refuse have an unmet clause with a text.
    pub fn all_refuse_by(&self, text: &str) -> bool {
        let mut left = self.suitable.clone();
        left.difference_with(&self.acceptance.accepting);
        let constraints = self.table.offer_constraints();
        let Some(number) = constraints.texts.iter().position(|known| known == text) else { return left.is_clear() };
        for clause in (0..constraints.clauses.len()).filter(|clause| constraints.clauses[*clause].text == number) {
            self.acceptance.remove_unmet(self.table, self.request, clause, &mut left);
        }
        left.is_clear()
    }

    /// Returns the unmet clauses of a row, by index.
    pub fn unmet(&self, row: usize) -> impl Iterator<Item = usize> {
        let outcomes = self.acceptance.row_outcomes(self.table, self.request, row);
        outcomes.filter(|(_, outcome)| *outcome != Truth::True).map(|(clause, _)| clause)
    }

    /// Returns the unmet clause of a row that has this text. The rows of a group can have different expressions with one
    /// text.
    pub fn unmet_with_text(&self, row: usize, text: &str) -> Option<usize> {
        let constraints = self.table.offer_constraints();
        self.unmet(row).find(|clause| constraints.texts[constraints.clauses[*clause].text] == text)
    }

    /// Counts the offers that refuse by one clause. `None` if there are none.
    pub fn tally(&self, clause: Option<usize>, words: &[(usize, usize)], is_drained: bool) -> Option<RefusalTally> {
        let weights = self.own_weights.as_ref().unwrap_or(&self.table.weights);
        let words = words.iter().copied();
        let suitable = words.clone().map(|(position, word)| (position, word & self.suitable.as_slice()[position]));
        let first = |(position, word)| bit_rows(position, word).next();
        let refusing = |row: usize| RefusingRow { is_drained, row, clause };
        let free = suitable.clone().map(|(position, word)| (position, word & self.free.as_slice()[position]));
        let first_free = free.clone().find_map(first);
        Some(RefusalTally {
            suitable: weights.of_words(suitable.clone()),
            offers: self.table.weights.of_words(words.clone()),
            first: refusing(words.clone().find_map(first)?),
            first_suitable: first_free.or_else(|| suitable.clone().find_map(first)).map(refusing),
            has_free: first_free.is_some(),
        })
    }

    /// Returns the text of the clause that a row does not meet; `None` if the row has no constraint.
    pub fn clause_text(&self, row: RefusingRow) -> Option<&str> {
        let constraints = self.table.offer_constraints();
        row.clause.map(|clause| constraints.texts[constraints.clauses[clause].text].as_str())
    }

    pub fn pair(&self, row: RefusingRow) -> ClauseInPair<'_> {
        ClauseInPair { table: self.table, request: self.request, side: PairSide::Offer, row: row.row }
    }
}

/// Returns the text of a clause that no suitable offer meets: whatever else were changed, they would refuse. `found` has
/// the tallies of each source. `None` if there is none, or if all refuse by one text anyway.
pub fn common_text(sources: &[&RefusalSource<'_>], found: &[Vec<RefusalTally>]) -> Option<String> {
    let suitable = found.iter().zip(sources).flat_map(|(tallies, source)| {
        let rows = tallies.iter().filter_map(|tally| Some((*tally, tally.first_suitable?)));
        rows.map(move |(tally, row)| (*source, tally, row))
    });
    let suitable: Vec<_> = suitable.collect();
    let texts: FxHashSet<Option<&str>> =
        suitable.iter().map(|(source, tally, _)| source.clause_text(tally.first)).collect();
    if texts.len() < 2 || texts.contains(&None) {
        return None;
    }
    let (source, _, first) = suitable.iter().min_by_key(|(_, _, row)| *row)?;
    let constraints = source.table.offer_constraints();
    let mut candidates: Vec<usize> = source.unmet(first.row).collect();
    candidates.sort_by_key(|clause| constraints.clauses[*clause].weight.precedence());
    let mut candidates = candidates.iter().map(|clause| constraints.texts[constraints.clauses[*clause].text].as_str());
    candidates
        .find(|text| {
            suitable.iter().all(|(source, _, row)| source.unmet_with_text(row.row, text).is_some())
                && sources.iter().all(|source| source.all_refuse_by(text))
        })
        .map(ToOwned::to_owned)
}

impl RefusalTally {
    /// Joins the tallies of other rows with the same text.
    pub fn with(self, other: Self) -> Self {
        let suitable = [&self, &other].map(|tally| Some((!tally.has_free, tally.first_suitable?)));
        RefusalTally {
            suitable: self.suitable + other.suitable,
            offers: self.offers + other.offers,
            first: self.first.min(other.first),
            first_suitable: suitable.into_iter().flatten().min().map(|(_, first)| first),
            has_free: self.has_free || other.has_free,
        }
    }
}
