//! What the offers wish a request to be, that do not want it as it is.

use indexmap::IndexMap;

use crate::ad::{Ad, BinaryOperator, Expression, Group, Kind, Name, Value};
use crate::constraint::Operand;
use crate::explain::conflicts::minimal;
use crate::explain::distance::{distance, number};
use crate::explain::evaluation::{Outcome, Survey};
use crate::explain::explainer::Situation;
use crate::matching::Side;

use super::Proposal;
use super::edit::Edit;

/// Who someone is cannot be changed to be served.
const FIXED: [&str; 9] =
    ["Owner", "User", "OsUser", "AcctGroup", "AcctGroupUser", "AccountingGroup", "ClusterId", "ProcId", "GlobalJobId"];

/// So many offers are asked what they want.
const MOST_ASKED: usize = 500;

/// So many values of one attribute are tried for one operator.
const MOST_VALUES: usize = 2;

/// What an attribute of the request is compared with, in which way, and how often.
type Wishes = IndexMap<(Name, BinaryOperator), Vec<(Value, usize)>>;

/// Values for attributes of the request that would suit offers which are near, and refuse it.
pub fn proposals(survey: &mut Survey, situation: &Situation) -> Vec<Proposal> {
    let mut wishes = Wishes::new();
    let least = minimal(situation.least.iter().copied());
    let near = (0..survey.rows()).filter(|row| least.contains(&situation.failing[*row])).take(MOST_ASKED);
    for row in near.collect::<Vec<_>>() {
        ask(survey, situation, row, &mut wishes);
    }
    let mut proposals = Vec::new();
    for ((name, operator), mut values) in wishes {
        if is_fixed(&name) {
            continue;
        }
        let from = situation.asking.ad.get(&name).cloned();
        // Where there is no value to stay near to, the one is best that suits most offers.
        let order = if from.is_some() { Some(operator) } else { operator.exchanged() };
        prefer(&mut values, order.unwrap_or(operator));
        let old = from.as_ref().and_then(literal);
        let is_bound = values.iter().all(|(value, _)| number(value).is_some()) && operator.group() == Group::Comparison;
        let most = if is_bound && operator != BinaryOperator::Equal { 1 } else { MOST_VALUES };
        for (value, _) in values.into_iter().take(most) {
            let Some(to) = meeting(operator, value) else { continue };
            if Some(&to) == old {
                continue;
            }
            let size = old.map_or(1.0, |old| distance(&to, old));
            proposals.push(Proposal { edits: vec![Edit::Set { name: name.clone(), from: from.clone(), to }], size });
        }
    }
    proposals
}

/// Finds out what the unmet clauses of a row compare attributes of the request with; and of these attributes, what
/// the others do.
fn ask(survey: &mut Survey, situation: &Situation, row: usize, wishes: &mut Wishes) {
    let demanding = survey.demanding(&situation.asking, row);
    let ad = survey.ads[row].clone();
    let unmet = demanding.iter().filter(|(_, is)| *is != Outcome::True);
    let unmet: Vec<Name> =
        unmet.flat_map(|(clause, _)| compared(&clause.expression, &ad)).map(|(name, ..)| name).collect();
    for (clause, _) in &demanding {
        for (name, operator, bound) in compared(&clause.expression, &ad) {
            if !unmet.contains(&name) {
                continue;
            }
            let value = match bound {
                Some(bound) => {
                    let bound = crate::explain::clauses::Clause::of(bound);
                    survey.value(&situation.asking, Side::Right, &bound, row)
                }
                None => Value::Boolean(true),
            };
            if value.is_exceptional() || matches!(value, Value::List(_) | Value::Ad(_)) {
                continue;
            }
            let values = wishes.entry((name, operator)).or_default();
            let weight = survey.weights[row];
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, count)) => *count += weight,
                None => values.push((value, weight)),
            }
        }
    }
}

/// The comparisons of attributes of the request anywhere in a clause of an offer: `name operator bound`; no bound for
/// one that has to be true.
fn compared(clause: &Expression, ad: &Ad) -> Vec<(Name, BinaryOperator, Option<Expression>)> {
    let other = |expression: &Expression| {
        // `TARGET.x ?: 5` is `x` where there is one.
        let named = match expression.bare().kind() {
            Kind::Elvis(named, _) => named,
            _ => expression,
        };
        match Operand::of(named) {
            Some(Operand::Other(name)) => Some(name.clone()),
            Some(Operand::Free(name)) if ad.get(name).is_none() => Some(name.clone()),
            _ => None,
        }
    };
    let mut found = Vec::new();
    let mut pending = vec![clause];
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            Kind::Binary(operator, left, right) if matches!(operator.group(), Group::Comparison | Group::Identity) => {
                if let Some(name) = other(left) {
                    found.push((name, *operator, Some(right.clone())));
                } else if let (Some(name), Some(operator)) = (other(right), operator.exchanged()) {
                    found.push((name, operator, Some(left.clone())));
                }
            }
            Kind::Binary(operator, left, right) if operator.group() == Group::Logic => pending.extend([right, left]),
            Kind::Parentheses(inner) => pending.push(inner),
            _ => found.extend(other(expression).map(|name| (name, BinaryOperator::Equal, None))),
        }
    }
    found
}

/// Whether an attribute says who someone is.
pub fn is_fixed(name: &Name) -> bool {
    FIXED.iter().any(|fixed| name.is(fixed))
}

/// Puts those first that suit most offers with the least change.
pub fn prefer(values: &mut [(Value, usize)], operator: BinaryOperator) {
    values.sort_by(|(a, a_count), (b, b_count)| match (operator, number(a), number(b)) {
        (BinaryOperator::Less | BinaryOperator::LessEqual, Some(a), Some(b)) => b.total_cmp(&a),
        (BinaryOperator::Greater | BinaryOperator::GreaterEqual, Some(a), Some(b)) => a.total_cmp(&b),
        _ => b_count.cmp(a_count),
    });
}

/// The value that meets a comparison with this one.
pub fn meeting(operator: BinaryOperator, bound: Value) -> Option<Value> {
    match (operator, &bound) {
        (BinaryOperator::Less, Value::Integer(bound)) => bound.checked_sub(1).map(Value::Integer),
        (BinaryOperator::Greater, Value::Integer(bound)) => bound.checked_add(1).map(Value::Integer),
        (BinaryOperator::Less | BinaryOperator::Greater | BinaryOperator::NotEqual | BinaryOperator::Isnt, _) => None,
        _ => Some(bound),
    }
}

fn literal(expression: &Expression) -> Option<&Value> {
    match expression.bare().kind() {
        Kind::Literal(value) => Some(value),
        _ => None,
    }
}
