//! The values of one column, until they are written.

use std::io::Write;
use std::sync::Arc;

use classad::ad::{AbsoluteTime, Value};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::Type;

use super::column_type::{ColumnType, is_exact};
use crate::cli::render::rows::value_text;

/// A column of one type. A row without a value is null.
pub struct ParquetColumn {
    pub name: String,
    pub column_type: ColumnType,
    values: ColumnValues,
    /// 1 for each row with a value, 0 for each null.
    is_present: Vec<i16>,
    /// Number of errors that were written as null.
    pub errors: usize,
    /// Number of values of other types that were written as null.
    pub unfit: usize,
}

enum ColumnValues {
    Boolean(Vec<bool>),
    /// Integers, or timestamps in milliseconds.
    Integer(Vec<i64>),
    Real(Vec<f64>),
    String(Vec<ByteArray>),
}

impl ParquetColumn {
    /// Creates an empty column.
    pub fn new(name: String, column_type: ColumnType) -> Self {
        let values = match column_type {
            ColumnType::Boolean => ColumnValues::Boolean(Vec::new()),
            ColumnType::Integer | ColumnType::Timestamp => ColumnValues::Integer(Vec::new()),
            ColumnType::Real => ColumnValues::Real(Vec::new()),
            ColumnType::String => ColumnValues::String(Vec::new()),
        };
        ParquetColumn { name, column_type, values, is_present: Vec::new(), errors: 0, unfit: 0 }
    }

    /// Returns the column's type in the schema of the file.
    pub fn schema(&self) -> Result<Arc<Type>> {
        let (physical, logical) = match self.column_type {
            ColumnType::Boolean => (PhysicalType::BOOLEAN, None),
            ColumnType::Integer => (PhysicalType::INT64, None),
            ColumnType::Real => (PhysicalType::DOUBLE, None),
            ColumnType::Timestamp => (PhysicalType::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
            ColumnType::String => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(&self.name, physical).with_repetition(Repetition::OPTIONAL);
        Ok(Arc::new(field.with_logical_type(logical).build()?))
    }

    /// Adds the value of the next row. Returns the number of bytes that it takes.
    pub fn push(&mut self, value: &Value) -> usize {
        let bytes = self.push_present(value);
        self.is_present.push(i16::from(bytes.is_some()));
        match value {
            Value::Error(_) => self.errors += 1,
            Value::Undefined => {}
            _ => self.unfit += usize::from(bytes.is_none()),
        }
        size_of::<i16>() + bytes.unwrap_or(0)
    }

    /// Adds a value. Returns the number of bytes that it takes. `None` if the column cannot have it.
    fn push_present(&mut self, value: &Value) -> Option<usize> {
        if value.is_exceptional() {
            return None;
        }
        match (&mut self.values, value) {
            (ColumnValues::Boolean(values), Value::Boolean(value)) => {
                values.push(*value);
                Some(size_of::<bool>())
            }
            (ColumnValues::Integer(values), value) => {
                values.push(integer(self.column_type, value)?);
                Some(size_of::<i64>())
            }
            (ColumnValues::Real(values), value) => {
                values.push(real(value)?);
                Some(size_of::<f64>())
            }
            (ColumnValues::String(values), value) => {
                let text = String::from_utf8_lossy(&value_text(value, true)).into_owned();
                let bytes = text.len();
                values.push(ByteArray::from(text.into_bytes()));
                Some(size_of::<ByteArray>() + bytes)
            }
            (ColumnValues::Boolean(_), _) => None,
        }
    }

    /// Writes the rows as the next column of a row group, and forgets them.
    pub fn write_to<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        let Some(mut column) = group.next_column()? else { return Ok(()) };
        let present = Some(&self.is_present[..]);
        match &self.values {
            ColumnValues::Boolean(values) => column.typed::<BoolType>().write_batch(values, present, None)?,
            ColumnValues::Integer(values) => column.typed::<Int64Type>().write_batch(values, present, None)?,
            ColumnValues::Real(values) => column.typed::<DoubleType>().write_batch(values, present, None)?,
            ColumnValues::String(values) => column.typed::<ByteArrayType>().write_batch(values, present, None)?,
        };
        column.close()?;
        self.is_present.clear();
        match &mut self.values {
            ColumnValues::Boolean(values) => values.clear(),
            ColumnValues::Integer(values) => values.clear(),
            ColumnValues::Real(values) => values.clear(),
            ColumnValues::String(values) => values.clear(),
        }
        Ok(())
    }
}

/// Returns the integer that a value is in a column of integers or timestamps. An integer in a column of timestamps is in
/// seconds since 1970.
fn integer(column_type: ColumnType, value: &Value) -> Option<i64> {
    const MILLISECONDS: i64 = 1000;
    match (column_type, value) {
        (ColumnType::Integer, Value::Integer(integer)) => Some(*integer),
        (ColumnType::Timestamp, Value::AbsoluteTime(AbsoluteTime { seconds, .. }) | Value::Integer(seconds)) => {
            seconds.checked_mul(MILLISECONDS)
        }
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss)] // the integer is exact
fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Real(real) => Some(*real),
        Value::Integer(integer) if is_exact(*integer) => Some(*integer as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::Span;

    use super::{AbsoluteTime, ColumnType, ColumnValues, ParquetColumn, Value};

    /// Pushes values into a column. Returns the bytes of each, which values are present, and the numbers of errors and
    /// of values of other types.
    fn pushed(column_type: ColumnType, values: &[Value]) -> (Vec<usize>, Vec<i16>, [usize; 2], usize) {
        let mut column = ParquetColumn::new("a".to_owned(), column_type);
        let bytes = values.iter().map(|value| column.push(value)).collect();
        let held = match &column.values {
            ColumnValues::Boolean(values) => values.len(),
            ColumnValues::Integer(values) => values.len(),
            ColumnValues::Real(values) => values.len(),
            ColumnValues::String(values) => values.len(),
        };
        (bytes, column.is_present, [column.errors, column.unfit], held)
    }

    #[test]
    fn values_of_other_types_are_absent() {
        let values = [
            Value::Undefined,
            Value::error(Span::default(), "wrong"),
            Value::Boolean(true),
            Value::Integer(1 << 53),
            Value::Integer((1 << 53) + 1),
            Value::Real(0.5),
            Value::string("ab"),
            Value::AbsoluteTime(AbsoluteTime { seconds: 5, offset: 0 }),
            Value::Integer(i64::MAX),
        ];
        for (column_type, present, errors, unfit) in [
            (ColumnType::Boolean, [0, 0, 1, 0, 0, 0, 0, 0, 0], 1, 6),
            (ColumnType::Integer, [0, 0, 0, 1, 1, 0, 0, 0, 1], 1, 4),
            (ColumnType::Real, [0, 0, 0, 1, 0, 1, 0, 0, 0], 1, 5),
            // A time has milliseconds, and integers are seconds.
            (ColumnType::Timestamp, [0, 0, 0, 1, 1, 0, 0, 1, 0], 1, 4),
            (ColumnType::String, [0, 0, 1, 1, 1, 1, 1, 1, 1], 1, 0),
        ] {
            let (bytes, is_present, counts, held) = pushed(column_type, &values);
            assert_eq!((is_present.as_slice(), counts), (&present[..], [errors, unfit]), "{column_type:?}");
            assert_eq!(held, present.iter().filter(|is_present| **is_present == 1).count(), "{column_type:?}");
            let each = match column_type {
                ColumnType::Boolean => 1,
                ColumnType::Integer | ColumnType::Timestamp | ColumnType::Real => 8,
                ColumnType::String => continue,
            };
            let expected: Vec<usize> =
                present.iter().map(|is_present| 2 + usize::from(*is_present == 1) * each).collect();
            assert_eq!(bytes, expected, "{column_type:?}");
        }
        let bytes = |text: &str| pushed(ColumnType::String, &[Value::string(text)]).0[0];
        assert_eq!([bytes("a"), bytes("abcd")].map(|length| length - bytes("")), [1, 4]);
    }

    #[test]
    fn times_are_in_milliseconds() {
        let mut column = ParquetColumn::new("a".to_owned(), ColumnType::Timestamp);
        column.push(&Value::Integer(-3));
        column.push(&Value::AbsoluteTime(AbsoluteTime { seconds: 7, offset: 3600 }));
        assert!(matches!(&column.values, ColumnValues::Integer(values) if values == &[-3000, 7000]));
    }
}
