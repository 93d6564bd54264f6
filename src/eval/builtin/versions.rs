//! Functions about versions.

use crate::ad::Value;

use super::arguments::signed;
use super::{BuiltinFunction, Call, CallResult};

/// Table entry of a function that compares two versions.
macro_rules! version_comparison {
    ($name:ident $operator:tt, $doc:literal, $call:literal) => {
        function!($name(2, 2) Strict "(any, any) -> bool",
            $doc,
            both $call => "true",
            |call| Ok(Value::Boolean(version_order(call)? $operator 0)))
    };
}

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    function!(versioncmp(2, 2) Strict "(any, any) -> int",
        "compare two versions: negative, 0 or positive if the first is earlier, equal or later",
        both "versioncmp(\"8.10\", \"8.9\")" => "1",
        |call| version_order(call).map(Value::Integer)),
    version_comparison!(versionLT <, "whether a version is earlier than another version", "versionLT(\"8.9\", \"8.10\")"),
    version_comparison!(versionLE <=, "whether a version is equal to another version, or earlier", "versionLE(\"8.9\", \
        \"8.9\")"),
    version_comparison!(versionGT >, "whether a version is later than another version", "versionGT(\"8.10\", \"8.9\")"),
    version_comparison!(versionGE >=, "whether a version is equal to another version, or later", "versionGE(\"8.9\", \"8.9\")"),
    version_comparison!(versionEQ ==, "whether two versions are equal", "versionEQ(\"8.9\", \"8.9\")"),
    function!(version_in_range(3, 3) Strict "(version, least, greatest) -> bool",
        "whether a version is between two others, or equal to one of them",
        both "version_in_range(\"8.9\", \"8.8\", \"8.10\")" => "true"),
];

fn version_order(call: &mut Call<'_, '_>) -> CallResult<i64> {
    let [left, right] = call.two_texts()?;
    Ok(compare_versions(left.as_bytes(), right.as_bytes()))
}

fn version_in_range(call: &mut Call<'_, '_>) -> CallResult {
    let values = [call.value(0)?, call.value(1)?, call.value(2)?];
    // An undefined limit makes the result undefined, but an undefined version is an error.
    match &values {
        [_, Value::Undefined, _] | [_, _, Value::Undefined] => return Ok(Value::Undefined),
        [version @ Value::Undefined, ..] => return Ok(call.type_error(version, "a version")),
        _ => {}
    }
    let [version, least, greatest] = values.map(|value| call.require_text(value));
    let (version, least, greatest) = (version?, least?, greatest?);
    let within = compare_versions(least.as_bytes(), version.as_bytes()) <= 0
        && compare_versions(version.as_bytes(), greatest.as_bytes()) <= 0;
    Ok(Value::Boolean(within))
}

/// Compares two versions in natural order: `8.9` comes before `8.10`. The result is negative, zero or positive. It is
/// the very number that HTCondor's library returns, because scripts may print it.
fn compare_versions(left: &[u8], right: &[u8]) -> i64 {
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    if same == left.len() && same == right.len() {
        return 0;
    }
    let at = |text: &[u8]| text.get(same).copied().unwrap_or(0);
    // In HTCondor's library bytes are signed, and a zero byte ends a string.
    let difference = i64::from(at(left).cast_signed()) - i64::from(at(right).cast_signed());
    let number = same - left[..same].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if number == same && !(at(left).is_ascii_digit() && at(right).is_ascii_digit()) {
        return difference;
    }
    // Both versions have a number at this position, and the two numbers differ.
    let (left, right) = (digits(&left[number..]), digits(&right[number..]));
    let (left_zeros, right_zeros) = (leading_zeros(left), leading_zeros(right));
    if left_zeros != right_zeros {
        // The number with more leading zeros comes first, as among decimal fractions: `1.01` before `1.1`.
        return signed(right_zeros) - signed(left_zeros);
    }
    if left_zeros == 0 && left.len() != right.len() {
        return signed(left.len()) - signed(right.len());
    }
    difference
}

/// Returns the digits at the beginning of a text.
fn digits(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    &text[..count]
}

/// Returns the number of leading zeros. The last digit is not counted, even if it is a zero.
fn leading_zeros(digits: &[u8]) -> usize {
    digits.iter().take_while(|digit| **digit == b'0').count().min(digits.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::check;

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
}
