//! A column: one attribute of many ads, dictionary-encoded.
//!
//! Each row has a code, which is an index into the dictionary of values.  Posting lists (rows by code) and indexes
//! by value are built on first use.

use std::sync::OnceLock;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{BinaryOperator, Dialect, Group, Span, Text, Value};
use crate::eval::binary;
use crate::protocol::is_met;

use super::range_index::{Number, Sorted};

/// The state of an attribute in one ad.
#[derive(Clone, Debug)]
pub enum Cell {
    /// The ad has no such attribute.
    Absent,
    /// It has this value, whatever ad the other side is.
    Constant(Value),
    /// Its value depends on the other side (thesis 4.4: deviant).
    Open,
}

/// The code of a row without the attribute.
pub const ABSENT: u32 = 0;
/// The code of a row in which the value depends on the other side.
pub const OPEN: u32 = 1;

/// One attribute of many ads, with indexes for selecting rows by value.
pub struct Column {
    /// For each row its code, an index into `values`.
    codes: Vec<u32>,
    /// The values by code; the first two are placeholders for absent and deviant rows.
    values: Vec<Value>,
    open: FixedBitSet,
    has_open: bool,
    rows_of: OnceLock<RowsOf>,
    orders: OnceLock<Orders>,
}

/// Builds a column row by row.
#[derive(Default)]
pub struct Cells {
    codes: Vec<u32>,
    /// The distinct values; the first one has the code `OPEN + 1`.
    values: Vec<Value>,
    known: FxHashMap<Key, u32>,
}

/// Posting lists: the rows of each code, ascending.
struct RowsOf {
    starts: Vec<usize>,
    rows: Vec<u32>,
}

/// Indexes of the rows by value.
struct Orders {
    numbers: Sorted<Number>,
    strings: Sorted<Box<[u8]>>,
    /// Codes of the values in neither index, which are compared one by one.
    odd: Vec<u32>,
}

/// A value as a hash key: equal only for indistinguishable values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// No value.
    Absent,
    /// `undefined`
    Undefined,
    /// Any error.
    Error,
    /// A boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A real, by its bits.
    Real(u64),
    /// A string, exactly.
    String(Text),
    /// An absolute time: seconds since 1970, and the offset in seconds.
    AbsoluteTime(i64, i32),
    /// A relative time, by its bits.
    RelativeTime(u64),
    /// A list or an ad, by its address.
    Structure(usize),
}

impl Key {
    /// Returns the key of a value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Undefined => Key::Undefined,
            Value::Error(_) => Key::Error,
            Value::Boolean(is) => Key::Boolean(*is),
            Value::Integer(integer) => Key::Integer(*integer),
            Value::Real(real) => Key::Real(real.to_bits()),
            Value::String(text) => Key::String(text.clone()),
            Value::AbsoluteTime(time) => Key::AbsoluteTime(time.seconds, time.offset),
            Value::RelativeTime(time) => Key::RelativeTime(time.seconds.to_bits()),
            Value::List(list) => Key::Structure(list.elements.as_ptr() as usize),
            Value::Ad(nested) => Key::Structure(nested.ad().identity()),
        }
    }
}

impl Cells {
    /// Appends a row and returns its code.
    pub fn push(&mut self, cell: Cell) -> u32 {
        let code = match cell {
            Cell::Absent => ABSENT,
            Cell::Open => OPEN,
            Cell::Constant(value) => *self.known.entry(Key::of(&value)).or_insert_with(|| {
                self.values.push(value);
                OPEN + code(self.values.len())
            }),
        };
        self.push_code(code);
        code
    }

    /// Appends a row with the code of an earlier row.
    pub fn push_code(&mut self, code: u32) {
        self.codes.push(code);
    }
}

impl From<Cells> for Column {
    fn from(cells: Cells) -> Self {
        let absent_and_open = [Value::Undefined, Value::Undefined];
        Column::with(cells.codes, absent_and_open.into_iter().chain(cells.values).collect())
    }
}

impl Column {
    /// Builds the column of these cells.
    pub fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        let mut column = Cells::default();
        cells.into_iter().for_each(|cell| {
            column.push(cell);
        });
        column.into()
    }

    /// Builds a column of codes, of which 0 means absent and n the n-th of `values`.  The values need not be distinct.
    pub fn of_codes(codes: impl IntoIterator<Item = u32>, values: impl IntoIterator<Item = Value>) -> Self {
        let codes = codes.into_iter().map(|code| if code == ABSENT { ABSENT } else { code + OPEN });
        let absent_and_open = [Value::Undefined, Value::Undefined];
        Column::with(codes.collect(), absent_and_open.into_iter().chain(values).collect())
    }

    fn with(codes: Vec<u32>, values: Vec<Value>) -> Self {
        let mut open = FixedBitSet::with_capacity(codes.len());
        codes.iter().enumerate().filter(|(_, code)| **code == OPEN).for_each(|(row, _)| open.insert(row));
        let has_open = !open.is_clear();
        Column { codes, values, open, has_open, rows_of: OnceLock::new(), orders: OnceLock::new() }
    }

    /// Returns the code of a row.  Rows with equal codes have equal values, except that deviant rows share one code.
    pub fn code(&self, row: usize) -> u32 {
        self.codes[row]
    }

    /// Number of codes, including those of absent and deviant rows.
    pub fn codes(&self) -> usize {
        self.values.len()
    }

    /// Returns the cell of a row.
    pub fn cell(&self, row: usize) -> Cell {
        match self.codes[row] {
            ABSENT => Cell::Absent,
            OPEN => Cell::Open,
            code => Cell::Constant(self.values[code as usize].clone()),
        }
    }

    /// Whether the value of a row depends on the other side.
    #[must_use]
    pub fn is_open(&self, row: usize) -> bool {
        self.codes[row] == OPEN
    }

    /// Returns the deviant rows: those whose value depends on the other side.
    pub fn open(&self) -> &FixedBitSet {
        &self.open
    }

    /// Whether any row is deviant.
    pub fn has_open(&self) -> bool {
        self.has_open
    }

    /// Adds the rows for which `attribute operator value` is met.  An absent attribute counts as undefined.
    ///
    /// Deviant rows are left out: a caller that must not miss a match adds [`Column::open`].  All calls must pass the
    /// same dialect, as the indexes are built for the first one.  O(log n) for a range of numbers or strings, plus a
    /// pass over its bitmap.
    pub fn select(&self, operator: BinaryOperator, value: &Value, dialect: Dialect, into: &mut FixedBitSet) {
        let met = |mine: &Value| is_met(&binary(operator, mine, value, dialect, Span::default()), dialect);
        let orders = self.orders.get_or_init(|| self.sort(dialect));
        match (number(value, dialect), value) {
            (Some(key), _) => {
                let bounds = orders.numbers.bounds(&key);
                self.add_range(&orders.numbers, operator, bounds, met, into);
            }
            (None, Value::String(text)) => {
                let bounds = orders.strings.bounds(&folded(text));
                self.add_range(&orders.strings, operator, bounds, met, into);
            }
            // Comparisons with these are never met.
            (None, Value::Undefined | Value::Error(_)) if operator.group() == Group::Comparison => return,
            _ => return self.select_met(met, into),
        }
        self.add_met(orders.odd.iter().copied(), met, into);
        // Numbers and strings are never identical.
        if operator == BinaryOperator::Isnt {
            let other_types = self.values.iter().enumerate().filter(|(_, mine)| {
                number(mine, dialect).is_some() != number(value, dialect).is_some() && !is_odd(mine, dialect)
            });
            self.add_rows(other_types.map(|(at, _)| code(at)).filter(|code| *code > OPEN), into);
        }
    }

    /// Adds the rows whose value a predicate accepts; an absent attribute counts as undefined.  Deviant rows are left
    /// out.  Calls the predicate once for each code.
    pub fn select_met(&self, met: impl Fn(&Value) -> bool, into: &mut FixedBitSet) {
        self.add_met((0..code(self.values.len())).filter(|code| *code != OPEN), met, into);
    }

    /// Adds the rows of the keys that a comparison accepts; `below` and `upto` are the bounds of the operand's key.
    fn add_range<K: Ord + Clone>(
        &self,
        order: &Sorted<K>,
        operator: BinaryOperator,
        (below, upto): (usize, usize),
        met: impl Fn(&Value) -> bool,
        into: &mut FixedBitSet,
    ) {
        let end = order.len();
        match operator {
            BinaryOperator::Less => order.add(0, below, into),
            BinaryOperator::LessEqual => order.add(0, upto, into),
            BinaryOperator::Equal => order.add(below, upto, into),
            BinaryOperator::GreaterEqual => order.add(below, end, into),
            BinaryOperator::Greater => order.add(upto, end, into),
            BinaryOperator::NotEqual | BinaryOperator::Isnt => {
                order.add(0, below, into);
                order.add(upto, end, into);
            }
            _ => {}
        }
        // Values with the same key may differ in type or in case.
        if matches!(operator, BinaryOperator::Is | BinaryOperator::Isnt) {
            for row in order.rows(below, upto) {
                if met(&self.values[self.codes[*row as usize] as usize]) {
                    into.insert(*row as usize);
                }
            }
        }
    }

    fn add_met(&self, codes: impl Iterator<Item = u32>, met: impl Fn(&Value) -> bool, into: &mut FixedBitSet) {
        self.add_rows(codes.filter(|code| met(&self.values[*code as usize])), into);
    }

    fn add_rows(&self, codes: impl Iterator<Item = u32>, into: &mut FixedBitSet) {
        let rows_of = self.rows_of();
        for code in codes {
            rows_of.get(code).iter().for_each(|row| into.insert(*row as usize));
        }
    }

    fn rows_of(&self) -> &RowsOf {
        self.rows_of.get_or_init(|| {
            let mut starts = vec![0; self.values.len() + 1];
            self.codes.iter().for_each(|code| starts[*code as usize + 1] += 1);
            (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
            let (mut next, mut rows) = (starts.clone(), vec![0; self.codes.len()]);
            for (row, code) in self.codes.iter().enumerate() {
                let at = &mut next[*code as usize];
                rows[*at] = self::code(row);
                *at += 1;
            }
            RowsOf { starts, rows }
        })
    }

    fn sort(&self, dialect: Dialect) -> Orders {
        let rows_of = self.rows_of();
        let (mut numbers, mut strings, mut odd) = (Vec::new(), Vec::new(), vec![ABSENT]);
        for (at, value) in self.values.iter().enumerate().skip(OPEN as usize + 1) {
            match (number(value, dialect), value) {
                (Some(number), _) => numbers.push((number, code(at))),
                (None, Value::String(text)) => strings.push((folded(text), code(at))),
                _ => odd.push(code(at)),
            }
        }
        numbers.sort_unstable();
        strings.sort_unstable();
        let length = self.codes.len();
        let numbers = numbers.into_iter().flat_map(|(key, code)| rows_of.get(code).iter().map(move |row| (key, *row)));
        let strings =
            strings.into_iter().flat_map(|(key, code)| rows_of.get(code).iter().map(move |row| (key.clone(), *row)));
        Orders { numbers: Sorted::new(numbers, length), strings: Sorted::new(strings, length), odd }
    }
}

/// Whether a value is in neither index.
fn is_odd(value: &Value, dialect: Dialect) -> bool {
    number(value, dialect).is_none() && !matches!(value, Value::String(_))
}

impl RowsOf {
    fn get(&self, code: u32) -> &[u32] {
        &self.rows[self.starts[code as usize]..self.starts[code as usize + 1]]
    }
}

/// Converts a position to `u32`; pools have fewer than 2^32 rows.
#[must_use]
pub fn code(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// Returns the key of a value that compares like a real; `None` for integers beyond 2^53, NaN, and other types.
/// In HTCondor's dialect booleans compare like numbers.
#[allow(clippy::cast_precision_loss)] // exact up to 2^53
fn number(value: &Value, dialect: Dialect) -> Option<Number> {
    match value {
        Value::Integer(integer) if integer.unsigned_abs() <= 1 << 53 => Number::new(*integer as f64),
        Value::Real(real) => Number::new(*real),
        Value::Boolean(is) if dialect.is_condor() => Number::new(f64::from(u8::from(*is))),
        _ => None,
    }
}

/// Returns the key of a string: its bytes in lower case, as comparisons ignore case.
fn folded(text: &Text) -> Box<[u8]> {
    text.as_bytes().to_ascii_lowercase().into()
}

#[cfg(test)]
mod tests {
    use fixedbitset::FixedBitSet;

    use super::{Cell, Column};
    use crate::ad::{BinaryOperator, Dialect, Group, Kind, Span, Value};
    use crate::eval::binary;
    use crate::protocol::is_met;
    use crate::syntax::{Rules, parse_expression};

    fn value(text: &str) -> Value {
        let tree = parse_expression(text.as_bytes(), Rules::default()).unwrap();
        match tree.kind() {
            Kind::Literal(value) => value.clone(),
            _ => panic!("{text} is a literal"),
        }
    }

    /// Selecting through the indexes finds the same rows as comparing value by value.
    #[test]
    fn a_selection_compares_every_value() {
        let mut values: Vec<Value> = [
            "0",
            "1",
            "2",
            "-1",
            "5",
            "2.5",
            "0.0",
            "1.0",
            "1e300",
            "9007199254740992",
            "9007199254740993",
            "9007199254740992.0",
            "9223372036854775807",
            "true",
            "false",
            "\"\"",
            "\"a\"",
            "\"A\"",
            "\"b\"",
            "\"5\"",
            "undefined",
            "error",
        ]
        .map(value)
        .into();
        values.extend([f64::NAN, -0.0, f64::INFINITY, f64::NEG_INFINITY].map(Value::Real));
        let mut random = fastrand::Rng::with_seed(1);
        for dialect in [Dialect::Classad, Dialect::Condor] {
            for length in [1, 10, 1000] {
                let cells: Vec<Cell> = (0..length)
                    .map(|_| match random.u8(..10) {
                        0 => Cell::Absent,
                        1 => Cell::Open,
                        _ => Cell::Constant(values[random.usize(..values.len())].clone()),
                    })
                    .collect();
                let column = Column::new(cells.clone());
                let operators = BinaryOperator::ALL.iter().copied();
                for operator in operators.filter(|o| matches!(o.group(), Group::Comparison | Group::Identity)) {
                    for value in &values {
                        let mut found = FixedBitSet::with_capacity(length);
                        column.select(operator, value, dialect, &mut found);
                        let met =
                            |mine: &Value| is_met(&binary(operator, mine, value, dialect, Span::default()), dialect);
                        let expected = cells.iter().enumerate().filter(|(_, cell)| match cell {
                            Cell::Absent => met(&Value::Undefined),
                            Cell::Open => false,
                            Cell::Constant(mine) => met(mine),
                        });
                        let expected: Vec<usize> = expected.map(|(row, _)| row).collect();
                        assert_eq!(found.ones().collect::<Vec<_>>(), expected, "{operator:?} {value:?} {dialect}");
                    }
                }
            }
        }
    }
}
