//! Memory of programs: the program of each expression that was met.

use rustc_hash::FxHashMap;

use crate::ad::{Dialect, Expression};

use super::lower::lower;
use super::program::Program;
use super::slots::NameTable;

/// Programs by the expressions from which they were made. Ads that share an expression share its program.
#[derive(Default)]
pub(super) struct ProgramMemory {
    /// Index of the program of each expression, by the expression's identity.
    indices: FxHashMap<usize, usize>,
    programs: Vec<Program>,
    /// Keeps the addresses of the expressions from being used again.
    kept: Vec<Expression>,
}

impl ProgramMemory {
    /// Returns the program of an expression; `None` if it has none yet.
    #[inline]
    pub(super) fn get(&self, expression: &Expression) -> Option<&Program> {
        self.indices.get(&expression.identity()).map(|index| &self.programs[*index])
    }

    /// Makes the program of an expression.
    pub(super) fn add(&mut self, expression: &Expression, names: &mut NameTable, dialect: Dialect, is_match: bool) {
        self.indices.insert(expression.identity(), self.programs.len());
        self.programs.push(lower(expression, names, dialect, is_match));
        self.kept.push(expression.clone());
    }

    /// Number of expressions that have a program.
    pub(super) fn len(&self) -> usize {
        self.programs.len()
    }
}
