//! Index of the values of a column: rows sorted by value, with prefix bitmaps that answer range queries.

use std::ops::Range;
use std::sync::OnceLock;

use fixedbitset::FixedBitSet;

use crate::ad::{BinaryOperator, ByteString, Dialect, Value};

use super::code::code;
use super::column_builder::SMALL_INTEGERS_PER_ROW;

/// Maximum memory for the bitmaps of one index, in bytes. The more rows an index has, the more rows lie between two
/// bitmaps.
const MAX_BITMAP_BYTES: usize = 1 << 20;

/// Minimum number of rows between two bitmaps. Inserting fewer rows one by one is as fast as using a bitmap.
const MIN_BITMAP_STEP_ROWS: usize = 16;

/// Number of keys in a block. A search first finds the block, then the key in the block.
const KEYS_PER_BLOCK: usize = 64;

/// Position of a row that the index does not contain.
const UNORDERED: u32 = u32::MAX;

/// Rows sorted by value: first the numbers, then the strings. A range of values is found by bisection, O(log n). The
/// rows of the range are the difference of two prefix bitmaps, plus single rows at the ends of the range.
pub struct RangeIndex {
    numbers: SortedKeys<NumberKey>,
    strings: SortedKeys<Box<[u8]>>,
    integers: Option<IntegerPlaces>,
    /// For each number and then for each string the position of its first row in `rows`. A last entry holds
    /// `rows.len()`.
    starts: Vec<u32>,
    rows: Vec<u32>,
    /// Number of rows in the pool, including rows that are not indexed.
    length: usize,
    bitmaps: OnceLock<PrefixBitmaps>,
    /// Position of each row in `rows`; [`UNORDERED`] for a row that is not there. Built on first use.
    positions: OnceLock<Vec<u32>>,
}

/// Distinct keys, ascending.
struct SortedKeys<K> {
    keys: Vec<K>,
    /// The first key of each block.
    block_keys: Vec<K>,
}

/// Places of integers among the sorted numbers, found without a search. They exist if all numbers are integers that are
/// near to one another.
struct IntegerPlaces {
    least: i64,
    /// For each integer from the least to the greatest the number of smaller ones.
    places: Vec<u32>,
}

/// Prefix bitmaps: bitmap `n` holds the first `n * step` rows of the index.
struct PrefixBitmaps {
    step: usize,
    maps: Vec<FixedBitSet>,
}

/// The rows that meet a comparison with a constant, as a range of positions in the index.
#[derive(Clone, Copy, Debug)]
pub struct PositionRange {
    from: u32,
    length: u32,
}

impl PositionRange {
    /// Number of rows that meet the comparison.
    #[must_use]
    pub fn row_count(self) -> u32 {
        self.length
    }
}

/// A comparison with a constant that tells by a row's position in an index whether the row meets it.
#[derive(Clone, Copy)]
pub struct RowTest<'c> {
    positions: &'c [u32],
    range: PositionRange,
}

impl RowTest<'_> {
    /// Whether a row meets the comparison.
    #[inline]
    #[must_use]
    pub fn is_met(&self, row: u32) -> bool {
        self.positions[row as usize].wrapping_sub(self.range.from) < self.range.length
    }

    /// Whether a row meets the comparison, or has no value to compare because the attribute is absent or deviant.
    #[inline]
    #[must_use]
    pub fn is_met_or_void(&self, row: u32) -> bool {
        let position = self.positions[row as usize];
        position == UNORDERED || position.wrapping_sub(self.range.from) < self.range.length
    }
}

impl RangeIndex {
    /// Builds the index of the values that have a place in it. Each comes with its rows; no row occurs twice. `length`
    /// is the number of rows in the pool.
    pub fn new<'v>(values: impl IntoIterator<Item = (&'v Value, &'v [u32])>, length: usize, dialect: Dialect) -> Self {
        let (mut numbers, mut strings) = (Vec::new(), Vec::new());
        for (value, rows) in values {
            match (number_key(value, dialect), value) {
                (Some(key), _) => numbers.push((key, (value, rows))),
                (None, Value::String(text)) => strings.push((string_key(text), (value, rows))),
                _ => {}
            }
        }
        let (mut starts, mut rows) = (Vec::new(), Vec::new());
        numbers.sort_unstable_by_key(|(key, _)| *key);
        let integers = IntegerPlaces::new(numbers.iter().map(|(_, (value, _))| *value));
        let numbers = SortedKeys::new(numbers, &mut starts, &mut rows);
        strings.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let strings = SortedKeys::new(strings, &mut starts, &mut rows);
        starts.push(code(rows.len()));
        let (bitmaps, positions) = Default::default();
        RangeIndex { numbers, strings, integers, starts, rows, length, bitmaps, positions }
    }

    /// Whether a value has a place in an index.
    pub fn has_place(value: &Value, dialect: Dialect) -> bool {
        matches!(value, Value::String(_)) || number_key(value, dialect).is_some()
    }

    /// Returns the positions of the rows whose values are comparable with a value, and of those whose values have the
    /// same key. `None` if the value has no place in an index.
    fn bounds(&self, value: &Value, dialect: Dialect) -> Option<[Range<usize>; 2]> {
        let numbers = self.numbers.keys.len();
        let strings_start = self.starts[numbers] as usize;
        let (comparable, (place, is_known)) = match (number_key(value, dialect), value) {
            (Some(key), _) => {
                let place = match (value, &self.integers) {
                    (Value::Integer(integer), Some(integers)) => integers.place(*integer, numbers),
                    _ => self.numbers.place(&key),
                };
                (0..strings_start, (place, self.numbers.keys.get(place) == Some(&key)))
            }
            (None, Value::String(text)) => {
                let key = string_key(text);
                let place = self.strings.place(&key);
                (strings_start..self.rows.len(), (numbers + place, self.strings.keys.get(place) == Some(&key)))
            }
            _ => return None,
        };
        Some([comparable, self.starts[place] as usize..self.starts[place + usize::from(is_known)] as usize])
    }

    /// Returns the rows that meet `attribute operator value`. `None` if the operator selects no range of the index.
    pub fn matching_range(&self, operator: BinaryOperator, value: &Value, dialect: Dialect) -> Option<PositionRange> {
        let [comparable, same] = self.bounds(value, dialect)?;
        let Range { start, end } = match operator {
            BinaryOperator::Less => comparable.start..same.start,
            BinaryOperator::LessEqual => comparable.start..same.end,
            BinaryOperator::Equal => same,
            BinaryOperator::GreaterEqual => same.start..comparable.end,
            BinaryOperator::Greater => same.end..comparable.end,
            _ => return None,
        };
        Some(PositionRange { from: code(start), length: code(end - start) })
    }

    /// Adds to `into` the rows that meet `attribute operator value`. Returns the rows that it leaves to be compared one
    /// by one: those with the same key, whose values may still differ in type or in case. `None` if the value has no
    /// place in an index.
    pub fn select(
        &self,
        operator: BinaryOperator,
        value: &Value,
        dialect: Dialect,
        into: &mut FixedBitSet,
    ) -> Option<&[u32]> {
        if let Some(range) = self.matching_range(operator, value, dialect) {
            self.add_range_rows(range, into);
            return Some(&[]);
        }
        let [comparable, same] = self.bounds(value, dialect)?;
        let others = match operator {
            BinaryOperator::NotEqual => comparable,
            // Numbers and strings are never identical. For a number `isnt` selects all strings, for a string all numbers.
            BinaryOperator::Isnt => 0..self.rows.len(),
            _ => same.clone(),
        };
        self.add_rows(others.start..same.start, into);
        self.add_rows(same.end..others.end, into);
        Some(if operator == BinaryOperator::NotEqual { &[] } else { &self.rows[same] })
    }

    /// Returns the test whether single rows are in a range.
    pub fn row_test(&self, range: PositionRange) -> RowTest<'_> {
        let positions = self.positions.get_or_init(|| {
            let mut positions = vec![UNORDERED; self.length];
            self.rows.iter().zip(0..).for_each(|(row, position)| positions[*row as usize] = position);
            positions
        });
        RowTest { positions, range }
    }

    /// Adds to `into` the rows in a range.
    pub fn add_range_rows(&self, range: PositionRange, into: &mut FixedBitSet) {
        self.add_rows(range.from as usize..(range.from + range.length) as usize, into);
    }

    /// Adds the rows at some positions of the index to `into`.
    fn add_rows(&self, Range { start: from, end: to }: Range<usize>, into: &mut FixedBitSet) {
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

impl<K: Ord + Clone> SortedKeys<K> {
    /// Collects ascending keys. Adds their rows to `all_rows`, and the position of the first row of each key to `starts`.
    fn new<'v>(values: Vec<(K, (&'v Value, &'v [u32]))>, starts: &mut Vec<u32>, all_rows: &mut Vec<u32>) -> Self {
        let mut keys = Vec::new();
        for (key, (_, rows)) in values {
            if keys.last() != Some(&key) {
                keys.push(key);
                starts.push(code(all_rows.len()));
            }
            all_rows.extend_from_slice(rows);
        }
        SortedKeys { block_keys: keys.iter().step_by(KEYS_PER_BLOCK).cloned().collect(), keys }
    }

    /// Returns the number of keys that are less than a key.
    fn place(&self, key: &K) -> usize {
        // Bisects the blocks and then the keys of one block. The first keys of the blocks stay in the processor's
        // cache.
        let piece = self.block_keys.partition_point(|k| k < key).saturating_sub(1) * KEYS_PER_BLOCK;
        let end = (piece + KEYS_PER_BLOCK + 1).min(self.keys.len());
        piece + self.keys[piece..end].partition_point(|k| k < key)
    }
}

impl IntegerPlaces {
    /// Finds the places of ascending numbers, all different.
    fn new<'v>(numbers: impl Iterator<Item = &'v Value>) -> Option<Self> {
        let integer = |value: &Value| if let Value::Integer(integer) = value { Some(*integer) } else { None };
        let integers: Vec<i64> = numbers.map(integer).collect::<Option<_>>()?;
        let (least, most) = (*integers.first()?, *integers.last()?);
        if usize::try_from(most - least).ok()? > SMALL_INTEGERS_PER_ROW * integers.len() {
            return None;
        }
        let mut places = Vec::new();
        for (integer, place) in integers.into_iter().zip(0..) {
            places.resize(usize::try_from(integer - least).ok()? + 1, place);
        }
        Some(IntegerPlaces { least, places })
    }

    /// Returns the number of smaller integers. The integer must have a [`number_key`]. `count` is the number of all.
    fn place(&self, integer: i64, count: usize) -> usize {
        let Ok(offset) = usize::try_from(integer - self.least) else { return 0 };
        self.places.get(offset).map_or(count, |place| *place as usize)
    }
}

/// A real as a key of an index. Keys are totally ordered integers, so that one instruction compares them. There is no
/// key for NaN, and -0.0 has the key of 0.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NumberKey(i64);

impl NumberKey {
    /// Returns the key of a number; `None` for NaN.
    fn new(number: f64) -> Option<Self> {
        let bits = (number + 0.0).to_bits().cast_signed();
        // The bits of positive reals, read as integers, are in the order of the reals. The bits of negative reals are
        // in the reverse order, so that all but the sign bit are inverted.
        (!number.is_nan()).then_some(NumberKey(if bits < 0 { bits ^ i64::MAX } else { bits }))
    }
}

/// Returns the key of a number. In HTCondor's dialect booleans are numbers, too. `None` for other values, for NaN, and
/// for integers beyond 2^53, which reals do not represent exactly.
#[allow(clippy::cast_precision_loss)] // exact up to 2^53
fn number_key(value: &Value, dialect: Dialect) -> Option<NumberKey> {
    match value {
        Value::Integer(integer) if integer.unsigned_abs() <= 1 << 53 => NumberKey::new(*integer as f64),
        Value::Real(real) => NumberKey::new(*real),
        Value::Boolean(is) if dialect.is_condor() => NumberKey::new(f64::from(u8::from(*is))),
        _ => None,
    }
}

/// Returns the key of a string: its bytes in lower case, as comparisons ignore case.
fn string_key(text: &ByteString) -> Box<[u8]> {
    text.as_bytes().to_ascii_lowercase().into()
}

#[cfg(test)]
mod tests {
    use super::RangeIndex;
    use crate::ad::{BinaryOperator, Dialect, Value};
    use fixedbitset::FixedBitSet;

    #[test]
    fn every_range_has_its_rows() {
        let mut random = fastrand::Rng::with_seed(1);
        for length in [0_u32, 1, 63, 64, 65, 700, 3000] {
            let mut entries: Vec<(u32, u32)> = (0..length).map(|row| (random.u32(..50), row)).collect();
            entries.retain(|_| random.u8(..8) > 0);
            entries.sort_unstable();
            check(&mut random, &entries, length as usize, 200);
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
        let rows: Vec<(Value, Vec<u32>)> = entries
            .chunk_by(|one, other| one.0 == other.0)
            .map(|of| (Value::Integer(of[0].0.into()), of.iter().map(|entry| entry.1).collect()))
            .collect();
        let index = RangeIndex::new(rows.iter().map(|(value, rows)| (value, &**rows)), length, Dialect::Classad);
        for _ in 0..times {
            let key = random.u32(..52);
            for (operator, is_met) in
                [(BinaryOperator::Less, u32::lt as fn(&u32, &u32) -> bool), (BinaryOperator::LessEqual, u32::le)]
            {
                let range = index.matching_range(operator, &Value::Integer(key.into()), Dialect::Classad).unwrap();
                let met = entries.iter().filter(|entry| is_met(&entry.0, &key)).count();
                assert_eq!(range.row_count() as usize, met);
            }
            let from = random.usize(0..=entries.len());
            // Short ranges can lie between two bitmaps.
            let most = if random.bool() { entries.len() } else { (from + 100).min(entries.len()) };
            let to = random.usize(from..=most);
            let mut rows = FixedBitSet::with_capacity(length);
            index.add_rows(from..to, &mut rows);
            let mut expected: Vec<usize> = entries[from..to].iter().map(|entry| entry.1 as usize).collect();
            expected.sort_unstable();
            assert_eq!(rows.ones().collect::<Vec<_>>(), expected);
        }
    }
}
