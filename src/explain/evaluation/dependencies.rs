//! Cache keys: what the results of a clause depend on, in the request and in the offers.

use indexmap::IndexSet;

use crate::ad::{Expression, ExpressionKind, Name};
use crate::constraint::{conjuncts, own_attribute_name};
use crate::eval::{Work, transitive_closure};
use crate::explain::clauses::ExplainedClause;
use crate::matching::PairSide;
use crate::pool::{Dependencies, Store};

use super::OfferTable;
use super::request_context::{ClauseKey, RequestContext};

/// Stands in a cache key for an attribute that the request lacks. Also marks the cache key of a clause with unknown
/// dependencies.
const ABSENT: usize = usize::MAX;

/// Minimum number of attributes of a clause whose key costs steps of the run.
const MIN_CHARGED_ATTRIBUTES: usize = 64;

impl OfferTable {
    /// Returns what the results of a clause depend on for a request.
    pub(super) fn clause_key(&self, request: &RequestContext, clause: &ExplainedClause, side: PairSide) -> ClauseKey {
        let of_clause = (clause.expression.identity(), side as usize, clause.is_whole);
        if let Some((_, known)) = request.clause_keys.borrow().get(&of_clause) {
            return known.clone();
        }
        let key = self.new_clause_key(request, clause, side);
        if let Some(names) = key.names.as_ref().filter(|names| names.len() >= MIN_CHARGED_ATTRIBUTES) {
            self.context.charge(Work::ClauseAttribute, names.len() as u64);
        }
        request.clause_keys.borrow_mut().insert(of_clause, (clause.expression.clone(), key.clone()));
        key
    }

    /// Whether a clause of two requests depends on the same expressions of both.
    pub fn reads_the_same(&self, requests: [&RequestContext; 2], clause: &ExplainedClause) -> bool {
        let [one, other] = requests.map(|request| self.clause_key(request, clause, PairSide::Request).key);
        one == other
    }

    fn new_clause_key(&self, request: &RequestContext, clause: &ExplainedClause, side: PairSide) -> ClauseKey {
        let mut store = self.store();
        let number = store.intern(&clause.expression);
        let mut key = vec![side as usize, number, usize::from(clause.is_whole)];
        let reached = if self.has_scope_attribute || request.has_scope_attribute {
            None
        } else {
            request.dependencies(&mut store, &clause.expression)
        };
        let Some(dependencies) = reached else {
            key.extend([ABSENT, store.intern(&Expression::ad(request.ad.clone()))]);
            return ClauseKey { key: key.into(), names: None, is_circular: false };
        };
        for (name, number) in dependencies.names.iter().zip(dependencies.name_ids.iter()) {
            key.extend([*number, request.binding(&mut store, name, *number).0]);
        }
        let mut path = clause.path.iter().filter(|_| !clause.is_whole);
        // The names are sorted: joined clauses have as many attributes as names.
        let is_circular = path.any(|name| dependencies.names.binary_search(name).is_ok());
        ClauseKey { key: key.into(), names: Some(dependencies.names), is_circular }
    }

    /// Returns the attributes that the value of an expression of a request can depend on, as
    /// [`RequestContext::dependencies`] does.
    pub fn dependencies(&self, request: &RequestContext, expression: &Expression) -> Option<Dependencies> {
        request.dependencies(&mut self.store(), expression)
    }

    /// Returns the attributes that can contain clauses of the offers' constraints. These are the constraint attributes
    /// of the protocol. If a clause of such an attribute is just the name of another attribute, the other attribute is
    /// included: `Half` for `Requirements = Half && Memory > 1`.
    pub(super) fn constraint_attributes(&self) -> Vec<Name> {
        let mut store = self.store();
        let mut names: IndexSet<Name> = self.protocol.attribute_names().cloned().collect();
        transitive_closure(&mut names, |name, names| {
            for expression in store.column(name).expressions() {
                names.extend(conjuncts(expression).into_iter().filter_map(own_attribute_name).cloned());
            }
            Some(())
        });
        names.into_iter().collect()
    }
}

impl RequestContext {
    /// Returns the identifier of the expression that the request binds to `name`, and whether this expression is not a
    /// literal. Equal expressions have the same identifier. The identifier is [`ABSENT`] if the request lacks the
    /// attribute. `number` is the identifier of `name` in the store.
    pub(super) fn binding(&self, store: &mut Store, name: &Name, number: usize) -> (usize, bool) {
        *self.bindings.borrow_mut().entry(number).or_insert_with(|| match self.ad.get(name) {
            Some(bound) => (store.intern(bound), !matches!(bound.kind(), ExpressionKind::Literal(_))),
            None => (ABSENT, false),
        })
    }

    /// Returns the attributes that the value of an expression can depend on. `None` if the value can depend on anything
    /// else, such as on `random()`, which draws another number each time.
    ///
    /// The attributes are cached for each expression. The cached attributes are returned if the request lacks each of
    /// them or binds it to a literal. Otherwise the attributes are computed with the request's ad, because the
    /// request's expressions may read further attributes.
    fn dependencies(&self, store: &mut Store, expression: &Expression) -> Option<Dependencies> {
        let usual = store.dependencies(expression)?;
        if self.binds_literals(store, &usual) { Some(usual) } else { store.dependencies_with(&self.ad, expression) }
    }

    /// Whether the request lacks each of these attributes or binds it to a literal.
    pub(super) fn binds_literals(&self, store: &mut Store, usual: &Dependencies) -> bool {
        let mut names = usual.names.iter().zip(usual.name_ids.iter());
        !names.any(|(name, number)| self.binding(store, name, *number).1)
    }
}
