//! Groups the offers whose own constraints reject a request.

use std::cmp::Reverse;

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use crate::ad::{Expression, Name, Truth, Value};
use crate::matching::PairSide;
use crate::protocol::{evaluate_attribute, requested_resource};

use super::clauses::ExplainedClause;
use super::distance::as_number;
use super::drained_slots::{DrainedOutcome, DrainedSlots};
use super::evaluation::{OfferClause, OfferTable};
use super::places::names_wanted_place;
use super::refusal_source::{RefusalSource, RefusalTally, RefusingRow, common_text};
use super::report::RefusalGroup;
use super::request_analysis::RequestAnalysis;
use super::resource_shortage::{ResourceShortage, largest_amount};
use super::unmet_offer_clause::UnmetOfferClause;

/// The refusals of a request, grouped by the text of the unmet clause that decides: one that all suitable offers have, else
/// the first by [`ClauseWeight`](super::clause_weight::ClauseWeight).
pub struct Refusals<'r> {
    as_they_are: RefusalSource<'r>,
    /// The drained slots that would refuse the request; `None` if there are none.
    drained: Option<(RefusalSource<'r>, &'r DrainedSlots, &'r DrainedOutcome)>,
    /// The groups, in no particular order. A large pool can have thousands. Few of them are shown.
    tallies: Vec<RefusalTally>,
    /// Whether the request names the places that it wants, and some offers there are suitable.
    has_wanted: bool,
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
        let as_they_are = RefusalSource::as_they_are(table, analysis, drained);
        let would_match = drained.is_some_and(|(_, outcome)| !outcome.matching.is_empty());
        let drained = drained.filter(|(_, outcome)| !outcome.refusing.is_empty());
        let drained =
            drained.map(|(slots, outcome)| (RefusalSource::if_drained(slots, outcome, &as_they_are), slots, outcome));
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
        let mut refusals = Refusals { as_they_are, drained, tallies, has_wanted: false };
        if analysis.request.ad.iter().any(|attribute| names_wanted_place(attribute.name)) {
            let has_match = !analysis.suitable.is_disjoint(&analysis.acceptance.accepting);
            let suitable = || refusals.tallies.iter().filter(|tally| tally.suitable > 0);
            refusals.has_wanted = has_match || would_match || suitable().any(|tally| !refusals.is_elsewhere(tally));
        }
        refusals
    }

    /// Whether the first suitable offer of a tally is at none of the places that the request wants, as far as it tells.
    fn is_elsewhere(&self, tally: &RefusalTally) -> bool {
        tally.first_suitable.is_none_or(|first| {
            let RefusalSource { table, request, acceptance, .. } = self.source(first);
            let clauses = &table.offer_constraints().clauses;
            let reads_wanted = |clause: usize| {
                request_attributes_read(&clauses[clause], table, first.row).iter().any(names_wanted_place)
            };
            let mut outcomes = acceptance.row_outcomes(table, request, first.row);
            !outcomes.any(|(clause, outcome)| outcome == Truth::True && reads_wanted(clause))
        })
    }

    /// Whether an offer of a tally does not matter as long as there are suitable offers at the places that the request wants.
    fn is_unwanted(&self, tally: &RefusalTally) -> bool {
        self.has_wanted && self.is_elsewhere(tally)
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

    /// Returns the first tallies, at most `max` of them. Those at the places that the request wants come
    /// first, then those with free slots. They are sorted by the number of suitable offers, then by the number of all offers, both in descending order, then by their first rows.
    fn first_tallies(&self, max: usize) -> Vec<RefusalTally> {
        let order = |tally: &RefusalTally| {
            (Reverse((!self.is_unwanted(tally), tally.has_free, tally.suitable, tally.offers)), tally.first)
        };
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
        let known = attributes.clone();
        RefusalGroup {
            demand,
            offers: tally.offers,
            suitable: tally.suitable,
            has_free: tally.has_free,
            is_unwanted: self.is_unwanted(tally),
            example: self.offer(example),
            attributes,
            further: if tally.suitable == 1 { self.further(example, &known) } else { Vec::new() },
        }
    }

    /// Describes the unmet clauses of a row beside the one by which it refuses, which reads the attributes `known` of the request.
    /// Leaves out clauses that read the same.
    fn further(&self, row: RefusingRow, known: &IndexSet<Name>) -> Vec<UnmetOfferClause> {
        let source = self.source(row);
        let (table, constraints) = (source.table, source.table.offer_constraints());
        let others = source.unmet(row.row).filter(|clause| Some(*clause) != row.clause);
        let described = others.filter_map(|clause| {
            let outcome = source.acceptance.outcome(table, source.request, clause, row.row);
            let clause = &constraints.clauses[clause];
            let names = request_attributes_read(clause, table, row.row);
            let text = constraints.texts[clause.text].clone();
            let is_same = !names.is_empty() && names.is_subset(known);
            let expression = Some(&clause.clause.expression);
            (!is_same).then(|| source.pair(row).unmet_clause(Some(text), outcome, expression, &names))
        });
        described.collect()
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

/// Returns the attributes of the request that a clause of an offer reads.
pub fn request_attributes_read(clause: &OfferClause, table: &OfferTable, row: usize) -> IndexSet<Name> {
    let [theirs, unqualified] = clause.mentions(table.context.dialect);
    let fall_through = unqualified.iter().filter(|name| table.ads[row].get(name).is_none());
    theirs.iter().chain(fall_through).cloned().collect()
}
