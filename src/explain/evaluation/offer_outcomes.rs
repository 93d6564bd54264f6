//! The outcomes of the clauses of offers' constraints for a request.

use crate::ad::Truth;
use std::sync::{Arc, Mutex, PoisonError};

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::matching::PairSide;
use crate::pool::Store;

use super::clause_evaluator::ClauseEvaluator;
use super::offer_constraints::{ClauseFamily, FamilyMember, LocalGroups, OfferClause, OfferConstraints, is_many};
use super::request_context::ClauseKey;
use super::shared_cache::CacheKey;
use super::{OfferTable, RequestContext};

/// The outcomes of the clauses of a family for one request, and for all requests that bind equal literals to the
/// attributes of the family. The order is that of the family's members.
pub struct FamilyOutcomes {
    members: Box<[MemberOutcomes]>,
    /// The rows of the clause in groups, if the outcomes are those of a single clause. A family has its own groups.
    local: LocalGroups,
}

/// The outcomes of a clause of offers' constraints in the rows with this clause.
pub enum MemberOutcomes {
    /// The outcome in all rows.
    Uniform(Truth),
    Varied(Box<VariedOutcomes>),
}

/// Outcomes that differ between rows.
pub struct VariedOutcomes {
    /// The outcome in each of the clause's [`LocalGroups`].
    pub outcomes: Box<[Truth]>,
    /// The rows in which the clause is true; empty unless the clause has many rows.
    pub true_rows: FixedBitSet,
}

/// The outcomes of all clauses of the offers' constraints for a request.
#[derive(Default)]
pub struct OfferOutcomes {
    /// The outcomes for each family. `None` if rows or clauses must be looked at one by one.
    families: Vec<Option<Arc<FamilyOutcomes>>>,
    /// The outcomes of clauses that read expressions of the request, and of whole constraints.
    single: FxHashMap<usize, Arc<FamilyOutcomes>>,
    /// The groups of rows with a circular clause. The constraint of such a row is one clause, because a circular clause
    /// has another value when it is evaluated on its own.
    pub circular_groups: FxHashSet<usize>,
    /// The known outcomes of clauses that must be evaluated in each row, by clause and row.
    by_row: Mutex<FxHashMap<(usize, usize), Truth>>,
}

impl FamilyOutcomes {
    /// The size of the outcomes in bytes.
    pub fn bytes(&self) -> usize {
        let of_member = |member: &MemberOutcomes| match member {
            MemberOutcomes::Uniform(_) => 0,
            MemberOutcomes::Varied(varied) => {
                size_of::<VariedOutcomes>() + varied.outcomes.len() + varied.true_rows.len() / 8
            }
        };
        size_of_val(&*self.members) + self.local.bytes() + self.members.iter().map(of_member).sum::<usize>()
    }
}

impl MemberOutcomes {
    /// Evaluates a clause for each of its groups of rows.
    fn evaluate(table: &OfferTable, request: &RequestContext, clause: &OfferClause, local: &LocalGroups) -> Self {
        let mut evaluator = ClauseEvaluator::new(table, request, PairSide::Offer, &clause.clause);
        let outcomes = evaluator.outcomes(&local.first_rows);
        if let Some(first) = outcomes.first()
            && outcomes.iter().all(|outcome| outcome == first)
        {
            return MemberOutcomes::Uniform(*first);
        }
        let mut true_rows = FixedBitSet::new();
        if is_many(clause.rows.len(), table.row_count()) {
            true_rows.grow(table.row_count());
            for (row, group) in clause.rows.iter().zip(&local.of_row) {
                true_rows.set(*row as usize, outcomes[*group as usize] == Truth::True);
            }
        }
        MemberOutcomes::Varied(Box::new(VariedOutcomes { outcomes: outcomes.into(), true_rows }))
    }
}

impl OfferOutcomes {
    /// Evaluates the clauses of all families whose attributes the request binds to literals.
    pub fn new(table: &OfferTable, request: &RequestContext) -> Self {
        let constraints = table.offer_constraints();
        let mut found = OfferOutcomes::default();
        for (number, family) in constraints.families.iter().enumerate() {
            let key = family_key(number, family, request, &mut table.store());
            let outcomes = key.map(|key| {
                table.families.get_or_compute(key, || {
                    let member = |member: &FamilyMember| {
                        MemberOutcomes::evaluate(table, request, &constraints.clauses[member.clause], &member.local)
                    };
                    FamilyOutcomes {
                        members: family.members.iter().map(member).collect(),
                        local: LocalGroups::default(),
                    }
                })
            });
            let is_known = family.dependencies.is_some() && !request.has_scope_attribute;
            for member in family.members.iter().filter(|_| is_known) {
                let clause = &constraints.clauses[member.clause];
                // Expressions of the request may read further attributes.
                let is_circular = match outcomes {
                    Some(_) => clause.is_circular,
                    None => found.evaluate_single(table, request, member.clause),
                };
                if is_circular {
                    found.circular_groups.extend(constraints.groups_with(member.clause));
                }
            }
            found.families.push(outcomes);
        }
        found
    }

    /// Evaluates one clause whose attributes the request binds to other expressions than literals, or a whole
    /// constraint. Returns whether the clause depends on an attribute that contains it.
    pub fn evaluate_single(&mut self, table: &OfferTable, request: &RequestContext, clause: usize) -> bool {
        let of_clause = &table.offer_constraints().clauses[clause];
        let ClauseKey { key, names, is_circular } = table.clause_key(request, &of_clause.clause, PairSide::Offer);
        let Some(names) = names else { return is_circular };
        // The numbers of a family's key begin with that of the family; no family has the number of this key.
        let key = [&[usize::MAX, clause], &*key].concat().into();
        let outcomes = table.families.get_or_compute(key, || {
            let local = LocalGroups::new(&of_clause.rows, &table.groups(Some(names)).partition);
            FamilyOutcomes { members: [MemberOutcomes::evaluate(table, request, of_clause, &local)].into(), local }
        });
        self.single.insert(clause, outcomes);
        is_circular
    }

    /// Returns the outcomes of a clause, with the groups of its rows. `place` is [`OfferClause::place`]. `None` if the
    /// clause must be evaluated in each row.
    pub fn of_clause<'o>(
        &'o self,
        constraints: &'o OfferConstraints,
        clause: usize,
        place: Option<(usize, usize)>,
    ) -> Option<(&'o LocalGroups, &'o MemberOutcomes)> {
        if let Some(outcomes) = self.single.get(&clause) {
            return Some((&outcomes.local, &outcomes.members[0]));
        }
        let (family, place) = place?;
        let outcomes = self.families[family].as_ref()?;
        Some((&constraints.families[family].members[place].local, &outcomes.members[place]))
    }

    /// Returns the outcome of a clause in a row with this clause.
    pub fn of_row(&self, table: &OfferTable, request: &RequestContext, clause: usize, row: usize) -> Truth {
        let constraints = table.offer_constraints();
        let of_clause = &constraints.clauses[clause];
        match self.of_clause(constraints, clause, of_clause.place) {
            Some((_, MemberOutcomes::Uniform(outcome))) => *outcome,
            Some((local, MemberOutcomes::Varied(varied))) => {
                let place = of_clause.rows.binary_search_by_key(&row, |row| *row as usize).unwrap_or_default();
                varied.outcomes[local.of_row[place] as usize]
            }
            None => {
                let mut known = self.by_row.lock().unwrap_or_else(PoisonError::into_inner);
                *known.entry((clause, row)).or_insert_with(|| {
                    ClauseEvaluator::new(table, request, PairSide::Offer, &of_clause.clause).outcome(row)
                })
            }
        }
    }
}

/// Returns the key of a family's outcomes for a request. `None` if the attributes of the family are unknown, or if the
/// request binds another expression than a literal to one of them.
pub fn family_key(
    number: usize,
    family: &ClauseFamily,
    request: &RequestContext,
    store: &mut Store,
) -> Option<CacheKey> {
    let dependencies = family.dependencies.as_ref().filter(|_| !request.has_scope_attribute)?;
    if !request.binds_literals(store, dependencies) {
        return None;
    }
    let names = dependencies.names.iter().zip(dependencies.name_ids.iter());
    let bindings = names.map(|(name, id)| request.binding(store, name, *id).0);
    Some([number].into_iter().chain(bindings).collect())
}
