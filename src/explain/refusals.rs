//! Groups the offers whose own constraints reject a request.

use std::cmp::Reverse;

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;

use crate::ad::{Ad, Name};
use crate::eval::CURRENT_TIME;
use crate::matching::PairSide;

use super::decisive_part::{ClauseInPair, lacks};
use super::evaluation::{ClauseOutcome, OfferClause, OfferTable, RefusedSet};
use super::report::RefusalGroup;
use super::request_analysis::RequestAnalysis;

/// The refusals of a request, grouped by the text of the first clause that the request does not meet.
pub struct Refusals<'r> {
    table: &'r OfferTable,
    analysis: &'r RequestAnalysis,
    /// The groups, in no particular order. A large pool can have thousands. Few of them are shown.
    tallies: Vec<RefusalTally>,
}

/// The offers that refuse by clauses with one text.
#[derive(Clone, Copy)]
struct RefusalTally {
    /// Number of suitable offers.
    suitable: usize,
    /// Number of offers.
    offers: usize,
    /// The first row, and the index of its unmet clause; `None` if it has no constraint.
    first: (usize, Option<usize>),
    /// The first suitable row.
    first_suitable: Option<usize>,
}

impl<'r> Refusals<'r> {
    pub fn new(table: &'r OfferTable, analysis: &'r RequestAnalysis) -> Self {
        let constraints = table.offer_constraints();
        // The last entry is that of the rows without a constraint.
        let mut by_text: Vec<Option<RefusalTally>> = vec![None; constraints.texts.len() + 1];
        for (clause, rows) in analysis.acceptance.refused() {
            let Some(tally) = RefusalTally::new(table, clause, rows, &analysis.suitable) else { continue };
            let text = clause.map_or(constraints.texts.len(), |clause| constraints.clauses[clause].text);
            by_text[text] = Some(by_text[text].map_or(tally, |known| known.with(tally)));
        }
        Refusals { table, analysis, tallies: by_text.into_iter().flatten().collect() }
    }

    /// Number of groups.
    pub fn count(&self) -> usize {
        self.tallies.len()
    }

    /// Number of groups with suitable offers.
    pub fn suitable_count(&self) -> usize {
        self.tallies.iter().filter(|tally| tally.suitable > 0).count()
    }

    /// Returns the first tallies, at most `max` of them. They are sorted by the number of suitable offers, then by the
    /// number of all offers, both in descending order, then by their first rows.
    fn first_tallies(&self, max: usize) -> Vec<RefusalTally> {
        let order = |tally: &RefusalTally| (Reverse((tally.suitable, tally.offers)), tally.first.0);
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
        let constraints = self.table.offer_constraints();
        let group = |tally: &RefusalTally| {
            let (row, clause) = tally.first;
            let attributes = self.attributes(tally);
            let request = &self.analysis.request;
            let outcome = clause.map(|clause| self.analysis.acceptance.outcome(self.table, request, clause, row));
            let example = tally.first_suitable.unwrap_or(row);
            let pair = ClauseInPair { table: self.table, request, side: PairSide::Offer, row: example };
            // The rows of a group can have different expressions with one text.
            let of_example = || {
                let first =
                    |(clause, outcome): &(usize, ClauseOutcome)| (*outcome != ClauseOutcome::True).then_some(*clause);
                let outcomes = self.analysis.acceptance.row_outcomes(self.table, request, example);
                outcomes.collect::<Vec<_>>().iter().find_map(first)
            };
            let expression =
                clause.and_then(|_| of_example()).map(|clause| &constraints.clauses[clause].clause.expression);
            RefusalGroup {
                clause: clause.map(|clause| constraints.texts[constraints.clauses[clause].text].clone()),
                outcome: outcome.unwrap_or(ClauseOutcome::Undefined),
                offers: tally.offers,
                suitable: tally.suitable,
                example: self.table.first_offer[example],
                missing: expression
                    .map(|expression| pair.blamed_names(expression, missing_attributes(&attributes, &request.ad)))
                    .unwrap_or_default(),
                part: expression.map(|expression| pair.describe(expression)),
                attributes,
            }
        };
        self.first_tallies(max).iter().map(group).collect()
    }

    /// Returns the attributes of the request that the clauses of the groups with suitable offers read.
    pub fn attributes_of_suitable(&self) -> impl Iterator<Item = Name> + '_ {
        self.first_tallies(self.suitable_count()).into_iter().flat_map(|tally| self.attributes(&tally))
    }

    /// Returns the attributes of the request that the clause of a group's first row reads.
    fn attributes(&self, tally: &RefusalTally) -> IndexSet<Name> {
        let (row, clause) = tally.first;
        let clause = clause.map(|clause| &self.table.offer_constraints().clauses[clause]);
        clause.map_or_else(IndexSet::new, |clause| request_attributes_read(clause, self.table, row))
    }
}

impl RefusalTally {
    /// Counts the offers that refuse by one clause. `None` if there are none.
    fn new(table: &OfferTable, clause: Option<usize>, refused: RefusedSet<'_>, suitable: &FixedBitSet) -> Option<Self> {
        let weights = &table.weights;
        let tally = match refused {
            RefusedSet::Many(rows) => RefusalTally {
                suitable: weights.of_intersection(rows, suitable),
                offers: weights.of_set(rows),
                first: (rows.minimum()?, clause),
                first_suitable: rows.intersection(suitable).next(),
            },
            RefusedSet::Few(rows) => {
                let rows = || rows.iter().map(|row| *row as usize);
                let suitable = || rows().filter(|row| suitable.contains(*row));
                RefusalTally {
                    suitable: weights.of_rows(suitable()),
                    offers: weights.of_rows(rows()),
                    first: (rows().next()?, clause),
                    first_suitable: suitable().next(),
                }
            }
        };
        Some(tally)
    }

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

/// Returns the names in `attributes` that the request does not define, or defines as `undefined`.
pub fn missing_attributes(attributes: &IndexSet<Name>, request: &Ad) -> Vec<Name> {
    attributes.iter().filter(|name| lacks(request, name) && !name.is_known(CURRENT_TIME)).cloned().collect()
}

/// Returns the attributes of the request that a clause of an offer reads.
pub fn request_attributes_read(clause: &OfferClause, table: &OfferTable, row: usize) -> IndexSet<Name> {
    let [theirs, unqualified] = clause.mentions(table.context.dialect);
    let fall_through = unqualified.iter().filter(|name| table.ads[row].get(name).is_none());
    theirs.iter().chain(fall_through).cloned().collect()
}
