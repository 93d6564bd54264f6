//! Helpers shared by the bodies of functions: checks of argument types, exceptional arguments (undefined and error),
//! strings of bounded length.

use crate::ad::{Text, Type, Value};

use super::super::Halt;
use super::Call;

/// Result of one step of a call. `Err` holds the value, exceptional or not, that is the result of the whole call.
pub(super) type Outcome<T> = Result<T, Value>;

/// Returns the value of a call, whether it was computed or decided early.
#[allow(clippy::unnecessary_wraps, reason = "the bodies of functions end with it")]
pub(super) fn settled(outcome: Outcome<Value>) -> Result<Value, Halt> {
    Ok(outcome.unwrap_or_else(|decided| decided))
}

/// Returns the string in an argument; any other type decides the call.
pub(super) fn string_of(call: &Call<'_, '_>, value: &Value) -> Outcome<Text> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(call.unsuitable(other, "a string")),
    }
}

/// Returns the string in an optional argument, or `default` if it is left out.
pub(super) fn string_or(call: &Call<'_, '_>, value: Option<&Value>, default: &str) -> Outcome<Text> {
    value.map_or_else(|| Ok(default.into()), |value| string_of(call, value))
}

/// Returns the text of any value; an exceptional value decides the call.
pub(super) fn text_of(call: &Call<'_, '_>, value: &Value) -> Outcome<Text> {
    if value.is_exceptional() { Err(value.clone()) } else { Ok(call.text_of(value)) }
}

/// Decides the call as undefined if any argument is undefined.
pub(super) fn undefined_decides(values: &[Value]) -> Outcome<()> {
    if values.iter().any(|value| value.kind() == Type::Undefined) { Err(Value::Undefined) } else { Ok(()) }
}

/// Decides the call if any argument is exceptional; error takes precedence over undefined.
pub(super) fn exceptions_decide(values: &[Value]) -> Outcome<()> {
    match values.iter().find(|value| value.kind() == Type::Error) {
        Some(error) => Err(error.clone()),
        None => undefined_decides(values),
    }
}

/// Whether C's `isspace` holds.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns the beginning of a text for a message.
pub(super) fn excerpt(text: &[u8]) -> String {
    const LONGEST: usize = 80;
    match text.get(..LONGEST) {
        Some(start) if text.len() > LONGEST => format!("{}...", String::from_utf8_lossy(start)),
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}

/// Builder of a string of bounded length. A few nested calls could otherwise exhaust the memory. A longer string
/// becomes an error.
#[derive(Default)]
pub(super) struct Draft {
    bytes: Vec<u8>,
    too_long: bool,
}

impl Draft {
    const LONGEST: usize = 256 << 20;

    pub(super) fn push(&mut self, more: &[u8]) {
        if self.too_long || more.len() > Self::LONGEST - self.bytes.len() {
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

    /// Returns the last byte.
    pub(super) fn last(&self) -> Option<u8> {
        self.bytes.last().copied()
    }

    pub(super) fn pop(&mut self) {
        self.bytes.pop();
    }

    pub(super) fn finish(self, call: &Call<'_, '_>) -> Value {
        if self.too_long {
            return call.error(format!("the string would be longer than {} bytes", Self::LONGEST));
        }
        Value::string(self.bytes)
    }
}

/// Returns a list of strings; an error if it has too many elements, since nested calls could otherwise exhaust the
/// memory.
pub(super) fn list_of_strings(call: &Call<'_, '_>, strings: Vec<Vec<u8>>) -> Value {
    const MOST: usize = 4 << 20;
    if strings.len() > MOST {
        return call.error(format!("the list would have more than {MOST} elements"));
    }
    Call::list(strings.into_iter().map(Value::string).collect())
}

/// Returns the texts of two values; undefined takes precedence over error.
pub(super) fn two_texts(call: &Call<'_, '_>, values: &[Value]) -> Outcome<(Text, Text)> {
    undefined_decides(values)?;
    let [left, right] = values else {
        return Err(Value::Undefined);
    };
    Ok((text_of(call, left)?, text_of(call, right)?))
}

/// Helpers of the tests of all functions.
#[cfg(test)]
pub(super) mod testing {
    use crate::ad::{Ad, Dialect};
    use crate::eval::{Context, Environment, Evaluator};
    use crate::syntax::{Rules, Style, parse_expression, print_value};

    /// Returns the printed value of an expression.
    pub fn value_of(text: &str, dialect: Dialect) -> String {
        let expression = match parse_expression(text.as_bytes(), Rules::new(dialect)) {
            Ok(expression) => expression,
            Err(error) => panic!("{text} does not parse: {error:?}"),
        };
        let (environment, frame) = Environment::alone(Ad::default());
        match Evaluator::new(&environment, &Context::new(dialect)).evaluate(&expression, &frame) {
            Ok(value) => String::from_utf8_lossy(&print_value(&value, Style::New)).into_owned(),
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
