//! The values in which candidates must differ: the distinct values of rows, as far as the columns know them.

use crate::ad::{BinaryOperator, ByteString, Value};
use crate::matching::gang::participants::{AttributeTranslation, HashableValue, ParticipantTable, ValueTest};
use crate::pool::ValueKey;

use super::{PortIndex, RowBitmap, first_row_from, rows_passing};

/// What a constraint demands of two values that must differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinction {
    /// The values are unequal, as after `!=`, `<` or `>`.
    Unequal,
    /// The values are not identical, as after `isnt`.
    NotIdentical,
    /// The values are not equal, as after `!member(x, { y })`, where `y` may be undefined.
    NotListed,
}

/// A value, as far as it matters for a distinction.
#[derive(Clone, Debug, PartialEq)]
pub enum DistinctValue {
    /// Two values with one key do not differ.
    Key(ValueKey),
    /// The value differs from no value: it is undefined, for example, and `undefined != 1` is not met.
    Incomparable,
    /// The value may differ from every value, or is not known.
    Unknown,
}

/// Absolute value below which no two integers are the same real. Larger integers have no key, because `==` calls
/// several of them equal to one real.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

impl Distinction {
    /// Returns a value as it matters for the distinction.
    #[allow(clippy::cast_precision_loss)] // only integers that are exact as reals get a key
    fn of(self, value: &Value) -> DistinctValue {
        let number = |number: f64| {
            let is_exact = number.abs() < EXACT_INTEGERS;
            // Adding 0.0 turns -0.0 into 0.0.
            if is_exact { DistinctValue::Key(ValueKey::Real((number + 0.0).to_bits())) } else { DistinctValue::Unknown }
        };
        match (value, self) {
            (Value::Real(real), _) => number(*real),
            (Value::Integer(integer), Distinction::Unequal | Distinction::NotListed) => number(*integer as f64),
            (Value::String(text), Distinction::Unequal | Distinction::NotListed) => {
                DistinctValue::Key(ValueKey::String(ByteString::from(text.as_bytes().to_ascii_lowercase())))
            }
            (Value::Undefined | Value::Error(_), Distinction::Unequal) => DistinctValue::Incomparable,
            (Value::Undefined | Value::Error(_), Distinction::NotListed) | (Value::List(_) | Value::Ad(_), _) => {
                DistinctValue::Unknown
            }
            (value, _) => DistinctValue::Key(ValueKey::of(value)),
        }
    }

    /// Returns the operator that is met by two values that do not differ.
    fn converse(self) -> BinaryOperator {
        match self {
            Distinction::Unequal | Distinction::NotListed => BinaryOperator::Equal,
            Distinction::NotIdentical => BinaryOperator::Is,
        }
    }
}

impl PortIndex {
    /// Returns the result of `translation` for a row, as it matters for `distinction`.
    pub fn distinct_value(
        &mut self,
        row: usize,
        translation: &AttributeTranslation,
        distinction: Distinction,
        table: &mut ParticipantTable,
    ) -> DistinctValue {
        let column = self.columns.at(translation, &self.places, table);
        if self.changed.contains(row) {
            return DistinctValue::Unknown;
        }
        let cell = self.columns.columns[column].cell(row);
        cell.value().map_or(DistinctValue::Unknown, |value| distinction.of(&value))
    }

    /// Returns the keys of the distinct results of `translation` for `rows`. Leaves out incomparable values. `None` if
    /// there are at least `most` distinct results, or if some result is not known.
    pub fn distinct_values(
        &mut self,
        rows: &RowBitmap,
        translation: &AttributeTranslation,
        distinction: Distinction,
        most: usize,
        table: &mut ParticipantTable,
    ) -> Option<Vec<ValueKey>> {
        let column = self.columns.at(translation, &self.places, table);
        let column = &self.columns.columns[column];
        if !rows.is_disjoint(column.deviant_rows()) || !rows.is_disjoint(&self.changed) {
            return None;
        }
        let dialect = table.context.dialect;
        let (mut left, mut found, mut from) = (rows.clone(), Vec::new(), 0);
        while let Some(row) = first_row_from(&left, from) {
            from = row + 1;
            let value = column.cell(row).value()?;
            let operator = match distinction.of(&value) {
                DistinctValue::Unknown => return None,
                DistinctValue::Incomparable => BinaryOperator::Is,
                DistinctValue::Key(key) => {
                    found.push(key);
                    distinction.converse()
                }
            };
            if found.len() >= most {
                return None;
            }
            // Remove all rows with this value at once.
            left.difference_with(&rows_passing(column, &ValueTest::Compares(operator, HashableValue(value)), dialect));
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::{DistinctValue, Distinction};
    use crate::ad::{Ad, BinaryOperator, Dialect, Participant, ScopeFrame, Span, Truth, Value};
    use crate::eval::{Context, Environment, Evaluator, binary};
    use crate::syntax::{ParseOptions, parse_expression};

    #[test]
    fn values_with_one_key_never_differ() {
        let texts = [
            "undefined",
            "error",
            "true",
            "false",
            "0",
            "1",
            "1.0",
            "-0.0",
            "0.0",
            "2.5",
            "\"a\"",
            "\"A\"",
            "\"b\"",
            "9007199254740993",
            "9007199254740992.0",
            "9007199254740992",
            "real(\"NaN\")",
            "real(\"INF\")",
            "{ 1 }",
            "[ x = 1 ]",
            "absTime(\"2020-01-01T00:00:00Z\")",
            "absTime(\"2020-01-01T01:00:00+01:00\")",
            "relTime(\"1\")",
            "relTime(\"2\")",
        ];
        let mut pairs = 0;
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let value = |text: &&str| {
                let expression = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
                let frame = ScopeFrame::root(Ad::default(), Participant::at(0));
                let (environment, context) = (Environment::for_match(), Context::new(dialect));
                Evaluator::new(&environment, &context).evaluate(&expression, &frame).unwrap()
            };
            let values: Vec<Value> = texts.iter().map(value).collect();
            for (distinction, operators) in [
                (Distinction::Unequal, &[BinaryOperator::NotEqual, BinaryOperator::Less, BinaryOperator::Greater][..]),
                (Distinction::NotIdentical, &[BinaryOperator::Isnt][..]),
                (Distinction::NotListed, &[BinaryOperator::NotEqual][..]),
            ] {
                for (left, right) in values.iter().flat_map(|left| values.iter().map(move |right| (left, right))) {
                    let (one, other) = (distinction.of(left), distinction.of(right));
                    let is_same = matches!(&one, DistinctValue::Key(_)) && one == other;
                    if !is_same && one != DistinctValue::Incomparable {
                        continue;
                    }
                    pairs += 1;
                    for operator in operators {
                        let differ = binary(*operator, left, right, dialect, Span::default());
                        assert!(!Truth::of(&differ, dialect).is_true(), "{left:?} {operator:?} {right:?}");
                    }
                    assert!(
                        !is_same || {
                            let same = binary(distinction.converse(), left, right, dialect, Span::default());
                            Truth::of(&same, dialect).is_true()
                        }
                    );
                }
            }
        }
        assert!(pairs > 60, "{pairs}");
    }
}
