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

#[cfg(test)]
mod tests {
    use super::{is_stricter, request_comparisons};
    use crate::ad::BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
    use crate::ad::{Dialect, Value};
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    #[test]
    fn comparisons_of_attributes_of_the_request_are_found_within_clauses() {
        let options = ParseOptions::new(Dialect::Condor);
        let offer = parse_ad(b"[ Own = 1 ]", options).unwrap();
        // What must be true is marked with `!`, what is sought in a list with `in`.
        for (clause, expected) in [
            ("TARGET.a > 1", "a > 1 !"),
            ("1 < TARGET.a", "a > 1 !"),
            ("a > 1", "a > 1 !"),
            ("Own > 1", ""),
            ("MY.a > 1", ""),
            ("a =?= 1 && b != 2", "a is 1 !; b != 2 !"),
            ("a > 1 || b > 2", "a > 1; b > 2"),
            ("(a > 1 || b) && c", "a > 1; b; c !"),
            ("a && (b && (c || d))", "a !; b !; c; d"),
            ("!(a > 1)", ""),
            ("a + 1 > 2", ""),
            ("(a ?: 5) > 2", "a > 2 !"),
            ("a ?: 5", "a !"),
            ("c > 1 ? a > 1 : b > 2", "a > 1; b > 2"),
            ("ifThenElse(c > 1, a > 1, b > 2)", "b > 2; a > 1"),
            ("stringListMember(\"x\", TARGET.a)", "\"x\" in a !"),
            ("stringListMember(TARGET.a, \"x\")", ""),
            ("stringListMember(\"x\")", ""),
            ("TARGET.a", "a !"),
            ("true", ""),
        ] {
            let parsed = parse_expression(clause.as_bytes(), options).unwrap();
            let found = request_comparisons(&parsed, &offer).into_iter().map(|found| {
                let bound = found.bound.as_ref().map(ToString::to_string);
                let told = match bound {
                    Some(bound) if found.is_list => format!("{bound} in {}", found.name),
                    Some(bound) => format!("{} {} {bound}", found.name, found.operator.symbol()),
                    None => found.name.to_string(),
                };
                if found.is_required { told + " !" } else { told }
            });
            assert_eq!(found.collect::<Vec<_>>().join("; "), expected, "{clause}");
        }
    }

    #[test]
    fn a_stricter_bound_permits_less() {
        for (operator, bound, than, expected) in [
            (Less, 1, 2, true),
            (Less, 2, 2, false),
            (Less, 3, 2, false),
            (LessEqual, 1, 2, true),
            (LessEqual, 2, 2, false),
            (Greater, 3, 2, true),
            (Greater, 2, 2, false),
            (Greater, 1, 2, false),
            (GreaterEqual, 3, 2, true),
            (GreaterEqual, 2, 2, false),
        ] {
            let [bound, than] = [bound, than].map(Value::Integer);
            assert_eq!(is_stricter(operator, &bound, &than), expected, "{bound} {} {than}", operator.symbol());
        }
        assert!(!is_stricter(Less, &Value::string("a"), &Value::Integer(2)));
    }
}
