//! Functions about strings (thesis A.8), and names with an `@`.

use std::cmp::Ordering;

use crate::ad::{ByteString, Type, Value};

use super::super::Abort;
use super::arguments::{BoundedString, is_space, list_of_strings};
use super::call::list_of_values;
use super::{BuiltinFunction, Call, CallResult};

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    function!(strcat(0, _) Strict "(any...) -> string",
        "join all values as one string",
        both "strcat(\"slot\", 1, \"@\", \"host\")" => "\"slot1@host\""),
    function!(join(0, _) Lazy "(list) | join(separator, list) | join(separator, any...) -> string",
        "join all defined values as strings, with the separator between them",
        both "join(\"-\", { \"a\", undefined, 1 })" => "\"a-1\""),
    function!(toUpper(1, 1) Strict "(any) -> string",
        "convert a value to a string in upper case",
        both "toUpper(\"linux\")" => "\"LINUX\"",
        |call| change_case(call, <[u8]>::to_ascii_uppercase)),
    function!(toLower(1, 1) Strict "(any) -> string",
        "convert a value to a string in lower case",
        both "toLower(\"LINUX\")" => "\"linux\"",
        |call| change_case(call, <[u8]>::to_ascii_lowercase)),
    function!(substr(2, 3) Strict "(string, offset [, length]) -> string",
        "part of a string from an offset, with a length; negative numbers count from the end",
        both "substr(\"abcdef\", -4, 2)" => "\"cd\""),
    function!(strcmp(2, 2) Strict "(any, any) -> int",
        "compare two strings by bytes: -1, 0 or 1 if the first is less, equal or greater",
        both "strcmp(\"a\", \"B\")" => "1",
        |call| compare_texts(call, Ord::cmp)),
    function!(stricmp(2, 2) Strict "(any, any) -> int",
        "compare two strings, ignoring case: -1, 0 or 1 if the first is less, equal or greater",
        both "stricmp(\"a\", \"B\")" => "-1",
        |call| compare_texts(call, ByteString::cmp_ignore_case)),
    function!(split(1, 2) Lazy "(string [, separators]) -> list",
        "split a string at commas, spaces and tabs, or at the given separators",
        both "split(\"a, b,,c\")" => "{ \"a\", \"b\", \"\", \"c\" }"),
    function!(splitUserName(1, 1) Lazy "(string) -> list",
        "split a name at the first @ into user and domain; without an @, the domain is empty",
        both "splitUserName(\"ann@cs.wisc.edu\")" => "{ \"ann\", \"cs.wisc.edu\" }",
        |call| split_at_sign(call, |all| [all, b""])),
    function!(splitSlotName(1, 1) Lazy "(string) -> list",
        "split a name at the first @ into slot and machine; without an @, the slot is empty",
        both "splitSlotName(\"slot1@crane\")" => "{ \"slot1\", \"crane\" }",
        |call| split_at_sign(call, |all| [b"", all])),
];

fn strcat(call: &mut Call<'_, '_>) -> CallResult {
    let mut text = BoundedString::new(call);
    // The first argument that is undefined or an error is the value of the call. Later arguments are not evaluated.
    for index in 0..call.arguments.len() {
        text.push(call.text(index)?.as_bytes());
    }
    text.finish(call)
}

fn join(call: &mut Call<'_, '_>) -> CallResult {
    let mut joined = BoundedString::new(call);
    let mut separator = ByteString::from("");
    let mut any_undefined = false;
    let mut any_defined = false;
    for (index, value) in values_to_join(call)?.into_iter().enumerate() {
        if value.value_type() == Type::Undefined {
            any_undefined = true;
            continue;
        }
        let text = call.require_text(value)?;
        if index == 0 {
            separator = text;
            continue;
        }
        // No separator is written while all items so far are empty.
        if !joined.bytes.is_empty() {
            joined.push(separator.as_bytes());
        }
        joined.push(text.as_bytes());
        any_defined = true;
    }
    if any_undefined && !any_defined { Ok(Value::Undefined) } else { joined.finish(call) }
}

/// Returns the separator, then the items to join. `join("-", a, b)` and `join("-", { a, b })` have the same items. The
/// separator of `join({ a, b })` is empty.
fn values_to_join(call: &mut Call<'_, '_>) -> Result<Vec<Value>, Abort> {
    let mut values = (0..call.arguments.len()).map(|index| call.value(index)).collect::<Result<Vec<_>, _>>()?;
    if let [separator @ .., Value::List(list)] = values.as_slice()
        && separator.len() < 2
    {
        let elements = call.elements(list)?;
        let separator = separator.first().cloned().unwrap_or_else(|| Value::string(""));
        values = std::iter::once(separator).chain(elements).collect();
    }
    Ok(values)
}

fn change_case(call: &mut Call<'_, '_>, change: fn(&[u8]) -> Vec<u8>) -> CallResult {
    Ok(Value::string(change(call.text(0)?.as_bytes())))
}

fn substr(call: &mut Call<'_, '_>) -> CallResult {
    call.reject_undefined()?;
    let text = call.string(0)?;
    let offset = integer(call, 1)?;
    let length = if call.arguments.len() == 2 { None } else { Some(integer(call, 2)?) };
    let (start, end) = substring_range(text.as_bytes().len(), offset, length);
    Ok(Value::string(text.as_bytes().get(start..end).unwrap_or_default()))
}

/// Returns the integer value of an argument. The call ends with an error if the value has another type.
fn integer(call: &mut Call<'_, '_>, index: usize) -> CallResult<i64> {
    match call.value(index)? {
        Value::Integer(integer) => Ok(integer),
        other => Err(call.type_error(&other, "an integer").into()),
    }
}

/// Returns the start and end of a substring in bytes, within the string. A negative offset counts from the end of the
/// string; a negative length leaves out that many bytes at the end.
fn substring_range(size: usize, offset: i64, length: Option<i64>) -> (usize, usize) {
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

fn compare_texts(call: &mut Call<'_, '_>, compare: fn(&ByteString, &ByteString) -> Ordering) -> CallResult {
    let [left, right] = call.two_texts()?;
    Ok(Value::Integer(compare(&left, &right) as i64))
}

fn split(call: &mut Call<'_, '_>) -> CallResult {
    call.evaluate_all()?;
    let text = call.string(0)?;
    let separators = call.optional_string(1, ", \t")?;
    list_of_strings(call, pieces(text.as_bytes(), separators.as_bytes()))
}

/// Splits a text at separators. Two separators enclose an empty piece only if they are equal and not blank: `a,,b` has
/// an empty piece, `a, b` and `a  b` have none. Blanks between equal separators make no difference.
fn pieces<'t>(text: &'t [u8], separators: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
    let mut start = 0;
    let mut last_mark = None;
    let separated =
        text.iter().enumerate().filter(|(_, byte)| separators.contains(byte)).map(|(at, byte)| (at, Some(*byte)));
    separated.chain([(text.len(), None)]).filter_map(move |(end, mark)| {
        let is_piece = end > start || (mark.is_some() && last_mark == mark);
        let piece = is_piece.then(|| &text[start..end]);
        last_mark = mark.filter(|mark| !is_space(*mark)).or(last_mark);
        start = end + 1;
        piece
    })
}

fn split_at_sign(call: &mut Call<'_, '_>, without: fn(&[u8]) -> [&[u8]; 2]) -> CallResult {
    let name = call.string(0)?;
    let name = name.as_bytes();
    let parts = match memchr::memchr(b'@', name) {
        Some(sign) => [&name[..sign], &name[sign + 1..]],
        None => without(name),
    };
    Ok(list_of_values(parts.map(Value::string)))
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::{check, value_of};
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
