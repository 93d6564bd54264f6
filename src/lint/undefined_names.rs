//! Checks negations that undefined makes unsafe: `Site != "a"` is undefined, not true, for an ad without `Site`.

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, OperatorGroup, UnaryOperator, Value};
use crate::constraint::{ClauseOperand, conjuncts};

use super::rules;
use super::short_text::short_text;
use super::slip::Slip;
use super::standard_attributes::StandardType;
use super::subexpressions::guarded_names;

/// Reports conjuncts that negate a test of an attribute of the other side which HTCondor does not always set.
pub(super) fn check(expression: &Expression, dialect: Dialect, found: &mut Vec<Slip>) {
    let guarded = guarded_names(expression);
    for clause in conjuncts(expression) {
        let Some(tested) = negated_test(clause) else { continue };
        let is_safe = |name: &Name| guarded.contains(name);
        let Some(name) = optional_name(tested.subject).filter(|name| !is_safe(name)) else { continue };
        let message = format!("this is undefined instead of true for an ad without {name}");
        let slip = Slip::new(&rules::UNSAFE, clause, message);
        found.push(match tested.rewrite {
            Some(rewrite) => slip.with_help(format!("write `{}`", short_text(&rewrite, dialect))).with_rewrite(rewrite),
            None => slip,
        });
    }
}

/// A test that is negated.
struct NegatedTest<'e> {
    /// The operand that decides the test.
    subject: &'e Expression,
    /// The same test, but true if the subject is undefined.
    rewrite: Option<Expression>,
}

/// Returns the test that a clause negates, such as `x != 1`, `!x` or `!member(x, { 1 })`. `None` for any other clause.
fn negated_test(clause: &Expression) -> Option<NegatedTest<'_>> {
    match clause.without_parentheses().kind() {
        ExpressionKind::Binary(BinaryOperator::NotEqual, left, right) => {
            let (subject, value) = if left.as_literal().is_some() { (right, left) } else { (left, right) };
            let value = value.as_literal().filter(|value| !value.is_exceptional())?;
            // `=!=` is case-sensitive, so that it may stand for `!=` only beside a number or a boolean.
            let rewrite = (!matches!(value, Value::String(_)))
                .then(|| Expression::binary(BinaryOperator::Isnt, left.clone(), right.clone()));
            Some(NegatedTest { subject, rewrite: rewrite.or_else(|| Some(or_undefined(subject, clause))) })
        }
        ExpressionKind::Unary(UnaryOperator::Not, operand) => match operand.without_parentheses().kind() {
            ExpressionKind::Call(name, arguments) => {
                let index = match () {
                    () if ["regexp", "stringListMember", "stringListIMember"].iter().any(|known| name.is(known)) => 1,
                    () if name.is("member") => 0,
                    () => return None,
                };
                let tested = |place: usize| arguments.get(place).filter(|argument| optional_name(argument).is_some());
                let subject = tested(index).or_else(|| tested(1 - index))?;
                Some(NegatedTest { subject, rewrite: Some(or_undefined(subject, clause)) })
            }
            ExpressionKind::Binary(operator, left, right) if operator.group() == OperatorGroup::Comparison => {
                let subject = if left.as_literal().is_some() { right } else { left };
                Some(NegatedTest { subject, rewrite: Some(or_undefined(subject, clause)) })
            }
            _ => {
                let rewrite = Expression::binary(
                    BinaryOperator::Isnt,
                    operand.clone(),
                    Expression::literal(Value::Boolean(true)),
                );
                Some(NegatedTest { subject: operand, rewrite: Some(rewrite) })
            }
        },
        _ => None,
    }
}

/// Returns `(isUndefined(subject) || clause)`.
fn or_undefined(subject: &Expression, clause: &Expression) -> Expression {
    let test = Expression::call("isUndefined", [subject.clone()]);
    ExpressionKind::Parentheses(Expression::binary(BinaryOperator::Or, test, clause.clone())).into()
}

/// Returns the name if the expression is an attribute of the other side that HTCondor does not set itself.
fn optional_name(expression: &Expression) -> Option<&Name> {
    match ClauseOperand::of(expression)? {
        ClauseOperand::Other(name) | ClauseOperand::Unqualified(name) if StandardType::of(name).is_none() => Some(name),
        _ => None,
    }
}
