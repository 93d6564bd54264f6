//! Binary operators of a chain: the result of each from the results for its operands.

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Truth};
use crate::eval::operators;

use super::SpecializeOptions;
use super::partial_result::PartialResult;
use super::type_set::{TypeSet, apply_operator};

/// One operator of a chain such as `a + b - c`, with its specialized right operand.
pub struct ChainedOperator<'a> {
    /// The original expression of the operator with both its operands.
    pub node: &'a Expression,
    pub operator: BinaryOperator,
    /// Specialization result of the right operand.
    pub operand: PartialResult,
}

impl ChainedOperator<'_> {
    /// Returns the result for the operator with this left operand.
    pub fn applied_to(self, left: PartialResult, dialect: Dialect, options: SpecializeOptions) -> PartialResult {
        let ChainedOperator { node, operator, operand: right } = self;
        let span = node.span();
        if let (Some(left), Some(right)) = (&left.value, &right.value) {
            return PartialResult::known(node, apply_operator(operator, left, right, dialect, span));
        }
        if let BinaryOperator::And | BinaryOperator::Or = operator {
            let neutral = if operator == BinaryOperator::And { Truth::True } else { Truth::False };
            let truth = |part: &PartialResult| part.value.as_ref().map(|value| Truth::of(value, dialect));
            if let (Some(value), Some(truth)) = (&left.value, truth(&left))
                && let Some(value) = operators::short_circuit(operator, truth, value, dialect, span)
            {
                return PartialResult::known(node, value);
            }
            if truth(&left) == Some(neutral) && right.types.is_subset_of(TypeSet::LOGICAL) {
                return right;
            }
            if truth(&right) == Some(neutral) && left.types.is_subset_of(TypeSet::LOGICAL) {
                return left;
            }
        }
        let types = TypeSet::binary(operator, left.types, right.types, dialect);
        let parts = [left, right];
        PartialResult::rebuilt(node, types, &parts, options, || {
            ExpressionKind::Binary(operator, parts[0].expression.clone(), parts[1].expression.clone())
        })
    }
}
