//! Splits a constraint at `&&`.

use crate::ad::{BinaryOperator, Expression, ExpressionKind};

/// Returns the operands of the `&&` chain at the top of a constraint, from left to right. Parentheses around operands
/// and around parts of the chain are skipped.
#[must_use]
pub fn conjuncts(constraint: &Expression) -> Vec<&Expression> {
    let (mut parts, mut pending) = (Vec::new(), Vec::new());
    let mut next = Some(constraint);
    while let Some(expression) = next {
        next = if let ExpressionKind::Binary(BinaryOperator::And, left, right) = expression.without_parentheses().kind()
        {
            pending.push(right);
            Some(left)
        } else {
            parts.push(expression);
            pending.pop()
        };
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::conjuncts;
    use crate::syntax::{ParseOptions, Style, parse_expression, print};

    #[test]
    fn through_parentheses_and_in_order() {
        let tree = parse_expression(b"(a && (b || c)) && d && !(e && f)", ParseOptions::default()).unwrap();
        let parts: Vec<String> =
            conjuncts(&tree).into_iter().map(|part| String::from_utf8(print(part, Style::New)).unwrap()).collect();
        assert_eq!(parts, ["a", "(b || c)", "d", "!(e && f)"]);
    }
}
