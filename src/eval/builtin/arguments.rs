//! Helpers shared by the bodies of functions: checks of argument types, exceptional arguments (undefined and error),
//! strings of bounded length.

use crate::ad::{ByteString, ListValue, Type, Value};

use super::Call;
use super::call::{CallResult, list_of_values};

impl Call<'_, '_> {
    /// Decides the call by its first argument of this type, if there is one. All arguments must be evaluated before.
    fn reject(&self, rejected: Type) -> CallResult<()> {
        let mut values = self.values.iter().flatten().flatten();
        values.find(|value| value.value_type() == rejected).map_or(Ok(()), |value| Err(value.clone().into()))
    }

    /// Evaluates all arguments, and decides the call as undefined if any is undefined.
    pub(super) fn reject_undefined(&mut self) -> CallResult<()> {
        self.evaluate_all()?;
        self.reject(Type::Undefined)
    }

    /// Evaluates all arguments, and decides the call if any is exceptional; error takes precedence over undefined.
    pub(in crate::eval) fn reject_exceptional(&mut self) -> CallResult<()> {
        self.evaluate_all()?;
        self.reject(Type::Error)?;
        self.reject(Type::Undefined)
    }

    /// Returns the string in an argument; any other type decides the call.
    pub(super) fn string(&mut self, index: usize) -> CallResult<ByteString> {
        let value = self.value(index)?;
        self.require_string(value)
    }

    /// Returns the string in an optional argument, or `default` if it is left out.
    pub(super) fn optional_string(&mut self, index: usize, default: &str) -> CallResult<ByteString> {
        if index < self.arguments.len() { self.string(index) } else { Ok(default.into()) }
    }

    /// Returns the text of any argument; an exceptional one decides the call.
    pub(super) fn text(&mut self, index: usize) -> CallResult<ByteString> {
        let value = self.value(index)?;
        self.require_text(value)
    }

    /// Returns the texts of the two arguments; undefined takes precedence over error.
    pub(super) fn two_texts(&mut self) -> CallResult<[ByteString; 2]> {
        self.reject_undefined()?;
        Ok([self.text(0)?, self.text(1)?])
    }

    /// Returns what `convert` makes of the first argument.
    pub(super) fn convert(&mut self, convert: impl FnOnce(&Self, &Value) -> Value) -> CallResult {
        let value = self.value(0)?;
        Ok(convert(self, &value))
    }

    /// Returns the string in a value; any other type decides the call.
    pub(super) fn require_string(&self, value: Value) -> CallResult<ByteString> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(self.type_error(&other, "a string").into()),
        }
    }

    /// Returns the text of any value; an exceptional value decides the call.
    pub(super) fn require_text(&self, value: Value) -> CallResult<ByteString> {
        if value.is_exceptional() { Err(value.into()) } else { Ok(self.text_of_value(&value)) }
    }

    /// Returns the list in a value. An undefined value decides the call as undefined, any other type as an error;
    /// `wanted` names what is expected.
    pub(super) fn require_list(&self, value: Value, wanted: &str) -> CallResult<ListValue> {
        match value {
            Value::List(list) => Ok(list),
            Value::Undefined => Err(value.into()),
            other => Err(self.type_error(&other, wanted).into()),
        }
    }
}

/// Whether C's `isspace` holds.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns the beginning of a text for a message.
pub(super) fn excerpt(text: &[u8]) -> String {
    const MAX_EXCERPT_BYTES: usize = 80;
    match text.get(..MAX_EXCERPT_BYTES) {
        Some(start) if text.len() > MAX_EXCERPT_BYTES => format!("{}...", String::from_utf8_lossy(start)),
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}

/// Builder of a string of bounded length. A few nested calls could otherwise exhaust the memory. A longer string
/// becomes an error.
#[derive(Default)]
pub(super) struct BoundedString {
    pub bytes: Vec<u8>,
    pub is_too_long: bool,
}

impl BoundedString {
    const MAX_BYTES: usize = 256 << 20;

    pub(super) fn push(&mut self, more: &[u8]) {
        if self.is_too_long || more.len() > Self::MAX_BYTES - self.bytes.len() {
            self.is_too_long = true;
        } else {
            self.bytes.extend_from_slice(more);
        }
    }

    pub(super) fn finish(self, call: &Call<'_, '_>) -> Value {
        if self.is_too_long {
            return call.error(format!("the string would be longer than {} bytes", Self::MAX_BYTES));
        }
        Value::string(self.bytes)
    }
}

/// Returns a list of strings; an error if it has too many elements, since nested calls could otherwise exhaust the
/// memory.
pub(super) fn list_of_strings(call: &Call<'_, '_>, strings: Vec<Vec<u8>>) -> Value {
    const MAX_ELEMENTS: usize = 4 << 20;
    if strings.len() > MAX_ELEMENTS {
        return call.error(format!("the list would have more than {MAX_ELEMENTS} elements"));
    }
    list_of_values(strings.into_iter().map(Value::string))
}

/// Converts a count to an integer of the language.
pub(super) fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Helpers of the tests of all functions.
#[cfg(test)]
pub(super) mod testing {
    use crate::ad::{Ad, Dialect};
    use crate::eval::{Context, Environment, Evaluator};
    use crate::syntax::{ParseOptions, parse_expression};

    /// Returns the printed value of an expression.
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

    /// Checks pairs of an expression and its printed value, in one dialect.
    pub fn check_in(dialect: Dialect, cases: &[(&str, &str)]) {
        for (expression, value) in cases {
            assert_eq!(value_of(expression, dialect), *value, "{expression} in {dialect}");
        }
    }

    /// Checks pairs of an expression and its printed value, in HTCondor's dialect.
    pub fn check(cases: &[(&str, &str)]) {
        check_in(Dialect::Condor, cases);
    }
}
