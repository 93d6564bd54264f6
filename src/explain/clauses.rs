//! Splits a constraint into clauses.

use std::sync::Arc;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, ScopeAd};
use crate::constraint::{ConstraintClause, ConstraintClauses};
use crate::syntax::{Style, expression_text};

/// A clause: one conjunct of a constraint, found directly or through attributes that the constraint names.
#[derive(Clone, Debug)]
pub struct ExplainedClause {
    /// The expression of the clause.
    pub expression: Expression,
    /// The names of the attributes that lead to the clause. The first is the constraint's own attribute, the last is
    /// the attribute that contains the clause.
    pub path: Arc<[Name]>,
    /// Whether the clause is the whole constraint. A constraint that refers to itself is not split, because its clauses
    /// would have other values on their own.
    pub is_whole: bool,
}

/// Maximum number of clauses per constraint. Each clause is one bit in a `u128` mask. Further clauses are joined into
/// the last one.
pub const MAX_CLAUSES: usize = u128::BITS as usize;

/// Returns the clauses of the constraint that `ad` has in the attribute `constraint`.
pub fn split_constraint(ad: &Ad, constraint: &Name) -> Vec<ExplainedClause> {
    let parts = ConstraintClauses::of(ad, constraint);
    let clause = |part: &ConstraintClause<'_>| ExplainedClause {
        expression: part.expression.clone(),
        path: parts.path(part).into_iter().cloned().collect(),
        is_whole: false,
    };
    let mut clauses: Vec<ExplainedClause> = parts.items.iter().map(clause).collect();
    if clauses.len() > MAX_CLAUSES {
        let rest = clauses.split_off(MAX_CLAUSES - 1);
        let through = rest.iter().flat_map(|clause| clause.path.iter().cloned()).collect();
        let joined = rest.into_iter().map(|clause| clause.expression).reduce(|left, right| {
            let span = left.span();
            Expression::new(ExpressionKind::Binary(BinaryOperator::And, left, right), span)
        });
        clauses.extend(joined.map(|expression| ExplainedClause { expression, path: through, is_whole: false }));
    }
    clauses
}

impl ExplainedClause {
    /// Makes a clause of an expression that stands in no attribute of an ad.
    pub(super) fn detached(expression: Expression) -> Self {
        ExplainedClause { expression, path: Arc::from([]), is_whole: false }
    }

    /// Makes one clause of the whole constraint of an ad. `None` if the ad lacks the attribute.
    pub(super) fn whole_constraint(ad: &Ad, constraint: &Name) -> Option<Self> {
        let expression = ad.get(constraint)?.clone();
        Some(ExplainedClause { expression, path: Arc::from([constraint.clone()]), is_whole: true })
    }

    /// The attribute that contains the clause. `None` for an expression that belongs to no attribute.
    #[must_use]
    pub fn attribute(&self) -> Option<&Name> {
        self.path.last()
    }
}

/// Whether an expression reads `name` of the ad of one side. `FreeNames` has also names that are selected from computed
/// values, as `Hours` is from `f().Hours`, because the value may be an ad of either side.
pub fn is_read_of_side(expression: &Expression, name: &Name, side: ScopeAd) -> bool {
    let mut pending = vec![expression];
    let mut is_selected_elsewhere = false;
    while let Some(part) = pending.pop() {
        if let ExpressionKind::Select(of, selected) = part.kind()
            && selected == name
        {
            match of.without_parentheses().kind() {
                ExpressionKind::Attribute(of) if ScopeAd::of(of) == Some(side) => return true,
                _ => is_selected_elsewhere = true,
            }
        }
        part.kind().for_each_child(|child| pending.push(child));
    }
    !is_selected_elsewhere
}

/// Puts an expression in parentheses, unless it has them.
pub fn parenthesized(expression: &Expression) -> Expression {
    match expression.kind() {
        ExpressionKind::Parentheses(_) => expression.clone(),
        _ => ExpressionKind::Parentheses(expression.clone()).into(),
    }
}

/// Prints an expression in the syntax of `dialect`, on one line.
pub fn text(expression: &Expression, dialect: Dialect) -> String {
    let style = if dialect.is_condor() { Style::Long } else { Style::New };
    expression_text(expression.without_parentheses(), style)
}
