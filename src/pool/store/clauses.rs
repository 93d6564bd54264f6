//! Conjunctions that are evaluated clause by clause.
//!
//! A clause depends on fewer attributes than the whole conjunction, so that one evaluation serves more ads.

use std::sync::Arc;

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Truth, Value};
use crate::eval::{CompiledValue, Context};

use super::super::Partition;
use super::Store;

/// The truth values of the clauses of a conjunction, each once for all ads that agree in the attributes of that clause.
pub(super) struct ClauseValues {
    dialect: Dialect,
    clauses: Vec<ClauseValue>,
}

/// The truth value of one clause for each group of a partition.
struct ClauseValue {
    groups: Arc<Partition>,
    /// `Truth::Error` also if only the tree walker can tell the value.
    truths: Vec<Truth>,
}

impl ClauseValues {
    /// Evaluates the clauses of a conjunction in the ads of a store. Returns `None` for any other expression, and if
    /// this takes as many evaluations as the conjunction itself, which needs one for each group of `whole`.
    pub(super) fn of(store: &mut Store, expression: &Expression, whole: &Partition, context: &Context) -> Option<Self> {
        let Chain { clauses, links } = Chain::of(expression);
        let share = share_of_budgets(context, clauses.len(), links)?;
        let mut evaluations = 0;
        let mut partitions = Vec::with_capacity(clauses.len());
        for clause in &clauses {
            let dependencies = store.dependencies(clause)?;
            let groups = store.partition(Some(dependencies.names));
            evaluations += groups.first_rows().len();
            if evaluations >= whole.first_rows().len() {
                return None;
            }
            partitions.push(groups);
        }
        let (ads, evaluator) = store.ads_and_evaluator();
        let values = clauses.into_iter().zip(partitions).map(|(clause, groups)| {
            let truth = |row: &u32| match evaluator.value(clause, &ads[*row as usize], &share) {
                Some(CompiledValue::Value(value)) => Truth::of(&value, share.dialect),
                Some(CompiledValue::Error) | None => Truth::Error,
            };
            ClauseValue { truths: groups.first_rows().iter().map(truth).collect(), groups }
        });
        Some(ClauseValues { clauses: values.collect(), dialect: context.dialect })
    }

    /// Returns the value of the conjunction in the ad at `row`; `None` if the clauses do not tell it, as for an error.
    pub(super) fn conjunction(&self, row: usize) -> Option<Value> {
        let mut value = Value::Boolean(true);
        for clause in &self.clauses {
            match (clause.truths[clause.groups.group(row)?], &value) {
                // In the papers' dialect an error in a later clause counts.
                (Truth::False, _) if self.dialect.is_condor() => return Some(Value::Boolean(false)),
                (Truth::False, _) => value = Value::Boolean(false),
                (Truth::Undefined, Value::Boolean(true)) => value = Value::Undefined,
                (Truth::True | Truth::Undefined, _) => {}
                (Truth::Error, _) => return None,
            }
        }
        Some(value)
    }
}

/// A chain of `&&`.
struct Chain<'e> {
    /// The operands, from left to right.
    clauses: Vec<&'e Expression>,
    /// Number of operators and parentheses between the clauses and the root.
    links: u32,
}

impl<'e> Chain<'e> {
    fn of(expression: &'e Expression) -> Self {
        let mut chain = Chain { clauses: Vec::new(), links: 0 };
        let mut pending = vec![expression];
        while let Some(part) = pending.pop() {
            match part.kind() {
                ExpressionKind::Binary(BinaryOperator::And, left, right) => pending.extend([right, left]),
                ExpressionKind::Parentheses(inner) => pending.push(inner),
                _ => {
                    chain.clauses.push(part);
                    continue;
                }
            }
            chain.links = chain.links.saturating_add(1);
        }
        chain
    }
}

/// Returns a context in which each of `number` clauses has its share of the budgets. An evaluation of the conjunction
/// then stays within the budgets, if those of its clauses stay within their shares. `links` is the number of steps and
/// the nesting that the conjunction adds. Returns `None` if there is nothing to share.
fn share_of_budgets(context: &Context, number: usize, links: u32) -> Option<Context> {
    let parts = u64::try_from(number).ok().filter(|parts| *parts > 1)?;
    Some(Context {
        max_steps: context.max_steps.checked_sub(u64::from(links))? / parts,
        max_value_bytes: context.max_value_bytes / parts,
        max_depth: context.max_depth.checked_sub(links)?,
        ..context.clone()
    })
}
