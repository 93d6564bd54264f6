//! Names and expressions by numbers; what an expression mentions is found out once.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ad::{Dialect, Distinct, Expression, Name};
use crate::eval::Mentions;

/// The number of a name or of an expression.
pub type Number = u32;

/// The expressions and names of a set of ads.
pub struct Known {
    dialect: Dialect,
    pub names: IndexSet<Name, FxBuildHasher>,
    expressions: Distinct,
    /// What each of the expressions mentions, as far as that was asked.
    mentions: Vec<Option<Arc<Mentioned>>>,
}

/// What an expression mentions, as [`Mentions`] has it.
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

    /// The number of a name.
    #[allow(clippy::cast_possible_truncation)] // there is no memory for so many
    pub fn name(&mut self, name: &Name) -> Number {
        match self.names.get_index_of(name) {
            Some(known) => known as Number,
            None => self.names.insert_full(name.clone()).0 as Number,
        }
    }

    /// The number of an expression: the same for those that are written alike.
    #[allow(clippy::cast_possible_truncation)] // as above
    pub fn expression(&mut self, expression: &Expression) -> Number {
        self.expressions.number(expression).0 as Number
    }

    /// What the expression of a number mentions.
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

    /// What an expression of a policy mentions.
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
