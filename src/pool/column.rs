//! Dictionary columns: one attribute of many ads.
//!
//! Each row has a code, which stands for an entry of a dictionary. A column of values also has posting lists, which
//! give the rows of a code, and indexes, which give the rows of a range of values. Posting lists and indexes are built
//! on first use.

use std::sync::OnceLock;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{BinaryOperator, ByteString, Dialect, Expression, OperatorGroup, Span, Value};
use crate::constraint::literal_value;
use crate::eval::binary;
use crate::protocol::is_met;

use super::Partition;
use super::coded_expressions::{CodedExpressions, NO_EXPRESSION};
use super::range_index::{NumberKey, RangeIndex};

/// The code of a row without the attribute.
pub const ABSENT: u32 = 0;
/// The code of a row in which the value depends on the other side.
const DEVIANT: u32 = 1;

/// A dictionary column: a code for each row, and an entry for each code.
pub struct DictionaryColumn<T> {
    /// The code of each row. Rows after the last code lack the attribute.
    pub codes: Vec<u32>,
    /// The entry of each code. The first entry belongs to the code [`ABSENT`].
    pub entries: Vec<T>,
}

impl<T> DictionaryColumn<T> {
    /// Creates a column without rows. `reserved` holds the entries of codes with a fixed meaning, such as [`ABSENT`].
    pub fn new(reserved: impl Into<Vec<T>>) -> Self {
        DictionaryColumn { codes: Vec::new(), entries: reserved.into() }
    }

    /// Adds an entry and returns its code.
    pub fn add_entry(&mut self, entry: T) -> u32 {
        self.entries.push(entry);
        code(self.entries.len() - 1)
    }

    /// Sets the code of a row. The row must be greater than all rows set before. Rows left out lack the attribute.
    pub fn push_at(&mut self, row: usize, code: u32) {
        self.codes.resize(row, ABSENT);
        self.codes.push(code);
    }

    /// Returns the code of a row; [`ABSENT`] for a row beyond the last one set.
    pub fn code(&self, row: usize) -> u32 {
        self.codes.get(row).copied().unwrap_or(ABSENT)
    }
}

/// The state of an attribute in one ad.
#[derive(Clone, Debug)]
pub enum ColumnCell {
    /// The ad has no such attribute.
    Absent,
    /// The attribute has this value, whatever ad is on the other side.
    Constant(Value),
    /// The value of the attribute depends on the ad on the other side (thesis 4.4: deviant).
    Deviant,
}

impl ColumnCell {
    /// Returns the value of the attribute: undefined if it is absent, `None` if it is deviant.
    #[must_use]
    pub fn value(self) -> Option<Value> {
        match self {
            ColumnCell::Absent => Some(Value::Undefined),
            ColumnCell::Constant(value) => Some(value),
            ColumnCell::Deviant => None,
        }
    }
}

/// The values of one attribute of many ads, with indexes for selecting rows by value.
pub struct AttributeColumn {
    dialect: Dialect,
    /// The distinct values. The entries of absent and deviant rows are undefined.
    values: DictionaryColumn<Value>,
    deviant: FixedBitSet,
    has_deviant: bool,
    posting_lists: OnceLock<PostingLists>,
    indexes: OnceLock<ValueIndexes>,
}

/// Builds an [`AttributeColumn`] row by row.
struct ColumnBuilder {
    values: DictionaryColumn<Value>,
    codes_by_value: FxHashMap<ValueKey, u32>,
}

/// Posting lists: for each code the rows with this code, ascending.
struct PostingLists {
    starts: Vec<usize>,
    rows: Vec<u32>,
}

/// Indexes of the rows by number and by string, for comparisons such as `<`.
struct ValueIndexes {
    numbers: RangeIndex<NumberKey>,
    strings: RangeIndex<Box<[u8]>>,
    /// Codes of the values that neither index contains. These values are compared one by one.
    unordered: Vec<u32>,
}

/// A value as a hash key. Two keys are equal only if evaluation cannot distinguish the values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueKey {
    /// An absent attribute, which has no value.
    Absent,
    /// The value `undefined`.
    Undefined,
    /// An error. All errors have the same key.
    Error,
    /// A boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A real, by its bits, so that `0.0` and `-0.0` have different keys.
    Real(u64),
    /// A string. Strings that differ in case have different keys.
    String(ByteString),
    /// An absolute time: seconds since 1970, and the offset of the time zone in seconds.
    AbsoluteTime(i64, i32),
    /// A relative time in seconds, as the bits of a real.
    RelativeTime(u64),
    /// A list or an ad, by its address in memory.
    Structure(usize),
}

impl ValueKey {
    /// Returns the key of a value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Undefined => ValueKey::Undefined,
            Value::Error(_) => ValueKey::Error,
            Value::Boolean(is) => ValueKey::Boolean(*is),
            Value::Integer(integer) => ValueKey::Integer(*integer),
            Value::Real(real) => ValueKey::Real(real.to_bits()),
            Value::String(text) => ValueKey::String(text.clone()),
            Value::AbsoluteTime(time) => ValueKey::AbsoluteTime(time.seconds, time.offset),
            Value::RelativeTime(time) => ValueKey::RelativeTime(time.seconds.to_bits()),
            Value::List(list) => ValueKey::Structure(list.elements.as_ptr() as usize),
            Value::Ad(nested) => ValueKey::Structure(nested.ad().identity()),
        }
    }
}

impl ColumnBuilder {
    fn new() -> Self {
        let absent_and_deviant = [Value::Undefined, Value::Undefined];
        ColumnBuilder { values: DictionaryColumn::new(absent_and_deviant), codes_by_value: FxHashMap::default() }
    }

    /// Appends a row with this cell, and returns the code of the row.
    fn push(&mut self, cell: ColumnCell) -> u32 {
        let code = self.code(cell);
        self.values.codes.push(code);
        code
    }

    /// Returns the code of a cell.
    fn code(&mut self, cell: ColumnCell) -> u32 {
        match cell {
            ColumnCell::Absent => ABSENT,
            ColumnCell::Deviant => DEVIANT,
            ColumnCell::Constant(value) => {
                let key = ValueKey::of(&value);
                *self.codes_by_value.entry(key).or_insert_with(|| self.values.add_entry(value))
            }
        }
    }

    fn finish(self, dialect: Dialect) -> AttributeColumn {
        let codes = &self.values.codes;
        let mut deviant = FixedBitSet::with_capacity(codes.len());
        codes.iter().enumerate().filter(|(_, code)| **code == DEVIANT).for_each(|(row, _)| deviant.insert(row));
        AttributeColumn {
            dialect,
            has_deviant: !deviant.is_clear(),
            deviant,
            values: self.values,
            posting_lists: OnceLock::new(),
            indexes: OnceLock::new(),
        }
    }
}

impl AttributeColumn {
    /// Builds a column with one row for each cell.
    pub fn new(cells: impl IntoIterator<Item = ColumnCell>, dialect: Dialect) -> Self {
        let mut column = ColumnBuilder::new();
        for cell in cells {
            column.push(cell);
        }
        column.finish(dialect)
    }

    /// Builds the column of an attribute from the expression of each row; `None` means that the row lacks the
    /// attribute. `cell` returns the cell of a row whose expression is not a literal.
    pub fn of_expressions<'a>(
        expressions: impl IntoIterator<Item = Option<&'a Expression>>,
        dialect: Dialect,
        cell: impl Fn(usize, &Expression) -> ColumnCell,
    ) -> Self {
        let mut column = ColumnBuilder::new();
        // Ads that were read together share equal literals. A literal seen before is recognised by its address.
        let mut codes: FxHashMap<usize, u32> = FxHashMap::default();
        for (row, expression) in expressions.into_iter().enumerate() {
            let Some(expression) = expression else {
                column.push(ColumnCell::Absent);
                continue;
            };
            if let Some(code) = codes.get(&expression.identity()) {
                column.values.codes.push(*code);
            } else if let Some(value) = literal_value(expression, dialect) {
                codes.insert(expression.identity(), column.push(ColumnCell::Constant(value.clone())));
            } else {
                column.push(cell(row, expression));
            }
        }
        column.finish(dialect)
    }

    /// Builds the column of an attribute from the codes of its expressions, for `rows` rows. `cell` returns the cell of a
    /// row whose expression is not a literal.
    pub fn of_codes(
        CodedExpressions { mut codes, expressions }: CodedExpressions,
        rows: usize,
        dialect: Dialect,
        cell: impl Fn(usize, &Expression) -> ColumnCell,
    ) -> Self {
        let mut column = ColumnBuilder::new();
        let literal = |expression| Some(column.code(ColumnCell::Constant(literal_value(expression, dialect)?.clone())));
        let known: Vec<Option<u32>> = expressions.iter().map(literal).collect();
        codes.resize(rows, NO_EXPRESSION);
        for (row, code) in codes.iter_mut().enumerate() {
            *code = match *code {
                NO_EXPRESSION => ABSENT,
                number => {
                    let index = number as usize - 1;
                    known[index].unwrap_or_else(|| column.code(cell(row, &expressions[index])))
                }
            };
        }
        column.values.codes = codes;
        column.finish(dialect)
    }

    /// Splits groups of rows, so that the rows of a group have equal values. A deviant row leaves its group.
    pub fn split(&self, groups: &mut Partition) {
        let code = |row| Some(self.values.code(row)).filter(|code| *code != DEVIANT);
        groups.split(self.values.entries.len(), code);
    }

    /// Returns the cell of a row.
    pub fn cell(&self, row: usize) -> ColumnCell {
        match self.values.code(row) {
            ABSENT => ColumnCell::Absent,
            DEVIANT => ColumnCell::Deviant,
            code => ColumnCell::Constant(self.value(code).clone()),
        }
    }

    fn value(&self, code: u32) -> &Value {
        &self.values.entries[code as usize]
    }

    /// Returns the deviant rows: those whose value depends on the other side.
    pub fn deviant_rows(&self) -> &FixedBitSet {
        &self.deviant
    }

    /// Whether any row is deviant.
    pub fn has_deviant_rows(&self) -> bool {
        self.has_deviant
    }

    /// Adds to `into` the rows for which `attribute operator value` is met. An absent attribute counts as undefined.
    ///
    /// Deviant rows are not added, although some may meet the comparison; [`AttributeColumn::deviant_rows`] returns
    /// them. A range of numbers or strings costs O(log n), plus a pass over a bitmap of all rows.
    pub fn select(&self, operator: BinaryOperator, value: &Value, into: &mut FixedBitSet) {
        let dialect = self.dialect;
        let met = |mine: &Value| is_met(&binary(operator, mine, value, dialect, Span::default()), dialect);
        let orders = self.indexes.get_or_init(|| self.build_indexes());
        let number = number_key(value, dialect);
        match (&number, value) {
            (Some(key), _) => self.add_range(&orders.numbers, operator, key, met, into),
            (None, Value::String(text)) => self.add_range(&orders.strings, operator, &string_key(text), met, into),
            // Comparisons with undefined or an error are never met.
            (None, Value::Undefined | Value::Error(_)) if operator.group() == OperatorGroup::Comparison => return,
            _ => return self.select_where(met, into),
        }
        self.add_codes_where(orders.unordered.iter().copied(), met, into);
        // Numbers and strings are never identical. For a number `isnt` selects all strings, for a string all numbers.
        if operator == BinaryOperator::Isnt {
            match number {
                Some(_) => orders.strings.add_rows(0, orders.strings.len(), into),
                None => orders.numbers.add_rows(0, orders.numbers.len(), into),
            }
        }
    }

    /// Adds to `into` the rows whose value a predicate accepts. An absent attribute counts as undefined. Deviant rows
    /// are not added. The predicate is called once for each code.
    pub fn select_where(&self, met: impl Fn(&Value) -> bool, into: &mut FixedBitSet) {
        self.add_codes_where((0..code(self.values.entries.len())).filter(|code| *code != DEVIANT), met, into);
    }

    /// Adds rows to `into`: all rows in the index `order` that meet the comparison `attribute operator value`. `key` is
    /// the key of the value.
    fn add_range<K: Ord + Clone>(
        &self,
        order: &RangeIndex<K>,
        operator: BinaryOperator,
        key: &K,
        met: impl Fn(&Value) -> bool,
        into: &mut FixedBitSet,
    ) {
        let ((below, upto), end) = (order.bounds(key), order.len());
        match operator {
            BinaryOperator::Less => order.add_rows(0, below, into),
            BinaryOperator::LessEqual => order.add_rows(0, upto, into),
            BinaryOperator::Equal => order.add_rows(below, upto, into),
            BinaryOperator::GreaterEqual => order.add_rows(below, end, into),
            BinaryOperator::Greater => order.add_rows(upto, end, into),
            BinaryOperator::NotEqual | BinaryOperator::Isnt => {
                order.add_rows(0, below, into);
                order.add_rows(upto, end, into);
            }
            _ => {}
        }
        // Values with the same key may still differ in type or in case, so that `met` compares each one.
        if matches!(operator, BinaryOperator::Is | BinaryOperator::Isnt) {
            for row in order.rows(below, upto) {
                if met(self.value(self.values.codes[*row as usize])) {
                    into.insert(*row as usize);
                }
            }
        }
    }

    /// Adds to `into` the rows that have one of these codes, if the predicate accepts the value of the code.
    fn add_codes_where(&self, codes: impl Iterator<Item = u32>, met: impl Fn(&Value) -> bool, into: &mut FixedBitSet) {
        let lists = self.posting_lists();
        for row in codes.filter(|code| met(self.value(*code))).flat_map(|code| lists.rows(code)) {
            into.insert(*row as usize);
        }
    }

    fn posting_lists(&self) -> &PostingLists {
        self.posting_lists.get_or_init(|| {
            let codes = &self.values.codes;
            let mut starts = vec![0; self.values.entries.len() + 1];
            for code in codes {
                starts[*code as usize + 1] += 1;
            }
            (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
            let (mut next, mut rows) = (starts.clone(), vec![0; codes.len()]);
            for (row, code) in codes.iter().enumerate() {
                let at = &mut next[*code as usize];
                rows[*at] = self::code(row);
                *at += 1;
            }
            PostingLists { starts, rows }
        })
    }

    fn build_indexes(&self) -> ValueIndexes {
        let (mut numbers, mut strings, mut unordered) = (Vec::new(), Vec::new(), vec![ABSENT]);
        for (at, value) in self.values.entries.iter().enumerate().skip(DEVIANT as usize + 1) {
            match (number_key(value, self.dialect), value) {
                (Some(number), _) => numbers.push((number, code(at))),
                (None, Value::String(text)) => strings.push((string_key(text), code(at))),
                _ => unordered.push(code(at)),
            }
        }
        ValueIndexes { numbers: self.range_index(numbers), strings: self.range_index(strings), unordered }
    }

    /// Builds the index of all rows that have one of these codes. Each code comes with the key of its value.
    fn range_index<K: Ord + Clone>(&self, mut codes: Vec<(K, u32)>) -> RangeIndex<K> {
        codes.sort_unstable();
        let lists = self.posting_lists();
        let rows = codes.iter().flat_map(|(key, code)| lists.rows(*code).iter().map(|row| (key.clone(), *row)));
        RangeIndex::new(rows, self.values.codes.len())
    }
}

impl PostingLists {
    fn rows(&self, code: u32) -> &[u32] {
        &self.rows[self.starts[code as usize]..self.starts[code as usize + 1]]
    }
}

/// Converts a position to a code. Every position fits, because a pool has fewer than 2^32 rows.
#[must_use]
pub fn code(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
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
    use fixedbitset::FixedBitSet;

    use super::{AttributeColumn, ColumnCell};
    use crate::ad::{BinaryOperator, Dialect, ExpressionKind, OperatorGroup, Span, Value};
    use crate::eval::binary;
    use crate::protocol::is_met;
    use crate::syntax::{ParseOptions, parse_expression};

    fn value(text: &str) -> Value {
        let tree = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
        match tree.kind() {
            ExpressionKind::Literal(value) => value.clone(),
            _ => panic!("{text} is a literal"),
        }
    }

    /// Selection by the indexes finds the same rows as a comparison with each value.
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
                let cells: Vec<ColumnCell> = (0..length)
                    .map(|_| match random.u8(..10) {
                        0 => ColumnCell::Absent,
                        1 => ColumnCell::Deviant,
                        _ => ColumnCell::Constant(values[random.usize(..values.len())].clone()),
                    })
                    .collect();
                let column = AttributeColumn::new(cells.clone(), dialect);
                let operators = BinaryOperator::ALL.iter().copied();
                for operator in
                    operators.filter(|o| matches!(o.group(), OperatorGroup::Comparison | OperatorGroup::Identity))
                {
                    for value in &values {
                        let mut found = FixedBitSet::with_capacity(length);
                        column.select(operator, value, &mut found);
                        let met =
                            |mine: &Value| is_met(&binary(operator, mine, value, dialect, Span::default()), dialect);
                        let expected = cells.iter().enumerate().filter(|(_, cell)| match cell {
                            ColumnCell::Absent => met(&Value::Undefined),
                            ColumnCell::Deviant => false,
                            ColumnCell::Constant(mine) => met(mine),
                        });
                        let expected: Vec<usize> = expected.map(|(row, _)| row).collect();
                        assert_eq!(found.ones().collect::<Vec<_>>(), expected, "{operator:?} {value:?} {dialect}");
                    }
                }
            }
        }
    }

    /// In HTCondor's dialect `true` equals `1`. Columns with the same values but different dialects select different
    /// rows.
    #[test]
    fn a_column_selects_in_its_own_dialect() {
        for (dialect, expected) in [(Dialect::Condor, 2), (Dialect::Classad, 1), (Dialect::Condor, 2)] {
            let cells = ["true", "1", "\"a\""].map(|text| ColumnCell::Constant(value(text)));
            let mut found = FixedBitSet::with_capacity(3);
            AttributeColumn::new(cells, dialect).select(BinaryOperator::Equal, &value("1"), &mut found);
            assert_eq!(found.count_ones(..), expected, "{dialect}");
        }
    }
}
