//! Conjunctions that are evaluated clause by clause.
//!
//! A clause depends on fewer attributes than the whole conjunction, so that one evaluation serves more ads.

use std::sync::Arc;

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Truth, Value};
use crate::constraint::conjuncts;
use crate::eval::{CompiledSubject, Context};

use super::super::Partition;
use super::Store;

/// The truth values of the clauses of a conjunction, each once for all ads that agree in the attributes of that clause.
pub(super) struct ClauseValues {
    dialect: Dialect,
    /// For each clause a partition of the ads, and the truth value of each group: `Truth::Error` also if only the tree
    /// walker can tell it.
    clauses: Vec<(Arc<Partition>, Vec<Truth>)>,
}

impl ClauseValues {
    /// Evaluates the clauses of a conjunction in the ads of a store. Returns `None` for any other expression, and if
    /// this takes as many evaluations as the conjunction itself, which needs one for each group of `whole`.
    pub(super) fn of(store: &mut Store, expression: &Expression, whole: &Partition, context: &Context) -> Option<Self> {
        let clauses = conjuncts(expression);
        let share = share_of_budgets(context, clauses.len(), expression)?;
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
            let subject = CompiledSubject::Expression(clause);
            let truth =
                |row: &u32| evaluator.truth(subject, (&ads[*row as usize]).into(), &share).unwrap_or(Truth::Error);
            let truths = groups.first_rows().iter().map(truth).collect();
            (groups, truths)
        });
        Some(ClauseValues { clauses: values.collect(), dialect: context.dialect })
    }

    /// Returns the value of the conjunction in the ad at `row`; `None` if the clauses do not tell it, as for an error.
    pub(super) fn conjunction(&self, row: usize) -> Option<Value> {
        let mut value = Value::Boolean(true);
        for (groups, truths) in &self.clauses {
            match (truths[groups.group(row)?], &value) {
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

/// Returns a context in which each of `number` clauses of a conjunction has its share of the budgets. An evaluation of the
/// conjunction then stays within the budgets, if those of its clauses stay within their shares. Returns `None` if there is
/// nothing to share.
fn share_of_budgets(context: &Context, number: usize, conjunction: &Expression) -> Option<Context> {
    let parts = u64::try_from(number).ok().filter(|parts| *parts > 1)?;
    // The steps and the nesting that the conjunction adds: at most its operators and parentheses.
    let (mut links, mut pending) = (0, vec![conjunction]);
    while let Some(part) = pending.pop() {
        if let ExpressionKind::Binary(BinaryOperator::And, ..) | ExpressionKind::Parentheses(_) = part.kind() {
            links += 1;
            part.kind().for_each_child(|child| pending.push(child));
        }
    }
    Some(Context {
        max_steps: context.max_steps.checked_sub(u64::from(links))? / parts,
        max_value_bytes: context.max_value_bytes / parts,
        max_depth: context.max_depth.checked_sub(links)?,
        ..context.clone()
    })
}
