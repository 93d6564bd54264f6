//! Which offers accept a request, and which unmet clause of their constraints decides that the others refuse it.

use fixedbitset::FixedBitSet;

use crate::ad::{Expression, Truth};
use crate::matching::PairSide;
use crate::pool::{WORD_BITS, bit_rows};

use super::offer_constraints::{ClauseUnit, OfferConstraints};
use super::offer_outcomes::{MemberOutcomes, OfferOutcomes, family_key};
use super::shared_cache::CacheKey;
use super::{OfferTable, RequestContext};

/// Maximum number of clauses of a family whose keys are part of an acceptance's key. The keys of more clauses would be
/// too long; the whole request stands for them.
const MAX_SINGLE_KEYS: usize = 64;

/// Which offers accept a request. The offers that do not are listed by the unmet clause that decides.
pub struct Acceptance {
    /// The rows that accept the request.
    pub accepting: FixedBitSet,
    /// The sets of rows that refuse the request. Each row is in one of the sets.
    refused: Vec<RefusedRows>,
    /// The nonzero words of these sets with their positions, one set after the other.
    words: Vec<(usize, usize)>,
    outcomes: OfferOutcomes,
}

/// Rows that refuse a request by the same clause.
struct RefusedRows {
    /// Index of the unmet clause that decides. `None` if the rows have no constraint, and so accept nothing.
    clause: Option<usize>,
    /// End of the words in [`Acceptance::words`]. They begin at the end of the set before.
    end: usize,
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
        let sets = size_of_val(&*self.refused) + size_of_val(&*self.words);
        size_of::<Self>() + self.accepting.len() / 8 + sets
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
            words: Vec::new(),
        };
        let mut unconstrained = constraints.constrained.clone();
        unconstrained.toggle_range(..);
        unconstrained.as_slice().iter().enumerate().for_each(|(position, word)| search.refuse(position, *word));
        search.end_set(None);
        let accepting_as_whole = search.visit_circular_groups();
        for unit in &constraints.units {
            search.visit_unit(unit);
        }
        let AcceptanceSearch { outcomes, pending: mut accepting, refused, words, .. } = search;
        accepting.extend(accepting_as_whole);
        Acceptance { accepting, refused, words, outcomes }
    }

    /// Iterates over the sets of rows that refuse the request, each as words with their positions, and with the index of
    /// the unmet clause that decides. The clause is `None` for rows without a constraint, which accept nothing.
    pub fn refused(&self) -> impl Iterator<Item = (Option<usize>, &[(usize, usize)])> {
        let mut start = 0;
        self.refused
            .iter()
            .map(move |refused| (refused.clause, &self.words[std::mem::replace(&mut start, refused.end)..refused.end]))
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

    /// Removes the rows of a set that do not meet a clause.
    pub fn remove_unmet(&self, table: &OfferTable, request: &RequestContext, clause: usize, rows: &mut FixedBitSet) {
        let constraints = table.offer_constraints();
        let of_clause = &constraints.clauses[clause];
        let outcomes = self.outcomes.of_clause(constraints, clause, of_clause.place).map(|(_, outcomes)| outcomes);
        if matches!(outcomes, Some(MemberOutcomes::Uniform(Truth::True))) {
            return;
        }
        let is_uniform = matches!(outcomes, Some(MemberOutcomes::Uniform(_)));
        for row in of_clause.rows.iter().map(|row| *row as usize) {
            if rows.contains(row) && (is_uniform || self.outcome(table, request, clause, row) != Truth::True) {
                rows.remove(row);
            }
        }
    }

    /// Returns the outcome of a clause in a row with this clause.
    pub fn outcome(&self, table: &OfferTable, request: &RequestContext, clause: usize, row: usize) -> Truth {
        self.outcomes.of_row(table, request, clause, row)
    }
}

/// The search for the rows that accept a request: goes through the clauses in the order in which an unmet one decides.
struct AcceptanceSearch<'s> {
    table: &'s OfferTable,
    request: &'s RequestContext,
    constraints: &'s OfferConstraints,
    outcomes: OfferOutcomes,
    /// Rows for which all clauses visited so far are true.
    pending: FixedBitSet,
    refused: Vec<RefusedRows>,
    /// As [`Acceptance::words`].
    words: Vec<(usize, usize)>,
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
                        self.refuse(row as usize / WORD_BITS, 1 << (row as usize % WORD_BITS));
                    }
                }
                self.end_set(Some(clause));
            }
        }
        accepting
    }

    /// Finds the pending rows that refuse the request by a clause at one position.
    fn visit_unit(&mut self, unit: &ClauseUnit) {
        let outcomes = self.outcomes.of_clause(self.constraints, unit.clause, unit.place).map(|(_, outcomes)| outcomes);
        let true_rows = match outcomes {
            Some(MemberOutcomes::Uniform(Truth::True)) => return,
            Some(MemberOutcomes::Uniform(_)) => Some(&[][..]),
            Some(MemberOutcomes::Varied(varied)) if !varied.true_rows.is_empty() => Some(varied.true_rows.as_slice()),
            _ => None,
        };
        let refusing = |(position, word): (usize, usize)| {
            let pending = word & self.pending.as_slice()[position];
            let is_true = match true_rows {
                Some(rows) => rows.get(position).copied().unwrap_or(0),
                None => bit_rows(position, pending)
                    .filter(|row| self.is_true(unit.clause, *row))
                    .fold(0, |word, row| word | 1 << (row % WORD_BITS)),
            };
            (position, pending & !is_true)
        };
        let refusing: Vec<_> = unit.rows.words().map(refusing).filter(|(_, word)| *word != 0).collect();
        for (position, word) in refusing {
            self.refuse(position, word);
        }
        self.end_set(Some(unit.clause));
    }

    fn is_true(&self, clause: usize, row: usize) -> bool {
        self.outcomes.of_row(self.table, self.request, clause, row) == Truth::True
    }

    /// Adds the rows of a word to the set that is being made.
    fn refuse(&mut self, position: usize, word: usize) {
        if word == 0 {
            return;
        }
        self.pending.as_mut_slice()[position] &= !word;
        let start = self.refused.last().map_or(0, |refused| refused.end);
        match self.words[start..].last_mut() {
            Some((last, known)) if *last == position => *known |= word,
            _ => self.words.push((position, word)),
        }
    }

    /// Records that the rows that were added last refuse the request by a clause.
    fn end_set(&mut self, clause: Option<usize>) {
        let (start, end) = (self.refused.last().map_or(0, |refused| refused.end), self.words.len());
        if start < end {
            self.refused.push(RefusedRows { clause, end });
        }
    }
}
