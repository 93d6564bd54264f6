//! Proposes fixes for a single clause.

use crate::ad::ScopeAd;
use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, Span, Value};
use crate::explain::clause_analysis::ClauseComparison;
use crate::explain::clauses::ExplainedClause;
use crate::explain::distance::{as_number, closest_row_value, relative_distance};
use crate::explain::evaluation::OfferTable;
use crate::explain::explainer::{RequestAnalysis, near};
use crate::explain::failure_reason::FailureReason;

use super::Proposal;
use super::edit::{RequestEdit, rewrite_expression};

/// Proposes fixes of a clause, other than dropping it, with which some of `rows` meet it.
pub fn propose_fixes(
    survey: &mut OfferTable,
    situation: &RequestAnalysis,
    names: &[Name],
    place: usize,
    rows: &[usize],
) -> Vec<Proposal> {
    let clause = &situation.clauses[place];
    let expression = &clause.analysis.clause.expression;
    let mut proposals: Vec<Proposal> = Vec::new();
    let mut slip = |to: Option<Expression>| {
        let edit = to.map(|to| RequestEdit::Rewrite { clause: place, to });
        proposals.extend(edit.map(|edit| Proposal { edits: vec![edit], size: 0.0 }));
    };
    match &clause.failure {
        Some(FailureReason::UnknownFunction(name, near)) => {
            for known in near {
                slip(rename_function(expression, name, known));
            }
        }
        Some(FailureReason::MissingOwnAttribute(name, near)) => {
            for known in near {
                slip(rename_attribute(expression, name, known));
            }
        }
        Some(FailureReason::Shadowed(name)) => slip(qualify_as_other(expression, name, survey.context.dialect)),
        Some(FailureReason::Precedence(_)) => slip(regroup(expression)),
        Some(FailureReason::MissingAttribute(name)) => {
            for (known, _) in near(name, survey, names) {
                slip(rename_attribute(expression, name, &known));
            }
        }
        Some(FailureReason::CaseMismatch { .. }) => {
            slip(rewrite_expression(expression, &mut |part| match part.kind() {
                ExpressionKind::Binary(BinaryOperator::Is, left, right) => Some(Expression::new(
                    ExpressionKind::Binary(BinaryOperator::Equal, left.clone(), right.clone()),
                    part.span(),
                )),
                _ => None,
            }));
        }
        _ => {}
    }
    let Some(asked) = &clause.analysis.comparison else { return proposals };
    if let Some(FailureReason::TypeMismatch { .. }) = &clause.failure
        && let Some(value) = convert_type(&asked.bound)
    {
        proposals
            .extend(relax_bound(asked, situation, place, value).map(|edit| Proposal { edits: vec![edit], size: 0.0 }));
    }
    let answers = survey.clause_results(&situation.request, &ExplainedClause::detached(asked.operand.clone()));
    if let Some(value) = closest_row_value(asked, &answers, rows.iter().copied(), survey) {
        let size = relative_distance(&value, &asked.bound);
        proposals.extend(relax_bound(asked, situation, place, value).map(|edit| Proposal { edits: vec![edit], size }));
    }
    proposals
}

/// Returns the rows that meet a clause after the fix. Only a fix that sets an attribute narrows `rows`.
pub fn rows_meeting_fix(
    survey: &mut OfferTable,
    situation: &RequestAnalysis,
    place: usize,
    mend: &Proposal,
    rows: Vec<usize>,
) -> Vec<usize> {
    let value = mend.edits.iter().find_map(|edit| match edit {
        RequestEdit::Set { to, .. } => Some(to.clone()),
        _ => None,
    });
    let (Some(asked), Some(_)) = (&situation.clauses[place].analysis.comparison, value) else { return rows };
    let answers = survey.clause_results(&situation.request, &ExplainedClause::detached(asked.operand.clone()));
    let Some(best) = closest_row_value(asked, &answers, rows.iter().copied(), survey) else { return rows };
    rows.into_iter().filter(|row| answers.values[answers.group_of(*row)] == best).collect()
}

/// Relaxes a comparison so that `value` meets it: sets the request's attribute that holds the bound, or else rewrites
/// the clause. `None` if nothing would change, or if no such bound exists.
fn relax_bound(
    asked: &ClauseComparison,
    situation: &RequestAnalysis,
    place: usize,
    value: Value,
) -> Option<RequestEdit> {
    let value = convert_to_bound_type(value, asked.operator, &asked.bound);
    if let Some(name) = &asked.bound_attribute {
        let to = closest_bound(value, asked.operator)?;
        let from = situation.request.ad.get(name).cloned();
        return (to != asked.bound).then_some(RequestEdit::Set { name: name.clone(), from, to });
    }
    let to = relaxed_comparison(&asked.operand, asked.operator, value, asked.is_reversed, asked.operand.span())?;
    Some(RequestEdit::Rewrite { clause: place, to })
}

/// Builds a comparison that `value` meets; strict operators become inclusive. `is_exchanged` puts the value on the
/// left. `None` if the operator cannot be exchanged.
pub fn relaxed_comparison(
    what: &Expression,
    operator: BinaryOperator,
    value: Value,
    is_exchanged: bool,
    span: Span,
) -> Option<Expression> {
    let operator = match operator {
        BinaryOperator::Greater => BinaryOperator::GreaterEqual,
        BinaryOperator::Less => BinaryOperator::LessEqual,
        other => other,
    };
    let constant = Expression::literal(value);
    let (operator, left, right) =
        if is_exchanged { (operator.converse()?, constant, what.clone()) } else { (operator, what.clone(), constant) };
    Some(Expression::new(ExpressionKind::Binary(operator, left, right), span))
}

/// Returns the closest bound that `value` meets under `operator`. For a strict operator it is the adjacent whole
/// number, and `None` for a value that is not a number or would overflow.
pub fn closest_bound(value: Value, operator: BinaryOperator) -> Option<Value> {
    Some(match (value, operator) {
        (Value::Integer(value), BinaryOperator::Greater) => Value::Integer(value.checked_sub(1)?),
        (Value::Integer(value), BinaryOperator::Less) => Value::Integer(value.checked_add(1)?),
        (Value::Real(value), BinaryOperator::Greater) => Value::Real((value - 1.0).ceil()),
        (Value::Real(value), BinaryOperator::Less) => Value::Real((value + 1.0).floor()),
        (_, BinaryOperator::Greater | BinaryOperator::Less) => return None,
        (value, _) => value,
    })
}

/// Converts a real to an integer if the bound is an integer, rounded so that the comparison does not become stricter.
/// Other values and reals beyond 2^53 are returned unchanged.
#[allow(clippy::cast_possible_truncation)] // below 2^53
pub fn convert_to_bound_type(value: Value, operator: BinaryOperator, bound: &Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let (Value::Real(real), Value::Integer(_)) = (&value, bound) else { return value };
    let whole = match operator {
        BinaryOperator::Less | BinaryOperator::LessEqual => real.ceil(),
        _ => real.floor(),
    };
    if whole.abs() < EXACT { Value::Integer(whole as i64) } else { value }
}

/// Converts a string that spells a number to the number, and a number to a string. `None` for other values.
pub fn convert_type(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => {
            let text = text.to_str();
            let integer = text.trim().parse().ok().map(Value::Integer);
            integer.or_else(|| text.trim().parse().ok().filter(|real: &f64| real.is_finite()).map(Value::Real))
        }
        Value::Integer(integer) => Some(Value::string(integer.to_string())),
        value => as_number(value).map(|real| Value::string(real.to_string())),
    }
}

fn rename_attribute(expression: &Expression, name: &Name, known: &Name) -> Option<Expression> {
    rewrite_expression(expression, &mut |part| match part.kind() {
        ExpressionKind::Attribute(found) if found == name => {
            Some(Expression::new(ExpressionKind::Attribute(known.clone()), part.span()))
        }
        ExpressionKind::Select(of, found) if found == name => {
            Some(Expression::new(ExpressionKind::Select(of.clone(), known.clone()), part.span()))
        }
        _ => None,
    })
}

/// Qualifies an unqualified name as the other side's attribute.
fn qualify_as_other(expression: &Expression, name: &Name, dialect: Dialect) -> Option<Expression> {
    let side = Name::new(ScopeAd::Other.as_str(dialect));
    rewrite_expression(expression, &mut |part| match part.kind() {
        ExpressionKind::Attribute(found) if found == name => {
            let side = Expression::new(ExpressionKind::Attribute(side.clone()), part.span());
            Some(Expression::new(ExpressionKind::Select(side, name.clone()), part.span()))
        }
        _ => None,
    })
}

fn rename_function(expression: &Expression, name: &Name, known: &str) -> Option<Expression> {
    rewrite_expression(expression, &mut |part| match part.kind() {
        ExpressionKind::Call(found, arguments) if found == name => {
            Some(Expression::new(ExpressionKind::Call(Name::new(known), arguments.clone()), part.span()))
        }
        _ => None,
    })
}

/// Regroups `a > b is c ? d : e` as `a > (b is c ? d : e)`. `None` for an expression of another form.
fn regroup(expression: &Expression) -> Option<Expression> {
    let ExpressionKind::Conditional(condition, yes, no) = expression.without_parentheses().kind() else { return None };
    let ExpressionKind::Binary(outer, left, other) = condition.kind() else { return None };
    let ExpressionKind::Binary(inner, first, second) = left.kind() else { return None };
    let span = expression.span();
    let condition = Expression::new(ExpressionKind::Binary(*outer, second.clone(), other.clone()), span);
    let chosen = Expression::new(ExpressionKind::Conditional(condition, yes.clone(), no.clone()), span);
    let chosen = Expression::new(ExpressionKind::Parentheses(chosen), span);
    Some(Expression::new(ExpressionKind::Binary(*inner, first.clone(), chosen), span))
}
