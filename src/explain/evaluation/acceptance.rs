//! Which offers accept a request, and which clause of their constraints the request does not meet first.

use fixedbitset::FixedBitSet;

use crate::ad::{Expression, Truth};
use crate::matching::PairSide;
use crate::pool::code;

use super::offer_constraints::{ClauseUnit, OfferConstraints, UnitRows};
use super::offer_outcomes::{MemberOutcomes, OfferOutcomes, family_key};
use super::shared_cache::CacheKey;
use super::{OfferTable, RequestContext};

/// Maximum number of clauses of a family whose keys are part of an acceptance's key. The keys of more clauses would be
/// too long; the whole request stands for them.
const MAX_SINGLE_KEYS: usize = 64;

/// Which offers accept a request. The offers that do not are listed by the first clause that the request does not meet.
pub struct Acceptance {
    /// The rows that accept the request.
    pub accepting: FixedBitSet,
    /// The sets of rows that refuse the request. Each row is in one of the sets.
    refused: Vec<RefusedRows>,
    /// The rows of the sets with few rows, one set after the other.
    few: Vec<u32>,
    outcomes: OfferOutcomes,
}

/// Rows that refuse a request by the same clause.
struct RefusedRows {
    /// Index of the first clause that the request does not meet. `None` if the rows have no constraint, and so accept
    /// nothing.
    clause: Option<usize>,
    /// The rows. `None` if they are few.
    many: Option<FixedBitSet>,
    /// End of the rows in [`Acceptance::few`]. They begin at the end of the set before.
    end: usize,
}

/// The rows that refuse a request by the same clause.
#[derive(Clone, Copy)]
pub enum RefusedSet<'r> {
    Many(&'r FixedBitSet),
    /// Few rows, ascending.
    Few(&'r [u32]),
}

impl Acceptance {
    /// Returns the key of a request. The same offers accept requests with equal keys, by the same clauses.
    pub fn key(table: &OfferTable, request: &RequestContext) -> CacheKey {
        let constraints = table.offer_constraints();
        let mut key = Vec::new();
        for (number, family) in constraints.families.iter().enumerate() {
            let of_family = family_key(number, family, request, &mut table.store());
            let is_known = family.dependencies.is_some() && family.members.len() <= MAX_SINGLE_KEYS;
            match of_family {
                Some(of_family) => key.extend(of_family),
                None if is_known => {
                    for member in &family.members {
                        let clause = &constraints.clauses[member.clause].clause;
                        key.extend(table.clause_key(request, clause, PairSide::Offer).key);
                    }
                }
                None => key.extend([number, table.store().intern(&Expression::ad(request.ad.clone()))]),
            }
        }
        key.into()
    }

    /// The size in bytes. Outcomes do not count, because acceptances share them.
    pub fn bytes(&self) -> usize {
        let of_set = |refused: &RefusedRows| refused.many.as_ref().map_or(0, |rows| rows.len() / 8);
        let sets = size_of_val(&*self.refused) + self.refused.iter().map(of_set).sum::<usize>();
        size_of::<Self>() + self.accepting.len() / 8 + sets + size_of_val(&*self.few)
    }

    /// Finds the rows that accept a request.
    pub fn new(table: &OfferTable, request: &RequestContext) -> Self {
        let constraints = table.offer_constraints();
        let mut search = AcceptanceSearch {
            table,
            request,
            constraints,
            outcomes: OfferOutcomes::new(table, request),
            pending: constraints.constrained.clone(),
            refused: Vec::new(),
            few: Vec::new(),
        };
        if !constraints.constrained.is_full() {
            let mut rows = constraints.constrained.clone();
            rows.toggle_range(..);
            search.refused.push(RefusedRows { clause: None, many: Some(rows), end: 0 });
        }
        let accepting_as_whole = search.visit_circular_groups();
        for unit in constraints.stages.iter().flatten() {
            search.visit_unit(unit);
        }
        let AcceptanceSearch { outcomes, pending: mut accepting, refused, few, .. } = search;
        accepting.extend(accepting_as_whole);
        Acceptance { accepting, refused, few, outcomes }
    }

    /// Iterates over the sets of rows that refuse the request, each with the index of the first clause that the request
    /// does not meet. The clause is `None` for rows without a constraint, which accept nothing.
    pub fn refused(&self) -> impl Iterator<Item = (Option<usize>, RefusedSet<'_>)> {
        let mut start = 0;
        self.refused.iter().map(move |refused| {
            let few = &self.few[std::mem::replace(&mut start, refused.end)..refused.end];
            (refused.clause, refused.many.as_ref().map_or(RefusedSet::Few(few), RefusedSet::Many))
        })
    }

    /// Returns the clauses of a row's constraint with their outcomes, as indexes into
    /// [`OfferConstraints::clauses`]. There are none if the row has no constraint.
    pub fn row_outcomes<'a>(
        &'a self,
        table: &'a OfferTable,
        request: &'a RequestContext,
        row: usize,
    ) -> impl Iterator<Item = (usize, Truth)> + 'a {
        let constraints = table.offer_constraints();
        let group = constraints.group_of(row);
        let clauses = constraints.group_clauses(group, self.outcomes.circular_groups.contains(&group)).iter();
        clauses.map(move |clause| {
            let clause = *clause as usize;
            (clause, self.outcomes.of_row(table, request, clause, row))
        })
    }

    /// Returns the outcome of a clause in a row with this clause.
    pub fn outcome(&self, table: &OfferTable, request: &RequestContext, clause: usize, row: usize) -> Truth {
        self.outcomes.of_row(table, request, clause, row)
    }
}

/// The search for the rows that accept a request: goes through the clauses by their position in constraints.
struct AcceptanceSearch<'s> {
    table: &'s OfferTable,
    request: &'s RequestContext,
    constraints: &'s OfferConstraints,
    outcomes: OfferOutcomes,
    /// Rows for which all clauses visited so far are true.
    pending: FixedBitSet,
    refused: Vec<RefusedRows>,
    /// As [`Acceptance::few`].
    few: Vec<u32>,
}

impl AcceptanceSearch<'_> {
    /// Evaluates the constraints that have a circular clause, each as one clause. Returns the rows that accept the
    /// request.
    fn visit_circular_groups(&mut self) -> Vec<usize> {
        let mut accepting = Vec::new();
        let mut groups: Vec<usize> = self.outcomes.circular_groups.iter().copied().collect();
        groups.sort_unstable();
        for group in groups {
            for clause in self.constraints.group_clauses(group, true).iter().map(|clause| *clause as usize) {
                self.outcomes.evaluate_single(self.table, self.request, clause);
                let rows = self.constraints.clauses[clause].rows.iter().copied();
                for row in rows.filter(|row| self.constraints.group_of(*row as usize) == group) {
                    self.pending.remove(row as usize);
                    if self.is_true(clause, row as usize) {
                        accepting.push(row as usize);
                    } else {
                        self.few.push(row);
                    }
                }
                self.end_few(clause);
            }
        }
        accepting
    }

    /// Finds the pending rows that refuse the request by a clause at one position.
    fn visit_unit(&mut self, unit: &ClauseUnit) {
        let (constraints, clause) = (self.constraints, unit.clause);
        let outcomes = self.outcomes.of_clause(constraints, clause, unit.place);
        match (outcomes, &unit.rows) {
            (Some((_, MemberOutcomes::Uniform(Truth::True))), _) => return,
            (Some((_, outcomes)), UnitRows::Many(rows)) => {
                let mut rows = intersection(rows, &self.pending);
                if let MemberOutcomes::Varied(varied) = outcomes {
                    rows.difference_with(&varied.true_rows);
                }
                if !rows.is_clear() {
                    self.pending.difference_with(&rows);
                    let end = self.few.len();
                    self.refused.push(RefusedRows { clause: Some(clause), many: Some(rows), end });
                }
                return;
            }
            (Some((local, outcomes)), UnitRows::Few(places)) => {
                let rows = &constraints.clauses[clause].rows;
                let is_true = |place: usize| match outcomes {
                    MemberOutcomes::Uniform(_) => false,
                    MemberOutcomes::Varied(varied) => varied.outcomes[local.of_row[place] as usize] == Truth::True,
                };
                let pending = places.iter().map(|place| (*place as usize, rows[*place as usize]));
                let pending = pending.filter(|(_, row)| self.pending.contains(*row as usize));
                self.few.extend(pending.filter(|(place, _)| !is_true(*place)).map(|(_, row)| row));
            }
            (None, UnitRows::Many(rows)) => {
                let failing = rows.intersection(&self.pending).filter(|row| !self.is_true(clause, *row));
                let failing: Vec<u32> = failing.map(code).collect();
                self.few.extend(failing);
            }
            (None, UnitRows::Few(places)) => {
                let rows = places.iter().map(|place| constraints.clauses[clause].rows[*place as usize]);
                let pending = rows.filter(|row| self.pending.contains(*row as usize));
                let failing: Vec<u32> = pending.filter(|row| !self.is_true(clause, *row as usize)).collect();
                self.few.extend(failing);
            }
        }
        self.end_few(clause);
    }

    fn is_true(&self, clause: usize, row: usize) -> bool {
        self.outcomes.of_row(self.table, self.request, clause, row) == Truth::True
    }

    /// Records that the rows last added to `few` refuse the request by a clause.
    fn end_few(&mut self, clause: usize) {
        let (start, end) = (self.refused.last().map_or(0, |refused| refused.end), self.few.len());
        if start < end {
            self.few[start..].iter().for_each(|row| self.pending.remove(*row as usize));
            self.refused.push(RefusedRows { clause: Some(clause), many: None, end });
        }
    }
}

/// Returns the rows in both sets.
fn intersection(rows: &FixedBitSet, others: &FixedBitSet) -> FixedBitSet {
    let words = rows.as_slice().iter().zip(others.as_slice()).map(|(word, other)| word & other);
    FixedBitSet::with_capacity_and_blocks(rows.len(), words)
}
