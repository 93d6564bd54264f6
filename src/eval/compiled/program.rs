//! Programs: expressions whose names, functions and constants are resolved.

use std::cell::Cell;
use std::sync::Arc;

use crate::ad::{BinaryOperator, ByteString, Expression, Type, UnaryOperator, Value};

use super::super::builtin::BuiltinFunction;
use super::super::pattern::CompiledPattern;
use super::relation::Relation;
use super::slots::NameNumber;

/// Expression that was prepared for repeated evaluation.
pub(super) struct Program {
    pub root: Operation,
    /// Number of nodes of the expression. An evaluation by the tree walker takes at most that many steps, apart from
    /// those in attributes.
    pub steps: u32,
    /// Number of operations that are nested in one another. The tree walker nests evaluations at most that deep, apart
    /// from those in attributes.
    pub height: u32,
    /// Number of runs that began with this program and ended without a value, less the number of those with a value.
    /// At least 0.
    failures: Cell<u32>,
}

/// Value of [`Program::failures`] at which a program is no longer tried.
const MAX_FAILURES: u32 = 256;

impl Program {
    pub(super) fn new(root: Operation, steps: u32, height: u32) -> Self {
        Program { root, steps, height, failures: Cell::new(0) }
    }

    /// Counts a run that began with this program.
    pub(super) fn count_run(&self, is_failure: bool) {
        let failures = self.failures.get();
        if is_failure {
            self.failures.set(failures.saturating_add(1));
        } else if failures > 0 {
            self.failures.set(failures - 1);
        }
    }

    /// Whether the tree walker alone is faster, because most runs ended without a value.
    pub(super) fn is_hopeless(&self) -> bool {
        self.failures.get() >= MAX_FAILURES
    }
}

/// Part of a program.
pub(super) enum Operation {
    /// A value that is not a time, list or ad.
    Constant(Value),
    Attribute(NameNumber, Place),
    /// The current time in seconds.
    Now,
    /// `&&` of two or more operands.
    Conjunction(Vec<Operation>),
    /// `||` of two or more operands.
    Disjunction(Vec<Operation>),
    /// A comparison of an attribute with an integer.
    IntegerTest(IntegerTest),
    /// Any other comparison.
    Comparison(Box<Comparison>),
    /// Any other binary operator.
    Binary(BinaryOperator, Box<[Operation; 2]>),
    Unary(UnaryOperator, Box<Operation>),
    /// Condition, consequent and alternative.
    Conditional(Box<[Operation; 3]>),
    Elvis(Box<[Operation; 2]>),
    /// Selection of an attribute of a computed value.
    Select(Box<Operation>),
    /// Whether a value has a type, such as `isUndefined(x)`.
    TypeTest(Type, Box<Operation>),
    /// `toLower(x)` or `toUpper(x)` as an operand of an operator that ignores case: a string is left as it is.
    CaseChange(Box<CallOperation>),
    /// `regexp()` with a pattern and options that do not change.
    PatternTest(Box<PatternOperation>),
    /// `stringListMember()` with delimiters that do not change.
    ListSearch(Box<ListOperation>),
    Call(Box<CallOperation>),
    /// Something that is left to the tree walker.
    Unsupported,
}

/// Comparison of an attribute with an integer, such as `TARGET.Cpus >= 8`. Most clauses are of this kind, so that it has
/// its place in the list of operands.
#[derive(Clone, Copy)]
pub(super) struct IntegerTest {
    pub relation: Relation,
    pub place: Place,
    pub name: NameNumber,
    pub bound: i64,
}

/// Comparison of two operands.
pub(super) struct Comparison {
    pub relation: Relation,
    pub operands: [Operation; 2],
}

/// Where an attribute is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the ad that holds the expression.
    Own,
    /// In the other ad of the match.
    Partner,
    /// In the ad that holds the expression and then in the other ad of the match.
    Anywhere,
}

/// Call of a built-in function.
pub(super) struct CallOperation {
    pub function: &'static BuiltinFunction,
    /// The call itself, with its arguments.
    pub expression: Expression,
    pub arguments: Vec<Operation>,
}

/// Test of a string by a pattern.
pub(super) struct PatternOperation {
    pub pattern: Arc<CompiledPattern>,
    /// Bytes with which every matching string begins.
    pub prefix: Vec<u8>,
    pub call: CallOperation,
}

/// Search in a string list.
pub(super) struct ListOperation {
    pub delimiters: ByteString,
    pub ignores_case: bool,
    pub call: CallOperation,
}

impl Operation {
    /// Returns the constant; `None` for any other operation.
    pub(super) fn as_constant(&self) -> Option<&Value> {
        match self {
            Operation::Constant(value) => Some(value),
            _ => None,
        }
    }
}
