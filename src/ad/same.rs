//! When two expressions are the same tree, however they are written.

use super::{Expression, Kind};

/// Whether two expressions are the same tree: like `==`, but neither parentheses nor the order of the
/// attributes of ads within count.  Literals are the same to the bit, names and functions in any case.
#[must_use]
pub fn same_tree(left: &Expression, right: &Expression) -> bool {
    let mut pending = vec![(left, right)];
    while let Some((left, right)) = pending.pop() {
        let (left, right) = (left.bare(), right.bare());
        if left.same(right) {
            continue;
        }
        let heads_same = match (left.kind(), right.kind()) {
            (Kind::Literal(_), Kind::Literal(_)) => left == right,
            (Kind::Attribute(a), Kind::Attribute(b))
            | (Kind::RootAttribute(a), Kind::RootAttribute(b))
            | (Kind::Select(_, a), Kind::Select(_, b)) => a == b,
            (Kind::Unary(a, _), Kind::Unary(b, _)) => a == b,
            (Kind::Binary(a, ..), Kind::Binary(b, ..)) => a == b,
            (Kind::Call(a, x), Kind::Call(b, y)) => a == b && x.len() == y.len(),
            (Kind::List(a), Kind::List(b)) => a.len() == b.len(),
            (Kind::Ad(a), Kind::Ad(b)) => a.len() == b.len() && a.iter().all(|one| b.get(one.name).is_some()),
            (Kind::Subscript(..), Kind::Subscript(..))
            | (Kind::Conditional(..), Kind::Conditional(..))
            | (Kind::Elvis(..), Kind::Elvis(..)) => true,
            _ => false,
        };
        if !heads_same {
            return false;
        }
        if let (Kind::Ad(a), Kind::Ad(b)) = (left.kind(), right.kind()) {
            pending.extend(a.iter().filter_map(|one| Some((one.expression, b.get(one.name)?))));
            continue;
        }
        let mut lefts = Vec::new();
        left.kind().for_each_child(|child| lefts.push(child));
        let mut lefts = lefts.into_iter();
        right.kind().for_each_child(|child| pending.extend(lefts.next().map(|left| (left, child))));
    }
    true
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
