//! The values of conditions for all combinations of sample values of their subjects.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, AdShape, BinaryOperator, Dialect, Expression, ExpressionKind, Truth, Type, UnaryOperator, Value};
use crate::constraint::conjuncts::chain_operands;
use crate::constraint::{ClauseForm, ClauseOperand};
use crate::eval::{Context, Environment, Evaluator};

use super::samples::{TRUTH_SAMPLES, samples};
use super::subjects::{ConstraintSubject, Subjects, subject_name};

/// Conditions, their subjects, and samples of the values of each subject. For each assignment of values to the subjects there is
/// one of samples for which every condition has the same value.
pub(super) struct Grid<'e> {
    /// The conditions, with names in place of subjects.
    pub conditions: Vec<Expression>,
    pub subjects: Vec<ConstraintSubject<'e>>,
    /// The samples of each subject.
    pub samples: Vec<Vec<Value>>,
    context: Context,
    /// Number of nodes of expressions that may still be evaluated.
    budget: Cell<usize>,
}

/// Samples of some subjects: the indexes of the subjects, and of the sample of each.
pub(super) struct Assignment<'a> {
    pub subjects: &'a [usize],
    pub chosen: &'a [usize],
}

/// The values that a condition allows for its subjects, as sets of samples. Any value is allowed for other subjects.
pub(super) type SampleSets = Vec<(usize, FixedBitSet)>;

/// Maximum number of nodes of expressions that are evaluated for one grid.
const MAX_EVALUATED_NODES: usize = 1 << 18;

/// Maximum number of nodes that are evaluated for one condition about several subjects when contradictions are sought, and
/// for a condition that some samples soon meet.
const MAX_PRODUCT_NODES: usize = 1 << 14;

impl<'e> Grid<'e> {
    /// Creates a grid. `counts_constants` says whether constants that decide their `&&` or `||` count.
    pub(super) fn new(conditions: &[&'e Expression], dialect: Dialect, counts_constants: bool) -> Self {
        let mut subjects = Subjects::new(dialect, counts_constants);
        let conditions = conditions.iter().map(|condition| subjects.condition(condition)).collect();
        let samples = subjects.all.iter().map(|subject| {
            if subject.is_comparison { TRUTH_SAMPLES.to_vec() } else { samples(&subject.constants, dialect) }
        });
        Grid {
            conditions,
            samples: samples.collect(),
            subjects: subjects.all,
            context: Context::new(dialect),
            budget: Cell::new(MAX_EVALUATED_NODES),
        }
    }

    /// Grants the budget of [`MAX_EVALUATED_NODES`] anew.
    pub(super) fn renew_budget(&self) {
        self.budget.set(MAX_EVALUATED_NODES);
    }

    /// Whether an evaluation was given up since the budget was granted.
    pub(super) fn has_spent_budget(&self) -> bool {
        self.budget.get() == 0
    }

    /// Returns the sample of a subject in an assignment.
    pub(super) fn sample(&self, assignment: &Assignment<'_>, subject: usize) -> Option<&Value> {
        let place = assignment.subjects.iter().position(|known| *known == subject)?;
        Some(&self.samples[subject][assignment.chosen[place]])
    }

    /// Whether it takes too long to evaluate a condition about several subjects with all their samples.
    pub(super) fn is_costly(&self, condition: &Expression) -> bool {
        let (subjects, cost) = self.cost(condition);
        cost > self.budget.get() || (subjects > 1 && cost > MAX_PRODUCT_NODES)
    }

    /// Returns the number of subjects of a condition, and the number of nodes that are evaluated for all their samples.
    fn cost(&self, condition: &Expression) -> (usize, usize) {
        let (subjects, nodes) = subjects_of(condition);
        (subjects.len(), subjects.iter().fold(nodes, |cost, subject| cost.saturating_mul(self.samples[*subject].len())))
    }

    /// Calls `visit` with each assignment to the subjects of a condition, and with the value that the condition then has:
    /// `None` if its evaluation exceeds a budget. `None` if the assignments are too many; then `visit` is not called, or
    /// not with all of them.
    pub(super) fn evaluate(
        &self,
        condition: &Expression,
        mut visit: impl FnMut(&Assignment<'_>, Option<Value>) -> ControlFlow<()>,
    ) -> Option<()> {
        let (subjects, nodes) = subjects_of(condition);
        let points = subjects.iter().try_fold(1_usize, |all, one| all.checked_mul(self.samples[*one].len()))?;
        if points > MAX_EVALUATED_NODES {
            return None;
        }
        let shape: OnceLock<Arc<AdShape>> = OnceLock::new();
        let mut chosen = vec![0; subjects.len()];
        for _ in 0..points {
            let left = self.budget.get().checked_sub(nodes);
            self.budget.set(left.unwrap_or_default());
            left?;
            let assignment = Assignment { subjects: &subjects, chosen: &chosen };
            if visit(&assignment, self.value(condition, &assignment, &shape)).is_break() {
                break;
            }
            for (place, subject) in chosen.iter_mut().zip(&subjects) {
                *place = (*place + 1) % self.samples[*subject].len();
                if *place != 0 {
                    break;
                }
            }
        }
        Some(())
    }

    fn value(
        &self,
        condition: &Expression,
        assignment: &Assignment<'_>,
        shape: &OnceLock<Arc<AdShape>>,
    ) -> Option<Value> {
        let dialect = self.context.dialect;
        let operand = |operand: &ClauseOperand<'_>| match operand {
            ClauseOperand::Unqualified(name) => self.sample(assignment, name.as_str()[1..].parse().ok()?).cloned(),
            ClauseOperand::Literal(value) => Some((*value).clone()),
            ClauseOperand::Other(_) | ClauseOperand::Own(_) => None,
        };
        if let Some(value) = ClauseForm::of(condition).decide(dialect, operand) {
            return Some(value);
        }
        let samples = assignment.subjects.iter().filter_map(|subject| self.sample(assignment, *subject));
        let samples: Vec<Expression> = samples.map(sample_expression).collect();
        let shape = shape.get_or_init(|| {
            let named = assignment.subjects.iter().zip(&samples);
            let ad: Ad = named.map(|(subject, sample)| (subject_name(*subject), sample.clone())).collect();
            Arc::clone(ad.shape())
        });
        let (environment, frame) = Environment::single(Ad::from_shape(Arc::clone(shape), samples));
        Evaluator::new(&environment, &self.context).evaluate(condition, &frame).ok()
    }

    /// Returns the values that the subjects of a condition can have if the condition is met: a set for each subject that the
    /// condition restricts. The sets are exact unless the condition has many subjects or constants.
    pub(super) fn allowed(&self, condition: &Expression) -> SampleSets {
        let (subjects, _) = subjects_of(condition);
        let none = |subject: usize| (subject, FixedBitSet::with_capacity(self.samples[subject].len()));
        let mut sets: SampleSets = subjects.into_iter().map(none).collect();
        let (mut has_texts, mut has_truths) = (false, false);
        let mut insert = |assignment: &Assignment<'_>, value: Option<Value>| {
            if let Some(value) = value.as_ref().filter(|value| !value.is_exceptional()) {
                let is_text = Truth::of(value, self.context.dialect) == Truth::Error;
                *(if is_text { &mut has_texts } else { &mut has_truths }) = true;
            }
            if value.is_none_or(|value| Truth::of(&value, self.context.dialect).is_true()) {
                sets.iter_mut().zip(assignment.chosen).for_each(|((_, set), place)| set.insert(*place));
            }
            ControlFlow::Continue(())
        };
        if !self.is_costly(condition) && self.evaluate(condition, &mut insert).is_some() {
            // What is a text at best, such as `ifThenElse(x > 5, "a", "b")`, is no condition.
            return if has_texts && !has_truths { Vec::new() } else { sets };
        }
        let of_operands = |operator, condition: &Expression, by: fn(SampleSets, SampleSets) -> SampleSets| {
            let operands = chain_operands(condition, operator).into_iter().map(|operand| self.allowed(operand));
            operands.reduce(by).unwrap_or_default()
        };
        match condition.kind() {
            ExpressionKind::Binary(BinaryOperator::And, ..) => of_operands(BinaryOperator::And, condition, intersected),
            ExpressionKind::Binary(BinaryOperator::Or, ..) => of_operands(BinaryOperator::Or, condition, united),
            ExpressionKind::Unary(UnaryOperator::Not, negated) => match negated.kind() {
                ExpressionKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), ..) => {
                    let by = if *operator == BinaryOperator::And { united } else { intersected };
                    let operands = chain_operands(negated, *operator).into_iter();
                    let negations = operands.map(|part| Expression::unary(UnaryOperator::Not, part.clone()));
                    negations.map(|negation| self.allowed(&negation)).reduce(by).unwrap_or_default()
                }
                ExpressionKind::Unary(UnaryOperator::Not, twice) => self.allowed(twice),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Whether [`Grid::allowed`] leaves no value for a subject of a condition.
    pub(super) fn is_impossible(&self, condition: &Expression) -> bool {
        !self.is_soon_met(condition) && are_impossible(&self.allowed(condition))
    }

    /// Whether some samples meet a condition. `false` if it takes long to find them. The budget remains as it was.
    pub(super) fn is_soon_met(&self, condition: &Expression) -> bool {
        let budget = self.budget.get();
        let mut is_met = false;
        let visit = |_: &Assignment<'_>, value: Option<Value>| {
            is_met = value.is_none_or(|value| Truth::of(&value, self.context.dialect).is_true());
            if is_met { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let is_cheap = self.cost(condition).1 <= MAX_PRODUCT_NODES.min(budget);
        let is_soon_met = is_cheap && self.evaluate(condition, visit).is_some() && is_met;
        self.budget.set(budget);
        is_soon_met
    }

    /// Whether a condition is never met. `false` if that is unknown.
    pub(super) fn is_never_met(&self, condition: &Expression) -> bool {
        let mut is_met_once = false;
        let exact = self.evaluate(condition, |_, value| {
            is_met_once = value.is_none_or(|value| Truth::of(&value, self.context.dialect).is_true());
            if is_met_once { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        exact.is_some() && !is_met_once
    }

    /// Whether a condition is true for all values of some types of its subjects, such as all numbers, and for no other values.
    /// It is then undefined or an error for the others, but never false. NaN does not count, nor are undefined and errors types.
    pub(super) fn is_always_true(&self, condition: &Expression) -> bool {
        let mut by_types: Vec<(Vec<Type>, bool)> = Vec::new();
        let mut fails = false;
        let exact = self.evaluate(condition, |assignment, value| {
            let samples = || assignment.subjects.iter().filter_map(|subject| self.sample(assignment, *subject));
            if samples().any(is_nan) {
                return ControlFlow::Continue(());
            }
            let is_true = value == Some(Value::Boolean(true));
            let is_present = !samples().any(Value::is_exceptional);
            fails = value.is_none_or(|value| !is_true && !value.is_exceptional());
            if is_present && !fails {
                let types: Vec<Type> = samples().map(comparable_type).collect();
                match by_types.iter().find(|(known, _)| *known == types) {
                    Some((_, known)) => fails = *known != is_true,
                    None => by_types.push((types, is_true)),
                }
            }
            if fails { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        exact.is_some() && !fails && by_types.iter().any(|(_, is_true)| *is_true)
    }
}

/// Returns the indexes of the subjects of a condition, ascending, and the number of nodes of the condition.
pub(super) fn subjects_of(condition: &Expression) -> (Vec<usize>, usize) {
    let (mut found, mut nodes, mut pending) = (Vec::new(), 0, vec![condition]);
    while let Some(part) = pending.pop() {
        nodes += 1;
        if let ExpressionKind::Attribute(name) = part.kind() {
            found.extend(name.as_str()[1..].parse::<usize>());
        }
        part.kind().for_each_child(|child| pending.push(child));
    }
    found.sort_unstable();
    found.dedup();
    (found, nodes)
}

/// Returns an expression whose value is a sample.
pub(super) fn sample_expression(sample: &Value) -> Expression {
    match sample {
        Value::List(_) => Expression::list([]),
        Value::Ad(_) => Expression::ad(Ad::default()),
        scalar => Expression::literal(scalar.clone()),
    }
}

fn is_nan(value: &Value) -> bool {
    match value {
        Value::Real(number) => number.is_nan(),
        Value::RelativeTime(time) => time.seconds.is_nan(),
        _ => false,
    }
}

/// Returns the type of a value; integers and reals have one.
pub(super) fn comparable_type(value: &Value) -> Type {
    match value.value_type() {
        Type::Integer => Type::Real,
        other => other,
    }
}

/// Whether no samples satisfy a condition.
pub(super) fn are_impossible(sets: &SampleSets) -> bool {
    sets.iter().any(|(_, set)| set.is_clear())
}

/// Returns the samples that two conditions allow together.
fn intersected(mut sets: SampleSets, others: SampleSets) -> SampleSets {
    for (subject, other) in others {
        match sets.iter_mut().find(|(known, _)| *known == subject) {
            Some((_, set)) => set.intersect_with(&other),
            None => sets.push((subject, other)),
        }
    }
    sets
}

/// Returns the samples that at least one of two conditions allows. If only one condition restricts a subject, it may have
/// any value if the other condition is met.
fn united(sets: SampleSets, mut others: SampleSets) -> SampleSets {
    if are_impossible(&sets) {
        return others;
    } else if are_impossible(&others) {
        return sets;
    }
    let both = sets.into_iter().filter_map(|(subject, mut set)| {
        let at = others.iter().position(|(known, _)| *known == subject)?;
        set.union_with(&others.swap_remove(at).1);
        Some((subject, set))
    });
    both.collect()
}
