//! An interner of names and expressions, with the free names of each expression computed once.

use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ad::{Dialect, Expression, ExpressionInterner, Name};
use crate::eval::FreeNames;

/// Identifier of an interned name or expression.
pub type InternedId = u32;

/// Interns the expressions and names of a set of ads.
#[derive(Default)]
pub struct AutoclusterInterner {
    dialect: Dialect,
    pub names: IndexSet<Name, FxBuildHasher>,
    expressions: ExpressionInterner,
    /// The free names of each expression, by identifier of the expression.
    free_names: Vec<Rc<FreeNameIds>>,
}

/// The free names of an expression: [`FreeNames`] with identifiers instead of names, sorted and distinct.
pub struct FreeNameIds {
    pub reads_anything: bool,
    pub mine: Vec<InternedId>,
    pub theirs: Vec<InternedId>,
    pub unqualified: Vec<InternedId>,
}

impl AutoclusterInterner {
    pub fn new(dialect: Dialect) -> Self {
        AutoclusterInterner { dialect, ..AutoclusterInterner::default() }
    }

    /// Returns the dialect of the expressions.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the identifier of a name. All spellings of a name have the same identifier.
    #[allow(clippy::cast_possible_truncation)] // 2^32 names would not fit into memory
    pub fn intern_name(&mut self, name: &Name) -> InternedId {
        match self.names.get_index_of(name) {
            Some(known) => known as InternedId,
            None => self.names.insert_full(name.clone()).0 as InternedId,
        }
    }

    /// Returns the identifier of a name; `None` if the name was not interned.
    #[allow(clippy::cast_possible_truncation)] // as above
    pub fn known_name(&self, name: &Name) -> Option<InternedId> {
        self.names.get_index_of(name).map(|known| known as InternedId)
    }

    /// Returns the identifier and the free names of an expression. Equal expressions have the same identifier.
    #[allow(clippy::cast_possible_truncation)] // as above
    pub fn intern_expression(&mut self, expression: &Expression) -> (InternedId, Rc<FreeNameIds>) {
        let (number, is_new) = self.expressions.intern(expression);
        if is_new {
            let mentions = self.intern_free_names(&FreeNames::of(expression, self.dialect));
            self.free_names.push(Rc::new(mentions));
        }
        (number as InternedId, Rc::clone(&self.free_names[number]))
    }

    /// Returns the free names of an expression of a policy. In such an expression both `label` and `other` denote the
    /// other side.
    pub fn free_names_of_policy(&mut self, rule: &Expression) -> FreeNameIds {
        let mut mentions = FreeNames::default();
        mentions.add_policy_expression(rule, self.dialect);
        self.intern_free_names(&mentions)
    }

    /// Returns free names with identifiers instead of names.
    pub fn intern_free_names(&mut self, mentions: &FreeNames) -> FreeNameIds {
        let mut numbered = |names: &[Name]| {
            let mut numbers: Vec<InternedId> = names.iter().map(|name| self.intern_name(name)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        FreeNameIds {
            reads_anything: mentions.reads_anything,
            mine: numbered(&mentions.mine),
            theirs: numbered(&mentions.theirs),
            unqualified: numbered(&mentions.unqualified),
        }
    }
}
