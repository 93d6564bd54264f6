//! Dependency analysis: the attributes that the value of an expression can depend on. Rows that agree in these
//! attributes give the same value, so one evaluation serves them all.

use std::rc::Rc;

use indexmap::IndexSet;

use crate::ad::{Ad, Expression, ExpressionKind, Name};
use crate::constraint::{conjuncts, is_side_name, own_attribute_name};
use crate::eval::{FreeNames, transitive_closure};
use crate::explain::clauses::ExplainedClause;
use crate::matching::PairSide;
use crate::pool::Partition;

use super::{OfferTable, RequestContext};

/// Stands for an attribute that the request lacks. Also introduces the cache key of a clause with unknown dependencies.
const ABSENT: usize = usize::MAX;

/// The attributes of either side that the value of an expression can depend on, sorted, with their numbers.
#[derive(Clone)]
pub(super) struct Dependencies {
    names: Rc<[Name]>,
    name_ids: Rc<[usize]>,
}

impl OfferTable {
    /// Returns the cache key of a clause. Clauses and requests with equal keys have equal results. Also returns the
    /// attributes that the clause depends on; `None` if they are unknown, so that rows cannot be grouped.
    pub(super) fn cache_key(
        &mut self,
        asking: &RequestContext,
        clause: &ExplainedClause,
        side: PairSide,
    ) -> (Box<[usize]>, Option<Rc<[Name]>>) {
        let number = self.interner.intern(&clause.expression).0;
        let mut key = vec![side as usize, number, usize::from(clause.is_whole)];
        let reached = if self.has_scope_attribute || asking.has_scope_attribute {
            None
        } else {
            self.dependencies(asking, &clause.expression)
        };
        let Some(Dependencies { names, name_ids: numbers }) = reached else {
            key.extend([ABSENT, self.interner.intern(&Expression::ad(asking.ad.clone())).0]);
            return (key.into(), None);
        };
        for (name, number) in names.iter().zip(numbers.iter()) {
            key.extend([*number, self.request_binding(asking, name, *number).0]);
        }
        (key.into(), Some(names))
    }

    /// Returns the number of the expression that the request binds to a name, and whether it is not a literal.
    fn request_binding(&mut self, asking: &RequestContext, name: &Name, number: usize) -> (usize, bool) {
        *asking.bindings.borrow_mut().entry(number).or_insert_with(|| match asking.ad.get(name) {
            Some(bound) => (self.interner.intern(bound).0, !matches!(bound.kind(), ExpressionKind::Literal(_))),
            None => (ABSENT, false),
        })
    }

    /// Returns the attributes that the value of an expression can depend on: the transitive closure of the names that
    /// it mentions. `None` if it can depend on anything else.
    ///
    /// The closure is cached per expression for requests whose attributes in it are literals.
    fn dependencies(&mut self, asking: &RequestContext, expression: &Expression) -> Option<Dependencies> {
        let number = self.interner.intern(expression).0;
        let known = self.dependencies.get(&number).cloned();
        let usual = known.unwrap_or_else(|| {
            let found = self.compute_dependencies(&Ad::default(), expression);
            self.dependencies.insert(number, found.clone());
            found
        })?;
        let names = usual.names.iter().zip(usual.name_ids.iter());
        let is_usual = !names.into_iter().any(|(name, number)| self.request_binding(asking, name, *number).1);
        if is_usual { Some(usual) } else { self.compute_dependencies(&asking.ad, expression) }
    }

    fn compute_dependencies(&mut self, asking: &Ad, expression: &Expression) -> Option<Dependencies> {
        let mut names: IndexSet<Name> = IndexSet::new();
        let add = |mentions: &FreeNames, names: &mut IndexSet<Name>| {
            names.extend(mentions.names.iter().filter(|name| !is_side_name(name)).cloned());
            (!mentions.reads_unknown()).then_some(())
        };
        add(&self.free_names_of(expression), &mut names)?;
        transitive_closure(&mut names, |name, names| {
            if let Some(bound) = asking.get(name).filter(|bound| !matches!(bound.kind(), ExpressionKind::Literal(_))) {
                add(&self.free_names_of(bound), names)?;
            }
            let dialect = self.context.dialect;
            add(self.column(name).free_names(dialect), names)
        })?;
        names.sort();
        let numbers = names.iter().map(|name| match self.name_ids.get_index_of(name) {
            Some(known) => known,
            None => self.name_ids.insert_full(name.clone()).0,
        });
        let numbers = numbers.collect();
        Some(Dependencies { names: names.into_iter().collect(), name_ids: numbers })
    }

    fn free_names_of(&mut self, expression: &Expression) -> Rc<FreeNames> {
        let (number, _) = self.interner.intern(expression);
        let dialect = self.context.dialect;
        let known = self.free_names.entry(number).or_insert_with(|| Rc::new(FreeNames::of(expression, dialect)));
        Rc::clone(known)
    }

    /// Partitions the rows by the expressions that they bind to some names. Cached.
    pub(super) fn partition_by(&mut self, names: Vec<Name>) -> Rc<Partition> {
        if let Some(known) = self.partitions.get(&names) {
            return Rc::clone(known);
        }
        let mut groups = Partition::new(self.row_count());
        for name in &names {
            let attribute = self.column(name);
            groups.split(attribute.code_count(), |row| Some(attribute.code(row)));
        }
        let groups = Rc::new(groups);
        self.partitions.insert(names, Rc::clone(&groups));
        groups
    }

    /// Returns the attributes that can contain clauses of the offers' constraints: those that the protocol names, and
    /// those that their clauses name in turn.
    pub(super) fn constraint_attributes(&mut self) -> Vec<Name> {
        let mut names: IndexSet<Name> = self.protocol.attribute_names().cloned().collect();
        transitive_closure(&mut names, |name, names| {
            for expression in &self.column(name).expressions {
                names.extend(conjuncts(expression).into_iter().filter_map(own_attribute_name).cloned());
            }
            Some(())
        });
        names.into_iter().collect()
    }
}
