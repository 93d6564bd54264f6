//! The children of an expression: visiting, replacing and taking them.

use std::convert::Infallible;
use std::sync::Arc;

use super::expression::UNDEFINED;
use super::{Ad, Expression, ExpressionKind, Value};

impl Expression {
    /// Returns a copy in which `by` replaces parts. Where it returns `None`, it is called for the children of the part.
    pub fn with_parts_replaced(&self, by: &mut dyn FnMut(&Expression) -> Option<Expression>) -> Expression {
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            if let Some(other) = by(self) {
                return other;
            }
            let Ok(kind) = self.kind().map_children(|child| Ok::<_, Infallible>(child.with_parts_replaced(by)));
            kind.map_or_else(|| self.clone(), |kind| Expression::new(kind, self.span()))
        })
    }
}

impl ExpressionKind {
    /// Calls `visit` for each direct child, in the order in which the children are written.
    pub fn for_each_child<'a>(&'a self, mut visit: impl FnMut(&'a Expression)) {
        match self {
            ExpressionKind::Literal(_) | ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_) => {}
            ExpressionKind::Select(a, _) | ExpressionKind::Unary(_, a) | ExpressionKind::Parentheses(a) => visit(a),
            ExpressionKind::Subscript(a, b) | ExpressionKind::Binary(_, a, b) | ExpressionKind::Elvis(a, b) => {
                visit(a);
                visit(b);
            }
            ExpressionKind::Conditional(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            ExpressionKind::Call(_, arguments) => arguments.iter().for_each(visit),
            ExpressionKind::List(elements) => elements.iter().for_each(visit),
            ExpressionKind::Ad(ad) => ad.iter().for_each(|attribute| visit(attribute.expression)),
        }
    }

    /// Returns a copy with each direct child replaced by `map`, which is called in the order in which the children are
    /// written.  `None` if the kind cannot have children.
    ///
    /// # Errors
    ///
    /// The first error of `map`.
    pub fn map_children<E>(
        &self,
        mut map: impl FnMut(&Expression) -> Result<Expression, E>,
    ) -> Result<Option<ExpressionKind>, E> {
        Ok(Some(match self {
            ExpressionKind::Literal(_) | ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_) => {
                return Ok(None);
            }
            ExpressionKind::Select(a, name) => ExpressionKind::Select(map(a)?, name.clone()),
            ExpressionKind::Subscript(a, b) => ExpressionKind::Subscript(map(a)?, map(b)?),
            ExpressionKind::Unary(operator, a) => ExpressionKind::Unary(*operator, map(a)?),
            ExpressionKind::Binary(operator, a, b) => ExpressionKind::Binary(*operator, map(a)?, map(b)?),
            ExpressionKind::Conditional(a, b, c) => ExpressionKind::Conditional(map(a)?, map(b)?, map(c)?),
            ExpressionKind::Elvis(a, b) => ExpressionKind::Elvis(map(a)?, map(b)?),
            ExpressionKind::Parentheses(a) => ExpressionKind::Parentheses(map(a)?),
            ExpressionKind::Call(name, arguments) => {
                ExpressionKind::Call(name.clone(), arguments.iter().map(map).collect::<Result<_, E>>()?)
            }
            ExpressionKind::List(elements) => {
                ExpressionKind::List(elements.iter().map(map).collect::<Result<Vec<_>, E>>()?.into())
            }
            ExpressionKind::Ad(ad) => {
                let expressions = ad.expressions().iter().map(map).collect::<Result<_, E>>()?;
                ExpressionKind::Ad(Ad::from_shape(Arc::clone(ad.shape()), expressions))
            }
        }))
    }

    /// Moves the children into `into`, so that they can be dropped without recursion.  The children of a shared list or
    /// ad are not moved, because its other owners need them.
    pub(super) fn take_children(&mut self, into: &mut Vec<Expression>) {
        match std::mem::replace(self, ExpressionKind::Literal(Value::Undefined)) {
            ExpressionKind::Literal(Value::List(mut list)) => take_elements(&mut list.elements, into),
            ExpressionKind::Literal(_) | ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_) => {}
            ExpressionKind::Select(a, _) | ExpressionKind::Unary(_, a) | ExpressionKind::Parentheses(a) => into.push(a),
            ExpressionKind::Subscript(a, b) | ExpressionKind::Binary(_, a, b) | ExpressionKind::Elvis(a, b) => {
                into.extend([a, b]);
            }
            ExpressionKind::Conditional(a, b, c) => into.extend([a, b, c]),
            ExpressionKind::Call(_, arguments) => into.extend(arguments),
            ExpressionKind::List(mut elements) => take_elements(&mut elements, into),
            ExpressionKind::Ad(mut ad) => ad.take_expressions(into),
        }
    }
}

/// Moves the elements of a list into `into`.  Does nothing if the list is shared, because its other owners need the
/// elements.
fn take_elements(elements: &mut Arc<[Expression]>, into: &mut Vec<Expression>) {
    for element in Arc::get_mut(elements).into_iter().flatten() {
        into.push(std::mem::replace(element, UNDEFINED.clone()));
    }
}
