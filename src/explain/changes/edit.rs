//! Edits of a request.

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Value};
use crate::constraint::conjuncts;
use crate::explain::clauses::text;
use crate::explain::report::ClauseReport;

/// One edit of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestEdit {
    /// Drops a clause.
    Drop {
        /// Index of the clause.
        clause: usize,
    },
    /// Replaces a clause.
    Rewrite {
        /// Index of the clause.
        clause: usize,
        /// The new clause.
        to: Expression,
    },
    /// Sets an attribute of the request.
    Set {
        /// The attribute.
        name: Name,
        /// The current expression; `None` if the request lacks the attribute.
        from: Option<Expression>,
        /// The new value.
        to: Value,
    },
}

impl RequestEdit {
    /// Describes the edit in a phrase. `clauses` are those of the unchanged request.
    #[must_use]
    pub fn text(&self, clauses: &[ClauseReport], dialect: Dialect) -> String {
        match self {
            RequestEdit::Drop { clause } => format!("drop `{}`", clauses[*clause].text),
            RequestEdit::Rewrite { clause, to } => format!("`{}` -> `{}`", clauses[*clause].text, text(to, dialect)),
            RequestEdit::Set { name, from, to } => {
                let to = text(&Expression::literal(to.clone()), dialect);
                match from {
                    Some(from) => format!("{name} {} -> {to}", text(from, dialect)),
                    None => format!("{name} = {to}"),
                }
            }
        }
    }

    /// The target of the edit as a sort key: the index of a clause, or `usize::MAX` and the name of an attribute.
    pub(super) fn target(&self) -> (usize, Option<&Name>) {
        match self {
            RequestEdit::Drop { clause } | RequestEdit::Rewrite { clause, .. } => (*clause, None),
            RequestEdit::Set { name, .. } => (usize::MAX, Some(name)),
        }
    }
}

/// Applies the edits to a request. `None` if a clause is not found in it.
pub fn apply_edits(request: &Ad, clauses: &[ClauseReport], edits: &[RequestEdit]) -> Option<Ad> {
    edits.iter().try_fold(request.clone(), |ad, edit| match edit {
        RequestEdit::Set { name, to, .. } => Some(ad.with(name.clone(), Expression::literal(to.clone()))),
        RequestEdit::Drop { clause } => replace_clause(&ad, &clauses[*clause], None),
        RequestEdit::Rewrite { clause, to } => replace_clause(&ad, &clauses[*clause], Some(to)),
    })
}

/// Replaces a clause of a request, or removes it if `by` is `None`.
fn replace_clause(ad: &Ad, clause: &ClauseReport, by: Option<&Expression>) -> Option<Ad> {
    let clause = &clause.analysis.clause;
    let attribute = clause.attribute()?;
    let parts = conjuncts(ad.get(attribute)?);
    let place = parts.iter().position(|part| part.ptr_eq(&clause.expression))?;
    let mut parts: Vec<Expression> = parts.into_iter().cloned().collect();
    match by {
        Some(by) => parts[place] = parenthesized(by),
        None => drop(parts.remove(place)),
    }
    let joined = parts.into_iter().reduce(Expression::and);
    Some(ad.with(attribute.clone(), joined.unwrap_or_else(|| Expression::literal(Value::Boolean(true)))))
}

fn parenthesized(expression: &Expression) -> Expression {
    match expression.kind() {
        ExpressionKind::Parentheses(_) => expression.clone(),
        _ => Expression::new(ExpressionKind::Parentheses(expression.clone()), expression.span()),
    }
}

/// Rewrites an expression top-down: `by` returns the replacement of a subexpression, or `None` to descend into it.
/// Returns `None` if nothing was replaced, or if the expression is nested too deeply.
pub fn rewrite_expression(
    expression: &Expression,
    by: &mut dyn FnMut(&Expression) -> Option<Expression>,
) -> Option<Expression> {
    let mut changed = false;
    let result = rewrite_within(expression, by, &mut changed, 0)?;
    changed.then_some(result)
}

/// Maximum nesting depth of a clause that is rewritten.
const MAX_REWRITE_DEPTH: usize = 100;

fn rewrite_within(
    expression: &Expression,
    by: &mut dyn FnMut(&Expression) -> Option<Expression>,
    changed: &mut bool,
    depth: usize,
) -> Option<Expression> {
    if depth > MAX_REWRITE_DEPTH {
        return None;
    }
    if let Some(other) = by(expression) {
        *changed = true;
        return Some(other);
    }
    let mut inner = |part: &Expression| rewrite_within(part, by, changed, depth + 1);
    let kind = match expression.kind() {
        ExpressionKind::Literal(_) | ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_) => {
            return Some(expression.clone());
        }
        ExpressionKind::List(elements) => {
            ExpressionKind::List(elements.iter().map(inner).collect::<Option<Vec<_>>>()?.into())
        }
        ExpressionKind::Ad(ad) => {
            let attributes = ad.iter().map(|attribute| Some((attribute.name.clone(), inner(attribute.expression)?)));
            ExpressionKind::Ad(attributes.collect::<Option<Vec<_>>>()?.into_iter().collect())
        }
        ExpressionKind::Select(of, name) => ExpressionKind::Select(inner(of)?, name.clone()),
        ExpressionKind::Subscript(of, index) => ExpressionKind::Subscript(inner(of)?, inner(index)?),
        ExpressionKind::Unary(operator, operand) => ExpressionKind::Unary(*operator, inner(operand)?),
        ExpressionKind::Binary(operator, left, right) => ExpressionKind::Binary(*operator, inner(left)?, inner(right)?),
        ExpressionKind::Conditional(condition, yes, no) => {
            ExpressionKind::Conditional(inner(condition)?, inner(yes)?, inner(no)?)
        }
        ExpressionKind::Elvis(left, right) => ExpressionKind::Elvis(inner(left)?, inner(right)?),
        ExpressionKind::Parentheses(of) => ExpressionKind::Parentheses(inner(of)?),
        ExpressionKind::Call(name, arguments) => {
            ExpressionKind::Call(name.clone(), arguments.iter().map(inner).collect::<Option<_>>()?)
        }
    };
    Some(Expression::new(kind, expression.span()))
}
