//! Helpers shared by the bodies of functions: checks of argument types, exceptional arguments (undefined and error),
//! strings of bounded length.

use crate::ad::{ByteString, Type, Value};

use super::super::Abort;
use super::Call;

/// Result of one step of a call. `Err` decides the call: it holds the value, exceptional or not, that the whole call
/// has.
pub(super) type ArgumentResult<T> = Result<T, Value>;

/// Returns the value of a call, whether it was computed or decided early.
#[allow(clippy::unnecessary_wraps, reason = "the bodies of functions end with it")]
pub(super) fn value_of_call(outcome: ArgumentResult<Value>) -> Result<Value, Abort> {
    Ok(outcome.unwrap_or_else(|decided| decided))
}

/// Returns the string in an argument; any other type decides the call.
pub(super) fn require_string(call: &Call<'_, '_>, value: &Value) -> ArgumentResult<ByteString> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(call.type_error(other, "a string")),
    }
}

/// Returns the string in an optional argument, or `default` if it is left out.
pub(super) fn optional_string(call: &Call<'_, '_>, value: Option<&Value>, default: &str) -> ArgumentResult<ByteString> {
    value.map_or_else(|| Ok(default.into()), |value| require_string(call, value))
}

/// Returns the text of any value; an exceptional value decides the call.
pub(super) fn require_text(call: &Call<'_, '_>, value: &Value) -> ArgumentResult<ByteString> {
    if value.is_exceptional() { Err(value.clone()) } else { Ok(call.text_of_value(value)) }
}

/// Decides the call as undefined if any argument is undefined.
pub(super) fn reject_undefined(values: &[Value]) -> ArgumentResult<()> {
    if values.iter().any(|value| value.value_type() == Type::Undefined) { Err(Value::Undefined) } else { Ok(()) }
}

/// Decides the call if any argument is exceptional; error takes precedence over undefined.
pub(super) fn reject_exceptional(values: &[Value]) -> ArgumentResult<()> {
    match values.iter().find(|value| value.value_type() == Type::Error) {
        Some(error) => Err(error.clone()),
        None => reject_undefined(values),
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
    bytes: Vec<u8>,
    too_long: bool,
}

impl BoundedString {
    const MAX_BYTES: usize = 256 << 20;

    pub(super) fn push(&mut self, more: &[u8]) {
        if self.too_long || more.len() > Self::MAX_BYTES - self.bytes.len() {
            self.too_long = true;
        } else {
            self.bytes.extend_from_slice(more);
        }
    }

    pub(super) fn is_too_long(&self) -> bool {
        self.too_long
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the last byte; `None` for an empty string.
    pub(super) fn last(&self) -> Option<u8> {
        self.bytes.last().copied()
    }

    pub(super) fn pop(&mut self) {
        self.bytes.pop();
    }

    pub(super) fn finish(self, call: &Call<'_, '_>) -> Value {
        if self.too_long {
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
    Call::list(strings.into_iter().map(Value::string).collect())
}

/// Returns the texts of two values; undefined takes precedence over error.
pub(super) fn require_two_texts(call: &Call<'_, '_>, values: &[Value]) -> ArgumentResult<(ByteString, ByteString)> {
    reject_undefined(values)?;
    let [left, right] = values else {
        return Err(Value::Undefined);
    };
    Ok((require_text(call, left)?, require_text(call, right)?))
}

/// Evaluates all arguments and returns the value of the call by them.
pub(super) fn with_values(
    call: &mut Call<'_, '_>,
    body: impl FnOnce(&Call<'_, '_>, &[Value]) -> ArgumentResult<Value>,
) -> Result<Value, Abort> {
    let values = call.all_values()?;
    value_of_call(body(call, &values))
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
            Err(halt) => halt.to_string(),
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
