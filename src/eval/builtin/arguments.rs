//! Helpers shared by the bodies of functions: checks of argument types and of undefined or error arguments, strings of
//! bounded length.

use std::borrow::Cow;

use crate::ad::{ByteString, ListValue, Type, Value};

use super::super::spending::BYTES_PER_ELEMENT;
use super::Call;
use super::call::{CallResult, list_of_values};

impl Call<'_, '_> {
    /// Ends the call with the first argument value of the type `rejected`, if there is one. All arguments must have
    /// been evaluated before.
    fn reject(&self, rejected: Type) -> CallResult<()> {
        let mut values = self.values.iter().flatten().flatten();
        values.find(|value| value.value_type() == rejected).map_or(Ok(()), |value| Err(value.clone().into()))
    }

    /// Evaluates all arguments. If one is undefined, the call ends as undefined.
    pub(super) fn reject_undefined(&mut self) -> CallResult<()> {
        self.evaluate_all()?;
        self.reject(Type::Undefined)
    }

    /// Evaluates all arguments. If one is an error, the call ends with the error; else if one is undefined, it ends as
    /// undefined.
    pub(in crate::eval) fn reject_exceptional(&mut self) -> CallResult<()> {
        self.evaluate_all()?;
        self.reject(Type::Error)?;
        self.reject(Type::Undefined)
    }

    /// Returns the string value of an argument. The call ends with an error if the value has another type.
    pub(super) fn string(&mut self, index: usize) -> CallResult<ByteString> {
        let value = self.value(index)?;
        self.require_string(value)
    }

    /// Returns the string value of an optional argument; `default` if the call lacks the argument.
    pub(super) fn optional_string(&mut self, index: usize, default: &str) -> CallResult<ByteString> {
        if index < self.arguments.len() { self.string(index) } else { Ok(default.into()) }
    }

    /// Returns the value of an argument as text, as `string()` converts it. If the value is undefined or an error, the
    /// call ends with the value.
    pub(super) fn text(&mut self, index: usize) -> CallResult<ByteString> {
        let value = self.value(index)?;
        self.require_text(value)
    }

    /// Returns the values of both arguments as text. If one is undefined, the call ends as undefined, even if the other
    /// one is an error.
    pub(super) fn two_texts(&mut self) -> CallResult<[ByteString; 2]> {
        self.reject_undefined()?;
        Ok([self.text(0)?, self.text(1)?])
    }

    /// Returns the result of `convert` for the value of the first argument, which may be undefined or an error.
    pub(super) fn convert(&mut self, convert: impl FnOnce(&Self, &Value) -> Value) -> CallResult {
        let value = self.value(0)?;
        Ok(convert(self, &value))
    }

    /// Returns the string in a value. The call ends with an error if the value has another type.
    pub(super) fn require_string(&self, value: Value) -> CallResult<ByteString> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(self.type_error(&other, "a string").into()),
        }
    }

    /// Returns a value as text, as `string()` converts it. If the value is undefined or an error, the call ends with
    /// the value.
    pub(super) fn require_text(&self, value: Value) -> CallResult<ByteString> {
        if value.is_exceptional() { Err(value.into()) } else { Ok(self.text_of_value(&value)) }
    }

    /// Returns the list in a value. If the value is undefined, the call ends as undefined. If it has another type, the
    /// call ends with an error, in which `wanted` names the expected type.
    pub(super) fn require_list(&self, value: Value, wanted: &str) -> CallResult<ListValue> {
        match value {
            Value::List(list) => Ok(list),
            Value::Undefined => Err(value.into()),
            other => Err(self.type_error(&other, wanted).into()),
        }
    }
}

/// Whether the byte is white space for C's `isspace`: a blank, tab, line feed, vertical tab, form feed or carriage
/// return.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Builder of a string that may take no more bytes than the evaluator has left.
pub(super) struct BoundedString {
    pub bytes: Vec<u8>,
    pub is_too_long: bool,
    max_bytes: usize,
}

impl BoundedString {
    pub(super) fn new(call: &Call<'_, '_>) -> Self {
        let max_bytes = usize::try_from(call.evaluator.spending.bytes_left()).unwrap_or(usize::MAX);
        BoundedString { bytes: Vec::new(), is_too_long: false, max_bytes }
    }

    pub(super) fn push(&mut self, more: &[u8]) {
        if self.is_too_long || more.len() > self.max_bytes - self.bytes.len() {
            self.is_too_long = true;
        } else {
            self.bytes.extend_from_slice(more);
        }
    }

    pub(super) fn finish(self, call: &Call<'_, '_>) -> CallResult {
        if self.is_too_long {
            Err(call.evaluator.spending.too_many_bytes().into())
        } else {
            Ok(Value::string(self.bytes))
        }
    }
}

/// Returns a list of strings. It may take no more bytes than the evaluator has left.
pub(super) fn list_of_strings<'t>(
    call: &Call<'_, '_>,
    strings: impl IntoIterator<Item = impl Into<Cow<'t, [u8]>>>,
) -> CallResult {
    let mut left = call.evaluator.spending.bytes_left();
    let mut values = Vec::new();
    for string in strings {
        let string = string.into();
        let bytes = BYTES_PER_ELEMENT + string.len() as u64;
        left = left.checked_sub(bytes).ok_or_else(|| call.evaluator.spending.too_many_bytes())?;
        values.push(Value::string(string.into_owned()));
    }
    Ok(list_of_values(values))
}

/// Converts a count to an integer of the language; `i64::MAX` if it does not fit.
pub(super) fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Helpers for the tests of all built-in functions.
#[cfg(test)]
pub(super) mod testing {
    use crate::ad::{Ad, Dialect};
    use crate::eval::{Context, Environment, Evaluator};
    use crate::syntax::{ParseOptions, parse_expression};

    /// Returns the value of an expression as printed text.
    pub fn value_of(text: &str, dialect: Dialect) -> String {
        let expression = match parse_expression(text.as_bytes(), ParseOptions::new(dialect)) {
            Ok(expression) => expression,
            Err(error) => panic!("{text} does not parse: {error:?}"),
        };
        let (environment, frame) = Environment::single(Ad::default());
        match Evaluator::new(&environment, &Context::new(dialect)).evaluate(&expression, &frame) {
            Ok(value) => value.to_string(),
            Err(abort) => abort.to_string(),
        }
    }

    /// Asserts for each pair that the first text, an expression, has the second text as its printed value.
    pub fn check_in(dialect: Dialect, cases: &[(&str, &str)]) {
        for (expression, value) in cases {
            assert_eq!(value_of(expression, dialect), *value, "{expression} in {dialect}");
        }
    }

    /// Asserts the printed values of expressions like [`check_in`], in HTCondor's dialect.
    pub fn check(cases: &[(&str, &str)]) {
        check_in(Dialect::Condor, cases);
    }
}
