//! Expressions in messages.

use crate::ad::{Dialect, Expression};
use crate::syntax::{Style, expression_text};
use crate::text::shorten;

/// Prints an expression, cut to 60 characters.
pub(super) fn short_text(expression: &Expression, dialect: Dialect) -> String {
    const MAX_CHARS: usize = 60;
    shorten(&expression_text(expression, Style::of(dialect)), MAX_CHARS)
}
