//! The values that a condition allows for each of its subjects.

use crate::ad::{
    BinaryOperator, Dialect, ErrorCause, Expression, ExpressionKind, Name, OperatorGroup, Span, Truth, Type,
    UnaryOperator, Value, structurally_equal,
};
use crate::constraint::conjuncts::chain_operands;
use crate::constraint::{ClauseOperand, literal_value, orient_comparison};
use crate::eval::{binary, find_function_in, string_list_items};

use super::domain::ValueDomain;

/// An expression whose value a condition restricts; the value is the same throughout one evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConstraintSubject<'e> {
    /// The attribute of the other side that the expression names; `None` for any other expression.
    attribute: Option<&'e Name>,
    /// The expression as written.
    pub expression: &'e Expression,
}

impl<'e> ConstraintSubject<'e> {
    /// Returns the subject of an expression. `None` for a literal, and for an expression that calls `random` or `eval`,
    /// because its value may change within one evaluation.
    fn of(expression: &'e Expression) -> Option<Self> {
        let attribute = match ClauseOperand::of(expression) {
            Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) => Some(name),
            Some(ClauseOperand::Literal(_)) => return None,
            None if is_nondeterministic(expression) => return None,
            Some(ClauseOperand::Own(_)) | None => None,
        };
        Some(ConstraintSubject { attribute, expression })
    }

    pub(super) fn is_same_subject(self, other: Self) -> bool {
        match (self.attribute, other.attribute) {
            (None, None) => structurally_equal(self.expression, other.expression),
            (attribute, other) => attribute == other,
        }
    }
}

fn is_nondeterministic(expression: &Expression) -> bool {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        if matches!(expression.kind(), ExpressionKind::Call(name, _) if name.is("random") || name.is("eval")) {
            return true;
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    false
}

/// The necessary conditions for an expression to be true, or to be false: the values that its subjects may have.
#[derive(Clone, Debug)]
pub(super) enum ValueConstraints<'e> {
    /// The expression cannot have the wanted value.
    Unsatisfiable,
    /// Each subject must have a value in its domain.
    Domains(Vec<(ConstraintSubject<'e>, ValueDomain)>),
}

/// Maximum nesting depth of an analysed expression. A deeper expression gives no conditions.
const MAX_NESTING_DEPTH: usize = 100;

/// Number of levels of [`MAX_NESTING_DEPTH`] that the condition of a conditional counts as.
const CONDITION_DEPTH: usize = 10;

impl<'e> ValueConstraints<'e> {
    const UNCONSTRAINED: Self = ValueConstraints::Domains(Vec::new());

    /// Returns the necessary conditions for an expression to be true if `wanted`, else to be false.
    pub(super) fn of(expression: &'e Expression, wanted: bool, dialect: Dialect) -> Self {
        ValueConstraints::of_nested(expression, wanted, dialect, 0)
    }

    fn of_nested(expression: &'e Expression, wanted: bool, dialect: Dialect, depth: usize) -> Self {
        if depth > MAX_NESTING_DEPTH {
            return ValueConstraints::UNCONSTRAINED;
        }
        let of = |expression, wanted| ValueConstraints::of_nested(expression, wanted, dialect, depth + 1);
        let expression = expression.without_parentheses();
        if let Some(parts) = expression.conditional() {
            let branch = |branch| of(branch, wanted);
            return ValueConstraints::of_conditional(parts, dialect, depth, branch);
        }
        let constraints = match expression.kind() {
            ExpressionKind::Literal(value) if Truth::of(value, dialect).is_true() == wanted => None,
            ExpressionKind::Literal(_) => Some(ValueConstraints::Unsatisfiable),
            ExpressionKind::Unary(UnaryOperator::Not, operand) => Some(of(operand, !wanted)),
            ExpressionKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), ..) => {
                let parts = chain_operands(expression, *operator).into_iter().map(|part| of(part, wanted));
                let needs_all = (*operator == BinaryOperator::And) == wanted;
                parts.reduce(if needs_all { ValueConstraints::and } else { ValueConstraints::or })
            }
            ExpressionKind::Elvis(left, right) => Some(of(left, wanted).or(of(right, wanted))),
            ExpressionKind::Binary(operator, left, right) => {
                comparison_constraints(*operator, [left, right], wanted, dialect, depth + 1)
            }
            ExpressionKind::Call(name, arguments) => call_constraints(name, arguments, wanted, dialect),
            _ => None,
        };
        let of_truth = || ValueConstraints::of_subject(expression, ValueDomain::of_truth(wanted, dialect));
        constraints.or_else(of_truth).unwrap_or(ValueConstraints::UNCONSTRAINED)
    }

    /// Returns the conditions under which a branch of a conditional that counts meets `of_branch`.
    fn of_conditional(
        [condition, consequent, alternative]: [&'e Expression; 3],
        dialect: Dialect,
        depth: usize,
        of_branch: impl Fn(&'e Expression) -> Self,
    ) -> Self {
        // The condition is analysed twice.
        let of = |wanted| ValueConstraints::of_nested(condition, wanted, dialect, depth + CONDITION_DEPTH);
        let yes = of(true).and(of_branch(consequent));
        yes.or(of(false).and(of_branch(alternative)))
    }

    /// Returns the condition that the value of an expression is in `domain`; `None` if the expression is not a subject.
    fn of_subject(expression: &'e Expression, domain: ValueDomain) -> Option<Self> {
        Some(ValueConstraints::Domains(vec![(ConstraintSubject::of(expression)?, domain)]))
    }

    /// Whether no values of the subjects satisfy the conditions.
    fn is_impossible(&self) -> bool {
        match self {
            ValueConstraints::Unsatisfiable => true,
            ValueConstraints::Domains(claims) => claims.iter().any(|(_, domain)| domain.is_empty()),
        }
    }

    /// Whether the conditions allow a subject all values of some types, and no other values.
    pub(super) fn allow_whole_types(&self, subject: &Expression) -> bool {
        let ValueConstraints::Domains(claims) = self else { return false };
        let is_about = |known: ConstraintSubject<'_>| {
            ConstraintSubject::of(subject).is_some_and(|subject| known.is_same_subject(subject))
        };
        !self.is_impossible() && claims.iter().all(|(known, domain)| !is_about(*known) || domain.holds_whole_types())
    }

    /// Combines the conditions of two operands that must both hold: intersects the domains of equal subjects.
    fn and(self, other: Self) -> Self {
        let (ValueConstraints::Domains(mut claims), ValueConstraints::Domains(others)) = (self, other) else {
            return ValueConstraints::Unsatisfiable;
        };
        for (subject, domain) in others {
            match claims.iter_mut().find(|(known, _)| known.is_same_subject(subject)) {
                Some((_, known)) => *known = known.intersection(&domain),
                None => claims.push((subject, domain)),
            }
        }
        ValueConstraints::Domains(claims)
    }

    /// Combines the conditions of two operands when one of them must hold. Unites the domains of the subjects that both
    /// operands restrict. Drops a subject that only one operand restricts: the subject may have any value if the other
    /// operand holds.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (ValueConstraints::Unsatisfiable, other) => other,
            (claims, other) if other.is_impossible() => claims,
            (claims, other) if claims.is_impossible() => other,
            (claims, ValueConstraints::Unsatisfiable) => claims,
            (ValueConstraints::Domains(claims), ValueConstraints::Domains(mut others)) => {
                let both = claims.into_iter().filter_map(|(subject, domain)| {
                    let at = others.iter().position(|(other, _)| other.is_same_subject(subject))?;
                    Some((subject, domain.union(others.swap_remove(at).1)))
                });
                ValueConstraints::Domains(both.collect())
            }
        }
    }
}

/// Returns the value of a literal, with or without parentheses, that evaluates to itself; `None` for other expressions.
fn constant_value(expression: &Expression, dialect: Dialect) -> Option<&Value> {
    literal_value(expression.without_parentheses(), dialect)
}

fn comparison_constraints(
    operator: BinaryOperator,
    [left, right]: [&Expression; 2],
    wanted: bool,
    dialect: Dialect,
    depth: usize,
) -> Option<ValueConstraints<'_>> {
    // Only comparisons, `is` and `isnt` have a converse.
    operator.converse()?;
    let constant = |operand| constant_value(operand, dialect);
    let variable = |operand| constant(operand).is_none().then_some(operand);
    let (subject, operator, value) = orient_comparison(operator, left, right, variable, constant)?;
    compared_constraints(subject, (operator, value), wanted, dialect, depth)
}

/// Returns the conditions under which the comparison of an operand with a constant has the value `wanted`. A comparison
/// of a condition, as in `(x > 5) == false`, is about what the condition compares.
fn compared_constraints<'e>(
    operand: &'e Expression,
    (operator, constant): (BinaryOperator, &Value),
    wanted: bool,
    dialect: Dialect,
    depth: usize,
) -> Option<ValueConstraints<'e>> {
    let gives = |value: &Value| binary(operator, value, constant, dialect, Span::default()) == Value::Boolean(wanted);
    let of_value = |is_met| if is_met { ValueConstraints::UNCONSTRAINED } else { ValueConstraints::Unsatisfiable };
    if let Some(value) = constant_value(operand, dialect) {
        return Some(of_value(gives(value)));
    }
    let may_fail = gives(&Value::Undefined) || gives(&Value::Error(ErrorCause::default()));
    if depth <= MAX_NESTING_DEPTH && !may_fail {
        if let Some(parts) = operand.conditional() {
            return Some(ValueConstraints::of_conditional(parts, dialect, depth, |branch| {
                let branch = branch.without_parentheses();
                compared_constraints(branch, (operator, constant), wanted, dialect, depth + 1)
                    .unwrap_or(ValueConstraints::UNCONSTRAINED)
            }));
        }
        if is_logical(operand) {
            return Some(match [true, false].map(|truth| gives(&Value::Boolean(truth))) {
                [true, false] => ValueConstraints::of_nested(operand, true, dialect, depth),
                [false, true] => ValueConstraints::of_nested(operand, false, dialect, depth),
                [is_met, _] => of_value(is_met),
            });
        }
    }
    ValueConstraints::of_subject(operand, ValueDomain::of_comparison(operator, constant, wanted, dialect))
}

/// Whether the value of an expression is a boolean, unless it is undefined or an error.
fn is_logical(expression: &Expression) -> bool {
    match expression.without_parentheses().kind() {
        ExpressionKind::Unary(operator, _) => *operator == UnaryOperator::Not,
        ExpressionKind::Binary(operator, ..) => {
            matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity | OperatorGroup::Logic)
        }
        ExpressionKind::Call(name, _) => {
            TYPE_PREDICATES.iter().any(|(known, _)| name.is(known))
                || MEMBERSHIP_FUNCTIONS.iter().any(|(known, ..)| name.is(known))
        }
        _ => false,
    }
}

/// Type predicates, with the type that each tests.
pub(super) const TYPE_PREDICATES: [(&str, Type); 10] = [
    ("isUndefined", Type::Undefined),
    ("isError", Type::Error),
    ("isString", Type::String),
    ("isInteger", Type::Integer),
    ("isReal", Type::Real),
    ("isBoolean", Type::Boolean),
    ("isList", Type::List),
    ("isClassAd", Type::Ad),
    ("isAbsTime", Type::AbsoluteTime),
    ("isRelTime", Type::RelativeTime),
];

/// Membership functions: name, operator that compares an item, and whether the list is a string list.
const MEMBERSHIP_FUNCTIONS: [(&str, BinaryOperator, bool); 5] = [
    ("member", BinaryOperator::Equal, false),
    ("isMember", BinaryOperator::Is, false),
    ("identicalMember", BinaryOperator::Is, false),
    ("stringListMember", BinaryOperator::Is, true),
    ("stringListIMember", BinaryOperator::Equal, true),
];

fn call_constraints<'e>(
    name: &Name,
    arguments: &'e [Expression],
    wanted: bool,
    dialect: Dialect,
) -> Option<ValueConstraints<'e>> {
    if let ([argument], Some((_, kind))) = (arguments, TYPE_PREDICATES.iter().find(|(known, _)| name.is(known))) {
        return ValueConstraints::of_subject(argument, ValueDomain::of_type(*kind, wanted));
    }
    let (_, operator, in_string) = MEMBERSHIP_FUNCTIONS.iter().find(|(known, ..)| name.is(known))?;
    find_function_in(name, dialect)?;
    let [item, list] = arguments else { return None };
    if !wanted {
        return None;
    }
    let items: Vec<Value> = match list.without_parentheses().kind() {
        ExpressionKind::Literal(Value::String(text)) if *in_string => {
            string_list_items(text).into_iter().map(Value::String).collect()
        }
        ExpressionKind::List(elements) if !in_string => {
            elements.iter().map(|element| constant_value(element, dialect).cloned()).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let found = items.iter().map(|value| ValueDomain::of_comparison(*operator, value, true, dialect));
    match found.reduce(ValueDomain::union) {
        Some(domain) => ValueConstraints::of_subject(item, domain),
        None => Some(ValueConstraints::Unsatisfiable),
    }
}
