//! Finds mistakes in clauses that read lists.

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Value, rewrite_expression};
use crate::protocol::words;

use super::clause_analysis::ClauseAnalysis;
use super::distance::as_number;
use super::evaluation::{OfferTable, RequestContext};
use super::offered_values::LIST_FUNCTIONS;

/// Returns the clause with the size of a list of the offers in place of the list, if it compares that with a number; with what
/// to say of it. `None` for any other clause.
pub fn list_as_number(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
) -> Option<(String, Expression)> {
    let comparison = analysis.comparison.as_ref().filter(|comparison| as_number(&comparison.bound).is_some())?;
    let values = table.expression_values(request, &comparison.operand);
    let mut present = values.weighted_values().map(|(value, _)| value).filter(|value| !value.is_exceptional());
    let is_list = |value: &Value| matches!(value, Value::List(_));
    if !present.next().is_some_and(is_list) || !present.all(is_list) {
        return None;
    }
    let clause = &analysis.clause.expression;
    let operand = clause.parts().find(|part| **part == comparison.operand)?;
    let size = Expression::call("size", [operand.clone()]);
    let corrected = rewrite_expression(clause, &mut |part| part.ptr_eq(operand).then(|| size.clone()))?;
    Some((format!("{} is a list", comparison.attribute()?), corrected))
}

/// Returns the clause with a search in a list in place of an equality, if offers have several items in the string that is compared;
/// with what to say of it. `None` for any other clause.
pub fn item_of_list(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
) -> Option<(String, Expression)> {
    let comparison = analysis.comparison.as_ref()?;
    let is_equality = matches!(comparison.operator, BinaryOperator::Equal | BinaryOperator::Is);
    let Value::String(wanted) = &comparison.bound else { return None };
    let (wanted, name) = (wanted.to_str(), comparison.attribute().filter(|_| is_equality)?);
    let values = table.expression_values(request, &comparison.operand);
    let is_item = |value: &Value| match value {
        Value::String(list) => {
            let list = list.to_str();
            words(&list).count() > 1 && words(&list).any(|item| item.eq_ignore_ascii_case(&wanted))
        }
        _ => false,
    };
    values.weighted_values().any(|(value, _)| is_item(value)).then_some(())?;
    let item = Expression::literal(comparison.bound.clone());
    let corrected = Expression::call("stringListIMember", [item, comparison.operand.clone()]);
    Some((format!("{name} is a list of several"), corrected))
}

/// Returns the clause without the separator of a call such as `stringListMember(TARGET.Machine, "a b", ",")`, whose list has none;
/// with what to say of it. `None` if there is no such call.
pub fn other_separator(clause: &Expression) -> Option<(String, Expression)> {
    let string = |operand: &Expression| match operand.without_parentheses().as_literal() {
        Some(Value::String(text)) => Some(text.to_str().into_owned()),
        _ => None,
    };
    let (part, corrected) = clause.parts().find_map(|part| {
        let ExpressionKind::Call(function, arguments) = part.kind() else { return None };
        let [item, list, separator] = &**arguments else { return None };
        let (items, separator) = (string(list)?, string(separator)?);
        let is_member = LIST_FUNCTIONS.iter().any(|known| function.is(known));
        let is_one = !items.trim().contains(|letter: char| separator.contains(letter));
        let is_other = is_member && is_one && words(&items).count() > 1;
        is_other.then(|| (part, Expression::call(function.as_str(), [item.clone(), list.clone()])))
    })?;
    let corrected = rewrite_expression(clause, &mut |known| known.ptr_eq(part).then(|| corrected.clone()))?;
    Some(("the third argument is the separator, and the list has another one".to_owned(), corrected))
}

#[cfg(test)]
mod tests {
    use super::other_separator;
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn a_separator_that_stands_nowhere_in_the_list_is_left_out() {
        for (clause, expected) in [
            ("stringListMember(TARGET.OpSys, \"a b\", \",\")", Some("stringListMember(TARGET.OpSys, \"a b\")")),
            (
                "x && !stringListIMember(TARGET.OpSys, \"a,b\", \"|\")",
                Some("x && !stringListIMember(TARGET.OpSys, \"a,b\")"),
            ),
            // A list of one item needs no separator, and a list in which it stands has the right one.
            ("stringListMember(TARGET.OpSys, \"a\", \",\")", None),
            ("stringListMember(TARGET.OpSys, \"a,b\", \",\")", None),
            ("stringListMember(TARGET.OpSys, \"a b\", \", \")", None),
            ("stringListMember(TARGET.OpSys, \"a b\")", None),
            ("stringListMember(TARGET.OpSys, TARGET.List, \",\")", None),
            ("ifThenElse(TARGET.HasX, \"a b\", \",\")", None),
        ] {
            let parsed = parse_expression(clause.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let found = other_separator(&parsed).map(|(_, corrected)| corrected.to_string());
            assert_eq!(found.as_deref(), expected, "{clause}");
        }
    }
}
