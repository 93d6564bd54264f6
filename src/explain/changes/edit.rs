//! One step of a change, and requests with steps taken.

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Kind, Name, Span, Value};
use crate::constraint::conjuncts;
use crate::explain::clauses::text;
use crate::explain::report::ClauseReport;

/// One step of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// A clause is left out.
    Drop {
        /// Which.
        clause: usize,
    },
    /// A clause is replaced.
    Rewrite {
        /// Which.
        clause: usize,
        /// By what.
        to: Expression,
    },
    /// An attribute of the request gets another value.
    Set {
        /// Which.
        name: Name,
        /// What it is bound to now, if the request has it.
        from: Option<Expression>,
        /// The value.
        to: Value,
    },
}

impl Edit {
    /// In words.
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

    /// What it is about: a clause, or else an attribute.  Clauses come first.
    pub(super) fn place(&self) -> (usize, Option<&Name>) {
        match self {
            Edit::Drop { clause } | Edit::Rewrite { clause, .. } => (*clause, None),
            Edit::Set { name, .. } => (usize::MAX, Some(name)),
        }
    }
}

/// A request with all steps taken; none if a clause is not to be found in it.
pub fn apply(request: &Ad, clauses: &[ClauseReport], edits: &[Edit]) -> Option<Ad> {
    edits.iter().try_fold(request.clone(), |ad, edit| match edit {
        Edit::Set { name, to, .. } => Some(ad.with(name.clone(), Expression::literal(to.clone()))),
        Edit::Drop { clause } => replaced(&ad, &clauses[*clause], None),
        Edit::Rewrite { clause, to } => replaced(&ad, &clauses[*clause], Some(to)),
    })
}

/// A request with another clause, or none, in the place of one.
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

/// An expression in which parts are replaced: `by` gives what stands in the place of one, from the top down.  None if
/// nothing is replaced, or what is nested too deep.
pub fn rewritten(expression: &Expression, by: &mut dyn FnMut(&Expression) -> Option<Expression>) -> Option<Expression> {
    let mut changed = false;
    let result = within(expression, by, &mut changed, 0)?;
    changed.then_some(result)
}

/// A clause that is nested deeper is not rewritten.
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
