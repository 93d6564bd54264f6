//! Conjunctions that are evaluated clause by clause.
//!
//! A clause depends on fewer attributes than the whole conjunction, so that one evaluation serves more ads.

use std::slice;
use std::sync::Arc;

use crate::ad::{Ad, AdShape, BinaryOperator, Dialect, Expression, ExpressionKind, Name, Truth};
use crate::constraint::conjuncts;
use crate::eval::{CompiledAd, Context};

use super::super::code::code;
use super::super::{ExpressionColumn, Partition};
use super::Store;

/// A conjunction with the groups of ads that agree in the attributes of each clause.
pub(super) struct GroupedClauses<'e> {
    dialect: Dialect,
    clauses: Vec<GroupedClause<'e>>,
}

/// A clause with the groups of ads that agree in its attributes.
pub(super) struct GroupedClause<'e> {
    pub expression: &'e Expression,
    groups: Arc<Partition>,
    column: Option<LoneColumn>,
}

/// The column of the only attribute that a clause reads.
pub(super) struct LoneColumn {
    /// The shape of an ad with nothing but the attribute.
    pub shape: Arc<AdShape>,
    pub column: Arc<ExpressionColumn>,
}

impl GroupedClause<'_> {
    /// Returns what the clause reads of the ad in a row. A value of its only attribute is nearer than the ad.
    #[inline]
    pub(super) fn ad<'s>(&'s self, ads: &'s [Ad], row: u32) -> CompiledAd<'s> {
        if let Some(LoneColumn { shape, column }) = &self.column
            && let Some(expression) = column.expression(row as usize)
        {
            return CompiledAd { shape, expressions: slice::from_ref(expression) };
        }
        (&ads[row as usize]).into()
    }
}

impl<'e> GroupedClauses<'e> {
    /// Groups the ads of a store for each clause of a conjunction. The clauses come with the names of their attributes.
    pub(super) fn new(store: &mut Store, clauses: impl IntoIterator<Item = (&'e Expression, Arc<[Name]>)>) -> Self {
        let group = |(expression, names): (_, Arc<[Name]>)| {
            let column = store.lone_column(&names);
            GroupedClause { expression, groups: store.partition(Some(names)), column }
        };
        GroupedClauses { clauses: clauses.into_iter().map(group).collect(), dialect: store.dialect }
    }

    /// Returns the truth values of the conjunction in the ads at `rows`: `None` if only the tree walker can tell one.
    /// `evaluate` returns the values of a clause in some rows, one for each group in which one of the rows needs it: the
    /// later clauses are needed only for rows that the ones before leave open.
    pub(super) fn truths(
        &self,
        rows: &[u32],
        mut evaluate: impl FnMut(&GroupedClause<'e>, &[u32]) -> Vec<Option<Truth>>,
    ) -> Vec<Option<Truth>> {
        if let [clause] = &self.clauses[..]
            && clause.groups.first_rows() == rows
        {
            return evaluate(clause, rows);
        }
        let mut truths = vec![Some(Truth::True); rows.len()];
        let mut open: Vec<(u32, usize)> = rows.iter().copied().zip(0..).collect();
        for clause in &self.clauses {
            let groups = &clause.groups;
            // The open groups are numbered in the order of their first open rows.
            let (mut numbers, mut firsts) = (vec![u32::MAX; groups.first_rows().len()], Vec::new());
            let groups = groups.groups();
            for (row, _) in &open {
                let number = &mut numbers[groups[*row as usize] as usize];
                if *number == u32::MAX {
                    *number = code(firsts.len());
                    firsts.push(*row);
                }
            }
            let of_groups = evaluate(clause, &firsts);
            open.retain(|(row, place)| {
                let of_clause = of_groups[numbers[groups[*row as usize] as usize] as usize];
                let truth = &mut truths[*place];
                match of_clause {
                    Some(Truth::True) => return true,
                    Some(Truth::Undefined) if *truth == Some(Truth::False) => return true,
                    _ => *truth = of_clause,
                }
                // In the papers' dialect an error in a later clause counts.
                match of_clause {
                    Some(Truth::Undefined) => true,
                    Some(Truth::False) => !self.dialect.is_condor(),
                    _ => false,
                }
            });
        }
        truths
    }
}

/// Returns the clauses of a conjunction, and a context in which each has its share of the budgets. An evaluation of the
/// conjunction then stays within the budgets, if those of its clauses stay within their shares. `None` if there is no
/// budget to share.
pub(super) fn share_of_clauses<'e>(
    conjunction: &'e Expression,
    context: &Context,
) -> Option<(Vec<&'e Expression>, Context)> {
    let clauses = conjuncts(conjunction);
    let parts = u64::try_from(clauses.len()).ok()?;
    // The steps and the nesting that the conjunction adds: at most its operators and parentheses.
    let (mut links, mut pending) = (0, vec![conjunction]);
    while let Some(part) = pending.pop() {
        if let ExpressionKind::Binary(BinaryOperator::And, ..) | ExpressionKind::Parentheses(_) = part.kind() {
            links += 1;
            part.kind().for_each_child(|child| pending.push(child));
        }
    }
    let share = Context {
        max_steps: context.max_steps.checked_sub(u64::from(links))? / parts,
        max_value_bytes: context.max_value_bytes / parts,
        max_depth: context.max_depth.checked_sub(links)?,
        ..context.clone()
    };
    Some((clauses, share))
}
