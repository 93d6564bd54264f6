//! An interner of names and expressions, with the free names of each expression computed once.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ad::{Dialect, Distinct, Expression, Name};
use crate::eval::Mentions;

/// Number of an interned name or expression.
pub type Number = u32;

/// Interns the expressions and names of a set of ads.
pub struct Known {
    dialect: Dialect,
    pub names: IndexSet<Name, FxBuildHasher>,
    expressions: Distinct,
    /// The free names of each expression, by its number; `None` if not computed yet.
    mentions: Vec<Option<Arc<Mentioned>>>,
}

/// The free names of an expression, by number: [`Mentions`] with interned names, sorted and distinct.
pub struct Mentioned {
    pub everything: bool,
    pub own: Vec<Number>,
    pub other: Vec<Number>,
    pub either: Vec<Number>,
}

impl Known {
    pub fn new(dialect: Dialect) -> Self {
        Known { dialect, names: IndexSet::default(), expressions: Distinct::default(), mentions: Vec::new() }
    }

    /// Returns the number of a name.
    #[allow(clippy::cast_possible_truncation)] // 2^32 names would not fit into memory
    pub fn name(&mut self, name: &Name) -> Number {
        match self.names.get_index_of(name) {
            Some(known) => known as Number,
            None => self.names.insert_full(name.clone()).0 as Number,
        }
    }

    /// Returns the number of an expression, which equal expressions share.
    #[allow(clippy::cast_possible_truncation)] // as above
    pub fn expression(&mut self, expression: &Expression) -> Number {
        self.expressions.number(expression).0 as Number
    }

    /// Returns the free names of the expression with a number, computing them on the first call.
    pub fn mentions(&mut self, number: Number) -> Arc<Mentioned> {
        let at = number as usize;
        if let Some(Some(known)) = self.mentions.get(at) {
            return Arc::clone(known);
        }
        let mentions = self.expressions.get(at).map(|expression| Mentions::of(expression, self.dialect));
        let found = Arc::new(self.numbered(&mentions.unwrap_or_default()));
        self.mentions.resize(self.mentions.len().max(at + 1), None);
        self.mentions[at] = Some(Arc::clone(&found));
        found
    }

    /// Returns the free names of an expression of a policy.
    pub fn mentions_of_rule(&mut self, rule: &Expression) -> Mentioned {
        let mut mentions = Mentions::default();
        mentions.add_rule(rule, self.dialect);
        self.numbered(&mentions)
    }

    fn numbered(&mut self, mentions: &Mentions) -> Mentioned {
        let mut numbered = |names: &[Name]| {
            let mut numbers: Vec<Number> = names.iter().map(|name| self.name(name)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        Mentioned {
            everything: mentions.everything,
            own: numbered(&mentions.own),
            other: numbered(&mentions.other),
            either: numbered(&mentions.either),
        }
    }
}
