//! A range index: rows sorted by key, with prefix bitmaps that answer range queries.

use std::sync::OnceLock;

use fixedbitset::FixedBitSet;

use super::code::code;

/// Maximum memory for the bitmaps of one index, in bytes. The more rows an index has, the more rows lie between two
/// bitmaps.
const MAX_BITMAP_BYTES: usize = 1 << 20;

/// Minimum number of rows between two bitmaps. Inserting fewer rows one by one is as fast as using a bitmap.
const MIN_BITMAP_STEP_ROWS: usize = 16;

/// Number of keys in a block. A search first finds the block, then the key in the block.
const KEYS_PER_BLOCK: usize = 64;

/// Rows sorted by key. A range of keys is found by bisection, O(log n). The rows of the range are the difference of two
/// prefix bitmaps, plus single rows at the ends of the range.
pub struct RangeIndex<K> {
    /// The distinct keys, ascending.
    keys: Vec<K>,
    /// The first key of each block.
    block_keys: Vec<K>,
    /// For each key the position of its first row in `rows`. A last entry holds `rows.len()`.
    starts: Vec<u32>,
    rows: Vec<u32>,
    /// Number of rows in the pool, including rows that are not indexed.
    length: usize,
    bitmaps: OnceLock<PrefixBitmaps>,
}

/// Prefix bitmaps: bitmap `n` holds the first `n * step` rows of the index.
struct PrefixBitmaps {
    step: usize,
    maps: Vec<FixedBitSet>,
}

impl<K: Ord + Clone> RangeIndex<K> {
    /// Builds the index from pairs of a key and a row, sorted by key; no row occurs twice. `length` is the number of
    /// rows in the pool.
    pub fn new(entries: impl IntoIterator<Item = (K, u32)>, length: usize) -> Self {
        let (mut keys, mut starts, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (key, row) in entries {
            if keys.last() != Some(&key) {
                keys.push(key);
                starts.push(code(rows.len()));
            }
            rows.push(row);
        }
        starts.push(code(rows.len()));
        let block_keys = keys.iter().step_by(KEYS_PER_BLOCK).cloned().collect();
        RangeIndex { keys, block_keys, starts, rows, length, bitmaps: OnceLock::new() }
    }

    /// Returns two positions: the end of the rows whose keys are less than `key`, and the end of the rows whose keys
    /// are less than or equal to `key`.
    pub fn bounds(&self, key: &K) -> (usize, usize) {
        // Bisects the blocks and then the keys of one block. The first keys of the blocks stay in the processor's
        // cache.
        let piece = self.block_keys.partition_point(|k| k < key).saturating_sub(1) * KEYS_PER_BLOCK;
        let end = (piece + KEYS_PER_BLOCK + 1).min(self.keys.len());
        let below = piece + self.keys[piece..end].partition_point(|k| k < key);
        let equal = self.keys.get(below).is_some_and(|k| k == key);
        (self.starts[below] as usize, self.starts[below + usize::from(equal)] as usize)
    }

    /// Number of indexed rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the rows at the positions `from..to` of the index.
    pub fn rows(&self, from: usize, to: usize) -> &[u32] {
        &self.rows[from..to]
    }

    /// Adds the rows at the positions `from..to` of the index to `into`.
    pub fn add_rows(&self, from: usize, to: usize, into: &mut FixedBitSet) {
        let each = |rows: &[u32], into: &mut FixedBitSet| rows.iter().for_each(|row| into.insert(*row as usize));
        if to - from <= 2 * MIN_BITMAP_STEP_ROWS {
            return each(&self.rows[from..to], into);
        }
        let marks = self.bitmaps.get_or_init(|| self.build_bitmaps());
        let (first, last) = (from.div_ceil(marks.step), to / marks.step);
        if first >= last {
            return each(&self.rows[from..to], into);
        }
        let (before, until) = (marks.maps[first].as_slice(), marks.maps[last].as_slice());
        for ((into, until), before) in into.as_mut_slice().iter_mut().zip(until).zip(before) {
            *into |= until & !before;
        }
        each(&self.rows[from..first * marks.step], into);
        each(&self.rows[last * marks.step..to], into);
    }

    fn build_bitmaps(&self) -> PrefixBitmaps {
        let most = (MAX_BITMAP_BYTES / (self.length / 8 + 1)).max(1);
        let step = self.rows.len().div_ceil(most).max(MIN_BITMAP_STEP_ROWS);
        let mut map = FixedBitSet::with_capacity(self.length);
        let mut maps = vec![map.clone()];
        for piece in self.rows.chunks_exact(step) {
            map.extend(piece.iter().map(|row| *row as usize));
            maps.push(map.clone());
        }
        PrefixBitmaps { step, maps }
    }
}

/// A real as a key of an index. Keys are totally ordered integers, so that one instruction compares them. There is no
/// key for NaN, and -0.0 has the key of 0.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberKey(i64);

impl NumberKey {
    /// Returns the key of a number; `None` for NaN.
    pub fn new(number: f64) -> Option<Self> {
        let bits = (number + 0.0).to_bits().cast_signed();
        // The bits of positive reals, read as integers, are in the order of the reals. The bits of negative reals are
        // in the reverse order, so that all but the sign bit are inverted.
        (!number.is_nan()).then_some(NumberKey(if bits < 0 { bits ^ i64::MAX } else { bits }))
    }
}

#[cfg(test)]
mod tests {
    use super::RangeIndex;
    use fixedbitset::FixedBitSet;

    #[test]
    fn every_range_has_its_rows() {
        let mut random = fastrand::Rng::with_seed(1);
        for length in [0_usize, 1, 63, 64, 65, 700, 3000] {
            let mut entries: Vec<(u32, u32)> = (0..).take(length).map(|row| (random.u32(..50), row)).collect();
            entries.retain(|_| random.u8(..8) > 0);
            entries.sort_unstable();
            check(&mut random, &entries, length, 200);
        }
    }

    /// Above some 11,600 rows, the bitmaps stand further apart than the shortest step.
    #[test]
    fn every_range_of_a_large_index_has_its_rows() {
        let mut random = fastrand::Rng::with_seed(2);
        for length in [5_000_u32, 20_000, 40_000] {
            let mut entries: Vec<(u32, u32)> = (0..length).map(|row| (random.u32(..50), row)).collect();
            entries.sort_unstable();
            check(&mut random, &entries, length as usize, 20);
        }
    }

    fn check(random: &mut fastrand::Rng, entries: &[(u32, u32)], length: usize, times: usize) {
        let sorted = RangeIndex::new(entries.iter().copied(), length);
        for _ in 0..times {
            let key = random.u32(..52);
            let (below, upto) = sorted.bounds(&key);
            assert_eq!(below, entries.iter().filter(|entry| entry.0 < key).count());
            assert_eq!(upto, entries.iter().filter(|entry| entry.0 <= key).count());
            let from = random.usize(..=entries.len());
            // Short ranges can lie between two bitmaps.
            let most = if random.bool() { entries.len() } else { (from + 100).min(entries.len()) };
            let to = random.usize(from..=most);
            let mut rows = FixedBitSet::with_capacity(length);
            sorted.add_rows(from, to, &mut rows);
            let mut expected: Vec<usize> = entries[from..to].iter().map(|entry| entry.1 as usize).collect();
            expected.sort_unstable();
            assert_eq!(rows.ones().collect::<Vec<_>>(), expected);
        }
    }
}
