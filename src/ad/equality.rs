//! Equality of expressions, either as written or as trees.
//!
//! Comparing keeps an explicit stack instead of recursing, so that deep trees cannot overflow the call stack.

use super::{Expression, Kind, Value};

/// Which differences between two expressions are ignored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Case of names, white space and positions.
    Writing,
    /// Additionally parentheses, and the order of attributes in nested ads.
    Tree,
}

/// Whether two expressions are the same tree: like `==`, but also ignoring parentheses and the order of
/// attributes in nested ads.  Literals are compared by their bits, names without regard to case.
/// O(n) in the size of the trees.
#[must_use]
pub fn same_tree(left: &Expression, right: &Expression) -> bool {
    all_same(vec![(left, right)], Likeness::Tree)
}

/// Whether the expressions of every pair are equal.
pub(super) fn all_same<'a>(mut pending: Vec<(&'a Expression, &'a Expression)>, likeness: Likeness) -> bool {
    while let Some((left, right)) = pending.pop() {
        let (left, right) = match likeness {
            Likeness::Writing => (left, right),
            Likeness::Tree => (left.bare(), right.bare()),
        };
        if left.same(right) {
            continue;
        }
        let heads_same = match (left.kind(), right.kind()) {
            (Kind::Literal(a), Kind::Literal(b)) => literals_same(a, b),
            (Kind::Attribute(a), Kind::Attribute(b))
            | (Kind::RootAttribute(a), Kind::RootAttribute(b))
            | (Kind::Select(_, a), Kind::Select(_, b)) => a == b,
            (Kind::Unary(a, _), Kind::Unary(b, _)) => a == b,
            (Kind::Binary(a, ..), Kind::Binary(b, ..)) => a == b,
            (Kind::Call(a, x), Kind::Call(b, y)) => a == b && x.len() == y.len(),
            (Kind::List(a), Kind::List(b)) => a.len() == b.len(),
            (Kind::Ad(a), Kind::Ad(b)) if likeness == Likeness::Writing => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(x, y)| x.name == y.name)
            }
            (Kind::Ad(a), Kind::Ad(b)) => {
                if a.len() != b.len() || a.iter().any(|one| b.get(one.name).is_none()) {
                    return false;
                }
                pending.extend(a.iter().filter_map(|one| Some((one.expression, b.get(one.name)?))));
                continue;
            }
            (Kind::Subscript(..), Kind::Subscript(..))
            | (Kind::Conditional(..), Kind::Conditional(..))
            | (Kind::Elvis(..), Kind::Elvis(..))
            | (Kind::Parentheses(_), Kind::Parentheses(_)) => true,
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

/// Compares reals by their bits, so that a NaN equals itself and -0.0 differs from 0.0.
fn literals_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        (Value::RelativeTime(a), Value::RelativeTime(b)) => a.seconds.to_bits() == b.seconds.to_bits(),
        // Lists made by functions nest as values, so this comparison recurses.
        _ => stacker::maybe_grow(64 * 1024, 1024 * 1024, || left == right),
    }
}

#[cfg(test)]
mod tests {
    use super::same_tree;
    use crate::ad::{Expression, Kind, Span, UnaryOperator, Value};

    #[test]
    fn depth_harms_nothing() {
        let tower = |height: usize, parentheses: bool| {
            (0..height).fold(Expression::literal(Value::Integer(1)), |inner, _| {
                let minus = Expression::new(Kind::Unary(UnaryOperator::Minus, inner), Span::default());
                if parentheses { Expression::new(Kind::Parentheses(minus), Span::default()) } else { minus }
            })
        };
        assert!(same_tree(&tower(300_000, false), &tower(300_000, true)));
        assert!(!same_tree(&tower(300_000, false), &tower(300_001, true)));
    }
}
