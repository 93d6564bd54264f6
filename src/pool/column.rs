//! Dictionary columns: one attribute of many ads.
//!
//! Each row has a code, which stands for an entry of a dictionary. A column of values also has posting lists, which
//! give the rows of a code, and indexes, which give the rows of a range of values. Posting lists and indexes are built
//! on first use.

use std::sync::OnceLock;

use fixedbitset::FixedBitSet;

use crate::ad::{BinaryOperator, Dialect, Expression, OperatorGroup, Span, Truth, Value};
use crate::constraint::literal_value;
use crate::eval::binary;

use super::Partition;
use super::code::code;
use super::coded_expressions::{CodedExpressions, NO_EXPRESSION};
use super::column_builder::ColumnBuilder;
use super::dictionary_column::{ABSENT, ColumnCell, DEVIANT, DictionaryColumn};
use super::range_index::{PositionRange, RangeIndex, RowTest};
use super::row_lists::RowLists;

/// The values of one attribute of many ads, with indexes for selecting rows by value.
pub struct AttributeColumn {
    dialect: Dialect,
    /// The distinct values. The entries of absent and deviant rows are undefined.
    values: DictionaryColumn<Value>,
    deviant: FixedBitSet,
    has_deviant: bool,
    posting_lists: OnceLock<RowLists>,
    /// The index, and the codes of the values that have no place in it.
    index: OnceLock<(RangeIndex, Vec<u32>)>,
}

impl AttributeColumn {
    /// Makes a column of the values of all rows.
    fn of_values(values: DictionaryColumn<Value>, dialect: Dialect) -> Self {
        let mut deviant = FixedBitSet::with_capacity(values.codes.len());
        let deviant_rows = values.codes.iter().enumerate().filter(|(_, code)| **code == DEVIANT);
        deviant_rows.for_each(|(row, _)| deviant.insert(row));
        AttributeColumn {
            dialect,
            has_deviant: !deviant.is_clear(),
            deviant,
            values,
            posting_lists: OnceLock::new(),
            index: OnceLock::new(),
        }
    }

    /// Builds a column with one row for each cell.
    pub fn new(cells: impl IntoIterator<Item = ColumnCell>, dialect: Dialect) -> Self {
        let cells = cells.into_iter();
        let mut column = ColumnBuilder::with_capacity(cells.size_hint().0);
        for cell in cells {
            column.push(cell);
        }
        AttributeColumn::of_values(column.values, dialect)
    }

    /// Builds the column of an attribute from the codes of its expressions, for `rows` rows. `cell` returns the cell of a
    /// row whose expression is not a literal.
    pub fn of_codes(
        CodedExpressions { mut codes, expressions }: CodedExpressions,
        rows: usize,
        dialect: Dialect,
        mut cell: impl FnMut(usize, &Expression) -> ColumnCell,
    ) -> Self {
        let mut column = ColumnBuilder::with_capacity(rows);
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
        AttributeColumn::of_values(column.values, dialect)
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
        let met = |mine: &Value| Truth::of(&binary(operator, mine, value, dialect, Span::default()), dialect).is_true();
        // Comparisons with undefined or an error are never met.
        if matches!(value, Value::Undefined | Value::Error(_)) && operator.group() == OperatorGroup::Comparison {
            return;
        }
        let (index, unordered) = self.index();
        let Some(same) = index.select(operator, value, dialect, into) else { return self.select_where(met, into) };
        let met_one_by_one = same.iter().filter(|row| met(self.value(self.values.codes[**row as usize])));
        into.extend(met_one_by_one.map(|row| *row as usize));
        self.add_codes_where(unordered.iter().copied(), met, into);
    }

    /// Returns the rows that meet `attribute operator value`, the same as [`AttributeColumn::select`] adds. `None` if the
    /// operator selects no range of the index, or if values of the column have no place in it.
    pub fn matching_range(&self, operator: BinaryOperator, value: &Value) -> Option<PositionRange> {
        let (index, unordered) = self.index();
        // The first code is that of absent rows, which meet no comparison.
        if *unordered != [ABSENT] {
            return None;
        }
        index.matching_range(operator, value, self.dialect)
    }

    /// Returns the test whether single rows are in a range of this column. For few rows it costs less than a bitmap.
    pub fn row_test(&self, range: PositionRange) -> RowTest<'_> {
        self.index().0.row_test(range)
    }

    /// Adds to `into` the rows in a range of this column.
    pub fn add_range_rows(&self, range: PositionRange, into: &mut FixedBitSet) {
        self.index().0.add_range_rows(range, into);
    }

    /// Adds to `into` the rows whose value a predicate accepts. An absent attribute counts as undefined. Deviant rows
    /// are not added. The predicate is called once for each code.
    pub fn select_where(&self, met: impl Fn(&Value) -> bool, into: &mut FixedBitSet) {
        self.add_codes_where((0..code(self.values.entries.len())).filter(|code| *code != DEVIANT), met, into);
    }

    /// Adds to `into` the rows that have one of these codes, if the predicate accepts the value of the code.
    fn add_codes_where(&self, codes: impl Iterator<Item = u32>, met: impl Fn(&Value) -> bool, into: &mut FixedBitSet) {
        let lists = self.posting_lists();
        for row in codes.filter(|code| met(self.value(*code))).flat_map(|code| lists.rows(code)) {
            into.insert(*row as usize);
        }
    }

    fn posting_lists(&self) -> &RowLists {
        let codes = self.values.codes.iter().map(|code| Some(*code));
        self.posting_lists.get_or_init(|| RowLists::new(self.values.entries.len(), codes))
    }

    /// Returns the index, and the codes of the values that have no place in it. These values are compared one by one.
    fn index(&self) -> &(RangeIndex, Vec<u32>) {
        self.index.get_or_init(|| {
            let codes = DEVIANT + 1..code(self.values.entries.len());
            let (indexed, others): (Vec<u32>, Vec<u32>) =
                codes.partition(|code| RangeIndex::has_place(self.value(*code), self.dialect));
            let lists = self.posting_lists();
            let values = indexed.into_iter().map(|code| (self.value(code), lists.rows(code)));
            let index = RangeIndex::new(values, self.values.codes.len(), self.dialect);
            (index, [vec![ABSENT], others].concat())
        })
    }
}

#[cfg(test)]
mod tests {
    use fixedbitset::FixedBitSet;

    use super::{AttributeColumn, ColumnCell};
    use crate::ad::{BinaryOperator, Dialect, ExpressionKind, OperatorGroup, Span, Truth, Value};
    use crate::eval::binary;
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
                        let met = |mine: &Value| {
                            Truth::of(&binary(operator, mine, value, dialect, Span::default()), dialect).is_true()
                        };
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

    /// The test of a single row says what the selection of all rows says: of integers near to one another or far apart, of
    /// numbers and strings, and with rows that have no value. Values without an order have no test.
    #[test]
    fn single_rows_are_tested_as_all_rows_are_selected() {
        let kinds: [(&[&str], bool); 5] = [
            (&["0", "3", "1", "7"], true),
            (&["-3", "0", "4", "1"], true),
            (&["9000000000000000", "-9000000000000000", "5"], true),
            (&["2", "2.0", "1.5", "\"a\"", "\"B\"", "\"b\""], true),
            (&["1", "undefined"], false),
        ];
        let mut random = fastrand::Rng::with_seed(1);
        for (texts, has_test) in kinds {
            let values: Vec<Value> = texts.iter().map(|text| value(text)).collect();
            let cells: Vec<ColumnCell> = (0..300)
                .map(|_| match random.u8(..10) {
                    0 => ColumnCell::Absent,
                    1 => ColumnCell::Deviant,
                    _ => ColumnCell::Constant(values[random.usize(..values.len())].clone()),
                })
                .collect();
            let column = AttributeColumn::new(cells.clone(), Dialect::Condor);
            for operator in ["<", "<=", "==", ">=", ">"] {
                let operator = *BinaryOperator::ALL.iter().find(|found| found.symbol() == operator).unwrap();
                for bound in ["-4", "-3", "0", "1", "1.5", "2", "7", "8", "\"A\"", "\"b\"", "\"\"", "9000000000000000"]
                {
                    let bound = value(bound);
                    let mut selected = FixedBitSet::with_capacity(cells.len());
                    column.select(operator, &bound, &mut selected);
                    let range = column.matching_range(operator, &bound);
                    assert_eq!(range.is_some(), has_test, "{texts:?}");
                    let Some(range) = range else { continue };
                    let mut in_range = FixedBitSet::with_capacity(cells.len());
                    column.add_range_rows(range, &mut in_range);
                    assert_eq!(in_range, selected, "{texts:?} {operator:?} {bound:?}");
                    assert_eq!(range.row_count() as usize, selected.count_ones(..), "{texts:?}");
                    let test = column.row_test(range);
                    for (row, cell) in (0_u32..).zip(&cells) {
                        let is_selected = selected.contains(row as usize);
                        assert_eq!(test.is_met(row), is_selected, "{texts:?} {operator:?} {bound:?} {cell:?}");
                        let is_void = !matches!(cell, ColumnCell::Constant(_));
                        assert_eq!(test.is_met_or_void(row), is_selected || is_void, "{texts:?} {operator:?} {cell:?}");
                    }
                }
            }
            assert!(column.matching_range(BinaryOperator::NotEqual, &value("1")).is_none());
            assert!(column.matching_range(BinaryOperator::Less, &value("undefined")).is_none());
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
