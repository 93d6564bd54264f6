//! Clauses that compare with a constant.

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Name, Value};

use super::ClauseOperand;

/// A comparison with a constant: `operand operator bound`. The operand depends on the offer.
#[derive(Clone, Debug)]
pub struct ClauseComparison {
    /// The operand that depends on the offer, such as `TARGET.Memory`.
    pub operand: Expression,
    /// The operator as it reads with `operand` on the left: `>` for the clause `8 < TARGET.Memory`.
    pub operator: BinaryOperator,
    /// The value of the constant operand, computed with the attributes of the request.
    pub bound: Value,
    /// The request's attribute that holds the bound, with its expression. `None` if the bound is not written as a plain
    /// reference to an attribute, such as `RequestMemory`.
    pub bound_holder: Option<(Name, Expression)>,
    /// Whether the clause has the bound on the left: `bound operator operand`.
    pub is_reversed: bool,
}

impl ClauseComparison {
    /// The offer's attribute, such as `Memory` for the operand `TARGET.Memory`. `None` if the operand is not a plain
    /// reference.
    #[must_use]
    pub fn attribute(&self) -> Option<&Name> {
        match ClauseOperand::of(&self.operand) {
            Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether the clause asks for no more than the bound.
    #[must_use]
    pub fn asks_for_less(&self) -> bool {
        matches!(self.operator, BinaryOperator::Less | BinaryOperator::LessEqual)
    }

    /// Whether the clause asks for an amount: for no less or no more than the bound.
    #[must_use]
    pub fn bound_is_amount(&self) -> bool {
        matches!(
            self.operator,
            BinaryOperator::Greater | BinaryOperator::GreaterEqual | BinaryOperator::Less | BinaryOperator::LessEqual
        )
    }
}

/// Returns the value of an integer, or of a product of integers, as in `24 * 1024`. `None` for any other expression, and if it is
/// too large.
#[must_use]
pub fn constant_integer(expression: &Expression) -> Option<i64> {
    match expression.kind() {
        ExpressionKind::Literal(Value::Integer(integer)) => Some(*integer),
        ExpressionKind::Parentheses(inner) => constant_integer(inner),
        ExpressionKind::Binary(BinaryOperator::Multiply, left, right) => {
            constant_integer(left)?.checked_mul(constant_integer(right)?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{ClauseComparison, constant_integer};
    use crate::ad::BinaryOperator::{Equal, Greater, GreaterEqual, Is, Less, LessEqual, NotEqual};
    use crate::ad::{Name, Value};
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn a_comparison_asks_for_an_amount_if_it_has_an_order() {
        for (operator, is_amount, is_less) in [
            (Less, true, true),
            (LessEqual, true, true),
            (Greater, true, false),
            (GreaterEqual, true, false),
            (Equal, false, false),
            (NotEqual, false, false),
            (Is, false, false),
        ] {
            for (operand, attribute) in [
                ("TARGET.a", Some("a")),
                ("a", Some("a")),
                ("(a)", Some("a")),
                ("MY.a", None),
                ("a + 1", None),
                ("5", None),
            ] {
                let operand = parse_expression(operand.as_bytes(), ParseOptions::default()).unwrap();
                let bound = Value::Integer(1);
                let comparison = ClauseComparison { operand, operator, bound, bound_holder: None, is_reversed: false };
                assert_eq!((comparison.bound_is_amount(), comparison.asks_for_less()), (is_amount, is_less));
                assert_eq!(comparison.attribute().map(Name::as_str), attribute, "{}", comparison.operand);
            }
        }
    }

    #[test]
    fn a_product_of_integers_is_a_constant() {
        for (text, expected) in [
            ("5", Some(5)),
            ("(24 * 1024)", Some(24_576)),
            ("2 * (3 * 4)", Some(24)),
            ("2 + 3", None),
            ("2.0 * 3", None),
            ("a * 3", None),
            ("9223372036854775807 * 1", Some(i64::MAX)),
            ("9223372036854775807 * 2", None),
        ] {
            let expression = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
            assert_eq!(constant_integer(&expression), expected, "{text}");
        }
    }
}
