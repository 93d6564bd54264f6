//! PLACEHOLDER

use super::Function;

pub(super) const FUNCTIONS: &[Function] = &[];

/// PLACEHOLDER until the real one lands.
pub(super) fn matches_ignoring_case(_pattern: &crate::ad::Text, _subject: &[u8]) -> Result<bool, String> {
    Ok(false)
}
