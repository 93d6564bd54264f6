//! Memory of programs: the program of each expression that was met.

use rustc_hash::FxHashMap;

use crate::ad::{Dialect, Expression, ExpressionInterner};

use super::lower::lower;
use super::program::Program;
use super::slots::NameTable;

/// Programs by the expressions from which they were made. Equal expressions share a program.
#[derive(Default)]
pub(super) struct ProgramMemory {
    /// Number of the program of each expression, by the expression's identity.
    numbers: FxHashMap<usize, usize>,
    /// Keeps the addresses of the expressions from being used again.
    kept: Vec<Expression>,
    interner: ExpressionInterner,
    programs: Vec<Program>,
}

impl ProgramMemory {
    /// Returns the program of an expression; `None` if it has none yet.
    #[inline]
    pub(super) fn get(&self, expression: &Expression) -> Option<&Program> {
        self.numbers.get(&expression.identity()).map(|number| &self.programs[*number])
    }

    /// Makes the program of an expression, or finds that of an equal one.
    pub(super) fn add(&mut self, expression: &Expression, names: &mut NameTable, dialect: Dialect, is_match: bool) {
        let (number, is_new) = self.interner.intern(expression);
        if is_new {
            self.programs.push(lower(expression, names, dialect, is_match));
        }
        self.numbers.insert(expression.identity(), number);
        self.kept.push(expression.clone());
    }

    /// Number of expressions that have a program.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }
}
