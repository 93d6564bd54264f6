//! Mistakes in writing that both the linter and the explanations recognize.

use crate::ad::{
    BinaryOperator, ByteString, Dialect, Expression, ExpressionKind, Name, OperatorGroup, UnaryOperator, Value,
};
use crate::eval::{find_function_in, similar_functions};
use crate::protocol::{closest_attributes, renamed_attribute};

use super::standard_attributes::StandardType;

/// A comparison of the result of a comparison, such as `a > b is c`, which is read as `(a > b) is c`.
pub struct ChainedComparison<'e> {
    /// The first operand of the inner comparison.
    pub first: &'e Expression,
    /// The operator of the inner comparison.
    pub inner: BinaryOperator,
    /// The second operand of the inner comparison.
    pub second: &'e Expression,
    /// The operator that compares the result.
    pub outer: BinaryOperator,
    /// The operand that the result is compared with.
    pub last: &'e Expression,
}

impl<'e> ChainedComparison<'e> {
    /// Recognizes a chained comparison. Returns `None` for any other expression, and if the left operand has
    /// parentheses.
    #[must_use]
    pub fn of(expression: &'e Expression) -> Option<Self> {
        let ExpressionKind::Binary(outer, left, last) = expression.kind() else { return None };
        let ExpressionKind::Binary(inner, first, second) = left.kind() else { return None };
        let is_chain = is_comparison(*outer) && is_comparison(*inner);
        is_chain.then_some(ChainedComparison { first, inner: *inner, second, outer: *outer, last })
    }
}

/// A conditional without parentheses whose condition takes more than was probably meant, as `a - b > m is undefined ? x : y`
/// and `a && b ? c : d`.
pub struct GreedyConditional<'e> {
    /// The part of the condition that was probably meant to stand before the conditional: `a - b > m is undefined`, or `a`.
    pub taken: &'e Expression,
    /// The operator that takes the conditional instead: `>` or `&&`.
    pub operator: BinaryOperator,
    /// The expression with the conditional in parentheses: `a - b > (m is undefined ? x : y)`.
    pub regrouped: Expression,
}

impl<'e> GreedyConditional<'e> {
    /// Recognizes such a conditional. `None` for any other expression.
    #[must_use]
    pub fn of(expression: &'e Expression) -> Option<Self> {
        let ExpressionKind::Conditional(condition, yes, no) = expression.without_parentheses().kind() else {
            return None;
        };
        let conditional = |condition: Expression| -> Expression {
            let kind = ExpressionKind::Conditional(condition, yes.clone(), no.clone());
            ExpressionKind::Parentheses(kind.into()).into()
        };
        if let Some(chain) = ChainedComparison::of(last_operand(condition))
            && chain.outer.group() == OperatorGroup::Identity
            && chain.inner.group() == OperatorGroup::Comparison
        {
            let chosen = conditional(Expression::binary(chain.outer, chain.second.clone(), chain.last.clone()));
            let compared = Expression::binary(chain.inner, chain.first.clone(), chosen);
            let regrouped = match condition.kind() {
                ExpressionKind::Binary(operator, before, _) if operator.group() == OperatorGroup::Logic => {
                    Expression::binary(*operator, before.clone(), compared)
                }
                _ => compared,
            };
            return Some(GreedyConditional { taken: last_operand(condition), operator: chain.inner, regrouped });
        }
        let ExpressionKind::Binary(operator, before, last) = condition.kind() else { return None };
        let literal = |branch: &Expression| match branch.without_parentheses().as_literal() {
            Some(Value::Boolean(truth)) => Some(*truth),
            _ => None,
        };
        // The grouping does not matter to `a && b ? c : false`.
        let matters = match operator {
            BinaryOperator::And => literal(no) != Some(false),
            BinaryOperator::Or => literal(yes) != Some(true),
            _ => false,
        };
        let is_condition =
            |branch: &Expression| literal(branch).is_some() || is_condition(branch.without_parentheses());
        (matters && is_condition(yes) && is_condition(no)).then(|| GreedyConditional {
            taken: before,
            operator: *operator,
            regrouped: Expression::binary(*operator, before.clone(), conditional(last.clone())),
        })
    }
}

/// Returns the last operand of `&&` and `||`; the expression itself if it is neither.
fn last_operand(expression: &Expression) -> &Expression {
    match expression.kind() {
        ExpressionKind::Binary(operator, _, last) if operator.group() == OperatorGroup::Logic => last,
        _ => expression,
    }
}

/// Whether an expression is a comparison, or one or several joined by logic.
fn is_condition(expression: &Expression) -> bool {
    match expression.kind() {
        ExpressionKind::Binary(operator, ..) => is_comparison(*operator) || operator.group() == OperatorGroup::Logic,
        ExpressionKind::Unary(UnaryOperator::Not, _) => true,
        _ => false,
    }
}

/// Whether the operator compares two values.
#[must_use]
pub fn is_comparison(operator: BinaryOperator) -> bool {
    matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity)
}

/// Returns the names of similar functions if the dialect has no function of this name. `None` if the function exists.
#[must_use]
pub fn unknown_function(name: &Name, dialect: Dialect) -> Option<Vec<&'static str>> {
    find_function_in(name, dialect).is_none().then(|| similar_functions(name.as_str(), dialect))
}

/// Whether two strings differ, but only in case.
#[must_use]
pub fn differs_in_case(one: &ByteString, other: &ByteString) -> bool {
    one.eq_ignore_case(other) && one != other
}

/// Returns those of `names` that are similar to `name`, or the one that HTCondor has given the attribute since, each with
/// the number of ads that have an attribute of this name. Leaves out names that no ad has. Returns no similar names for
/// the name of a standard attribute, which is not a misspelt name.
pub fn similar_names<'n>(
    name: &Name,
    names: impl Iterator<Item = &'n Name>,
    ads_with: impl Fn(&Name) -> usize,
) -> Vec<(Name, usize)> {
    let names = names.map(Name::as_str);
    let near = if StandardType::of(name).is_some() {
        renamed_attribute(name.as_str(), names).into_iter().collect()
    } else {
        closest_attributes(name.as_str(), names)
    };
    let near = near.into_iter().map(Name::new);
    near.map(|near| (ads_with(&near), near)).filter(|(ads, _)| *ads > 0).map(|(ads, near)| (near, ads)).collect()
}
