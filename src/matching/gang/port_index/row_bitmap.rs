//! Sets of rows.

use crate::pool::WORD_BITS;

use super::RowBitmap;

/// Returns the set of the rows from 0 to `rows - 1`.
pub fn all_rows(rows: usize) -> RowBitmap {
    let mut all = RowBitmap::with_capacity(rows);
    all.insert_range(..);
    all
}

/// Returns the first row of a set at or after `from`. `None` if the set has no such row.
pub fn first_row_from(rows: &RowBitmap, from: usize) -> Option<usize> {
    let blocks = rows.as_slice();
    let mut at = from / WORD_BITS;
    let mut block = blocks.get(at)? & (usize::MAX << (from % WORD_BITS));
    while block == 0 {
        at += 1;
        block = *blocks.get(at)?;
    }
    Some(at * WORD_BITS + block.trailing_zeros() as usize)
}
