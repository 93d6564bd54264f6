//! Proposes fixes for a single clause.

use crate::ad::{BinaryOperator, Dialect, Expression, Kind, Name, Span, Value};
use crate::explain::clause_analysis::Asked;
use crate::explain::clauses::Clause;
use crate::explain::distance::{best, distance, number};
use crate::explain::evaluation::Survey;
use crate::explain::explainer::{Situation, near};
use crate::explain::failure_reason::Fault;

use super::Proposal;
use super::edit::{Edit, rewritten};

/// Proposes fixes of a clause, other than dropping it, with which some of `rows` meet it.
pub fn mends(
    survey: &mut Survey,
    situation: &Situation,
    names: &[Name],
    place: usize,
    rows: &[usize],
) -> Vec<Proposal> {
    let clause = &situation.clauses[place];
    let expression = &clause.examined.clause.expression;
    let mut proposals: Vec<Proposal> = Vec::new();
    let mut slip = |to: Option<Expression>| {
        let edit = to.map(|to| Edit::Rewrite { clause: place, to });
        proposals.extend(edit.map(|edit| Proposal { edits: vec![edit], size: 0.0 }));
    };
    match &clause.fault {
        Some(Fault::Function(name, near)) => near.iter().for_each(|known| slip(recalled(expression, name, known))),
        Some(Fault::Lacking(name, near)) => near.iter().for_each(|known| slip(renamed(expression, name, known))),
        Some(Fault::Shadowed(name)) => slip(theirs(expression, name, survey.context.dialect)),
        Some(Fault::Precedence(_)) => slip(as_it_seems(expression)),
        Some(Fault::Missing(name)) => {
            for (known, _) in near(name, survey, names) {
                slip(renamed(expression, name, &known));
            }
        }
        Some(Fault::Case { .. }) => slip(rewritten(expression, &mut |part| match part.kind() {
            Kind::Binary(BinaryOperator::Is, left, right) => {
                Some(Expression::new(Kind::Binary(BinaryOperator::Equal, left.clone(), right.clone()), part.span()))
            }
            _ => None,
        })),
        _ => {}
    }
    let Some(asked) = &clause.examined.asked else { return proposals };
    if let Some(Fault::Types { .. }) = &clause.fault
        && let Some(value) = of_other_type(&asked.bound)
    {
        proposals
            .extend(bound_to(asked, situation, place, value).map(|edit| Proposal { edits: vec![edit], size: 0.0 }));
    }
    let answers = survey.answers(&situation.asking, &Clause::of(asked.what.clone()));
    if let Some(value) = best(asked, &answers, rows.iter().copied(), survey) {
        let size = distance(&value, &asked.bound);
        proposals.extend(bound_to(asked, situation, place, value).map(|edit| Proposal { edits: vec![edit], size }));
    }
    proposals
}

/// Returns the rows that meet a clause after the fix. Only a fix that sets an attribute narrows `rows`.
pub fn reached(
    survey: &mut Survey,
    situation: &Situation,
    place: usize,
    mend: &Proposal,
    rows: Vec<usize>,
) -> Vec<usize> {
    let value = mend.edits.iter().find_map(|edit| match edit {
        Edit::Set { to, .. } => Some(to.clone()),
        _ => None,
    });
    let (Some(asked), Some(_)) = (&situation.clauses[place].examined.asked, value) else { return rows };
    let answers = survey.answers(&situation.asking, &Clause::of(asked.what.clone()));
    let Some(best) = best(asked, &answers, rows.iter().copied(), survey) else { return rows };
    rows.into_iter().filter(|row| answers.values[answers.group(*row)] == best).collect()
}

/// Relaxes a comparison so that `value` meets it: sets the request's attribute that holds the bound, or else rewrites
/// the clause. `None` if nothing would change, or if no such bound exists.
fn bound_to(asked: &Asked, situation: &Situation, place: usize, value: Value) -> Option<Edit> {
    let value = like(value, asked.operator, &asked.bound);
    if let Some(name) = &asked.own {
        let to = beyond(value, asked.operator)?;
        let from = situation.asking.ad.get(name).cloned();
        return (to != asked.bound).then_some(Edit::Set { name: name.clone(), from, to });
    }
    let to = asks_no_more(&asked.what, asked.operator, value, asked.is_exchanged, asked.what.span())?;
    Some(Edit::Rewrite { clause: place, to })
}

/// Builds a comparison that `value` meets; strict operators become inclusive. `is_exchanged` puts the value on the
/// left. `None` if the operator cannot be exchanged.
pub fn asks_no_more(
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
        if is_exchanged { (operator.exchanged()?, constant, what.clone()) } else { (operator, what.clone(), constant) };
    Some(Expression::new(Kind::Binary(operator, left, right), span))
}

/// Returns the closest bound that `value` meets under `operator`. For a strict operator it is the adjacent whole
/// number, and `None` for a value that is not a number or would overflow.
pub fn beyond(value: Value, operator: BinaryOperator) -> Option<Value> {
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
pub fn like(value: Value, operator: BinaryOperator, bound: &Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let (Value::Real(real), Value::Integer(_)) = (&value, bound) else { return value };
    let whole = match operator {
        BinaryOperator::Less | BinaryOperator::LessEqual => real.ceil(),
        _ => real.floor(),
    };
    if whole.abs() < EXACT { Value::Integer(whole as i64) } else { value }
}

/// Converts a string that spells a number to the number, and a number to a string. `None` for other values.
pub fn of_other_type(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => {
            let text = text.to_str();
            let integer = text.trim().parse().ok().map(Value::Integer);
            integer.or_else(|| text.trim().parse().ok().filter(|real: &f64| real.is_finite()).map(Value::Real))
        }
        Value::Integer(integer) => Some(Value::string(integer.to_string())),
        value => number(value).map(|real| Value::string(real.to_string())),
    }
}

fn renamed(expression: &Expression, name: &Name, known: &Name) -> Option<Expression> {
    rewritten(expression, &mut |part| match part.kind() {
        Kind::Attribute(found) if found == name => Some(Expression::new(Kind::Attribute(known.clone()), part.span())),
        Kind::Select(of, found) if found == name => {
            Some(Expression::new(Kind::Select(of.clone(), known.clone()), part.span()))
        }
        _ => None,
    })
}

/// Qualifies an unqualified name as the other side's attribute.
fn theirs(expression: &Expression, name: &Name, dialect: Dialect) -> Option<Expression> {
    let side = Name::new(if dialect.is_condor() { "TARGET" } else { "other" });
    rewritten(expression, &mut |part| match part.kind() {
        Kind::Attribute(found) if found == name => {
            let side = Expression::new(Kind::Attribute(side.clone()), part.span());
            Some(Expression::new(Kind::Select(side, name.clone()), part.span()))
        }
        _ => None,
    })
}

fn recalled(expression: &Expression, name: &Name, known: &str) -> Option<Expression> {
    rewritten(expression, &mut |part| match part.kind() {
        Kind::Call(found, arguments) if found == name => {
            Some(Expression::new(Kind::Call(Name::new(known), arguments.clone()), part.span()))
        }
        _ => None,
    })
}

/// Regroups `a > b is c ? d : e` as `a > (b is c ? d : e)`. `None` for an expression of another form.
fn as_it_seems(expression: &Expression) -> Option<Expression> {
    let Kind::Conditional(condition, yes, no) = expression.bare().kind() else { return None };
    let Kind::Binary(outer, left, other) = condition.kind() else { return None };
    let Kind::Binary(inner, first, second) = left.kind() else { return None };
    let span = expression.span();
    let condition = Expression::new(Kind::Binary(*outer, second.clone(), other.clone()), span);
    let chosen = Expression::new(Kind::Conditional(condition, yes.clone(), no.clone()), span);
    let chosen = Expression::new(Kind::Parentheses(chosen), span);
    Some(Expression::new(Kind::Binary(*inner, first.clone(), chosen), span))
}
