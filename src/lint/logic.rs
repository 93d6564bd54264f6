//! Finds conditions that are always true or never true.

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, OperatorGroup, UnaryOperator, Value};
use crate::constraint::{ClauseOperand, InconsistencyKind, conjuncts, disjuncts, inconsistencies, tautologies};
use crate::eval::{Context, Environment, SpecializeOptions, specialize};

use super::finding::LintFinding;
use super::fix::LintFix;
use super::rules;
use super::short_text::short_text;
use super::subexpressions::subexpressions;

/// A part of a condition: the part as written, and the residue of the part in its ad.
pub(super) struct ConditionPart {
    pub attribute: Name,
    pub written: Expression,
    pub residue: Expression,
    /// Whether the residue is another expression than the part as written.
    pub is_changed: bool,
    /// 0-based index of the part in the condition. Parts that contradict nothing may be left out.
    pub place: usize,
}

impl ConditionPart {
    fn new(attribute: &Name, written: &Expression, residue: Expression, place: usize) -> Self {
        let is_changed = !residue.ptr_eq(written);
        ConditionPart { attribute: attribute.clone(), written: written.clone(), residue, is_changed, place }
    }
}

/// The position of a condition in an ad. The position decides which rule is reported, and whether the condition is
/// checked with the ad's attributes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ConditionPosition {
    /// The condition is the whole expression of an attribute. The attributes of the ad are not used.
    Top,
    /// The condition is a subexpression. The attributes of the ad are not used.
    Nested,
    /// The condition is the constraint of an ad, with the attributes of the ad.
    Constraint,
    /// The constraint of a machine. The attributes of a machine change all the time, so that a contradiction with their
    /// current values is only a note.
    Machine,
}

/// Maximum number of chains of `&&` or `||` that are checked in one expression.
const MAX_CHAINS: usize = 1000;

/// Checks the conditions in an attribute's expression. `with_top` tells whether to look for contradictions between the
/// conjuncts of the whole expression. The flag is false for a constraint, because [`AdCheck`](super::ads::AdCheck)
/// checks these conjuncts together with the attributes of the ad. `with_literals` tells whether to report `true` in `||` and
/// `false` in `&&`.
pub(super) fn check(
    attribute: &Name,
    expression: &Expression,
    with_top: bool,
    with_literals: bool,
    context: &Context,
    found: &mut Vec<LintFinding>,
) {
    let (mut pending, mut chains) = (vec![(expression, None, true)], 0);
    while let Some((expression, around, is_top)) = pending.pop() {
        let (mut joins, mut top_below) = (None, false);
        match expression.kind() {
            ExpressionKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), ..) => {
                joins = Some(*operator);
                top_below = is_top && *operator == BinaryOperator::And;
                if around != joins && chains < MAX_CHAINS {
                    chains += 1;
                    let is_or = *operator == BinaryOperator::Or;
                    let parts = if is_or { disjuncts(expression) } else { conjuncts(expression) };
                    let chain = ConstantChain { attribute, expression, operator: *operator };
                    chain.check_constants(&parts, with_literals, context, found);
                    if is_or {
                        check_alternatives(attribute, &parts, context.dialect, found);
                    } else if with_top || !is_top {
                        let part = |(place, part): (usize, &Expression)| {
                            ConditionPart::new(attribute, part, part.clone(), place)
                        };
                        let parts: Vec<ConditionPart> = parts.into_iter().enumerate().map(part).collect();
                        let position = if is_top { ConditionPosition::Top } else { ConditionPosition::Nested };
                        check_contradictions(&parts, position, context.dialect, found);
                    }
                }
            }
            ExpressionKind::Parentheses(_) => (joins, top_below) = (around, is_top),
            // An attribute of a nested ad, such as the constraint of a port, is a whole expression of its own.
            ExpressionKind::Ad(_) => top_below = true,
            _ if expression.conditional().is_some() => {
                if around == Some(BinaryOperator::Or) {
                    let part = ConditionPart::new(attribute, expression, expression.clone(), 0);
                    check_contradictions(&[part], ConditionPosition::Nested, context.dialect, found);
                } else {
                    check_alternatives(attribute, &[expression], context.dialect, found);
                }
            }
            _ => {}
        }
        expression.kind().for_each_child(|child| pending.push((child, joins, top_below)));
    }
}

/// Reports parts that cannot be true together. A contradiction has a subject, such as `Memory`. If the ad's attributes
/// are not used, parts that name the subject both as `Memory` and as `TARGET.Memory` are skipped, because these may be
/// different attributes.
pub(super) fn check_contradictions(
    parts: &[ConditionPart],
    position: ConditionPosition,
    dialect: Dialect,
    found: &mut Vec<LintFinding>,
) {
    let is_text = matches!(position, ConditionPosition::Top | ConditionPosition::Nested);
    let left: Vec<&Expression> = parts.iter().map(|part| &part.residue).collect();
    let mut reported: Vec<Expression> = Vec::new();
    let mut all = inconsistencies(&left, dialect);
    // Each subject is reported once, by its first contradiction. Sort contradictions between parts as written before
    // those that depend on values of the ad's attributes. Then sort by the distance between the parts.
    let is_changed = |place: &&usize| parts[**place].is_changed;
    all.sort_by_key(|one| {
        let ends = one.clauses.last().zip(one.clauses.first());
        let extent = ends.map_or(0, |(last, first)| parts[*last].place - parts[*first].place);
        (one.clauses.iter().filter(is_changed).count(), extent)
    });
    for one in all {
        let involved = || one.clauses.iter().map(|place| &parts[*place]);
        if reported.contains(&one.subject)
            || (is_text && mixes_sides(involved().map(|part| &part.written), &one.subject))
        {
            continue;
        }
        let subject = short_text(&one.subject, dialect);
        let message = match (one.kind, one.clauses.len()) {
            (InconsistencyKind::Value, 1) => format!("no value of `{subject}` can make this true"),
            (InconsistencyKind::Value, 2) => format!("no value of `{subject}` can make both of these true"),
            (InconsistencyKind::Value, _) => format!("no value of `{subject}` can make all of these true"),
            (InconsistencyKind::Type, _) => format!("`{subject}` cannot have two types at the same time"),
            (InconsistencyKind::Presence, _) => {
                format!("`{subject}` cannot be undefined and have a value at the same time")
            }
        };
        let rule = match position {
            ConditionPosition::Nested => &rules::DEAD,
            ConditionPosition::Machine if one.clauses.iter().any(|place| is_changed(&place)) => &rules::NEVER,
            _ if one.kind == InconsistencyKind::Type => &rules::TYPE_CLASH,
            _ => &rules::CONTRADICTION,
        };
        let mut finding = LintFinding::new(rule, message);
        for (number, part) in involved().enumerate() {
            let here = short_text(&part.residue, dialect);
            let which = if number == 0 { "this" } else { "and this" };
            let text = match () {
                () if one.clauses.len() == 1 => String::new(),
                () if here != short_text(&part.written, dialect) => format!("{which}, in this ad `{here}`"),
                () => which.to_owned(),
            };
            finding = finding.at(&part.attribute, &part.written, text);
        }
        reported.push(one.subject);
        found.push(finding);
    }
}

/// Whether the parts name the subject in both ways: with the qualifier of the other side, as in `TARGET.Memory`, and
/// without a qualifier, as in `Memory`.
fn mixes_sides<'p>(parts: impl Iterator<Item = &'p Expression>, subject: &Expression) -> bool {
    let Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) = ClauseOperand::of(subject) else {
        return false;
    };
    let written = parts.flat_map(subexpressions);
    let operands: Vec<ClauseOperand<'_>> = written.filter_map(ClauseOperand::of).collect();
    operands.iter().any(|operand| matches!(operand, ClauseOperand::Other(other) if *other == name))
        && operands.iter().any(|operand| matches!(operand, ClauseOperand::Unqualified(other) if *other == name))
}

/// Reports operands of `||` of which one is true for every value, such as `x < 5 || x > 3`, and conditionals that are. A
/// single operand of another form is not reported.
fn check_alternatives(attribute: &Name, parts: &[&Expression], dialect: Dialect, found: &mut Vec<LintFinding>) {
    for one in tautologies(parts, dialect) {
        let involved: Vec<&Expression> = one.operands.iter().map(|place| parts[*place]).collect();
        let is_single = involved.len() == 1;
        if (is_single && involved[0].conditional().is_none()) || mixes_sides(involved.iter().copied(), &one.subject) {
            continue;
        }
        let which = if is_single { "this" } else { "one of these" };
        let message = format!("{which} is true for every value of `{}`", short_text(&one.subject, dialect));
        let finding = LintFinding::new(&rules::ALWAYS, message);
        return found.push(involved.into_iter().enumerate().fold(finding, |finding, (number, part)| {
            let text = match (is_single, number) {
                (true, _) => "",
                (false, 0) => "this",
                (false, _) => "or this",
            };
            finding.at(attribute, part, text)
        }));
    }
}

/// Operands joined by `&&` or `||`.
struct ConstantChain<'e> {
    attribute: &'e Name,
    expression: &'e Expression,
    operator: BinaryOperator,
}

impl ConstantChain<'_> {
    /// Reports parts of a condition that have a constant value. Skips a part that consists only of `true` and `false`,
    /// such as `true || false`, because programs that generate conditions write such parts. With `with_literals`, reports
    /// even such a part if it decides a condition that has other parts.
    fn check_constants(
        &self,
        parts: &[&Expression],
        with_literals: bool,
        context: &Context,
        found: &mut Vec<LintFinding>,
    ) {
        let context = Context { now: None, random: None, ..context.clone() };
        let (environment, frame) = Environment::unknown();
        let with_literals = with_literals && !parts.iter().all(|part| has_boolean_literals_only(part));
        for part in parts.iter().filter(|part| is_small(part)) {
            let is_literal = part.without_parentheses().as_literal().is_some();
            let is_generated = is_literal || has_boolean_literals_only(part);
            if is_generated && !with_literals {
                continue;
            }
            let left = specialize(part, &frame, &environment, &context, SpecializeOptions::default());
            let mut is_neutral = false;
            let effect = match (&left.value, self.operator) {
                (Some(Value::Boolean(true)), BinaryOperator::And)
                | (Some(Value::Boolean(false)), BinaryOperator::Or) => {
                    is_neutral = true;
                    "it adds nothing"
                }
                (Some(Value::Boolean(true)), _) => "the `||` around it is never false",
                (Some(Value::Boolean(false) | Value::Undefined | Value::Error(_)), BinaryOperator::And) => {
                    "the `&&` around it is never true"
                }
                (Some(_), _) => "it is not a boolean",
                (None, _) => continue,
            };
            // Other rules report other literals.
            let is_decisive = left.value == Some(Value::Boolean(self.operator == BinaryOperator::Or));
            if is_generated && !is_decisive {
                continue;
            }
            let value =
                left.value.map(|value| short_text(&Expression::literal(value), context.dialect)).unwrap_or_default();
            let constant = if is_literal { String::new() } else { format!(" is always {value}") };
            let message = format!("`{}`{constant}: {effect}", short_text(part, context.dialect));
            let finding = LintFinding::new(&rules::CONSTANT, message).at(self.attribute, part, "");
            found.push(LintFinding { fix: self.without(part, is_neutral), ..finding });
        }
    }

    /// Returns the correction that leaves a part out. `is_neutral` tells whether the part changes no boolean.
    fn without(&self, part: &Expression, is_neutral: bool) -> Option<LintFix> {
        let is_part = |operand: &Expression| operand.without_parentheses().ptr_eq(part.without_parentheses());
        let (joined, left) = subexpressions(self.expression).find_map(|joined| match joined.kind() {
            ExpressionKind::Binary(operator, left, right) if *operator == self.operator && is_part(left) => {
                Some((joined, right))
            }
            ExpressionKind::Binary(operator, left, right) if *operator == self.operator && is_part(right) => {
                Some((joined, left))
            }
            _ => None,
        })?;
        let is_boolean = match left.without_parentheses().kind() {
            ExpressionKind::Binary(operator, ..) => {
                !matches!(operator.group(), OperatorGroup::Arithmetic | OperatorGroup::Bitwise)
            }
            kind => matches!(kind, ExpressionKind::Literal(Value::Boolean(_))),
        };
        Some(LintFix::new(self.attribute, is_neutral && is_boolean, vec![(joined.clone(), left.clone())]))
    }
}

/// Whether an expression has at most 100 nodes. Larger expressions take too long to specialize.
fn is_small(expression: &Expression) -> bool {
    const MAX_NODES: usize = 100;
    subexpressions(expression).take(MAX_NODES + 1).count() <= MAX_NODES
}

fn has_boolean_literals_only(expression: &Expression) -> bool {
    subexpressions(expression).all(|part| match part.kind() {
        ExpressionKind::Binary(operator, ..) => operator.group() == OperatorGroup::Logic,
        ExpressionKind::Literal(Value::Boolean(_))
        | ExpressionKind::Parentheses(_)
        | ExpressionKind::Unary(UnaryOperator::Not, _) => true,
        _ => false,
    })
}
