//! Proposes values for the request's attributes, taken from the constraints of offers that reject it.

use indexmap::IndexMap;

use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, OperatorGroup, Value};
use crate::constraint::ClauseOperand;
use crate::explain::conflicts::minimal_masks;
use crate::explain::distance::{as_number, relative_distance};
use crate::explain::evaluation::{ClauseOutcome, OfferTable};
use crate::explain::explainer::RequestAnalysis;
use crate::matching::PairSide;

use super::Proposal;
use super::edit::RequestEdit;

/// Attributes that say who the user or which the job is. Changes of them are never proposed.
const IDENTITY_ATTRIBUTES: [&str; 9] =
    ["Owner", "User", "OsUser", "AcctGroup", "AcctGroupUser", "AccountingGroup", "ClusterId", "ProcId", "GlobalJobId"];

/// Maximum number of rows whose constraints are evaluated.
const MAX_EVALUATED_ROWS: usize = 500;

/// Maximum number of values proposed for each pair of attribute and operator.
const MAX_VALUES: usize = 2;

/// The values that offers compare an attribute of the request with, by attribute and operator; each value with the
/// number of offers.
type DemandedValues = IndexMap<(Name, BinaryOperator), Vec<(Value, usize)>>;

/// Proposes values with which offers that fail few of the request's clauses would accept it.
pub fn propose_demanded_values(survey: &mut OfferTable, situation: &RequestAnalysis) -> Vec<Proposal> {
    let mut wishes = DemandedValues::new();
    let least = minimal_masks(situation.minimal_failures.iter().copied());
    let near =
        (0..survey.row_count()).filter(|row| least.contains(&situation.failed_clauses[*row])).take(MAX_EVALUATED_ROWS);
    for row in near.collect::<Vec<_>>() {
        collect_demands(survey, situation, row, &mut wishes);
    }
    let mut proposals = Vec::new();
    for ((name, operator), mut values) in wishes {
        if is_identity_attribute(&name) {
            continue;
        }
        let from = situation.request.ad.get(&name).cloned();
        // Without a current value to stay close to, prefer the value that suits most offers.
        let order = if from.is_some() { Some(operator) } else { operator.converse() };
        sort_by_preference(&mut values, order.unwrap_or(operator));
        let old = from.as_ref().and_then(literal);
        let is_bound =
            values.iter().all(|(value, _)| as_number(value).is_some()) && operator.group() == OperatorGroup::Comparison;
        let most = if is_bound && operator != BinaryOperator::Equal { 1 } else { MAX_VALUES };
        for (value, _) in values.into_iter().take(most) {
            let Some(to) = value_meeting(operator, value) else { continue };
            if Some(&to) == old {
                continue;
            }
            let size = old.map_or(1.0, |old| relative_distance(&to, old));
            proposals
                .push(Proposal { edits: vec![RequestEdit::Set { name: name.clone(), from: from.clone(), to }], size });
        }
    }
    proposals
}

/// Collects the comparisons in a row's unmet clauses with attributes of the request, and those in its other clauses
/// with the same attributes.
fn collect_demands(survey: &mut OfferTable, situation: &RequestAnalysis, row: usize, wishes: &mut DemandedValues) {
    let demanding = survey.offer_clause_outcomes(&situation.request, row);
    let ad = survey.store.ads()[row].clone();
    let unmet = demanding.iter().filter(|(_, is)| *is != ClauseOutcome::True);
    let unmet: Vec<Name> =
        unmet.flat_map(|(clause, _)| request_comparisons(&clause.expression, &ad)).map(|(name, ..)| name).collect();
    for (clause, _) in &demanding {
        for (name, operator, bound) in request_comparisons(&clause.expression, &ad) {
            if !unmet.contains(&name) {
                continue;
            }
            let value = match bound {
                Some(bound) => {
                    let bound = crate::explain::clauses::ExplainedClause::detached(bound);
                    survey.evaluate(&situation.request, PairSide::Offer, &bound, row)
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

/// Returns the comparisons of a request's attribute within an offer's clause, as `name operator bound`. The bound is
/// `None` for an attribute that must be true.
fn request_comparisons(clause: &Expression, ad: &Ad) -> Vec<(Name, BinaryOperator, Option<Expression>)> {
    let other = |expression: &Expression| {
        // Treat `TARGET.x ?: 5` as `TARGET.x`.
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
    let mut pending = vec![clause];
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            ExpressionKind::Binary(operator, left, right)
                if matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity) =>
            {
                if let Some(name) = other(left) {
                    found.push((name, *operator, Some(right.clone())));
                } else if let (Some(name), Some(operator)) = (other(right), operator.converse()) {
                    found.push((name, operator, Some(left.clone())));
                }
            }
            ExpressionKind::Binary(operator, left, right) if operator.group() == OperatorGroup::Logic => {
                pending.extend([right, left]);
            }
            ExpressionKind::Parentheses(inner) => pending.push(inner),
            _ => found.extend(other(expression).map(|name| (name, BinaryOperator::Equal, None))),
        }
    }
    found
}

/// Whether an attribute says who the user or which the job is.
pub fn is_identity_attribute(name: &Name) -> bool {
    IDENTITY_ATTRIBUTES.iter().any(|fixed| name.is(fixed))
}

/// Sorts the bounds of an inequality by strictness, the loosest first: it requires the smallest change. Sorts other
/// values by frequency, the most frequent first.
pub fn sort_by_preference(values: &mut [(Value, usize)], operator: BinaryOperator) {
    values.sort_by(|(a, a_count), (b, b_count)| match (operator, as_number(a), as_number(b)) {
        (BinaryOperator::Less | BinaryOperator::LessEqual, Some(a), Some(b)) => b.total_cmp(&a),
        (BinaryOperator::Greater | BinaryOperator::GreaterEqual, Some(a), Some(b)) => a.total_cmp(&b),
        _ => b_count.cmp(a_count),
    });
}

/// Returns a value `v` for which `v operator bound` is true. `None` for an operator or bound without an obvious one.
pub fn value_meeting(operator: BinaryOperator, bound: Value) -> Option<Value> {
    match (operator, &bound) {
        (BinaryOperator::Less, Value::Integer(bound)) => bound.checked_sub(1).map(Value::Integer),
        (BinaryOperator::Greater, Value::Integer(bound)) => bound.checked_add(1).map(Value::Integer),
        (BinaryOperator::Less | BinaryOperator::Greater | BinaryOperator::NotEqual | BinaryOperator::Isnt, _) => None,
        _ => Some(bound),
    }
}

fn literal(expression: &Expression) -> Option<&Value> {
    match expression.without_parentheses().kind() {
        ExpressionKind::Literal(value) => Some(value),
        _ => None,
    }
}
