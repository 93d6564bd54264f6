//! Equality of expressions, with or without regard to parentheses.
//!
//! Comparing keeps an explicit stack instead of recursing, so that deep trees cannot overflow the call stack.

use super::{Expression, ExpressionKind, Value};

/// Which differences between two expressions are ignored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Equivalence {
    /// Case of names, white space, positions and the order of attributes in ads.
    Syntactic,
    /// All that [`Equivalence::Syntactic`] ignores, and parentheses.
    Structural,
    /// All that [`Equivalence::Structural`] ignores, and whether a number is an integer or a real.
    Numeric,
}

/// Whether two expressions are equal if all parentheses are ignored.  Literals are compared by their bits, names
/// without regard to case.  O(n) in the size of the trees.
#[must_use]
pub fn structurally_equal(left: &Expression, right: &Expression) -> bool {
    all_equal(vec![(left, right)], Equivalence::Structural)
}

/// Whether two expressions are equal if all parentheses are ignored, and if a literal integer equals a literal real of
/// the same value: `2` and `2.0`. O(n) in the size of the trees.
#[must_use]
pub fn numerically_equal(left: &Expression, right: &Expression) -> bool {
    all_equal(vec![(left, right)], Equivalence::Numeric)
}

/// Whether the two expressions of every pair in `pending` are equal, up to the differences that `equivalence` ignores.
pub(super) fn all_equal<'a>(mut pending: Vec<(&'a Expression, &'a Expression)>, equivalence: Equivalence) -> bool {
    while let Some((left, right)) = pending.pop() {
        let (left, right) = match equivalence {
            Equivalence::Syntactic => (left, right),
            Equivalence::Structural | Equivalence::Numeric => (left.without_parentheses(), right.without_parentheses()),
        };
        if left.ptr_eq(right) {
            continue;
        }
        let heads_same = match (left.kind(), right.kind()) {
            (ExpressionKind::Literal(a), ExpressionKind::Literal(b)) => {
                literals_equal(a, b) || (equivalence == Equivalence::Numeric && numbers_equal(a, b))
            }
            (ExpressionKind::Attribute(a), ExpressionKind::Attribute(b))
            | (ExpressionKind::RootAttribute(a), ExpressionKind::RootAttribute(b))
            | (ExpressionKind::Select(_, a), ExpressionKind::Select(_, b)) => a == b,
            (ExpressionKind::Unary(a, _), ExpressionKind::Unary(b, _)) => a == b,
            (ExpressionKind::Binary(a, ..), ExpressionKind::Binary(b, ..)) => a == b,
            (ExpressionKind::Call(a, x), ExpressionKind::Call(b, y)) => a == b && x.len() == y.len(),
            (ExpressionKind::List(a), ExpressionKind::List(b)) => a.len() == b.len(),
            (ExpressionKind::Ad(a), ExpressionKind::Ad(b)) => {
                if a.len() != b.len() || a.iter().any(|one| b.get(one.name).is_none()) {
                    return false;
                }
                pending.extend(a.iter().filter_map(|one| Some((one.expression, b.get(one.name)?))));
                continue;
            }
            (ExpressionKind::Subscript(..), ExpressionKind::Subscript(..))
            | (ExpressionKind::Conditional(..), ExpressionKind::Conditional(..))
            | (ExpressionKind::Elvis(..), ExpressionKind::Elvis(..))
            | (ExpressionKind::Parentheses(_), ExpressionKind::Parentheses(_)) => true,
            _ => false,
        };
        if !heads_same {
            return false;
        }
        let mut lefts = Vec::new();
        left.kind().for_each_child(|child| lefts.push(child));
        let mut lefts = lefts.into_iter();
        right.kind().for_each_child(|child| pending.extend(lefts.next().map(|left| (left, child))));
    }
    true
}

/// Whether two literals that are not equal have the same value as numbers: an integer and a real, or zeros of two
/// signs.
fn numbers_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Real(a), Value::Real(b)) => *a == 0.0 && *b == 0.0,
        (Value::Integer(integer), Value::Real(real)) | (Value::Real(real), Value::Integer(integer)) => {
            // The conversion is exact below 2^63; a real from there on is not an integer of 64 bits.
            #[allow(clippy::cast_possible_truncation)]
            let truncated = *real as i64;
            real.fract() == 0.0 && real.abs() < 9_223_372_036_854_775_808.0 && truncated == *integer
        }
        _ => false,
    }
}

/// Compares reals by their bits, so that a NaN equals itself and -0.0 differs from 0.0.
fn literals_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        (Value::RelativeTime(a), Value::RelativeTime(b)) => a.seconds.to_bits() == b.seconds.to_bits(),
        // A list made by a function is a literal that may contain further such lists.  Comparing them recurses and may
        // need a larger stack.
        _ => stacker::maybe_grow(64 * 1024, 1024 * 1024, || left == right),
    }
}

#[cfg(test)]
mod tests {
    use super::structurally_equal;
    use crate::ad::{Expression, ExpressionKind, UnaryOperator, Value};

    #[test]
    fn depth_harms_nothing() {
        let tower = |height: usize, parentheses: bool| {
            (0..height).fold(Expression::literal(Value::Integer(1)), |inner, _| {
                let minus = Expression::unary(UnaryOperator::Minus, inner);
                if parentheses { ExpressionKind::Parentheses(minus).into() } else { minus }
            })
        };
        assert!(structurally_equal(&tower(300_000, false), &tower(300_000, true)));
        assert!(!structurally_equal(&tower(300_000, false), &tower(300_001, true)));
    }
}
