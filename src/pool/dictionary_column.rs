//! Dictionary coding: a small number for each row, which stands for an entry of a dictionary.

use crate::ad::Value;

use super::code::code;

/// The code of a row without the attribute.
pub const ABSENT: u32 = 0;
/// The code of a row in which the value depends on the other side.
pub const DEVIANT: u32 = 1;

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
