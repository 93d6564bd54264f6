//! The comparisons of the request's attributes within clauses of offers.

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, OperatorGroup, Value};
use crate::constraint::{ClauseOperand, orient_comparison};
use crate::explain::distance::as_number;
use crate::explain::offered_values::LIST_FUNCTIONS;

/// A comparison `name operator bound` of an attribute of the request within an offer's clause.
pub struct RequestComparison {
    pub name: Name,
    pub operator: BinaryOperator,
    /// The bound; `None` for an attribute that must be true.
    pub bound: Option<Expression>,
    /// Whether the clause is true only if the comparison is. If not, it may be one of several alternatives.
    pub is_required: bool,
    /// Whether the attribute is a list in which the bound is sought.
    pub is_list: bool,
}

impl RequestComparison {
    /// Whether another comparison is of the same attribute by the same operator.
    pub fn is_of_same(&self, other: &Self) -> bool {
        self.name == other.name && self.operator == other.operator
    }

    /// Whether the comparison with a value is an upper or a lower bound of a number.
    pub fn is_bound(&self, value: &Value) -> bool {
        use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
        matches!(self.operator, Less | LessEqual | Greater | GreaterEqual) && as_number(value).is_some()
    }
}

/// Returns the comparisons within an offer's clause that compare an attribute of the request.
pub fn request_comparisons(clause: &Expression, ad: &Ad) -> Vec<RequestComparison> {
    let other = |expression: &Expression| {
        // Read `TARGET.x ?: 5` as `TARGET.x`, because the default 5 counts only if the request lacks `x`.
        let named = match expression.without_parentheses().kind() {
            ExpressionKind::Elvis(named, _) => named,
            _ => expression,
        };
        match ClauseOperand::of(named) {
            Some(ClauseOperand::Other(name)) => Some(name.clone()),
            Some(ClauseOperand::Unqualified(name)) if ad.get(name).is_none() => Some(name.clone()),
            _ => None,
        }
    };
    let mut found = Vec::new();
    let mut pending = vec![(clause, true)];
    while let Some((expression, is_required)) = pending.pop() {
        let comparison =
            |(name, operator, bound)| RequestComparison { name, operator, bound, is_required, is_list: false };
        match expression.kind() {
            ExpressionKind::Binary(operator, left, right)
                if matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity) =>
            {
                let oriented = orient_comparison(*operator, left, right, other, |bound| Some(Some(bound.clone())));
                found.extend(oriented.into_iter().map(comparison));
            }
            ExpressionKind::Binary(operator, left, right) if operator.group() == OperatorGroup::Logic => {
                let is_required = is_required && *operator == BinaryOperator::And;
                pending.extend([(right, is_required), (left, is_required)]);
            }
            ExpressionKind::Parentheses(inner) => pending.push((inner, is_required)),
            // Each branch may be the one that decides.
            ExpressionKind::Conditional(_, yes, no) => pending.extend([(no, false), (yes, false)]),
            ExpressionKind::Call(name, arguments) if name.is("ifThenElse") => {
                pending.extend(arguments.iter().skip(1).map(|branch| (branch, false)));
            }
            ExpressionKind::Call(name, arguments) if LIST_FUNCTIONS.iter().any(|known| name.is(known)) => {
                let [item, list, ..] = &**arguments else { continue };
                let item = Some(item.clone());
                let list = other(list).map(|name| comparison((name, BinaryOperator::Equal, item)));
                found.extend(list.map(|list| RequestComparison { is_list: true, ..list }));
            }
            _ => found.extend(other(expression).map(|name| comparison((name, BinaryOperator::Equal, None)))),
        }
    }
    found
}

/// Whether a bound permits less than another one of the same operator.
pub fn is_stricter(operator: BinaryOperator, bound: &Value, than: &Value) -> bool {
    let is_upper = matches!(operator, BinaryOperator::Less | BinaryOperator::LessEqual);
    as_number(bound)
        .zip(as_number(than))
        .is_some_and(|(bound, than)| if is_upper { bound < than } else { bound > than })
}
