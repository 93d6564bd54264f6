//! The parts of a constraint that must all be true.

use crate::ad::{BinaryOperator, Expression, Kind};

/// The expressions that `&&` joins at the top of a constraint, first one first; parentheses around
/// them do not count.
#[must_use]
pub fn conjuncts(constraint: &Expression) -> Vec<&Expression> {
    let mut parts = Vec::new();
    let mut pending = Vec::with_capacity(4);
    pending.push(constraint);
    while let Some(expression) = pending.pop() {
        match expression.bare().kind() {
            Kind::Binary(BinaryOperator::And, left, right) => pending.extend([right, left]),
            _ => parts.push(expression),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::conjuncts;
    use crate::syntax::{Rules, Style, parse_expression, print};

    #[test]
    fn through_parentheses_and_in_order() {
        let tree = parse_expression(b"(a && (b || c)) && d && !(e && f)", Rules::default()).unwrap();
        let parts: Vec<String> =
            conjuncts(&tree).into_iter().map(|part| String::from_utf8(print(part, Style::New)).unwrap()).collect();
        assert_eq!(parts, ["a", "(b || c)", "d", "!(e && f)"]);
    }
}
