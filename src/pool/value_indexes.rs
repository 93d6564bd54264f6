//! Indexes of the values of a column, and the ranges and tests of rows that comparisons select in them.

use std::sync::OnceLock;

use fixedbitset::FixedBitSet;

use crate::ad::{BinaryOperator, ByteString, Dialect, Value};

use super::code::code;
use super::range_index::{NumberKey, RangeIndex};

/// Indexes of the rows by number and by string, for comparisons such as `<`.
pub struct ValueIndexes {
    pub numbers: RangeIndex<NumberKey>,
    pub strings: RangeIndex<Box<[u8]>>,
    /// Positions of the integers in the index of numbers, if all values are integers that are near to one another.
    integers: Option<IntegerPositions>,
    /// Codes of the values that neither index contains. These values are compared one by one.
    pub unordered: Vec<u32>,
    /// Position of each row in the index of numbers, or in that of strings behind all numbers; [`UNORDERED`] for a row
    /// in neither index. Built on first use.
    positions: OnceLock<Vec<u32>>,
}

/// Positions of integers in an index of numbers, found without a search.
pub struct IntegerPositions {
    least: i64,
    /// For each integer from the least to the greatest the position of its first row. A last entry holds the number of
    /// rows.
    starts: Vec<u32>,
}

impl IntegerPositions {
    /// `row_counts` has the number of rows of each integer from `least` to the greatest.
    pub fn new(least: i64, row_counts: impl Iterator<Item = usize>) -> Self {
        let (mut starts, mut position) = (Vec::with_capacity(row_counts.size_hint().0 + 1), 0);
        for count in row_counts {
            starts.push(code(position));
            position += count;
        }
        starts.push(code(position));
        IntegerPositions { least, starts }
    }

    /// Returns the same as [`RangeIndex::bounds`]. The integer must have a [`number_key`].
    fn bounds(&self, integer: i64) -> (usize, usize) {
        let Ok(place) = usize::try_from(integer - self.least) else { return (0, 0) };
        let start = |place: usize| self.starts[place.min(self.starts.len() - 1)] as usize;
        (start(place), start(place + 1))
    }
}

/// Position of a row that no index contains.
const UNORDERED: u32 = u32::MAX;

/// The rows that meet a comparison with a constant, as a range of positions in the index of numbers, or in that of
/// strings behind all numbers.
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

impl ValueIndexes {
    pub fn new(
        numbers: RangeIndex<NumberKey>,
        strings: RangeIndex<Box<[u8]>>,
        integers: Option<IntegerPositions>,
        unordered: Vec<u32>,
    ) -> Self {
        ValueIndexes { numbers, strings, integers, unordered, positions: OnceLock::new() }
    }

    /// Returns the rows in the two indexes that meet `attribute operator value`. `None` if the operator selects no range
    /// of an index.
    pub fn matching_range(&self, operator: BinaryOperator, value: &Value, dialect: Dialect) -> Option<PositionRange> {
        let numbers = self.numbers.len();
        let ((below, upto), first, end) = match (number_key(value, dialect), value) {
            (Some(key), _) => {
                let bounds = match (value, &self.integers) {
                    (Value::Integer(integer), Some(integers)) => integers.bounds(*integer),
                    _ => self.numbers.bounds(&key),
                };
                (bounds, 0, numbers)
            }
            (None, Value::String(text)) => (self.strings.bounds(&string_key(text)), numbers, self.strings.len()),
            _ => return None,
        };
        let (from, to) = match operator {
            BinaryOperator::Less => (0, below),
            BinaryOperator::LessEqual => (0, upto),
            BinaryOperator::Equal => (below, upto),
            BinaryOperator::GreaterEqual => (below, end),
            BinaryOperator::Greater => (upto, end),
            _ => return None,
        };
        Some(PositionRange { from: code(first + from), length: code(to - from) })
    }

    /// Returns the test whether single rows are in a range. `row_count` is the number of rows of the column.
    pub fn row_test(&self, range: PositionRange, row_count: usize) -> RowTest<'_> {
        RowTest { positions: self.positions.get_or_init(|| self.row_positions(row_count)), range }
    }

    /// Adds to `into` the rows in a range.
    pub fn add_range_rows(&self, range: PositionRange, into: &mut FixedBitSet) {
        let (from, numbers) = (range.from as usize, self.numbers.len());
        let to = from + range.length as usize;
        if to <= numbers {
            self.numbers.add_rows(from, to, into);
        } else {
            self.strings.add_rows(from - numbers, to - numbers, into);
        }
    }

    fn row_positions(&self, row_count: usize) -> Vec<u32> {
        let mut positions = vec![UNORDERED; row_count];
        let rows = self.numbers.rows(0, self.numbers.len()).iter().chain(self.strings.rows(0, self.strings.len()));
        rows.enumerate().for_each(|(position, row)| positions[*row as usize] = code(position));
        positions
    }
}

/// Returns the key of a number. In HTCondor's dialect booleans are numbers, too. `None` for other values, for NaN, and
/// for integers beyond 2^53, which reals do not represent exactly.
#[allow(clippy::cast_precision_loss)] // exact up to 2^53
pub fn number_key(value: &Value, dialect: Dialect) -> Option<NumberKey> {
    match value {
        Value::Integer(integer) if integer.unsigned_abs() <= 1 << 53 => NumberKey::new(*integer as f64),
        Value::Real(real) => NumberKey::new(*real),
        Value::Boolean(is) if dialect.is_condor() => NumberKey::new(f64::from(u8::from(*is))),
        _ => None,
    }
}

/// Returns the key of a string: its bytes in lower case, as comparisons ignore case.
pub fn string_key(text: &ByteString) -> Box<[u8]> {
    text.as_bytes().to_ascii_lowercase().into()
}
