//! Functions about strings that list items, such as `"a, b"`; all of them are HTCondor's own.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::ad::{ByteString, Type, Value};
use crate::syntax::number_prefix;

use super::super::pattern::excerpt;
use super::arguments::{is_space, signed};
use super::conversion::{integer_value, without_fraction};
use super::{BuiltinFunction, Call, CallResult};

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    function!(stringListSize(1, 2) Lazy "(string [, delimiters]) -> int",
        "number of items of a list in a string; the default delimiters are commas and spaces",
        both "stringListSize(\"red, green, blue\")" => "3",
        |call| list_argument(call).map(|list| Value::Integer(signed(list.items().count())))),
    function!(stringListSum(1, 2) Lazy "(string [, delimiters]) -> int | real",
        "sum of the numbers of a list in a string",
        both "stringListSum(\"10, 20, 2.5\")" => "32.5",
        |call| numbers_of(call).map(|numbers| sum(call, &numbers))),
    function!(stringListAvg(1, 2) Lazy "(string [, delimiters]) -> int | real",
        "mean of the numbers of a list in a string; if all numbers are integers, without its fraction",
        both "stringListAvg(\"10, 20, 30.0\")" => "20.0",
        |call| numbers_of(call).map(|numbers| average(call, &numbers))),
    function!(stringListMin(1, 2) Lazy "(string [, delimiters]) -> int | real",
        "least number of a list in a string",
        both "stringListMin(\"30, 10, 20\")" => "10",
        |call| numbers_of(call).map(|numbers| extreme(call, &numbers, Ordering::Less))),
    function!(stringListMax(1, 2) Lazy "(string [, delimiters]) -> int | real",
        "greatest number of a list in a string",
        both "stringListMax(\"-30, -10, -20\")" => "-10",
        |call| numbers_of(call).map(|numbers| extreme(call, &numbers, Ordering::Greater))),
    function!(stringListMember(2, 3) Lazy "(item, string [, delimiters]) -> bool",
        "whether a list in a string has an item",
        both "stringListMember(\"b\", \"a, b\")" => "true",
        |call| ItemSearch::new(call).map(|search| search.lists_item(false).into())),
    function!(stringListIMember(2, 3) Lazy "(item, string [, delimiters]) -> bool",
        "whether a list in a string has an item, ignoring case",
        both "stringListIMember(\"B\", \"a, b\")" => "true",
        |call| ItemSearch::new(call).map(|search| search.lists_item(true).into())),
    function!(stringListSubsetMatch(2, 3) Lazy "(string, string [, delimiters]) -> bool",
        "whether the list in the second string has every item of the first",
        both "stringListSubsetMatch(\"c, a\", \"a, b, c\")" => "true",
        |call| ItemSearch::new(call).map(|search| search.lists_all(<[u8]>::to_vec).into())),
    function!(stringListISubsetMatch(2, 3) Lazy "(string, string [, delimiters]) -> bool",
        "whether the list in the second string has every item of the first, ignoring case",
        both "stringListISubsetMatch(\"C, A\", \"a, b, c\")" => "true",
        |call| ItemSearch::new(call).map(|search| search.lists_all(<[u8]>::to_ascii_lowercase).into())),
    function!(stringListsIntersect(2, 3) Strict "(string, string [, delimiters]) -> bool",
        "whether the lists in two strings have an item in common",
        both "stringListsIntersect(\"a,b\", \"b,c\")" => "true",
        intersect),
];

/// Default delimiters of most functions about string lists.
pub(super) const DEFAULT_DELIMITERS: &str = ", ";

/// Default delimiters of the functions that search a string list for an item.
pub(in crate::eval) const SEARCH_DELIMITERS: &str = ", \t\r\n";

/// Returns the items of a string list as `stringListMember()` finds them: trimmed and without empty ones.
#[must_use]
pub fn string_list_items(text: &ByteString) -> Vec<ByteString> {
    let list = StringList { text: text.clone(), delimiters: SEARCH_DELIMITERS.into() };
    list.items().map(ByteString::from).collect()
}

/// String list: a text and the bytes that separate its items.
pub(super) struct StringList {
    pub text: ByteString,
    pub delimiters: ByteString,
}

impl StringList {
    /// Returns the items, trimmed and without empty ones.
    pub(super) fn items(&self) -> impl Iterator<Item = &[u8]> {
        self.parts().map(trim).filter(|item| !item.is_empty())
    }

    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        parts(self.text.as_bytes(), self.delimiters.as_bytes())
    }
}

/// Splits a text at every byte that is a delimiter.
fn parts<'t>(text: &'t [u8], delimiters: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
    let mut separates = [false; 256];
    for delimiter in delimiters {
        separates[usize::from(*delimiter)] = true;
    }
    text.split(move |byte| separates[usize::from(*byte)])
}

/// Whether a string lists an item, as `stringListMember()` finds it.
pub(in crate::eval) fn lists_item(text: &[u8], delimiters: &[u8], wanted: &[u8], ignores_case: bool) -> bool {
    let same = if ignores_case { <[u8]>::eq_ignore_ascii_case } else { <[u8] as PartialEq>::eq };
    parts(text, delimiters).map(trim).any(|item| !item.is_empty() && same(item, wanted))
}

fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_space(*byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_space(*byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Returns the string list in the first argument; the optional second argument holds the delimiters.
fn list_argument(call: &mut Call<'_, '_>) -> CallResult<StringList> {
    call.evaluate_all()?;
    Ok(StringList { text: call.string(0)?, delimiters: call.optional_string(1, DEFAULT_DELIMITERS)? })
}

/// Numbers in a string list.
struct ListedNumbers {
    values: Vec<f64>,
    /// The items as exact integers; `None` if an item such as `1.5` is not written as an integer.
    integers: Option<Vec<i128>>,
}

fn numbers_of(call: &mut Call<'_, '_>) -> CallResult<ListedNumbers> {
    let list = list_argument(call)?;
    let number =
        |item| leading_real(item).ok_or_else(|| call.error(format!("`{}` is not a number", excerpt(item))).into());
    let values = list.items().map(number).collect::<CallResult<_>>()?;
    let is_integer = |item: &[u8]| item.iter().all(|byte| matches!(byte, b'+' | b'-' | b'0'..=b'9'));
    let integers = list.items().map(|item| is_integer(item).then(|| leading_integer(item))).collect();
    Ok(ListedNumbers { values, integers })
}

fn sum(call: &Call<'_, '_>, numbers: &ListedNumbers) -> Value {
    numbers.result(call, numbers.total())
}

fn average(call: &Call<'_, '_>, numbers: &ListedNumbers) -> Value {
    #[allow(clippy::cast_precision_loss, reason = "the list has fewer than 2^53 items")]
    let count = numbers.values.len().max(1) as f64;
    numbers.result(call, numbers.total() / count)
}

/// Returns the least number if `wanted` is `Less`, the greatest if it is `Greater`; undefined for an empty list.
fn extreme(call: &Call<'_, '_>, numbers: &ListedNumbers, wanted: Ordering) -> Value {
    let Some(integers) = &numbers.integers else {
        return best_real(&numbers.values, wanted).map_or(Value::Undefined, Value::Real);
    };
    let best = integers.iter().copied().reduce(|best, next| if next.cmp(&best) == wanted { next } else { best });
    match best.map(i64::try_from) {
        None => Value::Undefined,
        Some(Ok(integer)) => integer_value(call, integer),
        Some(Err(_)) => call.error("an item does not fit into 64 bits"),
    }
}

/// Returns the least real if `wanted` is `Less`, the greatest if it is `Greater`; `None` for no reals. The result is
/// NaN only if all reals are NaN.
fn best_real(values: &[f64], wanted: Ordering) -> Option<f64> {
    values.iter().copied().reduce(
        |best, next| {
            if best.is_nan() || next.partial_cmp(&best) == Some(wanted) { next } else { best }
        },
    )
}

impl ListedNumbers {
    fn total(&self) -> f64 {
        self.values.iter().fold(0.0, |total, value| total + value)
    }

    /// Returns a sum or an average as an integer if all items are integers, else as a real. The result for an empty
    /// list is a real. An integer beyond 64 bits becomes the least integer, as in HTCondor's `int()`.
    fn result(&self, call: &Call<'_, '_>, value: f64) -> Value {
        match &self.integers {
            Some(integers) if !integers.is_empty() => integer_value(call, without_fraction(value).unwrap_or(i64::MIN)),
            _ => Value::Real(value),
        }
    }
}

/// Returns the integer at the beginning of a text, with its sign; 0 if the text begins with no integer.
fn leading_integer(text: &[u8]) -> i128 {
    let (negative, digits) = split_sign(text);
    let (digits, _) = split_digits(digits, u8::is_ascii_digit);
    let magnitude =
        digits.iter().fold(0_i128, |number, digit| number.saturating_mul(10).saturating_add(i128::from(digit - b'0')));
    if negative { -magnitude } else { magnitude }
}

/// Returns the real at the beginning of a text, as C's `scanf` reads it; `None` if there is none.
fn leading_real(text: &[u8]) -> Option<f64> {
    let (negative, magnitude) = split_sign(text);
    let begins_with = |word: &[u8]| magnitude.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if begins_with(b"0x") {
        let value = leading_hexadecimal(&magnitude[2..])?;
        return Some(if negative { -value } else { value });
    }
    // C's `scanf` reads `inf` and `infinity`, but takes `infix` for a misspelt `infinity`.
    if begins_with(b"infi") && !begins_with(b"infinity") { None } else { number_prefix(&String::from_utf8_lossy(text)) }
}

/// Splits off the sign. Returns whether it is a minus, and the text after it.
fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest.strip_prefix(b"+").unwrap_or(rest)),
    }
}

/// Returns the value of a hexadecimal number from the text after its `0x`, such as `1.8p3`; `None` if the text begins
/// with neither a digit nor a point.
fn leading_hexadecimal(text: &[u8]) -> Option<f64> {
    if !text.first().is_some_and(|byte| byte.is_ascii_hexdigit() || *byte == b'.') {
        return None;
    }
    let (whole, rest) = split_digits(text, u8::is_ascii_hexdigit);
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => split_digits(rest, u8::is_ascii_hexdigit),
        _ => (&[][..], rest),
    };
    let mut mantissa = 0_u64;
    let mut shift = -4 * i128::try_from(fraction.len()).unwrap_or(0);
    for digit in whole.iter().chain(fraction) {
        let value = u64::from(char::from(*digit).to_digit(16).unwrap_or(0));
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | value;
        } else {
            // The mantissa is full. A further digit matters only for rounding, so it is enough to know whether it is
            // zero.
            mantissa |= u64::from(value != 0);
            shift += 4;
        }
    }
    let exponent = match rest {
        [b'p' | b'P', rest @ ..] => leading_integer(rest),
        _ => 0,
    };
    // The power of two is split into two factors: a single factor could overflow although the product does not.
    let exponent = i32::try_from(shift.saturating_add(exponent).clamp(-3000, 3000)).unwrap_or(0);
    #[allow(clippy::cast_precision_loss, reason = "it is rounded here")]
    Some(mantissa as f64 * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2))
}

fn split_digits(text: &[u8], is_digit: fn(&u8) -> bool) -> (&[u8], &[u8]) {
    let count = text.iter().take_while(|byte| is_digit(byte)).count();
    text.split_at(count)
}

/// Search for one item, or for all items of another list, in a string list.
struct ItemSearch {
    wanted: ByteString,
    list: StringList,
}

impl ItemSearch {
    /// Reads the arguments: the wanted text, the list, and the delimiters. An undefined text or list counts as empty;
    /// if both are undefined, the call ends as undefined. Undefined delimiters stand for the default ones.
    fn new(call: &mut Call<'_, '_>) -> CallResult<Self> {
        call.evaluate_all()?;
        let mut text = |index, default: &str| match call.value(index)? {
            Value::Undefined => Ok(ByteString::from(default)),
            value => call.require_string(value),
        };
        let search = ItemSearch {
            wanted: text(0, "")?,
            list: StringList { text: text(1, "")?, delimiters: text(2, SEARCH_DELIMITERS)? },
        };
        if call.value(0)?.value_type() == Type::Undefined && call.value(1)?.value_type() == Type::Undefined {
            return Err(Value::Undefined.into());
        }
        Ok(search)
    }

    fn lists_item(&self, ignores_case: bool) -> bool {
        lists_item(self.list.text.as_bytes(), self.list.delimiters.as_bytes(), self.wanted.as_bytes(), ignores_case)
    }

    /// Whether the list contains all wanted items. As in HTCondor's library, the result is true if the wanted string is
    /// empty, but false if it consists of delimiters alone.
    fn lists_all(&self, fold: fn(&[u8]) -> Vec<u8>) -> bool {
        if self.wanted.as_bytes().is_empty() {
            return true;
        }
        let listed: HashSet<Vec<u8>> = self.list.items().map(fold).collect();
        let wanted = StringList { text: self.wanted.clone(), delimiters: self.list.delimiters.clone() };
        let mut items = wanted.items().map(fold).peekable();
        items.peek().is_some() && items.all(|item| listed.contains(&item))
    }
}

/// Whether two string lists have an item in common. Items are not trimmed, as in HTCondor's library.
fn intersect(call: &mut Call<'_, '_>) -> CallResult {
    call.reject_exceptional()?;
    let mut delimiters = call.optional_string(2, "")?;
    if delimiters.as_bytes().is_empty() {
        delimiters = " ,".into();
    }
    let left = StringList { text: call.string(0)?, delimiters: delimiters.clone() };
    let right = StringList { text: call.string(1)?, delimiters };
    let listed: HashSet<&[u8]> = left.parts().filter(|part| !part.is_empty()).collect();
    let common = right.parts().any(|part| listed.contains(part));
    Ok(Value::Boolean(common))
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::check;

    #[test]
    fn items_are_trimmed_and_empty_ones_dropped() {
        check(&[
            ("stringListSize(\"a\\t,\\n b\")", "2"),
            ("stringListSize(\"a\\tb\")", "1"),
            ("stringListSize(\"a b;c d; \", \";\")", "2"),
            ("stringListSize(\"a b\", \"\")", "1"),
            ("stringListSize(\" \")", "0"),
            ("stringListSize(undefined)", "error"),
            ("stringListMember(\"a b\", \" a b \", \"\")", "true"),
            ("stringListMember(\" a\", \"a,b\")", "false"),
            ("stringListMember(\"\", \"a,,b\")", "false"),
        ]);
    }

    #[test]
    fn numbers_are_read_as_the_library_reads_them() {
        check(&[
            ("stringListSum(\"1x,2\")", "3.0"),
            ("stringListSum(\"0x10,1\")", "17.0"),
            ("stringListSum(\"0x1.8p1\")", "3.0"),
            ("stringListSum(\"0x.\")", "0.0"),
            ("stringListSum(\"0x\")", "error"),
            ("stringListSum(\"1e\")", "1.0"),
            ("stringListSum(\"infx\")", "real(\"INF\")"),
            ("stringListSum(\"infin\")", "error"),
            ("stringListSum(\"5-3\")", "5"),
            ("stringListSum(\"+-5\")", "error"),
            ("stringListSum(\".\")", "error"),
            ("stringListSum(\"\")", "0.0"),
            ("stringListSum(\"99999999999999999999\")", "-9223372036854775808"),
            ("stringListAvg(\"-7,-8\")", "-7"),
            ("stringListAvg(\"1,2.0\")", "1.5"),
        ]);
    }

    #[test]
    fn extremes_are_exact() {
        check(&[
            ("stringListMin(\"\")", "undefined"),
            ("stringListMin(\"3.0,1\")", "1.0"),
            ("stringListMax(\"-1.5,-2\")", "-1.5"),
            ("stringListMax(\"0.0\")", "0.0"),
            ("stringListMin(\"inf\")", "real(\"INF\")"),
            ("stringListMax(\"1,nan\")", "1.0"),
            ("stringListMax(\"9007199254740993,9007199254740992\")", "9007199254740993"),
            ("stringListMin(\"5,99999999999999999999\")", "5"),
            ("stringListMax(\"5,99999999999999999999\")", "error"),
        ]);
    }

    #[test]
    fn an_undefined_string_is_empty() {
        check(&[
            ("stringListMember(undefined, \"a\")", "false"),
            ("stringListMember(undefined, undefined)", "undefined"),
            ("stringListMember(undefined, undefined, 1)", "error"),
            ("stringListMember(\"b\", \"a,b\", undefined)", "true"),
            ("stringListSubsetMatch(undefined, \"a\")", "true"),
            ("stringListSubsetMatch(\"a\", undefined)", "false"),
            ("stringListSubsetMatch(\",\", \"a\")", "false"),
            ("stringListSubsetMatch(\"a\\tb\", \"b\\na\")", "true"),
        ]);
    }

    #[test]
    fn intersections_do_not_trim() {
        check(&[
            ("stringListsIntersect(\"a; b\", \"b;c\", \";\")", "false"),
            ("stringListsIntersect(\"a b\", \"b\", \"\")", "true"),
            ("stringListsIntersect(\",\", \",\")", "false"),
            ("stringListsIntersect(undefined, error)", "error"),
            ("stringListsIntersect(undefined, 1)", "undefined"),
        ]);
    }
}
