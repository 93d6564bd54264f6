//! Splits a constraint at `&&`.

use crate::ad::{BinaryOperator, Expression, ExpressionKind};

/// Returns the operands of the outermost `&&` chain of a constraint, from left to right: `a && (b && (c))` has the
/// operands `a`, `b` and `(c)`. A constraint that is no `&&` is its own only operand.
#[must_use]
pub fn conjuncts(constraint: &Expression) -> Vec<&Expression> {
    chain_operands(constraint, BinaryOperator::And)
}

/// Returns the operands of the outermost `||` chain of an expression, from left to right, as [`conjuncts`] does for `&&`.
#[must_use]
pub fn disjuncts(expression: &Expression) -> Vec<&Expression> {
    chain_operands(expression, BinaryOperator::Or)
}

/// Calls `visit` with each of the [`conjuncts`] of a constraint, from left to right.
pub fn for_each_conjunct<'e>(constraint: &'e Expression, visit: impl FnMut(&'e Expression)) {
    for_each_operand(constraint, BinaryOperator::And, visit);
}

/// Returns the operands of the outermost chain of `operator` in an expression, as [`conjuncts`] does for `&&`.
pub(super) fn chain_operands(expression: &Expression, operator: BinaryOperator) -> Vec<&Expression> {
    let mut parts = Vec::new();
    for_each_operand(expression, operator, |part| parts.push(part));
    parts
}

fn for_each_operand<'e>(expression: &'e Expression, operator: BinaryOperator, mut visit: impl FnMut(&'e Expression)) {
    let mut pending = Vec::new();
    let mut next = Some(expression);
    while let Some(expression) = next {
        next = match expression.without_parentheses().kind() {
            ExpressionKind::Binary(found, left, right) if *found == operator => {
                pending.push(right);
                Some(left)
            }
            _ => {
                visit(expression);
                pending.pop()
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{conjuncts, disjuncts, for_each_conjunct};
    use crate::ad::Expression;
    use crate::syntax::{ParseOptions, Style, parse_expression, print};

    #[test]
    fn through_parentheses_and_in_order() {
        let tree = parse_expression(b"(a && (b || c)) && d && !(e && f)", ParseOptions::default()).unwrap();
        let parts: Vec<String> =
            conjuncts(&tree).into_iter().map(|part| String::from_utf8(print(part, Style::New)).unwrap()).collect();
        assert_eq!(parts, ["a", "(b || c)", "d", "!(e && f)"]);
    }
    #[test]
    fn a_chain_is_one_of_its_own_operator() {
        for (text, all, any) in [
            ("a", "a", "a"),
            ("a && b", "a b", "a && b"),
            ("a || b || (c || (d))", "a || b || (c || (d))", "a b c (d)"),
            ("a && b || c", "a && b || c", "a && b c"),
            ("((a && b))", "a b", "((a && b))"),
        ] {
            let tree = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
            let shown = |parts: Vec<&Expression>| parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            assert_eq!(shown(conjuncts(&tree)), all, "{text}");
            assert_eq!(shown(disjuncts(&tree)), any, "{text}");
            let mut parts = Vec::new();
            for_each_conjunct(&tree, |part| parts.push(part));
            assert_eq!(shown(parts), all, "{text}");
        }
    }
}
