//! Finds conditions that are always true or never true.

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, UnaryOperator, Value};
use crate::constraint::{ClauseOperand, InconsistencyKind, conjuncts, inconsistencies};
use crate::eval::{Context, Environment, SpecializeOptions, specialize};

use super::expressions::short_text;
use super::finding::LintFinding;
use super::rules;

/// A part of a condition, as written and as its residue in the ad.
pub(super) struct ConditionPart {
    pub attribute: Name,
    pub written: Expression,
    pub residue: Expression,
}

/// The position of a condition. It decides which rule is reported, and whether the attributes of the ad are known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ConditionPosition {
    /// The whole expression of an attribute; the ad is unknown.
    Top,
    /// A subexpression; the ad is unknown.
    Nested,
    /// The constraint of a known ad.
    Constraint,
    /// The constraint of a machine. The attributes of a machine change all the time, so that a contradiction with their
    /// current values is only a note.
    Machine,
}

/// Checks the conditions in an attribute's expression. Without `with_top`, skips contradictions between the conjuncts
/// of the whole expression. The checker does so for constraints, whose conjuncts [`AdCheck`](super::ads::AdCheck)
/// checks together with the attributes of the ad.
pub(super) fn check(
    attribute: &Name,
    expression: &Expression,
    with_top: bool,
    context: &Context,
    found: &mut Vec<LintFinding>,
) {
    let mut pending = vec![(expression, None, true)];
    while let Some((expression, around, is_top)) = pending.pop() {
        let (mut joins, mut top_below) = (None, false);
        match expression.kind() {
            ExpressionKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), ..) => {
                joins = Some(*operator);
                top_below = is_top && *operator == BinaryOperator::And;
                if around != joins {
                    let parts = operands(expression, *operator);
                    check_constants(attribute, &parts, *operator, context, found);
                    if *operator == BinaryOperator::Or {
                        check_alternatives(attribute, &parts, context.dialect, found);
                    } else if with_top || !is_top {
                        let part = |part: &&Expression| ConditionPart {
                            attribute: attribute.clone(),
                            written: (*part).clone(),
                            residue: (*part).clone(),
                        };
                        let parts: Vec<ConditionPart> = parts.iter().map(part).collect();
                        let standing = if is_top { ConditionPosition::Top } else { ConditionPosition::Nested };
                        check_contradictions(&parts, standing, context.dialect, found);
                    }
                }
            }
            ExpressionKind::Parentheses(_) => (joins, top_below) = (around, is_top),
            // The constraint of a port, for example, is a condition of its own.
            ExpressionKind::Ad(_) => top_below = true,
            _ => {}
        }
        expression.kind().for_each_child(|child| pending.push((child, joins, top_below)));
    }
}

/// Returns the operands of a chain of one operator, including operands of the chain within parentheses.
fn operands(chain: &Expression, operator: BinaryOperator) -> Vec<&Expression> {
    if operator == BinaryOperator::And {
        return conjuncts(chain);
    }
    let mut parts = Vec::new();
    let mut pending = vec![chain];
    while let Some(expression) = pending.pop() {
        match expression.without_parentheses().kind() {
            ExpressionKind::Binary(found, left, right) if *found == operator => pending.extend([right, left]),
            _ => parts.push(expression),
        }
    }
    parts
}

/// Reports parts that cannot be true together. If the ad is unknown, skips parts that refer to their subject both with
/// and without a qualifier: these may be different attributes.
pub(super) fn check_contradictions(
    parts: &[ConditionPart],
    standing: ConditionPosition,
    dialect: Dialect,
    found: &mut Vec<LintFinding>,
) {
    let is_text = matches!(standing, ConditionPosition::Top | ConditionPosition::Nested);
    let left: Vec<&Expression> = parts.iter().map(|part| &part.residue).collect();
    let mut told: Vec<Expression> = Vec::new();
    let mut all = inconsistencies(&left, dialect);
    // Prefer contradictions in the text as written, between parts close to each other.
    let changed = |place: &usize| parts.get(*place).is_some_and(|part| !part.residue.ptr_eq(&part.written));
    all.sort_by_key(|one| {
        let extent = one.clauses.last().zip(one.clauses.first()).map_or(0, |(last, first)| last - first);
        (one.clauses.iter().filter(|place| changed(place)).count(), extent)
    });
    for one in all {
        let involved = || one.clauses.iter().filter_map(|place| parts.get(*place));
        if told.contains(&one.subject) || (is_text && mixes_sides(involved(), &one.subject)) {
            continue;
        }
        let subject = short_text(&one.subject, dialect);
        let both = match one.clauses.len() {
            1 => format!("no value of `{subject}` makes this true"),
            2 => format!("no value of `{subject}` makes both of these true"),
            _ => format!("no value of `{subject}` makes all of these true"),
        };
        let (rule, message) = match one.kind {
            InconsistencyKind::Value => (&rules::CONTRADICTION, both),
            InconsistencyKind::Type => (&rules::TYPE_CLASH, format!("`{subject}` cannot be of two types at once")),
            InconsistencyKind::Presence => {
                (&rules::CONTRADICTION, format!("`{subject}` cannot be undefined and have a value at once"))
            }
        };
        let rule = match standing {
            ConditionPosition::Nested => &rules::DEAD,
            ConditionPosition::Machine if one.clauses.iter().any(changed) => &rules::NEVER,
            _ => rule,
        };
        let mut finding = LintFinding::new(rule, message);
        for (number, part) in involved().enumerate() {
            let here = short_text(&part.residue, dialect);
            let text = match (number, here == short_text(&part.written, dialect)) {
                (_, false) => format!("here this is `{here}`"),
                (0, true) => "this".to_owned(),
                (_, true) => "and this".to_owned(),
            };
            finding =
                finding.at(&part.attribute, &part.written, if one.clauses.len() == 1 { String::new() } else { text });
        }
        told.push(one.subject);
        found.push(finding);
    }
}

/// Whether the parts refer to the subject both as the other side's attribute and without a qualifier.
fn mixes_sides<'p>(parts: impl Iterator<Item = &'p ConditionPart>, subject: &Expression) -> bool {
    let Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) = ClauseOperand::of(subject) else {
        return false;
    };
    let (mut other, mut free) = (false, false);
    for part in parts {
        let mut pending = vec![&part.written];
        while let Some(expression) = pending.pop() {
            match ClauseOperand::of(expression) {
                Some(ClauseOperand::Other(found)) if found == name => other = true,
                Some(ClauseOperand::Unqualified(found)) if found == name => free = true,
                _ => {}
            }
            expression.kind().for_each_child(|child| pending.push(child));
        }
    }
    other && free
}

/// Reports two alternatives of which one is always true: their negations contradict each other.
fn check_alternatives(attribute: &Name, parts: &[&Expression], dialect: Dialect, found: &mut Vec<LintFinding>) {
    let negated = |part: &&Expression| ConditionPart {
        attribute: attribute.clone(),
        written: (*part).clone(),
        residue: Expression::unary(UnaryOperator::Not, (*part).clone()),
    };
    let parts: Vec<ConditionPart> = parts.iter().map(negated).collect();
    let left: Vec<&Expression> = parts.iter().map(|part| &part.residue).collect();
    for one in inconsistencies(&left, dialect).into_iter().filter(|one| one.kind == InconsistencyKind::Value) {
        let involved: Vec<&ConditionPart> = one.clauses.iter().filter_map(|place| parts.get(*place)).collect();
        if one.clauses.len() != 2 || mixes_sides(involved.iter().copied(), &one.subject) {
            continue;
        }
        let message = format!("no value of `{}` makes both of these false", short_text(&one.subject, dialect));
        let mut finding = LintFinding::new(&rules::ALWAYS, message);
        for (part, text) in involved.into_iter().zip(["this", "or this"]) {
            finding = finding.at(attribute, &part.written, text);
        }
        found.push(finding);
        return;
    }
}

/// Reports parts with a constant value. Skips parts that consist of `true` and `false` only, which programs generate.
fn check_constants(
    attribute: &Name,
    parts: &[&Expression],
    operator: BinaryOperator,
    context: &Context,
    found: &mut Vec<LintFinding>,
) {
    let context = Context { now: None, random: None, ..context.clone() };
    let (environment, frame) = Environment::unknown();
    for part in parts.iter().filter(|part| !has_boolean_literals_only(part) && is_small(part)) {
        let left = specialize(part, &frame, &environment, &context, SpecializeOptions::default());
        let effect = match (&left.value, operator) {
            (Some(Value::Boolean(true)), BinaryOperator::And) | (Some(Value::Boolean(false)), BinaryOperator::Or) => {
                "it adds nothing"
            }
            (Some(Value::Boolean(true)), _) => "the others do not count",
            (Some(Value::Boolean(false) | Value::Undefined | Value::Error(_)), BinaryOperator::And) => {
                "the whole is never true"
            }
            (Some(_), _) => "it is no condition",
            (None, _) => continue,
        };
        let value =
            left.value.map(|value| short_text(&Expression::literal(value), context.dialect)).unwrap_or_default();
        // The rules on literals among conditions report such a part.
        if matches!(part.without_parentheses().kind(), ExpressionKind::Literal(_)) {
            continue;
        }
        let finding = LintFinding::new(&rules::CONSTANT, format!("this is always {value}: {effect}"));
        found.push(finding.at(attribute, part, ""));
    }
}

/// Whether an expression has at most 100 nodes. Larger expressions take too long to specialize.
fn is_small(expression: &Expression) -> bool {
    const MAX_NODES: usize = 100;
    let (mut pending, mut size) = (vec![expression], 0);
    while let Some(expression) = pending.pop() {
        size += 1;
        if size > MAX_NODES {
            return false;
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    true
}

fn has_boolean_literals_only(expression: &Expression) -> bool {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            ExpressionKind::Literal(Value::Boolean(_))
            | ExpressionKind::Parentheses(_)
            | ExpressionKind::Unary(UnaryOperator::Not, _)
            | ExpressionKind::Binary(BinaryOperator::And | BinaryOperator::Or, ..) => {}
            _ => return false,
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    true
}
