//! Rewriting of expressions: parts are replaced, and what stays is the same node in memory.

use std::convert::Infallible;

use super::{Expression, ExpressionKind, Name};

/// A function that returns the replacement of a subexpression. If it returns `None`, the subexpression stays, and the
/// function is called for each of its operands.
pub type Replacement<'r> = &'r mut dyn FnMut(&Expression) -> Option<Expression>;

/// Rewrites an expression top-down. Subexpressions without a replacement stay the same nodes in memory. Returns `None`
/// if nothing was replaced.
pub fn rewrite_expression(of: &Expression, by: Replacement<'_>) -> Option<Expression> {
    if let Some(other) = by(of) {
        return Some(other);
    }
    let mut is_changed = false;
    let inner = |part: &Expression| {
        // The stack cannot overflow: `stacker` continues it in a new segment.
        let changed = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || rewrite_expression(part, by));
        is_changed |= changed.is_some();
        Ok::<_, Infallible>(changed.unwrap_or_else(|| part.clone()))
    };
    let Ok(kind) = of.kind().map_children(inner);
    kind.filter(|_| is_changed).map(|kind| Expression::new(kind, of.span()))
}

/// Replaces operations of an expression. `by` returns the new operation, or `None` to keep the operation and to visit
/// its operands. Returns `None` if nothing was replaced.
pub fn replace_kinds(of: &Expression, by: impl Fn(&ExpressionKind) -> Option<ExpressionKind>) -> Option<Expression> {
    rewrite_expression(of, &mut |part| Some(Expression::new(by(part.kind())?, part.span())))
}

/// Renames the attribute `name` to `known` in all references. `None` if there are no references to rename.
#[must_use]
pub fn rename_attribute(expression: &Expression, name: &Name, known: &Name) -> Option<Expression> {
    replace_kinds(expression, |kind| match kind {
        ExpressionKind::Attribute(found) if found == name => Some(ExpressionKind::Attribute(known.clone())),
        ExpressionKind::Select(of, found) if found == name => Some(ExpressionKind::Select(of.clone(), known.clone())),
        _ => None,
    })
}
