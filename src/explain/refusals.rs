//! Groups the offers whose own constraints reject a request.

use std::cmp::Reverse;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use crate::ad::{Expression, Name, Truth};
use crate::matching::PairSide;
use crate::pool::bit_rows;

use super::decisive_part::ClauseInPair;
use super::drained_slots::{DrainedOutcome, DrainedSlots};
use super::evaluation::{Acceptance, OfferClause, OfferTable, RequestContext, RowWeights};
use super::report::RefusalGroup;
use super::request_analysis::RequestAnalysis;

/// The refusals of a request, grouped by the text of the first clause that the request does not meet.
pub struct Refusals<'r> {
    as_they_are: RefusalSource<'r>,
    /// The drained slots that would refuse the request; `None` if there are none.
    drained: Option<(RefusalSource<'r>, &'r DrainedSlots, &'r DrainedOutcome)>,
    /// The groups, in no particular order. A large pool can have thousands. Few of them are shown.
    tallies: Vec<RefusalTally>,
}

/// The offers of one table that refuse a request.
struct RefusalSource<'r> {
    table: &'r OfferTable,
    request: &'r RequestContext,
    acceptance: Arc<Acceptance>,
    /// The suitable rows whose refusals count.
    suitable: FixedBitSet,
    /// Number of offers of each row that can be suitable, if it is not that of the table.
    own_weights: Option<RowWeights>,
}

/// The offers that refuse by clauses with one text.
#[derive(Clone, Copy)]
struct RefusalTally {
    /// Number of suitable offers.
    suitable: usize,
    /// Number of offers.
    offers: usize,
    /// The first row, and the index of its unmet clause; `None` if it has no constraint.
    first: RefusingRow,
    /// The first suitable row.
    first_suitable: Option<RefusingRow>,
}

/// A row that refuses a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RefusingRow {
    /// Whether the row is one of the drained slots.
    is_drained: bool,
    row: usize,
    /// Index of the unmet clause; `None` if the row has no constraint.
    clause: Option<usize>,
}

impl<'r> Refusals<'r> {
    /// Groups the refusals. A slot that would match if `drained` is not counted as suitable. A slot that would be suitable
    /// if drained, and would refuse, is counted as suitable by the clause by which it would refuse.
    pub fn new(
        table: &'r OfferTable,
        analysis: &'r RequestAnalysis,
        drained: Option<(&'r DrainedSlots, &'r DrainedOutcome)>,
    ) -> Self {
        let mut suitable = analysis.suitable.clone();
        // Of equal slots, those that are not free do not match if drained.
        let mut matching: FxHashMap<usize, usize> = FxHashMap::default();
        for row in drained.into_iter().flat_map(|(slots, outcome)| slots.rows_as_they_are(&outcome.matching)) {
            *matching.entry(row).or_default() += 1;
        }
        let mut own_weights = None;
        for (row, slots) in matching {
            if slots == table.weights.of_row(row) {
                suitable.set(row, false);
            } else {
                own_weights.get_or_insert_with(|| table.weights.to_vec())[row] -= slots;
            }
        }
        let own_weights = own_weights.map(RowWeights::new);
        let (request, acceptance) = (&analysis.request, analysis.acceptance.clone());
        let as_they_are = RefusalSource { table, request, acceptance, suitable, own_weights };
        let drained = drained.filter(|(_, outcome)| !outcome.refusing.is_empty()).map(|(slots, outcome)| {
            let (suitable, weights) = slots.drained_rows(&outcome.refusing);
            let (table, request) = (&slots.table, &outcome.request);
            let acceptance = table.acceptance(request);
            (RefusalSource { table, request, acceptance, suitable, own_weights: Some(weights) }, slots, outcome)
        });
        let mut tallies = as_they_are.tallies(false);
        if let Some((source, ..)) = &drained {
            let numbered = tallies.iter().enumerate();
            let place_of: FxHashMap<Option<&str>, usize> =
                numbered.map(|(place, tally)| (as_they_are.clause_text(tally.first), place)).collect();
            for tally in source.tallies(true).into_iter().filter(|tally| tally.suitable > 0) {
                match place_of.get(&source.clause_text(tally.first)) {
                    // The slots of the tally are counted among the offers by the clauses by which they refuse as they are.
                    Some(place) => tallies[*place] = tallies[*place].with(RefusalTally { offers: 0, ..tally }),
                    None => tallies.push(RefusalTally { offers: tally.suitable, ..tally }),
                }
            }
        }
        Refusals { as_they_are, drained, tallies }
    }

    /// Number of groups.
    pub fn count(&self) -> usize {
        self.tallies.len()
    }

    /// Number of suitable offers that refuse.
    pub fn suitable_offers(&self) -> usize {
        self.tallies.iter().map(|tally| tally.suitable).sum()
    }

    /// Number of groups with suitable offers.
    pub fn suitable_count(&self) -> usize {
        self.tallies.iter().filter(|tally| tally.suitable > 0).count()
    }

    /// Returns the first tallies, at most `max` of them. They are sorted by the number of suitable offers, then by the
    /// number of all offers, both in descending order, then by their first rows.
    fn first_tallies(&self, max: usize) -> Vec<RefusalTally> {
        let order = |tally: &RefusalTally| (Reverse((tally.suitable, tally.offers)), tally.first);
        let mut tallies = self.tallies.clone();
        if max < tallies.len() {
            tallies.select_nth_unstable_by_key(max, order);
            tallies.truncate(max);
        }
        tallies.sort_unstable_by_key(order);
        tallies
    }

    /// Returns the first groups, at most `max` of them. The groups with the most suitable offers come first.
    pub fn groups(&self, max: usize) -> Vec<RefusalGroup> {
        self.first_tallies(max).iter().map(|tally| self.group(tally)).collect()
    }

    fn group(&self, tally: &RefusalTally) -> RefusalGroup {
        let first = tally.first;
        let attributes = self.attributes(tally);
        let outcome = first.clause.map(|clause| {
            let RefusalSource { table, request, acceptance, .. } = self.source(first);
            acceptance.outcome(table, request, clause, first.row)
        });
        let example = tally.first_suitable.unwrap_or(first);
        let source = self.source(example);
        let clause = self.source(first).clause_text(first).map(ToOwned::to_owned);
        let expression = first.clause.and_then(|_| source.first_unmet(example));
        let demand =
            source.pair(example).unmet_clause(clause, outcome.unwrap_or(Truth::Undefined), expression, &attributes);
        RefusalGroup {
            demand,
            offers: tally.offers,
            suitable: tally.suitable,
            example: self.offer(example),
            attributes,
        }
    }

    fn source(&self, row: RefusingRow) -> &RefusalSource<'r> {
        match &self.drained {
            Some((source, ..)) if row.is_drained => source,
            _ => &self.as_they_are,
        }
    }

    /// Returns the index of the first offer of a row.
    fn offer(&self, row: RefusingRow) -> usize {
        match &self.drained {
            Some((_, slots, outcome)) if row.is_drained => {
                slots.first_in_row(&outcome.refusing, row.row).map_or(0, |slot| slots.offer(slot))
            }
            _ => self.as_they_are.table.first_offer[row.row],
        }
    }

    /// Returns the attributes of the request that the clauses of the groups with suitable offers read.
    pub fn attributes_of_suitable(&self) -> impl Iterator<Item = Name> + '_ {
        self.first_tallies(self.suitable_count()).into_iter().flat_map(|tally| self.attributes(&tally))
    }

    /// Returns the attributes of the request that the clause of a group's first row reads.
    fn attributes(&self, tally: &RefusalTally) -> IndexSet<Name> {
        let (first, table) = (tally.first, self.source(tally.first).table);
        let clause = first.clause.map(|clause| &table.offer_constraints().clauses[clause]);
        clause.map_or_else(IndexSet::new, |clause| request_attributes_read(clause, table, first.row))
    }
}

impl RefusalSource<'_> {
    /// Counts the offers that refuse, by the text of the clause. The order is arbitrary.
    fn tallies(&self, is_drained: bool) -> Vec<RefusalTally> {
        let constraints = self.table.offer_constraints();
        // The last entry is that of the rows without a constraint.
        let mut by_text: Vec<Option<RefusalTally>> = vec![None; constraints.texts.len() + 1];
        for (clause, rows) in self.acceptance.refused() {
            let Some(tally) = self.tally(clause, rows, is_drained) else { continue };
            let text = clause.map_or(constraints.texts.len(), |clause| constraints.clauses[clause].text);
            by_text[text] = Some(by_text[text].map_or(tally, |known| known.with(tally)));
        }
        by_text.into_iter().flatten().collect()
    }

    /// Counts the offers that refuse by one clause. `None` if there are none.
    fn tally(&self, clause: Option<usize>, words: &[(usize, usize)], is_drained: bool) -> Option<RefusalTally> {
        let weights = self.own_weights.as_ref().unwrap_or(&self.table.weights);
        let words = words.iter().copied();
        let suitable = words.clone().map(|(position, word)| (position, word & self.suitable.as_slice()[position]));
        let first = |(position, word)| bit_rows(position, word).next();
        let refusing = |row: usize| RefusingRow { is_drained, row, clause };
        Some(RefusalTally {
            suitable: weights.of_words(suitable.clone()),
            offers: self.table.weights.of_words(words.clone()),
            first: refusing(words.clone().find_map(first)?),
            first_suitable: suitable.clone().find_map(first).map(refusing),
        })
    }

    /// Returns the text of the clause that a row does not meet; `None` if the row has no constraint.
    fn clause_text(&self, row: RefusingRow) -> Option<&str> {
        let constraints = self.table.offer_constraints();
        row.clause.map(|clause| constraints.texts[constraints.clauses[clause].text].as_str())
    }

    fn pair(&self, row: RefusingRow) -> ClauseInPair<'_> {
        ClauseInPair { table: self.table, request: self.request, side: PairSide::Offer, row: row.row }
    }

    /// Returns the first clause that a row does not meet. The rows of a group can have different expressions with one
    /// text.
    fn first_unmet(&self, row: RefusingRow) -> Option<&Expression> {
        let mut outcomes = self.acceptance.row_outcomes(self.table, self.request, row.row);
        let (clause, _) = outcomes.find(|(_, outcome)| *outcome != Truth::True)?;
        Some(&self.table.offer_constraints().clauses[clause].clause.expression)
    }
}

impl RefusalTally {
    /// Joins the tallies of other rows with the same text.
    fn with(self, other: Self) -> Self {
        let suitable = [self.first_suitable, other.first_suitable];
        RefusalTally {
            suitable: self.suitable + other.suitable,
            offers: self.offers + other.offers,
            first: self.first.min(other.first),
            first_suitable: suitable.into_iter().flatten().min(),
        }
    }
}

/// Returns the attributes of the request that a clause of an offer reads.
pub fn request_attributes_read(clause: &OfferClause, table: &OfferTable, row: usize) -> IndexSet<Name> {
    let [theirs, unqualified] = clause.mentions(table.context.dialect);
    let fall_through = unqualified.iter().filter(|name| table.ads[row].get(name).is_none());
    theirs.iter().chain(fall_through).cloned().collect()
}
