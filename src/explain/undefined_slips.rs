//! Finds clauses that are undefined where they were meant to be true.

use crate::ad::{
    Ad, BinaryOperator, Expression, ExpressionKind, Name, UnaryOperator, Value, rename_attribute, replace_kinds,
    rewrite_expression,
};
use crate::constraint::ClauseOperand;
use crate::lint;
use crate::protocol::{is_set_by_run, requested_resource};

use super::clause_analysis::ClauseAnalysis;
use super::clauses::parenthesized;
use super::distance::as_number;
use super::evaluation::{OfferTable, RequestContext};

/// Returns a clause that excludes offers, and that is undefined for some, with operators that are never undefined: `a =!= b`
/// for `a != b`, `(a) =!= true` for `!a` and for `a == false`; with what to say of it. `None` for any other clause, and if it reads what nothing has.
pub fn guarded(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
) -> Option<(String, Expression)> {
    let clause = &analysis.clause.expression;
    let counts = table.clause_results(request, &analysis.clause).counts;
    if counts.undefined + counts.error == 0 {
        return None;
    }
    let nowhere = analysis.offer_attributes.iter().filter(|name| table.offers_with(name) == 0);
    let missing: Vec<&Name> = nowhere.chain(&analysis.missing_own).collect();
    if let Some(first) = missing.first() {
        // A function of it may be an error instead: `split(LastRemoteHost, "@")[1]`.
        let reads_missing = |operand: &Expression| {
            operand.parts().any(|part| match ClauseOperand::of(part) {
                Some(ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)) => missing.contains(&name),
                _ => false,
            })
        };
        let corrected = replace_kinds(clause, |kind| match kind {
            ExpressionKind::Binary(BinaryOperator::NotEqual, left, right)
                if reads_missing(left) || reads_missing(right) =>
            {
                let [left, right] =
                    [left, right].map(|side| if reads_host(left, right) { of_slot(side) } else { side.clone() });
                Some(ExpressionKind::Binary(BinaryOperator::Isnt, left, right))
            }
            _ => None,
        })?;
        let is_of_run = missing.iter().all(|name| is_set_by_run(name));
        return is_of_run.then(|| (format!("{first} is not there before the first run"), corrected));
    }
    if counts.undefined == 0 {
        return None;
    }
    if let Some(found) = none_where_missing(analysis, table).or_else(|| decided_where_missing(clause, table)) {
        return Some(found);
    }
    let corrected = match clause.without_parentheses().kind() {
        ExpressionKind::Binary(BinaryOperator::NotEqual, left, right) => {
            Expression::binary(BinaryOperator::Isnt, left.clone(), right.clone())
        }
        ExpressionKind::Unary(UnaryOperator::Not, operand) => {
            let truth = Expression::literal(Value::Boolean(true));
            Expression::binary(BinaryOperator::Isnt, operand.clone(), truth)
        }
        ExpressionKind::Binary(BinaryOperator::Equal, left, right) => {
            let is_false =
                |operand: &Expression| operand.without_parentheses().as_literal() == Some(&Value::Boolean(false));
            let operand = if is_false(right) { left } else { Some(right).filter(|_| is_false(left))? };
            Expression::binary(BinaryOperator::Isnt, operand.clone(), Expression::literal(Value::Boolean(true)))
        }
        _ => return None,
    };
    let name = analysis.offer_attributes.iter().find(|name| table.offers_with(name) < table.offer_count())?;
    Some((format!("a clause is undefined where {name} is missing"), corrected))
}

/// Whether a comparison is of the machine of a slot with `LastRemoteHost`, which is the name of a slot: `slot1@host`.
fn reads_host(left: &Expression, right: &Expression) -> bool {
    let is = |operand: &Expression, known: &str| match ClauseOperand::of(operand) {
        Some(ClauseOperand::Other(name) | ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)) => {
            name.is(known)
        }
        _ => false,
    };
    let is_pair = |one: &Expression, other: &Expression| is(one, "Machine") && is(other, "LastRemoteHost");
    is_pair(left, right) || is_pair(right, left)
}

/// Returns an operand with the name of the slot in place of its machine.
fn of_slot(operand: &Expression) -> Expression {
    rename_attribute(operand, &Name::new("Machine"), &Name::new("Name")).unwrap_or_else(|| operand.clone())
}

/// Returns `a =!= true` for `isUndefined(a)` and `a =?= undefined` where all offers have the attribute, as a truth; with what to
/// say of it. `None` for any other clause.
pub fn never_undefined(clause: &Expression, table: &OfferTable) -> Option<(String, Expression)> {
    let operand = match clause.without_parentheses().kind() {
        ExpressionKind::Call(function, arguments) if function.is("isUndefined") => arguments.first()?,
        ExpressionKind::Binary(BinaryOperator::Is, left, right) if right.as_literal() == Some(&Value::Undefined) => {
            left
        }
        _ => return None,
    };
    let (ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) = ClauseOperand::of(operand)? else {
        return None;
    };
    let is_truth = |ad: &Ad| matches!(ad.get(name).and_then(Expression::as_literal), Some(Value::Boolean(_)));
    let truth = Expression::literal(Value::Boolean(true));
    table.ads.iter().all(is_truth).then(|| {
        let message = format!("{name} is true or false in all slots, and never undefined");
        (message, Expression::binary(BinaryOperator::Isnt, operand.clone(), truth))
    })
}

/// Returns a clause that is content with none of a resource, with 0 where offers lack the attribute: `(GPUs ?: 0) == 0` for
/// `GPUs == 0`; with what to say of it. `None` for any other clause.
fn none_where_missing(analysis: &ClauseAnalysis, table: &OfferTable) -> Option<(String, Expression)> {
    let comparison = analysis.comparison.as_ref().filter(|comparison| comparison.bound_holder.is_none())?;
    let name = comparison.attribute().filter(|name| is_resource(name) && table.offers_with(name) > 0)?;
    let bound = as_number(&comparison.bound)?;
    let takes_none = match comparison.operator {
        BinaryOperator::Equal | BinaryOperator::Is => bound == 0.0,
        BinaryOperator::Less => bound > 0.0,
        BinaryOperator::LessEqual => bound >= 0.0,
        _ => false,
    };
    let clause = &analysis.clause.expression;
    let operand = clause.parts().find(|part| takes_none && **part == comparison.operand)?;
    with_none(clause, operand, name)
}

/// Returns a clause with 0 where offers lack a resource that a condition of `ifThenElse` or `?:` reads, which has no value then;
/// with what to say of it. `None` if there is none.
fn decided_where_missing(clause: &Expression, table: &OfferTable) -> Option<(String, Expression)> {
    let conditions = clause.parts().filter_map(|part| match part.kind() {
        ExpressionKind::Conditional(condition, ..) => Some(condition),
        ExpressionKind::Call(function, arguments) if function.is("ifThenElse") => arguments.first(),
        _ => None,
    });
    let operands = conditions.flat_map(|condition| match condition.without_parentheses().kind() {
        ExpressionKind::Binary(operator, left, right) if lint::is_comparison(*operator) => vec![left, right],
        _ => Vec::new(),
    });
    operands.into_iter().find_map(|operand| {
        let (ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) = ClauseOperand::of(operand)? else {
            return None;
        };
        let is_missing = (1..table.offer_count()).contains(&table.offers_with(name));
        if is_resource(name) && is_missing { with_none(clause, operand, name) } else { None }
    })
}

/// Returns a clause with 0 where offers lack the attribute that an operand is, with what to say of it.
fn with_none(clause: &Expression, operand: &Expression, name: &Name) -> Option<(String, Expression)> {
    let zero = Expression::literal(Value::Integer(0));
    let or_none = parenthesized(&ExpressionKind::Elvis(operand.clone(), zero).into());
    let corrected = rewrite_expression(clause, &mut |part| part.ptr_eq(operand).then(|| or_none.clone()))?;
    Some((format!("a clause is undefined where {name} is missing"), corrected))
}

/// Whether jobs can ask for a resource of this name.
fn is_resource(name: &Name) -> bool {
    requested_resource(&Name::new(&format!("Request{name}"))).is_some()
}
