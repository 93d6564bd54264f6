//! Finds conditions that are always true or never true.

use crate::ad::{BinaryOperator, Dialect, Expression, Kind, Name, Span, UnaryOperator, Value};
use crate::constraint::{Clash, Operand, conjuncts, inconsistencies};
use crate::eval::{Context, Environment, Liberties, specialize};

use super::expressions::shown;
use super::finding::Finding;
use super::rules;

/// A part of a condition, as written and as its residue in the ad.
pub(super) struct Part {
    pub attribute: Name,
    pub written: Expression,
    pub left: Expression,
}

/// The position of a condition, which decides the rule and how much is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The top of an attribute; nothing is known of the ad.
    Top,
    /// Within an expression; nothing is known of the ad.
    Inner,
    /// The constraint of a known ad.
    Constraint,
    /// The constraint of a machine, whose own attributes change all the time.
    Machine,
}

/// Checks the conditions in an attribute's expression. Without `with_top`, those at its top are skipped: the caller
/// checks them with the attributes of the ad.
pub(super) fn check(
    attribute: &Name,
    expression: &Expression,
    with_top: bool,
    context: &Context,
    found: &mut Vec<Finding>,
) {
    let mut pending = vec![(expression, None, true)];
    while let Some((expression, around, is_top)) = pending.pop() {
        let (mut joins, mut top_below) = (None, false);
        match expression.kind() {
            Kind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), ..) => {
                joins = Some(*operator);
                top_below = is_top && *operator == BinaryOperator::And;
                if around != joins {
                    let parts = operands(expression, *operator);
                    constants(attribute, &parts, *operator, context, found);
                    if *operator == BinaryOperator::Or {
                        alternatives(attribute, &parts, context.dialect, found);
                    } else if with_top || !is_top {
                        let part = |part: &&Expression| Part {
                            attribute: attribute.clone(),
                            written: (*part).clone(),
                            left: (*part).clone(),
                        };
                        let parts: Vec<Part> = parts.iter().map(part).collect();
                        let standing = if is_top { Standing::Top } else { Standing::Inner };
                        contradictions(&parts, standing, context.dialect, found);
                    }
                }
            }
            Kind::Parentheses(_) => (joins, top_below) = (around, is_top),
            // The constraint of a port, for example, is a condition of its own.
            Kind::Ad(_) => top_below = true,
            _ => {}
        }
        expression.kind().for_each_child(|child| pending.push((child, joins, top_below)));
    }
}

/// Returns the operands of a chain of one operator, through parentheses.
fn operands(chain: &Expression, operator: BinaryOperator) -> Vec<&Expression> {
    if operator == BinaryOperator::And {
        return conjuncts(chain);
    }
    let mut parts = Vec::new();
    let mut pending = vec![chain];
    while let Some(expression) = pending.pop() {
        match expression.bare().kind() {
            Kind::Binary(found, left, right) if *found == operator => pending.extend([right, left]),
            _ => parts.push(expression),
        }
    }
    parts
}

/// Reports parts that cannot be true together. Unless the ad is known, skips parts that mix a qualified and an
/// unqualified name: the two may be different attributes.
pub(super) fn contradictions(parts: &[Part], standing: Standing, dialect: Dialect, found: &mut Vec<Finding>) {
    let is_text = matches!(standing, Standing::Top | Standing::Inner);
    let left: Vec<&Expression> = parts.iter().map(|part| &part.left).collect();
    let mut told: Vec<Expression> = Vec::new();
    let mut all = inconsistencies(&left, dialect);
    // Prefer contradictions in the text as written, between parts close to each other.
    let changed = |place: &usize| parts.get(*place).is_some_and(|part| !part.left.same(&part.written));
    all.sort_by_key(|one| {
        let extent = one.parts.last().zip(one.parts.first()).map_or(0, |(last, first)| last - first);
        (one.parts.iter().filter(|place| changed(place)).count(), extent)
    });
    for one in all {
        let involved = || one.parts.iter().filter_map(|place| parts.get(*place));
        if told.contains(&one.subject) || (is_text && mixes_sides(involved(), &one.subject)) {
            continue;
        }
        let subject = shown(&one.subject, dialect);
        let both = match one.parts.len() {
            1 => format!("no value of `{subject}` makes this true"),
            2 => format!("no value of `{subject}` makes both of these true"),
            _ => format!("no value of `{subject}` makes all of these true"),
        };
        let (rule, message) = match one.clash {
            Clash::Value => (&rules::CONTRADICTION, both),
            Clash::Type => (&rules::TYPE_CLASH, format!("`{subject}` cannot be of two types at once")),
            Clash::Presence => {
                (&rules::CONTRADICTION, format!("`{subject}` cannot be undefined and have a value at once"))
            }
        };
        let rule = match standing {
            Standing::Inner => &rules::DEAD,
            Standing::Machine if one.parts.iter().any(changed) => &rules::NEVER,
            _ => rule,
        };
        let mut finding = Finding::new(rule, message);
        for (number, part) in involved().enumerate() {
            let here = shown(&part.left, dialect);
            let text = match (number, here == shown(&part.written, dialect)) {
                (_, false) => format!("here this is `{here}`"),
                (0, true) => "this".to_owned(),
                (_, true) => "and this".to_owned(),
            };
            finding =
                finding.at(&part.attribute, &part.written, if one.parts.len() == 1 { String::new() } else { text });
        }
        told.push(one.subject);
        found.push(finding);
    }
}

/// Whether the parts refer to the subject both as the other side's attribute and without a qualifier.
fn mixes_sides<'p>(parts: impl Iterator<Item = &'p Part>, subject: &Expression) -> bool {
    let Some(Operand::Other(name) | Operand::Free(name)) = Operand::of(subject) else { return false };
    let (mut other, mut free) = (false, false);
    for part in parts {
        let mut pending = vec![&part.written];
        while let Some(expression) = pending.pop() {
            match Operand::of(expression) {
                Some(Operand::Other(found)) if found == name => other = true,
                Some(Operand::Free(found)) if found == name => free = true,
                _ => {}
            }
            expression.kind().for_each_child(|child| pending.push(child));
        }
    }
    other && free
}

/// Reports two alternatives of which one is always true: their negations contradict each other.
fn alternatives(attribute: &Name, parts: &[&Expression], dialect: Dialect, found: &mut Vec<Finding>) {
    let negated = |part: &&Expression| Part {
        attribute: attribute.clone(),
        written: (*part).clone(),
        left: Expression::new(Kind::Unary(UnaryOperator::Not, (*part).clone()), Span::default()),
    };
    let parts: Vec<Part> = parts.iter().map(negated).collect();
    let left: Vec<&Expression> = parts.iter().map(|part| &part.left).collect();
    for one in inconsistencies(&left, dialect).into_iter().filter(|one| one.clash == Clash::Value) {
        let involved: Vec<&Part> = one.parts.iter().filter_map(|place| parts.get(*place)).collect();
        if one.parts.len() != 2 || mixes_sides(involved.iter().copied(), &one.subject) {
            continue;
        }
        let message = format!("no value of `{}` makes both of these false", shown(&one.subject, dialect));
        let mut finding = Finding::new(&rules::ALWAYS, message);
        for (part, text) in involved.into_iter().zip(["this", "or this"]) {
            finding = finding.at(attribute, &part.written, text);
        }
        found.push(finding);
        return;
    }
}

/// Reports parts with a constant value. Skips parts that consist of `true` and `false` only, which programs generate.
fn constants(
    attribute: &Name,
    parts: &[&Expression],
    operator: BinaryOperator,
    context: &Context,
    found: &mut Vec<Finding>,
) {
    let context = Context { now: None, chance: None, ..context.clone() };
    let (environment, frame) = Environment::unplaced();
    for part in parts.iter().filter(|part| !is_of_words(part) && is_small(part)) {
        let left = specialize(part, &frame, &environment, &context, Liberties::default());
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
        let value = left.value.map(|value| shown(&Expression::literal(value), context.dialect)).unwrap_or_default();
        // Another rule reports a literal among conditions.
        if matches!(part.bare().kind(), Kind::Literal(_)) {
            continue;
        }
        let finding = Finding::new(&rules::CONSTANT, format!("this is always {value}: {effect}"));
        found.push(finding.at(attribute, part, ""));
    }
}

/// Whether an expression has at most 100 nodes. Larger ones take too long to specialize.
fn is_small(expression: &Expression) -> bool {
    const LARGEST: usize = 100;
    let (mut pending, mut size) = (vec![expression], 0);
    while let Some(expression) = pending.pop() {
        size += 1;
        if size > LARGEST {
            return false;
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    true
}

fn is_of_words(expression: &Expression) -> bool {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            Kind::Literal(Value::Boolean(_))
            | Kind::Parentheses(_)
            | Kind::Unary(UnaryOperator::Not, _)
            | Kind::Binary(BinaryOperator::And | BinaryOperator::Or, ..) => {}
            _ => return false,
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    true
}
