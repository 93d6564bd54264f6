//! Rewriting of expressions: parts are replaced, and what stays is the same node in memory.

use crate::ad::{Expression, ExpressionKind};

/// A function that returns the replacement of a subexpression. If it returns `None`, the subexpression stays, and the
/// function is called for each of its operands.
pub type Replacement<'r> = &'r mut dyn FnMut(&Expression) -> Option<Expression>;

/// Rewrites an expression top-down. Subexpressions without a replacement stay the same nodes in memory. Returns `None`
/// if nothing was replaced, or if the expression is nested too deeply.
pub fn rewrite_expression(expression: &Expression, by: Replacement<'_>) -> Option<Expression> {
    rewrite_within(expression, by, 0).ok().flatten()
}

/// Replaces operations of an expression. `by` returns the new operation, or `None` to keep the operation and to visit
/// its operands. Returns `None` if nothing was replaced, or if the expression is nested too deeply.
pub fn replace_kinds(of: &Expression, by: impl Fn(&ExpressionKind) -> Option<ExpressionKind>) -> Option<Expression> {
    rewrite_expression(of, &mut |part| Some(Expression::new(by(part.kind())?, part.span())))
}

/// Maximum nesting depth of an expression that is rewritten. The maximum also limits the length of a conjunction: the
/// parser nests `a && b && c` one level deeper for each operand.
const MAX_REWRITE_DEPTH: usize = 500;

/// The error for an expression that is nested deeper than [`MAX_REWRITE_DEPTH`].
struct TooDeep;

/// Rewrites an expression that stands at the nesting depth `depth`. `None` if nothing was replaced.
fn rewrite_within(of: &Expression, by: Replacement<'_>, depth: usize) -> Result<Option<Expression>, TooDeep> {
    if depth > MAX_REWRITE_DEPTH {
        return Err(TooDeep);
    }
    if let Some(other) = by(of) {
        return Ok(Some(other));
    }
    let mut is_changed = false;
    let inner = |part: &Expression| {
        let changed = rewrite_within(part, by, depth + 1)?;
        is_changed |= changed.is_some();
        Ok(changed.unwrap_or_else(|| part.clone()))
    };
    let kind = of.kind().map_children(inner)?.filter(|_| is_changed);
    Ok(kind.map(|kind| Expression::new(kind, of.span())))
}
