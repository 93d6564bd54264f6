//! Cache keys: what the results of a clause depend on, in the request and in the offers.

use std::rc::Rc;

use indexmap::IndexSet;

use crate::ad::{Expression, ExpressionKind, Name};
use crate::constraint::{conjuncts, own_attribute_name};
use crate::eval::transitive_closure;
use crate::explain::clauses::ExplainedClause;
use crate::matching::PairSide;
use crate::pool::Dependencies;

use super::{OfferTable, RequestContext};

/// Stands in a cache key for an attribute that the request lacks. Also marks the cache key of a clause with unknown
/// dependencies.
const ABSENT: usize = usize::MAX;

impl OfferTable {
    /// Returns the cache key of a clause for a request, and the attributes that the clause depends on. Equal keys mean
    /// equal results, also of different clauses and requests. The attributes are `None` if they are unknown; then rows
    /// cannot be grouped.
    pub(super) fn cache_key(
        &mut self,
        request: &RequestContext,
        clause: &ExplainedClause,
        side: PairSide,
    ) -> (Box<[usize]>, Option<Rc<[Name]>>) {
        let number = self.store.intern(&clause.expression);
        let mut key = vec![side as usize, number, usize::from(clause.is_whole)];
        let reached = if self.store.has_scope_attribute() || request.has_scope_attribute {
            None
        } else {
            self.dependencies(request, &clause.expression)
        };
        let Some(Dependencies { names, name_ids: numbers }) = reached else {
            key.extend([ABSENT, self.store.intern(&Expression::ad(request.ad.clone()))]);
            return (key.into(), None);
        };
        for (name, number) in names.iter().zip(numbers.iter()) {
            key.extend([*number, self.request_binding(request, name, *number).0]);
        }
        (key.into(), Some(names))
    }

    /// Returns the identifier of the expression that the request binds to `name`, and whether this expression is not a
    /// literal. Equal expressions have the same identifier. The identifier is [`ABSENT`] if the request lacks the
    /// attribute. `number` is the identifier of `name` in the store.
    fn request_binding(&mut self, request: &RequestContext, name: &Name, number: usize) -> (usize, bool) {
        *request.bindings.borrow_mut().entry(number).or_insert_with(|| match request.ad.get(name) {
            Some(bound) => (self.store.intern(bound), !matches!(bound.kind(), ExpressionKind::Literal(_))),
            None => (ABSENT, false),
        })
    }

    /// Returns the attributes that the value of an expression can depend on. `None` if the value can depend on anything
    /// else, such as on `random()`, which draws another number each time.
    ///
    /// The attributes are cached for each expression. The cached attributes are returned if the request lacks each of
    /// them or binds it to a literal. Otherwise the attributes are computed with the request's ad, because the
    /// request's expressions may read further attributes.
    pub fn dependencies(&mut self, request: &RequestContext, expression: &Expression) -> Option<Dependencies> {
        let usual = self.store.dependencies(expression)?;
        let names = usual.names.iter().zip(usual.name_ids.iter());
        let is_usual = !names.into_iter().any(|(name, number)| self.request_binding(request, name, *number).1);
        if is_usual { Some(usual) } else { self.store.dependencies_with(&request.ad, expression) }
    }

    /// Returns the attributes that can contain clauses of the offers' constraints. These are the constraint attributes
    /// of the protocol. If a clause of such an attribute is just the name of another attribute, the other attribute is
    /// included: `Half` for `Requirements = Half && Memory > 1`.
    pub(super) fn constraint_attributes(&mut self) -> Vec<Name> {
        let mut names: IndexSet<Name> = self.protocol.attribute_names().cloned().collect();
        transitive_closure(&mut names, |name, names| {
            for expression in self.store.column(name).expressions() {
                names.extend(conjuncts(expression).into_iter().filter_map(own_attribute_name).cloned());
            }
            Some(())
        });
        names.into_iter().collect()
    }
}
