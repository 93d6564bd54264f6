//! Relations: comparisons of values that stay where they are.

use std::cmp::Ordering;

use crate::ad::{BinaryOperator, ByteString, Dialect, OperatorGroup, Truth, Type, Value};

use super::super::operators;
use super::operand::Bail;

/// Comparison operator: one of `< <= == != >= > is isnt`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relation {
    operator: BinaryOperator,
    is_identity: bool,
    /// Outcomes of a comparison for which the operator is true, as a bit set.
    accepted: u8,
}

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
/// Neither less, equal nor greater: not a number, or of another type.
const DIFFERENT: u8 = 8;

impl Relation {
    /// Returns the relation of an operator; `None` for an operator that is not a comparison.
    pub(super) fn of(operator: BinaryOperator) -> Option<Self> {
        let accepted = match operator {
            BinaryOperator::Equal | BinaryOperator::Is => EQUAL,
            BinaryOperator::NotEqual | BinaryOperator::Isnt => LESS | GREATER | DIFFERENT,
            BinaryOperator::Less => LESS,
            BinaryOperator::LessEqual => LESS | EQUAL,
            BinaryOperator::Greater => GREATER,
            BinaryOperator::GreaterEqual => GREATER | EQUAL,
            _ => return None,
        };
        Some(Relation { operator, is_identity: operator.group() == OperatorGroup::Identity, accepted })
    }

    /// Whether the relation ignores the case of strings.
    pub(super) fn ignores_case(self) -> bool {
        !self.is_identity
    }

    /// Compares two values; [`Bail`] for two times, lists or ads under `is`.
    #[inline]
    pub(super) fn compare(self, left: &Value, right: &Value, dialect: Dialect) -> Result<Truth, Bail> {
        let outcome = match (left, right) {
            (Value::Integer(a), Value::Integer(b)) => outcome_of(a.cmp(b)),
            (Value::String(a), Value::String(b)) => return Ok(self.compare_strings(a, b)),
            (Value::Real(a), Value::Real(b)) => a.partial_cmp(b).map_or(DIFFERENT, outcome_of),
            (Value::Boolean(a), Value::Boolean(b)) => outcome_of(a.cmp(b)),
            _ => return self.compare_others(left, right, dialect),
        };
        Ok(self.accepts(outcome))
    }

    fn accepts(self, outcome: u8) -> Truth {
        Truth::from(self.accepted & outcome != 0)
    }

    #[inline]
    pub(super) fn compare_integers(self, a: i64, b: i64) -> Truth {
        self.accepts(outcome_of(a.cmp(&b)))
    }

    pub(super) fn compare_strings(self, a: &ByteString, b: &ByteString) -> Truth {
        let is_same = match self.operator {
            BinaryOperator::Is | BinaryOperator::Isnt => a == b,
            // Nearly all equal strings have the same case, too.
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                a.as_bytes().len() == b.as_bytes().len() && (a == b || a.eq_ignore_case(b))
            }
            _ => return self.accepts(outcome_of(a.cmp_ignore_case(b))),
        };
        self.accepts(if is_same { EQUAL } else { DIFFERENT })
    }

    fn compare_others(self, left: &Value, right: &Value, dialect: Dialect) -> Result<Truth, Bail> {
        if self.is_identity {
            return match (left.value_type(), right.value_type()) {
                (left, right) if left != right => Ok(self.accepts(DIFFERENT)),
                (Type::Undefined | Type::Error, _) => Ok(self.accepts(EQUAL)),
                _ => Err(Bail),
            };
        }
        Ok(match (left, right) {
            (Value::Error(_), _) | (_, Value::Error(_)) => Truth::Error,
            (Value::Undefined, _) | (_, Value::Undefined) => Truth::Undefined,
            _ => operators::compare(self.operator, left, right, dialect).map_or(Truth::Error, Truth::from),
        })
    }
}

fn outcome_of(ordering: Ordering) -> u8 {
    match ordering {
        Ordering::Less => LESS,
        Ordering::Equal => EQUAL,
        Ordering::Greater => GREATER,
    }
}
