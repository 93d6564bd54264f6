//! PLACEHOLDER

use super::Function;

pub(super) const FUNCTIONS: &[Function] = &[];
