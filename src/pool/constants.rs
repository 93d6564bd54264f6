//! Constants: expressions whose values do not matter for what an ad refers to.

use crate::ad::{Expression, ExpressionKind};

/// Number in place of the code of a constant, whose value does not matter: a scalar, or a list of scalars.
pub(super) const SCALAR: u32 = 0;
pub(super) const SCALAR_LIST: u32 = 1;
pub(super) const FIRST_CODE: u32 = 2;

/// Whether an expression is a constant: a scalar literal, or a list of scalar literals. Constants refer to nothing.
#[must_use]
pub fn is_constant(expression: &Expression) -> bool {
    constant_code(expression).is_some()
}

/// Returns the number that stands for all constants of the same kind; `None` if an expression is not a constant.
pub(super) fn constant_code(expression: &Expression) -> Option<u32> {
    match expression.kind() {
        kind if kind.is_scalar() => Some(SCALAR),
        ExpressionKind::List(elements) if elements.iter().all(|element| element.kind().is_scalar()) => {
            Some(SCALAR_LIST)
        }
        _ => None,
    }
}
