//! What the bodies of functions have in common: arguments that have to be strings, exceptional arguments
//! that decide a call, texts that must not grow without end.

use crate::ad::{Text, Type, Value};

use super::super::Halt;
use super::Call;

/// What a step of a call gives; instead of it the value, exceptional or not, that decides the call.
pub(super) type Outcome<T> = Result<T, Value>;

/// The value of a call, whichever way it was decided.
#[allow(clippy::unnecessary_wraps, reason = "the bodies of functions end with it")]
pub(super) fn settled(outcome: Outcome<Value>) -> Result<Value, Halt> {
    Ok(outcome.unwrap_or_else(|decided| decided))
}

/// The string that an argument has to be.
pub(super) fn string_of(call: &Call<'_, '_>, value: &Value) -> Outcome<Text> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(call.unsuitable(other, "a string")),
    }
}

/// The string that an argument has to be, unless it is left out.
pub(super) fn string_or(call: &Call<'_, '_>, value: Option<&Value>, default: &str) -> Outcome<Text> {
    value.map_or_else(|| Ok(default.into()), |value| string_of(call, value))
}

/// The text of any value; an exceptional one decides the call.
pub(super) fn text_of(call: &Call<'_, '_>, value: &Value) -> Outcome<Text> {
    if value.is_exceptional() { Err(value.clone()) } else { Ok(call.text_of(value)) }
}

/// Whether undefined decides the call, before anything else is looked at.
pub(super) fn undefined_decides(values: &[Value]) -> Outcome<()> {
    if values.iter().any(|value| value.kind() == Type::Undefined) { Err(Value::Undefined) } else { Ok(()) }
}

/// Whether an exceptional argument decides the call: an error does before undefined.
pub(super) fn exceptions_decide(values: &[Value]) -> Outcome<()> {
    match values.iter().find(|value| value.kind() == Type::Error) {
        Some(error) => Err(error.clone()),
        None => undefined_decides(values),
    }
}

/// What C calls space.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The beginning of a text, for a message.
pub(super) fn excerpt(text: &[u8]) -> String {
    const LONGEST: usize = 80;
    match text.get(..LONGEST) {
        Some(start) if text.len() > LONGEST => format!("{}...", String::from_utf8_lossy(start)),
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}

/// A string in the making.  A few nested calls could ask for more memory than there is, so it has a
/// greatest length; text beyond makes an error of it.
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

    /// The last byte, for rules about what may follow it.
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

/// A list of strings; for the reason that strings have a greatest length, lists that are made of them have one.
pub(super) fn list_of_strings(call: &Call<'_, '_>, strings: Vec<Vec<u8>>) -> Value {
    const MOST: usize = 4 << 20;
    if strings.len() > MOST {
        return call.error(format!("the list would have more than {MOST} elements"));
    }
    Call::list(strings.into_iter().map(Value::string).collect())
}

/// The texts of two values; undefined decides before an error does.
pub(super) fn two_texts(call: &Call<'_, '_>, values: &[Value]) -> Outcome<(Text, Text)> {
    undefined_decides(values)?;
    let [left, right] = values else {
        return Err(Value::Undefined);
    };
    Ok((text_of(call, left)?, text_of(call, right)?))
}

/// What the tests of the groups of functions share.
#[cfg(test)]
pub(super) mod testing {
    use crate::ad::{Ad, Dialect};
    use crate::eval::{Context, Environment, Evaluator};
    use crate::syntax::{Rules, Style, parse_expression, print_value};

    /// The text of an expression's value.
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

    /// Checks expressions and their values, in one dialect.
    pub fn check_in(dialect: Dialect, cases: &[(&str, &str)]) {
        for (expression, value) in cases {
            assert_eq!(value_of(expression, dialect), *value, "{expression} in {dialect}");
        }
    }

    /// Checks expressions and their values, in HTCondor's dialect.
    pub fn check(cases: &[(&str, &str)]) {
        check_in(Dialect::Condor, cases);
    }
}
