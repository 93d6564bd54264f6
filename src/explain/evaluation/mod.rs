//! Evaluates expressions against all offers at once. Each expression is evaluated once per group of offers that agree
//! in the attributes that the expression depends on.

mod dependencies;
mod results;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ad::{Ad, Expression, Name, ScopeFrame, Value};
use crate::constraint::{ClauseForm, ClauseOperand, has_scope_attribute, is_self_evaluating, literal_value};
use crate::eval::Context;
use crate::lint::similar_names;
use crate::matching::policy::{PolicyRule, PolicyVector};
use crate::matching::{Pair, PairSide};
use crate::pool::{Partition, Store};
use crate::protocol::Protocol;

use super::clauses::{ExplainedClause, split_constraint};
pub use results::{ClauseOutcome, ClauseResults, OutcomeCounts};

/// The offers as columns, with caches of results. A *row* is a distinct ad. Offers that share one ad in memory share a
/// row; the weight of the row is the number of these offers.
pub struct OfferTable {
    pub protocol: Protocol,
    pub context: Context,
    /// The ad of each row.
    pub store: Store,
    /// Number of offers of each row.
    pub weights: Vec<usize>,
    /// Index of the first offer of each row.
    pub first_offer: Vec<usize>,
    /// The row of each offer.
    pub row_of: Vec<u32>,
    pair: Pair,
    results: FxHashMap<Box<[usize]>, Rc<ClauseResults>>,
    /// The clauses of the offers' constraints; `None` until first needed.
    constraint_groups: Option<ConstraintGroups>,
    /// The docking vector of the policy. If a component of the vector has no comparable value for a candidate, the
    /// vector discards the candidate.
    pub docking: Vec<PolicyRule>,
    /// Number of expressions evaluated.
    pub evaluations: u64,
}

/// The rows partitioned by equal constraints, with the clauses of each group. The clauses of a group are `None` until
/// first needed.
type ConstraintGroups = (Rc<Partition>, Vec<Option<Rc<[ExplainedClause]>>>);

/// A clause of an offer, with its cached results for a request.
type OfferClause = (ExplainedClause, Rc<ClauseResults>);

/// A request with its caches.
pub struct RequestContext {
    pub ad: Ad,
    frame: Arc<ScopeFrame>,
    has_scope_attribute: bool,
    /// The expressions that the request binds to names. The key is the identifier of a name in the store. The value is
    /// the identifier of the bound expression, and whether this expression is not a literal.
    bindings: RefCell<FxHashMap<usize, (usize, bool)>>,
    /// Cached results of clauses. The first number of the key identifies the clause. The second number is the
    /// [`PairSide`] to which the clause belongs.
    clauses: RefCell<FxHashMap<(usize, usize), CachedClause>>,
    /// Clauses of the offers' constraints with cached results. The key is the index of a group of rows with equal
    /// constraints.
    offer_clauses: RefCell<FxHashMap<usize, Rc<[OfferClause]>>>,
}

impl RequestContext {
    pub fn new(ad: &Ad) -> Self {
        RequestContext {
            ad: ad.clone(),
            frame: Pair::make_scope(ad.clone(), PairSide::Request),
            has_scope_attribute: has_scope_attribute(ad),
            bindings: RefCell::default(),
            clauses: RefCell::default(),
            offer_clauses: RefCell::default(),
        }
    }
}

/// The cached results of a clause for a request.
#[derive(Clone)]
struct CachedClause {
    results: Rc<ClauseResults>,
    /// Whether the value of the clause depends on an attribute that contains it.
    is_circular: bool,
}

/// The reason why an offer refuses a request.
pub struct Refusal {
    /// The first clause of the offer's constraint that the request does not meet. `None` if the offer has no
    /// constraint, and so accepts nothing.
    pub clause: Option<ExplainedClause>,
    /// The outcome of the clause: anything but [`ClauseOutcome::True`].
    pub outcome: ClauseOutcome,
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
        let ads = rows.values().map(|(first, _)| offers[*first].clone()).collect();
        OfferTable {
            store: Store::with_all_columns(ads, context.dialect),
            pair: Pair::new(Ad::default(), Ad::default(), protocol.clone(), context.clone()),
            protocol,
            context,
            weights: rows.values().map(|(_, weight)| *weight).collect(),
            first_offer: rows.values().map(|(first, _)| *first).collect(),
            row_of,
            results: FxHashMap::default(),
            constraint_groups: None,
            docking: Vec::new(),
            evaluations: 0,
        }
    }

    /// Number of rows, which are the distinct offers.
    pub fn row_count(&self) -> usize {
        self.store.ads().len()
    }

    /// Number of offers.
    pub fn offer_count(&self) -> usize {
        self.row_of.len()
    }

    /// Returns the number of offers that have the ads in `rows`.
    pub fn offers_in(&self, rows: impl IntoIterator<Item = usize>) -> usize {
        rows.into_iter().map(|row| self.weights[row]).sum()
    }

    /// Returns the clauses of a request's constraint, in the order of evaluation. If a clause depends on itself,
    /// returns the whole constraint as a single clause.
    pub fn request_clauses(&mut self, request: &RequestContext) -> Vec<ExplainedClause> {
        let Some(name) = self.protocol.constraint_name(&request.ad) else { return Vec::new() };
        let clauses = split_constraint(&request.ad, name);
        self.unless_circular(request, PairSide::Request, &request.ad, &clauses)
    }

    /// Returns `clauses`. If one of them is circular, returns the whole constraint of `ad` as a single clause instead,
    /// because a circular clause has another value when it is evaluated on its own.
    fn unless_circular(
        &mut self,
        request: &RequestContext,
        side: PairSide,
        ad: &Ad,
        clauses: &[ExplainedClause],
    ) -> Vec<ExplainedClause> {
        match clauses.iter().find(|clause| self.cached_clause(request, clause, side).is_circular) {
            Some(clause) => ExplainedClause::whole_constraint(ad, &clause.path[0]).into_iter().collect(),
            None => clauses.to_vec(),
        }
    }

    /// Returns the results of a clause of the request for all offers.
    pub fn clause_results(&mut self, request: &RequestContext, clause: &ExplainedClause) -> Rc<ClauseResults> {
        self.cached_clause(request, clause, PairSide::Request).results
    }

    /// Returns the results of an expression of the request for all offers.
    pub fn expression_results(&mut self, request: &RequestContext, expression: &Expression) -> Rc<ClauseResults> {
        self.clause_results(request, &ExplainedClause::detached(expression.clone()))
    }

    /// Returns the outcome of a clause of an offer's constraint, for the request and the row of the offer. Evaluates
    /// the clause only if `results` lacks the outcome, and then records the outcome in `results`.
    fn outcome(&mut self, request: &RequestContext, (clause, results): &OfferClause, row: usize) -> ClauseOutcome {
        results.outcome(row).unwrap_or_else(|| {
            let value = self.value(request, PairSide::Offer, clause, row);
            let outcome = ClauseOutcome::of(&value, self.context.dialect);
            results.record(row, outcome);
            outcome
        })
    }

    /// Returns the cached results of a clause. A clause of the request is evaluated here for all rows. A clause of an
    /// offer is evaluated later, by [`Self::outcome`], for the rows that need it.
    fn cached_clause(&mut self, request: &RequestContext, clause: &ExplainedClause, side: PairSide) -> CachedClause {
        let number = self.store.intern(&clause.expression);
        let short = (number * 2 + usize::from(clause.is_whole), side as usize);
        if let Some(known) = request.clauses.borrow().get(&short) {
            return known.clone();
        }
        let (key, names) = self.cache_key(request, clause, side);
        let mut path = clause.path.iter().filter(|_| !clause.is_whole);
        let is_circular = names.as_ref().is_some_and(|names| path.any(|name| names.contains(name)));
        let results = self.results.get(&key).cloned().unwrap_or_else(|| {
            let groups = self.store.partition(names);
            let results = Rc::new(match side {
                PairSide::Request => {
                    let rows = groups.first_rows().iter();
                    let values = rows.map(|row| self.value(request, side, clause, *row as usize)).collect();
                    ClauseResults::new(values, groups, &self.weights, self.context.dialect)
                }
                PairSide::Offer => ClauseResults::unevaluated(groups),
            });
            self.results.insert(key, Rc::clone(&results));
            results
        });
        let known = CachedClause { results, is_circular };
        request.clauses.borrow_mut().insert(short, known.clone());
        known
    }

    /// Evaluates a clause that belongs to `side` for the pair of the request and a row.
    pub fn value(&mut self, request: &RequestContext, side: PairSide, clause: &ExplainedClause, row: usize) -> Value {
        self.evaluations += 1;
        if let Some(value) = self.decide(request, side, clause, row) {
            return value;
        }
        self.pair.replace(PairSide::Request, &request.frame);
        self.pair.replace(PairSide::Offer, &Pair::make_scope(self.store.ads()[row].clone(), PairSide::Offer));
        let value = match clause.path.first().filter(|_| clause.is_whole) {
            Some(name) => self.pair.evaluate_attribute(side, name),
            None => self.pair.evaluate(side, &clause.expression),
        };
        // A clause that exceeds its budget counts as an error, and so does not match.
        value.unwrap_or_else(|halt| Value::error(clause.expression.span(), halt.to_string()))
    }

    /// Computes a value without the evaluator, which is faster. This works for a literal, a reference to a literal, or
    /// a comparison of two of these; `None` for anything else. Also `None` for an error, because only the evaluator
    /// determines the source position in an error.
    fn decide(&self, request: &RequestContext, side: PairSide, clause: &ExplainedClause, row: usize) -> Option<Value> {
        if clause.is_whole || self.store.has_scope_attribute() || request.has_scope_attribute {
            return None;
        }
        let (own, other) = match side {
            PairSide::Request => (&request.ad, &self.store.ads()[row]),
            PairSide::Offer => (&self.store.ads()[row], &request.ad),
        };
        let dialect = self.context.dialect;
        let bound = |expression: Option<&Expression>| match expression {
            Some(expression) => literal_value(expression, dialect).cloned(),
            None => Some(Value::Undefined),
        };
        let value = ClauseForm::of(&clause.expression).decide(dialect, |operand| match *operand {
            ClauseOperand::Literal(value) => Some(value.clone()).filter(|value| is_self_evaluating(value, dialect)),
            ClauseOperand::Own(name) => bound(own.get(name)),
            ClauseOperand::Other(name) => bound(other.get(name)),
            ClauseOperand::Unqualified(name) => bound(own.get(name).or_else(|| other.get(name))),
        });
        value.filter(|value| !matches!(value, Value::Error(_)))
    }

    /// Returns the index of the group of rows with the same constraint as the row, and the clauses of this constraint.
    /// There are no clauses if the row has no constraint.
    fn row_clauses(&mut self, row: usize) -> (usize, Rc<[ExplainedClause]>) {
        let (groups, mut known) = self.constraint_groups.take().unwrap_or_else(|| {
            let names = self.constraint_attributes();
            let groups = self.store.partition(Some(names.into()));
            let unknown = vec![None; groups.first_rows().len()];
            (groups, unknown)
        });
        let group = groups.group(row).unwrap_or_default();
        let found = known[group].get_or_insert_with(|| {
            let ad = &self.store.ads()[row];
            self.protocol.constraint_name(ad).map_or(Vec::new(), |name| split_constraint(ad, name)).into()
        });
        let found = Rc::clone(found);
        self.constraint_groups = Some((groups, known));
        (group, found)
    }

    /// Returns the clauses of a row's constraint with their cached results for the request. If a clause depends on
    /// itself, returns the whole constraint as a single clause.
    fn offer_clauses(&mut self, request: &RequestContext, row: usize) -> Rc<[OfferClause]> {
        let (group, clauses) = self.row_clauses(row);
        if let Some(known) = request.offer_clauses.borrow().get(&group) {
            return Rc::clone(known);
        }
        let ad = self.store.ads()[row].clone();
        let clauses = self.unless_circular(request, PairSide::Offer, &ad, &clauses);
        let with_results = |clause: ExplainedClause| {
            let results = self.cached_clause(request, &clause, PairSide::Offer).results;
            (clause, results)
        };
        let found: Rc<[OfferClause]> = clauses.into_iter().map(with_results).collect();
        request.offer_clauses.borrow_mut().insert(group, Rc::clone(&found));
        found
    }

    /// Returns the clauses of a row's constraint with their outcomes for the request.
    pub fn offer_outcomes(&mut self, request: &RequestContext, row: usize) -> Vec<(ExplainedClause, ClauseOutcome)> {
        let clauses = self.offer_clauses(request, row);
        clauses.iter().map(|clause| (clause.0.clone(), self.outcome(request, clause, row))).collect()
    }

    /// Returns the reason why a row refuses the request; `None` if the row accepts the request.
    pub fn refusal(&mut self, request: &RequestContext, row: usize) -> Option<Refusal> {
        let clauses = self.offer_clauses(request, row);
        if clauses.is_empty() {
            return Some(Refusal { clause: None, outcome: ClauseOutcome::Undefined });
        }
        clauses.iter().find_map(|clause| {
            let outcome = self.outcome(request, clause, row);
            (outcome != ClauseOutcome::True).then(|| Refusal { clause: Some(clause.0.clone()), outcome })
        })
    }

    /// Returns the 0-based index of the docking vector's component that discards a row; `None` if the vector does not
    /// discard it. The caller must have found that the request and the row accept each other.
    pub fn discarding_component(&mut self, request: &RequestContext, row: usize) -> Option<usize> {
        if self.docking.is_empty() {
            return None;
        }
        self.evaluations += self.docking.len() as u64;
        // A component that exceeds its budget discards the row.
        PolicyVector::first_unordered(&self.docking, &request.ad, &self.store.ads()[row], &self.context)
            .unwrap_or(Some(0))
    }

    /// Returns the rows that match: request and row accept each other, and the docking vector does not discard the row.
    pub fn matching_rows(&mut self, request: &RequestContext) -> FixedBitSet {
        let mut rows = FixedBitSet::with_capacity(self.row_count());
        let clauses = self.request_clauses(request);
        if clauses.is_empty() {
            return rows;
        }
        rows.insert_range(..);
        for clause in &clauses {
            rows.intersect_with(&self.clause_results(request, clause).true_rows);
            if rows.is_clear() {
                return rows;
            }
        }
        for row in rows.ones().collect::<Vec<_>>() {
            let refused = self.refusal(request, row).is_some() || self.discarding_component(request, row).is_some();
            rows.set(row, !refused);
        }
        rows
    }

    /// Returns the number of offers that have an attribute.
    pub fn offers_with(&self, name: &Name) -> usize {
        let Some(attribute) = self.store.built_column(name) else { return 0 };
        self.offers_in((0..self.row_count()).filter(|row| attribute.has(*row)))
    }

    /// Returns the offers' attributes with names similar to `name`, each with the number of offers that have it.
    pub fn similar_attributes(&self, name: &Name) -> Vec<(Name, usize)> {
        similar_names(name, self.store.column_names(), |name| self.offers_with(name))
    }
}
