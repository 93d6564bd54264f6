//! The search for mistakes in an expression, which the linter and the explanations share.

use crate::ad::{Dialect, Expression};

use super::slip::{PoolColumns, Slip};
use super::{expressions, names, operand_types, patterns, undefined_names, units};

/// Returns the probable mistakes in an expression, in HTCondor's dialect also by the types of HTCondor's standard
/// attributes. `pool` is what is known of the ads of the other side.
#[must_use]
pub fn find_slips(expression: &Expression, dialect: Dialect, pool: Option<&dyn PoolColumns>) -> Vec<Slip> {
    let mut found = Vec::new();
    expressions::check(expression, dialect, &mut found);
    patterns::check(expression, dialect, &mut found);
    operand_types::check(expression, dialect, &mut found);
    names::check(expression, dialect, pool, &mut found);
    undefined_names::check(expression, dialect, &mut found);
    if dialect.is_condor() {
        units::check(expression, &mut found);
    }
    found
}
