//! The values that a condition allows for each of its subjects.

use crate::ad::{BinaryOperator, Dialect, Expression, Group, Kind, Name, Type, UnaryOperator, Value, same_tree};
use crate::constraint::{Operand, is_plain};
use crate::eval::listed_items;
use crate::protocol::is_met;

use super::domain::Domain;

/// The subject of a condition.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'e> {
    /// An attribute of the other side, with the expression that names it.
    Other(&'e Name, &'e Expression),
    /// Any other expression whose value is the same throughout one evaluation.
    Tree(&'e Expression),
}

impl<'e> Subject<'e> {
    /// Returns the subject of an expression; `None` for a literal and for an expression that calls `random` or
    /// `eval`.
    fn of(expression: &'e Expression) -> Option<Self> {
        match Operand::of(expression) {
            Some(Operand::Other(name) | Operand::Free(name)) => Some(Subject::Other(name, expression)),
            Some(Operand::Literal(_)) => None,
            None if leaves_to_chance(expression) => None,
            Some(Operand::Own(_)) | None => Some(Subject::Tree(expression)),
        }
    }

    /// Returns the expression as written.
    pub(super) fn expression(self) -> &'e Expression {
        match self {
            Subject::Other(_, expression) | Subject::Tree(expression) => expression,
        }
    }

    pub(super) fn same(self, other: Self) -> bool {
        match (self, other) {
            (Subject::Other(a, _), Subject::Other(b, _)) => a == b,
            (Subject::Tree(a), Subject::Tree(b)) => same_tree(a, b),
            _ => false,
        }
    }
}

fn leaves_to_chance(expression: &Expression) -> bool {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        if matches!(expression.kind(), Kind::Call(name, _) if name.is("random") || name.is("eval")) {
            return true;
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    false
}

/// The necessary conditions for an expression to be true, or to be false.
#[derive(Clone, Debug)]
pub(super) enum Claims<'e> {
    /// The condition cannot hold.
    Never,
    /// Each subject must have a value in its domain.
    Of(Vec<(Subject<'e>, Domain)>),
}

/// Maximum nesting depth that is analysed; deeper expressions are unconstrained.
const DEEPEST: usize = 100;

impl<'e> Claims<'e> {
    const NOTHING: Self = Claims::Of(Vec::new());

    /// Returns the necessary conditions for an expression to be true (`wanted`) or false.
    pub(super) fn of(expression: &'e Expression, wanted: bool, dialect: Dialect) -> Self {
        Claims::within(expression, wanted, dialect, 0)
    }

    fn within(expression: &'e Expression, wanted: bool, dialect: Dialect, depth: usize) -> Self {
        if depth > DEEPEST {
            return Claims::NOTHING;
        }
        let of = |expression, wanted| Claims::within(expression, wanted, dialect, depth + 1);
        let expression = expression.bare();
        match expression.kind() {
            Kind::Literal(value) => {
                let holds = if wanted { is_met(value, dialect) } else { !is_met(value, dialect) };
                if holds { Claims::NOTHING } else { Claims::Never }
            }
            Kind::Unary(UnaryOperator::Not, operand) => of(operand, !wanted),
            Kind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), ..) => {
                let parts = joined(expression, *operator).into_iter().map(|part| of(part, wanted));
                let all = (*operator == BinaryOperator::And) == wanted;
                let claims = parts.reduce(if all { Claims::and } else { Claims::or });
                claims.unwrap_or(Claims::NOTHING)
            }
            Kind::Conditional(condition, consequent, alternative) => {
                let yes = of(condition, true).and(of(consequent, wanted));
                yes.or(of(condition, false).and(of(alternative, wanted)))
            }
            Kind::Elvis(left, right) => of(left, wanted).or(of(right, wanted)),
            Kind::Binary(operator, left, right) if matches!(operator.group(), Group::Comparison | Group::Identity) => {
                compared(*operator, left, right, wanted, dialect).unwrap_or_else(|| truth(expression, wanted, dialect))
            }
            Kind::Call(name, arguments) => {
                called(name, arguments, wanted, dialect).unwrap_or_else(|| truth(expression, wanted, dialect))
            }
            _ => truth(expression, wanted, dialect),
        }
    }

    fn about(subject: Subject<'e>, domain: Domain) -> Self {
        Claims::Of(vec![(subject, domain)])
    }

    /// Whether no value satisfies the conditions.
    fn is_impossible(&self) -> bool {
        match self {
            Claims::Never => true,
            Claims::Of(claims) => claims.iter().any(|(_, domain)| domain.is_empty()),
        }
    }

    /// Conjunction: intersects the domains of equal subjects.
    fn and(self, other: Self) -> Self {
        let (Claims::Of(mut claims), Claims::Of(others)) = (self, other) else { return Claims::Never };
        for (subject, domain) in others {
            match claims.iter_mut().find(|(known, _)| known.same(subject)) {
                Some((_, known)) => *known = known.and(&domain),
                None => claims.push((subject, domain)),
            }
        }
        Claims::Of(claims)
    }

    /// Disjunction: unites the domains of the subjects that both sides constrain.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Claims::Never, other) => other,
            (claims, other) if other.is_impossible() => claims,
            (claims, other) if claims.is_impossible() => other,
            (claims, Claims::Never) => claims,
            (Claims::Of(claims), Claims::Of(mut others)) => {
                let both = claims.into_iter().filter_map(|(subject, domain)| {
                    let at = others.iter().position(|(other, _)| other.same(subject))?;
                    Some((subject, domain.or(others.swap_remove(at).1)))
                });
                Claims::Of(both.collect())
            }
        }
    }
}

/// Returns the operands of a chain of `&&` or of `||`, from left to right.
fn joined(expression: &Expression, operator: BinaryOperator) -> Vec<&Expression> {
    let mut parts = Vec::new();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match expression.bare().kind() {
            Kind::Binary(found, left, right) if *found == operator => pending.extend([right, left]),
            _ => parts.push(expression),
        }
    }
    parts
}

fn truth(expression: &Expression, wanted: bool, dialect: Dialect) -> Claims<'_> {
    let subject = Subject::of(expression);
    subject.map_or(Claims::NOTHING, |subject| Claims::about(subject, Domain::of_truth(wanted, dialect)))
}

/// Returns the value of a literal that evaluates to itself; `None` for other expressions.
fn constant(expression: &Expression, dialect: Dialect) -> Option<&Value> {
    match expression.bare().kind() {
        Kind::Literal(value) if is_plain(value, dialect) => Some(value),
        _ => None,
    }
}

fn compared<'e>(
    operator: BinaryOperator,
    left: &'e Expression,
    right: &'e Expression,
    wanted: bool,
    dialect: Dialect,
) -> Option<Claims<'e>> {
    let (operator, subject, value) = match (constant(left, dialect), constant(right, dialect)) {
        (None, Some(value)) => (operator, left, value),
        (Some(value), None) => (operator.exchanged()?, right, value),
        _ => return None,
    };
    let subject = Subject::of(subject)?;
    Some(Claims::about(subject, Domain::of_comparison(operator, value, wanted, dialect)))
}

/// Type predicates, with the type that each tests.
pub(super) const PREDICATES: [(&str, Type); 10] = [
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

/// Membership functions: name, comparison operator, and whether the list is a string list.
const SEARCHES: [(&str, BinaryOperator, bool); 5] = [
    ("member", BinaryOperator::Equal, false),
    ("isMember", BinaryOperator::Is, false),
    ("identicalMember", BinaryOperator::Is, false),
    ("stringListMember", BinaryOperator::Is, true),
    ("stringListIMember", BinaryOperator::Equal, true),
];

fn called<'e>(name: &Name, arguments: &'e [Expression], wanted: bool, dialect: Dialect) -> Option<Claims<'e>> {
    if let ([argument], Some((_, kind))) = (arguments, PREDICATES.iter().find(|(known, _)| name.is(known))) {
        return Some(Claims::about(Subject::of(argument)?, Domain::of_type(*kind, wanted)));
    }
    let (_, operator, in_string) = SEARCHES.iter().find(|(known, ..)| name.is(known))?;
    let [item, list] = arguments else { return None };
    if !wanted {
        return None;
    }
    let items: Vec<Value> = match list.bare().kind() {
        Kind::Literal(Value::String(text)) if *in_string => listed_items(text).into_iter().map(Value::String).collect(),
        Kind::List(elements) if !in_string => {
            elements.iter().map(|element| constant(element, dialect).cloned()).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let found = items.iter().map(|value| Domain::of_comparison(*operator, value, true, dialect));
    Some(match found.reduce(Domain::or) {
        Some(domain) => Claims::about(Subject::of(item)?, domain),
        None => Claims::Never,
    })
}
