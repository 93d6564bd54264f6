//! Dependency analysis: the attributes that the value of an expression can depend on. Rows that agree in these
//! attributes give the same value, so one evaluation serves them all.

use std::rc::Rc;

use indexmap::IndexSet;

use crate::ad::{Ad, Expression, Kind, Name, Span};
use crate::constraint::{conjuncts, named, stands_for_a_side};
use crate::eval::Mentions;
use crate::explain::clauses::Clause;
use crate::matching::Side;
use crate::pool::Partition;

use super::{Asking, Survey};

/// Stands for an attribute that the request lacks. Also introduces the cache key of a clause with unknown dependencies.
const ABSENT: usize = usize::MAX;

/// The attributes of either side that the value of an expression can depend on, sorted, with their numbers.
#[derive(Clone)]
pub(super) struct Reached {
    names: Rc<[Name]>,
    numbers: Rc<[usize]>,
}

impl Survey {
    /// Returns the cache key of a clause. Clauses and requests with equal keys have equal results. Also returns the
    /// attributes that the clause depends on; `None` if they are unknown, so that rows cannot be grouped.
    pub(super) fn key(&mut self, asking: &Asking, clause: &Clause, side: Side) -> (Box<[usize]>, Option<Rc<[Name]>>) {
        let number = self.expressions.number(&clause.expression).0;
        let mut key = vec![side as usize, number, usize::from(clause.is_whole)];
        let reached = if self.is_odd || asking.is_odd { None } else { self.reached(asking, &clause.expression) };
        let Some(Reached { names, numbers }) = reached else {
            key.extend([ABSENT, self.expressions.number(&whole(&asking.ad)).0]);
            return (key.into(), None);
        };
        for (name, number) in names.iter().zip(numbers.iter()) {
            key.extend([*number, self.bound(asking, name, *number).0]);
        }
        (key.into(), Some(names))
    }

    /// Returns the number of the expression that the request binds to a name, and whether it is not a literal.
    fn bound(&mut self, asking: &Asking, name: &Name, number: usize) -> (usize, bool) {
        *asking.bound.borrow_mut().entry(number).or_insert_with(|| match asking.ad.get(name) {
            Some(bound) => (self.expressions.number(bound).0, !matches!(bound.kind(), Kind::Literal(_))),
            None => (ABSENT, false),
        })
    }

    /// Returns the attributes that the value of an expression can depend on: the transitive closure of the names that
    /// it mentions. `None` if it can depend on anything else.
    ///
    /// The closure is cached per expression for requests whose attributes in it are literals.
    fn reached(&mut self, asking: &Asking, expression: &Expression) -> Option<Reached> {
        let number = self.expressions.number(expression).0;
        let known = self.reached.get(&number).cloned();
        let usual = known.unwrap_or_else(|| {
            let found = self.reached_from(&Ad::default(), expression);
            self.reached.insert(number, found.clone());
            found
        })?;
        let names = usual.names.iter().zip(usual.numbers.iter());
        let is_usual = !names.into_iter().any(|(name, number)| self.bound(asking, name, *number).1);
        if is_usual { Some(usual) } else { self.reached_from(&asking.ad, expression) }
    }

    fn reached_from(&mut self, asking: &Ad, expression: &Expression) -> Option<Reached> {
        let mut names: IndexSet<Name> = IndexSet::new();
        let add = |mentions: &Mentions, names: &mut IndexSet<Name>| {
            names.extend(mentions.names.iter().filter(|name| !stands_for_a_side(name)).cloned());
            (!mentions.is_opaque()).then_some(())
        };
        add(&self.mentions(expression), &mut names)?;
        let mut at = 0;
        while let Some(name) = names.get_index(at).cloned() {
            at += 1;
            if let Some(bound) = asking.get(&name).filter(|bound| !matches!(bound.kind(), Kind::Literal(_))) {
                add(&self.mentions(bound), &mut names)?;
            }
            add(self.attribute(&name).mentions(self.context.dialect), &mut names)?;
        }
        names.sort();
        let numbers = names.iter().map(|name| match self.numbers.get_index_of(name) {
            Some(known) => known,
            None => self.numbers.insert_full(name.clone()).0,
        });
        let numbers = numbers.collect();
        Some(Reached { names: names.into_iter().collect(), numbers })
    }

    fn mentions(&mut self, expression: &Expression) -> Rc<Mentions> {
        let (number, _) = self.expressions.number(expression);
        let dialect = self.context.dialect;
        let known = self.mentions.entry(number).or_insert_with(|| Rc::new(Mentions::of(expression, dialect)));
        Rc::clone(known)
    }

    /// Partitions the rows by the expressions that they bind to some names. Cached.
    pub(super) fn groups(&mut self, names: Vec<Name>) -> Rc<Partition> {
        if let Some(known) = self.groups.get(&names) {
            return Rc::clone(known);
        }
        let mut groups = Partition::new(self.rows());
        for name in &names {
            let attribute = self.attribute(name);
            groups.split(attribute.codes(), |row| Some(attribute.code(row)));
        }
        let groups = Rc::new(groups);
        self.groups.insert(names, Rc::clone(&groups));
        groups
    }

    /// Returns the attributes that can contain clauses of the offers' constraints: those that the protocol names, and
    /// those that their clauses name in turn.
    pub(super) fn leading(&mut self) -> Vec<Name> {
        let mut names: IndexSet<Name> = self.protocol.names().cloned().collect();
        let mut at = 0;
        while let Some(name) = names.get_index(at).cloned() {
            at += 1;
            for expression in &self.attribute(&name).expressions {
                names.extend(conjuncts(expression).into_iter().filter_map(named).cloned());
            }
        }
        names.into_iter().collect()
    }
}

/// Wraps an ad in an expression.
fn whole(ad: &Ad) -> Expression {
    Expression::new(Kind::Ad(ad.clone()), Span::default())
}
