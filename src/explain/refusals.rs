//! Groups the offers whose own constraints reject a request.

use std::cmp::Reverse;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Expression, Name, Truth, Value};
use crate::matching::PairSide;
use crate::pool::bit_rows;
use crate::protocol::{evaluate_attribute, requested_resource};

use super::clauses::ExplainedClause;
use super::decisive_part::ClauseInPair;
use super::distance::as_number;
use super::drained_slots::{DrainedOutcome, DrainedSlots};
use super::evaluation::{Acceptance, OfferClause, OfferTable, RequestContext, RowWeights};
use super::report::RefusalGroup;
use super::request_analysis::RequestAnalysis;
use super::resource_shortage::{ResourceShortage, largest_amount};

/// The refusals of a request, grouped by the text of the unmet clause that decides: one that all suitable offers have, else
/// the first by [`ClauseWeight`](super::clause_weight::ClauseWeight).
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
    /// The suitable rows with slots that a job can have at once, as they are.
    free: FixedBitSet,
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
    /// The first suitable row, a free one if there is any.
    first_suitable: Option<RefusingRow>,
    /// Whether a suitable offer is a free slot.
    has_free: bool,
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

/// Maximum number of rows whose conditions are compared.
const MAX_COMPARED_ROWS: usize = 50;

impl<'r> Refusals<'r> {
    /// Groups the refusals. A slot that would match if `drained` is not counted as suitable. A slot that would be suitable
    /// if drained, and would refuse, is counted as suitable by the clause by which it would refuse.
    pub fn new(
        table: &'r OfferTable,
        analysis: &'r RequestAnalysis,
        drained: Option<(&'r DrainedSlots, &'r DrainedOutcome)>,
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
        let as_they_are = RefusalSource { table, request, acceptance, suitable, own_weights, free };
        let drained = drained.filter(|(_, outcome)| !outcome.refusing.is_empty()).map(|(slots, outcome)| {
            let (suitable, weights) = slots.drained_rows(&outcome.refusing);
            let (table, request) = (&slots.table, &outcome.request);
            let acceptance = table.acceptance(request);
            let mut free = suitable.clone();
            let is_free = |slot: &usize| as_they_are.free.contains(slots.row(*slot));
            let not_free: Vec<usize> = outcome.refusing.iter().copied().filter(|slot| !is_free(slot)).collect();
            free.difference_with(&slots.drained_rows(&not_free).0);
            let source = RefusalSource { table, request, acceptance, suitable, own_weights: Some(weights), free };
            (source, slots, outcome)
        });
        let sources: Vec<&RefusalSource<'_>> =
            [&as_they_are].into_iter().chain(drained.as_ref().map(|(source, ..)| source)).collect();
        let mut found: Vec<_> = (0..sources.len()).map(|place| sources[place].tallies(place > 0, None)).collect();
        if let Some(common) = common_text(&sources, &found) {
            found = (0..sources.len()).map(|place| sources[place].tallies(place > 0, Some(&common))).collect();
        }
        let mut found = found.into_iter();
        let mut tallies = found.next().unwrap_or_default();
        if let Some((source, ..)) = &drained {
            let numbered = tallies.iter().enumerate();
            let place_of: FxHashMap<Option<&str>, usize> =
                numbered.map(|(place, tally)| (as_they_are.clause_text(tally.first), place)).collect();
            for tally in found.flatten().filter(|tally| tally.suitable > 0) {
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

    /// Returns the first tallies, at most `max` of them. Those with free slots come first. They are sorted by the number of
    /// suitable offers, then by the number of all offers, both in descending order, then by their first rows.
    fn first_tallies(&self, max: usize) -> Vec<RefusalTally> {
        let order = |tally: &RefusalTally| (Reverse((tally.has_free, tally.suitable, tally.offers)), tally.first);
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
        let unmet = clause.as_ref().and_then(|text| source.unmet_with_text(example.row, text));
        let unmet = unmet.map(|clause| &source.table.offer_constraints().clauses[clause].clause);
        let expression = unmet.map(|clause| &clause.expression);
        let mut demand =
            source.pair(example).unmet_clause(clause, outcome.unwrap_or(Truth::Undefined), expression, &attributes);
        let would_do = unmet.filter(|_| tally.suitable > 0);
        demand.opens = would_do.and_then(|clause| source.table.opening(source.request, clause, example.row));
        if let (Some(part), Some(text), Some(expression)) = (&mut demand.part, &demand.clause, expression) {
            let mut others = source.suitable.clone();
            others.difference_with(&source.acceptance.accepting);
            let has_text = |row: &usize| source.unmet_with_text(*row, text).is_some();
            let others: Vec<usize> = others.ones().filter(has_text).take(MAX_COMPARED_ROWS).collect();
            part.is_common = source.pair(example).names_the_same(expression, &others);
            for read in part.reads.iter_mut().filter(|read| !read.is_partners) {
                let attribute = ExplainedClause::detached(Expression::attribute(read.name.clone()));
                let value_of = |row: usize| source.table.value(source.request, PairSide::Offer, &attribute, row);
                let value = value_of(example.row);
                read.is_common = others.iter().all(|row| value_of(*row) == value);
            }
        }
        RefusalGroup {
            demand,
            offers: tally.offers,
            suitable: tally.suitable,
            has_free: tally.has_free,
            example: self.offer(example),
            attributes,
        }
    }

    /// Returns the resource for which all suitable offers refuse; `None` if some refuse for other reasons, or if an offer has
    /// enough of it. `drained` has all partitionable slots as if drained.
    pub fn shortage(&self, drained: Option<&OfferTable>) -> Option<ResourceShortage> {
        let mut suitable = self.tallies.iter().filter(|tally| tally.suitable > 0);
        let (tally, None) = (suitable.next()?, suitable.next()) else { return None };
        let (first, own) = (self.source(tally.first), &self.as_they_are);
        let clause = &first.table.offer_constraints().clauses[tally.first.clause?];
        let resource = clause.weight.limited_resource()?;
        let request = &own.request.ad;
        let asked = request.iter().map(|attribute| attribute.name);
        let name = asked.into_iter().find(|name| requested_resource(name).as_ref() == Some(resource))?.clone();
        let wanted = evaluate_attribute(request, &name, &own.table.context)?;
        let number = as_number(&wanted)?;
        let is_enough = |found: &Option<Value>| found.as_ref().and_then(as_number).is_some_and(|found| found >= number);
        let amount =
            |table: &OfferTable, rows: Option<FixedBitSet>| largest_amount(table, own.request, resource, rows.as_ref());
        let mut found = [amount(own.table, None), drained.and_then(|drained| amount(drained, None))];
        let is_of_all = !found.iter().any(is_enough);
        if !is_of_all {
            let refusing = |source: &RefusalSource<'_>| {
                let mut rows = source.suitable.clone();
                rows.difference_with(&source.acceptance.accepting);
                amount(source.table, Some(rows))
            };
            found = [refusing(own), self.drained.as_ref().and_then(|(source, ..)| refusing(source))];
        }
        if found.iter().any(is_enough) {
            return None;
        }
        let [now, drained] = found;
        let is_more = |drained: &Value| now.as_ref().and_then(as_number) < as_number(drained);
        let drained = drained.filter(is_more);
        let (largest, largest_if_drained) = match now {
            Some(now) => (now, drained),
            None => (drained?, None),
        };
        Some(ResourceShortage {
            resource: resource.clone(),
            request: name,
            wanted,
            largest,
            largest_if_drained,
            is_of_all,
        })
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
    /// Counts the offers that refuse, by the text of the clause. The order is arbitrary. If `common` is given, all suitable
    /// offers refuse by clauses with this text.
    fn tallies(&self, is_drained: bool, common: Option<&str>) -> Vec<RefusalTally> {
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
    fn all_refuse_by(&self, text: &str) -> bool {
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
    fn unmet(&self, row: usize) -> impl Iterator<Item = usize> {
        let outcomes = self.acceptance.row_outcomes(self.table, self.request, row);
        outcomes.filter(|(_, outcome)| *outcome != Truth::True).map(|(clause, _)| clause)
    }

    /// Returns the unmet clause of a row that has this text. The rows of a group can have different expressions with one
    /// text.
    fn unmet_with_text(&self, row: usize, text: &str) -> Option<usize> {
        let constraints = self.table.offer_constraints();
        self.unmet(row).find(|clause| constraints.texts[constraints.clauses[*clause].text] == text)
    }

    /// Counts the offers that refuse by one clause. `None` if there are none.
    fn tally(&self, clause: Option<usize>, words: &[(usize, usize)], is_drained: bool) -> Option<RefusalTally> {
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
    fn clause_text(&self, row: RefusingRow) -> Option<&str> {
        let constraints = self.table.offer_constraints();
        row.clause.map(|clause| constraints.texts[constraints.clauses[clause].text].as_str())
    }

    fn pair(&self, row: RefusingRow) -> ClauseInPair<'_> {
        ClauseInPair { table: self.table, request: self.request, side: PairSide::Offer, row: row.row }
    }
}

/// Returns the text of a clause that no suitable offer meets: whatever else were changed, they would refuse. `found` has
/// the tallies of each source. `None` if there is none, or if all refuse by one text anyway.
fn common_text(sources: &[&RefusalSource<'_>], found: &[Vec<RefusalTally>]) -> Option<String> {
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
    fn with(self, other: Self) -> Self {
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

/// Returns the attributes of the request that a clause of an offer reads.
pub fn request_attributes_read(clause: &OfferClause, table: &OfferTable, row: usize) -> IndexSet<Name> {
    let [theirs, unqualified] = clause.mentions(table.context.dialect);
    let fall_through = unqualified.iter().filter(|name| table.ads[row].get(name).is_none());
    theirs.iter().chain(fall_through).cloned().collect()
}
