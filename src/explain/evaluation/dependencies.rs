//! What the value of an expression can depend on: nothing tells offers apart, for it, that agree in these attributes.

use std::rc::Rc;

use indexmap::IndexSet;

use crate::ad::{Ad, Expression, Kind, Name, Span};
use crate::constraint::{conjuncts, named, stands_for_a_side};
use crate::eval::Mentions;
use crate::explain::clauses::Clause;
use crate::matching::Side;
use crate::pool::Partition;

use super::{Asking, Survey};

/// No attribute of this name.
const ABSENT: usize = usize::MAX;

/// The attributes, of either side, that the value of an expression can depend on.
#[derive(Clone)]
pub(super) struct Reached {
    names: Rc<[Name]>,
    numbers: Rc<[usize]>,
}

impl Survey {
    /// What a clause depends on: the same for clauses and requests that nothing tells apart.  And the names of the
    /// attributes that it reaches; none if two offers that agree in them may still differ.
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

    /// The number of what the request binds to a name, and whether it is more than a literal.
    fn bound(&mut self, asking: &Asking, name: &Name, number: usize) -> (usize, bool) {
        *asking.bound.borrow_mut().entry(number).or_insert_with(|| match asking.ad.get(name) {
            Some(bound) => (self.expressions.number(bound).0, !matches!(bound.kind(), Kind::Literal(_))),
            None => (ABSENT, false),
        })
    }

    /// The attributes that the value of an expression can depend on: those that it mentions, those that their
    /// expressions mention, and so on.  None if it can depend on more.
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

    /// The offers by what is bound to some names.
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

    /// The names through which the clauses of the offers' constraints are found.
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

/// An ad as an expression.
fn whole(ad: &Ad) -> Expression {
    Expression::new(Kind::Ad(ad.clone()), Span::default())
}
