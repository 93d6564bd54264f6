//! A cache of the rows that have been selected from one column.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::RowBitmap;

/// The rows recently selected from a column. The key is the test or the value by which they were selected.
pub struct SelectionCache<K>(FxHashMap<K, RowBitmap>);

/// Maximum memory of the cached selections of one column, in bytes.
const MAX_CACHE_BYTES: usize = 1 << 18;

/// Maximum number of cached selections of one column.
const MAX_CACHED_SELECTIONS: usize = 256;

impl<K> Default for SelectionCache<K> {
    fn default() -> Self {
        SelectionCache(FxHashMap::default())
    }
}

impl<K: Eq + Hash> SelectionCache<K> {
    /// Returns the rows selected by `key`, computed by `select` if they are not cached. `row_count` is the number of
    /// rows of the column.
    pub fn get_or_select(&mut self, key: K, row_count: usize, select: impl FnOnce() -> RowBitmap) -> &RowBitmap {
        // Clear the whole cache when it is full: entries in frequent use are soon computed again.
        if self.0.len() >= (MAX_CACHE_BYTES / (row_count / 8 + 1)).clamp(1, MAX_CACHED_SELECTIONS) {
            self.0.clear();
        }
        self.0.entry(key).or_insert_with(select)
    }
}
