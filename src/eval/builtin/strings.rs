//! Functions about strings (thesis A.8), versions, and names with an `@`.

use std::cmp::Ordering;

use crate::ad::{Text, Type, Value};

use super::super::Halt;
use super::{Call, Example, Function};

/// A row of the table for a comparison of versions.
macro_rules! version_comparison {
    ($name:literal, $doc:literal, $call:literal, $holds:expr) => {
        Function {
            name: $name,
            fewest: 2,
            most: Some(2),
            strict: true,
            signature: concat!($name, "(any, any) -> bool"),
            doc: $doc,
            example: Example::both($call, "true"),
            body: |call| {
                let holds: fn(i64) -> bool = $holds;
                let values = call.all_values()?;
                settled(version_order(call, &values).map(|order| Value::Boolean(holds(order))))
            },
        }
    };
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "strcat",
        fewest: 0,
        most: None,
        strict: true,
        signature: "strcat(any...) -> string",
        doc: "the texts of all values, one behind the other",
        example: Example::both("strcat(\"slot\", 1, \"@\", \"host\")", "\"slot1@host\""),
        body: strcat,
    },
    Function {
        name: "join",
        fewest: 0,
        most: None,
        strict: false,
        signature: "join(list) | join(separator, list) | join(separator, any...) -> string",
        doc: "the texts of all defined values, with the separator between them",
        example: Example::both("join(\"-\", { \"a\", undefined, 1 })", "\"a-1\""),
        body: join,
    },
    Function {
        name: "toUpper",
        fewest: 1,
        most: Some(1),
        strict: true,
        signature: "toUpper(any) -> string",
        doc: "the text of a value in upper case",
        example: Example::both("toUpper(\"linux\")", "\"LINUX\""),
        body: |call| change_case(call, <[u8]>::to_ascii_uppercase),
    },
    Function {
        name: "toLower",
        fewest: 1,
        most: Some(1),
        strict: true,
        signature: "toLower(any) -> string",
        doc: "the text of a value in lower case",
        example: Example::both("toLower(\"LINUX\")", "\"linux\""),
        body: |call| change_case(call, <[u8]>::to_ascii_lowercase),
    },
    Function {
        name: "substr",
        fewest: 2,
        most: Some(3),
        strict: true,
        signature: "substr(string, offset [, length]) -> string",
        doc: "a part of a string; a negative offset or length counts from the end",
        example: Example::both("substr(\"abcdef\", -4, 2)", "\"cd\""),
        body: substr,
    },
    Function {
        name: "strcmp",
        fewest: 2,
        most: Some(2),
        strict: true,
        signature: "strcmp(any, any) -> int",
        doc: "-1, 0 or 1: the order of two texts, byte by byte",
        example: Example::both("strcmp(\"a\", \"B\")", "1"),
        body: |call| compare_texts(call, Ord::cmp),
    },
    Function {
        name: "stricmp",
        fewest: 2,
        most: Some(2),
        strict: true,
        signature: "stricmp(any, any) -> int",
        doc: "-1, 0 or 1: the order of two texts, ignoring case",
        example: Example::both("stricmp(\"a\", \"B\")", "-1"),
        body: |call| compare_texts(call, Text::cmp_ignore_case),
    },
    Function {
        name: "versioncmp",
        fewest: 2,
        most: Some(2),
        strict: true,
        signature: "versioncmp(any, any) -> int",
        doc: "negative, zero or positive: the order of two versions, whose numbers count as such",
        example: Example::both("versioncmp(\"8.10\", \"8.9\")", "1"),
        body: |call| {
            let values = call.all_values()?;
            settled(version_order(call, &values).map(Value::Integer))
        },
    },
    version_comparison!(
        "versionLT",
        "whether a version comes before another",
        "versionLT(\"8.9\", \"8.10\")",
        |order| order < 0
    ),
    version_comparison!(
        "versionLE",
        "whether a version is another or comes before it",
        "versionLE(\"8.9\", \"8.9\")",
        |order| order <= 0
    ),
    version_comparison!(
        "versionGT",
        "whether a version comes after another",
        "versionGT(\"8.10\", \"8.9\")",
        |order| order > 0
    ),
    version_comparison!(
        "versionGE",
        "whether a version is another or comes after it",
        "versionGE(\"8.9\", \"8.9\")",
        |order| order >= 0
    ),
    version_comparison!("versionEQ", "whether two versions are the same", "versionEQ(\"8.9\", \"8.9\")", |order| order
        == 0),
    Function {
        name: "version_in_range",
        fewest: 3,
        most: Some(3),
        strict: false,
        signature: "version_in_range(version, least, greatest) -> bool",
        doc: "whether a version is one of the two others or between them",
        example: Example::both("version_in_range(\"8.9\", \"8.8\", \"8.10\")", "true"),
        body: |call| {
            let values = call.all_values()?;
            settled(version_in_range(call, &values))
        },
    },
    Function {
        name: "split",
        fewest: 1,
        most: Some(2),
        strict: false,
        signature: "split(string [, separators]) -> list",
        doc: "the parts between separators, by default commas, spaces and tabs",
        example: Example::both("split(\"a, b,,c\")", "{ \"a\", \"b\", \"\", \"c\" }"),
        body: |call| {
            let values = call.all_values()?;
            settled(split(call, &values))
        },
    },
    Function {
        name: "splitUserName",
        fewest: 1,
        most: Some(1),
        strict: false,
        signature: "splitUserName(string) -> list",
        doc: "what is before and behind the first @; without one, all of it is the user",
        example: Example::both("splitUserName(\"ann@cs.wisc.edu\")", "{ \"ann\", \"cs.wisc.edu\" }"),
        body: |call| split_at_sign(call, |all| [all, b""]),
    },
    Function {
        name: "splitSlotName",
        fewest: 1,
        most: Some(1),
        strict: false,
        signature: "splitSlotName(string) -> list",
        doc: "what is before and behind the first @; without one, all of it is the machine",
        example: Example::both("splitSlotName(\"slot1@crane\")", "{ \"slot1\", \"crane\" }"),
        body: |call| split_at_sign(call, |all| [b"", all]),
    },
];

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
fn text_of(call: &Call<'_, '_>, value: &Value) -> Outcome<Text> {
    if value.is_exceptional() { Err(value.clone()) } else { Ok(call.text_of(value)) }
}

/// Whether undefined decides the call, before anything else is looked at.
fn undefined_decides(values: &[Value]) -> Outcome<()> {
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

fn strcat(call: &mut Call<'_, '_>) -> Result<Value, Halt> {
    let mut draft = Draft::default();
    for index in 0..call.len() {
        // The first exceptional value decides; what stands behind it is not evaluated.
        let value = call.value(index)?;
        match text_of(call, &value) {
            Ok(text) => draft.push(text.as_bytes()),
            Err(decided) => return Ok(decided),
        }
    }
    Ok(draft.finish(call))
}

fn join(call: &mut Call<'_, '_>) -> Result<Value, Halt> {
    let values = values_to_join(call)?;
    settled(join_values(call, &values))
}

/// The separator and the items.  One or two arguments, the last of them a list, stand for its elements.
fn values_to_join(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Halt> {
    let mut values = call.all_values()?;
    if values.len() > 2 {
        return Ok(values);
    }
    if let Some(Value::List(list)) = values.last() {
        let elements = call.elements(&list.clone())?;
        values.pop();
        if values.is_empty() {
            values.push(Value::string(""));
        }
        values.extend(elements);
    }
    Ok(values)
}

fn join_values(call: &Call<'_, '_>, values: &[Value]) -> Outcome<Value> {
    let mut draft = Draft::default();
    let mut separator = Text::from("");
    let mut any_undefined = false;
    let mut any_defined = false;
    for (index, value) in values.iter().enumerate() {
        if value.kind() == Type::Undefined {
            any_undefined = true;
            continue;
        }
        let text = text_of(call, value)?;
        if index == 0 {
            separator = text;
            continue;
        }
        // There is no separator behind items that are all empty.
        if !draft.is_empty() {
            draft.push(separator.as_bytes());
        }
        draft.push(text.as_bytes());
        any_defined = true;
    }
    if any_undefined && !any_defined {
        return Err(Value::Undefined);
    }
    Ok(draft.finish(call))
}

fn change_case(call: &mut Call<'_, '_>, change: fn(&[u8]) -> Vec<u8>) -> Result<Value, Halt> {
    let value = call.value(0)?;
    settled(text_of(call, &value).map(|text| Value::string(change(text.as_bytes()))))
}

fn substr(call: &mut Call<'_, '_>) -> Result<Value, Halt> {
    let values = call.all_values()?;
    settled(substring(call, &values))
}

fn substring(call: &Call<'_, '_>, values: &[Value]) -> Outcome<Value> {
    undefined_decides(values)?;
    let [text, offset, length @ ..] = values else {
        return Err(Value::Undefined);
    };
    let text = string_of(call, text)?;
    let offset = integer_of(call, offset)?;
    let length = length.first().map(|length| integer_of(call, length)).transpose()?;
    let (start, end) = part(text.as_bytes().len(), offset, length);
    Ok(Value::string(text.as_bytes().get(start..end).unwrap_or_default()))
}

fn integer_of(call: &Call<'_, '_>, value: &Value) -> Outcome<i64> {
    match value {
        Value::Integer(integer) => Ok(*integer),
        other => Err(call.unsuitable(other, "an integer")),
    }
}

/// Where a part begins and ends, clamped to the whole.
fn part(size: usize, offset: i64, length: Option<i64>) -> (usize, usize) {
    let whole = i64::try_from(size).unwrap_or(i64::MAX);
    let start = if offset < 0 { whole.saturating_add(offset).max(0) } else { offset.min(whole) };
    let rest = whole - start;
    let length = match length {
        None => rest,
        Some(length) if length < 0 => rest.saturating_add(length).max(0),
        Some(length) => length.min(rest),
    };
    let position = |place: i64| usize::try_from(place).unwrap_or(size);
    (position(start), position(start + length))
}

fn compare_texts(call: &mut Call<'_, '_>, compare: fn(&Text, &Text) -> Ordering) -> Result<Value, Halt> {
    let values = call.all_values()?;
    settled(two_texts(call, &values).map(|(left, right)| Value::Integer(compare(&left, &right) as i64)))
}

/// The texts of two values; undefined decides before an error does.
fn two_texts(call: &Call<'_, '_>, values: &[Value]) -> Outcome<(Text, Text)> {
    undefined_decides(values)?;
    let [left, right] = values else {
        return Err(Value::Undefined);
    };
    Ok((text_of(call, left)?, text_of(call, right)?))
}

fn version_order(call: &Call<'_, '_>, values: &[Value]) -> Outcome<i64> {
    let (left, right) = two_texts(call, values)?;
    Ok(compare_versions(left.as_bytes(), right.as_bytes()))
}

fn version_in_range(call: &Call<'_, '_>, values: &[Value]) -> Outcome<Value> {
    let [version, least, greatest] = values else {
        return Err(Value::Undefined);
    };
    // An unknown limit leaves the answer open, but a version there must be.
    undefined_decides(&values[1..])?;
    if version.kind() == Type::Undefined {
        return Err(call.unsuitable(version, "a version"));
    }
    let version = text_of(call, version)?;
    let least = text_of(call, least)?;
    let greatest = text_of(call, greatest)?;
    let within = compare_versions(least.as_bytes(), version.as_bytes()) <= 0
        && compare_versions(version.as_bytes(), greatest.as_bytes()) <= 0;
    Ok(Value::Boolean(within))
}

/// The natural order of versions: `8.9` comes before `8.10`.  The size of the result means nothing, but
/// scripts may print it, so it is the one that HTCondor's library gives.
fn compare_versions(left: &[u8], right: &[u8]) -> i64 {
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    if same == left.len() && same == right.len() {
        return 0;
    }
    let at = |text: &[u8]| text.get(same).copied().unwrap_or(0);
    // Bytes are signed in the library, and there is a zero at the end.
    let difference = i64::from(at(left).cast_signed()) - i64::from(at(right).cast_signed());
    let number = same - left[..same].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if number == same && !(at(left).is_ascii_digit() && at(right).is_ascii_digit()) {
        return difference;
    }
    // Both texts have a number that begins at the same place and is not the same.
    let (left, right) = (digits(&left[number..]), digits(&right[number..]));
    let (left_zeros, right_zeros) = (leading_zeros(left), leading_zeros(right));
    if left_zeros != right_zeros {
        // The number with more zeros in front of it is a smaller fraction.
        return signed(right_zeros) - signed(left_zeros);
    }
    if left_zeros == 0 && left.len() != right.len() {
        return signed(left.len()) - signed(right.len());
    }
    difference
}

/// The digits at the beginning.
fn digits(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    &text[..count]
}

/// How many zeros stand before another digit.
fn leading_zeros(digits: &[u8]) -> usize {
    digits.iter().take_while(|digit| **digit == b'0').count().min(digits.len().saturating_sub(1))
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn split(call: &Call<'_, '_>, values: &[Value]) -> Outcome<Value> {
    let text = string_of(call, values.first().unwrap_or(&Value::Undefined))?;
    let separators = string_or(call, values.get(1), ", \t")?;
    Ok(list_of_strings(call, pieces(text.as_bytes(), separators.as_bytes())))
}

/// The pieces between separators.  Nothing between two separators is a piece only if they are the same
/// mark, with no other mark between them: `a,,b` has an empty piece, `a, b` and `a  b` have none.
fn pieces(text: &[u8], separators: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut last_mark = None;
    for (index, byte) in text.iter().enumerate().filter(|(_, byte)| separators.contains(byte)) {
        if index > start || last_mark == Some(*byte) {
            pieces.push(text[start..index].to_vec());
        }
        if !is_space(*byte) {
            last_mark = Some(*byte);
        }
        start = index + 1;
    }
    if start < text.len() {
        pieces.push(text[start..].to_vec());
    }
    pieces
}

fn split_at_sign(call: &mut Call<'_, '_>, without: fn(&[u8]) -> [&[u8]; 2]) -> Result<Value, Halt> {
    let value = call.value(0)?;
    settled(string_of(call, &value).map(|name| {
        let name = name.as_bytes();
        let parts = match name.iter().position(|byte| *byte == b'@') {
            Some(sign) => [&name[..sign], &name[sign + 1..]],
            None => without(name),
        };
        Call::list(parts.map(Value::string).to_vec())
    }))
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
        match Evaluator::new(&environment, Context::new(dialect)).evaluate(&expression, &frame) {
            Ok(value) => String::from_utf8_lossy(&print_value(&value, Style::New)).into_owned(),
            Err(halt) => halt.to_string(),
        }
    }

    /// Checks calls and their values, in HTCondor's dialect.
    pub fn check(cases: &[(&str, &str)]) {
        for (call, value) in cases {
            assert_eq!(value_of(call, Dialect::Condor), *value, "{call}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{check, value_of};
    use crate::ad::Dialect;

    #[test]
    fn parts_are_clamped() {
        check(&[
            ("substr(\"abcdef\", -10, 3)", "\"abc\""),
            ("substr(\"abcdef\", 2, -100)", "\"\""),
            ("substr(\"abcdef\", 3, 0)", "\"\""),
            ("substr(\"abcdef\", -9223372036854775808, 9223372036854775807)", "\"abcdef\""),
            ("substr(\"abcdef\", 9223372036854775807, -9223372036854775808)", "\"\""),
            ("substr(\"abcdef\", 4294967297)", "\"\""),
            ("substr(12, undefined)", "undefined"),
            ("substr(error, undefined)", "undefined"),
            ("substr(\"abc\", true)", "error"),
        ]);
    }

    #[test]
    fn join_skips_the_undefined() {
        check(&[
            ("join()", "\"\""),
            ("join(\"a\")", "\"\""),
            ("join(undefined)", "undefined"),
            ("join(undefined, \"\")", "\"\""),
            ("join(undefined, {})", "undefined"),
            ("join({}, \"x\")", "\"x\""),
            ("join(\",\", {})", "\"\""),
            ("join(\",\", { undefined })", "undefined"),
            ("join(\",\", { \"a\", error })", "error"),
            ("join(\",\", \"\", \"\", \"b\")", "\"b\""),
            ("join(\",\", \"a\", \"\", \"b\")", "\"a,,b\""),
            ("join(\",\", { 1 }, 2)", "\"{ 1 },2\""),
            ("join(1, 2, 3)", "\"213\""),
        ]);
    }

    #[test]
    fn the_first_exception_decides_in_condor_and_error_in_the_papers() {
        check(&[
            ("strcat(\"a\", undefined, error)", "undefined"),
            ("strcat(\"a\", error, undefined)", "error"),
            ("strcmp(error, undefined)", "undefined"),
            ("version_in_range(undefined, \"1\", \"2\")", "error"),
            ("version_in_range(error, undefined, \"2\")", "undefined"),
        ]);
        assert_eq!(value_of("strcat(\"a\", undefined, error)", Dialect::Classad), "error");
        assert_eq!(value_of("strcmp(undefined, error)", Dialect::Classad), "error");
    }

    #[test]
    fn versions_have_the_order_of_the_library() {
        check(&[
            ("versioncmp(\"8.9\", \"8.10\")", "-1"),
            ("versioncmp(\"1\", \"01\")", "1"),
            ("versioncmp(\"1.010\", \"1.09\")", "-8"),
            ("versioncmp(\"1.0\", \"1\")", "46"),
            ("versioncmp(\"\", \"a\")", "-97"),
            ("versioncmp(\"1a\", \"12\")", "-1"),
            ("versioncmp(\"\\377\", \"a\")", "-98"),
            ("versioncmp(\"0a\", \"00a\")", "1"),
            ("versioncmp(\"a\", \"a\")", "0"),
        ]);
    }

    #[test]
    fn the_same_mark_twice_has_an_empty_piece() {
        check(&[
            ("split(\"\")", "{ }"),
            ("split(\"a,b, c ,d\")", "{ \"a\", \"b\", \"c\", \"\", \"d\" }"),
            ("split(\",,a,,\")", "{ \"\", \"a\", \"\" }"),
            ("split(\"a;,;b\", \";,\")", "{ \"a\", \"b\" }"),
            ("split(\"a  b\", \" \")", "{ \"a\", \"b\" }"),
            ("split(\"abc\", \"\")", "{ \"abc\" }"),
            ("split(\"a\", undefined)", "error"),
        ]);
    }
}
