//! Edits of a request.

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Kind, Name, Span, Value};
use crate::constraint::conjuncts;
use crate::explain::clauses::text;
use crate::explain::report::ClauseReport;

/// One edit of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
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

impl Edit {
    /// Describes the edit in a phrase. `clauses` are those of the unchanged request.
    #[must_use]
    pub fn text(&self, clauses: &[ClauseReport], dialect: Dialect) -> String {
        match self {
            Edit::Drop { clause } => format!("drop `{}`", clauses[*clause].text),
            Edit::Rewrite { clause, to } => format!("`{}` -> `{}`", clauses[*clause].text, text(to, dialect)),
            Edit::Set { name, from, to } => {
                let to = text(&Expression::literal(to.clone()), dialect);
                match from {
                    Some(from) => format!("{name} {} -> {to}", text(from, dialect)),
                    None => format!("{name} = {to}"),
                }
            }
        }
    }

    /// The target of the edit as a sort key: the index of a clause, or `usize::MAX` and the name of an attribute.
    pub(super) fn place(&self) -> (usize, Option<&Name>) {
        match self {
            Edit::Drop { clause } | Edit::Rewrite { clause, .. } => (*clause, None),
            Edit::Set { name, .. } => (usize::MAX, Some(name)),
        }
    }
}

/// Applies the edits to a request. `None` if a clause is not found in it.
pub fn apply(request: &Ad, clauses: &[ClauseReport], edits: &[Edit]) -> Option<Ad> {
    edits.iter().try_fold(request.clone(), |ad, edit| match edit {
        Edit::Set { name, to, .. } => Some(ad.with(name.clone(), Expression::literal(to.clone()))),
        Edit::Drop { clause } => replaced(&ad, &clauses[*clause], None),
        Edit::Rewrite { clause, to } => replaced(&ad, &clauses[*clause], Some(to)),
    })
}

/// Replaces a clause of a request, or removes it if `by` is `None`.
fn replaced(ad: &Ad, clause: &ClauseReport, by: Option<&Expression>) -> Option<Ad> {
    let clause = &clause.examined.clause;
    let attribute = clause.attribute()?;
    let parts = conjuncts(ad.get(attribute)?);
    let place = parts.iter().position(|part| part.same(&clause.expression))?;
    let mut parts: Vec<Expression> = parts.into_iter().cloned().collect();
    match by {
        Some(by) => parts[place] = enclosed(by),
        None => drop(parts.remove(place)),
    }
    let and = |left, right| Expression::new(Kind::Binary(BinaryOperator::And, left, right), Span::default());
    let joined = parts.into_iter().reduce(and);
    Some(ad.with(attribute.clone(), joined.unwrap_or_else(|| Expression::literal(Value::Boolean(true)))))
}

fn enclosed(expression: &Expression) -> Expression {
    match expression.kind() {
        Kind::Parentheses(_) => expression.clone(),
        _ => Expression::new(Kind::Parentheses(expression.clone()), expression.span()),
    }
}

/// Rewrites an expression top-down: `by` returns the replacement of a subexpression, or `None` to descend into it.
/// Returns `None` if nothing was replaced, or if the expression is nested too deeply.
pub fn rewritten(expression: &Expression, by: &mut dyn FnMut(&Expression) -> Option<Expression>) -> Option<Expression> {
    let mut changed = false;
    let result = within(expression, by, &mut changed, 0)?;
    changed.then_some(result)
}

/// Maximum nesting depth of a clause that is rewritten.
const DEEPEST: usize = 100;

fn within(
    expression: &Expression,
    by: &mut dyn FnMut(&Expression) -> Option<Expression>,
    changed: &mut bool,
    depth: usize,
) -> Option<Expression> {
    if depth > DEEPEST {
        return None;
    }
    if let Some(other) = by(expression) {
        *changed = true;
        return Some(other);
    }
    let mut inner = |part: &Expression| within(part, by, changed, depth + 1);
    let kind = match expression.kind() {
        Kind::Literal(_) | Kind::Attribute(_) | Kind::RootAttribute(_) => return Some(expression.clone()),
        Kind::List(elements) => Kind::List(elements.iter().map(inner).collect::<Option<Vec<_>>>()?.into()),
        Kind::Ad(ad) => {
            let attributes = ad.iter().map(|attribute| Some((attribute.name.clone(), inner(attribute.expression)?)));
            Kind::Ad(attributes.collect::<Option<Vec<_>>>()?.into_iter().collect())
        }
        Kind::Select(of, name) => Kind::Select(inner(of)?, name.clone()),
        Kind::Subscript(of, index) => Kind::Subscript(inner(of)?, inner(index)?),
        Kind::Unary(operator, operand) => Kind::Unary(*operator, inner(operand)?),
        Kind::Binary(operator, left, right) => Kind::Binary(*operator, inner(left)?, inner(right)?),
        Kind::Conditional(condition, yes, no) => Kind::Conditional(inner(condition)?, inner(yes)?, inner(no)?),
        Kind::Elvis(left, right) => Kind::Elvis(inner(left)?, inner(right)?),
        Kind::Parentheses(of) => Kind::Parentheses(inner(of)?),
        Kind::Call(name, arguments) => Kind::Call(name.clone(), arguments.iter().map(inner).collect::<Option<_>>()?),
    };
    Some(Expression::new(kind, expression.span()))
}
