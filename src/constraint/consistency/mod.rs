//! Detects contradictions among the clauses of a constraint: the consistency errors of thesis 4.2.2 and 4.5.
//!
//! Each clause restricts its subject (mostly an attribute) to a domain of values. If the domains of one subject do
//! not intersect, the clauses cannot be true together, whatever the other ad is.

mod domain;
mod ranges;
mod value_constraint;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Dialect, Expression, ExpressionKind, Name, OperatorGroup, Value};
use crate::constraint::{ClauseForm, ClauseOperand, orient_comparison};

use domain::ValueDomain;
use value_constraint::{ConstraintSubject, ValueConstraints};

/// A set of clauses that cannot be true together.
#[derive(Clone, Debug)]
pub struct Inconsistency {
    /// Indexes of the clauses in `parts` of [`inconsistencies`], ascending. The set is minimal: if any one clause is
    /// left out, the others do not contradict each other about `subject`. A single clause may contradict itself.
    pub clauses: Vec<usize>,
    /// The expression for which no value meets all clauses, in most cases an attribute. It is written as in the first
    /// clause about it.
    pub subject: Expression,
    /// What about the subject is contradictory: its value, its type or its presence.
    pub kind: InconsistencyKind,
}

/// What a contradiction is about: the value of the subject, its type, or whether it is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InconsistencyKind {
    /// The types agree, the ranges do not intersect: `x < 10 && x > 12`.
    Value,
    /// No type satisfies all clauses: `x < 10 && x == "a"`.
    Type,
    /// The subject must be both present and absent: `x is undefined && x > 5`.
    Presence,
}

/// Maximum number of contradictions found about one subject. Clauses that contradict themselves are reported even
/// beyond this number.
const MAX_CONFLICTS: usize = 64;

/// Maximum number of clauses about one subject that are compared with one another. Further clauses are only checked for
/// contradicting themselves.
pub const MAX_COMPARED_CLAUSES: usize = 500;

/// Finds contradictions among clauses, such as [`conjuncts`](super::conjuncts()) returns for a specialized constraint.
/// Unqualified names are taken as attributes of the other side.
///
/// The search misses some contradictions. A reported one is certain if its subject has one value throughout an
/// evaluation. An attribute that calls `random()` has a new value at each reference: a caller that knows the ad must
/// discard contradictions about it. O(n²) in the number of clauses that restrict one
/// subject, up to [`MAX_COMPARED_CLAUSES`].
#[must_use]
pub fn inconsistencies(parts: &[&Expression], dialect: Dialect) -> Vec<Inconsistency> {
    // Most clauses of real constraints are of this kind, and their domains are costly.
    let lone = lone_comparisons(parts);
    inconsistencies_without(&lone, parts, dialect, &ValueDomain::all())
}

/// Finds contradictions as [`inconsistencies`] does, where no subject is NaN: `!(x > 5)` and `!(x <= 5)` contradict each
/// other for every number.
#[must_use]
pub fn inconsistencies_of_numbers(parts: &[&Expression], dialect: Dialect) -> Vec<Inconsistency> {
    inconsistencies_without(&lone_comparisons(parts), parts, dialect, &ValueDomain::without_nan())
}

/// Whether one of the clauses is true for each value of some types of the subject, as `x > 5` or `x <= 5` is for numbers, and
/// none for other values, for which they are undefined or errors. May be wrong where clauses have several subjects.
#[must_use]
pub fn may_hold_for_whole_types(parts: &[&Expression], subject: &Expression, dialect: Dialect) -> bool {
    let any = parts.iter().map(|part| ValueConstraints::of(part, true, dialect)).reduce(ValueConstraints::or);
    any.is_some_and(|any| any.allow_whole_types(subject))
}

/// Finds contradictions among clauses other than those whose indexes are `left_out`, for subjects with a value in
/// `possible`.
fn inconsistencies_without(
    left_out: &FxHashSet<usize>,
    parts: &[&Expression],
    dialect: Dialect,
    possible: &ValueDomain,
) -> Vec<Inconsistency> {
    let mut subjects: Vec<(ConstraintSubject<'_>, Vec<(usize, ValueDomain)>)> = Vec::new();
    for (place, part) in parts.iter().enumerate().filter(|(place, _)| !left_out.contains(place)) {
        let ValueConstraints::Domains(claims) = ValueConstraints::of(part, true, dialect) else { continue };
        for (subject, domain) in claims {
            let domain = domain.intersection(possible);
            match subjects.iter_mut().find(|(known, _)| known.is_same_subject(subject)) {
                Some((_, domains)) => domains.push((place, domain)),
                None => subjects.push((subject, vec![(place, domain)])),
            }
        }
    }
    let mut found: Vec<Inconsistency> = Vec::new();
    for (subject, domains) in &subjects {
        for places in minimal_conflicts(domains) {
            let of = |place: usize| domains.iter().filter(move |(known, _)| *known == place).map(|(_, domain)| domain);
            let kind = inconsistency_kind(places.iter().copied().flat_map(of));
            found.push(Inconsistency { clauses: places, subject: subject.expression.clone(), kind });
        }
    }
    found.sort_by(|a, b| a.clauses.cmp(&b.clauses));
    found
}

/// Returns the indexes of clauses that contradict nothing: each compares an attribute with a number, and no other
/// clause mentions the attribute.
fn lone_comparisons(parts: &[&Expression]) -> FxHashSet<usize> {
    // The only clause that mentions each name; `None` if there are several.
    let mut mentions: FxHashMap<&Name, Option<usize>> = FxHashMap::default();
    let mut pending: Vec<(&Expression, usize)> = parts.iter().copied().zip(0..).collect();
    while let Some((expression, place)) = pending.pop() {
        if let ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name) = expression.kind() {
            let only = mentions.entry(name).or_insert(Some(place));
            *only = only.filter(|known| *known == place);
        }
        expression.kind().for_each_child(|child| pending.push((child, place)));
    }
    let is_lone =
        |place: &usize| compared_attribute(parts[*place]).is_some_and(|name| mentions.get(name) == Some(&Some(*place)));
    (0..parts.len()).filter(is_lone).collect()
}

/// Returns the attribute that a clause compares with a number by an order, by `==` or by `!=`, so that some number
/// meets the clause. `None` for other clauses.
fn compared_attribute(clause: &Expression) -> Option<&Name> {
    let ClauseForm::Comparison(operator, left, right) = ClauseForm::of(clause) else { return None };
    let attribute = |operand| match operand {
        ClauseOperand::Other(name) | ClauseOperand::Unqualified(name) => Some(name),
        ClauseOperand::Own(_) | ClauseOperand::Literal(_) => None,
    };
    let is_plain = |operand: ClauseOperand<'_>| match operand {
        ClauseOperand::Literal(Value::Integer(_)) => true,
        ClauseOperand::Literal(Value::Real(real)) => real.is_finite(),
        _ => false,
    };
    let (name, _, ()) = orient_comparison(operator, left, right, attribute, |operand| is_plain(operand).then_some(()))?;
    (operator.group() == OperatorGroup::Comparison).then_some(name)
}

/// Returns minimal sets of clause indexes whose domains do not intersect. The sets are single clauses and pairs. If
/// there are neither, one larger set is found by leaving out clauses one by one.
fn minimal_conflicts(domains: &[(usize, ValueDomain)]) -> Vec<Vec<usize>> {
    let (empty, mut satisfiable): (Vec<_>, Vec<_>) = domains.iter().partition(|(_, domain)| domain.is_empty());
    let mut found: Vec<Vec<usize>> = empty.into_iter().map(|(place, _)| vec![*place]).collect();
    satisfiable.truncate(MAX_COMPARED_CLAUSES);
    for (index, (place, domain)) in satisfiable.iter().enumerate() {
        for (later, other) in &satisfiable[index + 1..] {
            if found.len() < MAX_CONFLICTS && domain.intersection(other).is_empty() {
                found.push(vec![*place, *later]);
            }
        }
    }
    if found.is_empty() && common_domain(&satisfiable).is_empty() {
        let mut needed = satisfiable;
        let mut at = 0;
        while at < needed.len() {
            let mut fewer = needed.clone();
            fewer.remove(at);
            if common_domain(&fewer).is_empty() {
                needed = fewer;
            } else {
                at += 1;
            }
        }
        found.push(needed.into_iter().map(|(place, _)| *place).collect());
    }
    found
}

fn common_domain(domains: &[&(usize, ValueDomain)]) -> ValueDomain {
    domains.iter().fold(ValueDomain::all(), |common, (_, domain)| common.intersection(domain))
}

fn inconsistency_kind<'d>(domains: impl Iterator<Item = &'d ValueDomain>) -> InconsistencyKind {
    let domains: Vec<&ValueDomain> = domains.collect();
    if domains.len() < 2 || domains.iter().fold(u16::MAX, |common, domain| common & domain.type_bits()) != 0 {
        InconsistencyKind::Value
    } else if domains.iter().any(|domain| domain.present_type_bits() == 0) {
        InconsistencyKind::Presence
    } else {
        InconsistencyKind::Type
    }
}

#[cfg(test)]
mod tests;
