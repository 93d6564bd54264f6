//! Detects contradictions among the clauses of a constraint: the consistency errors of thesis 4.2.2 and 4.5.
//!
//! Each clause restricts its subject (mostly an attribute) to a domain of values. If the domains of one subject do
//! not intersect, the clauses cannot be true together, whatever the other ad is.

mod grid;
mod samples;
mod subjects;

use std::ops::ControlFlow;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, OperatorGroup, Type, Value};
use crate::constraint::{ClauseForm, ClauseOperand, is_scope_name, orient_comparison};

use grid::{Grid, comparable_type, subjects_of};

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

/// Maximum number of clauses of one conjunction that are compared with one another. Further clauses are only checked for
/// contradicting themselves. Comparisons of attributes about which nothing else is said do not count.
pub const MAX_COMPARED_CLAUSES: usize = 200;

/// Finds contradictions among clauses, such as [`conjuncts`](super::conjuncts()) returns for a specialized constraint.
/// Unqualified names are taken as attributes of the other side.
///
/// The search misses some contradictions. A reported one is certain if its subject has one value throughout an
/// evaluation. An attribute that calls `random()` has a new value at each reference: a caller that knows the ad must
/// discard contradictions about it. A constant that decides its `&&` or `||` is no contradiction.
#[must_use]
pub fn inconsistencies(parts: &[&Expression], dialect: Dialect) -> Vec<Inconsistency> {
    // Most clauses of real constraints are of this kind, and their samples are costly.
    inconsistencies_without(&lone_clauses(parts, dialect), parts, dialect)
}

/// Whether [`inconsistencies`] finds a contradiction in one clause. This is faster: it ends at the first values that meet the
/// clause.
#[must_use]
pub fn contradicts_itself(clause: &Expression, dialect: Dialect) -> bool {
    if is_plainly_met(clause, dialect) {
        return false;
    }
    let grid = Grid::new(&[clause], dialect, false);
    grid.conditions.first().is_some_and(|condition| grid.is_impossible(condition))
}

/// Finds contradictions among clauses other than those whose indexes are `left_out`.
fn inconsistencies_without(left_out: &FxHashSet<usize>, parts: &[&Expression], dialect: Dialect) -> Vec<Inconsistency> {
    let places: Vec<usize> = (0..parts.len()).filter(|place| !left_out.contains(place)).collect();
    let (compared, others) = places.split_at(places.len().min(MAX_COMPARED_CLAUSES));
    let mut found = contradictions(compared, parts, dialect);
    found.extend(others.iter().flat_map(|place| contradictions(&[*place], parts, dialect)));
    found.sort_by(|a, b| a.clauses.cmp(&b.clauses));
    found
}

/// Finds contradictions among the clauses with these indexes.
fn contradictions(places: &[usize], parts: &[&Expression], dialect: Dialect) -> Vec<Inconsistency> {
    let clauses: Vec<&Expression> = places.iter().map(|place| parts[*place]).collect();
    let grid = Grid::new(&clauses, dialect, false);
    let subjects: Vec<Vec<usize>> = grid.conditions.iter().map(|condition| subjects_of(condition).0).collect();
    let mut mentions = vec![0; grid.subjects.len()];
    subjects.iter().flatten().for_each(|subject| mentions[*subject] += 1);
    let mut sets: Vec<Vec<(usize, FixedBitSet)>> = vec![Vec::new(); grid.subjects.len()];
    for (clause, condition) in grid.conditions.iter().enumerate() {
        let is_alone = subjects[clause].iter().all(|subject| mentions[*subject] == 1);
        if is_alone && grid.is_soon_met(condition) {
            continue;
        }
        for (subject, allowed) in grid.allowed(condition) {
            sets[subject].push((clause, allowed));
        }
    }
    let mut found = Vec::new();
    for (subject, sets) in sets.iter().enumerate() {
        for conflict in minimal_conflicts(sets, grid.samples[subject].len()) {
            let of = |clause: usize| sets.iter().filter(move |(known, _)| *known == clause).map(|(_, set)| set);
            let kind = inconsistency_kind(conflict.iter().copied().flat_map(of), &grid.samples[subject]);
            found.push((conflict, subject, kind));
        }
    }
    if found.is_empty() {
        found.extend(
            joint_conflict(&grid, &subjects, &mentions)
                .map(|(conflict, subject)| (conflict, subject, InconsistencyKind::Value)),
        );
    }
    let inconsistency = |(conflict, subject, kind): (Vec<usize>, usize, InconsistencyKind)| Inconsistency {
        clauses: conflict.into_iter().map(|clause| places[clause]).collect(),
        subject: grid.subjects[subject].expression.clone(),
        kind,
    };
    found.into_iter().map(inconsistency).collect()
}

/// Returns a minimal set of clauses that are not met together although each subject has values that all of them allow, and
/// one of its subjects: `(x > 5 || y > 5) && x < 3 && y < 3`. `subjects` are those of each clause, and `mentions` is the number
/// of clauses about each subject.
fn joint_conflict(grid: &Grid<'_>, subjects: &[Vec<usize>], mentions: &[usize]) -> Option<(Vec<usize>, usize)> {
    let is_tied = |clause: &usize| subjects[*clause].iter().any(|subject| mentions[*subject] > 1);
    let tied: Vec<usize> = (0..subjects.len()).filter(is_tied).collect();
    // Clauses about one subject each have been compared already.
    if tied.iter().all(|clause| subjects[*clause].len() < 2) {
        return None;
    }
    grid.renew_budget();
    let is_conflict = |clauses: &[usize]| {
        joined(grid, clauses, BinaryOperator::And)
            .is_some_and(|joined| !grid.is_costly(&joined) && grid.is_never_met(&joined))
    };
    if tied.len() < 2 || !is_conflict(&tied) {
        return None;
    }
    let needed = minimal_subset(tied, is_conflict);
    let subject = *needed.iter().flat_map(|clause| &subjects[*clause]).min()?;
    (!grid.has_spent_budget()).then_some((needed, subject))
}

/// Returns conditions of a grid as operands of `operator`; `None` if there are none.
fn joined(grid: &Grid<'_>, conditions: &[usize], operator: BinaryOperator) -> Option<Expression> {
    let conditions = conditions.iter().map(|place| grid.conditions[*place].clone());
    conditions.reduce(|left, right| Expression::binary(operator, left, right))
}

/// Leaves out items as long as the rest still has a property.
fn minimal_subset<T: Clone>(mut needed: Vec<T>, has_property: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut at = 0;
    while at < needed.len() {
        let mut fewer = needed.clone();
        fewer.remove(at);
        if has_property(&fewer) {
            needed = fewer;
        } else {
            at += 1;
        }
    }
    needed
}

/// Operands of `||` of which one is true for every value of the subject, or a conditional that is true for every value of it.
#[derive(Clone, Debug)]
pub struct Tautology {
    /// Indexes of the operands, ascending. The set is minimal.
    pub operands: Vec<usize>,
    /// The expression for whose values the operands are true, in most cases an attribute, as in the first operand about it.
    pub subject: Expression,
}

/// Finds operands of `||` that are true for all values of some types of a subject, such as all numbers: `x > 5 || x <= 5`. For
/// values of other types they are undefined or errors. Operands about the same subject that tell values of a type apart,
/// as in `x == "a" || x > 5 || x <= 5`, keep the whole from being always true.
#[must_use]
pub fn tautologies(operands: &[&Expression], dialect: Dialect) -> Vec<Tautology> {
    let lone = lone_clauses(operands, dialect);
    let places = (0..operands.len()).filter(|place| !lone.contains(place)).take(MAX_COMPARED_CLAUSES);
    let places: Vec<usize> = places.collect();
    let parts: Vec<&Expression> = places.iter().map(|place| operands[*place]).collect();
    let grid = Grid::new(&parts, dialect, false);
    let is_always = |parts: &[usize]| {
        joined(&grid, parts, BinaryOperator::Or)
            .is_some_and(|joined| !grid.is_costly(&joined) && grid.is_always_true(&joined))
    };
    let subjects: Vec<Vec<usize>> = grid.conditions.iter().map(|part| subjects_of(part).0).collect();
    let about = |subject: usize| {
        let (alone, any) = (move |of: &[usize]| of == [subject], move |of: &[usize]| of.contains(&subject));
        let having = |is: &dyn Fn(&[usize]) -> bool| (0..parts.len()).filter(|part| is(&subjects[*part])).collect();
        let candidates: [Vec<usize>; 2] = [having(&alone), having(&any)];
        let found = candidates.into_iter().find(|candidate| is_always(candidate))?;
        let operands = minimal_subset(found, is_always).into_iter().map(|part| places[part]).collect();
        Some(Tautology { operands, subject: grid.subjects[subject].expression.clone() })
    };
    (0..grid.subjects.len()).filter_map(about).collect()
}

/// The values that a condition can have, each with values of the subjects for which it has this value.
#[derive(Clone, Debug, Default)]
pub struct PossibleTruths {
    /// A witness of the condition being true.
    pub is_true: Option<Witness>,
    /// A witness of the condition being false.
    pub is_false: Option<Witness>,
    /// A witness of the condition being undefined.
    pub is_undefined: Option<Witness>,
    /// A witness of the condition being an error, or a value that is no boolean.
    pub is_error: Option<Witness>,
}

/// Subjects of a condition, mostly attributes, each with a value.
pub type Witness = Vec<(Expression, Value)>;

/// Returns the values that a condition can have. The evaluator computes each of them from its witness. `None` for a condition
/// with too many subjects and constants.
#[must_use]
pub fn possible_truths(condition: &Expression, dialect: Dialect) -> Option<PossibleTruths> {
    let grid = Grid::new(&[condition], dialect, true);
    let mut found = PossibleTruths::default();
    grid.evaluate(grid.conditions.first()?, |assignment, value| {
        let witness = match value {
            Some(Value::Boolean(true)) => &mut found.is_true,
            Some(Value::Boolean(false)) => &mut found.is_false,
            Some(Value::Undefined) => &mut found.is_undefined,
            _ => &mut found.is_error,
        };
        witness.get_or_insert_with(|| {
            let subjects = assignment.subjects.iter();
            let value = |subject: &usize| {
                Some((grid.subjects[*subject].expression.clone(), grid.sample(assignment, *subject)?.clone()))
            };
            subjects.filter_map(value).collect()
        });
        ControlFlow::Continue(())
    })?;
    Some(found)
}

/// Returns the indexes of clauses that contradict nothing: some value of an attribute meets each of them, and no other clause
/// mentions any of its attributes.
fn lone_clauses(parts: &[&Expression], dialect: Dialect) -> FxHashSet<usize> {
    let mut lone: FxHashSet<usize> = (0..parts.len()).filter(|place| is_plainly_met(parts[*place], dialect)).collect();
    let mut mentions: FxHashMap<&Name, usize> = FxHashMap::default();
    let mut pending: Vec<(&Expression, usize)> = parts.iter().copied().zip(0..).collect();
    while let Some((expression, place)) = pending.pop() {
        if let ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name) = expression.kind()
            && !is_scope_name(name)
            && let known = *mentions.entry(name).or_insert(place)
            && known != place
        {
            lone.remove(&known);
            lone.remove(&place);
        }
        expression.kind().for_each_child(|child| pending.push((child, place)));
    }
    lone
}

/// Whether the form of a clause shows that some value of an attribute meets it: the clause is an attribute, compares one with
/// a constant, or looks for one in a list. In HTCondor's dialect it suffices that the first operand of its `||` does, since a true operand decides it.
/// `false` if that is unknown.
fn is_plainly_met(clause: &Expression, dialect: Dialect) -> bool {
    let mut first = clause.without_parentheses();
    while let ExpressionKind::Binary(BinaryOperator::Or, left, _) = first.kind()
        && dialect.is_condor()
    {
        first = left.without_parentheses();
    }
    let attribute = |operand| matches!(operand, ClauseOperand::Other(_) | ClauseOperand::Unqualified(_)).then_some(());
    let (operator, left, right) = match ClauseForm::of(first) {
        ClauseForm::Truth(operand) => return attribute(operand).is_some(),
        ClauseForm::Comparison(operator, left, right) => (operator, left, right),
        ClauseForm::StringListMember(operand, list) => {
            return attribute(operand).is_some() && list.as_bytes().iter().any(u8::is_ascii_alphanumeric);
        }
        ClauseForm::Residue => return false,
    };
    let is_identity = operator.group() == OperatorGroup::Identity;
    let constant = |operand| match operand {
        ClauseOperand::Literal(Value::Integer(_)) => !is_identity,
        ClauseOperand::Literal(Value::Real(real)) => real.is_finite(),
        ClauseOperand::Literal(Value::String(text)) => is_identity || !text.as_bytes().is_empty(),
        ClauseOperand::Literal(Value::Boolean(_) | Value::Undefined) => is_identity,
        _ => false,
    };
    orient_comparison(operator, left, right, attribute, |operand| constant(operand).then_some(())).is_some()
}

/// Returns minimal sets of clause indexes whose sets of samples do not intersect. They are single clauses and pairs. If
/// there are neither, one larger set is found by leaving out clauses one by one.
fn minimal_conflicts(sets: &[(usize, FixedBitSet)], samples: usize) -> Vec<Vec<usize>> {
    let (empty, satisfiable): (Vec<_>, Vec<_>) = sets.iter().partition(|(_, set)| set.is_clear());
    let mut found: Vec<Vec<usize>> = empty.into_iter().map(|(place, _)| vec![*place]).collect();
    for (index, (place, set)) in satisfiable.iter().enumerate() {
        for (later, other) in &satisfiable[index + 1..] {
            if found.len() < MAX_CONFLICTS && set.is_disjoint(other) {
                found.push(vec![*place, *later]);
            }
        }
    }
    let is_conflict = |sets: &[&(usize, FixedBitSet)]| {
        let mut common = FixedBitSet::with_capacity(samples);
        common.insert_range(..);
        for (_, set) in sets {
            common.intersect_with(set);
        }
        common.is_clear()
    };
    if found.is_empty() && is_conflict(&satisfiable) {
        found.push(minimal_subset(satisfiable, is_conflict).into_iter().map(|(place, _)| *place).collect());
    }
    found
}

fn inconsistency_kind<'d>(sets: impl Iterator<Item = &'d FixedBitSet>, samples: &[Value]) -> InconsistencyKind {
    let bit = |place: usize| 1_u16 << comparable_type(&samples[place]) as u16;
    let types: Vec<u16> = sets.map(|set| set.ones().fold(0, |types, place| types | bit(place))).collect();
    let exceptional = 1 << Type::Undefined as u16 | 1 << Type::Error as u16;
    if types.len() < 2 || types.iter().fold(u16::MAX, |common, types| common & types) != 0 {
        InconsistencyKind::Value
    } else if types.iter().any(|types| types & !exceptional == 0) {
        InconsistencyKind::Presence
    } else {
        InconsistencyKind::Type
    }
}

#[cfg(test)]
mod tests;
