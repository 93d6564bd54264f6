//! Relaxes the bound of a clause so that a value meets it.

use crate::ad::{BinaryOperator, Expression, Value};
use crate::constraint::ClauseComparison;

use super::demanded_values::is_false_request;
use super::edit::RequestEdit;
use super::search::Proposal;

/// Proposes to replace `clause` by `to`. The size of this change is `size`.
pub fn rewrite_proposal(clause: &Expression, to: Expression, size: f64) -> Proposal {
    Proposal::new(RequestEdit::Rewrite { clause: clause.clone(), to }, size)
}

impl ClauseComparison {
    /// Proposes to relax the bound of `clause` so that `value` meets the clause. Sets the attribute that holds the
    /// bound; if no attribute holds it, rewrites the clause. `None` if the bound would stay the same or cannot be
    /// computed.
    pub(in crate::explain) fn relax(&self, clause: &Expression, value: Value, size: f64) -> Option<Proposal> {
        let value = convert_to_bound_type(value, self.operator, &self.bound);
        let Some((name, from)) = self.bound_holder.clone() else {
            return Some(rewrite_proposal(clause, self.relaxed_clause(value)?, size));
        };
        let bound = closest_bound(value, self.operator).filter(|to| *to != self.bound)?;
        if is_false_request(&name, Some(&from), &bound, false) {
            return None;
        }
        let to = Expression::literal(bound);
        Some(Proposal::new(RequestEdit::Set { name, from: Some(from), to }, size))
    }

    /// Proposes to replace the bound of `clause` by the value that is meant, which has another type. Corrects a mistake, and gives
    /// nothing up. `None` as for [`ClauseComparison::relax`].
    pub(in crate::explain) fn correct(&self, clause: &Expression, value: Value) -> Option<Proposal> {
        let Some((name, from)) = self.bound_holder.clone() else {
            return Some(rewrite_proposal(clause, self.with_bound(self.operator, value)?, 0.0));
        };
        if is_false_request(&name, Some(&from), &value, false) {
            return None;
        }
        let to = Expression::literal(value);
        Some(Proposal::new(RequestEdit::Set { name, from: Some(from), to }, 0.0))
    }

    /// Returns the comparison with `value` as its bound. `>` becomes `>=` and `<` becomes `<=`, so that `value` itself
    /// meets the comparison. `None` if the bound is on the left and the operator has no converse.
    pub(super) fn relaxed_clause(&self, value: Value) -> Option<Expression> {
        let operator = match self.operator {
            BinaryOperator::Greater => BinaryOperator::GreaterEqual,
            BinaryOperator::Less => BinaryOperator::LessEqual,
            other => other,
        };
        self.with_bound(operator, value)
    }

    fn with_bound(&self, operator: BinaryOperator, value: Value) -> Option<Expression> {
        let (operand, constant) = (self.operand.clone(), Expression::literal(value));
        Some(if self.is_reversed {
            Expression::binary(operator.converse()?, constant, operand)
        } else {
            Expression::binary(operator, operand, constant)
        })
    }
}

/// Returns a bound close to `value` for which `value operator bound` is true: 7 for the value 8 and `>`. If `value` is
/// a real and the operator is `>` or `<`, the bound is a whole number: 7.0 for 7.5 and `>`. `None` for `>` and `<` if
/// the value is not a number or the bound would overflow.
fn closest_bound(value: Value, operator: BinaryOperator) -> Option<Value> {
    Some(match (value, operator) {
        (Value::Integer(value), BinaryOperator::Greater) => Value::Integer(value.checked_sub(1)?),
        (Value::Integer(value), BinaryOperator::Less) => Value::Integer(value.checked_add(1)?),
        (Value::Real(value), BinaryOperator::Greater) => Value::Real((value - 1.0).ceil()),
        (Value::Real(value), BinaryOperator::Less) => Value::Real((value + 1.0).floor()),
        (_, BinaryOperator::Greater | BinaryOperator::Less) => return None,
        (value, _) => value,
    })
}

/// Converts a real to an integer if the bound is an integer. Rounds up for `<` and `<=`, else down, so that the
/// comparison does not become stricter. Other values and reals beyond 2^53 are returned unchanged.
#[allow(clippy::cast_possible_truncation)] // below 2^53
fn convert_to_bound_type(value: Value, operator: BinaryOperator, bound: &Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let (Value::Real(real), Value::Integer(_)) = (&value, bound) else { return value };
    let whole = match operator {
        BinaryOperator::Less | BinaryOperator::LessEqual => real.ceil(),
        _ => real.floor(),
    };
    if whole.abs() < EXACT { Value::Integer(whole as i64) } else { value }
}

#[cfg(test)]
mod tests {
    use super::{closest_bound, convert_to_bound_type};
    use crate::ad::BinaryOperator::{self, Equal, Greater, GreaterEqual, Less, LessEqual};
    use crate::ad::Value::{self, Boolean, Integer, Real};

    /// The bound is as close to the value as whole numbers are, and the value meets it.
    #[test]
    fn a_bound_is_the_last_that_a_value_meets() {
        for (value, operator, expected) in [
            (Integer(8), Greater, Some(Integer(7))),
            (Integer(8), Less, Some(Integer(9))),
            (Integer(8), GreaterEqual, Some(Integer(8))),
            (Integer(8), LessEqual, Some(Integer(8))),
            (Integer(8), Equal, Some(Integer(8))),
            (Integer(i64::MIN), Greater, None),
            (Integer(i64::MAX), Less, None),
            (Real(7.5), Greater, Some(Real(7.0))),
            (Real(7.0), Greater, Some(Real(6.0))),
            (Real(7.5), Less, Some(Real(8.0))),
            (Real(7.0), Less, Some(Real(8.0))),
            (Real(7.5), LessEqual, Some(Real(7.5))),
            (Value::string("a"), Less, None),
            (Boolean(true), Greater, None),
            (Value::string("a"), Equal, Some(Value::string("a"))),
        ] {
            assert_eq!(closest_bound(value.clone(), operator), expected, "{value} {}", operator.symbol());
        }
    }

    #[test]
    fn a_real_becomes_a_whole_number_that_is_no_stricter() {
        let convert =
            |real: f64, operator: BinaryOperator, bound: Value| convert_to_bound_type(Real(real), operator, &bound);
        for (real, operator, expected) in [
            (7.5, Less, Integer(8)),
            (7.5, LessEqual, Integer(8)),
            (7.5, Greater, Integer(7)),
            (7.5, GreaterEqual, Integer(7)),
            (-7.5, LessEqual, Integer(-7)),
            (-7.5, GreaterEqual, Integer(-8)),
            (9_007_199_254_740_991.0, GreaterEqual, Integer(9_007_199_254_740_991)),
            (9_007_199_254_740_992.0, GreaterEqual, Real(9_007_199_254_740_992.0)),
        ] {
            assert_eq!(convert(real, operator, Integer(5)), expected, "{real} {}", operator.symbol());
        }
        assert_eq!(convert(7.5, Less, Real(5.0)), Real(7.5));
        assert_eq!(convert_to_bound_type(Boolean(true), Less, &Integer(5)), Boolean(true));
    }
}
