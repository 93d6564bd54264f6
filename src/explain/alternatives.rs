//! The alternatives of a clause. The clause is true if one of them is true.

use crate::ad::{BinaryOperator, Expression, ExpressionKind, UnaryOperator, Value};
use crate::constraint::disjuncts;

/// Maximum nesting depth of conditionals that are taken apart.
const MAX_CONDITIONAL_DEPTH: usize = 4;

/// A condition that is sufficient for a clause to be true.
pub struct ClauseAlternative {
    /// The condition under which a branch counts. `None` for an operand of a disjunction.
    pub guard: Option<Expression>,
    /// The operand, or the guard and the branch.
    pub expression: Expression,
}

/// Returns the alternatives of a clause: the operands of a disjunction, and each branch of `?:` and `ifThenElse` with
/// its guard. `None` if there is nothing to take apart. A branch that is a constant other than `true` is not an
/// alternative.
pub fn alternatives(clause: &Expression) -> Option<Vec<ClauseAlternative>> {
    let operands = disjuncts(clause);
    let is_choice = operands.len() > 1 || clause.conditional().is_some();
    is_choice.then(|| operands.into_iter().flat_map(|operand| taken_apart(operand, 0)).collect())
}

fn taken_apart(expression: &Expression, depth: usize) -> Vec<ClauseAlternative> {
    let Some([condition, branches @ ..]) = expression.conditional().filter(|_| depth < MAX_CONDITIONAL_DEPTH) else {
        return vec![ClauseAlternative { guard: None, expression: expression.clone() }];
    };
    let mut found = Vec::new();
    for (branch, condition) in branches.into_iter().zip([condition.clone(), negated(condition)]) {
        match branch.as_literal() {
            Some(Value::Boolean(true)) => {
                found.push(ClauseAlternative { guard: None, expression: condition });
            }
            Some(_) => {}
            None => found.extend(taken_apart(branch, depth + 1).into_iter().map(|part| {
                let guard = part.guard.map_or(condition.clone(), |inner| Expression::and(condition.clone(), inner));
                ClauseAlternative {
                    guard: Some(guard),
                    expression: Expression::and(condition.clone(), part.expression),
                }
            })),
        }
    }
    found
}

/// Returns the negation of a condition. That of an identity test has the other operator.
fn negated(condition: &Expression) -> Expression {
    match condition.without_parentheses().kind() {
        ExpressionKind::Binary(BinaryOperator::Is, left, right) => {
            Expression::binary(BinaryOperator::Isnt, left.clone(), right.clone())
        }
        ExpressionKind::Binary(BinaryOperator::Isnt, left, right) => {
            Expression::binary(BinaryOperator::Is, left.clone(), right.clone())
        }
        _ => Expression::unary(UnaryOperator::Not, condition.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ClauseAlternative, alternatives};
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, Style, parse_expression, print};

    #[test]
    fn of_disjunctions_and_conditionals() {
        for (text, expected) in [
            ("a && b", ""),
            ("a || b || c", "a; b; c"),
            ("ifThenElse(a isnt undefined, b > a, c)", "a isnt undefined && b > a; a is undefined && c"),
            ("(a > 1 ? b : false)", "a > 1 && b"),
            ("a || (b ? true : c || d)", "a; b; !b && (c || d)"),
            ("ifThenElse(a, ifThenElse(b, c, d), undefined)", "a && (b && c); a && (!b && d)"),
            ("ifThenElse(a, b)", ""),
        ] {
            let clause = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let printed = |part: ClauseAlternative| String::from_utf8(print(&part.expression, Style::New)).unwrap();
            let found: Vec<String> = alternatives(&clause).into_iter().flatten().map(printed).collect();
            assert_eq!(found.join("; "), expected, "{text}");
        }
    }
}
