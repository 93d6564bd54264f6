//! Evaluates expressions against all offers at once. Each expression is evaluated once per group of offers that agree
//! in the attributes that the expression depends on.

mod acceptance;
mod clause_evaluator;
mod dependencies;
mod near_names;
mod offer_constraints;
mod offer_outcomes;
mod request_context;
mod results;
mod row_weights;
mod shared_cache;
mod string_places;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use fixedbitset::FixedBitSet;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ad::{Ad, Expression, Name, Value};
use crate::constraint::{ClauseOperand, literal_value};
use crate::eval::{CompiledEvaluator, Context, Work};
use crate::lint::similar_names;
use crate::matching::PairSide;
use crate::matching::policy::{PolicyRule, PolicyVector};
use crate::pool::{ExpressionColumn, Store};
use crate::protocol::{Protocol, is_set_by_run, renamed_attribute, slot_counterpart};

use super::clause_time::ClauseTime;
use super::clauses::{ExplainedClause, split_constraint};
pub use acceptance::Acceptance;
use clause_evaluator::ClauseEvaluator;
use near_names::NearNames;
pub use offer_constraints::{OfferClause, OfferConstraints};
use offer_outcomes::FamilyOutcomes;
use request_context::ClauseKey;
pub use request_context::RequestContext;
use results::RowGroups;
pub use results::{ClauseResults, ExpressionValues, GroupMeasures, OutcomeCounts};
pub use row_weights::RowWeights;
use shared_cache::SharedCache;
use string_places::StringPlaces;

/// Estimated size of a cached value with its key, in bytes.
const CLOSEST_BYTES: usize = 256;

/// Number of clauses of offers' constraints that a request is compared with for nothing. Usual pools have fewer.
const FREE_OFFER_CLAUSES: usize = 1000;

/// The offers as columns, with caches of results that threads share. A *row* is a distinct ad. Offers that share one ad
/// in memory share a row; the weight of the row is the number of these offers.
pub struct OfferTable {
    pub protocol: Protocol,
    pub context: Context,
    /// The ad of each row.
    pub ads: Vec<Ad>,
    store: Mutex<Store>,
    /// Whether some offer has an attribute called like a scope.
    has_scope_attribute: bool,
    pub weights: RowWeights,
    /// Index of the first offer of each row.
    pub first_offer: Vec<usize>,
    /// The row of each offer.
    pub row_of: Vec<u32>,
    /// The offers' attributes, each with the number of offers that have it.
    attributes: IndexMap<Name, usize, FxBuildHasher>,
    groups: Mutex<FxHashMap<Arc<[Name]>, Arc<RowGroups>>>,
    results: SharedCache<ClauseResults>,
    values: SharedCache<ExpressionValues>,
    closest: SharedCache<Option<Value>>,
    /// When the clauses of offers come true. Without the cache, `explain --unmatched` of 2,000 jobs beside one slot with a
    /// START window takes 1.6 times as long.
    openings: SharedCache<Option<ClauseTime>>,
    families: SharedCache<FamilyOutcomes>,
    /// The offers that accept a request. Changes of one request mostly share one set.
    acceptances: SharedCache<Acceptance>,
    /// The clauses of the offers' constraints; empty until first needed.
    constraints: OnceLock<OfferConstraints>,
    /// The strings of the offers; empty until first needed.
    strings: OnceLock<StringPlaces>,
    /// The attributes of requests with similar names.
    pub near_names: NearNames,
    /// The docking vector of the policy. If a component of the vector has no comparable value for a candidate, the
    /// vector discards the candidate.
    pub docking: Vec<PolicyRule>,
    /// The rows with slots that a job can have at once, and those with slots of machines that hibernate; `None` if the
    /// states do not matter.
    pub states: Option<RowStates>,
    /// Number of expressions evaluated.
    evaluations: AtomicU64,
    /// Evaluators that no thread uses, with the programs that they have made.
    programs: Mutex<Vec<CompiledEvaluator>>,
}

/// The rows in two states of slots.
pub struct RowStates {
    /// The rows with slots that a job can have at once.
    pub free: FixedBitSet,
    /// The rows with slots that take no job at all, such as those of a pilot that has retired. None of them is free.
    pub closed: FixedBitSet,
    /// The rows with slots of machines that hibernate.
    pub offline: FixedBitSet,
}

impl OfferTable {
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> Self {
        let mut rows: IndexMap<usize, (usize, usize), FxBuildHasher> = IndexMap::default();
        let mut row_of = Vec::with_capacity(offers.len());
        for (position, ad) in offers.iter().enumerate() {
            let entry = rows.entry(ad.identity());
            row_of.push(u32::try_from(entry.index()).unwrap_or(u32::MAX));
            entry.or_insert((position, 0)).1 += 1;
        }
        let ads: Vec<Ad> = rows.values().map(|(first, _)| offers[*first].clone()).collect();
        let weights = RowWeights::new(rows.values().map(|(_, weight)| *weight).collect());
        let store = Store::with_all_columns(ads.clone(), context.dialect);
        let with_count = |(name, column): (&Name, &Arc<ExpressionColumn>)| {
            let offers = weights.of_rows((0..ads.len()).filter(|row| column.has(*row)));
            (name.clone(), offers)
        };
        let attributes = store.built_columns().map(with_count).collect();
        OfferTable {
            has_scope_attribute: store.has_scope_attribute(),
            store: Mutex::new(store),
            protocol,
            context,
            ads,
            weights,
            attributes,
            first_offer: rows.values().map(|(first, _)| *first).collect(),
            row_of,
            groups: Mutex::default(),
            results: SharedCache::new(ClauseResults::bytes),
            values: SharedCache::new(ExpressionValues::bytes),
            closest: SharedCache::new(|_| CLOSEST_BYTES),
            openings: SharedCache::new(|_| CLOSEST_BYTES),
            families: SharedCache::new(FamilyOutcomes::bytes),
            acceptances: SharedCache::new(Acceptance::bytes),
            constraints: OnceLock::new(),
            strings: OnceLock::new(),
            near_names: NearNames::default(),
            docking: Vec::new(),
            states: None,
            evaluations: AtomicU64::new(0),
            programs: Mutex::default(),
        }
    }

    /// Number of rows, which are the distinct offers.
    pub fn row_count(&self) -> usize {
        self.ads.len()
    }

    /// Number of offers.
    pub fn offer_count(&self) -> usize {
        self.row_of.len()
    }

    /// Number of expressions evaluated.
    pub fn evaluations(&self) -> u64 {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// Returns an evaluator that no other thread uses.
    fn programs(&self) -> CompiledEvaluator {
        let unused = self.programs.lock().unwrap_or_else(PoisonError::into_inner).pop();
        unused.unwrap_or_else(|| CompiledEvaluator::for_pairs(self.context.dialect))
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the clauses of the offers' constraints.
    pub fn offer_constraints(&self) -> &OfferConstraints {
        self.constraints.get_or_init(|| OfferConstraints::new(self))
    }

    /// Returns where the offers have which strings.
    pub fn string_places(&self) -> &StringPlaces {
        self.strings.get_or_init(|| StringPlaces::of(&self.ads))
    }

    /// Returns which rows accept a request.
    pub fn acceptance(&self, request: &RequestContext) -> Arc<Acceptance> {
        let constraints = self.offer_constraints();
        let clauses = constraints.clauses.len() + constraints.families.len();
        self.context.charge(Work::OfferClause, clauses.saturating_sub(FREE_OFFER_CLAUSES) as u64);
        let key = Acceptance::key(self, request);
        self.acceptances.get_or_compute(key, || Acceptance::new(self, request))
    }

    /// Returns the rows in groups that bind equal expressions to these attributes. If `names` is `None`, each row is a
    /// group of its own.
    fn groups(&self, names: Option<Arc<[Name]>>) -> Arc<RowGroups> {
        let Some(names) = names else { return Arc::new(RowGroups::new(self.store().partition(None), &self.weights)) };
        // An attribute that no offer has separates no rows. Without it, more expressions share one partition.
        let names: Arc<[Name]> = names.iter().filter(|name| self.offers_with(name) > 0).cloned().collect();
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let known = groups.entry(names).or_insert_with_key(|names| {
            Arc::new(RowGroups::new(self.store().partition(Some(Arc::clone(names))), &self.weights))
        });
        Arc::clone(known)
    }

    /// Returns the number of a group of rows that agree in everything that an offer's clause depends on: what is true of the
    /// clause for one of them is true for all.
    pub fn group_of_clause(&self, request: &RequestContext, clause: &ExplainedClause, row: usize) -> usize {
        let ClauseKey { names, .. } = self.clause_key(request, clause, PairSide::Offer);
        self.groups(names).group_of(row)
    }

    /// Returns the clauses of a request's constraint, in the order of evaluation. If a clause depends on itself,
    /// returns the whole constraint as a single clause, because a circular clause has another value when it is
    /// evaluated on its own.
    pub fn request_clauses(&self, request: &RequestContext) -> Vec<ExplainedClause> {
        let Some(name) = self.protocol.constraint_name(&request.ad) else { return Vec::new() };
        let clauses = split_constraint(&request.ad, name);
        match clauses.iter().find(|clause| self.clause_key(request, clause, PairSide::Request).is_circular) {
            Some(clause) => ExplainedClause::whole_constraint(&request.ad, &clause.path[0]).into_iter().collect(),
            None => clauses,
        }
    }

    /// Returns the results of a clause of the request for all offers.
    pub fn clause_results(&self, request: &RequestContext, clause: &ExplainedClause) -> Arc<ClauseResults> {
        let ClauseKey { key, names, .. } = self.clause_key(request, clause, PairSide::Request);
        self.results.get_or_compute(key, || {
            let groups = self.groups(names);
            let mut evaluator = ClauseEvaluator::new(self, request, PairSide::Request, clause);
            ClauseResults::new(evaluator.outcomes(groups.partition.first_rows()), groups)
        })
    }

    /// Returns the values of an expression of the request for all offers.
    pub fn expression_values(&self, request: &RequestContext, expression: &Expression) -> Arc<ExpressionValues> {
        let clause = ExplainedClause::detached(expression.clone());
        let ClauseKey { key, names, .. } = self.clause_key(request, &clause, PairSide::Request);
        // What is told of the values must not tell a private one.
        let is_private = names.iter().flat_map(|names| names.iter()).any(Name::is_secret);
        self.values.get_or_compute(key, || {
            let groups = self.groups(names);
            let mut evaluator = ClauseEvaluator::new(self, request, PairSide::Request, &clause);
            let rows = groups.partition.first_rows().iter();
            if is_private {
                return ExpressionValues::new(rows.map(|_| Value::Undefined).collect(), groups);
            }
            ExpressionValues::new(rows.map(|row| evaluator.value(*row as usize)).collect(), groups)
        })
    }

    /// Returns what `closest` computes from the values of an expression of the request: the value that comes closest to
    /// meeting a comparison with that expression. The result is cached. From equal values, results with equal numbers
    /// in `criterion` must be equal.
    pub fn closest_value(
        &self,
        request: &RequestContext,
        expression: &Expression,
        criterion: impl FnOnce(&mut dyn FnMut(&Expression) -> usize) -> [usize; 2],
        closest: impl FnOnce(&ExpressionValues) -> Option<Value>,
    ) -> Option<Value> {
        let clause = ExplainedClause::detached(expression.clone());
        let of_values = self.clause_key(request, &clause, PairSide::Request).key;
        let criterion = criterion(&mut |expression| self.store().intern(expression));
        let key = [&*of_values, &criterion].concat().into();
        let compute = || closest(&self.expression_values(request, expression));
        Option::clone(&self.closest.get_or_compute(key, compute))
    }

    /// Returns when a row accepts a request that a clause of its constraint keeps away until a time, as
    /// [`ClauseTime::of_offer`]; `None` if the rest of the constraint refuses it then. The result is cached.
    pub fn opening(&self, request: &RequestContext, clause: &ExplainedClause, row: usize) -> Option<ClauseTime> {
        let constraint = self.protocol.constraint_expression(&self.ads[row])?;
        let time_of = |part: &ExplainedClause| {
            let key = self.clause_key(request, part, PairSide::Offer).key;
            let compute = || ClauseTime::of_offer([&self.ads[row], &request.ad], &part.expression, &self.context);
            Option::clone(&self.openings.get_or_compute([&*key, &[row]].concat().into(), compute))
        };
        // Other requests with what the clause reads can differ in what the rest of the constraint reads.
        time_of(clause)?;
        time_of(&ExplainedClause::detached(constraint.clone()))
    }

    /// Evaluates a clause that belongs to `side` for the pair of the request and a row.
    pub fn value(&self, request: &RequestContext, side: PairSide, clause: &ExplainedClause, row: usize) -> Value {
        let ad = if side == PairSide::Offer { &self.ads[row] } else { &request.ad };
        match self.stored_value(request, ad, &clause.expression) {
            Some(value) => {
                self.count_evaluations(1);
                value.clone()
            }
            None => ClauseEvaluator::new(self, request, side, clause).value(row),
        }
    }

    /// Returns the value of a literal, or of an attribute of the ad that holds the expression, if that is a literal.
    fn stored_value<'e>(&self, request: &RequestContext, ad: &'e Ad, expression: &'e Expression) -> Option<&'e Value> {
        if self.has_scope_attribute || request.has_scope_attribute {
            return None;
        }
        let stored = match ClauseOperand::of(expression)? {
            ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) => ad.get(name)?,
            ClauseOperand::Literal(_) => expression.without_parentheses(),
            ClauseOperand::Other(_) => return None,
        };
        literal_value(stored, self.context.dialect)
    }

    /// Counts evaluated clauses.
    fn count_evaluations(&self, evaluations: u64) {
        self.evaluations.fetch_add(evaluations, Ordering::Relaxed);
        self.context.charge(Work::Clause, evaluations);
    }

    /// Returns the 0-based index of the docking vector's component that ranks a row nowhere; `None` if the vector ranks it.
    /// The caller must have found that the request and the row accept each other.
    pub fn unranked_component(&self, request: &RequestContext, row: usize) -> Option<usize> {
        if self.docking.is_empty() {
            return None;
        }
        self.evaluations.fetch_add(self.docking.len() as u64, Ordering::Relaxed);
        // A component that exceeds its budget gives the row no rank.
        PolicyVector::first_unordered(&self.docking, &request.ad, &self.ads[row], &self.context).unwrap_or(Some(0))
    }

    /// Returns the rows that meet the request's constraint; none if the request has no constraint.
    pub fn suitable_rows(&self, request: &RequestContext) -> FixedBitSet {
        let mut rows = FixedBitSet::with_capacity(self.row_count());
        let clauses = self.request_clauses(request);
        if !clauses.is_empty() {
            rows.insert_range(..);
        }
        for clause in &clauses {
            rows.intersect_with(&self.clause_results(request, clause).true_rows);
            if rows.is_clear() {
                break;
            }
        }
        rows
    }

    /// Returns the rows that match: request and row accept each other.
    pub fn matching_rows(&self, request: &RequestContext) -> FixedBitSet {
        let mut rows = self.suitable_rows(request);
        if !rows.is_clear() {
            rows.intersect_with(&self.acceptance(request).accepting);
        }
        rows
    }

    /// Returns the number of offers that have an attribute.
    pub fn offers_with(&self, name: &Name) -> usize {
        self.attributes.get(name).copied().unwrap_or_default()
    }

    /// Returns the attribute that took the place of the attribute `name`, if more offers have it.
    pub fn renamed_attribute(&self, name: &Name) -> Option<Name> {
        let renamed = renamed_attribute(name.as_str(), self.attributes.keys().map(Name::as_str)).map(Name::new)?;
        (self.offers_with(&renamed) > self.offers_with(name)).then_some(renamed)
    }

    /// Returns the offers' attributes with names similar to `name`, each with the number of offers that have it.
    pub fn similar_attributes(&self, name: &Name) -> Vec<(Name, usize)> {
        let mut similar = similar_names(name, self.attributes.keys(), |name| self.offers_with(name));
        // A slot has these of the job that it runs.
        similar.retain(|(similar, _)| !is_set_by_run(similar));
        if similar.is_empty()
            && let Some(counterpart) = slot_counterpart(name).filter(|counterpart| self.offers_with(counterpart) > 0)
        {
            similar.push((counterpart.clone(), self.offers_with(&counterpart)));
        }
        similar
    }
}
