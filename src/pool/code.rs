//! The codes of rows and of dictionary entries.

/// Converts a position to a code. Every position fits, because a pool has fewer than 2^32 rows.
#[must_use]
pub fn code(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
