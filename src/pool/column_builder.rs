//! Builder of a column: gives each distinct value of an attribute a code.

use rustc_hash::FxHashMap;

use crate::ad::Value;

use super::dictionary_column::{ABSENT, ColumnCell, DEVIANT, DictionaryColumn};
use super::value_key::ValueKey;

/// Codes the cells of an attribute, row by row.
pub struct ColumnBuilder {
    /// The rows and values so far.
    pub values: DictionaryColumn<Value>,
    codes_by_value: FxHashMap<ValueKey, u32>,
    /// Code of each integer from 0 on, [`ABSENT`] if it has none yet. These integers are not in `codes_by_value`,
    /// because most columns of integers are numbered or counted from 0 and need no hash table then.
    codes_by_integer: Vec<u32>,
    /// Number of integers that may be in `codes_by_integer`.
    small_integers: usize,
}

/// Minimum number of integers from 0 on whose codes a [`ColumnBuilder`] finds without a hash table.
const MIN_SMALL_INTEGERS: usize = 64;

/// Number of integers for each row whose codes a [`ColumnBuilder`] finds without a hash table. The table of these codes
/// then takes no more memory than the hash table would.
pub const SMALL_INTEGERS_PER_ROW: usize = 4;

impl ColumnBuilder {
    /// Creates a builder and reserves memory for `rows` rows.
    pub fn with_capacity(rows: usize) -> Self {
        let absent_and_deviant = [Value::Undefined, Value::Undefined];
        let mut values = DictionaryColumn::new(absent_and_deviant);
        values.codes.reserve(rows);
        ColumnBuilder {
            values,
            codes_by_value: FxHashMap::default(),
            codes_by_integer: Vec::new(),
            small_integers: MIN_SMALL_INTEGERS.max(SMALL_INTEGERS_PER_ROW * rows),
        }
    }

    /// Appends a row with this cell, and returns the code of the row.
    pub fn push(&mut self, cell: ColumnCell) -> u32 {
        let code = self.code(cell);
        self.values.codes.push(code);
        code
    }

    /// Returns the code of a cell.
    pub fn code(&mut self, cell: ColumnCell) -> u32 {
        match cell {
            ColumnCell::Absent => ABSENT,
            ColumnCell::Deviant => DEVIANT,
            ColumnCell::Constant(value) => self.code_of(value),
        }
    }

    /// Returns the code of a value, which may be new.
    fn code_of(&mut self, value: Value) -> u32 {
        if let Value::Integer(integer) = value
            && let Ok(integer) = usize::try_from(integer)
            && integer < self.small_integers
        {
            if integer >= self.codes_by_integer.len() {
                let length = (integer + 1).next_power_of_two().min(self.small_integers);
                self.codes_by_integer.resize(length, ABSENT);
            }
            let code = &mut self.codes_by_integer[integer];
            if *code == ABSENT {
                *code = self.values.add_entry(value);
            }
            return *code;
        }
        *self.codes_by_value.entry(ValueKey::of(&value)).or_insert_with(|| self.values.add_entry(value))
    }
}
